"""Manoeuvres of cars: geometry, evaluation and formulas against numbers from outside, and short runs."""

from __future__ import annotations

import json
from math import exp, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from paddock.behaviour.paths import LaneChangeCourse
from paddock.cli.main import exit_code
from paddock.errors import PaddockError
from paddock.record.validation.courses import cone_hits, hit_cones, skidpad, skidpad_agreement
from paddock.record.validation.manoeuvres import (
    FIGURES,
    braking,
    coast_down,
    coasting_speed,
    formulas,
    split_friction,
    steady_turns,
    step_response,
    step_steer,
)
from paddock.record.validation.proving_ground import TestCar, checked_car, linear_bicycle

G = 9.80665
PLAIN = {"tyre_load_sensitivity": 0.0, "lift_front": 0.0, "lift_rear": 0.0}
PLAIN |= {"rolling_resistance": 0.0, "drag_coefficient": 0.0}


def test_a_step_response_of_second_order() -> None:
    damping, frequency = 0.5, 6.0
    damped = frequency * sqrt(1.0 - damping**2)
    t = np.arange(-0.5, 6.0, 1e-3)
    swing = np.cos(damped * t) + damping * frequency / damped * np.sin(damped * t)
    value = np.where(t < 0.0, 0.0, 0.3 * (1.0 - np.exp(-damping * frequency * t) * swing))
    response = step_response(t, value)
    assert response.steady == pytest.approx(0.3, rel=1e-3)
    assert response.overshoot == pytest.approx(exp(-pi * damping / sqrt(1.0 - damping**2)), rel=0.01)  # 16.3 %
    assert response.peak == pytest.approx(pi / damped, abs=2e-3)
    assert 0.8 * 3.0 / (damping * frequency) < response.settling < 1.1 * 3.0 / (damping * frequency)
    assert value[np.searchsorted(t, response.rise)] == pytest.approx(0.27, rel=0.01)


def test_the_course_of_iso_3888_2() -> None:
    (a0, a1, a_right, a_left), (b0, b1, b_right, b_left), (c0, c1, c_right, c_left) = LaneChangeCourse(1.8).lanes
    assert (a0, a1, b0, b1, c0, c1) == (0.0, 12.0, 25.5, 36.5, 49.0, 61.0)
    assert a_left - a_right == pytest.approx(1.1 * 1.8 + 0.25)
    assert b_left - b_right == pytest.approx(1.8 + 1.0)
    assert c_left - c_right == pytest.approx(3.0)  # 1.3 * 1.8 + 0.25 is less
    assert b_right - a_left == pytest.approx(1.0)
    assert b_right - c_left == pytest.approx(1.0)
    lanes = LaneChangeCourse(2.4).lanes
    assert lanes[2][3] - lanes[2][2] == pytest.approx(1.3 * 2.4 + 0.25)
    assert len(LaneChangeCourse(1.8).cones) == 30


def test_cones_under_the_outline_of_a_car() -> None:
    course = LaneChangeCourse(1.8)
    x = np.linspace(-5.0, 66.0, 200)[:, None] + np.zeros((1, 3))
    y = np.array([[0.0, 0.3, 40.0]]) + 0.0 * x  # in the middle, 0.3 m to the left, far away
    hits = hit_cones(x, y, np.ones_like(x), np.zeros_like(x), course, (2.2, 0.9, 0.0))
    # straight on: nothing in the entry lane; it reaches 0.9 - (2.23 / 2 - 0.3) beyond the left edge when shifted
    assert hits.tolist() == [0.0, 10.0, 0.0]
    turned = hit_cones(np.array([[0.0]]), np.array([[0.0]]), np.zeros((1, 1)), np.ones((1, 1)), course, (2.2, 0.9, 0.0))
    assert turned.tolist() == [2.0]  # across the lane: over both first cones


def test_coasting_by_formula_and_by_integration() -> None:
    assert coasting_speed(40.0, 3e-4, 0.0, 30.0) == pytest.approx(40.0 / (1.0 + 40.0 * 3e-4 * 30.0))
    solved = solve_ivp(lambda _, v: -(0.147 + 3e-4 * v * v), (0.0, 30.0), [40.0], rtol=1e-10)
    assert coasting_speed(40.0, 3e-4, 0.147, 30.0) == pytest.approx(solved.y[0, -1], rel=1e-7)
    assert coasting_speed(1.0, 3e-4, 0.147, 30.0) == 0.0


def test_understeer_gradient_of_the_linear_bicycle() -> None:
    # equal tyres with slope B C = 10.4 per load, 5 % more at the rear: K g = 1 / 10.4 - 1 / (1.05 * 10.4)
    by_hand = (1.0 / 10.4) * (1.0 - 1.0 / 1.05) / G
    car = TestCar("car.bicycle", "sedan", PLAIN)
    linear = linear_bicycle(car, 20.0)
    assert linear.gradient == pytest.approx(by_hand, rel=1e-12)
    assert linear.steady_yaw_rate(20.0, 0.01) == pytest.approx(20.0 * 0.01 / (2.7 + by_hand * 400.0))
    outcome = steady_turns(car)
    # up to 2.5 m/s2 the curves of the tyres bend a little, more at the front
    assert outcome.figures["understeer"] == pytest.approx(np.degrees(by_hand * G), rel=0.2)
    assert 8.0 < outcome.figures["lateral_max"] < G * 1.05  # type: ignore[operator]
    assert outcome.figures["understeer_least"] > 0.0  # type: ignore[operator]


def test_step_steer_braking_and_coast_down_of_the_sedan() -> None:
    car = TestCar("car.bicycle", "sedan")
    step = step_steer(car).figures
    # the time constant of a linear bicycle at 80 km/h is about 0.1 s; its overshoot is small
    assert 0.05 < step["step_rise"] < 0.4  # type: ignore[operator]
    assert 0.0 <= step["step_overshoot"] < 15.0  # type: ignore[operator]
    stop = braking(car)
    drag, rolling = 0.5 * 1.225 * 0.30 * 2.2 / 1500.0, 0.015  # 1/m; share of the weight
    shortest = np.log1p(drag * (100.0 / 3.6) ** 2 / ((1.0 + rolling) * G)) / (2.0 * drag)  # all of a friction of 1
    assert stop.figures["braking_best"] > shortest
    assert 39.0 < stop.figures["braking_best"] < 41.0  # type: ignore[operator]  # as road tests of family cars measure
    checks = formulas(car).checks
    assert [(check.what, check.ok) for check in checks] == [("steady yaw rate", True), ("load transfer", True)]
    free = coast_down(TestCar("car.bicycle", "sedan", {"rolling_resistance": 0.0}))
    k = 0.5 * 1.225 * 0.30 * 2.2 / 1500.0
    v0 = 100.0 / 3.6
    assert free.figures["coast_speed"] == pytest.approx(3.6 * v0 / (1.0 + v0 * k * 30.0), rel=1e-3)


def test_lane_change_at_two_speeds() -> None:
    car = TestCar("car.bicycle", "sedan")
    course = LaneChangeCourse(2.0 * car.outline()[1])
    hits, _ = cone_hits(car, course, np.array([40.0, 110.0]))
    assert hits[0].min() == 0.0
    assert hits[1].min() >= 3.0


@pytest.mark.parametrize("preset", ["sedan", pytest.param("formula", marks=pytest.mark.slow)])
def test_the_skidpad_agrees_with_steady_turns(preset: str) -> None:
    car = TestCar("car.bicycle", preset)
    turns, circle = steady_turns(car), skidpad(car)
    limit, measured = turns.figures["lateral_max"], circle.figures["skidpad"]
    p = car.values
    load = {v: p.mass * G + 0.5 * 1.225 * p.frontal_area * (p.lift_front + p.lift_rear) * v * v
            for v in (80.0 / 3.6, sqrt(measured * 50.0))}  # fmt: skip
    first, second = load.values()
    # grip grows with the load, less the load sensitivity of the tyres
    assert measured == pytest.approx(limit * second / first, rel=0.08)
    assert [check.ok for check in skidpad_agreement(car, circle, turns)] == [True]


@pytest.mark.slow
def test_the_rev_limit_ends_before_the_grip_of_the_driverless_car() -> None:
    circle = skidpad(TestCar("car.bicycle", "driverless"))
    assert circle.remark == "no limit: the car holds the circle at its top speed"
    assert (
        skidpad_agreement(TestCar("car.bicycle", "driverless"), circle, steady_turns(TestCar("car.bicycle", "sedan")))
        == []
    )


def test_a_kinematic_car_has_no_understeer_and_no_limit() -> None:
    car = TestCar("car.kinematic", "sedan")
    figures = steady_turns(car).figures
    assert figures["understeer"] == pytest.approx(0.0, abs=1e-3)
    assert figures["understeer_least"] == pytest.approx(0.0, abs=1e-2)
    assert figures["lateral_max"] is None
    assert split_friction(car).skipped.startswith("not applicable")
    assert skidpad(car).remark.startswith("no limit")


def test_figures_in_the_documentation() -> None:
    """One level of the table, at once: the others come from the same command."""
    page = (Path(__file__).parents[2] / "docs" / "validation.md").read_text(encoding="utf-8")
    car = TestCar("car.bicycle", "sedan")
    figures = step_steer(car).figures | steady_turns(car).figures | coast_down(car).figures
    for key, value in figures.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| {FIGURES[key].label} |"))
        assert row.split(" | ")[3] == FIGURES[key].shown(value), f"{key}: run python docs/generate.py --measured"


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "report"
    command = ["validate", "sedan", "--level", "bicycle", "--only", "4138", "--only", "formulas"]
    assert exit_code([*command, "--report", str(folder), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["figures"]["bicycle"]["understeer"] == pytest.approx(0.56, abs=0.03)
    assert json.loads((folder / "validation.json").read_text()) == printed
    html = (folder / "validation.html").read_text()
    assert "ISO 4138: understeer gradient" in html and "<svg" in html
    assert "| steady yaw rate | bicycle |" in (folder / "validation.md").read_text()
    first = html
    assert exit_code([*command, "--report", str(folder), "--json"]) == 0
    assert (folder / "validation.html").read_text() == first


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["sedan", "--level", "fulll"], "--level: unknown level 'fulll'; did you mean 'full'?"),
        (["quad"], "model 'quad' is not a car"),
        (["sedan", "--preset", "race"], "two presets are given"),
        (["sedan", "--only", "skid-pad"], "--only: unknown manoeuvre 'skid-pad'"),
        (["car.full", "--preset", "sedann"], "did you mean 'sedan'?"),
        (["sedn"], "unknown car 'sedn'; did you mean 'sedan'?"),
    ],
)
def test_mistakes(arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["validate", *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_a_model_that_is_not_a_car() -> None:
    with pytest.raises(PaddockError, match="not a car"):
        checked_car("rover", None)


@pytest.mark.parametrize("preset", ["sedan", "race"])
@pytest.mark.parametrize("level", ["kinematic", "double_track", "full"])
def test_every_level_keeps_to_the_formulas(level: str, preset: str) -> None:
    checks = formulas(TestCar(f"car.{level}", preset)).checks
    assert [check.ok for check in checks] == [True] * (1 if level == "kinematic" else 2)
    assert checks[0].measured == pytest.approx(checks[0].expected, rel=2e-3)


def test_levels_agree_in_a_step_steer() -> None:
    alone = {"stability_gain": 0.0, "traction_slip": 0.0}  # level 2 has no such controllers
    two, three = (step_steer(TestCar(f"car.{level}", "sedan", alone)).figures for level in ("bicycle", "double_track"))
    assert three["step_rise"] == pytest.approx(two["step_rise"], rel=0.05)
    assert three["step_overshoot"] == pytest.approx(two["step_overshoot"], abs=2.0)
    assert three["step_slip"] == pytest.approx(two["step_slip"], rel=0.05)
