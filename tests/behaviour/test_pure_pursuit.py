"""Driving along a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.behaviour.paths import circle, oval, path_points
from paddock.track.lines import curvature, shifted, speed_profile

Watch = Callable[..., Any]
STRAIGHT, RADIUS = 200.0, 50.0


def off_oval(position: Any, offset: float = 0.0) -> Any:
    """Distance from the oval of straights 200 m and bends of 50 m, `offset` m to its left (the inside)."""
    x, y = position[..., 0], position[..., 1]
    beyond = np.maximum(np.abs(x) - STRAIGHT / 2, 0.0)
    return np.abs(np.hypot(beyond, y) - (RADIUS - offset))


@pytest.mark.parametrize(
    ("model", "offset"),
    [
        ("car.kinematic", 0.0),
        ("car.bicycle", 4.0),
        pytest.param("car.kinematic", 4.0, marks=pytest.mark.slow),
        pytest.param("car.bicycle", 0.0, marks=pytest.mark.slow),
        pytest.param("car.double_track", 0.0, marks=pytest.mark.slow),
        pytest.param("car.full", 4.0, marks=pytest.mark.slow),
    ],
)
def test_cars_follow_an_oval_and_count_their_laps(model: str, offset: float) -> None:
    driver = {"pure_pursuit": {"path": {"oval": {}}, "speed": 14, "lateral": 5, "offset": offset}}
    car = {"name": "red", "model": model, "pose": [-1, offset - 50, 0], "speed": 14, "driver": driver}
    sim = paddock.load({"clock": {"rate": 500}, "every": {"behaviour": 5}, "vehicles": [car]})
    way, laps = [], []
    for _ in range(1700):
        sim.step(50)
        way.append(sim.snapshot()["red"].position)
        laps.append(int(sim.engine.world.fleets["red"].tables["memory"][1, 0]))
    assert off_oval(np.array(way), offset).max() < 1.0
    assert set(np.diff(laps)) <= {0, 1}
    # steady: sqrt(5 * 46) = 15.2 m/s is allowed in the bends, so it drives 14 m/s all the way round
    length = 2 * STRAIGHT + 2 * np.pi * (RADIUS - offset)
    started = laps[0] + 1 if laps[0] == 0 and laps[3] > 0 else laps[3]
    passed = [laps.index(k) * 0.1 for k in range(started, max(laps) + 1)]
    assert np.diff(passed) == pytest.approx(length / 14, rel=0.02)


def test_it_slows_down_for_bends_according_to_the_speed_profile() -> None:
    driver = {"pure_pursuit": {"path": {"oval": {}}, "speed": 25, "lateral": 4}}
    car = {"name": "red", "model": "car.kinematic", "pose": [0, -50, 0], "speed": 20, "driver": driver}
    sim = paddock.load({"clock": {"rate": 500}, "every": {"behaviour": 5}, "vehicles": [car]})
    states = []
    for _ in range(1000):
        sim.step(50)
        states.append((*sim.snapshot()["red"].position[:2], sim.snapshot()["red"].speed))
    x, _, speed = np.array(states[150:]).T
    deep = np.abs(x) > 130  # well inside a bend: sqrt(4 m/s2 * 50 m) = 14.1 m/s
    assert speed[deep] == pytest.approx(np.sqrt(4 * 50), rel=0.05)
    assert speed[np.abs(x) < 20].max() > 17.0 and speed.max() < 25.0
    profile = speed_profile(oval(STRAIGHT, RADIUS, 0, 0, 0, 0, 2), True, 25, 4, 3, 4)
    gap = (2 * STRAIGHT + 2 * np.pi * RADIUS) / len(profile)
    ideal = float(np.sum(gap / profile))
    laps = sim.engine.world.fleets["red"].tables["memory"][1, 0]
    assert laps >= 1
    crossings = [k for k in range(1, len(states)) if states[k - 1][0] < 0 <= states[k][0] and states[k][1] < 0]
    assert np.diff(crossings)[-1] * 0.1 == pytest.approx(ideal, rel=0.05)


@pytest.mark.parametrize(
    ("model", "beyond"),
    [("point", 0.1), ("car.kinematic", 3.0), ("car.bicycle", 3.0), pytest.param("quad", 1.0, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("points", [2, 51])
def test_an_open_path_ends_at_its_end(watch: Watch, model: str, beyond: float, points: int) -> None:
    z = 10.0 if model in ("point", "quad") else 0.0
    path = [[float(x), 0.0, z] for x in np.linspace(0, 100, points)]
    driver = {"pure_pursuit": {"path": path, "closed": 0, "speed": 10}}
    sim, ways = watch(30, {"name": "it", "model": model, "pose": [0, 0, z, 0], "driver": driver})
    x = ways["it"][:, 0, 0]
    assert 99.5 < x[-1] < 100 + beyond and x.max() < 100 + beyond
    assert sim.snapshot()["it"].speed < 1e-3
    assert np.argmax(x > 90) / 20 < 12.5  # it drives at 10 m/s most of the way


def test_a_point_mass_keeps_the_height_of_its_path(watch: Watch) -> None:
    driver = {"pure_pursuit": {"path": {"circle": {"radius": 30, "z": 12}}, "speed": 5, "lookahead": 2}}
    _, ways = watch(60, {"name": "it", "model": "point", "pose": [30, 0, 12, 1.57], "driver": driver})
    assert ways["it"][:, 0, 2] == pytest.approx(12.0, abs=0.01)
    assert np.hypot(*ways["it"][:, 0, :2].T) == pytest.approx(30.0, abs=0.5)


# the paths themselves -------------------------------------------------------------------------------------------------


def test_shapes_have_their_lengths_and_curvatures() -> None:
    points = oval(STRAIGHT, RADIUS, 5, 6, 1, 0.3, 1.0)
    gaps = np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1)
    assert gaps.sum() == pytest.approx(2 * STRAIGHT + 2 * np.pi * RADIUS, rel=1e-4)
    assert gaps == pytest.approx(1.0, abs=0.01)
    bend = curvature(points, True)
    assert bend.max() == pytest.approx(1 / RADIUS, rel=1e-3) and bend.min() < 1e-9
    ring = circle(30, 0, 0, 2, 1.0)
    assert curvature(ring, True) == pytest.approx(1 / 30, rel=1e-6)
    assert np.hypot(*shifted(ring, 4.0, True)[:, :2].T) == pytest.approx(26.0, rel=1e-6)
    line = np.array([[0.0, 0, 0], [10, 0, 0], [20, 0, 0]])
    assert shifted(line, 3.0, False).tolist() == [[0, 3, 0], [10, 3, 0], [20, 3, 0]]


def test_a_speed_profile_respects_every_limit() -> None:
    rng = np.random.default_rng(5)
    angle = np.sort(rng.uniform(0, 2 * np.pi, 80))
    reach = rng.uniform(40, 60, 80)
    points = np.stack([reach * np.cos(angle), reach * np.sin(angle), np.zeros(80)], axis=1)
    for closed in (True, False):
        speed = speed_profile(points, closed, 20, 4, 2, 3)
        gap = np.linalg.norm(np.roll(points, -1, axis=0) - points, axis=1)
        after = np.roll(speed, -1)
        last = None if closed else -1
        assert (speed <= 20).all() and (speed**2 * curvature(points, closed) <= 4 + 1e-9).all()
        assert (after**2 - speed**2 <= 2 * 2 * gap + 1e-9)[:last].all()
        assert (speed**2 - after**2 <= 2 * 3 * gap + 1e-9)[:last].all()
        assert (speed[-1] == 0.0) is not closed


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ([[0, 0]], "a path needs at least two points [x, y] or [x, y, z], not [[0, 0]]"),
        ("oval", "a path needs at least two points [x, y] or [x, y, z], not 'oval'"),
        (7, "a path needs at least two points [x, y] or [x, y, z], not 7"),
        ([[0, 0], [1, float("nan")]], "a path's points must be finite numbers"),
        ([[0, 0], [5, 5], [5, 5]], "two consecutive points of a path coincide"),
        ([[0, 0], [1, 2, 3, 4]], "each point of a path is [x, y] or [x, y, z]"),
        ([1, 2, 3], "each point of a path is [x, y] or [x, y, z]"),
        (["ab", "cd"], "each point of a path is [x, y] or [x, y, z]"),
        ({"ovel": {}}, "unknown path shape 'ovel'; did you mean 'oval'?"),
        ({"oval": {}, "circle": {}}, "a path names exactly one shape: oval, circle, lane_change, circuit"),
        ({"oval": {"radios": 5}}, "unknown option 'radios' of path 'oval'; did you mean 'radius'?"),
        ({"oval": {"radius": -5}}, "path 'oval': radius must be positive, not -5"),
        ({"circle": {"x": "a"}}, "path 'circle': x must be a finite number, not 'a'"),
        ({"oval": 5}, "the options of path 'oval' must be a mapping, not 5"),
    ],
)
def test_invalid_paths_are_refused(path: Any, message: str) -> None:
    with pytest.raises(paddock.PaddockError) as caught:
        path_points(path, "here")
    assert str(caught.value) == f"here: {message}"


def test_a_shape_without_options_takes_its_defaults() -> None:
    assert len(path_points({"circle": None})) == round(2 * np.pi * 50 / 2)
    assert path_points([[1, 2], (3, 4, 5)]).tolist() == [[1, 2, 0], [3, 4, 5]]
