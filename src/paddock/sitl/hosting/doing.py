"""What a built-in autopilot is doing, in words short enough for a table."""

from __future__ import annotations

from math import hypot, isfinite
from typing import NamedTuple

from paddock.sitl.autopilot.telemetry import Telemetry

FLYING = ("copter", "plane")


class Doing(NamedTuple):
    """Empty where it is not known, or says nothing about that kind of craft."""

    item: str = ""  # of the mission, and how many there are
    height: str = ""  # m above home, of what flies
    speed: str = ""  # m/s over ground
    battery: str = ""

    def line(self) -> str:
        """For logs and pipes."""
        named = (("item ", self.item, ""), ("", self.height, " m"), ("", self.speed, " m/s"), ("", self.battery, ""))
        return "  ".join(f"{before}{value}{unit}" for before, value, unit in named if value)


def doing(told: Telemetry, craft: str) -> Doing:
    """From what the autopilot tells."""
    if told.estimate is None:
        return Doing()
    item = f"{told.mission_current}/{told.mission_count - 1}" if told.mission_count > 1 else ""
    height = f"{told.relative_altitude:.1f}" if craft in FLYING and isfinite(told.relative_altitude) else ""
    battery = told.sensors.battery_remaining if told.sensors is not None else float("nan")
    speed = hypot(told.estimate.vn, told.estimate.ve)
    return Doing(item, height, f"{speed:.1f}", f"{battery:.0%}" if isfinite(battery) else "")
