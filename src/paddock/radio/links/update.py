"""The update of all links of a tick.

What lies beyond the reach of `margin` below the weakest usable link is left out of interference;
`far_interference` bounds it.
"""

from typing import Any

import numpy as np

from paddock.compute.twin import vectorised
from paddock.radio.links.bursts import apply_bursts
from paddock.radio.links.candidates import GAIN, STRENGTH, WAVE_SQUARE, Candidates, candidates_of, follow
from paddock.radio.links.collisions import COLLISION_ROWS
from paddock.radio.links.paths import Paths, boost, largest_gain, reaches
from paddock.radio.links.radios import CLASS, Classes, Floats, Ints, Radios
from paddock.radio.links.rows import (
    BLOCK,
    RowTables,
    compute_free_rows,
    compute_log_rows,
    compute_rows,
    finish_rows,
    longest_square,
)
from paddock.radio.links.table import (
    ANTENNA,
    BANDWIDTH,
    DUTY,
    FREQUENCY,
    GROUP,
    MODEL,
    POWER,
    SENSITIVITY,
    SHARE,
    Links,
    no_links,
)
from paddock.radio.physics.propagation import FREE_SPACE, LOG_DISTANCE
from paddock.radio.physics.signal import power_ratio
from paddock.world.layout import BufferPool

ROOM = 48  # links of a receiver for which there is room at first
HELD = 8  # updates for which a list of candidates should hold
SLACK = (0.06, 0.3)  # of the radius: least and largest slack of a list
FAST = 0.5  # of the radius: faster than vehicles move between two updates
BROAD_MOST = 64  # radios outside the grid
BROAD_FROM = 1.5  # times the reach of the others from which a group is left out of the grid
FAR_CELLS = 40  # along the longest axis, in which far transmitters are counted, at most
MOST_CELLS = 800  # with radios


class LinkUpdate:
    """Updates the links of a table of radios; keeps what does not change between updates."""

    def __init__(
        self, radios: Radios, classes: Classes, paths: Paths, hysteresis: float, margin: float, longest: float
    ) -> None:
        """`longest`: m, no link is longer."""
        self.radios, self.classes, self.paths = radios, classes, paths
        self.hysteresis, self.margin, self.longest = hysteresis, margin, longest
        self.keep: Floats = radios.table[SENSITIVITY, : radios.n] - hysteresis
        self.least: Floats = vectorised(power_ratio)(self.keep)
        self._room: Ints = np.zeros(1, np.int64)
        self._buffers: tuple[Any, Floats] = np.empty(0, np.int32), np.empty((2, 0))
        self.busy = False
        self._pool = BufferPool()
        self.refresh()

    def refresh(self) -> None:
        """Compute the reach of all groups again, after a change of frequencies, powers or duties."""
        radios, n = self.radios, self.radios.n
        self._candidates: Candidates | None = None
        self._held = 0  # updates for which the candidates have held
        duty = radios.table[DUTY, :n]
        self.busy = bool(duty.any())  # packets collide
        margin = self.margin if self.busy else 0.0
        self.reach = np.minimum(reaches(radios, self.classes, self.keep - margin), self.longest)
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
        table, n, candidates = self.radios.table, self.radios.n, self._candidates
        if candidates is not None:
            self._held += 1
            moved = follow(table, candidates.order, candidates.made_at, candidates.seen)
            if moved <= 0.5 * candidates.slack:
                return candidates
            each = moved / self._held if moved < FAST * self.radius else 0.0  # not of vehicles that are placed
            self._slack = min(max(2.0 * HELD * each, SLACK[0] * self.radius), SLACK[1] * self.radius)
        limits = self.members, self.broad, self.reach, self.radius, self._slack
        self._candidates, self._held = candidates_of(table, n, *limits, self.rows is compute_free_rows, candidates), 0
        return self._candidates

    @property
    def share(self) -> Floats:
        """The shares of the candidates of the last update."""
        assert self._candidates is not None
        return self._candidates.share

    def _scratch(self, most: int) -> tuple[Any, Floats]:
        """Return arrays for rows that are not joined yet, kept from update to update."""
        rows = 4 if self.busy else 2
        if self._buffers[1].shape != (rows, most):
            self._buffers = np.empty(most, np.int32), np.empty((rows, most))
        return self._buffers

    def find_rows(self, keep: Floats) -> tuple[Any, Floats, Ints, Ints, Floats, Ints]:
        """Return transmitters and powers (mW) of all rows, where each begins, its length, interference, `outside`.

        Terrain and obstacles count from `keep` (n,) dBm on.
        """
        radios, n, candidates = self.radios, self.radios.n, self.candidates
        blocks = -(-n // BLOCK)
        if len(self._room) != blocks + 1:
            self._room = np.arange(blocks + 1) * BLOCK * min(n, ROOM)
        at, count, beyond = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
        interference = np.zeros(n)
        tables = RowTables(
            *(radios.table, self.classes.table, self.classes.of, self.reach, keep, self.least, radios.patterns),
            *(
                candidates.seen,
                candidates.order,
                candidates.first,
                candidates.many,
                candidates.at,
                candidates.share,
                self._longest(candidates),
            ),
            self.busy,
        )
        needed = np.zeros(blocks, np.int64)
        while True:
            peer, values = self._scratch(int(self._room[-1]))
            self.rows(tables, self.paths, self._room, needed, peer, values, at, count, interference, beyond)
            sizes = np.diff(self._room)
            if (needed <= sizes).all():
                return peer, values, at, count, interference, beyond
            self._room = np.concatenate([[0], np.cumsum(np.maximum(needed + needed // 4 + 8, sizes))])

    def run(self, tick: int, jamming: Floats, bursts: Floats, known: Links) -> Links:
        """Return the links at the present positions; `known` are those of the last update, with their states."""
        radios = self.radios
        peer, values, at, count, interference, beyond = self.find_rows(self.keep)
        made = self._made(tick, count)._replace(
            interference=interference, jamming=jamming, outside=beyond, bursts=bursts
        )
        finish_rows(radios.table, radios.curves, self.hysteresis, self.share, at, peer, values, known, made)
        if bursts[SHARE].any():
            apply_bursts(radios.table, radios.survivals, self.hysteresis, known, made)
        return made

    def _longest(self, candidates: Candidates) -> float:
        """Return the square of the longest link (m2), if all radios are alike."""
        if len(candidates.share) != 1:
            return 0.0
        strength, wave = candidates.seen[GAIN, 0] * candidates.seen[STRENGTH, 0], candidates.seen[WAVE_SQUARE, 0]
        longest = longest_square(float(strength), float(wave), float(self.least[0]))
        return min(longest, float(self.reach[0, 0] * self.reach[0, 0]))

    def _made(self, tick: int, count: Ints) -> Links:
        """Return links of these numbers per receiver, whose arrays are not filled yet; they are in one buffer."""
        start = np.concatenate([[0], np.cumsum(count)])
        total = int(start[-1])
        step = 1 << max(total.bit_length() - 3, 0)  # buffers of few sizes, so that they fit again
        rows = 3 + (COLLISION_ROWS if self.busy else 0)
        each, first = 8 * rows + 5, 8 * rows * total
        buffer = self._pool.take(each * (-(-total // step) * step))[: each * total]
        peer, up = buffer[first : first + 4 * total].view(np.int32), buffer[first + 4 * total :]
        power, sinr, per, *rest = buffer[:first].view(np.float64).reshape(rows, total)
        collisions = buffer[24 * total : first].view(np.float64).reshape(COLLISION_ROWS, len(rest) and total)
        links = no_links(0)._replace(tick=tick, start=start, peer=peer, power=power, sinr=sinr, per=per, up=up)
        return links._replace(collisions=collisions)


def far_interference(update: LinkUpdate) -> Floats:
    """Return at most how much power (mW) of transmitters beyond its reach each receiver gets in its band, (n,).

    Radios are counted in cells. All transmitters of a cell count as if they stood at its nearest edge to the cell of
    the receiver, or at the reach where that is farther, in the best directions of both antennas; those of cells that
    are within reach as a whole do not count.
    """
    table, n = update.radios.table, update.radios.n
    if not table[DUTY, :n].any():
        return np.zeros(n)
    place = table[:3, :n]
    low, high = place.min(axis=1, initial=np.inf), place.max(axis=1, initial=-np.inf)
    extent, along = float((high - low).max(initial=0.0)) if n else 1.0, FAR_CELLS
    while True:
        size = max(extent / along, 1e-6)
        at = np.floor((place - low[:, None]) / size).astype(np.int64) if n else np.zeros((3, 0), np.int64)
        cells, cell = np.unique(at, axis=1, return_inverse=True)
        if cells.shape[1] <= MOST_CELLS:
            break
        along = max(1, along * 2 // 3)
    cell = cell.reshape(-1)
    step = np.abs(cells[:, :, None] - cells[:, None, :])
    nearest = size * np.sqrt((np.maximum(step - 1, 0) ** 2).sum(axis=0))
    farthest = size * np.sqrt(((step + 1) ** 2).sum(axis=0))
    group = table[GROUP, :n].astype(np.int64)
    far = np.zeros(n)
    for g in np.unique(group):
        mine = np.flatnonzero(group == g)
        bound = np.zeros(cells.shape[1])
        for h in np.unique(group):
            theirs = np.flatnonzero(group == h)
            duty = np.bincount(cell[theirs], weights=table[DUTY, theirs], minlength=cells.shape[1])
            reach = update.reach[g, h]
            level = _largest_levels(update, int(mine[0]), int(theirs[0]), np.maximum(nearest, reach))
            bound += np.where(farthest > reach, level, 0.0) @ duty
        far[mine] = bound[cell[mine]]
    return far


def _largest_levels(update: LinkUpdate, i: int, j: int, distance: Floats) -> Floats:
    """Return the largest power (mW) of radio j in the band of radio i at distances (m)."""
    table, classes = update.radios.table, update.classes
    values = classes.table[:, classes.of[int(table[GROUP, i]), int(table[GROUP, j])]]
    best = sum(largest_gain(table[:, k], update.radios.patterns) for k in (i, j)) + boost(values)
    f, width = table[FREQUENCY], table[BANDWIDTH]
    common = min(f[i] + 0.5 * width[i], f[j] + 0.5 * width[j]) - max(f[i] - 0.5 * width[i], f[j] - 0.5 * width[j])
    wave = 4.0 * np.pi * f[j] / 299_792_458.0
    reference, exponent = values[CLASS.reference], values[CLASS.exponent]
    if values[CLASS.model] == LOG_DISTANCE:
        near = np.maximum(wave * np.minimum(distance, reference), 1.0) ** 2
        loss = near * (np.maximum(distance, reference) / reference) ** exponent
    else:
        loss = np.maximum(wave * distance, 1.0) ** 2
    share: float = max(float(common) / float(width[j]), 0.0)
    return share * 10.0 ** (0.1 * (table[POWER, j] + best)) / loss  # type: ignore[no-any-return]
