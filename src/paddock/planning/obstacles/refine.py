"""A way as a row of bends: its segments, and the turning of its bends to where it is shortest; compiled."""

from __future__ import annotations

from math import cos, inf, isnan, pi, sin

from numpy import empty

from paddock.compute.routine import routine
from paddock.planning.obstacles.bends import ANGLE, ARM, AT_X, AT_Y, RADIUS, WAY, X, Y
from paddock.planning.obstacles.entry import arc_entry, line_entry
from paddock.planning.obstacles.links import places, tangent
from paddock.planning.obstacles.search import WayEnds, turn_between
from paddock.planning.obstacles.walls import Walls
from paddock.world.columns import Floats

FIRST_STEP = 0.25
"""rad, of turning a bend about its place."""
LAST_STEP = 1e-7
ROUNDS = 4
"""At each step."""


def _laid(w: Walls, row: Floats, heading: float, arrival: float, out: Floats) -> float:
    """Write the segments (2 n, 5) x, y, heading, length, curvature of the way over a row of bends (n, 9).

    Its length in m, or inf where it cannot be or enters a zone.
    """
    total = 0.0
    for i in range(len(row)):
        radius, way = row[i, RADIUS], row[i, WAY]
        length, leave = 0.0, heading if isnan(arrival) else arrival
        if i + 1 < len(row):
            length, leave = tangent(
                row[i, X], row[i, Y], radius, way, row[i + 1, X], row[i + 1, Y], row[i + 1, RADIUS], row[i + 1, WAY]
            )
        if length == inf:
            return inf
        turn = 0.0 if radius == 0.0 else turn_between(way, heading, leave)
        x, y = places(row[i], heading)
        if turn > 0.0 and arc_entry(w, row[i, X], row[i, Y], radius, heading - way * 0.5 * pi, way, turn)[1] >= 0:
            return inf
        _put(out[2 * i], x, y, heading, turn * radius, way / radius if radius > 0.0 else 0.0)
        x, y = places(row[i], leave)
        if length > 0.0 and line_entry(w, x, y, cos(leave), sin(leave), length)[1] >= 0:
            return inf
        _put(out[2 * i + 1], x, y, leave, length, 0.0)
        heading = leave
        total += turn * radius + length
    return total


def _put(out: Floats, x: float, y: float, heading: float, length: float, curvature: float) -> None:
    out[0], out[1], out[2], out[3], out[4] = x, y, heading, length, curvature


def _turn(bend: Floats, angle: float) -> None:
    bend[ANGLE] = angle
    bend[X] = bend[AT_X] + bend[ARM] * cos(angle)
    bend[Y] = bend[AT_Y] + bend[ARM] * sin(angle)


def _with_best_ends(w: Walls, row: Floats, at: WayEnds, arrival: float, out: Floats) -> float:
    """The length (m) of the way with the first and last bends that make it shortest, which are put into the row."""
    best, start, goal = inf, 0, 0
    for i in range(len(at.starts)):
        row[0] = at.starts[i]
        for j in range(len(at.goals)):
            if at.arrivals[j] == arrival or (isnan(at.arrivals[j]) and isnan(arrival)):
                row[-1] = at.goals[j]
                length = _laid(w, row, at.heading, arrival, out)
                if length < best:
                    best, start, goal = length, i, j
    row[0], row[-1] = at.starts[start], at.goals[goal]
    return best


def _shorten(w: Walls, row: Floats, at: WayEnds, arrival: float) -> Floats:
    """Turn the bends between the first and the last to where the way is shortest; its segments, as of `_laid`."""
    out = empty((2 * len(row), 5))
    best = _with_best_ends(w, row, at, arrival, out)
    step = FIRST_STEP
    while step > LAST_STEP:
        for _ in range(ROUNDS):
            before = best
            for i in range(1, len(row) - 1):
                if row[i, ARM] != 0.0:
                    best = _try_turns(w, row, i, step, at, arrival, out, best)
            if best > before - 1e-9:
                break
        step *= 0.5
    _with_best_ends(w, row, at, arrival, out)  # a trial may have left others
    _laid(w, row, at.heading, arrival, out)
    return out


def _try_turns(w: Walls, row: Floats, i: int, step: float, at: WayEnds, arrival: float, out: Floats, best: float) -> float:
    for side in (step, -step):
        angle = row[i, ANGLE]
        _turn(row[i], angle + side)
        length = _with_best_ends(w, row, at, arrival, out)
        if length < best - 1e-12:
            return length
        _turn(row[i], angle)
    return best


shorten = routine(_shorten)
