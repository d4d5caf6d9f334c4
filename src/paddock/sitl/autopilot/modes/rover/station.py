"""A place that a rover keeps: it stands within a radius, and drives back when it has left it."""

from __future__ import annotations

from paddock.sitl.autopilot.control.rover_driver import STOP_RADIUS, Driver
from paddock.sitl.autopilot.control.rover_path import Point


class Station:
    """The place, m north and east, and the radius in m."""

    def __init__(self, driver: Driver, place: Point, radius: float) -> None:
        self.driver, self.place, self.radius = driver, place, radius
        self._start: Point | None = None  # where the way to the place began; None: it stands

    def approach(self, start: Point) -> None:
        """Drive to the place on the line from `start`."""
        self._start = start

    def shift(self, north: float, east: float) -> None:
        """The estimate has jumped by so much (m): keep the same place of the world."""
        self.place = self.place[0] + north, self.place[1] + east
        if self._start is not None:
            self._start = self._start[0] + north, self._start[1] + east

    def keep(self, speed: float = 0.0) -> None:
        """Stand, or drive (back) at m/s (0: WP_SPEED)."""
        if self._start is None and self.driver.distance(self.place) > self.radius:
            self._start = self.driver.position
        if self._start is not None and not self.driver.reached(self._start, self.place, STOP_RADIUS):
            self.driver.along(self._start, self.place, speed=speed)
        else:
            self._start = None
            self.driver.halt()
