"""The single track with spinning wheels against the double track and formulas: burnout, wheel lock, ABS, rest."""

from math import radians
from typing import Any

import numpy as np
import pytest
from one_car import Car

import paddock
from paddock.errors import PaddockError
from paddock.vehicles.model import Placement, find_model
from paddock.vehicles.parts.car import Command

SPINNING = find_model("car.bicycle").fitted({"wheels": "spinning"})


def spinning(speed: float = 0.0, **given: Any) -> Car:
    car = Car("car.bicycle", speed, **given)
    car.model = SPINNING
    return car


def stopped(car: Car) -> float:
    """The distance to a halt, m."""
    for _ in range(600):
        if car.go(0.02, brake=1.0).vx < 0.05:
            break
    return car.x


def test_burnout_and_launch_equal_those_of_the_double_track() -> None:
    """On mu 0.4 the rolling wheels are a quarter too fast: they transmit the peak of friction all the time."""
    given = {"world": {"mu": 0.4}, "preset": "sedan", "traction_slip": 0.0}
    car, level3, rolling = spinning(**given), Car("car.double_track", **given), Car("car.bicycle", **given)
    for one in (car, level3, rolling):
        one.go(2.0, throttle=1.0)
    assert car.spin_rear * 0.32 > car.vx + 5.0
    assert car.wheel_speed * 0.32 == pytest.approx(car.vx, rel=0.02)
    assert car.vx == pytest.approx(level3.vx, rel=0.005)
    assert rolling.vx > 1.25 * level3.vx
    report, wheels = car.report(throttle=1.0), level3.report(throttle=1.0)
    assert report.force_x_rear == pytest.approx(wheels.force_x_rl + wheels.force_x_rr, rel=0.01)
    assert report.slip_ratio_rear > wheels.kappa_peak_rl
    controlled = spinning(world={"mu": 0.4}, preset="sedan").go(2.0, throttle=1.0)
    assert controlled.vx > 1.2 * car.vx and controlled.spin_rear * 0.32 < 1.3 * controlled.vx


def test_locked_wheels_and_abs() -> None:
    given = {"world": {"mu": 0.4}, "preset": "sedan"}
    locked = spinning(27.8, **given, abs_slip=0.0).go(1.0, brake=1.0, steer=0.05)
    assert (locked.wheel_speed, locked.vx > 20.0) == (0.0, True)
    rolling = spinning(27.8, **given).go(1.0, brake=1.0, steer=0.05)
    assert rolling.wheel_speed * 0.32 > 0.7 * rolling.vx
    assert abs(locked.yaw_rate) < 0.4 * abs(rolling.yaw_rate)  # locked front wheels do not steer
    for abs_slip in (0.0, 0.12):
        level3 = Car("car.double_track", 27.8, **given, abs_slip=abs_slip)
        assert stopped(spinning(27.8, **given, abs_slip=abs_slip)) == pytest.approx(stopped(level3), rel=0.003)


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_it_stops_holds_and_reverses(dt: float) -> None:
    car = spinning(preset="race").go(2.0, dt=dt, throttle=1.0).go(6.0, dt=dt, brake=0.5)
    assert (car.vx, car.vy, car.yaw_rate, car.wheel_speed, car.spin_rear) == (0.0,) * 5
    before = car.x
    assert car.go(5.0, dt=dt, brake=0.5).x == before
    assert car.go(2.0, dt=dt, throttle=0.5, gear=-1.0).vx == pytest.approx(-8.99, abs=0.05)


@pytest.mark.parametrize("preset", ["sedan", "sports", "formula", "race", "driverless"])
def test_road_cars_survive_the_step_of_the_steering(preset: str) -> None:
    car = spinning(80.0 / 3.6, preset=preset)
    assert np.abs(car.trace(4.0, lambda c: c.body_slip_deg, steer=radians(6.0))).max() < 12.0


def test_the_kernel_follows_the_python_code_and_the_scenario_chooses_it() -> None:
    car = spinning(12.0, preset="sports").go(0.05, steer=0.1, throttle=1.0)
    state = SPINNING.place(Placement(0.0, 0.0, 0.0, 0.0, 12.0), car.p, car.w)
    for _ in range(50):
        state = SPINNING.step(state, Command(steer=0.1, throttle=1.0), car.p, car.w, 1e-3)
    assert tuple(state) == tuple(car.state)
    entry = {"name": "car", "model": "car.bicycle", "preset": "sports", "subsystems": {"wheels": "spinning"}}
    with paddock.load({"vehicles": [{**entry, "commands": {"throttle": 1.0}}]}) as sim:
        sim.step(200)
        assert float(sim.snapshot().fleet("car")["slip_ratio_rear"][0]) > 0.02
    with pytest.raises(PaddockError, match="spining"):
        paddock.load({"vehicles": [{**entry, "subsystems": {"wheels": "spining"}}]})
