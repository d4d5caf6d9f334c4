"""Behaviour overrides: vehicles that follow another behaviour than that of their entry, or take commands instead.

`check_override` finds the vehicles and checks the behaviour, `apply_override` changes their `FleetControl`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from paddock.engine.actions import OverrideAction, Target
from paddock.engine.behaviours import RuleSetup, find_target
from paddock.engine.fleet_control import (
    COMMANDED,
    OWN,
    OverrideGroup,
    by_member,
    choice_of,
    read_choice,
    set_up_override,
)
from paddock.engine.fleet_settings import checked_inputs
from paddock.engine.program import FleetProgram
from paddock.errors import InvalidValueError, PaddockError
from paddock.scenario import BehaviourChoice
from paddock.scenario.vehicle import EXTERNAL
from paddock.world.columns import column_index, defaults_of
from paddock.world.fleet import NEVER, Ints
from paddock.world.world import World

MOST_OVERRIDES = 1000  # limit of different overrides in one fleet: those of paths and formations are decided one by one


class OverridePart(NamedTuple):
    """An override of vehicles of one fleet."""

    program: FleetProgram
    rows: Ints  # in the order of the members
    choice: BehaviourChoice | None  # None: the behaviour of the entry; lists are in the order of the rows
    setup: RuleSetup | None  # None: no rule


@dataclass(frozen=True)
class CheckedOverride:
    """An override that can be applied."""

    parts: tuple[OverridePart, ...]
    choice: BehaviourChoice | None  # for all vehicles, as given

    def driven_ids(self) -> Ints:
        """Return the ids of the vehicles that follow a rule once it is applied."""
        ids = [
            part.program.fleet.ids[part.rows]
            for part in self.parts
            if part.setup is not None or (self.choice is None and part.program.control.behaviour is not None)
        ]
        return np.concatenate([np.empty(0, np.int64), *ids])

    def compile(self) -> None:
        """Compile the rule's kernel for every fleet concerned. Any thread may call this."""
        for program, rows, choice, setup in self.parts:
            if choice is not None and setup is not None:
                program.control.batch({1: OverrideGroup(choice, setup.of_first(), rows[:1])}).compile()


def check_override(world: World, programs: Mapping[str, FleetProgram], action: OverrideAction) -> CheckedOverride:
    """Check an override against the present world; PaddockError if it cannot be applied."""
    choice = read_choice(action.behaviour)
    parts, named = _vehicles(world, action.target)
    if choice is None or choice.name == EXTERNAL:
        return CheckedOverride(
            tuple(OverridePart(programs[name], rows, choice, None) for name, rows, _ in parts), choice
        )
    for name, _, _ in parts:
        if programs[name].fmus is not None:
            raise PaddockError(f"override: {name!r} is an FMU, which no behaviour can drive; send commands")
    setup = set_up_override(choice, named, world.track, [programs[name].settings for name, _, _ in parts])
    if setup.per_vehicle and sum(len(rows) for _, rows, _ in parts) < named:
        raise InvalidValueError("override: a vehicle is named twice, but takes one value of a list")
    if setup.target is not None:
        try:
            for name, rows, _ in parts:
                find_target(world, setup.target, programs[name].fleet, rows)
        except PaddockError as error:
            raise type(error)(f"override.{setup.rule.name}.target: {error}") from None
    for name, rows, _ in parts:
        control = programs[name].control
        if len(control.groups) >= MOST_OVERRIDES:
            marks = control.marks().copy()
            marks[rows] = OWN
            if len(np.unique(marks[marks > OWN])) >= MOST_OVERRIDES:
                raise PaddockError(
                    f"the vehicles of {name!r} have {MOST_OVERRIDES} different overrides already: "
                    "override several vehicles together, or end some overrides"
                )
    checked = (
        OverridePart(programs[name], rows, choice_of(choice, setup, places), setup.of(places))
        for name, rows, places in parts
    )
    return CheckedOverride(tuple(checked), choice)


def _vehicles(world: World, target: Target) -> tuple[list[tuple[str, Ints, Ints]], int]:
    """Return (fleet, rows by member, positions in the target) per fleet, and the number of named vehicles."""
    if isinstance(target, str | int | np.integer):
        fleet, rows = world.find(target)
        return [(fleet.name, by_member(fleet, rows), np.arange(len(rows)))], len(rows)
    if not isinstance(target, Sequence | np.ndarray):
        raise InvalidValueError(f"an override is for a name, an id, or a list of them, not {target!r}")
    if not len(target):
        raise InvalidValueError("an override needs at least one vehicle: the list is empty")
    if isinstance(target, np.ndarray):
        ids = target.reshape(-1)
    else:
        named = {k: world.find(vehicle) for k, vehicle in enumerate(target) if not _is_id(vehicle)}
        members = {k: fleet.ids[rows].tolist() for k, (fleet, rows) in named.items()}
        ids = np.array([number for k, each in enumerate(target) for number in members.get(k, [each])], np.int64)
    distinct, first = np.unique(ids, return_index=True)  # each vehicle once, at its first position
    parts = []
    for fleet, rows, at in world.ids.split(distinct):
        order = np.argsort(fleet.members[rows])
        parts.append((fleet.name, rows[order], first[at][order]))
    return parts, len(ids)


def plain_target(target: Any) -> Target:
    """Return a copy of a target in values that can be saved; ids become an array."""
    if isinstance(target, str):
        return target
    if isinstance(target, int | np.integer):
        return int(target)
    if all(map(_is_id, target)):
        return np.array(target, np.int64)
    return [int(vehicle) if _is_id(vehicle) else str(vehicle) for vehicle in target]


def _is_id(vehicle: Any) -> bool:
    return isinstance(vehicle, int | np.integer) and not isinstance(vehicle, bool)


def apply_override(part: OverridePart) -> Ints:
    """Apply an override to a fleet; return the rows for which it changes anything."""
    program, rows, choice, setup = part
    control = program.control
    overridden, driven = control.marks()[rows] != OWN, control.driven(rows)
    if choice is not None and setup is not None:
        control.assign(rows, choice, setup)
    else:
        external = choice is not None and control.behaviour is not None
        control.release(rows, COMMANDED if external else OWN)
    now = control.driven(rows)
    _set_inputs(program, rows[now & ~driven], {})  # a rule starts from default inputs, not from the last commands
    if choice is None:
        _set_inputs(program, rows[driven & ~now], program.settings.entry.get("commands", {}))
        if control.behaviour is not None:
            control.behaviour.restart(rows[overridden])
    changed = rows[now | driven]
    program.fleet.tables["expires"][changed] = NEVER
    program.fleet.tables["failed"][changed] = 0
    control.find_timeout()
    return rows[overridden] if choice is None else rows


def _set_inputs(program: FleetProgram, rows: Ints, inputs: Mapping[str, Any]) -> None:
    """Set the inputs of vehicles that get another controller, as at their start."""
    fleet, known = program.fleet, column_index(program.model.command)
    fleet.command[:, rows] = defaults_of(fleet.command_fields)[:, None]
    for name, value in checked_inputs(program.model, inputs, str).items():
        fleet.command[known[name], rows] = value
