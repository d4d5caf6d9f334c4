"""The vehicles of a mission over radio: what each of them flies and knows, which the station learns from its reports.

A vehicle takes up a new route when it arrives: from where it is, without the tasks that it has finished meanwhile, and
after the task that it is doing if that is still its own. After the time-out without a packet from the station it acts
on its own.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.coverage.shapes import InfeasibleError
from paddock.planning.mission.contact import Bools, Ints, StationContact, VehicleReports, column
from paddock.planning.mission.replanning import after_task, free_at, home_route, straight_home
from paddock.planning.mission.saving import loaded_fleet, saved_fleet
from paddock.planning.mission.state import MissionData, PoseOf
from paddock.planning.mission.vehicles import STATUS_ON, Drawn, MissionFleet, MissionVehicle, drawn_again
from paddock.planning.paths.path import Pose
from paddock.planning.problem import LostLink
from paddock.planning.routes import Route
from paddock.planning.separation import raised
from paddock.world.archive import typed
from paddock.world.columns import Floats

COUNTS = ("number", "finished", "acknowledged")


class Onboard:
    """What the vehicles know, in the order of the mission's vehicles."""

    def __init__(self, state: MissionData, rules: LostLink) -> None:
        self.state, self.rules = state, rules
        self.fleet = MissionFleet()  # their routes and progress
        self.done: list[list[str]] = []  # the tasks that each has finished, in order
        self.number: Ints = np.zeros(0, np.int64)  # of the last route that has arrived; 0: none
        self.alone: Bools = np.zeros(0, bool)  # acts on its own since the time-out
        self.heard: Floats = np.zeros(0)  # s, when a packet of the station arrived last
        self.finished: Ints = np.zeros(0, np.int64)  # number of `done`
        self.acknowledged: Ints = np.zeros(0, np.int64)  # of which the station has acknowledged

    def grow(self) -> None:
        """Add the vehicles that have joined the mission."""
        new = self.state.fleet.list[len(self.fleet.list) :]
        for vehicle in new:
            self.fleet.add(vehicle.spec)
            self.done.append([])
        if new:
            more = len(new)
            for name in COUNTS:
                setattr(self, name, np.append(getattr(self, name), np.zeros(more, np.int64)))
            self.alone = np.append(self.alone, np.zeros(more, bool))
            self.heard = np.append(self.heard, np.full(more, self.state.time))

    @property
    def at_rest(self) -> bool:
        """Whether no vehicle is under way."""
        return not np.isfinite(self.fleet.due).any()

    def advance(self, time: float, progress: Floats, travelled: Floats, tolerance: float) -> None:
        """Take the progress (m) of all vehicles; those at the end of a leg begin the next."""
        all_ = self.fleet
        all_.progress[:], all_.travelled[:] = progress, travelled
        for row in np.flatnonzero((all_.progress >= all_.due - tolerance) & (time >= all_.gate)).tolist():
            vehicle = all_.list[row]
            while all_.progress[row] >= all_.due[row] - tolerance and time >= all_.gate[row]:
                leg = vehicle.route.legs[vehicle.leg]
                if leg.kind == "coverage" and str(leg.task) not in self.done[row]:
                    self.done[row].append(str(leg.task))
                    self.finished[row] += 1
                all_.enter(vehicle, vehicle.leg + 1)
            _set_status(vehicle)

    def report(self, rows: Ints, time: float, charge: Floats, poses: Floats) -> VehicleReports:
        """Return the reports of vehicles (k,) at a time (s), with their charges (k,) and poses (k, 4)."""
        own = self.number[rows], self.alone[rows], self.fleet.progress[rows], self.fleet.travelled[rows]
        return VehicleReports(rows, np.full(len(rows), time), *own, charge, poses, self.finished[rows])

    def take_up(self, row: int, number: int, drawn: Drawn, pose: Pose) -> bool:
        """Follow a route that has arrived, from a pose; return whether it is newer than the present one."""
        vehicle = self.fleet.list[row]
        if number <= self.number[row] or vehicle.status == "damaged":
            return False
        vehicle.spec = raised(vehicle.spec, drawn.spec.lift)
        try:
            route, drawn = self._from_here(vehicle, drawn, pose)
        except InfeasibleError:  # it keeps its route
            return False
        self.fleet.follow(vehicle, route, drawn)
        _set_status(vehicle)
        self.number[row], self.alone[row] = number, False
        return True

    def take_agreed(self, contact: StationContact, time: float, poses: PoseOf) -> list[int]:
        """Follow the routes that vehicles have negotiated, when that has ended; return the rows of new ones."""
        due = [row for row, (_, at) in sorted(contact.agreed.items()) if at <= time]
        found = []
        for row in sorted(due):
            number, _ = contact.agreed.pop(row)
            drawn = contact.issued.get(row, {}).get(number)
            if drawn is not None and self.take_up(row, number, drawn, poses(row)):
                found.append(row)
        return found

    def _from_here(self, vehicle: MissionVehicle, drawn: Drawn, pose: Pose) -> tuple[Route, Drawn]:
        """Return a route as the vehicle flies it from a pose, and its inputs."""
        state, known, done = self.state, self.state.known, self.done[vehicle.row]
        new, old = ({known[v].name: v for v in drawn_versions(one)} for one in (drawn, vehicle.drawn))
        doing, rest, now = vehicle.doing, None, free_at(state, vehicle, pose)
        if doing is not None and new.get(doing) == old[doing]:
            _, now, rest = after_task(state, self.fleet, vehicle, new.pop(doing))
        order = tuple(version for name, version in new.items() if name not in done)
        spec = replace(drawn.spec, pose=now.pose, ready=now.ready, range=now.range, under_way=now.under_way)
        mine = Drawn(spec, order, drawn.zones, rest)
        with suppress(InfeasibleError):
            return drawn_again(state.problem, known, state.chart, mine), mine
        return drawn_again(state.problem, known, state.chart, drawn), drawn

    def act_alone(self, time: float, charge: Floats | None, poses: PoseOf) -> list[int]:
        """Let vehicles return or hold after the time-out, or return with a low battery; return their rows."""
        silent, state = time - self.heard, self.state
        low = np.zeros(len(silent), bool)
        if charge is not None:
            low = (silent > self.rules.lost_after) & (charge < state.setup.battery_reserve)
        due = low | ((silent > self.rules.timeout) & (self.rules.action != "continue"))
        under_way = np.isfinite(self.fleet.due)
        holding = self.alone & ~under_way & self.fleet.marked("transit")
        found = []
        for row in np.flatnonzero((due & ~self.alone & under_way) | (low & holding)).tolist():
            vehicle = self.fleet.list[row]
            self.alone[row] = True
            holds = self.rules.action == "hold" and not low[row]
            why = "it holds" if holds else "it returns: its battery is low" if low[row] else "it returns"
            state.report("lost_link", vehicle, detail=why)
            here = free_at(state, vehicle, poses(row))
            if holds:
                self.stop(row, replace(vehicle.spec, pose=poses(row)))
                vehicle.status = "transit"
            else:
                zones = vehicle.drawn.zones
                drawn = Drawn(here, (), zones)
                try:
                    route = home_route(state, here, tuple(state.chart[k] for k in zones))
                except InfeasibleError as error:
                    route, drawn = straight_home(state, vehicle, here, str(error))
                self.fleet.follow(vehicle, route, drawn)
                _set_status(vehicle)
            found.append(row)
        return found

    def stop(self, row: int, spec: Any) -> None:
        """Leave a vehicle without a route, at the pose of `spec`."""
        vehicle = self.fleet.list[row]
        self.fleet.follow(vehicle, Route(vehicle.name, (), vehicle.spec.speed), Drawn(spec, (), ()))

    def damage(self, row: int) -> None:
        """Disable a vehicle permanently: it neither reports nor receives; the station is not informed."""
        vehicle = self.fleet.list[row]
        if vehicle.status != "damaged":
            self.state.report("damage", vehicle, vehicle.doing)
            self.stop(row, vehicle.drawn.spec)
            vehicle.status = "damaged"

    def save(self) -> dict[str, Any]:
        """Return the state."""
        return {
            **saved_fleet(self.fleet, self.state.setup),
            "done": [list(tasks) for tasks in self.done],
            "alone": self.alone.astype(np.uint8),
            **{name: getattr(self, name).copy() for name in ("number", "heard", "acknowledged")},
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Load what `save` returned; the mission must be restored first."""
        self.fleet = loaded_fleet(self.state, saved)
        count = len(self.fleet.list)
        self.done = typed(list[list[str]], saved["done"], "finished tasks")
        if count != len(self.state.fleet.list) or len(self.done) != count:
            raise InvalidValueError("the saved routes of vehicles do not fit the vehicles of the mission")
        for name in (name for tasks in self.done for name in tasks):
            if name not in self.state.tasks:
                raise InvalidValueError(f"saved reports of vehicles name an unknown task {name!r:.60}")
        self.alone = column(saved, "alone", count, np.uint8).astype(bool)
        self.number, self.acknowledged = (column(saved, name, count, np.int64) for name in ("number", "acknowledged"))
        self.heard = column(saved, "heard", count, np.float64)
        self.finished = np.array([len(tasks) for tasks in self.done], np.int64)


def drawn_versions(drawn: Drawn) -> tuple[int, ...]:
    """Return the versions of the tasks of a route, the one in progress first."""
    return drawn.order if drawn.rest is None else (drawn.rest.task, *drawn.order)


def _set_status(vehicle: MissionVehicle) -> None:
    """Set the status of a vehicle by its leg."""
    leg = vehicle.current
    vehicle.status = STATUS_ON[leg.kind] if leg is not None else (vehicle.at_rest if vehicle.travelled > 0 else "idle")
