"""Common parts of copter modes: limits, paths, the pilot's sticks, the ground; and take-off, landing, return, orbit."""

from dataclasses import dataclass, field
from math import copysign, hypot, nan, pi, radians, sqrt
from typing import TYPE_CHECKING, cast

from paddock.autopilot.contract import Held, Mode
from paddock.autopilot.control.copter_path import CopterLegs, LegLimits, MotionLimits, step_towards
from paddock.autopilot.estimate import Ned
from paddock.autopilot.guided import STALE_US
from paddock.autopilot.rc import Sticks
from paddock.autopilot.telemetry import Landed
from paddock.compute.scalars import atan2, cos, sin

if TYPE_CHECKING:
    from paddock.autopilot.vehicle_types import Copter

STICK_DEADBAND = 0.05
FACING_DISTANCE = 3.0  # m: closer to a position the heading is kept
NEUTRAL = Sticks(throttle=0.5)  # sticks without RC input: mid throttle holds the altitude


def beyond_deadband(stick: float, deadband: float = STICK_DEADBAND) -> float:
    """Apply a deadband to a stick in -1 to 1."""
    size = max(abs(stick) - deadband, 0.0) / (1.0 - deadband)
    return size if stick > 0.0 else -size


class CopterMode(Mode):
    """A mode of a copter."""

    @property
    def copter(self) -> "Copter":
        """The vehicle."""
        return cast("Copter", self.autopilot.vehicle)

    @property
    def legs(self) -> CopterLegs | None:
        """The legs that it follows in steady flight."""
        return None

    def enter(self) -> None:
        """Start the track from the current motion."""
        self.copter.begin()

    def level_limits(self, speed: float = float("nan")) -> MotionLimits:
        """Return the horizontal limits; `speed` m/s replaces WPNAV_SPEED unless NaN."""
        level = self.copter.limits.level
        return MotionLimits(speed, level.acceleration, level.jerk) if speed > 0.0 else level

    def pilot_limits(self) -> MotionLimits:
        """Return the vertical limits of the sticks."""
        speed, acceleration = self.value("PILOT_SPEED_UP") / 100.0, self.value("PILOT_ACCEL_Z") / 100.0
        return MotionLimits(speed, acceleration, self.value("PSC_JERK_Z"))

    def loiter_limits(self, acceleration: float) -> MotionLimits:
        """Return the horizontal limits of LOITER with an acceleration, m/s2."""
        return MotionLimits(self.value("LOIT_SPEED") / 100.0, acceleration, self.value("PSC_JERK_XY"))

    def limits(self, speed: float = float("nan")) -> LegLimits:
        """Return the limits in every direction."""
        return LegLimits(self.level_limits(speed), self.copter.limits.up, self.copter.limits.down)

    def seek(self, north: float, east: float, down: float, dt: float, speed: float = float("nan")) -> None:
        """Move the track towards a position (m) for dt s; `speed` m/s replaces WPNAV_SPEED unless NaN."""
        self.copter.track.seek(north, east, self.level_limits(speed), dt)
        self.seek_height(down, dt)

    def seek_height(self, down: float, dt: float) -> None:
        """Move the track towards an altitude."""
        limits = self.copter.limits
        self.copter.track.seek_height(down, limits.up.speed, limits.down, dt)

    def stop(self, dt: float) -> None:
        """Bring the track to rest."""
        self.copter.track.steer(0.0, 0.0, self.level_limits(), dt)
        self.copter.track.climb(0.0, self.copter.limits.down, dt)

    def turn_to(self, yaw: float, dt: float, ahead: float = 0.0) -> None:
        """Turn to a heading at up to ATC_SLEW_YAW; the heading itself turns at `ahead` rad/s."""
        self.copter.heading.turn_to(yaw, self.copter.slew_yaw, dt, ahead)

    def turn_towards(self, north: float, east: float, dt: float, enabled: object) -> None:
        """Turn towards a position (m) for dt s, if `enabled` and not too close; otherwise keep the heading."""
        track = self.copter.track
        if enabled and track.distance(north, east) > FACING_DISTANCE:
            self.turn_to(bearing(north - track.north, east - track.east, 0.0), dt)
        else:
            self.copter.heading.spin(0.0, dt)

    def report(self, north: float, east: float, down: float, crosstrack: float = 0.0) -> None:
        """Report distance and bearing of the target (m) and the crosstrack error (m) in the telemetry."""
        estimate, telemetry = self.autopilot.estimate, self.autopilot.telemetry
        dn, de = north - estimate.north, east - estimate.east
        telemetry.aim(hypot(dn, de), bearing(dn, de, estimate.yaw), crosstrack)
        telemetry.altitude_error = estimate.down - down

    def sticks(self) -> Sticks:
        """Return the pilot's sticks, or neutral ones without current RC input."""
        sticks = self.autopilot.rc.sticks
        current = sticks.time_us >= 0 and self.autopilot.now_us - sticks.time_us <= STALE_US
        return sticks if current else NEUTRAL

    def pilot_climb(self) -> float:
        """Return the climb rate that the throttle asks for, m/s."""
        deadband = self.value("THR_DZ") / 500.0
        stick = beyond_deadband(2.0 * self.sticks().throttle - 1.0, deadband)
        up = self.value("PILOT_SPEED_UP")
        down = self.value("PILOT_SPEED_DN") or up
        return stick * (up if stick > 0.0 else down) / 100.0

    def pilot_turn(self, dt: float) -> None:
        """Turn at the rate of the yaw stick."""
        self.copter.heading.spin(radians(self.value("PILOT_Y_RATE")) * beyond_deadband(self.sticks().yaw), dt)
        self.copter.heading.leash(self.autopilot.estimate)

    def pilot_lean(self) -> tuple[float, float]:
        """Return roll and pitch of the sticks, rad, together limited to ANGLE_MAX."""
        sticks = self.sticks()
        most = radians(self.value("ANGLE_MAX") / 100.0)
        roll, pitch = sticks.roll * most, sticks.pitch * most
        scale = min(1.0, most / max(hypot(roll, pitch), 1e-9))
        return roll * scale, pitch * scale

    def pilot_velocity(self, speed: float) -> tuple[float, float]:
        """Return the velocity of the sticks, m/s north and east, at most `speed`."""
        sticks, yaw = self.sticks(), self.autopilot.estimate.yaw
        forward, right = -beyond_deadband(sticks.pitch) * speed, beyond_deadband(sticks.roll) * speed
        scale = min(1.0, speed / max(hypot(forward, right), 1e-9))
        forward, right = forward * scale, right * scale
        return forward * cos(yaw) - right * sin(yaw), forward * sin(yaw) + right * cos(yaw)

    def stay_on_ground(self, wants_up: bool) -> bool:
        """Idle the motors of a landed copter unless `wants_up`; return whether it stays on the ground."""
        if not self.copter.landed or wants_up:
            return False
        self.copter.idle()
        return True

    def wait_for_liftoff(self) -> bool:
        """Return whether the copter still ramps up its throttle; the track restarts from its position."""
        if self.copter.airborne:
            return False
        self.copter.begin()
        self.copter.lean(0.0, 0.0)
        return True


def bearing(dn: float, de: float, default: float) -> float:
    """Return the direction of a horizontal offset, rad, or `default` if it is shorter than 10 cm."""
    return atan2(de, dn) if hypot(dn, de) > 0.1 else default


STEADY_CLIMB = 2.0  # m below the target altitude up to which a climb is steady
STEADY_DISTANCE = 3.0  # m from the target up to which a return is steady
CLIMB_TOLERANCE = 0.3  # m below the target altitude at which a take-off is done
DESCENT_RADIUS = 1.0  # m from the landing position at which the descent starts
DESCENT_LEASH = 3.0  # m that the track may be below a copter on the ground
SLOWING = 0.5  # 1/s: descent rate per height above LAND_ALT_LOW
RANGEFINDER_MAX = 40.0  # m
RTL_CLIMB_TOLERANCE = 0.5  # m below the target altitude at which the climb of an RTL is done
ARRIVED_RADIUS, ARRIVED_SPEED = 0.5, 0.3  # m, m/s
CIRCLE_ENTRY_RADIUS, CIRCLE_ENTRY_SPEED = 0.5, 0.5  # m, m/s
SPIN_UP = 0.5  # share of the horizontal acceleration for gaining speed on the circle


@dataclass(eq=False)
class TakeOff(Held):
    """Ramp up the throttle until the copter rises, then climb straight up to `down` (m, local frame)."""

    held = ("_position",)
    mode: CopterMode
    down: float
    _position: tuple[float, float] | None = None  # m north and east; None: not in the air yet

    def update(self, dt: float) -> bool:
        """Move the setpoint; return whether the altitude is reached."""
        mode, copter = self.mode, self.mode.copter
        if mode.wait_for_liftoff():
            return False
        if self._position is None:
            self._position = copter.track.north, copter.track.east
            copter.track.vn = copter.track.ve = 0.0
        mode.seek(*self._position, self.down, dt)
        copter.heading.spin(0.0, dt)
        mode.report(*self._position, self.down)
        copter.follow()
        down = mode.autopilot.estimate.down
        if down > self.down + STEADY_CLIMB:
            copter.stay_steady()
        return abs(down - self.down) < CLIMB_TOLERANCE or down < self.down


@dataclass(eq=False)
class Descent:
    """Land at a position (m north and east; None: where the copter comes to rest): fast, then at LAND_SPEED."""

    mode: CopterMode
    position: tuple[float, float] | None = None
    _over: bool = False  # above the position

    def __post_init__(self) -> None:
        self._over = self.position is None

    def update(self, dt: float) -> None:
        """Move the setpoint."""
        mode, track = self.mode, self.mode.copter.track
        mode.stage, level = Landed.LANDING, mode.level_limits()
        if self.position is None:
            vn, ve = mode.pilot_velocity(min(level.speed, 5.0))
            track.steer(vn, ve, level, dt)
        else:
            track.seek(*self.position, level, dt)
            mode.report(*self.position, mode.autopilot.estimate.down)
        self._over = self._over or (self.position is not None and track.distance(*self.position) < DESCENT_RADIUS)
        vertical = mode.copter.limits.down
        track.climb(-self.speed() if self._over else 0.0, MotionLimits(10.0, vertical.acceleration, vertical.jerk), dt)
        track.down = min(track.down, mode.autopilot.estimate.down + DESCENT_LEASH)
        mode.copter.heading.spin(0.0, dt)
        if mode.autopilot.estimate.position_ok:
            mode.copter.follow()
        else:  # descend level, or as the pilot leans
            track.begin_horizontal(mode.autopilot.estimate)
            self.position, self._over = None, True
            mode.copter.lean(*mode.pilot_lean())

    def speed(self) -> float:
        """Return the descent rate for the height above ground, m/s."""
        value = self.mode.value
        fast = (value("LAND_SPEED_HIGH") or value("WPNAV_SPEED_DN")) / 100.0
        slow = value("LAND_SPEED") / 100.0
        above = self.height() - value("LAND_ALT_LOW") / 100.0
        return max(slow, min(fast, slow + SLOWING * above))

    def height(self) -> float:
        """Return the height above ground from the rangefinder, or above home, m."""
        autopilot = self.mode.autopilot
        if 0.0 < autopilot.sensors.range_1 < RANGEFINDER_MAX:  # NaN is in no range
            return autopilot.sensors.range_1
        return autopilot.home_position.ned()[2] - autopilot.estimate.down


@dataclass(eq=False)
class ReturnHome:
    """Climb, return, wait above home, land."""

    mode: CopterMode
    landing: bool = False
    north: float = 0.0
    east: float = 0.0
    down: float = 0.0
    _climbing: bool = True
    _waited: float = 0.0  # s
    _descent: Descent = field(init=False)

    def __post_init__(self) -> None:
        autopilot, height = self.mode.autopilot, self.mode.value("RTL_ALT") / 100.0
        self.north, self.east, _ = autopilot.home_position.return_point()
        self.down = min(autopilot.estimate.down, autopilot.home_position.ned()[2] - height)
        self._descent = Descent(self.mode, (self.north, self.east))

    def update(self, dt: float) -> None:
        """Move the setpoint."""
        if self.landing:
            self._descent.update(dt)
        elif self._climbing:
            self._climb(dt)
        else:
            mode, track = self.mode, self.mode.copter.track
            mode.seek(self.north, self.east, self.down, dt, (mode.value("RTL_SPEED") or nan) / 100.0)
            self.mode.turn_towards(self.north, self.east, dt, mode.value("WP_YAW_BEHAVIOR") in (1, 3))
            mode.copter.follow()
            mode.report(self.north, self.east, self.down)
            if track.distance(self.north, self.east) > STEADY_DISTANCE:
                mode.copter.stay_steady()
            if track.distance(self.north, self.east) < ARRIVED_RADIUS and track.speed < ARRIVED_SPEED:
                self._wait(dt)

    def _climb(self, dt: float) -> None:
        mode = self.mode
        mode.copter.track.steer(0.0, 0.0, mode.level_limits(), dt)
        mode.seek_height(self.down, dt)
        mode.copter.heading.spin(0.0, dt)
        mode.copter.follow()
        self._climbing = mode.autopilot.estimate.down > self.down + RTL_CLIMB_TOLERANCE
        if mode.autopilot.estimate.down > self.down + STEADY_CLIMB:
            mode.copter.stay_steady()
        mode.report(self.north, self.east, self.down)

    def _wait(self, dt: float) -> None:
        """Wait above home, then land or descend to RTL_ALT_FINAL."""
        self._waited += dt
        if self._waited < self.mode.value("RTL_LOIT_TIME") / 1000.0:
            return
        final = self.mode.value("RTL_ALT_FINAL") / 100.0
        if final > 0.0:
            self.down = self.mode.autopilot.home_position.ned()[2] - final
        else:
            self.landing, self.mode.stage = True, Landed.LANDING


class Orbit:
    """Fly to a circle and around it (rad/s, + clockwise), with the nose to its centre."""

    mode: CopterMode
    radius: float
    north: float
    east: float
    down: float
    _commanded_rate: float
    _rate: float
    _angle: float  # direction from the centre, once on the circle

    def __init__(self, mode: CopterMode, centre: Ned, radius: float, rate: float) -> None:
        """centre, radius: m. rate: rad/s, + clockwise."""
        self.mode, self.radius = mode, max(radius, 0.0)
        self.north, self.east, self.down = centre
        self._commanded_rate, self._rate = rate, 0.0
        self._angle = nan

    def update(self, dt: float) -> None:
        """Move the setpoint."""
        mode, track = self.mode, self.mode.copter.track
        if self.radius < 0.1:
            track.seek(self.north, self.east, mode.level_limits(), dt)
            mode.copter.heading.spin(self._commanded_rate, dt)
        elif self._angle != self._angle:
            self._approach(dt)
        else:
            self._follow_circle(dt)
        mode.seek_height(self.down, dt)
        if self.radius >= 0.1:
            inwards = bearing(self.north - track.north, self.east - track.east, mode.copter.heading.yaw)
            mode.turn_to(inwards, dt, self._rate)
        mode.report(self.north, self.east, self.down)
        mode.copter.follow()

    def shift(self, offset: Ned) -> None:
        """Move along with a jump of the estimate by m."""
        self.north, self.east, self.down = self.north + offset[0], self.east + offset[1], self.down + offset[2]

    def leave_circle(self) -> None:
        """Approach the circle again: the track has jumped off it."""
        self._angle, self._rate = nan, 0.0

    def _approach(self, dt: float) -> None:
        track = self.mode.copter.track
        dn, de = track.north - self.north, track.east - self.east
        if hypot(dn, de) < 0.1:  # from the centre, leave backwards
            yaw = self.mode.copter.heading.yaw + pi
            dn, de = cos(yaw), sin(yaw)
        scale = self.radius / hypot(dn, de)
        edge = self.north + dn * scale, self.east + de * scale
        track.seek(*edge, self.mode.level_limits(), dt)
        if track.distance(*edge) < CIRCLE_ENTRY_RADIUS and track.speed < CIRCLE_ENTRY_SPEED:
            self._angle = atan2(de, dn)

    def _follow_circle(self, dt: float) -> None:
        mode, track = self.mode, self.mode.copter.track
        level = mode.level_limits()
        fastest = min(sqrt(level.acceleration / self.radius), level.speed / self.radius)
        rate = copysign(min(abs(self._commanded_rate), fastest), self._commanded_rate)
        self._rate = step_towards(self._rate, rate, SPIN_UP * level.acceleration / self.radius * dt)
        self._angle += self._rate * dt
        c, s = cos(self._angle), sin(self._angle)
        speed, centripetal = self.radius * self._rate, self.radius * self._rate * self._rate
        # close the remaining gap to the circle gradually
        gap_north, gap_east = self.north + self.radius * c - track.north, self.east + self.radius * s - track.east
        near = min(1.0, 2.0 * dt)
        track.vn, track.ve, track.an, track.ae = -speed * s, speed * c, -centripetal * c, -centripetal * s
        track.north += track.vn * dt + (gap_north - track.vn * dt) * near
        track.east += track.ve * dt + (gap_east - track.ve * dt) * near
