"""The layout of a snapshot's bytes: its fleets, their columns, and the vehicle in each row; and pooled buffers for
them.

A layout is valid until vehicles are added or removed; thousands of snapshots share one. Each fleet has one float64
block of (columns, n) in C order, and after it one block (n, *shape) for each array of its sensors. Every block has an
offset that is a multiple of 64 bytes.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from operator import index
from threading import Lock
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.archive import pack, unpack
from paddock.world.columns import Floats, Pose

Ints = NDArray[np.int64]
Values = NDArray[np.floating]
POSE: tuple[str, ...] = Pose._fields  # the first columns of every block
ARRAY_TYPES = ("float32", "float64")
MOST_AXES = 3
MOST_ARRAY_VALUES = 1 << 24  # of one array of one vehicle
Bytes = NDArray[np.uint8]
ALIGNMENT = 64  # bytes: a cache line, and the widest vector register
GRAIN = 1024  # bytes: buffer sizes are multiples of this


class ArrayColumn(NamedTuple):
    """An array that every vehicle of a fleet has, such as the ranges of a lidar."""

    name: str  # `lidar.ranges`
    shape: tuple[int, ...]  # of one vehicle
    dtype: str = "float32"  # or float64

    @property
    def size(self) -> int:
        """Values of one vehicle."""
        return prod(self.shape)

    def nbytes(self, n: int) -> int:
        """Bytes of the arrays of `n` vehicles."""
        return n * self.size * (4 if self.dtype == "float32" else 8)

    def problem(self) -> str:
        """Return what is wrong with the description, "" if nothing."""
        if self.dtype not in ARRAY_TYPES:
            return f"array {self.name!r:.60} has the type {self.dtype!r:.20}, not {' or '.join(ARRAY_TYPES)}"
        if not 1 <= len(self.shape) <= MOST_AXES or min(self.shape) < 1 or self.size > MOST_ARRAY_VALUES:
            return f"array {self.name!r:.60} has the shape {self.shape!s:.60}"
        return ""


@dataclass(frozen=True, eq=False)
class FleetLayout:
    """The block of one fleet: its columns by name and its vehicles by row."""

    name: str
    kind: str  # car, drone, rover, ...
    model: str  # e.g. "car.bicycle"
    columns: tuple[str, ...]  # the fields of Pose, then the model's own
    n: int  # vehicles
    ids: Ints  # (n,) unique in the world
    members: Ints  # (n,) the k of each vehicle's name fleet[k]
    single: bool  # one vehicle with the name of the fleet
    arrays: tuple[ArrayColumn, ...] = ()  # of its sensors

    def __post_init__(self) -> None:
        """Check the shapes; make read-only copies of the arrays."""
        if self.columns[: len(POSE)] != POSE or len(set(self.columns)) != len(self.columns):
            raise PaddockError(f"fleet {self.name!r}: columns must differ and start with {', '.join(POSE)}")
        if self.single and self.n > 1:
            raise PaddockError(f"fleet {self.name!r}: a single vehicle cannot be {self.n} vehicles")
        for array in self.arrays:
            if problem := array.problem():
                raise PaddockError(f"fleet {self.name!r}: {problem}")
        if len({*self.columns, *self.array_names}) != len(self.columns) + len(self.arrays):
            raise PaddockError(f"fleet {self.name!r}: arrays must differ from each other and from the columns")
        for field in ("ids", "members"):
            object.__setattr__(self, field, _numbers(getattr(self, field), self.n, f"fleet {self.name!r}: {field}"))

    @property
    def nbytes(self) -> int:
        """Bytes of the block."""
        return 8 * len(self.columns) * self.n

    @cached_property
    def array_names(self) -> tuple[str, ...]:
        """The names of the arrays."""
        return tuple(array.name for array in self.arrays)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.columns)}

    @cached_property
    def _by_member(self) -> tuple[Ints, Ints]:
        return _sorted(self.members)

    def column(self, name: str) -> int:
        """Return the row of a column in the block."""
        if name not in self._rows:
            raise unknown_name("column", name, (*self.columns, *self.array_names), f"fleet {self.name!r}")
        return self._rows[name]

    def vehicle_name(self, row: int) -> str:
        """Return the name of the vehicle in a row: the fleet's, or `fleet[k]`."""
        return self.name if self.single else f"{self.name}[{self.members[row]}]"

    def row_of(self, member: int) -> int:
        """Return the row of vehicle `fleet[k]`."""
        row = _find(self._by_member, member)
        if row is None:
            known = f"{self.n} members, [{self.members.min()}] to [{self.members.max()}]" if self.n else "no members"
            raise UnknownNameError(f"unknown vehicle '{self.name}[{member}]'; fleet {self.name!r} has {known}")
        return row


class VehicleNames(Sequence[str]):
    """The names of the vehicles of some fleets, in order, made on access."""

    def __init__(self, fleets: Sequence[FleetLayout]) -> None:
        self._fleets = fleets
        self._count = sum(fleet.n for fleet in fleets)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        if isinstance(key, slice):
            return [self[k] for k in range(*key.indices(self._count))]
        fleet, row = _fleet_and_row(self._fleets, range(self._count)[key])
        return self._fleets[fleet].vehicle_name(row)

    def __iter__(self) -> Iterator[str]:
        return (fleet.vehicle_name(row) for fleet in self._fleets for row in range(fleet.n))

    def __repr__(self) -> str:
        more = f", ... {self._count} in all" if self._count > 3 else ""
        return f"<names {', '.join(self[:3])}{more}>"


@dataclass(frozen=True, eq=False)
class Layout:
    """The fleets of a snapshot's buffer, in order."""

    fleets: tuple[FleetLayout, ...]
    roster: int  # changes when vehicles are added or removed

    def __post_init__(self) -> None:
        if len(self._fleet_index) != len(self.fleets):
            raise PaddockError("two fleets of one layout have the same name")

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Offset of each fleet's block, and the end of the last one, in bytes; all multiples of 64."""
        ends = [0]
        for fleet in self.fleets:
            sizes = fleet.nbytes, *(array.nbytes(fleet.n) for array in fleet.arrays)
            ends.append(ends[-1] + sum(map(_aligned, sizes)))
        return tuple(ends)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole buffer; never 0."""
        return max(self.offsets[-1], ALIGNMENT)

    @cached_property
    def vehicles(self) -> int:
        """Number of vehicles in all fleets."""
        return sum(fleet.n for fleet in self.fleets)

    @property
    def names(self) -> VehicleNames:
        """The names of all vehicles, fleet by fleet."""
        return VehicleNames(self.fleets)

    def block(self, buffer: Bytes, fleet: int) -> Floats:
        """Return a fleet's (columns, n) view of a buffer (nbytes,)."""
        layout, start = self.fleets[fleet], self.offsets[fleet]
        return buffer[start : start + layout.nbytes].view(np.float64).reshape(len(layout.columns), layout.n)

    def arrays(self, buffer: Bytes, fleet: int) -> dict[str, Values]:
        """Return a fleet's arrays by name, each a view (n, *shape) of a buffer (nbytes,)."""
        layout = self.fleets[fleet]
        if not layout.arrays:
            return {}
        start, arrays = self.offsets[fleet] + _aligned(layout.nbytes), {}
        for array in layout.arrays:
            nbytes = array.nbytes(layout.n)
            values = buffer[start : start + nbytes].view(array.dtype)
            arrays[array.name] = values.reshape(layout.n, *array.shape)
            start += _aligned(nbytes)
        return arrays

    def fleet_index(self, name: str) -> int:
        """Return the index of a fleet."""
        if name not in self._fleet_index:
            raise unknown_name("fleet", name, self._fleet_index)
        return self._fleet_index[name]

    def find(self, vehicle: str | SupportsIndex) -> tuple[int, int]:
        """Return (fleet, row) of a vehicle given by its name (`red`, `scouts[17]`) or its id."""
        if isinstance(vehicle, str):
            return self._find_name(vehicle)
        try:
            number = index(vehicle)
        except TypeError:
            raise InvalidValueError(f"a vehicle is given by its name or its id, not by {vehicle!r}") from None
        row = _find(self._by_id, number)
        if row is None:
            ids = self._by_id[0]
            known = f"ids are between {ids[0]} and {ids[-1]}" if len(ids) else "there are no vehicles"
            raise UnknownNameError(f"unknown vehicle id {number}; {known}")
        return _fleet_and_row(self.fleets, row)

    def to_bytes(self) -> bytes:
        """Return the layout as bytes for another process; cached."""
        return self._bytes

    @staticmethod
    def from_bytes(blob: bytes | memoryview) -> "Layout":
        """Return the layout from the bytes of `to_bytes`; PaddockError if they are damaged."""
        tree = unpack(blob)
        try:
            fleets = [
                FleetLayout(**{**f, "columns": tuple(f["columns"]), "arrays": array_columns(f.get("arrays", ()))})
                for f in tree["fleets"]
            ]
            return Layout(tuple(fleets), int(tree["roster"]))
        except (TypeError, KeyError, ValueError) as error:
            raise PaddockError(f"not a layout of a snapshot: {error}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self is other or (self.roster == other.roster and self._bytes == other._bytes)

    def __hash__(self) -> int:
        return hash((self.roster, tuple(self._fleet_index)))

    @cached_property
    def _bytes(self) -> bytes:
        names = ("name", "kind", "model", "columns", "n", "ids", "members", "single")
        trees = [{k: getattr(f, k) for k in names} for f in self.fleets]
        for tree, fleet in zip(trees, self.fleets, strict=True):
            if fleet.arrays:
                tree["arrays"] = [[array.name, list(array.shape), array.dtype] for array in fleet.arrays]
        return pack({"roster": self.roster, "fleets": trees})

    @cached_property
    def _fleet_index(self) -> dict[str, int]:
        return {fleet.name: k for k, fleet in enumerate(self.fleets)}

    @cached_property
    def _by_id(self) -> tuple[Ints, Ints]:
        return _sorted(np.concatenate([fleet.ids for fleet in self.fleets] or [np.empty(0, np.int64)]))

    def _find_name(self, name: str) -> tuple[int, int]:
        fleet = self._fleet_index.get(name)
        if fleet is not None and self.fleets[fleet].single and self.fleets[fleet].n:
            return fleet, 0
        base, bracket, number = name.removesuffix("]").rpartition("[")
        fleet = self._fleet_index.get(base)
        # a member number has digits without leading zeros, and fits 64 bits
        valid = number.isascii() and number.isdecimal() and len(number) < 19 and str(int(number)) == number
        if fleet is not None and valid and name == f"{base}[{number}]":
            return fleet, self.fleets[fleet].row_of(int(number))
        fleet, member = self._fleet_index.get(name), bracket + number + "]" if bracket else "[0]"
        if fleet is not None and self.fleets[fleet].n:
            example = self.fleets[fleet].vehicle_name(0)
            raise UnknownNameError(f"{name!r} is a fleet, not a vehicle; its first vehicle is {example!r}")
        raise unknown_name("vehicle", name, [f.name if f.single else f.name + member for f in self.fleets if f.n])


def array_columns(trees: Iterable[Any]) -> tuple[ArrayColumn, ...]:
    """Return descriptions of arrays from (name, shape, type) of each."""
    return tuple(ArrayColumn(str(name), tuple(map(int, shape)), str(dtype)) for name, shape, dtype in trees)


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _fleet_and_row(fleets: Sequence[FleetLayout], position: int) -> tuple[int, int]:
    """Return (fleet, row) of the k-th vehicle of all fleets."""
    fleet = 0
    while position >= fleets[fleet].n:
        position -= fleets[fleet].n
        fleet += 1
    return fleet, position


def _numbers(values: ArrayLike, n: int, what: str) -> Ints:
    """Return whole numbers (n,) as a read-only copy."""
    array: NDArray[Any] = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise PaddockError(f"{what} must be whole numbers, not {array.dtype}")
    if array.shape != (n,):
        raise PaddockError(f"{what} must have shape ({n},), not {array.shape}")
    copy = array.astype(np.int64)
    copy.flags.writeable = False
    return copy


def _sorted(values: Ints) -> tuple[Ints, Ints]:
    """Return the values in ascending order, and the original index of each."""
    order = np.argsort(values, kind="stable")
    return values[order], order


def _find(ascending: tuple[Ints, Ints], value: int) -> int | None:
    """Return the original index of a value; None if it is not present."""
    values, order = ascending
    if not -(1 << 63) <= value < 1 << 63:
        return None
    k = int(np.searchsorted(values, value))
    return int(order[k]) if k < len(values) and values[k] == value else None


class BufferPool:
    """Provides byte buffers; thread-safe.

    A snapshot of 100,000 vehicles is 12 MB; allocating that every tick costs more in page faults than the copy itself.
    Buffers are not returned explicitly: a snapshot, or any array cut out of it, keeps the array that owns the buffer
    alive, and the pool reuses a buffer when only the pool refers to it.

    `idle`: unused buffers that survive the next `take`. `tracked`: buffers that are tracked; older ones become ordinary
    arrays, which Python frees with their last view.
    """

    def __init__(self, idle: int = 4, tracked: int = 32) -> None:
        self._lock = Lock()
        self._limit_idle, self._limit_tracked = idle, tracked
        self._owners: list[Bytes] = []  # oldest first

    def take(self, nbytes: int) -> Bytes:
        """Return a writable, uninitialised buffer (nbytes,) aligned to 64 bytes, valid while any view of it exists."""
        with self._lock:
            unused = [k for k in range(len(self._owners)) if _references(self._owners, k) == _UNUSED]
            spare = {k: self._owners[k].nbytes - ALIGNMENT - nbytes for k in unused}
            fitting = [k for k in unused if 0 <= spare[k] <= nbytes + (1 << 16)]
            owner = self._owners[fitting[-1]] if fitting else self._allocate(nbytes)
            for k in reversed([k for k in unused if k not in fitting[-1:]][: -self._limit_idle or None]):
                del self._owners[k]
            del self._owners[: max(len(self._owners) - self._limit_tracked, 0)]  # the oldest become ordinary arrays
        start = -owner.ctypes.data % ALIGNMENT
        return owner[start : start + nbytes]

    def _allocate(self, nbytes: int) -> Bytes:
        # rounded up, so that the buffer still fits when the world grows by one vehicle
        owner = np.empty(-(-nbytes // GRAIN) * GRAIN + ALIGNMENT, np.uint8)
        self._owners.append(owner)
        return owner


def frozen(buffer: Bytes) -> Bytes:
    """Return the same memory (n,) as an array that cannot be made writable again, nor can its views.

    numpy lets users set `flags.writeable` on a view of a writable array, but not on one of a read-only memoryview,
    which keeps the buffer and its owner alive.
    """
    return np.frombuffer(buffer.data.toreadonly(), np.uint8)


def _references(owners: list[Bytes], k: int) -> int:
    return sys.getrefcount(owners[k])


_UNUSED = _references([np.empty(0, np.uint8)], 0)
"""Reference count of an array that only a list refers to; measured, because it differs between Python versions."""
