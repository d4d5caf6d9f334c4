"""From a problem to a plan: costs, a method, routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, pi
from types import MappingProxyType
from typing import Any

import numpy as np

from paddock.planning.costs import Costs, Covered
from paddock.planning.coverage.shapes import InfeasibleError
from paddock.planning.insertion import insert_tasks
from paddock.planning.methods import Method, MethodResult, Tell, find_method
from paddock.planning.obstacles.crossing import inside
from paddock.planning.problem import Problem
from paddock.planning.routes import Plan, Route, Undone, first_infeasible, predictable, route_of

MEASURED = 1e-9
"""Relative: a route that fits may be longer than the range by this, as it is measured on its paths."""
ROUNDS = 4
"""How often tasks that turned out too far for one are offered to the others."""


Standing = Mapping[int, tuple[list[int], Route]]
"""Vehicle -> the tasks that it has, in order, and its route, which stays the same object as long as they do."""


def build(costs: Costs, answer: MethodResult, method: str, standing: Standing = MappingProxyType({})) -> Plan:
    """The plan of an answer. Every task is in it once: in a route, or among the undone with a reason."""
    if answer.headings:
        costs = Costs(costs.problem.with_headings(answer.headings))
    orders = [list(order) for order in answer.orders]
    if sorted(t for order in orders for t in order) != sorted({t for order in orders for t in order}):
        raise RuntimeError(f"method {method!r} gave a task to two vehicles")
    refused: dict[int, str] = {}  # tasks that no path leads to
    limits = [vehicle.range for vehicle in costs.problem.vehicles]
    for _ in range(ROUNDS):
        trim(costs, orders, limits, standing)
        insert(costs, orders, limits, [t for t in _missing(costs, orders) if t not in refused])
        routes, again = _routes(costs, orders, limits, refused, standing)
        if not again:
            break
    undone = [Undone(costs.problem.tasks[t].name, refused.get(t) or reason(costs, t)) for t in _missing(costs, orders)]
    return Plan(costs.problem, method, tuple(routes), tuple(undone), answer.notes)


def trim(costs: Costs, orders: list[list[int]], limits: Sequence[float], standing: Standing) -> None:
    """Take tasks off the end of orders that are beyond a vehicle's range, or impossible; not of those that stand."""
    for vehicle, order in enumerate(orders):
        if vehicle in standing and standing[vehicle][0] == order:
            continue
        while order and not costs.tour(vehicle, order)[0] <= limits[vehicle] * (1.0 + MEASURED):
            order.pop(_worst(costs, vehicle, order))


def _worst(costs: Costs, vehicle: int, order: list[int]) -> int:
    """What to take out: the first task that cannot be done in this order at all, otherwise the last one."""
    for k in range(len(order)):
        if costs.tour(vehicle, order[: k + 1])[0] == inf:
            return k
    return len(order) - 1


def insert(costs: Costs, orders: list[list[int]], limits: Sequence[float], tasks: Sequence[int]) -> None:
    """Offer tasks to all vehicles, each in its cheapest place; those that fit nowhere stay out."""
    orders[:] = insert_tasks(costs, orders, limits, tasks)


def _missing(costs: Costs, orders: Sequence[Sequence[int]]) -> list[int]:
    return sorted(set(range(costs.tasks)) - {t for order in orders for t in order})


def _routes(
    costs: Costs, orders: list[list[int]], limits: list[float], refused: dict[int, str], standing: Standing
) -> tuple[list[Route], bool]:
    """The routes, and whether any had to give up tasks that estimates had promised."""
    routes, again = [], False
    for vehicle, order in enumerate(orders):
        if vehicle in standing and standing[vehicle][0] == order:
            routes.append(standing[vehicle][1])
            continue
        before = len(order)
        routes.append(_route(costs, vehicle, order, limits, refused))
        again |= len(order) < before
    return routes, again


def _route(costs: Costs, vehicle: int, order: list[int], limits: list[float], refused: dict[int, str]) -> Route:
    """The route within the range; tasks to which no path leads are refused, those too far away are taken out."""
    while True:
        try:
            route = route_of(costs, vehicle, order)
        except InfeasibleError as error:
            if not order:
                return Route(
                    costs.problem.vehicles[vehicle].name, (), costs.problem.vehicles[vehicle].speed
                )  # no way home
            refused[order.pop(first_infeasible(costs, vehicle, order))] = str(error)
            continue
        if predictable(costs, vehicle, order) or not order:
            return route
        late = _late(costs, route)
        if route.flown <= limits[vehicle] * (1.0 + MEASURED) and late is None:
            return route
        limits[vehicle] = min(
            limits[vehicle], costs.tour(vehicle, order)[0] * (1.0 - 1e-6)
        )  # what was estimated is too much
        order.pop(len(order) - 1 if late is None else late)


def _late(costs: Costs, route: Route) -> int | None:
    """The place in its order of the first task that a route begins too late."""
    closes = {task.name: task.closes for task in costs.problem.tasks}
    begun = [leg for leg in route.legs if leg.kind == "coverage"]
    return next((k for k, leg in enumerate(begun) if leg.begins > closes[str(leg.task)] + 1e-9), None)


def reason(costs: Costs, task: int) -> str:
    """Why nobody does a task, in one line."""
    if not costs.vehicles:
        return "no vehicle is able to do anything"
    wrong = [costs.coverage(vehicle, task) for vehicle in range(costs.vehicles)]
    errors = [error for error in wrong if isinstance(error, InfeasibleError)]
    if len(errors) == len(wrong):
        return str(errors[0])
    alone = costs.alone[:, task]
    ranges = np.array([vehicle.range for vehicle in costs.problem.vehicles])
    if not np.isfinite(alone).any():
        return _unreachable(costs, task)
    if not (alone <= ranges).any():
        nearest = int(np.argmin(alone - ranges))
        who = costs.problem.vehicles[nearest]
        return (
            f"it takes {alone[nearest]:,.0f} m there and back, {who.name} has a range of {ranges[nearest]:,.0f} m left"
        )
    return "no vehicle has enough range left, or time in its window, beside its other tasks"


def _unreachable(costs: Costs, task: int) -> str:
    zones = costs.problem.zones
    homes = [inside(vehicle.home[0], vehicle.home[1], zones) if zones else None for vehicle in costs.problem.vehicles]
    closed = [zone.name for zone in homes if zone is not None]
    if len(closed) == len(homes):
        return f"the base lies in the no-fly zone {closed[0]!r}"
    if costs.problem.tasks[task].closes < inf:
        return _too_late(costs, task)
    return "no way leads there and back around the no-fly zones"


def _too_late(costs: Costs, task: int) -> str:
    """Why nobody begins a task in its window: it is too far away, or whoever is there too early waits too long."""
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


NOTHING: Mapping[Any, Any] = MappingProxyType({})


def solve(
    problem: Problem,
    method: str,
    options: Mapping[str, Any] = NOTHING,
    tell: Tell | None = None,
    covered: Covered | None = None,
) -> Plan:
    """The plan that a method finds for a problem; `tell` hears how far it has come, 0 to 1.

    `covered` keeps the paths of tasks for those who plan again.
    """
    found = find_method(method)
    chosen = found.read(options)
    costs = Costs(problem, covered)
    return build(costs, _first(found, chosen, costs, tell or _silence), method)


def revise(costs: Costs, method: str, options: Mapping[str, Any], orders: list[list[int]], standing: Standing) -> Plan:
    """The plan after an event: `orders` stand so far, and routes `standing` are kept as long as their orders are."""
    found = find_method(method)
    chosen = found.read(options)
    if found.revise is None or not costs.vehicles or not costs.tasks:
        answer = _first(found, chosen, costs, _silence)
    else:
        answer = found.revise(costs, chosen, orders)
    return build(costs, answer, method, standing)


def _first(method: Method, options: Any, costs: Costs, tell: Tell) -> MethodResult:
    if any(task.heading is not None for task in costs.problem.tasks):  # chosen by an earlier plan
        costs = Costs(costs.problem.with_headings({}))
    if not costs.vehicles or not costs.tasks:  # nothing to search for, whatever the method
        return MethodResult([[] for _ in costs.problem.vehicles])
    return method.solve(costs, options, tell)


def _silence(part: float) -> None:
    """Nobody listens."""
