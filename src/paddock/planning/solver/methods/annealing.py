"""Simulated annealing over the sequences of all vehicles, compiled: a move evaluates only the tours it touches.

The last row of the orders belongs to no vehicle: its tasks are undone, each with a penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import empty, int64, zeros
from scipy.spatial import cKDTree

from paddock.compute.math import exp
from paddock.compute.philox import signed, uniforms
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.insertion import Packed, insert_tasks, packed, unpacked
from paddock.planning.solver.methods import Method, MethodResult, NoOptions, Progress
from paddock.planning.solver.methods.clustered_greedy import METHOD as CLUSTERED
from paddock.planning.solver.methods.greedy import METHOD as GREEDY
from paddock.planning.solver.tours import Ints, TourData, detours_of, fits, jobs_of, mover_of, tour, tour_routine
from paddock.world.columns import Column, Floats

STEPS_A_TASK = 5_000
MOST_STEPS = 1_000_000  # default limit
SHARE = 0.2  # initial temperature, as a share of the mean cost of a task
POLISH = 0.01  # the same, for polishing good orders
REVISION = 10_000  # steps after an event
NEIGHBOURS = 10  # number of nearest tasks that a move considers
MEASURINGS = 3  # further searches at most, after tours were measured
PRICE = 100.0  # penalty of an undone task, in multiples of the longest single tour


class Options(NamedTuple):
    """Number of moves and temperatures."""

    steps: Annotated[float, Column("", "moves to try; 0: 5,000 for each task, at most 1,000,000", 0, 1e9)] = 0
    temperature: Annotated[
        float, Column("", "initial, as a share of the mean cost of a task; 0: accept improvements only", 0, 100)
    ] = SHARE
    cooling: Annotated[float, Column("", "final temperature, as a share of the initial one", 1e-9, 1)] = 1e-3


POLISHING = Options(0, POLISH)


def solve(costs: Costs, options: Options, progress: Progress) -> MethodResult:
    """Return the better of clustered greedy and greedy, improved by annealing; never worse."""
    starts = [method.solve(costs, NoOptions(), lambda share: None).orders for method in (CLUSTERED, GREEDY)]
    progress(0.1)
    steps = int(options.steps) or min(STEPS_A_TASK * costs.tasks, MOST_STEPS)
    orders = annealed(costs, min(starts, key=lambda orders: value(costs, orders)), steps, options)
    progress(1.0)
    return MethodResult(orders, {"steps": steps})


def revise(costs: Costs, options: Any, orders: list[list[int]]) -> MethodResult:
    """Return the present orders with new tasks at their cheapest positions, polished; fast, for a running mission."""
    missing = sorted(set(range(costs.tasks)) - {task for order in orders for task in order})
    steps = min(REVISION, STEPS_A_TASK * costs.tasks)
    return MethodResult(polished(costs, insert_tasks(costs, orders, costs.ranges, missing), steps), {"steps": steps})


def polished(costs: Costs, orders: Sequence[Sequence[int]], steps: int) -> list[list[int]]:
    """Improve good orders by a search at low temperature."""
    return annealed(costs, orders, steps, POLISHING)


def value(costs: Costs, orders: Sequence[Sequence[int]]) -> tuple[int, float]:
    """Return a sort key: undone tasks, then the objective; the mean end breaks ties of the makespan."""
    tours = [costs.tour(vehicle, order) for vehicle, order in enumerate(orders)]
    missing = costs.tasks - sum(len(order) for order in orders)
    if costs.problem.objective == "makespan":
        ends = [end for _, end in tours]
        return missing, max(ends, default=0.0) + TIE * sum(ends) / max(len(ends), 1)
    return missing, sum(flown for flown, _ in tours)


def feasible_value(costs: Costs, orders: Sequence[Sequence[int]]) -> tuple[int, float]:
    """Return the value of orders, without tours that are too long."""
    return value(costs, [order if costs.fits(vehicle, order) else [] for vehicle, order in enumerate(orders)])


Searching = Callable[[Costs], Callable[[Packed, Ints, "Schedule"], None]]
"""Makes moves with the present costs."""


def exact_search(costs: Costs) -> Callable[[Packed, Ints, Schedule], None]:
    """Return a search that evaluates whole tours."""
    return partial(run_annealing, costs.fleet)


def annealed(
    costs: Costs, orders: Sequence[Sequence[int]], steps: int, options: Options, search: Searching = exact_search
) -> list[list[int]]:
    """Return orders after a number of moves, no worse than before; `search` makes them.

    The tours found are measured on their paths. Where those differ, a shorter search continues with what was measured.
    """
    if not costs.vehicles or not costs.tasks or steps <= 0:
        return [list(order) for order in orders]
    rows = [list(order) for order in orders]
    for vehicle, row in enumerate(rows):
        while row and not costs.fits(vehicle, row):
            row.pop()
    checked = [rows] if any(costs.turns_freely(k, row) for k, row in enumerate(rows)) else []  # which it only estimates
    for again in range(MEASURINGS + 1):
        rows = _searched(costs, rows, steps if not again else steps // 10, options if not again else POLISHING, search)
        checked.append(rows)
        if not costs.measure(rows):
            break
    return min(checked, key=lambda orders: feasible_value(costs, orders)) if len(checked) > 1 else rows


def _searched(
    costs: Costs, rows: Sequence[Sequence[int]], steps: int, options: Options, search: Searching
) -> list[list[int]]:
    """Return orders after a number of moves."""
    by_time = costs.problem.objective == "makespan"
    _, objective = value(costs, [row if costs.fits(k, row) else [] for k, row in enumerate(rows)])
    spare = sorted(set(range(costs.tasks)).difference(*rows))  # undone tasks
    arrays = packed([*rows, spare], costs.tasks)
    single = costs.alone[np.isfinite(costs.alone)]
    longest = float(single.max(initial=1.0)) / (
        min(vehicle.speed for vehicle in costs.problem.vehicles) if by_time else 1.0
    )
    each = objective * (costs.vehicles if by_time else 1.0) / costs.tasks
    heat = max(options.temperature * each, 1e-9)
    price, moves = PRICE * max(longest, objective), search(costs)
    seed, near = signed(costs.problem.seed), near_tasks(costs)
    for start in (heat, max(options.temperature * longest, heat)):
        moves(arrays, near, Schedule(steps, start, start * options.cooling, seed, by_time, price))
        undone = unpacked(arrays)[-1]
        if not (costs.alone[:, undone] <= costs.ranges[:, None]).any():
            break  # otherwise the way to a vehicle that could do them may lead over orders that are much longer
    return unpacked(arrays)[:-1]


def near_tasks(costs: Costs) -> Ints:
    """Return the nearest tasks of each task, (t, k)."""
    positions = costs.jobs(0).entry[:, :2]
    count = min(NEIGHBOURS, costs.tasks - 1)
    if count < 1:
        return np.empty((costs.tasks, 0), np.int64)
    _, neighbours = cKDTree(positions).query(positions, count + 1)
    return np.array(neighbours, np.int64)[:, 1:].copy()


METHOD = Method("simulated annealing over the sequences of all vehicles", solve, Options, revise)


STREAM = 0x616E6E65616C  # purpose of the random draws
EVENLY = 0.1
"""Weight of the mean end beside the makespan, so that shortening any tour is an improvement."""
TIE = 0.001  # the same for the last part of a search and for the best: the makespan dominates
FINISH = 0.75  # share of a search at which its last part begins
NEAR = 0.8  # probability that a move considers a neighbour; otherwise any task
SEGMENT = 3  # maximum number of tasks moved together


class Schedule(NamedTuple):
    """Settings of a search."""

    steps: int
    start: float  # m or s: temperature at the first step
    end: float  # at the last
    seed: int
    by_time: bool
    price: float  # m or s, penalty of an undone task


class Candidate(NamedTuple):
    """Two rows after a move."""

    first: Ints
    second: Ints
    counts: Ints  # (2,)


class Search(NamedTuple):
    """The state of a search besides its orders."""

    costs: Floats  # (rows,) m or s
    positions: Ints  # (t, 2) row and position in it of each task
    dirty: Ints  # (rows,) 1: changed since the best was stored


def anneal(fleet: TourData, orders: Packed, near: Ints, plan: Schedule) -> None:
    """Improve orders in place; `near` (t, k) are the nearest tasks of each. The result is never worse."""
    rows, tasks = orders.tasks.shape
    trial = Candidate(empty(tasks, int64), empty(tasks, int64), zeros(2, int64))
    search = Search(empty(rows), empty((tasks, 2), int64), zeros(rows, int64))
    for a in range(rows):
        search.costs[a] = row_cost(fleet, plan, a, orders.tasks[a], orders.counts[a])
        while not search.costs[a] < inf and orders.counts[a] > 0:  # too long: its last task goes to the last row
            orders.counts[a] -= 1
            orders.tasks[rows - 1, orders.counts[rows - 1]] = orders.tasks[a, orders.counts[a]]
            orders.counts[rows - 1] += 1
            search.costs[a] = row_cost(fleet, plan, a, orders.tasks[a], orders.counts[a])
        index_tasks(orders, search, a)
    best = Packed(orders.tasks.copy(), orders.counts.copy())
    now, least, evenly = energy(search.costs, plan, EVENLY), energy(search.costs, plan, TIE), EVENLY
    heat, cooling = plan.start, (plan.end / plan.start) ** (1.0 / max(plan.steps - 1, 1))
    for k in range(plan.steps):
        if k == int(FINISH * plan.steps):
            now, evenly = energy(search.costs, plan, TIE), TIE
        a, b = propose(orders, search.positions, near, plan.seed, k, trial)
        if a >= 0:
            now, moved = evaluate_move(fleet, plan, orders, search, trial, a, b, now, evenly, heat, k)
            if moved and energy(search.costs, plan, TIE) < least:
                least = energy(search.costs, plan, TIE)
                copy_changed(orders, best, search.dirty)
        heat *= cooling
    orders.tasks[:] = best.tasks
    orders.counts[:] = best.counts


def evaluate_move(
    fleet: TourData, plan: Schedule, orders: Packed, search: Search, trial: Candidate,
    a: int, b: int, now: float, evenly: float, heat: float, k: int,
) -> tuple[float, bool]:  # fmt: skip
    """Accept a move if it is an improvement, or at random by temperature; return the energy and whether it was made."""
    costs = search.costs
    old_a, old_b = costs[a], costs[b]
    costs[a] = row_cost(fleet, plan, a, trial.first, trial.counts[0])
    if b != a and costs[a] < inf:
        costs[b] = row_cost(fleet, plan, b, trial.second, trial.counts[1])
    new = energy(costs, plan, evenly)
    u, _ = uniforms(plan.seed, STREAM, 3, k)
    if not new < inf or (new > now and u >= exp((now - new) / heat)):
        costs[a], costs[b] = old_a, old_b
        return now, False
    commit(orders, search, a, trial.first, trial.counts[0])
    if b != a:
        commit(orders, search, b, trial.second, trial.counts[1])
    return new, True


def row_cost(fleet: TourData, plan: Schedule, row: int, order: Ints, count: int) -> float:
    """Return the metres or the end (s) of a tour; inf: impossible or beyond the range; the last row's penalty."""
    if row == len(fleet.kind):
        return plan.price * count
    m = mover_of(fleet, row)
    flown, end = tour(m, jobs_of(fleet, row), detours_of(fleet, row), order, count)
    if count and not fits(flown, m.range):
        return inf
    return end if plan.by_time else flown


def energy(costs: Floats, plan: Schedule, evenly: float) -> float:
    """Return the total cost, or the makespan plus a share of the mean end, plus the penalty of undone tasks."""
    rows = len(costs) - 1
    total = last = 0.0
    missing: float = costs[rows]
    for a in range(rows):
        total += costs[a]
        last = max(last, costs[a])
    return missing + (last + evenly * total / rows if plan.by_time else total)


def index_tasks(orders: Packed, search: Search, row: int) -> None:
    """Store the positions of the tasks of a row."""
    for k in range(orders.counts[row]):
        search.positions[orders.tasks[row, k], 0] = row
        search.positions[orders.tasks[row, k], 1] = k


def commit(orders: Packed, search: Search, row: int, order: Ints, count: int) -> None:
    """Replace a row."""
    orders.tasks[row, :count] = order[:count]
    orders.counts[row] = count
    index_tasks(orders, search, row)
    search.dirty[row] = 1


def copy_changed(orders: Packed, best: Packed, dirty: Ints) -> None:
    """Copy the rows that have changed."""
    for a in range(len(dirty)):
        if dirty[a]:
            best.tasks[a, : orders.counts[a]] = orders.tasks[a, : orders.counts[a]]
            best.counts[a] = orders.counts[a]
            dirty[a] = 0


def propose(orders: Packed, positions: Ints, near: Ints, seed: int, k: int, trial: Candidate) -> tuple[int, int]:
    """Write a move to `trial` and return the rows it changes (equal for one row); -1: no move."""
    kind, u = uniforms(seed, STREAM, 0, k)
    v, w = uniforms(seed, STREAM, 1, k)
    task = int(u * len(positions))
    a, i = positions[task, 0], positions[task, 1]
    spare = len(orders.counts) - 1
    if v < NEAR and near.shape[1] > 0:
        other = near[task, int(v / NEAR * near.shape[1])]
        b, j = positions[other, 0], positions[other, 1]
    else:
        share = (v - NEAR) / (1.0 - NEAR) if v >= NEAR else v / NEAR
        b = min(int(share * len(orders.counts)), spare)
        j = int(w * orders.counts[b])
    if kind < 0.5:
        side, length = uniforms(seed, STREAM, 2, k)
        return relocated(orders, a, i, b, j, side, 1 + int(length * SEGMENT), trial)
    if kind < 0.65:
        return swapped(orders, a, i, b, j, trial)
    if kind < 0.85 or b == a:
        j = j if b == a else int(w * orders.counts[a])
        return reversed_part(orders, a, min(i, j), max(i, j), spare, trial)
    return tails(orders, a, i, b, j, spare, trial)


def relocated(
    orders: Packed, a: int, i: int, b: int, j: int, side: float, length: int, trial: Candidate
) -> tuple[int, int]:
    """Move some tasks from position i of a row before or after position j of a row, perhaps reversed."""
    length = min(length, orders.counts[a] - i)
    backwards = side - int(2.0 * side) * 0.5 > 0.375  # a quarter of each half
    target = j + (1 if side >= 0.5 and orders.counts[b] > 0 else 0)
    if a == b and i <= target <= i + length:
        return -1, -1
    row, other, count = orders.tasks[a], orders.tasks[b], 0
    for k in range(orders.counts[b] + 1):
        if k == target:
            for step in range(length):
                trial.second[count] = row[i + length - 1 - step] if backwards else row[i + step]
                count += 1
        if k < orders.counts[b] and not (a == b and i <= k < i + length):
            trial.second[count] = other[k]
            count += 1
    trial.counts[1], left = count, 0
    if a == b:
        trial.first[:count] = trial.second[:count]
        trial.counts[0] = count
        return a, a
    for k in range(orders.counts[a]):
        if not i <= k < i + length:
            trial.first[left] = row[k]
            left += 1
    trial.counts[0] = left
    return a, b


def swapped(orders: Packed, a: int, i: int, b: int, j: int, trial: Candidate) -> tuple[int, int]:
    """Exchange two tasks."""
    if orders.counts[b] == 0 or (a == b and i == j):
        return -1, -1
    trial.counts[0], trial.counts[1] = orders.counts[a], orders.counts[b]
    trial.first[: orders.counts[a]] = orders.tasks[a, : orders.counts[a]]
    trial.second[: orders.counts[b]] = orders.tasks[b, : orders.counts[b]]
    if a == b:
        trial.first[i], trial.first[j] = orders.tasks[a, j], orders.tasks[a, i]
        return a, a
    trial.first[i], trial.second[j] = orders.tasks[b, j], orders.tasks[a, i]
    return a, b


def reversed_part(orders: Packed, a: int, i: int, j: int, spare: int, trial: Candidate) -> tuple[int, int]:
    """Reverse positions i to j of a row."""
    if i == j or a == spare:
        return -1, -1
    trial.counts[0] = orders.counts[a]
    for k in range(orders.counts[a]):
        trial.first[k] = orders.tasks[a, i + j - k] if i <= k <= j else orders.tasks[a, k]
    return a, a


def tails(orders: Packed, a: int, i: int, b: int, j: int, spare: int, trial: Candidate) -> tuple[int, int]:
    """Exchange the tails of two tours after positions i and j."""
    if a == spare or b == spare:
        return -1, -1
    first, second = orders.tasks[a], orders.tasks[b]
    trial.first[:i] = first[:i]
    trial.second[:j] = second[:j]
    for k in range(j, orders.counts[b]):
        trial.first[i + k - j] = second[k]
    for k in range(i, orders.counts[a]):
        trial.second[j + k - i] = first[k]
    trial.counts[0], trial.counts[1] = i + orders.counts[b] - j, j + orders.counts[a] - i
    return a, b


run_annealing = tour_routine(anneal)
