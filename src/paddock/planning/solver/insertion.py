"""Compiled insertion of tasks into tours: at the cheapest position, or at the end."""

from collections.abc import Sequence
from math import inf, isnan
from typing import NamedTuple

import numpy as np
from numpy import empty, int64, zeros

from paddock.compute.math import hypot, sqrt
from paddock.compute.routine import parallel_range
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.tours import (
    NOISE,
    Detours,
    Ints,
    Jobs,
    Mover,
    TourData,
    TourState,
    begin,
    detours_of,
    fits,
    jobs_of,
    mover_of,
    slackened,
    slowest,
    step,
    tour_routine,
    way_home,
)
from paddock.world.columns import Floats

ROOM = 9  # columns of the tables that `trace` fills


class Packed(NamedTuple):
    """The tasks of all vehicles, in order, as arrays."""

    tasks: Ints  # (a, maximum number of tasks of a vehicle)
    counts: Ints  # (a,)


def packed(orders: Sequence[Sequence[int]], tasks: int) -> Packed:
    """Return orders as arrays, each with room for all of that many tasks."""
    arrays = Packed(np.zeros((len(orders), tasks), np.int64), np.array([len(order) for order in orders], np.int64))
    for vehicle, order in enumerate(orders):
        arrays.tasks[vehicle, : len(order)] = order
    return arrays


def unpacked(orders: Packed) -> list[list[int]]:
    """Return arrays as orders."""
    return [row[:count].tolist() for row, count in zip(orders.tasks, orders.counts, strict=True)]


def trace(m: Mover, j: Jobs, extra: Detours, order: Ints, count: int, table: Floats) -> tuple[float, float]:
    """Return a tour's metres and end (s); write a row per task, and one for the way home, into `table` (rows, ROOM).

    After the task: heading, metres, time, 0 where no later one has a window; then what `least_length` needs.
    """
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
    gaps(m, j, order, count, table, at.flown + way)
    return at.flown + way, at.time + way / m.speed


def gaps(m: Mover, j: Jobs, order: Ints, count: int, table: Floats, total: float) -> None:
    """Write the points between which a task can be inserted (columns 4 to 7), and the minimum of the rest (8, m)."""
    after, slow, x, y = 0.0, slowest(m), m.home_x, m.home_y  # minimum metres after the point (x, y)
    for k in range(count, -1, -1):
        table[k, 6], table[k, 7], table[k, 8] = x, y, after
        if k == 0:
            table[k, 4], table[k, 5] = m.x, m.y
            continue
        t = order[k - 1]
        table[k, 4], table[k, 5] = j.leave[t, 0], j.leave[t, 1]
        table[k, 8] += table[k - 1, 1]
        if table[k - 1, 3] == 0.0 and not isnan(j.leave[t, 2]):
            after = total - table[k - 1, 1]
        else:
            after += slow * hypot(x - j.leave[t, 0], y - j.leave[t, 1])
        after += j.cover[t]
        x, y = j.entry[t, 0], j.entry[t, 1]


def least_length(j: Jobs, table: Floats, position: int, task: int, slow: float) -> float:
    """Return a lower bound (m) of the tour with a task at that position: straight lines to it and onwards."""
    row = table[position]
    to_x, to_y = j.entry[task, 0] - row[4], j.entry[task, 1] - row[5]
    on_x, on_y = row[6] - j.leave[task, 0], row[7] - j.leave[task, 1]
    ways = sqrt(to_x * to_x + to_y * to_y) + sqrt(on_x * on_x + on_y * on_y)
    least: float = row[8] + j.cover[task] + slow * ways - NOISE
    return least


def best_position(
    m: Mover, j: Jobs, extra: Detours, order: Ints, count: int, task: int, limit: float,
    table: Floats, total: float, ends: float,
) -> tuple[int, float, float]:  # fmt: skip
    """Return the best position of a task in a traced order (-1: none), the tour's metres and end (s)."""
    best, flown, finish = -1, inf, inf
    slow = slowest(m)
    for position in range(count + 1):
        least = least_length(j, table, position, task, slow)
        if least >= flown or least > limit:
            continue
        at = step(m, j, extra, state_after(m, j, order, position, table), task)
        bound = min(flown, limit + NOISE)
        way, end = continued(m, j, extra, at, order, position, count, bound, table, total, ends)
        if way < flown and way <= limit:
            best, flown, finish = position, way, end
    return best, flown, finish


def state_after(m: Mover, j: Jobs, order: Ints, done: int, table: Floats) -> TourState:
    """Return the state of a vehicle after the first `done` tasks of a traced order."""
    if done == 0:
        return begin(m)
    t, row = order[done - 1], table[done - 1]
    height = m.height if isnan(j.z[t]) else j.z[t]
    return TourState(j.leave[t, 0], j.leave[t, 1], height, row[0], row[2], row[1], t)


def continued(
    m: Mover, j: Jobs, extra: Detours, at: TourState, order: Ints, position: int, count: int, bound: float,
    table: Floats, total: float, ends: float,
) -> tuple[float, float]:  # fmt: skip
    """Return metres and end (s) of a tour that continues an order from a position; inf once it exceeds `bound`.

    Once it leaves a task with the same heading as before, and no time window follows, the rest of the tour
    is unchanged.
    """
    for k in range(position, count):
        if not at.flown < bound:
            return inf, inf
        at = step(m, j, extra, at, order[k])
        if at.heading == table[k, 0] and table[k, 3] == 0.0:
            return at.flown + (total - table[k, 1]), at.time + (ends - table[k, 2])
    way = way_home(m, extra, at)
    return at.flown + way, at.time + way / m.speed


class Traced(NamedTuple):
    """Traced tours, into which many tasks can be tried."""

    tables: Floats  # (a, rows, ROOM) of `trace`
    sums: Floats  # (a, 2) metres and end (s)


def traced(fleet: TourData, orders: Packed, more: int) -> Traced:
    """Trace all tours, with room for `more` tasks in each."""
    count = len(orders.counts)
    tours = Traced(empty((count, orders.counts.max() + more + 1, ROOM)), empty((count, 2)))
    for a in range(count):
        retrace(fleet, orders, a, tours)
    return tours


def retrace(fleet: TourData, orders: Packed, a: int, tours: Traced) -> None:
    """Trace a tour that has changed."""
    m, j, extra = mover_of(fleet, a), jobs_of(fleet, a), detours_of(fleet, a)
    total, ends = trace(m, j, extra, orders.tasks[a], orders.counts[a], tours.tables[a])
    tours.sums[a, 0], tours.sums[a, 1] = total, ends


def insertion_cost(
    fleet: TourData, orders: Packed, limits: Floats, a: int, task: int, tours: Traced
) -> tuple[int, float, float]:
    """Return `best_position` of a task in a traced tour within its limit."""
    m, j, extra = mover_of(fleet, a), jobs_of(fleet, a), detours_of(fleet, a)
    if not j.cover[task] < inf:
        return -1, inf, inf
    order, count, most = orders.tasks[a], orders.counts[a], slackened(limits[a])
    return best_position(m, j, extra, order, count, task, most, tours.tables[a], tours.sums[a, 0], tours.sums[a, 1])


def cheapest_insertion(
    fleet: TourData, orders: Packed, limits: Floats, task: int, by_time: bool, tours: Traced
) -> tuple[int, int, float, float]:
    """Return vehicle, position, added metres and end (s) where a task adds least (or ends earliest); -1: none."""
    vehicle, best, added, finish = -1, -1, inf, inf
    for a in range(len(orders.counts)):
        position, flown, end = insertion_cost(fleet, orders, limits, a, task, tours)
        more = flown - tours.sums[a, 0]
        better = (end < finish or (end == finish and more < added)) if by_time else more < added
        if position >= 0 and better:
            vehicle, best, added, finish = a, position, more, end
    return vehicle, best, added, finish


def insert_task(orders: Packed, vehicle: int, position: int, task: int) -> None:
    """Write a task into an order."""
    row = orders.tasks[vehicle]
    for k in range(orders.counts[vehicle], position, -1):
        row[k] = row[k - 1]
    row[position] = task
    orders.counts[vehicle] += 1


def insert_each(fleet: TourData, orders: Packed, limits: Floats, tasks: Ints, by_time: bool) -> None:
    """Insert each task at its cheapest position, in sequence; tasks that fit nowhere are left out."""
    tours = traced(fleet, orders, len(tasks))
    for task in tasks:
        vehicle, position, _, _ = cheapest_insertion(fleet, orders, limits, task, by_time, tours)
        if vehicle >= 0:
            insert_task(orders, vehicle, position, task)
            retrace(fleet, orders, vehicle, tours)


_insert = tour_routine(insert_each)


def insert_tasks(
    costs: Costs, orders: Sequence[Sequence[int]], limits: Floats, tasks: Sequence[int]
) -> list[list[int]]:
    """Return orders with each task at its cheapest position (metres, or the end of its tour for `makespan`)."""
    able = costs.possible(np.array(tasks, np.int64))
    if not len(able):
        return [list(order) for order in orders]
    arrays = packed(orders, costs.tasks)
    by_time = costs.problem.objective == "makespan"
    _insert(costs.fleet_for(orders, able), arrays, limits, able, by_time)
    return unpacked(arrays)


class TourEnds(NamedTuple):
    """The ends of all tours, before the way home; arrays over vehicles."""

    places: Floats  # (a, 7) the fields of TourState except the last; metres flown including the way home
    before: Ints  # (a,) the last task


def empty_tours(costs: Costs) -> TourEnds:
    """Return the ends of tours without tasks."""
    ends = TourEnds(empty((costs.vehicles, 7)), zeros(costs.vehicles, int64))
    append_pairs(costs.fleet, ends, np.arange(costs.vehicles), np.full(costs.vehicles, -1))
    return ends


def write_end(fleet: TourData, ends: TourEnds, vehicle: int, at: TourState) -> None:
    """Write the end of a tour."""
    row = ends.places[vehicle]
    row[6] = at.flown + way_home(mover_of(fleet, vehicle), detours_of(fleet, vehicle), at)
    row[0], row[1], row[2], row[3], row[4], row[5] = at.x, at.y, at.z, at.heading, at.time, at.flown
    ends.before[vehicle] = at.before


def end_of(ends: TourEnds, vehicle: int) -> TourState:
    """Return the end of a tour."""
    row = ends.places[vehicle]
    return TourState(row[0], row[1], row[2], row[3], row[4], row[5], ends.before[vehicle])


def append_cost(fleet: TourData, ends: TourEnds, vehicle: int, task: int, by_time: bool) -> float:
    """Return the metres that a task adds to a tour (or its end, s), the way home included; inf beyond the range."""
    m, extra, at = mover_of(fleet, vehicle), detours_of(fleet, vehicle), end_of(ends, vehicle)
    after = step(m, jobs_of(fleet, vehicle), extra, at, task)
    way = way_home(m, extra, after)
    if not fits(after.flown + way, m.range):
        return inf
    return after.time + way / m.speed if by_time else after.flown + way - ends.places[vehicle, 6]


def least_cost(m: Mover, j: Jobs, at: TourState, home: float, task: int, by_time: bool) -> float:
    """Return a lower bound of `append_cost` for a tour that is `home` m long: straight lines to the task and home."""
    slow = slowest(m)
    there = slow * hypot(j.entry[task, 0] - at.x, j.entry[task, 1] - at.y)
    back = slow * hypot(m.home_x - j.leave[task, 0], m.home_y - j.leave[task, 1])
    more: float = there + j.cover[task] + back - NOISE
    return at.time + more / m.speed if by_time else at.flown + more - home


def append(fleet: TourData, ends: TourEnds, vehicle: int, task: int) -> None:
    """Append a task to the tour of a vehicle."""
    m, extra = mover_of(fleet, vehicle), detours_of(fleet, vehicle)
    write_end(fleet, ends, vehicle, step(m, jobs_of(fleet, vehicle), extra, end_of(ends, vehicle), task))


def matrix(fleet: TourData, ends: TourEnds, tasks: Ints, by_time: bool, costs: Floats) -> None:
    """Write `append_cost` for all vehicles and these tasks, (a, n)."""
    for a in parallel_range(len(ends.before)):
        for k in range(len(tasks)):
            costs[a, k] = append_cost(fleet, ends, a, tasks[k], by_time)


def append_all(fleet: TourData, ends: TourEnds, vehicles: Ints, tasks: Ints) -> None:
    """Append tasks to the tours of vehicles, pair by pair; task -1 starts an empty tour."""
    for k in range(len(vehicles)):
        if tasks[k] < 0:
            write_end(fleet, ends, vehicles[k], begin(mover_of(fleet, vehicles[k])))
        else:
            append(fleet, ends, vehicles[k], tasks[k])


append_costs = tour_routine(matrix, parallel=True)
append_pairs = tour_routine(append_all)
