"""follow, pursue, formation: behaviours that look at another vehicle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.behaviour.rules.formation import SHAPES, Options, slots
from paddock.engine.simulation import Simulation

Watch = Callable[..., Any]


def leader(z: float, speed: float, **more: Any) -> dict[str, Any]:
    return {"name": "lead", "model": "point", "pose": [0, 0, z, 0], "speed": speed, "commands": {"vx": speed}, **more}


@pytest.mark.parametrize(
    ("model", "z", "speed"),
    [
        ("point", 9, 4.0),
        ("rover", 0, 0.6),
        pytest.param("quad", 9, 4.0, marks=pytest.mark.slow),
        pytest.param("car.kinematic", 0, 4.0, marks=pytest.mark.slow),
    ],
)
def test_follow_keeps_its_distance(watch: Watch, model: str, z: float, speed: float) -> None:
    dog = {
        "name": "dog",
        "model": model,
        "pose": [-20, 5, z, 0],
        "behaviour": {"follow": {"target": "lead", "distance": 6}},
    }
    sim, ways = watch(90, leader(z, speed), dog)
    apart = np.linalg.norm(ways["dog"] - ways["lead"], axis=2)[-100:, 0]
    assert apart == pytest.approx(6.0, rel=0.01)
    assert sim.snapshot()["dog"].speed == pytest.approx(speed, rel=0.01)


def test_each_follower_of_a_fleet_has_its_own_leader(watch: Watch) -> None:
    flock = {"name": "lead", "count": 3, "model": "point", "spawn": {"line": {"start": [0, 0, 5], "end": [0, 60, 5]}}}
    dogs = {"name": "dogs", "count": 6, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}}
    _, ways = watch(60, flock, {**dogs, "behaviour": {"follow": {"target": "lead", "distance": 2}}})
    apart = np.linalg.norm(ways["dogs"][-1][:, None] - ways["lead"][-1][None], axis=2)
    assert apart.argmin(axis=1).tolist() == [0, 1, 2, 0, 1, 2]
    assert apart.min(axis=1) == pytest.approx(2.0, abs=0.01)


@pytest.mark.parametrize(("position", "velocity"), [((100, 0), (0, 4)), ((60, 80), (-3, 1)), ((-50, 20), (2, 5))])
def test_pursuit_takes_the_time_of_the_collision_course(position: Any, velocity: Any) -> None:
    gap, drift, speed = np.array(position, float), np.array(velocity, float), 8.0
    # |gap + drift t| = speed t
    a, b, c = drift @ drift - speed**2, 2 * gap @ drift, gap @ gap
    time = max(np.roots([a, b, c]).real)
    course = np.arctan2(*(gap + drift * time)[::-1])
    preyed = {"name": "prey", "model": "point", "pose": [*position, 20, np.arctan2(velocity[1], velocity[0])]}
    preyed |= {"speed": float(np.linalg.norm(drift)), "commands": {"vx": drift[0], "vy": drift[1]}}
    hawk = {"name": "hawk", "model": "point", "pose": [0, 0, 20, float(course)], "speed": speed}
    sim = paddock.load({"vehicles": [preyed, {**hawk, "behaviour": {"pursue": {"target": "prey", "speed": speed}}}]})
    while np.linalg.norm(sim.snapshot()["hawk"].position - sim.snapshot()["prey"].position) > 0.5:
        sim.step(2)
        assert sim.time < 2 * time
    assert sim.time == pytest.approx(time, rel=0.02)


def test_pursuit_of_an_equally_fast_or_faster_target_stays_finite(watch: Watch) -> None:
    for speed in (8.0, 12.0):
        prey = leader(10, speed, parameters={"speed_max": 20.0})
        hawk = {"name": "hawk", "model": "quad", "pose": [-30, 0, 10, 0]}
        sim, ways = watch(30, prey, {**hawk, "behaviour": {"pursue": {"target": "lead", "speed": 8}}})
        assert np.isfinite(ways["hawk"]).all() and sim.snapshot()["hawk"].speed < 8.5


# formation ------------------------------------------------------------------------------------------------------------


def nearest(places: Any) -> Any:
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    return (apart + 1e9 * np.eye(len(places))).min(axis=1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [1, 2, 3, 6, 10, 25])
def test_slots_are_spacing_apart(shape: str, count: int) -> None:
    places = slots(count, Options(shape=float(SHAPES.index(shape)), spacing=7.0)).T
    assert places.shape == (count, 3)
    if count == 1:
        return
    closest = nearest(places)
    if shape == "sphere":  # the spacing is that of the area per vehicle: neighbours are a little nearer
        assert closest.min() > 0.75 * 7 and closest.max() < 1.2 * 7
    elif shape == "v":  # neighbours along an arm, with the leader at the tip
        tip = np.vstack([places, np.zeros(3)])
        assert nearest(tip) == pytest.approx(7.0)
    elif shape == "wedge":  # the tip stands alone, a row's width before two others
        assert closest[1:] == pytest.approx(7.0) if count > 2 else closest == pytest.approx(7.0 * np.sqrt(1.25))
        assert closest[0] == pytest.approx(7.0 * np.sqrt(1.25))
    else:
        assert closest == pytest.approx(7.0)


@pytest.mark.parametrize("count", [4, 9])
def test_the_first_slot_is_reserved_for_the_leader(count: int) -> None:
    for shape in ("column", "wedge"):
        led = slots(count, Options(shape=float(SHAPES.index(shape)), spacing=3.0, has_target=1.0))
        alone = slots(count + 1, Options(shape=float(SHAPES.index(shape)), spacing=3.0))
        assert np.array_equal(led, alone[:, 1:])
        assert np.array_equal(alone[:, 0], [0.0, 0.0, 0.0])


@pytest.mark.parametrize("count", [4, 9])
def test_centred_shapes_are_centred(count: int) -> None:
    for shape in ("line", "circle"):
        places = slots(count, Options(shape=float(SHAPES.index(shape)), spacing=3.0))
        assert places.mean(axis=1) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("model", ["point", pytest.param("quad", marks=pytest.mark.slow)])
def test_a_formation_settles_in_its_slots_and_moves_with_its_leader(watch: Watch, shape: str, model: str) -> None:
    yaw = 0.7
    velocity = 3 * np.array([np.cos(yaw), np.sin(yaw), 0.0])
    lead = leader(30, 3.0) | {"pose": [0, 0, 30, yaw], "commands": {"vx": velocity[0], "vy": velocity[1]}}
    wing = {"name": "wing", "count": 7, "model": model, "spawn": {"grid": {"spacing": 3, "z": 20}}}
    options = {"shape": shape, "target": "lead", "spacing": 5, "x": -2, "z": 1}
    sim, ways = watch(30, lead, {**wing, "behaviour": {"formation": options}})
    forward, left, up = slots(7, Options(shape=float(SHAPES.index(shape)), spacing=5.0, has_target=1.0))
    forward, up = forward - 2, up + 1
    c, s = np.cos(yaw), np.sin(yaw)
    expected = np.stack([c * forward - s * left, s * forward + c * left, up], axis=1)
    error = np.linalg.norm(ways["wing"][-40:] - ways["lead"][-40:] - expected, axis=2)
    assert error.max() < 0.05
    assert sim.snapshot().fleet("wing").velocity == pytest.approx(np.tile(velocity, (7, 1)), abs=0.02)


def test_a_formation_without_a_leader_stays_at_its_position(watch: Watch) -> None:
    wing = {"name": "wing", "count": 3, "model": "quad", "spawn": {"grid": {"spacing": 3, "z": 20}}}
    options = {"shape": "line", "spacing": 4, "x": 10, "y": 20, "z": 15, "heading": np.pi / 2}
    _, ways = watch(30, {**wing, "behaviour": {"formation": options}})
    assert ways["wing"][-1] == pytest.approx(np.array([[14, 20, 15], [10, 20, 15], [6, 20, 15]]), abs=0.05)


def test_slots_close_when_a_vehicle_leaves_and_open_when_one_joins() -> None:
    wing = {"name": "wing", "count": 5, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 20}}}
    sim = paddock.load({"vehicles": [{**wing, "behaviour": {"formation": {"shape": "line", "spacing": 4, "z": 20}}}]})
    sim.remove("wing[1]")
    sim.step(240 * 20)
    assert sim.snapshot().fleet("wing").position[:, 1] == pytest.approx([-6, -2, 2, 6], abs=1e-3)
    sim.spawn(fleet="wing", pose=[0, 0, 20, 0])
    sim.step(240 * 20)
    assert sim.snapshot().fleet("wing").position[:, 1] == pytest.approx([-8, -4, 0, 4, 8], abs=1e-3)


# a target that goes ---------------------------------------------------------------------------------------------------


def rest(sim: Simulation) -> tuple[Any, Any]:
    snapshot = sim.snapshot()["dog"]
    return snapshot.position, snapshot.speed


@pytest.mark.parametrize(
    "model",
    [
        "point",
        "rover",
        pytest.param("quad", marks=pytest.mark.slow),
        pytest.param("car.kinematic", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "behaviour",
    [
        {"follow": {"target": "lead", "distance": 6}},
        {"pursue": {"target": "lead", "speed": 6}},
        {"orbit": {"target": "lead", "radius": 15, "z": 0, "speed": 5}},
        {"formation": {"target": "lead", "x": -8}},
    ],
)
def test_a_lost_target_is_reported_and_the_vehicle_stops(model: str, behaviour: dict[str, Any]) -> None:
    z = 20 if model in ("quad", "point") else 0
    dog = {"name": "dog", "model": model, "pose": [-20, 5, z, 0], "behaviour": behaviour}
    sim = paddock.load({"every": {"behaviour": 4}, "vehicles": [leader(z, 3.0), dog]})
    sim.step(240 * 10)
    sim.remove("lead")
    sim.step(240 * 10)
    (event,) = [event for event in sim.events.since() if event.kind == "target_lost"]
    assert (event.tick, event.subject, event.detail) == (2400, "dog", "'lead' is no longer there")
    before, _ = rest(sim)
    sim.step(240 * 10)
    after, speed = rest(sim)
    assert np.linalg.norm(after - before) < 0.1 and speed < 0.01
    sim.spawn(**leader(z, 3.0))  # and when it comes back, it goes on
    sim.step(240 * 5)
    assert rest(sim)[1] > 0.3
    sim.remove("lead")
    sim.step(8)
    assert [event.kind for event in sim.events.since()].count("target_lost") == 2
