"""Plots of a run: tracks from above, speed and height over time; saved as PNG."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paddock.errors import MissingFeatureError, PaddockError
from paddock.record.reader import RecordedRun
from paddock.world.columns import Floats
from paddock.world.snapshot import FleetSnapshot

SAMPLES = 1500  # maximum number of samples drawn
TRACKS = 60  # maximum number of tracks drawn per fleet
LISTED = 16  # maximum number of fleets in the legend
COLOURS = (
    *("#0b78c2", "#e07b00", "#2c9e4b", "#d43d66", "#7d55c7", "#00918a"),
    *("#a08a00", "#8a4b2a", "#e36bb4", "#5b6770", "#5aa9e6", "#9bc53d"),
)


@dataclass
class _Trace:
    """The drawn data of a fleet."""

    name: str
    kind: str
    count: int = 0
    time: list[float] = field(default_factory=list)
    tracks: dict[int, list[tuple[float, float]]] = field(default_factory=dict)  # member -> points
    speed: list[tuple[float, float, float]] = field(default_factory=list)  # low, mean, high
    height: list[tuple[float, float, float]] = field(default_factory=list)

    def add(self, time: float, fleet: FleetSnapshot) -> None:
        """Add a sample."""
        self.count = max(self.count, len(fleet))
        self.time.append(time)
        velocity = fleet.velocity
        self.speed.append(_spread(np.sqrt(np.einsum("ij,ij->i", velocity, velocity))))
        self.height.append(_spread(fleet.position[:, 2]))
        stride = -(-len(fleet) // TRACKS)
        for member, x, y in zip(
            fleet.members[::stride].tolist(), *fleet.position[::stride, :2].T.tolist(), strict=True
        ):
            self.tracks.setdefault(member, []).append((x, y))

    def gap(self, time: float) -> None:
        """Interrupt the lines, at a reset or restore."""
        hole = (np.nan, np.nan, np.nan)
        self.time.append(time)
        self.speed.append(hole)
        self.height.append(hole)
        for points in self.tracks.values():
            points.append((np.nan, np.nan))


def plot(run: RecordedRun, folder: str | os.PathLike[str], fleet: str | None = None) -> list[Path]:
    """Write tracks.png, speed.png and height.png to a folder; return their paths. Needs the extra `plots`."""
    figure_class = _matplotlib()
    traces = _traces(run, fleet)
    paths = [Path(folder) / f"{name}.png" for name in ("tracks", "speed", "height")]
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path in paths:
            size = (9.0, _plan_height(traces) if path.stem == "tracks" else 4.5)
            figure = figure_class(figsize=size, dpi=140, layout="constrained")
            axes = figure.add_subplot()
            if path.stem == "tracks":
                _draw_tracks(axes, traces)
            else:
                _draw_bands(axes, traces, path.stem)
            _finish(axes, traces, f"{run.metadata.get('name', '')} · {path.stem}", path.stem == "tracks")
            figure.savefig(path)
    except OSError as error:
        raise PaddockError(f"cannot write plots to {os.fspath(folder)}: {error.strerror or error}") from None
    return paths


def _traces(run: RecordedRun, only: str | None) -> list[_Trace]:
    traces = {layout.name: _Trace(layout.name, layout.kind) for layout in run.fleet_layouts(only)}
    times = run.times()
    stride = max(1, -(-len(run) // SAMPLES))
    for section in run.sections:
        for k in section.samples[::stride]:
            for fleet in run.sample(k):
                if fleet.name in traces and len(fleet):
                    traces[fleet.name].add(float(times[k]), fleet)
        if section.samples:
            for trace in traces.values():
                trace.gap(float(times[section.samples[-1]]))
    return list(traces.values())


def _spread(values: Floats) -> tuple[float, float, float]:
    """Return the 5th percentile, the mean and the 95th percentile."""
    low, high = np.percentile(values, (5, 95)) if len(values) > 1 else (values[0], values[0])
    return float(low), float(values.mean()), float(high)


def _plan_height(traces: list[_Trace]) -> float:
    """Return the height of the figure in inches that fits the area of the tracks."""
    points = np.array([point for trace in traces for points in trace.tracks.values() for point in points] or [(0, 0)])
    width, height = np.nanmax(points, axis=0) - np.nanmin(points, axis=0)
    return float(np.clip(1.2 + 7.0 * height / max(width, 1e-9), 4.0, 9.0))


def _draw_tracks(axes: Any, traces: list[_Trace]) -> None:
    for k, trace in enumerate(traces):
        colour = COLOURS[k % len(COLOURS)]
        alpha = 0.95 if len(trace.tracks) < 12 else 0.45
        for points in trace.tracks.values():
            line = np.array(points)
            ends = line[~np.isnan(line[:, 0])]
            axes.plot(*line.T, color=colour, alpha=alpha, linewidth=1.3 if alpha > 0.5 else 0.7)
            axes.plot(*ends[0], "o", color="white", markeredgecolor=colour, markersize=3.5, markeredgewidth=0.8)
            axes.plot(*ends[-1], "o", color=colour, markersize=3.5, markeredgewidth=0)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("east, m")
    axes.set_ylabel("north, m")


def _draw_bands(axes: Any, traces: list[_Trace], quantity: str) -> None:
    """Draw the mean speed or height of each fleet as a line, and the 5th to 95th percentile as a band."""
    for k, trace in enumerate(traces):
        low, mean, high = np.array(getattr(trace, quantity)).reshape(-1, 3).T
        colour = COLOURS[k % len(COLOURS)]
        axes.plot(trace.time, mean, color=colour, linewidth=1.5)
        if trace.count > 1:
            axes.fill_between(trace.time, low, high, color=colour, alpha=0.15, linewidth=0)
    if quantity == "height":  # at least 2 m, so that rounding does not look like motion
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.5 * (low + high) - 1.0), max(high, 0.5 * (low + high) + 1.0))
    axes.set_xlabel("time, s")
    axes.set_ylabel(f"{quantity}, {'m' if quantity == 'height' else 'm/s'}")
    axes.margins(x=0.01)


def _finish(axes: Any, traces: list[_Trace], title: str, from_above: bool) -> None:
    """Add title, grid and legend."""
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold")
    axes.grid(color="#d9dee3", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors="#4a5562")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    named = traces[:LISTED] if len(traces) <= LISTED else traces[: LISTED - 1]
    for k, trace in enumerate(named):
        of = f"{len(trace.tracks)} of " if 0 < len(trace.tracks) < trace.count and from_above else ""
        label = trace.name if trace.count < 2 else f"{trace.name} ({of}{trace.count:,})"
        axes.plot([], [], color=COLOURS[k % len(COLOURS)], linewidth=2, label=label)
    if len(named) < len(traces):
        axes.plot([], [], " ", label=f"and {len(traces) - len(named)} more")
    if any(trace.count > 1 for trace in traces) and not from_above:
        axes.set_title("mean of each fleet, 5th to 95th percentile", loc="right", fontsize=8, color="#4a5562")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)


def _matplotlib() -> Any:
    """Import the figure class; it needs no window system."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingFeatureError("plots need matplotlib: pip install 'paddock[plots]'") from None
    return Figure
