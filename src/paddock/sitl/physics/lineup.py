"""Who stands where: the vehicles of an adapter as rows of the fleets of a simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from paddock.engine.simulation import Simulation
from paddock.errors import PaddockError
from paddock.sitl.adapter import AdapterError
from paddock.sitl.physics.fleet_feed import FleetFeed
from paddock.world.fleet import Ints
from paddock.world.geodesy import Origin


class Part(NamedTuple):
    """Vehicles of one fleet among those of a block."""

    feed: FleetFeed
    rows: Ints | slice  # of the fleet, ascending
    places: Ints | slice  # in the block


class Lineup:
    """Vehicles by their ids, for as long as nobody comes or goes."""

    def __init__(self, sim: Simulation, names: Mapping[int, str]) -> None:
        """`names`: id -> what the vehicle is called in the simulation."""
        self.sim = sim
        self.names = names
        self.known: dict[tuple[int, ...], list[Part]] = {}
        self._feeds: dict[str, FleetFeed] = {}
        self._roster = (sim.engine.world.run, sim.engine.world.roster_version)

    @property
    def stale(self) -> bool:
        """Whether vehicles have come or gone since."""
        return (self.sim.engine.world.run, self.sim.engine.world.roster_version) != self._roster

    def parts(self, vehicles: tuple[int, ...]) -> list[Part]:
        """These vehicles fleet by fleet; worked out once for every choice of them."""
        if vehicles not in self.known:
            self.known[vehicles] = list(self._parts(vehicles))
        return self.known[vehicles]

    def mark(self, vehicle: int, truth: bool, jammed: bool) -> None:
        """Whether its sensor data has the truth, and no GNSS; nothing for one that has left the world."""
        if self.sim.engine.applier.exists(self.names[vehicle]):
            feed, row = self._find(vehicle)
            feed.tell_truth(row, truth)
            feed.jam(row, jammed)

    def _find(self, vehicle: int) -> tuple[FleetFeed, int]:
        try:
            fleet, rows = self.sim.engine.world.find(self.names[vehicle])
        except PaddockError as error:
            raise AdapterError(f"vehicle {vehicle} is not in the world any more: {error}") from None
        if fleet.name not in self._feeds:
            program, origin = self.sim.engine.programs[fleet.name], Origin(*self.sim.scenario.world.origin)
            self._feeds[fleet.name] = FleetFeed(program, origin, 1e6 / self.sim.engine.world.clock.rate)
        return self._feeds[fleet.name], int(rows[0])

    def _parts(self, vehicles: tuple[int, ...]) -> Iterator[Part]:
        found: dict[str, list[tuple[int, int]]] = {}
        for place, vehicle in enumerate(vehicles):
            feed, row = self._find(vehicle)
            found.setdefault(feed.program.fleet.name, []).append((row, place))
        for name, pairs in found.items():
            rows, places = np.array(sorted(pairs)).T
            yield Part(self._feeds[name], _straight(rows), _straight(places))


def _straight(numbers: Ints) -> Ints | slice:
    """Numbers one after the other as a slice, which copies faster."""
    first, count = int(numbers[0]), len(numbers)
    return slice(first, first + count) if np.array_equal(numbers, np.arange(first, first + count)) else numbers
