"""Common parts of rover modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from paddock.sitl.autopilot.control.rover_path import STOP_RADIUS, RoverDriver
from paddock.sitl.autopilot.estimate import Point
from paddock.sitl.autopilot.vehicle import Mode

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.rover import Rover


class RoverMode(Mode):
    """A mode of a rover."""

    def __init__(self, autopilot: BuiltInAutopilot) -> None:
        super().__init__(autopilot)
        self.rover = cast("Rover", autopilot.vehicle)
        self.driver = self.rover.driver

    def enter(self) -> None:
        """Start without pivoting."""
        self.driver.pivoting = False

    def stick_speed(self) -> float:
        """Return the speed that the throttle stick asks for, m/s: full stick is WP_SPEED."""
        return self.autopilot.rc.sticks.throttle * self.driver.cruise

    def hold_at(self, place: Point, start: Point | None = None) -> HoldPoint:
        """Return a position to hold within LOIT_RADIUS, after driving there on the line from `start`."""
        return HoldPoint(self.driver, place, self.value("LOIT_RADIUS"), start)


class HoldPoint:
    """A position to hold: the rover stands within a radius and drives back when it has left it."""

    def __init__(self, driver: RoverDriver, place: Point, radius: float, start: Point | None) -> None:
        self.driver, self.place, self.radius = driver, place, radius
        self.start = start  # start of the leg to the position; None: standing

    def shift(self, north: float, east: float) -> None:
        """Move along with a jump of the estimate by m."""
        self.place = self.place[0] + north, self.place[1] + east
        if self.start is not None:
            self.start = self.start[0] + north, self.start[1] + east

    def keep(self, speed: float = 0.0) -> None:
        """Stand, or drive to the position at m/s (0: WP_SPEED)."""
        if self.start is None and self.driver.autopilot.estimate.distance(self.place) > self.radius:
            self.start = self.driver.position
        if self.start is not None and not self.driver.reached(self.start, self.place, STOP_RADIUS):
            self.driver.along(self.start, self.place, speed=speed)
        else:
            self.start = None
            self.driver.halt()
