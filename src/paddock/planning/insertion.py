"""The cheapest place for one more task among tours that stand: compiled, for repairs, new tasks and bundles."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np
from numpy import empty

from paddock.compute.routine import routine
from paddock.planning.costs import Costs
from paddock.planning.fleet import Fleet, detours_of, jobs_of, mover_of
from paddock.planning.tours import Detours, Ints, Jobs, Mover, Stand, begin, step, way_home
from paddock.world.columns import Floats

SLACK = 1e-12
"""Relative: a tour may be longer than the range by rounding."""


class Packed(NamedTuple):
    """Orders as arrays."""

    tasks: Ints  # (a, most that an agent can have)
    counts: Ints  # (a,)


def packed(costs: Costs, orders: Sequence[Sequence[int]]) -> Packed:
    """Orders as arrays with room for every task in every order."""
    found = Packed(
        np.zeros((costs.agents, costs.tasks), np.int64), np.array([len(order) for order in orders], np.int64)
    )
    for agent, order in enumerate(orders):
        found.tasks[agent, : len(order)] = order
    return found


def unpacked(orders: Packed) -> list[list[int]]:
    """Arrays as orders."""
    return [row[:count].tolist() for row, count in zip(orders.tasks, orders.counts, strict=True)]


def trace(m: Mover, j: Jobs, extra: Detours, order: Ints, count: int, table: Floats) -> tuple[float, float]:
    """A tour's metres and end (s); after each task a row: heading, metres, time, 0 where no later one has a window."""
    at = begin(m)
    for k in range(count):
        at = step(m, j, extra, at, order[k])
        table[k, 0], table[k, 1], table[k, 2] = at.heading, at.flown, at.time
    bound = 0.0
    for k in range(count - 1, -1, -1):
        table[k, 3] = bound
        if j.opens[order[k]] > m.ready or j.closes[order[k]] < inf:
            bound = 1.0
    way = way_home(m, extra, at)
    return at.flown + way, at.time + way / m.speed


def insertions(
    m: Mover, j: Jobs, extra: Detours, order: Ints, count: int, task: int, limit: float, table: Floats
) -> tuple[int, float, float]:
    """The best position in an order for a task, metres of the tour then, its end (s); -1: it fits nowhere.

    `table` (count or more, 4) is room to work in.
    """
    total, ends = trace(m, j, extra, order, count, table)
    return best_position(m, j, extra, order, count, task, limit, table, total, ends)


def best_position(
    m: Mover, j: Jobs, extra: Detours, order: Ints, count: int, task: int, limit: float,
    table: Floats, total: float, ends: float,
) -> tuple[int, float, float]:  # fmt: skip
    """`insertions` after a `trace` of the order, so that many tasks can be tried in it."""
    best, flown, finish = -1, inf, inf
    at = begin(m)
    for position in range(count + 1):
        way, end = continued(
            m, j, extra, step(m, j, extra, at, task), order, position, count, flown, table, total, ends
        )
        if way < flown and way <= limit:
            best, flown, finish = position, way, end
        if position < count:
            at = step(m, j, extra, at, order[position])
    return best, flown, finish


def continued(
    m: Mover, j: Jobs, extra: Detours, at: Stand, order: Ints, position: int, count: int, bound: float,
    table: Floats, total: float, ends: float,
) -> tuple[float, float]:  # fmt: skip
    """Metres and end (s) of a tour that goes on with an order from a position; inf once it is longer than `bound`.

    Once it leaves a task with the heading with which it left it before, and no window is to come, the rest of the tour
    is as long as it was.
    """
    for k in range(position, count):
        if not at.flown < bound:
            return inf, inf
        at = step(m, j, extra, at, order[k])
        if at.heading == table[k, 0] and table[k, 3] == 0.0:
            return at.flown + (total - table[k, 1]), at.time + (ends - table[k, 2])
    way = way_home(m, extra, at)
    return at.flown + way, at.time + way / m.speed


def best_place(
    fleet: Fleet, orders: Packed, limits: Floats, task: int, by_time: bool, table: Floats
) -> tuple[int, int, float, float]:
    """Agent, position, added metres and end (s) where a task costs least (or ends earliest); agent -1: nowhere."""
    agent, place, added, finish = -1, -1, inf, inf
    for a in range(len(orders.counts)):
        m, j, extra = mover_of(fleet, a), jobs_of(fleet, a), detours_of(fleet, a)
        if not j.cover[task] < inf:
            continue
        total, ends = trace(m, j, extra, orders.tasks[a], orders.counts[a], table)
        count = orders.counts[a]
        position, flown, end = best_position(
            m, j, extra, orders.tasks[a], count, task, limits[a] * (1.0 + SLACK), table, total, ends
        )
        more = flown - total
        better = (end < finish or (end == finish and more < added)) if by_time else more < added
        if position >= 0 and better:
            agent, place, added, finish = a, position, more, end
    return agent, place, added, finish


def put_in(orders: Packed, agent: int, position: int, task: int) -> None:
    """Write a task into an order."""
    row = orders.tasks[agent]
    for k in range(orders.counts[agent], position, -1):
        row[k] = row[k - 1]
    row[position] = task
    orders.counts[agent] += 1


def insert_each(fleet: Fleet, orders: Packed, limits: Floats, tasks: Ints, by_time: bool) -> None:
    """Give each task its cheapest place, one after the other; those that fit nowhere stay out."""
    table = empty((orders.tasks.shape[1], 4))
    for task in tasks:
        agent, position, _, _ = best_place(fleet, orders, limits, task, by_time, table)
        if agent >= 0:
            put_in(orders, agent, position, task)


_insert = routine(insert_each)


def insert_tasks(
    costs: Costs, orders: Sequence[Sequence[int]], limits: Sequence[float], tasks: Sequence[int]
) -> list[list[int]]:
    """Orders with each task in its cheapest place (metres, or the end of its tour where that is the objective)."""
    if not costs.agents or not len(tasks):
        return [list(order) for order in orders]
    arrays = packed(costs, orders)
    by_time = costs.problem.objective == "makespan"
    _insert(costs.fleet, arrays, np.array(limits, np.float64), np.array(tasks, np.int64), by_time)
    return unpacked(arrays)
