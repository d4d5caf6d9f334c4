"""Pictures of received power: a heat map at a height with contour lines, samples and transmitters."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paddock.compute.splats import Floats
from paddock.errors import MissingFeatureError, PaddockError

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
    step = next(one for one in (1, 2, 5, 10, 20, 50, 100, 1e9) if (high - low) / one <= MOST_CONTOURS)
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
