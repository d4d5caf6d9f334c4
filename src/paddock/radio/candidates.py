"""Candidates: for every receiver, the transmitters that may reach it before the list is made again.

A grid of cells finds them, so the work grows with their number, not with the square of the number of radios. The few
radios that reach much farther than the others (stations) are not in the grid: everything is tried against them. A list
holds until a radio has moved by half of the slack; what it lists beyond the reach is sorted out in each update, so that
the links do not depend on when the list was made.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, floor, int64, uint32, uint64
from numpy.typing import NDArray

from paddock.compute.math import PI, absolute, exp, maximum, minimum
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
SLACK = 0.1  # of the radius
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


def list_rows(
    seen: Any,
    order: Any,
    inside: int,
    inverse: float,
    cells: Any,
    cell_start: Any,
    reach: Any,
    slack: float,
    start: Any,
    at: Any,
    share: Any,
) -> None:
    """Count the candidates of each place k into `start[k + 1]`; if `at` is not empty, write them."""
    n = order.size
    for block in parallel_range((n + BLOCK - 1) // BLOCK):
        size = 512
        index, part, keys = empty(size, uint32), empty(size), empty(size, uint64)
        for k in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            found = n if k >= inside else n - inside + count_near(seen, k, inverse, cells, cell_start)
            if found > size:
                size = 2 * found
                index, part, keys = empty(size, uint32), empty(size), empty(size, uint64)
            kept = uint64(0)
            if k < inside:
                kept = find_near(seen, k, inverse, cells, cell_start, reach, slack, kept, index, part)
            kept = find_run(seen, k, inside if k < inside else 0, n, reach, slack, kept, index, part)
            if at.size == 0:
                start[k + 1] = kept
            else:
                for m in range(kept):
                    keys[m] = (uint64(order[index[m]]) << uint64(32)) | uint64(m)
                ordered = keys[:kept]
                ordered.sort()
                first = uint64(start[k])
                for m in range(kept):
                    q = ordered[m] & uint64(0xFFFFFFFF)
                    at[first + m] = index[q]
                    share[first + m] = part[q]


def count_near(seen: Any, k: int, inverse: float, cells: Any, start: Any) -> int:
    """Return the number of radios in the cells around that of place k."""
    bits_x, bits_y, bits_z = cells[0], cells[1], cells[2]
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << bits_z) - 1
    cx = int64(floor(seen[0, k] * inverse))
    cy = int64(floor(seen[1, k] * inverse))
    cz = int64(floor(seen[2, k] * inverse))
    total = 0
    for az in range(-1, 2):
        for ay in range(-1, 2):
            line = ((((cz + az) & mask_z) << bits_y) | ((cy + ay) & mask_y)) << bits_x
            for ax in range(-1, 2):
                c = line | ((cx + ax) & mask_x)
                total += start[c + 1] - start[c]
    return total


def find_near(
    seen: Any,
    k: int,
    inverse: float,
    cells: Any,
    start: Any,
    reach: Any,
    slack: float,
    kept: Any,
    index: Any,
    part: Any,
) -> Any:
    """Collect the candidates of place k in the cells around it; return how many there are now."""
    bits_x, bits_y, bits_z = cells[0], cells[1], cells[2]
    mask_x, mask_y, mask_z = (1 << bits_x) - 1, (1 << bits_y) - 1, (1 << bits_z) - 1
    cx = int64(floor(seen[0, k] * inverse))
    cy = int64(floor(seen[1, k] * inverse))
    cz = int64(floor(seen[2, k] * inverse))
    left = (cx - 1) & mask_x
    runs, width = (1, 3) if left + 2 <= mask_x else (3, 1)  # three cells along x are one run, unless they wrap
    for az in range(-1, 2):
        for ay in range(-1, 2):
            line = ((((cz + az) & mask_z) << bits_y) | ((cy + ay) & mask_y)) << bits_x
            for run in range(runs):
                c = line | ((left + run) & mask_x)
                kept = find_run(seen, k, start[c], start[c + width], reach, slack, kept, index, part)
    return kept


def find_run(
    seen: Any, k: int, first: int, end: int, reach: Any, slack: float, kept: Any, index: Any, part: Any
) -> Any:
    """Append the candidates of place k among the places from `first` to `end`; return how many there are now."""
    x, y, z, low, high = seen[0, k], seen[1, k], seen[2, k], seen[LOW, k], seen[HIGH, k]
    own, modulation, mine = seen[SEEN_OWNER, k], seen[SEEN_MODULATION, k], reach[int(seen[SEEN_GROUP, k])]
    near_enough = 2.0 * SAME_CHANNEL * (high - low)
    for m in range(uint64(first), uint64(end)):
        dx, dy, dz = seen[0, m] - x, seen[1, m] - y, seen[2, m] - z
        far = mine[uint64(seen[SEEN_GROUP, m])] + slack
        common = minimum(high, seen[HIGH, m]) - maximum(low, seen[LOW, m])
        good = (common > 0.0) & (seen[SEEN_OWNER, m] != own) & (dx * dx + dy * dy + dz * dz <= far * far)
        offset = absolute((seen[LOW, m] + seen[HIGH, m]) - (low + high))
        decodes = (offset <= near_enough) & (seen[SEEN_MODULATION, m] == modulation)
        weight = maximum(common * seen[DENSITY, m], 1e-300)  # the sign says whether it is decoded
        index[kept] = m
        part[kept] = weight if decodes else -weight
        kept += uint64(good)
    return kept


sort_radios = routine(sort_cells)
list_candidates = parallel_routine(list_rows)


def candidates_of(table: Floats, n: int, members: Ints, broad: Ints, reach: Floats, radius: float) -> Candidates:
    """Return the candidates of all receivers; `members` are in the grid, with at most that radius (m)."""
    slack = SLACK * radius
    wide, m = radius + slack, len(members)
    extents = [float(np.ptp(table[k, members])) / wide if m else 0.0 for k in range(3)]
    bits = torus_bits(m, extents)
    cells, cell_start = np.array(bits, np.int64), np.zeros((1 << sum(bits)) + 1, np.int64)
    order, cell, seen = np.empty(n, np.int64), np.empty(m, np.int64), np.empty((SEEN_ROWS, n))
    sort_radios(table, members, broad, 1.0 / wide, *bits, cell_start, order, cell, seen)
    start, at, share = np.zeros(n + 1, np.int64), np.empty(0, np.uint32), np.empty(0)
    given: Any = (seen, order, m, 1.0 / wide, cells, cell_start, reach, slack, start)
    list_candidates(*given, at, share)
    np.cumsum(start, out=start)
    if start[-1] > MOST:
        raise PaddockError(
            f"radio: {start[-1]:,} pairs of radios may hear each other; set radio.range, a lower power or margin"
        )
    if start[-1]:
        at, share = np.empty(int(start[-1]), np.uint32), np.empty(int(start[-1]))
        list_candidates(*given, at, share)
    return Candidates(order, seen, start, at, share, table[:3, :n].copy(), slack)
