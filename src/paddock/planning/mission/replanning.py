"""Events of a mission, and replanning: which vehicles are free, and which routes change."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paddock.compute import arrays
from paddock.compute.math import hypot
from paddock.planning.geometry.intersections import blocked_by
from paddock.planning.geometry.path import Path, Pose
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.zones import Zone
from paddock.planning.mission.records import MoveTask, RemoveTask, Request, RouteInputs, TaskRest
from paddock.planning.mission.state import MissionChange, MissionData, PoseOf, moved
from paddock.planning.mission.vehicles import MissionFleet, MissionVehicle, with_rest
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.layers import raised
from paddock.planning.solver.methods import MethodResult
from paddock.planning.solver.planner import build, revise, solve
from paddock.planning.solver.problem import Vehicle
from paddock.planning.solver.routes import Leg, Plan, Route, route_of
from paddock.planning.solver.transits import Transits
from paddock.world.columns import Floats

LEVEL = 0.5  # m: tolerance of a vehicle's height, because autopilots do not hold it exactly


class CandidateVehicle(NamedTuple):
    """A vehicle that can be planned for."""

    vehicle: MissionVehicle
    spec: Vehicle  # position, time and remaining range at which it is free
    rest: TaskRest | None  # its task until then


def first_plan(state: MissionData, plan: Plan | None = None) -> tuple[Plan, set[int]]:
    """Adopt the initial plan of a mission; compute it unless it is known."""
    candidates = [
        CandidateVehicle(vehicle, free_at(state, vehicle, vehicle.spec.pose), None) for vehicle in state.fleet.vehicles
    ]
    tasks = tuple(state.versions)
    if plan is None:
        problem = replace(state.problem, vehicles=tuple(candidate.spec for candidate in candidates), tasks=tasks)
        if state.negotiator is not None and tasks:
            plan = _negotiated(state, Costs(problem, state.covered), candidates, [[] for _ in candidates], {})
        else:
            plan = solve(problem, state.setup.method, state.setup.options, covered=state.covered)
    state.log_event("planned", detail=f"{plan.done} of {len(tasks)} tasks, {plan.total:.1f} m, {plan.makespan:.1f} s")
    return plan, _adopt_plan(state, plan, candidates, set())


def replan(state: MissionData, poses: PoseOf, change: MissionChange) -> None:
    """Replan after the changes of an observation."""
    before, done = state.fleet.left(), set(change.new)
    if state.setup.replan:
        change.new |= _replan_all(state, poses, change)
    else:
        for row in sorted(change.dirty):
            change.new |= _replan_alone(state, poses, change, state.fleet.vehicles[row])
    state.replans += 1
    metres, count = state.fleet.left() - before, len(change.new - done)
    routes = "1 new route" if count == 1 else f"{count} new routes"
    more = f"{metres:+.0f} m" if abs(metres) < 1000.0 else f"{metres / 1000.0:+.1f} km"
    state.log_event("replanned", detail=f"{change.cause}: {routes}, {'+0 m' if abs(metres) < 0.5 else more} to fly")


def go_home(state: MissionData, vehicle: MissionVehicle, pose: Pose) -> None:
    """Send a vehicle home from where it is."""
    spec = free_at(state, vehicle, pose)
    inputs = RouteInputs(spec, (), tuple(state.active_zones))
    try:
        route = home_route(state, spec, state.zones)
    except InfeasibleError as error:
        route, inputs = straight_home(state, vehicle, spec, str(error))
    state.start_route(vehicle, route, inputs)


def home_route(state: MissionData, spec: Vehicle, zones: tuple[Zone, ...] = ()) -> Route:
    """Return the route home of a vehicle around zones; raise InfeasibleError."""
    return route_of(Costs(replace(state.problem, vehicles=(spec,), zones=zones)), 0, ())


def straight_home(
    state: MissionData, vehicle: MissionVehicle, spec: Vehicle, reason: str, rest: TaskRest | None = None
) -> tuple[Route, RouteInputs]:
    """Return the straight way home if zones leave no other, with a log entry."""
    state.log_event("stranded", vehicle, detail=f"no way home around the zones, it takes the straight one: {reason}")
    return home_route(state, spec), RouteInputs(spec, (), (), rest)


def way_home(state: MissionData, vehicle: MissionVehicle, pose: Pose) -> float:
    """Return metres flown home from a pose."""
    spec = free_at(state, vehicle, pose)
    try:
        return home_route(state, spec, state.zones).flown
    except InfeasibleError:
        return home_route(state, spec).flown


def _replan_all(state: MissionData, poses: PoseOf, change: MissionChange) -> set[int]:
    """Plan all vehicles and all open tasks; return the rows of new routes."""
    candidates = [
        _candidate(state, vehicle, poses, change) for vehicle in state.fleet.vehicles if state.available(vehicle)
    ]
    away = {task for vehicle in state.fleet.vehicles if not state.in_contact(vehicle) for task in vehicle.ahead}
    names = [name for name in state.open_tasks() if name not in away]
    index = {name: k for k, name in enumerate(names)}
    tasks = tuple(state.task(name) for name in names)
    problem = replace(state.problem, vehicles=tuple(candidate.spec for candidate in candidates), tasks=tasks)
    orders = [[index[task] for task in candidate.vehicle.ahead if task in index] for candidate in candidates]
    kept_routes = {
        k: (order, candidate.vehicle.route)
        for k, (candidate, order) in enumerate(zip(candidates, orders, strict=True))
        if candidate.vehicle.row not in change.dirty and len(order) == len(candidate.vehicle.ahead)
    }
    costs, present = Costs(problem, state.covered), [list(order) for order in orders]
    if state.negotiator is not None and candidates and sum(map(len, present)) < len(names):
        plan = _negotiated(state, costs, candidates, present, kept_routes)
    elif change.keeps_orders or state.negotiator is not None:
        plan = build(costs, MethodResult(present), state.setup.method, kept_routes)
    else:
        plan = revise(costs, state.setup.method, state.setup.options, present, kept_routes)
    return _adopt_plan(state, plan, candidates, {k for k in kept_routes if plan.routes[k] is kept_routes[k][1]})


def _negotiated(
    state: MissionData,
    costs: Costs,
    candidates: Sequence[CandidateVehicle],
    present: list[list[int]],
    kept_routes: Mapping[int, tuple[list[int], Route]],
) -> Plan:
    """Return the plan that vehicles negotiate over radio, with the tasks that none of them has won where they fit."""
    assert state.negotiator is not None and state.contact is not None
    result = state.negotiator(costs, [candidate.vehicle.row for candidate in candidates], present)
    state.contact.count_negotiation(result)
    state.log_event("negotiated", detail=result.describe())
    versions = [state.tasks[task.name].version for task in costs.problem.tasks]
    own = zip(candidates, result.bundles, strict=True)
    bundles = {candidate.vehicle.row: tuple(versions[t] for t in bundle) for candidate, bundle in own}
    state.contact.bundles, state.contact.settles = bundles, state.time + result.agreement.seconds
    notes = {"rounds": result.agreement.rounds, "messages": result.agreement.sent, "over radio": result.describe()}
    return build(costs, MethodResult(result.orders, notes), state.setup.method, kept_routes)


def _replan_alone(state: MissionData, poses: PoseOf, change: MissionChange, vehicle: MissionVehicle) -> set[int]:
    """Plan one vehicle and its tasks; return the rows of new routes."""
    if not state.available(vehicle):
        return set()
    candidate = _candidate(state, vehicle, poses, change)
    names = [name for name in vehicle.ahead if not state.tasks[name].removed]
    tasks = tuple(state.task(name) for name in names)
    costs = Costs(replace(state.problem, vehicles=(candidate.spec,), tasks=tasks), state.covered)
    return _adopt_plan(
        state, build(costs, MethodResult([list(range(len(tasks)))]), state.setup.method), [candidate], set()
    )


def _adopt_plan(state: MissionData, plan: Plan, candidates: Sequence[CandidateVehicle], kept: set[int]) -> set[int]:
    """Set the routes of vehicles; return the rows of new ones."""
    for chosen in plan.problem.tasks:
        if chosen.heading != state.task(chosen.name).heading:
            state.change_task(chosen)
    new = set()
    for k, (candidate, spec, route) in enumerate(zip(candidates, plan.problem.vehicles, plan.routes, strict=True)):
        for task in candidate.vehicle.ahead if k in kept else route.tasks:
            job = state.tasks[task]
            if job.state != "assigned" or job.vehicle != candidate.vehicle.name:
                job.state, job.vehicle, job.assigned, job.reason = "assigned", candidate.vehicle.name, state.time, ""
                state.log_event("assigned", candidate.vehicle, task)
        if k not in kept:
            candidate.vehicle.spec = raised(candidate.vehicle.spec, spec.lift)
            _follow(state, candidate._replace(spec=spec), route)
            new.add(candidate.vehicle.row)
    for undone in plan.undone:
        before = "" if candidates else state.tasks[undone.task].reason  # more specific than "no vehicle is available"
        state.mark_undone(undone.task, before or undone.reason)
    return new


def _follow(state: MissionData, candidate: CandidateVehicle, route: Route) -> None:
    versions = tuple(state.tasks[task].version for task in route.tasks)
    inputs = RouteInputs(candidate.spec, versions, tuple(state.active_zones), candidate.rest)
    x, y, *_ = candidate.spec.pose
    if (
        not route.legs
        and candidate.spec.under_way
        and hypot(x - candidate.spec.home[0], y - candidate.spec.home[1]) > 1e-6
    ):
        route, inputs = straight_home(state, candidate.vehicle, candidate.spec, "they enclose it", candidate.rest)
    state.start_route(
        candidate.vehicle, with_rest(route, inputs, state.problem, state.versions, state.all_zones), inputs
    )


def _candidate(state: MissionData, vehicle: MissionVehicle, poses: PoseOf, change: MissionChange) -> CandidateVehicle:
    """Return where and when a vehicle is free: after the task it is doing, otherwise now."""
    if vehicle.doing is None or vehicle.row in change.aborted:
        return CandidateVehicle(vehicle, free_at(state, vehicle, poses(vehicle.row)), None)
    return after_task(state, state.fleet, vehicle, state.tasks[vehicle.doing].version)


def after_task(state: MissionData, fleet: MissionFleet, vehicle: MissionVehicle, version: int) -> CandidateVehicle:
    """Return where and when a vehicle of a fleet has done the task that it is doing, and the rest of that task."""
    leg, k = vehicle.route.legs[vehicle.leg], vehicle.row
    left = max(float(fleet.due[k] - fleet.progress[k]), 0.0)
    earlier = vehicle.inputs.rest if vehicle.leg == 0 else None
    done = (earlier.done if earlier is not None else 0.0) + leg.flown - left
    zones = vehicle.inputs.zones if earlier is None else earlier.zones
    rest = TaskRest(version, done, state.time, leg.end, zones)
    return CandidateVehicle(vehicle, free_at(state, vehicle, leg.end, left), rest)


def free_at(state: MissionData, vehicle: MissionVehicle, pose: Pose, left: float = 0.0) -> Vehicle:
    """Return a vehicle that is free at a pose after `left` more metres."""
    spec = vehicle.spec
    height = spec.travels_at
    ready = max(state.time + left / spec.speed, spec.ready)
    x, y, z, heading = pose
    here = (x, y, height if abs(z - height) < LEVEL else z, heading)
    range_left = max(spec.range - vehicle.travelled - left, 0.0)
    home = home_of(state, spec)
    under_way = vehicle.status != "idle" or (spec.aloft and home is not spec.home)  # then it circles there no more
    return replace(spec, pose=here, home=home, ready=ready, range=range_left, height=height, under_way=under_way)


def home_of(state: MissionData, vehicle: Vehicle) -> Pose:
    """Return where a vehicle returns to: its home, or for aircraft a place outside of zones that have closed it."""
    x, y, z, _ = vehicle.home
    new = [state.all_zones[k] for k in state.active_zones if k >= len(state.setup.problem.zones)]
    if vehicle.moves != "aircraft" or not any(zone.contains(x, y) and zone.reaches(z, z) for zone in new):
        return vehicle.home
    return Transits(replace(state.problem, zones=state.zones)).waiting_home(vehicle)


SLACK = 1e-6  # share of its range tolerated as rounding error
MEASURED = 200.0  # m flown after which the battery use of a vehicle is known


def apply_request(state: MissionData, request: Request, poses: PoseOf, change: MissionChange) -> None:
    """Apply an event."""
    if isinstance(request, MoveTask):
        _move(state, request, change)
    elif isinstance(request, RemoveTask):
        _remove(state, request.task, change)
    elif request.task is not None:
        task = request.task
        state.list_task(task, state.time)
        state.log_event("task", task=task.name)
        if state.setup.replan:
            change.causes.append(f"new task {task.name}")
    elif request.damage is not None:
        _damage(state, state.fleet.vehicles[state.fleet.row_of[request.damage]], poses, change)
    elif request.vehicle is not None:
        vehicle = state.fleet.add(request.vehicle)
        state.log_event("vehicle", vehicle)
        change.dirty.add(vehicle.row)
        change.causes.append(f"new vehicle {vehicle.name}")
    elif request.zone is not None:
        _close(state, request.zone, change)
    elif request.remove_zone is not None:
        _reopen(state, request.remove_zone, change)


def enforce_range(state: MissionData, change: MissionChange) -> None:
    """Take tasks from vehicles that would exceed their range."""
    all_ = state.fleet
    need = all_.travelled + all_.whole - all_.progress
    over = (all_.whole > 0.0) & (need > all_.limit + SLACK * all_.limit)
    for row in np.flatnonzero(over).tolist():
        vehicle = all_.vehicles[row]
        if not state.available(vehicle):
            continue
        state.log_event("range", vehicle, detail=f"{need[row] - all_.limit[row]:.1f} m too far")
        change.causes.append(f"range of {vehicle.name}")
        change.dirty.add(row)
        leg = vehicle.current
        if leg is not None and leg.kind == "coverage":
            left = float(all_.due[row] - all_.progress[row])
            if vehicle.travelled + left + way_home(state, vehicle, leg.end) > all_.limit[row]:
                _abort(state, vehicle, change, "its vehicle would not come home with its range")


def enforce_battery(state: MissionData, charge: Floats, poses: PoseOf, change: MissionChange) -> None:
    """Send vehicles home whose charge is needed for the way home."""
    all_, n = state.fleet, len(charge)
    all_.fullest[:n] = np.where(np.isnan(all_.fullest[:n]), charge, all_.fullest[:n])
    flown = all_.travelled[:n]
    use = np.where(flown > MEASURED, (all_.fullest[:n] - charge) / np.maximum(flown, MEASURED), 0.0)
    able = ~(all_.spent | all_.marked("damaged"))[:n]
    if state.contact is not None:
        able &= ~state.contact.lost[:n]
    low = able & (charge - np.maximum(use, 0.0) * all_.turning[:n] < state.setup.battery_reserve)
    far = able & ~low & (use > 0.0) & (all_.until[:n] < np.inf)
    if far.any():  # poses are requested only if needed
        rows = np.flatnonzero(far)
        here = np.array([poses(row)[:2] for row in rows.tolist()])
        way = arrays.hypot(*(here - all_.home[rows]).T) + all_.turning[rows]
        low[rows] = charge[rows] - use[rows] * way < state.setup.battery_reserve
    for row in np.flatnonzero(low).tolist():
        vehicle, percent = all_.vehicles[row], f"{100.0 * float(charge[row]):.1f} %"
        vehicle.spent = True  # it takes no more tasks
        state.log_event("battery", vehicle, detail=f"{percent} left")
        had = bool(vehicle.ahead or vehicle.doing)
        state.release_tasks(vehicle, f"its vehicle {vehicle.name} returned with {percent} of its charge", lasting=True)
        if vehicle.current is not None and vehicle.current.kind != "return":
            go_home(state, vehicle, poses(row))
            change.new.add(row)
        if had and state.setup.replan:
            change.causes.append(f"battery of {vehicle.name}")


def _damage(state: MissionData, vehicle: MissionVehicle, poses: PoseOf, change: MissionChange) -> None:
    if vehicle.status == "damaged":
        return
    state.log_event("damage", vehicle, vehicle.doing)
    had = bool(vehicle.ahead or vehicle.doing)
    state.release_tasks(vehicle, f"its vehicle {vehicle.name} was damaged")
    here = replace(vehicle.spec, pose=poses(vehicle.row))
    state.set_status(vehicle, "damaged")
    state.fleet.follow(vehicle, Route(vehicle.name, (), vehicle.spec.speed), RouteInputs(here, (), ()))
    change.new.add(vehicle.row)
    change.damaged.append(vehicle.name)
    change.reassigns |= had and state.setup.replan


def _close(state: MissionData, zone: Zone, change: MissionChange) -> None:
    """Close a zone: replan ways through it; tasks inside are not done."""
    state.close_zone(zone)
    state.log_event("zone", detail=zone.name)
    homes = [(vehicle, vehicle.spec.home) for vehicle in state.fleet.vehicles]
    closed = [vehicle for vehicle, (x, y, z, _) in homes if zone.contains(x, y) and zone.reaches(z, z)]
    aircraft = {vehicle.row for vehicle in closed if home_of(state, vehicle.spec) is not vehicle.spec.home}
    if closed:
        waits = "aircraft wait outside in circles" if aircraft else ""
        others = "vehicles return there all the same, the shortest way" if len(aircraft) < len(closed) else ""
        what = ", other ".join(part for part in (waits, others) if part)
        state.log_event("base_closed", detail=f"home lies in the no-fly zone {zone.name!r}: {what}")
    blocked = [
        (vehicle, leg) for vehicle in state.fleet.vehicles if (leg := _blocked(state, vehicle, zone)) is not None
    ]
    for vehicle, leg in blocked:
        change.dirty.add(vehicle.row)
        if leg is vehicle.current and leg.kind == "coverage" and blocked_by(_rest_of(state, vehicle, leg), (zone,)):
            _abort(state, vehicle, change, f"it leads through the no-fly zone {zone.name!r}")
    change.dirty |= {row for row in aircraft if state.fleet.vehicles[row].able}
    if blocked or aircraft:
        change.causes.append(f"new zone {zone.name}")


def _reopen(state: MissionData, name: str, change: MissionChange) -> None:
    """Open a zone again: replan ways and fields near it, and tasks that were undone."""
    homes = [home_of(state, vehicle.spec) for vehicle in state.fleet.vehicles]
    zone = state.reopen_zone(name)
    if zone is None:
        return
    state.log_event("zone_removed", detail=name)
    for vehicle, home in zip(state.fleet.vehicles, homes, strict=True):
        moves = vehicle.able and home_of(state, vehicle.spec) != home  # an aircraft that waits outside returns home
        if moves or any(_near(state, vehicle, leg, zone) for leg in _open_legs(vehicle)):
            change.dirty.add(vehicle.row)
    if change.dirty or state.setup.replan:
        change.causes.append(f"zone {name} removed")


def _open_legs(vehicle: MissionVehicle) -> Sequence[Leg]:
    """Return the remaining legs that a new route may change: not the task in progress."""
    return vehicle.route.legs[vehicle.leg + bool(vehicle.doing) :] if vehicle.able else ()


def _blocked(state: MissionData, vehicle: MissionVehicle, zone: Zone) -> Leg | None:
    """Return the first remaining leg that enters a zone or its clearance."""
    for leg in vehicle.route.legs[vehicle.leg :]:
        if _near(state, vehicle, leg, zone) and blocked_by(
            _rest_of(state, vehicle, leg), (zone,), state.problem.clearance
        ):
            return leg
    return None


def _near(state: MissionData, vehicle: MissionVehicle, leg: Leg, zone: Zone) -> bool:
    """Return whether a leg of that length could touch a zone or its clearance."""
    drift = 1.0 + hypot(*state.problem.wind) / vehicle.spec.speed
    middle = 0.5 * (leg.start[0] + leg.end[0]), 0.5 * (leg.start[1] + leg.end[1])
    if zone.distance(*middle) - state.problem.clearance >= 0.5 * leg.flown * drift:
        return False
    return zone.reaches(min(leg.start[2], leg.end[2]), max(leg.start[2], leg.end[2]))


def _rest_of(state: MissionData, vehicle: MissionVehicle, leg: Leg) -> Path:
    """Return the remaining part of a leg."""
    if leg is not vehicle.current:
        return leg.path
    done = float(state.fleet.progress[vehicle.row] - state.fleet.passed[vehicle.row])
    return leg.path.subpath(done, leg.path.flown)


def _move(state: MissionData, request: MoveTask, change: MissionChange) -> None:
    job = state.tasks[request.task]
    if job.state == "completed":
        return
    state.change_task(moved(state.task(request.task), request.x, request.y))
    state.log_event("moved", task=request.task, detail=f"to ({request.x:g}, {request.y:g})")
    if invalidate_assignee(state, request.task, change, "it was moved while it was being done") or state.setup.replan:
        change.causes.append(f"task {request.task} moved")


def _remove(state: MissionData, task: str, change: MissionChange) -> None:
    job = state.tasks[task]
    if job.state == "completed" or job.removed:
        return
    state.log_event("removed", task=task)
    if invalidate_assignee(state, task, change, "it was removed"):
        change.causes.append(f"task {task} removed")
    state.mark_undone(task, "it was removed")
    job.removed = True


def invalidate_assignee(state: MissionData, task: str, change: MissionChange, reason: str) -> bool:
    """Mark the vehicle of a task for a new route, and abort the task if it is active; return whether it had one."""
    job = state.tasks[task]
    if job.vehicle is None:
        return False
    vehicle = state.fleet.vehicles[state.fleet.row_of[job.vehicle]]
    change.dirty.add(vehicle.row)
    if job.doing:
        _abort(state, vehicle, change, reason)
    return True


def _abort(state: MissionData, vehicle: MissionVehicle, change: MissionChange, reason: str) -> None:
    """Abort the task that a vehicle is doing."""
    task = vehicle.doing
    if task is None or vehicle.row in change.aborted:
        return
    change.aborted.add(vehicle.row)
    state.unassign(task)
    if not state.setup.replan:
        state.mark_undone(task, reason)
