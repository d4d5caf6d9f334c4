"""HOLD: brake and stand."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.rover.driving import DrivingMode


class Hold(DrivingMode):
    """Also without a position."""

    name, number, needs_position = "HOLD", 4, False

    def update(self, dt: float) -> None:
        """Brake, then stand."""
        self.driver.halt()
