"""What may be asked of a running mission from outside: each verb with its arguments in the words of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from paddock.engine.actions import MissionOrder
from paddock.engine.mission.cast import refuse_driven
from paddock.errors import InvalidValueError, unknown_name
from paddock.planning.agents import agents_of
from paddock.planning.problem import Problem
from paddock.planning.scenario_setup import refuse_tight, task_of, zone_of
from paddock.scenario import load_scenario
from paddock.scenario.base import Section
from paddock.scenario.mission_tasks import NoFlyZone
from paddock.scenario.mission_tasks import Task as TaskSection

if TYPE_CHECKING:
    from paddock.engine.mission.run import MissionRun

Arguments = Mapping[str, Any]


class Verb(NamedTuple):
    """What can be asked for."""

    takes: tuple[str, ...]  # arguments that it must have; none: the fields of a section
    carry_out: Callable[[MissionRun, Arguments], None]


def carry_out(run: MissionRun, order: MissionOrder) -> None:
    """Let an order take effect; the mission acts on it when it is looked at next."""
    VERBS[order.verb].carry_out(run, order.arguments)


def checked(order: MissionOrder) -> MissionOrder:
    """The same order, if there is such a verb with such arguments."""
    if order.verb not in VERBS:
        raise unknown_name("verb of a mission", order.verb, VERBS)
    takes = VERBS[order.verb].takes
    if takes and set(order.arguments) != set(takes):
        raise InvalidValueError(f"{order.verb} takes {', '.join(takes)}, not {', '.join(order.arguments) or 'nothing'}")
    return order


def _section(verb: str, kind: type[Section], arguments: Arguments) -> Any:
    try:
        section = kind.model_validate(dict(arguments))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, (verb, *first["loc"])))
        raise InvalidValueError(f"{where}: {first['msg']}") from None
    if not getattr(section, "name", "x"):
        raise InvalidValueError(f"{verb}: give it a name")
    return section


def _add_task(run: MissionRun, arguments: Arguments) -> None:
    assert run.scenario.mission is not None
    task = task_of(_section("add_task", TaskSection, arguments), run.scenario.mission)
    refuse_tight(task, [member.agent for member in run.mission.agents])
    run.mission.add_task(task)


def _add_zone(run: MissionRun, arguments: Arguments) -> None:
    run.mission.add_zone(zone_of(_section("add_zone", NoFlyZone, arguments)))


def _damage(run: MissionRun, arguments: Arguments) -> None:
    run.mission.damage(str(arguments["vehicle"]))


def _move_task(run: MissionRun, arguments: Arguments) -> None:
    x, y = arguments["x"], arguments["y"]
    if not all(isinstance(number, int | float) for number in (x, y)):
        raise InvalidValueError(f"move_task: a place is two numbers of metres, not ({x!r}, {y!r})")
    run.mission.move_task(str(arguments["task"]), float(x), float(y))


def _remove_task(run: MissionRun, arguments: Arguments) -> None:
    run.mission.remove_task(str(arguments["task"]))


def _add_vehicle(run: MissionRun, arguments: Arguments) -> None:
    """Vehicles join at once, where their entry says."""
    if not arguments.get("name"):
        raise InvalidValueError("add_vehicle: give it a name")
    entry = load_scenario({"vehicles": [dict(arguments)]}).vehicles[0]
    refuse_driven(entry, lambda *path: ".".join(map(str, ("add_vehicle", *path))))
    assert run.scenario.mission is not None
    agents = agents_of(run.scenario, run.scenario.mission, entry)
    taken = {member.name for member in run.mission.agents}
    for agent in agents:
        if agent.name in taken:
            raise InvalidValueError(f"add_vehicle: there is a vehicle {agent.name!r} already; give it another name")
    Problem(tuple(agents), (), (), run.mission.setup.problem.wind)  # refuses what no vehicle can be
    run.enlist(entry.model_dump(mode="json", exclude_defaults=True) | {"name": entry.name})
    for agent in agents:
        run.mission.add_agent(agent)


VERBS: dict[str, Verb] = {
    "add_task": Verb((), _add_task),
    "add_zone": Verb((), _add_zone),
    "add_vehicle": Verb((), _add_vehicle),
    "damage": Verb(("vehicle",), _damage),
    "move_task": Verb(("task", "x", "y"), _move_task),
    "remove_task": Verb(("task",), _remove_task),
}
"""By name."""
