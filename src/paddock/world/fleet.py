"""A fleet: vehicles of one model, stored as tables of columns x capacity, and the random stream of each vehicle.

`[:, :n]` are the vehicles, in the order in which they were added. Capacity doubles when it is exhausted; removal closes
the gap and keeps the order, so that iteration over vehicles is deterministic.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from paddock.compute.philox import signed
from paddock.compute.philox import uniforms as scalar_uniforms
from paddock.compute.twin import vectorised
from paddock.errors import PaddockError
from paddock.world.columns import Floats, defaults_of
from paddock.world.parts import (
    DEFAULTS,
    VEHICLE,
    ArrayLeaf,
    add_table,
    child,
    children,
    count,
    fill,
    part,
    tables,
    text,
    value,
)
from paddock.world.state import append, keep, reserve

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def stream_ids(fleet: str, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a 64-bit stream per vehicle `fleet[member]`: the hash of the fleet's name mixed with the number."""
    base = np.uint64(xxhash.xxh3_64_intdigest(fleet.encode()))
    with np.errstate(over="ignore"):
        mixed = (members.astype(np.uint64) + np.uint64(1)) * GOLDEN + base
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))).view(np.int64)


def draw_uniforms(
    seed: int, streams: NDArray[np.int64], purpose: int, columns: int, tick: int = 0
) -> NDArray[np.float64]:
    """Return numbers in [0, 1), shape (n, columns), one row per stream; each pair of columns has its own purpose."""
    draw = vectorised(scalar_uniforms)
    pairs = [draw(signed(seed), streams, purpose + k, tick) for k in range((columns + 1) // 2)]
    return np.stack([u for pair in pairs for u in pair][:columns], axis=1)


Ints = NDArray[np.int64]
NO_ROWS: Ints = np.zeros(0, np.int64)
NEVER = (1 << 62) - 1  # expiry tick of a command that never expires
MOST_VEHICLES = 2**31  # as many as there are ids

TABLES = {
    "state": ArrayLeaf(dtype="f8", axes=("state", VEHICLE)),
    "command": ArrayLeaf(dtype="f8", axes=("command", VEHICLE), fill=DEFAULTS),
    "ids": ArrayLeaf(dtype="i8", axes=(VEHICLE,), low=0, high=MOST_VEHICLES - 1),
    "members": ArrayLeaf(dtype="i8", axes=(VEHICLE,), low=0, high=MOST_VEHICLES - 1, key=True),
    "streams": ArrayLeaf(dtype="i8", axes=(VEHICLE,), low=-(2**63), high=2**63 - 1),
    "expires": ArrayLeaf(dtype="i8", axes=(VEHICLE,), unit="tick", fill=NEVER, low=0, high=NEVER),
    "failed": ArrayLeaf(dtype="i8", axes=(VEHICLE,), low=0, high=1),  # the failsafe is in force
}
"""The tables of every fleet."""


@part
class Fleet:
    """Arrays of one fleet. Tables are (columns, capacity); vectors are (capacity,)."""

    n: int = count(VEHICLE)
    next_member: int = value(0, low=0, high=MOST_VEHICLES)
    entry: str = text()  # of the scenario or of a spawn, as JSON: a saved fleet is built from it
    tables: dict[str, NDArray[Any]] = tables(VEHICLE)
    sensors: dict[str, Any] = children()
    overrides: Any = child()  # while any vehicle is overridden
    fmu: Any = child(hashed=False, settled=False)  # the states of its FMUs

    def __init__(self, name: str, state: type, command: type, capacity: int = 1, single: bool = False) -> None:
        self.name = name
        self.state_fields = state
        self.command_fields = command
        self.single = single  # one vehicle with the fleet's own name, instead of name[0], name[1], ...
        self._rows, self._ranks = NO_ROWS, NO_ROWS  # rows in the order of members, and the place of each row in it
        self._ordered: NDArray[Any] | None = None  # members, and their number, for which these hold
        self._ordered_n = 0
        self._in_order = True
        self.bring_back: Callable[[], None] | None = None  # set while a GPU holds a newer state than these tables
        self.command_changed = True  # since a mirror of the commands last cleared this
        fill(self, state=state, command=command, vehicle=max(1, capacity))
        for table, leaf in TABLES.items():
            add_table(self, table, leaf)

    @property
    def capacity(self) -> int:
        """Number of vehicles that fit in the tables."""
        return len(self.tables["ids"])

    @property
    def state(self) -> Floats:
        """State columns x capacity."""
        if self.bring_back is not None:
            bring_back, self.bring_back = self.bring_back, None
            bring_back()
        return self.tables["state"]

    @property
    def command(self) -> Floats:
        """Command columns x capacity."""
        self.command_changed = True  # the caller may write
        return self.tables["command"]

    @property
    def ids(self) -> Ints:
        """Vehicle ids (n,)."""
        return self.tables["ids"][: self.n]

    @property
    def members(self) -> Ints:
        """Member numbers (n,): 17 for `scouts[17]`; they do not change when others are removed."""
        return self.tables["members"][: self.n]

    @property
    def rows(self) -> Ints:
        """All rows (n,) in the order of their members, read-only; ascending unless rows have been permuted."""
        if self._ordered is not self.tables["members"] or self._ordered_n != self.n:
            self._find_order()
        return self._rows

    @property
    def in_order(self) -> bool:
        """Whether the rows are in the order of their members: False once rows have been permuted."""
        if self._ordered is not self.tables["members"] or self._ordered_n != self.n:
            self._find_order()
        return self._in_order

    @property
    def ranks(self) -> Ints:
        """The place of each row in `rows`, (n,), read-only."""
        if self._ordered is not self.tables["members"] or self._ordered_n != self.n:
            self._find_order()
        return self._ranks

    def by_key(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return a table (..., capacity) in the order of the members, (..., n); a view if that is the order of rows."""
        return table[..., : self.n] if self.in_order else table[..., self._rows]

    def _find_order(self) -> None:
        """Find the order of the rows, once after each change."""
        self._ordered, self._ordered_n = self.tables["members"], self.n
        present = self._ordered[: self.n]
        self._in_order = bool((present[1:] > present[:-1]).all())
        self._rows = np.arange(self.n) if self._in_order else np.argsort(present, kind="stable")
        self._ranks = self._rows if self._in_order else np.argsort(self._rows, kind="stable")
        self._rows.flags.writeable = self._ranks.flags.writeable = False

    def add_table(self, name: str, start: int | type | Floats) -> None:
        """Add a table that grows and shrinks with the fleet, such as the memory of a behaviour.

        start: the values of a vehicle that joins, a column class with defaults, or a number of columns that are 0.
        """
        fill = np.zeros(start) if isinstance(start, int) else defaults_of(start) if isinstance(start, type) else start
        add_table(self, name, ArrayLeaf(dtype="f8", axes=(len(fill), VEHICLE), fill=fill))

    def reserve(self, needed: int) -> None:
        """Make room for that many vehicles."""
        _ = (self.state, self.command)
        reserve(self, VEHICLE, needed)

    def add(self, ids: Ints, state: Floats) -> slice:
        """Append vehicles with these ids and states (columns, k) and default commands; return their rows."""
        members = np.arange(self.next_member, self.next_member + len(ids))
        _ = (self.state, self.command)
        rows = append(self, VEHICLE, len(ids))
        self.next_member += len(ids)
        self.state[:, rows] = state
        self.tables["ids"][rows] = ids
        self.tables["members"][rows], self._ordered = members, None
        self.tables["streams"][rows] = stream_ids(self.name, members)
        return rows

    def keep(self, rows: Ints) -> None:
        """Keep only these rows, in their order."""
        _ = (self.state, self.command)
        keep(self, VEHICLE, rows)
        self._ordered = None

    def row_of(self, member: int) -> int | None:
        """Return the row of a member number; None if it has been removed."""
        rank = int(np.searchsorted(self.by_key(self.tables["members"]), member))
        row = int(self.rows[rank]) if rank < self.n else 0
        return row if rank < self.n and self.members[row] == member else None

    def vehicle_name(self, row: int) -> str:
        """Return `red`, or `scouts[17]`."""
        return self.name if self.single else f"{self.name}[{self.members[row]}]"

    def names_of(self, rows: Ints) -> str:
        """Describe some of its vehicles: `scouts[17]`, `scouts`, or `scouts (3 vehicles)`."""
        if len(rows) == 1:
            return self.vehicle_name(int(rows[0]))
        return self.name if len(rows) == self.n else f"{self.name} ({len(rows)} vehicles)"

    def check(self, state: Any) -> None:
        """Refuse members and random streams that no fleet of this name has."""
        members = self.members[self.rows]
        if (np.diff(members, prepend=-1, append=self.next_member) <= 0).any():
            raise PaddockError(f"the members of fleet {self.name!r} do not ascend from 0 to {self.next_member - 1}")
        if (self.tables["streams"][self.rows] != stream_ids(self.name, members)).any():
            raise PaddockError(f"fleet {self.name!r} has random streams that are not those of its members")
