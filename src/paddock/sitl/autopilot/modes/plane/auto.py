"""AUTO: fly the mission."""

from __future__ import annotations

from math import hypot

from paddock.sitl.autopilot.control.plane import HEIGHT_GAIN
from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.mission.items import NavTask
from paddock.sitl.autopilot.mission.legs import NavTarget
from paddock.sitl.autopilot.modes.plane.common import PlaneMode
from paddock.sitl.autopilot.vehicle import MissionMode

CIRCLED = (NavTask.LOITER, NavTask.RETURN, NavTask.LAND)


class PlaneAuto(MissionMode, PlaneMode):
    """Fly the mission; take off straight ahead, circle to wait and instead of landing."""

    number = 10

    def enter(self) -> None:
        """Start; the mission itself starts or resumes with the first update while armed."""
        self.heading = self.autopilot.estimate.yaw
        self._waiting: Ned | None = None

    def update(self, dt: float) -> None:
        """Fly one step of the mission."""
        if self.autopilot.armed:
            self._follow(self.nav_target(dt))
        else:
            self.heading = self.autopilot.estimate.yaw

    def _follow(self, nav: NavTarget) -> None:
        place, down = nav.target[:2], nav.target[2]
        if nav.task in (NavTask.DELAY, NavTask.DONE):  # circle the position where the wait began
            if self._waiting is None:
                self._waiting = (*self.place, self.autopilot.estimate.down)
            self.circle(self._waiting[:2], self._waiting[2], speed=nav.speed)
            return
        self._waiting = None
        if nav.task is NavTask.TAKEOFF:
            self.head(self.heading, down, nav.speed)
        elif nav.task is NavTask.CIRCLE:
            self.circle(place, down, nav.radius, nav.speed)
        elif nav.task in CIRCLED or nav.hold > 0.0:
            altitude = self.return_altitude() if nav.task is NavTask.RETURN else down
            self.circle(place, altitude, nav.radius, nav.speed)
        else:
            self.autopilot.executor.lead = self.value("WP_RADIUS")
            # on the straight slope between waypoints, ahead by the lag of the altitude loop
            length = hypot(nav.target[0] - nav.start[0], nav.target[1] - nav.start[1])
            early = self.value("WP_RADIUS") + hypot(*self.velocity) / HEIGHT_GAIN
            left = min(max(self.autopilot.estimate.distance(place) - early, 0.0) / max(length - early, 1.0), 1.0)
            self.follow(nav.start[:2], place, down + left * (nav.start[2] - down), nav.speed)
