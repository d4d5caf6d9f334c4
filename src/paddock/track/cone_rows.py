"""Cones along a middle line: rows on both sides, closer together in bends, large orange ones at the start line."""

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import atan2
from paddock.track.lines import directions, distances, leftwards, lengths, signed_curvature
from paddock.track.shaping import smooth_points
from paddock.wire.tracks import Cone, Start, TrackFile

Floats = NDArray[np.float64]
FARTHEST = 5.0
"""Distance of neighbouring cones at most, m."""
SAGITTA = 0.06  # m that a straight line between two cones may cut off a bend
CLOSEST = 1.2  # m between cones
START_GAP = 0.35  # m of the large cones before and after the start line
BEHIND = 6.0  # m from the start pose to the line


def cone_rows(line: Floats, width: Floats, farthest: float = 4.6, start: int = 0) -> TrackFile:
    """Return the cones of a closed track: `line` (k, 2) is its middle, `width` (k,) m its width.

    The start line is at the point `start`; the start pose is 6 m before it.
    """
    ahead = directions(line, closed=True)
    side = leftwards(ahead)
    found: list[Cone] = []
    for colour, sign in (("blue", 1.0), ("yellow", -1.0)):
        edge = np.roll(line + sign * 0.5 * width[:, None] * side, -start, axis=0)
        bend = np.roll(np.abs(signed_curvature(line, closed=True)), -start)
        step = _steps(edge, bend, farthest)
        places = _spread(edge, step)
        for x, y in places[:1].tolist():  # the start line: two large cones at each side
            before = np.roll(ahead, -start, axis=0)[0] * START_GAP
            found += [
                Cone("big_orange", x - before[0], y - before[1]),
                Cone("big_orange", x + before[0], y + before[1]),
            ]
        found += [Cone(colour, x, y) for x, y in places[1:].tolist()]
    along = distances(line, closed=True)
    at = (along[start] - BEHIND) % along[-1]
    x, y = (float(np.interp(at, along, np.append(line[:, k], line[0, k]))) for k in (0, 1))
    k = int(np.searchsorted(along, at, side="right")) - 1
    tidy = tuple(c._replace(x=round(float(c.x), 3), y=round(float(c.y), 3)) for c in found)
    yaw = atan2(float(ahead[k, 1]), float(ahead[k, 0]))
    return TrackFile(tidy, Start(round(x, 3), round(y, 3), round(yaw, 6)))


def _steps(edge: Floats, bend: Floats, farthest: float) -> Floats:
    """Return at each point of an edge the distance of cones that follows the bend."""
    own = np.abs(signed_curvature(edge, closed=True))
    tight = np.maximum(bend, np.minimum(own, 1.0))
    step = np.clip(np.sqrt(8.0 * SAGITTA / np.maximum(tight, 1e-6)), CLOSEST, farthest)
    column = np.column_stack([step, step])
    return np.asarray(np.minimum(step, smooth_points(column, True, 20)[:, 0]))


def _spread(edge: Floats, step: Floats) -> Floats:
    """Return places on an edge whose distances follow `step`, the first one at the first point."""
    gaps = lengths(np.roll(edge, -1, axis=0) - edge)
    count_along = np.concatenate([[0.0], np.cumsum(gaps / (0.5 * (step + np.roll(step, -1))))])
    count = int(np.ceil(count_along[-1]))
    at = np.arange(count) * (count_along[-1] / count)
    ends = np.concatenate([edge, edge[:1]])
    return np.stack([np.interp(at, count_along, ends[:, k]) for k in (0, 1)], axis=1)
