"""The world: the clock, the surroundings, the fleets and who is in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.errors import PaddockError, UnknownNameError, unknown_name
from paddock.world.clock import Clock
from paddock.world.columns import Floats
from paddock.world.fleet import Fleet, Ints
from paddock.world.transforms import TransformTree

LARGEST_ID = 2**31 - 1


class World:
    """Everything that is true. Fleets are kept in the order of their names, whatever the order of declaration."""

    def __init__(self, rate: float, environment: Floats, seed: int) -> None:
        self.clock = Clock(rate)
        self.environment = environment  # values of Environment
        self.seed = seed
        self.run = 0  # +1 per reset
        self.roster = 0  # +1 when vehicles come or go
        self.next_id = 1
        self.fleets: dict[str, Fleet] = {}
        self.transforms = TransformTree()

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
        ids = np.arange(start, start + count, dtype=np.int64)
        if first is not None:
            taken = np.concatenate([fleet.ids for fleet in self.fleets.values()] or [ids[:0]])
            clash = np.intersect1d(ids, taken)
            if len(clash):
                raise PaddockError(f"vehicle id {clash[0]} is already in use")
        self.next_id = max(self.next_id, start + count)
        return ids

    def find(self, target: str | int) -> tuple[Fleet, Ints]:
        """The fleet and rows that a name (`red`, `scouts`, `scouts[17]`) or an id stands for."""
        if isinstance(target, int | np.integer) and not isinstance(target, bool):
            return self._find_id(int(target))
        fleet = self.fleets.get(target)
        if fleet is not None:
            return fleet, np.arange(fleet.n)
        name, bracket, rest = str(target).partition("[")
        fleet = self.fleets.get(name)
        if bracket and fleet is not None and rest.endswith("]") and rest[:-1].isdigit():
            row = fleet.row_of(int(rest[:-1]))
            if row is not None:
                return fleet, np.array([row])
            raise UnknownNameError(f"fleet {name!r} has no member {rest[:-1]}")
        raise unknown_name("vehicle", str(target), self.fleets)

    def _find_id(self, number: int) -> tuple[Fleet, Ints]:
        for fleet in self.fleets.values():
            rows = np.flatnonzero(fleet.ids == number)
            if len(rows):
                return fleet, rows
        raise UnknownNameError(f"no vehicle has the id {number}")

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
            "roster": self.roster,
            "next_id": self.next_id,
            "environment": self.environment,
            "transforms": self.transforms.save(),
            "fleets": {name: fleet.save() for name, fleet in self.fleets.items()},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Exactly what was saved; the fleets must exist already."""
        self.clock.tick = saved["tick"]
        self.seed, self.run, self.roster, self.next_id = (saved[k] for k in ("seed", "run", "roster", "next_id"))
        self.environment[:] = saved["environment"]
        self.transforms.restore(saved["transforms"])
        for name, tree in saved["fleets"].items():
            self.fleets[name].restore(tree)
