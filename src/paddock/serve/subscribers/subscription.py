"""Subscriptions: which vehicles, columns and kinds of frames, in which axes, at which rate."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError, UnknownNameError, suggestion, unknown_name
from paddock.wire.results import FleetTree, RosterTree, ranges
from paddock.wire.stream.positions import FrameChange
from paddock.world.columns import Column
from paddock.world.frames import conversion, convert_position, convert_quaternion
from paddock.world.layout import POSE, FleetLayout, Ints, Layout
from paddock.world.snapshot import ANGULAR_VELOCITY, ORIENTATION, VELOCITY, Snapshot

Wanted = tuple[str | int, ...]  # names of vehicles and fleets, and ids


@dataclass(frozen=True)
class Selection:
    """The chosen vehicles of one layout, fleet by fleet."""

    parts: tuple[tuple[int, Ints | None], ...]  # (fleet, its rows; None: all of them)
    ids: tuple[Ints, ...]  # of each part

    @property
    def size(self) -> int:
        """The number of vehicles."""
        return sum(map(len, self.ids))


def select(layout: Layout, vehicles: Wanted | None) -> Selection:
    """Select the wanted vehicles that exist."""
    names = None if vehicles is None else set(vehicles)
    rows_of: dict[int, list[int] | None] = {  # fleet -> rows; None: all
        k: None for k, fleet in enumerate(layout.fleets) if names is None or fleet.name in names
    }
    for item in names or ():
        with suppress(PaddockError):
            fleet, row = layout.find(item)
            if (rows := rows_of.setdefault(fleet, [])) is not None:
                rows.append(row)
    parts = tuple((k, None if rows is None else np.unique(rows)) for k, rows in sorted(rows_of.items()))
    ids = (layout.fleets[k].ids if rows is None else layout.fleets[k].ids[rows] for k, rows in parts)
    return Selection(parts, tuple(ids))


def refuse_unknown(layout: Layout, vehicles: Wanted) -> None:
    """Raise UnknownNameError for the first unknown name or id."""
    fleets = {fleet.name for fleet in layout.fleets}
    for item in vehicles:
        if item in fleets:
            continue
        try:
            layout.find(item)
        except PaddockError as error:
            if isinstance(item, str) and "[" not in item:
                raise UnknownNameError(f"unknown vehicle or fleet {item!r}; {suggestion(item, fleets)}") from None
            raise UnknownNameError(str(error)) from None


Floats = NDArray[np.float64]


MOST_VALUES = 4_000_000  # values per frame of one subscriber


class ColumnChoice(NamedTuple):
    """Columns of a vehicle (its name or id), of a fleet, or of all vehicles."""

    of: str | int | None
    columns: tuple[str, ...]
    rate: float | None = None  # most times per wall second; None: with every group


def speed(pose: Floats) -> Floats:
    """Return the speed (n,) in m/s of the pose columns (13, n)."""
    vx, vy, vz = pose[VELOCITY]
    return np.asarray(np.sqrt(vx * vx + vy * vy + vz * vz))


def heading(pose: Floats) -> Floats:
    """Return the heading (n,) in rad, counter-clockwise from east."""
    x, y, z, w = pose[ORIENTATION]
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z))


def yaw_rate(pose: Floats) -> Floats:
    """Return the body rate (n,) about the up axis in rad/s."""
    return np.asarray(pose[ANGULAR_VELOCITY][2])


def roll(pose: Floats) -> Floats:
    """Return the roll (n,) in rad, positive with the right side down."""
    x, y, z, w = pose[ORIENTATION]
    return np.asarray(np.arctan2(2.0 * (w * x + y * z), w * w - x * x - y * y + z * z))


def pitch(pose: Floats) -> Floats:
    """Return the pitch (n,) in rad, positive with the nose down."""
    x, y, z, w = pose[ORIENTATION]
    return np.asarray(np.arcsin(np.clip(2.0 * (w * y - x * z), -1.0, 1.0)))


DERIVED: dict[str, tuple[Callable[[Floats], Floats], Column]] = {
    "speed": (speed, Column("m/s", "speed over ground and up", low=0.0, name="speed")),
    "heading": (heading, Column("rad", "heading, counter-clockwise from east", name="heading")),
    "yaw": (heading, Column("rad", "heading, counter-clockwise from east, -pi to pi", name="yaw")),
    "yaw_rate": (yaw_rate, Column("rad/s", "body rate about the up axis", name="yaw_rate")),
    "roll": (roll, Column("rad", "bank, + right side down", name="roll")),
    "pitch": (pitch, Column("rad", "nose below the horizon", name="pitch")),
}
"""Columns of every vehicle that are computed from its pose; a snapshot's column of the same name has precedence."""


class ColumnReader:
    """Reads columns of snapshots with one layout; remembers where they are.

    An array of a sensor takes as many rows as it has values, in C order.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._parts: dict[str | int | None, tuple[tuple[int, Ints | None, int], ...]] = {}

    def read(self, snapshot: Snapshot, want: ColumnChoice) -> Floats:
        """Return values (columns, vehicles): NaN where a vehicle lacks a column; no vehicles if the name is unknown."""
        parts, widths = self._parts_of(want.of), self.widths(want)
        values = np.full((sum(widths), sum(count for _, _, count in parts)), np.nan)
        at = 0
        for fleet, rows, count in parts:
            block, arrays = self._layout.block(snapshot.buffer, fleet), self._layout.arrays(snapshot.buffer, fleet)
            with np.errstate(all="ignore"):  # NaN stays NaN
                _fill(values[:, at : at + count], self._layout.fleets[fleet], block, arrays, rows, want.columns, widths)
            at += count
        return values

    def widths(self, want: ColumnChoice) -> list[int]:
        """Return the rows of each column: 1, or the size of an array; of the largest where fleets differ."""
        fleets = [self._layout.fleets[fleet] for fleet, _, _ in self._parts_of(want.of)]
        sizes: dict[str, int] = {}
        for array in (array for fleet in fleets for array in fleet.arrays):
            sizes[array.name] = max(array.size, sizes.get(array.name, 0))
        return [sizes.get(name, 1) for name in want.columns]

    def values(self, want: ColumnChoice) -> int:
        """Return the number of values of a choice."""
        return sum(self.widths(want)) * sum(count for _, _, count in self._parts_of(want.of))

    def _parts_of(self, of: str | int | None) -> tuple[tuple[int, Ints | None, int], ...]:
        """Return (fleet, its rows or None for all, number of vehicles) for a name or an id."""
        if of not in self._parts:
            chosen = select(self._layout, None if of is None else (of,))
            counted = zip(chosen.parts, chosen.ids, strict=True)
            self._parts[of] = tuple((fleet, rows, len(ids)) for (fleet, rows), ids in counted)
        return self._parts[of]


def _fill(
    target: Floats,
    fleet: FleetLayout,
    block: Floats,
    arrays: Mapping[str, Any],
    rows: Ints | None,
    columns: tuple[str, ...],
    widths: list[int],
) -> None:
    """Write the columns of one fleet's vehicles."""
    pose, k = None, 0
    for name, width in zip(columns, widths, strict=True):
        if name in arrays:
            values = arrays[name] if rows is None else arrays[name][rows]
            flat = values.reshape(len(values), -1).T
            target[k : k + len(flat)] = flat
        elif name in fleet.columns:
            values = block[fleet.column(name)]
            target[k] = values if rows is None else values[rows]
        elif name in DERIVED:
            if pose is None:
                pose = block[: len(POSE)] if rows is None else block[: len(POSE), rows]
            target[k] = DERIVED[name][0](pose)
        k += width


def refuse_too_many(layout: Layout, wants: Iterable[ColumnChoice]) -> None:
    """Raise PaddockError if the frame would be too large."""
    reader = ColumnReader(layout)
    values = sum(map(reader.values, wants))
    if values > MOST_VALUES:
        raise PaddockError(f"{values} values are too many for one frame; the limit is {MOST_VALUES}")


def refuse_unknown_columns(layout: Layout, wants: Iterable[ColumnChoice]) -> None:
    """Raise UnknownNameError for the first unknown column."""
    fleets = layout.fleets
    known = {*POSE, *DERIVED, *(name for fleet in fleets for name in (*fleet.columns, *fleet.array_names))}
    for want in wants:
        for name in want.columns:
            if name not in known:
                raise unknown_name("column", name, sorted(known))


EVERY_TICK = ("positions", "poses", "telemetry", "fpv", "lines", "spheres")
"""Kinds that make up the group of frames of a tick; the others are sent when something happens, and never skipped."""


@dataclass(frozen=True)
class View:
    """The content of a group of frames; connections with equal views share its bytes."""

    frame: str = "enu"
    kinds: tuple[str, ...] = ("positions",)
    vehicles: Wanted | None = None  # None: all
    tick: bool = True  # whether a tick frame precedes the group
    columns: tuple[ColumnChoice, ...] = ()  # content of the columns frame; empty: none
    wanted: int = 0  # number of that list of columns
    held: frozenset[int] = frozenset()  # places in `columns` that are left out, because their own rate is lower

    @property
    def in_groups(self) -> tuple[str, ...]:
        """The kinds that are sent with every tick, in the order of their frames."""
        kinds = tuple(kind for kind in EVERY_TICK if kind in self.kinds)
        return (*kinds, "columns") if self.columns else kinds

    @property
    def draws(self) -> bool:
        """Whether it shows markers as lines or spheres."""
        return "lines" in self.kinds or "spheres" in self.kinds


class Subscription:
    """A view with a maximum rate in groups per wall second."""

    def __init__(self, view: View, rate: float) -> None:
        self.view = view
        self.rate = rate
        self.behind = True  # whether a snapshot has not been sent yet
        self._due = 0.0
        self._columns_due: dict[int, float] = {}  # place in the list of columns with a rate of its own -> time

    def take(self, now: float) -> bool:
        """Return whether to send a snapshot now (s, monotonic)."""
        if not self.view.in_groups:
            return False
        self.behind = True
        period = 1.0 / self.rate
        if now < self._due - 0.25 * period:  # snapshots jitter
            return False
        self._due = max(self._due, now - 0.5 * period) + period
        return True

    def due_view(self, now: float) -> View:
        """Return the view of a group that is sent now (s, monotonic): without columns whose own rate is lower."""
        held = []
        for k, choice in enumerate(self.view.columns):
            if choice.rate is None:
                continue
            due, period = self._columns_due.get(k, now), 1.0 / choice.rate
            if now < due - 0.25 / self.rate:
                held.append(k)
            else:
                self._columns_due[k] = max(due, now - 0.5 * period) + period
        return replace(self.view, held=frozenset(held)) if held else self.view

    def change(self, view: View, rate: float) -> None:
        """Change view and rate; the present state is sent again as soon as the rate allows."""
        if view.columns != self.view.columns:
            self._columns_due.clear()
        if rate != self.rate:
            self._due = min(self._due, self._due - 1.0 / self.rate + 1.0 / rate)
        self.view, self.rate, self.behind = view, rate, True

    def late(self, now: float) -> bool:
        """Return whether an unsent snapshot is overdue because no newer one has arrived."""
        return self.behind and bool(self.view.in_groups) and now > self._due + 1.0 / self.rate


NATIVE = "enu"


@cache
def change_to(frame: str) -> FrameChange:
    """Return the change from ENU to a frame, as matrices for the encoders."""
    position = convert_position(np.eye(3), NATIVE, frame).T
    quaternion = convert_quaternion(np.eye(4), NATIVE, frame).T
    return FrameChange.of(position.astype(np.float64), quaternion.astype(np.float64))


def units_per_metre(frame: str) -> float:
    """Return the number of length units of a frame in one metre."""
    return conversion(NATIVE, frame).scale


def roster_tree(layout: Layout) -> RosterTree:
    """Return the roster for clients: its number and its fleets."""
    fleets: list[FleetTree] = [
        {
            "name": fleet.name,
            "kind": fleet.kind,
            "model": fleet.model,
            "single": fleet.single,
            "ids": ranges(fleet.ids),
            "members": ranges(fleet.members),
            "columns": list(fleet.columns),
        }
        for fleet in layout.fleets
    ]
    return {"roster": layout.roster, "fleets": fleets}
