"""A fitted radio map (received power, its gradient and its uncertainty at any point), and how it is fitted.

1. The prior is fitted by least squares; the rest is the residual field.
2. The metric of the residuals (frame, lengths, noise) is that with the smallest leave-one-out error of local kriging.
3. Splats start at a share of the samples. Rounds of densification add splats at samples that the mixture misses;
   pruning removes splats that their neighbours replace. Amplitudes and slopes come from local kriging at the means.
4. What the mixture has smoothed away is kriged once more and added.

Each step is a function of the samples and the seed; sums have a fixed order.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from paddock.compute.splats import WIDTH, Floats, Ints, SplatGrid, build_grid, evaluate_splats
from paddock.errors import InvalidValueError, MissingFeatureError, PaddockError
from paddock.radio.maps.kriging import (
    NEAR,
    POOL,
    Metric,
    bounds,
    fit_prior,
    frames,
    krige,
    misfit,
    misfit_scale,
    prior_power,
    prior_spread,
)
from paddock.radio.maps.samples import LEAST_SAMPLES, RadioSamples
from paddock.wire.radio_map import MOST_DRAWN, THINNEST, WIDEST, MapFile, read_map, write_map


class MapValues(NamedTuple):
    """The map at n points."""

    power: Floats  # (n,) dBm
    gradient: Floats  # (n, 3) dB/m
    deviation: Floats  # (n,) dB: standard deviation of the error of a prediction
    samples: Floats  # (n,) effective number of samples near the point


@dataclass(frozen=True)
class RadioMap:
    """A field of received power: splats over the path loss from a transmitter."""

    file: MapFile

    @cached_property
    def grid(self) -> SplatGrid:
        """Return the splats by cell."""
        return build_grid(self.file.splats)

    def query(self, points: Any) -> MapValues:
        """Return power, gradient and uncertainty at points (n, 3) in m; one point (3,) counts as n = 1."""
        places = np.asarray(points, np.float64)
        if places.ndim == 1:
            places = places[None]
        if places.ndim != 2 or places.shape[1] != 3:
            raise InvalidValueError(f"points must have the shape (n, 3), not {np.shape(points)}")
        if not np.isfinite(places).all():
            row = int(np.flatnonzero(~np.isfinite(places).all(axis=1))[0])
            raise InvalidValueError(f"points[{row}] is not finite: {places[row].tolist()}")
        places, contents = np.ascontiguousarray(places), self.file
        table = evaluate_splats(places, contents.splats, self.grid, contents.prior, contents.spread)
        return MapValues(table[:, 0], table[:, 1:4], np.sqrt(table[:, 4]), table[:, 5])

    def prior(self, points: Floats) -> Floats:
        """Return the path-loss prior at points (n, 3), dBm."""
        return prior_power(self.file.prior, points)

    @property
    def transmitter(self) -> Floats:
        """Return the position of the transmitter, given or estimated, m."""
        return np.asarray(self.file.prior[2:5])

    @property
    def exponent(self) -> float:
        """Return the path-loss exponent of the prior."""
        return float(self.file.prior[1])

    @property
    def splats(self) -> int:
        """Return the number of splats."""
        return len(self.file.splats)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map to a file (.npz)."""
        write_map(path, self.file)


def load_map(path: str | os.PathLike[str]) -> RadioMap:
    """Read a map that `RadioMap.save` has written; raises PaddockError for any other file."""
    return RadioMap(read_map(path))


# fitting --------------------------------------------------------------------------------------------------------------
SAME_PLACE = 1e-3  # m: samples this near to each other are merged
ONE_PLACE = 1.0  # m: samples this near to each other are held out together
TRIED = 800  # samples on which metrics are compared
ALONG, UPWARD, NUGGETS = (1.0, 2.0, 3.0, 4.5, 7.0), (0.35, 0.6, 1.0, 1.6), (0.002, 0.02, 0.08, 0.3)
SCALE = 20.0  # of the covariance, in median distances to the nearest sample
START = 0.3  # share of the samples at which splats start
EXPLAINED = 1.03  # misfit of a transmitter that the shadows point to, over that of the estimate, at most
STEPS = 3  # of the search for the transmitter, at most, of each size
ROUNDS = 3  # of densification
MISSED, REPLACED = 0.2, 0.04  # of the leave-one-out error: misses that need a splat; that a splat must make up for
WIDTH_OF_GAP = 0.6  # standard deviation of a splat, in distances to its RANK-th neighbour
RANK = 5
SMOOTHED = 0.05  # noise of the residuals in step 4, relative to their variance
LOCAL, SHRUNK = 12, 4.0  # samples that give a splat's variance, and how many count for the mean of all


@dataclass(frozen=True)
class MapFit:
    """A fitted map and how it was found."""

    map: RadioMap
    metric: Metric
    leave_one_out: float  # dB, root mean square of the leave-one-out errors of the kriging
    seconds: float


@dataclass(frozen=True)
class _Residuals:
    """The residual field at merged samples, and the nearest samples of each."""

    position: Floats
    value: Floats
    noise: Floats  # 1 / weight
    tree: cKDTree
    source: Floats

    def kriged(self, places: Floats, metric: Metric, step: float, skip: Ints | None = None, value: Floats | None = None,
               nugget: float | None = None) -> Floats:  # fmt: skip
        """Return the field and its slope (n, 4) at places; `skip`: the sample that each must not use."""
        pools = self.tree.query(places, min(POOL, len(self.value)))[1].reshape(len(places), -1)
        skips = np.full(len(places), -1) if skip is None else skip
        noise = (metric.nugget if nugget is None else nugget) * self.noise
        count = max(1, min(NEAR, len(self.value) - (skip is not None)))
        turned = frames(places, self.source, metric)
        of = self.value if value is None else value
        return krige(places, turned, pools, skips, self.position, of, noise, 1.0 / metric.scale, step, count)


def fit_map(
    samples: RadioSamples, transmitter: Floats | None = None, frequency: float = float("nan"), seed: int = 0
) -> MapFit:
    """Fit a map to samples of received power; the transmitter's position is estimated unless it is given (m)."""
    started = perf_counter()
    if len(samples.dbm) < LEAST_SAMPLES:
        raise InvalidValueError(f"a radio map needs at least {LEAST_SAMPLES} samples, not {len(samples.dbm)}")
    if transmitter is not None and (np.shape(transmitter) != (3,) or not np.isfinite(transmitter).all()):
        raise InvalidValueError(f"transmitter must be x, y, z in m, not {transmitter}")
    merged = _merged(samples)
    position = None if transmitter is None else np.asarray(transmitter, np.float64)
    order = np.random.default_rng(seed).permutation(len(merged.dbm))
    prior, field = _residuals(merged, position)
    metric = _metric(field, merged.weight, order)
    if position is None and metric.rays:
        prior, field = _refined(merged, prior, field, metric, order)
    value = field.value
    error = value - field.kriged(merged.position, metric, 0.0, np.arange(len(value)))[:, 0]
    typical = float(np.sqrt((merged.weight * error**2).sum() / merged.weight.sum()))
    prior[5] = max(prior[5], typical**2)  # away from samples no prediction is better than next to them
    splats = _splats(field, metric, order, prior, typical)
    _set_uncertainty(splats, field, merged.weight, error, prior)
    spread = prior_spread(prior, merged.position, merged.weight, value, position is not None)
    stride = -(-len(samples.dbm) // MOST_DRAWN)
    drawn = np.column_stack([samples.position, samples.dbm])[::stride].astype(np.float32)
    contents = MapFile(splats, prior, drawn, typical, len(samples.dbm), frequency, position is not None, spread)
    return MapFit(RadioMap(contents), metric, typical, perf_counter() - started)


def cross_validate(
    samples: RadioSamples, transmitter: Floats | None = None, folds: int = 5, seed: int = 0
) -> tuple[float, Floats]:
    """Return the root mean square error (dB) of held-out samples, and the error of each: `folds` complete fits.

    Samples of one place are held out together. With too few places (`least_places`) all errors are NaN.
    """
    place = places_of(samples)
    errors = np.full(len(samples.dbm), np.nan)
    used = np.bincount(place, samples.weight) > 0.0
    if used.sum() < least_places(folds):
        return float("nan"), errors
    folds = min(folds, int(used.sum()))
    rank = np.zeros(len(used), np.int64)
    order = np.argsort(~used[(drawn := np.random.default_rng([seed, 1]).permutation(len(used)))], kind="stable")
    rank[drawn[order]] = np.arange(len(used))  # places without weight are the last
    part = rank[place] % folds
    for fold in range(folds):
        out = part == fold
        fitted = fit_map(samples.chosen(~out), transmitter, seed=seed).map
        errors[out] = fitted.query(samples.position[out]).power - samples.dbm[out]
    mean = (samples.weight * errors**2).sum() / samples.weight.sum()
    return float(np.sqrt(mean)), errors


def least_places(folds: int) -> int:
    """Return the number of places from which a cross-validation fits every part to at least LEAST_SAMPLES of them."""
    return -(-LEAST_SAMPLES * folds // (folds - 1))


def places_of(samples: RadioSamples) -> Ints:
    """Return the place (n,) of each sample: samples within ONE_PLACE, or 1 % of their extent if less, share one.

    The centres of places are farther than that from each other; a sample belongs to the nearest.
    """
    position = samples.position
    distance = max(min(ONE_PLACE, 0.01 * float(np.ptp(position, axis=0).max())), SAME_PLACE)
    cells, group = np.unique(np.round(position / (0.5 * distance)), axis=0, return_inverse=True)
    centre = cells * (0.5 * distance)
    pairs = cKDTree(centre).query_pairs(distance, output_type="ndarray")
    near = np.concatenate([pairs, pairs[:, ::-1]])
    rank = np.random.default_rng(len(centre)).permutation(len(centre))
    chosen, free = np.zeros(len(centre), bool), np.ones(len(centre), bool)
    while free.any():  # a free cell that ranks before all free cells near it is the centre of a place
        near = near[free[near].all(axis=1)]
        best = np.full(len(centre), len(centre))
        np.minimum.at(best, near[:, 0], rank[near[:, 1]])
        selected = free & (rank < best)
        chosen |= selected
        free &= ~selected
        free[near[selected[near[:, 0]], 1]] = False
    nearest = np.asarray(cKDTree(centre[chosen]).query(centre)[1], np.int64)
    return nearest[group.reshape(-1)]


def _merged(samples: RadioSamples) -> RadioSamples:
    """Return samples with those at one place merged into their weighted mean, and without those of weight 0."""
    used = samples.chosen(samples.weight > 0.0)
    if len(used.dbm) < LEAST_SAMPLES:
        raise InvalidValueError(
            f"a radio map needs at least {LEAST_SAMPLES} samples of weight > 0, not {len(used.dbm)}"
        )
    keys = np.round(used.position / SAME_PLACE)
    _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    weight = np.bincount(group, used.weight)
    dbm = np.bincount(group, used.weight * used.dbm) / weight
    scale = np.median(weight)
    at = np.argsort(first, kind="stable")  # in the order of the file
    return RadioSamples(used.position[first][at], dbm[at], np.maximum(weight / scale, 1e-6)[at])


def _residuals(merged: RadioSamples, source: Floats | None) -> tuple[Floats, _Residuals]:
    """Return the prior of a transmitter's position (None: estimated), and the field above it."""
    prior = fit_prior(merged.position, merged.dbm, merged.weight, source)
    value = merged.dbm - prior_power(prior, merged.position)
    return prior, _Residuals(merged.position, value, 1.0 / merged.weight, cKDTree(merged.position), prior[2:5])


def _refined(
    merged: RadioSamples, prior: Floats, field: _Residuals, metric: Metric, order: Ints
) -> tuple[Floats, _Residuals]:
    """Move an estimated transmitter to where the shadows point: steps that lower the leave-one-out error.

    They stay where a transmitter explains the samples about as well as the estimate does.
    """
    tried = np.sort(order[: min(TRIED, len(field.value))])
    size, limits = float(np.ptp(merged.position, axis=0).max()), bounds(merged.position)
    samples = merged.position[tried], merged.dbm[tried], merged.weight[tried]

    def error(residuals: _Residuals) -> float:
        missed = residuals.value[tried] - residuals.kriged(residuals.position[tried], metric, 0.0, tried)[:, 0]
        return float((merged.weight[tried] * missed**2).sum())

    best, scale = error(field), misfit_scale(prior[5])
    allowed = EXPLAINED * misfit(*samples, prior[2:5], scale)
    for step in (0.08 * size, 0.04 * size, 0.02 * size, 0.01 * size):
        for _ in range(STEPS):
            before = best
            for direction in np.concatenate([np.eye(3), -np.eye(3)]):
                at = np.clip(prior[2:5] + step * direction, *limits)
                if misfit(*samples, at, scale) > allowed:
                    continue
                moved = _residuals(merged, at)
                if (score := error(moved[1])) < best:
                    best, (prior, field) = score, moved
            if best >= before:
                break
    return prior, field


def _metric(field: _Residuals, weight: Floats, order: Ints) -> Metric:
    """Return the metric with the smallest leave-one-out error, by a search along one value after another."""
    n = len(field.value)
    tried = np.sort(order[: min(TRIED, n)])
    gaps = np.asarray(field.tree.query(field.position[tried], min(2, n))[0]).reshape(len(tried), -1)[:, -1]
    scale = SCALE * max(float(np.median(gaps)), 10.0 * SAME_PLACE)

    def error(metric: Metric) -> float:
        missed = field.value[tried] - field.kriged(field.position[tried], metric, 0.0, tried)[:, 0]
        return float((weight[tried] * missed**2).sum())

    best = min((Metric(1.0, 1.0, False, scale, 0.02), Metric(2.0, 1.0, True, scale, 0.02)), key=error)
    for _ in range(2):
        best = min((best._replace(upward=upward) for upward in UPWARD), key=error)
        best = min((best._replace(along=along) for along in ALONG), key=error) if best.rays else best
        best = min((best._replace(nugget=nugget) for nugget in NUGGETS), key=error)
        other = best._replace(rays=not best.rays, along=2.0 if best.along == 1.0 else best.along)
        best = min((best, other if other.rays else other._replace(along=1.0)), key=error)
    return best


def _splats(field: _Residuals, metric: Metric, order: Ints, prior: Floats, typical: float) -> Floats:
    """Return the table of splats; columns 13 and 14 are still to be set."""
    n = len(field.value)
    gap = metric.scale / SCALE
    full = field.kriged(field.position, metric, 0.5 * gap)
    turned = frames(field.position, field.source, metric)
    used = np.zeros(n, bool)
    used[order[: max(min(n, 10), int(START * n))]] = True
    for _ in range(ROUNDS):
        table = _table(field, np.flatnonzero(used), full, turned, metric)
        missed = np.abs(field.value - _above_prior(table, field.position, prior)[0])
        used |= missed > MISSED * typical
    for _ in range(2):
        at = np.flatnonzero(used)
        table = _table(field, at, full, turned, metric)
        used[at[_replaceable(table, order.argsort()[at], prior, REPLACED * typical)]] = False
    at = np.flatnonzero(used)
    table = _table(field, at, full, turned, metric)
    rest = field.value - _above_prior(table, field.position, prior)[0]
    table[:, 9:13] += field.kriged(field.position[at], metric, 0.5 * gap, value=rest, nugget=SMOOTHED)
    return table


def _table(field: _Residuals, at: Ints, full: Floats, turned: Floats, metric: Metric) -> Floats:
    """Return splats at some samples; their widths follow the distances to their neighbours, in the frame of each."""
    position = field.position[at]
    table = np.zeros((len(at), WIDTH))
    pools = cKDTree(position).query(position, min(6 * RANK, len(at)))[1].reshape(len(at), -1)
    apart = np.einsum("nij,nkj->nki", turned[at], position[pools] - position[:, None])
    distance = np.sort(np.sqrt((apart * apart).sum(axis=2)), axis=1)[:, min(RANK - 1, pools.shape[1] - 1)]
    width = np.maximum(WIDTH_OF_GAP * distance, 0.1 * metric.scale / SCALE)
    stretch = np.sqrt((turned[at] ** 2).sum(axis=2))  # of each axis: a file holds no thinner splats, and no wider ones
    width = np.clip(width, 2.0 * THINNEST * stretch.max(axis=1), 0.5 * WIDEST * stretch.min(axis=1))
    scaled = turned[at] / width[:, None, None]
    precision = np.einsum("nki,nkj->nij", scaled, scaled)
    table[:, :3] = position
    for column, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)), 3):
        table[:, column] = precision[:, i, j]
    table[:, 9:13] = full[at]
    table[:, 14] = table[:, 15] = 1.0
    return table


def _above_prior(table: Floats, position: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return the mixture at positions, above the prior, and the sum of its weights."""
    flat = np.array([0.0, 0.0, *prior[2:5], 1.0])
    evaluated = evaluate_splats(np.ascontiguousarray(position), table, build_grid(table), flat)
    return evaluated[:, 0], evaluated[:, 5]


def _replaceable(table: Floats, rank: Ints, prior: Floats, tolerance: float) -> Ints:
    """Return splats without which their neighbours give nearly the same value; never two neighbours at once."""
    from paddock.compute.splats import FLOOR

    value, total = _above_prior(table, table[:, :3], prior)
    others = np.maximum(total - 1.0, 1e-9)
    without = (value * (total + FLOOR) - table[:, 9]) / (others + FLOOR)
    useless = (np.abs(without - table[:, 9]) < tolerance) & (others > 0.5)
    near = cKDTree(table[:, :3]).query(table[:, :3], min(2 * RANK, len(table)))[1].reshape(len(table), -1)
    standing = np.where(useless, rank, len(rank) * 1000)
    return np.flatnonzero(useless & (standing <= standing[near].min(axis=1)))


def _set_uncertainty(table: Floats, field: _Residuals, weight: Floats, error: Floats, prior: Floats) -> None:
    """Set each splat's number of samples and its variance, from the leave-one-out errors of the samples near it."""
    owner = cKDTree(table[:, :3]).query(field.position)[1]
    table[:, 14] = np.bincount(owner, weight, len(table))
    near = field.tree.query(table[:, :3], min(LOCAL, len(error)))[1].reshape(len(table), -1)
    mean = (weight * error**2).sum() / weight.sum()
    sums = (weight[near] * error[near] ** 2).sum(axis=1) + SHRUNK * mean
    local = sums / (weight[near].sum(axis=1) + SHRUNK)
    around = _above_prior(table, table[:, :3], prior)[1]
    table[:, 13] = local / (1.0 + 1.0 / (1.0 + around))  # the query multiplies by this factor


INK, SOFT, THRESHOLD = "#1f2a36", "#5f6b78", "#c4262e"
LONGER_SIDE = 8.5  # inches
MOST_CONTOURS = 9
LEAST_RANGE, MOST_RANGE = 10.0, 90.0  # dB between the ends of the colour bar


@dataclass(frozen=True)
class HeatMap:
    """Received power, or another quantity in dB, over a rectangle at one height."""

    x: Floats  # (columns,) m
    y: Floats  # (rows,) m
    values: Floats  # (rows, columns)
    height: float  # m, of a scenario above the ground
    quantity: str = "received power"
    unit: str = "dBm"
    samples: Floats = field(default_factory=lambda: np.zeros((0, 4)))  # x, y, z, dBm
    marks: Sequence[tuple[str, float, float, str]] = ()  # name, x, y, kind: station, jammer or estimate
    outlines: Sequence[Floats] = ()  # of obstacles that reach the height, (k, 2) m

    def covered(self, threshold: float) -> float:
        """Return the share of the rectangle where the value is at least a threshold."""
        return float(np.mean(self.values >= threshold))


def draw_coverage(grid: HeatMap, output: str | os.PathLike[str], title: str, threshold: float | None = None) -> Path:
    """Write a PNG; needs the extra `plots`."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingFeatureError("pictures need matplotlib: pip install 'paddock[plots]'") from None
    wide, tall = float(np.ptp(grid.x)), float(np.ptp(grid.y))
    scale = LONGER_SIDE / max(wide, tall, 1e-9)
    figure = Figure(figsize=(max(wide * scale, 3.5) + 1.9, max(tall * scale, 2.5) + 1.0), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    low, high = _limits(grid.values)
    image = axes.pcolormesh(grid.x, grid.y, grid.values, cmap="viridis", vmin=low, vmax=high, shading="nearest")
    image.set_rasterized(True)
    _contours(axes, grid, low, high, threshold)
    for outline in grid.outlines:
        axes.fill(*outline.T, facecolor="#59636e", edgecolor=INK, linewidth=0.5, zorder=3)
    _samples(axes, grid, low, high)
    _marks(axes, grid)
    bar = figure.colorbar(image, ax=axes, shrink=0.9, pad=0.02, extend="both")
    bar.set_label(f"{grid.quantity}, {grid.unit}", color=SOFT)
    if threshold is not None:
        bar.ax.axhline(threshold, color=THRESHOLD, linewidth=1.6)
        title = f"{title} · {100.0 * grid.covered(threshold):.0f} % at {threshold:g} {grid.unit} or more"
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold", color=INK)
    axes.set_aspect("equal")
    axes.set_xlim(grid.x[0], grid.x[-1])
    axes.set_ylim(grid.y[0], grid.y[-1])
    axes.set_xlabel("east, m", color=SOFT)
    axes.set_ylabel("north, m", color=SOFT)
    try:
        figure.savefig(output)
    except (OSError, ValueError) as error:
        raise PaddockError(f"cannot write {os.fspath(output)}: {getattr(error, 'strerror', None) or error}") from None
    return Path(output)


def _limits(values: Floats) -> tuple[float, float]:
    """Return the ends of the colour bar: round numbers around all but the rarest values."""
    low, high = np.percentile(values, (1.0, 99.5)).tolist()
    low = max(low, high - MOST_RANGE)  # inside of walls
    middle, half = 0.5 * (low + high), max(0.5 * (high - low), 0.5 * LEAST_RANGE)
    return 5.0 * np.floor((middle - half) / 5.0), 5.0 * np.ceil((middle + half) / 5.0)


def _contours(axes: Any, grid: HeatMap, low: float, high: float, threshold: float | None) -> None:
    if min(grid.values.shape) < 2:
        return
    step = next(candidate for candidate in (1, 2, 5, 10, 20, 50, 100, 1e9) if (high - low) / candidate <= MOST_CONTOURS)
    levels = np.arange(step * np.ceil(low / step), high + 0.5 * step, step)
    inside = levels[(levels > grid.values.min()) & (levels < grid.values.max())]
    if len(inside):
        lines = axes.contour(grid.x, grid.y, grid.values, inside, colors="white", linewidths=0.6, alpha=0.75)
        axes.clabel(lines, fontsize=6.5, fmt="%g")
    if threshold is not None and grid.values.min() < threshold < grid.values.max():
        axes.contour(grid.x, grid.y, grid.values, [threshold], colors=THRESHOLD, linewidths=1.6)


def _samples(axes: Any, grid: HeatMap, low: float, high: float) -> None:
    """Draw the samples near the height of the picture, in the colours of the map."""
    if len(grid.samples):
        x, y, _, dbm = grid.samples.T
        size = float(np.clip(4000.0 / len(x), 2.0, 22.0))
        axes.scatter(x, y, c=dbm, s=size, cmap="viridis", vmin=low, vmax=high, edgecolors="white", linewidths=0.3)


def _marks(axes: Any, grid: HeatMap) -> None:
    styles = {"station": ("^", "white", INK), "jammer": ("X", THRESHOLD, "white"), "estimate": ("*", "#ffd21f", INK)}
    for name, x, y, kind in grid.marks:
        if grid.x[0] <= x <= grid.x[-1] and grid.y[0] <= y <= grid.y[-1]:
            marker, face, edge = styles[kind]
            size = 13 if kind == "estimate" else 9
            axes.plot([x], [y], marker, color=face, markeredgecolor=edge, markersize=size, linestyle="none", zorder=5)
            box = {"facecolor": "#ffffffcc", "edgecolor": "none", "boxstyle": "round,pad=0.2"}
            axes.annotate(name, (x, y), (8, 6), textcoords="offset points", fontsize=8, color=INK, bbox=box)
