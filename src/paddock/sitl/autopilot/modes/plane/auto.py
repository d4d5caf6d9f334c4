"""AUTO: fly the mission."""

from __future__ import annotations

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
            self.circle(place, self._return_height() if nav.task is Task.RETURN else down, speed=nav.speed)
        else:
            self.autopilot.executor.lead = self.value("WP_RADIUS")
            self.follow(nav.start[:2], place, down, nav.speed)

    def _return_height(self) -> float:
        height = self.value("RTL_ALTITUDE")
        return self.autopilot.estimate.down if height < 0.0 else self.autopilot.home_ned()[2] - height

    def _wait(self, nav: NavTarget) -> None:
        """Circle where the waiting began."""
        if self._waiting is None:
            self._waiting = (*self.place, self.autopilot.estimate.down)
        self.circle(self._waiting[:2], self._waiting[2], speed=nav.speed)
