"""Zones that nobody may enter: circles and polygons, checked when they are made. Their border is still outside."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import cos, hypot, isfinite, pi

import numpy as np

from paddock.errors import InvalidValueError
from paddock.world.columns import Floats

DRAWN = 96
"""Points of a circle's outline."""
ROUNDING = 12
"""Edges for a quarter turn, where the corners of a polygon are rounded."""
FLAT = 1e-12
"""A polygon whose area is less than this part of its width squared has no inside."""


@dataclass(frozen=True)
class CircleZone:
    """All within a radius of a place."""

    name: str
    x: float  # m east
    y: float  # m north
    radius: float  # m

    def __post_init__(self) -> None:
        """Refuse what is no circle."""
        if not (isfinite(self.x) and isfinite(self.y)):
            raise InvalidValueError(f"zone {self.name!r}: its centre must be two numbers, not ({self.x}, {self.y})")
        if not (isfinite(self.radius) and self.radius > 0.0):
            raise InvalidValueError(f"zone {self.name!r}: its radius must be a number of metres > 0, not {self.radius}")

    def distance(self, x: float, y: float) -> float:
        """Metres from a place to the border, negative inside."""
        return hypot(x - self.x, y - self.y) - self.radius

    def contains(self, x: float, y: float) -> bool:
        """Whether a place lies inside; the border does not."""
        return self.distance(x, y) < 0.0

    def outline(self) -> Floats:
        """Points (k, 2) on the border, closed."""
        angle = np.linspace(0.0, 2.0 * pi, DRAWN + 1)
        points = np.column_stack([self.x + self.radius * np.cos(angle), self.y + self.radius * np.sin(angle)])
        points[-1] = points[0]
        return points

    def grown(self, clearance: float) -> CircleZone:
        """The zone and all that is nearer to it than `clearance` (m)."""
        return CircleZone(self.name, self.x, self.y, self.radius + _grows_by(self.name, clearance))


@dataclass(frozen=True)
class PolygonZone:
    """All inside a simple polygon, either way round; the last point joins the first."""

    name: str
    points: tuple[tuple[float, float], ...]  # m east, north

    def __post_init__(self) -> None:
        """Keep the points as a tuple without repetitions; refuse what is no simple polygon."""
        points = [(float(x), float(y)) for x, y in self.points]
        if not np.isfinite(np.array(points)).all():
            raise InvalidValueError(f"zone {self.name!r}: its corners must be numbers, not {_first_bad(points)}")
        distinct = [point for k, point in enumerate(points) if point != points[k - 1]]
        if len(distinct) < 3:
            raise InvalidValueError(f"zone {self.name!r}: a polygon needs 3 different corners, not {len(distinct)}")
        object.__setattr__(self, "points", tuple(distinct))
        _check_simple(self.name, np.array(distinct))

    @cached_property
    def corners(self) -> Floats:
        """The corners (k, 2), counter-clockwise."""
        corners = np.array(self.points)
        return corners if _area(corners) > 0.0 else corners[::-1].copy()

    def distance(self, x: float, y: float) -> float:
        """Metres from a place to the border, negative inside."""
        a, b = self.corners, np.roll(self.corners, -1, axis=0)
        edge, to = b - a, np.array([x, y]) - a
        part = np.clip((to * edge).sum(1) / (edge * edge).sum(1), 0.0, 1.0)
        nearest = float(np.hypot(*(to - part[:, None] * edge).T).min())
        spans = (a[:, 1] > y) != (b[:, 1] > y)
        crossing = a[:, 0] + (y - a[:, 1]) * edge[:, 0] / np.where(spans, edge[:, 1], 1.0)
        return -nearest if int((spans & (crossing > x)).sum()) % 2 else nearest

    def contains(self, x: float, y: float) -> bool:
        """Whether a place lies inside; the border does not."""
        return self.distance(x, y) < 0.0

    def outline(self) -> Floats:
        """The corners (k + 1, 2), closed."""
        return np.vstack([self.corners, self.corners[:1]])

    def grown(self, clearance: float) -> PolygonZone:
        """A polygon that holds the zone and all that is nearer to it than `clearance` (m), round corners in chords."""
        if _grows_by(self.name, clearance) == 0.0:
            return self
        from shapely import Polygon  # here: it takes a while to import, and few need it

        around = clearance / cos(pi / (4.0 * ROUNDING))  # chords stay outside the true arc
        ring = Polygon(self.corners).buffer(around, quad_segs=ROUNDING).exterior.coords[:-1]
        return PolygonZone(self.name, tuple((float(x), float(y)) for x, y in ring))


Zone = CircleZone | PolygonZone


def _grows_by(name: str, clearance: float) -> float:
    if not (isfinite(clearance) and clearance >= 0.0):
        raise InvalidValueError(f"zone {name!r}: a clearance must be a number of metres >= 0, not {clearance}")
    return clearance


def _first_bad(points: list[tuple[float, float]]) -> tuple[float, float]:
    return next(point for point in points if not (isfinite(point[0]) and isfinite(point[1])))


def _area(corners: Floats) -> float:
    """Square metres, negative when clockwise."""
    x, y = (corners - corners[0]).T
    return float(0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum())


def _check_simple(name: str, corners: Floats) -> None:
    crossing = _self_crossing(corners)
    if crossing is not None:
        i, j, x, y = crossing
        raise InvalidValueError(
            f"zone {name!r}: its border crosses or touches itself at ({x:.6g}, {y:.6g}), "
            f"in the edges {i + 1} and {j + 1}; list the corners in order around it"
        )
    if abs(_area(corners)) <= FLAT * float(np.ptp(corners, axis=0).max()) ** 2:
        raise InvalidValueError(f"zone {name!r}: its corners lie on one line; a zone needs an area")


def _self_crossing(corners: Floats) -> tuple[int, int, float, float] | None:
    """The first two edges that meet elsewhere than in their common corner, and where."""
    a, b = corners, np.roll(corners, -1, axis=0)
    for i in range(len(corners) - 1):  # corners of one zone
        first = i + 1
        meets, places = _meetings(a[i], b[i], a[first:], b[first:])
        meets[0] = _folds_back(a[i], b[i], b[first])
        if i == 0:
            meets[-1] = _folds_back(a[-1], b[-1], b[0])
        if meets.any():
            k = int(meets.argmax())
            place = places[k] if np.isfinite(places[k]).all() else a[first + k]
            return i, first + k, float(place[0]), float(place[1])
    return None


def _meetings(p: Floats, q: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Whether each edge a-b meets p-q, and where."""
    u, v, w = q - p, b - a, a - p
    with np.errstate(divide="ignore", invalid="ignore"):
        denominator = u[0] * v[:, 1] - u[1] * v[:, 0]
        t = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / denominator
        s = (w[:, 0] * u[1] - w[:, 1] * u[0]) / denominator
        crosses = (t >= 0.0) & (t <= 1.0) & (s >= 0.0) & (s <= 1.0)
        along = np.column_stack([(w * u).sum(1), ((b - p) * u).sum(1)]) / (u * u).sum()
    on_line = (denominator == 0.0) & (w[:, 0] * u[1] - w[:, 1] * u[0] == 0.0)
    overlaps = on_line & (along.max(1) >= 0.0) & (along.min(1) <= 1.0)
    return crosses | overlaps, p + np.where(np.isfinite(t), t, np.nan)[:, None] * u


def _folds_back(a: Floats, b: Floats, c: Floats) -> bool:
    """Whether the border turns back on itself at b."""
    u, v = b - a, c - b
    return bool(u[0] * v[1] - u[1] * v[0] == 0.0 and u @ v < 0.0)
