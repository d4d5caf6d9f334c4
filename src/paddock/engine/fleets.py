"""The fleets of a run: built from entries, populated, removed, and rebuilt from a saved state."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from paddock.engine.build import Place, admit, build_program, check_target
from paddock.engine.events import EventLog
from paddock.engine.program import FleetProgram
from paddock.errors import PaddockError
from paddock.scenario import Scenario, VehicleEntry
from paddock.scenario.marked_yaml import plain
from paddock.scenario.problems import Marks, dotted, validated
from paddock.world.fleet import Ints
from paddock.world.world import World

MORE_VEHICLES = {"count", "spawn", "pose", "speed", "commands", "id"}
"""Fields of a spawn that adds vehicles to an existing fleet."""


@dataclass(eq=False, repr=False)
class Fleets:
    """The programs of all fleets, in the order of their names."""

    scenario: Scenario
    world: World
    events: EventLog
    device: str
    _built: Callable[[FleetProgram], None]  # called with every new program before it has vehicles
    programs: dict[str, FleetProgram] = field(default_factory=dict)

    def populate(self) -> None:
        """Add all vehicles of the scenario. Ids are assigned by name, so the order of declaration has no effect."""
        declared = [(k, entry) for k, entry in enumerate(self.scenario.vehicles)]
        for k, entry in sorted(declared, key=lambda item: (item[1].id is None, item[1].name)):
            self._add(entry, partial(self.scenario.at, "vehicles", k))
        for k, entry in declared:
            check_target(self.world, entry, self.programs[entry.name], partial(self.scenario.at, "vehicles", k))

    def spawn(self, fields: Mapping[str, Any]) -> str:
        """Add a fleet given by the fields of an entry, or vehicles to the fleet named by `fleet`; return its name."""
        if "fleet" in fields:
            return self._reinforce(fields)
        entry = read_entry(fields)
        if not entry.name:
            k = len(self.programs)
            while f"{entry.model}_{k}" in self.programs:
                k += 1
            entry = entry.model_copy(update={"name": f"{entry.model}_{k}"})
        self._add(entry, _place, spawned=True)
        self._changed("spawned", entry.name, f"{entry.count} x {entry.model}")
        return entry.name

    def check(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Raise PaddockError if `spawn` would refuse one of these new fleets; nothing is changed."""
        taken, spans = set(self.programs), [*self.world.used_ids]
        for fields in entries:
            if "fleet" in fields:
                raise PaddockError("several entries at once are new fleets; add vehicles to a fleet in a separate call")
            entry = read_entry(fields)
            if entry.name in taken:
                raise PaddockError(f"the name {entry.name!r} is already used by a fleet or vehicle")
            taken.update({entry.name} if entry.name else ())
            build_program(self.world, self.scenario, entry, _place, self.device)
            if entry.id is not None:
                span = (entry.id, entry.id + entry.count)
                if any(span[0] < high and low < span[1] for low, high in spans):
                    raise PaddockError(f"vehicle id {entry.id} has already been used in this run")
                spans.append(span)

    def remove(self, target: str | int | Ints, tick: int | None = None) -> None:
        """Remove a vehicle or a fleet, now or as of a tick; other vehicles keep their ids, names and order."""
        fleet, rows = self.world.find(target)
        names = fleet.names_of(rows)
        self.programs[fleet.name].keep(np.setdiff1d(np.arange(fleet.n), rows))
        if fleet.n == 0:
            del self.world.fleets[fleet.name]
            del self.programs[fleet.name]
        self._changed("removed", names, f"{len(rows)} vehicle{'' if len(rows) == 1 else 's'}", tick)

    def clear(self) -> None:
        """Remove everything, without events."""
        self.world.fleets = {}
        self.programs.clear()  # in place: the stages hold this dictionary

    def rebuild(self, entries: Mapping[str, str]) -> None:
        """Replace all fleets by those of a saved state (name -> entry as JSON), without vehicles yet."""
        programs = []
        for name, text in entries.items():
            entry, same = json.loads(text), self.programs.get(name)
            if same is not None and same.entry == entry:  # keep its kernels
                self._built(same)
                programs.append(same)
            else:
                programs.append(self._build(read_entry(entry), _place))
        self.clear()
        for program in programs:
            self._register(program)

    def _build(self, entry: VehicleEntry, place: Place) -> FleetProgram:
        program = build_program(self.world, self.scenario, entry, place, self.device)
        self._built(program)
        return program

    def _add(self, entry: VehicleEntry, place: Place, spawned: bool = False) -> None:
        if entry.name in self.world.fleets:
            raise PaddockError(f"{place('name')}: the name {entry.name!r} is already used by a fleet or vehicle")
        program = self._build(entry, place)
        if spawned:
            check_target(self.world, entry, program, place)
        admit(self.world, program, entry, place)
        self._register(program)

    def _register(self, program: FleetProgram) -> None:
        self.world.add_fleet(program.fleet)
        ordered = dict(sorted({**self.programs, program.fleet.name: program}.items()))
        self.programs.clear()
        self.programs.update(ordered)

    def _reinforce(self, fields: Mapping[str, Any]) -> str:
        name = str(fields["fleet"])
        fleet, _ = self.world.find(name)
        program = self.programs[fleet.name]
        if fleet.single:
            raise PaddockError(f"{name!r} is a single vehicle, not a fleet; give a new name instead")
        given = {key: value for key, value in fields.items() if key != "fleet"}
        if given.keys() - MORE_VEHICLES:
            wrong = sorted(given.keys() - MORE_VEHICLES)[0]
            raise PaddockError(f"new members of {name!r} take {', '.join(sorted(MORE_VEHICLES))}; not {wrong!r}")
        entry = read_entry({"model": program.entry["model"], **given, "name": name})
        entry = entry.model_copy(update={"spread": program.entry.get("spread", {})})
        admit(self.world, program, entry, _place)
        self._changed("spawned", name, f"{entry.count} more")
        return name

    def _changed(self, kind: str, subject: str, detail: str, tick: int | None = None) -> None:
        self.world.roster_version += 1
        self.events.report(self.world.clock.tick if tick is None else tick, kind, subject, detail)


def read_entry(fields: Mapping[str, Any]) -> VehicleEntry:
    """Validate one `vehicles` entry that was written in Python."""
    return validated(VehicleEntry, plain(dict(fields), ("vehicles", 0)), Marks(), ("vehicles", 0))


def _place(*path: str | int) -> str:
    """Return the place of a value in an entry that was written in Python."""
    return dotted(("vehicles", 0, *path))
