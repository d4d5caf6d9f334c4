"""The verbs of a running mission; their arguments are sections of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import Field

from paddock.engine.actions import MissionAction
from paddock.engine.build import build_program
from paddock.engine.mission.tracks import refuse_driven
from paddock.errors import InvalidValueError, unknown_name
from paddock.planning.from_scenario import refuse_tight, task_of, vehicles_of, zone_of
from paddock.planning.problem import Problem
from paddock.scenario import ScenarioError, VehicleEntry
from paddock.scenario.base import Number, Section, Text
from paddock.scenario.marked_yaml import plain
from paddock.scenario.problems import Marks, dotted, validated
from paddock.scenario.tasks import FARTHEST, NoFlyZone, TaskEntry

if TYPE_CHECKING:
    from paddock.engine.mission.run import MissionRun

Coordinate = Annotated[Number, Field(ge=-FARTHEST, le=FARTHEST)]


class TaskMove(Section):
    """Move a task (m)."""

    task: Text = Field(description="Its name.")
    x: Coordinate = Field(description="Where to, east, in m.")
    y: Coordinate = Field(description="North, in m.")


class TaskRemoval(Section):
    """Remove a task."""

    task: Text = Field(description="Its name.")


class Damage(Section):
    """Disable a vehicle permanently."""

    vehicle: Text = Field(description="Its name.")


class Verb(NamedTuple):
    """A verb of a mission."""

    section: type[Section]  # its arguments
    carry_out: Callable[[MissionRun, Any], None]
    what: str = ""  # the section's name in a scenario; empty: all its fields are required


def carry_out(run: MissionRun, action: MissionAction) -> None:
    """Apply an action; the mission reacts to it at its next update."""
    VERBS[action.verb].carry_out(run, _read(action))


def checked(action: MissionAction) -> MissionAction:
    """Return the action in plain values if its verb and arguments are valid."""
    if action.verb not in VERBS:
        raise unknown_name("verb of a mission", action.verb, VERBS)
    verb, given = VERBS[action.verb], action.arguments
    takes = verb.section.model_fields
    if not verb.what and set(given) != set(takes):
        raise InvalidValueError(f"{action.verb} takes {', '.join(takes)}, not {', '.join(given) or 'nothing'}")
    for name in given:
        if name not in takes:
            raise unknown_name(f"field of a {verb.what}", name, takes)
    try:
        action = MissionAction(action.verb, plain(action.arguments, (action.verb,)))
    except ScenarioError as error:
        raise InvalidValueError(error.problems[0]) from None
    _read(action)
    return action


def _read(action: MissionAction) -> Section:
    """Return the arguments; of several errors the first is reported."""
    try:
        section = validated(VERBS[action.verb].section, dict(action.arguments), Marks(), (action.verb,))
    except ScenarioError as error:
        raise InvalidValueError(error.problems[0]) from None
    if not getattr(section, "name", "x"):
        raise InvalidValueError(f"{action.verb}: give it a name")
    return section


def _add_task(run: MissionRun, section: TaskEntry) -> None:
    assert run.scenario.mission is not None
    task = task_of(section, run.scenario.mission)
    refuse_tight(task, [vehicle.spec for vehicle in run.mission.vehicles])
    run.mission.add_task(task)


def _add_vehicle(run: MissionRun, entry: VehicleEntry) -> None:
    """Add vehicles to the world and the mission now."""

    def place(*path: str | int) -> str:
        return dotted(("add_vehicle", *path))

    refuse_driven(entry, place)
    if entry.name in run.fleets.programs:
        raise InvalidValueError(f"there is a vehicle {entry.name!r} already; give it another name")
    build_program(run.world, run.scenario, entry, place)  # raises, with the location, if it cannot be built
    assert run.scenario.mission is not None
    specs = vehicles_of(run.scenario, run.scenario.mission, entry)
    for spec in specs:
        if spec.name in run.mission.fleet.row:
            raise InvalidValueError(f"there is a vehicle {spec.name!r} already; give it another name")
    Problem(tuple(specs), (), (), run.mission.setup.problem.wind)  # raises for an impossible vehicle
    run.enlist(entry.model_dump(mode="json", exclude_defaults=True) | {"name": entry.name})
    for spec in specs:
        run.mission.add_vehicle(spec)


VERBS: dict[str, Verb] = {
    "add_task": Verb(TaskEntry, _add_task, "task"),
    "add_zone": Verb(NoFlyZone, lambda run, zone: run.mission.add_zone(zone_of(zone)), "zone"),
    "add_vehicle": Verb(VehicleEntry, _add_vehicle, "vehicle"),
    "damage": Verb(Damage, lambda run, section: run.mission.damage(section.vehicle)),
    "move_task": Verb(TaskMove, lambda run, section: run.mission.move_task(section.task, section.x, section.y)),
    "remove_task": Verb(TaskRemoval, lambda run, section: run.mission.remove_task(section.task)),
}
"""By name."""
