"""Reports of cars, against hand calculations."""

from math import atan, cos, sin
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.compute.kernel import kernel
from paddock.compute.threads import limit_threads
from paddock.vehicles.model import Placement, find_model, model_names
from paddock.vehicles.parts.car import Command, Parameters
from paddock.world.columns import Environment, Pose

G = 9.80665
MASS, FRONT, REAR = 1500.0, 1.2, 1.5
LOADS = ("load_fl", "load_fr", "load_rl", "load_rr")
NO_AIR: dict[str, float] = {"drag_coefficient": 0.0, "lift_front": 0.0, "lift_rear": 0.0}
FREE = {**NO_AIR, "rolling_resistance": 0.0}


def driven(level: str, speed: float, seconds: float, inputs: dict[str, float], **more: float) -> tuple[Any, Any, Any]:
    """The state, the report and the pose of a car after driving with constant commands; world as by default."""
    model, p, w, u = find_model(level), Parameters(**more), Environment(), Command(**inputs)
    assert model.report is not None
    state = np.array(model.place(Placement(0.0, 0.0, 0.0, 0.0, speed), p, w), dtype=float).reshape(-1, 1)
    columns = np.array(u, dtype=float).reshape(-1, 1)
    kernel(model.step_spec())(1, round(seconds / 1e-3), state, columns, np.array(p), np.array(w), 1e-3)
    s = model.state(*state[:, 0].tolist())
    return s, model.report(s, u, p, w), model.pose(s, p)


def test_only_cars_have_a_report() -> None:
    reporting = [name for name in model_names() if find_model(name).report_columns]
    assert reporting == ["car.bicycle", "car.double_track", "car.full", "car.kinematic"]
    assert find_model("quad").report_spec() is None
    assert find_model("car.kinematic").report_columns == ("ax", "ay")


def test_static_axle_loads_follow_from_mass_and_centre_of_gravity() -> None:
    _, report, _ = driven("car.bicycle", 0.0, 0.5, {})
    front = MASS * G * REAR / (FRONT + REAR)
    assert report.load_fl == report.load_fr == pytest.approx(0.5 * front, rel=1e-12)
    assert report.load_rl == report.load_rr == pytest.approx(0.5 * (MASS * G - front), rel=1e-12)
    assert (report.ax, report.ay) == (0.0, 0.0)
    assert (report.force_x_front, report.force_y_front, report.force_x_rear, report.force_y_rear) == (0.0,) * 4


@pytest.mark.parametrize("lift", [(0.05, 0.05), (1.2, 1.5), (-0.1, 0.2)])
def test_loads_add_up_to_weight_and_down_force(lift: tuple[float, float]) -> None:
    parameters = {"lift_front": lift[0], "lift_rear": lift[1]}
    state, report, _ = driven("car.bicycle", 40.0, 1.0, {"throttle": 0.7, "steer": 0.01}, **parameters)
    down = 0.5 * 1.225 * 2.2 * state.vx**2 * sum(lift)
    assert sum(getattr(report, name) for name in LOADS) == pytest.approx(MASS * G + down, rel=1e-12)


def test_braking_moves_load_to_the_front() -> None:
    pedal = 3.36 * MASS * 0.32 / (2.0 * 2000.0)
    _, report, _ = driven("car.bicycle", 30.0, 1.0, {"brake": pedal}, **FREE)
    static = 0.5 * MASS * G * REAR / (FRONT + REAR)
    assert report.ax == pytest.approx(-3.36, rel=1e-3)
    assert 2.0 * (report.load_fl - static) == pytest.approx(MASS * 3.36 * 0.55 / (FRONT + REAR), rel=2e-3)
    total = pedal * 2.0 * 2000.0 / 0.32
    assert report.force_x_front == pytest.approx(-0.62 * total, rel=1e-9)
    assert report.force_x_rear == pytest.approx(-0.38 * total, rel=1e-9)


@pytest.mark.parametrize("steer", [0.005, -0.01])
@pytest.mark.parametrize("speed", [3.0, 15.0, 20.0])
def test_steady_cornering(speed: float, steer: float) -> None:
    state, report, pose = driven("car.bicycle", speed, 4.0, {"steer": steer}, **FREE)
    assert report.ay == pytest.approx(state.vx * state.yaw_rate, rel=2e-3)
    # no yaw acceleration: the lateral forces of the axles balance about the centre of gravity
    lateral_front = report.force_y_front * cos(steer) + report.force_x_front * sin(steer)
    assert lateral_front * FRONT == pytest.approx(report.force_y_rear * REAR, rel=2e-3)
    assert lateral_front + report.force_y_rear == pytest.approx(MASS * report.ay, rel=1e-9)
    # slip angles from the motion of the contacts over the ground
    front = steer - atan((state.vy + FRONT * pose.wz) / state.vx)
    rear = -atan((state.vy - REAR * pose.wz) / state.vx)
    assert report.slip_angle_front == pytest.approx(front, rel=5e-3)
    assert report.slip_angle_rear == pytest.approx(rear, rel=5e-3)


def test_forces_along_the_car_are_its_acceleration() -> None:
    steer = 0.03
    state, report, _ = driven("car.bicycle", 20.0, 3.0, {"steer": steer, "throttle": 0.4}, drive_front=0.5)
    along = report.force_x_front * cos(steer) - report.force_y_front * sin(steer) + report.force_x_rear
    drag = 0.5 * 1.225 * 0.30 * 2.2 * state.vx * (state.vx**2 + state.vy**2) ** 0.5
    assert (along - drag) / MASS == pytest.approx(report.ax, rel=1e-3)


def test_forces_of_the_report_are_those_of_the_next_step() -> None:
    model, p, w = find_model("car.bicycle"), Parameters(), Environment()
    state, report, _ = driven("car.bicycle", 12.0, 0.4, {"steer": 0.2, "throttle": 0.5})
    dt = 1e-7
    after = model.step(state, Command(steer=0.2, throttle=0.5), p, w, dt)
    left = (after.vy - state.vy) / dt + state.vx * state.yaw_rate
    turn = (after.yaw_rate - state.yaw_rate) / dt * p.inertia_z
    lateral_front = report.force_y_front * cos(state.steer) + report.force_x_front * sin(state.steer)
    assert report.ay == pytest.approx(left, rel=1e-4)
    # the more loaded front wheel has the larger part of the side force, half a track beside the centre
    share = (report.load_fr - report.load_fl) / (report.load_fr + report.load_fl)
    outer = report.force_y_front * sin(state.steer) * share * 0.5 * p.track_front
    # and the loaded wheels roll with more resistance
    outer += p.rolling_resistance * 0.5 * p.track_front * (report.load_fr - report.load_fl)
    outer += p.rolling_resistance * 0.5 * p.track_rear * (report.load_rr - report.load_rl)
    assert lateral_front * FRONT - report.force_y_rear * REAR - outer == pytest.approx(turn, rel=1e-3)


def test_a_standing_car_holds_against_the_wind_with_its_brakes() -> None:
    model, p, w = find_model("car.bicycle"), Parameters(), Environment(wind_x=-20.0)
    assert model.report is not None
    standing = model.place(Placement(0.0, 0.0, 0.0, 0.0, 0.0), p, w)
    report = model.report(standing, Command(brake=1.0), p, w)
    wind = 0.5 * 1.225 * 0.30 * 2.2 * 20.0**2
    assert report.force_x_front + report.force_x_rear == pytest.approx(wind, rel=1e-9)
    rolling = model.report(standing, Command(), p, w)  # rolling resistance alone suffices too
    assert rolling.force_x_front + rolling.force_x_rear == pytest.approx(wind, rel=1e-9)


def test_kinematic_car_reports_its_accelerations() -> None:
    state, report, pose = driven("car.kinematic", 10.0, 2.0, {"steer": 0.1, "throttle": 0.2}, **FREE)
    assert report.ay == pytest.approx(state.vx * pose.wz, rel=1e-12)
    assert report.ax == pytest.approx(0.2 * 300.0 * 5.0 / 0.32 / MASS, rel=1e-12)
    held = driven("car.kinematic", 0.0, 0.1, {"brake": 1.0, "throttle": 0.1})[1]
    assert held.ax == 0.0


def test_snapshots_carry_the_report_after_the_telemetry() -> None:
    entry = {"name": "red", "model": "car.bicycle", "speed": 15, "count": 3, "spawn": {"grid": {"spacing": 10}}}
    entry["spread"] = {"mass": 0.1, "wheel_radius": 0.2}  # as in the tests of VDS1, for the same kernels
    with paddock.load({"vehicles": [entry, {"name": "quad", "model": "quad"}]}) as sim:
        sim.command("red", steer=0.03)
        sim.step(500)
        red = sim.snapshot().fleet("red")
        telemetry = ("steer", "wheel_speed", "slip_front", "slip_rear")  # without those of a battery
        assert red.columns[: len(Pose._fields) + 6] == (*Pose._fields, *telemetry, "ax", "ay")
        masses = [sim.vehicles.inspect(f"red[{k}]")["parameters"]["mass"] for k in range(3)]
        assert len(set(masses)) == 3
        loads = sum(red[name] for name in LOADS)
        ux = np.array([sim.vehicles.inspect(f"red[{k}]")["state"]["vx"] for k in range(3)])
        lift = sim.vehicles.inspect("red[0]")["parameters"]
        down = 0.5 * 1.225 * lift["frontal_area"] * (lift["lift_front"] + lift["lift_rear"]) * ux**2
        np.testing.assert_allclose(loads, np.array(masses) * G + down, rtol=1e-9)
        assert "load_fl" not in sim.snapshot().fleet("quad").columns


def test_wide_reports_are_in_snapshots_of_small_fleets() -> None:
    entry = {"name": "red", "model": "car.double_track", "speed": 15}
    crowd = {**entry, "count": 1001, "spawn": {"grid": {"spacing": 10}}}
    limit_threads(1)  # the kernels of a single car
    with paddock.load({"vehicles": [entry, {**crowd, "name": "crowd"}]}) as sim:
        sim.step(10)
        single, many = sim.snapshot().fleet("red"), sim.snapshot().fleet("crowd")
        assert {"mu_peak_fl", "alpha_peak_rr", "kappa_peak_rl", "pitch", "brake_torque_fr"} <= set(single.columns)
        assert sum(float(single[name][0]) for name in LOADS) == pytest.approx(MASS * G, rel=0.01)
        assert "load_fl" not in many.columns
        np.testing.assert_array_equal(many.velocity, np.repeat(single.velocity, 1001, axis=0))
