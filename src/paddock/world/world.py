"""The world: clock, environment, fleets and vehicle ids.

`world.state` is the only reference to the state of the run: stages read `world.state.events` when they run, and keep no
arrays. `swap` replaces it and counts an epoch. What can be computed from the state (grids, rosters, indices) belongs to
a `version`, and is computed again when that changes.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.columns import Environment, Floats, checked, columns_of
from paddock.world.fleet import Fleet, Ints
from paddock.world.parts import array, child, children, fill, fresh, part, plain, rows, value
from paddock.world.scenery import Scenery
from paddock.world.transforms import TransformTree
from paddock.world.wind import Air


@part
class Clock:
    """Counts ticks; the time is tick / rate, so it never drifts and does not depend on the grouping of ticks."""

    tick: int = value(0, low=0, high=2**53)

    def __init__(self, rate: float) -> None:
        """`rate` in Hz."""
        if not (isfinite(rate) and rate > 0):
            raise InvalidValueError(f"clock rate must be a positive number of Hz, not {rate!r}")
        self.rate = rate
        fill(self)

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


@part
class WorldState:
    """The state of a world."""

    clock: Clock = child()
    seed: int = value(0, low=0, high=2**64 - 1)
    run: int = value(0, low=0, high=2**53, hashed=False, settled=False)  # +1 per reset
    roster_version: int = value(0, low=0, high=2**53, hashed=False, settled=False)  # +1 when the vehicles change
    next_id: int = value(1, low=1, high=LARGEST_ID + 1)
    used_ids: list[tuple[int, int]] = rows(tuple[int, int])  # ranges [first, end) assigned in this run, ascending
    environment: Floats = array("f8", "environment")
    transforms: TransformTree = plain(TransformTree, TransformTree.save, TransformTree.restored)
    fleets: dict[str, Fleet] = children()

    @property
    def tick(self) -> int:
        """The present tick."""
        return self.clock.tick

    def check(self, state: Any) -> None:
        """Refuse an environment outside its ranges, and ids that no run has assigned."""
        for column, number in zip(columns_of(Environment), self.environment.tolist(), strict=True):
            checked(column, number, "environment")
        spans = self.used_ids
        ids = np.sort(np.concatenate([fleet.ids for fleet in self.fleets.values()] or [np.empty(0, np.int64)]))
        low, high = np.array(spans, np.int64).reshape(-1, 2).T
        ends = np.searchsorted(high, ids, "right")  # of ids, the range that contains it
        if len(ids) and (ends.max() >= len(low) or (ids < low[ends]).any() or (np.diff(ids) <= 0).any()):
            raise PaddockError("vehicle ids are not unique, or not among the ids that were assigned")
        if spans != _joined(spans) or (low < 0).any() or (low >= high).any() or self.next_id < high.max(initial=1):
            raise PaddockError("ranges of assigned vehicle ids are not valid")


S = TypeVar("S", bound=WorldState)


def started(state: S, clock: Clock, environment: Floats, seed: int) -> S:
    """Return a fresh state with its clock, environment and seed."""
    state.clock, state.environment, state.seed = clock, environment, seed
    return state


class World:
    """The holder of the state. Fleets are sorted by name, independent of the order of declaration."""

    def __init__(
        self,
        rate: float,
        environment: Floats,
        seed: int,
        scenery: Scenery | None = None,
        track: Any = None,
        air: Air | None = None,
    ) -> None:
        self.clock = Clock(rate)  # the same object in each state
        self.scenery = scenery  # uneven ground and static obstacles
        self.air = air  # profile of the wind and gusts, None: the wind is that of the environment
        self.track = track  # the race track (paddock.track.Track), None without one
        self.epoch = 0  # +1 when the state is replaced, or its rows are permuted
        self.state = self.new_state(environment, seed)
        self._index_of: tuple[Any, ...] = (None,)  # version of the index
        self._index = IdIndex(())

    def new_state(self, environment: Floats, seed: int) -> WorldState:
        """Return the state of a run without vehicles at tick 0; `environment` has the values of Environment."""
        return started(fresh(WorldState, environment=Environment), self.clock, environment, seed)

    def swap(self, other: "World") -> None:
        """Take the state of another world of the same rate, and its scenery; that one must not be used any longer."""
        self.clock.tick = other.clock.tick
        other.state.clock = self.clock
        self.state, self.scenery, self.track, self.air = other.state, other.scenery, other.track, other.air
        self.epoch += 1

    @property
    def version(self) -> tuple[int, int]:
        """Changes with the vehicles: what is computed from the fleets is valid for one version."""
        return self.epoch, self.state.roster_version

    @property
    def environment(self) -> Floats:
        """Values of Environment."""
        return self.state.environment

    @property
    def seed(self) -> int:
        """Seed of all random draws."""
        return self.state.seed

    @property
    def run(self) -> int:
        """Number of resets."""
        return self.state.run

    @property
    def roster_version(self) -> int:
        """Number of changes of the vehicles."""
        return self.state.roster_version

    @property
    def used_ids(self) -> list[tuple[int, int]]:
        """Ranges [first, end) of ids that were assigned in this run, ascending."""
        return self.state.used_ids

    @property
    def transforms(self) -> TransformTree:
        """Named frames."""
        return self.state.transforms

    @property
    def fleets(self) -> dict[str, Fleet]:
        """The fleets by name."""
        return self.state.fleets

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

    def mean_wind(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Floats:
        """Return the wind without gusts at places, arrays of one shape: (3, ...), m/s east, north and up."""
        values = Environment(*self.environment.tolist())
        wind = np.array([values.wind_x, values.wind_y, values.wind_z])
        above = np.asarray(z, np.float64) - self.heights(x, y)
        return np.multiply.outer(wind, np.ones_like(above)) if self.air is None else self.air.mean(wind, above)

    def add_fleet(self, fleet: Fleet) -> None:
        """Add a fleet under an unused name."""
        if fleet.name in self.fleets:
            raise PaddockError(f"the name {fleet.name!r} is already used by a fleet or vehicle")
        self.state.fleets = dict(sorted({**self.fleets, fleet.name: fleet}.items()))

    def take_ids(self, count: int, first: int | None = None) -> Ints:
        """Reserve unused ids: a range from `first`, or the next free ones. Ids are never reused in a run."""
        start = self.state.next_id if first is None else first
        if start + count - 1 > LARGEST_ID:
            raise PaddockError(f"vehicle ids end at {LARGEST_ID}: {count} more from {start} do not fit")
        end = start + count
        for low, high in self.used_ids:
            if start < high and low < end:
                raise PaddockError(f"vehicle id {max(start, low)} has already been used in this run")
        self.state.used_ids = _joined([*self.used_ids, (start, end)])
        self.state.next_id = max(self.state.next_id, end)
        return np.arange(start, end, dtype=np.int64)

    def find(self, target: str | int | Ints) -> tuple[Fleet, Ints]:
        """Return the fleet and rows of a name (`red`, `scouts`, `scouts[17]`), an id, or ids of one fleet."""
        fleet = self.state.fleets.get(target) if isinstance(target, str) else None
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
        version = (self.fleets, self.version, len(self.fleets))
        if self._index_of[0] is not version[0] or self._index_of[1:] != version[1:]:
            self._index_of = version
            self._index = IdIndex(tuple(self.fleets.values()))
        return self._index

    @property
    def vehicles(self) -> int:
        """Number of vehicles."""
        return sum(fleet.n for fleet in self.fleets.values())


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge ranges, ascending."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined
