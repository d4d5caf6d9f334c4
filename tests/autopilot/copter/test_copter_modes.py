"""The piloted modes, CIRCLE and LAND."""

from __future__ import annotations

from math import asin, degrees
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.rc import Sticks
from paddock.autopilot.telemetry import Landed
from paddock.autopilot.vehicle_data import Floats

STABILIZE, ALT_HOLD, GUIDED, LOITER, CIRCLE, LAND = 0, 2, 4, 5, 7, 9


def held(craft: Any, seconds: float, **sticks: float) -> Floats:
    """Fly with the sticks held."""
    logs = []
    for _ in range(round(seconds / 0.1)):
        craft.autopilot.rc.manual(Sticks(**{"throttle": 0.5, **sticks}))
        logs.append(craft.run(0.1))
    return np.vstack(logs)


def lean(craft: Any) -> tuple[float, float]:
    """Roll and pitch, deg."""
    w, x, y, z = craft.attitude
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    return degrees(roll), degrees(asin(2.0 * (w * y - z * x)))


@pytest.fixture
def flying(rig: Any) -> Any:
    """An iris, ten metres up, in a mode with sticks in their middle."""

    def made(mode: int, **parameters: float) -> Any:
        craft = rig("iris", **parameters)
        craft.take_off(10.0)
        craft.autopilot.rc.manual(Sticks(throttle=0.5))
        assert craft.autopilot.set_mode(mode).accepted
        return craft

    return made


def test_loiter_moves_by_the_sticks_and_brakes(flying: Any) -> None:
    craft = flying(LOITER, LOIT_SPEED=800)
    log = held(craft, 6.0, pitch=-0.525)  # half of the range beyond the dead band, forward
    assert log[-1, 4:7] == pytest.approx([4.0, 0.0, 0.0], abs=0.2)
    log = held(craft, 6.0)
    assert 2.0 < craft.state.y - log[0, 1] < 8.0  # 4 m/s at 2.5 m/s2, with soft ends
    assert np.abs(log[-250:, 4:7]).max() < 0.1
    log = held(craft, 5.0, roll=-0.525)
    assert log[-1, 5] == pytest.approx(-4.0, abs=0.2)  # to the left is west


def test_loiter_climbs_by_the_throttle_and_turns_by_the_yaw_stick(flying: Any) -> None:
    craft = flying(LOITER)
    log = held(craft, 3.0, throttle=1.0)
    assert log[-1, 6] == pytest.approx(2.5, abs=0.1)
    log = held(craft, 3.0, yaw=1.0)
    turned = np.unwrap(log[:, 7])
    assert turned[-1] - turned[-251] == pytest.approx(np.pi / 2.0, abs=0.05)  # 90 deg/s clockwise
    assert np.abs(log[-250:, 6]).max() < 0.1


def test_loiter_holds_the_position_without_rc(rig: Any) -> None:
    craft = rig("iris", wind=(2.0, 0.0))
    craft.take_off(10.0)
    assert craft.autopilot.set_mode(LOITER).accepted
    log = craft.run(10.0)
    assert np.abs(log[:, 3] - 10.0).max() < 0.2
    assert np.hypot(log[:, 1], log[:, 2]).max() < 0.3


def test_alt_hold_leans_and_holds_altitude(flying: Any) -> None:
    craft = flying(ALT_HOLD)
    log = held(craft, 2.0, roll=0.5, pitch=0.0)
    assert lean(craft) == pytest.approx((15.0, 0.0), abs=1.0)
    assert log[-1, 5] > 2.0  # to the right is east
    assert np.abs(log[:, 3] - 10.0).max() < 0.3
    held(craft, 1.5)
    assert lean(craft) == pytest.approx((0.0, 0.0), abs=1.0)


def test_the_lean_is_limited_also_across_the_corner(flying: Any) -> None:
    craft = flying(ALT_HOLD, ANGLE_MAX=2000)
    held(craft, 1.5, roll=1.0, pitch=1.0)
    roll, pitch = lean(craft)
    assert np.hypot(roll, pitch) == pytest.approx(20.0, abs=1.5)


def test_stabilize_gives_angles_and_thrust(flying: Any) -> None:
    craft = flying(STABILIZE)
    log = held(craft, 2.0)
    assert np.abs(log[:, 6]).max() < 0.2  # the middle carries the weight
    log = held(craft, 1.0, throttle=0.6, pitch=0.5)
    assert lean(craft)[1] == pytest.approx(15.0, abs=1.0)
    assert log[-1, 6] > 0.5


def test_a_pilot_takes_off_and_lands_in_loiter(rig: Any) -> None:
    craft = rig("iris", DISARM_DELAY=2)
    craft.ready()
    craft.autopilot.rc.manual(Sticks(throttle=0.5))
    craft.autopilot.set_mode(LOITER)
    log = held(craft, 6.0, throttle=0.9)
    assert log[-1, 3] > 2.0 and craft.autopilot.telemetry.landed == Landed.IN_AIR
    held(craft, 2.0)
    held(craft, 25.0, throttle=0.3)
    assert craft.state.z < 0.02
    assert not craft.autopilot.armed


@pytest.mark.slow
def test_circle_flies_around_a_point_ahead_and_faces_it(flying: Any) -> None:
    craft = flying(CIRCLE, CIRCLE_RADIUS=800, CIRCLE_RATE=-20)
    held(craft, 6.0)
    log = held(craft, 18.0)  # one turn
    north, east = log[:, 1] - 8.0, log[:, 2]
    assert np.hypot(north, east) == pytest.approx(8.0, abs=0.4)
    swept = np.unwrap(np.arctan2(east, north))
    assert swept[-1] - swept[0] == pytest.approx(-2.0 * np.pi, abs=0.1)
    off = np.angle(np.exp(1j * (np.arctan2(-east, -north) - log[:, 7])))
    assert np.abs(off).max() < np.radians(5.0)
    assert np.abs(log[:, 3] - 10.0).max() < 0.2


@pytest.mark.slow
def test_land_is_fast_first_and_slow_near_the_ground(flying: Any) -> None:
    craft = flying(LAND, LAND_ALT_LOW=400, LAND_SPEED=40, LAND_SPEED_HIGH=200)
    log = craft.run(40.0, lambda: not craft.autopilot.armed)
    assert not craft.autopilot.armed
    assert log[:, 6].min() == pytest.approx(-2.0, abs=0.2)
    near = log[(log[:, 3] > 0.1) & (log[:, 3] < 2.0)]
    assert near[:, 6] == pytest.approx(-0.4, abs=0.15)
    assert craft.distance(0.0, 0.0) < 0.2


def test_land_without_a_position_descends_level(rig: Any) -> None:
    craft = rig("iris", noisy=True, LAND_ALT_LOW=300)
    craft.take_off(6.0)
    craft.blind = True
    log = craft.run(40.0, lambda: not craft.autopilot.armed)
    assert craft.autopilot.mode.number == LAND
    assert not craft.autopilot.armed and craft.state.z < 0.02
    assert -log[log[:, 3] > 0.01][-1, 6] < 1.0
    assert np.hypot(log[:, 4], log[:, 5]).max() < 3.0  # it drifts, but does not run away


def test_auto_without_a_mission_is_refused(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(3.0)
    answer = craft.autopilot.set_mode(3)
    assert not answer.accepted and "no mission" in answer.text
    assert craft.autopilot.mode.number == GUIDED
