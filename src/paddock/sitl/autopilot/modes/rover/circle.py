"""CIRCLE: go round a point that lies ahead when the mode begins."""

from __future__ import annotations

from paddock.sitl.autopilot.control.rover_path import ahead
from paddock.sitl.autopilot.modes.rover.driving import DrivingMode


class Circle(DrivingMode):
    """Round the point CIRC_RADIUS m ahead."""

    name, number = "CIRCLE", 9

    def enter(self) -> None:
        """Choose the middle."""
        super().enter()
        self.radius = self.value("CIRC_RADIUS")
        self.middle = ahead(self.driver.position, self.autopilot.estimate.yaw, self.radius)

    def shift(self, north: float, east: float) -> None:
        """The middle was chosen from where the rover was: it stays where it is in the world."""
        self.middle = self.middle[0] + north, self.middle[1] + east

    def update(self, dt: float) -> None:
        """Go round it."""
        self.driver.circle(self.middle, self.radius, self.value("CIRC_DIR") == 0.0, self.value("CIRC_SPEED"))
