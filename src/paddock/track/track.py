"""A track: cones, boundaries, middle line, gates and start pose. Positions on it are (along, offset), in m.

`along` is the distance along the middle line from its first point, `offset` the distance to the left of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute import arrays
from paddock.errors import InvalidValueError
from paddock.track.lines import (
    Floats,
    directions,
    distances,
    evenly,
    headings,
    leftwards,
    line_blocks,
    locate_places,
    locate_places_near,
    signed_curvature,
)

CONE_COLOURS = ("blue", "yellow", "orange", "big_orange", "unknown")
"""Colours of cones; `Track.colours` has their places in this list."""
BLUE, YELLOW, ORANGE, BIG_ORANGE, UNKNOWN = range(5)
CONE_SIZES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {name: (0.285, 0.505) if name == "big_orange" else (0.228, 0.325) for name in CONE_COLOURS}
)
"""Colour -> width of the base and height of a Formula Student cone, m."""
WINDOW = 20.0  # m before and after a known position in which `locate` searches


@dataclass(frozen=True)
class Gate:
    """A line across the track that cars cross: start and finish, or the end of a sector."""

    name: str
    left: tuple[float, float]  # its end at the left boundary, m
    right: tuple[float, float]
    along: float = 0.0  # m, where it crosses the middle line


@dataclass(frozen=True, eq=False, repr=False)
class Track:
    """A track. Arrays are read-only; `track.load`, `track.generate` and `track.from_cones` make one."""

    name: str
    closed: bool
    cones: Floats  # (n, 2) m
    colours: NDArray[np.int8]  # (n,) places in CONE_COLOURS
    start: tuple[float, float, float]  # x, y (m), yaw (rad)
    centre: Floats  # (k, 2) m, points of equal distance along the middle; a closed one does not repeat the first
    left_width: Floats  # (k,) m, from the middle to the left boundary
    right_width: Floats  # (k,) m
    left: Floats  # (m, 2) m, the left boundary, smooth through its cones
    right: Floats  # (m, 2) m
    gates: tuple[Gate, ...]  # the first one is the start and finish line
    covariances: Floats | None = None  # (n, 3) m2: of x, of y, between them
    left_cones: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))  # numbers of cones, in order
    right_cones: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    source: Any = None  # the TrackFile that it was made from

    def __post_init__(self) -> None:
        for name in ("cones", "centre", "left_width", "right_width", "left", "right"):
            object.__setattr__(self, name, _fixed(getattr(self, name), np.float64))
        object.__setattr__(self, "colours", _fixed(self.colours, np.int8))
        for name in ("left_cones", "right_cones"):
            object.__setattr__(self, name, _fixed(getattr(self, name), np.int64))
        if self.covariances is not None:
            object.__setattr__(self, "covariances", _fixed(self.covariances, np.float64))

    def __repr__(self) -> str:
        kind = "closed" if self.closed else "open"
        return f"<Track {self.name!r}: {kind}, {self.length:.1f} m, {len(self.cones)} cones>"

    @cached_property
    def _distances(self) -> Floats:
        return _fixed_floats(distances(self.centre, self.closed))

    @property
    def starts_at_front(self) -> bool:
        """Whether the start pose is that of a car's front rather than of its centre of mass."""
        return self.source is not None and self.source.start.reference == "front_wing"

    @property
    def along(self) -> Floats:
        """Distance along the middle line of each of its points (k,), m."""
        return self._distances[: len(self.centre)]

    @property
    def length(self) -> float:
        """Length of the middle line, m; of a closed track, of a lap."""
        return float(self._distances[-1])

    @cached_property
    def heading(self) -> Floats:
        """Direction of the middle line at its points (k,), rad."""
        return _fixed_floats(headings(self.centre, self.closed))

    @cached_property
    def curvature(self) -> Floats:
        """Curvature of the middle line at its points (k,), 1/m, left positive."""
        return _fixed_floats(signed_curvature(self.centre, self.closed))

    @cached_property
    def width(self) -> Floats:
        """Width at the points of the middle line (k,), m."""
        return _fixed_floats(self.left_width + self.right_width)

    @cached_property
    def _blocks(self) -> Floats:
        return line_blocks(self.centre, self.closed)

    @cached_property
    def _left_vectors(self) -> Floats:
        return _fixed_floats(leftwards(directions(self.centre, self.closed)))

    def locate(self, x: Any, y: Any, near: Any = None) -> tuple[Any, Any]:
        """Return along and offset (m) of places: of the nearest point of the middle line, arrays of one shape.

        `near`: known positions along; only 20 m around each are searched (where a track meets itself).
        """
        px, py = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        flat_x, flat_y = np.ascontiguousarray(px.ravel()), np.ascontiguousarray(py.ravel())
        if near is None:
            located = locate_places(flat_x, flat_y, self.centre, self._blocks, self.closed)
        else:
            cell = self.length / max(len(self._distances) - 1, 1)
            reach = min(int(np.ceil(WINDOW / cell)), len(self.centre) // 2)
            at = np.broadcast_to(np.asarray(near, np.float64), px.shape).ravel()
            first = np.floor(at / cell) - reach
            located = locate_places_near(flat_x, flat_y, self.centre, first, 2 * reach + 1, self.closed)
        k, t = located[:, 0].astype(np.int64), located[:, 1]
        ends = self.centre[(k + 1) % len(self.centre)]
        step = ends - self.centre[k]
        gap_x, gap_y = flat_x - self.centre[k, 0] - t * step[:, 0], flat_y - self.centre[k, 1] - t * step[:, 1]
        side = np.where(step[:, 0] * gap_y - step[:, 1] * gap_x < 0.0, -1.0, 1.0)
        along = self._distances[k] + t * (self._distances[k + 1] - self._distances[k])
        if self.closed:
            along = np.where(along >= self.length, 0.0, along)
        offset = side * np.sqrt(gap_x * gap_x + gap_y * gap_y)
        return along.reshape(px.shape)[()], offset.reshape(px.shape)[()]

    def _between(self, along: Any, values: Floats) -> Floats:
        """Return values (k, ...) at positions along, linear between the points."""
        at = np.asarray(along, np.float64)
        at = at % self.length if self.closed else np.clip(at, 0.0, self.length)
        k = np.clip(np.searchsorted(self._distances, at, side="right") - 1, 0, len(self._distances) - 2)
        share = (at - self._distances[k]) / (self._distances[k + 1] - self._distances[k])
        share = share.reshape(share.shape + (1,) * (values.ndim - 1))
        a, b = values[k], values[(k + 1) % len(values)]
        return np.asarray(a + share * (b - a))

    def point_at(self, along: Any, offset: Any = 0.0) -> Floats:
        """Return the places (..., 2), m, at positions along and to the left of the middle line."""
        side = self._between(along, self._left_vectors)
        side = side / np.sqrt((side * side).sum(axis=-1, keepdims=True))
        return np.asarray(self._between(along, self.centre) + np.asarray(offset, np.float64)[..., None] * side)

    def heading_at(self, along: Any) -> Any:
        """Return the direction of the middle line at positions along it, rad."""
        side = self._between(along, self._left_vectors)
        return arrays.arctan2(-side[..., 0], side[..., 1])

    def curvature_at(self, along: Any) -> Any:
        """Return the curvature (1/m, left positive) at positions along the middle line."""
        return self._between(along, self.curvature)[()]

    def widths_at(self, along: Any) -> tuple[Any, Any]:
        """Return the distances (m) to the left and the right boundary at positions along the middle line."""
        return self._between(along, self.left_width)[()], self._between(along, self.right_width)[()]

    def grid(self, count: int, gap: float = 8.0, lanes: int = 1, first: int = 0) -> Floats:
        """Return start poses (count, 3), x, y (m) and yaw (rad): rows of `lanes` cars, `gap` m apart.

        The first row is at the start pose, the others behind it, along the track; `first` places are left free.
        """
        if lanes < 1 or not gap > 0.0 or first < 0:
            raise InvalidValueError(
                f"a start grid has at least one lane, a gap above 0 m and places from 0 on, "
                f"not {lanes} lanes, {gap:g} m and {first}"
            )
        slots = np.arange(first, first + count)
        row, lane = slots // lanes, slots % lanes
        back = row * float(gap)
        at, aside = self.locate(self.start[0], self.start[1])
        if self.closed and back.max(initial=0.0) > self.length - gap:
            raise InvalidValueError(
                f"{count} cars in rows of {lanes}, {gap:g} m apart, take {back.max():.0f} m; "
                f"{self.name} is {self.length:.0f} m long"
            )
        along = at - back
        left, right = self.widths_at(along)
        offset = left - (lane + 0.5) * (left + right) / lanes if lanes > 1 else np.full(count, aside)
        yaw = np.asarray(self.heading_at(along)).copy()
        where = self.point_at(along, offset)
        if not self.closed:  # rows before the first point stand on the straight line through it
            short = np.minimum(along, 0.0)
            where = where + short[:, None] * np.column_stack([arrays.cos(yaw), arrays.sin(yaw)])
        if lanes == 1:  # exactly the start pose
            where[row == 0], yaw[row == 0] = self.start[:2], self.start[2]
        return np.column_stack([where, yaw])

    def path(self) -> Floats:
        """Return the middle line (m, 3) for behaviours: points 1 to 3 m apart, fewer on long tracks; z is 0."""
        points = evenly(self.centre, min(max(self.length / 1000.0, 1.0), 3.0), self.closed)
        return np.column_stack([points, np.zeros(len(points))])

    def of_colour(self, colour: str) -> Floats:
        """Return the places (m, 2) of the cones of a colour."""
        if colour not in CONE_COLOURS:
            raise InvalidValueError(f"unknown colour {colour!r} of cones; valid: {', '.join(CONE_COLOURS)}")
        return np.asarray(self.cones[self.colours == CONE_COLOURS.index(colour)])


def _fixed(values: Any, kind: Any) -> Any:
    fixed = np.ascontiguousarray(values, kind)
    if fixed.flags.writeable:
        fixed = fixed.copy()
        fixed.flags.writeable = False
    return fixed


def _fixed_floats(values: Floats) -> Floats:
    fixed: Floats = _fixed(values, np.float64)
    return fixed
