"""Who is there, as clients are told: fleets with their vehicles' ids as ranges."""

from __future__ import annotations

import numpy as np

from paddock.serve.subscribers.shapes import FleetTree, Range, RosterTree
from paddock.world.layout import FleetLayout, Ints, Layout


def roster_tree(layout: Layout) -> RosterTree:
    """The roster's number and its fleets."""
    return {"roster": layout.roster, "fleets": list(map(_fleet_tree, layout.fleets))}


def _fleet_tree(fleet: FleetLayout) -> FleetTree:
    return {
        "name": fleet.name,
        "kind": fleet.kind,
        "model": fleet.model,
        "single": fleet.single,
        "ids": ranges(fleet.ids),
        "members": ranges(fleet.members),
        "columns": list(fleet.columns),
    }


def ranges(numbers: Ints) -> list[Range]:
    """Numbers in their order as [first, count] of those that follow one another: 4, 5, 6, 9 -> [4, 3], [9, 1]."""
    if not len(numbers):
        return []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(numbers) != 1) + 1])
    counts = np.diff(np.append(starts, len(numbers)))
    return np.column_stack([numbers[starts], counts]).tolist()  # type: ignore[no-any-return]
