"""What the bytes of a snapshot mean: which fleets, which columns, which vehicle in which row.

A layout stays the same until the roster changes; thousands of snapshots share one. Each fleet has one float64 block of
(columns, n) in C order, at an offset that is a multiple of 64 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.archive import pack, unpack
from paddock.world.columns import Floats
from paddock.world.pool import ALIGNMENT, Bytes
from paddock.world.pose import Pose

Ints = NDArray[np.int64]
POSE: tuple[str, ...] = Pose._fields
"""The columns every block begins with."""


@dataclass(frozen=True, eq=False)
class FleetLayout:
    """One fleet's block: its columns by name and its vehicles by row."""

    name: str
    kind: str  # car, drone, rover, ...
    model: str  # e.g. "car.bicycle"
    columns: tuple[str, ...]  # the fields of Pose, then the model's own
    n: int  # vehicles = columns of the block's second axis
    ids: Ints  # (n,) unique in the world
    members: Ints  # (n,) the k of each vehicle's name fleet[k]
    single: bool  # the one vehicle is called like the fleet

    def __post_init__(self) -> None:
        """Check the shapes; take read-only copies of the arrays."""
        if self.columns[: len(POSE)] != POSE or len(set(self.columns)) != len(self.columns):
            raise PaddockError(f"fleet {self.name!r}: columns must differ and begin with {', '.join(POSE)}")
        if self.single and self.n > 1:
            raise PaddockError(f"fleet {self.name!r}: a single vehicle cannot be {self.n} vehicles")
        for field in ("ids", "members"):
            object.__setattr__(self, field, _numbers(getattr(self, field), self.n, f"fleet {self.name!r}: {field}"))

    @property
    def nbytes(self) -> int:
        """Bytes of the block."""
        return 8 * len(self.columns) * self.n

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.columns)}

    @cached_property
    def _by_member(self) -> tuple[Ints, Ints]:
        return _sorted(self.members)

    def column(self, name: str) -> int:
        """The row of the block that holds a column."""
        if name not in self._rows:
            raise unknown_name("column", name, self.columns, f"fleet {self.name!r}")
        return self._rows[name]

    def vehicle_name(self, row: int) -> str:
        """The name of the vehicle in a row: the fleet's, or `fleet[k]`."""
        return self.name if self.single else f"{self.name}[{self.members[row]}]"

    def row_of(self, member: int) -> int:
        """The row of member k."""
        row = _find(self._by_member, member)
        if row is None:
            known = f"{self.n} members, [{self.members.min()}] to [{self.members.max()}]" if self.n else "no members"
            raise UnknownNameError(f"unknown vehicle '{self.name}[{member}]'; fleet {self.name!r} has {known}")
        return row


class Names(Sequence[str]):
    """The names of the vehicles of some fleets, in order; each is made when it is asked for."""

    def __init__(self, fleets: Sequence[FleetLayout]) -> None:
        """Of these fleets."""
        self._fleets = fleets
        self._count = sum(fleet.n for fleet in fleets)

    def __len__(self) -> int:
        """How many vehicles there are."""
        return self._count

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        """The name at a position, or a list of names."""
        if isinstance(key, slice):
            return [self[k] for k in range(*key.indices(self._count))]
        fleet, row = _fleet_and_row(self._fleets, range(self._count)[key])
        return self._fleets[fleet].vehicle_name(row)

    def __iter__(self) -> Iterator[str]:
        """The names one by one."""
        return (fleet.vehicle_name(row) for fleet in self._fleets for row in range(fleet.n))

    def __repr__(self) -> str:
        """The first few names."""
        more = f", ... {self._count} in all" if self._count > 3 else ""
        return f"<names {', '.join(self[:3])}{more}>"


@dataclass(frozen=True, eq=False)
class Layout:
    """The fleets of a snapshot's buffer, in order, and the number of the roster they are."""

    fleets: tuple[FleetLayout, ...]
    roster: int  # changes whenever a vehicle comes or goes

    def __post_init__(self) -> None:
        """Check that the fleets' names differ."""
        if len(self._fleet_index) != len(self.fleets):
            raise PaddockError("two fleets of one layout have the same name")

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each fleet's block starts, in bytes, and where the last one ends; all multiples of 64."""
        ends = [0]
        for fleet in self.fleets:
            ends.append(ends[-1] - (-fleet.nbytes // ALIGNMENT) * ALIGNMENT)
        return tuple(ends)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole buffer; never 0."""
        return max(self.offsets[-1], ALIGNMENT)

    @cached_property
    def vehicles(self) -> int:
        """How many vehicles there are in all fleets."""
        return sum(fleet.n for fleet in self.fleets)

    @property
    def names(self) -> Names:
        """The names of all vehicles, fleet by fleet."""
        return Names(self.fleets)

    def block(self, buffer: Bytes, fleet: int) -> Floats:
        """One fleet's (columns, n) view of a buffer (nbytes,)."""
        layout, start = self.fleets[fleet], self.offsets[fleet]
        return buffer[start : start + layout.nbytes].view(np.float64).reshape(len(layout.columns), layout.n)

    def fleet_index(self, name: str) -> int:
        """Which fleet has this name."""
        if name not in self._fleet_index:
            raise unknown_name("fleet", name, self._fleet_index)
        return self._fleet_index[name]

    def find(self, vehicle: str | SupportsIndex) -> tuple[int, int]:
        """(fleet, row) of a vehicle given by its name (`red`, `scouts[17]`) or its id."""
        if isinstance(vehicle, str):
            return self._find_name(vehicle)
        try:
            return self._find_id(index(vehicle))
        except TypeError:
            raise InvalidValueError(f"a vehicle is known by its name or its id, not by {vehicle!r}") from None

    def to_bytes(self) -> bytes:
        """The layout for another process; made once."""
        return self._bytes

    @staticmethod
    def from_bytes(blob: bytes | memoryview) -> Layout:
        """The layout that `to_bytes` wrote; PaddockError if it is damaged."""
        tree = unpack(blob)
        try:
            fleets = [FleetLayout(**{**f, "columns": tuple(f["columns"])}) for f in tree["fleets"]]
            return Layout(tuple(fleets), int(tree["roster"]))
        except (TypeError, KeyError, ValueError) as error:
            raise PaddockError(f"not a layout of a snapshot: {error}") from None

    def __eq__(self, other: object) -> bool:
        """Same roster number, fleets, columns, ids and members."""
        if not isinstance(other, Layout):
            return NotImplemented
        return self is other or (self.roster == other.roster and self._bytes == other._bytes)

    def __hash__(self) -> int:
        """By roster number and fleets."""
        return hash((self.roster, tuple(self._fleet_index)))

    @cached_property
    def _bytes(self) -> bytes:
        names = ("name", "kind", "model", "columns", "n", "ids", "members", "single")
        return pack({"roster": self.roster, "fleets": [{k: getattr(f, k) for k in names} for f in self.fleets]})

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
        if fleet is None or not _is_member(number) or name != f"{base}[{number}]":
            raise self._unknown(name, bracket + number + "]" if bracket else "[0]")
        return fleet, self.fleets[fleet].row_of(int(number))

    def _unknown(self, name: str, member: str) -> UnknownNameError:
        fleet = self._fleet_index.get(name)
        if fleet is not None and self.fleets[fleet].n:
            example = self.fleets[fleet].vehicle_name(0)
            return UnknownNameError(f"{name!r} is a fleet, not a vehicle; its first vehicle is {example!r}")
        return unknown_name("vehicle", name, [f.name if f.single else f.name + member for f in self.fleets if f.n])

    def _find_id(self, number: int) -> tuple[int, int]:
        row = _find(self._by_id, number)
        if row is None:
            ids = self._by_id[0]
            known = f"ids lie between {ids[0]} and {ids[-1]}" if len(ids) else "there are none"
            raise UnknownNameError(f"unknown vehicle id {number}; {known}")
        return _fleet_and_row(self.fleets, row)


def _fleet_and_row(fleets: Sequence[FleetLayout], position: int) -> tuple[int, int]:
    """Where the vehicle at a position counted through all fleets stands."""
    fleet = 0
    while position >= fleets[fleet].n:
        position -= fleets[fleet].n
        fleet += 1
    return fleet, position


def _numbers(values: ArrayLike, n: int, what: str) -> Ints:
    """Whole numbers (n,) as a read-only copy."""
    array: NDArray[Any] = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size:
        raise PaddockError(f"{what} must be whole numbers, not {array.dtype}")
    if array.shape != (n,):
        raise PaddockError(f"{what} must have shape ({n},), not {array.shape}")
    copy = array.astype(np.int64)
    copy.flags.writeable = False
    return copy


def _sorted(values: Ints) -> tuple[Ints, Ints]:
    """The values ascending, and where each of them stood."""
    order = np.argsort(values, kind="stable")
    return values[order], order


def _find(ascending: tuple[Ints, Ints], value: int) -> int | None:
    """Where a value stood before sorting; None if it is not there."""
    values, order = ascending
    if not -(1 << 63) <= value < 1 << 63:
        return None
    k = int(np.searchsorted(values, value))
    return int(order[k]) if k < len(values) and values[k] == value else None


def _is_member(text: str) -> bool:
    """Whether this is how the k of `fleet[k]` is written: digits, no leading zeros, not absurdly long."""
    return text.isascii() and text.isdecimal() and len(text) < 19 and str(int(text)) == text
