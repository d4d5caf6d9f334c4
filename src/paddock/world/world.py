"""The world: the clock, the surroundings, the fleets and who is in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.errors import PaddockError, UnknownNameError, unknown_name
from paddock.world.clock import Clock
from paddock.world.columns import Floats
from paddock.world.fleet import Fleet, Ints
from paddock.world.index import IdIndex
from paddock.world.transforms import TransformTree

LARGEST_ID = 2**31 - 1


class World:
    """Everything that is true. Fleets are kept in the order of their names, whatever the order of declaration."""

    def __init__(self, rate: float, environment: Floats, seed: int) -> None:
        self.clock = Clock(rate)
        self.environment = environment  # values of Environment
        self.seed = seed
        self.run = 0  # +1 per reset
        self.roster_version = 0  # +1 when vehicles are added or removed
        self.next_id = 1
        self.used_ids: list[tuple[int, int]] = []  # ranges [first, end) given out in this run, ascending
        self.fleets: dict[str, Fleet] = {}
        self.transforms = TransformTree()
        self._index_of: tuple[Any, ...] = (None,)  # what the index was made of
        self._index = IdIndex(())

    def add_fleet(self, fleet: Fleet) -> None:
        """A new fleet under a name that is free."""
        if fleet.name in self.fleets:
            raise PaddockError(f"there is already a fleet or vehicle called {fleet.name!r}")
        self.fleets = dict(sorted({**self.fleets, fleet.name: fleet}.items()))

    def take_ids(self, count: int, first: int | None = None) -> Ints:
        """Unused ids: a range from `first`, or the next free ones. An id is never used twice in a run."""
        start = self.next_id if first is None else first
        if start + count - 1 > LARGEST_ID:
            raise PaddockError(f"vehicle ids end at {LARGEST_ID}: {count} more from {start} do not fit")
        end = start + count
        for low, high in self.used_ids:
            if start < high and low < end:
                raise PaddockError(f"vehicle id {max(start, low)} has already been used in this run")
        self.used_ids = _joined([*self.used_ids, (start, end)])
        self.next_id = max(self.next_id, end)
        return np.arange(start, end, dtype=np.int64)

    def find(self, target: str | int | Ints) -> tuple[Fleet, Ints]:
        """The fleet and rows that a name (`red`, `scouts`, `scouts[17]`), an id, or ids of one fleet stand for."""
        if isinstance(target, np.ndarray):
            return self._find_ids(target)
        if isinstance(target, int | np.integer) and not isinstance(target, bool):
            return self.ids.find(int(target))
        target = str(target)  # 1.0 and True are neither names nor ids: the error shall say so
        fleet = self.fleets.get(target)
        if fleet is not None:
            return fleet, np.arange(fleet.n)
        name, bracket, rest = target.partition("[")
        fleet = self.fleets.get(name)
        if bracket and fleet is not None and rest.endswith("]") and rest[:-1].isdecimal():
            row = fleet.row_of(int(rest[:-1]))
            if row is not None:
                return fleet, np.array([row])
            raise UnknownNameError(f"fleet {name!r} has no member {rest[:-1]}")
        raise unknown_name("vehicle", target, self.fleets)

    def _find_ids(self, ids: Ints) -> tuple[Fleet, Ints]:
        parts = self.ids.split(ids)
        if len(parts) != 1:
            raise PaddockError(f"a command is for vehicles of one fleet, these are of {len(parts)}")
        return parts[0][0], parts[0][1]

    @property
    def ids(self) -> IdIndex:
        """Vehicles by id; made anew when vehicles have come or gone."""
        fleets, *numbers = self._index_of
        if fleets is not self.fleets or numbers != [self.roster_version, self.run, len(self.fleets)]:
            self._index_of = (self.fleets, self.roster_version, self.run, len(self.fleets))
            self._index = IdIndex(tuple(self.fleets.values()))
        return self._index

    @property
    def vehicles(self) -> int:
        """How many vehicles there are."""
        return sum(fleet.n for fleet in self.fleets.values())

    def save(self) -> dict[str, Any]:
        """The complete state of the world."""
        return {
            "tick": self.clock.tick,
            "seed": self.seed,
            "run": self.run,
            "roster": self.roster_version,
            "next_id": self.next_id,
            "used_ids": [list(span) for span in self.used_ids],
            "environment": self.environment,
            "transforms": self.transforms.save(),
            "fleets": {name: fleet.save() for name, fleet in self.fleets.items()},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Exactly what was saved; the fleets must exist already."""
        self.clock.tick = saved["tick"]
        self.seed, self.run, self.roster_version, self.next_id = (saved[k] for k in ("seed", "run", "roster", "next_id"))
        self.used_ids = [(low, high) for low, high in saved["used_ids"]]
        self.environment[:] = saved["environment"]
        self.transforms.restore(saved["transforms"])
        for name, tree in saved["fleets"].items():
            self.fleets[name].restore(tree)


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same numbers in as few ranges as possible, ascending."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined
