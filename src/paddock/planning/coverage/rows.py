"""Where rows of swaths may lie: bands no higher than a spacing, one upon the other over the height of a region.

A row that straddles a step of the outline would be flown over its full length for a narrow strip. So besides even bands
there are some that end at the steps: edges along the sweep.
"""

from __future__ import annotations

from math import ceil

import numpy as np
import shapely
from shapely import MultiPolygon

from paddock.planning.coverage.swaths import check_count
from paddock.world.columns import Floats

MOST_STEPS = 6
FLAT, LONG = 0.05, 1.0
"""Spacings: an edge that is no higher than the first and at least as long as the second is a step."""


def layouts(region: MultiPolygon, spacing: float) -> list[Floats]:
    """Several ways to lay bands: the heights of their edges in m, rising. The first are even ones."""
    _, low, _, high = region.bounds
    even = bands(low, high, spacing)
    steps = _steps(region, spacing)
    at_steps = [stacked([low, step, high], spacing) for step in steps]
    whole = np.arange(len(even) - 1) * spacing
    ways = [even, np.append(low + whole, high), np.append(low, high - whole[::-1]), *at_steps]
    return [*ways, stacked([low, *sorted(steps), high], spacing)] if len(steps) > 1 else ways


def stacked(levels: list[float], spacing: float) -> Floats:
    """Even bands between each level and the next; levels that nearly coincide count as one."""
    apart = [levels[0]]
    for level in levels[1:-1]:
        if min(level - apart[-1], levels[-1] - level) > FLAT * spacing:
            apart.append(level)
    parts = [bands(low, high, spacing)[:-1] for low, high in zip(apart, [*apart[1:], levels[-1]], strict=True)]
    return np.append(np.concatenate(parts), levels[-1])


def bands(low: float, high: float, spacing: float) -> Floats:
    """Edges of even bands, no higher than a spacing."""
    check_count((high - low) / spacing, spacing)
    return np.linspace(low, high, max(1, ceil((high - low) / spacing - 1e-9)) + 1)


def _steps(region: MultiPolygon, spacing: float) -> list[float]:
    """The heights of the longest edges along the sweep, other than the lowest and the highest."""
    _, low, _, high = region.bounds
    lengths: dict[float, float] = {}
    for ring in shapely.get_rings(shapely.get_parts(region)):
        corners = shapely.get_coordinates(ring)
        for y, (dx, dy) in zip(corners[:-1, 1], np.diff(corners, axis=0), strict=True):
            if abs(dy) <= FLAT * spacing and abs(dx) >= LONG * spacing:
                level = round(float(y + 0.5 * dy), 9)
                lengths[level] = lengths.get(level, 0.0) + abs(float(dx))
    inside = [y for y in lengths if low + FLAT * spacing < y < high - FLAT * spacing]
    return sorted(inside, key=lambda y: -lengths[y])[:MOST_STEPS]
