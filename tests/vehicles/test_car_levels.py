"""Double track and full car against hand calculations, and the levels against each other."""

from itertools import pairwise
from math import atan, cos, pi, radians, sin, tan

import numpy as np
import pytest
from one_car import Car

from paddock.vehicles.model import find_model
from paddock.vehicles.parts.car import Command, Parameters

SPUN = ("car.double_track", "car.full")
DYNAMIC = ("car.bicycle", *SPUN)
ALL = ("car.kinematic", *DYNAMIC)
G = 9.80665
FREE = {"drag_coefficient": 0.0, "lift_front": 0.0, "lift_rear": 0.0, "rolling_resistance": 0.0}
UNAIDED = {"traction_slip": 0.0, "stability_gain": 0.0}  # the car's own balance, without controllers
ROLLING_MASS = 1500.0 + 4.0 * 1.0 / 0.32**2  # with four wheels of 1 kg m2


def test_every_level_takes_the_same_commands_and_parameters() -> None:
    for level in ALL:
        model = find_model(level)
        assert (model.command, model.parameters) == (Command, Parameters)
        assert model.state._fields[:5] == ("x", "y", "z", "yaw", "vx")  # type: ignore[attr-defined]
        assert model.telemetry[:2] == ("steer", "wheel_speed")


@pytest.mark.parametrize("speed", [5.0, 15.0, 30.0])
@pytest.mark.parametrize("level", SPUN)
def test_steady_yaw_rate_of_the_linear_bicycle(level: str, speed: float) -> None:
    car, delta, base = Car(level, speed, tyre_load_sensitivity=0.0, grip_rear=1.1, **FREE), 1e-3, 2.7
    front, rear = (8.0 * 1.3 * 1500.0 * G * arm / base for arm in (1.5, 1.2 * 1.1))
    gradient = 1500.0 / base * (1.5 / front - 1.2 / rear)
    car.go(8.0, dt=2e-3, steer=delta)
    assert car.yaw_rate == pytest.approx(car.vx * delta / (base + gradient * car.vx**2), rel=5e-3)


@pytest.mark.parametrize("level", SPUN)
def test_coast_down_under_quadratic_drag(level: str) -> None:
    car = Car(level, 40.0, rolling_resistance=0.0).go(30.0, dt=2e-3)
    k = 0.5 * 1.225 * 0.30 * 2.2 / ROLLING_MASS
    assert car.vx == pytest.approx(40.0 / (1.0 + 40.0 * k * 30.0), rel=1e-3)


SPRUNG = 1500.0 - 4.0 * 40.0
PER_AXLE = 2.0 / (1.0 / 30e3 + 1.0 / 220e3)  # N/m: springs and tyres in series
ROLL_FRONT, ROLL_REAR = (0.5 * 30e3 * 1.55**2 + bar for bar in (24e3, 6e3))  # N m/rad
WITH_TYRES = [1.0 / (1.0 / k + 1.0 / (0.5 * 220e3 * 1.55**2)) for k in (ROLL_FRONT, ROLL_REAR)]


@pytest.mark.parametrize("level", SPUN)
def test_braking_at_3_36_moves_1027_n(level: str) -> None:
    car = Car(level, 30.0, **FREE)
    car.go(1.5, brake=3.36 * ROLLING_MASS * 0.32 / (2.0 * 2000.0))
    report = car.report()
    assert car.ax == pytest.approx(-3.36, rel=3e-3)
    # the full car pitches: its weight moves forward by the height times the angle
    pitches = 1.0 - SPRUNG * G * 0.55 / (0.5 * PER_AXLE * 2.7**2) if level == "car.full" else 1.0
    assert -report.transfer_long == pytest.approx(1027.0 / pitches, rel=0.01)
    assert report.load_fl + report.load_fr + report.load_rl + report.load_rr == pytest.approx(1500.0 * G, rel=2e-3)


@pytest.mark.parametrize("level", SPUN)
def test_cornering_moves_load_in_the_ratio_of_the_roll_stiffness(level: str) -> None:
    car = Car(level, 20.0, **FREE).go(4.0, steer=0.03)
    report = car.report()
    moment = 1500.0 * car.vx * car.yaw_rate * 0.55
    front, rear = (ROLL_FRONT, ROLL_REAR) if level == "car.double_track" else WITH_TYRES
    if level == "car.full":  # rolls, and its weight moves outwards
        angle = moment / (front + rear - SPRUNG * G * 0.55)
        assert car.roll == pytest.approx(angle, rel=0.02)
        moment = angle * (front + rear)
    assert report.transfer_front == pytest.approx(moment / 1.55 * front / (front + rear), rel=0.02)
    assert report.transfer_rear == pytest.approx(moment / 1.55 * rear / (front + rear), rel=0.02)


@pytest.mark.parametrize(("first", "two", "margin"), [(*DYNAMIC[:2], 5e-3), (*DYNAMIC[1:], 0.02)])
def test_levels_agree_in_the_linear_range(first: str, two: str, margin: float) -> None:
    for steer, speed in ((2e-3, 20.0), (-4e-3, 10.0)):
        cars = [Car(level, speed, **FREE) for level in (first, two)]
        rates = [car.trace(2.0, lambda c: c.yaw_rate, steer=steer) for car in cars]
        slips = [car.go(2.0, steer=steer).vy for car in cars]
        assert np.abs(rates[1] - rates[0])[50:].max() < margin * np.abs(rates[0]).max()
        assert slips[1] == pytest.approx(slips[0], rel=2.0 * margin)
        assert cars[1].x == pytest.approx(cars[0].x, rel=margin)


def test_levels_agree_with_rolling_resistance() -> None:
    """The loaded outer wheels roll with more resistance, which turns a car out of the bend: about 1.6 %."""
    cars = [Car(level, 20.0, preset="sedan").go(3.0, steer=0.01, throttle=0.1) for level in DYNAMIC]
    paths = [car.yaw_rate / car.vx for car in cars]
    assert paths[0] == pytest.approx(paths[1], rel=5e-3)
    assert paths[2] == pytest.approx(paths[1], rel=5e-3)


@pytest.mark.parametrize("level", SPUN)
def test_a_locked_wheel_slides_with_the_friction_of_full_slip(level: str) -> None:
    parameters = {"brake_torque": 20000.0, "tyre_load_sensitivity": 0.0, "brake_bias": 0.5, **FREE}
    car = Car(level, 30.0, **parameters).go(1.0, brake=1.0)
    slide = 10.0 * 1.0
    mu = sin(1.65 * atan(slide - 0.97 * (slide - atan(slide))))  # magic formula at a slip ratio of -1, by hand
    assert (car.spin_fl, car.spin_fr, car.spin_rl, car.spin_rr) == (0.0, 0.0, 0.0, 0.0)
    assert car.ax == pytest.approx(-mu * G, rel=2e-3)
    assert car.report().slip_ratio_fl == pytest.approx(-1.0, abs=1e-3)


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("level", SPUN)
def test_burnout(level: str, dt: float) -> None:
    car = Car(level, engine_torque=1500.0, power_max=500e3).go(1.0, dt=dt, throttle=1.0)
    assert car.spin_rl * 0.32 > car.vx + 5.0  # the driven wheels spin
    assert car.spin_fl * 0.32 == pytest.approx(car.vx, rel=0.02)
    report = car.report(throttle=1.0)
    assert report.slip_ratio_rl > report.kappa_peak_rl  # beyond the peak
    assert 0.85 * report.load_rl < report.force_x_rl < 1.1 * report.load_rl
    later = car.go(1.5, dt=dt)  # lifts: the wheels grip again
    assert later.spin_rl * 0.32 == pytest.approx(later.vx, rel=0.02)


@pytest.mark.parametrize("level", SPUN)
def test_handbrake_turn(level: str) -> None:
    car = Car(level, 15.0, preset="sedan").go(0.3, steer=0.35)
    car.go(1.6, steer=0.35, handbrake=1.0)
    assert (car.spin_rl, car.spin_rr) == (0.0, 0.0)
    assert car.yaw > radians(80.0)
    assert abs(car.body_slip_deg) > 30.0
    car.go(8.0, brake=1.0)
    assert (car.vx, car.vy, car.yaw_rate) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("level", SPUN)
def test_reverse_gear_drives_back_and_turns_the_other_way(level: str) -> None:
    car = Car(level).go(3.0, throttle=0.3, gear=-1.0, steer=0.1)
    assert car.vx < -1.0
    assert car.yaw_rate == pytest.approx(car.vx * tan(0.1) / 2.7, rel=0.04)
    assert car.spin_rl < 0.0


def test_there_is_one_reverse_gear() -> None:
    car = Car("car.double_track", preset="sedan").go(30.0, throttle=1.0, gear=-1.0)
    assert car.gear_engaged == 1.0
    fastest = car.p.engine_speed_max / (car.p.final_drive * car.p.gear_1) * car.p.wheel_radius
    assert -fastest <= car.vx < -0.9 * fastest


@pytest.mark.parametrize("level", DYNAMIC)
@pytest.mark.parametrize("preset", ["sedan", "sports", "formula", "race", "driverless", "buggy"])
def test_six_degrees_at_80_km_h_do_not_spin_a_car(preset: str, level: str) -> None:
    speed = (36.0 if preset == "buggy" else 80.0) / 3.6  # a quarter of the wheelbase: the same demand at less speed
    car = Car(level, speed, preset=preset, **UNAIDED)
    slips = car.trace(4.0, lambda c: abs(c.body_slip_deg), dt=2.5e-3, steer=radians(6.0))
    assert slips.max() < 12.0
    assert car.vx > 0.4 * speed
    assert 0.3 < car.yaw_rate < 1.0


NEUTRAL = {"sedan": 1.0, "sports": 0.7, "formula": 1.1, "race": 0.7, "driverless": 0.6}
"""Degrees per g: close to neutral; the locked axle of the formula car pushes it straight ahead."""


@pytest.mark.parametrize("level", DYNAMIC)
@pytest.mark.parametrize("preset", ["sedan", "sports", "formula", "race", "driverless"])
def test_understeer_gradient_is_positive_up_to_nine_tenths_of_the_limit(preset: str, level: str) -> None:
    car, points = Car(level, 20.0, preset=preset), []
    base = car.p.cg_to_front + car.p.cg_to_rear
    for steer in np.arange(0.0, 0.2, 2.5e-4):
        throttle = min(1.0, max(0.0, 0.5 * (20.0 - car.vx) + 0.1))
        car.go(0.02, dt=2.5e-3, steer=float(steer), throttle=throttle)
        points.append((car.vx * car.yaw_rate, float(steer) - base * car.yaw_rate / car.vx))
    lateral, excess = np.array(points).T
    top = int(lateral.argmax())
    assert lateral[top] > 0.8 * G
    edges = np.linspace(0.15, 0.9, 7) * lateral[top]
    means = [excess[:top][(lateral[:top] >= a) & (lateral[:top] < b)].mean() for a, b in pairwise(edges)]
    gradients = np.diff(means) / np.diff(edges)[0]
    assert (gradients > 0.0).all()
    assert np.degrees(gradients[0]) * G < NEUTRAL[preset]


def cornering(level: str, preset: str, last: float | None, **fields: float) -> tuple[float, float]:
    """Largest yaw rate and body slip (degrees) in a bend, in a second with another throttle; None holds it."""
    car, throttle = Car(level, 18.0, preset=preset, **fields), 0.0
    for _ in range(300):
        throttle = min(1.0, max(0.0, 0.5 * (18.0 - car.vx) + 0.1))
        car.go(0.01, dt=2.5e-3, steer=0.075, throttle=throttle)
    rates = car.trace(1.0, lambda c: c.yaw_rate, 2.5e-3, steer=0.075, throttle=throttle if last is None else last)
    return float(rates.max()), abs(car.body_slip_deg)


@pytest.mark.parametrize("preset", ["sedan", "sports"])
@pytest.mark.parametrize("level", DYNAMIC)
def test_lift_off_tightens_the_bend_and_power_turns_the_tail_out(level: str, preset: str) -> None:
    held, slip = cornering(level, preset, None, **UNAIDED)
    assert cornering(level, preset, 0.0, **UNAIDED)[0] > 1.05 * held
    powered = cornering(level, preset, 1.0, **UNAIDED)[1]
    strong = 10.0 if level in SPUN else 5.0  # wheels of level 2 do not spin: they keep the peak of friction
    assert powered > slip + (strong if preset == "sports" else 1.0)  # 480 N m in a light car, 300 N m in a heavy one
    if (level, preset) in ((SPUN[0], "sedan"), (SPUN[1], "sedan")):
        assert cornering(level, preset, 1.0)[1] < powered - 0.5  # its controllers keep the tail in


def test_the_report_balances_forces_and_moments() -> None:
    for level in SPUN:
        car = Car(level, 18.0, preset="sedan").go(3.0, steer=0.05, throttle=0.3)
        r = car.report(steer=0.05, throttle=0.3)
        left, right = (tan(car.steer) / (1.0 - side * 0.6 * 0.5 * 1.55 / 2.7 * tan(car.steer)) for side in (1, -1))
        angles = {"fl": atan(left), "fr": atan(right), "rl": 0.0, "rr": 0.0}
        forces = {w: (getattr(r, f"force_x_{w}"), getattr(r, f"force_y_{w}")) for w in angles}
        forward = sum(fx * cos(angles[w]) - fy * sin(angles[w]) for w, (fx, fy) in forces.items())
        sideways = sum(fx * sin(angles[w]) + fy * cos(angles[w]) for w, (fx, fy) in forces.items())
        drag = 0.5 * 1.225 * 0.66 * car.vx**2
        assert forward - drag == pytest.approx(1500.0 * car.ax, abs=30.0)
        assert sideways == pytest.approx(1500.0 * car.ay, rel=5e-3)
        assert r.drive_torque_rl == pytest.approx(0.5 * (0.3 * 1500.0 - 0.7 * 40.0 * 5.0), rel=1e-6)
        assert r.steering_wheel == pytest.approx(15.0 * car.steer)
        for w in angles:
            load = getattr(r, f"load_{w}")
            grip = 1.0 if w in ("fl", "fr") else 1.05
            assert getattr(r, f"mu_{w}") == pytest.approx(grip)
            assert getattr(r, f"mu_peak_{w}") == pytest.approx(grip * (1.0 - 0.15 * (load - 4000.0) / 4000.0), rel=1e-9)
            assert getattr(r, f"mu_peak_x_{w}") == pytest.approx(getattr(r, f"mu_peak_{w}"))
            assert abs(getattr(r, f"slip_angle_{w}")) < getattr(r, f"alpha_peak_{w}")


@pytest.mark.parametrize("level", SPUN)
@pytest.mark.parametrize("preset", ["sedan", "driverless"])
def test_wild_driving_stays_finite_and_bounded(level: str, preset: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        car = Car(level, float(rng.uniform(-10.0, 50.0)), preset=preset)
        for _ in range(40):
            pedals = {"throttle": rng.uniform(), "brake": rng.uniform() * rng.integers(0, 2)}
            others = {"gear": float(rng.integers(-1, 2)), "handbrake": float(rng.integers(0, 4) == 0)}
            car.go(0.25, dt=5e-3, steer=rng.uniform(-0.7, 0.7), **pedals, **others)
            assert np.isfinite(car.rows).all()
            assert np.hypot(car.vx, car.vy) < 100.0
            assert abs(car.yaw_rate) < 15.0
            assert abs(getattr(car.state, "roll", 0.0)) < 0.5 * pi
