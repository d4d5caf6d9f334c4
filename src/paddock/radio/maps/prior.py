"""The prior of a radio map: log-distance path loss from a transmitter, which is given or estimated."""

from typing import Any

import numpy as np

from paddock.compute.splats import Floats

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


def prior_spread(prior: Floats, position: Floats, weight: Floats, residual: Floats, given: bool) -> Floats:
    """Return the covariance (5, 5) of a prior's level, exponent and position (`given`: known exactly).

    Residuals that are correlated in space count as fewer samples: by the mean squares of their block means. What the
    samples do not determine, the exponent or the position, is as uncertain as before any sample.
    """
    low, size = position.min(axis=0), np.maximum(np.ptp(position, axis=0), 1.0)
    cell = np.minimum((BLOCKS * (position - low) / size).astype(np.int64), BLOCKS - 1)
    block = np.ravel_multi_index(tuple(cell.T), tuple(BLOCKS.tolist()))
    total, sums = np.bincount(block, weight), np.bincount(block, weight * residual)
    used = total > 0.0
    repeated = max(1.0, float((sums[used] ** 2 / total[used]).mean() / prior[5]))
    free = 2 if given else 5
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
    found = []
    for k in best:
        simplex = np.concatenate([starts[k][None], starts[k] + np.diag(0.125 * (high - low))])
        given = options | {"initial_simplex": simplex}
        found.append(minimize(searched, starts[k], method="Nelder-Mead", options=given))
    return np.clip(np.asarray(min(found, key=lambda one: float(one.fun)).x, np.float64), low, high)
