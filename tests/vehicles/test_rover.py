"""The differential-drive rover against closed-form motion."""

import math
from dataclasses import replace

import numpy as np
import pytest

from paddock.compute.kernel import kernel
from paddock.compute.math import wrap_angle
from paddock.vehicles.model import Desire, Placement
from paddock.vehicles.models.rover import (
    MODEL,
    Command,
    Parameters,
    State,
    energy,
    guide,
    place,
    pose,
    ramp,
    sine_ratio,
    step,
)
from paddock.world.columns import Environment

P, W = Parameters(), Environment()


def start(speed: float = 0.0, yaw: float = 0.0, p: Parameters = P, w: Environment = W) -> State:
    return place(Placement(0.0, 0.0, 0.0, yaw, speed), p, w)


def drive(state: State, command: Command, seconds: float, dt: float = 0.01, p: Parameters = P) -> State:
    for _ in range(round(seconds / dt)):
        state = step(state, command, p, W, dt)
    return state


def motion(state: State) -> tuple[float, ...]:
    """All columns but the battery's."""
    return state[: State._fields.index("charge")]


def test_defaults_are_the_indoor_robot() -> None:
    assert P[:5] == (0.15, 1.0, 2.0, 1.0, 4.0)


def test_stands_still_exactly() -> None:
    state = start(yaw=0.7)
    assert motion(drive(state, Command(), 1.0)) == motion(state)


def test_stops_exactly_at_zero() -> None:
    state = drive(start(0.83), Command(turn_rate=1.3), 1.0)
    stopped = drive(state, Command(), 2.0)
    assert (stopped.speed, stopped.turn_rate, stopped.wheel_left, stopped.wheel_right) == (0.0, 0.0, 0.0, 0.0)
    assert motion(drive(stopped, Command(), 1.0)) == motion(stopped)


@pytest.mark.parametrize("dt", [0.1, 0.03, 0.001])
def test_straight_ramp_is_exact_at_any_dt(dt: float) -> None:
    ticks = round(1.5 / dt)
    state = drive(start(), Command(speed=0.8), 1.5, dt)
    ramp_time = 0.8 / P.acceleration_max
    assert state.speed == pytest.approx(0.8, abs=1e-12)
    assert state.x == pytest.approx(0.8 * (ticks * dt) - 0.5 * 0.8 * ramp_time, abs=1e-12)
    assert state.y == 0.0


def test_steady_arc_is_exact_at_the_longest_tick() -> None:
    state = State(0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.425, 0.575, 1.0, 12.6, 0.0)
    after = drive(state, Command(0.5, 1.0), 3.0, MODEL.dt_max)
    assert after.x == pytest.approx(0.5 * math.sin(3.0), abs=1e-12)
    assert after.y == pytest.approx(0.5 * (1.0 - math.cos(3.0)), abs=1e-12)
    assert after.yaw == pytest.approx(3.0, abs=1e-12)


def test_second_order_while_it_speeds_up_in_a_turn() -> None:
    ends = [drive(start(0.2), Command(0.6, 1.8), 0.4, 0.1 / k) for k in (1, 2, 4, 256)]
    errors = [math.hypot(e.x - ends[-1].x, e.y - ends[-1].y) for e in ends[:3]]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_saturated_wheel_keeps_the_turn() -> None:
    state = drive(start(1.0), Command(speed=5.0, turn_rate=2.0), 3.0)
    assert state.turn_rate == pytest.approx(2.0, abs=1e-12)
    assert state.wheel_right == pytest.approx(P.speed_max, abs=1e-12)
    assert state.speed == pytest.approx(1.0 - 2.0 * 0.075, abs=1e-12)


def test_wide_rover_turns_no_faster_than_its_wheels_allow() -> None:
    wide = P._replace(wheel_base=2.0)
    state = drive(start(p=wide), Command(speed=1.0, turn_rate=2.0), 5.0, p=wide)
    assert state.turn_rate == pytest.approx(1.0, abs=1e-12)
    assert state.wheel_left == pytest.approx(-1.0, abs=1e-12)
    assert state.wheel_right == pytest.approx(1.0, abs=1e-12)
    assert state.speed == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "p", [P, P._replace(wheel_base=1.0, turn_acceleration_max=50.0), P._replace(turn_rate_max=20.0)]
)
def test_limits_hold_under_random_commands(p: Parameters) -> None:
    random = np.random.default_rng(1)
    n, dt = 50, 0.05
    state = np.repeat(np.array(start())[:, None], n, axis=1)
    for _ in range(200):
        before = state.copy()
        command = random.uniform(-3.0, 3.0, (2, n))
        kernel(replace(MODEL, name="rover").step_spec())(n, 1, state, command, np.array(p), np.array(W), dt)
        s, old = State(*state), State(*before)
        assert np.abs(s.wheel_left).max() <= p.speed_max + 1e-12
        assert np.abs(s.wheel_right).max() <= p.speed_max + 1e-12
        assert np.abs(s.turn_rate).max() <= p.turn_rate_max + 1e-12
        assert np.abs(s.speed - old.speed).max() <= p.acceleration_max * dt + 1e-12
        assert np.abs(s.turn_rate - old.turn_rate).max() <= p.turn_acceleration_max * dt + 1e-12
        np.testing.assert_allclose(s.wheel_right - s.wheel_left, p.wheel_base * s.turn_rate, atol=1e-12)


def test_sits_on_the_ground() -> None:
    hill = Environment(ground_z=12.5)
    state = start(w=hill)
    assert state.z == 12.5
    assert step(state, Command(1.0, 1.0), P, hill, 0.01).z == 12.5


def test_pose_shows_velocity_and_turn_rate() -> None:
    shown = pose(start(0.5, yaw=math.pi / 2)._replace(turn_rate=0.4), P)
    assert (shown.vx, shown.vy, shown.wz) == (pytest.approx(0.0, abs=1e-15), pytest.approx(0.5), 0.4)
    assert (shown.qz, shown.qw) == (pytest.approx(math.sqrt(0.5)), pytest.approx(math.sqrt(0.5)))


def test_energy_is_kinetic() -> None:
    assert energy(start(0.6), P, W) == pytest.approx(0.18)
    spinning = start()._replace(wheel_left=-0.15, wheel_right=0.15)
    assert energy(spinning, P, W) == pytest.approx(0.5 * 0.15**2)


def test_guide_turns_on_the_spot_before_it_drives_back() -> None:
    command = guide(start(), Command(), P, Desire(-0.5, 0.0, 0.0, 5.0))
    assert command.speed == 0.0
    assert abs(command.turn_rate) == P.turn_rate_max
    assert guide(start(yaw=1.0), Command(), P, Desire(0.0, 0.0, 0.0, 0.0)) == (0.0, 0.0)


def test_guided_heading_settles() -> None:
    state = start()
    desire = Desire(0.5 * math.cos(2.5), 0.5 * math.sin(2.5), 0.0, 5.0)
    for _ in range(600):
        state = step(state, guide(state, Command(), P, desire), P, W, 0.01)
    assert wrap_angle(state.yaw - 2.5) == pytest.approx(0.0, abs=1e-3)
    assert state.speed == pytest.approx(0.5, abs=1e-3)


def test_ramp_gives_its_exact_mean() -> None:
    assert ramp(0.0, 1.0, 0.5) == (0.5, 0.25)
    assert ramp(0.0, 0.25, 0.5) == (0.25, 0.1875)  # half the tick rising, half of it at the target
    assert ramp(1.0, 1.0, 0.5) == (1.0, 1.0)


def test_sine_ratio_is_smooth_through_zero() -> None:
    for x in (0.0, 1e-9, 9.99e-4, 1.001e-3, 0.5, -0.5, 3.0):
        exact = math.sin(x) / x if x else 1.0
        assert sine_ratio(x) == pytest.approx(exact, abs=4e-16)
