"""The modes of rovers: MANUAL, ACRO, STEERING, HOLD, LOITER, CIRCLE, RTL, SMARTRTL, GUIDED and AUTO."""

from math import hypot, isnan, radians
from typing import TYPE_CHECKING, cast

from paddock.autopilot.contract import Held, MissionMode, Mode
from paddock.autopilot.control.rover import DIRECT, RoverSetpoint
from paddock.autopilot.control.rover_path import STOP_RADIUS, RoverDriver, point_ahead
from paddock.autopilot.estimate import Ned, Point
from paddock.autopilot.guided import STALE_US, GuidedTarget
from paddock.autopilot.mission_items import NavTarget, NavTask
from paddock.autopilot.telemetry import ModeReason, Severity
from paddock.compute.scalars import atan2, cos, sin

if TYPE_CHECKING:
    from paddock.autopilot.vehicle_types import Rover


class RoverMode(Mode):
    """A mode of a rover."""

    _hold_point: "HoldPoint | None" = None  # where `hold_at` drives or stands

    @property
    def rover(self) -> "Rover":
        """The vehicle."""
        return cast("Rover", self.autopilot.vehicle)

    @property
    def driver(self) -> RoverDriver:
        """What drives the rover."""
        return self.rover.driver

    def enter(self) -> None:
        """Start without pivoting, and forwards."""
        self.driver.pivoting = self.driver.reversed = False

    def hold_at(self, position: Point, start: Point, speed: float) -> None:
        """Drive from `start` to a position (m) at m/s (0: WP_SPEED), and hold it."""
        if self._hold_point is None or self._hold_point.position != position:
            self._hold_point = HoldPoint(self, position, start)
        self._hold_point.hold(speed)

    def stick_speed(self) -> float:
        """Return the speed that the throttle stick asks for, m/s: full stick is WP_SPEED."""
        return self.autopilot.rc.sticks.throttle * self.driver.cruise


class HoldPoint(Held):
    """A position to hold: the rover stands within LOIT_RADIUS and drives back when it has left it."""

    held = ("position", "start")
    mode: RoverMode
    position: Point
    radius: float
    start: Point | None  # start of the leg to the position; None: standing

    def __init__(self, mode: RoverMode, position: Point, start: Point | None = None) -> None:
        self.mode, self.position, self.radius, self.start = mode, position, mode.value("LOIT_RADIUS"), start

    def hold(self, speed: float = 0.0) -> None:
        """Stand, or drive to the position at m/s (0: WP_SPEED)."""
        driver = self.mode.driver
        if self.start is None and self.mode.autopilot.estimate.distance(self.position) > self.radius:
            self.start = driver.position
        if self.start is not None and not driver.reached(self.start, self.position, STOP_RADIUS):
            driver.follow_leg(self.start, self.position, speed=speed)
        else:
            self.start = None
            driver.stop()


MIN_STEERING_SPEED = 0.5  # m/s


class RoverManual(RoverMode):
    """Sticks go to the motors directly."""

    name, number, needs_position = "MANUAL", 0, False

    def update(self, dt: float) -> None:
        """Pass the sticks through."""
        sticks = self.autopilot.rc.sticks
        self.rover.setpoint = RoverSetpoint(DIRECT, sticks.throttle, sticks.roll)


class RoverAcro(RoverMode):
    """Sticks set turn rate and speed: full stick is ACRO_TURN_RATE and WP_SPEED, also in reverse."""

    name, number = "ACRO", 1

    def update(self, dt: float) -> None:
        """Control turn rate and speed."""
        turn_rate = self.autopilot.rc.sticks.roll * radians(self.value("ACRO_TURN_RATE"))
        self.driver.set_rates(self.stick_speed(), turn_rate)


class RoverSteering(RoverMode):
    """Sticks set lateral acceleration and speed: full stick is ATC_TURN_MAX_G, but no tighter than TURN_RADIUS."""

    name, number = "STEERING", 3

    def update(self, dt: float) -> None:
        """Control turn rate and speed; in reverse, right stick still swings the tail to the right."""
        speed = self.driver.speed
        pace = max(abs(speed), MIN_STEERING_SPEED)
        most = min(self.driver.sideways / pace, pace / self.value("TURN_RADIUS"))
        sign = -1.0 if speed < 0.0 and self.autopilot.rc.sticks.throttle < 0.0 else 1.0
        self.driver.set_rates(self.stick_speed(), sign * self.autopilot.rc.sticks.roll * most)


class RoverHold(RoverMode):
    """Brake and stand, also without a position."""

    name, number, needs_position = "HOLD", 4, False

    def update(self, dt: float) -> None:
        """Brake, then stand."""
        self.driver.stop()


class RoverLoiter(RoverMode):
    """Stop, hold that position, and drive back when the rover has been moved."""

    name, number = "LOITER", 5
    held = ("hold_point",)
    hold_point: HoldPoint

    def enter(self) -> None:
        """Hold the position where the rover can stop."""
        super().enter()
        self.hold_point = HoldPoint(self, self.driver.stopping_point())

    def update(self, dt: float) -> None:
        """Stand, or drive back."""
        self.hold_point.hold()


class RoverCircle(RoverMode):
    """Circle the point CIRC_RADIUS m ahead of the position of entry."""

    name, number = "CIRCLE", 9
    held = ("centre",)
    radius: float
    centre: Point

    def enter(self) -> None:
        """Choose the centre."""
        super().enter()
        self.radius = self.value("CIRC_RADIUS")
        self.centre = point_ahead(self.driver.position, self.autopilot.estimate.yaw, self.radius)

    def update(self, dt: float) -> None:
        """Continue the circle."""
        self.driver.follow_circle(self.centre, self.radius, self.value("CIRC_DIR") == 0.0, self.value("CIRC_SPEED"))


class RoverRtl(RoverMode):
    """Drive straight to the nearest rally point or home, and stand there."""

    name, number, can_arm = "RTL", 11, False
    hold_point: HoldPoint

    def refusal(self) -> str:
        """Require home."""
        return "" if self.autopilot.home is not None else "requires home"

    def enter(self) -> None:
        """Choose the target."""
        super().enter()
        self.hold_point = HoldPoint(self, self.autopilot.home_position.return_point()[:2], self.driver.position)

    def update(self, dt: float) -> None:
        """Drive, then stand."""
        self.hold_point.hold(self.value("RTL_SPEED"))


class RoverSmartRtl(RoverMode):
    """Drive back along the path recorded since arming, without its detours."""

    name, number, can_arm = "SMARTRTL", 12, False
    start: Point
    path: list[Point]
    hold_point: HoldPoint

    def refusal(self) -> str:
        """Require a complete path."""
        return "" if self.rover.return_path.usable else "no return path"

    def enter(self) -> None:
        """Take the recorded path; later driving is not added to it."""
        super().enter()
        self.start = self.driver.position
        self.path = self.rover.return_path.return_points(self.start)
        self.hold_point = HoldPoint(self, self.path[-1])
        self.autopilot.send_text(Severity.INFO, f"SmartRTL: {len(self.path)} points")

    def update(self, dt: float) -> None:
        """Drive to the next point of the path; hold the last."""
        speed = self.value("RTL_SPEED")
        if len(self.path) == 1:
            self.hold_point.start = self.start
            self.path = []
        if not self.path:
            self.hold_point.hold(speed)
            return
        lead = self.driver.follow_leg(self.start, self.path[0], self.path[1], speed)
        if self.driver.reached(self.start, self.path[0], lead):
            self.start = self.path.pop(0)


MIN_SPEED = 0.01  # m/s: slower has no direction


class RoverGuided(RoverMode):
    """Drive to a position, or with a velocity, turn rate or heading, as commanded; stand without a target."""

    name, number = "GUIDED", 15
    _timed_out: bool

    def enter(self) -> None:
        """Discard earlier targets, but keep one that was set together with the mode."""
        super().enter()
        if self.autopilot.guided.time_us < self.autopilot.now_us:
            self.autopilot.replace_target(GuidedTarget())
        self._timed_out = False

    def update(self, dt: float) -> None:
        """Follow the newest target."""
        target = self.autopilot.guided
        if target.position is not None:
            self.hold_at(target.position[:2], self.driver.position, 0.0 if isnan(target.speed) else target.speed)
            return
        self._hold_point = None
        if target.time_us < 0 or self._stale(target):
            self.driver.stop()
        elif target.velocity is not None:
            self._follow_velocity(target.velocity, target)
        else:
            self._follow_heading(target)

    def _stale(self, target: GuidedTarget) -> bool:
        old = self.autopilot.now_us - target.time_us > STALE_US
        if old and not self._timed_out:
            self.autopilot.send_text(Severity.WARNING, "Guided: target timed out, stopping")
        self._timed_out = old
        return old

    def _follow_velocity(self, velocity: Ned, target: GuidedTarget) -> None:
        """Follow a velocity; with a turn rate or heading it counts along the nose and may be negative."""
        yaw = self.autopilot.estimate.yaw
        forward = velocity[0] * cos(yaw) + velocity[1] * sin(yaw)
        if not isnan(target.yaw_rate):
            self.driver.set_rates(forward, target.yaw_rate)
        elif not isnan(target.yaw):
            self.driver.hold_heading(target.yaw, forward)
        elif hypot(*velocity[:2]) < MIN_SPEED:
            self.driver.stop()
        else:
            self.driver.hold_heading(atan2(velocity[1], velocity[0]), hypot(*velocity[:2]))

    def _follow_heading(self, target: GuidedTarget) -> None:
        """Follow a heading or a turn rate, and a speed."""
        speed = target.speed if isnan(target.pace) else target.pace
        speed = 0.0 if isnan(speed) else speed
        if isnan(target.yaw):
            self.driver.set_rates(speed, 0.0 if isnan(target.yaw_rate) else target.yaw_rate)
        else:
            self.driver.hold_heading(target.yaw, speed)


DONE_MODES = (4, 5, 1, 0)  # by MIS_DONE_BEHAVE: HOLD, LOITER, ACRO, MANUAL


class RoverAuto(MissionMode, RoverMode):
    """Drive the mission; a disarmed rover waits at the start."""

    number = 10

    def update(self, dt: float) -> None:
        """Drive one step of the mission."""
        autopilot = self.autopilot
        if not autopilot.armed or not autopilot.estimate.position_ok:
            self.driver.stop()
            return
        self._follow(self.nav_target(dt))
        if autopilot.executor.finished:
            number = DONE_MODES[autopilot.parameters.whole("MIS_DONE_BEHAVE")]
            ack = autopilot.set_mode(number, "mission complete", ModeReason.MISSION_END)
            if not ack.accepted:
                autopilot.send_text(Severity.WARNING, ack.text)
                autopilot.set_mode(DONE_MODES[0], by=ModeReason.MISSION_END)

    def _follow(self, nav: NavTarget) -> None:
        speed = nav.speed if nav.speed == nav.speed else 0.0
        start, end = nav.start[:2], nav.target[:2]
        executor, driver = self.autopilot.executor, self.driver
        if nav.task is NavTask.LOITER or (nav.task is NavTask.WAYPOINT and nav.hold > 0.0):
            # drive to a position, then stay within LOIT_RADIUS
            executor.lead = STOP_RADIUS
            self.hold_at(end, start, speed)
        elif nav.task is NavTask.WAYPOINT:
            executor.lead = driver.follow_leg(start, end, nav.after[:2] if nav.after is not None else None, speed)
        elif nav.task is NavTask.CIRCLE:
            driver.follow_circle(end, abs(nav.radius), nav.radius >= 0.0, speed)
        elif nav.task is NavTask.HEADING:
            driver.hold_heading(nav.yaw, nav.pace)
        elif nav.task is NavTask.RETURN:
            executor.lead = driver.follow_leg(start, end, speed=self.value("RTL_SPEED") or speed)
        else:
            driver.stop()
