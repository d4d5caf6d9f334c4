"""Boustrophedon cells: runs of rows between which the region neither splits nor merges."""

from __future__ import annotations

from paddock.planning.coverage.swaths import Swath

Cell = list[int]
"""Indices of swaths, one in each row, from row to row."""


def cells_of(swaths: list[Swath]) -> list[Cell]:
    """The cells; a patch between rows is a cell of its own."""
    above, below = _neighbours(swaths)
    cells: list[Cell] = []
    place: dict[int, Cell] = {}
    for k in sorted(range(len(swaths)), key=lambda k: (swaths[k].row, swaths[k].left)):
        before = below[k]
        if len(before) == 1 and len(above[before[0]]) == 1:
            place[k] = place[before[0]]
            place[k].append(k)
        else:
            place[k] = [k]
            cells.append(place[k])
    return cells


def _neighbours(swaths: list[Swath]) -> tuple[list[list[int]], list[list[int]]]:
    """For each swath those in the row above, and in the row below, that it overlaps."""
    rows: dict[int, list[int]] = {}
    for k, swath in enumerate(swaths):
        rows.setdefault(swath.row, []).append(k)
    above: list[list[int]] = [[] for _ in swaths]
    below: list[list[int]] = [[] for _ in swaths]
    for k, swath in enumerate(swaths):
        for other in rows.get(swath.row + 1, []) if swath.row >= 0 else []:
            if min(swath.right, swaths[other].right) > max(swath.left, swaths[other].left):
                above[k].append(other)
                below[other].append(k)
    return above, below
