"""The station of a mission over radio: it takes reports, loses and regains contact, and gives tasks to others.

What the mission knows of a vehicle is what it reported last. Without reports for the time-out, the station assumes that
the vehicle acts on its own, as agreed before, and gives its tasks to vehicles in contact. What the vehicle has finished
meanwhile it reports when contact is regained. A vehicle that is still silent when it should long be back is missing: a
damaged vehicle does not report, and is for the station one without contact.
"""

import numpy as np

from paddock.planning.mission.contact import Bools, StationContact, VehicleReport, VehicleReports, route_key
from paddock.planning.mission.onboard import Onboard
from paddock.planning.mission.replanning import go_home, upset_holder
from paddock.planning.mission.state import MissionChange, MissionData
from paddock.planning.mission.vehicles import Drawn, MissionVehicle, Status
from paddock.planning.paths.path import Pose
from paddock.planning.routes import Route
from paddock.world.columns import Floats


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
            state.report("contact_regained", state.fleet.list[report.row])
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
    return reports.chosen(last[reports.sent[last] > contact.stamp[rows[last]]])


def _notable(state: MissionData, contact: StationContact, reports: VehicleReports, tolerance: float) -> Bools:
    """Return which reports change more than position and progress."""
    rows, fleet = reports.rows, state.fleet
    key = route_key(reports.number, reports.alone)
    other = reports.alone | contact.assumed[rows] | (contact.known[rows] != key)
    passed = (reports.progress >= fleet.due[rows] - tolerance) & (state.time >= fleet.gate[rows])
    found = contact.lost[rows] | (reports.finished > contact.finished[rows])
    if contact.issued:
        found |= np.isin(rows, list(contact.issued))
    return np.asarray(found | ((reports.number == contact.number[rows]) & (other | passed)))


def _follow_report(
    state: MissionData, contact: StationContact, onboard: Onboard, report: VehicleReport, tolerance: float
) -> None:
    """Take the progress of a vehicle that has the newest route; one that acts on its own gets another."""
    row, key = report.row, route_key(report.number, report.alone)
    vehicle, flown = state.fleet.list[row], onboard.fleet.list[row]
    if report.alone and not contact.assumed[row]:
        _give_back(state, contact, vehicle)
    if contact.assumed[row]:
        contact.waiting.setdefault(row, False)
        if not report.alone:  # its tasks are no longer its own
            return
    if contact.known[row] != key and key == route_key(int(onboard.number[row]), bool(onboard.alone[row])):
        contact.known[row] = key
        if flown.route.legs:
            state.begin(vehicle, flown.route, flown.drawn)
        else:
            state.fleet.follow(vehicle, flown.route, flown.drawn)
            state.become(vehicle, flown.status)
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
    row, vehicle = report.row, state.fleet.list[report.row]
    done, upset = onboard.done[row][int(contact.finished[row]) : report.finished], MissionChange()
    contact.finished[row] = max(int(contact.finished[row]), report.finished)
    for task in done:
        job = state.tasks[task]
        if job.state == "completed" or job.removed:
            continue
        if job.vehicle != vehicle.name:
            upset_holder(state, task, upset, f"{vehicle.name} has completed it")
        job.state, job.vehicle, job.completed, job.doing, job.reason = "completed", vehicle.name, state.time, False, ""
        state.report("completed", vehicle, task, "reported late" if late else "")
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
        state.report("contact_lost", state.fleet.list[row])
    if contact.rules.action != "continue":
        _assume_alone(state, contact, silent)
    under_way = np.isfinite(state.fleet.due)
    overdue = contact.lost & under_way & (state.time > state.fleet.route_until + contact.rules.timeout)
    for row in np.flatnonzero(overdue).tolist():
        vehicle = state.fleet.list[row]
        _give_back(state, contact, vehicle)
        _stop(state, vehicle, "missing")


def _assume_alone(state: MissionData, contact: StationContact, silent: Floats) -> None:
    """Give the tasks of vehicles to others that were silent (s) for the time-out."""
    for row in np.flatnonzero(~contact.assumed & (silent > contact.rules.timeout)).tolist():
        vehicle = state.fleet.list[row]
        resting = vehicle.current is None
        _give_back(state, contact, vehicle)
        if resting:
            continue
        if contact.rules.action == "hold":
            _stop(state, vehicle, "transit")
        else:
            go_home(state, vehicle, contact_pose(contact, row))


def _stop(state: MissionData, vehicle: MissionVehicle, status: Status) -> None:
    """Leave a vehicle without a route, as far as the station knows."""
    state.fleet.follow(vehicle, Route(vehicle.name, (), vehicle.spec.speed), Drawn(vehicle.spec, (), ()))
    state.become(vehicle, status)


def _give_back(state: MissionData, contact: StationContact, vehicle: MissionVehicle) -> None:
    """Take the tasks from a vehicle that acts on its own, or is assumed to."""
    contact.assumed[vehicle.row], contact.known[vehicle.row] = True, -1
    count = len(vehicle.ahead) + bool(vehicle.doing)
    if not count:
        return
    state.report("given_back", vehicle, detail="1 task" if count == 1 else f"{count} tasks")
    state.release(vehicle, f"contact with its vehicle {vehicle.name} was lost", lasting=True)
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
    _cause(change, [state.fleet.list[row].name for row in back], "contact with {}")
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


def contact_pose(contact: StationContact, row: int) -> Pose:
    """Return where a vehicle was when it reported last."""
    x, y, z, heading = contact.poses[row].tolist()
    return x, y, z, heading
