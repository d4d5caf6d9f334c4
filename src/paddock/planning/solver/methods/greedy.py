"""Greedy: repeatedly append the task that adds least to the end of any tour."""

from math import inf

from numpy import empty, int64, zeros

from paddock.planning.solver.costs import Costs
from paddock.planning.solver.insertion import TourEnds, append, append_cost, empty_tours, end_of, least_cost
from paddock.planning.solver.methods import Method, MethodResult, NoOptions, Progress
from paddock.planning.solver.tours import Ints, TourData, jobs_of, mover_of, tour_routine
from paddock.world.columns import Floats


def solve(costs: Costs, options: NoOptions, progress: Progress) -> MethodResult:
    """Append by least added metres, including the way home; for the makespan, by the earliest end."""
    orders: list[list[int]] = [[] for _ in range(costs.vehicles)]
    for vehicle, task in _chosen(costs.fleet, empty_tours(costs), costs.problem.objective == "makespan").tolist():
        orders[vehicle].append(task)
    progress(1.0)
    return MethodResult(orders)


def chosen(fleet: TourData, ends: TourEnds, by_time: bool) -> Ints:
    """Return pairs (vehicle, task) in the order of choice; `cost` is exact only for candidates."""
    vehicles, tasks = len(fleet.kind), fleet.cover.shape[1]
    cost, exact = empty((vehicles, tasks)), zeros((vehicles, tasks), int64)
    pairs, count = empty((tasks, 2), int64), 0
    best, assigned = empty(vehicles, int64), zeros(tasks, int64)
    for a in range(vehicles):
        estimate(fleet, ends, a, by_time, assigned, cost[a], exact[a])
        best[a] = cheapest(fleet, ends, a, by_time, cost[a], exact[a])
    while True:
        vehicle = -1
        for a in range(vehicles):
            if best[a] >= 0 and (vehicle < 0 or cost[a, best[a]] < cost[vehicle, best[vehicle]]):
                vehicle = a
        if vehicle < 0:
            return pairs[:count]
        task = best[vehicle]
        pairs[count, 0], pairs[count, 1] = vehicle, task
        count += 1
        assigned[task] = 1
        append(fleet, ends, vehicle, task)
        estimate(fleet, ends, vehicle, by_time, assigned, cost[vehicle], exact[vehicle])
        for a in range(vehicles):
            cost[a, task] = inf
            if a == vehicle or best[a] == task:
                best[a] = cheapest(fleet, ends, a, by_time, cost[a], exact[a])


def estimate(
    fleet: TourData, ends: TourEnds, vehicle: int, by_time: bool, assigned: Ints, cost: Floats, exact: Ints
) -> None:
    """Write a lower bound of the cost of each task for a vehicle."""
    m, j, at = mover_of(fleet, vehicle), jobs_of(fleet, vehicle), end_of(ends, vehicle)
    for t in range(len(cost)):
        exact[t] = 0
        cost[t] = inf if assigned[t] else least_cost(m, j, at, ends.places[vehicle, 6], t, by_time)


def cheapest(fleet: TourData, ends: TourEnds, vehicle: int, by_time: bool, cost: Floats, exact: Ints) -> int:
    """Return the first of the cheapest tasks, with its exact cost; -1: none."""
    cheapest_task, least = -1, inf
    for t in range(len(cost)):
        if cost[t] < least and exact[t] == 0:
            cost[t], exact[t] = append_cost(fleet, ends, vehicle, t, by_time), 1
        if cost[t] < least:
            cheapest_task, least = t, cost[t]
    return cheapest_task


_chosen = tour_routine(chosen)

METHOD = Method("repeatedly appends the task that adds the fewest metres to the end of any tour", solve)
