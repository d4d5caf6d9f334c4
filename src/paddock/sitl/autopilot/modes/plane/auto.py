"""AUTO: fly the mission."""

from __future__ import annotations

from math import hypot

from paddock.sitl.autopilot.control.plane_parameters import HEIGHT_GAIN
from paddock.sitl.autopilot.modes.plane.flying import PlaneMode
from paddock.sitl.autopilot.targets import NavTarget, Task

ROUND = (Task.LOITER, Task.RETURN, Task.LAND)


class Auto(PlaneMode):
    """The executor says where to. It takes off straight ahead, and circles where it should wait or land."""

    name, number = "AUTO", 10

    def refusal(self) -> str:
        """A mission that goes somewhere is needed."""
        return self.autopilot.executor.refusal()

    def enter(self) -> None:
        """The mission begins, or goes on, with the first update while armed."""
        self.heading = self.autopilot.estimate.yaw
        self._waiting: tuple[float, float, float] | None = None

    def leave(self) -> None:
        """The mission waits."""
        self.autopilot.executor.stop()

    def update(self, dt: float) -> None:
        """One step along the mission."""
        executor = self.autopilot.executor
        if not self.autopilot.armed:
            self.heading = self.autopilot.estimate.yaw
            return
        if not executor.running:
            executor.start()
        self._do(executor.update(dt))

    def _do(self, nav: NavTarget) -> None:
        place, down = nav.target[:2], nav.target[2]
        if nav.task in (Task.DELAY, Task.DONE):
            self._wait(nav)
            return
        self._waiting = None
        if nav.task is Task.TAKEOFF:
            self.head(self.heading, down, nav.speed)
        elif nav.task is Task.CIRCLE:
            self.circle(place, down, nav.radius, nav.speed)
        elif nav.task in ROUND or nav.hold > 0.0:
            height = self._return_height() if nav.task is Task.RETURN else down
            self.circle(place, height, nav.radius, nav.speed)
        else:
            self.autopilot.executor.lead = self.value("WP_RADIUS")
            self.follow(nav.start[:2], place, self._slope(nav), nav.speed)

    def _slope(self, nav: NavTarget) -> float:
        """m down: evenly from waypoint to waypoint, there where the corner begins; what the height loop lags is led."""
        length = hypot(nav.target[0] - nav.start[0], nav.target[1] - nav.start[1])
        early = self.value("WP_RADIUS") + hypot(*self.velocity) / HEIGHT_GAIN
        left = min(max(self.distance(nav.target[:2]) - early, 0.0) / max(length - early, 1.0), 1.0)
        return nav.target[2] + left * (nav.start[2] - nav.target[2])

    def _return_height(self) -> float:
        height = self.value("RTL_ALTITUDE")
        return self.autopilot.estimate.down if height < 0.0 else self.autopilot.home_ned()[2] - height

    def _wait(self, nav: NavTarget) -> None:
        """Circle where the waiting began."""
        if self._waiting is None:
            self._waiting = (*self.place, self.autopilot.estimate.down)
        self.circle(self._waiting[:2], self._waiting[2], speed=nav.speed)
