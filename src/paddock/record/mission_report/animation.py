"""Animations of plans: vehicles move along their routes, trails stay, tasks are marked when they are done.

Each frame draws only the changes, onto a picture of everything else.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import MissingFeatureError, PaddockError, file_errors
from paddock.planning.geometry.zones import Zone
from paddock.planning.metrics import planned_trace
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.solver.methods import Progress
from paddock.planning.solver.problem import Task
from paddock.planning.solver.routes import STATUSES, Plan
from paddock.record.mission_report.map_figure import draw_map, draw_opened, draw_task, draw_zone
from paddock.record.mission_report.text import clock
from paddock.record.reports import PAPER, SOFT, colour, dress, styled
from paddock.world.columns import Floats

Flags = NDArray[np.bool_]
Frame = NDArray[np.uint8]  # (height, width, 4): red, green, blue and opacity


class Opened(NamedTuple):
    """A zone that is open again."""

    zone: Zone


MapChange = tuple[float, Task | Zone | Opened | tuple[str, int]]
"""Time (s), and a new task, a new zone, or the name of a completed task and the index of its vehicle."""
SECONDS = 20.0  # duration of an animation in s, without the still frame at its end
FINER = 4  # points of a trail in each frame


def check_animation(path: Path) -> None:
    """Raise for a file name with an invalid extension or folder, before anything is computed."""
    if path.suffix.lower() not in WRITERS:
        raise PaddockError(f"an animation is a .mp4 or a .gif file, not {path.name!r}")
    if not path.parent.is_dir():
        raise PaddockError(f"cannot write {path}: there is no folder {path.parent}")


def animate(
    plan: Plan,
    path: Path,
    title: str,
    progress: Progress = lambda share: None,
    seconds: float | None = None,
    run: KinematicRun | None = None,
) -> int:
    """Write the animation of a plan, or of a `run` that started with it; return the number of moving frames."""
    check_animation(path)
    rate, dots, write = WRITERS[path.suffix.lower()]
    count = max(round((SECONDS if seconds is None else seconds) * rate), 2)
    with file_errors(f"cannot write {path}"):
        write(path, frames(plan, count, title, dots, run, progress), rate)
    return count


def frames(
    plan: Plan, count: int, title: str, dots: float = 100.0, run: KinematicRun | None = None,
    progress: Progress = lambda share: None,
) -> Iterator[Frame]:  # fmt: skip
    """Yield pictures (height, width, 4) of the whole mission, evenly spaced in time."""
    fine = FINER * (count - 1) + 1
    tracks = tracks_of(plan, fine) if run is None else tracks_of_run(run, fine)
    with styled() as figure_class:
        animation = Animation(figure_class, plan, title, dots, tracks.poses.shape[1])
        for k in range(count):
            at = FINER * k
            trail = tracks.poses[max(at - FINER, 0) : at + 1, :, :2].transpose(1, 0, 2)
            since = tracks.times[at - FINER] + 1e-9 if k else -np.inf
            news = [event for event in tracks.news if since < event[0] <= tracks.times[at] + 1e-9]
            news.sort(key=lambda event: event[0])
            yield animation.frame(trail, tracks.poses[at], tracks.able[at], tracks.times[at], news)
            progress((k + 1) / count)


SIZE = (9.6, 7.2)  # inches
HOLD = 1.5  # s for which the last frame is shown
NOSE = np.array([(1.0, 0.0), (-0.7, 0.62), (-0.35, 0.0), (-0.7, -0.62)])  # a vehicle facing east


class Animation:
    """Draws the frames in sequence; trails stay."""

    def __init__(self, figure_class: Any, plan: Plan, title: str, dots: float, vehicles: int) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection, PolyCollection

        self.done = 0
        self.places = {task.name: task.shape.entry[:2] for task in plan.problem.tasks}
        figure = figure_class(figsize=SIZE, dpi=dots)
        self.axes = figure.add_axes((0.085, 0.08, 0.885, 0.84))
        draw_map(self.axes, plan, quiet=True)
        dress(self.axes, title)
        tones = self.tones = [colour(k) for k in range(vehicles)]
        self.trails = LineCollection([], colors=tones, linewidths=2.0, capstyle="round", animated=True, zorder=4)
        self.noses = PolyCollection([], facecolors=tones, edgecolors=PAPER, linewidths=0.9, animated=True, zorder=8)
        self.ticks = self.axes.plot([], [], "o", markersize=6.5, markeredgecolor=PAPER, animated=True, zorder=6)[0]
        style: dict[str, Any] = {"ha": "right", "va": "bottom", "animated": True, "transform": self.axes.transAxes}
        self.said = self.axes.text(1.0, 1.015, "", fontsize=11, color=SOFT, **style)
        for collection in (self.trails, self.noses):
            self.axes.add_collection(collection, autolim=False)
        agg: Any = FigureCanvasAgg
        self.canvas = agg(figure)
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(figure.bbox)
        width = float(np.ptp(self.axes.get_xlim()))
        self.nose = NOSE * width * 0.013  # m

    def frame(self, trail: Floats, poses: Floats, able: Flags, time: float, news: Sequence[MapChange]) -> Frame:
        """Draw the trails (n, k, 2) since the last frame, the changes, and all vehicles at their poses."""
        self.canvas.restore_region(self.still)
        self.trails.set_segments(list(trail))
        self.axes.draw_artist(self.trails)
        for event in news:
            self._change(event)
        self.still = self.canvas.copy_from_bbox(self.axes.figure.bbox)
        cos, sin = np.cos(poses[:, 3]), np.sin(poses[:, 3])
        turn = np.stack([np.stack([cos, sin], axis=1), np.stack([-sin, cos], axis=1)], axis=1)
        self.noses.set_verts(list(poses[:, None, :2] + self.nose @ turn))
        self.noses.set_facecolor([tone if fit else SOFT for tone, fit in zip(self.tones, able, strict=True)])
        self.said.set_text(f"{clock(time)}   {self.done} of {len(self.places)} tasks done")
        self.axes.draw_artist(self.noses)
        self.axes.draw_artist(self.said)
        return np.asarray(self.canvas.buffer_rgba()).copy()

    def _change(self, news: MapChange) -> None:
        """Draw a permanent element."""
        before, what = list(self.axes.get_children()), news[1]
        if isinstance(what, Opened):
            draw_opened(self.axes, what.zone)
        elif isinstance(what, tuple):
            task, vehicle = what
            self.done += 1
            self.ticks.set_data([self.places[task][0]], [self.places[task][1]])
            self.ticks.set_color(self.tones[vehicle])
            self.axes.draw_artist(self.ticks)
        elif isinstance(what, Task):
            self.places[what.name] = what.shape.entry[:2]
            draw_task(self.axes, what)
        else:
            draw_zone(self.axes, what)
        for artist in self.axes.get_children():
            if artist not in before:
                self.axes.draw_artist(artist)


def write_mp4(path: Path, frames: Iterator[Frame], rate: float) -> None:
    """Write H.264 through ffmpeg."""
    try:
        from imageio_ffmpeg import write_frames  # type: ignore[import-untyped]
    except ImportError:
        advice = "pip install 'paddock[plan]'; a .gif works without"
        raise MissingFeatureError(f"an .mp4 needs imageio-ffmpeg: {advice}") from None
    first = next(frames)
    exact = ["-preset", "superfast", "-crf", "20", "-movflags", "+faststart", "-fflags", "+bitexact", "-threads", "2"]
    size = (first.shape[1], first.shape[0])
    pipe = write_frames(str(path), size, pix_fmt_in="rgba", fps=rate, codec="libx264", quality=None, macro_block_size=2,
                        output_params=[*exact, "-flags:v", "+bitexact"], ffmpeg_log_level="error")  # fmt: skip
    pipe.send(None)
    try:
        pipe.send(first)
        last = first
        for last in frames:
            pipe.send(last)
        for _ in range(round(HOLD * rate)):
            pipe.send(last)
    finally:
        pipe.close()


def write_gif(path: Path, frames: Iterator[Frame], rate: float) -> None:
    """Write a GIF with one palette for all frames."""
    from PIL import Image

    pictures = [Image.fromarray(frame).convert("RGB") for frame in frames]
    palette = pictures[-1].quantize(256)  # the last frame contains everything drawn
    first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    lasts = [round(1000.0 / rate)] * (len(pictures) - 1) + [round(1000.0 * HOLD)]
    first.save(path, save_all=True, append_images=rest, duration=lasts, loop=0, optimize=False)


@dataclass(frozen=True)
class Tracks:
    """Vehicles over time."""

    times: Floats  # s, (k,)
    poses: Floats  # x, y, z in m and heading in rad, (k, n, 4)
    able: NDArray[np.bool_]  # (k, n): not damaged
    news: list[MapChange]


def tracks_of(plan: Plan, count: int) -> Tracks:
    """Return the tracks of a plan at that many times, from the start until all vehicles are back."""
    times = np.linspace(0.0, plan.makespan, count)
    poses = planned_trace(plan, times).poses
    done: list[MapChange] = [
        (leg.ends, (str(leg.task), k))
        for k, route in enumerate(plan.routes)
        for leg in route.legs
        if leg.kind == "coverage"
    ]
    return Tracks(times, poses, np.ones(poses.shape[:2], dtype=np.bool_), done)


def tracks_of_run(run: KinematicRun, count: int) -> Tracks:
    """Return the tracks of a flown mission, with its events."""
    mission = run.mission
    samples = trace(run, max(run.time, 1e-3) / (count - 1))
    chosen = np.linspace(0.0, len(samples.times) - 1.0, count).round().astype(np.int64)
    rows = {name: row for row, name in enumerate(samples.names)}
    news: list[MapChange] = [
        (entry.time, (str(entry.task), rows[str(entry.vehicle)])) for entry in mission.log if entry.kind == "completed"
    ]
    news += [(event.at, new) for event in mission.setup.events if (new := event.task or event.zone)]
    zones = {zone.name: zone for zone in mission.all_zones}
    news += [(entry.time, Opened(zones[entry.detail])) for entry in mission.log if entry.kind == "zone_removed"]
    able = samples.statuses != STATUSES.index("damaged")
    return Tracks(samples.times[chosen], samples.poses[chosen], able[chosen], news)


WRITERS: dict[str, tuple[float, float, Callable[[Path, Iterator[Frame], float], None]]] = {
    ".mp4": (24.0, 100.0, write_mp4),
    ".gif": (12.5, 80.0, write_gif),
}
"""Frames per second, dots per inch and the writer of each format."""
