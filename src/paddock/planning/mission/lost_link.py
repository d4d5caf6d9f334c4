"""A mission over radio: vehicles report and receive routes while there is a path between them and the station.

What the mission knows of a vehicle without a path is what it reported last. The vehicle goes on with its route. After
the time-out it acts on its own, as agreed before: the mission assumes so, and gives its tasks to vehicles in contact.
What it has finished meanwhile it reports when contact is regained.
"""

from dataclasses import replace

import numpy as np

from paddock.planning.mission.contact import Bools, StationContact
from paddock.planning.mission.replanning import go_home, upset_holder
from paddock.planning.mission.state import MissionChange, MissionData, PoseOf
from paddock.planning.mission.vehicles import Drawn, MissionVehicle
from paddock.planning.routes import Route
from paddock.world.columns import Floats

NEAR = 1e-3  # m before the end of a leg at which it counts as flown


def update_contacts(state: MissionData, contact: StationContact, reached: Bools) -> None:
    """Take the paths of this observation; report contacts that are lost."""
    contact.grow(len(reached), state.time)
    contact.reached = reached.copy()
    contact.seen = np.where(reached, state.time, contact.seen)
    gone = ~contact.lost & (state.time - contact.seen > contact.rules.lost_after)
    contact.lost |= gone
    for row in np.flatnonzero(gone).tolist():
        state.report("contact_lost", state.fleet.list[row])


def take_reports(state: MissionData, contact: StationContact, change: MissionChange) -> None:
    """Take reports of vehicles that are back in contact; those that acted on their own get a new route."""
    for row in np.flatnonzero(contact.lost & contact.reached).tolist():
        vehicle = state.fleet.list[row]
        state.report("contact_regained", vehicle)
        upset = MissionChange()
        for task in contact.unreported.pop(row, []):
            _complete(state, vehicle, task, upset)
        if upset.dirty:  # others are on their way to these tasks
            change.dirty |= upset.dirty
            change.aborted |= upset.aborted
            change.causes.append(f"reports of {vehicle.name}")
        if contact.alone[row]:
            contact.waiting[row] = False
    contact.alone &= ~contact.reached
    contact.lost &= ~contact.reached
    change.contacts = len(change.causes)


def replan_contacts(state: MissionData, contact: StationContact, change: MissionChange) -> None:
    """Replan for all contacts that were lost and regained since the last time, at most every `replan_every` s."""
    back = [row for row in contact.waiting if contact.reached[row]]
    if state.time < contact.settled or not (back or contact.newly_lost):
        return
    contact.settled = state.time + contact.rules.replan_every
    for row in back:
        change.dirty.add(row)
        if contact.waiting.pop(row):
            change.aborted.add(row)
    _cause(change, [state.fleet.list[row].name for row in back], "contact with {}")
    _cause(change, contact.newly_lost, "contact with {} lost")
    contact.newly_lost, change.contacts = [], len(change.causes)


def start_lost_link_actions(
    state: MissionData,
    contact: StationContact,
    progress: Floats,
    charge: Floats | None,
    poses: PoseOf,
    change: MissionChange,
) -> None:
    """Let vehicles act on their own after the time-out, or with a low battery; `progress` (m) is what they know."""
    due = (state.time - contact.seen > contact.rules.timeout) & (contact.rules.action != "continue")
    if charge is not None:
        due |= charge < state.setup.battery_reserve
    for row in np.flatnonzero(due & ~contact.reached & ~contact.alone).tolist():
        vehicle = state.fleet.list[row]
        if vehicle.status == "damaged":
            continue
        contact.alone[row] = True
        if vehicle.current is None:  # it is at rest
            continue
        ends = zip(vehicle.route.legs, vehicle.ends, strict=True)
        passed = [leg for leg, end in ends if leg.kind == "coverage" and end <= progress[row] + NEAR]
        known = {leg.task for leg in vehicle.route.legs[: vehicle.leg]}
        contact.unreported.setdefault(row, []).extend(str(leg.task) for leg in passed if leg.task not in known)
        if _leave(state, contact, vehicle, poses, change) and state.setup.replan:
            contact.newly_lost.append(vehicle.name)


def _cause(change: MissionChange, names: list[str], form: str) -> None:
    """Add a cause of replanning that names the first of some vehicles."""
    if names:
        change.causes.append(form.format(names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")))


def _leave(
    state: MissionData, contact: StationContact, vehicle: MissionVehicle, poses: PoseOf, change: MissionChange
) -> int:
    """Take the tasks from a vehicle without contact, and return their number; the vehicle returns or holds."""
    count = len(vehicle.ahead) + bool(vehicle.doing)
    holds = contact.rules.action == "hold"
    gives = f", {count} tasks are given back" if count else ""
    state.report("lost_link", vehicle, detail=("it holds" if holds else "it returns") + gives)
    state.release(vehicle, f"contact with its vehicle {vehicle.name} was lost", lasting=True)
    if holds:
        here = replace(vehicle.spec, pose=poses(vehicle.row))
        state.fleet.follow(vehicle, Route(vehicle.name, (), vehicle.spec.speed), Drawn(here, (), ()))
        state.become(vehicle, "transit")
    else:
        go_home(state, vehicle, poses(vehicle.row))
    change.new.add(vehicle.row)
    return count


def postpone(contact: StationContact, change: MissionChange) -> None:
    """Keep new routes of vehicles without a path for when they are back in contact."""
    for row in sorted(change.dirty):
        if row < len(contact.reached) and not contact.reached[row]:
            contact.waiting[row] = contact.waiting.get(row, False) or row in change.aborted
            change.dirty.discard(row)
            change.aborted.discard(row)


def _complete(state: MissionData, vehicle: MissionVehicle, task: str, change: MissionChange) -> None:
    """Mark a task as completed that a vehicle has finished without contact."""
    job = state.tasks[task]
    if job.state == "completed" or job.removed:
        return
    upset_holder(state, task, change, f"{vehicle.name} has completed it")
    job.state, job.vehicle, job.completed, job.doing, job.reason = "completed", vehicle.name, state.time, False, ""
    state.report("completed", vehicle, task, "reported late")
