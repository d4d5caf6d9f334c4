"""The fleets of a run: built from entries, populated, removed, and rebuilt from a saved state.

The memory of vehicles is estimated before anything is allocated; those that do not fit are refused.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from paddock.compute.prepare import prepare_kernels
from paddock.engine.actions import Action, MissionAction, SpawnAction
from paddock.engine.build import Arrival, Location, admit, arrival, build_program, check_target, settle, take_ids
from paddock.engine.events import EventLog
from paddock.engine.fleet_control import OverrideState
from paddock.engine.program import FleetProgram
from paddock.engine.run_state import Run
from paddock.errors import InvalidValueError, PaddockError, printable
from paddock.scenario import Scenario, VehicleEntry
from paddock.scenario.marked_yaml import plain
from paddock.scenario.problems import Marks, dotted, validated
from paddock.scenario.radio import emitter_names
from paddock.sensing.sensor import ArraySensor, find_sensor
from paddock.track.loading import declared_fleets
from paddock.world.columns import Pose, column_index, defaults_of
from paddock.world.fleet import Fleet, Ints
from paddock.world.parts import fresh, refusing
from paddock.world.state import outline
from paddock.world.world import World

MORE_VEHICLES = {"count", "spawn", "pose", "speed", "commands", "id"}
"""Fields of a spawn that adds vehicles to an existing fleet."""

# the estimate of memory
GIB = 1 << 30
WORD = 8  # bytes of a value
SNAPSHOT_COPIES = 8  # copies of the public columns: the pool of the simulation, and the ring of the hub
SMALL_ENTRY = 1000  # vehicles of an entry for which a rough estimate is enough
ROUGH_BYTES = 8192  # bytes of a vehicle of such an entry
UNCHECKED_COUNT = 20_000  # vehicles that fit into any machine
PLACING_ARRAYS = 3  # of each state column while vehicles are placed: the result, its parts and their intermediates
LONGEST_DELAY = 10.0  # s, of a sensor
SEARCH_VALUES = 5  # values of a vehicle in the search for neighbours: cell, order, position


@dataclass(frozen=True, eq=False)
class PreparedSpawn:
    """Vehicles that are built and placed, outside the thread that ticks, but not part of the world yet."""

    entry: VehicleEntry
    program: FleetProgram
    arrived: Arrival
    joins: bool  # an existing fleet
    settled: bool  # the vehicles are in the tables of their fleet, without ids
    named: bool  # by the entry; otherwise from the model and the number of fleets
    made_for: tuple[int, int, bytes]  # run, seed and environment


@dataclass(eq=False, repr=False)
class Fleets:
    """The programs of all fleets, in the order of their names."""

    scenario: Scenario
    world: Run
    events: EventLog
    device: str

    def populate(self) -> None:
        """Add all vehicles of the scenario. Ids are assigned by name, so the order of declaration has no effect.

        Cones of the world and the track come last: with or without contact, vehicles have the same ids.
        """
        declared = [(fleet.entry, partial(self.scenario.at, *fleet.place)) for fleet in declared_fleets(self.scenario)]
        refuse_beyond_machine(self.world, self.scenario, declared)
        cones = {fleet.entry.name for fleet in declared_fleets(self.scenario) if fleet.obstacles}
        for entry, location in sorted(
            declared, key=lambda item: (item[0].id is None, item[0].name in cones, item[0].name)
        ):
            self._add(entry, location)
        for entry, location in declared:
            check_target(self.world, entry, self.world.programs[entry.name], location)

    def spawn(self, fields: Mapping[str, Any], prepared: PreparedSpawn | None = None) -> str:
        """Add a fleet given by the fields of an entry, or vehicles to the fleet named by `fleet`; return its name.

        `prepared` is the result of `prepare` for these fields.
        """
        if prepared is not None:
            return self._spawn_prepared(prepared)
        if "fleet" in fields:
            program, entry = self._reinforced(fields)
            admit(self.world, program, entry, _location)
            return self._spawned(entry, joins=True)
        entry = self._named(read_entry(fields))
        refuse_beyond_machine(self.world, self.scenario, [(entry, _location)])
        self._add(entry, _location, spawned=True)
        return self._spawned(entry)

    def read(self, fields: Mapping[str, Any]) -> VehicleEntry:
        """Return the entry of a spawn, that of additional vehicles included."""
        return self._reinforced(fields)[1] if "fleet" in fields else read_entry(fields)

    def prepare(
        self,
        fields: Mapping[str, Any],
        after: Sequence[str] = (),
        ahead: bool = False,
        where: str = "vehicles[0]",
        read: VehicleEntry | None = None,
    ) -> PreparedSpawn:
        """Build the vehicles of a spawn and compile their kernels, outside the thread that ticks.

        Nothing is changed. `after` are the names of fleets that are added before this one. `ahead`: the spawn is for a
        later tick, when the target of its behaviour may exist. `where` is the location of the entry, for errors. `read`
        is what `read` has returned for the fields.
        """
        location = partial(_entry_location, where)
        made_for, joins, named = self._made_for(), "fleet" in fields, bool(fields.get("name"))
        settled = not joins and self.scenario.mission is None  # a mission takes up fleets before their vehicles
        try:
            if joins:
                program, entry = self._reinforced(fields)
            else:
                entry = self._named(read or read_entry(fields), after)
                program = build_program(self.world, self.scenario, entry, location, self.device)
                if not ahead:
                    check_target(self.world, entry, program, location)
            arrived = arrival(self.world, program, entry, location)
            if settled:
                settle(program, arrived, np.zeros(entry.count, np.int64))
        except MemoryError:
            raise PaddockError(f"{location('count')}: not enough memory for the vehicles") from None
        prepare_kernels(program.kernels(), apart=True)
        return PreparedSpawn(entry, program, arrived, joins, settled, named, made_for)

    def prepare_queued(self) -> None:
        """Build the vehicles of queued actions; those that cannot be built are built, or refused, at their tick."""
        more, built = Counter[str](), self.world.queued_spawns
        for posted in sorted(self.world.state.mailbox.queue):
            fields = added_vehicles(posted.action)
            with suppress(PaddockError):
                if fields is not None and "fleet" in fields:  # room for all of them
                    more[str(fields["fleet"])] += self.read(fields).count
                elif fields is not None:
                    names = [spawn.entry.name for spawn in built.values()]
                    built[posted.sequence] = self.prepare(fields, names, ahead=True)
        for name, count in more.items():
            program = self.world.programs[name]
            program.fleet.reserve(program.fleet.n + count)

    def check(self, entries: Sequence[VehicleEntry]) -> None:
        """Raise PaddockError if `spawn` would refuse the name or id of one of these new fleets; nothing is changed."""
        taken, spans = set(self.world.programs), [*self.world.used_ids]
        for entry in entries:
            if entry.name in taken:
                raise PaddockError(f"the name {entry.name!r} is already used by a fleet or vehicle")
            self._refuse_emitter(entry.name)
            taken.update({entry.name} if entry.name else ())
            if entry.id is not None:
                span = (entry.id, entry.id + entry.count)
                if any(span[0] < high and low < span[1] for low, high in spans):
                    raise PaddockError(f"vehicle id {entry.id} has already been used in this run")
                spans.append(span)

    def remove(self, target: str | int | Ints, tick: int | None = None) -> None:
        """Remove a vehicle or a fleet, now or as of a tick; other vehicles keep their ids, names and order."""
        fleet, rows = self.world.find(target)
        names = fleet.names_of(rows)
        self.world.programs[fleet.name].keep(np.setdiff1d(np.arange(fleet.n), rows))
        if fleet.n == 0:
            self.world.discard(fleet.name)
        self._changed("removed", names, f"{len(rows)} vehicle{'' if len(rows) == 1 else 's'}", tick)

    def permute(self, name: str, rows: Ints) -> None:
        """Reorder the rows of a fleet in memory, for locality: no result depends on their order."""
        self.world.programs[name].keep(rows)
        self.world.epoch += 1

    def rebuild(self, saved: Mapping[str, Any]) -> None:
        """Build the fleets of a saved state by their entries, without vehicles yet."""
        for name, tree in saved.items():
            path = f"fleets.{printable(str(name))[:60]}"
            values = outline(Fleet, tree, path)
            with refusing(f"{path}.entry"):
                program = self._build(_saved_entry(values["entry"], name), _location)
            if "overrides" in tree:
                program.fleet.overrides = fresh(OverrideState)
            self.world.add(program)

    def renew(self) -> None:
        """Compute what depends on a loaded state: running FMUs, overrides, timeouts."""
        for program in self.world.programs.values():
            if program.fmus is not None:
                program.fmus.load(program)
            program.control.load(self.world.track)

    def _build(self, entry: VehicleEntry, location: Location) -> FleetProgram:
        program = build_program(self.world, self.scenario, entry, location, self.device)
        self._join_mission(program)
        return program

    def _join_mission(self, program: FleetProgram) -> None:
        """Add a new fleet, which has no vehicles yet, to the mission if it takes part."""
        if self.world.mission is not None:
            self.world.mission.built(program)

    def _add(self, entry: VehicleEntry, location: Location, spawned: bool = False) -> None:
        if entry.name in self.world.fleets:
            raise PaddockError(f"{location('name')}: the name {entry.name!r} is already used by a fleet or vehicle")
        program = self._build(entry, location)
        if spawned:
            check_target(self.world, entry, program, location)
        admit(self.world, program, entry, location)
        self.world.add(program)

    def fits(self, prepared: PreparedSpawn) -> bool:
        """Return whether nothing has changed that prepared vehicles depend on."""
        entry, same = prepared.entry, prepared.made_for == self._made_for()
        if prepared.joins:
            program, first = prepared.program, prepared.arrived.first_member
            return same and self.world.programs.get(entry.name) is program and program.fleet.next_member == first
        if not prepared.named:  # a replay finds the name in the same way
            same = same and self._named(entry.model_copy(update={"name": ""})).name == entry.name
        return same

    def _spawn_prepared(self, prepared: PreparedSpawn) -> str:
        """Add prepared vehicles, if nothing that they depend on has changed."""
        entry, program, fleet = prepared.entry, prepared.program, prepared.program.fleet
        if not self.fits(prepared):
            raise PaddockError("spawn refused: the fleets changed while the vehicles were being built; try again")
        if prepared.joins:
            admit(self.world, program, entry, _location, prepared.arrived)
            return self._spawned(entry, joins=True)
        if entry.name in self.world.fleets:
            raise PaddockError(f"{_location('name')}: the name {entry.name!r} is already used by a fleet or vehicle")
        self._join_mission(program)
        check_target(self.world, entry, program, _location)
        if prepared.settled:
            fleet.tables["ids"][: entry.count] = take_ids(self.world, entry, _location)
        else:
            admit(self.world, program, entry, _location, prepared.arrived)
        self.world.add(program)
        return self._spawned(entry)

    def _made_for(self) -> tuple[int, int, bytes]:
        return self.world.run, self.world.seed, self.world.environment.tobytes()

    def _named(self, entry: VehicleEntry, after: Sequence[str] = ()) -> VehicleEntry:
        """Return the entry with a name: its own, or an unused one made from the model."""
        if entry.name:
            self._refuse_emitter(entry.name)
            return entry
        k = len(self.world.programs) + len(after)
        while f"{entry.model}_{k}" in self.world.programs or f"{entry.model}_{k}" in after:
            k += 1
        return entry.model_copy(update={"name": f"{entry.model}_{k}"})

    def _refuse_emitter(self, name: str) -> None:
        """Raise PaddockError for the name of a station, jammer or spoofer, as a scenario does."""
        section = self.scenario.radio
        if section is not None and name in dict(emitter_names(section)):
            raise PaddockError(
                f"{_location('name')}: the name {name!r} is already used by a station, jammer or spoofer"
            )

    def _spawned(self, entry: VehicleEntry, joins: bool = False) -> str:
        self._changed("spawned", entry.name, f"{entry.count} more" if joins else f"{entry.count} x {entry.model}")
        return entry.name

    def _reinforced(self, fields: Mapping[str, Any]) -> tuple[FleetProgram, VehicleEntry]:
        """Return the fleet of additional vehicles and their entry."""
        name = str(fields["fleet"])
        fleet, _ = self.world.find(name)
        program = self.world.programs[fleet.name]
        if fleet.single:
            raise PaddockError(f"{name!r} is a single vehicle, not a fleet; give a new name instead")
        changes = {key: value for key, value in fields.items() if key != "fleet"}
        if changes.keys() - MORE_VEHICLES:
            wrong = sorted(changes.keys() - MORE_VEHICLES)[0]
            raise PaddockError(f"new members of {name!r} take {', '.join(sorted(MORE_VEHICLES))}; not {wrong!r}")
        same = {key: program.settings.entry[key] for key in ("model", "fmu") if key in program.settings.entry}
        entry = read_entry({**same, **changes, "name": name})
        return program, entry.model_copy(update={"spread": program.settings.entry.get("spread", {})})

    def _changed(self, kind: str, subject: str, detail: str, tick: int | None = None) -> None:
        self.world.state.roster_version += 1
        self.events.report(self.world.clock.tick if tick is None else tick, kind, subject, detail)


def added_vehicles(action: Action) -> Mapping[str, Any] | None:
    """Return the entry of an action that adds vehicles; None for any other."""
    if isinstance(action, SpawnAction):
        return action.entry
    return action.arguments if isinstance(action, MissionAction) and action.verb == "add_vehicle" else None


def read_entry(fields: Mapping[str, Any]) -> VehicleEntry:
    """Validate one `vehicles` entry that was written in Python."""
    return validated(VehicleEntry, plain(dict(fields), ("vehicles", 0)), Marks(), ("vehicles", 0))


def _saved_entry(text: str, name: str) -> VehicleEntry:
    """Return the entry of a fleet in a saved state."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidValueError("is not JSON") from None
    if not isinstance(fields, dict):
        raise InvalidValueError("is not the mapping of an entry")
    entry = read_entry(fields)
    if not name or entry.name != name:
        raise InvalidValueError("has the name of another fleet")
    return entry


def _entry_location(where: str, *path: str | int) -> str:
    """Return the location of a value in an entry that was written in Python."""
    return dotted((where, *path))


_location = partial(_entry_location, "vehicles[0]")


# memory ---------------------------------------------------------------------------------------------------------------


def vehicle_bytes(program: FleetProgram) -> int:
    """Return the bytes of one vehicle of a fleet: tables, sensors, poses, snapshots, and what placing it takes."""
    fleet, sensors = program.fleet, program.sensors.values()
    tables: int = sum(table.itemsize * (table.size // table.shape[-1]) for table in fleet.tables.values())
    sensing = sum(sensor.nbytes // sensor.capacity for sensor in sensors)
    poses = WORD * (len(column_index(Pose)) + SEARCH_VALUES)
    layout = program.published.layout()
    public = (WORD * len(layout.columns) + sum(array.nbytes(1) for array in layout.arrays)) * SNAPSHOT_COPIES
    placing = WORD * PLACING_ARRAYS * len(column_index(program.model.state))
    return tables + sensing + poses + public + placing


def entry_bytes(world: World, scenario: Scenario, entry: VehicleEntry, location: Location) -> int:
    """Estimate the bytes of an entry's vehicles from a fleet of one; PaddockError if it cannot be built."""
    delayed = delayed_bytes(world, entry)
    if entry.count < SMALL_ENTRY or delayed > ROUGH_BYTES:
        return (ROUGH_BYTES + delayed) * entry.count
    single = {"count": 1, "spawn": None}
    return entry.count * vehicle_bytes(build_program(world, scenario, entry.model_copy(update=single), location))


def delayed_bytes(world: World, entry: VehicleEntry) -> int:
    """Return the bytes of the samples that are in transit from one vehicle's sensors: many for a long delay."""
    total = 0
    for chosen in entry.sensors:
        with suppress(PaddockError, TypeError, ValueError):  # reported when the fleet is built
            sensor = find_sensor(chosen.name)
            known = dict(zip(column_index(sensor.options), defaults_of(sensor.options).tolist(), strict=True))
            options = {**known, **chosen.options}
            delay, rate = float(np.max(options["delay"])), float(options["rate"])
            samples = min(delay, LONGEST_DELAY) * min(rate, world.clock.rate)
            total += int(WORD * len(column_index(sensor.reading)) * max(samples, 0.0))
            if isinstance(sensor, ArraySensor):
                values = {**known, **{k: float(v) for k, v in chosen.options.items() if k in known and k != "delay"}}
                arrays = sensor.all_arrays(sensor.options(**values))
                size = sum(WORD * prod(array.shape) for array in arrays)
                total += int(size * (max(samples, 0.0) + 1.0 + SNAPSHOT_COPIES))
    return total


def refuse_more_than_fit(needed: int, vehicles: int, most: int, where: str, of: str) -> None:
    """Raise PaddockError if vehicles need more bytes than there are; `of` says whose they are."""
    if needed > most:
        raise PaddockError(
            f"{where}: {vehicles:,} vehicles need about {needed / GIB:.1f} GiB of memory, "
            f"more than the {max(most, 0) / GIB:.1f} GiB {of}"
        )


def refuse_beyond_machine(world: World, scenario: Scenario, entries: Iterable[tuple[VehicleEntry, Location]]) -> None:
    """Raise PaddockError if vehicles of these entries, each with its location, need more memory than is available."""
    listed = list(entries)
    vehicles = sum(entry.count for entry, _ in listed)
    small = vehicles <= UNCHECKED_COUNT and not any(delayed_bytes(world, entry) > ROUGH_BYTES for entry, _ in listed)
    if small or (available := available_bytes()) is None:
        return
    needed = sum(entry_bytes(world, scenario, entry, location) for entry, location in listed)
    largest = max(listed, key=lambda counted: counted[0].count)
    refuse_more_than_fit(needed, vehicles, available, largest[1]("count"), "available on this machine")


def available_bytes() -> int | None:
    """Return the memory that this process may still take, within the machine and its control group; None: unknown."""
    limits = []
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        limits.append(1024 * int(lines["MemAvailable"].split()[0]))
    except (OSError, KeyError, ValueError):
        pass
    try:
        group = Path("/sys/fs/cgroup") / Path("/proc/self/cgroup").read_text().rpartition("::")[2].strip().lstrip("/")
        limit, used = ((group / name).read_text().strip() for name in ("memory.max", "memory.current"))
        if limit != "max":
            limits.append(int(limit) - int(used))
    except (OSError, ValueError):
        pass
    return min(limits, default=None)
