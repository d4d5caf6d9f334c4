"""`assign(cost, method)`: who gets what, one each, at a small total.

A file here *is* the registration: `assignment/greedy.py` is `assign(cost, "greedy")`. Each has a function
`solve(cost (n, m)) -> (rows, columns)`; costs are checked before, inf means never. Rows that can get nothing are left
out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from paddock.planning.search.pairing import checked_cost
from paddock.plugins import find_plugin, plugin_modules

ENTRY_POINTS = "paddock.assignments"


@dataclass(frozen=True)
class Assignment(Sequence[tuple[int, int]]):
    """Who gets what. It is also the sequence of its pairs: `list(found)`, `dict(found)`, `np.array(found)`."""

    pairs: tuple[tuple[int, int], ...]  # (row, column), by rows
    total: float  # the sum of their costs

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.pairs)

    @overload
    def __getitem__(self, place: int) -> tuple[int, int]: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[tuple[int, int], ...]: ...
    def __getitem__(self, place: int | slice) -> tuple[int, int] | tuple[tuple[int, int], ...]:
        return self.pairs[place]


def assign(cost: ArrayLike, method: str = "hungarian") -> Assignment:
    """Pair rows with columns: `cost` (n, m), of which inf means never; `method` is one of `assignment_names()`.

    There are min(n, m) pairs; fewer where infinite costs leave no more.
    """
    matrix = checked_cost(cost)
    rows, columns = find_assignment(method)(matrix)
    order = np.argsort(rows)
    rows, columns = rows[order], columns[order]
    pairs = tuple(zip(rows.tolist(), columns.tolist(), strict=True))
    return Assignment(pairs, float(matrix[rows, columns].sum()))


def assignment_names() -> list[str]:
    """What `assign` takes as its method, besides dotted names of a user's own modules."""
    return sorted(plugin_modules(sys.modules[__name__], ENTRY_POINTS))


def find_assignment(name: str) -> FunctionType:
    """The function `solve(cost) -> (rows, columns)` of that name."""
    return find_plugin("assignment method", name, sys.modules[__name__], ENTRY_POINTS, "solve", FunctionType)
