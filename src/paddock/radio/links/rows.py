"""The rows of links, compiled, in three steps.

`compute_rows` finds the links of each receiver: powers of all candidates, and interference. `compute_free_rows` and
`compute_log_rows` serve radios whose links are all of one simple class: their loops vectorise. Receivers are taken in
the order of places, which are near each other. `finish_rows` takes them in the order of numbers: it computes SINR,
packet errors and states, and converts to dB.

`apply_bursts` sets packet errors under a jammer that transmits in bursts: pulses, or a sweep that crosses the band
again and again. The mean power of a burst says little about packets: one that a pulse does not hit survives, and a
short pulse may be enough for a long packet. Error rates of links are those of packets that begin at any time; packets
on the simulated channel meet bursts at their times. Of all jammers at a receiver, the one with the largest mean power
among those that are not always on counts as bursts; the others count with their mean power. Jammers whose bursts begin
and end together are one.
"""

from math import inf, nextafter
from typing import Any, NamedTuple

from numpy import empty, float64, int64, uint32, uint64

from paddock.compute.math import absolute, clamp, exp, floor, log, maximum, minimum, select, sqrt
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.twin import rebound
from paddock.radio.links.radios import CLASS, COLUMN, CURVE, NEEDED_PER, SATURATES, SURVIVAL, Floats, Ints
from paddock.radio.links.table import BEGIN, BURST, CALM, CYCLE, LENGTH, LOAD, PERIOD, SHARE, airtime_of, level_db
from paddock.radio.physics.propagation import outside
from paddock.radio.physics.signal import (
    DECIBELS,
    LEVELS,
    MOST_LOST,
    NEPERS,
    add_to_level,
    ber,
    clear_levels,
    log1p,
    lowest_level,
    met_by,
    own_load,
    sum_levels,
)

# what others see of a radio, in the order of the list: position, edges of the band (Hz), duty per Hz, ...
LOW, HIGH, DENSITY, SEEN_OWNER, SEEN_GROUP, SEEN_WAVEFORM, WAVE_SQUARE, STRENGTH, GAIN = range(3, 12)
# of radios that transmit now and then, else 0: 1 / duty; and what `signal.py` adds up for packets that meet theirs
INVERSE, SEEN_LOAD, SEEN_PACE = range(12, 15)
SEEN_ROWS = 15
BLOCK = 64  # receivers that a thread takes at a time
VECTOR = 32  # numbers that the compiler takes at a time, at most


class RowTables(NamedTuple):
    """What the rows of an update are computed from, but for `Paths`: compiled code takes no tuple in a tuple."""

    table: Floats  # of radios
    classes: Floats  # of links
    of: Ints  # (groups, groups) class of a link
    reach: Floats  # (groups, groups) m
    keep: Floats  # (n,) dBm, of the weakest link in the table of links
    least: Floats  # (n,) the same in mW
    patterns: Floats  # of antennas
    seen: Floats  # those of the candidates
    order: Ints
    first: Ints
    many: Ints
    at: Any
    share: Floats
    longest: float  # m2, square of the longest link, of radios that are alike
    busy: bool  # whether radios transmit now and then: packets collide


class FoundRows(NamedTuple):
    """The rows of links of an update, in blocks of receivers.

    Rows of `values`: power, and its part in the receiver's band and in time (mW); where packets collide also steady
    interference (mW) and load.
    """

    room: Ints  # (blocks + 1,) block b may use room[b]:room[b + 1] of `peer` and `values`
    needed: Ints  # (blocks,) room that each needs; a row that does not fit is counted only
    peer: Any  # (k,) transmitters
    values: Floats  # (2 or 4, k)
    at: Ints  # (n,) where the row of each receiver begins
    many: Ints  # (n,) its length
    interference: Floats  # (n,) mW
    outside: Ints  # (n,) paths outside the range of their model


class RowScratch(NamedTuple):
    """Room for the candidates of one receiver."""

    index: Any  # (k,) place of the transmitter of each candidate, then of each link
    place: Any  # (k,) of each link among the candidates
    mw: Floats  # (k,) power of each candidate
    part: Floats  # (k,) the part of it in the receiver's band and in time, mW
    share: Floats  # (k,) that share
    met: Floats  # (2, LEVELS) levels of transmitters with which packets collide


def update_rows(tables: Any, paths: Any, room: Any, needed: Any, peer: Any, values: Any, at: Any, many: Any,
                interference: Any, beyond: Any) -> None:  # fmt: skip
    """Find the links of all receivers in blocks of places, as `FoundRows`.

    A loop in threads writes to arguments only: what it wrote to arrays of a tuple would be lost.
    """
    n = tables.order.size
    for block in parallel_range(room.size - 1):
        size = 256
        met = empty((2, LEVELS if tables.busy else 1))
        scratch = RowScratch(empty(size, uint32), empty(size, uint32), empty(size), empty(size), empty(size), met)
        free: Any = room[block]
        for k in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            if tables.many[k] + VECTOR > size:
                size = 2 * tables.many[k] + VECTOR
                places = empty(size, uint32), empty(size, uint32)
                scratch = RowScratch(places[0], places[1], empty(size), empty(size), empty(size), met)
            i = tables.order[k]
            kept, interference[i], beyond[i] = find_links(tables, paths, k, scratch)
            if tables.busy:
                sum_levels(met)
            many[i], at[i] = kept, free
            end = free + int64(kept)
            if end <= room[block + 1]:
                copy_links(tables, kept, scratch, peer[free:end], values[0, free:end], values[1, free:end])
                if tables.busy:
                    copy_collisions(tables, k, kept, scratch, values[2:, free:end])
            free = end
        needed[block] = free - room[block]


def find_links(tables: Any, paths: Any, k: int, scratch: RowScratch) -> tuple[Any, float, int]:
    """Find the links of the receiver at place k; return their number, interference, and paths outside their range.

    Of link m, the transmitter is at the place `index[m]`; `mw` and `part` have its powers at `place[m]`. `met` gets the
    levels of transmitters with which packets collide.
    """
    index, place, mw, part, share, met = scratch
    near = within_reach(tables, k, index, part, share)
    wrong = levels(tables, paths, k, near, index, part, mw)
    for m in range(near):
        part[m] = mw[m] * absolute(share[m])
    if tables.busy:
        clear_levels(met)
        i, seen = tables.order[k], tables.seen
        lowest, airtime = lowest_level(tables.least[i]), airtime_of(tables.table, i)
        for m in range(near):
            j = index[m]
            add_to_level(met, lowest, part[m], seen[INVERSE, j], seen[SEEN_LOAD, j] + airtime * seen[SEEN_PACE, j])
    least, kept = tables.least[tables.order[k]], uint64(0)
    for m in range(near):
        index[kept], place[kept] = index[m], m
        kept += uint64((share[m] > 0.0) & (mw[m] >= least))
    return kept, sum_of(part, near), wrong


def find_free_links(tables: Any, paths: Any, k: int, scratch: RowScratch) -> tuple[Any, float, int]:
    """The same in free space between isotropic antennas; faster if all radios are alike: distances decide."""
    if tables.share.size != 1:
        return find_links(tables, paths, k, scratch)
    index, place, mw, part, _, met = scratch
    row_x, row_y, row_z, places = tables.seen[0], tables.seen[1], tables.seen[2], tables.at
    x, y, z, reach, longest = row_x[k], row_y[k], row_z[k], tables.reach[0, 0] * tables.reach[0, 0], tables.longest
    near, kept = uint64(0), uint64(0)
    for m in range(uint64(tables.first[k]), uint64(tables.first[k] + tables.many[k])):
        j = places[m]
        dx, dy, dz = row_x[j] - x, row_y[j] - y, row_z[j] - z
        square = dx * dx + dy * dy + dz * dz
        mw[near], index[kept], place[kept] = square, j, near
        near += uint64(square <= reach)
        kept += uint64(square <= longest)
    strength, wave, alike = (
        tables.seen[GAIN, k] * tables.seen[STRENGTH, k],
        tables.seen[WAVE_SQUARE, k],
        tables.share[0],
    )
    for m in range((near + uint64(VECTOR - 1)) & uint64(-VECTOR)):  # whole vectors: a rest would be computed singly
        mw[m] = strength / maximum(wave * mw[m], 1.0)
        part[m] = mw[m] * alike
    if tables.busy:
        clear_levels(met)
        i, inverse = tables.order[k], tables.seen[INVERSE, k]
        load = tables.seen[SEEN_LOAD, k] + airtime_of(tables.table, i) * tables.seen[SEEN_PACE, k]
        lowest = lowest_level(tables.least[i])
        for m in range(near):
            add_to_level(met, lowest, part[m], inverse, load)
    return kept, sum_of(part, near), 0


def copy_links(tables: Any, kept: Any, scratch: RowScratch, peer: Any, powers: Any, parts: Any) -> None:
    """Write transmitter and powers of each link."""
    order, index, place, mw, part = tables.order, scratch.index, scratch.place, scratch.mw, scratch.part
    for m in range(kept):
        peer[m], powers[m] = order[index[m]], mw[place[m]]
    if tables.share.size != 1:
        for m in range(kept):
            parts[m] = part[place[m]]


def copy_collisions(tables: Any, k: int, kept: Any, scratch: RowScratch, values: Any) -> None:
    """Write steady interference and load of each link; levels are sums."""
    index, place, mw, part, _, met = scratch
    i, seen = tables.order[k], tables.seen
    airtime, own = airtime_of(tables.table, i), own_load(tables.table[COLUMN.duty, i])
    lowest, noise = lowest_level(tables.least[i]), tables.table[COLUMN.noise, i]
    share = exp(-NEPERS * tables.table[COLUMN.fatal, i])
    for m in range(kept):
        j, at = index[m], place[m]
        load = seen[SEEN_LOAD, j] + airtime * seen[SEEN_PACE, j]
        steady, others = met_by(met, lowest, share * mw[at] - noise, part[at], seen[INVERSE, j], load)
        values[0, m], values[1, m] = steady, others + own


def sum_of(values: Any, count: Any) -> float:
    """Return the sum of the first values, as four sums that need not wait for each other."""
    sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
    fours = count - count % uint64(4)
    for m in range(uint64(0), fours, uint64(4)):
        sum0 += values[m]
        sum1 += values[m + uint64(1)]
        sum2 += values[m + uint64(2)]
        sum3 += values[m + uint64(3)]
    for m in range(fours, count):
        sum0 += values[m]
    return (sum0 + sum1) + (sum2 + sum3)


def within_reach(tables: Any, k: int, index: Any, apart: Any, share: Any) -> Any:
    """Collect the candidates within their reach and their squared distances (m2); return how many."""
    seen, places, shares = tables.seen, tables.at, tables.share
    row_x, row_y, row_z, row_group = seen[0], seen[1], seen[2], seen[SEEN_GROUP]
    x, y, z = row_x[k], row_y[k], row_z[k]
    mine = tables.reach[int(row_group[k])]
    near = uint64(0)
    for m in range(uint64(tables.first[k]), uint64(tables.first[k] + tables.many[k])):
        j = places[m]
        dx, dy, dz = row_x[j] - x, row_y[j] - y, row_z[j] - z
        far, square = mine[uint64(row_group[j])], dx * dx + dy * dy + dz * dz
        index[near], apart[near], share[near] = j, square, shares[m]
        near += uint64(square <= far * far)
    return near


def levels(tables: Any, paths: Any, k: int, near: Any, index: Any, apart: Any, mw: Any) -> int:
    """Compute the powers (mW) with antennas and link classes; return how many paths are outside their model's range.

    `apart` are squared distances (m2).
    """
    table, classes, of, order = tables.table, tables.classes, tables.of, tables.order
    wrong, i = 0, order[k]
    for m in range(near):
        j = order[index[m]]
        mw[m] = exp(NEPERS * level_db(table, i, j, classes, of, tables.patterns, paths, tables.keep[i]))
        model = int(classes[CLASS.model, of[int(table[COLUMN.group, i]), int(table[COLUMN.group, j])]])
        out = outside(
            model, sqrt(apart[m]), table[COLUMN.frequency, j], table[COLUMN.height, i], table[COLUMN.height, j]
        )
        wrong += int(out != 0)
    return wrong


def free_levels(tables: Any, paths: Any, k: int, near: Any, index: Any, apart: Any, mw: Any) -> int:
    """The same in free space between isotropic antennas."""
    own, row_strength, row_wave = tables.seen[GAIN, k], tables.seen[STRENGTH], tables.seen[WAVE_SQUARE]
    for m in range(near):
        j = index[m]
        mw[m] = own * row_strength[j] / maximum(row_wave[j] * apart[m], 1.0)
    return 0


def log_levels(tables: Any, paths: Any, k: int, near: Any, index: Any, apart: Any, mw: Any) -> int:
    """The same with the log-distance model between isotropic antennas; all links are of one class."""
    table, i = tables.table, tables.order[k]
    own, c = tables.seen[GAIN, k], tables.of[int(table[COLUMN.group, i]), int(table[COLUMN.group, i])]
    exponent, reference = tables.classes[CLASS.exponent, c], tables.classes[CLASS.reference, c]
    row_strength, row_wave = tables.seen[STRENGTH], tables.seen[WAVE_SQUARE]
    for m in range(near):
        j = index[m]
        mw[m] = own * row_strength[j] / maximum(row_wave[j] * minimum(apart[m], reference * reference), 1.0)
    for m in range(near):
        farther = maximum(apart[m], reference * reference) / (reference * reference)
        mw[m] *= exp(-0.5 * exponent * log(farther))
    return 0


def decibels_of(ratio: float) -> float:
    """Return a ratio of powers from 1e-30 to 1e30 in dB; error below 1e-13 dB. Faster than `signal.decibels`."""
    bits = float64(clamp(ratio, 1e-30, 1e30)).view(int64)
    e: Any = float64((bits >> int64(52)) - int64(1023))
    m: Any = int64((bits & int64(0xFFFFFFFFFFFFF)) | int64(0x3FF0000000000000)).view(float64)  # in [1, 2)
    e, m = select(m >= 1.4142135623730951, e + 1.0, e), select(m >= 1.4142135623730951, m * 0.5, m)
    s = (m - 1.0) / (m + 1.0)  # log m = 2 artanh s, |s| <= 0.172
    z = s * s
    series = 0.07692307692307693 + z * (0.06666666666666667 + z * 0.058823529411764705)
    series = 0.1111111111111111 + z * (0.09090909090909091 + z * series)
    series = 0.3333333333333333 + z * (0.2 + z * (0.14285714285714285 + z * series))
    return float(e * 3.010299956639812 + 2.0 * DECIBELS * (s + s * z * series))


def join_rows(table: Any, curves: Any, hysteresis: float, share: Any, rows: Any, known: Any, made: Any) -> None:
    """Complete the rows of all receivers in the order of their numbers, in `made`.

    A link that is up in `known` stays up down to the hysteresis (dB) below the limits. Receivers of one group in a row
    are converted together: their loops vectorise, and a row is short.
    """
    row_group, n = table[COLUMN.group], rows.at.size
    for block in parallel_range((n + BLOCK - 1) // BLOCK):
        i, last = block * BLOCK, min(n, (block + 1) * BLOCK)
        while i < last:
            first, group = i, int(row_group[i])
            while i < last and int(row_group[i]) == group:
                always = table[COLUMN.noise, i] + made.jamming[i]
                a, b, many = uint64(rows.at[i]), uint64(made.start[i]), uint64(made.start[i + 1] - made.start[i])
                copy_row(rows, share, always, made.interference[i], made, a, b, many)
                mark_known(made.peer, known.peer, known.up, b, b + many, known.start[i], known.start[i + 1], made.up)
                i += 1
            quiet = share.size == 1 and share[0] == 0.0
            convert(table, first, i, curves[group], hysteresis, quiet, made)


def copy_row(rows: Any, share: Any, always: float, total: float, made: Any, a: Any, b: Any, many: Any) -> None:
    """Copy the row of a receiver from `a` to `b`: transmitters, powers (mW) and SINR (ratio).

    `always`: noise and jamming (mW); `total`: all interference (mW).
    """
    to, peer, powers, ratios = made.peer, rows.peer, made.power, made.sinr
    values, mw, parts = rows.values, rows.values[0], rows.values[1]
    for m in range(many):
        to[b + m] = peer[a + m]
    if share.size == 1 and share[0] == 0.0:  # no interference: SINR follows from the power
        for m in range(many):
            powers[b + m] = mw[a + m]
    elif share.size == 1:
        alike = share[0]
        for m in range(many):
            powers[b + m] = mw[a + m]
            ratios[b + m] = mw[a + m] / (always + maximum(total - mw[a + m] * alike, 0.0))
    else:
        for m in range(many):
            powers[b + m] = mw[a + m]
            ratios[b + m] = mw[a + m] / (always + maximum(total - parts[a + m], 0.0))
    if made.collisions.shape[1] > 0:
        calm, load = made.collisions[CALM], made.collisions[LOAD]
        steady, loads = values[2], values[3]
        for m in range(many):
            calm[b + m] = mw[a + m] / (always + steady[a + m])
        for m in range(many):
            load[b + m] = loads[a + m]


def convert(table: Any, i: int, last: int, curve: Any, hysteresis: float, quiet: bool, made: Any) -> None:
    """Convert powers and ratios of receivers of one group, from i to before `last`, to dBm and dB.

    Compute packet error rates and states. Without interference (`quiet`) the ratios are those over noise and jamming.
    """
    powers, ratios, errors, up = made.power, made.sinr, made.per, made.up
    first, end = uint64(made.start[i]), uint64(made.start[last])
    for m in range(first, end):
        powers[m] = decibels_of(powers[m])
    if quiet:
        for k in range(i, last):
            floor = decibels_of(table[COLUMN.noise, k] + made.jamming[k])
            for m in range(uint64(made.start[k]), uint64(made.start[k + 1])):
                ratios[m] = powers[m] - floor
    else:
        for m in range(first, end):
            ratios[m] = decibels_of(ratios[m])
    hopeless, rate = table[COLUMN.hopeless, i], table[COLUMN.curve_rate, i]
    sensitivity, needed = table[COLUMN.sensitivity, i], table[COLUMN.needed, i]
    if made.collisions.shape[1] > 0:
        calm, load = made.collisions[CALM], made.collisions[LOAD]
        for m in range(first, end):
            calm[m] = decibels_of(calm[m])
        for m in range(first, end):
            errors[m] = error_rate(curve, (calm[m] - hopeless) * rate)
        for m in range(first, end):
            errors[m] = 1.0 - (1.0 - errors[m]) * exp(-load[m])
        most, more = -log(1.0 - MOST_LOST), -log(1.0 - MOST_LOST) * exp(NEPERS * hysteresis)
        for m in range(first, end):
            good = (powers[m] >= sensitivity) & (calm[m] >= needed) & (load[m] <= most)
            fair = (powers[m] >= sensitivity - hysteresis) & (calm[m] >= needed - hysteresis) & (load[m] <= more)
            up[m] = good | (fair & (up[m] != 0))
        return
    for m in range(first, end):
        errors[m] = error_rate(curve, (ratios[m] - hopeless) * rate)
    for m in range(first, end):
        good = (powers[m] >= sensitivity) & (ratios[m] >= needed)
        fair = (powers[m] >= sensitivity - hysteresis) & (ratios[m] >= needed - hysteresis)
        up[m] = good | (fair & (up[m] != 0))


def mark_known(peer: Any, known_peer: Any, known_up: Any, k: Any, end: Any, first: Any, last: Any, up: Any) -> None:
    """Set `up`, k to end, to that of a known row, first to last, where it has the same transmitters; 0 elsewhere.

    No branch depends on states, which are as good as random: those on transmitters are mostly predicted.
    """
    q, last_known = uint64(first), uint64(last)
    while k < end and q < last_known:
        if peer[k] == known_peer[q]:
            up[k] = known_up[q]
            k, q = k + uint64(1), q + uint64(1)
        elif peer[k] < known_peer[q]:
            up[k] = 0
            k += uint64(1)
        else:
            q += uint64(1)
    for m in range(k, end):
        up[m] = 0


def error_rate(curve: Any, at: float) -> float:
    """Return the packet error rate on a curve of cubics, within [0, 1]; `at` counts its steps."""
    x = clamp(at, 0.0, CURVE - 1e-9)
    k: Any = uint64(int64(x))
    t = x - int64(x)
    return clamp(curve[k, 0] + t * (curve[k, 1] + t * (curve[k, 2] + t * curve[k, 3])), 0.0, 1.0)


def longest_square(strength: float, wave: float, least: float) -> float:
    """Return the largest square of a distance (m2) at which `find_free_links` has at least a power (mW); -1: none.

    `strength` is the power (mW) at no distance; `wave` the square of 4 pi / wavelength.
    """
    if strength < least:
        return -1.0
    square = strength / least / wave
    while strength / max(wave * square, 1.0) >= least:
        square = nextafter(square, inf)
    while not strength / max(wave * square, 1.0) >= least:
        square = nextafter(square, 0.0)
    return square


free_links = rebound(find_free_links, {levels: free_levels})


def row_routine(function: Any, inline: bool = False) -> Any:
    """Return a routine over the rows of all receivers: `update_rows` with other parts."""
    return parallel_routine(function, inline, lambda tables, *_: tables.order.size)


compute_rows = row_routine(update_rows)
compute_free_rows = row_routine(rebound(update_rows, {find_links: free_links}), inline=True)
compute_log_rows = row_routine(rebound(update_rows, {levels: log_levels}), inline=True)
finish_rows = parallel_routine(join_rows, inline=True, items=lambda *arguments: arguments[4].at.size)


def hit_probability(share: float, period: float, airtime: float) -> float:
    """Return the probability that a packet of some airtime (s) overlaps a burst.

    A burst lasts `share` of the `period` (s); packets begin at any time.
    """
    return minimum(share + airtime / period, 1.0)


def burst_time(bursts: Any, i: int, begin: float, end: float) -> float:
    """Return for how long (s) bursts last at receiver i between two times (s)."""
    cycle, length = bursts[CYCLE, i], bursts[LENGTH, i]
    first = (begin - bursts[BEGIN, i]) / cycle
    first = (first - floor(first)) * cycle  # from the begin of a burst
    last = first + end - begin
    whole = floor(last / cycle)
    return float(whole * length + minimum(last - whole * cycle, length) - minimum(first, length))


def burst_error(
    modulation: int, bits: float, airtime: float, quiet: float, jammed: float, share: float, period: float
) -> float:
    """Return the packet error rate under bursts, from Eb/N0 (ratio) between and during them.

    A packet that is hit shares, in the mean, share / (probability of a hit) of its bits with bursts.
    """
    hit = hit_probability(share, period, airtime)
    part = share / maximum(hit, 1e-300)
    good, bad = log1p(-minimum(ber(modulation, quiet), 0.5)), log1p(-minimum(ber(modulation, jammed), 0.5))
    missed = exp(bits * good)
    return 1.0 - ((1.0 - hit) * missed + hit * exp(bits * (part * bad + (1.0 - part) * good)))


def link_error(table: Any, i: int, signal: float, floor: float, bursts: Any) -> float:
    """Return the packet error rate at receiver i of a signal over the mean of all else (mW), bursts included.

    Collisions with transmissions of other radios are not in it.
    """
    power, share, period = bursts[BURST, i], bursts[SHARE, i], bursts[PERIOD, i]
    quiet = maximum(floor - power * share, 1e-300)
    spread, bits, airtime = table[COLUMN.spread, i], table[COLUMN.bits, i], airtime_of(table, i)
    ratios = signal / quiet * spread, signal / (quiet + power) * spread
    return burst_error(int(table[COLUMN.modulation, i]), bits, airtime, ratios[0], ratios[1], share, period)


def burst_rows(table: Any, survivals: Any, hysteresis: float, known: Any, made: Any) -> None:
    """Set packet error rates and states of the links, in `made`, of receivers with bursts.

    `survivals` are curves of `survival_curve`. A link that is up in `known` stays up down to the hysteresis (dB) below
    the limits.
    """
    n = made.bursts.shape[1]
    for block in parallel_range((n + BLOCK - 1) // BLOCK):
        last, most = min(n, (block + 1) * BLOCK), 0
        for i in range(block * BLOCK, last):
            most = max(most, made.start[i + 1] - made.start[i])
        room = empty((4, most))
        for i in range(block * BLOCK, last):
            if made.bursts[SHARE, i] > 0.0:
                rate_row(table, i, survivals[int(table[COLUMN.group, i])], hysteresis, known, made, room)


def rate_row(table: Any, i: int, curve: Any, hysteresis: float, known: Any, made: Any, room: Any) -> None:
    """Set packet error rates and states of the links of receiver i, in loops that vectorise.

    `room` is for the SINR (dB) between and during bursts, and the logarithms of the survival of packets there.
    """
    between, during, good, bad = room[0], room[1], room[2], room[3]
    first, many = uint64(made.start[i]), uint64(made.start[i + 1] - made.start[i])
    mark_known(made.peer, known.peer, known.up, first, first + many, known.start[i], known.start[i + 1], made.up)
    power, share, period = made.bursts[BURST, i], made.bursts[SHARE, i], made.bursts[PERIOD, i]
    powers, errors, up, collide = made.power, made.per, made.up, made.collisions.shape[1] > 0
    ratios = made.collisions[CALM] if collide else made.sinr
    for m in range(many):
        between[m] = exp(NEPERS * powers[first + m])
    for m in range(many):
        during[m] = maximum(between[m] * exp(-NEPERS * ratios[first + m]) - power * share, 1e-300)
    for m in range(many):
        signal, quiet = between[m], during[m]
        between[m], during[m] = decibels_of(signal / quiet), decibels_of(signal / (quiet + power))
    start, rate = table[COLUMN.hopeless, i] - SATURATES, SURVIVAL / (SATURATES + CURVE / table[COLUMN.curve_rate, i])
    hit = hit_probability(share, period, airtime_of(table, i))
    part = share / hit
    sensitivity, most = table[COLUMN.sensitivity, i], -log(1.0 - MOST_LOST)
    for m in range(many):
        good[m] = log_survival(curve, (between[m] - start) * rate)
    for m in range(many):
        bad[m] = log_survival(curve, (during[m] - start) * rate)
    for m in range(many):
        missed, met = exp(good[m]), exp(part * bad[m] + (1.0 - part) * good[m])
        errors[first + m] = 1.0 - ((1.0 - hit) * missed + hit * met)
    for m in range(many):
        lost, held, lower, limit = errors[first + m], up[first + m] != 0, 0.0, most
        if held:
            lower, limit = hysteresis, most * exp(NEPERS * hysteresis)
        if held and lost > NEEDED_PER:
            clear = log_survival(curve, (between[m] + hysteresis - start) * rate)
            worse = log_survival(curve, (during[m] + hysteresis - start) * rate)
            lost = 1.0 - ((1.0 - hit) * exp(clear) + hit * exp(part * worse + (1.0 - part) * clear))
        load = made.collisions[LOAD, first + m] if collide else 0.0
        up[first + m] = (lost <= NEEDED_PER) & (powers[first + m] >= sensitivity - lower) & (load <= limit)
    if collide:
        loads = made.collisions[LOAD]
        for m in range(many):
            errors[first + m] = 1.0 - (1.0 - errors[first + m]) * exp(-loads[first + m])


def log_survival(curve: Any, at: float) -> float:
    """Return the logarithm of the probability that a packet has no error, from a curve; `at` counts its steps."""
    x = clamp(at, 0.0, SURVIVAL - 1e-9)
    k: Any = uint64(int64(x))
    t = x - int64(x)
    return minimum(curve[k, 0] + t * (curve[k, 1] + t * (curve[k, 2] + t * curve[k, 3])), 0.0)


apply_bursts = parallel_routine(burst_rows, inline=True, items=lambda *arguments: arguments[-1].bursts.shape[1])
