"""Behaviour overrides: vehicles that follow another behaviour than that of their entry, or take commands instead.

`check_override` finds the vehicles and checks the behaviour, `apply_override` changes the fleet. A fleet with overrides
has a `FleetOverrides`: a mark per vehicle, and one group of vehicles per override. Groups whose rule decides for each
vehicle on its own are batched, so that one kernel launch serves them all.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from paddock.behaviour.rule import find_rule
from paddock.engine.actions import OverrideAction, Target
from paddock.engine.behaviours import (
    MEMORY,
    FleetBehaviour,
    HeardBlocks,
    PoseBlocks,
    RuleSetup,
    check_hearing,
    find_target,
    planned_routes,
    set_up_rule,
    write_slots,
)
from paddock.engine.commands import next_timeout
from paddock.engine.program import FleetProgram, checked_inputs
from paddock.errors import InvalidValueError, PaddockError
from paddock.scenario import BehaviourChoice
from paddock.scenario.base import Behaviour
from paddock.scenario.vehicle import EXTERNAL
from paddock.track.track import Track
from paddock.wire.results import BehaviourOverride, PlannedRoute
from paddock.world.columns import Floats, column_index, defaults_of
from paddock.world.fleet import NEVER, Fleet, Ints
from paddock.world.parts import VEHICLE, array, fresh, mapping, part
from paddock.world.world import World

MOST_OVERRIDES = 1000  # limit of different overrides in one fleet: those of paths and formations are decided one by one
OWN = 0  # mark of a vehicle that follows the behaviour of its entry
COMMANDED = -1  # mark of a vehicle that takes commands although its entry has a behaviour
CHOICE: TypeAdapter[BehaviourChoice] = TypeAdapter(Behaviour)

ReportLost = Callable[[str, str | None], None]
"""(fleet name, or `name number` of an override; name of the lost target or None), called after each decision."""


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
            if part.setup is not None or (self.choice is None and part.program.behaviour is not None)
        ]
        return np.concatenate([np.empty(0, np.int64), *ids])

    def compile(self) -> None:
        """Compile the rule's kernel for every fleet concerned. Any thread may call this."""
        for program, rows, choice, setup in self.parts:
            if choice is not None and setup is not None:
                OverrideBatch(program, {1: OverrideGroup(choice, setup.of_first(), rows[:1])}).compile()


def check_override(world: World, programs: Mapping[str, FleetProgram], action: OverrideAction) -> CheckedOverride:
    """Check an override against the present world; PaddockError if it cannot be applied."""
    choice = _choice(action.behaviour)
    parts, named = _vehicles(world, action.target)
    if choice is None or choice.name == EXTERNAL:
        return CheckedOverride(
            tuple(OverridePart(programs[name], rows, choice, None) for name, rows, _ in parts), choice
        )
    for name, _, _ in parts:
        if programs[name].fmus is not None:
            raise PaddockError(f"override: {name!r} is an FMU, which no behaviour can drive; send commands")
    setup = _setup(choice, named, world.track)
    for name, _, _ in parts:
        _check_hearing(setup, programs[name])
    if setup.per_vehicle and sum(len(rows) for _, rows, _ in parts) < named:
        raise InvalidValueError("override: a vehicle is named twice, but takes one value of a list")
    if setup.target is not None:
        try:
            for name, rows, _ in parts:
                find_target(world, setup.target, programs[name].fleet, rows)
        except PaddockError as error:
            raise type(error)(f"override.{setup.rule.name}.target: {error}") from None
    for name, rows, _ in parts:
        overrides = programs[name].overrides
        if overrides is not None and len(overrides.groups) >= MOST_OVERRIDES:
            marks = overrides.marks.copy()
            marks[rows] = OWN
            if len(np.unique(marks[marks > OWN])) >= MOST_OVERRIDES:
                raise PaddockError(
                    f"the vehicles of {name!r} have {MOST_OVERRIDES} different overrides already: "
                    "override several vehicles together, or end some overrides"
                )
    checked = (
        OverridePart(programs[name], rows, _choice_of(choice, setup, places), setup.of(places))
        for name, rows, places in parts
    )
    return CheckedOverride(tuple(checked), choice)


def _choice(behaviour: Any) -> BehaviourChoice | None:
    """Read a behaviour as a scenario writes it: a name or {name: options}; None stays None."""
    if behaviour is None:
        return None
    try:
        choice = CHOICE.validate_python(dict(behaviour) if isinstance(behaviour, Mapping) else behaviour)
    except ValidationError as error:
        raise InvalidValueError(f"override: {error.errors()[0]['msg']}") from None
    if choice.name == EXTERNAL and choice.options:
        raise InvalidValueError("override: 'external' takes no options")
    return choice


def _setup(choice: BehaviourChoice, count: int, track: Track | None) -> RuleSetup:
    """Check the rule and its options for that many vehicles."""
    try:
        rule = find_rule(choice.name)
    except PaddockError as error:
        raise type(error)(f"override: {error}") from None
    return set_up_rule(
        rule, choice.options, lambda option: f"override.{choice.name}.{option}".rstrip("."), count, track
    )


def _check_hearing(setup: RuleSetup, program: FleetProgram) -> None:
    """Refuse a rule that uses messages or beacons if the fleet hears nothing."""
    radios, name = bool(program.radio), setup.rule.name
    check_hearing(setup, radios, program.beacons, lambda option: f"override.{name}.{option}".rstrip("."))


def _choice_of(choice: BehaviourChoice, setup: RuleSetup, places: Ints) -> BehaviourChoice:
    """Return the choice for some of the vehicles, those at these positions in its lists."""
    if not setup.per_vehicle:
        return choice
    chosen = places.tolist()
    options = {
        name: [value[k] for k in chosen] if isinstance(value, list) else value for name, value in choice.options.items()
    }
    return choice.model_copy(update={"options": options})


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
        named = {k: world.find(one) for k, one in enumerate(target) if not _is_id(one)}
        listed = [named[k][0].ids[named[k][1]].tolist() if k in named else [one] for k, one in enumerate(target)]
        ids = np.array([number for numbers in listed for number in numbers], np.int64)
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
    return [int(one) if _is_id(one) else str(one) for one in target]


def _is_id(one: Any) -> bool:
    return isinstance(one, int | np.integer) and not isinstance(one, bool)


def apply_override(part: OverridePart) -> Ints:
    """Apply an override to a fleet; return the rows for which it changes anything."""
    program, rows, choice, setup = part
    overrides = program.overrides = program.overrides or FleetOverrides(program)
    overridden, driven = overrides.marks[rows] != OWN, program.driven(rows)
    if choice is not None and setup is not None:
        overrides.assign(rows, choice, setup)
    else:
        external = choice is not None and program.behaviour is not None
        overrides.release(rows, COMMANDED if external else OWN)
    now = program.driven(rows)
    _set_inputs(program, rows[now & ~driven], {})  # a rule starts from default inputs, not from the last commands
    if choice is None:
        _set_inputs(program, rows[driven & ~now], program.entry.get("commands", {}))
        if program.behaviour is not None:
            program.behaviour.admit(rows[overridden])
    changed = rows[now | driven]
    program.fleet.tables["expires"][changed] = NEVER
    program.fleet.tables["failed"][changed] = 0
    program.expires_from = next_timeout(program)
    program.drop_empty_overrides()
    return rows[overridden] if choice is None else rows


def _set_inputs(program: FleetProgram, rows: Ints, inputs: Mapping[str, Any]) -> None:
    """Set the inputs of vehicles that get another controller, as at their start."""
    fleet, known = program.fleet, column_index(program.model.command)
    fleet.command[:, rows] = defaults_of(fleet.command_fields)[:, None]
    for name, value in checked_inputs(program.model, inputs, str).items():
        fleet.command[known[name], rows] = value


class OverrideGroup(NamedTuple):
    """The vehicles of one override; lists of its options are in the order of the rows."""

    choice: BehaviourChoice
    setup: RuleSetup
    rows: Ints  # of the fleet, in the order of its members


class OverrideBatch:
    """Groups with one rule, served by one kernel launch: tables are gathered, commands and memory scattered back."""

    def __init__(self, program: FleetProgram, groups: Mapping[int, OverrideGroup]) -> None:
        """`groups` by override number, ascending."""
        self.program = program
        self.numbers = tuple(groups)
        self.rows = np.concatenate([group.rows for group in groups.values()])
        self.reported = False  # whether the target was reported as present or lost
        fleet, listed = program.fleet, list(groups.values())
        self.gathered = Fleet(fleet.name, fleet.state_fields, fleet.command_fields, len(self.rows))
        self.gathered.n = len(self.rows)
        setup = listed[0].setup
        each = None
        if setup.rule.solitary:
            tables = [group.setup.table(len(group.rows)) for group in listed]
            numbers = [np.arange(len(group.rows)) for group in listed]
            each = np.ascontiguousarray(np.concatenate(tables, axis=1)), np.concatenate(numbers)
        self.behaviour = FleetBehaviour(setup.of_first(), program.model, self.gathered, program.varying, each)

    @staticmethod
    def key(number: int, setup: RuleSetup) -> Hashable:
        """Return a key that is equal for groups of one batch: same target, and a rule for each vehicle on its own."""
        return (setup.rule.name, setup.target) if setup.rule.solitary else number

    def run(self, world: World, poses: PoseBlocks, dt: float, heard: HeardBlocks | None = None) -> str | None:
        """Decide for all vehicles; return the name of a lost target."""
        fleet, gathered, own = self.program.fleet, self.gathered, self.gathered.tables[MEMORY]
        memory = fleet.overrides.memory[: len(own)]
        np.take(fleet.state, self.rows, axis=1, out=gathered.state)
        np.take(fleet.command, self.rows, axis=1, out=gathered.command)
        np.take(memory, self.rows, axis=1, out=own)
        parameters, among = self.program.parameters_of(self.rows), (fleet.n, self.rows)
        lost = self.behaviour.run(world, poses, parameters, dt, among, heard)
        fleet.command[:, self.rows] = gathered.command
        memory[:, self.rows] = own
        return lost

    def compile(self) -> None:
        """Compile the kernels. Any thread may call this."""
        for kernels in self.behaviour.kernels:
            kernels.compile(len(self.rows))


@part
class OverrideState:
    """The overrides of a fleet; it has this part while any of its vehicles is overridden."""

    marks: Ints = array("i8", VEHICLE, low=COMMANDED, high=NEVER)  # OWN, COMMANDED or the number of an override
    memory: Floats = array("f8", "memory", VEHICLE)  # of the rules that override, in the first of these columns
    behaviours: dict[int, str] = mapping(int, str)  # number -> JSON; lists are in the order of the members

    def check(self, state: Any) -> None:
        """Check that each mark has its behaviour."""
        numbers = np.unique(self.marks[self.marks > OWN]).tolist()
        if not self.marks.any() or sorted(self.behaviours) != numbers:
            raise InvalidValueError("the marks are not those of the behaviours")


class FleetOverrides:
    """What is computed from the overrides of a fleet. A fleet without overrides has none."""

    def __init__(self, program: FleetProgram, track: Track | None = None) -> None:
        """Set up the behaviours of the state; PaddockError if its vehicles cannot follow them."""
        self.program = program
        if program.fleet.overrides is None:
            program.fleet.overrides = fresh(OverrideState, vehicle=program.fleet.capacity)
        self.groups: dict[int, OverrideGroup] = {}  # by override number, ascending
        self._batches: dict[Hashable, OverrideBatch] = {}
        self._changed: set[Hashable] = set()  # keys of batches to rebuild
        state = self.state
        for number, text in sorted(state.behaviours.items()):
            choice, rows = _choice(json.loads(text)), self._rows_of(number)
            if choice is None or program.fmus is not None:
                raise InvalidValueError(f"override {number} of {program.fleet.name!r} is not valid")
            setup = _setup(choice, len(rows), track)
            _check_hearing(setup, program)
            if len(column_index(setup.rule.memory)) > len(state.memory):
                raise InvalidValueError(f"override {number} of {program.fleet.name!r} has no memory of {choice.name!r}")
            self._put(number, OverrideGroup(choice, setup, rows))
        self.rows: Ints = np.flatnonzero(self.marks)  # of vehicles with any mark

    @property
    def state(self) -> OverrideState:
        """The declared part."""
        return cast(OverrideState, self.program.fleet.overrides)

    @property
    def marks(self) -> Ints:
        """(n,) OWN, COMMANDED or the number of the override."""
        return self.state.marks[: self.program.fleet.n]

    def driven(self, rows: Ints, own: bool) -> NDArray[np.bool_]:
        """Return which vehicles a rule drives; `own`: whether their entry has a rule."""
        marks = self.marks[rows]
        return np.asarray(((marks == OWN) & own) | (marks > OWN), np.bool_)

    def rule(self, row: int) -> str | None:
        """Return the name of the rule that overrides a vehicle's behaviour; None if no rule does."""
        mark = int(self.marks[row])
        return self.groups[mark].setup.rule.name if mark > OWN else None

    def run(
        self,
        world: World,
        poses: PoseBlocks,
        dt: float,
        report_lost: ReportLost,
        heard: HeardBlocks | None = None,
    ) -> None:
        """Run the fleet's own rule for vehicles without an override, then each batch."""
        program, fleet = self.program, self.program.fleet
        if program.behaviour is not None:
            held = np.take(fleet.command, self.rows, axis=1)
            report_lost(fleet.name, program.behaviour.run(world, poses, program.parameters, dt, None, heard))
            fleet.command[:, self.rows] = held
        for batch in self._current_batches():
            lost = batch.run(world, poses, dt, heard)
            if batch.behaviour.target is not None or not batch.reported:
                batch.reported = True
                for number in batch.numbers:
                    report_lost(f"{fleet.name} {number}", lost)

    def broken(self) -> Iterator[tuple[int, str]]:
        """Yield row and reason of vehicles whose last decision was not finite."""
        own = self.program.behaviour
        yield from ((row, why) for row, why in (own.broken if own is not None else ()) if self.marks[row] == OWN)
        for batch in self._batches.values():
            yield from ((int(batch.rows[row]), why) for row, why in batch.behaviour.broken)

    def memories(self) -> Iterator[Floats]:
        """Yield the memory in use, (columns, vehicles)."""
        if self.program.behaviour is not None:
            yield self.program.fleet.tables[MEMORY][:, : len(self.marks)][:, self.marks == OWN]
        yield self.state.memory[:, : len(self.marks)]

    def _current_batches(self) -> Iterable[OverrideBatch]:
        """Return the batches in the order of their first override's number."""
        if self._changed:
            together: dict[Hashable, dict[int, OverrideGroup]] = {}
            for number, group in self.groups.items():
                together.setdefault(OverrideBatch.key(number, group.setup), {})[number] = group
            self._batches = {
                key: OverrideBatch(self.program, groups) if key in self._changed else self._batches[key]
                for key, groups in together.items()
            }
            self._changed.clear()
        return self._batches.values()

    def assign(self, rows: Ints, choice: BehaviourChoice, setup: RuleSetup) -> None:
        """Apply one override to these vehicles, in the order of their members."""
        self.release(rows)
        state, columns, number = self.state, len(column_index(setup.rule.memory)), max(self.groups, default=0) + 1
        if columns > len(state.memory):
            state.memory = np.pad(state.memory, ((0, columns - len(state.memory)), (0, 0)))
        state.memory[:columns, rows] = defaults_of(setup.rule.memory)[:, None]
        state.marks[rows] = number
        self._put(number, OverrideGroup(choice, setup, rows))
        self.rows = np.flatnonzero(self.marks)

    def release(self, rows: Ints, mark: int = OWN) -> None:
        """End the overrides of these vehicles; other vehicles of the same overrides keep them."""
        state = self.state
        concerned = np.unique(state.marks[rows])
        state.marks[rows], state.memory[:, rows] = mark, 0.0
        for number in concerned[concerned > OWN].tolist():
            choice, setup, before = self.groups[number]
            staying = np.flatnonzero(state.marks[before] == number)
            if len(staying):
                self._put(number, OverrideGroup(_choice_of(choice, setup, staying), setup.of(staying), before[staying]))
            else:
                self._changed.add(OverrideBatch.key(number, setup))
                del self.groups[number], state.behaviours[number]
        self.rows = np.flatnonzero(self.marks)

    def _put(self, number: int, group: OverrideGroup) -> None:
        """Set a group, and the slots of its vehicles."""
        choice, setup, rows = self.groups[number] = group
        self._changed.add(OverrideBatch.key(number, setup))
        self.state.behaviours[number] = json.dumps(choice.model_dump(mode="json"))
        if setup.rule.slots is not None:
            memory = self.state.memory[:, rows]
            write_slots(setup, memory)
            self.state.memory[:, rows] = memory

    def rows_moved(self) -> None:
        """Find the rows of all overrides after those of the fleet have moved."""
        for number, (choice, setup, _) in self.groups.items():
            self.groups[number] = OverrideGroup(choice, setup, self._rows_of(number))
            self._changed.add(OverrideBatch.key(number, setup))
        self.rows = np.flatnonzero(self.marks)

    def _rows_of(self, number: int) -> Ints:
        return by_member(self.program.fleet, np.flatnonzero(self.marks == number))

    def listed(self) -> Iterator[BehaviourOverride]:
        """Yield the overrides in force."""
        fleet = self.program.fleet
        commanded = by_member(fleet, np.flatnonzero(self.marks == COMMANDED))
        if len(commanded):
            yield BehaviourOverride(fleet.ids[commanded], EXTERNAL, {})
        for group in self.groups.values():
            yield BehaviourOverride(fleet.ids[group.rows], group.choice.name, dict(group.choice.options))


def by_member(fleet: Fleet, rows: Ints) -> Ints:
    """Return rows of a fleet in the order of its members."""
    return rows[np.argsort(fleet.members[rows], kind="stable")]


def fleet_routes(program: FleetProgram) -> Iterator[PlannedRoute]:
    """Yield the routes of the fleet's own rule, then of its overrides."""
    fleet, overrides = program.fleet, program.overrides
    if program.behaviour is not None:
        rows = fleet.rows
        own = fleet.ids[rows if overrides is None else rows[overrides.marks[rows] == OWN]]
        yield from planned_routes(fleet.name, own, program.behaviour.setup)
    for group in [] if overrides is None else overrides.groups.values():
        yield from planned_routes(fleet.name, fleet.ids[group.rows], group.setup)
