"""The modes in which planes navigate: RTL, TAKEOFF, GUIDED and AUTO; their take-off and landing."""

from dataclasses import dataclass
from enum import IntEnum
from math import degrees, hypot, isfinite, isnan, radians

from paddock.autopilot.contract import Held, MissionMode
from paddock.autopilot.control.l1 import roll_for_course, roll_for_line
from paddock.autopilot.control.plane import ATTITUDE, HEIGHT_TIME, PlaneSetpoint
from paddock.autopilot.estimate import GRAVITY, Ned, Point
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.mission_items import NavTarget, NavTask
from paddock.autopilot.modes.plane import PlaneMode
from paddock.autopilot.telemetry import Landed, ModeReason, Severity
from paddock.compute.scalars import atan2, cos, sin

LEAST_PITCH = radians(5.0)  # of a climb below AIRSPEED_CRUISE
TURNING_HEIGHT = 3.0  # TKOFF_LVL_ALTs above the start: the full roll limit
EXTRA = 3.0  # m that a take-off aims above its altitude, to pass it
AHEAD = 5000.0  # m along the runway to which the line of a take-off is flown


@dataclass
class TakeoffRun(Held):
    """A take-off: the motor starts, it rolls or is thrown, climbs straight ahead, and turns when it is high enough."""

    held = ("start",)
    start: Ned
    heading: float  # rad
    launched: bool = False
    thrown: float = -1.0  # s since the acceleration of a throw; -1: none yet
    levelling: float = 0.0  # m below the altitude at which the pitch began to come down; 0: not yet

    @classmethod
    def here(cls, mode: "PlaneMode") -> "TakeoffRun":
        """Return a take-off on the ground, or in the air a climb ahead of where the plane is."""
        estimate, flying = mode.autopilot.estimate, mode.autopilot.telemetry.landed is not Landed.ON_GROUND
        heading = atan2(estimate.ve, estimate.vn) if flying else estimate.yaw
        return cls(estimate.position, heading, launched=flying)

    def update(self, mode: "PlaneMode", down: float, pitch: float, dt: float) -> None:
        """Fly dt s of the climb to an altitude (m down), with a pitch (rad)."""
        estimate, plane = mode.autopilot.estimate, mode.plane
        if not self.launched:
            self._detect_launch(mode, dt)
        if not self.launched:
            plane.setpoint = PlaneSetpoint(ATTITUDE, pitch=radians(mode.value("TKOFF_GND_PITCH")))
            return
        speed, most = plane.memory.speed, mode.value("THR_MAX") / 100.0
        height = self.start[2] - estimate.down
        steering = 1.0 if height < 1.0 else 0.0
        if speed < mode.value("TKOFF_ROTATE_SPD"):
            plane.setpoint = PlaneSetpoint(
                ATTITUDE,
                *(0.0, 0.0, 0.0, most, 0.0, radians(mode.value("TKOFF_GND_PITCH"))),
                heading=self.heading,
                steering=steering,
            )
            return
        scale = min(speed / mode.value("AIRSPEED_CRUISE"), 1.0)
        least = max(pitch * scale, LEAST_PITCH) * self._level_off(mode, down)
        level, free = radians(mode.value("LEVEL_ROLL_LIMIT")), radians(mode.value("ROLL_LIMIT_DEG"))
        low = max(mode.value("TKOFF_LVL_ALT"), 0.1)
        share = min(max((height - low) / (low * (TURNING_HEIGHT - 1.0)), 0.0), 1.0)
        limits = {"pitch_least": least, "throttle_least": most, "roll_limit": level + share * (free - level)}
        if steering or not estimate.position_ok:
            mode.fly_heading(self.heading, down - EXTRA, steering=steering, **limits)
        else:  # wind must not carry it off the line of the runway
            north, east = self.start[0] + AHEAD * cos(self.heading), self.start[1] + AHEAD * sin(self.heading)
            mode.follow(self.start[:2], (north, east), down - EXTRA, **limits)

    def _detect_launch(self, mode: "PlaneMode", dt: float) -> None:
        """Launch immediately, or some time after the acceleration of a throw."""
        autopilot = mode.autopilot
        estimate = autopilot.estimate
        self.heading, self.start = estimate.yaw, estimate.position
        needed, speed = mode.value("TKOFF_THR_MINACC"), hypot(estimate.vn, estimate.ve)
        force = autopilot.sensors.accel_x - GRAVITY * sin(estimate.pitch)
        if needed > 0.0:
            if self.thrown < 0.0 and isfinite(force) and force >= needed:
                self.thrown = 0.0
            elif self.thrown >= 0.0:
                self.thrown += dt
            ready = self.thrown >= 0.1 * mode.value("TKOFF_THR_DELAY") - 1e-9
        else:
            ready = True
        if ready and speed >= mode.value("TKOFF_THR_MINSPD"):
            self.launched, mode.plane.suppressed = True, False
            autopilot.send_text(Severity.INFO, f"Takeoff: heading {round(degrees(self.heading) % 360.0)} deg")

    def _level_off(self, mode: "PlaneMode", down: float) -> float:
        """Return the share of the least pitch: it falls to 0 in the last TKOFF_PLIM_SEC of the climb."""
        estimate, seconds = mode.autopilot.estimate, mode.value("TKOFF_PLIM_SEC")
        remaining = estimate.down - down
        if self.levelling == 0.0 and seconds > 0.0 and estimate.vd < -0.1 and remaining <= -estimate.vd * seconds:
            self.levelling = max(remaining, 0.1)
        return min(max(remaining / self.levelling, 0.0), 1.0) if self.levelling > 0.0 else 1.0


class LandingStage(IntEnum):
    """Stages of a landing."""

    APPROACH = 0
    PREFLARE = 1
    FLARE = 2
    GO_AROUND = 3


FLARE_AIM = 0.5  # weight of the sink rate at touchdown in the mean of the flare
BEYOND = 500.0  # m beyond the landing point to which the line is flown
ABORT_ALTITUDE = 30.0  # m above home, of a go-around without one
LOW = 0.7  # m: the rudder aligns the nose with the runway
EASING = radians(4.0)  # rad/s
MOST_EASED = radians(10.0)
FLOATING = 0.7  # of the wanted sink rate
LEAST_SINK = 1.0  # m/s at which a flare begins


@dataclass
class Landing:
    """A landing on the line from `start` to `target`: slope, flare, roll-out; or a go-around."""

    start: Ned
    target: Ned
    abort: float = 0.0  # m above home to which a go-around climbs; 0: ABORT_ALTITUDE
    stage: LandingStage = LandingStage.APPROACH
    flare_height: float = 0.0  # m
    flare_sink: float = 0.0  # m/s
    eased: float = 0.0  # rad by which the least pitch of the flare was lowered, because it floated

    @property
    def bearing(self) -> float:
        """Direction of the approach, rad."""
        return atan2(self.target[1] - self.start[1], self.target[0] - self.start[0])

    def update(self, mode: "PlaneMode", nav: "NavTarget", dt: float) -> bool:
        """Fly one step; return whether a go-around has reached its altitude."""
        if self.stage is LandingStage.GO_AROUND:
            return self._climb_out(mode)
        estimate = mode.autopilot.estimate
        north, east = self.target[0] - self.start[0], self.target[1] - self.start[1]
        length = max(hypot(north, east), 1.0)
        remaining = ((self.target[0] - estimate.north) * north + (self.target[1] - estimate.east) * east) / length
        height, sink = self.target[2] - estimate.down, estimate.vd
        if self.stage is not LandingStage.FLARE:
            self._next_stage(mode, height, sink, remaining, length)
        further = BEYOND / length
        end: Point = self.target[0] + north * further, self.target[1] + east * further
        roll, across = roll_for_line(mode.position, mode.velocity, self.start[:2], end, mode.plane.nav)
        mode.report(self.target[:2], across)
        if self.stage is LandingStage.FLARE:
            self._flare(mode, roll, height, dt)
        else:
            down = self._slope(mode, remaining, length)
            mode.fly(roll, down, self._airspeed(mode, nav.speed))
        return False

    def _airspeed(self, mode: "PlaneMode", target: float) -> float:
        if self.stage is not LandingStage.APPROACH:
            return mode.value("LAND_PF_ARSPD")
        return mode.value("TECS_LAND_ARSPD") if mode.value("TECS_LAND_ARSPD") > 0.0 else target

    def _next_stage(self, mode: "PlaneMode", height: float, sink: float, remaining: float, length: float) -> None:
        """Begin the flare at its height, or its time before touchdown, or beyond the landing point.

        height: m. sink: m/s. remaining: m to the landing point. length: m of the approach.
        """
        seconds = mode.value("LAND_FLARE_SEC")
        soon = seconds > 0.0 and height <= sink * seconds and remaining < 0.5 * length
        if height <= mode.value("LAND_FLARE_ALT") or soon or remaining <= 0.0:
            self.stage = LandingStage.FLARE
            self.flare_height, self.flare_sink = max(height, 0.5), max(sink, LEAST_SINK)
            speed = hypot(*mode.velocity)
            text = f"Flare {height:.1f}m sink={sink:.2f} speed={speed:.1f} dist={remaining:.1f}"
            mode.autopilot.send_text(Severity.INFO, text)
        elif mode.value("LAND_PF_ARSPD") > 0.0 and height <= mode.value("LAND_PF_ALT"):
            self.stage = LandingStage.PREFLARE

    def _slope(self, mode: "PlaneMode", remaining: float, length: float) -> float:
        """Return the altitude (m down) on the slope to the point where the flare begins, ahead by the lag of TECS."""
        speed = max(hypot(*mode.velocity), 0.5)
        drop = max(self.target[2] - self.start[2], 0.0)
        sink = drop / max(length / speed, 0.5)
        flare = mode.value("LAND_FLARE_ALT")
        aim = min(mode.value("LAND_FLARE_SEC") * sink, 2.0 * flare) if sink > 0.0 else flare
        aim = min(max(aim, flare), drop)
        mean = max(FLARE_AIM * mode.value("TECS_LAND_SINK") + (1.0 - FLARE_AIM) * sink, 0.1)
        distance = min(speed * aim / mean, 0.5 * length)
        slope = (drop - aim) / max(length - distance, 1.0)
        ahead = min(max(remaining - speed * HEIGHT_TIME, -BEYOND), length)
        return self.target[2] - min(aim + slope * (ahead - distance), drop)

    def _flare(self, mode: "PlaneMode", roll: float, height: float, dt: float) -> None:
        """Reduce the sink rate with the height, motor off, wings level; on the ground the nose wheel steers."""
        least = mode.value("TECS_LAND_SINK")
        share = min(max(height / self.flare_height, 0.0), 1.0)
        sink = least + share * (max(self.flare_sink, least) - least)
        if mode.autopilot.estimate.vd < FLOATING * sink:
            self.eased = min(self.eased + EASING * dt, MOST_EASED)
        mode.fly(
            roll,
            mode.autopilot.estimate.down,
            mode.value("AIRSPEED_MIN"),
            climbing=1.0,
            climb=-sink,
            weight=0.0,
            pitch_least=radians(mode.value("LAND_PITCH_DEG")) - self.eased,
            throttle_most=0.0,
            roll_limit=radians(mode.value("LEVEL_ROLL_LIMIT")),
            heading=self.bearing,
            steering=1.0 if height < LOW else 0.0,
        )

    def go_around(self, mode: "PlaneMode") -> None:
        """Abort the landing."""
        self.stage = LandingStage.GO_AROUND
        mode.autopilot.send_text(Severity.NOTICE, "Landing aborted: going around")

    def _climb_out(self, mode: "PlaneMode") -> bool:
        down = mode.autopilot.home_position.ned()[2] - (self.abort or ABORT_ALTITUDE)
        level = radians(mode.value("LEVEL_ROLL_LIMIT"))
        mode.fly_heading(self.bearing, down - EXTRA, throttle_least=mode.value("THR_MAX") / 100.0, roll_limit=level)
        return mode.autopilot.estimate.down <= down


HOME_FIRST, LAND_AT_ONCE = 1, 2  # values of RTL_AUTOLAND
NEAR_HOME = 1.3  # circle radii from home at which the landing sequence begins


class PlaneRtl(PlaneMode):
    """Fly to home or the nearest rally point, at RTL_ALTITUDE above home, and circle there, or land (RTL_AUTOLAND)."""

    name, number, can_arm = "RTL", 11, False
    centre: Point
    down: float

    def enter(self) -> None:
        """Choose position and altitude."""
        north, east, _ = self.autopilot.home_position.return_point()
        self.centre, self.down = (north, east), self.return_altitude()

    def update(self, dt: float) -> None:
        """Fly there: far from a circle, its guidance leads straight to it."""
        autoland, radius = self.value("RTL_AUTOLAND"), self.value("RTL_RADIUS") or self.value("WP_LOITER_RAD")
        near = self.autopilot.estimate.distance(self.centre) < NEAR_HOME * abs(radius)
        if (autoland == LAND_AT_ONCE or (autoland == HOME_FIRST and near)) and self.plane.start_landing("RTL"):
            return
        self.circle(self.centre, self.down, radius)


class PlaneTakeoff(PlaneMode):
    """Take off straight ahead and circle TKOFF_DIST ahead of the start, at TKOFF_ALT above it."""

    name, number = "TAKEOFF", 13
    held = ("run", "goal")
    run: TakeoffRun | None
    goal: Ned

    def enter(self) -> None:
        """Begin on the ground, or where it flies."""
        self.run, self.goal = TakeoffRun.here(self), self.autopilot.estimate.position
        self.stage = Landed.TAKEOFF
        self._set_goal()

    def _set_goal(self) -> None:
        if self.run is not None:
            (north, east, down), ahead = self.run.start, self.value("TKOFF_DIST")
            if self.autopilot.telemetry.landed is not Landed.ON_GROUND:
                down = min(down, self.autopilot.home_position.ned()[2])
            heading = self.run.heading
            self.goal = north + ahead * cos(heading), east + ahead * sin(heading), down - self.value("TKOFF_ALT")

    def update(self, dt: float) -> None:
        """Climb, then circle."""
        if not self.autopilot.armed:
            self.enter()
            return
        if self.run is not None:
            if not self.run.launched:
                self._set_goal()
            here, start = self.autopilot.estimate, self.run.start
            flown = hypot(here.north - start[0], here.east - start[1])
            if here.down <= self.goal[2] + 2.0 or flown >= self.value("TKOFF_DIST"):
                self.run, self.stage = None, Landed.IN_AIR
            else:
                self.run.update(self, self.goal[2], radians(self.value("TKOFF_LVL_PITCH")), dt)
                return
        self.circle(self.goal[:2], self.goal[2])


class PlaneGuided(PlaneMode):
    """Circle a position, or fly a velocity or heading, as commanded; circle the position without a target."""

    name, number = "GUIDED", 15
    centre: Point
    down: float

    def enter(self) -> None:
        """Discard earlier targets."""
        self.autopilot.replace_target(GuidedTarget())
        self.centre, self.down = self.position, self.autopilot.estimate.down

    def update(self, dt: float) -> None:
        """Follow the newest target."""
        target = self.autopilot.guided
        if target.position is not None:
            self.centre, self.down = target.position[:2], target.position[2]
            self.circle(self.centre, self.down, speed=target.speed)
        elif target.velocity is not None:
            north, east, down = target.velocity
            self.centre, self.down = self.position, self.autopilot.estimate.down
            roll = roll_for_course(atan2(east, north), self.velocity, self.plane.nav)
            self.fly(roll, self.down, hypot(north, east), climbing=1.0, climb=-down)
        elif not isnan(target.yaw):
            self.fly_heading(target.yaw, self.down, target.speed)
        else:
            self.circle(self.centre, self.down, speed=target.speed)


CIRCLED = (NavTask.LOITER, NavTask.LOITER_TO_ALT, NavTask.RETURN)
TAKEOFF_PITCH = 15.0  # deg, of a NAV_TAKEOFF without one


class PlaneAuto(MissionMode, PlaneMode):
    """Fly the mission; take off straight ahead, circle to wait, land on the line to the landing point."""

    number = 10
    held = ("run", "_waiting")
    run: TakeoffRun | None
    landing: Landing | None
    _waiting: Ned | None
    _leg: int  # sequence of the item of `run` or `landing`

    def enter(self) -> None:
        """Start; the mission itself starts or resumes with the first update while armed."""
        self.run = self.landing = self._waiting = None
        self._leg = -1

    def update(self, dt: float) -> None:
        """Fly one step of the mission."""
        self.stage = Landed.IN_AIR
        if self.autopilot.armed:
            self._follow(self.nav_target(dt), dt)
        else:
            self.run = self.landing = None

    def _follow(self, nav: NavTarget, dt: float) -> None:
        point, down = nav.target[:2], nav.target[2]
        if nav.task in (NavTask.DELAY, NavTask.DONE):  # circle the position where the wait began
            if self._waiting is None:
                self._waiting = (*self.position, self.autopilot.estimate.down)
            self.circle(self._waiting[:2], self._waiting[2], speed=nav.speed)
            return
        self._waiting = None
        current = self.autopilot.executor.current
        if nav.task is NavTask.TAKEOFF:
            self._take_off(nav, current, dt)
        elif nav.task is NavTask.LAND:
            self._land(nav, current, dt)
        elif nav.task is NavTask.CLIMB:
            self.follow(nav.start[:2], point, down, nav.speed)
        elif nav.task is NavTask.CIRCLE:
            self.circle(point, down, nav.radius, nav.speed)
        elif nav.task in CIRCLED or nav.hold > 0.0:
            altitude = self.return_altitude() if nav.task is NavTask.RETURN else down
            self.circle(point, altitude, nav.radius, nav.speed)
        else:
            self._fly_to_waypoint(nav)

    def _fly_to_waypoint(self, nav: NavTarget) -> None:
        """Fly to a waypoint, on the straight slope from the last one, ahead by the lag of the altitude."""
        point, down, lead = nav.target[:2], nav.target[2], self.value("WP_RADIUS")
        self.autopilot.executor.lead = lead
        length = hypot(nav.target[0] - nav.start[0], nav.target[1] - nav.start[1])
        early = lead + hypot(*self.velocity) * HEIGHT_TIME
        left = min(max(self.autopilot.estimate.distance(point) - early, 0.0) / max(length - early, 1.0), 1.0)
        self.follow(nav.start[:2], point, down + left * (nav.start[2] - down), nav.speed)

    def _take_off(self, nav: NavTarget, current: int, dt: float) -> None:
        if self.run is None or self._leg != current:
            self.run, self._leg = TakeoffRun.here(self), current
        self.stage = Landed.TAKEOFF
        self.run.update(self, nav.target[2], radians(nav.p1 if nav.p1 > 0.0 else TAKEOFF_PITCH), dt)

    def _land(self, nav: NavTarget, current: int, dt: float) -> None:
        autopilot = self.autopilot
        if self.landing is None or self._leg != current or self.landing.target != nav.target:
            self.landing, self._leg = Landing(nav.start, nav.target, nav.p1), current
            height = autopilot.home_position.ned()[2] - autopilot.estimate.down
            autopilot.send_text(Severity.INFO, f"Landing approach start at {height:.1f}m")
        self.stage = Landed.LANDING
        if self.landing.update(self, nav, dt):
            self.landing = None
            if not self.plane.start_landing("go-around"):
                autopilot.set_mode(self.plane.return_mode, "no landing sequence", ModeReason.MISSION_END)

    @property
    def flaring(self) -> bool:
        """Whether it has begun to flare: it may disarm once it has stopped."""
        return self.landing is not None and self.landing.stage is LandingStage.FLARE

    def go_around(self) -> bool:
        """Abort a landing; return whether there was one."""
        landing = self.landing
        if landing is None or self.stage is not Landed.LANDING:
            return False
        landing.go_around(self)
        return True
