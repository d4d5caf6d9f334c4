"""The mode POSHOLD of copters: sticks lean, releasing them brakes, then the position is held."""

from dataclasses import dataclass
from math import copysign, degrees, hypot, radians, sqrt

from paddock.compute.scalars import atan, atan2, cos, sin, tan
from paddock.sitl.autopilot.control import copter as at
from paddock.sitl.autopilot.control.copter_path import MotionLimits, towards
from paddock.sitl.autopilot.modes.copter import STICK_DEADBAND, CopterMode

GRAVITY = 9.80665
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
        """Follow the pilot's lean (rad), or brake; `speed` m/s along the axis."""
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
            self.lean = towards(self.lean, stick, max(RETURN_RATE * abs(self.lean), limits.rate) * dt)

    def _brake(self, speed: float, limits: "BrakeLimits", dt: float) -> None:
        wanted = -copysign(limits.lean_for(abs(speed)), speed)
        self.lean = towards(self.lean, max(-limits.angle, min(limits.angle, wanted)), limits.rate * dt)
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

    def lean_for(self, speed: float) -> float:
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
        if self.stays_down(climb > 0.0) or self.rising():
            return
        roll, pitch = self._pilot_leans()
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
            track.steer(0.0, 0.0, self._holding_limits(), dt)
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
            self.copter.lean(*self._leans(c, s))

    def _pilot_leans(self) -> tuple[float, float]:
        """Return roll and pitch of the sticks, rad; 0 within the deadband."""
        sticks, (roll, pitch) = self.sticks(), self.pilot_lean()
        held = [abs(stick) > STICK_DEADBAND for stick in (sticks.roll, sticks.pitch)]
        return roll if held[0] else 0.0, pitch if held[1] else 0.0

    def _holding_limits(self) -> MotionLimits:
        braking = self.value("LOIT_BRK_ACCEL") / 100.0
        return MotionLimits(self.value("LOIT_SPEED") / 100.0, braking, self.value("PSC_JERK_XY"))

    def _learn_wind(self, dt: float) -> None:
        """Average the acceleration that holds the position of a copter that stands."""
        if self.copter.track.speed < STOPPED and hypot(self.autopilot.estimate.vn, self.autopilot.estimate.ve) < MOVING:
            share = dt / (WIND_TIME + dt)
            held = self.copter.memory.item(at.I_NORTH), self.copter.memory.item(at.I_EAST)
            self.wind = (
                self.wind[0] + share * (held[0] - self.wind[0]),
                self.wind[1] + share * (held[1] - self.wind[1]),
            )

    def _leans(self, c: float, s: float) -> tuple[float, float]:
        """Return roll and pitch of both axes and against the wind, rad, together limited to ANGLE_MAX."""
        forward = GRAVITY * tan(self.forward.lean) + self.wind[0] * c + self.wind[1] * s
        right = GRAVITY * tan(self.right.lean) + self.wind[1] * c - self.wind[0] * s
        most = GRAVITY * tan(radians(self.value("ANGLE_MAX") / 100.0))
        scale = min(1.0, most / max(hypot(forward, right), 1e-9))
        pitch = -atan(forward * scale / GRAVITY)
        return atan2(right * scale, hypot(forward * scale, GRAVITY)), pitch
