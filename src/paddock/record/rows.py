"""A recording as a table: one row for each vehicle and sample, in batches, so that any run fits in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.errors import unknown_name
from paddock.world.columns import Floats
from paddock.world.layout import FleetLayout, Ints

if TYPE_CHECKING:
    from paddock.record.run import Run

KEYS = ("time", "tick", "run", "fleet", "vehicle", "id")
"""The columns in front: simulation time in s, tick, which section of the recording, who."""
BATCH = 1 << 16
"""Rows of a batch, about."""


@dataclass
class Batch:
    """Some rows. A NaN stands for a value that a vehicle does not have."""

    keys: dict[str, Any]  # name -> array or list of text, for each of KEYS
    values: Floats  # (columns, rows)

    def __len__(self) -> int:
        """How many rows."""
        return len(self.keys["time"])


@dataclass
class _Piece:
    time: float
    tick: int
    run: int
    layout: FleetLayout
    block: Floats


@dataclass
class Rows:
    """The table of a run, or of one fleet of it."""

    run: Run
    fleet: str | None = None
    columns: tuple[str, ...] = field(init=False)  # after the keys; the union over all fleets

    def __post_init__(self) -> None:
        if self.fleet is not None and self.fleet not in self.run.fleets:
            raise unknown_name("fleet", self.fleet, self.run.fleets, self.run.path)
        layouts = [fleet for layout in self.run.layouts for fleet in layout.fleets]
        chosen = [fleet for fleet in layouts if self.fleet in (None, fleet.name)]
        self.columns = tuple(dict.fromkeys(column for fleet in chosen for column in fleet.columns))
        self._rows = {column: row for row, column in enumerate(self.columns)}
        self._known: dict[int, tuple[FleetLayout, Ints, list[str]]] = {}

    def batches(self) -> Iterator[Batch]:
        """The rows in the order of time, then of fleets, then of vehicles."""
        pieces: list[_Piece] = []
        for section in self.run.sections:
            for k in section.samples:
                snapshot = self.run.sample(k)
                pieces += [
                    _Piece(snapshot.time, snapshot.tick, section.number, fleet.layout, fleet.block)
                    for fleet in snapshot
                    if self.fleet in (None, fleet.name)
                ]
                if sum(piece.layout.n for piece in pieces) >= BATCH:
                    yield self._batch(pieces)
                    pieces = []
        if pieces:
            yield self._batch(pieces)

    def _batch(self, pieces: list[_Piece]) -> Batch:
        counts = [piece.layout.n for piece in pieces]
        values = np.full((len(self.columns), sum(counts)), np.nan)
        vehicles: list[str] = []
        at = 0
        for piece in pieces:
            rows, names = self._look_up(piece.layout)
            values[rows, at : at + piece.layout.n] = piece.block
            vehicles += names
            at += piece.layout.n
        keys = {name: np.repeat([getattr(piece, name) for piece in pieces], counts) for name in ("time", "tick", "run")}
        fleets = [name for piece in pieces for name in (piece.layout.name,) * piece.layout.n]
        ids = np.concatenate([piece.layout.ids for piece in pieces])
        return Batch({**keys, "fleet": fleets, "vehicle": vehicles, "id": ids}, values)

    def _look_up(self, layout: FleetLayout) -> tuple[Ints, list[str]]:
        """Where the layout's columns go, and the names of its vehicles; made once."""
        if id(layout) not in self._known:
            rows = np.array([self._rows[column] for column in layout.columns], np.int64)
            names = [layout.vehicle_name(row) for row in range(layout.n)]
            self._known[id(layout)] = (layout, rows, names)
        return self._known[id(layout)][1:]
