"""Greedy: the task that adds least to anybody's tour goes to the end of that tour, again and again."""

from __future__ import annotations

from math import inf

from numpy import empty, int64, zeros

from paddock.planning.costs import Costs
from paddock.planning.insertion import TourEnds, append, append_cost, end_of, least_cost, started
from paddock.planning.methods import Answer, Method, NoOptions, Tell
from paddock.planning.tours import Fleet, Ints, jobs_of, mover_of, tour_routine
from paddock.world.columns import Floats


def solve(costs: Costs, options: NoOptions, tell: Tell) -> Answer:
    """Least added metres first, the way home included; where the end of the mission counts, the earliest end first."""
    orders: list[list[int]] = [[] for _ in range(costs.agents)]
    if costs.agents and costs.tasks:
        by_time = costs.problem.objective == "makespan"
        for agent, task in _chosen(costs.fleet, started(costs), by_time).tolist():
            orders[agent].append(task)
    tell(1.0)
    return Answer(orders)


def chosen(fleet: Fleet, ends: TourEnds, by_time: bool) -> Ints:
    """Pairs (agent, task) in the order in which they were chosen.

    `cost` (agents, tasks) follows the tours: what a task would cost at least, and where that is not too much to be
    chosen, exactly.
    """
    agents, tasks = len(fleet.kind), fleet.cover.shape[1]
    cost, exact = empty((agents, tasks)), zeros((agents, tasks), int64)
    pairs, count = empty((tasks, 2), int64), 0
    best, given = empty(agents, int64), zeros(tasks, int64)
    for a in range(agents):
        estimate(fleet, ends, a, by_time, given, cost[a], exact[a])
        best[a] = cheapest(fleet, ends, a, by_time, cost[a], exact[a])
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
        estimate(fleet, ends, agent, by_time, given, cost[agent], exact[agent])
        for a in range(agents):
            cost[a, task] = inf
            if a == agent or best[a] == task:
                best[a] = cheapest(fleet, ends, a, by_time, cost[a], exact[a])


def estimate(fleet: Fleet, ends: TourEnds, agent: int, by_time: bool, given: Ints, cost: Floats, exact: Ints) -> None:
    """Write what each task would cost an agent at least."""
    m, j, at = mover_of(fleet, agent), jobs_of(fleet, agent), end_of(ends, agent)
    for t in range(len(cost)):
        exact[t] = 0
        cost[t] = inf if given[t] else least_cost(m, j, at, ends.places[agent, 6], t, by_time)


def cheapest(fleet: Fleet, ends: TourEnds, agent: int, by_time: bool, cost: Floats, exact: Ints) -> int:
    """The first of the tasks that cost least, whose cost is then exact; -1: there is none."""
    found, least = -1, inf
    for t in range(len(cost)):
        if cost[t] < least and exact[t] == 0:
            cost[t], exact[t] = append_cost(fleet, ends, agent, t, by_time), 1
        if cost[t] < least:
            found, least = t, cost[t]
    return found


_chosen = tour_routine(chosen)

METHOD = Method("the task that adds least to any tour goes to its end, again and again", solve)
