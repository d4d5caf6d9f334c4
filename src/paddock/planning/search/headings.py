"""Headings for tasks that may be passed with any: the best of a tour, by dynamic programming over a grid, made finer.

Flying straight at the next task, as the free end of a Dubins path does, is short there and long afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan, pi

import numpy as np
from numpy import empty, zeros

from paddock.planning.costs import Costs
from paddock.planning.tours import Jobs, transit
from paddock.planning.ways import Detours, Ints, Mover, tour_routine
from paddock.world.columns import Floats

COARSE = 32
"""Headings tried for each task at first, all around."""
FINE = 7
"""And then, around the best so far."""
REFINEMENTS = 6
"""How often the grid is made finer."""


def chosen_headings(costs: Costs, orders: Sequence[Sequence[int]]) -> dict[int, float]:
    """The headings (rad) of the tasks that leave them open, for the least metres flown in these orders."""
    found: dict[int, float] = {}
    for agent, order in enumerate(orders):
        free = [t for t in order if np.isnan(costs.jobs(agent).entry[t, 2])]
        if free:
            headings = np.full(len(order), np.nan)
            args = (costs.movers[agent], costs.jobs(agent), costs.detours(agent))
            refine_headings(*args, np.array(order, dtype=np.int64), headings)
            found |= {t: float(headings[order.index(t)]) for t in free}
    return found


def refined(m: Mover, j: Jobs, extra: Detours, order: Ints, headings: Floats) -> None:
    """Write the best heading of each task that leaves it open into `headings` (n,), NaN for the others."""
    grid = empty((len(order), COARSE))
    for k in range(len(order)):
        for h in range(COARSE):
            grid[k, h] = -pi + 2.0 * pi * h / COARSE
    width, count = 2.0 * pi / COARSE, COARSE
    for _ in range(REFINEMENTS):
        best_on_grid(m, j, extra, order, grid, count, headings)
        width, count = width * 0.5, FINE
        for k in range(len(order)):
            for h in range(FINE):
                grid[k, h] = headings[k] + (h - FINE // 2) * width * 2.0 / FINE


def best_on_grid(m: Mover, j: Jobs, extra: Detours, order: Ints, grid: Floats, count: int, headings: Floats) -> None:
    """The best heading of each task among `count` of the grid's: shortest ways, task by task, then back from home."""
    n = len(order)
    value, came = empty((n, count)), zeros((n, count))
    for k in range(n):
        t = order[k]
        height = m.height if isnan(j.z[t]) else j.z[t]
        ends = 1 if not isnan(j.entry[t, 2]) else count
        for h in range(ends):
            arrival = j.entry[t, 2] if ends == 1 else grid[k, h]
            value[k, h] = inf
            if k == 0:
                way, _ = transit(m, m.x, m.y, m.z, m.heading, j.entry[t, 0], j.entry[t, 1], height, arrival)
                value[k, h] = way + j.cover[t]
                continue
            s = order[k - 1]
            from_z = m.height if isnan(j.z[s]) else j.z[s]
            starts = 1 if not isnan(j.leave[s, 2]) else count
            for g in range(starts):
                away = j.leave[s, 2] if starts == 1 else grid[k - 1, g]
                way, _ = transit(
                    m, j.leave[s, 0], j.leave[s, 1], from_z, away, j.entry[t, 0], j.entry[t, 1], height, arrival
                )
                if value[k - 1, g] + way + j.cover[t] < value[k, h]:
                    value[k, h] = value[k - 1, g] + way + j.cover[t]
                    came[k, h] = g
    back_from_home(m, j, order, grid, count, value, came, headings)


def back_from_home(
    m: Mover, j: Jobs, order: Ints, grid: Floats, count: int, value: Floats, came: Floats, headings: Floats
) -> None:
    """The choice at the end that is best with the way home, and those before it that led there."""
    n = len(order)
    t = order[n - 1]
    height = m.height if isnan(j.z[t]) else j.z[t]
    ends = 1 if not isnan(j.leave[t, 2]) else count
    best, least = 0, inf
    for h in range(ends):
        away = j.leave[t, 2] if ends == 1 else grid[n - 1, h]
        home = (m.home_x, m.home_y, m.home_z, m.home_heading)
        way, _ = transit(m, j.leave[t, 0], j.leave[t, 1], height, away, home[0], home[1], home[2], home[3])
        if value[n - 1, h] + way < least:
            best, least = h, value[n - 1, h] + way
    for k in range(n - 1, -1, -1):
        headings[k] = grid[k, best] if isnan(j.entry[order[k], 2]) else j.entry[order[k], 2]
        best = int(came[k, best])


refine_headings = tour_routine(refined)
