"""Local search: annealing over the ways between tasks, each computed once, in turn with the choice of headings.

A move costs a few additions, so that a second is enough for millions. Where a task may be passed with any heading, the
first round assumes the heading straight to the next task; then the best headings for the orders found are chosen, and
the second round searches with those. The number of moves is fixed, so that equal problems give equal plans.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from time import perf_counter
from typing import Annotated, NamedTuple

import numpy as np

from paddock.compute.routine import Routine
from paddock.compute.twin import rebound
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.insertion import Packed, packed
from paddock.planning.solver.methods import Method, MethodResult, NoOptions, Progress
from paddock.planning.solver.methods.annealing import Options as Heat
from paddock.planning.solver.methods.annealing import (
    Schedule,
    anneal,
    annealed,
    feasible_value,
    near_tasks,
    polished,
    revise,
    row_cost,
)
from paddock.planning.solver.methods.clustered_greedy import METHOD as CLUSTERED
from paddock.planning.solver.methods.routing import chosen_headings
from paddock.planning.solver.tours import Ints, Mover, fits, mover_of, waited
from paddock.world.columns import Column, Floats

STEPS_A_TASK = 10_000
MOST_STEPS = 1_000_000  # unless more are asked for
MOST_WAYS = 10_000_000  # between tasks, of all classes of vehicles; more would take too much time and memory
PROBE = 20_000  # steps that measure how many fit into a time
BEYOND = 20_000  # steps of a search with exact tours where there are more
READY, SPEED, RANGE = (Mover._fields.index(name) for name in ("ready", "speed", "range"))
ROUNDS = ((0.6, 0.2), (0.4, 0.01))  # share of the moves, temperature at the start


class Options(NamedTuple):
    """How long to search."""

    steps: Annotated[float, Column("", "moves to try; 0: 10,000 for each task, at most 1,000,000", 0, 1e9)] = 0
    seconds: Annotated[
        float, Column("s", "as many steps as fit into this time here, which the plan names; 0: `steps`", 0.0, 1e6)
    ] = 0.0


def solve(costs: Costs, options: Options, progress: Progress) -> MethodResult:
    """Return the best orders of both rounds, and the headings for which they are best."""
    began = perf_counter()
    orders = CLUSTERED.solve(costs, NoOptions(), lambda share: None).orders
    steps = int(options.steps) or min(STEPS_A_TASK * costs.tasks, MOST_STEPS)
    if options.seconds > 0.0:
        steps = steps_within(costs, orders, options.seconds, began)
    if (max(costs.class_of) + 1) * costs.tasks**2 > MOST_WAYS:
        return MethodResult(polished(costs, orders, min(steps, BEYOND)), {"steps": min(steps, BEYOND)})
    best, least, headed = MethodResult(orders, {"steps": steps}), feasible_value(costs, orders), costs
    for k, (share, heat) in enumerate(ROUNDS):
        orders = annealed(headed, orders, max(1, int(share * steps)), Heat(0, heat), table_search)
        headings = chosen_headings(costs, orders, headed)
        headed = headed.headed(headings)
        if (reached := feasible_value(headed, orders)) < least:
            best, least = MethodResult(orders, {"steps": steps}, headings), reached
        progress((k + 1) / len(ROUNDS))
    return best


def steps_within(costs: Costs, orders: Sequence[Sequence[int]], seconds: float, began: float) -> int:
    """Return the number of moves, of two digits, that this machine makes until `seconds` after a time (s)."""
    moves, near = table_search(costs), near_tasks(costs)
    spare = sorted(set(range(costs.tasks)).difference(*orders))
    rate = 0.0
    for _ in range(3):  # the first may compile
        arrays, start = packed([*orders, spare], costs.tasks), perf_counter()
        moves(arrays, near, Schedule(PROBE, 1.0, 1.0, 0, costs.problem.objective == "makespan", 1e9))
        rate = max(rate, PROBE / (perf_counter() - start))
    steps = int(max(rate * (seconds + began - perf_counter()), float(PROBE)))
    digit = int(10 ** (len(str(steps)) - 2))
    return steps // digit * digit


class Ways(NamedTuple):
    """Metres flown of every way, for vehicles (a) of k classes and tasks (t); inf: impossible."""

    movers: Floats  # (a, fields of Mover)
    kind: Ints  # (a,) the class of each vehicle
    empty: Floats  # (a, 2) metres and end (s) without tasks
    first: Floats  # (a, t) from where a vehicle is free to the beginning of a task
    between: Floats  # (k, t, t) from the beginning of a task, through it, to the beginning of another
    home: Floats  # (a, t) from the beginning of a task, through it, home
    opens: Floats  # (t,) s
    closes: Floats  # (t,) s
    timed: bool  # some task has a window


def ways_of(costs: Costs) -> Ways:
    """Return all ways of a problem."""
    each = [costs.class_of.index(kind) for kind in range(max(costs.class_of) + 1)]  # a vehicle of each class
    tasks, cover = np.arange(costs.tasks), np.array([costs.jobs(vehicle).cover for vehicle in each])
    between = np.stack([costs.between(vehicle, tasks) for vehicle in each]) + cover[:, :, None]
    empty = np.array([costs.tour(vehicle, ()) for vehicle in range(costs.vehicles)])
    fleet = costs.fleet
    home = costs.home + cover[fleet.kind]
    opens, closes, first = fleet.opens[0], fleet.closes[0], np.ascontiguousarray(costs.first)
    timed = bool((opens > fleet.movers[:, READY].min()).any() or np.isfinite(closes).any())
    return Ways(fleet.movers, fleet.kind, empty, first, between, home, opens, closes, timed)


def table_search(costs: Costs) -> Callable[[Packed, Ints, Schedule], None]:
    """Return a search that adds up known ways."""
    return partial(search_ways, ways_of(costs))


def tabulated_row_cost(ways: Ways, plan: Schedule, row: int, order: Ints, count: int) -> float:
    """`row_cost` by known ways."""
    if row == len(ways.kind):
        return plan.price * count
    if count == 0:
        alone: float = ways.empty[row, 1 if plan.by_time else 0]
        return alone
    between, home = ways.between[ways.kind[row]], ways.home[row, order[count - 1]]
    flown, speed = ways.first[row, order[0]] + home, ways.movers[row, SPEED]
    for k in range(1, count):
        flown += between[order[k - 1], order[k]]
    if ways.timed:
        flown, time = with_waiting(ways, row, order, count, flown)
    else:
        time = ways.movers[row, READY] + flown / speed
    if not fits(flown, ways.movers[row, RANGE]):
        return inf
    return time if plan.by_time else flown


def with_waiting(ways: Ways, row: int, order: Ints, count: int, flown: float) -> tuple[float, float]:
    """Return metres flown with waiting, and the end (s), of a tour that is `flown` m long without; inf: too late."""
    m, between = mover_of(ways, row), ways.between[ways.kind[row]]  # type: ignore[arg-type]
    time, before, way = m.ready, -1, ways.first[row, order[0]]
    for k in range(count):
        task = order[k]
        if before >= 0:
            way = between[before, task]
        wait, pause = waited(m, before, ways.opens[task] - (time + way / m.speed))
        flown, time, before = flown + wait, time + way / m.speed + pause, task
        if time > ways.closes[task]:
            return inf, inf
    return flown, time + ways.home[row, before] / m.speed


search_ways = Routine(rebound(anneal, {row_cost: tabulated_row_cost}), False)

METHOD = Method(
    "annealing over known ways between tasks, in turn with the choice of headings",
    solve,
    Options,
    revise,
    clocked="seconds",
)
