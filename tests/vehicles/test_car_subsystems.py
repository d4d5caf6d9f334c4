"""Subsystems of cars: dead times, steering, drivetrain, differentials, brakes, controllers, and their replacement."""

from math import radians, tan
from typing import Any

import numpy as np
import pytest
from one_car import Car

import paddock
from paddock.compute.kernel import kernel
from paddock.errors import PaddockError
from paddock.vehicles.model import PartFunction, find_model
from paddock.vehicles.parts.car import Command, Parameters
from paddock.vehicles.parts.car_subsystems import (
    DriveLine,
    Gearbox,
    Rack,
    SteerLine,
    Wheels,
    brakes,
    drive_delayed,
    drivetrain,
    map_share,
    rack,
    roll_share,
    shifted,
    stability_control,
    steer_delayed,
    suspension,
    wheel_tilts,
)
from paddock.vehicles.parts.tyre import brush_tyre, magic_tyre

LEVEL = "car.double_track"


@pytest.mark.parametrize("dt", [1e-3, 2.5e-3, 0.01])
def test_a_ramp_arrives_after_the_dead_time(dt: float) -> None:
    steer, drive = SteerLine(*[0.0] * 8), DriveLine(*[0.0] * 5)
    for k in range(1, 200):
        steer, turned = steer_delayed(steer, 0.3 * k * dt, 0.05, dt)
        drive, torque = drive_delayed(drive, 0.2 * k * dt, 0.02, dt)
        if k * dt > 0.15:
            assert turned == pytest.approx(0.3 * (k * dt - 0.05), abs=1e-9)
            assert torque == pytest.approx(0.2 * (k * dt - 0.02), abs=1e-9)


def test_a_step_arrives_after_the_dead_time_of_the_driverless_car() -> None:
    for level in ("car.kinematic", "car.bicycle", LEVEL, "car.full"):
        car = Car(level, 10.0, preset="driverless", steer_rate_max=1e3)
        angles = np.array([car.go(1e-3, steer=0.1).steer for _ in range(80)])
        half = 1e-3 * (1 + int(np.argmax(angles > 0.05)))
        assert half == pytest.approx(0.05, abs=0.05 / 6.0)  # one sample of the line
        assert (angles[:40] == 0.0).all()
        assert angles[60:] == pytest.approx(0.1)
        car = Car(level, 10.0, preset="driverless", rolling_resistance=0.0)
        speeds = np.array([car.go(1e-3, throttle=1.0).vx for _ in range(40)])
        assert (np.diff(speeds)[:11] <= 0.0).all()  # nothing before the dead time of 20 ms, less a sample
        assert np.diff(speeds)[30] > 0.0


def test_rack_is_an_oscillator_with_a_limited_rate() -> None:
    p = Parameters(steer_frequency=30.0, steer_damping=0.5, steer_rate_max=100.0)
    state, angles = Rack(0.0, 0.0), []
    for _ in range(4000):
        state = rack(state, 0.1, p, 1e-4)
        angles.append(state.angle)
    assert max(angles) / 0.1 == pytest.approx(1.163, abs=0.01)  # exp(-pi 0.5 / sqrt(1 - 0.25)) overshoot
    assert 1e-4 * int(np.argmax(angles)) == pytest.approx(np.pi / (30.0 * 0.75**0.5), rel=0.02)
    slow = rack(Rack(0.0, 0.0), 0.4, Parameters(steer_rate_max=0.5), 0.01)
    assert slow == (0.005, 0.5)


def test_ackermann_points_both_wheels_at_one_centre() -> None:
    left, right = wheel_tilts(tan(0.3), Parameters(ackermann=1.0))
    assert 2.7 / right - 2.7 / left == pytest.approx(1.55)  # cotangents differ by the track
    assert wheel_tilts(tan(0.3), Parameters(ackermann=0.0)) == (tan(0.3), tan(0.3))


def test_open_locked_and_limited_slip_differentials() -> None:
    turn = {"steer": 0.2, "throttle": 0.12}
    opened = Car(LEVEL, 4.0).go(2.0, **turn)
    locked = Car(LEVEL, 4.0, diff_preload=1e5).go(2.0, **turn)
    limited = Car(LEVEL, 4.0, diff_preload=40.0, diff_locking=0.1).go(2.0, **turn)
    rolling = opened.yaw_rate * 1.55 / 0.32
    assert opened.spin_rr - opened.spin_rl == pytest.approx(rolling, rel=0.03)
    assert locked.spin_rr == pytest.approx(locked.spin_rl, rel=1e-4)
    assert 0.0 < limited.spin_rr - limited.spin_rl <= rolling
    assert locked.yaw_rate / locked.vx < opened.yaw_rate / opened.vx  # a locked axle resists the turn
    torque = 40.0 + 0.1 * 0.12 * 1500.0  # twice the difference of the wheels' torques
    report = limited.report(**turn)
    assert abs(report.force_x_rl - report.force_x_rr) * 0.32 <= 2.0 * torque * 1.05


def test_drive_splits_between_the_axles() -> None:
    car = Car(LEVEL, 10.0, drive_front=0.4, rolling_resistance=0.0).go(0.5, throttle=0.5)
    report, spinning = car.report(throttle=0.5), car.ax / 0.32**2  # N: what accelerates a wheel of 1 kg m2
    assert report.drive_torque_fl / report.drive_torque_rl == pytest.approx(0.4 / 0.6)
    assert 2.0 * (report.drive_torque_fl + report.drive_torque_rl) == pytest.approx(0.5 * 300.0 * 5.0)
    front, rear = 0.4 * 0.5 * 1500.0 / 0.32, 0.6 * 0.5 * 1500.0 / 0.32
    assert report.force_x_fl == pytest.approx(0.5 * front - spinning, rel=0.01)
    assert report.force_x_rl == pytest.approx(0.5 * rear - spinning, rel=0.01)


GEARS = {
    "gears": 4.0, "gear_1": 3.0, "gear_2": 1.9, "gear_3": 1.3, "gear_4": 1.0, "final_drive": 4.0,
    "engine_torque": 200.0, "engine_speed_max": 650.0, "shift_up": 600.0, "shift_down": 250.0,
    "torque_map_0": 0.5, "torque_map_1": 0.8, "torque_map_2": 1.0, "torque_map_3": 0.9, "torque_map_4": 0.6,
}  # fmt: skip


def test_torque_map_and_gears_by_hand() -> None:
    p = Parameters(**GEARS)
    assert map_share(325.0, p) == 1.0
    assert map_share(650.0 * 0.125, p) == pytest.approx(0.65)
    assert map_share(651.0, p) == 0.0
    wheel = 325.0 / (4.0 * 1.9)
    drive = drivetrain(1.0, 1.0, wheel, wheel, Gearbox(2.0, 0.0), 1.0, p)
    assert drive.rear == pytest.approx(200.0 * 4.0 * 1.9)
    assert drive.power == pytest.approx(200.0 * 325.0)
    assert drivetrain(1.0, 1.0, wheel, wheel, Gearbox(2.0, 0.1), 1.0, p).rear == 0.0  # shifting


def test_automatic_shifts_follow_the_engine_speed() -> None:
    box, p = Gearbox(1.0, 0.0), Parameters(**GEARS)
    assert shifted(box, 49.0, p, 1e-3) == box
    assert shifted(box, 51.0, p, 1e-3) == (2.0, 0.2)  # 51 x 4 x 3 = 612 rad/s
    assert shifted(Gearbox(2.0, 0.1), 100.0, p, 1e-3).gear == 2.0  # not before the last shift has ended
    assert shifted(Gearbox(2.0, 0.0), 30.0, p, 1e-3).gear == 1.0
    car = Car(LEVEL, **GEARS)
    gears = car.trace(12.0, lambda c: c.gear_engaged, throttle=1.0)
    assert sorted(set(gears)) == [1.0, 2.0, 3.0]
    assert (np.diff(gears) >= 0.0).all()
    car.go(10.0, brake=0.6)
    assert (car.vx, car.gear_engaged) == (0.0, 1.0)


def test_regeneration_charges_the_battery() -> None:
    parameters = {"capacity": 10000.0, "cells": 100.0, "engine_brake": 60.0, "efficiency": 0.9}
    cars = [Car(LEVEL, 25.0, regeneration=share, **parameters) for share in (0.0, 0.7)]
    for car in cars:
        car.rows[car.model.state._fields.index("charge")] = 0.5  # type: ignore[attr-defined]
    lost = [750.0 * (25.0**2 - car.go(3.0).vx ** 2) for car in cars]
    assert lost[0] == pytest.approx(lost[1])
    assert cars[0].charge == 0.5
    gained = (cars[1].charge - 0.5) * 10.0 * 3600.0 * cars[1].voltage  # J, of 10 Ah
    braked = 60.0 * 5.0 / 0.32 * (cars[1].x)  # J of engine braking
    assert gained == pytest.approx(0.7 * braked, rel=0.05)
    assert cars[1].current < 0.0


def test_brakes_by_load_and_slip() -> None:
    u, loads, none = Command(brake=1.0), Wheels(5000.0, 5000.0, 2000.0, 2000.0), Wheels(0.0, 0.0, 0.0, 0.0)
    plain = brakes(u, loads, none, 30.0, Parameters())
    assert plain == pytest.approx((1240.0, 1240.0, 760.0, 760.0))
    limited = brakes(u, loads, none, 30.0, Parameters(ebd=1.0))
    assert limited.rl == pytest.approx(1240.0 * 2000.0 / 5000.0)
    slips = Wheels(-0.05, -0.15, -0.2, -0.4)
    held = brakes(u, loads, slips, 30.0, Parameters(abs_slip=0.1))
    assert held == pytest.approx((1240.0, 620.0, 0.0, 0.0))
    assert brakes(Command(handbrake=1.0), loads, slips, 30.0, Parameters(abs_slip=0.1)).rr == 2000.0


@pytest.mark.parametrize("level", [LEVEL, "car.full"])
def test_abs_keeps_the_wheels_turning_and_the_car_steerable(level: str) -> None:
    parameters = {"brake_torque": 6000.0, "ebd": 1.0}
    cars = [Car(level, 30.0, abs_slip=slip, **parameters) for slip in (0.0, 0.1)]
    locked, turning = (car.go(1.5, brake=1.0, steer=0.08) for car in cars)
    assert locked.spin_fl == 0.0
    assert 0.75 < turning.spin_fl * 0.32 / turning.vx < 0.95
    assert abs(locked.yaw) < 0.3 * abs(turning.yaw)
    distance = Car(level, 30.0, abs_slip=0.1, **parameters).go(8.0, brake=1.0).x
    assert distance == pytest.approx(30.0**2 / (2.0 * 9.80665), rel=0.08)  # nearly all of friction 1


def test_traction_control_holds_the_slip() -> None:
    strong = {"engine_torque": 1500.0, "power_max": 500e3}
    spinning = Car(LEVEL, **strong).go(2.0, throttle=1.0)
    held = Car(LEVEL, traction_slip=0.1, **strong).go(2.0, throttle=1.0)
    assert spinning.spin_rl * 0.32 > 2.0 * spinning.vx
    assert 1.0 < held.spin_rl * 0.32 / held.vx < 1.25
    assert held.vx > 0.9 * spinning.vx  # this tyre loses little beyond its peak


def test_stability_control_catches_a_slide() -> None:
    torques = stability_control(0.05, 20.0, 1.0, 1.0, Parameters(stability_gain=1000.0))
    wanted = 20.0 * 0.05 / 2.7
    assert torques == pytest.approx((0.0, 1000.0 * (1.0 - wanted - 0.05), 0.0, 0.0))  # the outer front wheel
    assert stability_control(0.05, 20.0, 1.0, 1.0, Parameters()) == (0.0, 0.0, 0.0, 0.0)

    def largest_slip(gain: float) -> float:
        car = Car(LEVEL, 80.0 / 3.6, preset="sports", grip_rear=0.9, stability_gain=gain)
        return float(car.trace(3.0, lambda c: abs(c.body_slip_deg), 2.5e-3, steer=radians(6.0)).max())

    assert largest_slip(0.0) > 25.0
    assert largest_slip(20e3) < 12.0


def test_suspension_by_hand() -> None:
    p = Parameters(suspension_travel=0.05, bump_stop=1e5)
    assert suspension(0.02, 0.1, 0.01, 30e3, 3000.0, 1e4, p) == pytest.approx(600.0 + 300.0 + 100.0)
    assert suspension(0.06, 0.0, 0.06, 30e3, 3000.0, 1e4, p) == pytest.approx(1800.0 + 1000.0)
    assert suspension(-0.07, 0.0, -0.07, 30e3, 3000.0, 1e4, p) == pytest.approx(-2100.0 - 2000.0)
    assert roll_share(Parameters(roll_bar_front=0.0, roll_bar_rear=0.0)) == 0.5


# replacement


def weak_brakes(u: Command, loads: Wheels, slips: Wheels, speed: float, p: Parameters) -> Wheels:
    torque = 0.1 * u.brake * p.brake_torque
    return Wheels(torque, torque, 0.0 * torque, 0.0 * torque)


def two_arguments(u: Command, loads: Wheels) -> Wheels:
    return loads


def fading_brakes(u: Command, loads: Wheels, slips: Wheels, speed: float, p: Parameters, fade: float = 0.5) -> Wheels:
    torque = (1.0 - fade) * u.brake * p.brake_torque
    return Wheels(torque, torque, 0.0 * torque, 0.0 * torque)


def unfinished(u: Command, loads: Wheels, slips: Wheels, speed: float, p: Parameters, fade: float) -> Wheels:
    return loads


def returns_a_number(u: Command, loads: Wheels, slips: Wheels, speed: float, p: Parameters) -> float:
    return 3.0


def branches(u: Command, loads: Wheels, slips: Wheels, speed: float, p: Parameters) -> Wheels:
    if u.brake > 0.5:
        return loads
    return slips


def first_gear(box: Gearbox, speed: float, p: Parameters, dt: float) -> Gearbox:
    return Gearbox(1.0 + 0.0 * speed, 0.0 * speed)


def parallel(angle_tangent: float, p: Parameters) -> tuple[float, float]:
    return angle_tangent, angle_tangent


def test_a_function_of_ones_own_replaces_a_subsystem() -> None:
    model, p, w = find_model(LEVEL), *(Car(LEVEL).p, Car(LEVEL).w)
    other = model.fitted({"brake": weak_brakes, "tyre": "brush"})
    assert other.name == LEVEL
    assert model.fitted({"brake": weak_brakes, "tyre": "brush"}).step is other.step  # kernels are shared
    state = Car(LEVEL, 20.0).state
    before = state
    for _ in range(100):
        state = other.step(state, Command(brake=1.0), p, w, 2e-3)
    slowed = (20.0 - state.vx) / 0.2
    assert slowed == pytest.approx((2.0 * 200.0 / 0.32 + 0.015 * 1500.0 * 9.80665 + 130.0) / 1539.0, rel=0.1)
    assert other.report is not None
    report = other.report(before, Command(brake=1.0), p, w)
    assert (report.brake_torque_fl - report.brake_torque_rl) == pytest.approx(200.0 + 0.015 * 0.32 * 817.0, rel=0.02)
    assert report.alpha_peak_fl == pytest.approx(np.arctan(3.0 / (8.0 * 1.3)))
    assert magic_tyre(0.0, 0.05, 4000.0, 1.0, p) != brush_tyre(0.0, 0.05, 4000.0, 1.0, p)


def test_a_function_has_parameters_of_its_own() -> None:
    model, p, w = find_model(LEVEL), Parameters(), Car(LEVEL).w

    def braking(choice: Any) -> float:
        fitted = model.fitted({"brake": choice})
        assert fitted.report is not None
        state = Car(LEVEL, 20.0).state
        for _ in range(20):
            state = fitted.step(state, Command(brake=1.0), p, w, 2e-3)
        report = fitted.report(state, Command(brake=1.0), p, w)
        return float(report.brake_torque_fl - 0.015 * 0.32 * report.load_fl)

    path = f"{__name__}.fading_brakes"
    assert braking(path) == pytest.approx(0.5 * 2000.0)
    assert braking(PartFunction(path, {"fade": 0.9})) == pytest.approx(0.1 * 2000.0)
    first, two = (model.fitted({"brake": PartFunction(path, {"fade": 0.9})}) for _ in range(2))
    assert first.step is two.step  # kernels are shared
    choice = {"function": path, "parameters": {"fade": 0.9}}
    entry = {"name": "red", "model": LEVEL, "subsystems": {"brake": choice}}
    with paddock.load({"vehicles": [entry]}) as sim:
        assert sim.engine.programs["red"].model.step is first.step
        assert sim.engine.programs["red"].settings.entry["subsystems"] == {"brake": choice}


def test_gearbox_and_ackermann_are_replaceable() -> None:
    model = find_model(LEVEL).fitted({"gearbox": first_gear, "ackermann": parallel})
    state, p, w = Car(LEVEL, 30.0, **GEARS).state, Parameters(**GEARS), Car(LEVEL).w
    for _ in range(10):
        state = model.step(state, Command(throttle=0.1), p, w, 2e-3)
    assert state.gear_engaged == 1.0  # 30 m/s are 1125 rad/s in first gear
    assert find_model(LEVEL).step(Car(LEVEL, 30.0).state, Command(), p, w, 2e-3).gear_engaged == 2.0


def test_errors_of_a_subsystem_name_the_users_function() -> None:
    model, here = find_model(LEVEL), __file__.rpartition("/")[2]
    for function, problem in (
        (
            returns_a_number,
            "returns_a_number() must return Wheels(fl, fr, rl, rr) as brake of car.double_track, not 3.0",
        ),
        (branches, "branches() branches (if, and, or, a loop): choose with select(condition, a, b)"),
        (unfinished, "must take (u, loads, slips, speed, p); further arguments need defaults"),
    ):
        with pytest.raises(PaddockError) as caught:
            model.fitted({"brake": function})
        assert problem in str(caught.value)
        assert function is unfinished or f"{here}:{function.__code__.co_firstlineno}"[:-1] in str(caught.value)
    with pytest.raises(PaddockError, match=r"unknown parameter 'fad' of fading_brakes\(\); did you mean 'fade'"):
        model.fitted({"brake": PartFunction(f"{__name__}.fading_brakes", {"fad": 0.1})})


def test_an_entry_names_its_subsystems() -> None:
    entry = {"name": "red", "model": LEVEL, "subsystems": {"tyre": "magic_formula"}}
    with paddock.load({"vehicles": [entry]}) as sim:
        assert sim.engine.programs["red"].model.step is find_model(LEVEL).step
    problems = {
        "tyre: brsh": "unknown tyre 'brsh' of car.double_track; did you mean 'brush'?",
        "brak: x": "unknown subsystem 'brak' of car.double_track; did you mean 'brake'?",
        "brake: no_such.thing": "brake of car.double_track 'no_such.thing': there is no module 'no_such'",
        f"brake: {__name__}.two_arguments": "two_arguments(u, loads) must take (u, loads, slips, speed, p)",
        f"brake: {__name__}.missing": "has no function missing()",
    }
    for text, problem in problems.items():
        part, _, choice = text.partition(": ")
        with pytest.raises(PaddockError) as caught:
            paddock.load({"vehicles": [{**entry, "subsystems": {part: choice}}]})
        assert problem in str(caught.value)
        assert str(caught.value).startswith(f"vehicles[0].subsystems.{part}: ")


@pytest.mark.parametrize(
    ("name", "value"),
    [("mass", -1.0), ("track_front", 0.0), ("cg_to_front", -0.2), ("unsprung_rear", 0.0), ("tyre_c_long", 3.0)],
)
def test_impossible_parameters_name_key_and_range(name: str, value: float) -> None:
    heavy = {"name": "red", "model": "car.full", "parameters": {"unsprung_front": 700.0}}
    with pytest.raises(PaddockError, match=r"parameters.unsprung_front: .* less than 0.9 of mass, 1350 kg, not 1480"):
        paddock.load({"vehicles": [heavy]})
    entry = {"name": "red", "model": "car.full", "parameters": {name: value}}
    with pytest.raises(PaddockError, match=rf"{name}: parameter '{name}' of car.full must lie in .* to .*, not"):
        paddock.load({"vehicles": [entry]})


@pytest.mark.slow
def test_the_kernel_of_a_replaced_subsystem_equals_plain_python() -> None:
    model = find_model(LEVEL).fitted({"brake": weak_brakes, "tyre": "brush"})
    car = Car(LEVEL, 20.0)
    state, car.model = car.state, model
    car.go(0.5, steer=0.1, brake=0.8)
    for _ in range(500):
        state = model.step(state, Command(steer=0.1, brake=0.8), car.p, car.w, 1e-3)
    assert car.state == state


@pytest.mark.parametrize("preset", ["sedan", pytest.param("buggy", marks=pytest.mark.slow)])
def test_kernels_without_spare_parts_give_the_same_bits(preset: str) -> None:
    """No dead times, and no battery in the sedan: their columns keep the values of the start."""
    car = Car("car.bicycle", 12.0, preset=preset)
    generic, lean = car.model.step_spec(), car.model.step_spec(parameters=car.p)
    assert "steer_clock" in lean.unchanged and ("charge" in lean.unchanged) == (preset == "sedan")
    assert not car.model.step_spec(("capacity", "steer_dead_time"), parameters=car.p).unchanged
    commands = np.array([[0.1, -0.03], [0.6, 0.0], [0.0, 0.4], [1.0, 1.0], [0.0, 0.0]])
    rows = [np.repeat(car.rows, 2, axis=1) for _ in range(2)]
    for spec, state in zip((generic, lean), rows, strict=True):
        kernel(spec)(2, 2000, state, commands, np.array(car.p), np.array(car.w), 1e-3)
    assert rows[0].tobytes() == rows[1].tobytes()
    assert (rows[0][0] != car.rows[0]).all()
