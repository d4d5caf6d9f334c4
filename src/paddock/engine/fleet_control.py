"""What drives the vehicles of a fleet: the behaviour of its entry, overrides of that behaviour, or commands.

A fleet has a mark for each vehicle while any is overridden, and one group of vehicles per override. Groups whose rule
decides for each vehicle on its own are batched, so that one kernel launch serves them all.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from paddock.behaviour.rule import find_rule
from paddock.compute.kernel import CompiledKernels
from paddock.engine.behaviours import (
    MEMORY,
    FleetBehaviour,
    HeardBlocks,
    PoseBlocks,
    RuleSetup,
    check_hearing,
    planned_routes,
    set_up_rule,
    write_slots,
)
from paddock.engine.fleet_settings import FleetParameters, FleetSettings
from paddock.errors import InvalidValueError, PaddockError
from paddock.scenario import BehaviourChoice
from paddock.scenario.base import Behaviour
from paddock.scenario.vehicle import EXTERNAL
from paddock.track.track import Track
from paddock.vehicles.model import VehicleModel
from paddock.wire.results import BehaviourOverride, PlannedRoute
from paddock.world.columns import Floats, column_index, defaults_of
from paddock.world.fleet import NEVER, NO_ROWS, Fleet, Ints
from paddock.world.parts import VEHICLE, array, fresh, mapping, part
from paddock.world.world import World

OWN = 0  # mark of a vehicle that follows the behaviour of its entry
COMMANDED = -1  # mark of a vehicle that takes commands although its entry has a behaviour
CHOICE: TypeAdapter[BehaviourChoice] = TypeAdapter(Behaviour)

ReportLost = Callable[[str, str | None], None]
"""(fleet name, or `name number` of an override; name of the lost target or None), called after each decision."""


def read_choice(behaviour: Any) -> BehaviourChoice | None:
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


def set_up_override(
    choice: BehaviourChoice, count: int, track: Track | None, fleets: Iterable[FleetSettings]
) -> RuleSetup:
    """Check the rule and its options for `count` vehicles of these fleets, which must hear what the rule uses."""

    def where(option: str) -> str:
        return f"override.{choice.name}.{option}".rstrip(".")

    try:
        rule = find_rule(choice.name)
    except PaddockError as error:
        raise type(error)(f"override: {error}") from None
    setup = set_up_rule(rule, choice.options, where, count, track)
    for settings in fleets:
        check_hearing(setup, bool(settings.radio), settings.beacons, where)
    return setup


def choice_of(choice: BehaviourChoice, setup: RuleSetup, places: Ints) -> BehaviourChoice:
    """Return the choice for some of the vehicles, those at these positions in its lists."""
    if not setup.per_vehicle:
        return choice
    chosen = places.tolist()
    options = {
        name: [value[k] for k in chosen] if isinstance(value, list) else value for name, value in choice.options.items()
    }
    return choice.model_copy(update={"options": options})


def by_member(fleet: Fleet, rows: Ints) -> Ints:
    """Return rows of a fleet in the order of its members."""
    return rows[np.argsort(fleet.members[rows], kind="stable")]


class OverrideGroup(NamedTuple):
    """The vehicles of one override; lists of its options are in the order of the rows."""

    choice: BehaviourChoice
    setup: RuleSetup
    rows: Ints  # of the fleet, in the order of its members


class OverrideBatch:
    """Groups with one rule, served by one kernel launch: tables are gathered, commands and memory scattered back."""

    def __init__(
        self, fleet: Fleet, model: VehicleModel, parameters: FleetParameters, groups: Mapping[int, OverrideGroup]
    ) -> None:
        """`groups` by override number, ascending."""
        self._fleet, self._parameters = fleet, parameters
        self.numbers = tuple(groups)
        self.rows = np.concatenate([group.rows for group in groups.values()])
        self.reported = False  # whether the target was reported as present or lost
        listed = list(groups.values())
        self.gathered = Fleet(fleet.name, fleet.state_fields, fleet.command_fields, len(self.rows))
        self.gathered.n = len(self.rows)
        setup = listed[0].setup
        each = None
        if setup.rule.solitary:
            tables = [group.setup.table(len(group.rows)) for group in listed]
            numbers = [np.arange(len(group.rows)) for group in listed]
            each = np.ascontiguousarray(np.concatenate(tables, axis=1)), np.concatenate(numbers)
        self.behaviour = FleetBehaviour(setup.of_first(), model, self.gathered, parameters.varying, each)

    @staticmethod
    def key(number: int, setup: RuleSetup) -> Hashable:
        """Return a key that is equal for groups of one batch: same target, and a rule for each vehicle on its own."""
        return (setup.rule.name, setup.target) if setup.rule.solitary else number

    def run(self, world: World, poses: PoseBlocks, dt: float, heard: HeardBlocks | None = None) -> str | None:
        """Decide for all vehicles; return the name of a lost target."""
        fleet, gathered, own = self._fleet, self.gathered, self.gathered.tables[MEMORY]
        memory = fleet.overrides.memory[: len(own)]
        np.take(fleet.state, self.rows, axis=1, out=gathered.state)
        np.take(fleet.command, self.rows, axis=1, out=gathered.command)
        np.take(memory, self.rows, axis=1, out=own)
        parameters, among = self._parameters.arguments_of(self.rows), (fleet.n, self.rows)
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


class FleetControl:
    """What drives the vehicles of a fleet; all but the state of its overrides is computed from that state."""

    def __init__(
        self,
        fleet: Fleet,
        model: VehicleModel,
        parameters: FleetParameters,
        settings: FleetSettings,
        behaviour: FleetBehaviour | None,
    ) -> None:
        self.behaviour = behaviour  # of the fleet's entry or of its mission; None: its vehicles take commands
        self.placed_by_mission = False  # the mission sets the poses: no dynamics
        self.groups: dict[int, OverrideGroup] = {}  # by override number, ascending
        self.expires_from = NEVER  # no command of the fleet times out before this tick
        self._fleet, self._model, self._parameters, self._settings = fleet, model, parameters, settings
        self._batches: dict[Hashable, OverrideBatch] = {}
        self._changed: set[Hashable] = set()  # keys of batches to rebuild
        self._overridden = NO_ROWS  # rows with any mark

    def set_mission_control(self, behaviour: FleetBehaviour | None) -> None:
        """Let a mission drive the vehicles from now on: by a behaviour, or by setting their poses."""
        self.behaviour, self.placed_by_mission = behaviour, behaviour is None

    # who drives -------------------------------------------------------------------------------------------------------

    @property
    def acts(self) -> bool:
        """Whether any vehicle follows a rule."""
        return self.behaviour is not None or bool(self.groups)

    def marks(self) -> Ints:
        """Return OWN, COMMANDED or the number of the override of each vehicle, (n,)."""
        state: OverrideState | None = self._fleet.overrides
        return np.full(self._fleet.n, OWN) if state is None else state.marks[: self._fleet.n]

    def driven(self, rows: Ints) -> NDArray[np.bool_]:
        """Return which of these vehicles a rule drives; the others take commands."""
        own = self.behaviour is not None
        if not len(self._overridden):
            return np.full(len(rows), own)
        marks = self.marks()[rows]
        return np.asarray(((marks == OWN) & own) | (marks > OWN), np.bool_)

    def driver(self, row: int) -> tuple[str, str] | None:
        """Return (`behaviour` or `override`, name of the rule) that drives a vehicle; None if commands do."""
        mark = int(self.marks()[row])
        if mark > OWN:
            return "override", self.groups[mark].setup.rule.name
        return None if mark == COMMANDED or self.behaviour is None else ("behaviour", self.behaviour.rule.name)

    def listed(self) -> Iterator[BehaviourOverride]:
        """Yield the overrides in force."""
        fleet = self._fleet
        commanded = by_member(fleet, np.flatnonzero(self.marks() == COMMANDED))
        if len(commanded):
            yield BehaviourOverride(fleet.ids[commanded], EXTERNAL, {})
        for group in self.groups.values():
            yield BehaviourOverride(fleet.ids[group.rows], group.choice.name, dict(group.choice.options))

    def routes(self) -> Iterator[PlannedRoute]:
        """Yield the routes of the fleet's own rule, then of its overrides."""
        fleet = self._fleet
        if self.behaviour is not None:
            own = fleet.ids[fleet.rows[self.marks()[fleet.rows] == OWN]]
            yield from planned_routes(fleet.name, own, self.behaviour.setup)
        for group in self.groups.values():
            yield from planned_routes(fleet.name, fleet.ids[group.rows], group.setup)

    # running ----------------------------------------------------------------------------------------------------------

    def run(
        self, world: World, poses: PoseBlocks, dt: float, report_lost: ReportLost, heard: HeardBlocks | None = None
    ) -> Iterable[tuple[int, str]]:
        """Run the fleet's own rule for vehicles without an override, then each batch.

        Return row and reason of vehicles whose decision is not finite.
        """
        fleet, overridden = self._fleet, self._overridden
        if self.behaviour is not None:
            held = np.take(fleet.command, overridden, axis=1) if len(overridden) else None
            lost = self.behaviour.run(world, poses, self._parameters.arguments, dt, None, heard)
            report_lost(fleet.name, lost)
            if held is not None:
                fleet.command[:, overridden] = held
        if not self.groups:
            self._batches.clear()
            return () if self.behaviour is None or not self.behaviour.broken else self._broken()
        for batch in self._current_batches():
            lost = batch.run(world, poses, dt, heard)
            if batch.behaviour.target is not None or not batch.reported:
                batch.reported = True
                for number in batch.numbers:
                    report_lost(f"{fleet.name} {number}", lost)
        return self._broken()

    def _broken(self) -> Iterator[tuple[int, str]]:
        if self.behaviour is not None and self.behaviour.broken:
            marks = self.marks()
            yield from ((row, why) for row, why in self.behaviour.broken if marks[row] == OWN)
        for batch in self._batches.values():
            yield from ((int(batch.rows[row]), why) for row, why in batch.behaviour.broken)

    def memories(self) -> Iterator[Floats]:
        """Yield the memory in use, (columns, vehicles)."""
        n, state = self._fleet.n, self._fleet.overrides
        if self.behaviour is not None:
            yield self._fleet.tables[MEMORY][:, :n][:, self.marks() == OWN]
        if state is not None:
            yield state.memory[:, :n]

    def kernels(self) -> tuple[CompiledKernels, ...]:
        """Return the kernels of the fleet's own behaviour."""
        return () if self.behaviour is None else self.behaviour.kernels

    def _current_batches(self) -> Iterable[OverrideBatch]:
        """Return the batches in the order of their first override's number."""
        if self._changed:
            together: dict[Hashable, dict[int, OverrideGroup]] = {}
            for number, group in self.groups.items():
                together.setdefault(OverrideBatch.key(number, group.setup), {})[number] = group
            self._batches = {
                key: self.batch(groups) if key in self._changed else self._batches[key]
                for key, groups in together.items()
            }
            self._changed.clear()
        return self._batches.values()

    def batch(self, groups: Mapping[int, OverrideGroup]) -> OverrideBatch:
        """Return groups with one rule, by override number, as a batch of this fleet."""
        return OverrideBatch(self._fleet, self._model, self._parameters, groups)

    # changes ----------------------------------------------------------------------------------------------------------

    def load(self, track: Track | None) -> None:
        """Set up what follows from a loaded state; PaddockError if its vehicles cannot follow its behaviours."""
        fleet, state = self._fleet, self._fleet.overrides
        for number, text in [] if state is None else sorted(state.behaviours.items()):
            choice, rows = read_choice(json.loads(text)), self._rows_of(number)
            if choice is None or fleet.fmu is not None:
                raise InvalidValueError(f"override {number} of {fleet.name!r} is not valid")
            setup = set_up_override(choice, len(rows), track, [self._settings])
            if len(column_index(setup.rule.memory)) > len(state.memory):
                raise InvalidValueError(f"override {number} of {fleet.name!r} has no memory of {choice.name!r}")
            self._put(number, OverrideGroup(choice, setup, rows))
        self._overridden = np.flatnonzero(self.marks())
        self.find_timeout()

    def assign(self, rows: Ints, choice: BehaviourChoice, setup: RuleSetup) -> None:
        """Apply one override to these vehicles, in the order of their members."""
        self._release(rows, OWN)
        state, columns, number = self._state(), len(column_index(setup.rule.memory)), max(self.groups, default=0) + 1
        if columns > len(state.memory):
            state.memory = np.pad(state.memory, ((0, columns - len(state.memory)), (0, 0)))
        state.memory[:columns, rows] = defaults_of(setup.rule.memory)[:, None]
        state.marks[rows] = number
        self._put(number, OverrideGroup(choice, setup, rows))
        self._overridden = np.flatnonzero(self.marks())

    def release(self, rows: Ints, mark: int = OWN) -> None:
        """End the overrides of these vehicles; other vehicles of the same overrides keep them."""
        if mark != OWN or len(self._overridden):
            self._release(rows, mark)
            self._find_overridden()

    def _release(self, rows: Ints, mark: int) -> None:
        state = self._state()
        concerned = np.unique(state.marks[rows])
        state.marks[rows], state.memory[:, rows] = mark, 0.0
        for number in concerned[concerned > OWN].tolist():
            choice, setup, before = self.groups[number]
            staying = np.flatnonzero(state.marks[before] == number)
            if len(staying):
                self._put(number, OverrideGroup(choice_of(choice, setup, staying), setup.of(staying), before[staying]))
            else:
                self._changed.add(OverrideBatch.key(number, setup))
                del self.groups[number], state.behaviours[number]

    def rows_moved(self) -> None:
        """Find the rows of all overrides after those of the fleet have moved."""
        for number, (choice, setup, _) in self.groups.items():
            self.groups[number] = OverrideGroup(choice, setup, self._rows_of(number))
            self._changed.add(OverrideBatch.key(number, setup))
        self._find_overridden()
        if self.behaviour is not None:
            self.behaviour.assign_slots()

    def _state(self) -> OverrideState:
        """Return the declared part, which the fleet gets with its first override."""
        if self._fleet.overrides is None:
            self._fleet.overrides = fresh(OverrideState, vehicle=self._fleet.capacity)
        return cast(OverrideState, self._fleet.overrides)

    def _find_overridden(self) -> None:
        """Find the rows with a mark; without any, the fleet has no part for overrides."""
        self._overridden = np.flatnonzero(self.marks())
        if not len(self._overridden):
            self._fleet.overrides = None

    def _put(self, number: int, group: OverrideGroup) -> None:
        """Set a group, and the slots of its vehicles."""
        choice, setup, rows = self.groups[number] = group
        state = self._state()
        self._changed.add(OverrideBatch.key(number, setup))
        state.behaviours[number] = json.dumps(choice.model_dump(mode="json"))
        if setup.rule.slots is not None:
            memory = state.memory[:, rows]
            write_slots(setup, memory)
            state.memory[:, rows] = memory

    def _rows_of(self, number: int) -> Ints:
        return by_member(self._fleet, np.flatnonzero(self.marks() == number))

    # timeouts of commands ---------------------------------------------------------------------------------------------

    def set_expiry(self, rows: int | slice | Ints, tick: int | Ints) -> None:
        """Let the commands of vehicles time out at a tick (or one per vehicle); NEVER: not at all."""
        self._fleet.tables["expires"][rows] = tick
        self.expires_from = min(self.expires_from, tick if isinstance(tick, int) else int(tick.min()))

    def find_timeout(self) -> None:
        """Find the tick at which the next command times out."""
        expires, failed = (self._fleet.tables[name][: self._fleet.n] for name in ("expires", "failed"))
        self.expires_from = int(expires[failed == 0].min(initial=NEVER))
