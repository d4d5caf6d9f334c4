"""The point that a copter follows: it moves as a copter can, with limited speed, acceleration and jerk."""

from __future__ import annotations

from dataclasses import dataclass
from math import copysign, hypot, pi

from paddock.sitl.autopilot.estimate import Estimate
from paddock.vehicles.parts.quad_control import approach_speed

SPEED_GAIN = 3.0  # 1/s: how soon a wanted speed is taken up
CLOSING_GAIN = 0.8  # 1/s: how a distance is closed near its end
BRAKE_SHARE = 0.6  # of the acceleration is planned with, so that some is left for what comes
LEASH = 4.0  # m that the point may be ahead of a copter which cannot follow
YAW_ACCELERATION = 1.5  # rad/s2
YAW_LEASH = 0.8  # rad


@dataclass(frozen=True)
class Limits:
    """How fast the point may move: speed m/s, acceleration m/s2, jerk m/s3."""

    speed: float
    acceleration: float
    jerk: float


def wrap(angle: float) -> float:
    """The same angle in -pi to pi."""
    return (angle + pi) % (2.0 * pi) - pi


def towards(now: float, wanted: float, step: float) -> float:
    """`wanted`, or as near as one step comes."""
    return now + max(-step, min(step, wanted - now))


class Track:
    """Position (m), velocity and acceleration, north-east-down."""

    def __init__(self) -> None:
        self.north = self.east = self.down = 0.0
        self.vn = self.ve = self.vd = 0.0
        self.an = self.ae = self.ad = 0.0

    def begin(self, estimate: Estimate) -> None:
        """Where the copter is, moving as it moves."""
        self.begin_horizontal(estimate)
        self.begin_vertical(estimate)

    def begin_horizontal(self, estimate: Estimate) -> None:
        """Only north and east."""
        self.north, self.east, self.vn, self.ve = estimate.north, estimate.east, estimate.vn, estimate.ve
        self.an = self.ae = 0.0

    def begin_vertical(self, estimate: Estimate) -> None:
        """Only down."""
        self.down, self.vd, self.ad = estimate.down, estimate.vd, 0.0

    def shift(self, north: float, east: float, down: float) -> None:
        """The estimate has jumped by so much (m): stay at the same place of the world."""
        self.north, self.east, self.down = self.north + north, self.east + east, self.down + down

    @property
    def speed(self) -> float:
        """Over the ground, m/s."""
        return hypot(self.vn, self.ve)

    def distance(self, north: float, east: float) -> float:
        """From the point over the ground, m."""
        return hypot(north - self.north, east - self.east)

    def seek(
        self, north: float, east: float, limits: Limits, dt: float, ahead: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Go to a place, which itself moves at the velocity `ahead`."""
        dn, de = north - self.north, east - self.east
        far = hypot(dn, de)
        speed = min(approach_speed(far, CLOSING_GAIN, BRAKE_SHARE * limits.acceleration), limits.speed)
        scale = speed / far if far > 1e-6 else 0.0
        self.steer(dn * scale + ahead[0], de * scale + ahead[1], limits, dt)

    def steer(self, vn: float, ve: float, limits: Limits, dt: float) -> None:
        """Take up a velocity over the ground."""
        an, ae = (vn - self.vn) * SPEED_GAIN, (ve - self.ve) * SPEED_GAIN
        scale = min(1.0, limits.acceleration / max(hypot(an, ae), 1e-9))
        jn, je = an * scale - self.an, ae * scale - self.ae
        scale = min(1.0, limits.jerk * dt / max(hypot(jn, je), 1e-9))
        self.an, self.ae = self.an + jn * scale, self.ae + je * scale
        self.north += self.vn * dt + 0.5 * self.an * dt * dt
        self.east += self.ve * dt + 0.5 * self.ae * dt * dt
        self.vn, self.ve = self.vn + self.an * dt, self.ve + self.ae * dt

    def seek_height(self, down: float, up: float, sink: Limits, dt: float) -> None:
        """Go to a height, at most `up` m/s upwards and as `sink` says otherwise."""
        far = down - self.down
        speed = approach_speed(abs(far), CLOSING_GAIN, BRAKE_SHARE * sink.acceleration)
        self.climb(-copysign(min(speed, sink.speed if far > 0.0 else up), far), sink, dt)

    def climb(self, rate: float, limits: Limits, dt: float) -> None:
        """Take up a climb, m/s upwards."""
        wanted = (-rate - self.vd) * SPEED_GAIN
        wanted = max(-limits.acceleration, min(limits.acceleration, wanted))
        self.ad = towards(self.ad, wanted, limits.jerk * dt)
        self.down += self.vd * dt + 0.5 * self.ad * dt * dt
        self.vd += self.ad * dt

    def leash(self, estimate: Estimate) -> None:
        """Wait for a copter that cannot follow."""
        dn, de = self.north - estimate.north, self.east - estimate.east
        far = hypot(dn, de)
        if far > LEASH:
            self.north, self.east = estimate.north + dn * LEASH / far, estimate.east + de * LEASH / far
        self.down = estimate.down + max(-LEASH, min(LEASH, self.down - estimate.down))


class Heading:
    """The heading (rad) that a copter turns to, and how fast it turns (rad/s)."""

    def __init__(self) -> None:
        self.yaw = self.rate = 0.0

    def begin(self, estimate: Estimate) -> None:
        """As the copter points."""
        self.yaw, self.rate = estimate.yaw, 0.0

    def turn_to(self, yaw: float, fastest: float, dt: float, ahead: float = 0.0) -> None:
        """Turn the shorter way to a heading, which itself turns at `ahead` rad/s."""
        error = wrap(yaw - self.yaw)
        speed = min(approach_speed(abs(error), 2.0, 0.7 * YAW_ACCELERATION), fastest)
        self.spin(copysign(speed, error) + ahead, dt)

    def spin(self, rate: float, dt: float) -> None:
        """Take up a rate."""
        self.rate = towards(self.rate, rate, YAW_ACCELERATION * dt)
        self.yaw = wrap(self.yaw + self.rate * dt)

    def leash(self, estimate: Estimate) -> None:
        """Wait for a copter that cannot turn as fast."""
        self.yaw = wrap(estimate.yaw + max(-YAW_LEASH, min(YAW_LEASH, wrap(self.yaw - estimate.yaw))))
