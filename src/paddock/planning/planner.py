"""From a problem to a plan.

1. `Costs` measures every way in metres flown: in wind, around zones, climbing.
2. A method searches orders of tasks in those costs (`methods/`).
3. `build` turns the orders into routes along real paths (`routes.py`). Near zones a path may still be longer or shorter
   than its cost: a task by which its tour is too long or too late moves to another vehicle that can do it, or is
   undone; a task that was left out is added where its path fits.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, inf, pi
from types import MappingProxyType
from typing import Any

import numpy as np

from paddock.planning.costs import Costs, Covered
from paddock.planning.coverage.polygon import FieldShape
from paddock.planning.coverage.shapes import InfeasibleError
from paddock.planning.insertion import insert_tasks
from paddock.planning.methods import Method, MethodResult, Progress, find_method
from paddock.planning.obstacles.crossing import inside
from paddock.planning.problem import Problem, Task
from paddock.planning.routes import Plan, Route, Undone, first_infeasible, late_task, route_of
from paddock.planning.separation import separated
from paddock.planning.transits import between

MEASURED = 1e-9  # relative: a route that fits may exceed the range by this, as it is measured on its paths
ABOVE = 1.1  # a cost may be this much above the range: whether the path fits is measured
TRIES = 8  # vehicles that are tried for a task that was left out
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
    for vehicle, order in enumerate(orders):
        if vehicle not in _kept(orders, standing):
            while order and not costs.tour(vehicle, order)[0] <= limits[vehicle] * (1.0 + MEASURED):
                order.pop(_worst(costs, vehicle, order))
    orders = insert_tasks(costs, orders, limits, _missing(costs, orders))
    routes: list[Route] = []
    refused: dict[int, tuple[int, str]] = {}  # tasks without a path: the vehicle, and the reason
    for vehicle, order in enumerate(orders):
        if vehicle in _kept(orders, standing):
            routes.append(standing[vehicle][1])
            continue
        while (route := _fitting(costs, vehicle, order, refused)) is None:
            pass
        routes.append(route)
    _place(costs, orders, routes, limits, refused)
    vehicles, routes, meetings = separated(costs, orders, routes, _kept(orders, standing))
    missing = [(t, costs.problem.tasks[t].name) for t in _missing(costs, orders)]
    undone = [Undone(name, refused[t][1] if t in refused else reason(costs, t, orders)) for t, name in missing]
    problem = replace(costs.problem, vehicles=vehicles)
    return Plan(problem, method, tuple(routes), tuple(undone), result.notes, meetings)


def _kept(orders: Sequence[Sequence[int]], standing: Standing) -> set[int]:
    """Return the vehicles whose routes stand, as their tasks have not changed."""
    return {vehicle for vehicle, (order, _) in standing.items() if orders[vehicle] == order}


MOST_PARTS = 64  # of a field


def split_fields(problem: Problem) -> Problem:
    """Return the problem with parts in place of each field beyond every vehicle's range: `field[0]`, `field[1]`, ..."""
    return replace(problem, tasks=tuple(part for task in problem.tasks for part in _parts(problem, task)))


def _parts(problem: Problem, task: Task) -> Sequence[Task]:
    """Return as few parts of a field as single vehicles can do, or the task itself."""
    ranges = np.array([vehicle.range for vehicle in problem.vehicles])
    if not isinstance(task.shape, FieldShape) or not np.isfinite(ranges).any():
        return [task]
    whole = Costs(replace(problem, tasks=(task,)))
    cover = np.array([whole.jobs(k).cover[0] for k in range(whole.vehicles)])
    share = float(np.max((ranges - whole.alone[:, 0]) / cover + 1.0, where=np.isfinite(cover), initial=0.0))
    best, most = [task], 0
    for count in range(ceil(1.0 / share), MOST_PARTS) if 0.0 < share < 1.0 else ():
        cut: Sequence[FieldShape] = task.shape.parts(count)
        parts = [replace(task, name=f"{task.name}[{k}]", shape=part) for k, part in enumerate(cut)]
        fits = (Costs(replace(problem, tasks=tuple(parts))).alone <= ranges[:, None]).any(axis=0)
        if fits.sum() > most:
            best, most = parts, fits.sum()
        if fits.all() or count > 2.0 / share + 4.0:
            break
    return best


def _missing(costs: Costs, orders: Sequence[Sequence[int]]) -> list[int]:
    return sorted(set(range(costs.tasks)) - {t for order in orders for t in order})


def _worst(costs: Costs, vehicle: int, order: list[int]) -> int:
    """Return the place of the task to leave out: the first that is impossible in this order, else the most costly."""
    tours = [costs.tour(vehicle, order[: k + 1])[0] for k in range(len(order))]
    if inf in tours:
        return tours.index(inf)
    return int(np.argmin([costs.tour(vehicle, order[:k] + order[k + 1 :])[0] for k in range(len(order))]))


def _fitting(costs: Costs, vehicle: int, order: list[int], refused: dict[int, tuple[int, str]]) -> Route | None:
    """Return the route along its paths; None after a task that does not fit was removed from the order."""
    spec = costs.problem.vehicles[vehicle]
    try:
        route = route_of(costs, vehicle, order)
    except InfeasibleError as error:
        if not order:
            return Route(spec.name, (), spec.speed)  # no way home
        refused[order.pop(first_infeasible(costs, vehicle, order))] = vehicle, str(error)
        return None
    late = late_task(costs, route)
    if not order or (late is None and route.flown <= spec.range * (1.0 + MEASURED)):
        return route
    order.pop(_worst(costs, vehicle, order) if late is None else late)
    return None


def _place(
    costs: Costs,
    orders: list[list[int]],
    routes: list[Route],
    limits: Sequence[float],
    refused: Mapping[int, tuple[int, str]],
) -> None:
    """Give each task that is left to the vehicle where it costs least, of those whose path still fits with it."""
    for task in _missing(costs, orders):
        room = [ABOVE * limit for limit in limits]
        if task in refused:  # by a vehicle, and so by all that turn like it
            like = costs.class_of[refused[task][0]]
            room = [-1.0 if costs.class_of[k] == like else limit for k, limit in enumerate(room)]
        for _ in range(TRIES):
            if (found := insert_tasks(costs, orders, room, [task])) == orders:
                break
            vehicle = next(k for k, order in enumerate(found) if order != orders[k])
            order = list(found[vehicle])
            route = _fitting(costs, vehicle, order, {})
            if route is not None:
                orders[vehicle], routes[vehicle] = order, route
                break
            room[vehicle] = -1.0  # not this one


def reason(costs: Costs, task: int, orders: Sequence[Sequence[int]]) -> str:
    """Return why no vehicle does a task beside these orders, in one line; lengths are measured on paths."""
    if not costs.vehicles:
        return "no vehicle is able to do anything"
    wrong = [costs.coverage(vehicle, task) for vehicle in range(costs.vehicles)]
    errors = [error for error in wrong if isinstance(error, InfeasibleError)]
    if len(errors) == len(wrong):
        return str(errors[0])
    alone = costs.alone[:, task]
    ranges = np.array([vehicle.range for vehicle in costs.problem.vehicles])
    if not np.isfinite(alone).any():
        homes = [(v.home, between(costs.problem.zones, v.home[2], v.home[2])) for v in costs.problem.vehicles]
        around = [inside(home[0], home[1], zones) if zones else None for home, zones in homes]
        closed = [zone.name for zone in around if zone is not None]
        if len(closed) == len(homes):
            return f"the base lies in the no-fly zone {closed[0]!r}"
        if costs.problem.tasks[task].closes < inf:
            return _too_late(costs, task)
        return "no way leads there and back around the no-fly zones"
    able = np.flatnonzero(alone <= ranges)
    idle = [vehicle for vehicle in able.tolist() if not orders[vehicle]]
    if not len(able) or idle:  # an idle one would do it, if its path were not longer than its cost
        return _too_far(costs, task, idle[0] if idle else int(np.argmin(alone - ranges)))
    found = insert_tasks(costs, orders, [inf] * costs.vehicles, [task])
    for vehicle, order in enumerate(found):
        if len(order) > len(orders[vehicle]):
            who, flown = costs.problem.vehicles[vehicle], _measured(costs, vehicle, order)
            others = "its other task" if len(order) == 2 else f"its {len(order) - 1} other tasks"
            left = f"a range of {who.range:,.0f} m left"
            return f"{who.name} would fly {flown} with it beside {others}, it has {left}; no other has more room"
    opens, closes = costs.problem.tasks[task].opens, costs.problem.tasks[task].closes
    return f"no vehicle has time in its window from {opens:g} to {closes:g} s beside its other tasks"


def _measured(costs: Costs, vehicle: int, order: Sequence[int]) -> str:
    """Return metres flown on a tour along its paths, in words; estimated where there are none."""
    try:
        return f"{route_of(costs, vehicle, order).flown:,.0f} m"
    except InfeasibleError:
        return f"about {costs.tour(vehicle, order)[0]:,.0f} m"


def _too_far(costs: Costs, task: int, vehicle: int) -> str:
    """Return how far a task is for a vehicle without others, and whether the wind makes it so far."""
    who, problem = costs.problem.vehicles[vehicle], costs.problem
    far = f"it takes {_measured(costs, vehicle, [task])} there and back"
    if costs.transits.drift(who) != (0.0, 0.0):
        still = Costs(replace(problem, vehicles=(who,), tasks=(problem.tasks[task],), wind=(0.0, 0.0)))
        strength = float(np.hypot(*problem.wind))
        if (flown := still.tour(0, [0])[0]) <= who.range:
            far += f" in {strength:g} m/s of wind ({flown:,.0f} m in still air)"
    return f"{far}, {who.name} has a range of {who.range:,.0f} m left"


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
