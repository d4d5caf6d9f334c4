"""The point mass against closed-form motion."""

import math

import pytest

from paddock.vehicles.model import Desire, Placement
from paddock.vehicles.models.point import Command, Parameters, State, energy, guide, place, pose, step
from paddock.world.columns import Environment

P, W = Parameters(), Environment()


def start(speed: float = 0.0, yaw: float = 0.0, z: float = 10.0) -> State:
    return place(Placement(0.0, 0.0, z, yaw, speed), P, W)


def move(state: State, command: Command, seconds: float, dt: float = 0.01) -> State:
    for _ in range(round(seconds / dt)):
        state = step(state, command, P, W, dt)
    return state


def test_defaults_are_those_of_a_formation() -> None:
    assert P == (10.0, 5.0)


def test_accelerates_at_its_limit_then_holds_the_velocity() -> None:
    rising = move(start(), Command(vx=8.0), 1.0)
    assert (rising.vx, rising.x) == (pytest.approx(5.0), pytest.approx(2.5))
    there = move(start(), Command(vx=8.0), 3.0)
    assert (there.vx, there.x) == (pytest.approx(8.0), pytest.approx(8.0 * 3.0 - 0.5 * 8.0 * 1.6, abs=1e-3))


def test_speed_is_limited_and_keeps_its_direction() -> None:
    state = move(start(), Command(30.0, 40.0, 0.0), 5.0)
    assert (state.vx, state.vy) == (pytest.approx(6.0), pytest.approx(8.0))
    assert state.yaw == pytest.approx(math.atan2(4.0, 3.0))


def test_rests_exactly_and_keeps_its_heading() -> None:
    state = start(yaw=1.0)
    assert move(state, Command(), 1.0) == state


def test_stops_exactly() -> None:
    state = move(start(7.0, yaw=0.5), Command(), 3.0)
    assert (state.vx, state.vy, state.vz) == (0.0, 0.0, 0.0)
    assert math.hypot(state.x, state.y) == pytest.approx(7.0**2 / (2.0 * 5.0), abs=0.01)


def test_never_below_the_ground() -> None:
    assert move(start(z=1.0), Command(vz=-5.0), 3.0).z == 0.0


def test_place_pose_guide_and_energy() -> None:
    state = start(4.0, yaw=math.pi / 2)
    shown = pose(state, P)
    assert (shown.vx, shown.vy) == (pytest.approx(0.0, abs=1e-15), pytest.approx(4.0))
    assert shown.qz == pytest.approx(math.sqrt(0.5))
    assert guide(state, Command(), P, Desire(1.0, 2.0, 3.0, 9.0)) == (1.0, 2.0, 3.0)
    assert energy(state, P, W) == pytest.approx(8.0)
