"""An outline with holes as a checked polygon; an error says which ring is wrong, and where."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from shapely import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry
from shapely.validation import explain_validity

from paddock.errors import InvalidValueError

Points = tuple[tuple[float, float], ...]


def points_of(what: str, points: Sequence[Sequence[float]]) -> Points:
    """Pairs of finite numbers, without the repetition of the first point at the end."""
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
    """The polygon, valid, with an area, its holes inside and apart."""
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


def shrunk(region: Polygon, margin: float) -> MultiPolygon:
    """What is left when so many m along every edge are kept free: none, one or several pieces."""
    left = region if margin == 0.0 else region.buffer(-margin, join_style="mitre")
    pieces = [left] if isinstance(left, Polygon) else list(getattr(left, "geoms", ()))
    return MultiPolygon([piece for piece in pieces if piece.area > 0.0])


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
