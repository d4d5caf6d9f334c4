"""Short swaths for what the rows have missed, mostly beside holes: a row ends at a hole's slanted edge too early."""

from __future__ import annotations

import numpy as np
import shapely
from shapely import MultiPolygon, Polygon
from shapely.geometry.base import BaseGeometry

from paddock.planning.coverage.swaths import MOST_SWATHS, Swath, blocked, lines_of, without
from paddock.world.columns import Floats

LEFT_OVER = 2e-4
"""The share of the region that may stay uncovered in slivers."""
SLIVER = 0.02
"""Square spacings: a piece below this is covered only if the share asks for it."""
ROUNDS, HEIGHTS = 8, 7


def patched(region: MultiPolygon, holes: BaseGeometry, swaths: list[Swath], spacing: float) -> list[Swath]:
    """The swaths, and as many short ones as it takes to cover all but slivers."""
    for _ in range(ROUNDS):
        pieces = _missed(region, swaths, spacing)
        more = [patch for piece in pieces if (patch := _patch(piece, holes, spacing))]
        if not more or len(swaths) + len(more) > MOST_SWATHS:
            break
        swaths = swaths + more
    return swaths


def covered_by(lines: Floats, spacing: float, corners: int = 8) -> BaseGeometry:
    """All within half a spacing of straight lines given by their ends, (n, 2, 2); `corners` for a quarter circle."""
    return shapely.union_all(shapely.buffer(shapely.linestrings(lines), 0.5 * spacing, quad_segs=corners))


def _missed(region: MultiPolygon, swaths: list[Swath], spacing: float) -> list[Polygon]:
    """The uncovered pieces that matter, the largest first."""
    missed = shapely.get_parts(region.difference(covered_by(lines_of(swaths), spacing)))
    areas = shapely.area(missed)
    order = np.argsort(-areas, kind="stable")
    still = areas.sum() - np.concatenate([[0.0], np.cumsum(areas[order])])[:-1]
    return [
        missed[k]
        for k, rest in zip(order, still, strict=True)
        if areas[k] > SLIVER * spacing**2 or rest > LEFT_OVER * region.area
    ]


def _patch(piece: Polygon, holes: BaseGeometry, spacing: float) -> Swath | None:
    """The swath along x that covers most of a piece."""
    low_x, low_y, high_x, high_y = piece.bounds
    heights = np.linspace(low_y, high_y, HEIGHTS)
    found = [
        Swath(float(y), left, right, -1)
        for y, block in zip(heights, blocked(holes, heights, low_x - 1.0, high_x + 1.0), strict=True)
        for left, right in without([(low_x, high_x)], block)
    ]
    reached = shapely.buffer(shapely.linestrings(lines_of(found)), 0.5 * spacing)
    gains = shapely.area(shapely.intersection([piece], reached))
    return found[int(np.argmax(gains))] if found and max(gains) > 0.0 else None
