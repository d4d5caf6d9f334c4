"""A mission: its tasks, its vehicles and their states. It does not move vehicles.

An executor (exact along routes, or the world with full dynamics) reports the positions of vehicles; the mission returns
new routes.
"""

from collections.abc import Collection, Sequence
from math import inf

import numpy as np

from paddock.errors import InvalidValueError, unknown_name
from paddock.planning.geometry.intersections import blocked_by
from paddock.planning.geometry.path import Path, Pose
from paddock.planning.geometry.zones import Zone
from paddock.planning.mission.over_radio import (
    Onboard,
    contact_pose,
    postpone,
    replan_contacts,
    take_reports,
    update_contacts,
)
from paddock.planning.mission.records import MoveTask, RemoveTask, Request
from paddock.planning.mission.replanning import (
    apply_request,
    enforce_battery,
    enforce_range,
    first_plan,
    home_of,
    replan,
)
from paddock.planning.mission.state import MissionChange, MissionData, PoseOf, moved
from paddock.planning.mission.station import VehicleReports
from paddock.planning.mission.vehicles import MissionFleet, MissionVehicle
from paddock.planning.solver.problem import MissionSetup, Problem, ScheduledEvent, Task, Vehicle
from paddock.planning.solver.routes import Plan
from paddock.planning.solver.transits import Transits, between
from paddock.world.columns import Floats
from paddock.world.parts import fresh

Poses = Floats | PoseOf
"""x, y, z in m and heading in rad, (n, 4); or a function of the row, called on demand."""


class Mission(MissionData):
    """The state machine of a mission."""

    def __init__(self, setup: MissionSetup, tolerance: float = 1e-3, plan: Plan | None = None) -> None:
        """`tolerance`: distance (m) to the end of a leg at which it counts as flown; `plan`: of the setup, if known."""
        self.setup, self.negotiator = setup, None
        self.__post_init__()
        self.tolerance = tolerance
        self.plan = plan  # the initial plan
        self.begin_state()
        if self.contact is not None:
            self.onboard = fresh(Onboard, state=self, rules=self.contact.rules)

    def start(self, time: float = 0.0) -> list[int]:
        """Plan; return the rows of all vehicles, which have new routes; over radio, of those whose routes are sent."""
        if self.started:
            raise RuntimeError("the mission has been started already")
        self.time, self.started = time, True
        self._grow_contact()
        self.plan, new = first_plan(self, self.plan)
        return self._issue(new)

    def observe(
        self,
        time: float,
        progress: Floats,
        poses: Poses,
        travelled: Floats,
        charge: Floats | None = None,
    ) -> list[int]:
        """Update the mission from observations of all vehicles, in order of `vehicles`; return the rows of new routes.

        `progress` (m flown on the present route), `travelled` (m flown in all), `charge` (share of the battery, NaN:
        unknown). A new route starts at the given pose, with a progress of 0.
        """
        all_ = self.fleet
        self.record_progress(time, progress, travelled)
        for row in np.flatnonzero((all_.progress >= all_.due - self.tolerance) & (time >= all_.gate)).tolist():
            self.pass_legs(all_.vehicles[row], self.tolerance)
        return self._react(MissionChange(), self._pose_of(poses), charge)

    def advance_onboard(self, time: float, progress: Floats, travelled: Floats) -> None:
        """Advance the vehicles of a mission over radio along their routes; the station learns it from their reports."""
        assert self.onboard is not None
        self.time = time
        self.onboard.grow()
        self.onboard.advance(time, progress, travelled, self.tolerance)

    def update_from_reports(self, reports: VehicleReports | None = None) -> list[int]:
        """Update a mission over radio from reports that have arrived since; return the rows of routes to send."""
        contact, onboard, all_ = self.contact, self.onboard, self.fleet
        assert contact is not None and onboard is not None
        self._grow_contact()
        change = MissionChange()
        if reports is not None and len(reports.rows):
            change = take_reports(self, contact, onboard, reports, self.tolerance)
        waited = (all_.progress >= all_.due - self.tolerance) & (self.time >= all_.gate)
        for row in np.flatnonzero(waited).tolist():  # the end of a wait is known without a report
            self.pass_legs(all_.vehicles[row], self.tolerance)
        update_contacts(self, contact)
        replan_contacts(self, contact, change)
        charge = None if np.isnan(contact.charge).all() else contact.charge
        return self._issue(self._react(change, lambda row: contact_pose(contact, row), charge))

    def _react(self, change: MissionChange, pose_of: PoseOf, charge: Floats | None) -> list[int]:
        """Apply requests, range and battery, then replan; return the rows of new routes."""
        for request in self._due():
            if self.onboard is not None and isinstance(request, ScheduledEvent) and request.damage is not None:
                self.onboard.grow()
                self.onboard.damage(self.fleet.row_of[request.damage])  # which the station learns by its silence
            else:
                apply_request(self, request, pose_of, change)
        self._grow_contact()
        enforce_range(self, change)
        if charge is not None:
            enforce_battery(self, charge, pose_of, change)
        if self.contact is not None:
            postpone(self.contact, change)
        if change.matters:
            replan(self, pose_of, change)
        return sorted(change.new)

    def _grow_contact(self) -> None:
        if self.contact is not None:
            known = len(self.contact.seen)
            self.contact.grow([vehicle.spec.pose for vehicle in self.fleet.vehicles[known:]], self.time)

    def _issue(self, new: Collection[int]) -> list[int]:
        """Number new routes that go over radio; return the rows of those to be sent."""
        if self.contact is None or self.onboard is None:
            return sorted(new)
        self._grow_contact()
        self.onboard.grow()
        routes = {row: self.fleet.vehicles[row].inputs for row in (*new, *self.contact.bundles)}
        return self.contact.issue_all(routes, new)

    def record_progress(self, time: float, progress: Floats, travelled: Floats) -> None:
        """Record the progress of all vehicles; it takes effect at the next observation."""
        if not self.started:
            raise RuntimeError("the mission has not been started")
        self.time = time
        self.fleet.progress[:], self.fleet.travelled[:] = progress, travelled

    @property
    def vehicles(self) -> Sequence[MissionVehicle]:
        """The vehicles, in the order in which they joined."""
        return self.fleet.vehicles

    @property
    def flown(self) -> MissionFleet:
        """The vehicles as they are: with the routes that they follow, whether or not the station knows them."""
        return self.fleet if self.onboard is None else self.onboard.fleet

    @property
    def next_event(self) -> float:
        """Time of the next known event, s; inf: none."""
        if self.queue:
            return self.time
        return self.events[self.applied_events].at if self.applied_events < len(self.events) else inf

    @property
    def finished(self) -> bool:
        """Whether all vehicles are at rest, as the station of a mission over radio knows, and no event is pending."""
        resting = self.onboard is None or self.onboard.at_rest
        resting = resting and not (self.contact is not None and self.contact.newly_lost)  # they are to be replanned
        return resting and self.next_event == inf and not np.isfinite(self.fleet.due).any()

    def loiter_path(self, vehicle: MissionVehicle) -> Path:
        """Return the waiting circle of an idle aircraft, through its home: to the left unless a zone is there."""
        spec = vehicle.spec
        home = home_of(self, spec)
        if spec.moves != "aircraft" or spec.radius <= 0.0:
            return Path((), home)
        transits = Transits(self.problem)
        left, right = (transits.circle(spec, home, side) for side in (True, False))
        zones = between(self.zones, home[2], home[2])
        crosses = blocked_by(left, zones) is not None and blocked_by(right, zones) is None
        return right if crosses else left

    def add_task(self, task: Task) -> None:
        """Add a task."""
        self._check_new("task", task.name, self.tasks)
        self.queue.append(ScheduledEvent(self.time, task=task))

    def add_vehicle(self, spec: Vehicle) -> None:
        """Add a vehicle."""
        self._check_new("vehicle", spec.name, self.fleet.row_of)
        Problem((spec,), (), (), self.setup.problem.wind)  # raises for an impossible vehicle
        self.queue.append(ScheduledEvent(self.time, vehicle=spec))

    def add_zone(self, zone: Zone) -> None:
        """Add a no-fly zone."""
        gone = self._removed()
        self._check_new("zone", zone.name, [known.name for known in self.zones if known.name not in gone])
        self.queue.append(ScheduledEvent(self.time, zone=zone))

    def remove_zone(self, zone: str) -> None:
        """Open a no-fly zone again."""
        gone = self._removed()
        known = {other.name for other in self.zones if other.name not in gone} | {*self._announced("zone")}
        if zone not in known:
            raise unknown_name("zone", zone, known)
        self.queue.append(ScheduledEvent(self.time, remove_zone=zone))

    def damage(self, vehicle: str) -> None:
        """Disable a vehicle permanently."""
        known = {*self.fleet.row_of, *self._announced("vehicle")}
        if vehicle not in known:
            raise unknown_name("vehicle", vehicle, known)
        self.queue.append(ScheduledEvent(self.time, damage=vehicle))

    def move_task(self, task: str, x: float, y: float) -> None:
        """Move a task to x, y (m)."""
        self._check_unfinished(task)
        moved(self.task(task), x, y)  # raises if it cannot be moved
        self.queue.append(MoveTask(task, float(x), float(y)))

    def remove_task(self, task: str) -> None:
        """Remove a task."""
        self._check_unfinished(task)
        self.queue.append(RemoveTask(task))

    def _announced(self, what: str) -> list[str]:
        """Return the names of pending additions."""
        pending = [getattr(request, what, None) for request in self.queue if isinstance(request, ScheduledEvent)]
        return [addition.name for addition in pending if addition is not None]

    def _removed(self) -> list[str | None]:
        """Return the names of zones whose removal is pending."""
        return [request.remove_zone for request in self.queue if isinstance(request, ScheduledEvent)]

    def _check_unfinished(self, name: str) -> None:
        if name not in self.tasks:
            raise unknown_name("task", name, self.tasks)
        if self.tasks[name].state == "completed":
            raise InvalidValueError(f"task {name!r} is completed already")
        if self.tasks[name].removed:
            raise InvalidValueError(f"task {name!r} was removed")

    def _check_new(self, what: str, name: str, known: Collection[str]) -> None:
        if name in known or name in self._announced(what):
            raise InvalidValueError(f"there is a {what} {name!r} already; give it another name")

    def _due(self) -> list[Request]:
        """Return the requests that are due and remove them."""
        first = self.applied_events
        while self.applied_events < len(self.events) and self.events[self.applied_events].at <= self.time:
            self.applied_events += 1
        due, self.queue = [*self.events[first : self.applied_events], *self.queue], []
        return due

    def _pose_of(self, poses: Poses) -> PoseOf:
        known = len(self.vehicles)

        def pose(row: int) -> Pose:
            if row >= known:  # it has just joined
                return self.vehicles[row].spec.pose
            if callable(poses):
                return poses(row)
            x, y, z, heading = poses[row].tolist()
            return x, y, z, heading

        return pose
