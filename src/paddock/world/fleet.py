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
from paddock.world.archive import whole
from paddock.world.columns import FARTHEST, Column, Floats, column_index, columns_of, defaults_of

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
LARGEST = {"m": FARTHEST, "m/s": 1e4, "rad/s": 1e4}
LARGEST_OTHER = 1e6
"""Largest magnitude of a value in a saved state or command, by unit."""
NEVER = (1 << 62) - 1  # expiry tick of a command that never expires


def _largest(column: Column) -> float:
    """Return the largest magnitude in a saved column; commands that no client sends may exceed their range a little."""
    limits = max(abs(column.low), abs(column.high)) * 2.0
    return min(limits, LARGEST.get(column.unit, LARGEST_OTHER))


LARGEST_MEMORY = 1e18
"""Largest value of any column of a saved vehicle, those of users' behaviours included."""


class Fleet:
    """Arrays of one fleet. Tables are (columns, capacity); vectors are (capacity,)."""

    def __init__(self, name: str, state: type, command: type, capacity: int = 1, single: bool = False) -> None:
        self.name = name
        self.state_fields = state
        self.command_fields = command
        self.single = single  # one vehicle with the fleet's own name, instead of name[0], name[1], ...
        self.n = 0
        self._rows: Ints = np.arange(0)
        self.next_member = 0
        self.capacity = max(1, capacity)
        self.bring_back: Callable[[], None] | None = None  # set while a GPU holds a newer state than these tables
        self.command_changed = True  # since a mirror of the commands last cleared this
        self.tables: dict[str, NDArray[Any]] = {
            "state": np.zeros((len(column_index(state)), self.capacity)),
            "command": np.zeros((len(column_index(command)), self.capacity)),
            "ids": np.zeros(self.capacity, np.int64),
            "members": np.zeros(self.capacity, np.int64),
            "streams": np.zeros(self.capacity, np.int64),
            "expires": np.full(self.capacity, NEVER, np.int64),
            "failed": np.zeros(self.capacity, np.int64),
        }

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
        """All rows (n,), read-only."""
        if len(self._rows) != self.n:
            self._rows = np.arange(self.n)
            self._rows.flags.writeable = False
        return self._rows

    def add_table(self, name: str, columns: int, defaults: Floats | None = None) -> None:
        """Add a table that grows and shrinks with the fleet (behaviour memory, varying parameters)."""
        table = np.zeros((columns, self.capacity))
        if defaults is not None:
            table[:] = defaults[:, None]
        self.tables[name] = table

    def add(self, ids: Ints, state: Floats) -> slice:
        """Append vehicles with these ids and states (columns, k) and default commands; return their rows."""
        count = len(ids)
        self.reserve(self.n + count)
        rows = slice(self.n, self.n + count)
        self.n += count
        members = np.arange(self.next_member, self.next_member + count)
        self.next_member += count
        self.state[:, rows] = state
        self.command[:, rows] = defaults_of(self.command_fields)[:, None]
        self.tables["ids"][rows] = ids
        self.tables["members"][rows] = members
        self.tables["streams"][rows] = stream_ids(self.name, members)
        self.tables["expires"][rows] = NEVER
        self.tables["failed"][rows] = 0
        return rows

    def reserve(self, needed: int) -> None:
        """Double the capacity until it holds `needed` vehicles."""
        if needed <= self.capacity:
            return
        capacity, _ = self.capacity, (self.state, self.command)
        while capacity < needed:
            capacity *= 2
        for name, table in self.tables.items():
            grown = np.zeros((*table.shape[:-1], capacity), table.dtype)
            grown[..., : self.n] = table[..., : self.n]
            self.tables[name] = grown
        self.capacity = capacity

    def keep(self, rows: Ints) -> None:
        """Keep only these rows, in their order."""
        _ = (self.state, self.command)
        for table in self.tables.values():
            table[..., : len(rows)] = table[..., rows]
        self.n = len(rows)

    def row_of(self, member: int) -> int | None:
        """Return the row of a member number; None if it has been removed."""
        row = int(np.searchsorted(self.members, member))
        return row if row < self.n and self.members[row] == member else None

    def vehicle_name(self, row: int) -> str:
        """Return `red`, or `scouts[17]`."""
        return self.name if self.single else f"{self.name}[{self.members[row]}]"

    def names_of(self, rows: Ints) -> str:
        """Describe some of its vehicles: `scouts[17]`, `scouts`, or `scouts (3 vehicles)`."""
        if len(rows) == 1:
            return self.vehicle_name(int(rows[0]))
        return self.name if len(rows) == self.n else f"{self.name} ({len(rows)} vehicles)"

    def save(self) -> dict[str, Any]:
        """Return the content of [:, :n]."""
        _ = self.state
        tables = {name: table[..., : self.n] for name, table in self.tables.items()}
        return {"n": self.n, "next_member": self.next_member, "tables": tables}

    def check_saved(self, saved: dict[str, Any]) -> None:
        """Refuse what `save` cannot have returned."""
        most = 2**31  # as many as there are ids
        n, last = (whole(saved[name], f"{name} of fleet {self.name!r}", most) for name in ("n", "next_member"))
        if saved["tables"].keys() != self.tables.keys():
            raise PaddockError(f"fleet {self.name!r} was saved with other tables: {sorted(saved['tables'])}")
        for name, table in saved["tables"].items():
            own, wanted = self.tables[name], (*self.tables[name].shape[:-1], n)
            if not isinstance(table, np.ndarray) or table.dtype != own.dtype or table.shape != wanted:
                raise PaddockError(f"table {name!r} of fleet {self.name!r} is not {own.dtype} of shape {wanted}")
        members, streams = saved["tables"]["members"], saved["tables"]["streams"]
        if (np.diff(members, prepend=-1, append=last) <= 0).any():
            raise PaddockError(f"the members of fleet {self.name!r} do not ascend from 0 to {last - 1}")
        if (streams != stream_ids(self.name, members)).any():
            raise PaddockError(f"fleet {self.name!r} has random streams that are not those of its members")

    def check_values(self) -> None:
        """Refuse values that are not finite, and states beyond physics, which would end a run."""
        for name, table in self.tables.items():
            used = table[..., : self.n]
            if table.dtype == np.float64 and not (np.abs(used) <= LARGEST_MEMORY).all():
                vehicle = int(np.nonzero(~(np.abs(used) <= LARGEST_MEMORY))[-1][0])
                raise PaddockError(f"the saved {name} of {self.vehicle_name(vehicle)!r} has values that are not finite")
        for name, fields in (("state", self.state_fields), ("command", self.command_fields)):
            table = self.tables[name][:, : self.n]
            most = [_largest(column) for column in columns_of(fields)]
            bad = ~(np.abs(table) <= np.array(most)[:, None])  # also NaN
            if bad.any():
                row, vehicle = (int(index[0]) for index in np.nonzero(bad))
                raise PaddockError(
                    f"the saved {name} of {self.vehicle_name(vehicle)!r} is not valid: {fields._fields[row]} is "  # type: ignore[attr-defined]
                    f"{table[row, vehicle]:g}, the largest is {most[row]:g}"
                )

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore exactly what was saved."""
        self.check_saved(saved)
        _ = (self.state, self.command)
        self.reserve(saved["n"])
        self.n, self.next_member = saved["n"], saved["next_member"]
        for name, table in saved["tables"].items():
            self.tables[name][..., : self.n] = table
