"""Missions over radio: what each vehicle flies and knows, and what the station learns from its reports.

A vehicle takes up a new route when it arrives: from where it is, without the tasks that it has finished meanwhile, and
after the task that it is doing if that is still its own. After the time-out without a packet from the station it acts
on its own.

What the mission knows of a vehicle is what it reported last. Without reports for the time-out, the station assumes that
the vehicle acts on its own, as agreed before, and gives its tasks to vehicles in contact. What the vehicle has finished
meanwhile it reports when contact is regained. A vehicle that is still silent when it should long be back is missing: a
damaged vehicle does not report, and is for the station one without contact.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Pose, as_pose
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.mission.events import (
    after_task,
    free_at,
    go_home,
    invalidate_assignee,
    way_home,
)
from paddock.planning.mission.state import MissionChange, MissionData, PoseOf
from paddock.planning.mission.station import StationContact, VehicleReport, VehicleReports, route_key
from paddock.planning.mission.vehicles import (
    LONGEST,
    MEMBER,
    Bools,
    MissionFleet,
    MissionVehicle,
    RouteInputs,
    extend,
    rebuilt_route,
)
from paddock.planning.solver.layers import raised
from paddock.planning.solver.problem import LostLink
from paddock.planning.solver.routes import Route, Status
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.parts import array, child, part, rows


@part
class Onboard:
    """What the vehicles know, in the order of the mission's vehicles."""

    state: MissionData
    rules: LostLink
    fleet: MissionFleet = child(MissionFleet)  # their routes and progress
    done: list[list[str]] = rows(list[str])  # the tasks that each has finished, in order
    number: Ints = array("i8", MEMBER, low=0)  # of the last route that has arrived; 0: none
    alone: Bools = array("?", MEMBER)  # acts on its own since the time-out
    heard: Floats = array("f8", MEMBER, unit="s", low=-LONGEST, high=LONGEST)  # when the last packet arrived
    acknowledged: Ints = array("i8", MEMBER, low=0)  # finished tasks of which the station has acknowledged

    def __post_init__(self) -> None:
        """Set what is derived from the state."""
        self.finished: Ints = np.zeros(0, np.int64)  # number of `done`

    def check(self, state: Any) -> None:
        """Refuse other numbers of vehicles than the mission has, and unknown tasks."""
        if not len(self.done) == len(self.number) == len(self.fleet.joined) == len(self.state.fleet.joined):
            raise InvalidValueError("there are not as many vehicles as in the mission")
        for name in (name for tasks in self.done for name in tasks):
            if name not in self.state.tasks:
                raise InvalidValueError(f"unknown task {name!r:.60}")

    def grow(self) -> None:
        """Add the vehicles that have joined the mission."""
        new = self.state.fleet.vehicles[len(self.fleet.vehicles) :]
        for vehicle in new:
            self.fleet.add(vehicle.spec)
            self.done.append([])
        if new:
            extend(self, len(self.done), heard=self.state.time)
            self.finished = np.append(self.finished, np.zeros(len(new), np.int64))

    @property
    def at_rest(self) -> bool:
        """Whether no vehicle is under way."""
        return not np.isfinite(self.fleet.due).any()

    def advance(self, time: float, progress: Floats, travelled: Floats, tolerance: float) -> None:
        """Take the progress (m) of all vehicles; those at the end of a leg begin the next."""
        fleet = self.fleet
        fleet.progress[:], fleet.travelled[:] = progress, travelled
        for vehicle in fleet.at_ends(time, tolerance):
            for leg in fleet.pass_legs(vehicle, time, tolerance):
                if leg.kind == "coverage" and str(leg.task) not in self.done[vehicle.row]:
                    self.done[vehicle.row].append(str(leg.task))
                    self.finished[vehicle.row] += 1
            vehicle.status = vehicle.leg_status

    def report(self, rows: Ints, time: float, charge: Floats, poses: Floats) -> VehicleReports:
        """Return the reports of vehicles (k,) at a time (s), with their charges (k,) and poses (k, 4)."""
        own = self.number[rows], self.alone[rows], self.fleet.progress[rows], self.fleet.travelled[rows]
        return VehicleReports(rows, np.full(len(rows), time), *own, charge, poses, self.finished[rows])

    def take_up(self, row: int, number: int, inputs: RouteInputs, pose: Pose) -> bool:
        """Follow a route that has arrived, from a pose; return whether it is newer than the present one."""
        vehicle = self.fleet.vehicles[row]
        if number <= self.number[row] or vehicle.status == "damaged":
            return False
        vehicle.spec = raised(vehicle.spec, inputs.spec.lift)
        try:
            route, inputs = self._from_here(vehicle, inputs, pose)
        except InfeasibleError:  # it keeps its route
            return False
        self.fleet.follow(vehicle, route, inputs)
        vehicle.status = vehicle.leg_status
        self.number[row], self.alone[row] = number, False
        return True

    def take_agreed(self, contact: StationContact, time: float, poses: PoseOf) -> list[int]:
        """Follow the routes that vehicles have negotiated, when that has ended; return the rows of new ones."""
        due = [row for row, (_, at) in sorted(contact.agreed.items()) if at <= time]
        changed = []
        for row in sorted(due):
            number, _ = contact.agreed.pop(row)
            inputs = contact.issued.get(row, {}).get(number)
            if inputs is not None and self.take_up(row, number, inputs, poses(row)):
                changed.append(row)
        return changed

    def _from_here(self, vehicle: MissionVehicle, inputs: RouteInputs, pose: Pose) -> tuple[Route, RouteInputs]:
        """Return a route as the vehicle flies it from a pose, and its inputs."""
        state, versions, done = self.state, self.state.versions, self.done[vehicle.row]
        new, old = (
            {versions[v].name: v for v in task_versions(route_inputs)} for route_inputs in (inputs, vehicle.inputs)
        )
        doing, rest, now = vehicle.doing, None, free_at(state, vehicle, pose)
        if doing is not None and new.get(doing) == old[doing]:
            _, now, rest = after_task(state, self.fleet, vehicle, new.pop(doing))
        order = tuple(version for name, version in new.items() if name not in done)
        spec = replace(inputs.spec, pose=now.pose, ready=now.ready, range=now.range, under_way=now.under_way)
        own = RouteInputs(spec, order, inputs.zones, rest)
        with suppress(InfeasibleError):
            return rebuilt_route(state.problem, versions, state.all_zones, own), own
        return rebuilt_route(state.problem, versions, state.all_zones, inputs), inputs

    def act_alone(self, time: float, charge: Floats | None, poses: PoseOf) -> list[int]:
        """Let vehicles return or hold after the time-out, or return with a low battery; return their rows."""
        silent, state = time - self.heard, self.state
        low = np.zeros(len(silent), bool)
        if charge is not None:
            low = (silent > self.rules.lost_after) & (charge < state.setup.battery_reserve)
        due = low | ((silent > self.rules.timeout) & (self.rules.action != "continue"))
        under_way = np.isfinite(self.fleet.due)
        holding = self.alone & ~under_way & self.fleet.marked("transit")
        changed = []
        for row in np.flatnonzero((due & ~self.alone & under_way) | (low & holding)).tolist():
            vehicle = self.fleet.vehicles[row]
            self.alone[row] = True
            holds = self.rules.action == "hold" and not low[row]
            why = "it holds" if holds else "it returns: its battery is low" if low[row] else "it returns"
            state.log_event("lost_link", vehicle, detail=why)
            if holds:
                self.fleet.stop(vehicle, replace(vehicle.spec, pose=poses(row)))
                vehicle.status = "transit"
            else:
                here = free_at(state, vehicle, poses(row))
                self.fleet.follow(vehicle, *way_home(state, vehicle, here, vehicle.inputs.zones))
                vehicle.status = vehicle.leg_status
            changed.append(row)
        return changed

    def damage(self, row: int) -> None:
        """Disable a vehicle permanently: it neither reports nor receives; the station is not informed."""
        vehicle = self.fleet.vehicles[row]
        if vehicle.status != "damaged":
            self.state.log_event("damage", vehicle, vehicle.doing)
            self.fleet.stop(vehicle, vehicle.inputs.spec)
            vehicle.status = "damaged"


def task_versions(inputs: RouteInputs) -> tuple[int, ...]:
    """Return the versions of the tasks of a route, the one in progress first."""
    return inputs.order if inputs.rest is None else (inputs.rest.task, *inputs.order)


def take_reports(
    state: MissionData, contact: StationContact, onboard: Onboard, reports: VehicleReports, tolerance: float
) -> MissionChange:
    """Take the reports that have arrived; return what they change. A report that a newer one has overtaken is ignored.

    `onboard` has what reports refer to: routes and finished tasks.
    """
    reports = _newest(contact, reports)
    rows, late = reports.rows, contact.lost[reports.rows]
    notable = _notable(state, contact, reports, tolerance)
    contact.seen[rows], contact.stamp[rows], contact.charge[rows] = state.time, reports.sent, reports.charge
    contact.poses[rows], state.fleet.travelled[rows] = reports.poses, reports.travelled
    steady = ~notable & (reports.number == contact.number[rows])
    state.fleet.progress[rows[steady]] = reports.progress[steady]
    change = MissionChange()
    for k in np.flatnonzero(notable).tolist():
        report = reports.at(k)
        if late[k]:
            contact.lost[report.row] = False
            state.log_event("contact_regained", state.fleet.vehicles[report.row])
        contact.confirm(report.row, report.number)
        if report.number == contact.number[report.row]:
            _follow_report(state, contact, onboard, report, tolerance)
        _complete_reported(state, contact, onboard, report, change, bool(late[k]))
    change.contacts = len(change.causes)
    return change


def _newest(contact: StationContact, reports: VehicleReports) -> VehicleReports:
    """Return the newest report of each vehicle, unless the station has a newer one."""
    rows, count = reports.rows, len(reports.rows)
    order = np.lexsort((-np.arange(count), reports.sent, rows))
    last = order[np.append(np.diff(rows[order]) != 0, True)]
    last.sort()
    last = last[reports.sent[last] > contact.stamp[rows[last]]]
    return VehicleReports(*(values[last] for values in reports))


def _notable(state: MissionData, contact: StationContact, reports: VehicleReports, tolerance: float) -> Bools:
    """Return which reports change more than position and progress."""
    rows, fleet = reports.rows, state.fleet
    key = route_key(reports.number, reports.alone)
    other = reports.alone | contact.assumed[rows] | (contact.known[rows] != key)
    passed = (reports.progress >= fleet.due[rows] - tolerance) & (state.time >= fleet.gate[rows])
    notable = contact.lost[rows] | (reports.finished > contact.finished[rows])
    if contact.issued:
        notable |= np.isin(rows, list(contact.issued))
    return np.asarray(notable | ((reports.number == contact.number[rows]) & (other | passed)))


def _follow_report(
    state: MissionData, contact: StationContact, onboard: Onboard, report: VehicleReport, tolerance: float
) -> None:
    """Take the progress of a vehicle that has the newest route; one that acts on its own gets another."""
    row, key = report.row, route_key(report.number, report.alone)
    vehicle, flown = state.fleet.vehicles[row], onboard.fleet.vehicles[row]
    if report.alone and not contact.assumed[row]:
        _give_back(state, contact, vehicle)
    if contact.assumed[row]:
        contact.waiting.setdefault(row, False)
        if not report.alone:  # its tasks are no longer its own
            return
    if contact.known[row] != key and key == route_key(int(onboard.number[row]), bool(onboard.alone[row])):
        contact.known[row] = key
        if flown.route.legs:
            state.start_route(vehicle, flown.route, flown.inputs)
        else:
            state.fleet.follow(vehicle, flown.route, flown.inputs)
            state.set_status(vehicle, flown.status)
    if contact.known[row] == key:
        state.fleet.progress[row] = report.progress
        state.pass_legs(vehicle, tolerance)


def _complete_reported(
    state: MissionData,
    contact: StationContact,
    onboard: Onboard,
    report: VehicleReport,
    change: MissionChange,
    late: bool,
) -> None:
    """Mark the tasks as completed that a vehicle reports for the first time."""
    row, vehicle = report.row, state.fleet.vehicles[report.row]
    done, upset = onboard.done[row][int(contact.finished[row]) : report.finished], MissionChange()
    contact.finished[row] = max(int(contact.finished[row]), report.finished)
    for task in done:
        job = state.tasks[task]
        if job.state == "completed" or job.removed:
            continue
        if job.vehicle != vehicle.name:
            invalidate_assignee(state, task, upset, f"{vehicle.name} has completed it")
        job.complete(vehicle.name, state.time)
        state.log_event("completed", vehicle, task, "reported late" if late else "")
    if upset.dirty:  # others are on their way to these tasks
        change.dirty |= upset.dirty
        change.aborted |= upset.aborted
        change.causes.append(f"reports of {vehicle.name}")


def update_contacts(state: MissionData, contact: StationContact) -> None:
    """Report contacts that are lost; after the time-out give the tasks of their vehicles to others."""
    silent = state.time - contact.seen
    gone = ~contact.lost & (silent > contact.rules.lost_after)
    contact.lost |= gone
    for row in np.flatnonzero(gone).tolist():
        state.log_event("contact_lost", state.fleet.vehicles[row])
    acts_alone = ~contact.assumed & (silent > contact.rules.timeout) & (contact.rules.action != "continue")
    for row in np.flatnonzero(acts_alone).tolist():
        vehicle = state.fleet.vehicles[row]
        resting = vehicle.current is None
        _give_back(state, contact, vehicle)
        if not resting and contact.rules.action == "hold":
            _stop(state, vehicle, "transit")
        elif not resting:
            go_home(state, vehicle, as_pose(contact.poses[row]))
    under_way = np.isfinite(state.fleet.due)
    overdue = contact.lost & under_way & (state.time > state.fleet.route_until + contact.rules.timeout)
    for row in np.flatnonzero(overdue).tolist():
        vehicle = state.fleet.vehicles[row]
        _give_back(state, contact, vehicle)
        _stop(state, vehicle, "missing")


def _stop(state: MissionData, vehicle: MissionVehicle, status: Status) -> None:
    """Leave a vehicle without a route, as far as the station knows."""
    state.fleet.stop(vehicle, vehicle.spec)
    state.set_status(vehicle, status)


def _give_back(state: MissionData, contact: StationContact, vehicle: MissionVehicle) -> None:
    """Take the tasks from a vehicle that acts on its own, or is assumed to."""
    contact.assumed[vehicle.row], contact.known[vehicle.row] = True, -1
    count = len(vehicle.ahead) + bool(vehicle.doing)
    if not count:
        return
    state.log_event("given_back", vehicle, detail="1 task" if count == 1 else f"{count} tasks")
    state.release_tasks(vehicle, f"contact with its vehicle {vehicle.name} was lost", lasting=True)
    if state.setup.replan:
        contact.newly_lost.append(vehicle.name)


def replan_contacts(state: MissionData, contact: StationContact, change: MissionChange) -> None:
    """Replan for all contacts that were lost and regained since the last time, at most every `replan_every` s."""
    back = [row for row in sorted(contact.waiting) if not contact.lost[row]]
    if state.time < contact.settled or not (back or contact.newly_lost):
        return
    contact.settled = state.time + contact.rules.replan_every
    for row in back:
        change.dirty.add(row)
        if contact.waiting.pop(row):
            change.aborted.add(row)
    _cause(change, [state.fleet.vehicles[row].name for row in back], "contact with {}")
    _cause(change, contact.newly_lost, "contact with {} lost")
    contact.newly_lost, change.contacts = [], len(change.causes)


def _cause(change: MissionChange, names: list[str], form: str) -> None:
    """Add a cause of replanning that names the first of some vehicles."""
    if names:
        change.causes.append(form.format(names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")))


def postpone(contact: StationContact, change: MissionChange) -> None:
    """Keep new routes of vehicles whose contact is lost for when it is regained."""
    for row in sorted(change.dirty):
        if row < len(contact.lost) and contact.lost[row]:
            contact.waiting[row] = contact.waiting.get(row, False) or row in change.aborted
            change.dirty.discard(row)
            change.aborted.discard(row)
