"""Lengths of many Dubins paths at once, compiled."""

from __future__ import annotations

from numpy import empty

from paddock.compute.math import sincos, sqrt, wrap_angle
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.planning.paths.words import best_free_word, best_word, in_frame, length_to
from paddock.world.columns import Floats


def _straight_row(x: float, y: float, gx: Floats, gy: Floats, out: Floats) -> None:
    """Distances from one start to many points."""
    for j in range(len(out)):
        dx, dy = gx[j] - x, gy[j] - y
        out[j] = sqrt(dx * dx + dy * dy)


def _fixed_row(
    x: float, y: float, heading: float, radius: float, gx: Floats, gy: Floats, gheading: Floats, out: Floats
) -> None:
    """Lengths from one start to many poses. Contiguous rows and no branches: where inlined, the loop vectorises."""
    s, c = sincos(wrap_angle(heading))
    for j in range(len(out)):
        goal_s, goal_c = sincos(wrap_angle(gheading[j]))
        u, v, ds, dc = in_frame(gx[j] - x, gy[j] - y, s, c, goal_s, goal_c, radius)
        out[j] = best_word(u, v, ds, dc, wrap_angle(gheading[j] - heading))[0] * radius


def _free_row(x: float, y: float, heading: float, radius: float, gx: Floats, gy: Floats, out: Floats) -> None:
    """Lengths from one start to many points, any heading there."""
    s, c = sincos(wrap_angle(heading))
    for j in range(len(out)):
        u, v, _, _ = in_frame(gx[j] - x, gy[j] - y, s, c, s, c, radius)
        out[j] = best_free_word(u, v)[0] * radius


def _all_lengths(starts: Floats, radii: Floats, goals: Floats, fixed: int) -> Floats:
    """From each start (n, 3) to each goal, rows x, y, heading (3, m), of which the first `fixed` have a heading."""
    out = empty((len(starts), goals.shape[1]))
    for i in parallel_range(len(starts)):
        x, y, heading, radius = starts[i, 0], starts[i, 1], starts[i, 2], radii[i]
        gx, gy, gheading = goals[0], goals[1], goals[2]
        if radius <= 0.0:
            _straight_row(x, y, gx, gy, out[i])
        else:
            _fixed_row(x, y, heading, radius, gx[:fixed], gy[:fixed], gheading[:fixed], out[i, :fixed])
            _free_row(x, y, heading, radius, gx[fixed:], gy[fixed:], out[i, fixed:])
    return out


def _paired_lengths(starts: Floats, radii: Floats, goals: Floats) -> Floats:
    """From each start (n, 3) to the goal (n, 3) of the same number."""
    out = empty(len(starts))
    for i in parallel_range(len(starts)):
        x, y, heading, gx, gy = starts[i, 0], starts[i, 1], starts[i, 2], goals[i, 0], goals[i, 1]
        out[i] = length_to(x, y, heading, gx, gy, goals[i, 2], radii[i])[0]
    return out


all_lengths = parallel_routine(_all_lengths, inline=True)
paired_lengths = parallel_routine(_paired_lengths)
