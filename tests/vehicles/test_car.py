"""Car models against independent numbers."""

from math import atan, cos, hypot, pi, sin, tan
from typing import Any

import numpy as np
import pytest
from one_car import Car
from scipy.integrate import solve_ivp

from paddock.vehicles.model import Desire, find_model, model_names
from paddock.vehicles.parts.car import Command, Parameters, axle_loads

LEVELS = ("car.kinematic", "car.bicycle")
G = 9.80665
NO_AIR: dict[str, float] = {"drag_coefficient": 0.0, "lift_front": 0.0, "lift_rear": 0.0}
FREE = {**NO_AIR, "rolling_resistance": 0.0}


def stiffness(p: Parameters) -> tuple[float, float]:
    """Cornering stiffness of the axles, N/rad: B C D Fz, by hand."""
    base = p.cg_to_front + p.cg_to_rear
    tyres = (0.5 * p.mass * G * p.cg_to_rear / base, 0.5 * p.mass * G * p.cg_to_front / base)
    mu = [p.tyre_mu * (1.0 - p.tyre_load_sensitivity * (f - p.tyre_load) / p.tyre_load) for f in tyres]
    front, rear = (2.0 * p.tyre_b_lat * p.tyre_c_lat * p.tyre_d_lat * m * f for m, f in zip(mu, tyres, strict=True))
    return front, rear


def test_both_levels_are_found_and_take_the_same_commands_and_parameters() -> None:
    assert set(LEVELS) <= set(model_names())
    first, two = map(find_model, LEVELS)
    assert first.command is two.command
    assert first.parameters is two.parameters
    assert first.state._fields[:4] == two.state._fields[:4] == ("x", "y", "z", "yaw")  # type: ignore[attr-defined]
    assert first.telemetry[:2] == two.telemetry[:2] == ("steer", "wheel_speed")


@pytest.mark.parametrize("sensitivity", [0.0, 0.15, 0.5])
@pytest.mark.parametrize("speed", [5.0, 15.0, 30.0])
def test_steady_yaw_rate_of_the_linear_bicycle(speed: float, sensitivity: float) -> None:
    car = Car("car.bicycle", speed, tyre_load_sensitivity=sensitivity, **FREE)
    front, rear = stiffness(car.p)
    base, delta = 2.7, 1e-3
    gradient = car.p.mass / base * (car.p.cg_to_rear / front - car.p.cg_to_front / rear)
    car.go(8.0, steer=delta)
    assert car.yaw_rate == pytest.approx(car.vx * delta / (base + gradient * car.vx**2), rel=5e-3)


@pytest.mark.parametrize("level", LEVELS)
def test_coast_down_under_quadratic_drag(level: str) -> None:
    car = Car(level, 40.0, rolling_resistance=0.0).go(30.0)
    k = 0.5 * 1.225 * 0.30 * 2.2 / 1500.0
    assert car.vx == pytest.approx(40.0 / (1.0 + 40.0 * k * 30.0), rel=1e-3)


@pytest.mark.parametrize("level", LEVELS)
def test_head_wind_pushes_a_car_in_neutral_back(level: str) -> None:
    car = Car(level, world={"wind_x": -10.0}, rolling_resistance=0.0).go(1.0)
    assert car.vx == pytest.approx(-0.5 * 1.225 * 0.66 * 100.0 / 1500.0, rel=1e-2)


def test_longitudinal_load_transfer_at_3_36() -> None:
    car = Car("car.bicycle", 30.0, **FREE)
    pedal = 3.36 * 1500.0 * 0.32 / (2.0 * 2000.0)
    car.go(1.0, brake=pedal)
    assert car.ax == pytest.approx(-3.36, rel=1e-3)
    static = axle_loads(0.0, 0.0, 0.0, car.p, car.w)
    braking = axle_loads(car.ax, 0.0, 0.0, car.p, car.w)
    assert braking[0] - static[0] == pytest.approx(1027.0, rel=5e-3)
    assert static[1] - braking[1] == pytest.approx(1027.0, rel=5e-3)
    assert sum(braking) == pytest.approx(1500.0 * G, rel=1e-12)


@pytest.mark.parametrize("gear", [1.0, -1.0])
@pytest.mark.parametrize("steer", [0.02, -0.05])
def test_levels_agree_at_low_speed(gear: float, steer: float) -> None:
    cars = [Car(level, 2.0 * gear, **FREE).go(3.0, steer=steer) for level in LEVELS]
    for car in cars:
        car.rows[:4], car.rows[4] = 0.0, cars[1].vx  # compare from here: only level 2 has to settle into the turn
        car.go(10.0, steer=steer)
    for name in ("x", "y", "yaw", "vx", "yaw_rate"):
        assert getattr(cars[1], name) == pytest.approx(getattr(cars[0], name), rel=5e-3)


@pytest.mark.parametrize("steer", [0.05, -0.3, 0.5])
def test_kinematic_circle_is_exact(steer: float) -> None:
    radius = hypot(1.5, 2.7 / tan(steer))  # of the centre of gravity, 1.5 m ahead of the rear axle
    car = Car("car.kinematic", 6.0, steer_rate_max=1e3, **FREE)
    car.go(0.05, dt=0.05, steer=steer)
    centre = np.array([car.x, car.y]) + _rotated(car.yaw, [-1.5, 2.7 / tan(steer)])
    for _ in range(50):
        car.go(0.05, dt=0.05, steer=steer)
        assert hypot(car.x - centre[0], car.y - centre[1]) == pytest.approx(radius, rel=1e-12)
    slip = atan(1.5 / 2.7 * tan(steer))
    pose = car.model.pose(car.state, car.p)
    assert sin(slip - (np.arctan2(pose.vy, pose.vx) - car.yaw)) == pytest.approx(0.0, abs=1e-12)


def _rotated(yaw: float, vector: list[float]) -> Any:
    return np.array([[cos(yaw), -sin(yaw)], [sin(yaw), cos(yaw)]]) @ vector


@pytest.mark.parametrize("mu", [0.3, 0.8])
@pytest.mark.parametrize("level", LEVELS)
def test_friction_limits_the_braking_distance(level: str, mu: float) -> None:
    car = Car(level, 25.0, {"mu": mu}, tyre_load_sensitivity=0.0, brake_torque=6000.0, **NO_AIR)
    car.go(15.0, brake=1.0)
    assert car.vx == 0.0
    assert car.x == pytest.approx(25.0**2 / (2.0 * mu * G), rel=5e-3)


def test_peak_lateral_acceleration_is_mu_g() -> None:
    car = Car("car.bicycle", 30.0, tyre_load_sensitivity=0.0, cg_height=0.0, **FREE)
    peak = 0.0
    for k in range(800):
        before = car.vy
        car.go(0.01, steer=0.2 * k / 800, throttle=0.35)
        peak = max(peak, (car.vy - before) / 0.01 + car.vx * car.yaw_rate)
    assert peak == pytest.approx(G, rel=0.03)


def test_step_steer_against_an_independent_linear_bicycle() -> None:
    speed, delta = 20.0, 2e-3
    car = Car("car.bicycle", speed, steer_rate_max=1e3, **FREE)
    p, (front, rear) = car.p, stiffness(car.p)

    def rates(_: float, q: Any) -> list[float]:
        v, r, slip_front, slip_rear = q
        pull = [front * slip_front, rear * slip_rear]
        return [
            (pull[0] + pull[1]) / p.mass - speed * r,
            (p.cg_to_front * pull[0] - p.cg_to_rear * pull[1]) / p.inertia_z,
            speed / 0.6 * (delta - (v + p.cg_to_front * r) / speed - slip_front),
            speed / 0.6 * (-(v - p.cg_to_rear * r) / speed - slip_rear),
        ]

    times = np.arange(1, 101) * 0.02
    expected = solve_ivp(rates, (0.0, 2.0), [0.0] * 4, t_eval=times, rtol=1e-10, atol=1e-12).y
    seen = np.array([(c.vy, c.yaw_rate) for c in (car.go(0.02, dt=1e-4, steer=delta) for _ in times)]).T
    for row in (0, 1):
        assert np.abs(seen[row] - expected[row]).max() < 0.01 * np.abs(expected[row]).max()


@pytest.mark.parametrize("level", LEVELS)
def test_top_speed_is_where_power_equals_resistance(level: str) -> None:
    car = Car(level, 50.0, rolling_resistance=0.0).go(300.0, dt=5e-3, throttle=1.0)
    assert car.vx == pytest.approx((110e3 / (0.5 * 1.225 * 0.66)) ** (1 / 3), rel=2e-3)


@pytest.mark.parametrize("level", LEVELS)
def test_launch_follows_engine_torque(level: str) -> None:
    car = Car(level, **FREE).go(2.0, throttle=0.5)
    assert car.vx == pytest.approx(0.5 * 300.0 * 5.0 / 0.32 / 1500.0 * 2.0, rel=1e-6)
    assert car.wheel_speed == pytest.approx(car.vx / 0.32)


@pytest.mark.parametrize("level", LEVELS)
def test_reverse_gear_drives_back_and_turns_the_other_way(level: str) -> None:
    car = Car(level).go(3.0, throttle=0.3, gear=-1.0, steer=0.1)
    assert car.vx < -1.0
    assert car.x < -1.0
    assert car.yaw_rate == pytest.approx(car.vx * tan(0.1) / 2.7, rel=0.02)
    assert Car(level).go(3.0, throttle=1.0, gear=0.0).x == 0.0


def test_handbrake_lets_the_rear_slide_out() -> None:
    gripping = Car("car.bicycle", 15.0).go(1.0, steer=0.05)
    sliding = Car("car.bicycle", 15.0).go(1.0, steer=0.05, handbrake=1.0)
    assert sliding.vy < gripping.vy - 1.0
    assert sliding.yaw_rate > 1.5 * gripping.yaw_rate


def test_on_ice_without_friction_a_turning_car_keeps_its_world_velocity() -> None:
    car = Car("car.bicycle", 15.0, {"mu": 0.0}, **FREE)
    car.put(yaw_rate=1.0)
    car.go(2.0 * pi, dt=1e-3, brake=1.0, throttle=1.0)
    assert hypot(car.x - 15.0 * 6.283, car.y) < 0.05
    assert hypot(car.vx, car.vy) == pytest.approx(15.0, rel=1e-9)


def test_pure_pursuit_circle_passes_exactly_through_the_point() -> None:
    car = Car("car.kinematic", 5.0, steer_rate_max=1e6, **FREE)
    gap = (8.0, 2.0)
    steer = car.model.guide(car.state, Command(), car.p, Desire(*gap, 0.0, hypot(*gap))).steer
    centre = (-1.5, 2.7 / tan(steer))
    assert hypot(gap[0] - centre[0], gap[1] - centre[1]) == pytest.approx(hypot(*centre), rel=1e-12)


def test_speed_control_settles_on_the_wanted_speed() -> None:
    car, command = Car("car.bicycle", 10.0), Command()
    for _ in range(1500):
        command = car.model.guide(car.state, command, car.p, Desire(30.0, 0.0, 0.0, 50.0))
        car.go(0.02, dt=0.01, **command._asdict())
    assert car.vx == pytest.approx(30.0, rel=1e-3)
