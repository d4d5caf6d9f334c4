"""The modes STABILIZE, ALT_HOLD, LOITER, CIRCLE, LAND, RTL, BRAKE, SMART_RTL and POSHOLD of copters.

In POSHOLD sticks lean, releasing them brakes, then the position is held.
"""

from dataclasses import dataclass
from math import copysign, degrees, hypot, radians, sqrt

from paddock.autopilot.control import copter as at
from paddock.autopilot.control.copter_path import CopterLegs, MotionLimits, step_towards
from paddock.autopilot.estimate import GRAVITY, Ned
from paddock.autopilot.modes.copter import (
    ARRIVED_RADIUS,
    ARRIVED_SPEED,
    NEUTRAL,
    STICK_DEADBAND,
    CopterMode,
    Descent,
    Orbit,
    ReturnHome,
)
from paddock.autopilot.telemetry import Landed, Severity
from paddock.compute.scalars import atan, atan2, cos, sin, tan


class CopterStabilize(CopterMode):
    """Sticks set lean angles, the throttle sets thrust; released sticks level the copter."""

    name, number, needs_position = "STABILIZE", 0, False

    def update(self, dt: float) -> None:
        """Lean as the sticks ask; mid throttle hovers."""
        sticks = self.sticks()
        throttle = 0.0 if sticks is NEUTRAL and self.copter.landed else sticks.throttle
        if self.stay_on_ground(throttle > 0.05):
            return
        self.pilot_turn(dt)
        self.copter.track.begin(self.autopilot.estimate)
        hover = self.copter.hover  # share of full thrust: 0 at the bottom, hover thrust at mid stick, 1 at the top
        share = 2.0 * throttle * hover if throttle < 0.5 else hover + (2.0 * throttle - 1.0) * (1.0 - hover)
        self.copter.lean_with_thrust(*self.pilot_lean(), share)


class CopterAltHold(CopterMode):
    """Sticks set lean angles, the throttle sets the climb rate; mid stick holds the altitude."""

    name, number, needs_position = "ALT_HOLD", 2, False

    def update(self, dt: float) -> None:
        """Lean and climb as the sticks ask."""
        climb = self.pilot_climb()
        if self.stay_on_ground(climb > 0.0) or self.wait_for_liftoff():
            return
        track = self.copter.track
        track.begin_horizontal(self.autopilot.estimate)
        track.climb(climb, self.pilot_limits(), dt)
        track.leash(self.autopilot.estimate)
        self.pilot_turn(dt)
        self.copter.lean(*self.pilot_lean())


class CopterLoiter(CopterMode):
    """Sticks set the velocity over the ground; released sticks brake and hold the position."""

    name, number = "LOITER", 5

    def update(self, dt: float) -> None:
        """Move the position that is held as the sticks ask."""
        climb = self.pilot_climb()
        if self.stay_on_ground(climb > 0.0) or self.wait_for_liftoff():
            return
        vn, ve = self.pilot_velocity(self.value("LOIT_SPEED") / 100.0)
        track = self.copter.track
        acceleration = self.value("LOIT_BRK_ACCEL" if vn == 0.0 == ve else "LOIT_ACC_MAX") / 100.0
        track.steer(vn, ve, self.loiter_limits(acceleration), dt)
        track.climb(climb, self.pilot_limits(), dt)
        if vn or ve or climb:  # a position that is held must not drift with gusts
            track.leash(self.autopilot.estimate)
        self.pilot_turn(dt)
        self.copter.follow()
        if not (vn or ve or climb):
            self.copter.stay_steady()


class CopterCircle(CopterMode):
    """Fly around a point CIRCLE_RADIUS ahead, or the centre of DO_ORBIT; the throttle changes the altitude."""

    name, number, can_arm = "CIRCLE", 7, False
    orbit: Orbit
    _on_map: bool

    def enter(self) -> None:
        """Set the centre one radius ahead."""
        super().enter()
        track, yaw = self.copter.track, self.copter.heading.yaw
        radius = self.value("CIRCLE_RADIUS") / 100.0
        centre = track.north + radius * cos(yaw), track.east + radius * sin(yaw), track.down
        self.set_circle(centre, radius, radians(self.value("CIRCLE_RATE")))

    def set_circle(self, centre: Ned, radius: float, rate: float, on_map: bool = False) -> None:
        """Change the circle: centre, radius (m), rate (rad/s, + clockwise); `on_map`: jumps do not move it."""
        self.orbit, self._on_map = Orbit(self, centre, radius, rate), on_map

    def shift(self, offset: Ned) -> None:
        """Move a centre chosen from the copter's position along with the estimate; a given one stays on the map."""
        if self._on_map:
            self.orbit.leave_circle()
        else:
            self.orbit.shift(offset)

    def update(self, dt: float) -> None:
        """Continue the circle."""
        if self.stay_on_ground(wants_up=False):
            return
        self.orbit.down -= self.pilot_climb() * dt
        self.orbit.update(dt)


BRAKE_DECELERATION = 5.0  # m/s2
BRAKE_JERK = 15.0  # m/s3: high, so that the copter is level again when it stops
BRAKE_SHARE = 0.7  # of what ANGLE_MAX allows: the rest is left for wind


class CopterLand(CopterMode):
    """Land at the current position and disarm; sticks may move the position. Works without a position."""

    name, number, needs_position, can_arm = "LAND", 9, False, False
    lands, stage = True, Landed.LANDING
    manoeuvre: Descent | ReturnHome

    def enter(self) -> None:
        """Brake and descend."""
        super().enter()
        self.manoeuvre = Descent(self)

    def update(self, dt: float) -> None:
        """Move until landed."""
        if not self.stay_on_ground(wants_up=False):
            self.manoeuvre.update(dt)


class CopterRtl(CopterLand):
    """Climb, return to home or the nearest rally point, land."""

    name, number, needs_position, stage = "RTL", 6, True, Landed.IN_AIR

    def enter(self) -> None:
        """Brake, and climb from there."""
        super().enter()
        self.manoeuvre = ReturnHome(self)


class CopterBrake(CopterMode):
    """Stop as quickly as possible and hold the position; sticks are ignored."""

    name, number, can_arm = "BRAKE", 17, False

    def update(self, dt: float) -> None:
        """Bring the track to rest."""
        if self.stay_on_ground(wants_up=False):
            return
        track, most = self.copter.track, BRAKE_SHARE * GRAVITY * tan(radians(self.value("ANGLE_MAX") / 100.0))
        limits = MotionLimits(self.value("LOIT_SPEED") / 100.0, min(BRAKE_DECELERATION, most), BRAKE_JERK)
        track.steer(0.0, 0.0, limits, dt)
        track.climb(0.0, self.pilot_limits(), dt)
        self.copter.heading.spin(0.0, dt)
        self.copter.follow()


PRELAND = 2.0  # m above the place of arming, where the path ends and the landing begins
CUTTING = 0.5  # share of SRTL_ACCURACY by which corners of the path may be cut: they may lead around obstacles


class CopterSmartRtl(CopterLand):
    """Fly back along the path recorded since arming, without its detours, and land where the copter was armed."""

    name, number, needs_position, stage = "SMART_RTL", 21, True, Landed.IN_AIR
    path: list[Ned]
    landing: Descent | None
    _legs: CopterLegs | None

    def refusal(self) -> str:
        """Require a complete path."""
        return "" if self.copter.return_path.usable else "no return path"

    def enter(self) -> None:
        """Take the recorded path, which ends above the place of arming."""
        super().enter()
        points = self.copter.return_path.return_points(self.autopilot.estimate.position)
        north, east, down = points[-1]
        self.path = [*points[:-1], (north, east, down - PRELAND)]
        self.landing = self._legs = None
        self.autopilot.send_text(Severity.INFO, f"SmartRTL: {len(points)} point{'s' * (len(points) != 1)}")

    def shift(self, offset: Ned) -> None:
        """Replan from the track: the path stays on the map."""
        self._legs = None

    def update(self, dt: float) -> None:
        """Follow the path, then land or hold at RTL_ALT_FINAL."""
        if self.stay_on_ground(wants_up=False):
            return
        if self.landing is not None:
            self.landing.update(dt)
            return
        track, limits = self.copter.track, self.limits()
        if self._legs is None:
            self._legs = CopterLegs(track)
            self._legs.add_leg(self.path[0], limits)
        if len(self.path) > 1:
            self._legs.round_corner(self.path[1], CUTTING * self.value("SRTL_ACCURACY"), limits)
            if self._legs.ahead is not None or not self._legs.running:
                self.path.pop(0)
                self._legs.add_leg(self.path[0], limits)
        self._legs.advance(dt * track.pace(self.autopilot.estimate), track)
        north, east, down = self.path[0]
        self.turn_towards(north, east, dt, self.value("WP_YAW_BEHAVIOR") in (1, 3))
        self.copter.follow()
        self.report(north, east, down)
        still = not self._legs.running and self.autopilot.estimate.distance((north, east)) < ARRIVED_RADIUS
        if len(self.path) == 1 and still and track.speed < ARRIVED_SPEED:
            self._arrive()

    def _arrive(self) -> None:
        """Land, or descend to RTL_ALT_FINAL and stay there."""
        north, east, down = self.path[0]
        final = self.autopilot.home_position.ned()[2] - self.value("RTL_ALT_FINAL") / 100.0
        if self.value("RTL_ALT_FINAL") == 0.0:
            self.landing = Descent(self, (north, east))
        elif abs(final - down) > ARRIVED_RADIUS:
            self.path, self._legs = [(north, east, final)], None


RETURN_RATE = 5.0  # 1/s: how fast a lean follows a stick that returns to its centre, at least at PHLD_BRAKE_RATE
LONGEST_BRAKE = 6.0  # s
STOPPED, MOVING = 0.1, 1.0  # m/s
LAG = 0.35  # s by which the attitude follows a lean that changes steadily
SETTLING = 0.5  # s from nearly standing until the position is held
LEVELLING = 1.5  # from the largest lean of a braking to its end: this many times the lean over PHLD_BRAKE_RATE
WIND_TIME = 2.0  # s, of the mean of the lean that holds against the wind
PILOT, BRAKE, READY = 0, 1, 2  # phases of an axis


@dataclass
class LeanAxis:
    """One horizontal axis of the copter: the lean, in rad, that accelerates it in its positive direction."""

    phase: int = READY
    lean: float = 0.0  # rad
    largest: float = 0.0  # rad, while braking
    left: float = 0.0  # s until the braking ends

    def update(self, stick: float, speed: float, limits: "BrakeLimits", dt: float) -> None:
        """Follow the pilot's lean `stick` (rad), or brake, for dt s; `speed` m/s along the axis."""
        if stick != 0.0:
            self._follow(stick, limits, dt)
        elif self.phase == PILOT:
            self._follow(0.0, limits, dt)
            if abs(self.lean) < 2.0 * limits.rate * 0.01:  # two hundredths of a second of PHLD_BRAKE_RATE
                self.phase, self.lean, self.largest, self.left = BRAKE, 0.0, 0.0, LONGEST_BRAKE
        elif self.phase == BRAKE:
            self._brake(speed, limits, dt)
        else:
            self.lean = 0.0

    def _follow(self, stick: float, limits: "BrakeLimits", dt: float) -> None:
        """Lean as the stick asks, at once if that is more, gradually if it is less."""
        self.phase = PILOT
        if self.lean * stick < 0.0:
            self.lean = 0.0
        if abs(stick) >= abs(self.lean):
            self.lean = stick
        else:
            self.lean = step_towards(self.lean, stick, max(RETURN_RATE * abs(self.lean), limits.rate) * dt)

    def _brake(self, speed: float, limits: "BrakeLimits", dt: float) -> None:
        target = -copysign(limits.brake_lean(abs(speed)), speed)
        self.lean = step_towards(self.lean, max(-limits.angle, min(limits.angle, target)), limits.rate * dt)
        if abs(self.lean) >= self.largest:
            self.largest = abs(self.lean)
        else:  # the lean returns: the end is near
            self.left = min(self.left, LEVELLING * self.largest / limits.rate)
        if abs(speed) <= STOPPED:
            self.left = min(self.left, SETTLING)
        self.left -= dt
        if self.left <= 0.0:
            self.phase = READY


@dataclass(frozen=True)
class BrakeLimits:
    """PHLD_BRAKE_RATE and PHLD_BRAKE_ANGLE."""

    rate: float  # rad/s
    angle: float  # rad

    def brake_lean(self, speed: float) -> float:
        """Return the lean that brakes at a speed (m/s), rad: proportional, and more when slow, as in ArduCopter.

        It is never more than can return at `rate` until the copter stands, or it would fly backwards: until then a
        lean takes off the speed g lean**2 / (2 rate), and while the attitude lags g lean LAG more.
        """
        gain = 0.15 * degrees(self.rate) + 0.95  # deg per m/s
        lag = self.rate * LAG
        returns = sqrt(lag * lag + 2.0 * self.rate * speed / GRAVITY) - lag
        return min(radians(gain * speed * (1.0 + 5.0 / (speed + 0.6))), returns)


class CopterPosHold(CopterMode):
    """Sticks set lean angles; released sticks brake, then hold the position. The throttle sets the climb rate."""

    name, number = "POSHOLD", 16
    forward: LeanAxis
    right: LeanAxis
    holding: bool
    wind: tuple[float, float]  # m/s2 north and east that hold against the wind, if known

    def enter(self) -> None:
        """Hold the position; a copter that moves brakes first."""
        super().enter()
        estimate, memory = self.autopilot.estimate, self.copter.memory
        moves = hypot(estimate.vn, estimate.ve) > MOVING and not self.copter.landed
        phase = PILOT if moves else READY  # as if the sticks had just been released
        self.forward, self.right = LeanAxis(phase), LeanAxis(phase)
        self.holding = not moves
        self.wind = memory.item(at.I_NORTH), memory.item(at.I_EAST)

    def update(self, dt: float) -> None:
        """Lean, brake or hold."""
        climb = self.pilot_climb()
        if self.stay_on_ground(climb > 0.0) or self.wait_for_liftoff():
            return
        sticks, (roll, pitch) = self.sticks(), self.pilot_lean()
        roll = roll if abs(sticks.roll) > STICK_DEADBAND else 0.0
        pitch = pitch if abs(sticks.pitch) > STICK_DEADBAND else 0.0
        estimate, track = self.autopilot.estimate, self.copter.track
        c, s = cos(estimate.yaw), sin(estimate.yaw)
        limits = BrakeLimits(radians(self.value("PHLD_BRAKE_RATE")), radians(self.value("PHLD_BRAKE_ANGLE") / 100.0))
        self.forward.update(-pitch, estimate.vn * c + estimate.ve * s, limits, dt)
        self.right.update(roll, estimate.ve * c - estimate.vn * s, limits, dt)
        holding = self.forward.phase == READY == self.right.phase
        if holding and not self.holding:  # from here, with what is known of the wind
            track.begin_horizontal(estimate)
            self.copter.memory[at.I_NORTH], self.copter.memory[at.I_EAST] = self.wind
        self.holding = holding
        if holding:
            track.steer(0.0, 0.0, self.loiter_limits(self.value("LOIT_BRK_ACCEL") / 100.0), dt)
            self._learn_wind(dt)
        else:
            track.begin_horizontal(estimate)
        track.climb(climb, self.pilot_limits(), dt)
        if climb or not holding:
            track.leash(estimate)
        self.pilot_turn(dt)
        if holding:
            self.copter.follow()
        else:
            self.copter.lean(*self._lean_setpoint(c, s))

    def _learn_wind(self, dt: float) -> None:
        """Average the acceleration that holds the position of a copter that stands."""
        if self.copter.track.speed < STOPPED and hypot(self.autopilot.estimate.vn, self.autopilot.estimate.ve) < MOVING:
            share = dt / (WIND_TIME + dt)
            held = self.copter.memory.item(at.I_NORTH), self.copter.memory.item(at.I_EAST)
            self.wind = (
                self.wind[0] + share * (held[0] - self.wind[0]),
                self.wind[1] + share * (held[1] - self.wind[1]),
            )

    def _lean_setpoint(self, c: float, s: float) -> tuple[float, float]:
        """Return roll and pitch of both axes and against the wind, rad, together limited to ANGLE_MAX."""
        forward = GRAVITY * tan(self.forward.lean) + self.wind[0] * c + self.wind[1] * s
        right = GRAVITY * tan(self.right.lean) + self.wind[1] * c - self.wind[0] * s
        most = GRAVITY * tan(radians(self.value("ANGLE_MAX") / 100.0))
        scale = min(1.0, most / max(hypot(forward, right), 1e-9))
        pitch = -atan(forward * scale / GRAVITY)
        return atan2(right * scale, hypot(forward * scale, GRAVITY)), pitch
