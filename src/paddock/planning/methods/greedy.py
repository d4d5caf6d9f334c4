"""Greedy: the task that adds least to anybody's tour goes to the end of that tour, again and again."""

from __future__ import annotations

from math import inf

import numpy as np
from numpy import empty, int64, zeros

from paddock.compute.routine import routine
from paddock.planning.appending import Ends, append, append_cost, append_costs, started
from paddock.planning.costs import Costs
from paddock.planning.fleet import Fleet
from paddock.planning.method import Answer, Method, NoOptions, Tell
from paddock.planning.tours import Ints
from paddock.world.columns import Floats


def solve(costs: Costs, options: NoOptions, tell: Tell) -> Answer:
    """Least added metres first, the way home included; where the end of the mission counts, the earliest end first."""
    orders: list[list[int]] = [[] for _ in range(costs.agents)]
    if costs.agents and costs.tasks:
        fleet, ends, by_time = costs.fleet, started(costs), costs.problem.objective == "makespan"
        cost = np.empty((costs.agents, costs.tasks))
        append_costs(fleet, ends, np.arange(costs.tasks), by_time, cost)
        for agent, task in _chosen(fleet, ends, cost, by_time).tolist():
            orders[agent].append(task)
    tell(1.0)
    return Answer(orders)


def chosen(fleet: Fleet, ends: Ends, cost: Floats, by_time: bool) -> Ints:
    """Pairs (agent, task) in the order in which they were chosen. `cost` (agents, tasks) follows the tours."""
    agents, tasks = cost.shape
    pairs, count = empty((tasks, 2), int64), 0
    best, given = empty(agents, int64), zeros(tasks, int64)
    for a in range(agents):
        best[a] = cheapest(cost[a])
    while True:
        agent = -1
        for a in range(agents):
            if best[a] >= 0 and (agent < 0 or cost[a, best[a]] < cost[agent, best[agent]]):
                agent = a
        if agent < 0:
            return pairs[:count]
        task = best[agent]
        pairs[count, 0], pairs[count, 1] = agent, task
        count += 1
        given[task] = 1
        append(fleet, ends, agent, task)
        for a in range(agents):
            cost[a, task] = inf
        for t in range(tasks):
            if given[t] == 0:
                cost[agent, t] = append_cost(fleet, ends, agent, t, by_time)
        for a in range(agents):
            if a == agent or best[a] == task:
                best[a] = cheapest(cost[a])


def cheapest(row: Floats) -> int:
    """The first of the least finite numbers; -1: there is none."""
    found, least = -1, inf
    for t in range(len(row)):
        if row[t] < least:
            found, least = t, row[t]
    return found


_chosen = routine(chosen)

METHOD = Method("the task that adds least to any tour goes to its end, again and again", solve)
