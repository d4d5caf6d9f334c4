"""Controllers against other solvers, and against the behaviour that follows from their equations."""

from __future__ import annotations

from collections.abc import Callable
from math import atan, pi
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm, solve_discrete_are

Example = Callable[[str], ModuleType]


def straight(example: Example, speed: float = 10.0) -> object:
    points = np.column_stack([np.arange(0.0, 200.0), np.zeros(200)])
    return example("line").line_of(points, speed=speed)


def ring(example: Example, radius: float, speed: float) -> object:
    angle = np.linspace(0.0, 2.0 * pi, 400, endpoint=False)
    return example("line").line_of(radius * np.column_stack([np.cos(angle), np.sin(angle)]), closed=True, speed=speed)


@pytest.mark.parametrize("speed", [3.0, 10.0, 25.0])
def test_riccati_agrees_with_scipy(example: Example, speed: float) -> None:
    lqr, car = example("lqr"), example("car").Car()
    a, b = lqr.error_model(car, speed, 0.025)
    q, r = np.diag(lqr.WEIGHTS), np.array([[lqr.EFFORT]])
    p = solve_discrete_are(a, b, q, r)
    assert lqr.riccati(a, b, q, r) == pytest.approx(p, rel=1e-8, abs=1e-8)
    gain = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
    assert lqr.gain(a, b, q, r) == pytest.approx(gain, rel=1e-8)
    assert np.abs(np.linalg.eigvals(a - b @ gain)).max() < 1.0


@given(st.integers(0, 10_000))
def test_riccati_of_random_systems(seed: int) -> None:
    import lqr

    draw = np.random.default_rng(seed)
    a, b = draw.normal(size=(3, 3)), draw.normal(size=(3, 2))
    q, r = np.eye(3), 0.5 * np.eye(2)
    assert lqr.riccati(a, b, q, r) == pytest.approx(solve_discrete_are(a, b, q, r), rel=1e-6, abs=1e-6)


def test_error_model_moves_like_the_single_track_model(example: Example) -> None:
    """Beside a straight line, the errors are the motion of the car itself."""
    lqr, car_file = example("lqr"), example("car")
    car = car_file.Car()
    a, b = lqr.error_model(car, 12.0, 0.001)
    state, m = np.array([0.3, 0.0, 0.0, 0.0]), car_file.Motion(0.0, 0.3, 0.0, 12.0, steer=0.02)
    for _ in range(500):
        state = a @ state + b[:, 0] * 0.02
        m = car.moved(m, 0.02, 0.0, 0.001)
    assert m.yaw == pytest.approx(state[2], rel=0.01)
    assert m.y == pytest.approx(state[0], rel=0.02)  # sin(yaw) ~ yaw


def test_steady_turn_of_the_single_track_model(example: Example) -> None:
    car_file = example("car")
    car, m = car_file.Car(), car_file.Motion(0.0, 0.0, 0.0, 10.0)
    for _ in range(400):
        m = car.moved(m, 0.05, 0.0, 0.01)
    front, rear = car.axle_stiffness(10.0)
    understeer = 178.0 / 1.44 * (0.72 / front - 0.72 / rear)
    assert m.yaw_rate == pytest.approx(10.0 * 0.05 / (1.44 + understeer * 100.0), rel=1e-3)  # v delta / (L + K v^2)
    assert car.bend_steer(m.yaw_rate / 10.0, 10.0) == pytest.approx(0.05, rel=1e-3)
    assert car.side_speed(10.0, m.yaw_rate) == pytest.approx(m.vy, rel=1e-2)


def test_pedals_give_the_wanted_acceleration(example: Example) -> None:
    car = example("car").Car()
    throttle, brake = car.pedals(3.0, 10.0)
    drag = 0.5 * 1.225 * 1.1 * 100.0 + 0.015 * (178.0 * 9.80665 + 0.5 * 1.225 * 3.7 * 100.0)
    assert brake == 0.0
    assert throttle * (2850.0 + 178.0) - 178.0 - drag == pytest.approx(178.0 * 3.0, rel=1e-6)
    throttle, brake = car.pedals(-8.0, 10.0)
    assert throttle == 0.0
    assert brake * 2912.0 + 178.0 + drag == pytest.approx(178.0 * 8.0, rel=1e-6)


def test_pure_pursuit_steers_on_the_circle(example: Example) -> None:
    """With its rear axle on a circle and along it, the car has to steer for exactly that circle: atan(L / R)."""
    pursuit, car_file = example("pure_pursuit"), example("car")
    car, radius = car_file.Car(rear_grip=1.0, lift_front=0.0, lift_rear=0.0), 20.0  # neutral: no understeer
    m = car_file.Motion(radius, car.rear, pi / 2, 5.0)
    assert pursuit.steer(ring(example, radius, 5.0), m, car) == pytest.approx(atan(1.44 / radius), rel=0.02)


@pytest.mark.parametrize("name", ["pure_pursuit", "stanley", "lqr"])
@pytest.mark.parametrize("speed", [3.0, 8.0, 16.0])
def test_controllers_return_to_the_line(example: Example, name: str, speed: float) -> None:
    """From 0.8 m beside it, through the dead time of the steering, without overshooting far."""
    car_file, line = example("car"), straight(example)
    car = car_file.Car()
    follow = example("lqr").Lqr(car).steer if name == "lqr" else lambda w, m: example(name).steer(w, m, car)
    m, sent, offsets = car_file.Motion(5.0, 0.8, 0.0, speed), [0.0] * 4, []
    for _ in range(int(4.0 / 0.025)):
        steer = follow(line, car.after_dead_time(m, sent, 0.0, 0.025))
        m = car.moved(m, sent[-2], 0.0, 0.025)  # what was sent 50 ms ago acts now
        sent.append(steer)
        offsets.append(m.y)
    assert min(offsets) > -0.25
    assert abs(offsets[-1]) < 0.1
    assert abs(m.yaw) < 0.03


def test_dead_time_prediction_is_exact_for_its_own_model(example: Example) -> None:
    car_file = example("car")
    car, m = car_file.Car(), car_file.Motion(0.0, 0.0, 0.1, 12.0, 0.1, 0.3, 0.02)
    sent = [9.9, 0.03, 0.05]
    two = car.moved(car.moved(m, 0.03, 1.0, 0.025), 0.05, 1.0, 0.025)
    assert car.after_dead_time(m, sent, 1.0, 0.025) == two


def mpc_matrices(example: Example, mpc: object, speed: float) -> tuple[np.ndarray, np.ndarray]:
    zero = np.zeros(mpc.n)
    a, b, g = mpc.model(np.full(mpc.n, speed), zero, (zero, zero))
    assert np.abs(g).max() < 1e-12
    return a[0], b[0]


def test_mpc_model_is_the_single_track_model(example: Example) -> None:
    mpc_file, car = example("mpc"), example("car").Car()
    mpc = mpc_file.Mpc(car, horizon=3, dt=0.005)
    a, b = mpc_matrices(example, mpc, 10.0)
    front, rear = car.axle_stiffness(10.0)
    flow = np.zeros((8, 8))  # offset, heading, side speed, yaw rate, speed, steering, two inputs
    flow[0, [1, 2]] = 10.0, 1.0
    flow[1, 3] = flow[5, 6] = flow[4, 7] = 1.0
    flow[2, 2:4] = -(front + rear) / 1780.0, (0.72 * rear - 0.72 * front) / 1780.0 - 10.0
    flow[3, 2:4] = (0.72 * rear - 0.72 * front) / 1110.0, -(0.72**2) * (front + rear) / 1110.0
    flow[2, 5], flow[3, 5] = front / 178.0, 0.72 * front / 111.0
    exact = expm(0.005 * flow)
    assert a == pytest.approx(exact[:6, :6], abs=2e-3)
    assert b == pytest.approx(exact[:6, 6:], abs=2e-4)


def test_unconstrained_mpc_is_lqr(example: Example) -> None:
    """With the cost to go of LQR behind its horizon and no limit in reach, MPC is LQR."""
    mpc_file, car_file = example("mpc"), example("car")
    car, line = car_file.Car(), straight(example, 10.0)
    plain = mpc_file.Mpc(car, horizon=12)
    a, b = mpc_matrices(example, plain, 10.0)
    weights = mpc_file.Weights(states=(4.0, 1.0, 0.1, 0.05, 0.4, 0.1))
    q, r = np.diag(weights.states), np.diag(weights.inputs)
    p = solve_discrete_are(a, b, q, r)
    gain = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
    mpc = mpc_file.Mpc(car, horizon=12, weights=weights._replace(terminal=p))
    mpc.solver.update_settings(eps_abs=1e-9, eps_rel=1e-9, max_iter=20000)
    for m in (
        car_file.Motion(50.0, 0.05, 0.0, 10.0),
        car_file.Motion(50.0, -0.03, 0.01, 10.0, 0.02, -0.03, 0.005),
        car_file.Motion(50.0, 0.0, 0.0, 9.9),
    ):
        mpc.plan = None
        answer = mpc.step(line, m)
        state = np.array([m.y, m.yaw, m.vy, m.yaw_rate, m.vx - 10.0, m.steer])
        assert answer == pytest.approx(tuple(-gain @ state), rel=0.02, abs=2e-4)


def test_mpc_keeps_its_limits(example: Example) -> None:
    mpc_file, car_file = example("mpc"), example("car")
    car, line = car_file.Car(), ring(example, 6.0, 30.0)
    mpc = mpc_file.Mpc(car)
    for offset in (-1.5, 0.0, 1.5):
        mpc.plan = None
        mpc.step(line, car_file.Motion(6.0 + offset, 0.0, pi / 2 + 0.3, 8.0))
        assert np.abs(mpc.inputs[:, 0]).max() <= car.steer_rate + 0.02
        assert np.abs(mpc.plan[:, 5]).max() <= car.steer_max + 0.01
        assert mpc.inputs[:, 1].max() <= car.pull(8.0) + 0.1


def test_mpc_follows_a_circle(example: Example) -> None:
    mpc_file, car_file = example("mpc"), example("car")
    car, line = car_file.Car(), ring(example, 15.0, 9.0)
    mpc = mpc_file.Mpc(car)
    m, sent, near = car_file.Motion(15.4, 0.0, pi / 2, 8.0), [0.0] * 4, None
    offsets = []
    for _ in range(160):
        then = car.after_dead_time(m, sent, 0.0, 0.025)
        turn, pull = mpc.step(line, then, near)
        m = car.moved(m, sent[-2], pull, 0.025)
        sent.append(then.steer + 0.025 * turn)
        near, offset = line.closest(m.x, m.y, near)
        offsets.append(offset)
    assert np.abs(offsets[80:]).max() < 0.06
    assert m.vx == pytest.approx(9.0, abs=0.2)
    assert mpc.failures == 0 and mpc.iterations <= 100
