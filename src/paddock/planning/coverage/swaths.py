"""Parallel swaths over a region, in rows, each cut where holes lie in its way.

Everything here happens in the sweep's own frame: swaths run along x, rows follow each other along y.
"""

from __future__ import annotations

from itertools import pairwise
from math import hypot
from typing import NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely import MultiPolygon
from shapely.geometry.base import BaseGeometry

from paddock.errors import InvalidValueError
from paddock.world.columns import Floats

MOST_SWATHS = 1000
"""Of one region: their order is searched over a matrix of all the turns between them."""
SHORTEST = 0.5
"""Spacings: a row's shorter piece is left to its neighbours, and to the patches if they do not reach it."""
SPECK = 1e-6
"""Square spacings: a smaller part of a region in a band is rounding."""
Interval = tuple[float, float]


class Swath(NamedTuple):
    """A straight line to fly, either way."""

    y: float  # m across the sweep
    left: float  # m along it, where it begins
    right: float
    row: int  # counted along y; -1: a patch between rows


def swaths_over(region: MultiPolygon, holes: BaseGeometry, edges: Floats, spacing: float) -> list[Swath]:
    """A row of swaths along the middle of each band between `edges` (m, rising); they reach as far as its region.

    So a band is covered as a rectangle, whatever the slope of the edges that end it: swaths leave the region by no
    more than half a spacing, three quarters where they go on over a gap. They stop at holes.
    """
    low_x, _, high_x, _ = region.bounds
    middles = 0.5 * (edges[:-1] + edges[1:])
    frames = [shapely.box(low_x - 1.0, low, high_x + 1.0, high) for low, high in pairwise(edges.tolist())]
    bands = shapely.intersection([region], frames)
    blocks = blocked(holes, middles, low_x - 1.0, high_x + 1.0)
    swaths = [
        Swath(float(y), left, right, row)
        for row, (y, band, block) in enumerate(zip(middles, bands, blocks, strict=True))
        for left, right in without(_joined(_reach(band, spacing), spacing, block), block)
    ]
    check_count(len(swaths), spacing)
    return _worthwhile(swaths, spacing)


def check_count(count: float, spacing: float) -> None:
    """Whether so many swaths can be put in order."""
    if count > MOST_SWATHS:
        raise InvalidValueError(
            f"polygon: a spacing of {spacing:g} m makes more than {MOST_SWATHS} swaths; "
            f"at least {count * spacing / MOST_SWATHS:.3g} m would be valid"
        )


def blocked(holes: BaseGeometry, rows: Floats, low: float, high: float) -> list[list[Interval]]:
    """For each row at a height y, the intervals of x that lie in holes."""
    ends = np.array([[(low, y), (high, y)] for y in rows])
    crossings = shapely.intersection([holes], shapely.linestrings(ends))
    return [extents(shapely.get_parts(crossing)) for crossing in crossings]


def extents(parts: NDArray[np.object_]) -> list[Interval]:
    """The intervals of x that geometries take up, merged where they overlap."""
    bounds = shapely.bounds(parts)
    merged: list[Interval] = []
    for left, right in sorted((float(b[0]), float(b[2])) for b in bounds if b[2] > b[0]):
        if merged and left <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return merged


def without(intervals: list[Interval], blocks: list[Interval]) -> list[Interval]:
    """What is left of intervals outside the blocks."""
    for low, high in blocks:
        parts = [((left, min(right, low)), (max(left, high), right)) for left, right in intervals]
        intervals = [part for pair in parts for part in pair if part[1] > part[0]]
    return intervals


def lines_of(swaths: list[Swath]) -> Floats:
    """Their ends, (n, 2, 2)."""
    return np.array([[(s.left, s.y), (s.right, s.y)] for s in swaths]).reshape(-1, 2, 2)


def length_of(swaths: list[Swath]) -> float:
    """m, of all."""
    return sum(s.right - s.left for s in swaths)


def scale_of(region: BaseGeometry) -> float:
    """The diagonal of its box in m."""
    low_x, low_y, high_x, high_y = region.bounds
    return hypot(high_x - low_x, high_y - low_y)


def _reach(band: BaseGeometry, spacing: float) -> list[Interval]:
    """How far the region reaches in a band: where they share more than an edge."""
    parts = shapely.get_parts(band)
    return extents(parts[shapely.area(parts) > SPECK * spacing**2])


def _joined(intervals: list[Interval], gap: float, blocks: list[Interval]) -> list[Interval]:
    """Flown through where the gap between two is short and no hole: cheaper than to turn twice."""
    merged: list[Interval] = []
    for left, right in intervals:
        before = merged[-1][1] if merged else -np.inf
        if left - before <= gap and not any(low < left and high > before for low, high in blocks):
            merged[-1] = (merged[-1][0], right)
        else:
            merged.append((left, right))
    return merged


def _worthwhile(swaths: list[Swath], spacing: float) -> list[Swath]:
    long = [s for s in swaths if s.right - s.left >= SHORTEST * spacing]
    return long or sorted(swaths, key=lambda s: s.left - s.right)[:1]
