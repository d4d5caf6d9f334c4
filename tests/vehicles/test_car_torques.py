"""Torques that reach the wheels of a car: through differentials, brakes and the rev limit."""

from math import atan

import numpy as np
import pytest
from one_car import Car

from paddock.scenario.loading import load_preset, preset_names
from paddock.vehicles.parts.tyre import brush_peaks, magic_peaks

SPUN = ("car.double_track", "car.full")
WHEELS = ("fl", "fr", "rl", "rr")
G = 9.80665


def residuals(car: Car, **command: float) -> list[float]:
    """Of each wheel, inertia times the rate of its spin, less the torques that the report gives."""
    before = [getattr(car, f"spin_{w}") for w in WHEELS]
    car.go(1e-3, **command)
    r, rows = car.report(**command), []
    for w, spin in zip(WHEELS, before, strict=True):
        turning = car.p.wheel_inertia * (getattr(car, f"spin_{w}") - spin) / 1e-3
        force = car.p.wheel_radius * getattr(r, f"force_x_{w}")
        rows.append(turning - (getattr(r, f"drive_torque_{w}") - getattr(r, f"brake_torque_{w}") - force))
    return rows


@pytest.mark.parametrize("level", SPUN)
@pytest.mark.parametrize(
    ("preset", "speed", "command"),
    [
        ("formula", 15.0, {"steer": 0.08, "throttle": 0.2}),  # locked
        ("race", 15.0, {"steer": 0.08, "throttle": 0.4}),  # three differentials with limited slip
        ("sedan", 25.0, {"steer": 0.02, "brake": 1.0}),
    ],
)
def test_torques_and_forces_turn_the_wheels(level: str, preset: str, speed: float, command: dict[str, float]) -> None:
    car = Car(level, speed, preset=preset).go(0.8, **command)
    assert np.abs(residuals(car, **command)).max() < 0.5  # N m
    r = car.report(**command)
    if preset == "formula":
        assert car.spin_rl == pytest.approx(car.spin_rr, rel=1e-6)
        assert r.drive_torque_rl - r.drive_torque_rr > 50.0  # the inner wheel drives, the outer one is dragged
        assert r.drive_torque_rl + r.drive_torque_rr == pytest.approx(0.2 * 150.0 * 4.0 - 0.8 * 12.0 * 4.0, rel=0.01)


@pytest.mark.parametrize("level", SPUN)
def test_brakes_give_what_is_needed_of_what_they_could(level: str) -> None:
    standing = Car(level, 0.0).go(0.5, brake=1.0).report(brake=1.0)
    assert [getattr(standing, f"brake_torque_{w}") for w in WHEELS] == [0.0] * 4  # of 1240 and 760 N m
    locked = Car(level, 30.0, brake_torque=20000.0).go(0.6, brake=1.0)
    r = locked.report(brake=1.0)
    for w in WHEELS:  # a wheel that stands needs the torque of its tyre
        assert getattr(r, f"brake_torque_{w}") == pytest.approx(-0.32 * getattr(r, f"force_x_{w}"), rel=1e-6)
    rolling = Car(level, 20.0).go(0.5, brake=0.2).report(brake=0.2)
    assert rolling.brake_torque_fl == pytest.approx(0.2 * 1240.0 + 0.015 * 0.32 * rolling.load_fl, rel=1e-6)


@pytest.mark.parametrize("preset", preset_names("car.full"))
def test_wheels_spin_up_to_the_rev_limit(preset: str) -> None:
    car = Car("car.double_track", 1.0, {"mu": 0.1}, preset=preset, traction_slip=0.0)
    assert car.p.engine_speed_max > 0.0
    ratios = [car.p.gear_1, car.p.gear_2, car.p.gear_3, car.p.gear_4, car.p.gear_5, car.p.gear_6]
    fastest = 0.0
    for _ in range(60):
        car.go(0.1, 2.5e-3, throttle=1.0)
        ratio = ratios[int(car.gear_engaged) - 1] if car.p.gears else 1.0
        driven = car.p.drive_front * car.spin_fl + (1.0 - car.p.drive_front) * car.spin_rl
        fastest = max(fastest, driven * car.p.final_drive * ratio)
    assert fastest < 1.01 * car.p.engine_speed_max
    if preset in ("formula", "race"):
        assert fastest > 0.9 * car.p.engine_speed_max


def test_the_formula_car_carries_its_down_force_where_its_wings_are() -> None:
    car = Car("car.full", 22.0, preset="formula")
    for _ in range(300):
        throttle = min(1.0, max(0.0, 0.5 * (22.0 - car.vx) + 0.2))
        car.go(0.01, throttle=throttle)
    r, p = car.report(throttle=throttle), load_preset("car.full", "formula")
    pressure = 0.5 * 1.225 * p["frontal_area"] * car.vx**2
    base = p["cg_to_front"] + p["cg_to_rear"]
    front = p["mass"] * G * p["cg_to_rear"] / base + pressure * p["lift_front"]
    rear = p["mass"] * G * p["cg_to_front"] / base + pressure * p["lift_rear"]
    shifted = p["mass"] * car.ax * p["cg_height"] / base
    assert r.load_fl + r.load_fr == pytest.approx(front - shifted, rel=0.01)
    assert r.load_rl + r.load_rr == pytest.approx(rear + shifted, rel=0.01)


def test_longitudinal_peaks_by_hand() -> None:
    p = Car("car.double_track", preset="driverless").p  # D 1.6 along, without load sensitivity
    assert magic_peaks(500.0, 0.8, p).mu_long == pytest.approx(0.8 * 1.6)
    sport = Car("car.double_track", preset="sports").p
    grip = 0.9 * (1.0 - 0.12 * (5000.0 - 4000.0) / 4000.0)
    assert magic_peaks(5000.0, 0.9, sport).mu_long == pytest.approx(1.05 * grip)
    assert brush_peaks(5000.0, 0.9, sport).mu_long == pytest.approx(1.05 * grip)
    assert brush_peaks(5000.0, 0.9, sport).alpha == pytest.approx(atan(3.0 / (9.0 * 1.3)))
