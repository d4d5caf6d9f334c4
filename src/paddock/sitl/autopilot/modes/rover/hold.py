"""The modes that stay in one place: HOLD, LOITER, CIRCLE."""

from __future__ import annotations

from paddock.sitl.autopilot.control.rover_path import ahead
from paddock.sitl.autopilot.modes.rover.common import RoverMode


class RoverHold(RoverMode):
    """Brake and stand, also without a position."""

    name, number, needs_position = "HOLD", 4, False

    def update(self, dt: float) -> None:
        """Brake, then stand."""
        self.driver.halt()


class RoverLoiter(RoverMode):
    """Stop, hold that position, and drive back when the rover has been moved."""

    name, number = "LOITER", 5

    def enter(self) -> None:
        """Hold the position where the rover can stop."""
        super().enter()
        self.hold_point = self.hold_at(self.driver.stopping_point())

    def shift(self, north: float, east: float, down: float) -> None:
        """Keep the position in the world."""
        self.hold_point.shift(north, east)

    def update(self, dt: float) -> None:
        """Stand, or drive back."""
        self.hold_point.keep()


class RoverCircle(RoverMode):
    """Circle the point CIRC_RADIUS m ahead of the position of entry."""

    name, number = "CIRCLE", 9

    def enter(self) -> None:
        """Choose the centre."""
        super().enter()
        self.radius = self.value("CIRC_RADIUS")
        self.centre = ahead(self.driver.position, self.autopilot.estimate.yaw, self.radius)

    def shift(self, north: float, east: float, down: float) -> None:
        """Keep the centre in the world."""
        self.centre = self.centre[0] + north, self.centre[1] + east

    def update(self, dt: float) -> None:
        """Continue the circle."""
        self.driver.circle(self.centre, self.radius, self.value("CIRC_DIR") == 0.0, self.value("CIRC_SPEED"))
