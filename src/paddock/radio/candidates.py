"""Candidates: for every receiver, the transmitters that may reach it before the list is made again.

A grid of cells finds them, so the work grows with their number, not with the square of the number of radios. The few
radios that reach much farther than the others (stations) are not in the grid: everything is tried against them. A list
holds until a radio has moved by half of the slack; what it lists beyond the reach is sorted out in each update, so that
the links do not depend on when the list was made.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, floor, int64, uint64
from numpy.typing import NDArray

from paddock.compute.math import PI, absolute, exp, maximum, minimum, select
from paddock.compute.neighbours import torus_bits
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.errors import PaddockError
from paddock.radio.links import (
    BANDWIDTH,
    DUTY,
    FREQUENCY,
    GROUP,
    MODULATION,
    OWNER,
    PEAK,
    POWER,
    SAME_CHANNEL,
    X,
    Y,
    Z,
)
from paddock.radio.propagation import LIGHT
from paddock.radio.radios import Floats, Ints
from paddock.radio.signal import NEPERS

BLOCK = 64  # receivers that a thread takes at a time
MOST = 200_000_000  # candidates of all receivers
WAVE = 4.0 * PI / LIGHT
# what others see of a radio, in the order of the list: position, edges of the band (Hz), duty per Hz, ...
LOW, HIGH, DENSITY, SEEN_OWNER, SEEN_GROUP, SEEN_MODULATION, WAVE_SQUARE, STRENGTH = range(3, 11)
SEEN_ROWS = 11


class Candidates(NamedTuple):
    """The transmitters that each receiver may hear.

    Radios are sorted by cell: place k is number `order[k]`. Candidates of place k are `start[k]:start[k + 1]`, places
    `at` in ascending order of their numbers. `share` is the part of their power in the receiver's band, and in time;
    it is negative where the receiver cannot decode them.
    """

    order: Ints  # (n,)
    seen: Floats  # (rows, n) by place
    start: Ints  # (n + 1,)
    at: NDArray[np.uint32]  # (m,)
    share: Floats  # (m,)
    made_at: Floats  # (3, n) m, positions by number
    slack: float  # m


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
    seen: Any,
) -> None:
    """Sort radios by cell, broad ones after them. Cell c has the places `start[c]:start[c + 1]`."""
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
        seen[0, k], seen[1, k], seen[2, k] = table[X, j], table[Y, j], table[Z, j]
        seen[LOW, k] = table[FREQUENCY, j] - 0.5 * table[BANDWIDTH, j]
        seen[HIGH, k] = table[FREQUENCY, j] + 0.5 * table[BANDWIDTH, j]
        seen[DENSITY, k] = table[DUTY, j] / table[BANDWIDTH, j]
        seen[SEEN_OWNER, k], seen[SEEN_GROUP, k] = table[OWNER, j], table[GROUP, j]
        seen[SEEN_MODULATION, k] = table[MODULATION, j]
        wave = WAVE * table[FREQUENCY, j]
        seen[WAVE_SQUARE, k] = wave * wave
        seen[STRENGTH, k] = exp(NEPERS * (table[POWER, j] + table[PEAK, j]))


def count_rows(seen: Any, inside: int, wide: float, cells: Any, cell_start: Any, count: Any) -> None:
    """Count the places within `wide` m of each place of the grid, and its broad ones, into `count[k + 1]`."""
    n = seen.shape[1]
    row_x, row_y, row_z = seen[0], seen[1], seen[2]
    for block in parallel_range((n + BLOCK - 1) // BLOCK):
        runs = empty((27, 2), int64)
        for k in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            total = uint64(n)
            if k < inside:
                total = uint64(n - inside)
                x, y, z = row_x[k], row_y[k], row_z[k]
                for run in range(find_runs(x, y, z, 1.0 / wide, cells, cell_start, runs)):
                    for m in range(uint64(runs[run, 0]), uint64(runs[run, 1])):
                        dx, dy, dz = row_x[m] - x, row_y[m] - y, row_z[m] - z
                        total += uint64(dx * dx + dy * dy + dz * dz <= wide * wide)
            count[k + 1] = total


def find_runs(x: float, y: float, z: float, inverse: float, cells: Any, start: Any, runs: Any) -> int:
    """Write where the places of the cells around a position begin and end; return how many runs there are."""
    bits_x, bits_y, bits_z = cells[0], cells[1], cells[2]
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << bits_z) - 1
    cx, cy, cz = int64(floor(x * inverse)), int64(floor(y * inverse)), int64(floor(z * inverse))
    left = (cx - 1) & mask_x
    parts, width = (1, 3) if left + 2 <= mask_x else (3, 1)  # three cells along x are one run, unless they wrap
    found = 0
    for az in range(-1, 2):
        for ay in range(-1, 2):
            line = ((((cz + az) & mask_z) << bits_y) | ((cy + ay) & mask_y)) << bits_x
            for part in range(parts):
                c = line | ((left + part) & mask_x)
                runs[found, 0], runs[found, 1] = start[c], start[c + width]
                found += 1
    return found


def list_rows(
    seen: Any,
    inside: int,
    wide: float,
    cells: Any,
    cell_start: Any,
    reach: Any,
    slack: float,
    first: Any,
    receivers: Any,
    part: Any,
    count: Any,
) -> None:
    """List, for each transmitter k, the receivers that it may reach, from `first[k]` on, and its share there."""
    n = seen.shape[1]
    row_x, row_y, row_z = seen[0], seen[1], seen[2]
    for block in parallel_range((n + BLOCK - 1) // BLOCK):
        runs = empty((27, 2), int64)
        for k in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            at = uint64(first[k])
            end = at
            if k < inside:
                x, y, z = row_x[k], row_y[k], row_z[k]
                for run in range(find_runs(x, y, z, 1.0 / wide, cells, cell_start, runs)):
                    for m in range(uint64(runs[run, 0]), uint64(runs[run, 1])):
                        dx, dy, dz = row_x[m] - x, row_y[m] - y, row_z[m] - z
                        if dx * dx + dy * dy + dz * dz <= wide * wide:
                            receivers[end] = m
                            end += uint64(1)
            for m in range(uint64(inside if k < inside else 0), uint64(n)):
                receivers[end] = m
                end += uint64(1)
            kept = at
            for q in range(at, end):
                m = receivers[q]
                weight = weight_at(seen, m, k, reach, slack)
                receivers[kept], part[kept] = m, weight
                kept += uint64(weight != 0.0)
            count[k] = kept - at


def weight_at(seen: Any, receiver: int, k: int, reach: Any, slack: float) -> float:
    """Return the share of transmitter k in the band of a receiver and in time; negative if it cannot be decoded.

    0 if it cannot reach the receiver.
    """
    low, high = seen[LOW, receiver], seen[HIGH, receiver]
    dx, dy, dz = seen[0, receiver] - seen[0, k], seen[1, receiver] - seen[1, k], seen[2, receiver] - seen[2, k]
    far = reach[uint64(seen[SEEN_GROUP, receiver]), uint64(seen[SEEN_GROUP, k])] + slack
    common = minimum(high, seen[HIGH, k]) - maximum(low, seen[LOW, k])
    near = dx * dx + dy * dy + dz * dz <= far * far
    good = (common > 0.0) & (seen[SEEN_OWNER, receiver] != seen[SEEN_OWNER, k]) & near
    offset = absolute((seen[LOW, k] + seen[HIGH, k]) - (low + high))
    same = seen[SEEN_MODULATION, k] == seen[SEEN_MODULATION, receiver]
    decodes = (offset <= 2.0 * SAME_CHANNEL * (high - low)) & same
    weight = maximum(common * seen[DENSITY, k], 1e-300)  # not 0 if it never transmits: it is a candidate all the same
    return select(good, select(decodes, weight, -weight), 0.0)


def turn_rows(places: Any, first: Any, count: Any, receivers: Any, part: Any, start: Any, at: Any, share: Any) -> None:
    """Turn lists of receivers into lists of transmitters, which ascend because they are added in that order."""
    for k in range(count.size):
        for q in range(uint64(first[k]), uint64(first[k] + count[k])):
            start[receivers[q] + uint64(1)] += 1
    for k in range(count.size):
        start[k + 1] += start[k]
    fill = empty(count.size, int64)
    for k in range(count.size):
        fill[k] = start[k]
    for number in range(count.size):
        k = places[number]
        for q in range(uint64(first[k]), uint64(first[k] + count[k])):
            to = uint64(fill[receivers[q]])
            at[to], share[to] = k, part[q]
            fill[receivers[q]] += 1


sort_radios = routine(sort_cells)
count_candidates = parallel_routine(count_rows)
list_receivers = parallel_routine(list_rows)
turn_lists = routine(turn_rows)


def candidates_of(
    table: Floats, n: int, members: Ints, broad: Ints, reach: Floats, radius: float, slack: float
) -> Candidates:
    """Return the candidates of all receivers; `members` are in the grid, with at most that radius (m)."""
    wide, m = radius + slack, len(members)
    extents = [float(np.ptp(table[k, members])) / wide if m else 0.0 for k in range(3)]
    bits = torus_bits(m, extents)
    cells, cell_start = np.array(bits, np.int64), np.zeros((1 << sum(bits)) + 1, np.int64)
    order, cell, seen = np.empty(n, np.int64), np.empty(m, np.int64), np.empty((SEEN_ROWS, n))
    sort_radios(table, members, broad, 1.0 / wide, *bits, cell_start, order, cell, seen)
    first = np.zeros(n + 1, np.int64)
    count_candidates(seen, m, wide, cells, cell_start, first)
    np.cumsum(first, out=first)
    if first[-1] > MOST:
        raise PaddockError(
            f"radio: {first[-1]:,} pairs of radios may hear each other; set radio.range, or a lower power or margin"
        )
    receivers: Any = np.empty(int(first[-1]), np.uint32)
    part, count, places = np.empty(int(first[-1])), np.zeros(n, np.int64), np.empty(n, np.int64)
    list_receivers(seen, m, wide, cells, cell_start, reach, slack, first, receivers, part, count)
    places[order] = np.arange(n)
    start, total = np.zeros(n + 1, np.int64), int(count.sum())
    at: Any = np.empty(total, np.uint32)
    share = np.empty(total)
    turn_lists(places, first, count, receivers, part, start, at, share)
    return Candidates(order, seen, start, at, share, table[:3, :n].copy(), slack)
