"""A track from above: asphalt, boundaries, cones by colour, gates; as a PNG with start pose and direction."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.record.mission_report.map_figure import INK, SOFT, styled
from paddock.track.lines import Floats, directions, leftwards
from paddock.track.track import CONE_COLOURS, Track

GRASS, ASPHALT, EDGE, MIDDLE = "#e9ede6", "#50555b", "#f4f4f4", "#b9bec4"
COLOURS = {"blue": "#1f6fe5", "yellow": "#ffd21f", "orange": "#ff8a1f", "big_orange": "#ff5a00", "unknown": "#9aa0a6"}
PAPER_ASPHALT, PAPER_EDGE = "#eceff2", "#9aa5b1"
PAPER_CONES = {**COLOURS, "blue": "#1f6fd6", "yellow": "#e3b505", "orange": "#f07c12", "big_orange": "#e0570b"}
"""On a white background, under other lines."""
SIZE = 9.0  # inches, of the longer side
MARGIN = 4.0  # m around the track, at least


def draw_track(track: Track, output: str | os.PathLike[str]) -> Path:
    """Write a PNG; needs the extra `plots`."""
    target = Path(output)
    everything = np.concatenate([track.left, track.right, track.cones])
    low, high = everything.min(axis=0), everything.max(axis=0)
    margin = max(MARGIN, 0.04 * float((high - low).max()))
    low, high = low - margin, high + margin
    wide, tall = (high - low).tolist()
    scale = SIZE / max(wide, tall)
    with styled() as figure_class:
        figure = figure_class(figsize=(max(wide * scale, 4.0), max(tall * scale, 1.6) + 0.5), dpi=150)
        axes = figure.add_axes((0.02, 0.02, 0.96, 0.98 - 0.5 / figure.get_figheight()))
        axes.set_facecolor(GRASS)
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(False)
        per_metre = 72.0 * scale  # points
        _ribbon(axes, track)
        _cones(axes, track, per_metre)
        _gates(axes, track, per_metre)
        _start(axes, track, per_metre)
        _bar(axes, (high[0], low[1]), wide, per_metre)
        kind = "lap" if track.closed else "open"
        facts = f"{track.length:.0f} m {kind}", f"{track.width.min():.1f} m wide", f"{len(track.cones)} cones"
        title = "  ·  ".join((track.name, *facts))
        figure.text(0.02, 1.0 - 0.3 / figure.get_figheight(), title, fontsize=10, weight="bold", va="center")
        try:
            figure.savefig(target)
        except OSError as error:
            raise PaddockError(f"cannot write {target}: {error.strerror or error}") from None
    return target


def plot_track(track: Track, axes: Any = None) -> Any:
    """Draw asphalt, boundaries, cones and gates, in quiet colours, on axes of matplotlib, or on new ones; return them.

    Needs the extra `plots`.
    """
    if axes is None:
        with styled():
            from matplotlib import pyplot

            axes = pyplot.figure(figsize=(9.0, 6.0), layout="constrained").add_subplot()
    left, right = (np.concatenate([line, line[:1]]) if track.closed else line for line in (track.left, track.right))
    if track.closed:
        axes.fill(*np.concatenate([left, right[::-1]]).T, color=PAPER_ASPHALT, linewidth=0.0, zorder=1)
    for line in (left, right):
        axes.plot(*line.T, color=PAPER_EDGE, linewidth=0.8, zorder=2)
    for name in CONE_COLOURS:
        places = track.of_colour(name)
        if len(places):
            axes.plot(*places.T, "o", color=PAPER_CONES[name], markersize=2.2, markeredgewidth=0.0, zorder=3)
    for k, gate in enumerate(track.gates):
        ends = np.array([gate.left, gate.right]).T
        axes.plot(*ends, color=INK if k == 0 else SOFT, linewidth=1.8 if k == 0 else 1.0, zorder=4)
        if k == 0:
            axes.annotate("start", gate.left, xytext=(3, 3), textcoords="offset points", fontsize=7.5, color=INK)
    axes.set_aspect("equal")
    axes.margins(0.04)
    axes.set_xlabel("east, m")
    axes.set_ylabel("north, m")
    return axes


def _ribbon(axes: Any, track: Track) -> None:
    """Draw the asphalt as quadrilaterals along the middle line, which may cross itself, and the boundaries."""
    from matplotlib.collections import PolyCollection

    side = leftwards(directions(track.centre, track.closed))
    left, right = track.centre + track.left_width[:, None] * side, track.centre - track.right_width[:, None] * side
    if track.closed:
        left, right = np.concatenate([left, left[:1]]), np.concatenate([right, right[:1]])
    parts = np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1)
    axes.add_collection(PolyCollection(list(parts), facecolors=ASPHALT, edgecolors=ASPHALT, linewidths=0.6, zorder=1))
    for edge in (left, right):
        axes.plot(*edge.T, color=EDGE, linewidth=0.9, zorder=2)
    middle = np.concatenate([track.centre, track.centre[:1]]) if track.closed else track.centre
    axes.plot(*middle.T, color=MIDDLE, linewidth=0.6, linestyle=(0, (6, 6)), alpha=0.7, zorder=2)


def _cones(axes: Any, track: Track, per_metre: float) -> None:
    for name in CONE_COLOURS:
        places = track.of_colour(name)
        if len(places):
            size = max((0.75 if name == "big_orange" else 0.5) * per_metre, 2.6 if name == "big_orange" else 1.8)
            style = {"s": min(size, 9.0) ** 2, "color": COLOURS[name], "edgecolors": "#20242a", "linewidths": 0.35}
            axes.scatter(*places.T, **style, zorder=4)


def _gates(axes: Any, track: Track, per_metre: float) -> None:
    for k, gate in enumerate(track.gates):
        ends = np.array([gate.left, gate.right])
        if k == 0:
            axes.plot(*ends.T, color="#20242a", linewidth=4.0, zorder=3)
            axes.plot(*ends.T, color="white", linewidth=4.0, linestyle=(0, (0.8, 0.8)), zorder=3)
        else:
            axes.plot(*ends.T, color="#c02942", linewidth=1.6, zorder=3)
        out = ends[1] + (ends[1] - ends[0]) / max(float(np.hypot(*(ends[1] - ends[0]))), 1e-9) * 9.0 / per_metre
        axes.text(*out, gate.name, fontsize=7, ha="center", va="center", color="#20242a", zorder=5)


def _start(axes: Any, track: Track, per_metre: float) -> None:
    """Draw the car at the start pose and an arrow in driving direction."""
    x, y, yaw = track.start
    ahead = np.array([np.cos(yaw), np.sin(yaw)])
    half = max(1.4, 5.0 / per_metre)
    place = np.array([x, y])
    body = [place + half * ahead, place - half * ahead + 0.5 * half * _turned(ahead)]
    body += [place - 0.5 * half * ahead, place - half * ahead - 0.5 * half * _turned(ahead)]
    axes.fill(*np.array(body).T, color="#39d353", edgecolor="#0f2b16", linewidth=0.6, zorder=6)
    at = (track.gates[0].along + 0.06 * min(track.length, 300.0)) % track.length
    tail, tip = track.point_at(at), track.point_at(at + max(6.0, 22.0 / per_metre))
    style = {"arrowstyle": "-|>", "color": "white", "linewidth": 1.6, "mutation_scale": 11}
    axes.annotate("", xy=tuple(tip), xytext=tuple(tail), arrowprops=style, zorder=5)


def _turned(vector: Floats) -> Floats:
    return np.array([-vector[1], vector[0]])


def _bar(axes: Any, corner: tuple[float, float], wide: float, per_metre: float) -> None:
    """Draw a bar of a round length."""
    length = next((n for n in (200, 100, 50, 20, 10, 5) if n <= 0.25 * wide), 2)
    x, y = corner[0] - length - 8.0 / per_metre, corner[1] + 8.0 / per_metre
    axes.plot([x, x + length], [y, y], color="#20242a", linewidth=2.0, solid_capstyle="butt", zorder=5)
    axes.text(x + 0.5 * length, y + 3.0 / per_metre, f"{length} m", fontsize=7, ha="center", va="bottom", zorder=5)
