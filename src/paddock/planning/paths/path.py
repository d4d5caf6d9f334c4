"""A path: segments one after the other, with exact length, sampling and parts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import InvalidValueError
from paddock.planning.paths.segment import FIELDS, Pose, Segment, carried, ends_at, flown_of, point_along
from paddock.world.columns import Floats

MOST_SAMPLES = 10_000_000
"""Of one path."""
ROUNDING = 1e-9
"""Relative: a part may end so much before it begins; it is empty then."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


class Path:
    """Segments one after the other. Places on it are given in metres flown from its start.

    Flown metres are metres through the air: what range and time are spent on. Without wind they are metres over ground.
    """

    def __init__(self, segments: Iterable[Segment] = (), start: Pose | None = None) -> None:
        """`start` is where a path without segments stands."""
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
        """x, y, z in m and heading in rad where it begins."""
        if not self.segments:
            return self._start
        first = self.segments[0]
        return first.x, first.y, first.z, first.heading

    @cached_property
    def end(self) -> Pose:
        """x, y, z in m and heading in rad where it ends."""
        return ends_at(self.segments[-1]) if self.segments else self._start

    def duration(self, speed: float) -> float:
        """Seconds at that airspeed (m/s)."""
        return self.flown / speed

    def at(self, flown: ArrayLike) -> Floats:
        """The poses (n, 4) x, y, z, heading after so many metres flown, (n,); beyond its ends it stays there."""
        places = np.clip(np.atleast_1d(np.asarray(flown, dtype=np.float64)), 0.0, self.flown)
        if not self.segments:
            return np.tile(np.array(self._start), (len(places), 1))
        k = np.minimum(np.searchsorted(self.ends, places, side="left"), len(self.ends) - 1)
        rows = self.table[k]
        along = (places - np.concatenate([[0.0], self.ends])[k]) * rows[:, 10] / np.sqrt(1.0 + rows[:, 6] ** 2)
        return _along(rows, np.minimum(along, rows[:, 4]))

    def sample(self, ds: float) -> Floats:
        """Poses (n, 3) x, y, heading every `ds` metres, its start and its end among them."""
        return self.points(ds)[:, [0, 1, 3]]

    def points(self, ds: float) -> Floats:
        """Poses (n, 4) x, y, z, heading every `ds` metres, its start and its end among them."""
        if not (isfinite(ds) and ds > 0.0):
            raise InvalidValueError(f"a path is sampled every ds > 0 metres, not {ds!r}")
        if self.flown / ds > MOST_SAMPLES:
            raise InvalidValueError(f"a path of {self.flown:g} m every {ds:g} m has more than {MOST_SAMPLES:,} samples")
        places = np.arange(0.0, self.flown, ds)
        if len(places) and self.flown - places[-1] < 1e-9 * max(self.flown, 1.0):
            places = places[:-1]
        return self.at(np.append(places, self.flown))

    def subpath(self, start: float, end: float) -> Path:
        """The part between two places, in metres flown; what lies beyond its ends is left out."""
        if not end >= start - ROUNDING * max(1.0, self.flown):
            raise InvalidValueError(f"a part of a path ends after it begins, not from {start:g} m to {end:g} m")
        start, end = max(start, 0.0), min(end, self.flown)
        if end <= start:
            here = self.at(start)[0].tolist()
            return Path((), (here[0], here[1], here[2], here[3]))
        begins = np.concatenate([[0.0], self.ends])
        parts = []
        for k, segment in enumerate(self.segments):  # of one path, a handful
            if begins[k + 1] > start and begins[k] < end:
                parts.append(_part(segment, start - begins[k], end - begins[k]))
        return Path(parts, self.start)

    def __add__(self, other: Path) -> Path:
        """One after the other; the second is expected to begin where the first ends."""
        return Path((*self.segments, *other.segments), self.start if self.segments else other.start)

    def __repr__(self) -> str:
        return f"Path({len(self.segments)} segments, {self.length:.3f} m)"


def joined(paths: Iterable[Path]) -> Path:
    """All of them one after the other."""
    parts = list(paths)
    segments = [segment for path in parts for segment in path.segments]
    return Path(segments, parts[0].start if parts else None)


def _along(rows: Floats, along: Floats) -> Floats:
    """`point_along` for many rows."""
    x, y, z, heading, _, curvature, slope, gear, drift_x, drift_y, _ = rows.T
    half = 0.5 * gear * curvature * along
    small = np.abs(half) < 1e-4
    ratio = np.where(small, 1.0 - half * half / 6.0, np.sin(half) / np.where(small, 1.0, half))
    chord = gear * along * ratio
    return np.column_stack(
        [
            x + chord * np.cos(heading + half) + drift_x * along,
            y + chord * np.sin(heading + half) + drift_y * along,
            z + slope * along,
            heading + 2.0 * half,
        ]
    )


def _part(segment: Segment, start: float, end: float) -> Segment:
    """The part of a segment between two places, in metres flown from its own start."""
    scale = segment.length / flown_of(segment)
    first = max(start * scale, 0.0)
    last = min(end * scale, segment.length)
    x, y, z, heading = point_along(segment, first)
    return segment._replace(x=x, y=y, z=z, heading=heading, length=last - first)


def _ground_length(segment: Segment) -> float:
    """Metres over the ground and up; of a curve in moving air by Gauss quadrature, half a radian at a time."""
    if not carried(segment):
        return segment.length * float(np.sqrt(1.0 + segment.slope**2))
    pieces = max(1, int(np.ceil(abs(segment.curvature) * segment.length / 0.5)))
    width = segment.length / pieces
    along = ((np.arange(pieces)[:, None] + 0.5 * (NODES + 1.0)) * width).ravel()
    heading = segment.heading + segment.gear * segment.curvature * along
    east, north = segment.gear * np.cos(heading) + segment.drift_x, segment.gear * np.sin(heading) + segment.drift_y
    speed = np.sqrt(east**2 + north**2 + segment.slope**2)
    return float((speed * np.tile(0.5 * width * WEIGHTS, pieces)).sum())
