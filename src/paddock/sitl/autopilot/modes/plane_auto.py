"""The modes in which planes navigate: RTL, TAKEOFF, GUIDED and AUTO."""

from math import hypot, isnan, radians

from paddock.compute.scalars import atan2, cos, sin
from paddock.sitl.autopilot.control.l1 import roll_for_course
from paddock.sitl.autopilot.control.tecs import HEIGHT_TIME
from paddock.sitl.autopilot.estimate import Ned, Point
from paddock.sitl.autopilot.guided import GuidedTarget
from paddock.sitl.autopilot.mission.items import NavTarget, NavTask
from paddock.sitl.autopilot.modes.plane import PlaneMode
from paddock.sitl.autopilot.modes.plane_runway import Landing, LandingStage, TakeoffRun
from paddock.sitl.autopilot.telemetry import Landed, ModeReason, Severity
from paddock.sitl.autopilot.vehicle import MissionMode

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
        way, radius = self.value("RTL_AUTOLAND"), self.value("RTL_RADIUS") or self.value("WP_LOITER_RAD")
        near = self.autopilot.estimate.distance(self.centre) < NEAR_HOME * abs(radius)
        if (way == LAND_AT_ONCE or (way == HOME_FIRST and near)) and self.plane.start_landing("RTL"):
            return
        self.circle(self.centre, self.down, radius)


class PlaneTakeoff(PlaneMode):
    """Take off straight ahead and circle TKOFF_DIST ahead of the start, at TKOFF_ALT above it."""

    name, number = "TAKEOFF", 13
    run: TakeoffRun | None
    goal: Ned

    def enter(self) -> None:
        """Begin on the ground, or where it flies."""
        estimate = self.autopilot.estimate
        self.run = TakeoffRun(estimate.position, estimate.yaw)
        self.goal = estimate.position
        if self.autopilot.telemetry.landed is not Landed.ON_GROUND:  # climb ahead of where it is
            self.run.launched = True
            self.run.heading = atan2(estimate.ve, estimate.vn)
        self.stage = Landed.TAKEOFF
        self._aim()

    def _aim(self) -> None:
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
                self._aim()
            here, start = self.autopilot.estimate, self.run.start
            flown = hypot(here.north - start[0], here.east - start[1])
            if here.down <= self.goal[2] + 2.0 or flown >= self.value("TKOFF_DIST"):
                self.run, self.stage = None, Landed.IN_AIR
            else:
                self.run.update(self, self.goal[2], radians(self.value("TKOFF_LVL_PITCH")), dt)
                return
        self.circle(self.goal[:2], self.goal[2])

    def shift(self, north: float, east: float, down: float) -> None:
        """Move start and goal along with a jump of the estimate."""
        if self.run is not None:
            self.run.shift(north, east, down)
        self.goal = self.goal[0] + north, self.goal[1] + east, self.goal[2] + down


class PlaneGuided(PlaneMode):
    """Circle a position, or fly a velocity or heading, as commanded; circle the position without a target."""

    name, number = "GUIDED", 15
    centre: Point
    down: float

    def enter(self) -> None:
        """Discard earlier targets."""
        self.autopilot.guided = GuidedTarget()
        self.centre, self.down = self.place, self.autopilot.estimate.down

    def update(self, dt: float) -> None:
        """Follow the newest target."""
        target = self.autopilot.guided
        if target.position is not None:
            self.centre, self.down = target.position[:2], target.position[2]
            self.circle(self.centre, self.down, speed=target.speed)
        elif target.velocity is not None:
            north, east, down = target.velocity
            self.centre, self.down = self.place, self.autopilot.estimate.down
            roll = roll_for_course(atan2(east, north), self.velocity, self.plane.nav)
            self.fly(roll, self.down, hypot(north, east), climbing=1.0, climb=-down)
        elif not isnan(target.yaw):
            self.head(target.yaw, self.down, target.speed)
        else:
            self.circle(self.centre, self.down, speed=target.speed)


CIRCLED = (NavTask.LOITER, NavTask.LOITER_TO_ALT, NavTask.RETURN)
TAKEOFF_PITCH = 15.0  # deg, of a NAV_TAKEOFF without one


class PlaneAuto(MissionMode, PlaneMode):
    """Fly the mission; take off straight ahead, circle to wait, land on the line to the landing point."""

    number = 10
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
        place, down = nav.target[:2], nav.target[2]
        if nav.task in (NavTask.DELAY, NavTask.DONE):  # circle the position where the wait began
            if self._waiting is None:
                self._waiting = (*self.place, self.autopilot.estimate.down)
            self.circle(self._waiting[:2], self._waiting[2], speed=nav.speed)
            return
        self._waiting = None
        current = self.autopilot.executor.current
        if nav.task is NavTask.TAKEOFF:
            self._take_off(nav, current, dt)
        elif nav.task is NavTask.LAND:
            self._land(nav, current, dt)
        elif nav.task is NavTask.CLIMB:
            self.follow(nav.start[:2], place, down, nav.speed)
        elif nav.task is NavTask.CIRCLE:
            self.circle(place, down, nav.radius, nav.speed)
        elif nav.task in CIRCLED or nav.hold > 0.0:
            altitude = self.return_altitude() if nav.task is NavTask.RETURN else down
            self.circle(place, altitude, nav.radius, nav.speed)
        else:
            self._go(nav)

    def _go(self, nav: NavTarget) -> None:
        """Fly to a waypoint, on the straight slope from the last one, ahead by the lag of the altitude."""
        place, down, lead = nav.target[:2], nav.target[2], self.value("WP_RADIUS")
        self.autopilot.executor.lead = lead
        length = hypot(nav.target[0] - nav.start[0], nav.target[1] - nav.start[1])
        early = lead + hypot(*self.velocity) * HEIGHT_TIME
        left = min(max(self.autopilot.estimate.distance(place) - early, 0.0) / max(length - early, 1.0), 1.0)
        self.follow(nav.start[:2], place, down + left * (nav.start[2] - down), nav.speed)

    def _take_off(self, nav: NavTarget, current: int, dt: float) -> None:
        if self.run is None or self._leg != current:
            estimate = self.autopilot.estimate
            self.run, self._leg = TakeoffRun(estimate.position, estimate.yaw), current
            if self.autopilot.telemetry.landed is not Landed.ON_GROUND:
                self.run.launched, self.run.heading = True, atan2(estimate.ve, estimate.vn)
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

    def shift(self, north: float, east: float, down: float) -> None:
        """Leave the mission's positions on the map; the wait and the start of a take-off move along."""
        if self.run is not None:
            self.run.shift(north, east, down)
        if self._waiting is not None:
            self._waiting = self._waiting[0] + north, self._waiting[1] + east, self._waiting[2] + down
