"""The mission of a simulation: planned, executed by the vehicles of the world, reported as events."""

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from paddock.engine.actions import MissionAction
from paddock.engine.build import Location, build_program
from paddock.engine.fleets import PreparedSpawn
from paddock.engine.mission.execution import DynamicsExecution, KinematicExecution
from paddock.engine.mission.following import MissionFleets, MissionHost
from paddock.engine.mission.link import MissionLink
from paddock.engine.program import FleetProgram
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError, unknown_name
from paddock.planning.consensus_radio import Negotiated
from paddock.planning.from_scenario import (
    check_heights,
    participants,
    refuse_tight,
    setup_of,
    task_of,
    vehicles_of,
    zone_of,
)
from paddock.planning.geometry.path import Path
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import find_method
from paddock.planning.solver.routes import Plan
from paddock.scenario import Scenario, ScenarioError, VehicleEntry
from paddock.scenario.base import Section, Text, Whole
from paddock.scenario.marked_yaml import plain
from paddock.scenario.problems import Marks, dotted, validated
from paddock.scenario.tasks import Height, NoFlyZone, TaskEntry
from paddock.scenario.via import station_of
from paddock.wire.mission_results import MissionView, TaskView, VehicleView, ZoneView
from paddock.wire.results import PlannedRoute
from paddock.world.fleet import Ints
from paddock.world.parts import child, fresh, part, record, value
from paddock.world.state import outline

POINTS = 400  # maximum number of points of a displayed route
FINEST = 2.0  # minimum m between two of them
EVENTS = {
    "planned": "mission_planned",
    "completed": "task_completed",
    "undone": "task_undone",
    "task": "task_added",
    "moved": "task_moved",
    "removed": "task_removed",
    "zone": "zone_added",
    "zone_removed": "zone_removed",
    "base_closed": "base_closed",
    "damage": "damaged",
    "vehicle": "joined",
    "replanned": "replanned",
    "negotiated": "plan_negotiated",
    "range": "range_low",
    "battery": "battery_low",
    "stranded": "stranded",
    "contact_lost": "contact_lost",
    "contact_regained": "contact_regained",
    "given_back": "tasks_given_back",
    "lost_link": "lost_link",
}
"""Names of the events for entries of the mission's log."""
STATES = ("returning", "home", "diverted", "missing")  # of vehicles, each an event


class RouteAhead(NamedTuple):
    """Remaining route of a vehicle."""

    fleet: str
    ids: Ints
    path: Path
    progress: float  # m on the path

    def points(self) -> list[PlannedRoute]:
        """Return the line to draw; none at the end of the way."""
        path = self.path.subpath(self.progress, np.inf)
        if not path.segments:
            return []
        points = path.points(max(FINEST, path.flown / POINTS))[:, :3]
        return [PlannedRoute(self.fleet, self.ids, "mission", False, points)]


def check_members(scenario: Scenario, world: Run) -> None:
    """Refuse driven vehicles, joining ones that could not be built at their time, and plans that stop by the clock."""
    mission = scenario.mission
    assert mission is not None
    method = mission.method
    limit = find_method(method.name).clocked if method.options else ""
    if method.options.get(limit):
        raise InvalidValueError(
            f"{scenario.at('mission', 'method')}: option {limit!r} of method {method.name!r} stops by the wall clock, "
            "so that the run could not be repeated; leave it out, and limit the number of iterations instead"
        )
    for k in participants(scenario, mission):
        refuse_behaviour(scenario.vehicles[k], partial(scenario.at, "vehicles", k))
    for k, event in enumerate(mission.events):
        if event.vehicle is not None:
            location = partial(scenario.at, "mission", "events", k, "vehicle")
            refuse_behaviour(event.vehicle, location)
            build_program(world, scenario, event.vehicle, location)


def refuse_behaviour(entry: VehicleEntry, location: Location) -> None:
    """Refuse fields that would drive a vehicle in addition to its mission."""
    for field in ("behaviour", "driver", "commands", "timeout", "failsafe"):
        if getattr(entry, field):
            raise InvalidValueError(
                f"{location(field)}: {entry.name!r} takes part in the mission and follows its route; leave out "
                f"{field}, or name the others in mission.members"
            )


@part
class MissionRunState:
    """The state of a mission that is executed."""

    joining: int  # events at which vehicles join
    fleets: set[str] = record(set[str], set)  # names of those that take part
    joined: int = value(0, low=0)  # events whose vehicles have joined
    reported: int = value(0, low=0)  # entries of the log already reported as events
    execution: Any = child()  # a DynamicsExecution or KinematicRun, which has the mission

    def check(self, state: Any) -> None:
        """Refuse a mission that has not begun, because the engine plans before it saves, and numbers of no run."""
        mission = self.execution.mission
        if not mission.started or self.joined > self.joining or self.reported > len(mission.log):
            raise InvalidValueError(f"{self.joined} joined and {self.reported} reported entries are not valid")


class MissionRun:
    """One run of the mission of a scenario."""

    def __init__(self, scenario: Scenario, host: MissionHost) -> None:
        check_members(scenario, host.world)
        self.scenario, self.host = scenario, host
        section, radio = scenario.mission, scenario.radio
        assert section is not None
        setup, via = setup_of(scenario), section.via
        negotiates = via is not None and setup.method == "cbba"
        self.mission = Mission(setup, negotiator=self._negotiate if negotiates else None)
        joining = ((event.at, k) for k, event in enumerate(section.events) if event.vehicle is not None)
        self.joining = sorted(joining)
        self.state = fresh(MissionRunState, joining=len(self.joining))
        self.state.fleets = {scenario.vehicles[k].name for k in participants(scenario, section)}
        self.participants = MissionFleets(self.mission, self.state, host)
        self.link = None
        if via is not None:
            assert radio is not None
            self.link = MissionLink(station_of(via, radio), via, self.participants)
        self.execution: DynamicsExecution | KinematicExecution = (
            KinematicExecution(self.participants)
            if setup.execute == "kinematic"
            else DynamicsExecution(self.participants, self.link)
        )
        self.state.execution = self.execution.part

    @property
    def world(self) -> Run:
        """The world in which the mission takes place."""
        return self.host.world

    def _negotiate(self, costs: Costs, rows: list[int], present: list[list[int]]) -> Negotiated:
        """Let the vehicles of some rows negotiate over the present links."""
        assert self.link is not None
        return self.link.negotiate(costs, rows, present)

    def built(self, program: FleetProgram) -> None:
        """Add a new fleet; its vehicles follow the mission."""
        if program.fleet.name in self.state.fleets:
            self.execution.join(program)

    def begin(self) -> None:
        """Plan, unless already planned."""
        if not self.mission.started:
            self.execution.begin(self.world.clock.time)
            vehicles = self.mission.vehicles
            check_heights(self.scenario, [v.route for v in vehicles], [v.spec for v in vehicles])
            self._report(self.world.clock.tick)

    def run(self, tick: int, fresh: bool) -> None:
        """Continue at this tick."""
        self.begin()
        time = self.world.clock.time
        # vehicles of the scenario's events join now
        assert self.scenario.mission is not None
        while self.state.joined < len(self.joining) and self.joining[self.state.joined][0] <= time:
            entry = self.scenario.mission.events[self.joining[self.state.joined][1]].vehicle
            assert entry is not None
            self.state.joined += 1
            self.enlist(entry)
        self.execution.run(time, fresh)
        self._report(tick)

    def apply(self, action: MissionAction, prepared: PreparedSpawn | None = None) -> None:
        """Apply an action, with vehicles that may be `prepared`; the mission reacts to it at its next update."""
        section = checked(action).section
        self.begin()
        if prepared is not None:
            add_vehicle(self, section, prepared)
        else:
            VERBS[action.verb].apply(self, section)

    def vehicle_name(self, vehicle: str | int) -> str:
        """Return the name of a vehicle that is given by name or id."""
        if isinstance(vehicle, str):
            return vehicle
        fleet, rows = self.world.find(vehicle)
        return fleet.vehicle_name(int(rows[0]))

    def view(self) -> MissionView:
        """Return the present state of the mission."""
        self.begin()
        mission = self.mission
        tasks = tuple(
            TaskView(name, (task := mission.task(name)).shape.kind, job.state, job.vehicle, job.doing, job.reason,
                     task.shape.outline(), task.z)
            for name, job in mission.tasks.items()
        )  # fmt: skip
        vehicles = tuple(
            VehicleView(
                v.name,
                v.status,
                v.doing,
                tuple(v.ahead),
                v.progress,
                v.ends[-1] if v.ends else 0.0,
                v.travelled,
                mission.in_contact(v),
            )
            for v in mission.vehicles
        )
        zones = tuple(ZoneView(zone.name, zone.outline(), *zone.limits) for zone in mission.zones)
        return MissionView(mission.time, tasks, zones, vehicles, mission.finished, self._metrics(), tuple(mission.log))

    def _metrics(self) -> dict[str, Any]:
        mission, spacing = self.mission, self.execution.spacing
        states = [job.state for job in mission.tasks.values()]
        ends = [entry.time for entry in mission.log if entry.kind == "state" and entry.detail in ("home", "diverted")]
        apart = None if spacing is None else spacing.closest
        return {
            "tasks": len(states),
            "completed": states.count("completed"),
            "undone": states.count("undone"),
            "travelled": float(sum(vehicle.travelled for vehicle in mission.vehicles)),
            "makespan": max(ends, default=None),
            "replans": mission.replans,
            "in_contact": len(mission.vehicles) - (0 if mission.contact is None else int(mission.contact.lost.sum())),
            "closest": apart.distance if apart is not None and isfinite(apart.distance) else None,
            "separation": apart.share if apart is not None and isfinite(apart.share) else None,
            **({} if self.link is None else {"packets": self.link.counts._asdict()}),
            **({} if mission.negotiator is None or mission.contact is None else {"cbba": mission.contact.negotiated}),
        }

    def routes_ahead(self) -> list[RouteAhead]:
        """Return the remaining routes of the vehicles; their points are computed on demand, by any thread."""
        routes, vehicles = list[RouteAhead](), self.mission.flown.vehicles
        for group in self.participants.vehicles()[0]:
            fleet = group.program.fleet
            for row, index in zip(group.rows.tolist(), group.indices.tolist(), strict=True):
                vehicle = vehicles[index]
                if vehicle.current is not None:
                    routes.append(RouteAhead(fleet.name, fleet.ids[[row]], vehicle.route.path, float(vehicle.progress)))
        return routes

    def damaged(self) -> list[tuple[str, Ints]]:
        """Return the damaged vehicles of each fleet: their places in the order of its members."""
        numbers = np.flatnonzero(self.mission.flown.marked("damaged"))
        if not len(numbers):
            return []
        groups = self.participants.vehicles()[0]
        fleets = [(group.program.fleet, group.rows[np.isin(group.indices, numbers)]) for group in groups]
        return [(fleet.name, fleet.ranks[rows]) for fleet, rows in fleets]

    def enlist(self, entry: VehicleEntry, prepared: PreparedSpawn | None = None) -> None:
        """Add a fleet of vehicles, which may be `prepared`, to the world."""
        self.state.fleets.add(entry.name)
        try:
            fields = entry.model_dump(mode="json", exclude_defaults=True) | {"name": entry.name}
            self.host.fleets.spawn(fields, prepared)
        except Exception:
            self.state.fleets.discard(entry.name)
            raise

    def _report(self, tick: int) -> None:
        log = self.mission.log
        for entry in log[self.state.reported :]:
            status = entry.detail if entry.detail in STATES else None
            kind = status if entry.kind == "state" else EVENTS.get(entry.kind)
            if kind is not None:
                parts = () if entry.kind == "state" else (entry.task if entry.vehicle else "", entry.detail)
                self.host.events.report(tick, kind, entry.vehicle or entry.task or "", ": ".join(filter(None, parts)))
        self.state.reported = len(log)

    def rebuild(self) -> None:
        """Build what is derived from a loaded state, after the fleets."""
        self.execution.rebuild()
        if self.link is not None:
            self.link.check_packets()

    def take_part(self, saved: Any) -> None:
        """Set which fleets take part, before the fleets of a saved state are built."""
        self.state.fleets = outline(MissionRunState, saved, "mission")["fleets"]


def negotiated_plan(scenario: Scenario) -> Plan:
    """Return the plan that the vehicles of a mission over radio with the method cbba negotiate at the start."""
    from paddock.engine.simulation import Simulation  # which imports this module for a mission

    with Simulation(scenario) as sim:
        run = sim.engine.mission
        assert run is not None
        run.begin()
        assert run.mission.plan is not None
        return run.mission.plan


class TaskMove(Section):
    """A task and its new position."""

    task: Text = Field(description="Name of the task.")
    x: Height = Field(description="East, in m.")
    y: Height = Field(description="North, in m.")


class TaskChoice(Section):
    """A task of the mission."""

    task: Text = Field(description="Name of the task.")


class ZoneChoice(Section):
    """A no-fly zone of the mission."""

    zone: Text = Field(description="Name of the zone.")


class VehicleChoice(Section):
    """A vehicle of the mission."""

    vehicle: Text | Whole = Field(description="Name or id of the vehicle.")


class Verb(NamedTuple):
    """A verb of a mission: the section that validates its arguments, and how they are applied."""

    section: type[Section]
    noun: str  # what the section describes
    apply: Callable[[MissionRun, Any], None]


def _add_task(run: MissionRun, entry: TaskEntry) -> None:
    assert run.scenario.mission is not None
    task = task_of(entry, run.scenario.mission)
    refuse_tight(task, [vehicle.spec for vehicle in run.mission.vehicles])
    run.mission.add_task(task)


def add_vehicle(run: MissionRun, entry: VehicleEntry, prepared: PreparedSpawn | None = None) -> None:
    """Add vehicles, which may be `prepared`, to the world and the mission now."""

    def location(*path: str | int) -> str:
        return dotted(("add_vehicle", *path))

    refuse_behaviour(entry, location)
    if entry.name in run.world.programs:
        raise InvalidValueError(f"there is a vehicle {entry.name!r} already; give it another name")
    if prepared is None:
        build_program(run.world, run.scenario, entry, location)  # raises, with the location, if it cannot be built
    assert run.scenario.mission is not None
    specs = vehicles_of(run.scenario, run.scenario.mission, entry)
    for spec in specs:
        run.mission.check_vehicle(spec)
    run.enlist(entry, prepared)
    for spec in specs:
        run.mission.add_vehicle(spec)


VERBS: dict[str, Verb] = {
    "add_task": Verb(TaskEntry, "task", _add_task),
    "move_task": Verb(TaskMove, "move", lambda run, move: run.mission.move_task(move.task, move.x, move.y)),
    "remove_task": Verb(TaskChoice, "task", lambda run, choice: run.mission.remove_task(choice.task)),
    "add_zone": Verb(NoFlyZone, "zone", lambda run, zone: run.mission.add_zone(zone_of(zone))),
    "remove_zone": Verb(ZoneChoice, "zone", lambda run, choice: run.mission.remove_zone(choice.zone)),
    "add_vehicle": Verb(VehicleEntry, "vehicle", add_vehicle),
    "damage": Verb(VehicleChoice, "vehicle", lambda run, choice: run.mission.damage(run.vehicle_name(choice.vehicle))),
}
"""By name."""


def checked(action: MissionAction) -> MissionAction:
    """Return the action with its arguments validated, once; of several errors raise the first."""
    if action.section is not None:
        return action
    if action.verb not in VERBS:
        raise unknown_name("verb of a mission", action.verb, VERBS)
    verb, location = VERBS[action.verb], (action.verb,)
    for name in action.arguments:
        if name not in verb.section.model_fields:
            raise unknown_name(f"field of a {verb.noun}", name, verb.section.model_fields)
    try:
        arguments = plain(action.arguments, location)
        section = validated(verb.section, arguments, Marks(), location)
    except ScenarioError as error:
        raise InvalidValueError(error.problems[0]) from None
    if not getattr(section, "name", "x"):
        raise InvalidValueError(f"{action.verb}: give it a name")
    return action.validated(arguments, section)
