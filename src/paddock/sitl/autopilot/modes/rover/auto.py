"""AUTO: drive the mission."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paddock.sitl.autopilot.control.rover_driver import STOP_RADIUS
from paddock.sitl.autopilot.modes.rover.driving import DrivingMode
from paddock.sitl.autopilot.modes.rover.station import Station
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.targets import NavTarget, Task

AFTERWARDS = (4, 5, 1, 0)  # by MIS_DONE_BEHAVE: HOLD, LOITER, ACRO, MANUAL


class Auto(DrivingMode):
    """The executor says where to; a disarmed rover waits at the start."""

    name, number = "AUTO", 10

    def refusal(self) -> str:
        """A mission that goes somewhere is needed."""
        return self.autopilot.executor.refusal()

    def enter(self) -> None:
        """The mission begins, or goes on, with the first update while armed."""
        super().enter()
        self._station: Station | None = None

    def leave(self) -> None:
        """The mission waits."""
        self.autopilot.executor.stop()

    def update(self, dt: float) -> None:
        """One step along the mission."""
        autopilot, executor = self.autopilot, self.autopilot.executor
        if not autopilot.armed or not autopilot.estimate.position_ok:
            self.driver.halt()
            return
        if not executor.running:
            executor.start()
        target = executor.update(dt)
        DOINGS[target.task](self, target)
        if executor.finished:
            self._end()

    def _end(self) -> None:
        """What MIS_DONE_BEHAVE says; HOLD if that cannot be."""
        number = AFTERWARDS[self.autopilot.parameters.whole("MIS_DONE_BEHAVE")]
        answer = self.autopilot.set_mode(number, "mission complete")
        if not answer.accepted:
            self.autopilot.say(Severity.WARNING, answer.text)
            self.autopilot.set_mode(AFTERWARDS[0])

    def go(self, target: NavTarget) -> None:
        """To a waypoint; if it has to wait there, as to a place where it stays."""
        if target.hold > 0.0:
            self.stay(target)
            return
        after = target.after[:2] if target.after is not None else None
        self.autopilot.executor.lead = self.driver.along(target.start[:2], target.target[:2], after, _speed(target))

    def stay(self, target: NavTarget) -> None:
        """To a place, then within LOIT_RADIUS of it."""
        place = target.target[:2]
        if self._station is None or self._station.place != place:
            self._station = Station(self.driver, place, self.value("LOIT_RADIUS"))
            self._station.approach(target.start[:2])
        self.autopilot.executor.lead = STOP_RADIUS
        self._station.keep(_speed(target))

    def turn(self, target: NavTarget) -> None:
        """Round a point."""
        self.driver.circle(target.target[:2], abs(target.radius), target.radius >= 0.0, _speed(target))

    def home(self, target: NavTarget) -> None:
        """Straight to the return point."""
        speed = self.value("RTL_SPEED") or _speed(target)
        self.autopilot.executor.lead = self.driver.along(target.start[:2], target.target[:2], speed=speed)

    def rest(self, target: NavTarget) -> None:
        """Stand."""
        self.driver.halt()


def _speed(target: NavTarget) -> float:
    """m/s, 0: as the parameters say."""
    return target.speed if target.speed == target.speed else 0.0


DOINGS: Mapping[Task, Callable[[Auto, NavTarget], None]] = {
    Task.WAYPOINT: Auto.go,
    Task.LOITER: Auto.stay,
    Task.CIRCLE: Auto.turn,
    Task.RETURN: Auto.home,
    Task.DELAY: Auto.rest,
    Task.DONE: Auto.rest,
    Task.TAKEOFF: Auto.rest,
    Task.LAND: Auto.rest,
}
