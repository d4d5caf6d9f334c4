"""What a vehicle perceives with when its entry does not say: the sensors that autopilots of its craft expect."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from paddock.errors import unknown_name

IMU_RATES = {"copter": 250.0, "rover": 50.0, "rover_ackermann": 50.0, "plane": 50.0}
"""Hz of the IMU for the built-in autopilot: as often as it controls. Who misses samples misses what is in them."""

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


def standard_sensors(craft: str, imu_rate: float | None = None, most: float = inf) -> list[dict[str, Any]]:
    """The `sensors` of a vehicle's entry: an IMU at the pilot's rate, and what else the craft needs.

    `imu_rate` in Hz (None: as the built-in autopilot controls); no sensor is faster than `most`, the clock's rate.
    """
    if craft not in CRAFTS:
        raise unknown_name("craft", craft, CRAFTS)
    rate = min(IMU_RATES[craft] if imu_rate is None else imu_rate, most)
    slower = {name: {**options, "rate": min(options["rate"], rate)} for name, options in CRAFTS[craft].items()}
    return [{"imu": {"rate": rate}}, *({name: options} for name, options in slower.items())]


def equipped(entry: Mapping[str, Any], craft: str, imu_rate: float | None = None, most: float = inf) -> dict[str, Any]:
    """A vehicle's entry with the standard sensors of a craft, unless it has sensors of its own."""
    return {**entry, "sensors": entry.get("sensors") or standard_sensors(craft, imu_rate, most)}
