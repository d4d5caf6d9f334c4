"""The paths of a copter: a track with limited speed, acceleration and jerk, and straight legs with rounded corners.

Along a leg the speed follows smoothsteps, from rest to cruise and back, in closed form. The next leg may start while
this one ends: the motions add up, which rounds the corner and keeps the speed where the path continues straight. A
copter that is already moving ends that motion as a leg of its own, while the new one starts.

A spline leg is a cubic Hermite curve. As in ArduCopter, it leaves the last point in the direction in which the copter
came, and passes its own point parallel to the line between the points before and after it (Catmull-Rom), or towards the
next point if the leg there is straight. The speed is limited by the lateral acceleration at every bend, and the
distance to the points where the copter must be slower or stop.
"""

from math import hypot, sqrt
from typing import Any, NamedTuple

import numpy as np

from paddock.autopilot.control.copter_cruise import (
    BRAKE_SHARE,
    CLIMB,
    FOLLOW,
    HEADING,
    LEGS,
    LEVEL,
    MAX_LAG,
    SEEK,
    STEER,
    TRACK,
    TURN,
    leg_state,
    move,
)
from paddock.autopilot.estimate import Estimate, Ned, wrap
from paddock.autopilot.vehicle_data import Floats
from paddock.compute.scalars import cbrt

LEASH = 4.0  # m that the track may be ahead of the copter
YAW_LEASH = 0.8  # rad


class MotionLimits(NamedTuple):
    """Speed m/s, acceleration m/s2, jerk m/s3."""

    speed: float
    acceleration: float
    jerk: float


def step_towards(value: float, target: float, step: float) -> float:
    """Return the target, or a value nearer to it by one step."""
    return value + max(-step, min(step, target - value))


class RowValue:
    """An attribute that is a column of its owner's `row`."""

    def __init__(self, column: int) -> None:
        self.column = column

    def __get__(self, owner: Any, kind: type) -> float:
        return float(owner.row.item(self.column))

    def __set__(self, owner: Any, value: float) -> None:
        owner.row[self.column] = value


class CopterTrack:
    """The point that the copter follows, in the copter's row: position (m), velocity, acceleration, north-east-down.

    Each way to move it is a request, which stays in the row for steady flight.
    """

    north, east, down = RowValue(TRACK), RowValue(TRACK + 1), RowValue(TRACK + 2)
    vn, ve, vd = RowValue(TRACK + 3), RowValue(TRACK + 4), RowValue(TRACK + 5)
    an, ae, ad = RowValue(TRACK + 6), RowValue(TRACK + 7), RowValue(TRACK + 8)

    def __init__(self, row: Floats) -> None:
        self.row = row

    def begin(self, estimate: Estimate) -> None:
        """Start at the copter's position and velocity."""
        self.begin_horizontal(estimate)
        self.down, self.vd, self.ad = estimate.down, estimate.vd, 0.0

    def begin_horizontal(self, estimate: Estimate) -> None:
        """Start north and east only."""
        self.north, self.east, self.vn, self.ve = estimate.north, estimate.east, estimate.vn, estimate.ve
        self.an = self.ae = 0.0

    def shift(self, offset: Ned) -> None:
        """Move along with a jump of the estimate by m."""
        self.row[TRACK : TRACK + 3] += offset

    @property
    def speed(self) -> float:
        """Ground speed, m/s."""
        return hypot(self.vn, self.ve)

    def distance(self, north: float, east: float) -> float:
        """Return the horizontal distance to a position, m."""
        dn, de = north - self.north, east - self.east
        return sqrt(dn * dn + de * de)  # `hypot` rounds otherwise than compiled code

    def pace(self, estimate: Estimate) -> float:
        """Return the share of the time by which the track advances: it waits for a copter that lags behind."""
        return max(0.0, min(1.0, 2.0 - self.distance(estimate.north, estimate.east) / MAX_LAG))

    def seek(
        self, north: float, east: float, limits: MotionLimits, dt: float, ahead: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Go to a position (m) within `limits` for dt s; it moves at the velocity `ahead` (m/s)."""
        self.row[LEVEL:CLIMB] = SEEK, north, east, *limits, *ahead
        move(self.row, LEVEL, dt)

    def steer(self, vn: float, ve: float, limits: MotionLimits, dt: float) -> None:
        """Change to a horizontal velocity (m/s) within `limits` for dt s."""
        self.row[LEVEL:CLIMB] = STEER, vn, ve, *limits, 0.0, 0.0
        move(self.row, LEVEL, dt)

    def seek_height(self, down: float, up: float, sink: MotionLimits, dt: float) -> None:
        """Go to an altitude (m down) for dt s, climbing at up to `up` m/s and descending within `sink`."""
        self.row[CLIMB:TURN] = SEEK, down, up, *sink
        move(self.row, CLIMB, dt)

    def climb(self, rate: float, limits: MotionLimits, dt: float) -> None:
        """Change to a climb rate (m/s) within `limits` for dt s."""
        self.row[CLIMB:TURN] = STEER, rate, 0.0, *limits
        move(self.row, CLIMB, dt)

    def leash(self, estimate: Estimate) -> None:
        """Limit the distance to a copter that cannot follow."""
        dn, de = self.north - estimate.north, self.east - estimate.east
        distance = hypot(dn, de)
        if distance > LEASH:
            self.north, self.east = estimate.north + dn * LEASH / distance, estimate.east + de * LEASH / distance
        self.down = estimate.down + max(-LEASH, min(LEASH, self.down - estimate.down))


class CopterHeading:
    """The heading (rad) that the copter follows, and its rate (rad/s), in the copter's row."""

    yaw, rate = RowValue(HEADING), RowValue(HEADING + 1)

    def __init__(self, row: Floats) -> None:
        self.row = row

    def begin(self, estimate: Estimate) -> None:
        """Start at the copter's heading."""
        self.yaw, self.rate = estimate.yaw, 0.0

    def turn_to(self, yaw: float, fastest: float, dt: float, ahead: float = 0.0) -> None:
        """Turn the shorter way to a heading (rad) at up to `fastest` rad/s for dt s; it turns at `ahead` rad/s."""
        self.row[TURN:LEGS] = SEEK, yaw, fastest, ahead
        move(self.row, TURN, dt)

    def spin(self, rate: float, dt: float) -> None:
        """Change to a turn rate, rad/s."""
        self.row[TURN:LEGS] = STEER, rate, 0.0, 0.0
        move(self.row, TURN, dt)

    def leash(self, estimate: Estimate) -> None:
        """Limit the angle to a copter that cannot turn as fast."""
        self.yaw = wrap(estimate.yaw + max(-YAW_LEASH, min(YAW_LEASH, wrap(self.yaw - estimate.yaw))))


CUT = 0.6  # share of the acceptance radius by which a corner may be cut
MIN_LENGTH = 1e-3  # m


class LegLimits(NamedTuple):
    """Limits for every direction."""

    level: MotionLimits
    up: MotionLimits
    down: MotionLimits


def directional_limits(direction: Ned, limits: LegLimits) -> MotionLimits:
    """Return the limits along a unit vector."""
    level, steep = sqrt(direction[0] ** 2 + direction[1] ** 2), abs(direction[2])
    pairs = [(level, limits.level), (steep, limits.down if direction[2] > 0.0 else limits.up)]
    used = [(share, limit) for share, limit in pairs if share > 1e-6] or [(1.0, limits.level)]
    return MotionLimits(
        min(limit.speed / share for share, limit in used),
        min(limit.acceleration / share for share, limit in used),
        min(limit.jerk / share for share, limit in used),
    )


def change_time(speed: float, limits: MotionLimits) -> float:
    """Return the time of a change of speed within acceleration and jerk, s."""
    return max(1.5 * speed / limits.acceleration, sqrt(6.0 * speed / limits.jerk))


def cruise_speed(length: float, limits: MotionLimits) -> float:
    """Return the fastest speed, m/s, that limits and length allow."""
    by_acceleration = sqrt(length * limits.acceleration / 1.5)
    by_jerk = cbrt(length * length * limits.jerk / 6.0)
    return min(limits.speed, by_acceleration, by_jerk)


class StraightLeg:
    """A straight path from rest to rest, or (with `moving`) from a speed to rest."""

    direction: Ned
    length: float
    time: float
    speed: float
    change: float
    cruise: float
    moving: bool

    def __init__(self, direction: Ned, length: float, limits: MotionLimits) -> None:
        self.direction, self.length = direction, length
        self.time = 0.0
        self.speed = cruise_speed(length, limits)
        self.change = change_time(self.speed, limits)
        self.cruise = (length - self.speed * self.change) / self.speed if self.speed > 0.0 else 0.0
        self.moving = False

    @classmethod
    def ending(cls, velocity: Ned, limits: LegLimits) -> "StraightLeg":
        """Return the leg on which a motion comes to rest."""
        speed = sqrt(sum(v * v for v in velocity))
        direction = (velocity[0] / speed, velocity[1] / speed, velocity[2] / speed)
        leg_limits = directional_limits(direction, limits)
        change = change_time(speed, leg_limits)
        leg = cls(direction, 0.5 * speed * change, leg_limits)
        leg.speed, leg.change, leg.cruise, leg.moving = speed, change, 0.0, True
        return leg

    @property
    def over(self) -> bool:
        """Whether it has come to rest."""
        return self.ends_in <= 0.0

    @property
    def ends_in(self) -> float:
        """Time until it has come to rest, s."""
        return self.change * (1 if self.moving else 2) + self.cruise - self.time

    def state(self) -> tuple[float, float, float]:
        """Return distance (m), speed and acceleration now."""
        return leg_state(self.length, self.time, self.speed, self.change, self.cruise, self.moving)


class CopterLegs:
    """The path through waypoints: running legs, the newest last, added to where the first started."""

    origin: Ned
    velocity: Ned
    running: list[StraightLeg]
    end: Ned  # where the running legs end
    ahead: Ned | None  # waypoint whose leg has started early

    def __init__(self, track: CopterTrack) -> None:
        self.origin = (track.north, track.east, track.down)
        self.velocity = (track.vn, track.ve, track.vd)
        self.running, self.end, self.ahead = [], self.origin, None

    def add_leg(self, target: Ned, limits: LegLimits) -> None:
        """Add a leg to a waypoint, unless it has started early."""
        if self.ahead == target:
            self.ahead = None
            return
        if self.ahead is not None:  # the mission changed while the corner is being rounded: restart
            self.origin, self.velocity = self._motion()
            self.running, self.end, self.ahead = [], self.origin, None
        if not self.running and sum(v * v for v in self.velocity) > 1e-4:
            self._add(StraightLeg.ending(self.velocity, limits))
        self.velocity = (0.0, 0.0, 0.0)
        self._begin(target, limits)

    def round_corner(self, after: Ned, radius: float, limits: LegLimits) -> None:
        """Start the next leg as soon as the corner is cut by no more than allowed."""
        if self.ahead is not None or not self.running:
            return
        leg = self.running[-1]
        turn = _direction_change(leg.direction, _direction_and_length(self.end, after)[0])
        ends, remaining = leg.moving or leg.time >= leg.change + leg.cruise, leg.length - leg.state()[0]
        if ends and remaining * turn <= 4.0 * CUT * radius:  # it decelerates to its end
            self._begin(after, limits)
            self.ahead = after

    def continues(self, after: Ned | None, radius: float, seconds: float) -> bool:
        """Return whether the newest leg goes on, and no corner starts, for some seconds."""
        if not self.running or self.running[-1].ends_in < seconds:
            return False
        leg = self.running[-1]
        distance, speed, _ = leg.state()
        turn = 2.0 if after is None else _direction_change(leg.direction, _direction_and_length(self.end, after)[0])
        return self.ahead is not None or (leg.length - distance - speed * seconds) * turn > 4.0 * CUT * radius

    def advance(self, dt: float, track: CopterTrack) -> None:
        """Advance by dt s and move the track."""
        for leg in self.running:
            leg.time += dt
        while self.running and self.running[0].over:
            leg = self.running.pop(0)
            self.origin = _advanced(self.origin, leg.direction, leg.length)
        (track.north, track.east, track.down), (track.vn, track.ve, track.vd) = self._motion()
        accelerations = [(leg.direction, leg.state()[2]) for leg in self.running]
        track.an, track.ae, track.ad = (sum(d[k] * a for d, a in accelerations) for k in range(3))
        track.row[LEVEL] = track.row[CLIMB] = FOLLOW

    def _begin(self, target: Ned, limits: LegLimits) -> None:
        direction, length = _direction_and_length(self.end, target)
        if length > MIN_LENGTH:
            self._add(StraightLeg(direction, length, directional_limits(direction, limits)))

    def _add(self, leg: StraightLeg) -> None:
        self.running.append(leg)
        self.end = _advanced(self.end, leg.direction, leg.length)

    def _motion(self) -> tuple[Ned, Ned]:
        position, velocity = self.origin, (0.0, 0.0, 0.0)
        for leg in self.running:
            distance, speed, _ = leg.state()
            position, velocity = _advanced(position, leg.direction, distance), _advanced(velocity, leg.direction, speed)
        return position, velocity


def _direction_change(a: Ned, b: Ned) -> float:
    """Return the distance of two directions: 2 for opposite ones."""
    return sqrt((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2)


def _advanced(a: Ned, direction: Ned, distance: float) -> Ned:
    return a[0] + direction[0] * distance, a[1] + direction[1] * distance, a[2] + direction[2] * distance


def _direction_and_length(start: Ned, end: Ned) -> tuple[Ned, float]:
    """Return direction and length of an offset."""
    dn, de, dd = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    length = sqrt(dn * dn + de * de + dd * dd)
    scale = 1.0 / max(length, 1e-12)
    return (dn * scale, de * scale, dd * scale), length


SAMPLES = 101  # points of the curve at which bend and speed are known
SHARES = np.linspace(0.0, 1.0, SAMPLES)  # of the curve's parameter
CREEP = 0.05  # m/s: a copter at rest starts to move with this speed
MIN_TANGENT = 0.1  # m
MOVING = 0.5  # m/s: faster, the curve starts in the direction of the motion
LONGEST = 4.0  # sum of the end vectors, as a multiple of the distance of the end points
NEXT_SHARE = 0.5  # share of the next leg that may be used to slow down from the speed at the end of this one


class SplineLeg:
    """A curve from the track to `end`, which is left in the direction `onwards` (m, the length matters too)."""

    onwards: Ned
    points: Floats  # (4, 3): start, its direction, end, its direction
    distances: Floats  # m along the curve at each sample
    length: float
    travelled: float  # m
    speed: float
    acceleration: float
    squared_speeds: Floats  # (m/s)2 allowed at each sample

    def check_saved(self) -> bool:
        """Return whether the arrays of a restored leg have their shapes and are finite."""
        sampled = (self.distances, self.squared_speeds)
        shapes = self.points.shape == (4, 3) and all(each.shape == (SAMPLES,) for each in sampled)
        return shapes and all(bool(np.isfinite(each).all()) for each in (self.points, *sampled))

    def __init__(
        self, track: CopterTrack, end: Ned, leaving: Ned, onwards: Ned, limits: LegLimits, lateral: float, after: float
    ) -> None:
        """track: where it starts. end: its point. leaving: start direction, zero for that of the motion.

        onwards: end direction. limits: in every direction. lateral: m/s2 at bends. after: m to the next point, or 0.
        """
        start = np.array((track.north, track.east, track.down))
        self.onwards = onwards
        offset = np.array(end) - start
        speed = sqrt(track.vn**2 + track.ve**2 + track.vd**2)
        first = np.array(leaving)
        if not first.any():
            motion = np.array((track.vn, track.ve, track.vd))
            first = motion * (np.linalg.norm(offset) / speed) if speed > MOVING else offset
        last = np.array(onwards) if any(onwards) else offset
        scale = min(1.0, LONGEST * float(np.linalg.norm(offset)) / max(float(np.linalg.norm(first + last)), 1e-9))
        self.points = np.stack((start, first * scale, np.array(end), last * scale))
        positions, slopes, bends = hermite(self.points, SHARES)
        steps = np.sqrt(((positions[1:] - positions[:-1]) ** 2).sum(axis=1))
        self.distances = np.concatenate(((0.0,), np.cumsum(steps)))
        self.length = float(self.distances[-1])
        self.travelled, self.speed = 0.0, max(speed, CREEP)
        self.acceleration, self.squared_speeds = self._profile(slopes, bends, limits, lateral, after)

    def _profile(
        self, slopes: Floats, bends: Floats, limits: LegLimits, lateral: float, after: float
    ) -> tuple[float, Floats]:
        """Return the acceleration along the curve (m/s2), and the largest squared speed at each sample.

        slopes, bends: first and second derivatives (SAMPLES, 3). The others as in `__init__`.
        """
        lengths = np.maximum(np.sqrt((slopes**2).sum(axis=1)), 1e-9)
        crossed = np.cross(slopes, bends)
        curvature = np.sqrt((crossed**2).sum(axis=1)) / lengths**3  # 1/m
        within = [directional_limits((d[0], d[1], d[2]), limits) for d in (slopes / lengths[:, None]).tolist()]
        top = np.array([each.speed for each in within])
        acceleration = BRAKE_SHARE * min(each.acceleration for each in within)
        squares: Floats = np.minimum(top**2, lateral / np.maximum(curvature, 1e-9))
        squares[-1] = min(float(squares[-1]), 2.0 * acceleration * NEXT_SHARE * after)
        steps = np.diff(self.distances)
        for k in range(SAMPLES - 2, -1, -1):
            squares[k] = min(float(squares[k]), float(squares[k + 1] + 2.0 * acceleration * steps[k]))
        return acceleration, squares

    @property
    def over(self) -> bool:
        """Whether the end is reached."""
        return self.travelled >= self.length - 1e-6

    def advance(self, dt: float, track: CopterTrack) -> None:
        """Move the track along the curve for dt s."""
        before = self.speed
        next_distance = min(self.travelled + self.speed * dt, self.length)
        speed_limit = sqrt(max(float(np.interp(next_distance, self.distances, self.squared_speeds)), 0.0))
        self.speed = max(min(self.speed + self.acceleration * dt, speed_limit), CREEP)
        self.travelled = min(self.travelled + 0.5 * (before + self.speed) * dt, self.length)
        share = float(np.interp(self.travelled, self.distances, SHARES))
        (point,), (slope,), (bend,) = hermite(self.points, np.array((share,)))
        length = max(float(np.linalg.norm(slope)), 1e-9)
        tangent = slope / length
        centripetal = (bend - tangent * float(bend @ tangent)) * (self.speed / length) ** 2
        change = (self.speed - before) / dt if dt > 0.0 else 0.0
        if self.over and self.squared_speeds[-1] < MOVING**2:
            self.speed = change = 0.0
            centripetal = centripetal * 0.0
        track.north, track.east, track.down = point.tolist()
        track.vn, track.ve, track.vd = (tangent * self.speed).tolist()
        track.an, track.ae, track.ad = (tangent * change + centripetal).tolist()


def hermite(points: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Return positions, first and second derivatives (n, 3) of a curve: start, its vector, end, its vector (4, 3)."""
    start, leaving, end, arriving = points
    u = shares[:, None]
    cubic, square = 2.0 * start + leaving - 2.0 * end + arriving, -3.0 * start - 2.0 * leaving + 3.0 * end - arriving
    return (
        ((cubic * u + square) * u + leaving) * u + start,
        (3.0 * cubic * u + 2.0 * square) * u + leaving,
        6.0 * cubic * u + 2.0 * square,
    )


def onwards(start: Ned, end: Ned, after: Ned | None, curved: bool) -> Ned:
    """Return the vector in which a spline from start to end passes its point; `after` follows, `curved` if a spline."""
    a, b = (start, after) if curved and after is not None else (end, after) if after is not None else (start, end)
    vector = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return vector if hypot(*vector) > MIN_TANGENT else (end[0] - start[0], end[1] - start[1], end[2] - start[2])
