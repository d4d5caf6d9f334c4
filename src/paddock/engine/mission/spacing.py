"""The separation of a mission's aircraft while it runs: who flies how much higher, and how near anybody came."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.engine.mission.cast import Crew
from paddock.engine.mission.separation import (
    FAR_APART,
    MARGIN,
    NO_ROWS,
    Closest,
    Flying,
    closest,
    layers,
    predicted,
    senses,
)
from paddock.engine.mission.tracks import FleetTracks
from paddock.world.columns import Floats
from paddock.world.fleet import Ints

AIRBORNE = 1.0
"""m above the ground: lower ones do not fly."""
REACH = 1.2
"""Share of the level distance within which two are taken to meet: they may be some metres beside their paths."""

Placed = list[tuple[Crew, FleetTracks]]


class Spacing:
    """Of all members that fly, in the order of the agents."""

    def __init__(self, separation: tuple[float, float], ground: float) -> None:
        """Metres across, metres up."""
        self.distance, self.height = separation
        self.ground = ground  # m
        self.closest: Closest = FAR_APART
        self.senses: Floats = np.zeros(0)

    def spread(self, placed: Placed) -> None:
        """Give everybody a layer, and those who share one and will meet opposite offsets."""
        flying = self._flying(placed)
        if not flying:
            return
        order = np.argsort(np.concatenate([crew.agents for crew, _ in flying]), kind="stable")
        layer, offsets = layers(len(order), self.height)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))  # of each, among all that fly
        if len(self.senses) != len(order):
            self.senses = np.zeros(len(order))
        if layer.max() + 1 < len(order):
            self.senses = self._resolved(flying, order, layer)
        wanted = (offsets + 0.5 * MARGIN * self.height * self.senses)[places]
        begin = 0
        for crew, tracks in flying:
            tracks.write("offset", crew.rows, wanted[begin : begin + len(crew.rows)])
            begin += len(crew.rows)

    def watch(self, placed: Placed, poses: Floats) -> None:
        """Note how near those who fly are to each other; `poses` (n, 3) m in the order of the agents."""
        flying = self._flying(placed)
        agents = np.sort(np.concatenate([np.empty(0, np.int64), *(crew.agents for crew, _ in flying)]))
        where = poses[agents, :3]
        x, y, z = np.ascontiguousarray(where[where[:, 2] > self.ground + AIRBORNE].T)
        if len(x) > 1:
            self.closest = self.closest.and_(*closest(x, y, z, self.distance, self.height).tolist())

    def _flying(self, placed: Placed) -> Placed:
        return [(crew, tracks) for crew, tracks in placed if tracks.style.moves != "ground" and len(crew.rows)]

    def _resolved(self, flying: Placed, order: Ints, layer: Ints) -> Floats:
        """Opposite senses for those of a layer who will meet; those without a path are left alone."""
        who = _together(flying)
        here = np.flatnonzero(who.last[order] > who.first[order])
        ahead = predicted(who.of(order[here]))
        found = np.zeros(len(order))
        found[here] = senses(ahead, layer[here], REACH * self.distance, self.senses[here])
        return found

    def save(self) -> dict[str, Any]:
        """What it remembers."""
        return {"closest": list(self.closest), "senses": self.senses}

    def restore(self, saved: dict[str, Any]) -> None:
        """Exactly what was saved."""
        self.closest, self.senses = Closest(*saved["closest"]), np.array(saved["senses"])


def _together(flying: Placed) -> Flying:
    """All fleets in one table."""
    tables, columns, begin = [NO_ROWS], [], 0
    for crew, tracks in flying:
        path, rows = tracks.behaviour.path, crew.rows
        first, last, loop, row = (
            tracks.column(name, rows).astype(np.int64) for name in ("first", "last", "loop", "row")
        )
        along = path[row, 11] + tracks.column("inside", rows)
        columns.append(
            (first + begin, last + begin, np.where(loop >= 0, loop + begin, -1), along, tracks.column("speed", rows))
        )
        tables.append(path)
        begin += len(path)
    return Flying(np.concatenate(tables), *(np.concatenate(parts) for parts in zip(*columns, strict=True)))
