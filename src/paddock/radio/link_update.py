"""The update of all links of a tick.

What lies beyond the reach of `margin` below the weakest usable link is left out of interference;
`far_field.far_interference` bounds it.
"""

from typing import Any

import numpy as np

from paddock.radio.candidates import BLOCK, Candidates, candidates_of
from paddock.radio.link_rows import (
    compute_free_rows,
    compute_log_rows,
    compute_rows,
    copy_rows,
    set_states,
    to_decibels,
)
from paddock.radio.links import ANTENNA, GROUP, MODEL, SENSITIVITY, Links
from paddock.radio.paths import Paths
from paddock.radio.propagation import FREE_SPACE, LOG_DISTANCE
from paddock.radio.radios import CLASS, Classes, Floats, Ints, Radios, reaches

ROOM = 48  # links of a receiver for which there is room at first
HELD = 8  # updates for which a list of candidates should hold
SLACK = (0.06, 0.3)  # of the radius: least and largest slack of a list
FAST = 0.5  # of the radius: faster than vehicles move between two updates
BROAD_MOST = 64  # radios outside the grid
BROAD_FROM = 1.5  # times the reach of the others from which a group is left out of the grid


class LinkUpdate:
    """Updates the links of a table of radios; keeps what does not change between updates."""

    def __init__(
        self, radios: Radios, classes: Classes, paths: Paths, hysteresis: float, margin: float, longest: float
    ) -> None:
        """`longest`: m, no link is longer."""
        self.radios, self.classes, self.paths = radios, classes, paths
        self.hysteresis, self.margin, self.longest = hysteresis, margin, longest
        self.keep: Floats = radios.table[SENSITIVITY, : radios.n] - hysteresis
        self._room: Ints = np.zeros(1, np.int64)
        self._buffers: tuple[Any, Floats] = np.empty(0, np.int32), np.empty((2, 0))
        self.refresh()

    def refresh(self) -> None:
        """Compute the reach of all groups again, after a change of frequencies, powers or duties."""
        radios, n = self.radios, self.radios.n
        self._candidates: Candidates | None = None
        self._held = 0  # updates for which the candidates have held
        self.reach = np.minimum(reaches(radios, self.classes, self.keep - self.margin), self.longest)
        group = radios.table[GROUP, :n].astype(np.int64)
        widest = np.maximum(self.reach.max(axis=0, initial=0.0), self.reach.max(axis=1, initial=0.0))
        sizes = np.bincount(group, minlength=len(widest))
        inside = np.ones(len(widest), bool)
        for g in np.argsort(-widest, kind="stable"):  # the widest groups first, while few radios have such a reach
            rest = inside.copy()
            rest[g] = False
            radius = self.reach[np.ix_(rest, rest)].max(initial=0.0)
            few = sizes[~rest].sum() <= min(BROAD_MOST, n // 4)
            if not rest.any() or not few or widest[g] < BROAD_FROM * radius:
                break
            inside = rest
        members = inside[group] if n else np.zeros(0, bool)
        self.members, self.broad = np.flatnonzero(members), np.flatnonzero(~members)
        self.radius = float(max(self.reach[np.ix_(inside, inside)].max(initial=0.0), 1e-3))
        self._slack = SLACK[0] * self.radius
        self.rows = self._rows()

    def _rows(self) -> Any:
        """Return the routine for these radios: where all links are of one simple class, one that vectorises."""
        count = len(self.reach)
        used = np.unique(self.classes.of[:count, :count])
        if len(used) != 1 or self.radios.table[ANTENNA, : self.radios.n].any():
            return compute_rows
        values = self.classes.table[:, used[0]]
        if values[CLASS.sigma] or values[CLASS.fading] or values[CLASS.terrain] or values[CLASS.obstacles]:
            return compute_rows
        return {FREE_SPACE: compute_free_rows, LOG_DISTANCE: compute_log_rows}.get(int(values[MODEL]), compute_rows)

    @property
    def candidates(self) -> Candidates:
        """The candidates of all receivers, with the present positions; listed again if a radio has moved too far."""
        table, n, found = self.radios.table, self.radios.n, self._candidates
        if found is not None:
            self._held += 1
            moved = float(np.sqrt(((table[:3, :n] - found.made_at) ** 2).sum(axis=0).max(initial=0.0)))
            if not moved <= 0.5 * found.slack:  # NaN too
                each = moved / self._held if moved < FAST * self.radius else 0.0  # not of vehicles that are placed
                self._slack = min(max(2.0 * HELD * each, SLACK[0] * self.radius), SLACK[1] * self.radius)
                found = None
        if found is None:
            given = self.members, self.broad, self.reach, self.radius, self._slack
            found, self._held = candidates_of(table, n, *given), 0
            self._candidates = found
        np.take(table[:3], found.order, axis=1, out=found.seen[:3])
        return found

    def _scratch(self, most: int) -> tuple[Any, Floats]:
        """Return arrays for rows that are not joined yet, kept from update to update."""
        if len(self._buffers[0]) != most:
            self._buffers = np.empty(most, np.int32), np.empty((2, most))
        return self._buffers

    def run(self, tick: int, jamming: Floats, known: Links) -> Links:
        """Return the links at the present positions; `known` are those of the last update, with their states."""
        radios, n, found = self.radios, self.radios.n, self.candidates
        blocks = -(-n // BLOCK)
        if len(self._room) != blocks + 1:
            self._room = np.arange(blocks + 1) * BLOCK * min(n, ROOM)
        at, count, beyond = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
        interference = np.zeros(n)
        while True:
            peer, values = self._scratch(int(self._room[-1]))
            self.rows(
                *(radios.table, self.classes.table, self.classes.of, self.reach, self.keep, jamming),
                *(radios.patterns, self.paths, found.seen, found.order, found.start, found.at, found.share),
                *(self._room, peer, values, at, count, interference, beyond),
            )
            if n == 0:
                break
            needed = np.add.reduceat(count[found.order], np.arange(0, n, BLOCK))
            if (needed <= np.diff(self._room)).all():
                break
            sizes = np.maximum(needed + needed // 4 + 8, np.diff(self._room))
            self._room = np.concatenate([[0], np.cumsum(sizes)])
        ends = np.concatenate([[0], np.cumsum(count)])
        total = int(ends[-1])
        to, into, up = np.empty(total, np.int32), np.empty((3, total)), np.empty(total, np.uint8)
        copy_rows(at, count, ends, peer, values, to, into)
        to_decibels(into)
        given = known.start, known.peer, known.up
        set_states(radios.table, self.hysteresis, radios.curves, ends, to, into[0], into[1], *given, into[2], up)
        return Links(tick, ends, to, into[0], into[1], into[2], up, interference, jamming, beyond)
