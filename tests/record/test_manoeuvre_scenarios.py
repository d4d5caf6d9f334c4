"""The manoeuvres of the catalog: they are found by name, and show what `paddock validate` measures."""

import numpy as np
import pytest

import paddock
from paddock.behaviour.paths import LaneChangeCourse
from paddock.cli.main import exit_code
from paddock.engine.simulation import Simulation
from paddock.record.validation.courses import RADIUS, hit_cones
from paddock.record.validation.manoeuvres import STEP_RISE, STEP_SPEED, STEP_START, TURN_SPEED
from paddock.record.validation.proving_ground import TestCar
from paddock.scenario import ScenarioError, demo_names, load_scenario, manoeuvre_names

NAMES = ["acceleration", "iso_3888_2", "iso_4138", "iso_7401", "skidpad", "split_mu"]
WIDTH = 1.829  # m, of the sedan


def lateral(sim: Simulation, name: str) -> float:
    car = sim.snapshot().fleet(name)
    return float(np.hypot(car["vx"], car["vy"])[0] * car["wz"][0])


def test_they_are_listed_and_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert manoeuvre_names() == NAMES
    assert exit_code(["demo", "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == demo_names() + NAMES
    assert [load_scenario(name).name for name in NAMES] == NAMES


def test_definitions_are_those_of_the_standards() -> None:
    """ISO 7401 and 4138: 80 km/h; the step takes 0.1 s; the circle has 50 m. The values come from the scenarios."""
    assert pytest.approx((80.0 / 3.6, 80.0 / 3.6), rel=1e-5) == (STEP_SPEED, TURN_SPEED)
    assert (STEP_START, STEP_RISE, RADIUS) == (0.5, 0.1, 50.0)


def test_the_step_ends_at_4_m_s2() -> None:
    with paddock.load("iso_7401") as sim:
        sim.step(500)
        assert lateral(sim, "full") == pytest.approx(0.0, abs=1e-6)
        sim.step(2500)
        # the levels with tyres understeer alike; the kinematic one follows v^2 tan(delta) / L
        assert [lateral(sim, name) for name in ("bicycle", "double_track", "full")] == pytest.approx(
            [4.0] * 3, rel=0.04
        )
        assert lateral(sim, "kinematic") == pytest.approx((80 / 3.6) ** 2 * np.tan(0.0265) / 2.7, rel=0.01)


def test_braking_on_split_friction_turns_the_car_to_the_grip() -> None:
    with paddock.load("split_mu") as sim:
        sim.step(400)
        snapshot = sim.snapshot()
        for name in ("double_track", "full", "sports"):
            assert snapshot.fleet(name)["wz"][0] < -0.05  # right: there the friction is 1
            assert snapshot.fleet(name)["ax"][0] > -0.75 * 9.81  # (1.1 + 0.3) / 2 of the weight, at most


def test_cones_of_the_double_lane_change() -> None:
    with paddock.load("iso_3888_2") as sim:
        cones = sim.snapshot().fleet("cones_medium").position[:, :2] - [0.0, 12.0]
    # 1.1 b + 0.25 m between the inner edges of the first gate; cones have a radius of 0.18 m
    assert cones[[0, 5]] == pytest.approx(np.array([[0.0, -1.0], [0.0, 1.0]]) * (0.55 * WIDTH + 0.125 + 0.18))
    assert cones[:, 0].max() == 61.0


@pytest.mark.slow
def test_the_double_lane_change_passes_and_fails() -> None:
    """55 km/h lie below the pass speed of the sedan, 75 above it (68.1, docs/validation.md)."""
    outline = TestCar("car.full", "sedan").outline()
    with paddock.load("iso_3888_2") as sim:
        places = []
        for _ in range(420):
            sim.step(20)
            now = [sim.snapshot().fleet(name) for name in ("slow", "fast")]
            places.append([(f["x"][0], f["y"][0], 1 - 2 * (f["qy"][0] ** 2 + f["qz"][0] ** 2),
                            2 * (f["qx"][0] * f["qy"][0] + f["qw"][0] * f["qz"][0])) for f in now])  # fmt: skip
        touched = {event.subject.partition("[")[0] for event in sim.events.since() if event.kind == "contact"}
        standing = sim.snapshot().fleet("cones_slow")
    x, y, ahead_x, ahead_y = np.moveaxis(np.array(places), 2, 0)
    hits = hit_cones(x, y - [0.0, 24.0], ahead_x, ahead_y, LaneChangeCourse(WIDTH), outline)
    assert x[-1, 0] > 55.0
    assert hits[0] == 0 and hits[1] >= 3
    assert touched == {"cones_fast"}
    assert np.abs(standing["qx"]).max() < 1e-3


@pytest.mark.parametrize(
    ("count", "spawn", "problem"),
    [
        (12, {"lane_change": {"width": 1.8}}, "a double lane change has 30 cones: count is 12"),
        (30, {"lane_change": {}}, "width"),
        (30, {"lane_change": {"width": -1.0}}, "width: must be > 0"),
    ],
)
def test_mistakes_in_the_course(count: int, spawn: dict[str, object], problem: str) -> None:
    entry = {"model": "prop.cone", "count": count, "spawn": spawn}
    with pytest.raises(ScenarioError, match=problem):
        load_scenario({"contact": True, "vehicles": [entry]})
