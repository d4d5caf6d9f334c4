"""MANUAL: sticks move the surfaces."""

from __future__ import annotations

from paddock.sitl.autopilot.control.plane import Setpoint
from paddock.sitl.autopilot.modes.plane.flying import PlaneMode


class Manual(PlaneMode):
    """Nothing between the pilot and the servos."""

    name, number, needs_position = "MANUAL", 0, False

    def update(self, dt: float) -> None:
        """As the sticks are."""
        sticks = self.autopilot.sticks
        self.craft.setpoint = Setpoint(
            aileron=sticks.roll, elevator=sticks.pitch, rudder=sticks.yaw, throttle=max(sticks.throttle, 0.0)
        )
