"""Paths: sequences of segments with exact length, sampling and parts; and their tables, for compiled code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from paddock.compute import arrays
from paddock.compute.math import absolute, atan2, hypot, maximum, sin, sincos, sqrt, wrap_angle
from paddock.errors import InvalidValueError
from paddock.world.columns import Floats


class Segment(NamedTuple):
    """A part of a path. Distances are metres flown, which in still air are metres over the ground."""

    x: float  # m east, at its start
    y: float  # m north
    z: float  # m up
    heading: float  # rad: heading of the vehicle through the air, at its start
    length: float  # m along the curve, level; with a drift: relative to the air
    curvature: float = 0.0  # 1/m, positive to the left
    slope: float = 0.0  # m up for each m along
    gear: float = 1.0  # 1 forwards, -1 backwards: the vehicle moves opposite to its heading
    drift_x: float = 0.0  # m east per m along: wind over airspeed, for curves in moving air
    drift_y: float = 0.0  # m north
    pace: float = 1.0  # m along per m flown: ground speed over airspeed, for curves held over the ground in wind


FIELDS = len(Segment._fields)
X, Y, Z, HEADING, LENGTH, CURVATURE, SLOPE, GEAR, DRIFT_X, DRIFT_Y, PACE = range(11)
"""Columns of the table of a path."""
Pose = tuple[float, float, float, float]  # x, y, z in m and heading in rad


def as_pose(row: Floats) -> Pose:
    """Return a row of an array of poses."""
    x, y, z, heading = row.tolist()
    return x, y, z, heading


def line(x: float, y: float, heading: float, length: float, z: float = 0.0, slope: float = 0.0) -> Segment:
    """Return a straight segment ahead."""
    return Segment(x, y, z, heading, length, 0.0, slope)


def arc(x: float, y: float, heading: float, radius: float, turn: float, z: float = 0.0, slope: float = 0.0) -> Segment:
    """Return a turn by `turn` rad (positive left) on a circle of that radius (m)."""
    return Segment(x, y, z, heading, abs(turn) * radius, (1.0 if turn >= 0.0 else -1.0) / radius, slope)


def point_along(s: Segment, along: float) -> Pose:
    """Return the pose after `along` metres of its curve."""
    half = 0.5 * s.gear * s.curvature * along
    ratio = 1.0 - half * half / 6.0 if abs(half) < 1e-4 else sin(half) / half
    chord = s.gear * along * ratio
    north, east = sincos(s.heading + half)
    x, y = s.x + chord * east + s.drift_x * along, s.y + chord * north + s.drift_y * along
    return x, y, s.z + s.slope * along, s.heading + 2.0 * half


def flown_of(s: Segment) -> float:
    """Return metres flown: along the curve and its climb, at the ground speed in the wind."""
    return s.length * sqrt(1.0 + s.slope * s.slope) / s.pace


def ends_at(s: Segment) -> Pose:
    """Return the pose at its end."""
    return point_along(s, s.length)


def carried(s: Segment) -> bool:
    """Return whether it is a curve in moving air."""
    return hypot(s.drift_x, s.drift_y) > 0.0


MOST_SAMPLES = 10_000_000  # of one path
ROUNDING = 1e-9  # relative tolerance: a part that ends this much before its start is empty
NODES, WEIGHTS = arrays.gauss_legendre(24)


class Path:
    """A sequence of segments. Positions on it are given in metres flown from its start.

    Flown metres are metres through the air, which determine range and time. Without wind they are metres over ground.
    """

    def __init__(self, segments: Iterable[Segment] = (), start: Pose | None = None, rows: Floats | None = None) -> None:
        """`start` is the pose of a path without segments, `rows` (n, 2, 2) are the ends of the rows over a field."""
        self.rows = rows
        self.segments = tuple(segment for segment in segments if segment.length > 0.0)
        self._start: Pose = (0.0, 0.0, 0.0, 0.0) if start is None else start

    @cached_property
    def table(self) -> Floats:
        """The segments as rows (k, 11), columns as in Segment."""
        return np.array(self.segments, dtype=np.float64).reshape(len(self.segments), FIELDS)

    @cached_property
    def ends(self) -> Floats:
        """Metres flown at the end of each segment, (k,)."""
        return np.cumsum([flown_of(segment) for segment in self.segments], dtype=np.float64)

    @property
    def flown(self) -> float:
        """Metres through the air from its start to its end."""
        return float(self.ends[-1]) if self.segments else 0.0

    @cached_property
    def length(self) -> float:
        """Metres over the ground (and up), exact."""
        return float(sum(_ground_length(segment) for segment in self.segments))

    @property
    def start(self) -> Pose:
        """x, y, z in m and heading in rad at its start."""
        if not self.segments:
            return self._start
        first = self.segments[0]
        return first.x, first.y, first.z, first.heading

    @cached_property
    def end(self) -> Pose:
        """x, y, z in m and heading in rad at its end."""
        return ends_at(self.segments[-1]) if self.segments else self._start

    def duration(self, speed: float) -> float:
        """Return seconds at that airspeed (m/s)."""
        return self.flown / speed

    def at(self, flown: ArrayLike) -> Floats:
        """Return the poses (n, 4) x, y, z, heading after metres flown (n,), clipped to the ends."""
        stations = np.clip(np.atleast_1d(np.asarray(flown, dtype=np.float64)), 0.0, self.flown)
        if not self.segments:
            return np.tile(np.array(self._start), (len(stations), 1))
        k = np.minimum(np.searchsorted(self.ends, stations, side="left"), len(self.ends) - 1)
        rows = self.table[k]
        along = (stations - np.concatenate([[0.0], self.ends])[k]) * rows[:, 10] / np.sqrt(1.0 + rows[:, 6] ** 2)
        along = np.minimum(along, rows[:, 4])
        if len(k) == 1:
            return np.array([point_along(self.segments[k[0]], along[0])])
        return along_rows(rows, along)

    def sample(self, ds: float) -> Floats:
        """Return poses (n, 3) x, y, heading every `ds` metres, including both ends."""
        return self.points(ds)[:, [0, 1, 3]]

    def points(self, ds: float) -> Floats:
        """Return poses (n, 4) x, y, z, heading every `ds` metres, including both ends."""
        if not (isfinite(ds) and ds > 0.0):
            raise InvalidValueError(f"a path is sampled every ds > 0 metres, not {ds!r}")
        if self.flown / ds > MOST_SAMPLES:
            raise InvalidValueError(f"a path of {self.flown:g} m every {ds:g} m has more than {MOST_SAMPLES:,} samples")
        stations = np.arange(0.0, self.flown, ds)
        if len(stations) and self.flown - stations[-1] < 1e-9 * max(self.flown, 1.0):
            stations = stations[:-1]
        return self.at(np.append(stations, self.flown))

    def subpath(self, start: float, end: float) -> Path:
        """Return the part between two positions, in metres flown, clipped to the path."""
        if not end >= start - ROUNDING * max(1.0, self.flown):
            raise InvalidValueError(f"a part of a path ends after it begins, not from {start:g} m to {end:g} m")
        start, end = max(start, 0.0), min(end, self.flown)
        if end <= start:
            return Path((), as_pose(self.at(start)[0]))
        begins = np.concatenate([[0.0], self.ends])
        parts = []
        for k, segment in enumerate(self.segments):  # of one path, a handful
            if begins[k + 1] > start and begins[k] < end:
                scale = segment.length / flown_of(segment)
                first, last = max((start - begins[k]) * scale, 0.0), min((end - begins[k]) * scale, segment.length)
                x, y, z, heading = point_along(segment, first)
                parts.append(segment._replace(x=x, y=y, z=z, heading=heading, length=last - first))
        return Path(parts, self.start)

    def __add__(self, other: Path) -> Path:
        """Return the concatenation; the second path must start where the first ends."""
        return Path((*self.segments, *other.segments), self.start if self.segments else other.start)

    def __repr__(self) -> str:
        return f"Path({len(self.segments)} segments, {self.length:.3f} m)"


def joined(paths: Iterable[Path]) -> Path:
    """Return the concatenation of paths."""
    parts = list(paths)
    segments = [segment for path in parts for segment in path.segments]
    return Path(segments, parts[0].start if parts else None)


def along_rows(rows: Floats, along: Floats) -> Floats:
    """Return `point_along` for many rows, with the same bits."""
    x, y, z, heading, _, curvature, slope, gear, drift_x, drift_y, _ = rows.T
    half = 0.5 * gear * curvature * along
    small = np.abs(half) < 1e-4
    ratio = np.where(small, 1.0 - half * half / 6.0, arrays.sin(half) / np.where(small, 1.0, half))
    chord = gear * along * ratio
    north, east = arrays.sincos(heading + half)
    x, y = x + chord * east + drift_x * along, y + chord * north + drift_y * along
    return np.column_stack([x, y, z + slope * along, heading + 2.0 * half])


def _ground_length(segment: Segment) -> float:
    """Return metres over the ground and up; for a curve in moving air by Gauss quadrature per half radian."""
    if not carried(segment):
        return segment.length * float(np.sqrt(1.0 + segment.slope**2))
    pieces = max(1, int(np.ceil(abs(segment.curvature) * segment.length / 0.5)))
    width = segment.length / pieces
    along = ((np.arange(pieces)[:, None] + 0.5 * (NODES + 1.0)) * width).ravel()
    heading = segment.heading + segment.gear * segment.curvature * along
    sine, cosine = arrays.sincos(heading)
    east, north = segment.gear * cosine + segment.drift_x, segment.gear * sine + segment.drift_y
    speed = np.sqrt(east**2 + north**2 + segment.slope**2)
    return float((speed * np.tile(0.5 * width * WEIGHTS, pieces)).sum())


PoseLike = Sequence[float | None] | Floats  # x, y in m and heading in rad; None as the heading of a goal: any


def numbers(name: str, value: PoseLike, count: int, free: bool) -> list[float]:
    """Return `count` finite numbers; if `free`, the last may be None or NaN (returned as NaN)."""
    try:
        values = [nan if part is None else float(part) for part in value]
    except (TypeError, ValueError):
        values = []
    if len(values) != count:
        raise InvalidValueError(f"{name} is {'x, y, heading' if count == 3 else 'x, y, z, heading'}, not {value!r}")
    must = values[:-1] if free else values
    if not (all(isfinite(part) for part in must) and (isfinite(values[-1]) or values[-1] != values[-1])):
        raise InvalidValueError(f"{name} has to be finite{' (heading None: any)' if free else ''}, not {value!r}")
    return values


def pose(name: str, value: PoseLike, free: bool = False) -> tuple[float, float, float]:
    """Return x, y, heading; a free heading is NaN."""
    x, y, heading = numbers(name, value, 3, free)
    return x, y, heading


def not_negative(name: str, value: float, zero: bool = True) -> float:
    """Return a finite number >= 0, or > 0 unless it may be `zero`."""
    if not (
        isinstance(value, int | float | np.number) and isfinite(value) and (value > 0.0 or (zero and value == 0.0))
    ):
        raise InvalidValueError(f"{name} has to be a number {'>=' if zero else '>'} 0, not {value!r}")
    return float(value)


def poses(name: str, values: ArrayLike, free: bool = False) -> Floats:
    """Return an array (n, 3) of x, y, heading; a free heading is NaN."""
    try:
        rows = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{name} have to be an array (n, 3) of numbers: x, y, heading") from None
    if rows.size == 0:
        rows = rows.reshape(0, 3)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise InvalidValueError(f"{name} have to be an array (n, 3): x, y, heading; not one of shape {rows.shape}")
    wrong = ~np.isfinite(rows)
    if free:
        wrong[:, 2] &= ~np.isnan(rows[:, 2])
    if wrong.any():
        row = int(np.argwhere(wrong)[0, 0])
        raise InvalidValueError(f"{name}[{row}] has to be finite, not {rows[row].tolist()}")
    return rows


def radii(radius: ArrayLike, n: int) -> Floats:
    """Return a turn radius for each start (n,), from one for all or one for each."""
    try:
        values = np.asarray(radius, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"radius has to be a number or {n} of them, not {radius!r}") from None
    if values.shape not in ((), (n,)):
        raise InvalidValueError(f"radius has to be one number or one for each of {n} starts, not {values.shape}")
    if not (np.isfinite(values) & (values >= 0.0)).all():
        raise InvalidValueError("radius has to be a number >= 0, not " + repr(np.atleast_1d(values).min().item()))
    return np.broadcast_to(values, (n,)).copy()  # a view of one start would be read-only: compiled again


PI = 3.141592653589793
NEWTON_STEPS = 4
"""Newton steps towards the nearest point of a curve in moving air, from the previous nearest point."""


def along_per_flown(path: Floats, k: int) -> float:
    """Return metres along the curve per metre flown on segment k."""
    return float(path[k, PACE] / sqrt(1.0 + path[k, SLOPE] * path[k, SLOPE]))


def point_on(path: Floats, k: int, s: float) -> tuple[float, float, float]:
    """Return the point (m) after `s` metres along segment k."""
    half = 0.5 * path[k, GEAR] * path[k, CURVATURE] * s
    way = s * path[k, GEAR]
    chord = way * (1.0 - half * half / 6.0) if absolute(half) < 1e-4 else way * sin(half) / half
    sine, cosine = sincos(path[k, HEADING] + half)
    x = path[k, X] + chord * cosine + path[k, DRIFT_X] * s
    y = path[k, Y] + chord * sine + path[k, DRIFT_Y] * s
    return x, y, path[k, Z] + path[k, SLOPE] * s


def tangent_on(path: Floats, k: int, s: float) -> tuple[float, float, float]:
    """Return the horizontal tangent (per metre along the curve) and the turn rate (rad/m) of the course."""
    gear, curvature = path[k, GEAR], path[k, CURVATURE]
    sine, cosine = sincos(path[k, HEADING] + gear * curvature * s)
    tx, ty = gear * cosine + path[k, DRIFT_X], gear * sine + path[k, DRIFT_Y]
    bend = curvature * (tx * cosine + ty * sine) / maximum(tx * tx + ty * ty, 1e-6)
    return tx, ty, bend


def nearest_on(path: Floats, k: int, s: float, x: float, y: float) -> float:
    """Return metres along segment k of the point nearest to (x, y), near `s`; the curve is extended beyond its ends."""
    drifting = absolute(path[k, DRIFT_X]) + absolute(path[k, DRIFT_Y]) > 0.0
    if absolute(path[k, CURVATURE]) < 1e-9:
        tx, ty, _ = tangent_on(path, k, 0.0)
        return float(((x - path[k, X]) * tx + (y - path[k, Y]) * ty) / maximum(tx * tx + ty * ty, 1e-6))
    if not drifting:
        return _nearest_on_arc(path, k, s, x, y)
    for _ in range(NEWTON_STEPS):
        px, py, _ = point_on(path, k, s)
        tx, ty, bend = tangent_on(path, k, s)
        square = maximum(tx * tx + ty * ty, 1e-6)
        ahead = (x - px) * tx + (y - py) * ty
        beside = (y - py) * tx - (x - px) * ty  # to the left
        s += ahead / maximum(square - bend * beside, 0.3 * square)
    return s


def _nearest_on_arc(path: Floats, k: int, s: float, x: float, y: float) -> float:
    """Return metres along an arc from the angle about its centre, in the direction nearer to `s`."""
    curvature = path[k, GEAR] * path[k, CURVATURE]  # of the motion, independent of the heading
    moving = path[k, HEADING] + (PI if path[k, GEAR] < 0.0 else 0.0)
    sine, cosine = sincos(moving)
    rx, ry = curvature * (x - path[k, X]) + sine, curvature * (y - path[k, Y]) - cosine
    if rx * rx + ry * ry < 1e-4:
        return s  # at the centre all points are equally near
    return float(s + wrap_angle(atan2(rx, -ry) - moving - curvature * s) / curvature)
