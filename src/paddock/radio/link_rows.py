"""The rows of links, compiled: levels of all candidates, interference, SINR, packet errors and states.

`compute_rows` serves all links; `compute_free_rows` and `compute_log_rows` those of one simple class, whose loops
vectorise. A row is computed in place order and copied into the order of numbers by `copy_rows`.
"""

from typing import Any

from numpy import empty, int64, uint32, uint64

from paddock.compute.math import absolute, clamp, exp, log, maximum, minimum, select, sqrt
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.twin import rebound
from paddock.radio.candidates import BLOCK, SEEN_GROUP, STRENGTH, WAVE_SQUARE
from paddock.radio.links import (
    CURVE_RATE,
    EXPONENT,
    FREQUENCY,
    GROUP,
    HEIGHT,
    HOPELESS,
    MODEL,
    NEEDED,
    NOISE,
    PEAK,
    REFERENCE,
    SENSITIVITY,
    level_db,
)
from paddock.radio.propagation import outside
from paddock.radio.radios import CURVE
from paddock.radio.signal import DECIBELS, NEPERS

CHUNK = 4096  # values that a thread converts at a time


def update_rows(
    table: Any,
    classes: Any,
    of: Any,
    reach: Any,
    keep: Any,
    jamming: Any,
    patterns: Any,
    paths: Any,
    seen: Any,
    order: Any,
    first: Any,
    places: Any,
    shares: Any,
    room: Any,
    peer: Any,
    values: Any,
    at: Any,
    count: Any,
    interference: Any,
    beyond: Any,
) -> None:
    """Compute the rows of all receivers in blocks of places.

    `room[b]:room[b + 1]` of `peer` and `values` (power in mW, SINR as a ratio) are for block
    b; a row that does not fit is counted only. `beyond` counts paths outside the range of their model.
    """
    n = order.size
    for block in parallel_range(room.size - 1):
        size = 256
        index, apart, share, mw = empty(size, uint32), empty(size), empty(size), empty(size)
        free: Any = room[block]
        for k in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            i = order[k]
            a, b = uint64(first[k]), uint64(first[k + 1])
            if b - a > uint64(size):
                size = 2 * int(b - a)
                index, apart, share, mw = empty(size, uint32), empty(size), empty(size), empty(size)
            near = within_reach(seen, k, reach, places[a:b], shares[a:b], index, apart, share)
            beyond[i] = levels(table, seen, order, k, near, index, apart, classes, of, patterns, paths, keep[i], mw)
            for m in range(near):
                apart[m] = mw[m] * absolute(share[m])
            total = sum_of(apart, near)
            interference[i] = total
            kept = keep_links(order, near, exp(NEPERS * keep[i]), index, apart, share, mw)
            count[i] = kept
            at[i] = free
            end = free + int64(kept)
            if end <= room[block + 1]:
                powers, ratios = values[0, free:end], values[1, free:end]
                numbers = peer[free:end]
                rate_links(table, i, kept, index, apart, mw, total, jamming[i], numbers, powers, ratios)
            free = end


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


def within_reach(seen: Any, k: int, reach: Any, places: Any, shares: Any, index: Any, apart: Any, share: Any) -> Any:
    """Collect the candidates within their reach and their squared distances (m2); return how many."""
    row_x, row_y, row_z, row_group = seen[0], seen[1], seen[2], seen[SEEN_GROUP]
    x, y, z = row_x[k], row_y[k], row_z[k]
    mine = reach[int(row_group[k])]
    near = uint64(0)
    if mine.size == 1:
        limit = mine[0] * mine[0]
        for m in range(uint64(places.size)):
            j = places[m]
            dx, dy, dz = row_x[j] - x, row_y[j] - y, row_z[j] - z
            square = dx * dx + dy * dy + dz * dz
            index[near], apart[near], share[near] = j, square, shares[m]
            near += uint64(square <= limit)
        return near
    for m in range(uint64(places.size)):
        j = places[m]
        dx, dy, dz = row_x[j] - x, row_y[j] - y, row_z[j] - z
        far, square = mine[uint64(row_group[j])], dx * dx + dy * dy + dz * dz
        index[near], apart[near], share[near] = j, square, shares[m]
        near += uint64(square <= far * far)
    return near


def levels(
    table: Any,
    seen: Any,
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
    seen: Any,
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
    row_strength, row_wave = seen[STRENGTH], seen[WAVE_SQUARE]
    for m in range(near):
        j = index[m]
        mw[m] = own * row_strength[j] / maximum(row_wave[j] * apart[m], 1.0)
    return 0


def log_levels(
    table: Any,
    seen: Any,
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
    row_strength, row_wave = seen[STRENGTH], seen[WAVE_SQUARE]
    for m in range(near):
        j = index[m]
        mw[m] = own * row_strength[j] / maximum(row_wave[j] * minimum(apart[m], reference * reference), 1.0)
    for m in range(near):
        farther = maximum(apart[m], reference * reference) / (reference * reference)
        mw[m] *= exp(-0.5 * exponent * log(farther))
    return 0


def keep_links(order: Any, near: Any, least: float, index: Any, part: Any, share: Any, mw: Any) -> Any:
    """Keep the transmitters that are decoded and stronger than `least` (mW); `index` become their numbers."""
    kept = uint64(0)
    for m in range(near):
        power = mw[m]
        good = (share[m] > 0.0) & (power >= least)
        index[kept], mw[kept], part[kept] = order[index[m]], power, part[m]
        kept += uint64(good)
    return kept


def rate_links(
    table: Any,
    i: int,
    kept: Any,
    index: Any,
    part: Any,
    mw: Any,
    total: float,
    jamming: float,
    peer: Any,
    powers: Any,
    ratios: Any,
) -> None:
    """Write transmitter, power (mW) and SINR (ratio) of each link of receiver i."""
    always = table[NOISE, i] + jamming
    for m in range(kept):
        peer[m] = index[m]
        powers[m] = mw[m]
    for m in range(kept):
        ratios[m] = mw[m] / (always + maximum(total - part[m], 0.0))


def join_rows(at: Any, count: Any, start: Any, peer: Any, values: Any, to: Any, into: Any) -> None:
    """Copy the rows of all receivers into the order of their numbers."""
    for i in parallel_range(count.size):
        a, b, many = at[i], start[i], count[i]
        to[b : b + many] = peer[a : a + many]
        for row in range(2):
            into[row, b : b + many] = values[row, a : a + many]


def decibel_rows(values: Any) -> None:
    """Convert powers (mW) and ratios in the first two rows to dBm and dB."""
    n = uint64(values.shape[1])
    for chunk in parallel_range((values.shape[1] + CHUNK - 1) // CHUNK):
        first = uint64(chunk) * uint64(CHUNK)
        for row in range(2):
            line = values[row]
            for m in range(first, min(first + uint64(CHUNK), n)):
                line[m] = decibels_of(line[m])


def decibels_of(ratio: float) -> float:
    """Return a ratio of powers from 1e-30 to 1e30 in dB; error below 1e-13 dB. Faster than `signal.decibels`."""
    m = clamp(ratio, 1e-30, 1e30) * 1267650600228229401496703205376.0  # 2^100: at least 1, at most 2^200
    e = -100.0
    e, m = (
        select(m >= 3.402823669209385e38, e + 128.0, e),
        select(m >= 3.402823669209385e38, m * 2.938735877055719e-39, m),
    )
    e, m = (
        select(m >= 18446744073709551616.0, e + 64.0, e),
        select(m >= 18446744073709551616.0, m * 5.421010862427522e-20, m),
    )
    e, m = select(m >= 4294967296.0, e + 32.0, e), select(m >= 4294967296.0, m * 2.3283064365386963e-10, m)
    e, m = select(m >= 65536.0, e + 16.0, e), select(m >= 65536.0, m * 1.52587890625e-05, m)
    e, m = select(m >= 256.0, e + 8.0, e), select(m >= 256.0, m * 0.00390625, m)
    e, m = select(m >= 16.0, e + 4.0, e), select(m >= 16.0, m * 0.0625, m)
    e, m = select(m >= 4.0, e + 2.0, e), select(m >= 4.0, m * 0.25, m)
    e, m = select(m >= 2.0, e + 1.0, e), select(m >= 2.0, m * 0.5, m)
    e, m = select(m >= 1.4142135623730951, e + 1.0, e), select(m >= 1.4142135623730951, m * 0.5, m)
    s = (m - 1.0) / (m + 1.0)  # log m = 2 artanh s, |s| <= 0.172
    z = s * s
    series = 0.07692307692307693 + z * (0.06666666666666667 + z * 0.058823529411764705)
    series = 0.1111111111111111 + z * (0.09090909090909091 + z * series)
    series = 0.3333333333333333 + z * (0.2 + z * (0.14285714285714285 + z * series))
    return e * 3.010299956639812 + 2.0 * DECIBELS * (s + s * z * series)


def state_rows(
    table: Any,
    hysteresis: float,
    curves: Any,
    start: Any,
    peer: Any,
    powers: Any,
    ratios: Any,
    known_start: Any,
    known_peer: Any,
    known_up: Any,
    errors: Any,
    up: Any,
) -> None:
    """Compute packet error rates and states of links from powers (dBm) and SINRs (dB).

    A link that was up stays up down to the hysteresis (dB) below the limits.
    """
    for i in parallel_range(start.size - 1):
        first, end = uint64(start[i]), uint64(start[i + 1])
        curve, hopeless, rate = curves[int(table[GROUP, i])], table[HOPELESS, i], table[CURVE_RATE, i]
        for m in range(first, end):
            errors[m] = error_rate(curve, (ratios[m] - hopeless) * rate)
        sensitivity, needed = table[SENSITIVITY, i], table[NEEDED, i]
        for m in range(first, end):
            up[m] = (powers[m] >= sensitivity) & (ratios[m] >= needed)
        k = first
        for q in range(uint64(known_start[i]), uint64(known_start[i + 1])):
            if known_up[q] != 0:
                while k < end and peer[k] < known_peer[q]:
                    k += uint64(1)
                if k < end and peer[k] == known_peer[q]:
                    up[k] = (powers[k] >= sensitivity - hysteresis) & (ratios[k] >= needed - hysteresis)


def error_rate(curve: Any, at: float) -> float:
    """Return the packet error rate between the values of a curve: cubic, within [0, 1]; `at` counts its steps."""
    x = clamp(at, 0.0, CURVE - 1e-9)
    k: Any = uint64(int64(x))
    t = x - int64(x)
    a, b, c, d = curve[k], curve[k + uint64(1)], curve[k + uint64(2)], curve[k + uint64(3)]
    slope = 0.5 * (c - a)
    bend = a - 2.5 * b + 2.0 * c - 0.5 * d
    twist = 0.5 * (d - a) + 1.5 * (b - c)
    return clamp(b + t * (slope + t * (bend + t * twist)), 0.0, 1.0)


compute_rows = parallel_routine(update_rows)
compute_free_rows = parallel_routine(rebound(update_rows, {levels: free_levels}), inline=True)
compute_log_rows = parallel_routine(rebound(update_rows, {levels: log_levels}), inline=True)
copy_rows = parallel_routine(join_rows)
to_decibels = parallel_routine(decibel_rows, inline=True)
set_states = parallel_routine(state_rows, inline=True)
