"""Every preset at every level: launch, braking, step steer, reverse, standstill, a spin; figures of the road tests."""

from math import radians
from typing import Any

import numpy as np
import pytest
from one_car import Car

from paddock.scenario.loading import preset_names

LEVELS = ("car.kinematic", "car.bicycle", "car.double_track", "car.full")
DYNAMIC, SPUN = LEVELS[1:], LEVELS[2:]
PRESETS = preset_names("car.bicycle")
G = 9.80665
WHEELS = ("fl", "fr", "rl", "rr")


def sane(car: Car) -> Car:
    """The car, after checking that its state is possible."""
    assert np.isfinite(car.rows).all()
    s = car.state
    assert np.hypot(s.vx, getattr(s, "vy", 0.0)) < 90.0
    assert abs(getattr(s, "yaw_rate", 0.0)) < 10.0
    assert abs(s.pitch) + abs(s.roll) < 0.2
    assert abs(s.z) < 0.2
    for wheel in WHEELS if "spin_fl" in s._fields else ():
        assert abs(getattr(s, f"spin_{wheel}")) * car.p.wheel_radius < 150.0
    return car


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("level", LEVELS)
def test_launch_brake_steer_reverse_and_stand(level: str, preset: str, dt: float) -> None:
    car = sane(Car(level, preset=preset).go(2.0, dt=dt, throttle=1.0))
    launched = car.vx
    assert 4.0 < launched < 32.0
    x = car.x
    sane(car.go(0.4, dt=dt, brake=1.0))
    sane(car.go(5.0, dt=dt, brake=1.0))
    assert car.vx == 0.0
    grip = 2.4 * G  # tyres of 1.6 with downforce
    assert launched**2 / (2.0 * grip) < car.x - x < launched**2 / (2.0 * 0.4 * G)
    stands = car.x, car.y, car.yaw
    sane(car.go(2.0, dt=dt, brake=0.3))
    assert (car.x, car.y, car.yaw) == pytest.approx(stands, abs=5e-3)  # less brake: the tyres unwind
    assert car.vx == 0.0
    sane(car.go(1.5, dt=dt, throttle=0.5, gear=-1.0))
    assert car.vx < -0.5
    sane(car.go(1.0, dt=dt, throttle=0.2, gear=-1.0, steer=0.2))
    sane(car.go(8.0, dt=dt, brake=1.0, steer=0.2))
    assert car.vx == 0.0
    turns = Car(level, 12.0, preset=preset)
    sane(turns.go(1.0, dt=dt, steer=0.06))
    rate = float(turns.model.pose(turns.state, turns.p).wz)
    kinematic = turns.vx * 0.06 / (turns.p.cg_to_front + turns.p.cg_to_rear)
    limit = 2.0 * G / turns.vx
    assert 0.5 * min(kinematic, 0.35 * limit) < rate < 1.2 * min(kinematic, limit)


@pytest.mark.parametrize(
    ("preset", "to_100", "top"),
    [("sedan", (9, 10.5), (200, 230)), ("sports", (4.7, 5.6), (280, 315)), ("formula", (3.5, 4.4), (160, 175)),
     ("race", (2.7, 3.1), (300, 320)), ("driverless", (2.2, 2.9), (120, 130))],
)  # fmt: skip
@pytest.mark.parametrize("level", DYNAMIC)
def test_acceleration_and_top_speed(level: str, preset: str, to_100: Any, top: Any) -> None:
    """Plausible for cars of their class; the least time to 100 km/h follows from launch torque and mass."""
    car = Car(level, preset=preset)
    speeds = car.trace(12.0, lambda c: c.vx, dt=2.5e-3, throttle=1.0)
    time = 0.01 * (int(np.argmax(speeds > 100.0 / 3.6)) + 1)
    force = car.p.engine_torque * car.p.final_drive / car.p.wheel_radius
    assert time > 100.0 / 3.6 / (force / car.p.mass)
    assert to_100[0] < time < to_100[1]
    assert top[0] < 3.6 * car.go(60.0, dt=2.5e-3, throttle=1.0).vx < top[1]


@pytest.mark.parametrize("level", DYNAMIC)
def test_road_cars_shift_up_and_down(level: str) -> None:
    for preset in ("sedan", "sports"):
        car = Car(level, preset=preset)
        gears = car.trace(30.0, lambda c: c.gear_engaged, dt=2.5e-3, throttle=1.0)
        assert set(np.diff(gears)) == {0.0, 1.0}  # one by one, no hunting
        assert gears[-1] >= 2.0
        gears = car.trace(12.0, lambda c: c.gear_engaged, dt=2.5e-3, brake=0.6)
        assert set(np.diff(gears)) == {0.0, -1.0}
        assert (gears[-1], car.vx) == (1.0, 0.0)


@pytest.mark.parametrize("level", SPUN)
def test_the_report_splits_the_demand_among_the_wheels(level: str) -> None:
    car = Car(level, 15.0, preset="race").go(0.3, throttle=0.4)
    r = car.report(throttle=0.4)
    shown = [getattr(r, f"drive_torque_{wheel}") for wheel in WHEELS]
    speed = sum(share * (a + b) / 2 for share, a, b in ((0.4, *spins(car)[:2]), (0.6, *spins(car)[2:])))
    most = min(700.0 * 4.5, 450e3 / speed)
    demand = 0.4 * most - 0.6 * 50.0 * 4.5  # throttle, and engine braking for the rest
    assert sum(shown) == pytest.approx(demand, rel=1e-9)
    # the rear wheels slip more, so the centre differential passes its 5 N m to the front
    assert shown[0] + shown[1] == pytest.approx(0.4 * sum(shown) + 5.0, rel=1e-9)
    pushed = [getattr(r, f"force_x_{wheel}") * 0.34 for wheel in WHEELS]
    resisted = [getattr(r, f"brake_torque_{wheel}") for wheel in WHEELS]
    # what the wheels do not need to spin up and roll reaches the road
    spun_up = 4.0 * 0.9 * car.ax / 0.34
    assert sum(pushed) == pytest.approx(sum(shown) - sum(resisted) - spun_up, rel=0.03)
    braked = Car(level, 30.0, preset="race", abs_slip=0.0).go(0.3, brake=0.3)
    r = braked.report(brake=0.3)
    rolling = [0.015 * 0.34 * getattr(r, f"load_{wheel}") for wheel in WHEELS]
    shown = [getattr(r, f"brake_torque_{wheel}") - roll for wheel, roll in zip(WHEELS, rolling, strict=True)]
    assert shown == pytest.approx([0.3 * 5000.0 * share for share in (0.62, 0.62, 0.38, 0.38)], abs=1e-4)


def spins(car: Car) -> list[float]:
    return [getattr(car, f"spin_{wheel}") for wheel in WHEELS]


@pytest.mark.parametrize("level", SPUN)
@pytest.mark.parametrize("preset", ["sports", "formula"])
def test_a_provoked_spin_ends_and_the_car_drives_on(level: str, preset: str) -> None:
    car = Car(level, 16.0, preset=preset).go(0.3, dt=2.5e-3, steer=0.3)
    sane(car.go(1.2, dt=2.5e-3, steer=0.3, handbrake=1.0))
    assert spins(car)[2:] == [0.0, 0.0]
    assert abs(car.body_slip_deg) > 25.0
    sane(car.go(8.0, dt=2.5e-3, brake=1.0))
    assert (car.vx, car.vy, car.yaw_rate) == (0.0, 0.0, 0.0)
    sane(car.go(2.0, dt=2.5e-3, throttle=0.3))
    assert car.vx > 2.0
    assert abs(car.body_slip_deg) < 3.0


def test_stability_control_is_off_while_the_handbrake_is_pulled() -> None:
    car = Car("car.double_track", 15.0, preset="sedan").go(0.4, steer=radians(20.0))
    free, pulled = (car.report(steer=radians(20.0), handbrake=value) for value in (0.0, 1.0))
    loads = [getattr(pulled, f"load_{wheel}") for wheel in WHEELS]
    assert pulled.brake_torque_fl == pytest.approx(0.015 * 0.32 * loads[0])
    assert pulled.brake_torque_fr == pytest.approx(0.015 * 0.32 * loads[1])
    assert free.brake_torque_fl + free.brake_torque_fr + free.brake_torque_rl > 1.5 * 0.015 * 0.32 * sum(loads[:3])


@pytest.mark.parametrize("level", ["car.bicycle", "car.double_track"])
def test_the_buggy_survives_at_80_km_h_what_the_sedan_does(level: str) -> None:
    """Its wheelbase is 0.6 m: 6 degrees would demand v^2 delta / L = 8.8 g, the sedan's 2 g take 1.33 degrees."""
    speed = 80.0 / 3.6
    steer = radians(6.0) * 0.6 / 2.7
    assert speed**2 * steer / 0.6 / G == pytest.approx(1.95, abs=0.01)
    car = Car(level, speed, preset="buggy")
    assert np.abs(car.trace(3.0, lambda c: c.body_slip_deg, steer=steer)).max() < 12.0
