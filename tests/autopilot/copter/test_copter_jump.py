"""The estimate jumps, the copter does not: held positions move with the estimate, map positions stay."""

from __future__ import annotations

from math import hypot
from typing import Any

import numpy as np
import pytest

from paddock.autopilot import kalman
from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.measurements import reset_to_fix
from paddock.autopilot.rc import Sticks
from paddock.autopilot.vehicle_data import Floats

GUIDED, LOITER, CIRCLE, LAND = 4, 5, 7, 9
OFF = 10.0  # m north by which fixes are suddenly elsewhere


def displace(craft: Any, north: float) -> None:
    """From now on fixes say that the copter is so much further north."""
    honest = craft._fix

    def fix(time: float, position: tuple[float, ...], velocity: tuple[float, ...]) -> dict[str, Any]:
        moved = LocalFrame(*position).to_geodetic(north, 0.0, 0.0)
        return dict(honest(time, (moved[0], moved[1], position[2]), velocity))

    craft._fix = fix


def jump_now(craft: Any) -> None:
    """The estimator accepts the displaced fixes immediately, and its position stays valid: the worst case."""
    displace(craft, OFF)
    estimator = craft.autopilot.estimator
    x = estimator.state
    reset_to_fix(x, estimator.covariance, estimator._memory, (x[0] + OFF, x[1], x[2]), tuple(x[3:6]), (0.5, 1.0))
    estimator._memory[kalman.FUSED] = kalman.FIXES_NEEDED


def fastest(log: Floats) -> float:
    """m/s over the ground."""
    return float(np.hypot(log[:, 4], log[:, 5]).max())


@pytest.mark.parametrize("outage", [8.0, pytest.param(16.0, marks=pytest.mark.soak)])
def test_a_landing_continues_straight_down_when_gnss_returns_with_an_offset(rig: Any, outage: float) -> None:
    """After the shorter outage the estimator rejects a few fixes and then jumps, after the longer it accepts them."""
    craft = rig("iris", noisy=True, LAND_SPEED=40.0, LAND_SPEED_HIGH=40.0)
    craft.take_off(12.0)
    craft.blind = True
    assert craft.autopilot.set_mode(LAND).accepted
    craft.run(outage)
    before = craft.autopilot.estimate.north
    displace(craft, OFF - (before - craft.state.y))  # 10 m from the estimate
    craft.blind = False
    drifting = hypot(craft.state.vx, craft.state.vy)
    log = craft.run(6.0)
    assert craft.autopilot.estimate.position_ok and abs(craft.autopilot.estimate.north - before - OFF) < 3.0
    assert fastest(log) < drifting + 0.5
    assert fastest(log[-500:]) < 0.5


@pytest.mark.parametrize(
    "mode", [pytest.param(GUIDED, marks=pytest.mark.soak), LOITER, pytest.param(LAND, marks=pytest.mark.soak)]
)
def test_loiter_is_unaffected_by_a_jump_of_the_estimate(rig: Any, mode: int) -> None:
    craft = rig("iris", noisy=True)
    craft.take_off(12.0)
    craft.autopilot.rc.manual(Sticks(throttle=0.5))
    assert craft.autopilot.set_mode(mode).accepted
    craft.run(2.0)
    before = craft.autopilot.estimate.north
    jump_now(craft)
    log = craft.run(3.0)
    assert abs(craft.autopilot.estimate.north - before - OFF) < 2.0
    assert fastest(log) < 0.5


@pytest.mark.slow
def test_a_circle_keeps_its_place_when_the_estimate_jumps(rig: Any) -> None:
    craft = rig("iris", noisy=True, CIRCLE_RADIUS=500.0, CIRCLE_RATE=20.0)
    craft.take_off(10.0)
    north, east = craft.state.y + 5.0, craft.state.x  # the centre is one radius ahead
    assert craft.autopilot.set_mode(CIRCLE).accepted
    craft.run(6.0)
    jump_now(craft)
    log = craft.run(12.0)
    assert np.hypot(log[:, 1] - north, log[:, 2] - east) == pytest.approx(5.0, abs=1.5)


@pytest.mark.slow
def test_a_guided_target_stays_on_the_map_when_the_estimate_jumps(rig: Any) -> None:
    craft = rig("iris", noisy=True)
    craft.take_off(10.0)
    assert craft.autopilot.set_guided_target(GuidedTarget(position=(0.0, 0.0, -10.0))).accepted
    craft.run(2.0)
    jump_now(craft)
    log = craft.run(12.0)
    assert np.abs(log[:75, 4]).max() < 0.3  # the way begins from rest
    assert np.abs(np.diff(log[::25, 4]) / 0.1).max() < 4.5  # m/s2: WPNAV_ACCEL is 2.5, and it brakes immediately
    assert log[-1, 1] == pytest.approx(-OFF, abs=2.0)
