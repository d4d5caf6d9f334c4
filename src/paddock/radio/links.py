"""All links of a tick: received power, interference, SINR, packet errors and link states of every receiver.

Transmitters that a receiver may hear are found with a grid of cells, so the work grows with the number of links, not
with the square of the number of radios. The few radios that reach much farther than the others (stations) are not in
the grid: everything is tried against them. What lies beyond the reach of `margin` below the weakest usable link is left
out; `far_interference` bounds it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import argsort, empty, floor, int64, uint32, uint64
from numpy.typing import NDArray

from paddock.compute.math import PI, absolute, exp, log, maximum, minimum, sqrt
from paddock.compute.neighbours import torus_bits
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.compute.twin import rebound
from paddock.radio.antennas import ISOTROPIC, direction, gain_db, polarisation_loss_db, polarisation_share
from paddock.radio.paths import Paths, blocking, random_gains
from paddock.radio.propagation import FREE_SPACE, LIGHT, LOG_DISTANCE, loss_db, outside
from paddock.radio.radios import CLASS, COLUMN, Classes, Floats, Ints, Radios, reaches
from paddock.radio.signal import DECIBELS, NEPERS, ber, per

Bools = NDArray[np.uint8]
Indices = NDArray[np.int32]
ROW_BLOCK = 64  # receivers that a thread takes at a time
ROOM = 48  # links of a receiver for which there is room at first
BROAD_MOST = 64  # radios outside the grid
BROAD_FROM = 1.5  # times the reach of the others from which a group is left out of the grid
SAME_CHANNEL = 0.1  # of the bandwidth: centre frequencies may differ by this much
FAR_CELLS = 12  # cells along an axis of the grid that bounds far interference
WAVE = 4.0 * PI / LIGHT
# what others see of a radio, sorted by cell: position (rows 0 to 2), edges of the band (Hz), duty per Hz, ...
LOW, HIGH, DENSITY, SEEN_OWNER, SEEN_GROUP, SEEN_MODULATION, WAVE_SQUARE, STRENGTH = range(3, 11)
SEEN_ROWS = 11

X, Y, Z, QX, QY, QZ, QW = range(7)
PX, PY, PZ, HEIGHT = COLUMN.px, COLUMN.py, COLUMN.pz, COLUMN.height
POLARISED, FREQUENCY, BANDWIDTH, POWER = COLUMN.polarised, COLUMN.frequency, COLUMN.bandwidth, COLUMN.power
NOISE, MODULATION, SPREAD, DUTY, BITS = COLUMN.noise, COLUMN.modulation, COLUMN.spread, COLUMN.duty, COLUMN.bits
ANTENNA, PEAK, AZIMUTH, ELEVATION, PATTERN = (
    COLUMN.antenna,
    COLUMN.peak,
    COLUMN.azimuth,
    COLUMN.elevation,
    COLUMN.pattern,
)
GROUP, OWNER, SENSITIVITY, NEEDED = COLUMN.group, COLUMN.owner, COLUMN.sensitivity, COLUMN.needed
HOPELESS, CERTAIN = COLUMN.hopeless, COLUMN.certain
MODEL, EXPONENT, REFERENCE, CITY = CLASS.model, CLASS.exponent, CLASS.reference, CLASS.city


class Links(NamedTuple):
    """The links after an update, rows of transmitters that each receiver hears.

    Entries of receiver i are `start[i]:start[i + 1]`; `peer` ascends within a row.
    """

    tick: int
    start: Ints  # (n + 1,)
    peer: Indices  # (m,) number of the transmitter
    power: Floats  # (m,) dBm, received
    sinr: Floats  # (m,) dB
    per: Floats  # (m,) packet error rate
    up: Bools  # (m,) 1: usable, with hysteresis
    interference: Floats  # (n,) mW, of all other radios in the receiver's band
    jamming: Floats  # (n,) mW
    outside: Ints  # (n,) transmitters whose path is outside the range of its model


def no_links(n: int) -> Links:
    """Return the links before the first update."""
    floats = np.zeros(0)
    empties = np.zeros(0, np.int32), floats, floats, floats, np.zeros(0, np.uint8)
    return Links(-1, np.zeros(n + 1, np.int64), *empties, np.zeros(n), np.zeros(n), np.zeros(n, np.int64))


# scalar parts --------------------------------------------------------------------------------------------------------


def pair_gain(table: Any, i: int, j: int, patterns: Any) -> float:
    """Return the gains of both antennas towards each other less the loss of polarisation, dB."""
    dx, dy, dz = table[X, j] - table[X, i], table[Y, j] - table[Y, i], table[Z, j] - table[Z, i]
    gain = antenna_gain(table, i, dx, dy, dz, patterns) + antenna_gain(table, j, -dx, -dy, -dz, patterns)
    if table[ANTENNA, i] != ISOTROPIC and table[ANTENNA, j] != ISOTROPIC:
        share = polarisation_share(
            table[PX, i], table[PY, i], table[PZ, i], table[PX, j], table[PY, j], table[PZ, j], dx, dy, dz
        )
        gain -= polarisation_loss_db(int(table[POLARISED, i]), int(table[POLARISED, j]), share)
    return gain


def antenna_gain(table: Any, k: int, dx: float, dy: float, dz: float, patterns: Any) -> float:
    """Return the gain (dBi) of a radio's antenna towards a vector of the world."""
    kind = int(table[ANTENNA, k])
    if kind == ISOTROPIC:
        return float(table[PEAK, k])
    x, y, z = direction(table[QX, k], table[QY, k], table[QZ, k], table[QW, k], dx, dy, dz)
    return gain_db(
        kind, table[PEAK, k], table[AZIMUTH, k], table[ELEVATION, k], int(table[PATTERN, k]), patterns, x, y, z
    )


def pair_distance(table: Any, i: int, j: int) -> float:
    """Return the distance (m) between two antennas."""
    dx, dy, dz = table[X, j] - table[X, i], table[Y, j] - table[Y, i], table[Z, j] - table[Z, i]
    return sqrt(dx * dx + dy * dy + dz * dz)


def model_loss(table: Any, i: int, j: int, classes: Any, c: int) -> float:
    """Return the loss (dB) of the model of a link class."""
    return loss_db(
        int(classes[MODEL, c]),
        pair_distance(table, i, j),
        table[FREQUENCY, j],
        table[HEIGHT, i],
        table[HEIGHT, j],
        classes[EXPONENT, c],
        classes[REFERENCE, c],
        int(classes[CITY, c]),
    )


def level_db(table: Any, i: int, j: int, classes: Any, of: Any, patterns: Any, paths: Any, least: float) -> float:
    """Return the power (dBm) of transmitter j at receiver i; terrain and obstacles count from `least` dBm on."""
    c = of[int(table[GROUP, i]), int(table[GROUP, j])]
    shadowing, fading = random_gains(table, i, j, classes, c, paths)
    level = table[POWER, j] + pair_gain(table, i, j, patterns) - model_loss(table, i, j, classes, c)
    level += shadowing + fading
    if level >= least:
        diffraction, blocked = blocking(table, i, j, classes, c, paths)
        level -= diffraction + blocked
    return float(level)


def common_band(frequency: float, bandwidth: float, other: float, width: float) -> float:
    """Return the share of another transmission, at `other` with `width` (Hz), that falls into a band; <= 0: none."""
    top = minimum(frequency + 0.5 * bandwidth, other + 0.5 * width)
    bottom = maximum(frequency - 0.5 * bandwidth, other - 0.5 * width)
    return (top - bottom) / width


def packet_error(modulation: int, ratio: float, bits: float) -> float:
    """Return the packet error rate at Eb/N0 (ratio)."""
    return per(ber(modulation, ratio), bits)


# the update ----------------------------------------------------------------------------------------------------------


def sort_cells(
    table: Any,
    members: Any,
    broad: Any,
    inverse: float,
    bits_x: int,
    bits_y: int,
    bits_z: int,
    start: Any,
    order: Any,
    cell: Any,
    place: Any,
) -> None:
    """Sort radios by cell, broad ones after them: `order` are their numbers, `place` what others see of them.

    Cell c has the places `start[c]:start[c + 1]`.
    """
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << bits_z) - 1
    for k in range(members.size):
        j = members[k]
        cx = int64(floor(table[X, j] * inverse)) & mask_x
        cy = int64(floor(table[Y, j] * inverse)) & mask_y
        cz = int64(floor(table[Z, j] * inverse)) & mask_z
        cell[k] = (((cz << bits_y) | cy) << bits_x) | cx
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
    for k in range(order.size):
        j = order[k]
        place[0, k], place[1, k], place[2, k] = table[X, j], table[Y, j], table[Z, j]
        place[LOW, k] = table[FREQUENCY, j] - 0.5 * table[BANDWIDTH, j]
        place[HIGH, k] = table[FREQUENCY, j] + 0.5 * table[BANDWIDTH, j]
        place[DENSITY, k] = table[DUTY, j] / table[BANDWIDTH, j]
        place[SEEN_OWNER, k], place[SEEN_GROUP, k] = table[OWNER, j], table[GROUP, j]
        place[SEEN_MODULATION, k] = table[MODULATION, j]
        wave = WAVE * table[FREQUENCY, j]
        place[WAVE_SQUARE, k] = wave * wave
        place[STRENGTH, k] = exp(NEPERS * (table[POWER, j] + table[PEAK, j]))


def update_rows(
    table: Any,
    classes: Any,
    of: Any,
    reach: Any,
    keep: Any,
    jamming: Any,
    patterns: Any,
    paths: Any,
    hysteresis: float,
    cells: Any,
    inverse: float,
    start: Any,
    order: Any,
    place: Any,
    inside: int,
    known_start: Any,
    known_peer: Any,
    known_up: Any,
    room: Any,
    peer: Any,
    values: Any,
    up: Any,
    at: Any,
    count: Any,
    interference: Any,
    beyond: Any,
) -> None:
    """Compute the rows of all receivers, in blocks: those of the grid in the order of cells, then broad ones.

    The first `inside` places are in the grid. `room[b]:room[b + 1]` of `peer`, `values` (power, sinr, per) and `up`
    are for block b; a row that does not fit is counted only.
    """
    blocks = (inside + ROW_BLOCK - 1) // ROW_BLOCK
    n = order.size
    for block in parallel_range(room.size - 1):
        size = 512
        index, apart, share, mw = empty(size, uint32), empty(size), empty(size), empty(size)
        first, last = block * ROW_BLOCK, min(inside, (block + 1) * ROW_BLOCK)
        if block >= blocks:
            first, last = inside + block - blocks, inside + block - blocks + 1
        free = room[block]
        for k in range(first, last):
            i = order[k]
            found = n if block >= blocks else n - inside + count_near(place, k, inverse, cells, start)
            if found > size:
                size = 2 * found
                index, apart, share, mw = empty(size, uint32), empty(size), empty(size), empty(size)
            near = uint64(0)  # unsigned indices spare the test for negative ones, and let loops vectorise
            if block < blocks:
                near = find_near(place, k, inverse, cells, start, index, apart)
            near = find_all(place, k, inside if block < blocks else 0, n, near, index, apart)
            near = hear(place, k, near, reach, index, apart, share)
            beyond[i] = levels(table, place, order, k, near, index, apart, classes, of, patterns, paths, keep[i], mw)
            total = 0.0
            for m in range(near):
                share[m] *= mw[m]
                total += share[m]
            interference[i] = total
            kept = keep_links(place, order, k, near, keep[i], index, share, mw)
            count[i] = kept
            at[i] = free
            end = free + int64(kept)
            if end <= room[block + 1]:
                sort_links(int64(kept), index, share, mw)
                rows = peer[free:end], values[0, free:end], values[1, free:end], values[2, free:end]
                rate_links(table, i, kept, index, share, mw, total, jamming[i], rows[0], rows[1], rows[2], rows[3])
                set_states(table, i, free, end, hysteresis, peer, values, up, known_start, known_peer, known_up)
            free = end


def count_near(place: Any, k: int, inverse: float, cells: Any, start: Any) -> int:
    """Return the number of radios in the cells around that of place k."""
    bits_x, bits_y, bits_z = cells[0], cells[1], cells[2]
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << bits_z) - 1
    cx = int64(floor(place[0, k] * inverse))
    cy = int64(floor(place[1, k] * inverse))
    cz = int64(floor(place[2, k] * inverse))
    total = 0
    for az in range(-1, 2):
        for ay in range(-1, 2):
            line = ((((cz + az) & mask_z) << bits_y) | ((cy + ay) & mask_y)) << bits_x
            for ax in range(-1, 2):
                c = line | ((cx + ax) & mask_x)
                total += start[c + 1] - start[c]
    return total


def find_near(place: Any, k: int, inverse: float, cells: Any, start: Any, index: Any, apart: Any) -> Any:
    """Collect the places within a cell's length of place k, and their squared distances (m2); return how many."""
    bits_x, bits_y, bits_z = cells[0], cells[1], cells[2]
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << bits_z) - 1
    row_x, row_y, row_z = place[0], place[1], place[2]
    x, y, z = row_x[k], row_y[k], row_z[k]
    cx, cy, cz = int64(floor(x * inverse)), int64(floor(y * inverse)), int64(floor(z * inverse))
    limit = 1.0 / (inverse * inverse)
    left = (cx - 1) & mask_x
    runs, width = (1, 3) if left + 2 <= mask_x else (3, 1)  # three cells along x are one run, unless they wrap
    found, own = uint64(0), uint64(k)
    for az in range(-1, 2):
        for ay in range(-1, 2):
            line = ((((cz + az) & mask_z) << bits_y) | ((cy + ay) & mask_y)) << bits_x
            for run in range(runs):
                c = line | ((left + run) & mask_x)
                for m in range(uint64(start[c]), uint64(start[c + width])):
                    dx, dy, dz = row_x[m] - x, row_y[m] - y, row_z[m] - z
                    square = dx * dx + dy * dy + dz * dz
                    index[found] = m
                    apart[found] = square
                    found += uint64((square <= limit) & (m != own))
    return found


def find_all(place: Any, k: int, first: int, end: int, found: Any, index: Any, apart: Any) -> Any:
    """Append the places from `first` to `end` but k; return how many there are now."""
    x, y, z = place[0, k], place[1, k], place[2, k]
    for m in range(uint64(first), uint64(end)):
        dx, dy, dz = place[0, m] - x, place[1, m] - y, place[2, m] - z
        index[found] = m
        apart[found] = dx * dx + dy * dy + dz * dz
        found += uint64(m != uint64(k))
    return found


def hear(place: Any, k: int, near: Any, reach: Any, index: Any, apart: Any, share: Any) -> Any:
    """Keep the transmitters whose band overlaps that of place k and that may reach it; return how many.

    `share` becomes the share of their power in the band, and in time.
    """
    row_low, row_high, row_density = place[LOW], place[HIGH], place[DENSITY]
    row_owner, row_group = place[SEEN_OWNER], place[SEEN_GROUP]
    low, high, own = row_low[k], row_high[k], row_owner[k]
    mine = reach[int(row_group[k])]
    kept = uint64(0)
    for m in range(near):
        j = index[m]
        common = minimum(high, row_high[j]) - maximum(low, row_low[j])
        far = mine[uint64(row_group[j])]
        square = apart[m]
        index[kept], apart[kept], share[kept] = j, square, common * row_density[j]
        kept += uint64((common > 0.0) & (row_owner[j] != own) & (square <= far * far))
    return kept


def levels(
    table: Any,
    place: Any,
    order: Any,
    k: int,
    near: Any,
    index: Any,
    apart: Any,
    classes: Any,
    of: Any,
    patterns: Any,
    paths: Any,
    least: float,
    mw: Any,
) -> int:
    """Compute the powers (mW) with antennas and link classes; return how many paths are outside their model's range.

    `apart` are squared distances (m2).
    """
    wrong, i = 0, order[k]
    for m in range(near):
        j = order[index[m]]
        mw[m] = exp(NEPERS * level_db(table, i, j, classes, of, patterns, paths, least))
        model = int(classes[MODEL, of[int(table[GROUP, i]), int(table[GROUP, j])]])
        out = outside(model, sqrt(apart[m]), table[FREQUENCY, j], table[HEIGHT, i], table[HEIGHT, j])
        wrong += int(out != 0)
    return wrong


def free_levels(
    table: Any,
    place: Any,
    order: Any,
    k: int,
    near: Any,
    index: Any,
    apart: Any,
    classes: Any,
    of: Any,
    patterns: Any,
    paths: Any,
    least: float,
    mw: Any,
) -> int:
    """The same in free space between isotropic antennas."""
    own = exp(NEPERS * table[PEAK, order[k]])
    row_strength, row_wave = place[STRENGTH], place[WAVE_SQUARE]
    for m in range(near):
        j = index[m]
        mw[m] = own * row_strength[j] / maximum(row_wave[j] * apart[m], 1.0)
    return 0


def log_levels(
    table: Any,
    place: Any,
    order: Any,
    k: int,
    near: Any,
    index: Any,
    apart: Any,
    classes: Any,
    of: Any,
    patterns: Any,
    paths: Any,
    least: float,
    mw: Any,
) -> int:
    """The same with the log-distance model between isotropic antennas; all links are of one class."""
    i = order[k]
    own, c = exp(NEPERS * table[PEAK, i]), of[int(table[GROUP, i]), int(table[GROUP, i])]
    exponent, reference = classes[EXPONENT, c], classes[REFERENCE, c]
    row_strength, row_wave = place[STRENGTH], place[WAVE_SQUARE]
    for m in range(near):
        j = index[m]
        mw[m] = own * row_strength[j] / maximum(row_wave[j] * minimum(apart[m], reference * reference), 1.0)
    for m in range(near):
        farther = maximum(apart[m], reference * reference) / (reference * reference)
        mw[m] *= exp(-0.5 * exponent * log(farther))
    return 0


def keep_links(place: Any, order: Any, k: int, near: Any, keep: float, index: Any, share: Any, mw: Any) -> Any:
    """Keep the transmitters that the receiver at place k can decode and hears; `index` become their numbers."""
    row_low, row_high, row_modulation = place[LOW], place[HIGH], place[SEEN_MODULATION]
    twice, modulation = row_low[k] + row_high[k], row_modulation[k]
    near_enough, least = 2.0 * SAME_CHANNEL * (row_high[k] - row_low[k]), exp(NEPERS * keep)
    kept = uint64(0)
    for m in range(near):
        j, power, part = index[m], mw[m], share[m]
        same = (absolute(row_low[j] + row_high[j] - twice) <= near_enough) & (row_modulation[j] == modulation)
        index[kept], mw[kept], share[kept] = order[j], power, part
        kept += uint64(same & (power >= least))
    return kept


def sort_links(kept: Any, index: Any, share: Any, mw: Any) -> None:
    """Sort links by the number of their transmitter."""
    if kept > 96:
        places = argsort(index[:kept])
        index[:kept] = index[:kept][places]
        share[:kept] = share[:kept][places]
        mw[:kept] = mw[:kept][places]
        return
    for m in range(1, kept):
        j, part, power, k = index[m], share[m], mw[m], m
        while k > 0 and index[k - 1] > j:
            index[k], share[k], mw[k] = index[k - 1], share[k - 1], mw[k - 1]
            k -= 1
        index[k], share[k], mw[k] = j, part, power


def rate_links(
    table: Any,
    i: int,
    kept: Any,
    index: Any,
    share: Any,
    mw: Any,
    total: float,
    jamming: float,
    peer: Any,
    powers: Any,
    ratios: Any,
    errors: Any,
) -> None:
    """Write transmitter, power, SINR and packet error rate of each link of receiver i."""
    always = table[NOISE, i] + jamming
    for m in range(kept):
        peer[m] = index[m]
        powers[m] = mw[m]
        mw[m] = mw[m] / (always + maximum(total - share[m], 0.0))
    for m in range(kept):
        powers[m] = DECIBELS * log(maximum(powers[m], 1e-30))
    for m in range(kept):
        ratios[m] = DECIBELS * log(maximum(mw[m], 1e-30))
    spread, bits, modulation = table[SPREAD, i], table[BITS, i], int(table[MODULATION, i])
    hopeless, certain = table[HOPELESS, i], table[CERTAIN, i]
    for m in range(kept):
        if hopeless < mw[m] < certain:
            errors[m] = packet_error(modulation, mw[m] * spread, bits)
        else:
            errors[m] = 1.0 if mw[m] <= hopeless else 0.0


def set_states(
    table: Any,
    i: int,
    free: int,
    end: int,
    hysteresis: float,
    peer: Any,
    values: Any,
    up: Any,
    known_start: Any,
    known_peer: Any,
    known_up: Any,
) -> None:
    """Set the states of the links of receiver i; one that was up stays up down to the hysteresis below the limit."""
    k, last = known_start[i], known_start[i + 1]
    sensitivity, needed = table[SENSITIVITY, i], table[NEEDED, i]
    for m in range(free, end):
        while k < last and known_peer[k] < peer[m]:
            k += 1
        was = k < last and known_peer[k] == peer[m] and known_up[k] != 0
        slack = hysteresis if was else 0.0
        up[m] = int((values[0, m] >= sensitivity - slack) & (values[1, m] >= needed - slack))


def join_rows(at: Any, count: Any, start: Any, peer: Any, values: Any, up: Any, to: Any, into: Any, state: Any) -> None:
    """Copy the rows of all receivers into the order of their numbers."""
    for i in parallel_range(count.size):
        a, b = at[i], start[i]
        for m in range(count[i]):
            to[b + m] = peer[a + m]
            into[0, b + m], into[1, b + m], into[2, b + m] = values[0, a + m], values[1, a + m], values[2, a + m]
            state[b + m] = up[a + m]


sort_radios = routine(sort_cells)
compute_rows = parallel_routine(update_rows)
compute_free_rows = parallel_routine(rebound(update_rows, {levels: free_levels}), inline=True)
compute_log_rows = parallel_routine(rebound(update_rows, {levels: log_levels}), inline=True)
copy_rows = parallel_routine(join_rows)


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
        self.refresh()

    def refresh(self) -> None:
        """Compute the reach of all groups again, after a change of frequencies or powers."""
        radios, n = self.radios, self.radios.n
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

    def run(self, tick: int, jamming: Floats, known: Links) -> Links:
        """Return the links at the present positions; `known` are those of the last update, with their states."""
        radios, n, m = self.radios, self.radios.n, len(self.members)
        table = radios.table
        extents = [float(np.ptp(table[k, self.members])) / self.radius if m else 0.0 for k in range(3)]
        bits = torus_bits(m, extents)
        cells, start = np.array(bits, np.int64), np.zeros((1 << sum(bits)) + 1, np.int64)
        order, cell, place = np.empty(n, np.int64), np.empty(m, np.int64), np.empty((SEEN_ROWS, n))
        sort_radios(table, self.members, self.broad, 1.0 / self.radius, *bits, start, order, cell, place)
        blocks = -(-m // ROW_BLOCK) + len(self.broad)
        if len(self._room) != blocks + 1:
            rows = np.full(blocks, ROW_BLOCK)
            rows[-(-m // ROW_BLOCK) :] = 1
            self._room = np.concatenate([[0], np.cumsum(np.minimum(rows * n, rows * ROOM))])
        at, count, beyond = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
        interference = np.zeros(n)
        while True:
            most = int(self._room[-1])
            peer, values, up = np.empty(most, np.int32), np.empty((3, most)), np.empty(most, np.uint8)
            given: Any = (
                *(table, self.classes.table, self.classes.of, self.reach, self.keep, jamming, radios.patterns),
                *(self.paths, self.hysteresis, cells, 1.0 / self.radius, start, order, place, m),
                *(known.start, known.peer, known.up, self._room, peer, values, up),
                *(at, count, interference, beyond),
            )
            self.rows(*given)
            in_block = np.add.reduceat(count[order], self._block_starts(m)) if n else count
            if (in_block <= np.diff(self._room)).all():
                break
            needed = np.maximum(in_block + in_block // 4 + 8, np.diff(self._room))
            self._room = np.concatenate([[0], np.cumsum(needed)])
        ends = np.concatenate([[0], np.cumsum(count)])
        total = int(ends[-1])
        to, into, state = np.empty(total, np.int32), np.empty((3, total)), np.empty(total, np.uint8)
        copy_rows(at, count, ends, peer, values, up, to, into, state)
        return Links(tick, ends, to, into[0], into[1], into[2], state, interference, jamming, beyond)

    def _block_starts(self, m: int) -> Ints:
        return np.concatenate([np.arange(0, m, ROW_BLOCK), m + np.arange(len(self.broad))])
