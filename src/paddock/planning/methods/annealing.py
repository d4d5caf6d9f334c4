"""Simulated annealing over whole sequences: tasks move between and within tours, at first also for the worse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from paddock.compute.philox import signed
from paddock.planning.costs import Costs
from paddock.planning.method import Answer, Method, NoOptions, Tell
from paddock.planning.methods.clustered_greedy import METHOD as CLUSTERED
from paddock.planning.methods.greedy import METHOD as GREEDY
from paddock.planning.search.insertion import Packed, insert_tasks, unpacked
from paddock.planning.search.sequences import TIE, Schedule, run_annealing
from paddock.planning.ways import Ints
from paddock.world.columns import Column

STEPS_A_TASK = 5_000
MOST_STEPS = 1_000_000
"""Unless more are asked for."""
SHARE = 0.2
"""Temperature at the start, as a share of what a task costs on average."""
POLISH = 0.01
"""The same, where good orders are only to be polished."""
REVISION = 10_000
"""Steps after an event."""
NEIGHBOURS = 10
"""The nearest tasks that a move looks at."""
PRICE = 100.0
"""Of a task that is not done: so many times the longest tour of all for a single task."""


class Options(NamedTuple):
    """How long and how hot."""

    steps: Annotated[float, Column("", "moves that are tried; 0: 5,000 for each task, at most 1,000,000", 0, 1e9)] = 0
    temperature: Annotated[
        float, Column("", "at the start, as a share of what a task costs on average; 0: only for the better", 0, 100)
    ] = SHARE
    cooling: Annotated[float, Column("", "temperature at the end, as a share of that at the start", 1e-9, 1)] = 1e-3


def solve(costs: Costs, options: Options, tell: Tell) -> Answer:
    """The better of clustered greedy and greedy, annealed; never worse than that."""
    starts = [method.solve(costs, NoOptions(), lambda share: None).orders for method in (CLUSTERED, GREEDY)]
    tell(0.1)
    steps = int(options.steps) or min(STEPS_A_TASK * costs.tasks, MOST_STEPS)
    orders = annealed(costs, min(starts, key=lambda orders: value(costs, orders)), steps, options)
    tell(1.0)
    return Answer(orders, {"steps": steps})


def revise(costs: Costs, options: Any, orders: list[list[int]]) -> Answer:
    """Orders that stand, with new tasks in their cheapest places, polished: quick, for a mission that runs."""
    missing = sorted(set(range(costs.tasks)) - {task for order in orders for task in order})
    limits = [agent.range for agent in costs.problem.agents]
    steps = min(REVISION, STEPS_A_TASK * costs.tasks)
    return Answer(polished(costs, insert_tasks(costs, orders, limits, missing), steps), {"steps": steps})


def polished(costs: Costs, orders: Sequence[Sequence[int]], steps: int) -> list[list[int]]:
    """Good orders, improved by a cool search."""
    return annealed(costs, orders, steps, Options(steps, POLISH))


def value(costs: Costs, orders: Sequence[Sequence[int]]) -> tuple[int, float]:
    """Tasks that are not done, and the objective; of plans that end at the same time, those with earlier ends first."""
    tours = [costs.tour(agent, order) for agent, order in enumerate(orders)]
    missing = costs.tasks - sum(len(order) for order in orders)
    if costs.problem.objective == "makespan":
        ends = [end for _, end in tours]
        return missing, max(ends, default=0.0) + TIE * sum(ends) / max(len(ends), 1)
    return missing, sum(flown for flown, _ in tours)


def annealed(costs: Costs, orders: Sequence[Sequence[int]], steps: int, options: Options) -> list[list[int]]:
    """Orders after so many moves, no worse than they were."""
    if not costs.agents or not costs.tasks or steps <= 0:
        return [list(order) for order in orders]
    arrays = _with_nobody(costs, orders)
    by_time = costs.problem.objective == "makespan"
    _, objective = value(costs, _rows(arrays))
    single = costs.alone[np.isfinite(costs.alone)]
    longest = float(single.max(initial=1.0)) / (min(agent.speed for agent in costs.problem.agents) if by_time else 1.0)
    each = objective * (costs.agents if by_time else 1.0) / costs.tasks
    heat = max(options.temperature * each, 1e-9)
    price = PRICE * max(longest, objective)
    seed = signed(costs.problem.seed)
    run_annealing(
        costs.fleet, arrays, _neighbours(costs), Schedule(steps, heat, heat * options.cooling, seed, by_time, price)
    )
    return _rows(arrays)


def _rows(arrays: Packed) -> list[list[int]]:
    return unpacked(arrays)[:-1]


def _with_nobody(costs: Costs, orders: Sequence[Sequence[int]]) -> Packed:
    """Orders as arrays, shortened to what is possible, and a last row with the tasks that nobody does."""
    rows = [list(order) for order in orders]
    for agent, row in enumerate(rows):
        while row and not costs.fits(agent, row):
            row.pop()
    given = {task for row in rows for task in row}
    rows.append([task for task in range(costs.tasks) if task not in given])
    found = Packed(np.zeros((len(rows), costs.tasks), np.int64), np.array([len(row) for row in rows], np.int64))
    for k, row in enumerate(rows):
        found.tasks[k, : len(row)] = row
    return found


def _neighbours(costs: Costs) -> Ints:
    """The nearest tasks of each (t, k)."""
    places = costs.jobs(0).entry[:, :2]
    count = min(NEIGHBOURS, costs.tasks - 1)
    if count < 1:
        return np.empty((costs.tasks, 0), np.int64)
    _, found = cKDTree(places).query(places, count + 1)
    return np.array(found, np.int64)[:, 1:].copy()


METHOD = Method("simulated annealing over the sequences of all vehicles", solve, Options, revise)
