"""Cones that contact can knock over: which car has touched them, and which are down or out."""

from typing import Any

import numpy as np

from paddock.engine.contact_bodies import UPRIGHT
from paddock.engine.program import FleetProgram
from paddock.scenario import Scenario
from paddock.scenario.vehicle import CONE
from paddock.track.loading import declared_fleets
from paddock.world.fleet import Ints


class ConeBodies:
    """The cones of the world and the track, which are vehicles; none without contact.

    A cone is down or out when it lies, or when its whole base has left the place where it stood. It counts for the car
    that touched it last; a cone that touches another passes its car on, also after it was counted itself.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.homes: dict[str, Any] = {}  # fleet -> (n, 2) m, of its members
        self._radius: dict[str, float] = {}  # of their bases
        for entry, _, _ in declared_fleets(scenario) if scenario.contact is not None else ():
            if entry.model == CONE and entry.spawn is not None and entry.spawn.poses:
                self.homes[entry.name] = np.array([pose[:2] for pose in entry.spawn.poses])
                self._radius[entry.name] = 0.5 * entry.parameters["length"]
        self.touched_by: dict[int, int] = {}  # id of a cone -> car, also of counted ones
        self.counted: set[int] = set()

    def ids(self, programs: dict[str, FleetProgram]) -> Ints:
        """Return the ids of the cones that are in the world, ascending."""
        found = [programs[name].fleet.ids for name in self.homes if name in programs]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *found]))

    def touch(self, pairs: Ints, cars: dict[int, int], cones: Ints) -> None:
        """Remember which car has touched which cone, from pairs of ids (k, 2)."""
        which = np.isin(pairs, cones)
        some = which.any(axis=1)
        for (first, second), (one, other) in zip(pairs[some].tolist(), which[some].tolist(), strict=True):
            for cone, by, is_cone in ((first, second, one), (second, first, other)):
                if is_cone and by in cars:
                    self.touched_by[cone] = cars[by]
                elif is_cone and by in self.touched_by:
                    self.touched_by.setdefault(cone, self.touched_by[by])

    def fallen(self, programs: dict[str, FleetProgram], tick: int) -> list[tuple[int, int]]:
        """Return car and cone of those that are down or out since the last call."""
        found = []
        waiting = [cone for cone in self.touched_by if cone not in self.counted]
        for name, homes in self.homes.items() if waiting else ():
            if name not in programs:
                continue
            fleet = programs[name].fleet
            rows = np.flatnonzero(np.isin(fleet.ids, waiting) & (fleet.members < len(homes)))
            if not len(rows):
                continue
            pose, home = programs[name].poses_of(rows, tick), homes[fleet.members[rows]]
            moved = ((pose[:2].T - home) ** 2).sum(axis=1) > (2.0 * self._radius[name]) ** 2
            lies = 1.0 - 2.0 * (pose[3] ** 2 + pose[4] ** 2) < UPRIGHT
            for cone in fleet.ids[rows[moved | lies]].tolist():
                found.append((self.touched_by[cone], cone))
                self.counted.add(cone)
        return found

    def name(self, number: int, programs: dict[str, FleetProgram]) -> str:
        """Return the name of a cone by its id."""
        for fleet in (programs[name].fleet for name in self.homes if name in programs):
            row = np.flatnonzero(fleet.ids == number)
            if len(row):
                return fleet.vehicle_name(int(row[0]))
        return f"cone {number}"
