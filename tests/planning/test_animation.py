"""Animations of plans: number of frames, and positions of vehicles in them."""

from __future__ import annotations

import sys
from pathlib import Path as File

import numpy as np
import pytest
from PIL import Image

from paddock.errors import MissingFeatureError, PaddockError
from paddock.planning.geometry.path import Path, Pose, line
from paddock.planning.geometry.shapes import PointShape
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.planning.solver.routes import Leg, Plan, Route
from paddock.record.mission_report.animation import Frame, animate, frames, tracks_of

BLUE = np.array([0x00, 0x72, 0xB2])


def straight() -> Plan:
    """1,000 m east to a point and 1,000 m on, at 10 m/s."""
    start: Pose = (0.0, 0.0, 0.0, 0.0)
    middle: Pose = (1000.0, 0.0, 0.0, 0.0)
    home: Pose = (2000.0, 0.0, 0.0, 0.0)
    there, back = Path([line(0.0, 0.0, 0.0, 1000.0)]), Path([line(1000.0, 0.0, 0.0, 1000.0)])
    legs = (
        Leg("transit", "half", 1000.0, 0.0, 100.0, start, middle, lambda: there),
        Leg("coverage", "half", 0.0, 100.0, 100.0, middle, middle, lambda: Path((), middle)),
        Leg("return", None, 1000.0, 100.0, 200.0, middle, home, lambda: back),
    )
    problem = Problem((Vehicle("uav", start, home, 10.0, 50.0),), (Task("half", PointShape(1000.0, 0.0, None)),))
    return Plan(problem, "by_hand", (Route("uav", legs, 10.0),))


def reach(frame: Frame) -> int:
    """The column of the rightmost pixel in the vehicle's own colour: its nose."""
    close = (abs(frame[:, :, :3].astype(int) - BLUE) <= 12).all(axis=2)
    return int(np.flatnonzero(close.any(axis=0)).max())


def test_tracks_follow_the_plan() -> None:
    tracks = tracks_of(straight(), 5)
    assert tracks.times.tolist() == [0.0, 50.0, 100.0, 150.0, 200.0]
    np.testing.assert_allclose(tracks.poses[:, 0, 0], [0.0, 500.0, 1000.0, 1500.0, 2000.0], atol=1e-9)
    assert tracks.news == [(100.0, ("half", 0))]


def test_the_dot_moves_evenly() -> None:
    shown = list(frames(straight(), 6, "film", dots=80.0))
    assert len(shown) == 6
    assert shown[0].shape == (576, 768, 4)
    steps = np.diff([reach(frame) for frame in shown])
    assert steps.min() > 50
    assert np.ptp(steps) <= 2  # a fifth of the way each


def test_a_gif_has_all_frames(tmp_path: File) -> None:
    path = tmp_path / "film.gif"
    shares: list[float] = []
    assert animate(straight(), path, "film", shares.append, seconds=0.8) == 10
    assert shares[-1] == 1.0 and shares == sorted(shares)
    with Image.open(path) as film:
        assert film.n_frames == 10  # type: ignore[attr-defined]
        assert film.info["duration"] == 80
    again = tmp_path / "again.gif"
    animate(straight(), again, "film", seconds=0.8)
    assert again.read_bytes() == path.read_bytes()


def test_an_mp4_has_all_frames_and_a_still_end(tmp_path: File) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "film.mp4"
    assert animate(straight(), path, "film", seconds=0.5) == 12
    assert ffmpeg.count_frames_and_secs(str(path))[0] == 12 + 36  # 1.5 s at 24 Hz


def test_without_ffmpeg_the_error_names_the_package(tmp_path: File, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingFeatureError, match=r"pip install 'paddock\[plan\]'; a .gif works without"):
        animate(straight(), tmp_path / "film.mp4", "film", seconds=0.5)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "message"), [("film.avi", "a .mp4 or a .gif file, not 'film.avi'"), ("no/film.gif", "there is no folder")]
)
def test_animations_need_a_valid_file_name(name: str, message: str, tmp_path: File) -> None:
    with pytest.raises(PaddockError, match=message):
        animate(straight(), tmp_path / name, "film")


def test_vehicles_without_tasks_do_not_move() -> None:
    still = Plan(Problem((Vehicle("uav", (0.0,) * 4, (0.0,) * 4, 10.0, 50.0),), ()), "x", (Route("uav", (), 10.0),))
    assert len(list(frames(still, 3, "film"))) == 3
    assert len(list(frames(Plan(Problem((), ()), "x", ()), 3, "film"))) == 3
