"""The nearest point of a line: compiled, exact, for many places at once.

The segments of a line are grouped in blocks of neighbours, each inside a circle. A block whose circle is farther away
than the nearest segment found so far is skipped.
"""

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute.math import clamp, maximum, sqrt
from paddock.compute.routine import routine

Floats = NDArray[np.float64]
BLOCK = 12
"""Segments per block."""


def line_blocks(points: Floats, closed: bool) -> Floats:
    """Return the circles (b, 3), x, y and radius (m), around the blocks of a line (k, 2)."""
    ends = np.concatenate([points, points[:1]]) if closed else points
    count = -(-(len(ends) - 1) // BLOCK)
    index = np.minimum(np.arange(count)[:, None] * BLOCK + np.arange(BLOCK + 1)[None], len(ends) - 1)
    inside = ends[index]
    middle = 0.5 * (inside.min(axis=1) + inside.max(axis=1))
    gaps = inside - middle[:, None]
    radius = np.sqrt((gaps * gaps).sum(axis=2).max(axis=1))
    return np.ascontiguousarray(np.column_stack([middle, radius * (1.0 + 1e-12) + 1e-9]))


def segment_gap(x: float, y: float, points: Floats, k: int) -> tuple[float, float]:
    """Return the position on segment k (0..1) nearest to a place, and the squared distance to it."""
    following = k + 1 if k + 1 < points.shape[0] else 0
    ax, ay = points[k, 0], points[k, 1]
    ux, uy = points[following, 0] - ax, points[following, 1] - ay
    rx, ry = x - ax, y - ay
    t = clamp((rx * ux + ry * uy) / maximum(ux * ux + uy * uy, 1e-12), 0.0, 1.0)
    ex, ey = rx - t * ux, ry - t * uy
    return t, ex * ex + ey * ey


def nearest_segment(x: float, y: float, points: Floats, blocks: Floats, closed: bool) -> tuple[int, float]:
    """Return the segment nearest to a place and the position on it (0..1); of equally near ones the first."""
    segments = points.shape[0] if closed else points.shape[0] - 1
    first, least = 0, 1e300
    for b in range(blocks.shape[0]):
        dx, dy = x - blocks[b, 0], y - blocks[b, 1]
        if dx * dx + dy * dy < least:
            first, least = b, dx * dx + dy * dy
    best, best_t, least = 0, 0.0, 1e300
    for k in range(first * BLOCK, min((first + 1) * BLOCK, segments)):
        t, gap = segment_gap(x, y, points, k)
        if gap < least:
            best, best_t, least = k, t, gap
    for b in range(blocks.shape[0]):
        dx, dy = x - blocks[b, 0], y - blocks[b, 1]
        reach = blocks[b, 2] + sqrt(least)
        if b == first or dx * dx + dy * dy > reach * reach:
            continue
        for k in range(b * BLOCK, min((b + 1) * BLOCK, segments)):
            t, gap = segment_gap(x, y, points, k)
            if gap < least or (gap == least and k < best):
                best, best_t, least = k, t, gap
    return best, best_t


def segment_near(x: float, y: float, points: Floats, first: int, searched: int, closed: bool) -> tuple[int, float]:
    """Return the nearest of the segments from `first` on, and the position on it (0..1); round a closed line."""
    segments = points.shape[0] if closed else points.shape[0] - 1
    best, best_t, least = 0, 0.0, 1e300
    for step in range(searched):
        k = first + step
        if closed:
            k = k % segments
        elif k < 0 or k >= segments:
            continue
        t, gap = segment_gap(x, y, points, k)
        if gap < least:
            best, best_t, least = k, t, gap
    return best, best_t


def _locate(x: Floats, y: Floats, points: Floats, blocks: Floats, closed: bool) -> Floats:
    """Return segment and position on it (n, 2) for every place."""
    found = empty((x.shape[0], 2))
    for i in range(x.shape[0]):
        k, t = nearest_segment(x[i], y[i], points, blocks, closed)
        found[i, 0], found[i, 1] = k, t
    return found


def _locate_near(x: Floats, y: Floats, points: Floats, first: Floats, searched: int, closed: bool) -> Floats:
    """Return segment and position on it (n, 2), of the segments from `first` on."""
    found = empty((x.shape[0], 2))
    for i in range(x.shape[0]):
        k, t = segment_near(x[i], y[i], points, int(first[i]), searched, closed)
        found[i, 0], found[i, 1] = k, t
    return found


locate_places, locate_places_near = routine(_locate), routine(_locate_near)
