"""GUIDED: go where a ground station or a companion says."""

from __future__ import annotations

from math import atan2, hypot, isnan

from paddock.sitl.autopilot.control.plane_parameters import HEIGHT_GAIN
from paddock.sitl.autopilot.control.plane_path import roll_for_course
from paddock.sitl.autopilot.modes.plane.flying import PlaneMode
from paddock.sitl.autopilot.targets import GuidedTarget

CLIMB_TIME = 1.0 / HEIGHT_GAIN  # s: a wanted climb is a height so far ahead


class Guided(PlaneMode):
    """A place to circle, a velocity, or a heading; without an order it circles where it is."""

    name, number = "GUIDED", 15

    def enter(self) -> None:
        """Orders from before do not count."""
        self.autopilot.guided = GuidedTarget()
        self.centre, self.down = self.place, self.autopilot.estimate.down

    def update(self, dt: float) -> None:
        """Follow the newest order."""
        order = self.autopilot.guided
        if order.position is not None:
            self.centre, self.down = order.position[:2], order.position[2]
            self.circle(self.centre, self.down, speed=order.speed)
        elif order.velocity is not None:
            self._move(order.velocity)
        elif not isnan(order.yaw):
            self.head(order.yaw, self.down, order.speed)
        else:
            self.circle(self.centre, self.down, speed=order.speed)

    def _move(self, velocity: tuple[float, float, float]) -> None:
        """Along a course, at that speed, climbing as asked."""
        north, east, down = velocity
        height = self.autopilot.estimate.down + down * CLIMB_TIME
        self.down = self.autopilot.estimate.down
        self.fly(roll_for_course(atan2(east, north), self.velocity), height, hypot(north, east))
        self.centre = self.place
