"""Snapshots out of what the server sends: bit for bit those of the simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.wire.messages.states import Roster, StateUpdate, arranged
from paddock.world.layout import FleetLayout, Layout
from paddock.world.pool import BufferPool, frozen
from paddock.world.snapshot import Snapshot


class StateReader:
    """Remembers the roster of one stream of states."""

    def __init__(self) -> None:
        self._roster: Roster | None = None
        self._layout: Layout | None = None
        self._pool = BufferPool()

    def learn(self, roster: Roster) -> None:
        """Who is there from now on."""
        fleets = [FleetLayout(f.name, f.kind, f.model, f.columns, len(f.ids), *f[4:]) for f in roster.fleets]
        layout = Layout(tuple(fleets), roster.number)
        if layout != self._layout:
            self._roster, self._layout = roster, layout

    def snapshot(self, state: StateUpdate) -> Snapshot | None:
        """The snapshot; None while its roster is not known."""
        if state.roster is not None:
            self.learn(state.roster)
        roster, layout = self._roster, self._layout
        if roster is None or layout is None or layout.roster != state.roster_number:
            return None
        buffer = self._pool.take(layout.nbytes)
        for k, block in enumerate(arranged(state.blocks, roster)):
            np.copyto(layout.block(buffer, k), block)
        return Snapshot(state.tick, state.sim_time, state.run, layout, frozen(buffer))


def sensors_of(snapshot: Snapshot, target: str) -> dict[str, dict[str, Any]]:
    """What a vehicle's sensors say in a snapshot, or a whole fleet's: sensor -> reading -> value or (n,) array."""
    readings: dict[str, dict[str, Any]] = {}
    whole = target in snapshot.fleets and target not in snapshot
    found: Any = snapshot.fleet(target) if whole else snapshot[target]
    for column in found.columns:
        sensor, dot, reading = column.partition(".")
        if dot and f"{sensor}.sample_tick" in found.columns:  # commands have a dot, too
            readings.setdefault(sensor, {})[reading] = found[column]
    for values in readings.values():
        tick = values["sample_tick"]
        values["sample_tick"] = int(tick[0] if whole and len(tick) else tick)
    return readings
