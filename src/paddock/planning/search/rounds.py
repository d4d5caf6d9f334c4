"""Rounds of assignment: again and again every vehicle gets one more task at most, until all tasks are given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddock.planning.costs import Costs
from paddock.planning.method import Answer, Tell
from paddock.planning.search.appending import append_costs, append_pairs, started
from paddock.planning.ways import Ints
from paddock.world.columns import Floats

Solve = Callable[[Floats], tuple[Ints, Ints]]


def assign_in_rounds(costs: Costs, solve: Solve, tell: Tell) -> Answer:
    """The answer when each round is one assignment of what one more task would cost each vehicle, where it then is."""
    orders: list[list[int]] = [[] for _ in range(costs.agents)]
    if not costs.agents or not costs.tasks:
        return Answer(orders, {"rounds": 0})
    fleet, ends, left = costs.fleet, started(costs), np.arange(costs.tasks)
    by_time, rounds = costs.problem.objective == "makespan", 0
    while len(left):
        cost = np.empty((costs.agents, len(left)))
        append_costs(fleet, ends, left, by_time, cost)
        agents, places = solve(cost)
        if not len(agents):
            break
        append_pairs(fleet, ends, agents, left[places])
        for agent, task in zip(agents.tolist(), left[places].tolist(), strict=True):
            orders[agent].append(task)
        left, rounds = np.delete(left, places), rounds + 1
        tell(1.0 - len(left) / costs.tasks)
    return Answer(orders, {"rounds": rounds})
