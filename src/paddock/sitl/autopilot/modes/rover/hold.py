"""HOLD: brake and stand."""

from __future__ import annotations

from paddock.sitl.autopilot.control.rover_rates import DIRECT, Setpoint
from paddock.sitl.autopilot.modes.rover.driving import DrivingMode


class Hold(DrivingMode):
    """Also without a position: then the motors simply stop."""

    name, number, needs_position = "HOLD", 4, False

    def update(self, dt: float) -> None:
        """Brake by the measured speed as long as it can be relied on."""
        if self.autopilot.estimate.position_ok:
            self.driver.halt()
        else:
            self.rover.setpoint = Setpoint(DIRECT)
