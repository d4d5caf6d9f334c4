"""AUTO of copters: fly the mission."""

from math import hypot, isnan, radians

from paddock.sitl.autopilot.control.copter_path import CopterLegs
from paddock.sitl.autopilot.mission.items import NavTarget, NavTask
from paddock.sitl.autopilot.modes.copter import FACING_DISTANCE, CopterMode, Descent, Homeward, Orbit, TakeOff
from paddock.sitl.autopilot.telemetry import Landed
from paddock.sitl.autopilot.vehicle import MissionMode

MAX_LAG = 2.0  # m lag the track at which the track slows down; twice that stops it
MIN_CORNER_ALTITUDE = 1.0  # m above home: a corner before a lower waypoint is not rounded
WAITING = (NavTask.DELAY, NavTask.DONE)
GROUND_TASKS = (NavTask.LAND, NavTask.RETURN, *WAITING)  # no take-off needed

Manoeuvre = TakeOff | Descent | Homeward | Orbit


class CopterAuto(MissionMode, CopterMode):
    """Fly the mission; a copter on the ground takes off for a target in the air."""

    number = 3

    def enter(self) -> None:
        """Start; the mission itself starts or resumes with the first update while armed."""
        super().enter()
        self.executor = self.autopilot.executor
        self._nav: NavTarget | None = None
        self._legs: CopterLegs | None = None
        self._manoeuvre: Manoeuvre | None = None
        self._take_off: TakeOff | None = None
        self._waiting = True  # for arming: the mission starts from that position

    def shift(self, north: float, east: float, down: float) -> None:
        """Replan from the track: waypoints stay on the map."""
        self._legs = None
        if self._take_off is not None:
            self._take_off.shift(north, east)
        if isinstance(self._manoeuvre, TakeOff):
            self._manoeuvre.shift(north, east)
        elif isinstance(self._manoeuvre, Orbit):
            self._manoeuvre.leave_circle()

    def update(self, dt: float) -> None:
        """Fly one step of the mission."""
        if not self.autopilot.armed:
            self._waiting = True
            return
        if self._waiting:
            self._waiting = False
            self.executor.start()
        nav = self.executor.update(dt)
        self.stage, self.lands = Landed.IN_AIR, nav.task in (NavTask.LAND, NavTask.RETURN, NavTask.DONE)
        self._renew(nav)
        if self.stays_down(nav.task not in GROUND_TASKS):
            self._take_off = None
        elif self.copter.landed or self._take_off is not None:
            # climb to the altitude of the first waypoint before going there
            self.stage = Landed.TAKEOFF
            self._take_off = self._take_off or TakeOff(self, nav.target[2])
            if self._take_off.update(dt):
                self._take_off, self._nav = None, None
        else:
            self._run(nav, dt)

    def _renew(self, nav: NavTarget) -> None:
        """Drop the manoeuvre of the last item; legs continue if the next starts where the last ends."""
        last, self._nav = self._nav, nav
        if last is not None:  # whether only the heading or the next waypoint differs
            same_speed = last.speed == nav.speed or (isnan(last.speed) and isnan(nav.speed))
            same_place = last.target == nav.target and last.start == nav.start and last.radius == nav.radius
            done = last.task is NavTask.DONE is nav.task
            if last is nav or done or (last.task is nav.task and same_place and same_speed):
                return
        self._manoeuvre = None
        if nav.task is NavTask.TAKEOFF and self._take_off is not None:
            self._take_off.down = nav.target[2]
        if nav.task in (NavTask.WAYPOINT, NavTask.LOITER) and self._take_off is None:
            self._plan(nav, last)
        elif nav.task not in WAITING:
            self._legs = None

    def _plan(self, nav: NavTarget, last: NavTarget | None) -> None:
        onwards = last is not None and nav.start == last.target and nav.target != last.target
        if self._legs is None or not onwards:
            self._legs = CopterLegs(self.copter.track)
        self._legs.go(nav.target, self.limits(nav.speed))

    def _run(self, nav: NavTarget, dt: float) -> None:
        if nav.task in (NavTask.WAYPOINT, NavTask.LOITER):
            self._fly(nav, dt)
        elif nav.task in WAITING:  # at the end of the last leg, or where the copter comes to rest
            if self._legs is not None:
                self._legs.advance(dt, self.copter.track)
            else:
                self.stop(dt)
            self._face(nav, dt)
            self.copter.follow()
        else:
            self._manoeuvre = self._manoeuvre or self._begin(nav)
            self._manoeuvre.update(dt)

    def _begin(self, nav: NavTarget) -> Manoeuvre:
        if nav.task is NavTask.TAKEOFF:
            return TakeOff(self, nav.target[2])
        if nav.task is NavTask.LAND:
            return Descent(self, (nav.target[0], nav.target[1]))
        if nav.task is NavTask.RETURN:
            return Homeward(self)
        rate = radians(abs(self.value("CIRCLE_RATE")))
        return Orbit(self, nav.target, abs(nav.radius), rate if nav.radius >= 0.0 else -rate)

    def _fly(self, nav: NavTarget, dt: float) -> None:
        """Fly the leg and round the corner; the track waits for a copter that lags behind."""
        if self._legs is None:
            self._plan(nav, None)
        assert self._legs is not None
        estimate, track = self.autopilot.estimate, self.copter.track
        if nav.after is not None and nav.after[2] < self.autopilot.home_position.ned()[2] - MIN_CORNER_ALTITUDE:
            self._legs.round_corner(nav.after, self.value("WPNAV_RADIUS") / 100.0, self.limits(nav.speed))
        lag = track.distance(estimate.north, estimate.east)
        self._legs.advance(dt * max(0.0, min(1.0, 2.0 - lag / MAX_LAG)), track)
        self._face(nav, dt)
        self.copter.follow()
        dn, de = nav.target[0] - nav.start[0], nav.target[1] - nav.start[1]
        length = hypot(dn, de)
        right = (estimate.east - nav.start[1]) * dn - (estimate.north - nav.start[0]) * de
        self.report(*nav.target, 0.0 if length < FACING_DISTANCE else right / length)

    def _face(self, nav: NavTarget, dt: float) -> None:
        if not isnan(nav.yaw):
            self.turn_to(nav.yaw, dt)
        else:
            self.face(nav.target[0], nav.target[1], dt, self.value("WP_YAW_BEHAVIOR"))
