"""Behaviours of vehicles: a rule with its options, target and path, and its run for the vehicles of a fleet."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from paddock.behaviour.avoid import avoidance_of
from paddock.behaviour.paths import path_points
from paddock.behaviour.rule import NO_TARGET, SEES, Road, RouteLine, Rule, Urge, find_rule, rule_names
from paddock.compute.kernel import CompiledKernels, kernel
from paddock.compute.neighbours import NeighbourGrid
from paddock.errors import InvalidValueError, UnknownNameError, unknown_name, users_code
from paddock.radio.packets.state import FleetHeard, heard_kernels, heard_targets, newest_numbers, visit_heard
from paddock.scenario import Scenario
from paddock.track.loading import track_of
from paddock.track.track import Track
from paddock.vehicles.model import Desire, VehicleModel
from paddock.vehicles.parts.prop import Command as PropCommand
from paddock.wire.results import PlannedRoute
from paddock.world.columns import Floats, Pose, checked, column_index, columns_of, defaults_of, filled
from paddock.world.fleet import Fleet, Ints, draw_uniforms
from paddock.world.snapshot import Snapshot
from paddock.world.world import World

MEMORY = "memory"
PATH = "path"
BETWEEN = "between"
RADIO = "radio"  # the table with the radio status of each vehicle
TRACK_PATH = "track"  # the path that is the middle line of the scenario's track
STREAM = "stream"  # the memory column with a random number of the vehicle
STREAM_PURPOSE, STREAMS = 768, 2**52  # purpose of its draw, and how many there are: exact as a float
POSE_ROWS = len(column_index(Pose))

Where = Callable[[str], str]  # option ("" for the behaviour) -> where the user wrote it, for errors
PoseBlocks = Callable[[str], Floats]
"""Fleet name -> its poses now, rows as in Pose, at least as many columns as it has vehicles."""


class HeardBlocks(Protocol):
    """What vehicles have from their radios."""

    def __call__(self, fleet: str) -> FleetHeard:
        """Return what the vehicles of a fleet have heard."""

    def relays(self, fleet: str, rows: Ints, between: tuple[str, str], options: Any) -> Floats | None:
        """Return the places (3, n) of vehicles that are relays between two ends; None: not now."""


AGE = "age"  # the column of what a rule hears with the time since it was sent


@dataclass(frozen=True)
class RuleSetup:
    """A rule with its options, target and path, for the vehicles that follow it together."""

    rule: Rule
    target: str | None
    options: Floats  # values of rule.options; (options, n) where the vehicles have different ones
    path: Floats  # (k, 4) x, y, z in m and speed in m/s; one row of zeros without a path
    between: tuple[str, str] | None = None  # vehicles or stations, of a rule that relays

    @property
    def per_vehicle(self) -> bool:
        """Whether the vehicles have different options."""
        return self.options.ndim > 1

    @property
    def sees(self) -> float:
        """The value of the option `sees`: 0 is the truth."""
        row = column_index(self.rule.options).get(SEES)
        return 0.0 if row is None else float(self.of_first().options[row])

    def table(self, count: int) -> Floats:
        """Return the options of each vehicle, (options, count)."""
        return self.options if self.per_vehicle else np.repeat(self.options[:, None], count, axis=1)

    def of(self, places: Ints) -> "RuleSetup":
        """Return the setup of some of the vehicles."""
        return replace(self, options=self.options[:, places]) if self.per_vehicle else self

    def of_first(self) -> "RuleSetup":
        """Return the setup with the options of the first vehicle for all."""
        return replace(self, options=self.options[:, 0].copy()) if self.per_vehicle else self

    def route(self, index: int = 0) -> RouteLine | None:
        """Return the route of one of the vehicles, if it is fixed."""
        options = self.options[:, index] if self.per_vehicle else self.options
        return self.rule.planned(self.rule.options(*options.tolist()), self.path)

    def road(self) -> Road | None:
        """Return the road of the first vehicle, if the rule has one."""
        if self.rule.road is None or not self.options.size:
            return None
        with users_code():
            return self.rule.road(self.rule.options(*self.of_first().options.tolist()), self.path)


def set_up_rule(
    rule: Rule, written: Mapping[str, Any], where: Where, count: int | None = None, track: Track | None = None
) -> RuleSetup:
    """Check the options that the user wrote; with `count`, an option may be a list of one value per vehicle.

    `path: track` is the middle line of `track`, the scenario's.
    """
    if rule.path_option != PATH:
        written, where = _named_path(rule, written, where)
    written = _on_track(rule, written, where, track)
    target, between = _target(rule, written, where), _between(rule, written, where)
    if rule.relays:
        written = {name: value for name, value in written.items() if name != BETWEEN}
    options = _options(rule, written, target, where, count)
    return RuleSetup(rule, target, options, _path(rule, written, options, where), between)


def _between(rule: Rule, written: Mapping[str, Any], where: Where) -> tuple[str, str] | None:
    """Return the two ends of a rule that relays."""
    if not rule.relays:
        return None
    if BETWEEN not in written:
        raise InvalidValueError(f"{where('')}: behaviour {rule.name!r} needs its ends: between: [base, rover]")
    ends = written[BETWEEN]
    if not isinstance(ends, list | tuple) or len(ends) != 2 or not all(isinstance(end, str) for end in ends):
        raise InvalidValueError(f"{where(BETWEEN)}: between is the names of two ends, [base, rover], not {ends!r:.60}")
    if ends[0] == ends[1]:
        raise InvalidValueError(f"{where(BETWEEN)}: both ends are {ends[0]!r}; name two")
    return ends[0], ends[1]


def _named_path(rule: Rule, written: Mapping[str, Any], where: Where) -> tuple[Mapping[str, Any], Where]:
    """Return options with the path under the name `path`, where the rule has another name for it."""
    if PATH in written:
        raise unknown_name(f"{rule.name} option", PATH, [rule.path_option, *column_index(rule.options)], where(PATH))
    renamed = {PATH if name == rule.path_option else name: value for name, value in written.items()}
    return renamed, lambda name: where(rule.path_option if name == PATH else name)


def _on_track(rule: Rule, written: Mapping[str, Any], where: Where, track: Track | None) -> Mapping[str, Any]:
    """Replace `path: track` by points, with whether it is closed and its width for rules that have these options."""
    if not rule.needs_path or rule.read_path is not path_points or not isinstance(written.get("path"), str):
        return written
    if written["path"] != TRACK_PATH:
        raise InvalidValueError(
            f"{where('path')}: a path is a list of points, a shape or {TRACK_PATH!r}, not {written['path']!r:.60}"
        )
    if track is None:
        raise InvalidValueError(f"{where('path')}: 'path: track' needs a section `track` in the scenario")
    known = column_index(rule.options)
    if "width" in known and "closed" not in known and not track.closed:
        raise InvalidValueError(f"{where('path')}: {rule.name} needs a closed track; {track.name} is open")
    width = 2.0 * float(min(track.left_width.min(), track.right_width.min()))
    derived = {"closed": float(track.closed), "width": width}
    return {**{name: value for name, value in derived.items() if name in known}, **written, "path": track.path()}


def _target(rule: Rule, written: Mapping[str, Any], where: Where) -> str | None:
    target = written.get("target")
    takes_target = rule.needs_target or "has_target" in column_index(rule.options)
    if target is None and rule.needs_target:
        raise InvalidValueError(f"{where('')}: behaviour {rule.name!r} needs a target: the name of a vehicle")
    if target is not None and not takes_target:
        raise InvalidValueError(f"{where('target')}: behaviour {rule.name!r} takes no target")
    if target is not None and not isinstance(target, str):
        raise InvalidValueError(f"{where('target')}: target must be the name of a vehicle, not {target!r:.60}")
    return target


def _options(rule: Rule, written: Mapping[str, Any], target: str | None, where: Where, count: int | None) -> Floats:
    plain = {name: value for name, value in written.items() if name not in ("path", "target")}
    listed: dict[str, Floats] = {}
    if count is not None:
        lists = {name: value for name, value in plain.items() if isinstance(value, list)}
        listed = {name: _listed(rule, name, values, where(name), count) for name, values in lists.items()}
        plain |= {name: float(values[0]) for name, values in listed.items()}
    if "has_target" in plain:  # set below, from whether a target is named
        raise InvalidValueError(f"{where('has_target')}: name a target instead of setting has_target")
    defaults = defaults_of(rule.options)
    required = {name: 0.0 for name, row in column_index(rule.options).items() if np.isnan(defaults[row])}
    for name, value in plain.items():  # one at a time, so that an error names its own place
        if name not in column_index(rule.options):
            targeted = rule.needs_target or "has_target" in column_index(rule.options)
            taken = (
                [BETWEEN] * rule.relays
                + [rule.path_option] * (rule.needs_path or rule.optional_path)
                + ["target"] * targeted
            )
            choices = [*taken, *(option for option in column_index(rule.options) if option != "has_target")]
            raise unknown_name(f"{rule.name} option", name, choices, where(name))
        filled(rule.options, {**required, name: value}, f"{rule.name} option", where(name))
    values = filled(rule.options, plain, f"{rule.name} option", where(""))
    if "has_target" in column_index(rule.options):
        values[column_index(rule.options)["has_target"]] = float(target is not None)
    if not listed:
        return values
    table = np.repeat(values[:, None], len(next(iter(listed.values()))), axis=1)
    for name, numbers in listed.items():
        table[column_index(rule.options)[name]] = numbers
    return table


def _listed(rule: Rule, name: str, values: list[Any], where: str, count: int) -> Floats:
    """Return an option with one value per vehicle."""
    what, known = f"{rule.name} option", column_index(rule.options)
    if name not in known:
        raise unknown_name(what, name, known, where)
    if not rule.solitary:
        raise InvalidValueError(f"{where}: vehicles that follow {rule.name!r} together share one value, not a list")
    if len(values) != count:
        raise InvalidValueError(f"{where}: a list has one value per vehicle, here {count}, not {len(values)}")
    column = columns_of(rule.options)[known[name]]
    try:
        numbers = np.array(values)
    except ValueError:  # nested lists of different lengths
        numbers = np.empty(0, object)
    plain = numbers.ndim == 1 and numbers.dtype.kind in "iuf" and not column.choices
    if plain and np.all(np.isfinite(numbers) & (numbers >= column.low) & (numbers <= column.high)):
        return numbers.astype(np.float64)
    # words, or an error: one by one, so that the error names the value
    return np.array([checked(column, value, what, f"{where}[{k}]") for k, value in enumerate(values)])


def _path(rule: Rule, written: Mapping[str, Any], options: Floats, where: Where) -> Floats:
    if rule.prepare_path is None:
        if "path" in written:
            raise InvalidValueError(f"{where('path')}: behaviour {rule.name!r} takes no path")
        return np.zeros((1, 4))
    if "path" not in written and rule.optional_path:
        return np.zeros((1, 4))
    if "path" not in written:
        raise InvalidValueError(f"{where('')}: behaviour {rule.name!r} needs a path: a list of points or a shape")
    points = rule.read_path(written["path"], where("path"))
    with users_code():
        return rule.prepare_path(points, rule.options(*options))


def check_hearing(setup: RuleSetup, radios: bool, beacons: bool, where: Where) -> None:
    """Raise InvalidValueError if a rule uses messages or beacons and its vehicles hear nothing."""
    rule = setup.rule
    if rule.relays and not radios:
        raise InvalidValueError(f"{where('')}: relays need a radio; add `radio: default` to the vehicle entry")
    if rule.hears and not radios:
        raise InvalidValueError(f"{where('')}: {rule.name!r} uses messages; add `radio: default` to the vehicle entry")
    without_path = rule.optional_path and len(setup.path) == 1 and not setup.path.any()
    if rule.reads_radio and without_path and not radios:
        needs = f"needs a radio or a {rule.path_option}; add `radio: default` to the vehicle entry"
        raise InvalidValueError(f"{where('')}: {rule.name!r} {needs}")
    if setup.sees and not radios:
        raise InvalidValueError(f"{where(SEES)}: sees needs a radio; add `radio: default` to the vehicle entry")
    if setup.sees and not beacons:
        raise InvalidValueError(f"{where(SEES)}: sees needs beacons; add `messages: {{beacons: true}}` to `radio`")


def write_slots(setup: RuleSetup, memory: Floats) -> None:
    """Write the slots of vehicles into their memory (columns, n), if the rule has slots."""
    count = memory.shape[1]
    if setup.rule.slots is not None and count:
        with users_code():
            slots = setup.rule.slots(count, setup.rule.options(*setup.options))
        memory[: len(slots)] = slots


class FleetBehaviour:
    """A behaviour of all vehicles of a fleet, ready to run."""

    def __init__(
        self,
        setup: RuleSetup,
        model: VehicleModel,
        fleet: Fleet,
        varying: tuple[str, ...],
        each: tuple[Floats, Ints] | None = None,
    ) -> None:
        """Add a table for the rule's memory to `fleet`.

        `each`: options (options, n) of vehicles that follow the rule individually, and their positions (n,) within
        their overrides, which select one of several targets.
        """
        self.setup = setup
        self.rule = setup.rule
        self.target = setup.target
        self.sees = setup.sees
        self.options = setup.options
        self.fleet = fleet
        self.urges = np.zeros((len(column_index(self.rule.senses)), 1))
        self.away = np.zeros((len(column_index(Urge)), 1))  # from other fleets and obstacles
        self.grid = NeighbourGrid(self.rule.neighbours) if self.rule.neighbours else None
        self.avoidance = avoidance_of(self.rule, self.options if each is None else each[0])
        different = () if each is None else tuple(column_index(self.rule.options))
        self._options = (self.options, each[0]) if each and different else (self.options,)
        self._places = None if each is None else each[1]
        self._act = kernel(self.rule.spec(model, varying, different))
        self._alarms, self._raised = np.zeros(0), np.zeros(1, np.int64)
        self.broken: list[tuple[int, str]] = []  # (row, `memory.phase is inf`) of the last run
        self._no_rows = np.zeros(0, np.int64)  # the rows of targets, for a rule without target
        fleet.add_table(MEMORY, self.rule.memory)

    @property
    def path(self) -> Floats:
        """The path as its rule reads it; one row of zeros without a path."""
        return self.setup.path

    def restart(self, rows: Ints) -> None:
        """Start vehicles whose override has ended with an empty memory."""
        self.fleet.tables[MEMORY][:, rows] = defaults_of(self.rule.memory)[:, None]
        self.assign_slots()

    def assign_slots(self) -> None:
        """Assign slots in the order of the fleet; the formation closes or opens when vehicles leave or join."""
        memory = self.fleet.by_key(self.fleet.tables[MEMORY])
        write_slots(self.setup, memory)
        if not self.fleet.in_order and self.setup.rule.slots is not None:
            self.fleet.tables[MEMORY][:, self.fleet.rows] = memory

    def run(
        self,
        world: World,
        poses: PoseBlocks,
        parameters: tuple[Floats, ...],
        dt: float,
        among: tuple[int, Ints] | None = None,
        heard: HeardBlocks | None = None,
    ) -> str | None:
        """Compute the commands of every vehicle; return the name of a target that no longer exists.

        `parameters`: the model's. `among`: the size of the whole fleet, whose vehicles are all neighbours, and the rows
        of these vehicles in it. `heard`: what vehicles have heard over radio.
        """
        fleet = self.fleet
        if fleet.n == 0:
            self.broken = []
            return None
        whole, rows = world.state.fleets[fleet.name], None if among is None else among[1]
        places = None  # of these vehicles in the order of all members of the fleet; None: each at its row
        if among is not None or not whole.in_order:
            places = whole.ranks if rows is None else whole.ranks[rows]
        hearing = heard(fleet.name) if heard is not None and (self.sees or self.rule.hears) else None
        targets, aims, lost = self._targets(world, poses, places if among is None else None)
        if hearing is not None and self.target is not None and self.sees and lost is None:
            assert heard is not None
            targets, aims = self._heard_targets(world, hearing, heard, places, among is None)
        if self.urges.shape[1] < fleet.n:
            self.urges = np.zeros((len(self.urges), fleet.capacity))
            self.away = np.zeros((len(self.away), fleet.capacity))
        if self.grid is not None:
            self._sum_urges(self.grid, poses(fleet.name), hearing if self.sees else None, whole.n, places)
        if hearing is not None and self.rule.hears:
            self._hear_numbers(hearing, places)
        if self.avoidance is not None or self.rule.look is not None:
            self._see_others(world, poses, whole.n, places)
        if self.rule.reads_radio:
            self._read_radio(world, rows)
        if self.rule.relays:
            self._place_relays(heard, rows)
        if STREAM in column_index(self.rule.memory):
            self._draw_streams(world, rows)
        own = (fleet.state, fleet.command, *parameters, fleet.tables[MEMORY], *self._options, self.urges, self.away)
        if len(self._alarms) != fleet.n:
            self._alarms = np.zeros(fleet.n)
        self._act.watch(fleet.n, 1, *own, aims, targets, self.path, dt, self._alarms, self._raised)
        if self._raised[0] or self.broken:
            self._raised[0], self.broken = 0, list(self._broken())
        return lost

    def _broken(self) -> Iterator[tuple[int, str]]:
        """Yield the vehicles for which the rule has returned a value that is not finite, and which one."""
        stored = {-1: ("command", self.fleet.command_fields), -3: (MEMORY, self.rule.memory)}
        order = self.fleet.rows
        for row in order[self._alarms[order] != 0.0].tolist():
            alarm = int(self._alarms[row])
            if alarm > 0:
                yield row, f"desire.{list(column_index(Desire))[alarm - 1]} is not finite"
            else:
                table, fields = stored[alarm]
                yield row, f"{table}.{broken_value(self.fleet.tables[table][:, row], fields)}"

    @property
    def kernels(self) -> tuple[CompiledKernels, ...]:
        """All kernels of the behaviour."""
        own: tuple[CompiledKernels, ...] = () if self.grid is None else (self.grid.kernels,)
        if self.grid is not None and self.sees:
            own = (heard_kernels(self.grid.spec),)
        return (self._act, *own, *(() if self.avoidance is None else (self.avoidance.grid.kernels,)))

    def _read_radio(self, world: World, rows: Ints | None) -> None:
        """Give the rule the radio status of its vehicles."""
        status = world.fleets[self.fleet.name].tables.get(RADIO)
        if status is not None:
            chosen = slice(self.fleet.n) if rows is None else rows
            self.urges[:, : self.fleet.n] = status[: len(self.urges), chosen]

    def _place_relays(self, heard: HeardBlocks | None, rows: Ints | None) -> None:
        """Give the rule the places of its vehicles in their chain, when they are chosen."""
        assert heard is not None and self.setup.between is not None
        o = self.rule.options(*self.options.tolist())
        chosen, into = (self.fleet.rows, self.fleet.rows) if rows is None else (rows, np.arange(self.fleet.n))
        positions = heard.relays(self.fleet.name, chosen, self.setup.between, o)
        self.urges[:] = 0.0
        if positions is not None:
            self.urges[:3, into], self.urges[3, : self.fleet.n] = positions, 1.0

    def _see_others(self, world: World, poses: PoseBlocks, count: int, chosen: Ints | None) -> None:
        """Compute the terms of avoidance and of the rule's `look`, from the vehicles of all fleets.

        `chosen`: the places of these vehicles among `count`.
        """
        fleet, places = self.fleet, np.arange(count) if chosen is None else chosen
        others = {name: other for name, other in world.fleets.items() if name != fleet.name and other.n}
        own = poses(fleet.name)[:POSE_ROWS, :count]
        if self.avoidance is not None:
            blocks = [poses(name)[:, : other.n] for name, other in others.items()]
            obstacles = None if world.scenery is None else world.scenery.obstacles
            spared = [self._target_rows(world, name) for name in others]
            self.away[:, : fleet.n] = self.avoidance.urges(own, places, blocks, spared, obstacles)[:, places]
        if self.rule.look is not None:
            moving = [  # cones and crates are no traffic
                poses(name)[:POSE_ROWS, : other.n]
                for name, other in others.items()
                if other.command_fields is not PropCommand
            ]
            order = np.sort(places)
            block = np.concatenate([own[:, order], np.delete(own, order, axis=1), *moving], axis=1)
            options = self.rule.options(*self.options.tolist())
            with users_code():
                memory = fleet.by_key(fleet.tables[MEMORY])
                self.urges[:, fleet.rows] = self.rule.look(block, fleet.n, memory, options, self.path)

    def _target_rows(self, world: World, fleet: str) -> Ints:
        """Return the places of the target in a fleet: a vehicle does not avoid its own target."""
        if self.target is None or self.target.partition("[")[0] != fleet:
            return np.zeros(0, np.int64)
        try:
            target_fleet, rows = world.find(self.target)
            return target_fleet.ranks[rows]
        except UnknownNameError:  # it no longer exists
            return np.zeros(0, np.int64)

    def _draw_streams(self, world: World, rows: Ints | None) -> None:
        """Give vehicles without one a random number, a function of the seed and their name."""
        n, row = self.fleet.n, column_index(self.rule.memory)[STREAM]
        streams = self.fleet.tables[MEMORY][row, :n]
        if (streams != 0.0).all():
            return
        names = world.fleets[self.fleet.name].tables["streams"][np.arange(n) if rows is None else rows]
        drawn = draw_uniforms(world.seed, names, STREAM_PURPOSE, 1)[:, 0]
        streams[:] = np.where(streams == 0.0, np.floor(drawn * STREAMS) + 1.0, streams)

    def _sum_urges(
        self, grid: NeighbourGrid, block: Floats, hearing: FleetHeard | None, count: int, places: Ints | None
    ) -> None:
        """Sum the contributions of each vehicle's neighbours, or with `hearing` of those that it has heard of.

        `places` are those of these vehicles among `count`.
        """
        radius = float(self.options[column_index(self.rule.options)["radius"]])
        urges = self.urges if places is None else np.zeros((len(self.urges), count))
        if hearing is None:
            grid.run(block, count, radius, self.options, urges)
        else:
            visit_heard(grid.spec, block, hearing, self.sees, radius, self.options, urges)
        if places is not None:
            self.urges[:, : len(places)] = urges[:, places]

    def _hear_numbers(self, hearing: FleetHeard, places: Ints | None) -> None:
        """Take the numbers of the newest message of each vehicle as its senses."""
        own = np.arange(self.fleet.n) if places is None else places
        self.urges[:] = defaults_of(self.rule.senses)[:, None]
        newest_numbers(own, hearing, column_index(self.rule.senses).get(AGE, -1), self.urges)

    def _heard_targets(
        self, world: World, hearing: FleetHeard, heard: HeardBlocks, chosen: Ints | None, whole: bool
    ) -> tuple[Floats, Ints]:
        """Return the poses of the targets as each vehicle has heard them last, and their columns; -1: not heard."""
        assert self.target is not None
        fleet, aims = world.find(self.target)
        there = heard(fleet.name)
        n = self.fleet.n
        own = np.arange(n) if chosen is None else chosen
        places = self._places
        if places is None:
            places = own if whole else np.arange(n)
        aims = fleet.ranks[aims]
        goals = there.first + aims[places % len(aims)] * there.slots if there.n else np.full(n, -2)
        poses, columns = heard_targets(hearing, own, goals.astype(np.int64), self.sees, POSE_ROWS)
        return read_only(poses), columns

    def _targets(self, world: World, poses: PoseBlocks, ranks: Ints | None) -> tuple[Floats, Any, str | None]:
        """Return the target fleet's poses, the target's column for each vehicle, and the target's name if it is lost.

        ranks: the place of each vehicle in the order of members, which selects one of several targets; None: its row.
        """
        n = self.fleet.n
        if self.target is None:
            if len(self._no_rows) != n:
                self._no_rows = np.zeros(n, np.int64)
            return NO_POSES, self._no_rows, None
        try:
            fleet, rows = world.find(self.target)
        except UnknownNameError:
            fleet, rows = self.fleet, np.zeros(0, np.int64)
        if len(rows) == 0:
            return NO_POSES, np.full(n, NO_TARGET), self.target
        places = self._places
        if places is None:
            places = np.arange(n) if ranks is None else ranks
        return read_only(poses(fleet.name)), fleet.ranks[rows][places % len(rows)], None


def broken_value(values: Floats, fields: type) -> str:
    """Return `vx is nan` for the first of a vehicle's values that is not finite, or else the largest."""
    k = int(np.argmax(np.where(np.isfinite(values), np.abs(values), np.inf)))
    return f"{list(column_index(fields))[k]} is {values[k]:g}"


def find_target(world: World, target: str, fleet: Fleet, rows: Ints) -> None:
    """Raise PaddockError unless a target exists and is another vehicle for each of these rows of a fleet."""
    target_fleet, aims = world.find(target)
    if target_fleet is fleet and len(aims):
        for row in rows[aims[np.arange(len(rows)) % len(aims)] == rows][:1]:
            raise InvalidValueError(f"{fleet.vehicle_name(row)!r} cannot be its own target; name another vehicle")


def read_only(poses: Floats) -> Floats:
    """Return a read-only view: Numba compiles a second kernel for writable arrays."""
    view = poses.view()
    view.flags.writeable = False
    return view


NO_POSES = read_only(np.zeros((POSE_ROWS, 1)))
"""The poses of a target that does not exist."""


def planned_routes(fleet: str, ids: Ints, setup: RuleSetup) -> Iterator[PlannedRoute]:
    """Yield the routes of a setup: one for all vehicles, or one for each group with equal options."""
    for places in _groups(setup, len(ids)) if len(ids) else ():
        route = setup.route(int(places[0]))
        if route is not None:
            yield PlannedRoute(fleet, ids[places], setup.rule.name, bool(route.closed), np.array(route.points))


def _groups(setup: RuleSetup, count: int) -> list[Ints]:
    """Return the places of vehicles with equal options, in the order of the first of each group."""
    if not setup.per_vehicle:
        return [np.arange(count)]
    kinds, sizes = np.unique(setup.options, axis=1, return_inverse=True, return_counts=True)[1:]
    together = np.split(np.argsort(kinds.reshape(-1), kind="stable"), np.cumsum(sizes)[:-1])
    return sorted(together, key=lambda places: int(places[0]))


def entry_setups(scenario: Scenario) -> Iterator[tuple[str, RuleSetup]]:
    """Yield the fleets of a scenario with their setups; users' own rules are not imported."""
    for entry in scenario.vehicles:
        chosen = entry.controller
        if chosen is not None and chosen.name in rule_names():
            rule, track = find_rule(chosen.name), track_of(scenario.track)
            yield entry.name, set_up_rule(rule, chosen.options, str, track=track)


def entry_routes(scenario: Scenario, snapshot: Snapshot) -> Iterator[PlannedRoute]:
    """Yield the routes of a scenario's entries, for vehicles in the snapshot."""
    ids = {fleet.name: fleet.ids for fleet in snapshot}
    for name, setup in entry_setups(scenario):
        if name in ids:
            yield from planned_routes(name, ids[name], setup)


def road_trees(setups: Iterable[RuleSetup]) -> list[dict[str, Any]]:
    """Return the roads of setups for viewers, each once."""
    roads: list[dict[str, Any]] = []
    for road in (setup.road() for setup in setups):
        if road is not None:
            points = np.round(road.points, 3).tolist()
            tree = {"points": points, "width": float(road.width), "closed": bool(road.closed)}
            roads += [] if tree in roads else [tree]
    return roads
