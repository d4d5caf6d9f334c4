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


def spinning(speed: float = 0.0, **fields: Any) -> Car:
    car = Car("car.bicycle", speed, **fields)
    car.model, car.spares = SPINNING, False
    return car


def stopped(car: Car) -> float:
    """The distance to a halt, m."""
    for _ in range(600):
        if car.go(0.02, brake=1.0).vx < 0.05:
            break
    return car.x


def test_burnout_and_launch_equal_those_of_the_double_track() -> None:
    """On mu 0.4 the rolling wheels are a quarter too fast: they transmit the peak of friction all the time."""
    fields = {"world": {"mu": 0.4}, "preset": "sedan", "traction_slip": 0.0}
    car, level3, rolling = spinning(**fields), Car("car.double_track", **fields), Car("car.bicycle", **fields)
    for entry in (car, level3, rolling):
        entry.go(2.0, throttle=1.0)
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
    fields = {"world": {"mu": 0.4}, "preset": "sedan"}
    locked = spinning(27.8, **fields, abs_slip=0.0).go(1.0, brake=1.0, steer=0.05)
    assert (locked.wheel_speed, locked.vx > 20.0) == (0.0, True)
    rolling = spinning(27.8, **fields).go(1.0, brake=1.0, steer=0.05)
    assert rolling.wheel_speed * 0.32 > 0.7 * rolling.vx
    assert abs(locked.yaw_rate) < 0.4 * abs(rolling.yaw_rate)  # locked front wheels do not steer
    for abs_slip in (0.0, 0.12):
        level3 = Car("car.double_track", 27.8, **fields, abs_slip=abs_slip)
        assert stopped(spinning(27.8, **fields, abs_slip=abs_slip)) == pytest.approx(stopped(level3), rel=0.003)


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_it_stops_holds_and_reverses(dt: float) -> None:
    car = spinning(preset="race").go(2.0, dt=dt, throttle=1.0).go(6.0, dt=dt, brake=0.5)
    assert (car.vx, car.vy, car.yaw_rate, car.wheel_speed, car.spin_rear) == (0.0,) * 5
    before = car.x
    assert car.go(5.0, dt=dt, brake=0.5).x == before
    assert car.go(2.0, dt=dt, throttle=0.5, gear=-1.0).vx == pytest.approx(-8.99, abs=0.05)


@pytest.mark.parametrize(
    "preset", ["sedan", "sports", "formula", "race", pytest.param("driverless", marks=pytest.mark.slow)]
)
def test_road_cars_survive_the_step_of_the_steering(preset: str) -> None:
    car = spinning(80.0 / 3.6, preset=preset)
    assert np.abs(car.trace(4.0, lambda c: c.body_slip_deg, steer=radians(6.0))).max() < 12.0


def test_the_kernel_follows_the_python_code_and_the_scenario_chooses_it() -> None:
    car = spinning(12.0, preset="sedan").go(0.05, steer=0.1, throttle=1.0)
    state = SPINNING.place(Placement(0.0, 0.0, 0.0, 0.0, 12.0), car.p, car.w)
    for _ in range(50):
        state = SPINNING.step(state, Command(steer=0.1, throttle=1.0), car.p, car.w, 1e-3)
    assert tuple(state) == tuple(car.state)
    entry = {"name": "car", "model": "car.bicycle", "preset": "sedan", "subsystems": {"wheels": "spinning"}}
    with paddock.load({"vehicles": [{**entry, "commands": {"throttle": 1.0}}]}) as sim:
        sim.step(200)
        assert float(sim.snapshot().fleet("car")["slip_ratio_rear"][0]) > 0.02
    with pytest.raises(PaddockError, match="spining"):
        paddock.load({"vehicles": [{**entry, "subsystems": {"wheels": "spining"}}]})


@pytest.mark.parametrize("level", ["car.kinematic", "car.bicycle"])
def test_rolling_wheels_transmit_the_peak_along(level: str) -> None:
    """The driverless tyre has the longitudinal factor 1.6: from 25 m/s on mu 0.6 the double track needs 22.7 m."""
    fields = {"world": {"mu": 0.6}, "preset": "driverless"}
    assert stopped(Car(level, 25.0, **fields)) == pytest.approx(
        stopped(Car("car.double_track", 25.0, **fields)), rel=0.04
    )


@pytest.mark.parametrize("level", ["car.kinematic", "car.bicycle"])
def test_the_drive_overcomes_brakes_before_friction_limits_both(level: str) -> None:
    first, two = (Car(name, preset="race").go(3.0, throttle=1.0, brake=0.25) for name in (level, "car.double_track"))
    # wheels get (3150 - 2500) N m of the drive and the brakes, less rolling resistance: 5.9 m/s after 3 s by hand
    by_hand = 3.0 * ((3150.0 - 0.25 * 2.0 * 5000.0) / 0.34 - 0.015 * 900.0 * 9.80665) / 900.0
    assert first.vx == pytest.approx(by_hand, rel=0.03)
    assert first.vx == pytest.approx(two.vx, rel=0.06)
    assert Car(level, preset="race").go(2.0, throttle=1.0, brake=0.4).vx == 0.0  # 4000 N m hold it


def test_a_locked_axle_resists_the_turn_of_the_single_track() -> None:
    """By hand: two wheels of stiffness C, half the track t beside, give the moment C t^2 / 2 per curvature."""
    tree = {"preset": "formula", "lift_front": 0.0, "lift_rear": 0.0, "drag_coefficient": 0.0}
    steer, rates = 0.01, []
    for locking in (0.0, 1e5):
        car = Car("car.bicycle", 15.0, **tree, diff_preload=locking, rolling_resistance=0.0, engine_brake=0.0)
        rates.append(car.go(3.0, steer=steer).yaw_rate / car.vx)
    p = car.p
    base, loads = p.cg_to_front + p.cg_to_rear, [p.mass * 9.80665 * arm / 1.55 for arm in (0.8, 0.75)]
    grips = [
        p.tyre_mu * grip * (1.0 + 0.12 * (1.0 - 0.5 * load / 4000.0))
        for grip, load in zip((1.0, 0.94), loads, strict=True)
    ]
    front, rear = (9.0 * 1.3 * 1.05 * grip * load for grip, load in zip(grips, loads, strict=True))
    stiffness = 11.0 * 1.65 * 1.05 * grips[1] * 0.5 * loads[1]
    moment = 0.5 * stiffness * p.track_rear**2  # per curvature
    assert 1.0 / rates[1] - 1.0 / rates[0] == pytest.approx(
        moment / base * (1.0 / front + 1.0 / rear) / steer, rel=0.03
    )
    wheels = Car("car.double_track", 15.0, **tree, rolling_resistance=0.0, engine_brake=0.0).go(3.0, steer=steer)
    assert rates[1] == pytest.approx(wheels.yaw_rate / wheels.vx, rel=0.01)
