"""No-fly zones: circles and polygons, their borders as arrays, and compiled intersection of paths with them.

A border is outside its zone. Intersections are exact for lines and arcs, to a millimetre for curves in moving air.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil, inf, isfinite, pi
from typing import ClassVar, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import Polygon
from shapely.validation import explain_validity

from paddock.compute import arrays
from paddock.compute.math import atan2, cos, hypot, sin, sqrt
from paddock.compute.routine import routine
from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Path
from paddock.world.columns import Floats

DRAWN = 96  # points of a circle's outline
ROUNDING = 12  # edges for a quarter turn, where the corners of a polygon are rounded
ON_EDGE = 1e-9  # of the width of a polygon: tolerance of a point on an edge
FLAT = 1e-12  # a polygon with less than this share of its squared width as area is degenerate


class _Volume:
    """A zone between two heights."""

    name: str
    floor: float  # m: it is free below
    ceiling: float  # m: and above

    def distance(self, x: float, y: float) -> float:
        """Return metres from a point to the border, negative inside."""
        raise NotImplementedError

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point lies inside; the border does not."""
        return self.distance(x, y) < 0.0

    def reaches(self, low: float, high: float) -> bool:
        """Return whether it has a part between two heights (m); its floor and its ceiling are outside."""
        return self.floor < high and low < self.ceiling

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """Its floor and its ceiling (m); None: it has none."""
        return self.floor if isfinite(self.floor) else None, self.ceiling if isfinite(self.ceiling) else None

    @property
    def title(self) -> str:
        """Its name, with its heights where it has limits."""
        low, high = self.limits
        if low is None:
            return self.name if high is None else f"{self.name} (below {high:g} m)"
        return f"{self.name} (above {low:g} m)" if high is None else f"{self.name} ({low:g} to {high:g} m)"

    def _check_band(self) -> None:
        if not self.floor < self.ceiling:
            raise InvalidValueError(
                f"zone {self.name!r}: its floor must be below its ceiling, not {self.floor:g} and {self.ceiling:g} m"
            )


@dataclass(frozen=True)
class CircleZone(_Volume):
    """All within a radius of a point."""

    kind: ClassVar[str] = "circle"
    name: str
    x: float  # m east
    y: float  # m north
    radius: float  # m
    floor: float = -inf
    ceiling: float = inf

    def __post_init__(self) -> None:
        """Raise unless it is a circle."""
        self._check_band()
        if not (isfinite(self.x) and isfinite(self.y)):
            raise InvalidValueError(f"zone {self.name!r}: its centre must be two numbers, not ({self.x}, {self.y})")
        if not (isfinite(self.radius) and self.radius > 0.0):
            raise InvalidValueError(f"zone {self.name!r}: its radius must be a number of metres > 0, not {self.radius}")

    def distance(self, x: float, y: float) -> float:
        """Return metres from a point to the border, negative inside."""
        return hypot(x - self.x, y - self.y) - self.radius

    def outline(self) -> Floats:
        """Return points (k, 2) on the border, closed."""
        sine, cosine = arrays.sincos(np.linspace(0.0, 2.0 * pi, DRAWN + 1))
        points = np.column_stack([self.x + self.radius * cosine, self.y + self.radius * sine])
        points[-1] = points[0]
        return points

    def grown(self, clearance: float) -> CircleZone:
        """Return the zone and all that is nearer to it than `clearance` (m)."""
        return replace(self, radius=self.radius + _grows_by(self.name, clearance))


@dataclass(frozen=True)
class PolygonZone(_Volume):
    """All inside a simple polygon, either way round; the last point joins the first."""

    kind: ClassVar[str] = "polygon"
    name: str
    points: tuple[tuple[float, float], ...]  # m east, north
    floor: float = -inf
    ceiling: float = inf

    def __post_init__(self) -> None:
        """Keep the points as a tuple without repetitions; raise unless it is a simple polygon."""
        self._check_band()
        points = [(float(x), float(y)) for x, y in self.points]
        bad = [point for point in points if not np.isfinite(point).all()]
        if bad:
            raise InvalidValueError(f"zone {self.name!r}: its corners must be numbers, not {bad[0]}")
        distinct = [point for k, point in enumerate(points) if point != points[k - 1]]
        if len(distinct) < 3:
            raise InvalidValueError(f"zone {self.name!r}: a polygon needs 3 different corners, not {len(distinct)}")
        object.__setattr__(self, "points", tuple(distinct))
        corners, ring = np.array(distinct), Polygon(distinct)
        width = float(np.ptp(corners, axis=0).max())
        if not ring.is_valid:
            x, y = crossing_of(ring)
            edges = shapely.linestrings(np.stack([corners, np.roll(corners, -1, axis=0)], axis=1))
            near = 1 + np.flatnonzero(shapely.distance(edges, shapely.Point(x, y)) <= ON_EDGE * width)
            raise InvalidValueError(
                f"zone {self.name!r}: its border crosses or touches itself at ({x:.6g}, {y:.6g}), "
                f"in the edges {near[0]} and {near[-1]}; list the corners in order around it"
            )
        if ring.area <= FLAT * width**2:
            raise InvalidValueError(f"zone {self.name!r}: its corners lie on one line; a zone needs an area")

    @cached_property
    def corners(self) -> Floats:
        """The corners (k, 2), counter-clockwise."""
        corners = np.array(self.points)
        return corners if shapely.is_ccw(shapely.linearrings(corners)) else corners[::-1].copy()

    def distance(self, x: float, y: float) -> float:
        """Return metres from a point to the border, negative inside."""
        a, b = self.corners, np.roll(self.corners, -1, axis=0)
        edge, to = b - a, np.array([x, y]) - a
        part = np.clip((to * edge).sum(1) / (edge * edge).sum(1), 0.0, 1.0)
        nearest = float(arrays.hypot(*(to - part[:, None] * edge).T).min())
        spans = (a[:, 1] > y) != (b[:, 1] > y)
        crossing = a[:, 0] + (y - a[:, 1]) * edge[:, 0] / np.where(spans, edge[:, 1], 1.0)
        return -nearest if int((spans & (crossing > x)).sum()) % 2 else nearest

    def outline(self) -> Floats:
        """Return the corners (k + 1, 2), closed."""
        return np.vstack([self.corners, self.corners[:1]])

    def grown(self, clearance: float) -> PolygonZone:
        """Return a polygon that contains the zone grown by `clearance` (m)."""
        if _grows_by(self.name, clearance) == 0.0:
            return self
        around = clearance / cos(pi / (4.0 * ROUNDING))  # chords stay outside the true arc
        ring = Polygon(self.corners).buffer(around, quad_segs=ROUNDING).exterior.coords[:-1]
        return replace(self, points=tuple((float(x), float(y)) for x, y in ring))


Zone = CircleZone | PolygonZone


def _grows_by(name: str, clearance: float) -> float:
    if not (isfinite(clearance) and clearance >= 0.0):
        raise InvalidValueError(f"zone {name!r}: a clearance must be a number of metres >= 0, not {clearance}")
    return clearance


def crossing_of(ring: Polygon) -> tuple[float, float]:
    """Return where a ring that is not valid crosses or touches itself."""
    x, y = re.findall(r"\[(\S+) (\S+)\]", explain_validity(ring))[0]
    return float(x), float(y)


TOUCH = 1e-7  # m: depth at which a path still only touches
Clearance = float | tuple[float, ...]  # clearance in m: one for all zones, or one for each


def each_of(clearance: Clearance, zones: Sequence[object]) -> tuple[float, ...]:
    """Return the clearance (m) of each zone."""
    return clearance if isinstance(clearance, tuple) else (clearance,) * len(zones)


class Walls(NamedTuple):
    """The borders of k zones."""

    bounds: Floats  # (k, 3) x, y, radius of a circle around the zone
    spans: NDArray[np.int64]  # (k, 5) first and end circle; first edge, end of the polygon's own, end of all
    reach: Floats  # (k,) m: extent of the zone beyond its polygon
    circles: Floats  # (c, 3) x, y, radius
    edges: Floats  # (e, 4) x, y, x, y


def walls(zones: Sequence[Zone], clearance: Clearance = 0.0) -> Walls:
    """Return the borders of zones grown by a clearance (m)."""
    around, spans, circles, edges = [], [], [np.empty((0, 3))], [np.empty((0, 4))]
    c = e = 0
    wide = each_of(clearance, zones)
    for zone, clearance in zip(zones, wide, strict=True):
        rounds, own, offset = _parts(zone, clearance)
        spans.append((c, c + len(rounds), e, e + len(own), e + len(own) + len(offset)))
        if isinstance(zone, CircleZone):
            around.append((zone.x, zone.y, zone.radius + clearance))
        else:
            x, y = 0.5 * (zone.corners.min(0) + zone.corners.max(0))
            around.append((float(x), float(y), float(arrays.hypot(*(zone.corners - (x, y)).T).max()) + clearance))
        circles.append(rounds)
        edges += [own, offset]
        c, e = spans[-1][1], spans[-1][4]
    reach = np.maximum(np.array(wide, dtype=np.float64) - TOUCH, 0.0)
    table = np.array(around, dtype=np.float64).reshape(len(zones), 3)
    return Walls(table, np.array(spans, dtype=np.int64).reshape(-1, 5), reach, np.vstack(circles), np.vstack(edges))


def stacked(some: Sequence[Walls]) -> tuple[Walls, NDArray[np.int64]]:
    """Return the borders of several sets of zones as one, and the first and end zone of each set (s, 2)."""
    circles, edges, spans = 0, 0, [np.empty((0, 5), np.int64)]
    for walls_of_set in some:
        spans.append(walls_of_set.spans + np.array([circles, circles, edges, edges, edges]))
        circles, edges = circles + len(walls_of_set.circles), edges + len(walls_of_set.edges)
    empty = walls(())
    around, _, reach, rounds, lines = (np.concatenate(arrays) for arrays in zip(empty, *some, strict=True))
    ends = np.cumsum([0, *(len(walls_of_set.bounds) for walls_of_set in some)])
    return Walls(around, np.concatenate(spans), reach, rounds, lines), np.column_stack([ends[:-1], ends[1:]])


def _parts(zone: Zone, clearance: float) -> tuple[Floats, Floats, Floats]:
    """Return circles, edges of the polygon, and edges offset by the clearance."""
    none = np.empty((0, 4))
    if isinstance(zone, CircleZone):
        return np.array([[zone.x, zone.y, zone.radius + clearance - TOUCH]]), none, none
    own = moved_out(zone, -TOUCH)
    edges = np.hstack([own, np.roll(own, -1, axis=0)])
    if clearance <= TOUCH:
        return np.empty((0, 3)), edges, none
    rounds = np.column_stack([zone.corners, np.full(len(zone.corners), clearance - TOUCH)])
    out = normals(zone.corners) * (clearance - TOUCH)
    return rounds, edges, np.hstack([zone.corners + out, np.roll(zone.corners, -1, axis=0) + out])


def normals(corners: Floats) -> Floats:
    """Return the outward unit normals (k, 2) of a counter-clockwise polygon, for the edge from each corner."""
    edge = np.roll(corners, -1, axis=0) - corners
    return np.asarray(np.column_stack([edge[:, 1], -edge[:, 0]]) / arrays.hypot(*edge.T)[:, None])


def moved_out(zone: PolygonZone, way: float) -> Floats:
    """Return the corners (k, 2) with every edge moved out by `way` m; sharp corners move at most ten times as far."""
    after = normals(zone.corners)
    before = np.roll(after, 1, axis=0)
    mitre = np.maximum(1.0 + (before * after).sum(1), 0.02)
    return np.asarray(zone.corners + way * (before + after) / mitre[:, None])


CHORD_ERROR = 1e-3  # m: maximum deviation of the chords that approximate curves in moving air
FULL = 2.0 * pi


def ahead(angle: float) -> float:
    """Return an angle wrapped to 0 .. 2 pi."""
    turned = angle % FULL
    return turned if turned < FULL else 0.0


def within(w: Walls, x: float, y: float) -> int:
    """Return the first zone that contains a point; -1: none."""
    for k in range(len(w.bounds)):
        if hypot(x - w.bounds[k, 0], y - w.bounds[k, 1]) <= w.bounds[k, 2] and _holds(w, k, x, y):
            return k
    return -1


def _holds(w: Walls, k: int, x: float, y: float) -> bool:
    for i in range(w.spans[k, 0], w.spans[k, 1]):
        if hypot(x - w.circles[i, 0], y - w.circles[i, 1]) < w.circles[i, 2]:
            return True
    odd = False
    for i in range(w.spans[k, 2], w.spans[k, 3]):
        ax, ay, bx, by = w.edges[i, 0], w.edges[i, 1], w.edges[i, 2], w.edges[i, 3]
        if (ay > y) != (by > y) and ax + (y - ay) * (bx - ax) / (by - ay) > x:
            odd = not odd
        part = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
        part = min(max(part, 0.0), 1.0)
        if hypot(x - ax - part * (bx - ax), y - ay - part * (by - ay)) < w.reach[k]:
            return True
    return odd


def line_entry(w: Walls, x: float, y: float, ux: float, uy: float, length: float) -> tuple[float, int]:
    """Return metres until a line (point, unit vector) first enters a zone, and the zone; inf, -1: never."""
    first, zone = inf, -1
    for k in range(len(w.bounds)):
        dx, dy = w.bounds[k, 0] - x, w.bounds[k, 1] - y
        along = min(max(dx * ux + dy * uy, 0.0), length)
        if (dx - along * ux) ** 2 + (dy - along * uy) ** 2 > w.bounds[k, 2] ** 2:
            continue
        for i in range(w.spans[k, 0], w.spans[k, 1]):
            dx, dy = w.circles[i, 0] - x, w.circles[i, 1] - y
            middle, off = dx * ux + dy * uy, dx * uy - dy * ux
            room = w.circles[i, 2] ** 2 - off * off
            if room > 0.0:
                half = sqrt(room)
                if middle + half > 0.0 and max(middle - half, 0.0) < min(length, first):
                    first, zone = max(middle - half, 0.0), k
        for i in range(w.spans[k, 2], w.spans[k, 4]):
            dx, dy = w.edges[i, 0] - x, w.edges[i, 1] - y
            ex, ey = w.edges[i, 2] - w.edges[i, 0], w.edges[i, 3] - w.edges[i, 1]
            cross = ux * ey - uy * ex
            if cross != 0.0:
                there, part = (dx * ey - dy * ex) / cross, (dx * uy - dy * ux) / cross
                if 0.0 <= part <= 1.0 and 0.0 <= there <= length and there < first:
                    first, zone = there, k
    return first, zone


def arc_entry(w: Walls, x: float, y: float, radius: float, begin: float, way: float, sweep: float) -> tuple[float, int]:
    """Return radians until an arc first enters a zone, and the zone; inf, -1: never.

    The arc lies on a circle, starts at the angle `begin`, and turns left (`way` 1) or right (-1).
    """
    first, zone = inf, -1
    for k in range(len(w.bounds)):
        dx, dy = w.bounds[k, 0] - x, w.bounds[k, 1] - y
        if abs(sqrt(dx * dx + dy * dy) - radius) > w.bounds[k, 2]:
            continue
        for i in range(w.spans[k, 0], w.spans[k, 1]):
            turn = _arc_circle(w.circles[i, 0] - x, w.circles[i, 1] - y, w.circles[i, 2], radius, begin, way)
            if turn <= sweep and turn < first:
                first, zone = turn, k
        for i in range(w.spans[k, 2], w.spans[k, 4]):
            ax, ay = w.edges[i, 0] - x, w.edges[i, 1] - y
            turn = _arc_edge(ax, ay, w.edges[i, 2] - x, w.edges[i, 3] - y, radius, begin, way)
            if turn <= sweep and turn < first:
                first, zone = turn, k
    return first, zone


def _arc_circle(dx: float, dy: float, other: float, radius: float, begin: float, way: float) -> float:
    apart = hypot(dx, dy)
    if apart >= radius + other or apart + other <= radius:
        return inf
    if apart + radius <= other:
        return 0.0
    cosine = min(max((apart * apart + radius * radius - other * other) / (2.0 * apart * radius), -1.0), 1.0)
    half = atan2(sqrt((1.0 - cosine) * (1.0 + cosine)), cosine)
    enters = atan2(dy, dx) - way * half
    if ahead(way * (begin - enters)) < 2.0 * half:
        return 0.0
    return ahead(way * (enters - begin))


def _arc_edge(ax: float, ay: float, bx: float, by: float, radius: float, begin: float, way: float) -> float:
    ex, ey = bx - ax, by - ay
    length = hypot(ex, ey)
    ex, ey = ex / length, ey / length
    off = ax * ey - ay * ex
    if abs(off) >= radius:
        return inf
    middle, half = -(ax * ex + ay * ey), sqrt(radius * radius - off * off)
    turn = inf
    for side in (-half, half):
        along = middle + side
        if 0.0 <= along <= length:
            turn = min(turn, ahead(way * (atan2(ay + along * ey, ax + along * ex) - begin)))
    return turn


def path_entry(w: Walls, table: Floats) -> tuple[int, float, int]:
    """Return the segment, metres along it and the zone where a path's table first enters a zone; -1: never."""
    for s in range(len(table)):
        along, zone = segment_entry(w, table[s])
        if zone >= 0:
            return s, along, zone
    return -1, inf, -1


def segment_entry(w: Walls, row: Floats) -> tuple[float, int]:
    """Return metres along a segment, a row of a path's table, until it first enters a zone, and the zone; -1: never."""
    if row[8] == 0.0 and row[9] == 0.0:
        return _still_entry(w, row)
    return _carried_entry(w, row) if row[5] == 0.0 or _reaches(w, row) else (inf, -1)


def _reaches(w: Walls, row: Floats) -> bool:
    """Return whether a zone is as near to the beginning of a curve in moving air as the curve is wide."""
    reach = min(row[4], 2.0 / abs(row[5])) + hypot(row[8], row[9]) * row[4]
    for k in range(len(w.bounds)):
        if hypot(w.bounds[k, 0] - row[0], w.bounds[k, 1] - row[1]) <= w.bounds[k, 2] + reach:
            return True
    return False


def _still_entry(w: Walls, row: Floats) -> tuple[float, int]:
    heading = row[3] if row[7] > 0.0 else row[3] + pi
    bend = row[5] * row[7]
    if abs(bend) * row[4] < 1e-9:
        return line_entry(w, row[0], row[1], cos(heading), sin(heading), row[4])
    way, radius = 1.0 if bend > 0.0 else -1.0, 1.0 / abs(bend)
    x, y = row[0] - way * radius * sin(heading), row[1] + way * radius * cos(heading)
    turn, zone = arc_entry(w, x, y, radius, heading - way * 0.5 * pi, way, row[4] / radius)
    return turn * radius, zone


def _carried_entry(w: Walls, row: Floats) -> tuple[float, int]:
    chords = 1
    if row[5] != 0.0:
        chords = max(1, ceil(row[4] / sqrt(8.0 * CHORD_ERROR / abs(row[5]))))
    step = row[4] / chords
    x, y = row[0], row[1]
    for k in range(chords):
        half = 0.5 * row[7] * row[5] * (k + 1) * step
        chord = row[7] * (k + 1) * step * (sin(half) / half if abs(half) > 1e-9 else 1.0)
        nx = row[0] + chord * cos(row[3] + half) + row[8] * (k + 1) * step
        ny = row[1] + chord * sin(row[3] + half) + row[9] * (k + 1) * step
        length = hypot(nx - x, ny - y)
        if length > 0.0:
            there, zone = line_entry(w, x, y, (nx - x) / length, (ny - y) / length, length)
            if zone >= 0:
                return (k + there / length) * step, zone
        x, y = nx, ny
    return inf, -1


first_entry = routine(path_entry)
zone_at = routine(within)


@lru_cache(maxsize=64)
def _known_walls(zones: tuple[Zone, ...], clearance: Clearance) -> Walls:
    return walls(zones, clearance)


def known_walls(zones: Sequence[Zone], clearance: Clearance = 0.0) -> Walls:
    """Return the borders of zones grown by a clearance (m), made once for the same zones."""
    return _known_walls(tuple(zones), clearance if isinstance(clearance, tuple) else float(clearance))


def inside(x: float, y: float, zones: Sequence[Zone], clearance: Clearance = 0.0) -> Zone | None:
    """Return the first zone that contains a point (m) or is nearer than the clearance; None: free."""
    k = zone_at(known_walls(zones, clearance), float(x), float(y))
    return zones[k] if k >= 0 else None


def blocked_by(path: Path, zones: Sequence[Zone], clearance: Clearance = 0.0) -> Zone | None:
    """Return the first zone that a path enters or approaches within the clearance (m); None: clear."""
    if not zones:
        return None
    borders = known_walls(zones, clearance)
    k = zone_at(borders, *path.start[:2])
    if k < 0 and path.segments:
        k = first_entry(borders, path.table)[2]
    return zones[k] if k >= 0 else None
