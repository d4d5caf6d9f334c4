"""The prior of a radio map, and local kriging of the residuals.

The prior is log-distance path loss from a transmitter, which is given or estimated. Kriging gives amplitude and slope
of the residual field at a point, from the samples near it. Distances are measured in a frame of each point, along the
ray from the transmitter, across it and upward, each divided by a length: behind a building the field changes little
along the ray and much across it. The covariance falls exponentially with distance; the mean of the field near a point
is unknown, with a variance of its own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, zeros

from paddock.compute.math import exp, maximum, sqrt
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.compute.splats import Floats, Ints

LEAST_EXPONENT, MOST_EXPONENT = 1.5, 6.0  # from street canyons to dense buildings
STARTS = (7, 7, 3)  # places where the search for the transmitter begins, along x, y, z
MOST_STEPS = 400
LEVEL_SPREAD, EXPONENT_SPREAD = 100.0, 1.0  # dB at 1 m, and of the exponent: standard deviations before any sample
SCALE, LEAST_SCALE = 0.7, 1.0  # residuals of shadows: of the spread about the best start, and dB, at least
ROUNDS = 3  # of weights that leave out shadows
BLOCKS = np.array([4, 4, 2])  # of the samples' box, along x, y, z


def fit_prior(position: Floats, dbm: Floats, weight: Floats, transmitter: Floats | None) -> Floats:
    """Return level, exponent, position and variance of the prior (`splats.PRIOR`) by weighted least squares."""
    source = transmitter if transmitter is not None else _transmitter(position, dbm, weight)
    level, exponent, variance = _level(position, dbm, weight, source)
    return np.array([level, exponent, *source, max(variance, 1e-6)])


def prior_power(prior: Floats, places: Floats) -> Floats:
    """Return the power (dBm) of a prior at places (n, 3)."""
    decades = 5.0 * np.log10(((places - prior[2:5]) ** 2).sum(axis=1) + 1.0)
    return np.asarray(prior[0] - prior[1] * decades)


def prior_slopes(prior: Floats, places: Floats) -> Floats:
    """Return the derivatives (n, 5) of a prior at places by its level, exponent and position."""
    apart = places - prior[2:5]
    square = (apart**2).sum(axis=1) + 1.0
    decades = 5.0 * np.log10(square)
    moved = 10.0 / np.log(10.0) * prior[1] * apart / square[:, None]
    return np.column_stack([np.ones(len(places)), -decades, moved])


def prior_spread(prior: Floats, position: Floats, weight: Floats, residual: Floats, fixed: bool) -> Floats:
    """Return the covariance (5, 5) of a prior's level, exponent and position (`fixed`: known exactly).

    Residuals that are correlated in space count as fewer samples: by the mean squares of their block means. What the
    samples do not determine, the exponent or the position, is as uncertain as before any sample.
    """
    low, size = position.min(axis=0), np.maximum(np.ptp(position, axis=0), 1.0)
    cell = np.minimum((BLOCKS * (position - low) / size).astype(np.int64), BLOCKS - 1)
    block = np.ravel_multi_index(tuple(cell.T), tuple(BLOCKS.tolist()))
    total, sums = np.bincount(block, weight), np.bincount(block, weight * residual)
    used = total > 0.0
    repeated = max(1.0, float((sums[used] ** 2 / total[used]).mean() / prior[5]))
    free = 2 if fixed else 5
    slopes = prior_slopes(prior, position)[:, :free]
    before = np.array([LEVEL_SPREAD, EXPONENT_SPREAD, *[float(size.max())] * 3])[:free]
    scaled = slopes * before
    known = (scaled * weight[:, None]).T @ scaled / (prior[5] * repeated) + np.eye(free)
    spread = np.zeros((5, 5))
    spread[:free, :free] = np.linalg.inv(known) * np.outer(before, before)
    return 0.5 * (spread + spread.T)


def _level(position: Floats, dbm: Floats, weight: Floats, source: Floats) -> tuple[float, float, float]:
    """Return level (dBm at 1 m), exponent and weighted mean square of the residuals for a transmitter."""
    decades = 5.0 * np.log10(((position - source) ** 2).sum(axis=1) + 1.0)
    total = weight.sum()
    mean_x, mean_y = (weight * decades).sum() / total, (weight * dbm).sum() / total
    dx, dy = decades - mean_x, dbm - mean_y
    spread = (weight * dx * dx).sum()
    slope = -(weight * dx * dy).sum() / spread if spread > 1e-9 * total else 2.0
    exponent = float(np.clip(slope, LEAST_EXPONENT, MOST_EXPONENT))
    residual = dy + exponent * dx
    return float(mean_y + exponent * mean_x), exponent, float((weight * residual * residual).sum() / total)


def bounds(position: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest x, y, z (m) at which a transmitter is searched.

    The box of the samples, enlarged by half its size; not below the lowest sample, unless that is above z = 0, the
    ground: then not below the ground.
    """
    low, high = position.min(axis=0), position.max(axis=0)
    margin = 0.5 * np.maximum(high - low, 1.0)
    lowest = low - margin
    lowest[2] = min(low[2], max(lowest[2], 0.0))
    return lowest, high + margin


def misfit(position: Floats, dbm: Floats, weight: Floats, source: Floats, scale: float) -> float:
    """Return how badly a transmitter explains samples, from 0 to 1.

    Residuals far beyond `scale` dB count 1, however large they are: those of shadows do not move the transmitter.
    """
    trusted = weight
    for _ in range(ROUNDS):
        level, exponent, _ = _level(position, dbm, trusted, source)
        residual = dbm - prior_power(np.array([level, exponent, *source]), position)
        trusted = weight / (1.0 + (residual / scale) ** 2) ** 2
    square = (residual / scale) ** 2
    return float((weight * square / (1.0 + square)).sum() / weight.sum())


def misfit_scale(variance: float) -> float:
    """Return the scale (dB) of `misfit` for residuals of a variance (dB^2)."""
    return max(SCALE * float(np.sqrt(variance)), LEAST_SCALE)


def _transmitter(position: Floats, dbm: Floats, weight: Floats) -> Floats:
    """Return the position with the smallest residuals within `bounds`; a shadow over some samples does not move it."""
    from scipy.optimize import minimize

    stride = -(-len(dbm) // 4000)
    position, dbm, weight = position[::stride], dbm[::stride], weight[::stride]
    low, high = bounds(position)
    axes = [np.linspace(a, b, 2 * n + 1)[1::2] for a, b, n in zip(low, high, STARTS, strict=True)]
    starts = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    strong = np.argsort(-dbm, kind="stable")[: max(5, len(dbm) // 50)]
    starts = np.concatenate([position[strong].mean(axis=0)[None], starts])
    scale = misfit_scale(min(_level(position, dbm, weight, at)[2] for at in starts))

    def cost(at: Floats) -> float:
        inside = np.clip(at, low, high)
        outside = (at - inside) / (high - low)
        return misfit(position, dbm, weight, inside, scale) * (1.0 + float((outside * outside).sum()))

    best = sorted(range(len(starts)), key=lambda k: cost(starts[k]))[:3]
    searched: Any = cost
    options: Any = {"maxiter": MOST_STEPS, "xatol": 0.05, "fatol": 1e-6}
    optima = []
    for k in best:
        simplex = np.concatenate([starts[k][None], starts[k] + np.diag(0.125 * (high - low))])
        settings = options | {"initial_simplex": simplex}
        optima.append(minimize(searched, starts[k], method="Nelder-Mead", options=settings))
    return np.clip(np.asarray(min(optima, key=lambda optimum: float(optimum.fun)).x, np.float64), low, high)


# kriging --------------------------------------------------------------------------------------------------------------
NEAR = 24  # samples that a value is computed from
POOL = 96  # nearest samples, among which they are chosen by distance in the frame
MEAN_VARIANCE = 0.5  # of the local mean, in units of the variance of the field


class Metric(NamedTuple):
    """How distances are measured, and how rough and noisy the field is."""

    along: float  # length along the ray from the transmitter (or the x axis), relative
    upward: float  # vertically, relative to the length across
    rays: bool  # frames turn with the ray from the transmitter; otherwise they are the axes
    scale: float  # m: distance over which the covariance falls by e
    nugget: float  # variance of the noise of a sample of weight 1, in units of the variance of the field

    def lengths(self) -> Floats:
        """Return the lengths of the frame's axes, of product 1."""
        lengths = np.array([self.along, 1.0, self.upward])
        return np.asarray(lengths / lengths.prod() ** (1.0 / 3.0))


def frames(places: Floats, source: Floats, metric: Metric) -> Floats:
    """Return matrices (n, 3, 3) from world differences to those in the frame of each place."""
    lengths = metric.lengths()
    if not metric.rays:
        return np.repeat(np.diag(1.0 / lengths)[None], len(places), axis=0)
    ray = places - source
    ground = np.hypot(ray[:, 0], ray[:, 1])
    ray = np.where((ground < 1e-6)[:, None], ray + np.array([1e-6, 0.0, 0.0]), ray)
    along = ray / np.sqrt((ray * ray).sum(axis=1))[:, None]
    across = np.stack([-ray[:, 1], ray[:, 0], np.zeros(len(ray))], axis=1)
    across /= np.hypot(ray[:, 0], ray[:, 1])[:, None]
    return np.stack([along, across, np.cross(along, across)], axis=1) / lengths[:, None]


def nearest_in_frame(
    place: Floats, frame: Floats, position: Floats, pool: Ints, skip: int, count: int, chosen: Ints, x: Floats
) -> int:
    """Choose the `count` samples of the pool nearest in the frame; write their indices and coordinates."""
    kept, squares = 0, empty(count)
    for p in range(pool.shape[0]):
        j = pool[p]
        if j == skip:
            continue
        dx, dy, dz = position[j, 0] - place[0], position[j, 1] - place[1], position[j, 2] - place[2]
        a = frame[0, 0] * dx + frame[0, 1] * dy + frame[0, 2] * dz
        b = frame[1, 0] * dx + frame[1, 1] * dy + frame[1, 2] * dz
        c = frame[2, 0] * dx + frame[2, 1] * dy + frame[2, 2] * dz
        d2 = a * a + b * b + c * c
        if kept == count and d2 >= squares[count - 1]:
            continue
        at = kept if kept < count else count - 1
        kept = min(kept + 1, count)
        while at > 0 and squares[at - 1] > d2:
            squares[at], chosen[at] = squares[at - 1], chosen[at - 1]
            x[at, 0], x[at, 1], x[at, 2] = x[at - 1, 0], x[at - 1, 1], x[at - 1, 2]
            at -= 1
        squares[at], chosen[at] = d2, j
        x[at, 0], x[at, 1], x[at, 2] = a, b, c
    return kept


def solve_cholesky(matrix: Floats, right: Floats, n: int) -> None:
    """Solve a symmetric positive definite system in place; the solution replaces `right`."""
    for j in range(n):
        for i in range(j, n):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = sqrt(maximum(total, 1e-12)) if i == j else total / matrix[j, j]
    for i in range(n):
        total = right[i]
        for k in range(i):
            total -= matrix[i, k] * right[k]
        right[i] = total / matrix[i, i]
    for i in range(n - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, n):
            total -= matrix[k, i] * right[k]
        right[i] = total / matrix[i, i]


def covariance(dx: float, dy: float, dz: float, rate: float) -> float:
    """Return the covariance of the field at two places, in units of its variance."""
    return MEAN_VARIANCE + exp(-rate * sqrt(dx * dx + dy * dy + dz * dz))


def krige_places(
    places: Floats, turned: Floats, pools: Ints, skips: Ints, position: Floats, value: Floats, noise: Floats,
    rate: float, step: float, count: int,
) -> Floats:  # fmt: skip
    """Return (n, 4): the field at each place, and its slope in world axes from differences over +-step (frame, m).

    `skips`: sample that a place must not use (-1: none); `noise`: variance of each sample, relative to the field's.
    """
    fields = empty((places.shape[0], 4))
    for n in parallel_range(places.shape[0]):
        chosen, x, frame = zeros(count, pools.dtype), zeros((count, 3)), turned[n]
        m = nearest_in_frame(places[n], frame, position, pools[n], skips[n], count, chosen, x)
        matrix, weights = empty((m, m)), empty(m)
        for i in range(m):
            weights[i] = value[chosen[i]]
            for j in range(i):
                matrix[i, j] = covariance(x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2], rate)
            matrix[i, i] = 1.0 + MEAN_VARIANCE + noise[chosen[i]]
        solve_cholesky(matrix, weights, m)
        total, ga, gb, gc = 0.0, 0.0, 0.0, 0.0
        for i in range(m):
            a, b, c, w = x[i, 0], x[i, 1], x[i, 2], weights[i]
            total += w * covariance(a, b, c, rate)
            if step > 0.0:
                ga += w * (covariance(a - step, b, c, rate) - covariance(a + step, b, c, rate))
                gb += w * (covariance(a, b - step, c, rate) - covariance(a, b + step, c, rate))
                gc += w * (covariance(a, b, c - step, rate) - covariance(a, b, c + step, rate))
        fields[n, 0] = total
        half = 0.5 / step if step > 0.0 else 0.0
        for k in range(3):
            fields[n, 1 + k] = half * (frame[0, k] * ga + frame[1, k] * gb + frame[2, k] * gc)
    return fields


krige = parallel_routine(krige_places)
