"""A polygon with holes, covered by parallel swaths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise
from math import isfinite, nan, pi
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry

from paddock.compute import arrays
from paddock.compute.math import cos, sin
from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import dubins_lengths
from paddock.planning.geometry.field import (
    ObstructedField,
    Turns,
    corner_near,
    first_of,
    flown_over,
    patterns_of,
    polygons_of,
    poses_of,
    zone_area,
)
from paddock.planning.geometry.path import Path, ends_at
from paddock.planning.geometry.shapes import (
    CALM,
    AreaShape,
    Drift,
    Entry,
    InfeasibleError,
    check_finite,
    check_positive,
    check_radius,
)
from paddock.planning.geometry.sweep import TURN, Limits, Sweep, best_sweep, covered_by, swath_lines
from paddock.planning.geometry.zones import Zone, crossing_of
from paddock.world.columns import Floats

FARTHEST_TURN = 12.0  # turn radii: zones farther away from a field cannot block a turn
BEYOND = 1e7  # m: larger than any field
BETTER = 0.005  # share of a field by which another sweep must cover more
DEARER, ENOUGH = 1.1, 0.95
"""Turns inside may take this much more per covered area than those outside, if they cover this share of their area."""
Points = tuple[tuple[float, float], ...]
Turning = Literal["auto", "inside", "outside"]
"""On which side of the outline turns may be; auto: inside, unless that takes more per covered area."""


class FieldCoverage(NamedTuple):
    """What a path covers of a field."""

    share: float  # of its area, without holes and zones
    outside: float  # m by which the path leaves the outline
    alternative: str = ""  # the turns that were not chosen, and what they cover at which length


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
            raise InvalidValueError(f"polygon: hole {k} {how} the outline at {_point_in(where)}; it must lie inside")
    for (i, hole), (k, other_hole) in combinations(enumerate(cut), 2):
        if hole.intersects(other_hole):
            raise InvalidValueError(
                f"polygon: holes {i} and {k} meet at {_point_in(hole & other_hole)}; holes must lie apart"
            )
    return Polygon(outer, holes)


def _ring(what: str, points: Points) -> Polygon:
    corners = np.array(points)
    spread = np.linalg.svd(corners - corners.mean(axis=0), compute_uv=False)
    if spread[1] <= 1e-9 * spread[0]:
        raise InvalidValueError(f"polygon: the {what} from {points[0]} on has no area: its points lie on one line")
    ring = Polygon(points)
    if not ring.is_valid:
        x, y = crossing_of(ring)
        at = f"({x:g}, {y:g})"
        raise InvalidValueError(f"polygon: the {what} crosses or touches itself at {at}; it must be a simple ring")
    return ring


def _point_in(where: BaseGeometry) -> str:
    point = where.representative_point()
    return f"({point.x:g}, {point.y:g})"


@dataclass(frozen=True)
class PolygonShape:
    """Parallel swaths that come within half a spacing of every point of a polygon with holes.

    Swaths and turns avoid holes. With turns inside they never leave the outline; places without room for turns, and
    narrow slivers of up to 0.02 % of the area, stay uncovered. With turns outside, and for vehicles that turn on the
    spot, swaths extend beyond slanted edges by up to three quarters of a spacing.
    """

    kind: ClassVar[str] = "polygon"

    outer: Points  # m east, north; in either direction
    holes: tuple[Points, ...] = ()
    spacing: float = nan  # m between swaths; required, there is no sensible default
    angle: float | None = None  # rad ccw from east, of the swaths; None: the best
    margin: float = 0.0  # m excluded along the outline and around holes
    start: tuple[float, float] | None = None  # m: the sweep begins at the corner nearest to this; None: the best
    turns: Turning = "auto"
    band: tuple[float, float] | None = None  # m across the swaths, from its first point; None: the whole polygon

    def __post_init__(self) -> None:
        check_positive("polygon", spacing=self.spacing)
        check_finite("polygon", angle=self.angle or 0.0)
        if not (isfinite(self.margin) and self.margin >= 0.0):
            raise InvalidValueError(f"polygon: margin is {self.margin!r}; it must be a number of at least 0 m")
        if self.turns not in get_args(Turning):
            raise InvalidValueError(f"polygon: turns is {self.turns!r}; valid: {', '.join(get_args(Turning))}")
        if self.start is not None:
            check_finite("polygon", **{"start's x": self.start[0], "start's y": self.start[1]})
            object.__setattr__(self, "start", (float(self.start[0]), float(self.start[1])))
        object.__setattr__(self, "outer", points_of("outline", self.outer))
        object.__setattr__(self, "holes", tuple(points_of(f"hole {k}", h) for k, h in enumerate(self.holes)))
        if self.region.is_empty:
            raise InvalidValueError(f"polygon: a margin of {self.margin:g} m leaves nothing of it; make it smaller")
        self.sweep  # noqa: B018  computed now, so that too fine a spacing is reported now

    @cached_property
    def area(self) -> BaseGeometry:
        """The area to cover, with the margin."""
        return self._part_of(region_of(self.outer, self.holes))

    @cached_property
    def region(self) -> MultiPolygon:
        """The polygon minus the margin: zero or more pieces."""
        whole = region_of(self.outer, self.holes)
        left = whole if self.margin == 0.0 else whole.buffer(-self.margin, join_style="mitre")
        return polygons_of(self._part_of(left))

    @cached_property
    def sweep(self) -> Sweep:
        """Its swaths and cells, at the given or the best angle, for a turn radius of 0."""
        limits = Limits(self._field((), 0.0).stops)
        return best_sweep(self.region, limits, self.spacing, () if self.angle is None else [self.angle])

    @cached_property
    def swaths(self) -> Floats:
        """The ends of all swaths in m, (n, 2, 2), in no particular order."""
        return self.sweep.to_world(swath_lines(self.sweep.swaths))

    @cached_property
    def entry(self) -> Entry:
        """The start of the first swath, in its direction; near no-fly zones a path may start elsewhere."""
        starts, ends = poses_of(self.swaths)
        if self.start is not None:
            return Entry(*starts[corner_near(self.sweep, *self.start)].tolist())
        turns = dubins_lengths(ends, starts, 0.5 * self.spacing)  # for every radius: turns that just fit the spacing
        patterns = [patterns_of(k, cell, turns) for k, cell in enumerate(self.sweep.cells)]
        return Entry(*starts[first_of(patterns, turns)].tolist())

    def path(
        self, radius: float, z: float = 0.0, zones: tuple[Zone, ...] = (), clearance: float = 0.0, drift: Drift = CALM
    ) -> Path:
        """Return all swaths and turns between them, clear of zones, as flown in the wind `drift`.

        Turns have at least `radius` m over the ground (0: on the spot), or that of `drift` in the air.
        """
        check_radius("polygon", radius)
        reach = FARTHEST_TURN * radius + self.spacing + clearance
        near = tuple(zone for zone in zones if zone_area(zone, reach).intersects(self.area))
        key = radius, z, near, clearance, drift
        if key not in self._paths:
            path = self._cheapest(near, clearance, radius, drift)
            self._paths[key] = Path([segment._replace(z=z) for segment in path.segments], rows=path.rows)
        return self._paths[key]

    def _cheapest(self, zones: tuple[Zone, ...], clearance: float, radius: float, drift: Drift) -> Path:
        """Return the path with turns inside or outside, whichever takes fewer metres for each covered area."""
        if self.turns == "inside" and radius > 0.0:
            return self._inside(zones, clearance, radius, drift)[0] or self._over(
                self._field(zones, clearance), radius, drift
            )
        try:
            outside = self._over(self._field(zones, clearance), radius, drift)
        except InfeasibleError:
            inside, _ = self._inside(zones, clearance, radius, drift)
            if inside is None:
                raise
            return inside
        covered_outside = swept(self, outside, zones).share
        inside, most = self._inside(zones, clearance, radius, drift, ENOUGH * covered_outside)
        if inside is None:
            if most > 0.0 and outside.rows is not None:
                alternative = f"{outside.flown / 1000.0:.1f} km; turns inside: at most {100.0 * most:.1f} %"
                self._alternatives[outside.rows.tobytes()] = alternative
            return outside
        shares = [max(swept(self, inside, zones).share, 1e-9), max(covered_outside, 1e-9)]
        dear = inside.flown / shares[0] > DEARER * outside.flown / shares[1] or shares[0] < ENOUGH * shares[1]
        path, other, name = (outside, inside, "inside") if dear else (inside, outside, "outside")
        covered = f"{100.0 * shares[1 - dear]:.1f} % in {other.flown / 1000.0:.1f} km"
        if path.rows is not None:
            self._alternatives[path.rows.tobytes()] = f"{path.flown / 1000.0:.1f} km; turns {name}: {covered}"
        return path

    def alternative_to(self, path: Path) -> str:
        """Return the length of a path of it, and what the turns would cover that were not chosen; "" if none."""
        return "" if path.rows is None else self._alternatives.get(path.rows.tobytes(), "")

    def _inside(
        self, zones: tuple[Zone, ...], clearance: float, radius: float, drift: Drift, least: float = 0.0
    ) -> tuple[Path | None, float]:
        """Return the path that covers most of it without leaving the outline, and the share that rows could cover.

        None if that share is less than `least`, or nothing can be covered.
        """
        if self.turns == "outside" or radius == 0.0:
            return None, 0.0
        field = self._field(zones, clearance, inside=True)
        region = polygons_of(self.region - field.closed)
        if region.is_empty:
            return None, 0.0
        rooms = [(radius, angle) for angle in self._angles]
        if drift != CALM:  # rows across the wind: turns that drift upwind need less room
            across = max(self._angles, key=lambda angle: abs(drift.x * sin(angle) - drift.y * cos(angle)))
            rooms.append((drift.radius, across))
        ways = [(best_sweep(region, field.limits(room), self.spacing, [angle]), room) for room, angle in rooms]
        possible = max((1.0 - sweep.missed / region.area for sweep, _ in ways if sweep.swaths), default=0.0)
        if possible < least:
            return None, possible
        best, most = None, 0.0
        for sweep, room in sorted(ways, key=lambda way: way[0].missed):
            if not sweep.swaths or 1.0 - sweep.missed / region.area < most + BETTER:
                continue
            path = self._along(sweep, field, radius, drift, detours=room == radius)
            rows = np.empty((0, 2, 2)) if path.rows is None else path.rows
            share = region.intersection(covered_by(rows, self.spacing)).area / region.area
            if share > most + BETTER:
                best, most = path, share
        if self.turns == "inside" and best is None:
            raise InfeasibleError(f"no row with turns of {radius:.3g} m fits inside its outline")
        return best, possible

    def _over(self, field: ObstructedField, radius: float, drift: Drift) -> Path:
        sweep = self.sweep
        if len(field.barriers) > len(self.holes) or (self.holes and radius > 0.0) or field.confines(radius):
            region = polygons_of(self.region - field.closed)
            if region.is_empty:
                raise InfeasibleError(f"it lies in the no-fly zone {field.barriers[-1].name!r}")
            sweep = best_sweep(region, field.limits(radius), self.spacing, self._angles)
            if not sweep.swaths:
                raise InfeasibleError(f"its holes and the no-fly zones leave no room for turns of {radius:.3g} m")
        path = self._along(sweep, field, radius, drift)
        if drift == CALM or self.angle is not None or not self.margin or not (outside := self.beyond(path)):
            return path
        region = polygons_of(self.region - field.closed)
        turned = [sweep.angle + 0.5 * pi]  # turns drift to another side
        other = best_sweep(region, field.limits(radius), self.spacing, turned)
        across = self._along(other, field, radius, drift) if other.swaths else path
        return across if self.beyond(across) < outside else path

    def _along(self, sweep: Sweep, field: ObstructedField, radius: float, drift: Drift, detours: bool = True) -> Path:
        first = corner_near(sweep, *(self.start or self.entry[:2]))
        lines = sweep.to_world(swath_lines(sweep.swaths))
        return flown_over(Turns(field, lines, radius, drift, self.spacing, detours), sweep, first)

    @property
    def _angles(self) -> list[float]:
        """Directions of rows (rad) to try beside obstacles and in wind."""
        return [self.sweep.angle] if self.angle is not None else [self.sweep.angle, self.sweep.angle + 0.5 * pi]

    def beyond(self, path: Path) -> float:
        """Return how far (m) a path leaves the outline."""
        points = path.sample(max(0.1 * self.spacing, path.length / 10_000.0))[:, :2]
        return float(shapely.distance(Polygon(self.outer), shapely.points(points)).max())

    def outline(self) -> Floats:
        """Return the outline as a closed ring, (k, 2)."""
        if self.band is None:
            return np.array([*self.outer, self.outer[0]])
        largest = max(polygons_of(self.area).geoms, key=lambda piece: piece.area)
        return shapely.get_coordinates(largest.exterior)

    @cached_property
    def row_lengths(self) -> Floats:
        """Metres of each row with a turn, from the lowest in the direction across."""
        _, row = self._rows
        swaths = [TURN * self.spacing + s.right - s.left for s in self.sweep.swaths if s.row >= 0]
        return np.asarray(np.bincount(row, swaths), np.float64)

    def parts(self, ends: Sequence[int]) -> list[PolygonShape]:
        """Return bands of its rows that end before these rows."""
        heights, _ = self._rows
        last = np.array([end - 1 for end in ends if end < len(heights)], np.int64)
        edges = 0.5 * (heights[last] + heights[last + 1]) - self.sweep.from_world(np.array(self.outer[0]))[1]
        low, high = self.band or (-BEYOND, BEYOND)
        return [replace(self, angle=self.sweep.angle, band=ends) for ends in pairwise([low, *edges.tolist(), high])]

    @cached_property
    def _rows(self) -> tuple[Floats, NDArray[np.int64]]:
        """The positions of its rows across, and the row of each swath."""
        return np.unique([s.y for s in self.sweep.swaths if s.row >= 0], return_inverse=True)

    @cached_property
    def _paths(self) -> dict[tuple[float, float, tuple[Zone, ...], float, Drift], Path]:
        return {}

    @cached_property
    def _alternatives(self) -> dict[bytes, str]:
        """Alternatives by the rows of the chosen path."""
        return {}

    def _field(self, zones: tuple[Zone, ...], clearance: float, inside: bool = False) -> ObstructedField:
        holes = list(map(Polygon, self.holes))
        return ObstructedField(Polygon(self.outer), holes, self.margin, zones, clearance, inside)

    def _part_of(self, area: BaseGeometry) -> BaseGeometry:
        """Return the part of an area that lies in the band."""
        if self.band is None:
            return area
        corners = shapely.get_coordinates(shapely.box(-BEYOND, self.band[0], BEYOND, self.band[1]))
        return area & Polygon(arrays.rotated(corners, self.angle or 0.0, self.outer[0]))


FieldShape = AreaShape | PolygonShape
"""Shapes that are swept in rows, around no-fly zones; they can be divided into parts."""


def swept_area(shape: FieldShape, path: Path) -> BaseGeometry:
    """Return the part of a field, with its holes, that the rows of a path cover."""
    whole = Polygon(shape.outline()) if isinstance(shape, AreaShape) else shape.area
    rows = path.rows
    if rows is None:  # passes in order, with turns that have no straight part
        straight = [segment for segment in path.segments if segment.curvature == 0.0]
        rows = np.array([((s.x, s.y), ends_at(s)[:2]) for s in straight]).reshape(-1, 2, 2)
    return whole & covered_by(rows, shape.spacing)


def swept(shape: FieldShape, path: Path, zones: Sequence[Zone]) -> FieldCoverage:
    """Return what the rows of a path cover of a field."""
    whole = shape.area if isinstance(shape, PolygonShape) else Polygon(shape.outline())
    area = whole - shapely.union_all([zone_area(zone, 0.0) for zone in zones])
    if area.area == 0.0:
        return FieldCoverage(0.0, 0.0)
    share = float(area.intersection(swept_area(shape, path)).area / area.area)
    polygon = shape if isinstance(shape, PolygonShape) else shape.polygon
    return FieldCoverage(share, polygon.beyond(path), polygon.alternative_to(path))
