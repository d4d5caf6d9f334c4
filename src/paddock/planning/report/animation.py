"""A plan as a film: everybody moves along his route, trails stay, tasks are ticked off.

Only what has changed is drawn in each frame, onto a picture of everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.plans import Plan
from paddock.planning.report.film import Film, Frame, write_gif, write_mp4
from paddock.planning.report.style import styled
from paddock.planning.report.tracks import News, Tracks, tracks_of, tracks_of_run
from paddock.world.columns import Floats

SECONDS = 20.0
"""How long a film is, the still picture at its end not counted."""
WRITERS: dict[str, tuple[float, float, Callable[[Path, Iterator[Frame], float], None]]] = {
    ".mp4": (24.0, 100.0, write_mp4),
    ".gif": (12.5, 80.0, write_gif),
}
"""Frames a second, dots an inch, and what writes the file."""
FINER = 4
"""Points of a trail in each frame."""

Tell = Callable[[float], None]


def check_film(path: Path) -> None:
    """Refuse what no film can be called, before anything is computed."""
    if path.suffix.lower() not in WRITERS:
        raise PaddockError(f"an animation is a .mp4 or a .gif file, not {path.name!r}")
    if not path.parent.is_dir():
        raise PaddockError(f"cannot write {path}: there is no folder {path.parent}")


def animate(
    plan: Plan,
    path: Path,
    title: str,
    tell: Tell = lambda share: None,
    seconds: float | None = None,
    run: KinematicRun | None = None,
) -> int:
    """Write the film of a plan, or of a `run` that began with it; returns the number of moving frames."""
    check_film(path)
    rate, dots, write = WRITERS[path.suffix.lower()]
    count = max(round((SECONDS if seconds is None else seconds) * rate), 2)
    try:
        write(path, _told(frames(plan, count, title, dots, run), count, tell), rate)
    except OSError as error:
        raise PaddockError(f"cannot write {path}: {error.strerror or error}") from None
    return count


def frames(plan: Plan, count: int, title: str, dots: float = 100.0, run: KinematicRun | None = None) -> Iterator[Frame]:
    """Pictures (height, width, 4) of the whole mission, evenly in time."""
    fine = FINER * (count - 1) + 1
    tracks = tracks_of(plan, fine) if run is None else tracks_of_run(run, fine)
    with styled() as figure_class:
        film = Film(figure_class, plan, title, dots, tracks.poses.shape[1])
        for k in range(count):
            at = FINER * k
            yield film.frame(_trail(tracks, k), tracks.poses[at], tracks.able[at], tracks.times[at], _news(tracks, k))


def _trail(tracks: Tracks, k: int) -> Floats:
    """The ways since the last frame, (vehicles, points, 2)."""
    return tracks.poses[max(FINER * (k - 1), 0) : FINER * k + 1, :, :2].transpose(1, 0, 2)


def _news(tracks: Tracks, k: int) -> list[News]:
    """What has changed since the last frame."""
    until = tracks.times[FINER * k] + 1e-9
    since = tracks.times[FINER * (k - 1)] + 1e-9 if k else -np.inf
    return [one for one in tracks.news if since < one.time <= until]


def _told(pictures: Iterator[Frame], count: int, tell: Tell) -> Iterator[Any]:
    for k, picture in enumerate(pictures):
        yield picture
        tell((k + 1) / count)
