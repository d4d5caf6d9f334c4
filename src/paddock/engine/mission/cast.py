"""Who takes part in a mission: the fleets of its members, and which vehicle is which agent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from paddock.engine.build import build_program
from paddock.engine.program import FleetProgram
from paddock.errors import InvalidValueError
from paddock.planning.scenario_setup import members_of
from paddock.scenario import Scenario, VehicleEntry
from paddock.world.fleet import Ints
from paddock.world.world import World

Place = Callable[..., str]
"""Path inside an entry -> where the user wrote it."""


class Crew(NamedTuple):
    """The members of one fleet."""

    program: FleetProgram
    rows: Ints  # of the fleet
    agents: Ints  # of the mission, in the same order


class Cast:
    """The names of the fleets that take part, and where their vehicles are."""

    def __init__(self, scenario: Scenario, world: World, programs: dict[str, FleetProgram]) -> None:
        self.world = world
        self.programs = programs
        mission = scenario.mission
        assert mission is not None
        self.fleets = {scenario.vehicles[k].name for k in members_of(scenario, mission)}
        self._known: tuple[object, ...] = ()
        self._crews: list[Crew] = []
        self._missing: Ints = np.empty(0, np.int64)

    def crews(self, names: list[str]) -> tuple[list[Crew], Ints]:
        """The agents of these names, fleet by fleet, and the places of those whose vehicles have gone."""
        now = (self.world.run, self.world.roster_version, len(names), *map(id, self.programs.values()))
        if now != self._known:
            self._known = now
            self._crews, self._missing = self._found(names)
        return self._crews, self._missing

    def forget(self) -> None:
        """Look again."""
        self._known = ()

    def _found(self, names: list[str]) -> tuple[list[Crew], Ints]:
        agents = {name: k for k, name in enumerate(names)}
        crews, seen = [], np.zeros(len(names), bool)
        for name, program in self.programs.items():
            if name in self.fleets:
                fleet = program.fleet
                called = [agents.get(fleet.vehicle_name(row), -1) for row in range(fleet.n)]
                places = np.array(called, np.int64)
                rows = np.flatnonzero(places >= 0)
                crews.append(Crew(program, rows, places[rows]))
                seen[places[rows]] = True
        return crews, np.flatnonzero(~seen)


def check_members(scenario: Scenario, world: World) -> None:
    """Refuse members that something else would drive, and joining ones that could not be built at their time."""
    mission = scenario.mission
    assert mission is not None
    for k in members_of(scenario, mission):
        refuse_driven(scenario.vehicles[k], partial(scenario.at, "vehicles", k))
    for k, event in enumerate(mission.events):
        if event.vehicle is not None:
            place = partial(scenario.at, "mission", "events", k, "vehicle")
            refuse_driven(event.vehicle, place)
            build_program(world, scenario, event.vehicle, place)


def refuse_driven(entry: VehicleEntry, place: Place) -> None:
    """Refuse whatever would drive a vehicle beside its mission."""
    for field in ("behaviour", "driver", "commands", "timeout", "failsafe"):
        if getattr(entry, field):
            raise InvalidValueError(
                f"{place(field)}: {entry.name!r} takes part in the mission and follows its route; leave out {field}, "
                "or name the others in mission.members"
            )
