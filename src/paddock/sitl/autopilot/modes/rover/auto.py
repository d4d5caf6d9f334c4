"""AUTO: drive the mission."""

from __future__ import annotations

from paddock.sitl.autopilot.control.rover_path import STOP_RADIUS
from paddock.sitl.autopilot.mission.items import NavTask
from paddock.sitl.autopilot.mission.legs import NavTarget
from paddock.sitl.autopilot.modes.rover.common import HoldPoint, RoverMode
from paddock.sitl.autopilot.telemetry import Severity
from paddock.sitl.autopilot.vehicle import MissionMode

DONE_MODES = (4, 5, 1, 0)  # by MIS_DONE_BEHAVE: HOLD, LOITER, ACRO, MANUAL


class RoverAuto(MissionMode, RoverMode):
    """Drive the mission; a disarmed rover waits at the start."""

    number = 10

    def enter(self) -> None:
        """Start; the mission itself starts or resumes with the first update while armed."""
        super().enter()
        self._hold_point: HoldPoint | None = None

    def update(self, dt: float) -> None:
        """Drive one step of the mission."""
        autopilot = self.autopilot
        if not autopilot.armed or not autopilot.estimate.position_ok:
            self.driver.halt()
            return
        self._follow(self.nav_target(dt))
        if autopilot.executor.finished:
            number = DONE_MODES[autopilot.parameters.whole("MIS_DONE_BEHAVE")]
            ack = autopilot.set_mode(number, "mission complete")
            if not ack.accepted:
                autopilot.send_text(Severity.WARNING, ack.text)
                autopilot.set_mode(DONE_MODES[0])

    def _follow(self, nav: NavTarget) -> None:
        speed = nav.speed if nav.speed == nav.speed else 0.0
        start, end = nav.start[:2], nav.target[:2]
        executor, driver = self.autopilot.executor, self.driver
        if nav.task is NavTask.LOITER or (nav.task is NavTask.WAYPOINT and nav.hold > 0.0):
            # drive to a position, then stay within LOIT_RADIUS
            if self._hold_point is None or self._hold_point.place != end:
                self._hold_point = self.hold_at(end, start)
            executor.lead = STOP_RADIUS
            self._hold_point.keep(speed)
        elif nav.task is NavTask.WAYPOINT:
            executor.lead = driver.along(start, end, nav.after[:2] if nav.after is not None else None, speed)
        elif nav.task is NavTask.CIRCLE:
            driver.circle(end, abs(nav.radius), nav.radius >= 0.0, speed)
        elif nav.task is NavTask.RETURN:
            executor.lead = driver.along(start, end, speed=self.value("RTL_SPEED") or speed)
        else:
            driver.halt()
