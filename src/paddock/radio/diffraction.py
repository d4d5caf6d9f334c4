"""What stands in the way of a signal: diffraction over terrain, and obstacles that it passes through or around.

Terrain: the heights between the ends give up to three knife edges (Deygout's construction, ITU-R P.526). Obstacles:
each one on the line costs what its material absorbs, or diffraction over its top or around its sides where that is
less. The world is a plane: without curvature of the earth.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import (
    absolute,
    exp,
    floor,
    log,
    maximum,
    minimum,
    select,
    sqrt,
    table_index,
    whole,
)
from paddock.radio.propagation import LIGHT
from paddock.radio.signal import DECIBELS
from paddock.world.ground import RELIEF_RATE, RELIEF_X, RELIEF_Y, SLOPE_X, SLOPE_Y, bilinear
from paddock.world.scenery import slab

Floats = NDArray[np.float64]

MATERIALS = {"concrete": 15.0, "metal": 100.0, "wood": 5.0, "vegetation": 0.5, "glass": 2.0}
"""Loss of materials, dB per m."""
CLEAR = -0.78  # v of an edge so far below the line that it costs nothing
BLOCK = 8  # cells of the relief whose highest ground is looked up at once
NEAR_END = 1e-6  # cells: samples nearer to an end are left out
SAME = 1e-9  # m


def knife_edge_db(v: float) -> float:
    """Return the loss (dB) of a knife edge with the parameter v (ITU-R P.526, J(v)); 0 for v <= -0.78."""
    u = v - 0.1
    return select(v > CLEAR, 6.9 + 2.0 * DECIBELS * log(sqrt(u * u + 1.0) + maximum(u, -1.0)), 0.0)


def edge_parameter(height: float, near: float, far: float, wavelength: float) -> float:
    """Return v of an edge `height` (m) above the line between the ends, at the distances near and far (m) from them."""
    return height * sqrt(2.0 / wavelength * (1.0 / near + 1.0 / far))


def deygout_db(main: float, before: float, after: float, correction: float = 0.0) -> float:
    """Return the loss (dB) of up to three edges from v of the main edge and of those before and after it.

    Edges beside the main one count in proportion to what it blocks (ITU-R P.526, 4.5.1), which also gives an empirical
    correction (dB) for long paths: 10 + 0.04 x km.
    """
    first = knife_edge_db(main)
    return first + (1.0 - exp(-first / 6.0)) * (knife_edge_db(before) + knife_edge_db(after) + correction)


def relief_peaks(relief: Floats) -> Floats:
    """Return the highest ground of blocks of cells, each with its neighbours: where it is low, profiles are skipped."""
    rows, columns = (max(1, -(-size // BLOCK)) for size in relief.shape)
    padded = np.full((rows * BLOCK, columns * BLOCK), -np.inf)
    padded[: relief.shape[0], : relief.shape[1]] = relief
    blocks = padded.reshape(rows, BLOCK, columns, BLOCK).max(axis=(1, 3))
    wide = np.pad(blocks, 1, constant_values=-np.inf)
    around = [wide[j : j + rows, i : i + columns] for j in range(3) for i in range(3)]
    return np.ascontiguousarray(np.max(around, axis=0))


def terrain_db(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float,
    frequency: float, ground_z: float, terrain: Any, relief: Any, peaks: Any, beyond_flat: bool,
) -> float:  # fmt: skip
    """Return the loss (dB) by diffraction over the ground between two places (m).

    `terrain` and `relief` are tables of `world.ground`, `peaks` are those of `relief_peaks`. `beyond_flat` returns only
    what the terrain adds to flat ground between the feet of both ends, for models that contain the ground.
    """
    slope_x, slope_y = terrain[0, SLOPE_X], terrain[0, SLOPE_Y]
    az, bz = az - ground_z - slope_x * ax - slope_y * ay, bz - ground_z - slope_x * bx - slope_y * by
    wavelength = LIGHT / frequency
    main, share, top = worst_edge(ax, ay, az, bx, by, bz, wavelength, terrain, relief, peaks)
    if main <= CLEAR:
        return 0.0
    x, y = ax + share * (bx - ax), ay + share * (by - ay)
    before = worst_edge(ax, ay, az, x, y, top, wavelength, terrain, relief, peaks)[0]
    after = worst_edge(x, y, top, bx, by, bz, wavelength, terrain, relief, peaks)[0]
    loss = deygout_db(main, before, after)
    if beyond_flat:
        rate, left, low = terrain[0, RELIEF_RATE], terrain[0, RELIEF_X], terrain[0, RELIEF_Y]
        height_a = maximum(az - bilinear(relief, (ax - left) * rate, (ay - low) * rate), 0.0)
        height_b = maximum(bz - bilinear(relief, (bx - left) * rate, (by - low) * rate), 0.0)
        # v is largest where the line is nearest to the ground in units of the Fresnel zone; both sides then graze it
        apart = _distance(ax, ay, az, bx, by, bz)
        flat = -sqrt(8.0 * height_a * height_b / (wavelength * apart))
        loss = maximum(loss - deygout_db(flat, 0.0, 0.0), 0.0)
    return loss


def worst_edge(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float,
    wavelength: float, terrain: Any, relief: Any, peaks: Any,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the largest v of the ground between two places, its share of the way, and its height (m).

    v is CLEAR or less if nothing is near the line. Heights are relative to the plane of the ground.
    """
    worst, share, top = 2.0 * CLEAR, 0.5, 0.0
    apart = _distance(ax, ay, az, bx, by, bz)
    if relief.shape[0] < 2 or apart < SAME:
        return worst, share, top
    rate = terrain[0, RELIEF_RATE]
    u, v = (ax - terrain[0, RELIEF_X]) * rate, (ay - terrain[0, RELIEF_Y]) * rate
    du, dv, dz = (bx - ax) * rate, (by - ay) * rate, bz - az
    # samples where the line crosses columns of the relief, or rows if it crosses more of them: ridges between samples
    # of the relief do not exist, and both directions see the same edges
    along_x = absolute(du) >= absolute(dv)
    start, ahead = select(along_x, u, v), select(along_x, du, dv)
    first = whole(floor(minimum(start, start + ahead) + NEAR_END)) + 1
    last = -whole(floor(-maximum(start, start + ahead) + NEAR_END)) - 1
    if first > last:
        return worst, share, top
    inverse = 1.0 / ahead
    zone = 0.5 * wavelength * apart  # v = height / sqrt(zone share (1 - share))
    found = -CLEAR * CLEAR * zone  # the largest height x |height| / (share (1 - share)) up to now
    for begin in range(first, last + 1, BLOCK):
        end = begin + BLOCK - 1 if begin + BLOCK - 1 < last else last
        t0, t1 = (begin - start) * inverse, (end - start) * inverse
        middle = 0.5 * (t0 + t1)
        row = table_index(floor((v + middle * dv) * (1.0 / BLOCK)), peaks.shape[0])
        column = table_index(floor((u + middle * du) * (1.0 / BLOCK)), peaks.shape[1])
        # the least height above the line that can still matter in this block
        width = minimum(t0 * (1.0 - t0), t1 * (1.0 - t1))
        needed = select(found > 0.0, sqrt(maximum(found, 0.0) * width), -sqrt(maximum(-found, 0.0) * 0.25))
        if peaks[row, column] - az - minimum(t0 * dz, t1 * dz) < needed:
            continue
        for k in range(begin, end + 1):
            t = (k - start) * inverse
            ground = bilinear(relief, u + t * du, v + t * dv)
            above = ground - az - t * dz
            score = above * absolute(above) / (t * (1.0 - t))
            if score > found:
                found, share, top = score, t, ground
                worst = select(score > 0.0, 1.0, -1.0) * sqrt(absolute(score) / zone)
    return worst, share, top


def obstacles_db(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float,
    frequency: float, cells: Any, starts: Any, items: Any, boxes: Any, rounds: Any, rates: Any,
) -> float:  # fmt: skip
    """Return the loss (dB) of all obstacles on the line between two places (m); 0 is a free line of sight.

    The tables are those of `world.obstacles`; `rates` (entries,) are losses of materials (dB/m), see `material_rates`.
    """
    apart = _distance(ax, ay, az, bx, by, bz)
    if apart < SAME:
        return 0.0
    dx, dy, dz = (bx - ax) / apart, (by - ay) / apart, (bz - az) / apart
    cell_rate, columns, rows = cells[0, 2], whole(cells[0, 3]), whole(cells[0, 4])
    u, v, du, dv = (ax - cells[0, 0]) * cell_rate, (ay - cells[0, 1]) * cell_rate, dx * cell_rate, dy * cell_rate
    begins, ends = slab(u, du, 0.0, 1.0 * columns, 0.0, apart)
    begins, ends = slab(v, dv, 0.0, 1.0 * rows, begins, ends)
    loss = 0.0
    if not begins <= ends:
        return loss
    wavelength = LIGHT / frequency
    i, j = table_index(floor(u + begins * du), columns), table_index(floor(v + begins * dv), rows)
    step_x, step_y = 1 if du > 0.0 else -1, 1 if dv > 0.0 else -1
    next_x = ((i + (du > 0.0)) - u) / du if du != 0.0 else 2.0 * apart
    next_y = ((j + (dv > 0.0)) - v) / dv if dv != 0.0 else 2.0 * apart
    across_x = absolute(1.0 / du) if du != 0.0 else apart
    across_y = absolute(1.0 / dv) if dv != 0.0 else apart
    here = -1.0  # the first cell also counts what the line enters before it, or starts in
    while 0 <= i < columns and 0 <= j < rows and begins <= ends:
        until = minimum(next_x, next_y)
        cell = j * columns + i
        for place in range(whole(starts[0, cell]), whole(starts[0, cell + 1])):
            k = whole(items[0, place])
            if k < boxes.shape[0]:
                enters, leaves = box_part(ax, ay, az, dx, dy, dz, apart, boxes, k)
                entry = boxes[k, 8]
            else:
                enters, leaves = round_part(ax, ay, az, dx, dy, dz, apart, rounds, k - boxes.shape[0])
                entry = rounds[k - boxes.shape[0], 6]
            # an obstacle lies in several cells: it counts in that where the line enters it
            if enters < leaves and here <= enters < until:
                absorbed = (leaves - enters) * rates[whole(entry)]
                if enters > 0.0 and leaves < apart:
                    absorbed = minimum(
                        absorbed, around_db(ax, ay, az, dx, dy, dz, apart, enters, leaves, wavelength, boxes, rounds, k)
                    )
                loss += absorbed
        here = until
        if next_x < next_y:
            begins, next_x, i = next_x, next_x + across_x, i + step_x
        else:
            begins, next_y, j = next_y, next_y + across_y, j + step_y
    return loss


def around_db(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, apart: float,
    enters: float, leaves: float, wavelength: float, boxes: Any, rounds: Any, k: int,
) -> float:  # fmt: skip
    """Return the least loss (dB) of the ways over an obstacle and around both of its sides, each a knife edge."""
    level = sqrt(dx * dx + dy * dy)
    c, s = select(level > SAME, dx / maximum(level, SAME), 1.0), select(level > SAME, dy / maximum(level, SAME), 0.0)
    if k < boxes.shape[0]:
        top = boxes[k, 3]
        offset = c * (boxes[k, 1] - y) - s * (boxes[k, 0] - x)  # of its centre to the left of the line
        cosine, sine = boxes[k, 4], boxes[k, 5]
        half = absolute(c * sine - s * cosine) * boxes[k, 6] + absolute(c * cosine + s * sine) * boxes[k, 7]
    else:
        row = k - boxes.shape[0]
        top = rounds[row, 3]
        offset = c * (rounds[row, 1] - y) - s * (rounds[row, 0] - x)
        half = maximum(rounds[row, 4], rounds[row, 5])
    middle = 0.5 * (enters + leaves)
    over = maximum(
        edge_parameter(top - z - enters * dz, enters, apart - enters, wavelength),
        edge_parameter(top - z - leaves * dz, leaves, apart - leaves, wavelength),
    )
    left = edge_parameter(half + offset, middle, apart - middle, wavelength)
    right = edge_parameter(half - offset, middle, apart - middle, wavelength)
    return knife_edge_db(minimum(over, minimum(left, right)))


def box_part(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, boxes: Any, k: int
) -> tuple[float, float]:
    """Return where a line (m along its unit vector, up to `reach`) enters and leaves a box; enters > leaves: never."""
    cosine, sine = boxes[k, 4], boxes[k, 5]
    px, py = x - boxes[k, 0], y - boxes[k, 1]
    enters, leaves = slab(cosine * px + sine * py, cosine * dx + sine * dy, -boxes[k, 6], boxes[k, 6], 0.0, reach)
    enters, leaves = slab(cosine * py - sine * px, cosine * dy - sine * dx, -boxes[k, 7], boxes[k, 7], enters, leaves)
    return slab(z, dz, boxes[k, 2], boxes[k, 3], enters, leaves)


def round_part(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, rounds: Any, k: int
) -> tuple[float, float]:
    """Return where a line enters and leaves a cylinder or a (blunt) cone, as `box_part`."""
    px, py, base, top = x - rounds[k, 0], y - rounds[k, 1], rounds[k, 2], rounds[k, 3]
    taper = (rounds[k, 4] - rounds[k, 5]) / (top - base)
    here, change = rounds[k, 4] - taper * (z - base), -taper * dz  # the radius at the height of the line
    low, high = slab(z, dz, base, top, 0.0, reach)
    # |p + t d|^2 <= (here + t change)^2
    a = dx * dx + dy * dy - change * change
    b = px * dx + py * dy - here * change
    c = px * px + py * py - here * here
    root = b * b - a * c
    if not low <= high or (root <= 0.0 and c > 0.0):
        return 1.0, 0.0  # also a line beside a cylinder, along its axis
    if root <= 0.0:  # inside a cone along its axis
        return low, high
    root = sqrt(root)
    # both roots without cancellation
    q = -(b + root) if b > 0.0 else root - b
    first = c / q if q != 0.0 else 0.0
    if absolute(a) < 1e-12:  # along a flank, or along the axis of a cylinder: one root
        if absolute(b) < 1e-12:
            return (low, high) if c <= 0.0 else (1.0, 0.0)
        return (low, minimum(high, first)) if b > 0.0 else (maximum(low, first), high)
    second = q / a
    near, far = minimum(first, second), maximum(first, second)
    if a > 0.0:
        return maximum(low, near), minimum(high, far)
    # the cone closes faster than the line leaves its axis: inside before the one root or after the other
    if c + low * (2.0 * b + low * a) <= 0.0:
        return low, select(near > low, minimum(high, near), high)
    return maximum(low, far), high


def material_rates(entries: Sequence[Any]) -> Floats:
    """Return the loss (dB/m) of each entry of a scenario's `world.obstacles`."""
    rates = np.zeros(max(len(entries), 1))
    for k, entry in enumerate(entries):
        rates[k] = MATERIALS[entry.material]
    return rates


def _distance(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> float:
    dx, dy, dz = bx - ax, by - ay, bz - az
    return sqrt(dx * dx + dy * dy + dz * dz)
