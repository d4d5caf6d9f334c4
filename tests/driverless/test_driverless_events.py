"""Events driven from sensors alone with the default noise of perception: no cone is hit; times are plausible."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from types import ModuleType

import numpy as np
import pytest

from paddock import track

Example = Callable[[str], ModuleType]


def test_a_hit_is_the_touch_of_a_rectangle_and_a_disc(example: Example) -> None:
    drive, car = example("drive"), example("car").Car()
    cones = np.array([[1.18 + 0.10, 0.0], [1.18 + 0.12, 0.0], [0.0, 0.68 + 0.10], [1.26, 0.76], [1.27, 0.77]])
    radius = np.full(5, 0.114)
    assert drive.hit_cones(0.0, 0.0, 0.0, car, cones, radius).tolist() == [0, 2, 3]  # 0.08 m beyond both sides: 0.113
    assert drive.hit_cones(0.0, 0.0, pi / 2, car, cones[:, ::-1] * [-1.0, 1.0], radius).tolist() == [0, 2, 3]


def test_crossing_of_a_gate(example: Example) -> None:
    drive, gate = example("drive"), track.Gate("start", (0.0, 1.5), (0.0, -1.5))
    assert drive.crossing(gate, np.array([-1.0, 0.0]), np.array([3.0, 0.0])) == pytest.approx(0.25)
    assert drive.crossing(gate, np.array([1.0, 0.0]), np.array([-1.0, 0.0])) is None  # backwards
    assert drive.crossing(gate, np.array([-1.0, 2.0]), np.array([1.0, 2.0])) is None  # beside it


def test_acceleration(example: Example) -> None:
    """75 m from a standing start: constant grip of 0.8 x 1.5 g alone would take 3.57 s; 4.0 s is a good car."""
    score, driver = example("drive").run("acceleration", "mpc", "ekf", limit=15.0)
    assert score.hits == set()
    assert score.stopped is not None and 75.0 < score.trace[-1][1] < 175.0  # within 100 m behind the finish
    assert score.finished is not None and 3.3 < score.finished - score.crossed[0] < 4.1
    assert score.apart < 0.5
    assert driver.mpc.failures == 0
    again, _ = example("drive").run("acceleration", "mpc", "ekf", limit=3.0)
    assert again.trace == score.trace[: len(again.trace)]  # the same seed, the same run


@pytest.mark.slow
@pytest.mark.parametrize(("controller", "slam"), [("mpc", "graph"), ("lqr", "ekf"), ("pure_pursuit", "ekf")])
def test_skidpad(example: Example, controller: str, slam: str) -> None:
    score, driver = example("drive").run("skidpad", controller, slam, limit=60.0)
    assert score.hits == set() and len(score.laps) == 4
    assert score.stopped is not None and 0.0 < score.trace[-1][1] < 25.0
    radius, use = 9.125, driver.use
    lift = 0.5 * 1.225 * 3.7 / 178.0
    speed = (use * 1.5 * 9.80665 / (1.0 / radius - use * 1.5 * lift)) ** 0.5
    for lap in score.laps:
        assert lap == pytest.approx(2.0 * pi * radius / speed, rel=0.04)
    way = np.array(score.trace)
    laps = np.searchsorted(way[:, 0], score.crossed)
    assert way[laps[0] : laps[2], 2].max() < 0.6  # right first,
    assert way[laps[2] : laps[4], 2].min() > -0.6  # then left


@pytest.mark.slow
@pytest.mark.parametrize(("controller", "slam"), [("mpc", "ekf"), ("pure_pursuit", "graph")])
def test_autocross(example: Example, controller: str, slam: str) -> None:
    score, _ = example("drive").run("autocross", controller, slam, limit=90.0)
    assert score.hits == set() and len(score.laps) == 1
    assert score.stopped is not None
    assert score.laps[0] < 52.0


@pytest.mark.slow
@pytest.mark.parametrize(("controller", "slam"), [("mpc", "ekf"), ("lqr", "graph")])
def test_trackdrive(example: Example, controller: str, slam: str) -> None:
    """Ten laps; those on the racing line of the map are far faster than the first one."""
    score, _ = example("drive").run("trackdrive", controller, slam, limit=420.0)
    assert score.hits == set() and len(score.laps) == 10
    assert score.stopped is not None
    assert max(score.laps[1:]) < 0.7 * score.laps[0]
    assert np.mean(score.laps[2:]) < 29.0
    assert np.std(score.laps[2:]) < 0.3
    assert score.apart < 0.6


@pytest.mark.slow
def test_the_racing_line_beats_the_centreline(example: Example) -> None:
    times = {}
    for line in ("racing", "centre"):
        score, _ = example("drive").run("trackdrive", "lqr", "ekf", laps=3, line=line, limit=200.0)
        assert score.hits == set()
        times[line] = score.laps[2]
    assert times["racing"] < 0.9 * times["centre"]


@pytest.mark.parametrize(
    "name", ["autocross", *(pytest.param(n, marks=pytest.mark.slow) for n in ("trackdrive", "harbour"))]
)
def test_planned_lap_on_the_racing_line(example: Example, name: str) -> None:
    """The margin by which the racing line beats the centreline, from the true boundaries and the same grip."""
    racing, line, car, course = example("racing_line"), example("line"), example("car").Car(), track.load(name)
    points = line.smoothed(line.resampled(course.centre, 1.0, closed=True), 1.0, closed=True)
    along, _ = course.locate(points[:, 0], points[:, 1])
    left, right = course.widths_at(along)
    best = racing.racing_line(points, left, right, car, margin=0.45, use=0.65)
    middle = line.line_of(points, closed=True)
    slow = racing.lap_time(middle, racing.speed_profile(middle, car, 0.65))
    assert racing.lap_time(best, best.speed) < 0.92 * slow
    _, offset = course.locate(best.points[:-1, 0], best.points[:-1, 1])
    assert np.abs(offset).max() < course.width.max() / 2 - car.half_width - 0.35  # within the boundaries
