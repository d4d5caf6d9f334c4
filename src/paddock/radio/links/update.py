"""The update of all links of a tick, and its candidates: for every receiver, the transmitters that may reach it.

A grid of cells finds them, so the work grows with their number, not with the square of the number of radios. The few
radios that reach much farther than the others (stations) are not in the grid: everything is tried against them. A list
holds until a radio has moved by half of the slack; what it lists beyond the reach is sorted out in each update, so that
the links do not depend on when the list was made.

What lies beyond the reach of `margin` below the weakest usable link is left out of interference;
`survey.far_interference` bounds it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, floor, inf, int64, uint32, uint64
from numpy.typing import NDArray

from paddock.compute.math import PI, absolute, exp, maximum, minimum, select
from paddock.compute.neighbours import torus_bits
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.compute.twin import vectorised
from paddock.errors import PaddockError
from paddock.radio.links.paths import Paths, reaches
from paddock.radio.links.radios import CLASS, COLUMN, Classes, Floats, Ints, Radios
from paddock.radio.links.rows import (
    BLOCK,
    DENSITY,
    GAIN,
    HIGH,
    INVERSE,
    LOW,
    SEEN_GROUP,
    SEEN_LOAD,
    SEEN_OWNER,
    SEEN_PACE,
    SEEN_ROWS,
    SEEN_WAVEFORM,
    STRENGTH,
    WAVE_SQUARE,
    FoundRows,
    RowTables,
    apply_bursts,
    compute_free_rows,
    compute_log_rows,
    compute_rows,
    finish_rows,
    longest_square,
)
from paddock.radio.links.table import COLLISION_ROWS, SAME_CHANNEL, SHARE, airtime_of, no_links
from paddock.radio.physics.propagation import FREE_SPACE, LIGHT, LOG_DISTANCE
from paddock.radio.physics.signal import NEPERS, STEADY_DUTY, duty_load, duty_pace, power_ratio
from paddock.wire.radio_results import Links
from paddock.world.layout import BufferPool

LISTED = 256  # places whose candidates a thread lists at a time
MOST = 200_000_000  # candidates of all receivers
WAVE = 4.0 * PI / LIGHT


class Candidates(NamedTuple):
    """The transmitters that each receiver may hear.

    Radios are sorted by cell: place k is number `order[k]`. Candidates of place k are `first[k]:first[k] + many[k]`,
    places `at` in ascending order of their numbers. `share` is the part of their power in the receiver's band, and in
    time; it is negative where the receiver cannot decode them. One share means that all radios are alike.
    """

    order: Ints  # (n,)
    seen: Floats  # (rows, n) by place
    first: Ints  # (n,)
    many: Ints  # (n,)
    at: NDArray[np.uint32]  # (m,)
    share: Floats  # (m,) or (1,)
    room: Ints  # (blocks + 1,) where the candidates of each LISTED places may be
    made_at: Floats  # (3, n) m, positions by number
    slack: float  # m


def sort_cells(table: Any, members: Any, broad: Any, inverse: float, cells: Any, start: Any, order: Any, cell: Any,
               seen: Any) -> None:  # fmt: skip
    """Sort radios by cell, broad ones after them. Cell c has the places `start[c]:start[c + 1]`."""
    for k in range(members.size):
        j = members[k]
        cell[k] = cell_at(table[COLUMN.x, j], table[COLUMN.y, j], table[COLUMN.z, j], inverse, cells)
        start[cell[k] + 1] += 1
    for c in range(start.size - 1):
        start[c + 1] += start[c]
    for k in range(members.size):
        c = cell[k]
        order[start[c]] = members[k]
        start[c] += 1
    for c in range(start.size - 1, 0, -1):  # every start has moved to its cell's end
        start[c] = start[c - 1]
    start[0] = 0
    for k in range(broad.size):
        order[members.size + k] = broad[k]
    for k in parallel_range(order.size):
        j = order[k]
        seen[0, k], seen[1, k], seen[2, k] = table[COLUMN.x, j], table[COLUMN.y, j], table[COLUMN.z, j]
        seen[LOW, k] = table[COLUMN.frequency, j] - 0.5 * table[COLUMN.bandwidth, j]
        seen[HIGH, k] = table[COLUMN.frequency, j] + 0.5 * table[COLUMN.bandwidth, j]
        seen[DENSITY, k] = table[COLUMN.duty, j] / table[COLUMN.bandwidth, j]
        seen[SEEN_OWNER, k], seen[SEEN_GROUP, k] = table[COLUMN.owner, j], table[COLUMN.group, j]
        seen[SEEN_WAVEFORM, k] = table[COLUMN.waveform, j]
        duty = table[COLUMN.duty, j]
        some = (duty > 0.0) & (duty < STEADY_DUTY)
        seen[INVERSE, k] = 1.0 / duty if some else 0.0
        seen[SEEN_LOAD, k] = duty_load(duty) if some else 0.0
        seen[SEEN_PACE, k] = duty_pace(duty, airtime_of(table, j)) if some else 0.0
        wave = WAVE * table[COLUMN.frequency, j]
        seen[WAVE_SQUARE, k] = wave * wave
        seen[STRENGTH, k], seen[GAIN, k] = (
            exp(NEPERS * (table[COLUMN.power, j] + table[COLUMN.peak, j])),
            exp(NEPERS * table[COLUMN.peak, j]),
        )


def cell_at(x: float, y: float, z: float, inverse: float, cells: Any) -> int:
    """Return the cell of a position; `cells` are the numbers of bits along x, y and z."""
    cx: Any = int64(floor(x * inverse)) & ((1 << cells[0]) - 1)
    cy = int64(floor(y * inverse)) & ((1 << cells[1]) - 1)
    cz = int64(floor(z * inverse)) & ((1 << cells[2]) - 1)
    return int((((cz << cells[1]) | cy) << cells[0]) | cx)


def follow_radios(table: Any, order: Any, made_at: Any, seen: Any) -> float:
    """Copy the present positions into `seen`; return how far (m) a radio has moved at most since the list was made.

    What all radios have moved alike does not count: the middle of all displacements is subtracted.
    """
    square = 0.0
    middle = empty(3)
    for row in range(3):
        now, then, low, high = table[row], made_at[row], inf, -inf
        for j in range(then.size):
            low, high = min(low, now[j] - then[j]), max(high, now[j] - then[j])
        middle[row] = 0.5 * (low + high)
    for k in range(order.size):
        j = order[k]
        x, y, z = table[COLUMN.x, j], table[COLUMN.y, j], table[COLUMN.z, j]
        seen[0, k], seen[1, k], seen[2, k] = x, y, z
        dx, dy, dz = x - made_at[0, j] - middle[0], y - made_at[1, j] - middle[1], z - made_at[2, j] - middle[2]
        moved = dx * dx + dy * dy + dz * dz
        square = moved if not moved <= square else square  # NaN too
        if square != square:
            break
    return float(square**0.5)


class ListTables(NamedTuple):
    """Inputs of the candidate search."""

    seen: Floats  # (rows, n) by place
    order: Ints  # (n,)
    inside: int  # places in the grid; broad radios have those after them
    wide: float  # m, edge of a cell: the largest reach in the grid, and the slack
    cells: Ints  # (3,) bits along x, y, z
    start: Ints  # places of cells
    reach: Floats  # (groups, groups) m
    slack: float  # m


def list_rows(tables: Any, room: Any, needed: Any, first: Any, count: Any, at: Any, share: Any) -> None:
    """List the candidates of all receivers in blocks of places.

    `room[b]:room[b + 1]` of `at` and `share` are for block b, which needs room for `needed[b]`; candidates that do not
    fit are counted only. The places around a cell are sorted by number once for all receivers of the cell.
    """
    n = tables.order.size
    for block in parallel_range(room.size - 1):
        keys, spare, near = empty(0, uint64), empty(0, uint64), empty(0, uint32)
        around, weight = empty((5, 0)), empty(0)
        runs, total, last = empty((28, 2), int64), uint64(0), -2
        free: Any = room[block]
        for k in range(block * LISTED, min(n, (block + 1) * LISTED)):
            cell = place_cell(tables, k)
            if cell != last:
                last, count_of_runs = cell, find_runs(tables, cell, runs)
                total = uint64(places_of(runs, count_of_runs))
                if total > uint64(weight.size):
                    size = 2 * int(total)
                    keys, spare, near = empty(size, uint64), empty(size, uint64), empty(size, uint32)
                    around, weight = empty((5, size)), empty(size)
                sort_around(tables, runs, count_of_runs, keys, spare)
                copy_around(tables, keys, total, around)
            kept = near_places(tables, k, keys, total, around, near)
            if share.size != 1:
                kept = weigh(tables, k, kept, near, weight)
            first[k], count[k] = free, kept
            end = free + int64(kept)
            if end <= room[block + 1]:
                for m in range(kept):
                    at[uint64(free) + m] = near[m]
                for m in range(kept if share.size != 1 else uint64(0)):
                    share[uint64(free) + m] = weight[m]
            free = end
        needed[block] = free - room[block]


def place_cell(tables: Any, k: int) -> int:
    """Return the cell of a place; -1 of a broad one."""
    if k >= tables.inside:
        return -1
    return cell_at(tables.seen[0, k], tables.seen[1, k], tables.seen[2, k], 1.0 / tables.wide, tables.cells)


def find_runs(tables: Any, cell: int, runs: Any) -> int:
    """Write where the places of a cell, of those around it and of the broad ones begin and end; return how many runs.

    Of a broad place (-1), all places are one run.
    """
    if cell < 0:
        runs[0, 0], runs[0, 1] = 0, tables.order.size
        return 1
    bits_x, bits_y, start = tables.cells[0], tables.cells[1], tables.start
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << tables.cells[2]) - 1
    cx, cy, cz = cell & mask_x, (cell >> bits_x) & mask_y, cell >> (bits_x + bits_y)
    left = (cx - 1) & mask_x
    parts, width = (1, 3) if left + 2 <= mask_x else (3, 1)  # three cells along x are one run, unless they wrap
    count_of_runs = 0
    for az in range(-1, 2):
        for ay in range(-1, 2):
            line = ((((cz + az) & mask_z) << bits_y) | ((cy + ay) & mask_y)) << bits_x
            for part in range(parts):
                c = line | ((left + part) & mask_x)
                runs[count_of_runs, 0], runs[count_of_runs, 1] = start[c], start[c + width]
                count_of_runs += 1
    runs[count_of_runs, 0], runs[count_of_runs, 1] = tables.inside, tables.order.size
    return count_of_runs + 1


def places_of(runs: Any, count_of_runs: int) -> int:
    """Return the number of places of some runs."""
    total = 0
    for run in range(count_of_runs):
        total += runs[run, 1] - runs[run, 0]
    return total


def sort_around(tables: Any, runs: Any, count_of_runs: int, keys: Any, spare: Any) -> None:
    """Write the places of some runs in ascending order of their numbers, as number << 32 | place."""
    count = uint64(0)
    for run in range(count_of_runs):
        for k in range(uint64(runs[run, 0]), uint64(runs[run, 1])):
            keys[count] = (uint64(tables.order[k]) << uint64(32)) | k
            count += uint64(1)
    heads, shift, rest = empty(256, uint64), uint64(32), tables.order.size - 1
    while rest > 0:  # by two digits of 8 bits at a time, so that the keys end where they began
        for _ in range(2):
            for h in range(256):
                heads[h] = 0
            for m in range(count):
                heads[(keys[m] >> shift) & uint64(255)] += uint64(1)
            total = uint64(0)
            for h in range(256):
                total, heads[h] = total + heads[h], total
            for m in range(count):
                h = (keys[m] >> shift) & uint64(255)
                spare[heads[h]] = keys[m]
                heads[h] += uint64(1)
            keys, spare = spare, keys
            shift += uint64(8)
        rest >>= 16


def copy_around(tables: Any, keys: Any, count: Any, around: Any) -> None:
    """Copy positions and owners of places, so that the loop over them vectorises."""
    for m in range(count):
        k = keys[m] & uint64(0xFFFFFFFF)
        around[0, m], around[1, m], around[2, m] = tables.seen[0, k], tables.seen[1, k], tables.seen[2, k]
        around[3, m] = tables.seen[SEEN_OWNER, k]


def near_places(tables: Any, k: int, keys: Any, count: Any, around: Any, near: Any) -> Any:
    """Collect the places of others in the grid within its width of place k, and the broad ones; return how many."""
    row_x, row_y, row_z, row_owner, square = around[0], around[1], around[2], around[3], around[4]
    x, y, z, own = tables.seen[0, k], tables.seen[1, k], tables.seen[2, k], tables.seen[SEEN_OWNER, k]
    for m in range(count):
        dx, dy, dz = row_x[m] - x, row_y[m] - y, row_z[m] - z
        square[m] = select(row_owner[m] != own, dx * dx + dy * dy + dz * dz, -1.0)
    limit = tables.wide * tables.wide if k < tables.inside else inf
    kept, inside = uint64(0), uint64(tables.inside)
    for m in range(count):
        place = keys[m] & uint64(0xFFFFFFFF)
        near[kept] = place
        kept += uint64(((square[m] <= limit) | (place >= inside)) & (square[m] != -1.0))
    return kept


def weigh(tables: Any, k: int, count: Any, near: Any, weight: Any) -> Any:
    """Compute the shares of transmitters at receiver k; keep those that may reach it, and return how many."""
    seen, reach = tables.seen, tables.reach
    row_x, row_y, row_z, row_low, row_high = seen[0], seen[1], seen[2], seen[LOW], seen[HIGH]
    row_density, row_group, row_waveform = seen[DENSITY], seen[SEEN_GROUP], seen[SEEN_WAVEFORM]
    x, y, z, low, high = row_x[k], row_y[k], row_z[k], row_low[k], row_high[k]
    waveform, mine = row_waveform[k], reach[uint64(row_group[k])]
    for m in range(count):
        j = near[m]
        dx, dy, dz = x - row_x[j], y - row_y[j], z - row_z[j]
        far = mine[uint64(row_group[j])] + tables.slack
        common = minimum(high, row_high[j]) - maximum(low, row_low[j])
        good = (common > 0.0) & (dx * dx + dy * dy + dz * dz <= far * far)
        offset = absolute((row_low[j] + row_high[j]) - (low + high))
        decodes = (offset <= 2.0 * SAME_CHANNEL * (high - low)) & (row_waveform[j] == waveform)
        part = maximum(common * row_density[j], 1e-300)  # not 0 if it never transmits: a candidate all the same
        weight[m] = select(good, select(decodes, part, -part), 0.0)
    kept = uint64(0)
    for m in range(count):
        part = weight[m]
        near[kept], weight[kept] = near[m], part
        kept += uint64(part != 0.0)
    return kept


follow = routine(follow_radios)
sort_radios = parallel_routine(sort_cells, items=lambda table, members, *_: members.size)
list_candidates = parallel_routine(list_rows, items=lambda tables, *_: tables.order.size)


def _common_share(seen: Floats) -> Floats:
    """Return the share of every two radios (1,) if all of them are alike; else an empty array."""
    alike = seen[[LOW, HIGH, DENSITY, SEEN_GROUP, SEEN_WAVEFORM, WAVE_SQUARE, STRENGTH, GAIN]]
    if alike.shape[1] == 0 or (alike != alike[:, :1]).any():
        return np.zeros(0)
    low, high, density = alike[:3, 0].tolist()
    return np.array([max((high - low) * density, 1e-300)])


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
        self.keep: Floats = radios.table[COLUMN.sensitivity, : radios.n] - hysteresis
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
        duty = radios.table[COLUMN.duty, :n]
        self.busy = bool(duty.any())  # packets collide
        margin = self.margin if self.busy else 0.0
        self.reach = np.minimum(reaches(radios, self.classes, self.keep - margin), self.longest)
        group = radios.table[COLUMN.group, :n].astype(np.int64)
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
        if len(used) != 1 or self.radios.table[COLUMN.antenna, : self.radios.n].any():
            return compute_rows
        values = self.classes.table[:, used[0]]
        if values[CLASS.sigma] or values[CLASS.fading] or values[CLASS.terrain] or values[CLASS.obstacles]:
            return compute_rows
        return {FREE_SPACE: compute_free_rows, LOG_DISTANCE: compute_log_rows}.get(
            int(values[CLASS.model]), compute_rows
        )

    @property
    def candidates(self) -> Candidates:
        """The candidates of all receivers, with the present positions; listed again if a radio has moved too far."""
        table, candidates = self.radios.table, self._candidates
        if candidates is not None:
            self._held += 1
            moved = follow(table, candidates.order, candidates.made_at, candidates.seen)
            if moved <= 0.5 * candidates.slack:
                return candidates
            each = moved / self._held if moved < FAST * self.radius else 0.0  # not of vehicles that are placed
            self._slack = min(max(2.0 * HELD * each, SLACK[0] * self.radius), SLACK[1] * self.radius)
        self._candidates, self._held = self._listed(candidates), 0
        return self._candidates

    def _listed(self, before: Candidates | None) -> Candidates:
        """Return the candidates of all receivers.

        The arrays of a list `before`, which is not valid any more, are used again.
        """
        table, n, members, m = self.radios.table, self.radios.n, self.members, len(self.members)
        wide = self.radius + self._slack
        extents = [float(np.ptp(table[k, members])) / wide if m else 0.0 for k in range(3)]
        bits = torus_bits(m, extents)
        cells, start = np.array(bits, np.int64), np.zeros((1 << sum(bits)) + 1, np.int64)
        order, cell, seen = np.empty(n, np.int64), np.empty(m, np.int64), np.empty((SEEN_ROWS, n))
        sort_radios(table, members, self.broad, 1.0 / wide, cells, start, order, cell, seen)
        tables = ListTables(seen, order, m, wide, cells, start, self.reach, self._slack)
        first, count = np.zeros(n, np.int64), np.zeros(n, np.int64)
        share = _common_share(seen) if self.rows is compute_free_rows else np.zeros(0)
        alike = len(share) == 1
        if before is not None and alike == (len(before.share) == 1):
            room, at, share = before.room, before.at, before.share if not alike else share
        else:
            room, at = np.zeros(-(-n // LISTED) + 1, np.int64), np.empty(0, np.uint32)
        needed = np.zeros(len(room) - 1, np.int64)
        while True:
            list_candidates(tables, room, needed, first, count, at, share)
            if (needed <= np.diff(room)).all():
                return Candidates(order, seen, first, count, at, share, room, table[:3, :n].copy(), self._slack)
            if (total := int(needed.sum())) > MOST:
                raise PaddockError(
                    f"radio: {total:,} pairs of radios may hear each other; set radio.range, or a lower power or margin"
                )
            sizes = np.maximum(needed + needed // 2 + 64, np.diff(room))  # a larger slack needs more
            room = np.concatenate([[0], np.cumsum(sizes)])
            at, share = np.empty(int(room[-1]), np.uint32), share if alike else np.empty(int(room[-1]))

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

    def find_rows(self, keep: Floats) -> FoundRows:
        """Return the links of all receivers; terrain and obstacles count from `keep` (n,) dBm on."""
        radios, n, listed = self.radios, self.radios.n, self.candidates
        blocks = -(-n // BLOCK)
        if len(self._room) != blocks + 1:
            self._room = np.arange(blocks + 1) * BLOCK * min(n, ROOM)
        limits = self.reach, keep, self.least, radios.patterns
        tables = RowTables(
            *(radios.table, self.classes.table, self.classes.of, *limits, listed.seen, listed.order, listed.first),
            *(listed.many, listed.at, listed.share, self._longest(listed), self.busy),
        )
        at, many, outside = (np.zeros(n, np.int64) for _ in range(3))
        needed, interference = np.zeros(blocks, np.int64), np.zeros(n)
        while True:
            peer, values = self._scratch(int(self._room[-1]))
            rows = FoundRows(self._room, needed, peer, values, at, many, interference, outside)
            self.rows(tables, self.paths, *rows)
            sizes = np.diff(self._room)
            if (needed <= sizes).all():
                return rows
            self._room = np.concatenate([[0], np.cumsum(np.maximum(needed + needed // 4 + 8, sizes))])

    def run(self, tick: int, jamming: Floats, bursts: Floats, known: Links) -> Links:
        """Return the links at the present positions; `known` are those of the last update, with their states."""
        radios, rows = self.radios, self.find_rows(self.keep)
        made = self._made(tick, rows.many)._replace(
            interference=rows.interference, jamming=jamming, outside=rows.outside, bursts=bursts
        )
        finish_rows(radios.table, radios.curves, self.hysteresis, self.share, rows, known, made)
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
