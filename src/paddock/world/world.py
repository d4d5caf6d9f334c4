"""The world: clock, environment, fleets and vehicle ids."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.archive import typed, whole
from paddock.world.columns import Environment, Floats, checked, columns_of
from paddock.world.fleet import Fleet, Ints
from paddock.world.scenery import Scenery
from paddock.world.transforms import TransformTree


@dataclass
class Clock:
    """Counts ticks; the time is tick / rate, so it never drifts and does not depend on the grouping of ticks."""

    rate: float  # Hz
    tick: int = 0

    def __post_init__(self) -> None:
        if not (isfinite(self.rate) and self.rate > 0):
            raise InvalidValueError(f"clock rate must be a positive number of Hz, not {self.rate!r}")

    @property
    def time(self) -> float:
        """Simulation time, s."""
        return self.tick / self.rate

    @property
    def dt(self) -> float:
        """Length of a tick, s."""
        return 1.0 / self.rate

    def ticks(self, seconds: float) -> int:
        """Return the number of ticks nearest to a duration."""
        return round(seconds * self.rate)

    def tick_at(self, time: float) -> int:
        """Return the first tick at or after a simulation time, within rounding."""
        tick = round(time * self.rate)
        return tick if tick / self.rate >= time - 1e-9 * max(1.0, abs(time)) else tick + 1


class IdIndex:
    """Fleet and row of each vehicle id, in one sorted table."""

    def __init__(self, fleets: Sequence[Fleet]) -> None:
        """Index the present vehicles of these fleets."""
        ids = np.concatenate([fleet.ids for fleet in fleets] or [np.empty(0, np.int64)])
        order = np.argsort(ids, kind="stable")
        self.fleets = tuple(fleets)
        self._ids = ids[order]
        self._fleet = np.repeat(np.arange(len(fleets)), [fleet.n for fleet in fleets])[order]
        self._row = np.concatenate([np.arange(fleet.n) for fleet in fleets] or [np.empty(0, np.int64)])[order]

    def find(self, number: int) -> tuple[Fleet, Ints]:
        """Return the fleet and the row of one vehicle."""
        at = int(np.searchsorted(self._ids, number))
        if at == len(self._ids) or self._ids[at] != number:
            raise UnknownNameError(f"no vehicle has the id {number}")
        return self.fleets[self._fleet[at]], self._row[at : at + 1]

    def split(self, ids: ArrayLike) -> list[tuple[Fleet, Ints, Ints]]:
        """Return (fleet, its rows, their indices in `ids`) for every fleet that any of the ids belongs to."""
        wanted = np.asarray(ids)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
            raise InvalidValueError(f"vehicle ids are a list of whole numbers, not {wanted.dtype} of {wanted.shape}")
        at = np.minimum(np.searchsorted(self._ids, wanted), max(len(self._ids) - 1, 0))
        unknown = wanted[self._ids[at] != wanted] if len(self._ids) else wanted
        if len(unknown):
            raise UnknownNameError(f"no vehicle has the id {unknown[0]}")
        if len(np.unique(wanted)) != len(wanted):
            raise InvalidValueError("a vehicle id appears twice in one command")
        found = self._fleet[at]
        parts = [(k, np.flatnonzero(found == k)) for k in np.unique(found)]
        return [(self.fleets[k], self._row[at[part]], part) for k, part in parts]


LARGEST_ID = 2**31 - 1
SAVED = {"tick": 2**53, "seed": 2**64 - 1, "run": 2**53, "roster": 2**53, "next_id": LARGEST_ID + 1}
"""Largest valid value of each number in a saved world."""


class World:
    """The state of the world. Fleets are sorted by name, independent of the order of declaration."""

    def __init__(
        self, rate: float, environment: Floats, seed: int, scenery: Scenery | None = None, track: Any = None
    ) -> None:
        self.clock = Clock(rate)
        self.environment = environment  # values of Environment
        self.scenery = scenery  # uneven ground and static obstacles
        self.track = track  # the race track (paddock.track.Track), None without one
        self.seed = seed
        self.run = 0  # +1 per reset
        self.roster_version = 0  # +1 when vehicles are added or removed
        self.next_id = 1
        self.used_ids: list[tuple[int, int]] = []  # ranges [first, end) assigned in this run, ascending
        self.fleets: dict[str, Fleet] = {}
        self.transforms = TransformTree()
        self._index_of: tuple[Any, ...] = (None,)  # run and roster version of the index
        self._index = IdIndex(())

    @property
    def ground_z(self) -> float:
        """Height of the flat ground, m; uneven ground has its heights above it."""
        return Environment(*self.environment.tolist()).ground_z

    @property
    def uneven(self) -> Scenery | None:
        """The scenery if the ground is not flat."""
        return self.scenery if self.scenery is not None and self.scenery.uneven else None

    def heights(self, x: ArrayLike, y: ArrayLike) -> Floats:
        """Return the height of the ground at places, arrays of one shape, m."""
        if self.uneven is None:
            return np.full(np.shape(x), self.ground_z)
        return np.asarray(self.uneven.ground.at(x, y, self.environment).height)

    def add_fleet(self, fleet: Fleet) -> None:
        """Add a fleet under an unused name."""
        if fleet.name in self.fleets:
            raise PaddockError(f"the name {fleet.name!r} is already used by a fleet or vehicle")
        self.fleets = dict(sorted({**self.fleets, fleet.name: fleet}.items()))

    def take_ids(self, count: int, first: int | None = None) -> Ints:
        """Reserve unused ids: a range from `first`, or the next free ones. Ids are never reused in a run."""
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
        """Return the fleet and rows of a name (`red`, `scouts`, `scouts[17]`), an id, or ids of one fleet."""
        fleet = self.fleets.get(target) if isinstance(target, str) else None
        if fleet is not None:
            return fleet, fleet.rows
        if isinstance(target, np.ndarray):
            parts = self.ids.split(target)
            if len(parts) != 1:
                raise PaddockError(f"a command takes vehicles of one fleet, these are of {len(parts)}")
            return parts[0][0], parts[0][1]
        if isinstance(target, int | np.integer) and not isinstance(target, bool):
            return self.ids.find(int(target))
        target = str(target)  # 1.0 and True are neither names nor ids: an error below
        name, bracket, rest = target.partition("[")
        fleet = self.fleets.get(name)
        if bracket and fleet is not None and rest.endswith("]") and rest[:-1].isdecimal():
            row = fleet.row_of(int(rest[:-1]))
            if row is not None:
                return fleet, np.array([row])
            raise UnknownNameError(f"fleet {name!r} has no member {rest[:-1]}")
        raise unknown_name("vehicle", target, self.fleets)

    def has(self, name: str) -> bool:
        """Return whether there is a vehicle or fleet of that name."""
        try:
            return bool(self.find(name))
        except UnknownNameError:
            return False

    @property
    def ids(self) -> IdIndex:
        """The vehicles by id; rebuilt when vehicles are added or removed."""
        fleets, *numbers = self._index_of
        if fleets is not self.fleets or numbers != [self.roster_version, self.run, len(self.fleets)]:
            self._index_of = (self.fleets, self.roster_version, self.run, len(self.fleets))
            self._index = IdIndex(tuple(self.fleets.values()))
        return self._index

    @property
    def vehicles(self) -> int:
        """Number of vehicles."""
        return sum(fleet.n for fleet in self.fleets.values())

    def save(self) -> dict[str, Any]:
        """Return the complete state of the world."""
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

    def take_over(self, other: "World") -> None:
        """Take the state of another world with the same clock rate, which must not be used any longer."""
        self.clock.tick = other.clock.tick
        self.seed, self.run, self.roster_version = other.seed, other.run, other.roster_version
        self.next_id, self.used_ids = other.next_id, other.used_ids
        self.environment[:] = other.environment
        self.transforms, self.fleets, self.scenery = other.transforms, other.fleets, other.scenery
        self.track = other.track

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore exactly what was saved; the fleets must exist. On an error, nothing has changed."""
        for name, most in SAVED.items():
            whole(saved[name], name, most)
        if saved["fleets"].keys() != self.fleets.keys():
            raise PaddockError(f"the saved world has the fleets {', '.join(saved['fleets'])!s:.60}")
        for name, tree in saved["fleets"].items():
            self.fleets[name].check_saved(tree)
        environment = _checked_environment(saved["environment"])
        spans = typed(list[tuple[int, int]], saved["used_ids"], "ranges of vehicle ids")
        ids = np.sort(np.concatenate([tree["tables"]["ids"] for tree in saved["fleets"].values()] or [np.empty(0)]))
        low, high = np.array(spans, np.int64).reshape(-1, 2).T
        ends = np.searchsorted(high, ids, "right")  # of ids, the range that contains it
        if len(ids) and (ends.max() >= len(low) or (ids < low[ends]).any() or (np.diff(ids) <= 0).any()):
            raise PaddockError("saved vehicle ids are not unique, or not among the ids that were assigned")
        if spans != _joined(spans) or (low < 0).any() or (low >= high).any() or saved["next_id"] < high.max(initial=1):
            raise PaddockError("saved ranges of assigned vehicle ids are not valid")
        self.transforms.restore(saved["transforms"])  # the last check
        self.clock.tick = saved["tick"]
        self.seed, self.run, self.roster_version, self.next_id = (
            saved[k] for k in ("seed", "run", "roster", "next_id")
        )
        self.used_ids = spans
        self.environment[:] = environment
        for name, tree in saved["fleets"].items():
            self.fleets[name].restore(tree)


def _checked_environment(saved: Any) -> Floats:
    """Return the values of a saved environment, all in the ranges of their columns."""
    columns = columns_of(Environment)
    if not isinstance(saved, np.ndarray) or (saved.dtype, saved.shape) != (np.float64, (len(columns),)):
        raise PaddockError(f"the saved environment is not an array of {len(columns)} numbers")
    return np.array([checked(*pair, "saved environment") for pair in zip(columns, saved.tolist(), strict=True)])


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge ranges, ascending."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined
