"""FBWA, fly by wire A: sticks are roll and pitch, throttle is throttle."""

from __future__ import annotations

from math import radians

from paddock.sitl.autopilot.control.plane import ATTITUDE, Setpoint
from paddock.sitl.autopilot.modes.plane.flying import PlaneMode


class Fbwa(PlaneMode):
    """Level with the sticks let go, never beyond the limits."""

    name, number, needs_position = "FBWA", 5, False

    def update(self, dt: float) -> None:
        """As the sticks ask."""
        sticks = self.autopilot.sticks
        most = self.value("PTCH_LIM_MAX_DEG") if sticks.pitch >= 0.0 else -self.value("PTCH_LIM_MIN_DEG")
        self.craft.setpoint = Setpoint(
            ATTITUDE,
            rudder=sticks.yaw,
            throttle=max(sticks.throttle, 0.0),
            roll=sticks.roll * radians(self.value("ROLL_LIMIT_DEG")),
            pitch=sticks.pitch * radians(most),
        )
