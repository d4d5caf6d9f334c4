"""Events driven from sensors alone with the default noise of perception, by the rules: no penalty, plausible times."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from paddock import PaddockError, track

Example = Callable[[str], ModuleType]


def check(score: Any, laps: int) -> None:
    """The rules of the event, with contact: all laps, the stop in time, no cone, no time off course."""
    result = score.result
    assert (result.status, result.reason, result.laps) == ("stopped", "", laps)
    assert (result.cones, result.off_course, result.penalty) == (0, 0, 0.0)
    assert score.hits == [] and [remark.partition(":")[0] for remark in score.remarks] == ["stopped"]
    assert result.result == result.time


def test_acceleration(example: Example) -> None:
    """75 m from a standing start: constant grip of 0.8 x 1.5 g alone would take 3.57 s; 4.1 s is a good car."""
    score, driver = example("drive").run("acceleration", "mpc", "ekf", limit=15.0)
    check(score, laps=1)
    assert 75.0 < score.trace[-1][1] < 175.0  # within 100 m behind the finish
    assert 3.3 < score.result.result < 4.1
    assert score.apart < 0.5
    assert driver.mpc.failures == 0
    again, _ = example("drive").run("acceleration", "mpc", "ekf", limit=3.0)
    assert again.trace == score.trace[: len(again.trace)]  # the same seed, the same run
    assert again.result.status == "running" and again.result.result is None


def test_the_start_of_a_generated_track_in_a_file(example: Example, tmp_path: Path) -> None:
    """The first seconds: the line is counted once, where the race counts it, and the car is on the course."""
    file = tmp_path / "mine.csv"
    file.write_text(track.dump(track.generate(seed=7), "csv"), encoding="utf-8")
    score, driver = example("drive").run("trackdrive", "mpc", "ekf", limit=4.0, course=str(file))
    assert (score.result.status, score.result.cones, score.result.off_course) == ("running", 0, 0)
    assert score.result.progress > 5.0 and driver.crossings == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 7])
def test_a_generated_track(example: Example, tmp_path: Path, seed: int) -> None:
    file = tmp_path / "mine.csv"
    file.write_text(track.dump(track.generate(seed=seed), "csv"), encoding="utf-8")
    score, _ = example("drive").run("trackdrive", "mpc", "ekf", laps=2, limit=150.0, course=str(file))
    check(score, laps=2)
    assert score.laps[1] < 0.85 * score.laps[0]
    assert score.apart < 0.8  # docs/driverless.md: up to 0.58 m


def test_the_start_line_is_known_wherever_the_car_starts(example: Example) -> None:
    """On a line, standing: one crossing; a lap later the next one; beside it, none."""
    module, car = example("driver"), example("car")
    driver = module.Driver("trackdrive", np.zeros(3), start_line=module.StartLine(0.0, 0.0, pi / 2, reach=3.0))
    for x, y, crossings in (
        *(
            (0.0, 0.01, 1),
            (0.0, -0.01, 1),
            (0.0, 0.02, 1),
            (30.0, 40.0, 1),
            (0.0, -20.0, 1),
            (0.5, -0.1, 1),
            (0.5, 0.1, 2),
        ),
        *((30.0, 30.0, 2), (5.0, -20.0, 2), (5.0, 0.1, 2)),
    ):
        driver._count_crossings(car.Motion(x, y, pi / 2, 1.0, 0.0, 0.0, 0.0))
        assert driver.crossings == crossings, (x, y)


@pytest.mark.parametrize(("event", "course"), [("skidpad", "autocross"), ("trackdrive", "skidpad")])
def test_tracks_that_an_event_cannot_take_place_on(example: Example, event: str, course: str) -> None:
    with pytest.raises(PaddockError, match="--track"):
        example("drive").run(event, course=course)


@pytest.mark.parametrize("speed", [12.0, 20.0, 30.0])
def test_the_stop_is_behind_the_finish_wherever_it_is_planned(example: Example, speed: float) -> None:
    """On an oval, 24 m behind the line; the speed at the finish is one from which that is enough."""
    module, lines = example("driver"), example("line")
    driver = module.Driver("trackdrive", np.array([10.0, 0.0, 0.0]), laps=1)
    finish, straight, radius = 10.0 + module.STAGED, 100.0, 15.0
    angle = np.arange(-pi / 2, pi / 2, 0.02)
    bend = np.column_stack([straight + radius * np.cos(angle), radius + radius * np.sin(angle)])
    points = np.vstack([[[0.0, 0.0]], bend, [straight, 2.0 * radius] - bend])
    oval = lines.line_of(lines.resampled(points, 0.5, closed=True), closed=True, speed=speed)
    for back in (55.0, 40.0, 10.0):
        position = oval.at(oval.closest(finish, 0.0)[0] - back)
        driver.slam = SimpleNamespace(pose=lambda _, at=position: np.array([*at[0], float(at[1])]))
        driver.plan, driver.crossings = module.Plan(oval, mapped=True), 1
        assert driver._to_finish() == pytest.approx(back, abs=0.1)
        driver._look_ahead()
        line = driver.plan.line
        assert line.points[-1] == pytest.approx([finish + 24.0, 0.0], abs=0.6) and line.speed[-1] == 0.0
        here, _ = line.closest(*position[0])
        assert here == pytest.approx(4.0, abs=0.1) and driver.plan.along == pytest.approx(here, abs=0.1)
        assert line.speed.max() <= speed
        at_finish = float(line.at(line.closest(finish, 0.0)[0])[3])
        assert at_finish**2 / (2.0 * 24.0) < driver.use * driver.car.grip(at_finish) + driver.car.resistance(at_finish)
        driver._look_ahead()  # once only
        assert driver.plan.line is line
    driver.plan = module.Plan(oval, mapped=True)
    driver.slam = SimpleNamespace(pose=lambda _: np.array([finish + 5.0, 0.0, 0.0]))
    driver._look_ahead()
    assert driver.plan.line is oval  # the last lap has just begun


@pytest.mark.slow
@pytest.mark.parametrize(
    ("controller", "slam"), [("mpc", "ekf"), ("mpc", "graph"), ("lqr", "ekf"), ("pure_pursuit", "ekf")]
)
def test_skidpad(example: Example, controller: str, slam: str) -> None:
    score, driver = example("drive").run("skidpad", controller, slam, limit=60.0)
    check(score, laps=4)
    radius, use = 9.125, driver.use
    lift = 0.5 * 1.225 * 3.7 / 178.0
    speed = (use * 1.5 * 9.80665 / (1.0 / radius - use * 1.5 * lift)) ** 0.5
    for lap in score.laps:
        assert lap == pytest.approx(2.0 * pi * radius / speed, rel=0.04)
    assert score.result.result == pytest.approx((score.laps[1] + score.laps[3]) / 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(("controller", "slam"), [("mpc", "ekf"), ("pure_pursuit", "graph")])
def test_autocross(example: Example, controller: str, slam: str) -> None:
    score, _ = example("drive").run("autocross", controller, slam, limit=90.0)
    check(score, laps=1)
    assert 35.0 < score.result.result < 52.0


@pytest.mark.slow
@pytest.mark.parametrize("controller", ["mpc", "lqr", "stanley", "pure_pursuit"])
def test_trackdrive_of_two_laps(example: Example, controller: str) -> None:
    score, _ = example("drive").run("trackdrive", controller, "ekf", laps=2, limit=120.0)
    check(score, laps=2)
    assert score.laps[1] < 0.8 * score.laps[0] < 40.0


@pytest.mark.slow
@pytest.mark.parametrize(("controller", "slam"), [("mpc", "ekf"), ("lqr", "graph")])
def test_trackdrive(example: Example, controller: str, slam: str) -> None:
    """Ten laps; those on the racing line of the map are far faster than the first one."""
    score, _ = example("drive").run("trackdrive", controller, slam, limit=420.0)
    check(score, laps=10)
    assert max(score.laps[1:]) < 0.7 * score.laps[0]
    assert np.mean(score.laps[2:]) < 29.0
    assert np.std(score.laps[2:-1]) < 0.3  # the last one ends in braking
    assert score.apart < 0.6
    assert score.result.result == pytest.approx(sum(score.laps))


@pytest.mark.slow
def test_the_racing_line_beats_the_centreline(example: Example) -> None:
    times = {}
    for line in ("racing", "centre"):
        score, _ = example("drive").run("trackdrive", "lqr", "ekf", laps=4, line=line, limit=200.0)
        check(score, laps=4)
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
