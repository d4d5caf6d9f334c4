"""The rows of links, compiled: levels of all candidates, interference, SINR, packet errors and states.

`compute_rows` serves all links; `compute_free_rows` and `compute_log_rows` those of one simple class, whose loops
vectorise. A row is computed in place order and copied into the order of numbers by `copy_rows`.
"""

from typing import Any

from numpy import empty, int64, uint32, uint64

from paddock.compute.math import exp, log, maximum, minimum, sqrt
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.twin import rebound
from paddock.radio.candidates import BLOCK, SEEN_GROUP, STRENGTH, WAVE_SQUARE
from paddock.radio.links import (
    BITS,
    CERTAIN,
    EXPONENT,
    FREQUENCY,
    GROUP,
    HEIGHT,
    HOPELESS,
    MODEL,
    MODULATION,
    NEEDED,
    NOISE,
    PEAK,
    REFERENCE,
    SENSITIVITY,
    SPREAD,
    level_db,
    packet_error,
)
from paddock.radio.propagation import outside
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
    hysteresis: float,
    seen: Any,
    order: Any,
    first: Any,
    places: Any,
    shares: Any,
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
    """Compute the rows of all receivers in blocks of places.

    `room[b]:room[b + 1]` of `peer`, `values` (power in mW, SINR as a ratio, packet error rate) and `up` are for block
    b; a row that does not fit is counted only. `beyond` counts paths outside the range of their model.
    """
    n = order.size
    slack = exp(-NEPERS * hysteresis)
    for block in parallel_range(room.size - 1):
        size = 256
        index, apart, share, mw = empty(size, uint32), empty(size), empty(size), empty(size)
        free = room[block]
        for k in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            i = order[k]
            a, b = uint64(first[k]), uint64(first[k + 1])
            if b - a > uint64(size):
                size = 2 * int64(b - a)
                index, apart, share, mw = empty(size, uint32), empty(size), empty(size), empty(size)
            near = within_reach(seen, k, reach, places[a:b], shares[a:b], index, apart, share)
            beyond[i] = levels(table, seen, order, k, near, index, apart, classes, of, patterns, paths, keep[i], mw)
            total = 0.0
            for m in range(near):
                apart[m] = mw[m] * abs(share[m])
                total += apart[m]
            interference[i] = total
            kept = keep_links(order, near, exp(NEPERS * keep[i]), index, apart, share, mw)
            count[i] = kept
            at[i] = free
            end = free + int64(kept)
            if end <= room[block + 1]:
                rate_links(
                    table,
                    i,
                    kept,
                    index,
                    apart,
                    mw,
                    total,
                    jamming[i],
                    peer[free:end],
                    values[0, free:end],
                    values[1, free:end],
                    values[2, free:end],
                )
                set_states(table, i, free, end, slack, peer, values, up, known_start, known_peer, known_up)
            free = end


def within_reach(seen: Any, k: int, reach: Any, places: Any, shares: Any, index: Any, apart: Any, share: Any) -> Any:
    """Collect the candidates within their reach and their squared distances (m2); return how many."""
    row_x, row_y, row_z, row_group = seen[0], seen[1], seen[2], seen[SEEN_GROUP]
    x, y, z = row_x[k], row_y[k], row_z[k]
    mine = reach[int(row_group[k])]
    near = uint64(0)
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
    errors: Any,
) -> None:
    """Write transmitter, power (mW), SINR (ratio) and packet error rate of each link of receiver i."""
    always = table[NOISE, i] + jamming
    for m in range(kept):
        peer[m] = index[m]
        powers[m] = mw[m]
    for m in range(kept):
        ratios[m] = mw[m] / (always + maximum(total - part[m], 0.0))
    spread, bits, modulation = table[SPREAD, i], table[BITS, i], int(table[MODULATION, i])
    hopeless, certain = table[HOPELESS, i], table[CERTAIN, i]
    for m in range(kept):
        if hopeless < ratios[m] < certain:
            errors[m] = packet_error(modulation, ratios[m] * spread, bits)
        else:
            errors[m] = 1.0 if ratios[m] <= hopeless else 0.0


def set_states(
    table: Any,
    i: int,
    free: int,
    end: int,
    slack: float,
    peer: Any,
    values: Any,
    up: Any,
    known_start: Any,
    known_peer: Any,
    known_up: Any,
) -> None:
    """Set the states of the links of receiver i; one that was up stays up down to the hysteresis below the limit."""
    k, last = known_start[i], known_start[i + 1]
    sensitivity, needed = exp(NEPERS * table[SENSITIVITY, i]), exp(NEPERS * table[NEEDED, i])
    for m in range(free, end):
        number = peer[m]
        while k < last and known_peer[k] < number:
            k += 1
        was = k < last and known_peer[k] == number and known_up[k] != 0
        factor = slack if was else 1.0
        up[m] = int((values[0, m] >= sensitivity * factor) & (values[1, m] >= needed * factor))


def join_rows(at: Any, count: Any, start: Any, peer: Any, values: Any, up: Any, to: Any, into: Any, state: Any) -> None:
    """Copy the rows of all receivers into the order of their numbers."""
    for i in parallel_range(count.size):
        a, b, many = at[i], start[i], count[i]
        to[b : b + many] = peer[a : a + many]
        for row in range(3):
            into[row, b : b + many] = values[row, a : a + many]
        state[b : b + many] = up[a : a + many]


def decibel_rows(values: Any) -> None:
    """Convert powers (mW) and ratios in the first two rows to dBm and dB."""
    n = uint64(values.shape[1])
    for chunk in parallel_range((values.shape[1] + CHUNK - 1) // CHUNK):
        first = uint64(chunk) * uint64(CHUNK)
        for row in range(2):
            line = values[row]
            for m in range(first, min(first + uint64(CHUNK), n)):
                line[m] = DECIBELS * log(maximum(line[m], 1e-30))


compute_rows = parallel_routine(update_rows)
compute_free_rows = parallel_routine(rebound(update_rows, {levels: free_levels}), inline=True)
compute_log_rows = parallel_routine(rebound(update_rows, {levels: log_levels}), inline=True)
copy_rows = parallel_routine(join_rows)
to_decibels = parallel_routine(decibel_rows, inline=True)
