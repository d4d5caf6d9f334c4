"""Figures of a race: speed over distance, the g-g diagram, racing lines coloured by speed."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddock.record.mission_report.map_figure import SOFT, colour, dress
from paddock.record.race_report.traces import CarTrace, LapTrace
from paddock.record.track_figure import PAPER_EDGE as EDGE
from paddock.record.track_figure import plot_track
from paddock.track.track import Track

KMH = 3.6  # km/h per m/s
LINES = 4  # most panels of racing lines
MOST_LAPS = 30  # drawn of one car


def draw_speed(figure_class: Any, cars: Sequence[CarTrace], title: str) -> Any:
    """Return speed over distance, and the time behind the fastest lap below it.

    Of a single car all laps are drawn, of several the best lap of each.
    """
    figure = figure_class(figsize=(10.0, 6.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.4))
    lines = _compared(cars)
    done = [lap for _, _, lap in lines if lap.seconds is not None]
    best = min(done, key=lambda lap: lap.seconds or 0.0) if done else None
    for label, tone, lap in lines:
        bold = lap is best
        look = {"color": tone, "linewidth": 2.0 if bold else 1.1, "zorder": 4 if bold else 3}
        above.plot(lap.distance, KMH * lap.speed, label=label, **look)
        if best is not None:
            behind = lap.time - np.interp(lap.distance, best.distance, best.time, np.nan, np.nan)
            below.plot(lap.distance, behind, **look)
    dress(above, f"{title} · speed", "all laps" if len(cars) == 1 else "best lap of each car")
    above.set_ylabel("speed, km/h")
    above.set_ylim(bottom=0.0)
    dress(below, "")
    below.set_ylabel("behind the\nfastest lap, s")
    below.set_xlabel("distance along the track, m")
    below.margins(x=0.01)
    if 0 < len(lines) <= 16:
        figure.legend(loc="outside lower center", ncols=min(len(lines), 5), frameon=False, fontsize=8)
    return figure


def _compared(cars: Sequence[CarTrace]) -> list[tuple[str, Any, LapTrace]]:
    """Return label, colour and lap of the lines that are drawn."""
    if len(cars) == 1:
        from matplotlib import colormaps

        laps = cars[0].laps[-MOST_LAPS:]
        tones = colormaps["viridis"](np.linspace(0.0, 0.85, len(laps)))
        return [(_lap_label(lap), tone, lap) for lap, tone in zip(laps, tones, strict=True)]
    best = [(car.name, colour(k), car.best) for k, car in enumerate(cars)]
    return [(f"{name}, {_lap_label(lap)}", tone, lap) for name, tone, lap in best if lap is not None]


def _lap_label(lap: LapTrace) -> str:
    return f"lap {lap.number}" + ("" if lap.seconds is None else f": {lap.seconds:.3f} s")


def draw_gg(figure_class: Any, cars: Sequence[CarTrace], title: str) -> Any:
    """Return the accelerations of all laps, forward over sideways, with circles of equal grip."""
    figure = figure_class(figsize=(7.4, 7.0), layout="constrained")
    axes = figure.add_subplot()
    largest = 0.5
    for k, car in enumerate(cars):
        if not car.laps:
            continue
        left, ahead = (np.concatenate([getattr(lap, name) for lap in car.laps]) for name in ("left", "ahead"))
        size = np.sqrt(left * left + ahead * ahead)
        largest = max(largest, float(np.quantile(size, 0.995)))  # without the spikes of touches
        axes.plot(left, ahead, ".", color=colour(k), markersize=3.0, alpha=0.45, label=car.name, zorder=3)
    step = 0.5 if largest < 3.0 else 1.0
    limit = step * np.ceil(1.05 * largest / step)
    angle = np.linspace(0.0, 2.0 * np.pi, 181)
    for radius in np.arange(step, limit + 0.01, step):
        axes.plot(radius * np.cos(angle), radius * np.sin(angle), color=EDGE, linewidth=0.7, zorder=2)
        axes.annotate(f"{radius:g} g", (0.0, radius), color=SOFT, fontsize=7.5, ha="center", va="bottom")
    dress(axes, f"{title} · g-g diagram", "from recorded velocities")
    axes.axhline(0.0, color=EDGE, linewidth=0.7)
    axes.axvline(0.0, color=EDGE, linewidth=0.7)
    axes.set(xlim=(limit, -limit), ylim=(-limit, limit), aspect="equal")  # left is left
    axes.set_xlabel("to the left, g")
    axes.set_ylabel("braking  <   g   >  accelerating")
    if len(cars) > 1:
        axes.legend(loc="upper right", frameon=False, fontsize=8, markerscale=3.0)
    return figure


def draw_lines(figure_class: Any, cars: Sequence[CarTrace], track: Track, title: str) -> Any:
    """Return the best lap of the first cars on the track, coloured by speed."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    shown = [car for car in cars if car.best is not None][:LINES] or list(cars[:1])
    columns = min(len(shown), 2) or 1
    rows = -(-len(shown) // columns) or 1
    edges = np.concatenate([track.left, track.right])
    size = np.ptp(edges, axis=0) + 10.0
    width = 9.0 / columns
    height = min(max(width * float(size[1] / size[0]), 1.6), 8.5)
    figure = figure_class(figsize=(9.6, rows * height + 1.5), layout="constrained")
    panels = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    speeds = [KMH * car.best.speed for car in shown if car.best is not None]
    low, high = (min(map(np.min, speeds)), max(map(np.max, speeds))) if speeds else (0.0, 1.0)
    norm, drawn = Normalize(low, max(high, low + 1.0)), None
    for axes, car in zip(panels, shown, strict=False):
        plot_track(track, axes)
        lap = car.best
        if lap is not None:
            points = np.column_stack([lap.x, lap.y])
            pieces = np.stack([points[:-1], points[1:]], axis=1)
            drawn = LineCollection(pieces, cmap="turbo", norm=norm, linewidth=2.2, zorder=5, capstyle="round")  # type: ignore[arg-type]
            drawn.set_array(0.5 * KMH * (lap.speed[1:] + lap.speed[:-1]))
            axes.add_collection(drawn)
        note = "" if lap is None else _lap_label(lap)
        dress(axes, f"{title} · {car.name}" if len(shown) == 1 else car.name, note)
        axes.grid(False)
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    if drawn is not None:
        figure.colorbar(drawn, ax=list(panels), label="speed, km/h", shrink=0.75, aspect=28)
    return figure
