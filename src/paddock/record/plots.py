"""Figures as PNG: a run, the curves of a tyre property file, a track from above.

The plot of a run has its tracks from above, speed and height over time. That of a tyre has forces over slip at several
loads, combined slip and peaks. That of a track has asphalt, boundaries, cones by colour, gates, start pose and
direction.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paddock.compute.twin import vectorised
from paddock.errors import InvalidValueError, file_errors
from paddock.record.reader import RecordedRun
from paddock.record.reports import INK, SOFT, colour, dress, png, stroke, styled, write_files
from paddock.track.lines import directions, leftwards
from paddock.track.track import CONE_COLOURS, Track
from paddock.vehicles.parts.tyre_property import Coefficients, coefficients_of, property_forces, relaxation_lengths
from paddock.wire.tir import TirFile, read_tir
from paddock.world.columns import Floats
from paddock.world.snapshot import FleetSnapshot

SAMPLES = 1500  # maximum number of samples drawn
TRACKS = 60  # maximum number of tracks drawn per fleet
LISTED = 16  # maximum number of fleets in the legend
SLIPS = np.linspace(-0.35, 0.35, 281)
ANGLES_DEG = np.linspace(-20.0, 20.0, 281)
COMBINED_DEG = (0.0, 1.0, 2.0, 4.0, 7.0, 12.0)
GRASS, ASPHALT, EDGE, MIDDLE = "#e9ede6", "#50555b", "#f4f4f4", "#b9bec4"
CONE_SHADES = {
    "blue": "#1f6fe5",
    "yellow": "#ffd21f",
    "orange": "#ff8a1f",
    "big_orange": "#ff5a00",
    "unknown": "#9aa0a6",
}
PAPER_ASPHALT, PAPER_EDGE = "#eceff2", "#9aa5b1"
PAPER_CONES = {**CONE_SHADES, "blue": "#1f6fd6", "yellow": "#e3b505", "orange": "#f07c12", "big_orange": "#e0570b"}
"""On a white background, under other lines."""
TRACK_SIZE = 9.0  # inches, of the longer side
TRACK_MARGIN = 4.0  # m around the track, at least


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
    with styled("plots") as figure_class:
        traces, name = _traces(run, fleet), run.metadata.get("name", "")
        figures = {what: _drawn(figure_class, traces, what, name) for what in ("tracks", "speed", "height")}
        names = write_files(folder, {f"{what}.png": png(figure) for what, figure in figures.items()})
    return [Path(folder) / file for file in names]


def _drawn(figure_class: Any, traces: list[_Trace], quantity: str, name: str) -> Any:
    """Return the figure of the tracks, the speed or the height of all fleets."""
    from_above = quantity == "tracks"
    figure = figure_class(figsize=(9.0, _plan_height(traces) if from_above else 4.5), layout="constrained")
    axes = figure.add_subplot()
    if from_above:
        _draw_tracks(axes, traces)
    else:
        _draw_bands(axes, traces, quantity)
    bands = any(trace.count > 1 for trace in traces) and not from_above
    dress(axes, f"{name} · {quantity}", "mean of each fleet, 5th to 95th percentile" if bands else "")
    named = traces[:LISTED] if len(traces) <= LISTED else traces[: LISTED - 1]
    for k, trace in enumerate(named):
        of = f"{len(trace.tracks)} of " if 0 < len(trace.tracks) < trace.count and from_above else ""
        label = trace.name if trace.count < 2 else f"{trace.name} ({of}{trace.count:,})"
        axes.plot([], [], color=colour(k), linestyle=stroke(k), linewidth=2, label=label)
    if len(named) < len(traces):
        axes.plot([], [], " ", label=f"and {len(traces) - len(named)} more")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)
    return figure


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
        tone, alpha = colour(k), 0.95 if len(trace.tracks) < 12 else 0.45
        for points in trace.tracks.values():
            line = np.array(points)
            ends = line[~np.isnan(line[:, 0])]
            width = 1.3 if alpha > 0.5 else 0.7
            axes.plot(*line.T, color=tone, linestyle=stroke(k), alpha=alpha, linewidth=width)
            axes.plot(*ends[0], "o", color="white", markeredgecolor=tone, markersize=3.5, markeredgewidth=0.8)
            axes.plot(*ends[-1], "o", color=tone, markersize=3.5, markeredgewidth=0)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("east, m")
    axes.set_ylabel("north, m")


def _draw_bands(axes: Any, traces: list[_Trace], quantity: str) -> None:
    """Draw the mean speed or height of each fleet as a line, and the 5th to 95th percentile as a band."""
    for k, trace in enumerate(traces):
        low, mean, high = np.array(getattr(trace, quantity)).reshape(-1, 3).T
        axes.plot(trace.time, mean, color=colour(k), linestyle=stroke(k), linewidth=1.5)
        if trace.count > 1:
            axes.fill_between(trace.time, low, high, color=colour(k), alpha=0.15, linewidth=0)
    if quantity == "height":  # at least 2 m, so that rounding does not look like motion
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 0.5 * (low + high) - 1.0), max(high, 0.5 * (low + high) + 1.0))
    axes.set_xlabel("time, s")
    axes.set_ylabel(f"{quantity}, {'m' if quantity == 'height' else 'm/s'}")
    axes.margins(x=0.01)


def tyre_curves(
    path: str | os.PathLike[str], loads: tuple[float, ...] = (), camber_deg: float = 0.0, mu: float = 1.0
) -> dict[str, Any]:
    """Return the curves of a file: loads (N), slips, angles (rad), forces (N) by load, and the peaks at each load."""
    file = read_tir(Path(path))
    k = coefficients_of(file)
    chosen = loads or tuple(round(share * k.fnomin, 0) for share in (0.4, 0.7, 1.0, 1.3, 1.6))
    for load in chosen:
        if not 0.0 < load <= 1e6:
            raise InvalidValueError(f"--loads: a load must lie in 0 to 1e+06 N, not {load:g}")
    if not -90.0 < camber_deg < 90.0:
        raise InvalidValueError(f"--camber-deg must lie in -90 to 90 degrees, not {camber_deg:g}")
    angles, camber = np.radians(ANGLES_DEG), float(np.radians(camber_deg))
    along = {load: _forces(SLIPS, 0.0 * SLIPS, load, camber, mu, k)[0] for load in chosen}
    across = {load: _forces(0.0 * angles, angles, load, camber, mu, k)[1] for load in chosen}
    combined = {
        degrees: _forces(SLIPS, np.full_like(SLIPS, np.radians(degrees)), k.fnomin, camber, mu, k)
        for degrees in COMBINED_DEG
    }
    peaks = [
        {
            "load": load,
            "mu_x": float(np.abs(along[load]).max() / load),
            "mu_y": float(np.abs(across[load]).max() / load),
            "kappa_peak": float(abs(SLIPS[np.abs(along[load]).argmax()])),
            "alpha_peak_deg": float(abs(ANGLES_DEG[np.abs(across[load]).argmax()])),
            "cornering_stiffness": float(abs(np.gradient(across[load], angles)[len(angles) // 2])),
        }
        for load in chosen
    ]
    x, y = relaxation_lengths(file, k)
    return {
        "file": file, "loads": chosen, "along": along, "across": across, "combined": combined, "peaks": peaks,
        "relaxation_longitudinal": x, "relaxation_lateral": y,
    }  # fmt: skip


def _forces(slips: Any, angles: Any, load: float, camber: float, mu: float, k: Coefficients) -> tuple[Any, Any]:
    shape = np.zeros_like(slips)
    forces = vectorised(property_forces)(slips, angles, load + shape, camber + shape, mu + shape, k)
    return forces.along, forces.across


PEAK_COLUMNS = {  # of the table: heading, key and format
    "load N": ("load", "8.0f"),
    "mu_x": ("mu_x", "6.3f"),
    "mu_y": ("mu_y", "6.3f"),
    "kappa_peak": ("kappa_peak", "10.3f"),
    "alpha_peak deg": ("alpha_peak_deg", "14.2f"),
    "stiffness N/rad": ("cornering_stiffness", "15.0f"),
}


def peaks_table(curves: dict[str, Any]) -> str:
    """Return the peaks at each load as a table, and the relaxation lengths below it."""
    widths = [int(form.partition(".")[0]) for _, form in PEAK_COLUMNS.values()]
    lines = ["  ".join(f"{heading:>{width}}" for heading, width in zip(PEAK_COLUMNS, widths, strict=True))]
    lines += ["  ".join(f"{row[key]:{form}}" for key, form in PEAK_COLUMNS.values()) for row in curves["peaks"]]
    lengths = (("longitudinal", curves["relaxation_longitudinal"]), ("lateral", curves["relaxation_lateral"]))
    relaxation = ", ".join(f"{name} {length:.3f} m" if length else f"{name} not given" for name, length in lengths)
    return "\n".join([*lines, f"relaxation lengths at the nominal load: {relaxation}"])


def plot_tyre(curves: dict[str, Any], output: str | os.PathLike[str]) -> Path:
    """Draw the curves into one PNG file; needs the extra `plots`."""
    file: TirFile = curves["file"]
    target = Path(output)
    with styled("plots") as figure_class:
        figure = figure_class(figsize=(12.0, 4.6), dpi=140, layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        for at, load in enumerate(curves["loads"]):
            left.plot(SLIPS, curves["along"][load] / 1e3, color=colour(at), label=f"{load / 1e3:g} kN")
            middle.plot(ANGLES_DEG, curves["across"][load] / 1e3, color=colour(at), label=f"{load / 1e3:g} kN")
        for at, (degrees, (along, across)) in enumerate(curves["combined"].items()):
            right.plot(along / 1e3, across / 1e3, color=colour(at), label=f"{degrees:g}°")
        version = f"MF {file.version / 10:.1f}"
        dress(left, "Longitudinal force, kN", version)
        dress(middle, "Lateral force, kN", Path(file.name).name)
        dress(right, "Combined slip, kN", "at the nominal load")
        left.set_xlabel("slip ratio")
        middle.set_xlabel("slip angle, degrees (sign of the file)")
        right.set_xlabel("longitudinal force, kN")
        right.set_aspect("equal", adjustable="datalim")
        left.legend(title="load", frameon=False)
        right.legend(title="slip angle", loc="upper center", ncols=3, frameon=False)
        with file_errors(f"cannot write {target}"):
            figure.savefig(target)
    return target


def draw_track(track: Track, output: str | os.PathLike[str]) -> Path:
    """Write a PNG; needs the extra `plots`."""
    target = Path(output)
    everything = np.concatenate([track.left, track.right, track.cones])
    low, high = everything.min(axis=0), everything.max(axis=0)
    margin = max(TRACK_MARGIN, 0.04 * float((high - low).max()))
    low, high = low - margin, high + margin
    wide, tall = (high - low).tolist()
    scale = TRACK_SIZE / max(wide, tall)
    with styled("plots") as figure_class:
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
        with file_errors(f"cannot write {target}"):
            figure.savefig(target)
    return target


def plot_track(track: Track, axes: Any = None) -> Any:
    """Draw asphalt, boundaries, cones and gates, in quiet colours, on axes of matplotlib, or on new ones; return them.

    Needs the extra `plots`.
    """
    if axes is None:
        with styled("plots"):
            from matplotlib import pyplot

            axes = pyplot.figure(figsize=(9.0, 6.0), layout="constrained").add_subplot()
    left, right = (np.concatenate([line, line[:1]]) if track.closed else line for line in (track.left, track.right))
    if track.closed:
        axes.fill(*np.concatenate([left, right[::-1]]).T, color=PAPER_ASPHALT, linewidth=0.0, zorder=1)
    for line in (left, right):
        axes.plot(*line.T, color=PAPER_EDGE, linewidth=0.8, zorder=2)
    for name in CONE_COLOURS:
        cones = track.of_colour(name)
        if len(cones):
            axes.plot(*cones.T, "o", color=PAPER_CONES[name], markersize=2.2, markeredgewidth=0.0, zorder=3)
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
        cones = track.of_colour(name)
        if len(cones):
            size = max((0.75 if name == "big_orange" else 0.5) * per_metre, 2.6 if name == "big_orange" else 1.8)
            style = {"s": min(size, 9.0) ** 2, "color": CONE_SHADES[name], "edgecolors": "#20242a", "linewidths": 0.35}
            axes.scatter(*cones.T, **style, zorder=4)


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
    position = np.array([x, y])
    body = [position + half * ahead, position - half * ahead + 0.5 * half * _turned(ahead)]
    body += [position - 0.5 * half * ahead, position - half * ahead - 0.5 * half * _turned(ahead)]
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
