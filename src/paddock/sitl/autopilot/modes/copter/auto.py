"""AUTO: fly the mission."""

from __future__ import annotations

from math import hypot, isnan, radians

from paddock.sitl.autopilot.control.copter_legs import Legs
from paddock.sitl.autopilot.modes.copter.descent import Descent
from paddock.sitl.autopilot.modes.copter.flying import CopterMode, bearing
from paddock.sitl.autopilot.modes.copter.homeward import Homeward
from paddock.sitl.autopilot.modes.copter.orbit import Orbit
from paddock.sitl.autopilot.modes.copter.take_off import TakeOff
from paddock.sitl.autopilot.targets import NavTarget, Task
from paddock.sitl.autopilot.telemetry import Landed

FAR = 3.0  # m: nearer to a waypoint the nose stays
BEHIND = 2.0  # m behind the way at which the way begins to wait for the copter; twice that stops it
LOWEST = 1.0  # m above home: a corner before a place that is lower is not rounded, one lands there
WAITING = (Task.DELAY, Task.DONE)
GROUND_TASKS = (Task.LAND, Task.RETURN, *WAITING)  # nothing to take off for

Manoeuvre = TakeOff | Descent | Homeward | Orbit


class Auto(CopterMode):
    """Does what the mission's executor asks for; a copter on the ground takes off for whatever is in the air."""

    name, number = "AUTO", 3

    def refusal(self) -> str:
        """Without a mission there is nothing to do."""
        return self.autopilot.executor.refusal()

    def enter(self) -> None:
        """Begin, or go on with, the mission."""
        super().enter()
        self.executor = self.autopilot.executor
        self._nav: NavTarget | None = None
        self._legs: Legs | None = None
        self._manoeuvre: Manoeuvre | None = None
        self._take_off: TakeOff | None = None
        self._waiting = True  # for the motors: the way begins where they start

    def shift(self, north: float, east: float, down: float) -> None:
        """Waypoints are on the map: the way to them begins anew from the track."""
        self._legs = None
        if self._take_off is not None:
            self._take_off.shift(north, east)
        if isinstance(self._manoeuvre, TakeOff):
            self._manoeuvre.shift(north, east)
        elif isinstance(self._manoeuvre, Orbit):
            self._manoeuvre.leave_circle()

    def leave(self) -> None:
        """The mission stays where it is."""
        self.executor.stop()

    def update(self, dt: float) -> None:
        """Ask for the task, and do it."""
        if not self.autopilot.armed:
            self._waiting = True
            return
        if self._waiting:
            self._waiting = False
            self.executor.start()
        nav = self.executor.update(dt)
        self.stage, self.lands = Landed.IN_AIR, nav.task in (Task.LAND, Task.RETURN, Task.DONE)
        self._renew(nav)
        if self.stays_down(nav.task not in GROUND_TASKS):
            self._take_off = None
        elif self.craft.landed or self._take_off is not None:
            self._leave_ground(nav, dt)
        else:
            self._do(nav, dt)

    def _renew(self, nav: NavTarget) -> None:
        """Forget the manoeuvre of another item; legs go on where the next begins at the last one's end."""
        last, self._nav = self._nav, nav
        if last is not None and _same_way(last, nav):
            return
        self._manoeuvre = None
        if nav.task is Task.TAKEOFF and self._take_off is not None:
            self._take_off.down = nav.target[2]
        if nav.task in (Task.WAYPOINT, Task.LOITER) and self._take_off is None:
            self._plan(nav, last)
        elif nav.task not in WAITING:
            self._legs = None

    def _plan(self, nav: NavTarget, last: NavTarget | None) -> None:
        onwards = last is not None and nav.start == last.target and nav.target != last.target
        if self._legs is None or not onwards:
            self._legs = Legs(self.craft.track)
        self._legs.go(nav.target, self.limits(nav.speed))

    def _leave_ground(self, nav: NavTarget, dt: float) -> None:
        """Climb to the height of the first place before going there."""
        self.stage = Landed.TAKEOFF
        self._take_off = self._take_off or TakeOff(self, nav.target[2])
        if self._take_off.update(dt):
            self._take_off, self._nav = None, None

    def _do(self, nav: NavTarget, dt: float) -> None:
        if nav.task in (Task.WAYPOINT, Task.LOITER):
            self._fly(nav, dt)
        elif nav.task in WAITING:
            self._wait(nav, dt)
        else:
            self._manoeuvre = self._manoeuvre or self._begin(nav)
            self._manoeuvre.update(dt)
            landing = isinstance(self._manoeuvre, Descent) or getattr(self._manoeuvre, "landing", False)
            self.stage = Landed.LANDING if landing else Landed.IN_AIR

    def _wait(self, nav: NavTarget, dt: float) -> None:
        """Stay where the last leg ends, or where a copter without one comes to rest."""
        if self._legs is not None:
            self._legs.advance(dt, self.craft.track)
        else:
            self.stop(dt)
        self._face(nav, dt)
        self.craft.follow()

    def _begin(self, nav: NavTarget) -> Manoeuvre:
        if nav.task is Task.TAKEOFF:
            return TakeOff(self, nav.target[2])
        if nav.task is Task.LAND:
            return Descent(self, (nav.target[0], nav.target[1]))
        if nav.task is Task.RETURN:
            return Homeward(self)
        rate = radians(abs(self.value("CIRCLE_RATE")))
        return Orbit(self, nav.target, abs(nav.radius), rate if nav.radius >= 0.0 else -rate)

    def _fly(self, nav: NavTarget, dt: float) -> None:
        """Along the leg, round the corner; the way waits for a copter that stays behind."""
        if self._legs is None:
            self._plan(nav, None)
        assert self._legs is not None
        estimate, track = self.autopilot.estimate, self.craft.track
        if nav.after is not None and nav.after[2] < self.autopilot.home_ned()[2] - LOWEST:
            self._legs.round_corner(nav.after, self.value("WPNAV_RADIUS") / 100.0, self.limits(nav.speed))
        behind = track.distance(estimate.north, estimate.east)
        self._legs.advance(dt * max(0.0, min(1.0, 2.0 - behind / BEHIND)), track)
        self._face(nav, dt)
        self.craft.follow()
        self.report(*nav.target, self._crosstrack(nav))

    def _face(self, nav: NavTarget, dt: float) -> None:
        track = self.craft.track
        if not isnan(nav.yaw):
            self.turn_to(nav.yaw, dt)
        elif self.value("WP_YAW_BEHAVIOR") and track.distance(nav.target[0], nav.target[1]) > FAR:
            self.turn_to(bearing(nav.target[0] - track.north, nav.target[1] - track.east, 0.0), dt)
        else:
            self.craft.heading.spin(0.0, dt)

    def _crosstrack(self, nav: NavTarget) -> float:
        """m right of the leg."""
        estimate = self.autopilot.estimate
        dn, de = nav.target[0] - nav.start[0], nav.target[1] - nav.start[1]
        length = hypot(dn, de)
        if length < FAR:
            return 0.0
        return ((estimate.east - nav.start[1]) * dn - (estimate.north - nav.start[0]) * de) / length


def _same_way(a: NavTarget, b: NavTarget) -> bool:
    """Whether only the heading or what comes afterwards differs."""
    if a is b:
        return True
    if a.task is Task.DONE is b.task:
        return True
    same_speed = a.speed == b.speed or (isnan(a.speed) and isnan(b.speed))
    return a.task is b.task and a.target == b.target and a.start == b.start and a.radius == b.radius and same_speed
