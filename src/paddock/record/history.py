"""A fleet over a whole run, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paddock.errors import unknown_name
from paddock.world.columns import Floats
from paddock.world.layout import POSE, FleetLayout, Ints

if TYPE_CHECKING:
    from paddock.record.run import Run


@dataclass(frozen=True, eq=False)
class FleetHistory:
    """Every column of a fleet over time; NaN where a vehicle did not exist."""

    name: str
    kind: str
    model: str
    times: Floats  # (samples,) s from the beginning of the recording
    ticks: Ints  # (samples,)
    members: Ints  # (n,) the k of each vehicle's name fleet[k], ascending
    names: tuple[str, ...]  # (n,)
    columns: tuple[str, ...]
    data: Floats  # (columns, samples, n)

    def __getitem__(self, column: str) -> Floats:
        """(samples, n) any column, in its unit."""
        if column not in self.columns:
            raise unknown_name("column", column, self.columns, f"fleet {self.name!r}")
        values: Floats = self.data[self.columns.index(column)]
        return values

    @property
    def position(self) -> Floats:
        """(samples, n, 3) m."""
        return np.stack([self[column] for column in POSE[:3]], axis=-1)

    @property
    def velocity(self) -> Floats:
        """(samples, n, 3) m/s, world."""
        return np.stack([self[column] for column in POSE[7:10]], axis=-1)

    @property
    def speed(self) -> Floats:
        """(samples, n) m/s."""
        speed: Floats = np.linalg.norm(self.velocity, axis=-1)
        return speed

    def __len__(self) -> int:
        """How many vehicles."""
        return len(self.members)

    def __repr__(self) -> str:
        """Name, model and counts."""
        return f"<fleet {self.name!r} of {len(self)} {self.model} over {len(self.times)} samples>"


def fleet_history(run: Run, name: str, wanted: Sequence[str] | None) -> FleetHistory:
    """Read a fleet's columns, all or those wanted, into arrays."""
    layouts = [fleet for layout in run.layouts for fleet in layout.fleets if fleet.name == name]
    known = tuple(dict.fromkeys(column for layout in layouts for column in layout.columns))
    columns = known if wanted is None else tuple(wanted)
    for column in columns:
        if column not in known:
            raise unknown_name("column", column, known, f"fleet {name!r}")
    members = np.unique(np.concatenate([layout.members for layout in layouts]))
    data = np.full((len(columns), len(run), len(members)), np.nan)
    ticks = _fill(run, name, columns, members, data)
    last = layouts[-1]
    names = tuple(name if last.single else f"{name}[{member}]" for member in members)
    return FleetHistory(name, last.kind, last.model, run.times(), ticks, members, names, columns, data)


def _fill(run: Run, name: str, columns: tuple[str, ...], members: Ints, data: Floats) -> Ints:
    """Copy every sample's block to its place; returns the samples' ticks."""
    ticks = np.zeros(len(run), np.int64)
    places: dict[int, tuple[FleetLayout, Ints, Ints, Ints]] = {}
    for k, snapshot in enumerate(run.snapshots()):
        ticks[k] = snapshot.tick
        if name not in snapshot.fleets:
            continue
        fleet = snapshot.fleet(name)
        if id(fleet.layout) not in places:
            places[id(fleet.layout)] = (fleet.layout, *_place(fleet.layout, columns, members))
        _, targets, sources, slots = places[id(fleet.layout)]
        data[targets[:, None], k, slots[None, :]] = fleet.block[sources]
    return ticks


def _place(layout: FleetLayout, columns: tuple[str, ...], members: Ints) -> tuple[Ints, Ints, Ints]:
    """Rows of the data, the block's rows that go there, and the vehicles' places."""
    shared = [column for column in columns if column in layout.columns]
    targets = np.array([columns.index(column) for column in shared], np.int64)
    sources = np.array([layout.column(column) for column in shared], np.int64)
    return targets, sources, np.searchsorted(members, layout.members)
