"""Polylines as arrays of points (n, d): distances from segments, simplification."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def segment_distances(points: Floats, starts: Floats, vectors: Floats) -> Floats:
    """Return the distances (n,) of points from segments with these starts and vectors to their ends.

    Each argument is (n, d), or (d,) where it is the same for all.
    """
    lengths = np.maximum((vectors * vectors).sum(axis=-1), 1e-12)
    shares = np.clip(((points - starts) * vectors).sum(axis=-1) / lengths, 0.0, 1.0)
    offsets = points - starts - np.asarray(shares)[..., None] * vectors
    return np.asarray(np.sqrt((offsets * offsets).sum(axis=-1)), dtype=np.float64)


def simplify(points: Floats, tolerance: float) -> list[int]:
    """Return the indices of points, ends included, whose segments pass all within `tolerance` (Douglas-Peucker)."""
    kept, pending = {0, len(points) - 1}, [(0, len(points) - 1)]
    while pending:
        first, last = pending.pop()
        if last - first < 2:
            continue
        offsets = segment_distances(points[first + 1 : last], points[first], points[last] - points[first])
        worst = int(offsets.argmax())
        if offsets[worst] > tolerance:
            middle = first + 1 + worst
            kept.add(middle)
            pending += [(first, middle), (middle, last)]
    return sorted(kept)
