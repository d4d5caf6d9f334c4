"""Diffraction: knife edges, and the terrain between two places.

The heights between the ends give up to three knife edges (Deygout's construction, ITU-R P.526). `obstruction.py` has
obstacles. The world is a plane: without curvature of the earth.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import absolute, exp, floor, log, maximum, minimum, select, sqrt, table_index, whole
from paddock.radio.physics.propagation import LIGHT
from paddock.radio.physics.signal import DECIBELS
from paddock.world.ground import RELIEF_RATE, RELIEF_X, RELIEF_Y, SLOPE_X, SLOPE_Y, bilinear

Floats = NDArray[np.float64]
CLEAR = -0.78  # v of an edge so far below the line that it costs nothing
BLOCK = 8  # cells of the relief whose highest ground is looked up at once
NEAR_END = 1e-6  # cells: samples nearer to an end are left out
SAME = 1e-9  # m


class TerrainTables(NamedTuple):
    """The tables of the ground."""

    ground_z: float  # m
    terrain: Floats  # of `world.ground`
    relief: Floats
    peaks: Floats  # see `relief_peaks`


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
        loss = maximum(loss - flat_db(ax, ay, az, bx, by, bz, wavelength, terrain, relief), 0.0)
    return loss


def flat_db(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float, wavelength: float, terrain: Any, relief: Any
) -> float:
    """Return the loss (dB) over flat ground between the feet of both ends; heights are relative to its plane."""
    rate, left, low = terrain[0, RELIEF_RATE], terrain[0, RELIEF_X], terrain[0, RELIEF_Y]
    height_a = maximum(az - bilinear(relief, (ax - left) * rate, (ay - low) * rate), 0.0)
    height_b = maximum(bz - bilinear(relief, (bx - left) * rate, (by - low) * rate), 0.0)
    # v is largest where the line is nearest to the ground in units of the Fresnel zone; both sides then graze it
    flat = -sqrt(8.0 * height_a * height_b / (wavelength * distance(ax, ay, az, bx, by, bz)))
    return deygout_db(flat, 0.0, 0.0)


def worst_edge(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float,
    wavelength: float, terrain: Any, relief: Any, peaks: Any,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the largest v of the ground between two places, its share of the way, and its height (m).

    v is CLEAR or less if nothing is near the line. Heights are relative to the plane of the ground.
    """
    worst, share, top = 2.0 * CLEAR, 0.5, 0.0
    apart = distance(ax, ay, az, bx, by, bz)
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


def distance(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> float:
    """Return the distance (m) between two places."""
    dx, dy, dz = bx - ax, by - ay, bz - az
    return sqrt(dx * dx + dy * dy + dz * dz)
