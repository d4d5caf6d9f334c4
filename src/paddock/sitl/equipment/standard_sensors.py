"""What a vehicle perceives with when its entry does not say: the sensors that autopilots of its craft expect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddock.errors import unknown_name

CONTROL_RATE = 250.0
"""Hz of the IMU, unless somebody flies faster."""

COMMON: dict[str, dict[str, float]] = {
    "gnss": {"rate": 5.0},
    "compass": {"rate": 50.0, "noise": 0.02},
    "barometer": {"rate": 25.0},
}
CRAFTS: dict[str, dict[str, dict[str, float]]] = {
    "copter": {**COMMON, "rangefinder": {"rate": 20.0}},
    "rover": COMMON,
    "rover_ackermann": COMMON,
    "plane": COMMON,
}
"""Craft -> sensor -> options, beside the IMU."""


def standard_sensors(craft: str, imu_rate: float = CONTROL_RATE) -> list[dict[str, Any]]:
    """The `sensors` of a vehicle's entry: an IMU at the pilot's rate (Hz), and what else the craft needs."""
    if craft not in CRAFTS:
        raise unknown_name("craft", craft, CRAFTS)
    slower = {name: {**options, "rate": min(options["rate"], imu_rate)} for name, options in CRAFTS[craft].items()}
    return [{"imu": {"rate": imu_rate}}, *({name: options} for name, options in slower.items())]


def equipped(entry: Mapping[str, Any], craft: str, imu_rate: float = CONTROL_RATE) -> dict[str, Any]:
    """A vehicle's entry with the standard sensors of a craft, unless it has sensors of its own."""
    return {**entry, "sensors": entry.get("sensors") or standard_sensors(craft, imu_rate)}
