"""Columns that subscribers want beside the poses: found by name once per roster, read from each snapshot at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError, unknown_name
from paddock.serve.subscribers.selection import select
from paddock.world.columns import Column
from paddock.world.layout import POSE, FleetLayout, Ints, Layout
from paddock.world.snapshot import ORIENTATION, VELOCITY, Snapshot

Floats = NDArray[np.float64]


MOST_VALUES = 4_000_000
"""Values that one subscriber may have in a frame."""


class Want(NamedTuple):
    """Columns of a vehicle (its name or id), of a fleet, or of all vehicles."""

    of: str | int | None
    columns: tuple[str, ...]


def speed(pose: Floats) -> Floats:
    """(n,) m/s from the pose columns (13, n)."""
    vx, vy, vz = pose[VELOCITY]
    return np.asarray(np.sqrt(vx * vx + vy * vy + vz * vz))


def heading(pose: Floats) -> Floats:
    """(n,) rad, counter-clockwise from east."""
    x, y, z, w = pose[ORIENTATION]
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z))


def roll(pose: Floats) -> Floats:
    """(n,) rad."""
    x, y, z, w = pose[ORIENTATION]
    return np.asarray(np.arctan2(2.0 * (w * x + y * z), w * w - x * x - y * y + z * z))


def pitch(pose: Floats) -> Floats:
    """(n,) rad."""
    x, y, z, w = pose[ORIENTATION]
    return np.asarray(np.arcsin(np.clip(2.0 * (w * y - x * z), -1.0, 1.0)))


DERIVED: dict[str, tuple[Callable[[Floats], Floats], Column]] = {
    "speed": (speed, Column("m/s", "speed over ground and up", low=0.0, name="speed")),
    "heading": (heading, Column("rad", "heading, counter-clockwise from east", name="heading")),
    "roll": (roll, Column("rad", "bank, + right side down", name="roll")),
    "pitch": (pitch, Column("rad", "nose below the horizon", name="pitch")),
}
"""Columns that every vehicle has, though no snapshot carries them; one of the same name in a snapshot goes first."""


class ColumnReader:
    """Reads columns of snapshots that share a layout; keeps where they are found."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._parts: dict[str | int | None, tuple[tuple[int, Ints | None, int], ...]] = {}

    def read(self, snapshot: Snapshot, want: Want) -> Floats:
        """(columns, vehicles): NaN where a vehicle has no such column; no vehicles if nothing answers to the name."""
        parts = self._found(want.of)
        found = np.full((len(want.columns), sum(count for _, _, count in parts)), np.nan)
        at = 0
        for fleet, rows, count in parts:
            block = self._layout.block(snapshot.buffer, fleet)
            with np.errstate(all="ignore"):  # what is no number stays none
                _fill(found[:, at : at + count], self._layout.fleets[fleet], block, rows, want.columns)
            at += count
        return found

    def values(self, want: Want) -> int:
        """How many values it takes to answer."""
        return len(want.columns) * sum(count for _, _, count in self._found(want.of))

    def _found(self, of: str | int | None) -> tuple[tuple[int, Ints | None, int], ...]:
        """(fleet, its rows or None for all, how many) of what a name or id stands for."""
        if of not in self._parts:
            chosen = select(self._layout, None if of is None else (self._single(of),))
            counted = zip(chosen.parts, chosen.ids, strict=True)
            self._parts[of] = tuple((fleet, rows, len(ids)) for (fleet, rows), ids in counted)
        return self._parts[of]

    def _single(self, of: str | int) -> str | int:
        """The id of one vehicle: finding it by that is quick; the name of a fleet stays."""
        if of in {fleet.name for fleet in self._layout.fleets}:
            return of
        try:
            fleet, row = self._layout.find(of)
        except PaddockError:
            return of
        return int(self._layout.fleets[fleet].ids[row])


def _fill(found: Floats, fleet: FleetLayout, block: Floats, rows: Ints | None, columns: tuple[str, ...]) -> None:
    """Write the columns of one fleet's vehicles."""
    pose = None
    for k, name in enumerate(columns):
        if name in fleet.columns:
            values = block[fleet.column(name)]
            found[k] = values if rows is None else values[rows]
        elif name in DERIVED:
            if pose is None:
                pose = block[: len(POSE)] if rows is None else block[: len(POSE), rows]
            found[k] = DERIVED[name][0](pose)


def refuse_too_many(layout: Layout, wants: Iterable[Want]) -> None:
    """PaddockError if the answer would be too large."""
    reader = ColumnReader(layout)
    values = sum(map(reader.values, wants))
    if values > MOST_VALUES:
        raise PaddockError(f"{values} values are too many for one frame, {MOST_VALUES} may be asked for")


def refuse_unknown_columns(layout: Layout, wants: Iterable[Want]) -> None:
    """UnknownNameError for the first column that no vehicle has."""
    known = {*POSE, *DERIVED, *(name for fleet in layout.fleets for name in fleet.columns)}
    for want in wants:
        for name in want.columns:
            if name not in known:
                raise unknown_name("column", name, sorted(known))
