"""Events of a mission: what they make invalid, from where vehicles are free, and their ways home."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paddock.compute import arrays
from paddock.compute.math import hypot
from paddock.planning.geometry.path import Path, Pose
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.zones import Zone, blocked_by
from paddock.planning.mission.state import MissionChange, MissionData, PoseOf, moved
from paddock.planning.mission.vehicles import MissionFleet, MissionVehicle, RouteInputs, TaskRest
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.problem import Vehicle
from paddock.planning.solver.routes import Leg, Route, route_of
from paddock.planning.solver.transits import Transits
from paddock.world.columns import Floats

LEVEL = 0.5  # m: tolerance of a vehicle's height, because autopilots do not hold it exactly


class CandidateVehicle(NamedTuple):
    """A vehicle that can be planned for."""

    vehicle: MissionVehicle
    spec: Vehicle  # position, time and remaining range at which it is free
    rest: TaskRest | None  # its task until then


def go_home(state: MissionData, vehicle: MissionVehicle, pose: Pose) -> None:
    """Send a vehicle home from where it is."""
    state.start_route(vehicle, *way_home(state, vehicle, free_at(state, vehicle, pose), tuple(state.active_zones)))


def way_home(
    state: MissionData, vehicle: MissionVehicle, spec: Vehicle, zones: tuple[int, ...]
) -> tuple[Route, RouteInputs]:
    """Return the route home around zones (indices) and its inputs; the straight one if they leave no other."""
    try:
        return home_route(state, spec, tuple(state.all_zones[k] for k in zones)), RouteInputs(spec, (), zones)
    except InfeasibleError as error:
        return straight_home(state, vehicle, spec, str(error))


def home_route(state: MissionData, spec: Vehicle, zones: tuple[Zone, ...] = ()) -> Route:
    """Return the route home of a vehicle around zones; raise InfeasibleError."""
    return route_of(Costs(replace(state.problem, vehicles=(spec,), zones=zones)), 0, ())


def straight_home(
    state: MissionData, vehicle: MissionVehicle, spec: Vehicle, reason: str, rest: TaskRest | None = None
) -> tuple[Route, RouteInputs]:
    """Return the straight way home if zones leave no other, with a log entry."""
    state.log_event("stranded", vehicle, detail=f"no way home around the zones, it takes the straight one: {reason}")
    return home_route(state, spec), RouteInputs(spec, (), (), rest)


def metres_home(state: MissionData, vehicle: MissionVehicle, pose: Pose) -> float:
    """Return metres flown home from a pose."""
    spec = free_at(state, vehicle, pose)
    try:
        return home_route(state, spec, state.zones).flown
    except InfeasibleError:
        return home_route(state, spec).flown


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
    """Return where a vehicle returns to: its home; for aircraft whose home is in a closed zone, a point outside."""
    x, y, z, _ = vehicle.home
    new = [state.all_zones[k] for k in state.active_zones if k >= len(state.setup.problem.zones)]
    if vehicle.moves != "aircraft" or not any(zone.contains(x, y) and zone.reaches(z, z) for zone in new):
        return vehicle.home
    return Transits(replace(state.problem, zones=state.zones)).waiting_home(vehicle)


SLACK = 1e-6  # share of its range tolerated as rounding error
MEASURED = 200.0  # m flown after which the battery use of a vehicle is known


def enforce_range(state: MissionData, change: MissionChange) -> None:
    """Take tasks from vehicles that would exceed their range."""
    fleet = state.fleet
    need = fleet.travelled + fleet.whole - fleet.progress
    over = (fleet.whole > 0.0) & (need > fleet.limit + SLACK * fleet.limit)
    for row in np.flatnonzero(over).tolist():
        vehicle = fleet.vehicles[row]
        if not state.available(vehicle):
            continue
        state.log_event("range", vehicle, detail=f"{need[row] - fleet.limit[row]:.1f} m too far")
        change.causes.append(f"range of {vehicle.name}")
        change.dirty.add(row)
        leg = vehicle.current
        if leg is not None and leg.kind == "coverage":
            left = float(fleet.due[row] - fleet.progress[row])
            if vehicle.travelled + left + metres_home(state, vehicle, leg.end) > fleet.limit[row]:
                _abort(state, vehicle, change, "its vehicle would not come home with its range")


def enforce_battery(state: MissionData, charge: Floats, poses: PoseOf, change: MissionChange) -> None:
    """Send vehicles home whose charge is needed for the way home."""
    fleet, n = state.fleet, len(charge)
    fleet.fullest[:n] = np.where(np.isnan(fleet.fullest[:n]), charge, fleet.fullest[:n])
    flown = fleet.travelled[:n]
    use = np.where(flown > MEASURED, (fleet.fullest[:n] - charge) / np.maximum(flown, MEASURED), 0.0)
    able = ~(fleet.spent | fleet.marked("damaged"))[:n]
    if state.contact is not None:
        able &= ~state.contact.lost[:n]
    low = able & (charge - np.maximum(use, 0.0) * fleet.turning[:n] < state.setup.battery_reserve)
    far = able & ~low & (use > 0.0) & (fleet.until[:n] < np.inf)
    if far.any():  # poses are requested only if needed
        rows = np.flatnonzero(far)
        here = np.array([poses(row)[:2] for row in rows.tolist()])
        way = arrays.hypot(*(here - fleet.home[rows]).T) + fleet.turning[rows]
        low[rows] = charge[rows] - use[rows] * way < state.setup.battery_reserve
    for row in np.flatnonzero(low).tolist():
        vehicle, percent = fleet.vehicles[row], f"{100.0 * float(charge[row]):.1f} %"
        vehicle.spent = True  # it takes no more tasks
        state.log_event("battery", vehicle, detail=f"{percent} left")
        had = bool(vehicle.ahead or vehicle.doing)
        state.release_tasks(vehicle, f"its vehicle {vehicle.name} returned with {percent} of its charge", lasting=True)
        if vehicle.current is not None and vehicle.current.kind != "return":
            go_home(state, vehicle, poses(row))
            change.new.add(row)
        if had and state.setup.replan:
            change.causes.append(f"battery of {vehicle.name}")


def damage_vehicle(state: MissionData, vehicle: MissionVehicle, poses: PoseOf, change: MissionChange) -> None:
    """Disable a vehicle: its tasks are open again."""
    if vehicle.status == "damaged":
        return
    state.log_event("damage", vehicle, vehicle.doing)
    had = bool(vehicle.ahead or vehicle.doing)
    state.release_tasks(vehicle, f"its vehicle {vehicle.name} was damaged")
    here = replace(vehicle.spec, pose=poses(vehicle.row))
    state.set_status(vehicle, "damaged")
    state.fleet.stop(vehicle, here)
    change.new.add(vehicle.row)
    change.damaged.append(vehicle.name)
    change.reassigns |= had and state.setup.replan


def close_zone(state: MissionData, zone: Zone, change: MissionChange) -> None:
    """Close a zone: replan ways through it; tasks inside are not done."""
    state.activate_zone(zone)
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


def reopen_zone(state: MissionData, name: str, change: MissionChange) -> None:
    """Open a zone again: replan ways and fields near it, and tasks that were undone."""
    homes = [home_of(state, vehicle.spec) for vehicle in state.fleet.vehicles]
    zone = state.deactivate_zone(name)
    if zone is None:
        return
    state.log_event("zone_removed", detail=name)
    for vehicle, home in zip(state.fleet.vehicles, homes, strict=True):
        moves = vehicle.able and home_of(state, vehicle.spec) != home  # an aircraft that waits outside returns home
        legs = vehicle.route.legs[vehicle.leg + bool(vehicle.doing) :] if vehicle.able else ()  # that may change
        if moves or any(_near(state, vehicle, leg, zone) for leg in legs):
            change.dirty.add(vehicle.row)
    if change.dirty or state.setup.replan:
        change.causes.append(f"zone {name} removed")


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


def move_task(state: MissionData, task: str, x: float, y: float, change: MissionChange) -> None:
    """Move a task to x, y (m), unless it is completed."""
    if state.tasks[task].state == "completed":
        return
    state.change_task(moved(state.task(task), x, y))
    state.log_event("moved", task=task, detail=f"to ({x:g}, {y:g})")
    if invalidate_assignee(state, task, change, "it was moved while it was being done") or state.setup.replan:
        change.causes.append(f"task {task} moved")


def remove_task(state: MissionData, task: str, change: MissionChange) -> None:
    """Remove a task, unless it is completed."""
    job = state.tasks[task]
    if job.state == "completed" or job.removed:
        return
    state.log_event("removed", task=task)
    if invalidate_assignee(state, task, change, "it was removed"):
        change.causes.append(f"task {task} removed")
    state.mark_undone(task, "it was removed")
    job.remove()


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
    state.tasks[task].unassign()
    if not state.setup.replan:
        state.mark_undone(task, reason)
