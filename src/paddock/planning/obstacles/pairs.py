"""For which of many pairs of poses a zone blocks the Dubins path; compiled."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, hypot, isfinite, pi, sin

import numpy as np
from numpy import bool_, empty
from numpy.typing import ArrayLike, NDArray

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.errors import InvalidValueError
from paddock.planning.obstacles.clear import known_walls
from paddock.planning.obstacles.entry import arc_entry, line_entry, within
from paddock.planning.obstacles.walls import Walls
from paddock.planning.obstacles.zone import Zone
from paddock.planning.paths.words import STRAIGHT, shortest, turns_left
from paddock.world.columns import Floats


def detours(starts: ArrayLike, goals: ArrayLike, radius: float, zones: Sequence[Zone]) -> NDArray[np.bool_]:
    """For which pairs (n, m) of poses (x, y in m, heading in rad; NaN at a goal: any) a zone blocks the Dubins path."""
    if not (isfinite(radius) and radius >= 0.0):
        raise InvalidValueError(f"a turn radius must be a number of metres >= 0, not {radius}")
    return all_blocked(known_walls(zones), _poses(starts), _poses(goals), float(radius))


def _poses(values: ArrayLike) -> Floats:
    return np.ascontiguousarray(np.asarray(values, dtype=np.float64).reshape(-1, 3))


def _all_blocked(w: Walls, starts: Floats, goals: Floats, radius: float) -> NDArray[np.bool_]:
    out = empty((len(starts), len(goals)), bool_)
    for i in parallel_range(len(starts)):
        held = within(w, starts[i, 0], starts[i, 1]) >= 0
        for j in range(len(goals)):
            out[i, j] = held or _enters(w, starts[i], goals[j], radius)
    return out


def _enters(w: Walls, start: Floats, goal: Floats, radius: float) -> bool:
    """Whether the shortest path between two poses enters a zone."""
    x, y, heading = start[0], start[1], start[2]
    _, word, t, p, q = shortest(x, y, heading, goal[0], goal[1], goal[2], radius)
    if word == STRAIGHT:
        length = hypot(goal[0] - x, goal[1] - y)
        return length > 0.0 and line_entry(w, x, y, (goal[0] - x) / length, (goal[1] - y) / length, length)[1] >= 0
    first, last = turns_left(word, 0), turns_left(word, 2)
    middle = 0.0 if word < 4 else -first
    if _part_enters(w, x, y, heading, radius, first, t):
        return True
    x, y, heading = _after(x, y, heading, radius, first, t)
    if _part_enters(w, x, y, heading, radius, middle, p):
        return True
    x, y, heading = _after(x, y, heading, radius, middle, p)
    return _part_enters(w, x, y, heading, radius, last, q)


def _part_enters(w: Walls, x: float, y: float, heading: float, radius: float, way: float, length: float) -> bool:
    """Whether a left turn (`way` 1), a right turn (-1) or a straight line (0) enters a zone."""
    if length <= 0.0:
        return False
    if way == 0.0:
        return line_entry(w, x, y, cos(heading), sin(heading), length)[1] >= 0
    cx, cy = x - way * radius * sin(heading), y + way * radius * cos(heading)
    return arc_entry(w, cx, cy, radius, heading - way * 0.5 * pi, way, length / radius)[1] >= 0


def _after(x: float, y: float, heading: float, radius: float, way: float, length: float) -> tuple[float, float, float]:
    """The pose at the end of such a part."""
    if way == 0.0:
        return x + length * cos(heading), y + length * sin(heading), heading
    end = heading + way * length / radius
    return x + way * radius * (sin(end) - sin(heading)), y - way * radius * (cos(end) - cos(heading)), end


all_blocked = parallel_routine(_all_blocked)
