"""Routing: whole sequences by PyVRP's iterated local search, then polished with exact tours.

PyVRP gets Dubins lengths between tasks, with the coverage of a task added to the edges that leave it. A task with
a free heading first points straight to the next; then the best headings for the orders found are chosen by
dynamic programming over a refined grid, and the search continues with those.
"""

import warnings
from collections.abc import Sequence
from math import inf, isnan, pi
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import empty, int64, zeros

from paddock.compute.math import wrap_angle
from paddock.errors import MissingFeatureError
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import Method, MethodResult, Progress
from paddock.planning.solver.methods.annealing import polished, revise, value
from paddock.planning.solver.tours import Detours, Ints, Jobs, Mover, tour_routine, travel
from paddock.world.columns import Column, Floats

SCALE = 10.0  # PyVRP uses integers: tenths of a metre, and of the time in which the slowest vehicle flies one
NEVER = 10**8  # an impossible edge: 10,000 km
PRIZE = 4 * 10**7  # the value of a task: more than any detour, less than an impossible edge
OVERTIME = 50  # cost of a tenth of a metre beyond the target time, for the makespan
ROUNDS = 2  # rounds of search: headings for the orders found, then orders for these headings
AIMS = 5  # number of target times tried, for the makespan


class Options(NamedTuple):
    """Length of the search. Equal iterations give equal plans; seconds depend on the machine."""

    iterations: Annotated[float, Column("", "rounds of PyVRP's search", 1.0, 1e9)] = 4000.0
    seconds: Annotated[
        float, Column("s", "stop after this time at the latest; 0: never; not inside a run", 0.0, 1e6)
    ] = 0.0
    polish: Annotated[float, Column("", "steps of the polish with exact tours", 0.0, 1e9)] = 200_000.0


def solve(costs: Costs, options: Options, progress: Progress) -> MethodResult:
    """Return the best order that the search and the polish find."""
    try:
        import pyvrp  # noqa: F401
    except ImportError:
        raise MissingFeatureError("method 'routing' needs PyVRP: pip install 'paddock[plan]'") from None
    best, least, headed = MethodResult([]), (costs.tasks + 1, np.inf), costs
    for k in range(ROUNDS):
        search = RoutingSearch(headed, options)
        orders = search.orders(lambda part, k=k: progress((k + 0.9 * part) / ROUNDS))  # type: ignore[misc]
        headings = chosen_headings(costs, orders, headed)
        headed = headed.headed(headings)
        orders = polished(headed, orders, int(options.polish) // ROUNDS)
        if (reached := value(headed, orders)) < least:
            best, least = MethodResult(orders, {"iterations": int(options.iterations)}, headings), reached
    progress(1.0)
    return best


class RoutingSearch:
    """The problem in PyVRP's terms. Locations: where vehicles are free, their homes, then the tasks."""

    def __init__(self, costs: Costs, options: Options) -> None:
        self.costs, self.options = costs, options
        kinds = range(max(costs.class_of) + 1)
        speeds = [costs.problem.vehicles[costs.class_of.index(kind)].speed for kind in kinds]
        self.speed = min(speeds)  # m/s: a unit of time is a tenth of a metre at this speed
        self.distances = [distances_in_decimetres(costs, kind) for kind in kinds]
        self.durations = [
            np.where(ways >= NEVER, NEVER, np.round(ways * (self.speed / own))).astype(np.int64)
            for ways, own in zip(self.distances, speeds, strict=True)
        ]

    def orders(self, progress: Progress) -> list[list[int]]:
        """Return the tasks of each vehicle, in order."""
        return self._earliest(progress) if self.costs.problem.objective == "makespan" else self._search(1.0 / ROUNDS)

    def _earliest(self, progress: Progress) -> list[list[int]]:
        """Minimise the makespan: try target times until one cannot be met."""
        costs = self.costs
        best: list[list[int]] = [[] for _ in range(costs.vehicles)]
        least = (costs.tasks + 1, np.inf)
        speeds = np.array([vehicle.speed for vehicle in costs.problem.vehicles])
        alone = (costs.alone / speeds[:, None]).min(axis=0)
        # lower bound: the farthest task alone
        low, high = float(alone[np.isfinite(alone)].max(initial=0.0)) * self.speed * SCALE, np.inf
        aim = low
        for k in range(AIMS):
            orders = self._search(1.0 / (AIMS * ROUNDS), aim)
            missing = costs.tasks - sum(map(len, orders))
            end = max(costs.tour(a, order)[1] for a, order in enumerate(orders)) + 1e6 * missing
            if (reached := value(costs, orders)) < least:
                best, least = orders, reached
            high = min(high, end * self.speed * SCALE)
            # increase the target until a plan is feasible
            aim = low + (high - low) * (0.8 - 0.1 * k) if high < np.inf else 2.0 * max(aim, SCALE)
            progress((k + 1) / AIMS)
        return best

    def _search(self, share: float, aim: float | None = None) -> list[list[int]]:
        """Search with a share of the iterations and of the time; with a target time, lateness costs most."""
        from pyvrp import Client, Depot, Location, ProblemData, VehicleType
        from pyvrp import solve as run_search
        from pyvrp.exceptions import PenaltyBoundWarning
        from pyvrp.stop import MaxIterations, MaxRuntime, MultipleCriteria

        problem, vehicles = self.costs.problem, self.costs.vehicles
        clients, types = [], []
        for client, task in enumerate(problem.tasks, 2 * vehicles):
            late: dict[str, Any] = {"tw_late": self._time(task.closes)} if task.closes < np.inf else {}
            clients.append(Client(client, tw_early=self._time(task.opens), prize=PRIZE, required=False, **late))
        home_by: dict[str, Any] = {}
        if aim is not None:
            home_by = {"shift_duration": int(aim), "max_overtime": NEVER, "unit_overtime_cost": OVERTIME}
        for k, (who, profile) in enumerate(zip(problem.vehicles, self.costs.class_of, strict=True)):
            far: dict[str, Any] = {"max_distance": int(who.range * SCALE)} if who.range < NEVER / SCALE else {}
            ends: dict[str, Any] = {"start_depot": k, "end_depot": vehicles + k, "tw_early": self._time(who.ready)}
            types.append(VehicleType(profile=profile, **ends, **far, **home_by))
        locations = [Location(0, 0) for _ in range(2 * vehicles + self.costs.tasks)]
        depots = [Depot(k) for k in range(2 * vehicles)]
        data = ProblemData(locations, clients, depots, types, self.distances, self.durations)  # type: ignore[arg-type]
        stops: list[Any] = [MaxIterations(max(1, int(self.options.iterations * share)))]
        if self.options.seconds > 0.0:
            stops.append(MaxRuntime(self.options.seconds * share))
        seed = problem.seed % 2**32  # PyVRP uses 32 bits
        with warnings.catch_warnings():  # a penalty at its bound: the polish and the build judge what was found
            warnings.simplefilter("ignore", PenaltyBoundWarning)
            result = run_search(data, MultipleCriteria(stops), seed=seed, collect_stats=False, display=False)
        orders: list[list[int]] = [[] for _ in range(vehicles)]
        for route in result.best.routes():
            orders[route.vehicle_type()] = [step.idx for step in route if step.is_client()]
        return orders

    def _time(self, seconds: float) -> int:
        return round(seconds * self.speed * SCALE)


def distances_in_decimetres(costs: Costs, kind: int) -> Ints:
    """Return tenths of a metre between all locations, for a class of vehicles."""
    vehicles, tasks = costs.vehicles, costs.tasks
    vehicle = costs.class_of.index(kind)
    ways = np.full((2 * vehicles + tasks, 2 * vehicles + tasks), np.inf)
    cover = costs.jobs(vehicle).cover
    own = [a for a in range(vehicles) if costs.class_of[a] == kind]
    for a in own:
        ways[a, 2 * vehicles :] = costs.first[a]
        ways[2 * vehicles :, vehicles + a] = costs.home[a] + cover
        ways[a, vehicles + a] = 0.0
    ways[2 * vehicles :, 2 * vehicles :] = costs.between(vehicle, np.arange(tasks)) + cover[:, None]
    ways[~np.isfinite(ways)] = NEVER / SCALE
    np.fill_diagonal(ways, 0.0)
    return np.minimum(np.round(ways * SCALE), NEVER).astype(np.int64)


METHOD = Method(
    "PyVRP's search over whole sequences, polished with exact tours", solve, Options, revise, clocked="seconds"
)


COARSE = 32  # headings tried for each task at first, over the full circle
FINE = 7  # then, around the best so far
REFINEMENTS = 6  # number of grid refinements


def chosen_headings(costs: Costs, orders: Sequence[Sequence[int]], headed: Costs | None = None) -> dict[int, float]:
    """Return the headings (rad) of tasks with a free heading, minimising the metres flown in these orders.

    `headed` are costs with other headings, if known: ways that do not change are taken from there.
    """
    by_task: dict[int, float] = {}
    for vehicle, order in enumerate(orders):
        free = [t for t in order if np.isnan(costs.jobs(vehicle).entry[t, 2])]
        if free:
            headings = np.full(len(order), np.nan)
            args = (costs.movers[vehicle], costs.jobs(vehicle), costs.detours(vehicle, order))
            refine_headings(*args, np.array(order, dtype=np.int64), headings)
            by_task |= {t: float(headings[order.index(t)]) for t in free}
    return _passable_headings(headed or costs, orders, by_task) if costs.problem.zones else by_task


def _passable_headings(costs: Costs, orders: Sequence[Sequence[int]], headings: dict[int, float]) -> dict[int, float]:
    """Return the headings without those between which zones leave no way: with any heading there may be one."""
    while True:
        headed, closed = costs.headed(headings), set[int]()
        for vehicle, order in enumerate(orders):
            for k in np.flatnonzero(np.isinf(headed.legs(vehicle, order)[:, 0])).tolist():
                closed.update(order[max(k - 1, 0) : k + 1])
        if closed.isdisjoint(headings):
            return headings
        headings = {task: heading for task, heading in headings.items() if task not in closed}


def optimise_headings(m: Mover, j: Jobs, extra: Detours, order: Ints, headings: Floats) -> None:
    """Write the best heading of each task with a free heading into `headings` (n,), NaN for the others."""
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
    """Choose the best heading of each task among `count` grid values: forward shortest paths, then backtracking."""
    n = len(order)
    value, previous = empty((n + 1, count)), zeros((n + 1, count), int64)
    for k in range(n + 1):  # the last way leads home
        s, t = order[k - 1] if k > 0 else -1, order[k] if k < n else -1
        goal = m.home_heading if t < 0 else j.entry[t, 2]
        leave = m.heading if s < 0 else j.leave[s, 2]
        for h in range(count if t >= 0 and isnan(goal) else 1):
            arrival = grid[k, h] if t >= 0 and isnan(goal) else goal
            value[k, h] = inf
            for g in range(count if s >= 0 and isnan(leave) else 1):
                away = grid[k - 1, g] if s >= 0 and isnan(leave) else leave
                total = headed_way(m, j, extra, s, away, t, arrival)
                if k > 0:
                    total = value[k - 1, g] + total
                if t >= 0:
                    total += j.cover[t]
                if total < value[k, h]:
                    value[k, h], previous[k, h] = total, g
    best = previous[n, 0]
    for k in range(n - 1, -1, -1):
        headings[k] = grid[k, best] if isnan(j.entry[order[k], 2]) else j.entry[order[k], 2]
        best = previous[k, best]


def headed_way(m: Mover, j: Jobs, extra: Detours, before: int, heading: float, to: int, arrival: float) -> float:
    """Return metres flown after a task (-1: none yet) to another (-1: home) from one heading to another.

    A way around zones to a task with a free heading is known to that place: the turn to the heading is added.
    """
    x, y, z, gx, gy, gz = m.x, m.y, m.z, m.home_x, m.home_y, m.home_z
    if before >= 0:
        x, y, z = j.leave[before, 0], j.leave[before, 1], m.height if isnan(j.z[before]) else j.z[before]
    if to >= 0:
        gx, gy, gz = j.entry[to, 0], j.entry[to, 1], m.height if isnan(j.z[to]) else j.z[to]
    way, reached = travel(m, extra, before, x, y, z, heading, to, gx, gy, gz, arrival)
    if not way < inf or reached == arrival:
        return way
    return way + m.held * abs(wrap_angle(arrival - reached))


refine_headings = tour_routine(optimise_headings)
