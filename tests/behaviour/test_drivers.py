"""Drivers of cars: manoeuvre, playback, human."""

from __future__ import annotations

from math import pi, sin
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.behaviour.rules import manoeuvre
from paddock.errors import PaddockError

OVAL = {"oval": {}}
STRAIGHT, RADIUS = 200.0, 50.0


def load(*vehicles: dict[str, Any], rate: int = 500, every: int = 5, seed: int = 3) -> Any:
    return paddock.load({"seed": seed, "clock": {"rate": rate}, "every": {"behaviour": every}, "vehicles": vehicles})


def car(name: str, driver: Any, **fields: Any) -> dict[str, Any]:
    return {"name": name, "model": "car.bicycle", "preset": "sedan", "driver": driver, **fields}


# manoeuvre


def test_a_step_of_the_steering_begins_on_time_and_the_speed_is_held() -> None:
    sim = load(car("red", {"manoeuvre": {"speed": 20, "steer": 0.01, "start": 0.5, "rise": 0.1}}, speed=20.0))
    sim.step(245)
    assert sim.snapshot().fleet("red")["command.steer"][0] == 0.0
    sim.step(30)  # 0.55 s
    assert sim.snapshot().fleet("red")["command.steer"][0] == pytest.approx(0.005, abs=0.0011)
    sim.step(1500)
    red = sim.snapshot().fleet("red")
    assert red["command.steer"][0] == pytest.approx(0.01)
    speed = float(np.hypot(red["vx"], red["vy"])[0])
    assert speed == pytest.approx(20.0, rel=0.01)
    # the linear bicycle: understeer gradient of 0.3 to 0.6 degrees per g
    rate = float(red["wz"][0])
    assert (
        speed * 0.01 / (2.7 + np.radians(0.6) / 9.81 * 400.0)
        < rate
        < speed * 0.01 / (2.7 + np.radians(0.3) / 9.81 * 400.0)
    )


def test_shapes_of_the_steering() -> None:
    sine = manoeuvre.Options(shape=2.0, steer=0.1, frequency=0.5, cycles=2.0)
    assert manoeuvre.steering(0.3, sine) == pytest.approx(0.1 * sin(2 * pi * 0.5 * 0.3))
    assert manoeuvre.steering(4.1, sine) == 0.0
    ramp = manoeuvre.Options(shape=1.0, steer=0.2, rise=10.0)
    assert [manoeuvre.steering(t, ramp) for t in (-1.0, 5.0, 20.0)] == pytest.approx([0.0, 0.1, 0.4])
    # sine with dwell, FMVSS 126: 0.7 Hz, 0.5 s at the second peak
    dwell = manoeuvre.Options(shape=3.0, steer=0.1, frequency=0.7, dwell=0.5)
    peak = 0.75 / 0.7
    assert [manoeuvre.steering(t, dwell) for t in (peak, peak + 0.25, peak + 0.5)] == pytest.approx([-0.1] * 3)
    assert manoeuvre.steering(peak + 0.6, dwell) == pytest.approx(0.1 * sin(2 * pi * 0.7 * (peak + 0.1)))
    assert manoeuvre.steering(1.0 / 0.7 + 0.51, dwell) == 0.0


def test_a_driver_of_cars_refuses_a_drone() -> None:
    with pytest.raises(
        PaddockError, match=r"behaviour 'manoeuvre' drives models with the commands steer, throttle.*quad"
    ):
        paddock.load({"vehicles": [{"model": "quad", "behaviour": {"manoeuvre": {}}}]})


# playback


def test_playback_repeats_a_run_bit_for_bit() -> None:
    rows = [[0.0, 0.0, 0.4], [0.5, 0.05, 0.3], [1.0, -0.04, 0.0, 0.2], [1.4, 0.0, 0.0, 0.0, 0.0, 0.0]]
    first = paddock.load({"clock": {"rate": 500}, "vehicles": [car("red", "external", speed=12.0)]})
    again = load(car("red", {"playback": {"path": rows}}, speed=12.0), every=1)
    ends = [*(round(500 * row[0]) for row in rows[1:]), 900]
    for row, until in zip(rows, ends, strict=True):
        inputs = [*row[1:], *[0.0, 0.0, 1.0, 0.0][len(row) - 2 :]]
        commands = dict(zip(("steer", "throttle", "brake", "gear", "handbrake"), inputs, strict=True))
        first.command("red", **commands)
        first.step(until - first.tick)
        again.step(until - again.tick)
        assert np.array_equal(first.snapshot().fleet("red").position, again.snapshot().fleet("red").position)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([[0.0, 0.1], [0.0, 0.2]], "row 1: times must increase"),
        ([[0.0, 9.0]], "row 0: steer must be within -1.5 to 1.5, not 9"),
        ([[0.0]], "row 0: "),
        ({"oval": {}}, "a playback's path is a list of rows"),
        ("lap.csv", "a playback's path is a list of rows"),
    ],
)
def test_rows_that_cannot_be_played(rows: Any, problem: str) -> None:
    with pytest.raises(PaddockError, match=problem):
        load(car("red", {"playback": {"path": rows}}))


# human


def steering_of(driver: dict[str, Any], seed: int = 3, ticks: int = 400) -> Any:
    sim = load(car("red", driver, pose=[-1, -53, 0], speed=14.0), seed=seed)
    steer = []
    for _ in range(ticks // 5):
        sim.step(5)
        steer.append(float(sim.snapshot().fleet("red")["command.steer"][0]))
    return np.array(steer)


def test_a_human_reacts_late() -> None:
    calm = {"path": OVAL, "speed": 14, "steer_noise": 0, "pedal_noise": 0}
    prompt, late = (steering_of({"human": {**calm, "reaction": reaction}}) for reaction in (0.0, 0.4))
    assert abs(prompt[0]) > 0.02  # 3 m beside its line
    first = int(np.flatnonzero(late != 0.0)[0])
    assert first * 0.01 == pytest.approx(0.4, abs=0.03)
    assert late[first] == pytest.approx(prompt[0], rel=0.05)  # what it saw then


def test_a_humans_errors_are_drawn_from_the_seed() -> None:
    noisy = {"human": {"path": OVAL, "speed": 14, "reaction": 0, "steer_noise": 0.01}}
    exact = steering_of({"human": {"path": OVAL, "speed": 14, "reaction": 0, "steer_noise": 0}}, ticks=1500)
    first, same, other = (steering_of(noisy, seed, 1500) for seed in (3, 3, 4))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    assert 0.004 < np.std(first - exact) < 0.03
