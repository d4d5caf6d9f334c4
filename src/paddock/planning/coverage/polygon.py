"""A polygon with holes, covered by parallel swaths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import hypot, isfinite, nan, pi
from typing import ClassVar

import numpy as np
import shapely
from shapely import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.validation import explain_validity

from paddock.errors import InvalidValueError
from paddock.planning.coverage.shapes import Entry, check_finite, check_positive, check_radius
from paddock.planning.coverage.swath_order import Nodes, Pattern, first_of, patterns_of, tour_of, turn, turn_lengths
from paddock.planning.coverage.sweep import Sweep, best_sweep, lines_of, swept
from paddock.planning.paths.path import Path, Segment, line
from paddock.world.columns import Floats

Points = tuple[tuple[float, float], ...]


def points_of(what: str, points: Sequence[Sequence[float]]) -> Points:
    """Return pairs of finite numbers, without the repetition of the first point at the end."""
    for k, point in enumerate(points):
        if len(point) != 2:
            raise InvalidValueError(f"polygon: point {k} of the {what} is {tuple(point)!r}; it must be (x, y) in m")
        if not np.all(np.isfinite(point)):
            raise InvalidValueError(f"polygon: point {k} of the {what} is {tuple(point)!r}; it must be finite")
    ring = [(float(x), float(y)) for x, y in points]
    if len(ring) > 1 and ring[0] == ring[-1]:
        ring.pop()
    if len(set(ring)) < 3:
        raise InvalidValueError(f"polygon: the {what} has {len(set(ring))} different points; it needs at least 3")
    return tuple(ring)


def region_of(outer: Points, holes: Sequence[Points]) -> Polygon:
    """Return a valid polygon with an area, whose holes are inside and disjoint."""
    whole = _ring("outline", outer)
    cut = [_ring(f"hole {k}", hole) for k, hole in enumerate(holes)]
    for k, hole in enumerate(cut):
        if not whole.contains_properly(hole):
            outside = hole.difference(whole)
            where, how = (outside, "reaches outside") if outside.area > 0.0 else (hole & whole.exterior, "touches")
            raise InvalidValueError(f"polygon: hole {k} {how} the outline at {_place(where)}; it must lie inside")
    for (i, one), (k, other) in combinations(enumerate(cut), 2):
        if one.intersects(other):
            raise InvalidValueError(f"polygon: holes {i} and {k} meet at {_place(one & other)}; holes must lie apart")
    return Polygon(outer, holes)


def _ring(what: str, points: Points) -> Polygon:
    corners = np.array(points)
    spread = np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)
    if spread[1] <= 1e-9 * spread[0]:
        raise InvalidValueError(f"polygon: the {what} from {points[0]} on has no area: its points lie on one line")
    ring = Polygon(points)
    if not ring.is_valid:
        reason = explain_validity(ring)
        at = re.search(r"\[(\S+) (\S+)\]", reason)
        place = f" at ({float(at[1]):g}, {float(at[2]):g})" if at else f" ({reason})"
        raise InvalidValueError(f"polygon: the {what} crosses or touches itself{place}; it must be a simple ring")
    return ring


def _place(where: BaseGeometry) -> str:
    point = where.representative_point()
    return f"({point.x:g}, {point.y:g})"


@dataclass(frozen=True)
class PolygonShape:
    """Parallel swaths that come within half a spacing of every point of a polygon with holes.

    Swaths stop at holes; at slanted edges they extend beyond the outline by up to three quarters of a spacing; turns go
    anywhere (a margin keeps them inside). Up to 0.02 % of the area, in narrow slivers beside holes, may stay uncovered.
    """

    kind: ClassVar[str] = "polygon"

    outer: Points  # m east, north; in either direction
    holes: tuple[Points, ...] = ()
    spacing: float = nan  # m between swaths; required, there is no sensible default
    angle: float | None = None  # rad ccw from east, of the swaths; None: the best
    margin: float = 0.0  # m excluded along the outline and around holes
    start: tuple[float, float] | None = None  # m: the sweep begins at the corner nearest to this; None: the best

    def __post_init__(self) -> None:
        check_positive("polygon", spacing=self.spacing)
        check_finite("polygon", angle=self.angle or 0.0)
        if not (isfinite(self.margin) and self.margin >= 0.0):
            raise InvalidValueError(f"polygon: margin is {self.margin!r}; it must be a number of at least 0 m")
        if self.start is not None:
            check_finite("polygon", **{"start's x": self.start[0], "start's y": self.start[1]})
            object.__setattr__(self, "start", (float(self.start[0]), float(self.start[1])))
        object.__setattr__(self, "outer", points_of("outline", self.outer))
        object.__setattr__(self, "holes", tuple(points_of(f"hole {k}", h) for k, h in enumerate(self.holes)))
        if self.region.is_empty:
            raise InvalidValueError(f"polygon: a margin of {self.margin:g} m leaves nothing of it; make it smaller")
        self.sweep  # noqa: B018  computed now, so that too fine a spacing is reported now

    @cached_property
    def region(self) -> MultiPolygon:
        """The polygon minus the margin: zero or more pieces."""
        whole = region_of(self.outer, self.holes)
        left = whole if self.margin == 0.0 else whole.buffer(-self.margin, join_style="mitre")
        pieces = [left] if isinstance(left, Polygon) else list(getattr(left, "geoms", ()))
        return MultiPolygon([piece for piece in pieces if piece.area > 0.0])

    @cached_property
    def sweep(self) -> Sweep:
        """Its swaths and cells, at the given or the best angle."""
        holes = shapely.union_all([Polygon(hole) for hole in self.holes]).buffer(self.margin, join_style="mitre")
        if self.angle is None:
            return best_sweep(self.region, holes, self.spacing)
        return swept(self.region, holes, self.spacing, self.angle)

    @cached_property
    def swaths(self) -> Floats:
        """The ends of all swaths in m, (n, 2, 2), in no particular order."""
        return self.sweep.to_world(lines_of(self.sweep.swaths))

    @property
    def entry(self) -> Entry:
        """The start of the first swath, in its direction."""
        (x, y), heading = self._ends(self._first)[0], self._heading(self._first)
        return Entry(x, y, heading)

    def path(self, radius: float, z: float = 0.0) -> Path:
        """Return all swaths with Dubins turns of at least `radius` m between them; 0 turns on the spot."""
        check_radius("polygon", radius)
        if (radius, z) not in self._paths:
            self._paths[radius, z] = self._flown(tour_of(*self._choices(radius), self._first), radius, z)
        return self._paths[radius, z]

    def outline(self) -> Floats:
        """Return the outline as a closed ring, (k, 2)."""
        return np.array([*self.outer, self.outer[0]])

    @cached_property
    def _paths(self) -> dict[tuple[float, float], Path]:
        return {}

    @cached_property
    def _first(self) -> int:
        """The first node, the same for every turn radius: chosen for turns that just fit the spacing."""
        if self.start is None:
            return first_of(*self._choices(0.5 * self.spacing))
        corners = [node for cell in self.sweep.cells for k in (cell[0], cell[-1]) for node in (2 * k, 2 * k + 1)]
        places = np.array([self._ends(node)[0] for node in corners])
        return corners[int(np.argmin(np.hypot(*(places - self.start).T)))]

    def _choices(self, radius: float) -> tuple[list[list[Pattern]], Floats]:
        """Return the patterns of each cell, and the lengths of all turns."""
        turns = turn_lengths(self.sweep.swaths, radius)
        return [patterns_of(k, cell, turns) for k, cell in enumerate(self.sweep.cells)], turns

    def _ends(self, node: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the start and the end of a node."""
        (a, b), (c, d) = self.swaths[node // 2].tolist()
        return ((c, d), (a, b)) if node % 2 else ((a, b), (c, d))

    def _heading(self, node: int) -> float:
        return self.sweep.angle + (pi if node % 2 else 0.0)

    def _flown(self, tour: Nodes, radius: float, z: float) -> Path:
        segments: list[Segment] = []
        before: tuple[float, float, float] | None = None
        for node in tour.tolist():
            (x, y), (end_x, end_y) = self._ends(node)
            heading = self._heading(node)
            if before is not None:
                segments += turn(before, (x, y, heading), radius, z)
            segments.append(line(x, y, heading, hypot(end_x - x, end_y - y), z))
            before = (end_x, end_y, heading)
        return Path(segments)
