"""From a problem to a plan.

1. `Costs` measures every way in metres flown: in wind, around zones, climbing.
2. A method searches orders of tasks in those costs (`methods/`).
3. `build` turns the orders into routes along real paths (`routes.py`), whose lengths count from here on. Of a tour that
   is too long on its path, the vehicle keeps as many tasks as it can do; one that is too late loses the tasks by which
   it is. Tasks that are left go where their paths fit, or to idle vehicles, or are undone with a reason.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import ceil, floor, inf, pi
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from paddock.compute.math import hypot
from paddock.planning.geometry.polygon import FieldShape
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.zones import inside
from paddock.planning.solver.costs import Costs, Covered
from paddock.planning.solver.insertion import insert_tasks
from paddock.planning.solver.layers import assign_layers
from paddock.planning.solver.methods import Method, MethodResult, Progress, find_method
from paddock.planning.solver.methods.routing import chosen_headings
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.planning.solver.routes import Plan, Route, Undone, first_infeasible, in_range, in_time, late_task, route_of
from paddock.planning.solver.tours import fits
from paddock.planning.solver.transits import between
from paddock.world.columns import Floats

ABOVE = 1.25  # a cost may be this much above the range: whether the path fits is measured
TRIES = 8  # vehicles that are tried for a task that was left out
MOST_CHOSEN = 256  # tasks of a tour that is too long among which those to keep are chosen
SIMILAR = 4  # vehicles of which the reason of an undone task names the one that needs least
NOTHING: Mapping[Any, Any] = MappingProxyType({})
KeptRoutes = Mapping[int, tuple[list[int], Route]]
"""Vehicle -> its tasks in order and its route, which is kept until its tasks change."""


def solve(
    problem: Problem,
    method: str,
    options: Mapping[str, Any] = NOTHING,
    progress: Progress | None = None,
    covered: Covered | None = None,
) -> Plan:
    """Return the plan of a method; `progress` is called with the share done, `covered` caches paths for later calls."""
    planning_method = find_method(method)
    values = planning_method.read(options)
    costs = Costs(problem, covered)
    return build(costs, run_method(planning_method, values, costs, progress or (lambda share: None)), method)


def revise(
    costs: Costs, method: str, options: Mapping[str, Any], orders: list[list[int]], kept_routes: KeptRoutes
) -> Plan:
    """Return the plan after an event.

    orders: the present tasks of each vehicle; kept_routes: routes that stay unless the orders of their vehicles change.
    """
    planning_method = find_method(method)
    values = planning_method.read(options)
    if planning_method.revise is None or not costs.vehicles or not costs.tasks:
        result = run_method(planning_method, values, costs, lambda share: None)
    else:
        result = planning_method.revise(costs, values, orders)
    return build(costs, result, method, kept_routes)


def run_method(method: Method, options: Any, costs: Costs, progress: Progress) -> MethodResult:
    """Return the result of a method; without vehicles or tasks there is nothing to search."""
    if any(task.heading is not None for task in costs.problem.tasks):  # chosen by an earlier plan
        costs = Costs(costs.problem.with_headings({}))
    if not costs.vehicles or not costs.tasks:
        return MethodResult([[] for _ in costs.problem.vehicles])
    return method.solve(costs, options, progress)


def build(costs: Costs, result: MethodResult, method: str, kept_routes: KeptRoutes = NOTHING) -> Plan:
    """Return the plan of a method's result; each task is in one route, or undone with a reason."""
    costs = costs.headed(result.headings) if result.headings else costs
    orders = [list(order) for order in result.orders]
    planned = [task for order in orders for task in order]
    if len(planned) != len(set(planned)):
        raise RuntimeError(f"method {method!r} gave a task to two vehicles")
    unchanged = _unchanged(orders, kept_routes)
    routes = [kept_routes[k][1] if k in unchanged else _fit_route(costs, k, order) for k, order in enumerate(orders)]
    tasks = costs.problem.tasks
    costs = costs.headed({t: h for order in orders for t in order if (h := tasks[t].heading) is not None})
    _insert_left(costs, orders, routes, planned)
    costs = _send_idle(costs, orders, routes)
    _exchange(costs, orders, routes)
    vehicles, routes, meetings = assign_layers(costs, orders, routes, _unchanged(orders, kept_routes))
    undone = [Undone(costs.problem.tasks[t].name, reason(costs, t, orders)) for t in _missing(costs, orders)]
    problem = replace(costs.problem, vehicles=vehicles)
    return Plan(problem, method, tuple(routes), tuple(undone), result.notes, meetings)


def _unchanged(orders: Sequence[Sequence[int]], kept_routes: KeptRoutes) -> set[int]:
    """Return the vehicles whose routes are kept, because their tasks have not changed."""
    return {vehicle for vehicle, (order, _) in kept_routes.items() if orders[vehicle] == order}


def _missing(costs: Costs, orders: Sequence[Sequence[int]]) -> list[int]:
    return sorted(set(range(costs.tasks)) - {t for order in orders for t in order})


def _left_tasks(costs: Costs, orders: Sequence[Sequence[int]]) -> list[int]:
    """Return the tasks that are in no order although some vehicle has a path over them."""
    left: list[int] = costs.possible(np.array(_missing(costs, orders), np.int64)).tolist()
    return left


def _fit_route(costs: Costs, vehicle: int, order: list[int]) -> Route:
    """Return the route along its paths, and leave only tasks in the order with which it is feasible and in range."""
    spec = costs.problem.vehicles[vehicle]
    limit = spec.range
    while order:
        try:
            route = route_of(costs, vehicle, order)
        except InfeasibleError:
            order.pop(first_infeasible(costs, vehicle, order))
            continue
        late = late_task(costs, route)
        if late is not None:
            order.pop(late)
        elif in_range(route, spec):
            return route
        else:
            fitting, cost = most_within(costs, vehicle, order, limit)
            if len(fitting) == len(order):  # its path is longer than it costs
                limit = min(limit, cost) * spec.range / route.flown
                fitting, _ = most_within(costs, vehicle, order, limit)
            order[:] = fitting
    try:
        return route_of(costs, vehicle, order)
    except InfeasibleError:  # no way home
        return Route(spec.name, (), spec.speed)


def most_within(costs: Costs, vehicle: int, order: Sequence[int], limit: float) -> tuple[list[int], float]:
    """Return as many tasks of an order, in that order, as cost a vehicle at most `limit` m, and what they cost.

    Of equally many the shortest tour is taken, of long orders the beginning; waiting for windows is not included.
    """
    if not order:
        return [], 0.0
    if len(order) > MOST_CHOSEN:
        count = bisect_right(range(len(order) + 1), limit, key=lambda k: costs.tour(vehicle, order[:k])[0])
        chosen = list(order[: max(count - 1, 0)])
        return chosen, costs.tour(vehicle, chosen)[0]
    n, tasks = len(order), np.array(order, np.int64)
    first, between, home = costs.transit_lengths(vehicle, tasks)
    cover = costs.jobs(vehicle).cover[tasks]
    onward = np.where(np.triu(np.ones((n, n), bool), 1), between, inf) + cover
    # by the number of tasks before, and the last task
    least, previous = np.full((n, n), inf), np.zeros((n, n), np.int64)
    least[0] = first + cover
    for count in range(1, n):
        ways = least[count - 1, :, None] + onward
        previous[count] = ways.argmin(axis=0)
        least[count] = ways.min(axis=0)
    whole = least + home
    count = max((c for c in range(n) if fits(float(whole[c].min()), limit)), default=-1)
    if count < 0:
        return [], 0.0
    last = int(np.argmin(whole[count]))
    chosen, cost = list[int](), float(whole[count, last])
    for c in range(count, -1, -1):
        chosen.append(order[last])
        last = int(previous[c, last])
    return chosen[::-1], cost


def _insert_left(costs: Costs, orders: list[list[int]], routes: list[Route], planned: Sequence[int]) -> None:
    """Give each task that is left to the vehicle where it costs least, of those whose path still fits with it."""
    for vehicle, order in enumerate(_orders_with(costs, orders, planned)):
        if order != orders[vehicle]:
            routes[vehicle], orders[vehicle] = _fit_route(costs, vehicle, order), order
    for task in _left_tasks(costs, orders) if costs.problem.zones else ():
        room = ABOVE * costs.ranges
        for _ in range(TRIES):
            if (trial := insert_tasks(costs, orders, room, [task])) == orders:
                break
            vehicle = next(k for k, order in enumerate(trial) if order != orders[k])
            try:
                route = route_of(costs, vehicle, trial[vehicle])
            except InfeasibleError:  # for all that turn like it
                room[np.array(costs.class_of) == costs.class_of[vehicle]] = -1.0
                continue
            if in_time(costs, vehicle, route):
                orders[vehicle], routes[vehicle] = trial[vehicle], route
                break
            room[vehicle] = -1.0  # not this one


def _orders_with(costs: Costs, orders: list[list[int]], planned: Sequence[int]) -> list[list[int]]:
    """Return orders with the tasks that are left where they cost least, or else with most of them.

    Idle vehicles are also offered as many at once as they can do, in the order in which they were `given`.
    """
    left = _left_tasks(costs, orders)
    inserted = insert_tasks(costs, orders, costs.ranges, left)
    if not left or sum(map(len, inserted)) == sum(map(len, orders)) + len(left):
        return inserted
    before = {task: k for k, task in enumerate(planned)}
    rest, trial = sorted(left, key=lambda task: before.get(task, len(planned))), [list(order) for order in orders]
    for vehicle in sorted(np.flatnonzero([not order for order in orders]).tolist(), key=lambda k: -costs.ranges[k]):
        if not rest:
            break
        able = [task for task in rest if np.isfinite(costs.jobs(vehicle).cover[task])]
        trial[vehicle], _ = most_within(costs, vehicle, able, costs.ranges[vehicle])
        rest = [task for task in rest if task not in trial[vehicle]]
    return max(inserted, insert_tasks(costs, trial, costs.ranges, rest), key=lambda tried: sum(map(len, tried)))


def _send_idle(costs: Costs, orders: list[list[int]], routes: list[Route]) -> Costs:
    """Give each task that is left to an idle vehicle that can do it alone; return the costs with its heading."""
    headings: dict[int, float] = {}
    for task in _left_tasks(costs, orders) if not all(orders) else ():
        beyond = _excess(costs, task)
        for vehicle in _idle(costs, task, orders)[:TRIES]:
            spec = costs.problem.vehicles[vehicle]
            if not beyond[vehicle] < (ABOVE - 1.0) * spec.range + 2.0 * pi * costs.movers[vehicle].held:
                continue  # too far, with any heading
            with suppress(InfeasibleError):
                route, heading = alone(costs, vehicle, task)
                if in_time(costs, vehicle, route):
                    orders[vehicle], routes[vehicle] = [task], route
                    headings |= heading
                    break
    before = {k: task.heading for k, task in enumerate(costs.problem.tasks) if task.heading is not None}
    return costs.headed(before | headings)


def _exchange(costs: Costs, orders: list[list[int]], routes: list[Route]) -> None:
    """Give each task that is left to a vehicle that can do it alone, if others can take over all tasks of that one."""
    for task in _left_tasks(costs, orders)[:TRIES]:
        alone = costs.alone_of(task)
        able = np.flatnonzero(np.isfinite(alone) & (alone <= costs.ranges))
        for vehicle in able[np.argsort(alone[able], kind="stable")][:TRIES].tolist():
            trial = [[task] if k == vehicle else list(order) for k, order in enumerate(orders)]
            others = sorted(orders[vehicle], key=lambda t: -float(costs.alone_of(t).min()))  # the largest first
            trial = insert_tasks(costs, trial, costs.ranges, others)
            if len(_missing(costs, trial)) >= len(_missing(costs, orders)):
                continue
            new_routes = {k: _fit_route(costs, k, order) for k, order in enumerate(trial) if order != orders[k]}
            if len(_missing(costs, trial)) < len(_missing(costs, orders)):
                orders[:] = trial
                for k, route in new_routes.items():
                    routes[k] = route
                break


def _idle(costs: Costs, task: int, orders: Sequence[Sequence[int]]) -> list[int]:
    """Return vehicles without tasks, the nearest to a task first by estimate; of equal ones the first."""
    seen: dict[Vehicle, int] = {}
    for vehicle in np.argsort(_excess(costs, task), kind="stable").tolist():
        if not orders[vehicle] and not isinstance(costs.coverage(vehicle, task), InfeasibleError):
            seen.setdefault(replace(costs.problem.vehicles[vehicle], name=""), vehicle)
    return list(seen.values())


def _excess(costs: Costs, task: int) -> Floats:
    """Return by how much (m, estimated) a task alone is beyond the range of each vehicle; inf: impossible."""
    ways = costs.alone_of(task)
    return np.asarray(np.subtract(ways, costs.ranges, out=np.full(len(ways), inf), where=ways < inf))


def _nearest(costs: Costs, task: int, vehicles: Sequence[int]) -> int:
    """Return the vehicle that a task alone takes beyond its range by least; of similar ones measured on paths."""
    beyond, ways = _excess(costs, task), costs.alone_of(task)
    order = sorted(vehicles, key=lambda k: beyond[k])
    similar = beyond[order[0]] + (ABOVE - 1.0) * ways[order[0]]
    lengths = {}
    for k in [k for k in order if beyond[k] <= similar][:SIMILAR] if similar < inf else ():
        with suppress(InfeasibleError):
            lengths[k] = alone(costs, k, task)[0].flown - costs.ranges[k]
    return min(lengths, key=lambda k: lengths[k], default=order[0])


def alone(costs: Costs, vehicle: int, task: int) -> tuple[Route, dict[int, float]]:
    """Return the shortest route on which a vehicle does one task, and its heading there if that is chosen."""
    free = Costs(_only(costs.problem, vehicle, task), transits=costs.transits)
    if not (chosen := chosen_headings(free, [[0]])):
        return route_of(free, 0, [0]), {}
    candidates = []
    with suppress(InfeasibleError):
        candidates.append((route_of(free.headed(chosen), 0, [0]), {task: chosen[0]}))
    try:
        candidates.append((route_of(free, 0, [0]), {}))
    except InfeasibleError:
        if not candidates:
            raise
    return min(candidates, key=lambda pair: pair[0].flown)


def _only(problem: Problem, vehicle: int, task: int) -> Problem:
    """Return the problem with one vehicle and one task, whose heading is not chosen."""
    return replace(problem, vehicles=(problem.vehicles[vehicle],), tasks=(problem.tasks[task],)).with_headings({})


def reason(costs: Costs, task: int, orders: Sequence[Sequence[int]]) -> str:
    """Return why no vehicle does a task beside these orders, in one line; lengths are measured on paths."""
    if not costs.vehicles:
        return "no vehicle is able to do anything"
    wrong = [costs.coverage(vehicle, task) for vehicle in range(costs.vehicles)]
    errors = [error for error in wrong if isinstance(error, InfeasibleError)]
    if len(errors) == len(wrong):
        return str(errors[0])
    homes = [(v.home, between(costs.problem.zones, v.home[2], v.home[2])) for v in costs.problem.vehicles]
    around = [inside(home[0], home[1], zones) if zones else None for home, zones in homes]
    closed = [zone.name for zone in around if zone is not None]
    if len(closed) == len(homes):
        return f"the base lies in the no-fly zone {closed[0]!r}"
    if not np.isfinite(costs.alone_of(task)).any() and costs.problem.tasks[task].closes < inf:
        return _too_late(costs, task)
    able = [k for k in range(costs.vehicles) if not isinstance(wrong[k], InfeasibleError)]
    nearest = _nearest(costs, task, sorted(able, key=lambda k: bool(orders[k])))
    idle_vehicles = _idle(costs, task, orders)
    idle = [_nearest(costs, task, idle_vehicles)] if idle_vehicles and orders[nearest] else idle_vehicles[:1]
    far = _why_not(costs, nearest, task)
    why = far or _too_busy(costs, task, orders)
    if idle and orders[nearest] and (other := _why_not(costs, idle[0], task)):
        return f"{why}; nearest idle vehicle: {other}"
    return why if far or idle else f"{why}; no vehicle is idle"


def _why_not(costs: Costs, vehicle: int, task: int) -> str:
    """Return why a vehicle cannot do a task even alone, and whether the wind is the cause; empty: it can."""
    spec, problem = costs.problem.vehicles[vehicle], costs.problem
    try:
        route, _ = alone(costs, vehicle, task)
    except InfeasibleError as error:
        return str(error)
    if late_task(costs, route) is not None:
        begins = next(leg.begins for leg in route.legs if leg.kind == "coverage")
        return f"{spec.name} cannot begin before {begins:.0f} s, its window closes at {problem.tasks[task].closes:g} s"
    if in_range(route, spec):
        return ""
    far = f"it takes {route.flown:,.0f} m there and back"
    if costs.transits.drift(spec) != (0.0, 0.0):
        still = Costs(replace(_only(problem, vehicle, task), wind=(0.0, 0.0)))
        with suppress(InfeasibleError):
            if (flown := alone(still, 0, 0)[0].flown) <= spec.range:
                far += f" in {hypot(*problem.wind):.3g} m/s of wind ({flown:,.0f} m in still air)"
    return f"{far}, {spec.name} has a range of {spec.range:,.0f} m left"


def _too_busy(costs: Costs, task: int, orders: Sequence[Sequence[int]]) -> str:
    """Return why no vehicle does a task beside its others: how far the one would go to which it adds least."""
    inserted = insert_tasks(costs, orders, np.full(costs.vehicles, inf), [task])
    for vehicle, order in enumerate(inserted):
        if len(order) > len(orders[vehicle]):
            spec = costs.problem.vehicles[vehicle]
            others = "its other task" if len(order) == 2 else f"its {len(order) - 1} other tasks"
            try:
                flown = f"{route_of(costs, vehicle, order).flown:,.0f} m"
            except InfeasibleError as error:
                return f"{spec.name} has no path to it beside {others}: {error}"
            verb, left = "drive" if spec.moves == "ground" else "fly", f"a range of {spec.range:,.0f} m left"
            return f"{spec.name} would {verb} {flown} with it beside {others}, it has {left}"
    opens, closes = costs.problem.tasks[task].opens, costs.problem.tasks[task].closes
    return f"no vehicle has time in its window from {opens:g} to {closes:g} s beside its other tasks"


def _too_late(costs: Costs, task: int) -> str:
    """Return why no vehicle begins a task in its window: it is too far away, or waiting circles are too long."""
    opens, closes = costs.problem.tasks[task].opens, costs.problem.tasks[task].closes
    open_ended = replace(costs.problem.tasks[task], opens=0.0, closes=inf)
    any_time = Costs(replace(costs.problem, tasks=(open_ended,)), transits=costs.transits)
    x, y, _ = open_ended.shape.entry
    early = [spec.ready + hypot(x - spec.pose[0], y - spec.pose[1]) / spec.speed for spec in costs.problem.vehicles]
    for k in np.argsort(early, kind="stable").tolist()[:TRIES]:
        spec = costs.problem.vehicles[k]
        with suppress(InfeasibleError):
            arrival = next(leg.begins for leg in alone(any_time, k, 0)[0].legs if leg.kind == "coverage")
            if arrival <= closes:
                circle = costs.transits.circle(spec, spec.home).flown / spec.speed
                window = f"too early for its window from {opens:g} to {closes:g} s"
                waits = f"and it can only wait in circles of {circle:.0f} s"
                return f"{spec.name} is there at {arrival:.0f} s, {window}, {waits}"
    return f"no vehicle can be there before its window closes at {closes:g} s"


MOST_PARTS = 64  # of a field


def split_fields(problem: Problem) -> Problem:
    """Return the problem with parts in place of each field beyond every vehicle's range: `field[0]`, `field[1]`, ..."""
    return replace(problem, tasks=tuple(part for task in problem.tasks for part in _parts(problem, task)))


def _parts(problem: Problem, task: Task) -> Sequence[Task]:
    """Return the parts of a field, or the task itself.

    Parts of about equal length where as many vehicles can do one each, else as few as possible: each as many rows as
    one of the other vehicles can do.
    """
    if not isinstance(task.shape, FieldShape) or all(vehicle.range == inf for vehicle in problem.vehicles):
        return [task]
    whole = Costs(replace(problem, tasks=(task,)))
    cover = np.array([whole.jobs(k).cover[0] for k in range(whole.vehicles)])
    able = np.isfinite(cover) & np.isfinite(whole.alone[:, 0])
    left = whole.ranges[able] - whole.alone[able, 0]  # m, negative
    share = float(np.max(left / cover[able] + 1.0, initial=0.0))
    if not 0.0 < share < 1.0:
        return [task]
    field = _Field(problem, task, share)
    if field.each_done(equal := field.equal_parts(ceil(1.0 / share))):
        return equal
    filled = field.filled_parts()
    return equal if field.each_done(equal := field.equal_parts(len(filled))) else filled


class _Field:
    """A field that is being divided; `share` is what the vehicle of the longest reach can do of it."""

    def __init__(self, problem: Problem, task: Task, share: float) -> None:
        assert isinstance(task.shape, FieldShape)
        self.problem, self.task, self.shape, self.share = problem, task, task.shape, share
        self.done = np.cumsum(self.shape.row_lengths)  # m, with each row

    def parts(self, ends: Sequence[int]) -> list[Task]:
        """Return parts that end before these rows."""
        cut: Sequence[FieldShape] = self.shape.parts(ends)
        return [replace(self.task, name=f"{self.task.name}[{k}]", shape=part) for k, part in enumerate(cut)]

    def equal_parts(self, count: int) -> list[Task]:
        """Return at most `count` parts of about equal length."""
        last = np.searchsorted(self.done, self.done[-1] * np.arange(1, count + 1) / count - 1e-9)
        return self.parts(np.unique(last + 1).tolist())

    def each_done(self, parts: Sequence[Task]) -> bool:
        """Return whether each part can be done by another vehicle."""
        if len(parts) > len(self.problem.vehicles):
            return False
        costs = Costs(replace(self.problem, tasks=tuple(parts)))
        able = np.isfinite(costs.alone) & (costs.alone <= costs.ranges[:, None])
        chosen = maximum_bipartite_matching(csr_array(able), perm_type="row").tolist()  # vehicle of each part, or -1
        return all(vehicle >= 0 and self.can(costs, vehicle, part) for part, vehicle in enumerate(chosen))

    def can(self, costs: Costs, vehicle: int, task: int) -> bool:
        """Return whether a vehicle's path over one of the tasks, there and back, is within its range."""
        if not costs.fits(vehicle, [task]):
            return False
        try:
            return fits(route_of(costs, vehicle, [task]).flown, costs.problem.vehicles[vehicle].range)
        except InfeasibleError:
            return False

    def filled_parts(self) -> list[Task]:
        """Return parts of as many rows as one of the vehicles without a part can do; all other rows are one part."""
        first, ends, free = 0, list[int](), set(range(len(self.problem.vehicles)))
        impossible = False  # the last part
        while first < len(self.done) and free and len(ends) < MOST_PARTS - 1:
            count, vehicle = self.most_rows(first, free)
            free.discard(vehicle)
            if not count and impossible:
                ends[-1] += 1
            else:
                ends.append(first + max(count, 1))
            impossible, first = not count, ends[-1]
        return self.parts(ends if first == len(self.done) else [*ends, len(self.done)])

    def most_rows(self, first: int, vehicles: set[int]) -> tuple[int, int]:
        """Return the largest number of rows from `first` on that one of the vehicles can do, and the vehicle."""
        before = self.done[first - 1] if first else 0.0
        probe = int(np.searchsorted(self.done, before + self.share * self.done[-1])) - first
        low, high, vehicle = 0, len(self.done) - first + 1, -1  # `low` rows can be done, `high` cannot
        while high - low > 1:
            probe = min(max(probe, low + 1), high - 1)
            most, left = self.doing(first, first + probe, vehicles)
            more = floor(left * probe / (self.done[first + probe - 1] - before)) if abs(left) < inf else 0
            if most is None:
                high, probe = probe, probe + min(more, -1)
            else:
                low, probe, vehicle = probe, probe + max(more, 1), most
        return low, vehicle

    def doing(self, first: int, end: int, vehicles: set[int]) -> tuple[int | None, float]:
        """Return the vehicle that does these rows with the least flight, None if none can, and metres left at most."""
        part = self.parts([first, end] if first else [end])[bool(first)]
        costs = Costs(replace(self.problem, tasks=(part,)))
        alone = costs.alone[:, 0]
        able = (k for k in sorted(vehicles, key=lambda k: float(alone[k])) if self.can(costs, k, 0))
        return next(able, None), max(float(costs.ranges[k] - alone[k]) for k in vehicles)
