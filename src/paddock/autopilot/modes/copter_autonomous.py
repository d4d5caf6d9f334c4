"""AUTO of copters, which flies the mission, and GUIDED: positions, velocities, attitudes, take-offs from outside."""

from dataclasses import replace
from math import dist, hypot, isnan, nan, radians

from paddock.autopilot.contract import MissionMode
from paddock.autopilot.control.copter_path import CopterLegs, SplineLeg, onwards
from paddock.autopilot.estimate import Ned
from paddock.autopilot.guided import STALE_US, GuidedTarget
from paddock.autopilot.mission import MissionExecutor
from paddock.autopilot.mission_items import NavTarget, NavTask
from paddock.autopilot.modes.copter import FACING_DISTANCE, CopterMode, Descent, Orbit, ReturnHome, TakeOff
from paddock.autopilot.telemetry import Landed
from paddock.compute.scalars import asin, atan2

MIN_CORNER_ALTITUDE = 1.0  # m above home: a corner before a lower waypoint is not rounded
AHEAD = 0.3  # s in which nothing may change, for steady flight
WAITING = (NavTask.DELAY, NavTask.DONE)
GROUND_TASKS = (NavTask.LAND, NavTask.RETURN, *WAITING)  # no take-off needed

Manoeuvre = TakeOff | Descent | ReturnHome | Orbit


class CopterAuto(MissionMode, CopterMode):
    """Fly the mission; a copter on the ground takes off for a target in the air."""

    number = 3
    held = ("_take_off",)
    _nav: NavTarget | None
    _legs: CopterLegs | None
    _spline: SplineLeg | None
    _manoeuvre: Manoeuvre | None
    _take_off: TakeOff | None
    _waiting: bool  # for arming: the mission starts from that position

    def enter(self) -> None:
        """Start; the mission itself starts or resumes with the first update while armed."""
        super().enter()
        self._nav = self._legs = self._spline = self._manoeuvre = self._take_off = None
        self._waiting = True

    @property
    def executor(self) -> MissionExecutor:
        """The mission."""
        return self.autopilot.executor

    @property
    def legs(self) -> CopterLegs | None:
        """The legs of the mission."""
        return self._legs

    def resume(self) -> None:
        """Continue the mission at its current item."""
        super().resume()
        self._waiting = False

    def shift(self, offset: Ned) -> None:
        """Replan from the track: waypoints stay on the map, a take-off moves along."""
        self._legs = self._spline = None
        super().shift(offset)
        if isinstance(self._manoeuvre, TakeOff):
            self._manoeuvre.shift(offset)
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
        self._update_manoeuvre(nav)
        if self.stay_on_ground(nav.task not in GROUND_TASKS):
            self._take_off = None
        elif self.copter.landed or self._take_off is not None:
            # climb to the altitude of the first waypoint before going there
            self.stage = Landed.TAKEOFF
            self._take_off = self._take_off or TakeOff(self, nav.target[2])
            if self._take_off.update(dt):
                self._take_off, self._nav = None, None
        else:
            self._fly_task(nav, dt)

    def _update_manoeuvre(self, nav: NavTarget) -> None:
        """Drop the manoeuvre of the last item; legs continue if the next starts where the last ends."""
        last, self._nav = self._nav, nav
        if last is not None:  # whether only the heading or the next waypoint differs
            same_speed = last.speed == nav.speed or (isnan(last.speed) and isnan(nav.speed))
            same_place = last.target == nav.target and last.start == nav.start and last.radius == nav.radius
            done = last.task is NavTask.DONE is nav.task
            if last is nav or done or (last.task is nav.task and same_place and same_speed):
                return
        self._manoeuvre = None
        if nav.task is NavTask.SPLINE and self._take_off is None:
            self._plan_spline(nav)
        elif nav.task not in WAITING:
            self._spline = None
        if nav.task is NavTask.TAKEOFF and self._take_off is not None:
            self._take_off.down = nav.target[2]
        if nav.task in (NavTask.WAYPOINT, NavTask.LOITER) and self._take_off is None:
            self._plan_leg(nav, last)
        elif nav.task not in WAITING:
            self._legs = None

    def _plan_leg(self, nav: NavTarget, last: NavTarget | None) -> None:
        onwards = last is not None and nav.start == last.target and nav.target != last.target
        if self._legs is None or not onwards:
            self._legs = CopterLegs(self.copter.track)
        self._legs.add_leg(nav.target, self.limits(nav.speed))

    def _plan_spline(self, nav: NavTarget) -> None:
        """Plan a curve, from the end of the last one or from the track."""
        last, self._legs = self._spline, None
        leaving = last.onwards if last is not None and last.over else (0.0, 0.0, 0.0)
        vector = onwards(nav.start, nav.target, nav.after, nav.curved)
        lateral = (self.value("WPNAV_ACCEL_C") or 2.0 * self.value("WPNAV_ACCEL")) / 100.0
        following = dist(nav.target, nav.after) if nav.after is not None else 0.0
        limits = self.limits(nav.speed)
        self._spline = SplineLeg(self.copter.track, nav.target, leaving, vector, limits, lateral, following)

    def _fly_task(self, nav: NavTarget, dt: float) -> None:
        if nav.task is NavTask.SPLINE:
            self._follow_spline(nav, dt)
        elif nav.task in (NavTask.WAYPOINT, NavTask.LOITER):
            self._follow_legs(nav, dt)
        elif nav.task in WAITING:  # at the end of the last leg, or where the copter comes to rest
            if self._legs is not None:
                self._legs.advance(dt, self.copter.track)
            elif self._spline is not None:
                self._spline.advance(dt, self.copter.track)
            else:
                self.stop(dt)
            self._control_heading(nav, dt)
            self.copter.follow()
        else:
            self._manoeuvre = self._manoeuvre or self._make_manoeuvre(nav)
            self._manoeuvre.update(dt)

    def _make_manoeuvre(self, nav: NavTarget) -> Manoeuvre:
        if nav.task is NavTask.TAKEOFF:
            return TakeOff(self, nav.target[2])
        if nav.task is NavTask.LAND:
            return Descent(self, (nav.target[0], nav.target[1]))
        if nav.task is NavTask.RETURN:
            return ReturnHome(self)
        rate = radians(abs(self.value("CIRCLE_RATE")))
        return Orbit(self, nav.target, abs(nav.radius), rate if nav.radius >= 0.0 else -rate)

    def _follow_legs(self, nav: NavTarget, dt: float) -> None:
        """Fly the leg and round the corner; the track waits for a copter that lags behind."""
        if self._legs is None:
            self._plan_leg(nav, None)
        assert self._legs is not None
        estimate, track = self.autopilot.estimate, self.copter.track
        if nav.after is not None and nav.after[2] < self.autopilot.home_position.ned()[2] - MIN_CORNER_ALTITUDE:
            self._legs.round_corner(nav.after, self.value("WPNAV_RADIUS") / 100.0, self.limits(nav.speed))
        self._legs.advance(dt * track.pace(estimate), track)
        self._control_heading(nav, dt)
        self.copter.follow()
        dn, de = nav.target[0] - nav.start[0], nav.target[1] - nav.start[1]
        length = hypot(dn, de)
        right = (estimate.east - nav.start[1]) * dn - (estimate.north - nav.start[0]) * de
        self.report(*nav.target, 0.0 if length < FACING_DISTANCE else right / length)
        if self.executor.steady(AHEAD) and self._legs.continues(nav.after, self.value("WPNAV_RADIUS") / 100.0, AHEAD):
            self.copter.stay_steady()

    def _follow_spline(self, nav: NavTarget, dt: float) -> None:
        """Fly the curve; the track waits for a copter that lags behind."""
        if self._spline is None:
            self._plan_spline(nav)
        assert self._spline is not None
        estimate, track = self.autopilot.estimate, self.copter.track
        self._spline.advance(dt * track.pace(estimate), track)
        self.executor.passed = self._spline.over
        self._control_heading(nav, dt)
        self.copter.follow()
        self.report(*nav.target)

    def _control_heading(self, nav: NavTarget, dt: float) -> None:
        track = self.copter.track
        if not isnan(nav.yaw):
            self.turn_to(nav.yaw, dt)
        elif nav.task is NavTask.SPLINE and self.value("WP_YAW_BEHAVIOR") and track.speed > 1.0:
            self.turn_to(atan2(track.ve, track.vn), dt)  # along the curve
        else:
            self.turn_towards(nav.target[0], nav.target[1], dt, self.value("WP_YAW_BEHAVIOR"))


LIFT_OFF_THRUST = 0.55  # where 0.5 holds the altitude


class CopterGuided(CopterMode):
    """Fly to the newest target of a ground station or companion computer; hold the position without one."""

    name, number = "GUIDED", 4
    held = ("_take_off", "_hold")  # a target stays on the map
    _seen: GuidedTarget
    _target: GuidedTarget  # the one being flown
    _take_off: TakeOff | None
    _hold: Ned | None  # position to hold after a target is done
    _yaw: float  # rad to keep; NaN: unchanged

    def enter(self) -> None:
        """Brake and hold, unless a target was set together with the mode."""
        super().enter()
        fresh = self.autopilot.guided.time_us >= self.autopilot.now_us
        self._seen = GuidedTarget(number=-1) if fresh else self.autopilot.guided
        self._target = GuidedTarget()
        self._take_off = self._hold = None
        self._yaw = nan

    def update(self, dt: float) -> None:
        """Take a new target, and fly the current one."""
        self._read_target()
        # only a thrust target leaves the ground without a take-off
        lifts = self._target.attitude is not None and self._target.thrust > LIFT_OFF_THRUST and not self._stale()
        if self.stay_on_ground(self._take_off is not None or lifts):
            return
        self.stage = Landed.IN_AIR
        if (take_off := self._take_off) is not None:
            self.stage = Landed.TAKEOFF
            if take_off.update(dt):
                self._take_off, self._target = None, GuidedTarget()
                self._hold = self.copter.track.north, self.copter.track.east, take_off.down
        elif self._target.attitude is not None and not self._stale():
            self._follow_attitude(self._target, dt)
        else:
            target = self._target
            if target.velocity is not None and target.position is None:
                vn, ve, vd = (0.0, 0.0, 0.0) if self._stale() else target.velocity
                track = self.copter.track
                track.steer(vn, ve, self.level_limits(), dt)
                track.climb(-self._limit_climb(vd), self.copter.limits.down, dt)
                if vn or ve or vd:
                    track.leash(self.autopilot.estimate)
            elif target.position is not None and target.velocity is not None:
                self._follow_moving(target.position, target.velocity, target.speed, dt)
            elif target.position is not None:
                self.seek(*target.position, dt, target.speed)
                self.report(*target.position)
                self.copter.stay_steady()
            elif self._hold is not None:
                self.seek(*self._hold, dt)
                self.copter.stay_steady()
            else:
                self.stop(dt)
                self.copter.stay_steady()
            self._control_heading(dt)
            self.copter.follow()

    def _read_target(self) -> None:
        guided, last = self.autopilot.guided, self._seen
        if guided.number == last.number:
            return
        self._seen = guided
        if guided.time_us == last.time_us:  # the same target with another heading or speed
            self._target, self._yaw = replace(self._target, speed=guided.speed, yaw_rate=guided.yaw_rate), guided.yaw
            return
        if not isnan(guided.takeoff):
            self._take_off = TakeOff(self, self.autopilot.home_position.ned()[2] - guided.takeoff)
        elif not self.copter.landed:
            self._take_off = None
        # fly a new target; one that only turns keeps the path
        moves = guided.position is not None or guided.velocity is not None or guided.attitude is not None
        if moves or not isnan(guided.yaw) or not isnan(guided.yaw_rate):
            self._yaw = guided.yaw
        if moves:
            self._target, self._hold = guided, None
        elif not isnan(guided.yaw_rate):
            self._target = replace(self._target, yaw_rate=guided.yaw_rate, time_us=guided.time_us)

    def _stale(self) -> bool:
        return self.autopilot.now_us - self._target.time_us > STALE_US

    def _follow_moving(self, position: Ned, velocity: Ned, speed: float, dt: float) -> None:
        """Follow a position (m) that moves (m/s) for dt s at `speed` m/s; it stops when the target expires."""
        age = min(self.autopilot.now_us - self._target.time_us, STALE_US) * 1e-6
        vn, ve, vd = (0.0, 0.0, 0.0) if self._stale() else velocity
        north, east, down = (p + v * age for p, v in zip(position, velocity, strict=True))
        track = self.copter.track
        track.seek(north, east, self.level_limits(speed), dt, (vn, ve))
        gap = max(-1.0, min(1.0, 0.8 * (down - track.down)))
        track.climb(-self._limit_climb(vd + gap), self.copter.limits.down, dt)
        self.report(north, east, down)

    def _limit_climb(self, vd: float) -> float:
        """Limit a descent rate, m/s, to the parameters."""
        return max(-self.value("WPNAV_SPEED_UP") / 100.0, min(self.value("WPNAV_SPEED_DN") / 100.0, vd))

    def _control_heading(self, dt: float) -> None:
        rate, position, track = self._target.yaw_rate, self._target.position, self.copter.track
        roi, faces = self.autopilot.executor.actions.roi_yaw(), self.value("WP_YAW_BEHAVIOR")
        if not isnan(self._yaw):
            self.turn_to(self._yaw, dt)
        elif isnan(rate) and not isnan(roi):
            self.turn_to(roi, dt)
        elif (
            isnan(rate)
            and position is not None
            and faces
            and track.distance(position[0], position[1]) > FACING_DISTANCE
        ):
            self.turn_towards(position[0], position[1], dt, True)
        else:
            self.copter.heading.spin(0.0 if isnan(rate) or self._stale() else rate, dt)
            self.copter.heading.leash(self.autopilot.estimate)

    def _follow_attitude(self, target: GuidedTarget, dt: float) -> None:
        """Hold an attitude; the thrust sets the climb rate, 0.5 holds the altitude."""
        estimate, track = self.autopilot.estimate, self.copter.track
        assert target.attitude is not None
        if self.wait_for_liftoff():
            return
        w, x, y, z = target.attitude
        roll = atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
        pitch = asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
        yaw = atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
        if isnan(target.yaw_rate):
            self.turn_to(yaw, dt)
        else:
            self.copter.heading.spin(target.yaw_rate, dt)
            self.copter.heading.leash(estimate)
        most = radians(self.value("ANGLE_MAX") / 100.0)
        stick = 0.0 if isnan(target.thrust) else 2.0 * target.thrust - 1.0
        climb = stick * self.value("WPNAV_SPEED_UP" if stick > 0.0 else "WPNAV_SPEED_DN") / 100.0
        track.begin_horizontal(estimate)
        track.climb(climb, self.copter.limits.up._replace(acceleration=self.value("PILOT_ACCEL_Z") / 100.0), dt)
        track.leash(estimate)
        self.copter.lean(max(-most, min(most, roll)), max(-most, min(most, pitch)))
