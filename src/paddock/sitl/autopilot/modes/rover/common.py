"""What the modes of rovers share."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from paddock.sitl.autopilot.control.rover_path import STOP_RADIUS, Point, RoverDriver
from paddock.sitl.autopilot.vehicle import Mode

if TYPE_CHECKING:
    from paddock.sitl.autopilot.rover import Rover


class RoverMode(Mode):
    """A mode of a rover."""

    @property
    def rover(self) -> Rover:
        """The rover."""
        return cast("Rover", self.autopilot.vehicle)

    @property
    def driver(self) -> RoverDriver:
        """The rover's path controller."""
        return self.rover.driver

    def shift(self, north: float, east: float) -> None:
        """Handle a jump of the estimate by m: positions held in the world move along, those on the map stay."""

    def enter(self) -> None:
        """Start without pivoting."""
        self.driver.pivoting = False

    def stick_speed(self) -> float:
        """Return the speed that the throttle stick asks for, m/s: full stick is WP_SPEED."""
        return self.autopilot.sticks.throttle * self.driver.limits.speed


class HoldPoint:
    """A position to hold: the rover stands within a radius and drives back when it has left it."""

    def __init__(self, driver: RoverDriver, place: Point, radius: float) -> None:
        self.driver, self.place, self.radius = driver, place, radius
        self._start: Point | None = None  # start of the leg to the position; None: standing

    def approach(self, start: Point) -> None:
        """Drive to the position on the line from `start`."""
        self._start = start

    def shift(self, north: float, east: float) -> None:
        """Move along with a jump of the estimate by m."""
        self.place = self.place[0] + north, self.place[1] + east
        if self._start is not None:
            self._start = self._start[0] + north, self._start[1] + east

    def keep(self, speed: float = 0.0) -> None:
        """Stand, or drive to the position at m/s (0: WP_SPEED)."""
        if self._start is None and self.driver.distance(self.place) > self.radius:
            self._start = self.driver.position
        if self._start is not None and not self.driver.reached(self._start, self.place, STOP_RADIUS):
            self.driver.along(self._start, self.place, speed=speed)
        else:
            self._start = None
            self.driver.halt()
