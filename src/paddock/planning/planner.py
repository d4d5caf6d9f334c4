"""From a problem to a plan.

1. `Costs` estimates distances: exact Dubins lengths, plus estimated detours around zones.
2. A method searches for orders of tasks with those costs (`methods/`).
3. `build` turns the orders into routes along feasible paths (`routes.py`). A path may exceed its estimate: tasks
   that no longer fit a vehicle are then offered to the others, at most ROUNDS times.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, pi
from types import MappingProxyType
from typing import Any

import numpy as np

from paddock.planning.costs import Costs, Covered
from paddock.planning.coverage.shapes import InfeasibleError
from paddock.planning.insertion import insert_tasks
from paddock.planning.methods import Method, MethodResult, Progress, find_method
from paddock.planning.obstacles.crossing import inside
from paddock.planning.problem import Problem
from paddock.planning.routes import Plan, Route, Undone, first_infeasible, late_task, predictable, route_of
from paddock.planning.separation import separated

MEASURED = 1e-9  # relative tolerance of a route's length against the range
ROUNDS = 4
NOTHING: Mapping[Any, Any] = MappingProxyType({})
Standing = Mapping[int, tuple[list[int], Route]]
"""Vehicle -> its tasks in order and its route, which is kept until its tasks change."""


def solve(
    problem: Problem,
    method: str,
    options: Mapping[str, Any] = NOTHING,
    progress: Progress | None = None,
    covered: Covered | None = None,
    *,
    tell: Progress | None = None,
) -> Plan:
    """Return the plan of a method; `progress` is called with the share done, `covered` caches paths for later calls."""
    if tell is not None:
        warnings.warn("solve(tell=...) is deprecated: use solve(progress=...)", DeprecationWarning, stacklevel=2)
        progress = tell
    found = find_method(method)
    chosen = found.read(options)
    costs = Costs(problem, covered)
    return build(costs, _searched(found, chosen, costs, progress or (lambda share: None)), method)


def revise(costs: Costs, method: str, options: Mapping[str, Any], orders: list[list[int]], standing: Standing) -> Plan:
    """Return the plan after an event; `orders` are the present ones, routes `standing` are kept with their orders."""
    found = find_method(method)
    chosen = found.read(options)
    if found.revise is None or not costs.vehicles or not costs.tasks:
        result = _searched(found, chosen, costs, lambda share: None)
    else:
        result = found.revise(costs, chosen, orders)
    return build(costs, result, method, standing)


def _searched(method: Method, options: Any, costs: Costs, progress: Progress) -> MethodResult:
    if any(task.heading is not None for task in costs.problem.tasks):  # chosen by an earlier plan
        costs = Costs(costs.problem.with_headings({}))
    if not costs.vehicles or not costs.tasks:
        return MethodResult([[] for _ in costs.problem.vehicles])
    return method.solve(costs, options, progress)


def build(costs: Costs, result: MethodResult, method: str, standing: Standing = NOTHING) -> Plan:
    """Return the plan of a method's result; each task is in one route, or undone with a reason."""
    if result.headings:
        costs = Costs(costs.problem.with_headings(result.headings))
    orders = [list(order) for order in result.orders]
    given = [task for order in orders for task in order]
    if len(given) != len(set(given)):
        raise RuntimeError(f"method {method!r} gave a task to two vehicles")
    limits = [vehicle.range for vehicle in costs.problem.vehicles]
    refused: dict[int, str] = {}  # unreachable tasks, with the reason
    for _ in range(ROUNDS):
        for vehicle, order in enumerate(orders):
            if vehicle not in _kept(orders, standing):
                _trim(costs, vehicle, order, limits[vehicle])
        orders = insert_tasks(costs, orders, limits, [t for t in _missing(costs, orders) if t not in refused])
        planned = sum(map(len, orders))
        routes = [
            standing[vehicle][1]
            if vehicle in _kept(orders, standing)
            else _route(costs, vehicle, order, limits, refused)
            for vehicle, order in enumerate(orders)
        ]
        if sum(map(len, orders)) == planned:
            break
    vehicles, routes, meetings = separated(costs, orders, routes, _kept(orders, standing))
    undone = [Undone(costs.problem.tasks[t].name, refused.get(t) or reason(costs, t)) for t in _missing(costs, orders)]
    problem = replace(costs.problem, vehicles=vehicles)
    return Plan(problem, method, tuple(routes), tuple(undone), result.notes, meetings)


def _kept(orders: Sequence[Sequence[int]], standing: Standing) -> set[int]:
    """Return the vehicles whose routes stand, as their tasks have not changed."""
    return {vehicle for vehicle, (order, _) in standing.items() if orders[vehicle] == order}


def _missing(costs: Costs, orders: Sequence[Sequence[int]]) -> list[int]:
    return sorted(set(range(costs.tasks)) - {t for order in orders for t in order})


def _trim(costs: Costs, vehicle: int, order: list[int], limit: float) -> None:
    """Remove tasks until the estimated tour fits: the first that is impossible in this order, otherwise the last."""
    while order and not costs.tour(vehicle, order)[0] <= limit * (1.0 + MEASURED):
        lengths = (costs.tour(vehicle, order[: k + 1])[0] for k in range(len(order)))
        order.pop(next((k for k, length in enumerate(lengths) if length == inf), len(order) - 1))


def _route(costs: Costs, vehicle: int, order: list[int], limits: list[float], refused: dict[int, str]) -> Route:
    """Return the route within the range; refuse unreachable tasks, remove those that are too far or too late."""
    spec = costs.problem.vehicles[vehicle]
    while True:
        try:
            route = route_of(costs, vehicle, order)
        except InfeasibleError as error:
            if not order:
                return Route(spec.name, (), spec.speed)  # no way home
            refused[order.pop(first_infeasible(costs, vehicle, order))] = str(error)
            continue
        if predictable(costs, vehicle, order) or not order:
            return route
        late = late_task(costs, route)
        if route.flown <= limits[vehicle] * (1.0 + MEASURED) and late is None:
            return route
        limits[vehicle] = min(limits[vehicle], costs.tour(vehicle, order)[0] * (1.0 - 1e-6))  # the estimate is too low
        order.pop(len(order) - 1 if late is None else late)


def reason(costs: Costs, task: int) -> str:
    """Return why no vehicle does a task, in one line."""
    if not costs.vehicles:
        return "no vehicle is able to do anything"
    wrong = [costs.coverage(vehicle, task) for vehicle in range(costs.vehicles)]
    errors = [error for error in wrong if isinstance(error, InfeasibleError)]
    if len(errors) == len(wrong):
        return str(errors[0])
    alone = costs.alone[:, task]
    ranges = np.array([vehicle.range for vehicle in costs.problem.vehicles])
    if not np.isfinite(alone).any():
        zones = costs.problem.zones
        homes = [inside(v.home[0], v.home[1], zones) if zones else None for v in costs.problem.vehicles]
        closed = [zone.name for zone in homes if zone is not None]
        if len(closed) == len(homes):
            return f"the base lies in the no-fly zone {closed[0]!r}"
        if costs.problem.tasks[task].closes < inf:
            return _too_late(costs, task)
        return "no way leads there and back around the no-fly zones"
    if not (alone <= ranges).any():
        nearest = int(np.argmin(alone - ranges))
        name = costs.problem.vehicles[nearest].name
        return f"it takes {alone[nearest]:,.0f} m there and back, {name} has a range of {ranges[nearest]:,.0f} m left"
    return "no vehicle has enough range left, or time in its window, beside its other tasks"


def _too_late(costs: Costs, task: int) -> str:
    """Return why no vehicle begins a task in its window: it is too far away, or waiting circles are too long."""
    opens, closes = costs.problem.tasks[task].opens, costs.problem.tasks[task].closes
    for vehicle, way in zip(costs.problem.vehicles, costs.first[:, task].tolist(), strict=True):
        arrival = vehicle.ready + way / vehicle.speed
        if arrival <= closes:
            circle = 2.0 * pi * vehicle.radius / vehicle.speed
            return (
                f"{vehicle.name} is there at {arrival:.0f} s, too early for its window from {opens:g} to {closes:g} s, "
                f"and it can only wait in circles of {circle:.0f} s"
            )
    return f"no vehicle can be there before its window closes at {closes:g} s"
