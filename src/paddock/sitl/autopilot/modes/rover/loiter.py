"""LOITER: stay about where it was, and drive back when it has been moved."""

from __future__ import annotations

from paddock.sitl.autopilot.modes.rover.driving import DrivingMode
from paddock.sitl.autopilot.modes.rover.station import Station


class Loiter(DrivingMode):
    """Around the place where it comes to a stop."""

    name, number = "LOITER", 5

    def enter(self) -> None:
        """It stays where it can stop from here."""
        super().enter()
        self.station = Station(self.driver, self.driver.stopping_point(), self.value("LOIT_RADIUS"))

    def shift(self, north: float, east: float) -> None:
        """It stays where it is."""
        self.station.shift(north, east)

    def update(self, dt: float) -> None:
        """Stand, or drive back."""
        self.station.keep()
