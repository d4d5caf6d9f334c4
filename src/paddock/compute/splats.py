"""Splats: a scalar field in 3-D as a normalised mixture of anisotropic Gaussians over a logarithmic prior.

    field(x) = prior(x) + sum_k w_k(x) (amplitude_k + slope_k . (x - mean_k)) / (sum_k w_k(x) + FLOOR)
    w_k(x) = weight_k exp(-q / 2) (1 - q / REACH)^2,  q = (x - mean_k)^T precision_k (x - mean_k) < REACH
    prior(x) = level - 5 exponent log10(|x - source|^2 + 1)

The taper ends each Gaussian at three standard deviations, smoothly. Far from all splats the sums vanish, and the prior
remains. A grid lists the splats that reach each cell; points are sorted by cell, so that the loop over the points of a
cell vectorises. The sums of a point have a fixed order: results do not depend on threads or on the other points.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64, uint64, zeros
from numpy.typing import NDArray

from paddock.compute.math import clamp, floor, log, maximum, minimum, sqrt, whole
from paddock.compute.routine import parallel_range, parallel_routine, routine

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COLUMNS = (
    *("x", "y", "z"),  # mean, m
    *("pxx", "pyy", "pzz", "pxy", "pxz", "pyz"),  # precision: inverse of the covariance, 1/m^2
    "amplitude",  # above the prior at the mean
    *("slope_x", "slope_y", "slope_z"),  # per m
    "variance",  # of the error of a prediction near the mean
    "samples",  # number of samples that it stands for (sum of their weights)
    "weight",  # in the mixture
)
"""Columns of the table of splats, (splats, columns)."""
WIDTH = 16  # number of columns
REACH = 9.0  # squared standard deviations at which a splat ends
FLOOR = 0.02  # weight of the prior: it takes over where the sum of all splats falls below
PRIOR = ("level", "exponent", "x", "y", "z", "variance")
"""Values of the prior: level at 1 m, path-loss exponent, position of the source (m), variance of its error."""
CHUNK = 256  # points of a cell that are evaluated together: their sums stay in the first-level cache
MOST_CELLS = 1 << 21
TEN_OVER_LN_10 = 4.3429448190325175
CENTRE = 0.28125  # middle of the range of q / 16
BELL_SCALE = 0.7548396019890073  # exp(-0.28125)


class SplatGrid(NamedTuple):
    """Splats by cell: those of cell c are `entries[starts[c]:starts[c + 1]]`, ascending."""

    corner: Floats  # (3,) m: lower corner of the first cell
    size: Floats  # (3,) m: edges of a cell
    counts: Ints  # (3,) cells along x, y, z
    starts: Ints
    entries: Ints


def bell(q: float) -> float:
    """Return exp(-q / 2) for q in [0, 9]; relative error below 1e-9."""
    r = CENTRE - q * 0.0625
    e = 1.0 / 720.0 + r * (1.0 / 5040.0 + r * (1.0 / 40320.0))
    e = 1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r * e))
    e = BELL_SCALE * (1.0 + r * (1.0 + r * (0.5 + r * e)))
    e = e * e
    e = e * e
    return e * e


def prior_at(x: float, y: float, z: float, prior: Floats) -> tuple[float, float, float, float]:
    """Return the prior and its gradient at a point."""
    dx, dy, dz = x - prior[2], y - prior[3], z - prior[4]
    d2 = dx * dx + dy * dy + dz * dz + 1.0
    decade = 0.5 * TEN_OVER_LN_10 * prior[1]
    slope = -2.0 * decade / d2
    return prior[0] - decade * log(d2), slope * dx, slope * dy, slope * dz


# Points of a chunk and their sums are in one array `t`, in columns of CHUNK values: the compiler knows that they do not
# overlap, and vectorises. Unsigned indices spare it the test for negative ones.
AT_Y, AT_Z, SUM, VALUE, VARIANCE, SAMPLES = (uint64(k * CHUNK) for k in range(1, 7))
SUM_X, SUM_Y, SUM_Z, VALUE_X, VALUE_Y, VALUE_Z = (uint64(k * CHUNK) for k in range(7, 13))


def fill_chunk(
    points: Floats, order: Ints, begin: int, end: int, splats: Floats, grid: SplatGrid, cell: int, prior: Floats,
    spread: Floats, out: Floats,
) -> None:  # fmt: skip
    """Evaluate points order[begin:end], which lie in one cell (-1: outside): the columns of `evaluate_splats`."""
    t = empty(13 * CHUNK)
    n = uint64(end - begin)
    padded = uint64((end - begin + 7) // 8 * 8)  # whole vectors: the points of the last, unused ones, are at the origin
    for i in range(n):
        j = order[uint64(begin) + i]
        t[i], t[i + AT_Y], t[i + AT_Z] = points[j, 0], points[j, 1], points[j, 2]
    for i in range(n, padded):
        t[i], t[i + AT_Y], t[i + AT_Z] = 0.0, 0.0, 0.0
    for i in range(padded):
        t[i + SUM], t[i + VALUE], t[i + VARIANCE], t[i + SAMPLES] = 0.0, 0.0, 0.0, 0.0
        t[i + SUM_X], t[i + SUM_Y], t[i + SUM_Z] = 0.0, 0.0, 0.0
        t[i + VALUE_X], t[i + VALUE_Y], t[i + VALUE_Z] = 0.0, 0.0, 0.0
    if cell >= 0:
        for e in range(grid.starts[cell], grid.starts[cell + 1]):
            add_splat(t, padded, splats[grid.entries[e]])
    for i in range(padded):
        finish_point(t, i, prior, spread)
    for i in range(n):
        j = order[uint64(begin) + i]
        out[j, 0], out[j, 1], out[j, 2] = t[i + VALUE], t[i + VALUE_X], t[i + VALUE_Y]
        out[j, 3], out[j, 4], out[j, 5] = t[i + VALUE_Z], t[i + VARIANCE], t[i + SAMPLES]


def add_splat(t: Floats, padded: Any, splat: Floats) -> None:
    """Add a splat to the sums of all points of a chunk."""
    mx, my, mz = splat[0], splat[1], splat[2]
    axx, ayy, azz, axy, axz, ayz = splat[3], splat[4], splat[5], splat[6], splat[7], splat[8]
    a, bx, by, bz = splat[9], splat[10], splat[11], splat[12]
    variance, samples, weight = splat[13], splat[14], splat[15]
    for i in range(padded):
        dx, dy, dz = t[i] - mx, t[i + AT_Y] - my, t[i + AT_Z] - mz
        gx = axx * dx + axy * dy + axz * dz
        gy = axy * dx + ayy * dy + ayz * dz
        gz = axz * dx + ayz * dy + azz * dz
        q = minimum(dx * gx + dy * gy + dz * gz, REACH)
        taper = 1.0 - q * (1.0 / REACH)
        tapered = weight * bell(q) * taper
        w = tapered * taper
        value = a + bx * dx + by * dy + bz * dz
        slope = -tapered * (taper + 4.0 / REACH)  # twice the derivative by q
        steep = slope * value
        t[i + SUM] += w
        t[i + VALUE] += w * value
        t[i + VARIANCE] += w * variance
        t[i + SAMPLES] += w * samples
        t[i + SUM_X] += slope * gx
        t[i + SUM_Y] += slope * gy
        t[i + SUM_Z] += slope * gz
        t[i + VALUE_X] += steep * gx + w * bx
        t[i + VALUE_Y] += steep * gy + w * by
        t[i + VALUE_Z] += steep * gz + w * bz


def finish_point(t: Floats, i: Any, prior: Floats, spread: Floats) -> None:
    """Turn the sums of a point into value, gradient and variance, in the columns VALUE, VALUE_X, ... and VARIANCE."""
    dx, dy, dz = t[i] - prior[2], t[i + AT_Y] - prior[3], t[i + AT_Z] - prior[4]
    d2 = dx * dx + dy * dy + dz * dz + 1.0
    logarithm = log(d2)
    decades = 0.5 * TEN_OVER_LN_10 * logarithm
    # derivatives of the prior by its level (1), its exponent (-decades) and the position of its source
    steep = TEN_OVER_LN_10 * prior[1] / d2
    sx, sy, sz = steep * dx, steep * dy, steep * dz
    unsure = (
        spread[0, 0] + spread[1, 1] * decades * decades + spread[2, 2] * sx * sx + spread[3, 3] * sy * sy
        + spread[4, 4] * sz * sz - 2.0 * spread[0, 1] * decades
        + 2.0 * (spread[0, 2] - spread[1, 2] * decades) * sx + 2.0 * (spread[0, 3] - spread[1, 3] * decades) * sy
        + 2.0 * (spread[0, 4] - spread[1, 4] * decades) * sz
        + 2.0 * (spread[2, 3] * sx * sy + spread[2, 4] * sx * sz + spread[3, 4] * sy * sz)
    )  # fmt: skip
    inverse = 1.0 / (t[i + SUM] + FLOOR)
    mean, samples = t[i + VALUE] * inverse, t[i + SAMPLES]
    t[i + VALUE] = prior[0] - 0.5 * TEN_OVER_LN_10 * prior[1] * logarithm + mean
    t[i + VALUE_X] = (t[i + VALUE_X] - mean * t[i + SUM_X]) * inverse - sx
    t[i + VALUE_Y] = (t[i + VALUE_Y] - mean * t[i + SUM_Y]) * inverse - sy
    t[i + VALUE_Z] = (t[i + VALUE_Z] - mean * t[i + SUM_Z]) * inverse - sz
    near = t[i + VARIANCE] * (1.0 + 1.0 / (1.0 + samples))
    t[i + VARIANCE] = (near + FLOOR * (prior[5] + maximum(unsure, 0.0))) * inverse


def cell_of(x: float, y: float, z: float, grid: SplatGrid) -> int:
    """Return the cell of a point; -1 outside the grid, and for coordinates that are not finite."""
    fx = (x - grid.corner[0]) / grid.size[0]
    fy = (y - grid.corner[1]) / grid.size[1]
    fz = (z - grid.corner[2]) / grid.size[2]
    nx, ny, nz = grid.counts[0], grid.counts[1], grid.counts[2]
    if fx >= 0.0 and fy >= 0.0 and fz >= 0.0 and fx < nx and fy < ny and fz < nz:
        return int((whole(fz) * ny + whole(fy)) * nx + whole(fx))
    return -1


def cells_of(points: Floats, grid: SplatGrid) -> Ints:
    """Return the cell of each point (n, 3)."""
    n = points.shape[0]
    cells = empty(n, int64)
    for i in parallel_range(n):
        cells[i] = cell_of(points[i, 0], points[i, 1], points[i, 2], grid)
    return cells


def sorted_chunks(cells: Ints, most: int) -> tuple[Ints, Ints]:
    """Return the points in the order of their cells, and chunks (begin, end, cell) of at most CHUNK points."""
    n = cells.shape[0]
    firsts = zeros(most + 2, int64)
    for i in range(n):
        firsts[cells[i] + 2] += 1
    pieces = 0
    for c in range(most + 1):
        pieces += (firsts[c + 1] + CHUNK - 1) // CHUNK
        firsts[c + 1] += firsts[c]
    order = empty(n, int64)
    heads = firsts.copy()
    for i in range(n):
        at = heads[cells[i] + 1]
        order[at] = i
        heads[cells[i] + 1] = at + 1
    chunks = empty((pieces, 3), int64)
    k = 0
    for c in range(most + 1):
        for begin in range(firsts[c], heads[c], CHUNK):
            chunks[k, 0], chunks[k, 1], chunks[k, 2] = begin, min(begin + CHUNK, heads[c]), c - 1
            k += 1
    return order, chunks[:k]


def evaluate_chunks(
    points: Floats,
    order: Ints,
    chunks: Ints,
    splats: Floats,
    grid: SplatGrid,
    prior: Floats,
    spread: Floats,
    out: Floats,
) -> None:
    """Evaluate all chunks of points."""
    for k in parallel_range(chunks.shape[0]):
        fill_chunk(points, order, chunks[k, 0], chunks[k, 1], splats, grid, chunks[k, 2], prior, spread, out)


def reached_cells(splats: Floats, k: int, grid: SplatGrid) -> tuple[int, int, int, int, int, int]:
    """Return the cells (low x, high x, low y, ...) that the box around a splat covers."""
    axx, ayy, azz = splats[k, 3], splats[k, 4], splats[k, 5]
    axy, axz, ayz = splats[k, 6], splats[k, 7], splats[k, 8]
    # diagonal of the covariance, the inverse of the precision
    cxx, cyy, czz = ayy * azz - ayz * ayz, axx * azz - axz * axz, axx * ayy - axy * axy
    det = axx * cxx - axy * (axy * azz - ayz * axz) + axz * (axy * ayz - ayy * axz)
    scale = REACH / det
    hx, hy, hz = sqrt(scale * cxx), sqrt(scale * cyy), sqrt(scale * czz)
    fx, fy, fz = splats[k, 0] - grid.corner[0], splats[k, 1] - grid.corner[1], splats[k, 2] - grid.corner[2]
    nx, ny, nz = grid.counts[0] - 1.0, grid.counts[1] - 1.0, grid.counts[2] - 1.0
    return (
        whole(clamp(floor((fx - hx) / grid.size[0]), 0.0, nx)), whole(clamp(floor((fx + hx) / grid.size[0]), 0.0, nx)),
        whole(clamp(floor((fy - hy) / grid.size[1]), 0.0, ny)), whole(clamp(floor((fy + hy) / grid.size[1]), 0.0, ny)),
        whole(clamp(floor((fz - hz) / grid.size[2]), 0.0, nz)), whole(clamp(floor((fz + hz) / grid.size[2]), 0.0, nz)),
    )  # fmt: skip


def may_reach(splats: Floats, k: int, grid: SplatGrid, i: int, j: int, m: int) -> bool:
    """Return whether a splat may reach a cell: its distance from the middle, less that of the farthest corner."""
    dx = grid.corner[0] + (i + 0.5) * grid.size[0] - splats[k, 0]
    dy = grid.corner[1] + (j + 0.5) * grid.size[1] - splats[k, 1]
    dz = grid.corner[2] + (m + 0.5) * grid.size[2] - splats[k, 2]
    axx, ayy, azz = splats[k, 3], splats[k, 4], splats[k, 5]
    axy, axz, ayz = splats[k, 6], splats[k, 7], splats[k, 8]
    q = axx * dx * dx + ayy * dy * dy + azz * dz * dz + 2.0 * (axy * dx * dy + axz * dx * dz + ayz * dy * dz)
    hx, hy, hz = 0.5 * grid.size[0], 0.5 * grid.size[1], 0.5 * grid.size[2]
    flat, far = axx * hx * hx + ayy * hy * hy + azz * hz * hz, 0.0
    for signs in range(4):
        sy, sz = 1.0 - 2.0 * (signs & 1), 1.0 - (signs & 2)
        far = maximum(far, flat + 2.0 * (sy * axy * hx * hy + sz * axz * hx * hz + sy * sz * ayz * hy * hz))
    return sqrt(maximum(q, 0.0)) - sqrt(far) < sqrt(REACH)


def fill_cells(splats: Floats, grid: SplatGrid, fill: bool) -> Ints:
    """Count the splats of each cell into starts[c + 1], or write them into the entries."""
    nx, ny = grid.counts[0], grid.counts[1]
    heads = grid.starts.copy()
    for k in range(splats.shape[0]):
        x0, x1, y0, y1, z0, z1 = reached_cells(splats, k, grid)
        for m in range(z0, z1 + 1):
            for j in range(y0, y1 + 1):
                for i in range(x0, x1 + 1):
                    if may_reach(splats, k, grid, i, j, m):
                        cell = (m * ny + j) * nx + i
                        if fill:
                            grid.entries[heads[cell]] = k
                        heads[cell] += 1
    return heads


cell_lists, sort_points = routine(fill_cells), routine(sorted_chunks)
cells_of_points = parallel_routine(cells_of, items=lambda points, grid: len(points))
evaluate = parallel_routine(evaluate_chunks, inline=True, items=lambda points, *_: len(points))


def build_grid(splats: Floats) -> SplatGrid:
    """Return the grid of a table of splats (splats, columns): cells of 0.4 times the typical reach of a splat."""
    precision = np.empty((splats.shape[0], 3, 3))
    for row, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), 3):
        precision[:, i, j] = precision[:, j, i] = splats[:, row]
    reach = np.sqrt(REACH * np.linalg.inv(precision)[:, [0, 1, 2], [0, 1, 2]])  # (splats, 3)
    low, high = (splats[:, :3] - reach).min(axis=0), (splats[:, :3] + reach).max(axis=0)
    size = 0.4 * np.median(reach, axis=0)
    counts = np.maximum(np.ceil((high - low) / size), 1.0)
    if (excess := counts.prod() / MOST_CELLS) > 1.0:
        size *= excess ** (1.0 / 3.0) * 1.01
        counts = np.maximum(np.ceil((high - low) / size), 1.0)
    grid = SplatGrid(low, size, counts.astype(np.int64), np.zeros(int(counts.prod()) + 1, np.int64), np.zeros(0, int))
    totals = cell_lists(splats, grid, False)
    starts = np.zeros_like(grid.starts)
    starts[1:] = np.cumsum(totals[:-1])
    grid = grid._replace(starts=starts, entries=np.zeros(int(starts[-1]), np.int64))
    cell_lists(splats, grid, True)
    return grid


def evaluate_splats(
    points: Floats, splats: Floats, grid: SplatGrid, prior: Floats, spread: Floats | None = None
) -> Floats:
    """Return a table (n, 6) for points (n, 3): value, gradient x, y, z, variance, samples.

    `spread` is the covariance (5, 5) of the prior's level, exponent and position; None: they are exact.
    """
    order, chunks = sort_points(cells_of_points(points, grid), len(grid.starts) - 1)
    out = np.empty((len(points), 6))
    evaluate(points, order, chunks, splats, grid, prior, np.zeros((5, 5)) if spread is None else spread, out)
    return out


def flat_table(splats: Floats, grid: SplatGrid, prior: Floats) -> Floats:
    """Return a field as one table (rows, 16) for kernels that carry tables of floats; `field_at` evaluates it.

    The first row is the grid's corner, size and counts, the number of splats, and the prior; splats follow, then the
    starts and the entries of the grid.
    """
    head = np.array([*grid.corner, *grid.size, *grid.counts, len(splats), *prior], np.float64)
    lists = np.concatenate([grid.starts, grid.entries]).astype(np.float64)
    padded = np.zeros(-(-len(lists) // WIDTH) * WIDTH)
    padded[: len(lists)] = lists
    return np.concatenate([head[None], splats, padded.reshape(-1, WIDTH)])


def listed(table: Floats, first: int, index: int) -> int:
    """Return a number of the lists of a flat table, which begin at the row `first`."""
    return whole(table[first + index // WIDTH, index % WIDTH])


def field_at(x: float, y: float, z: float, table: Floats) -> tuple[float, float, float, float]:
    """Return the value and the gradient of a field, given as a flat table, at one point."""
    head = table[0]
    p, px, py, pz = prior_at(x, y, z, head[10:16])
    fx, fy, fz = (x - head[0]) / head[3], (y - head[1]) / head[4], (z - head[2]) / head[5]
    if not (fx >= 0.0 and fy >= 0.0 and fz >= 0.0 and fx < head[6] and fy < head[7] and fz < head[8]):
        return p, px, py, pz
    nx, ny, nz, count = whole(head[6]), whole(head[7]), whole(head[8]), whole(head[9])
    cell = (whole(fz) * ny + whole(fy)) * nx + whole(fx)
    lists, skipped = 1 + count, nx * ny * nz + 1
    s, v, sx, sy, sz, vx, vy, vz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(listed(table, lists, cell), listed(table, lists, cell + 1)):
        k = table[1 + listed(table, lists, skipped + e)]
        dx, dy, dz = x - k[0], y - k[1], z - k[2]
        gx = k[3] * dx + k[6] * dy + k[7] * dz
        gy = k[6] * dx + k[4] * dy + k[8] * dz
        gz = k[7] * dx + k[8] * dy + k[5] * dz
        q = minimum(dx * gx + dy * gy + dz * gz, REACH)
        taper = 1.0 - q * (1.0 / REACH)
        tapered = k[15] * bell(q) * taper
        w = tapered * taper
        value = k[9] + k[10] * dx + k[11] * dy + k[12] * dz
        slope = -tapered * (taper + 4.0 / REACH)
        steep = slope * value
        s, v = s + w, v + w * value
        sx, sy, sz = sx + slope * gx, sy + slope * gy, sz + slope * gz
        vx, vy, vz = vx + steep * gx + w * k[10], vy + steep * gy + w * k[11], vz + steep * gz + w * k[12]
    inverse = 1.0 / (s + FLOOR)
    mean = v * inverse
    return (
        p + mean, px + (vx - mean * sx) * inverse, py + (vy - mean * sy) * inverse, pz + (vz - mean * sz) * inverse
    )  # fmt: skip
