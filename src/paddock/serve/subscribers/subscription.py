"""What one connection wants to see, and when it is to be shown something again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError, UnknownNameError, suggestion, unknown_name
from paddock.wire.operations.results import FleetTree, Range, RosterTree
from paddock.wire.stream.positions import Change
from paddock.world.columns import Column
from paddock.world.frames import conversion, convert_position, convert_quaternion
from paddock.world.layout import POSE, FleetLayout, Ints, Layout
from paddock.world.rotation import quaternion_conjugate, quaternion_multiply
from paddock.world.snapshot import ORIENTATION, VELOCITY, Snapshot

Wanted = tuple[str | int, ...]
"""Names of vehicles and fleets, and ids."""


@dataclass(frozen=True)
class Selection:
    """The chosen vehicles of one layout, fleet by fleet."""

    parts: tuple[tuple[int, Ints | None], ...]  # (fleet, its rows; None: all of them)
    ids: tuple[Ints, ...]  # of each part

    @property
    def size(self) -> int:
        """How many vehicles."""
        return sum(map(len, self.ids))


def select(layout: Layout, wanted: Wanted | None) -> Selection:
    """The vehicles that are wanted and there; one that has left is left out."""
    rows = [_rows(layout, fleet, wanted) for fleet in range(len(layout.fleets))]
    parts = tuple((fleet, chosen) for fleet, chosen in enumerate(rows) if chosen is None or len(chosen))
    ids = tuple(
        layout.fleets[fleet].ids if chosen is None else layout.fleets[fleet].ids[chosen] for fleet, chosen in parts
    )
    return Selection(parts, ids)


def _rows(layout: Layout, fleet: int, wanted: Wanted | None) -> Ints | None:
    """The rows of a fleet that are wanted; None for all of them."""
    one = layout.fleets[fleet]
    if wanted is None or one.name in wanted:
        return None
    by_id = np.flatnonzero(np.isin(one.ids, [item for item in wanted if isinstance(item, int)]))
    by_name = [row for item in wanted if isinstance(item, str) and (row := _member_row(layout, one, item)) is not None]
    return np.union1d(by_id, np.array(by_name, np.int64))


def _member_row(layout: Layout, fleet: FleetLayout, name: str) -> int | None:
    """The row of a vehicle of this fleet; None if it is none."""
    if not name.startswith(f"{fleet.name}["):
        return None
    try:
        return layout.find(name)[1]
    except PaddockError:
        return None


def refuse_unknown(layout: Layout, wanted: Wanted) -> None:
    """UnknownNameError for the first name or id that nothing answers to."""
    fleets = {fleet.name for fleet in layout.fleets}
    for item in wanted:
        if item in fleets:
            continue
        try:
            layout.find(item)
        except PaddockError as error:
            if isinstance(item, str) and "[" not in item:
                raise UnknownNameError(f"unknown vehicle or fleet {item!r}; {suggestion(item, fleets)}") from None
            raise UnknownNameError(str(error)) from None


Floats = NDArray[np.float64]


MOST_VALUES = 4_000_000
"""Values that one subscriber may have in a frame."""


class ColumnChoice(NamedTuple):
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

    def read(self, snapshot: Snapshot, want: ColumnChoice) -> Floats:
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

    def values(self, want: ColumnChoice) -> int:
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


def refuse_too_many(layout: Layout, wants: Iterable[ColumnChoice]) -> None:
    """PaddockError if the answer would be too large."""
    reader = ColumnReader(layout)
    values = sum(map(reader.values, wants))
    if values > MOST_VALUES:
        raise PaddockError(f"{values} values are too many for one frame, {MOST_VALUES} may be asked for")


def refuse_unknown_columns(layout: Layout, wants: Iterable[ColumnChoice]) -> None:
    """UnknownNameError for the first column that no vehicle has."""
    known = {*POSE, *DERIVED, *(name for fleet in layout.fleets for name in fleet.columns)}
    for want in wants:
        for name in want.columns:
            if name not in known:
                raise unknown_name("column", name, sorted(known))


EVERY_TICK = ("positions", "poses", "telemetry", "fpv", "lines", "spheres")
"""Kinds that make up a group of frames; the others are sent when something happens, and never skipped."""
KINDS = (*EVERY_TICK, "markers", "events", "figures", "mission")


@dataclass(frozen=True)
class View:
    """What a group of frames holds; connections with equal views share its bytes."""

    frame: str = "enu"
    kinds: tuple[str, ...] = ("positions",)
    vehicles: Wanted | None = None  # None: all
    tick: bool = True  # whether a tick frame goes first
    columns: tuple[ColumnChoice, ...] = ()  # what goes into a columns frame; none is sent without any
    wanted: int = 0  # number of that list

    @property
    def in_groups(self) -> tuple[str, ...]:
        """Its kinds that are sent tick by tick, in the order of their frames."""
        kinds = tuple(kind for kind in EVERY_TICK if kind in self.kinds)
        return (*kinds, "columns") if self.columns else kinds

    @property
    def draws(self) -> bool:
        """Whether it shows markers as lines or spheres."""
        return "lines" in self.kinds or "spheres" in self.kinds


class Subscription:
    """A view at a rate: at most so many groups per s of wall time, whatever the pace of the simulation."""

    def __init__(self, view: View, rate: float) -> None:
        self.view = view
        self.rate = rate
        self.behind = True  # there is a snapshot that it was not shown
        self._due = 0.0

    def take(self, now: float) -> bool:
        """Whether a snapshot that is there now (s, monotonic) is to be shown."""
        if not self.view.in_groups:
            return False
        self.behind = True
        period = 1.0 / self.rate
        if now < self._due - 0.25 * period:  # snapshots come a little early and a little late
            return False
        self._due = max(self._due, now - 0.5 * period) + period
        return True

    def change(self, view: View, rate: float) -> None:
        """ColumnChoice something else from now on; what is there is shown again as soon as the rate allows."""
        if rate != self.rate:
            self._due = min(self._due, self._due - 1.0 / self.rate + 1.0 / rate)
        self.view, self.rate, self.behind = view, rate, True

    def late(self, now: float) -> bool:
        """Whether it should long have been shown what it was not: nothing newer has come."""
        return self.behind and bool(self.view.in_groups) and now > self._due + 1.0 / self.rate


NATIVE = "enu"


@cache
def change_to(frame: str) -> Change:
    """From ENU to a frame: its columns are what becomes of the unit vectors."""
    position = convert_position(np.eye(3), NATIVE, frame).T
    quaternion = convert_quaternion(np.eye(4), NATIVE, frame).T
    return Change.of(position.astype(np.float64), quaternion.astype(np.float64))


def units_per_metre(frame: str) -> float:
    """Length units of a frame."""
    return conversion(NATIVE, frame).scale


def turned_in_body(quaternion: NDArray[np.float64], frame: str) -> NDArray[np.float64]:
    """The attitude (4,) of something in a vehicle's axes, both taken to the body axes of a frame."""
    turn = conversion(NATIVE, frame).body.quaternion
    return np.asarray(quaternion_multiply(quaternion_multiply(turn, quaternion), quaternion_conjugate(turn)))


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
