"""goto, hold, waypoints, patrol, orbit: positions in the world, for every suitable model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddock

Watch = Callable[..., Any]
HEIGHT = {"point": 10.0, "quad": 10.0, "rover": 0.0, "car.kinematic": 0.0, "car.bicycle": 0.0, "fixed_wing": 10.0}
SPEED = {"rover": 1.0}


def vehicle(model: str, behaviour: dict[str, Any], yaw: float = 0.0) -> dict[str, Any]:
    return {"name": "it", "model": model, "pose": [0, 0, HEIGHT[model], yaw], "behaviour": behaviour}


@pytest.mark.parametrize(
    "model",
    [
        "point",
        "quad",
        "car.bicycle",
        pytest.param("rover", marks=pytest.mark.slow),
        pytest.param("car.kinematic", marks=pytest.mark.slow),
    ],
)
def test_goto_arrives_within_its_tolerance_and_stays(watch: Watch, model: str) -> None:
    goal = np.array([24.0, 18.0, HEIGHT[model]])
    options = dict(zip("xyz", goal, strict=True)) | {"speed": SPEED.get(model, 5.0)}
    sim, ways = watch(60 if model == "rover" else 30, vehicle(model, {"goto": options}))
    away = np.linalg.norm(ways["it"][:, 0] - goal, axis=1)
    first = np.argmax(away < 0.1)
    assert away[first] < 0.1
    assert away[first:].max() < 0.15  # a hand's width more while it comes to rest
    assert sim.snapshot()["it"].speed < 1e-3
    assert first / 20 > 30.0 / SPEED.get(model, 5.0)  # it cannot be faster than its speed allows


def test_a_fixed_wing_flies_past_its_goal_and_circles(watch: Watch) -> None:
    _, ways = watch(120, vehicle("fixed_wing", {"goto": {"x": 400, "y": 0, "z": 30, "speed": 17.5}}))
    away = np.linalg.norm(ways["it"][:, 0] - [400, 0, 30], axis=1)
    assert away.min() < 30.0 and away[-1200:].max() < 250.0


@pytest.mark.parametrize(
    "model",
    [
        "point",
        pytest.param("car.bicycle", marks=pytest.mark.slow),
        pytest.param("quad", marks=pytest.mark.slow),
        pytest.param("rover", marks=pytest.mark.slow),
    ],
)
def test_hold_stays(watch: Watch, model: str) -> None:
    _, ways = watch(20, vehicle(model, {"hold": {}}), world={"wind": [3, 0, 0]})
    assert np.linalg.norm(ways["it"][-1, 0] - [0, 0, HEIGHT[model]]) < 0.3


def test_hold_returns_after_a_push(watch: Watch) -> None:
    moving = {**vehicle("point", {"hold": {}}), "speed": 8}
    _, ways = watch(20, moving)
    assert ways["it"][:, 0, 0].max() > 3.0 and np.linalg.norm(ways["it"][-1, 0] - [0, 0, 10]) < 0.01


def visits(way: Any, places: Any, within: float) -> list[int]:
    """The order in which places were visited."""
    order: list[int] = []
    for near in np.linalg.norm(way[:, None] - places[None], axis=2) < within:
        order += [int(k) for k in np.flatnonzero(near) if not order or order[-1] != k]
    return order


@pytest.mark.parametrize(
    "model",
    [
        "point",
        pytest.param("rover", marks=pytest.mark.slow),
        pytest.param("quad", marks=pytest.mark.slow),
        pytest.param("car.kinematic", marks=pytest.mark.slow),
        pytest.param("car.bicycle", marks=pytest.mark.slow),
    ],
)
def test_waypoints_are_visited_in_order_and_the_last_is_kept(watch: Watch, model: str) -> None:
    places = np.array([[20, 0], [20, 20], [0, 20], [-10, -5]], float)
    places = np.column_stack([places, np.full(4, HEIGHT[model])])
    speed = SPEED.get(model, 4.0)
    options = {"path": places.tolist(), "speed": speed}
    sim, ways = watch(110 if model == "rover" else 50, vehicle(model, {"waypoints": options}))
    assert visits(ways["it"][:, 0], places, 1.01) == [0, 1, 2, 3]
    assert np.linalg.norm(ways["it"][-1, 0] - places[3]) < 1.1 and sim.snapshot()["it"].speed < 1e-3


@pytest.mark.parametrize(("turn", "order"), [("round", [0, 1, 2, 0, 1, 2, 0]), ("back", [0, 1, 2, 1, 0, 1, 2])])
@pytest.mark.parametrize(
    "model", ["point", *(pytest.param(model, marks=pytest.mark.slow) for model in ("car.kinematic", "quad"))]
)
def test_patrol_goes_round_or_back(watch: Watch, model: str, turn: str, order: list[int]) -> None:
    places = np.array([[0, 0, HEIGHT[model]], [30, 0, HEIGHT[model]], [30, 30, HEIGHT[model]]])
    _, ways = watch(110, vehicle(model, {"patrol": {"path": places.tolist(), "turn": turn, "speed": 4}}))
    assert visits(ways["it"][:, 0], places, 2.1)[:7] == order


ORBITS = [("point", 20, 5), ("quad", 20, 5), ("car.kinematic", 20, 5), ("car.bicycle", 30, 6), ("fixed_wing", 90, 17.5)]
MORE_ORBITS = [("quad", 10, 4), ("fixed_wing", 120, 17.5), ("fixed_wing", 250, 15)]


@pytest.mark.parametrize(
    ("model", "radius", "speed", "direction"),
    [
        *[(*orbit, ("left", "right")[k % 2]) for k, orbit in enumerate(ORBITS) if orbit[0] == "fixed_wing"],
        *[pytest.param(*orbit, turn, marks=pytest.mark.slow) for orbit in ORBITS for turn in ("left", "right")],
        *[pytest.param(*orbit, turn, marks=pytest.mark.slow) for orbit in MORE_ORBITS for turn in ("left", "right")],
    ],
)
def test_orbit_keeps_its_radius_height_and_direction(
    watch: Watch, model: str, radius: float, speed: float, direction: str
) -> None:
    behaviour = {"orbit": {"radius": radius, "speed": speed, "z": HEIGHT[model], "direction": direction}}
    start = {**vehicle(model, behaviour), "pose": [1.3 * radius, 0, HEIGHT[model], np.pi / 2]}
    _, ways = watch(150 if model == "fixed_wing" else 90, start)
    settled = ways["it"][-600:, 0]
    assert np.hypot(settled[:, 0], settled[:, 1]) == pytest.approx(radius, rel=0.01)
    assert settled[:, 2] == pytest.approx(HEIGHT[model], abs=0.2)
    angle = np.unwrap(np.arctan2(settled[:, 1], settled[:, 0]))
    turned = (angle[-1] - angle[0]) * (1 if direction == "left" else -1)
    assert turned * radius / (599 / 20) == pytest.approx(speed, rel=0.08)


@pytest.mark.slow
def test_a_plane_with_aerodynamics_circles_in_wind(watch: Watch) -> None:
    orbit = {"orbit": {"radius": 120, "speed": 17.5, "z": 60}}
    start = {"name": "it", "model": "plane", "pose": [150, 0, 60, np.pi / 2], "behaviour": orbit}
    _, ways = watch(150, start, world={"wind": [3, 0, 0]})
    settled = ways["it"][-800:, 0]
    assert np.hypot(settled[:, 0], settled[:, 1]) == pytest.approx(120, rel=0.08)
    assert settled[:, 2] == pytest.approx(60, abs=2.0)


def test_orbit_around_a_moving_vehicle(watch: Watch) -> None:
    lead = {"name": "lead", "model": "rover", "pose": [0, 0, 0], "speed": 1, "commands": {"speed": 1.0}}
    eye = {"name": "eye", "model": "quad", "pose": [15, 0, 12, 0]}
    eye["behaviour"] = {"orbit": {"target": "lead", "radius": 12, "z": 12, "speed": 5}}
    _, ways = watch(60, lead, eye)
    gap = (ways["eye"] - ways["lead"])[-400:, 0]
    assert np.hypot(gap[:, 0], gap[:, 1]) == pytest.approx(12, rel=0.05) and gap[:, 2] == pytest.approx(12, abs=0.1)


def test_decisions_every_few_ticks_lead_to_the_same_place() -> None:
    ends = []
    for every in (1, 8, 24):
        scenario = {"every": {"behaviour": every}, "vehicles": [vehicle("quad", {"goto": {"x": 9, "y": 9, "z": 10}})]}
        sim = paddock.load(scenario)
        sim.step(240 * 20)
        ends.append(sim.snapshot()["it"].position)
    assert np.linalg.norm(np.diff(ends, axis=0), axis=1).max() < 0.1
