"""Vehicles come and go: fleets are built, admitted, removed, and rebuilt from what was saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from paddock.engine.build import admit, build_program
from paddock.engine.events import EventLog
from paddock.engine.program import FleetProgram
from paddock.errors import PaddockError
from paddock.scenario import Scenario, VehicleEntry, load_scenario
from paddock.world.world import World


class Roster:
    """The programs of all fleets, in the order of their names."""

    def __init__(self, scenario: Scenario, world: World, events: EventLog, device: str) -> None:
        self.scenario = scenario
        self.world = world
        self.events = events
        self.device = device
        self.programs: dict[str, FleetProgram] = {}
        self.built: Callable[[FleetProgram], None] = lambda program: None  # told of every fleet before it has vehicles

    def populate(self) -> None:
        """All vehicles of the scenario. Ids are given out in the order of names, so declaration order is immaterial."""
        declared = [(k, entry) for k, entry in enumerate(self.scenario.vehicles)]
        for k, entry in sorted(declared, key=lambda item: (item[1].id is None, item[1].name)):
            self._add(entry, partial(_place, self.scenario, k))
        self._check_targets()

    def spawn(self, fields: Mapping[str, Any]) -> str:
        """A new fleet from the fields of a `vehicles` entry, or more members for the fleet named by `fleet`."""
        if "fleet" in fields:
            return self._reinforce(fields)
        scenario, entry = _single_entry(fields)
        if "name" not in fields:
            entry = entry.model_copy(update={"name": self._free_name(entry.model)})
        self._add(entry, partial(_place, scenario, 0), check_target=True)
        self._changed("spawned", entry.name, f"{entry.count} x {entry.model}")
        return entry.name

    def check(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Refuse what `spawn` would refuse, entry by entry, before any of them changes anything."""
        taken = dict.fromkeys(self.programs)
        for fields in entries:
            if "fleet" in fields:
                raise PaddockError("several entries at once are new fleets; reinforce one by itself")
            scenario, entry = _single_entry(fields)
            if "name" in fields and entry.name in taken:
                raise PaddockError(f"there is already a fleet or vehicle called {entry.name!r}")
            taken[entry.name] = None
            place = partial(_place, scenario, 0)
            build_program(self.world, self.scenario, entry, place, self.device)
        self._check_ids([_single_entry(fields)[1] for fields in entries])

    def _check_ids(self, entries: Sequence[VehicleEntry]) -> None:
        spans = [*self.world.used_ids]
        for entry in entries:
            if entry.id is not None:
                span = (entry.id, entry.id + entry.count)
                if any(span[0] < high and low < span[1] for low, high in spans):
                    raise PaddockError(f"vehicle id {entry.id} has already been used in this run")
                spans.append(span)

    def remove(self, target: str | int) -> None:
        """Take out a vehicle or a fleet; other vehicles keep their ids, names and order."""
        fleet, rows = self.world.find(target)
        program = self.programs[fleet.name]
        whom = fleet.names_of(rows)
        staying = np.setdiff1d(np.arange(fleet.n), rows)
        program.keep(staying)
        if fleet.n == 0:
            del self.world.fleets[fleet.name]
            del self.programs[fleet.name]
        self._changed("removed", whom, f"{len(rows)} vehicle{'' if len(rows) == 1 else 's'}")

    def rebuild(self, entries: Mapping[str, str]) -> None:
        """Have exactly the fleets of a saved state (name -> entry as JSON), empty and ready to be restored."""
        programs = [self._as_saved(name, _plain_json(text)) for name, text in entries.items()]
        self.world.fleets = {}
        self.programs.clear()
        for program in programs:
            self._register(program)

    def _as_saved(self, name: str, entry: dict[str, Any]) -> FleetProgram:
        """The program of an entry: the present one if it was built from the same."""
        same = self.programs.get(name)
        if same is not None and same.entry == entry:
            self.built(same)
            return same
        scenario = load_scenario({"vehicles": [entry]})
        return self._built(scenario.vehicles[0], scenario)

    def _built(self, entry: VehicleEntry, scenario: Scenario) -> FleetProgram:
        program = build_program(self.world, self.scenario, entry, partial(_place, scenario, 0), self.device)
        self.built(program)
        return program

    def _add(self, entry: VehicleEntry, place: Any, check_target: bool = False) -> None:
        if entry.name in self.world.fleets:
            raise PaddockError(f"{place('name')}: there is already a fleet or vehicle called {entry.name!r}")
        program = build_program(self.world, self.scenario, entry, place, self.device)
        self.built(program)
        if check_target:
            self._check_target(entry, program, place)
        admit(self.world, program, entry, place)
        self._register(program)

    def _register(self, program: FleetProgram) -> None:
        self.world.add_fleet(program.fleet)
        ordered = dict(sorted({**self.programs, program.fleet.name: program}.items()))
        self.programs.clear()  # in place: the stages hold this very dictionary
        self.programs.update(ordered)

    def _reinforce(self, fields: Mapping[str, Any]) -> str:
        name = str(fields["fleet"])
        fleet, _ = self.world.find(name)
        program = self.programs[fleet.name]
        if fleet.single:
            raise PaddockError(f"{name!r} is a single vehicle, not a fleet; give a new name instead")
        given = {key: value for key, value in fields.items() if key != "fleet"}
        allowed = {"count", "spawn", "pose", "speed", "commands", "id"}
        if given.keys() - allowed:
            raise PaddockError(
                f"new members of {name!r} take {', '.join(sorted(allowed))}; not {sorted(given.keys() - allowed)[0]!r}"
            )
        scenario, entry = _single_entry({**{k: program.entry[k] for k in ("model",)}, **given, "name": name})
        entry = entry.model_copy(update={"spread": program.entry.get("spread", {})})
        admit(self.world, program, entry, partial(_place, scenario, 0))
        self._changed("spawned", name, f"{entry.count} more")
        return name

    def _free_name(self, model: str) -> str:
        k = len(self.programs)
        while f"{model}_{k}" in self.programs:
            k += 1
        return f"{model}_{k}"

    def _changed(self, kind: str, subject: str, detail: str) -> None:
        self.world.roster += 1
        self.events.report(self.world.clock.tick, kind, subject, detail)

    def _check_targets(self) -> None:
        """A behaviour's target must exist when the run begins."""
        for k, entry in enumerate(self.scenario.vehicles):
            self._check_target(entry, self.programs[entry.name], partial(_place, self.scenario, k))

    def _check_target(self, entry: VehicleEntry, program: FleetProgram, place: Any) -> None:
        conduct = program.conduct
        if conduct is not None and conduct.target is not None:
            try:
                self.world.find(conduct.target)
            except PaddockError as error:
                where = place(entry.controller_key, conduct.rule.name, "target")
                raise type(error)(f"{where}: {error}") from None


def _single_entry(fields: Mapping[str, Any]) -> tuple[Scenario, VehicleEntry]:
    scenario = load_scenario({"vehicles": [dict(fields)]})
    return scenario, scenario.vehicles[0]


def _place(scenario: Scenario, entry: int, *path: str | int) -> str:
    """Where a value of an entry was written."""
    return scenario.at("vehicles", entry, *path)


def _plain_json(text: str) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(text)
    return tree
