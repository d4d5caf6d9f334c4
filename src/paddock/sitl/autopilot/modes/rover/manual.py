"""MANUAL: the sticks go to the motors."""

from __future__ import annotations

from paddock.sitl.autopilot.control.rover_rates import DIRECT, Setpoint
from paddock.sitl.autopilot.modes.rover.driving import DrivingMode


class Manual(DrivingMode):
    """Throttle and steering as the pilot gives them."""

    name, number, needs_position = "MANUAL", 0, False

    def update(self, dt: float) -> None:
        """Pass the sticks on."""
        sticks = self.autopilot.sticks
        self.rover.setpoint = Setpoint(DIRECT, sticks.throttle, sticks.roll)
