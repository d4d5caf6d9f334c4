"""Spline legs of a copter: a cubic Hermite curve to a waypoint, flown as fast as its bends allow.

As in ArduCopter, the curve leaves the last point in the direction in which the copter came, and passes its own point
parallel to the line between the points before and after it (Catmull-Rom), or towards the next point if the leg there is
straight. The speed is limited by the lateral acceleration at every bend, and the distance to the points where the
copter must be slower or stop.
"""

from math import hypot, sqrt

import numpy as np

from paddock.autopilot.control.copter_path import BRAKE_SHARE, CopterTrack, LegLimits, directional_limits
from paddock.autopilot.estimate import Ned
from paddock.autopilot.vehicle_data import Floats

SAMPLES = 101  # points of the curve at which bend and speed are known
CREEP = 0.05  # m/s: a copter at rest starts to move with this speed
MIN_LENGTH = 0.1  # m
MOVING = 0.5  # m/s: faster, the curve starts in the direction of the motion
LONGEST = 4.0  # sum of the end vectors, as a multiple of the distance of the end points
NEXT_SHARE = 0.5  # share of the next leg that may be used to slow down from the speed at the end of this one


class SplineLeg:
    """A curve from the track to `end`, which is left in the direction `onwards` (m, the length matters too)."""

    onwards: Ned
    points: Floats  # (4, 3): start, its direction, end, its direction
    shares: Floats
    ways: Floats  # m along the curve at each share
    length: float
    way: float  # m travelled
    speed: float
    acceleration: float
    squares: Floats  # (m/s)2 allowed at each share

    def check_saved(self) -> bool:
        """Return whether the arrays of a restored leg have their shapes and are finite."""
        sampled = (self.shares, self.ways, self.squares)
        shapes = self.points.shape == (4, 3) and all(each.shape == (SAMPLES,) for each in sampled)
        return shapes and all(bool(np.isfinite(each).all()) for each in (self.points, *sampled))

    def __init__(
        self, track: CopterTrack, end: Ned, leaving: Ned, onwards: Ned, limits: LegLimits, lateral: float, after: float
    ) -> None:
        """`leaving`: start direction, zero for that of the motion; `lateral` m/s2; `after` m to the next point or 0."""
        start = np.array((track.north, track.east, track.down))
        self.onwards = onwards
        way = np.array(end) - start
        speed = sqrt(track.vn**2 + track.ve**2 + track.vd**2)
        first = np.array(leaving)
        if not first.any():
            motion = np.array((track.vn, track.ve, track.vd))
            first = motion * (np.linalg.norm(way) / speed) if speed > MOVING else way
        last = np.array(onwards) if any(onwards) else way
        scale = min(1.0, LONGEST * float(np.linalg.norm(way)) / max(float(np.linalg.norm(first + last)), 1e-9))
        self.points = np.stack((start, first * scale, np.array(end), last * scale))
        shares = np.linspace(0.0, 1.0, SAMPLES)
        places, slopes, bends = hermite(self.points, shares)
        steps = np.sqrt(((places[1:] - places[:-1]) ** 2).sum(axis=1))
        self.shares, self.ways = shares, np.concatenate(((0.0,), np.cumsum(steps)))
        self.length = float(self.ways[-1])
        self.way, self.speed = 0.0, max(speed, CREEP)
        self.acceleration, self.squares = self._profile(slopes, bends, limits, lateral, after)

    def _profile(
        self, slopes: Floats, bends: Floats, limits: LegLimits, lateral: float, after: float
    ) -> tuple[float, Floats]:
        """Return the acceleration along the curve (m/s2), and the largest squared speed at each sample."""
        lengths = np.maximum(np.sqrt((slopes**2).sum(axis=1)), 1e-9)
        crossed = np.cross(slopes, bends)
        curvature = np.sqrt((crossed**2).sum(axis=1)) / lengths**3  # 1/m
        within = [directional_limits((d[0], d[1], d[2]), limits) for d in (slopes / lengths[:, None]).tolist()]
        top = np.array([each.speed for each in within])
        acceleration = BRAKE_SHARE * min(each.acceleration for each in within)
        squares: Floats = np.minimum(top**2, lateral / np.maximum(curvature, 1e-9))
        squares[-1] = min(float(squares[-1]), 2.0 * acceleration * NEXT_SHARE * after)
        steps = np.diff(self.ways)
        for k in range(SAMPLES - 2, -1, -1):
            squares[k] = min(float(squares[k]), float(squares[k + 1] + 2.0 * acceleration * steps[k]))
        return acceleration, squares

    @property
    def over(self) -> bool:
        """Whether the end is reached."""
        return self.way >= self.length - 1e-6

    def advance(self, dt: float, track: CopterTrack) -> None:
        """Move the track along the curve for dt s."""
        before = self.speed
        ahead = min(self.way + self.speed * dt, self.length)
        allowed = sqrt(max(float(np.interp(ahead, self.ways, self.squares)), 0.0))
        self.speed = max(min(self.speed + self.acceleration * dt, allowed), CREEP)
        self.way = min(self.way + 0.5 * (before + self.speed) * dt, self.length)
        share = float(np.interp(self.way, self.ways, self.shares))
        (point,), (slope,), (bend,) = hermite(self.points, np.array((share,)))
        length = max(float(np.linalg.norm(slope)), 1e-9)
        tangent = slope / length
        pull = (bend - tangent * float(bend @ tangent)) * (self.speed / length) ** 2  # towards the centre of the bend
        change = (self.speed - before) / dt if dt > 0.0 else 0.0
        if self.over and self.squares[-1] < MOVING**2:
            self.speed = change = 0.0
            pull = pull * 0.0
        track.north, track.east, track.down = point.tolist()
        track.vn, track.ve, track.vd = (tangent * self.speed).tolist()
        track.an, track.ae, track.ad = (tangent * change + pull).tolist()


def hermite(points: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Return places, first and second derivatives (n, 3) of a curve: start, its vector, end, its vector (4, 3)."""
    start, leaving, end, arriving = points
    u = shares[:, None]
    cubic, square = 2.0 * start + leaving - 2.0 * end + arriving, -3.0 * start - 2.0 * leaving + 3.0 * end - arriving
    return (
        ((cubic * u + square) * u + leaving) * u + start,
        (3.0 * cubic * u + 2.0 * square) * u + leaving,
        6.0 * cubic * u + 2.0 * square,
    )


def onwards(start: Ned, end: Ned, after: Ned | None, curved: bool) -> Ned:
    """Return the vector in which a spline passes its point; `curved`: the next leg is a spline, too."""
    a, b = (start, after) if curved and after is not None else (end, after) if after is not None else (start, end)
    vector = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return vector if hypot(*vector) > MIN_LENGTH else (end[0] - start[0], end[1] - start[1], end[2] - start[2])
