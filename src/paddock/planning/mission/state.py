"""The state of a mission: log, tasks, vehicles, pending requests, and the transitions at the end of a leg."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from math import isfinite, isnan
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Pose
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.zones import Zone
from paddock.planning.mission.station import StationContact
from paddock.planning.mission.vehicles import (
    LONGEST,
    MissionFleet,
    MissionVehicle,
    RouteInputs,
    rebuilt_route,
)
from paddock.planning.solver.costs import Costs, Covered
from paddock.planning.solver.problem import MissionSetup, Problem, ScheduledEvent, Task, Vehicle
from paddock.planning.solver.routes import STATUS_ON, Leg, Route, Status
from paddock.wire.mission_results import LogEntry
from paddock.world.columns import FARTHEST
from paddock.world.parts import child, flag, part, record, rows, value

if TYPE_CHECKING:
    from paddock.planning.consensus_radio import Negotiated
    from paddock.planning.mission.over_radio import Onboard


TaskStatus = Literal["unassigned", "assigned", "completed", "undone"]


@dataclass
class Job:
    """A task and its state."""

    version: int  # index of its current version among all known tasks
    added: float  # s
    state: TaskStatus = "unassigned"
    vehicle: str | None = None  # assigned to, or done by
    reason: str = ""  # why it is undone
    removed: bool = False
    doing: bool = False
    assigned: float | None = None  # s, assigned
    started: float | None = None  # s
    completed: float | None = None  # s

    def assign(self, vehicle: str, time: float) -> bool:
        """Assign it to a vehicle at a time (s); return whether that is new."""
        if self.state == "assigned" and self.vehicle == vehicle:
            return False
        self.state, self.vehicle, self.assigned, self.reason = "assigned", vehicle, time, ""
        return True

    def unassign(self) -> None:
        """Take it from its vehicle."""
        self.state, self.vehicle, self.assigned, self.started, self.doing = "unassigned", None, None, None, False

    def start(self, time: float) -> None:
        """Start it at a time (s)."""
        self.doing, self.started = True, time

    def complete(self, vehicle: str, time: float) -> None:
        """Mark it as completed by a vehicle at a time (s)."""
        self.state, self.vehicle, self.completed, self.doing, self.reason = "completed", vehicle, time, False, ""

    def give_up(self, reason: str) -> None:
        """Mark it as undone for a reason."""
        self.unassign()
        self.state, self.reason = "undone", reason

    def remove(self) -> None:
        """Remove it from the mission."""
        self.removed = True


def moved(task: Task, x: float, y: float) -> Task:
    """Return the task moved to a position (m): of its start, or for a polygon of the mean of its corners."""
    if not np.isfinite([x, y]).all():
        raise InvalidValueError(f"task {task.name!r}: its position must be two numbers of metres, not ({x}, {y})")
    shape: Any = task.shape
    if shape.kind == "polygon":
        by_x, by_y = (np.array([x, y]) - np.mean(shape.outer, axis=0)).tolist()

        def there(points: Any) -> Any:
            return tuple((px + by_x, py + by_y) for px, py in points)

        start = None if shape.start is None else there([shape.start])[0]
        holes = tuple(map(there, shape.holes))
        return replace(task, shape=replace(shape, outer=there(shape.outer), holes=holes, start=start))
    if not {"x", "y"} <= {field.name for field in fields(shape)}:
        raise InvalidValueError(f"task {task.name!r}: a {shape.kind} cannot be moved")
    return replace(task, shape=replace(shape, x=float(x), y=float(y)))


PoseOf = Callable[[int], Pose]  # present pose of the vehicle in a row


@dataclass
class MissionChange:
    """The changes of an observation: collected first, then planned together."""

    causes: list[str] = field(default_factory=list)  # empty: no replanning
    dirty: set[int] = field(default_factory=set)  # rows of vehicles whose routes are invalid
    aborted: set[int] = field(default_factory=set)  # rows of vehicles that abort their task
    new: set[int] = field(default_factory=set)  # rows of vehicles with new routes
    damaged: list[str] = field(default_factory=list)  # names of failed vehicles
    contacts: int = 0  # how many of the causes are contacts that were lost or regained
    reassigns: bool = False  # they had tasks, which are to be reassigned

    @property
    def matters(self) -> bool:
        """Whether replanning is needed."""
        return bool(self.causes or self.dirty or self.reassigns)

    @property
    def keeps_orders(self) -> bool:
        """Whether routes need no other order: contacts come and go often, and vehicles would turn back each time."""
        return 0 < self.contacts == len(self.causes) and not self.reassigns

    @property
    def cause(self) -> str:
        """All causes in one line."""
        first, more = self.damaged[:1], len(self.damaged) - 1
        damage = [f"damage of {name}" + (f" and {more} more" if more else "") for name in first]
        return ", ".join(damage + self.causes)


Negotiator = Callable[[Costs, list[int], list[list[int]]], "Negotiated"]
"""Lets the vehicles of some rows negotiate over radio; they keep the tasks of their present orders."""


@part
class MissionData:
    """The changing state of a mission."""

    setup: MissionSetup
    time: float = value(0.0, low=0.0, high=LONGEST, unit="s")
    started: bool = flag()
    applied_events: int = value(0, low=0)  # how many of `events`
    replans: int = value(0, low=0)
    log: list[LogEntry] = rows(LogEntry)
    versions: list[Task] = rows(Task)
    """Of tasks, referred to by routes: moving a task adds a version."""
    tasks: dict[str, Job] = record(dict[str, Job], dict)  # the state of each task
    all_zones: list[Zone] = rows(Zone)  # so far, referred to by routes
    active_zones: list[int] = rows(Annotated[int, Ge(0)])  # indices of those in force
    queue: list[ScheduledEvent] = rows(ScheduledEvent)  # since the last observation
    fleet: MissionFleet = child(MissionFleet)
    contact: StationContact | None = child()  # of a mission over radio; None: with all vehicles, always
    onboard: Onboard | None = child()
    negotiator: Negotiator | None = None  # None: the station plans

    def __post_init__(self) -> None:
        """Set what is derived from the state, and caches."""
        self.events = sorted(self.setup.events, key=lambda event: event.at)
        self.covered: Covered = {}  # cached paths of tasks

    def check(self, state: Any) -> None:
        """Refuse what refers to something that does not exist."""
        names = {spec.name for spec in self.fleet.joined}
        for name, job in self.tasks.items():
            if not 0 <= job.version < len(self.versions) or job.vehicle not in (None, *names):
                raise InvalidValueError(f"task {name!r:.60} refers to version {job.version} and {job.vehicle!r:.60}")
            if self.versions[job.version].name != name:
                raise InvalidValueError(f"version {job.version} is not one of task {name!r:.60}")
        if any(k >= len(self.all_zones) for k in self.active_zones):
            raise InvalidValueError(f"zones {self.active_zones} of {len(self.all_zones)}")
        known = {*self.tasks, *names, *(request.vehicle.name for request in self.queue if request.vehicle is not None)}
        for request in self.queue:
            moved_task = request.move_task and request.move_task[0]
            if not {request.damage, request.remove_task, moved_task} <= {None, *known}:
                raise InvalidValueError("a request names a task or vehicle that does not exist")
        if self.applied_events > len(self.events):
            raise InvalidValueError(f"{self.applied_events} events have happened of {len(self.events)}")
        fleets = [self.fleet] + ([] if self.onboard is None else [self.onboard.fleet])
        for fleet in fleets:
            if len(names) != len(fleet.joined) or {len(fleet.inputs), len(fleet.codes)} != {len(names)}:
                raise InvalidValueError("the arrays of the vehicles have different lengths, or two have one name")
            if [spec.name for spec in fleet.joined] != [spec.name for spec in self.fleet.joined]:
                raise InvalidValueError("the vehicles on board have other names")
            for spec in fleet.joined:
                self._check_spec(spec)
        issued = () if self.contact is None else (i for own in self.contact.issued.values() for i in own.values())
        for inputs in (*(i for fleet in fleets for i in fleet.inputs), *issued):
            self.check_inputs(inputs)

    def _check_spec(self, spec: Vehicle) -> None:
        """Refuse an impossible vehicle, or one that is too far away."""
        if not all(abs(number) <= FARTHEST for number in (*spec.pose, *spec.home, spec.travels_at)):
            raise InvalidValueError(f"vehicle {spec.name!r:.60} is not within {FARTHEST:g} m")
        if any(isinstance(number, float) and isnan(number) for number in vars(spec).values()):
            raise InvalidValueError(f"vehicle {spec.name!r:.60} has a number that is not one")
        Problem((spec,), (), (), self.setup.problem.wind)  # raises for an impossible vehicle

    def check_inputs(self, inputs: RouteInputs) -> None:
        """Refuse a route to tasks or around zones that do not exist, or of a vehicle that is too far away."""
        rest = inputs.rest
        indices = (*inputs.order, *(() if rest is None else (rest.task,)))
        if any(not 0 <= k < len(self.versions) for k in indices):
            raise InvalidValueError(f"tasks {[*indices]} of {len(self.versions)}")
        if len({self.versions[k].name for k in inputs.order}) != len(inputs.order):
            raise InvalidValueError(f"a task twice in one route: {[*inputs.order]}")
        zones = (*inputs.zones, *(() if rest is None else rest.zones))
        if any(not 0 <= k < len(self.all_zones) for k in zones):
            raise InvalidValueError(f"zones {[*zones]} of {len(self.all_zones)}")
        self._check_spec(inputs.spec)
        if rest is not None and not all(map(isfinite, (rest.done, rest.begins, *rest.end))):
            raise InvalidValueError("the rest of a task has numbers that are not finite")

    def rebuild(self) -> None:
        """Build what is derived from a loaded state: the vehicles and their routes."""
        self.covered = {}
        self.fleet.rebuild(self.problem, self.versions, self.all_zones)
        if self.onboard is not None:
            self.onboard.fleet.rebuild(self.problem, self.versions, self.all_zones)
            self.onboard.finished = np.array([len(tasks) for tasks in self.onboard.done], np.int64)
        issued = () if self.contact is None else (i for own in self.contact.issued.values() for i in own.values())
        for inputs in issued:
            with suppress(InfeasibleError):  # then the vehicle that receives it keeps its route
                rebuilt_route(self.problem, self.versions, self.all_zones, inputs)

    @property
    def problem(self) -> Problem:
        """The problem of the setup with the present zones, without vehicles and tasks."""
        return replace(self.setup.problem, vehicles=(), tasks=(), zones=self.zones)

    @property
    def zones(self) -> tuple[Zone, ...]:
        """The zones in force."""
        return tuple(self.all_zones[k] for k in self.active_zones)

    def zones_at(self, time: float) -> tuple[Zone, ...]:
        """Return the zones that were in force at a time (s)."""
        force, count = list(range(len(self.setup.problem.zones))), len(self.setup.problem.zones)
        for entry in self.log:
            if entry.time <= time and entry.kind == "zone":
                force.append(count)
                count += 1
            elif entry.time <= time and entry.kind == "zone_removed":
                force.remove(next(k for k in force if self.all_zones[k].name == entry.detail))
        return tuple(self.all_zones[k] for k in force)

    def activate_zone(self, zone: Zone) -> None:
        """Add a zone."""
        self.active_zones = [*self.active_zones, len(self.all_zones)]
        self.all_zones.append(zone)

    def deactivate_zone(self, name: str) -> Zone | None:
        """Remove a zone; return it, None if there is none of that name in force."""
        index = next((k for k in self.active_zones if self.all_zones[k].name == name), None)
        self.active_zones = [k for k in self.active_zones if k != index]
        return None if index is None else self.all_zones[index]

    def task(self, name: str) -> Task:
        """Return the current version of a task."""
        return self.versions[self.tasks[name].version]

    def list_task(self, task: Task, time: float) -> None:
        """Add a task at a time (s)."""
        self.tasks[task.name] = Job(len(self.versions), time)
        self.versions.append(task)

    def change_task(self, task: Task) -> None:
        """Replace a task by a new version of it."""
        self.tasks[task.name].version = len(self.versions)
        self.versions.append(task)

    def open_tasks(self) -> list[str]:
        """Return the tasks that still have to be planned: neither completed nor removed nor being done."""
        return [name for name, job in self.tasks.items() if not (job.doing or job.removed or job.state == "completed")]

    def in_contact(self, vehicle: MissionVehicle) -> bool:
        """Return whether contact with the vehicle is not lost."""
        marks = None if self.contact is None else self.contact.lost
        return marks is None or vehicle.row >= len(marks) or not marks[vehicle.row]

    def available(self, vehicle: MissionVehicle) -> bool:
        """Return whether the vehicle can be given tasks."""
        return vehicle.able and self.in_contact(vehicle)

    def log_event(
        self, kind: str, vehicle: MissionVehicle | None = None, task: str | None = None, detail: str = ""
    ) -> None:
        """Add an entry to the log."""
        name, way = (None, None) if vehicle is None else (vehicle.name, vehicle.travelled)
        self.log.append(LogEntry(self.time, kind, name, task, detail, way))

    def set_status(self, vehicle: MissionVehicle, status: Status) -> None:
        """Set the status of a vehicle."""
        if vehicle.status != status:
            vehicle.status = status
            self.log_event("state", vehicle, detail=status)

    def start_route(self, vehicle: MissionVehicle, route: Route, inputs: RouteInputs) -> None:
        """Set a new route for a vehicle."""
        self.fleet.follow(vehicle, route, inputs)
        if route.legs:
            self._arrive(vehicle, route.legs[0])
        elif vehicle.status != "damaged":
            self.set_status(vehicle, vehicle.leg_status)

    def pass_legs(self, vehicle: MissionVehicle, tolerance: float) -> None:
        """Advance a vehicle over all legs whose end it has passed to within `tolerance` (m)."""
        for leg in self.fleet.pass_legs(vehicle, self.time, tolerance):
            job = None if leg.kind != "coverage" else self.tasks[str(leg.task)]
            if job is not None and job.state != "completed":  # by another vehicle, while this one was not in contact
                job.complete(vehicle.name, self.time)
                self.log_event("completed", vehicle, leg.task)
            if vehicle.current is None:
                self.set_status(vehicle, vehicle.at_rest)
            else:
                self._arrive(vehicle, vehicle.current)

    def mark_undone(self, task: str, reason: str) -> None:
        """Mark a task as undone, until something changes."""
        job = self.tasks[task]
        if job.state != "undone" or job.reason != reason:
            job.give_up(reason)
            self.log_event("undone", task=task, detail=reason)

    def release_tasks(self, vehicle: MissionVehicle, reason: str, lasting: bool = False) -> None:
        """Take all tasks from a vehicle; a lasting reason is kept for tasks that no other vehicle can take."""
        doing = vehicle.doing
        for task in ([doing] if doing else []) + vehicle.ahead:
            if self.tasks[task].state == "completed":  # by another vehicle, while this one was not in contact
                continue
            self.tasks[task].unassign()
            if not self.setup.replan:
                self.mark_undone(task, reason)
            elif lasting:
                self.tasks[task].reason = reason

    def _arrive(self, vehicle: MissionVehicle, leg: Leg) -> None:
        self.set_status(vehicle, STATUS_ON[leg.kind])
        if leg.kind != "coverage":
            return
        job, task = self.tasks[str(leg.task)], self.task(str(leg.task))
        if not job.doing and job.state != "completed":  # otherwise it is the rest after a new route, or done by another
            job.start(self.time)
            late = self.time - task.closes
            self.log_event("started", vehicle, leg.task, f"{late:.3f} s after its window" if late > 1e-6 else "")
