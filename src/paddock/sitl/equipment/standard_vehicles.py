"""What a kind of craft is in this world, unless somebody says otherwise."""

from __future__ import annotations

from typing import Any

VEHICLES: dict[str, dict[str, Any]] = {
    "copter": {"model": "quad", "preset": "iris"},
    "rover": {"model": "rover", "preset": "skid"},
    "rover_ackermann": {"model": "car.kinematic", "preset": "buggy"},
    "plane": {"model": "fixed_wing", "preset": "mapper"},
}
"""Kind of craft -> the vehicle that it is here."""
