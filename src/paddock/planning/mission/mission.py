"""A mission: its tasks, its vehicles and their states. It does not move vehicles.

An executor (exact along routes, or the world with full dynamics) reports the positions of vehicles; the mission returns
new routes.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from paddock.compute.math import hypot
from paddock.errors import InvalidValueError, unknown_name
from paddock.planning.geometry.path import Path, Pose, as_pose
from paddock.planning.geometry.zones import Zone, blocked_by
from paddock.planning.mission.events import (
    CandidateVehicle,
    after_task,
    close_zone,
    damage_vehicle,
    enforce_battery,
    enforce_range,
    free_at,
    home_of,
    move_task,
    remove_task,
    reopen_zone,
    straight_home,
)
from paddock.planning.mission.over_radio import (
    Onboard,
    postpone,
    replan_contacts,
    take_reports,
    update_contacts,
)
from paddock.planning.mission.state import MissionChange, MissionData, Negotiator, PoseOf, moved
from paddock.planning.mission.station import StationContact, VehicleReports
from paddock.planning.mission.vehicles import MissionFleet, MissionVehicle, RouteInputs, with_rest
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.layers import raised
from paddock.planning.solver.methods import MethodResult
from paddock.planning.solver.planner import KeptRoutes, build, revise, solve
from paddock.planning.solver.problem import MissionSetup, Problem, ScheduledEvent, Task, Vehicle
from paddock.planning.solver.routes import Plan, Route
from paddock.planning.solver.transits import Transits, between
from paddock.world.columns import Floats
from paddock.world.parts import fill, fresh

TOLERANCE = 1e-3  # m to the end of a leg at which it counts as flown
Poses = Floats | PoseOf
"""x, y, z in m and heading in rad, (n, 4); or a function of the row, called on demand."""


class Mission(MissionData):
    """The state machine of a mission."""

    def __init__(self, setup: MissionSetup, plan: Plan | None = None, negotiator: Negotiator | None = None) -> None:
        """`plan`: the initial plan, if it is computed already; `negotiator`: with it, vehicles plan over radio."""
        self.setup, self.plan, self.negotiator = setup, plan, negotiator
        self.__post_init__()
        fill(self)
        if setup.lost_link is not None:
            self.contact = fresh(StationContact, rules=setup.lost_link)
            self.onboard = fresh(Onboard, state=self, rules=setup.lost_link)
        self.all_zones = list(setup.problem.zones)
        self.active_zones = list(range(len(self.all_zones)))
        for spec in setup.problem.vehicles:
            self.fleet.add(spec)
        for task in setup.problem.tasks:
            self.list_task(task, 0.0)

    def start(self, time: float = 0.0) -> list[int]:
        """Plan; return the rows of all vehicles, which have new routes; over radio, of those whose routes are sent."""
        if self.started:
            raise RuntimeError("the mission has been started already")
        self.time, self.started = time, True
        self._grow_contact()
        self.plan, new = self._first_plan(self.plan)
        return self._issue(new)

    def observe(
        self,
        time: float,
        progress: Floats,
        poses: Poses,
        travelled: Floats,
        charge: Floats | None = None,
        tolerance: float = TOLERANCE,
    ) -> list[int]:
        """Update the mission from observations of all vehicles, in order of `vehicles`; return the rows of new routes.

        `progress` (m flown on the present route), `travelled` (m flown in all), `charge` (share of the battery, NaN:
        unknown), `tolerance` (m to the end of a leg at which it counts as flown). A new route starts at the vehicle's
        pose, with a progress of 0.
        """
        self.record_progress(time, progress, travelled)
        for vehicle in self.fleet.at_ends(time, tolerance):
            self.pass_legs(vehicle, tolerance)
        return self._react(MissionChange(), self._pose_of(poses), charge)

    def advance_onboard(self, time: float, progress: Floats, travelled: Floats) -> None:
        """Advance the vehicles of a mission over radio along their routes; the station learns it from their reports."""
        assert self.onboard is not None
        self.time = time
        self.onboard.grow()
        self.onboard.advance(time, progress, travelled, TOLERANCE)

    def update_from_reports(self, reports: VehicleReports | None = None) -> list[int]:
        """Update a mission over radio from reports that have arrived since; return the rows of routes to send."""
        contact, onboard = self.contact, self.onboard
        assert contact is not None and onboard is not None
        self._grow_contact()
        change = MissionChange()
        if reports is not None and len(reports.rows):
            change = take_reports(self, contact, onboard, reports, TOLERANCE)
        for vehicle in self.fleet.at_ends(self.time, TOLERANCE):  # the end of a wait is known without a report
            self.pass_legs(vehicle, TOLERANCE)
        update_contacts(self, contact)
        replan_contacts(self, contact, change)
        charge = None if np.isnan(contact.charge).all() else contact.charge
        return self._issue(self._react(change, lambda row: as_pose(contact.poses[row]), charge))

    def _react(self, change: MissionChange, pose_of: PoseOf, charge: Floats | None) -> list[int]:
        """Apply requests, range and battery, then replan; return the rows of new routes."""
        for request in self._due():
            if self.onboard is not None and request.damage is not None:
                self.onboard.grow()
                self.onboard.damage(self.fleet.row_of[request.damage])  # which the station learns by its silence
            else:
                self._apply(request, pose_of, change)
        self._grow_contact()
        enforce_range(self, change)
        if charge is not None:
            enforce_battery(self, charge, pose_of, change)
        if self.contact is not None:
            postpone(self.contact, change)
        if change.matters:
            self._replan(pose_of, change)
        return sorted(change.new)

    def _apply(self, request: ScheduledEvent, poses: PoseOf, change: MissionChange) -> None:
        """Apply a request; `change` collects what it makes necessary."""
        match request:
            case ScheduledEvent(move_task=(task, x, y)):
                move_task(self, task, x, y, change)
            case ScheduledEvent(remove_task=str(task)):
                remove_task(self, task, change)
            case ScheduledEvent(task=Task() as task):
                self.list_task(task, self.time)
                self.log_event("task", task=task.name)
                if self.setup.replan:
                    change.causes.append(f"new task {task.name}")
            case ScheduledEvent(damage=str(name)):
                damage_vehicle(self, self.fleet.vehicles[self.fleet.row_of[name]], poses, change)
            case ScheduledEvent(vehicle=Vehicle() as spec):
                vehicle = self.fleet.add(spec)
                self.log_event("vehicle", vehicle)
                change.dirty.add(vehicle.row)
                change.causes.append(f"new vehicle {vehicle.name}")
            case ScheduledEvent(zone=zone, remove_zone=None) if zone is not None:
                close_zone(self, zone, change)
            case ScheduledEvent(remove_zone=str(name)):
                reopen_zone(self, name, change)

    def _grow_contact(self) -> None:
        if self.contact is not None:
            count = len(self.contact.seen)
            self.contact.grow([vehicle.spec.pose for vehicle in self.fleet.vehicles[count:]], self.time)

    def _issue(self, new: Collection[int]) -> list[int]:
        """Number new routes that go over radio; return the rows of those to be sent."""
        if self.contact is None or self.onboard is None:
            return sorted(new)
        self._grow_contact()
        self.onboard.grow()
        routes = {row: self.fleet.vehicles[row].inputs for row in (*new, *self.contact.bundles)}
        return self.contact.issue_all(routes, new)

    def _first_plan(self, plan: Plan | None = None) -> tuple[Plan, set[int]]:
        """Adopt the initial plan of a mission; compute it unless it is known."""
        vehicles = self.fleet.vehicles
        candidates = [
            CandidateVehicle(vehicle, free_at(self, vehicle, vehicle.spec.pose), None) for vehicle in vehicles
        ]
        if plan is None:
            costs = self._costs(candidates, self.tasks)
            if self.negotiator is not None and self.tasks:
                plan = self._negotiated(costs, candidates, [[] for _ in candidates], {})
            else:
                plan = solve(costs.problem, self.setup.method, self.setup.options, covered=self.covered)
        done = f"{plan.done} of {len(self.tasks)} tasks"
        self.log_event("planned", detail=f"{done}, {plan.total:.1f} m, {plan.makespan:.1f} s")
        return plan, self._adopt_plan(plan, candidates, set())

    def _replan(self, poses: PoseOf, change: MissionChange) -> None:
        """Replan after the changes of an observation."""
        before, done = self.fleet.left(), set(change.new)
        if self.setup.replan:
            change.new |= self._replan_all(poses, change)
        else:
            for row in sorted(change.dirty):
                change.new |= self._replan_alone(poses, change, self.fleet.vehicles[row])
        self.replans += 1
        metres, count = self.fleet.left() - before, len(change.new - done)
        routes = "1 new route" if count == 1 else f"{count} new routes"
        more = f"{metres:+.0f} m" if abs(metres) < 1000.0 else f"{metres / 1000.0:+.1f} km"
        self.log_event("replanned", detail=f"{change.cause}: {routes}, {'+0 m' if abs(metres) < 0.5 else more} to fly")

    def _replan_all(self, poses: PoseOf, change: MissionChange) -> set[int]:
        """Plan all vehicles and all open tasks; return the rows of new routes."""
        candidates = [
            self._candidate(vehicle, poses, change) for vehicle in self.fleet.vehicles if self.available(vehicle)
        ]
        away = {task for vehicle in self.fleet.vehicles if not self.in_contact(vehicle) for task in vehicle.ahead}
        names = [name for name in self.open_tasks() if name not in away]
        index = {name: k for k, name in enumerate(names)}
        orders = [[index[task] for task in candidate.vehicle.ahead if task in index] for candidate in candidates]
        kept_routes = {
            k: (order, candidate.vehicle.route)
            for k, (candidate, order) in enumerate(zip(candidates, orders, strict=True))
            if candidate.vehicle.row not in change.dirty and len(order) == len(candidate.vehicle.ahead)
        }
        costs, present = self._costs(candidates, names), [list(order) for order in orders]
        if self.negotiator is not None and candidates and sum(map(len, present)) < len(names):
            plan = self._negotiated(costs, candidates, present, kept_routes)
        elif change.keeps_orders or self.negotiator is not None:
            plan = build(costs, MethodResult(present), self.setup.method, kept_routes)
        else:
            plan = revise(costs, self.setup.method, self.setup.options, present, kept_routes)
        return self._adopt_plan(plan, candidates, {k for k in kept_routes if plan.routes[k] is kept_routes[k][1]})

    def _negotiated(
        self,
        costs: Costs,
        candidates: Sequence[CandidateVehicle],
        present: list[list[int]],
        kept_routes: KeptRoutes,
    ) -> Plan:
        """Return the plan that vehicles negotiate over radio; tasks that none of them has won go where they fit."""
        assert self.negotiator is not None and self.contact is not None
        result = self.negotiator(costs, [candidate.vehicle.row for candidate in candidates], present)
        self.log_event("negotiated", detail=result.describe())
        versions = [self.tasks[task.name].version for task in costs.problem.tasks]
        own = zip(candidates, result.bundles, strict=True)
        bundles = {candidate.vehicle.row: tuple(versions[t] for t in bundle) for candidate, bundle in own}
        self.contact.record_negotiation(result, bundles, self.time + result.agreement.seconds)
        notes = {"rounds": result.agreement.rounds, "messages": result.agreement.sent, "over radio": result.describe()}
        return build(costs, MethodResult(result.orders, notes), self.setup.method, kept_routes)

    def _replan_alone(self, poses: PoseOf, change: MissionChange, vehicle: MissionVehicle) -> set[int]:
        """Plan one vehicle and its tasks; return the rows of new routes."""
        if not self.available(vehicle):
            return set()
        candidate = self._candidate(vehicle, poses, change)
        names = [name for name in vehicle.ahead if not self.tasks[name].removed]
        plan = build(self._costs([candidate], names), MethodResult([list(range(len(names)))]), self.setup.method)
        return self._adopt_plan(plan, [candidate], set())

    def _costs(self, candidates: Sequence[CandidateVehicle], tasks: Iterable[str]) -> Costs:
        """Return the costs of these vehicles and tasks."""
        specs = tuple(candidate.spec for candidate in candidates)
        return Costs(replace(self.problem, vehicles=specs, tasks=tuple(map(self.task, tasks))), self.covered)

    def _adopt_plan(self, plan: Plan, candidates: Sequence[CandidateVehicle], unchanged: set[int]) -> set[int]:
        """Set the routes of vehicles; return the rows of new ones."""
        for chosen in plan.problem.tasks:
            if chosen.heading != self.task(chosen.name).heading:
                self.change_task(chosen)
        new = set()
        for k, (candidate, spec, route) in enumerate(zip(candidates, plan.problem.vehicles, plan.routes, strict=True)):
            for task in candidate.vehicle.ahead if k in unchanged else route.tasks:
                if self.tasks[task].assign(candidate.vehicle.name, self.time):
                    self.log_event("assigned", candidate.vehicle, task)
            if k not in unchanged:
                candidate.vehicle.spec = raised(candidate.vehicle.spec, spec.lift)
                self._follow(candidate._replace(spec=spec), route)
                new.add(candidate.vehicle.row)
        for undone in plan.undone:
            # a reason of before is more specific than "no vehicle is available"
            before = "" if candidates else self.tasks[undone.task].reason
            self.mark_undone(undone.task, before or undone.reason)
        return new

    def _follow(self, candidate: CandidateVehicle, route: Route) -> None:
        vehicle, spec, rest = candidate
        versions = tuple(self.tasks[task].version for task in route.tasks)
        inputs = RouteInputs(spec, versions, tuple(self.active_zones), rest)
        away = hypot(spec.pose[0] - spec.home[0], spec.pose[1] - spec.home[1]) > 1e-6
        if not route.legs and spec.under_way and away:
            route, inputs = straight_home(self, vehicle, spec, "they enclose it", rest)
        self.start_route(vehicle, with_rest(route, inputs, self.problem, self.versions, self.all_zones), inputs)

    def _candidate(self, vehicle: MissionVehicle, poses: PoseOf, change: MissionChange) -> CandidateVehicle:
        """Return where and when a vehicle is free: after the task it is doing, otherwise now."""
        if vehicle.doing is None or vehicle.row in change.aborted:
            return CandidateVehicle(vehicle, free_at(self, vehicle, poses(vehicle.row)), None)
        return after_task(self, self.fleet, vehicle, self.tasks[vehicle.doing].version)

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

    def check_vehicle(self, spec: Vehicle) -> None:
        """Refuse an impossible vehicle, and one with the name of another."""
        self._check_new("vehicle", spec.name, self.fleet.row_of)
        Problem((spec,), (), (), self.setup.problem.wind)

    def add_vehicle(self, spec: Vehicle) -> None:
        """Add a vehicle."""
        self.check_vehicle(spec)
        self.queue.append(ScheduledEvent(self.time, vehicle=spec))

    def add_zone(self, zone: Zone) -> None:
        """Add a no-fly zone."""
        removed = self._removed()
        self._check_new("zone", zone.name, [other.name for other in self.zones if other.name not in removed])
        self.queue.append(ScheduledEvent(self.time, zone=zone))

    def remove_zone(self, zone: str) -> None:
        """Open a no-fly zone again."""
        removed = self._removed()
        names = {other.name for other in self.zones if other.name not in removed} | {*self._announced("zone")}
        if zone not in names:
            raise unknown_name("zone", zone, names)
        self.queue.append(ScheduledEvent(self.time, remove_zone=zone))

    def damage(self, vehicle: str) -> None:
        """Disable a vehicle permanently."""
        names = {*self.fleet.row_of, *self._announced("vehicle")}
        if vehicle not in names:
            raise unknown_name("vehicle", vehicle, names)
        self.queue.append(ScheduledEvent(self.time, damage=vehicle))

    def move_task(self, task: str, x: float, y: float) -> None:
        """Move a task to x, y (m)."""
        self._check_unfinished(task)
        moved(self.task(task), x, y)  # raises if it cannot be moved
        self.queue.append(ScheduledEvent(self.time, move_task=(task, float(x), float(y))))

    def remove_task(self, task: str) -> None:
        """Remove a task."""
        self._check_unfinished(task)
        self.queue.append(ScheduledEvent(self.time, remove_task=task))

    def _announced(self, what: str) -> list[str]:
        """Return the names of pending additions."""
        return [addition.name for request in self.queue if (addition := getattr(request, what)) is not None]

    def _removed(self) -> list[str | None]:
        """Return the names of zones whose removal is pending."""
        return [request.remove_zone for request in self.queue]

    def _check_unfinished(self, name: str) -> None:
        if name not in self.tasks:
            raise unknown_name("task", name, self.tasks)
        if self.tasks[name].state == "completed":
            raise InvalidValueError(f"task {name!r} is completed already")
        if self.tasks[name].removed:
            raise InvalidValueError(f"task {name!r} was removed")

    def _check_new(self, what: str, name: str, names: Collection[str]) -> None:
        if name in names or name in self._announced(what):
            raise InvalidValueError(f"there is a {what} {name!r} already; give it another name")

    def _due(self) -> list[ScheduledEvent]:
        """Return the requests that are due and remove them."""
        first = self.applied_events
        while self.applied_events < len(self.events) and self.events[self.applied_events].at <= self.time:
            self.applied_events += 1
        due, self.queue = [*self.events[first : self.applied_events], *self.queue], []
        return due

    def _pose_of(self, poses: Poses) -> PoseOf:
        count = len(self.vehicles)

        def pose(row: int) -> Pose:
            if row >= count:  # it has just joined
                return self.vehicles[row].spec.pose
            return poses(row) if callable(poses) else as_pose(poses[row])

        return pose
