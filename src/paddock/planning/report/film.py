"""Frames drawn quickly, and the files they become."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import MissingFeatureError
from paddock.planning.plans import Plan
from paddock.planning.report.maps import draw_map, draw_task, draw_zone
from paddock.planning.report.style import PAPER, SOFT, colour, dress
from paddock.planning.report.tracks import News
from paddock.planning.report.words import clock
from paddock.world.columns import Floats

Flags = NDArray[np.bool_]
Frame = NDArray[np.uint8]
"""(height, width, 4): red, green, blue and opacity."""
SIZE = (9.6, 7.2)
"""Inches."""
HOLD = 1.5
"""s for which the last picture stands."""
NOSE = np.array([(1.0, 0.0), (-0.7, 0.62), (-0.35, 0.0), (-0.7, -0.62)])
"""A vehicle that looks east."""


class Film:
    """Draws frame after frame; what has been drawn of trails stays."""

    def __init__(self, figure_class: Any, plan: Plan, title: str, dots: float, vehicles: int) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection, PolyCollection

        self.done = 0
        self.places = {task.name: task.shape.entry[:2] for task in plan.problem.tasks}
        figure = figure_class(figsize=SIZE, dpi=dots)
        self.axes = figure.add_axes((0.085, 0.08, 0.885, 0.84))
        draw_map(self.axes, plan, quiet=True)
        dress(self.axes, title)
        self.axes.set_xlabel("east, m")
        self.axes.set_ylabel("north, m")
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

    def frame(self, trail: Floats, poses: Floats, able: Flags, time: float, news: Sequence[News]) -> Frame:
        """Draw the ways (n, k, 2) since the last frame and what is new, then everybody where he is now."""
        self.canvas.restore_region(self.still)
        self.trails.set_segments(list(trail))
        self.axes.draw_artist(self.trails)
        for one in news:
            self._change(one)
        self.still = self.canvas.copy_from_bbox(self.axes.figure.bbox)
        self.noses.set_verts(list(self._noses(poses)))
        self.noses.set_facecolor([tone if fit else SOFT for tone, fit in zip(self.tones, able, strict=True)])
        self.said.set_text(f"{clock(time)}   {self.done} of {len(self.places)} tasks done")
        self.axes.draw_artist(self.noses)
        self.axes.draw_artist(self.said)
        return np.asarray(self.canvas.buffer_rgba()).copy()

    def _change(self, news: News) -> None:
        """Draw something that stays."""
        before = list(self.axes.get_children())
        if news.done is not None:
            task, who = news.done
            self.done += 1
            self.ticks.set_data([self.places[task][0]], [self.places[task][1]])
            self.ticks.set_color(self.tones[who])
            self.axes.draw_artist(self.ticks)
        elif news.task is not None:
            self.places[news.task.name] = news.task.shape.entry[:2]
            draw_task(self.axes, news.task)
        elif news.zone is not None:
            draw_zone(self.axes, news.zone)
        for artist in self.axes.get_children():
            if artist not in before:
                self.axes.draw_artist(artist)

    def _noses(self, poses: Floats) -> Floats:
        """Outlines (n, 4, 2) of all vehicles."""
        cos, sin = np.cos(poses[:, 3]), np.sin(poses[:, 3])
        turn = np.stack([np.stack([cos, sin], axis=1), np.stack([-sin, cos], axis=1)], axis=1)
        return np.asarray(poses[:, None, :2] + self.nose @ turn)


def write_mp4(path: Path, frames: Iterator[Frame], rate: float) -> None:
    """H.264, through ffmpeg."""
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
    """With one palette for all frames."""
    from PIL import Image

    pictures = [Image.fromarray(frame).convert("RGB") for frame in frames]
    palette = pictures[-1].quantize(256)  # everything that is ever drawn is in the last one
    first, *rest = (picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)
    lasts = [round(1000.0 / rate)] * (len(pictures) - 1) + [round(1000.0 * HOLD)]
    first.save(path, save_all=True, append_images=rest, duration=lasts, loop=0, optimize=False)
