"""POSHOLD and SMART_RTL of copters."""

from __future__ import annotations

from math import asin, degrees
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.estimate import Ned
from paddock.autopilot.rc import Sticks
from paddock.autopilot.telemetry import StatusText
from paddock.autopilot.vehicle_data import Floats
from paddock.autopilot.vehicle_types import ReturnPath

GUIDED, RTL, POSHOLD, SMART_RTL = 4, 6, 16, 21


def held(craft: Any, seconds: float, **sticks: float) -> Floats:
    """Fly with the sticks held."""
    logs = []
    for _ in range(round(seconds / 0.1)):
        craft.autopilot.rc.manual(Sticks(**{"throttle": 0.5, **sticks}))
        logs.append(craft.run(0.1))
    return np.vstack(logs)


def pitch(craft: Any) -> float:
    """Deg, + nose up."""
    w, x, y, z = craft.attitude
    return degrees(asin(2.0 * (w * y - z * x)))


def test_poshold_leans_by_the_stick_then_brakes_and_holds(rig: Any) -> None:
    craft = rig("iris", PHLD_BRAKE_RATE=12)
    craft.take_off(10.0)
    craft.autopilot.rc.manual(Sticks(throttle=0.5))
    assert craft.autopilot.set_mode(POSHOLD).accepted
    held(craft, 2.0, pitch=-0.5)
    assert pitch(craft) == pytest.approx(-15.0, abs=1.0)  # half of ANGLE_MAX, as in ALT_HOLD
    fast = craft.state.vy
    assert fast > 3.0
    turning, leans = [], []
    for _ in range(80):
        turning.append(craft.state.vy)
        held(craft, 0.1)
        leans.append(pitch(craft))
    # braking leans back at 12 deg/s at most, once the nose is level again
    back = [lean for lean in leans if lean > 0.0]
    assert 8.0 < max(back) < 31.0
    assert max(np.diff(leans[8:16])) < 12.0 * 0.1 + 0.6
    log = held(craft, 6.0)
    assert np.ptp(log[-500:, 1]) < 0.1 and np.abs(log[-500:, 4]).max() < 0.1
    assert np.abs(log[:, 3] - 10.0).max() < 0.4


def test_poshold_comes_to_rest_without_flying_backwards(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(10.0)
    craft.autopilot.rc.manual(Sticks(throttle=0.5))
    assert craft.autopilot.set_mode(POSHOLD).accepted
    held(craft, 4.0, pitch=-0.4)
    assert craft.state.vy > 5.0
    log = held(craft, 6.0)
    assert log[:, 4].min() > -0.15 and craft.state.vy == pytest.approx(0.0, abs=0.02)
    assert np.ptp(held(craft, 4.0)[:, 1]) < 0.05


def test_poshold_brakes_no_harder_than_its_angle_and_holds_against_wind(rig: Any) -> None:
    craft = rig("iris", wind=(4.0, 0.0), PHLD_BRAKE_ANGLE=2000, ANGLE_MAX=3000)
    craft.take_off(10.0)
    craft.autopilot.rc.manual(Sticks(throttle=0.5))
    assert craft.autopilot.set_mode(POSHOLD).accepted
    log = held(craft, 10.0)
    calm = pitch(craft)  # a tail wind: it leans back, nose up
    assert calm > 0.5 and np.hypot(log[-1, 1] - log[-500, 1], log[-1, 2] - log[-500, 2]) < 0.2
    held(craft, 3.0, pitch=-0.6)
    leans = []
    for _ in range(60):
        held(craft, 0.1)
        leans.append(pitch(craft))
    assert max(leans) < 20.0 + calm + 1.5
    log = held(craft, 5.0)
    assert np.ptp(log[-500:, 1]) < 0.3
    assert pitch(craft) == pytest.approx(calm, abs=0.7)


def test_poshold_brakes_a_copter_that_enters_it_in_motion(rig: Any) -> None:
    craft = rig("iris", PHLD_BRAKE_RATE=8)
    craft.take_off(10.0)
    position = craft.autopilot.frame.to_geodetic(60.0, 0.0, 0.0)
    assert craft.autopilot.command(192, (-1.0, 0.0, 0.0, float("nan"), *position[:2], 10.0)).accepted
    craft.run(30.0, lambda: craft.state.vy > 6.0)
    assert craft.autopilot.set_mode(POSHOLD).accepted
    leans = []
    for _ in range(100):
        craft.run(0.1)
        leans.append(pitch(craft))
    assert 5.0 < max(leans) <= 31.0 and abs(craft.state.vy) < 0.1
    rising = np.diff(leans)[5 : int(np.argmax(leans))]
    assert rising.max() < 0.8 + 0.4  # 8 deg/s, after the nose has come up


def test_a_trail_in_three_dimensions_drops_loops_and_straight_points() -> None:
    return_path = ReturnPath[Ned]()
    return_path.begin(50, 2.0, (0.0, 0.0, 0.0))
    for k in range(1, 6):
        return_path.add((0.0, 0.0, -2.0 * k))
    over = [(2.0 * k, 0.0, -10.0) for k in range(1, 16)]
    loop = [(30.0, 2.0 * k, -10.0) for k in range(1, 6)] + [(30.0 - 2.0 * k, 10.0, -10.0) for k in range(1, 8)]
    back = [(16.0, 10.0 - 2.0 * k, -10.0) for k in range(1, 6)]  # comes back to the outward leg
    higher = [(16.0, 0.0, -14.0), (16.0, -4.0, -14.0)]  # above it: not a loop
    for point in [*over, *loop, *back, *higher]:
        return_path.add(point)
    way = return_path.return_points((16.0, -8.0, -14.0))
    assert way == [(16.0, 0.0, -14.0), (16.0, 0.0, -10.0), (0.0, 0.0, -10.0), (0.0, 0.0, 0.0)]


def fly_to(craft: Any, north: float, east: float, height: float) -> None:
    position = craft.autopilot.frame.to_geodetic(north, east, 0.0)
    assert craft.autopilot.command(192, (-1.0, 0.0, 0.0, float("nan"), *position[:2], height)).accepted
    craft.run(30.0, lambda: craft.distance(north, east) < 0.5 and abs(craft.state.z - height) < 0.5)


def test_smart_rtl_counts_one_point(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(3.0)
    assert craft.autopilot.set_mode(SMART_RTL).accepted
    texts = [notice.text for notice in craft.autopilot.outbox if isinstance(notice, StatusText)]
    assert "SmartRTL: 1 point" in texts


def test_smart_rtl_flies_back_around_the_corner_and_lands(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(8.0)
    for position in ((30.0, 0.0, 8.0), (30.0, 10.0, 8.0), (30.0, 0.0, 8.0), (30.0, 25.0, 8.0)):  # with a detour
        fly_to(craft, *position)
    craft.run(1.0)
    assert craft.autopilot.set_mode(SMART_RTL).accepted
    log = craft.run(90.0, lambda: not craft.autopilot.armed)
    assert not craft.autopilot.armed and craft.state.z < 0.02  # on its springs
    assert craft.distance(0.0, 0.0) < 0.6
    # along the two legs, never across: the distance to the nearer leg stays within the accuracy of the path
    north, east = log[:, 1], log[:, 2]
    first = np.hypot(np.maximum(north - 30.0, 0.0) + np.maximum(-north, 0.0), east)
    second = np.hypot(north - 30.0, np.maximum(east - 25.0, 0.0) + np.maximum(-east, 0.0))
    assert np.minimum(first, second).max() < 2.0
    # at the height of the path: RTL would have climbed to RTL_ALT, 15 m
    assert log[:, 3].max() < 9.0
    texts = [notice.text for notice in craft.autopilot.outbox if isinstance(notice, StatusText)]
    assert {"SmartRTL: 3 points", "SmartRTL: 4 points"} & set(texts)  # one more where the corner overshoots


def test_smart_rtl_of_failsafes_falls_back_to_rtl_without_a_path(rig: Any) -> None:
    craft = rig("iris", FS_GCS_ENABLE=3, SRTL_POINTS=0, FS_OPTIONS=0)
    craft.take_off(5.0)
    assert craft.autopilot.set_mode(SMART_RTL).text == "Mode SMART_RTL: no return path"
    craft.autopilot.failsafes.note_gcs_heartbeat(craft.autopilot.now_us)
    craft.run(6.0)
    assert craft.autopilot.mode.number == RTL


def test_a_failsafe_that_names_smart_rtl_uses_it(rig: Any) -> None:
    craft = rig("iris", FS_GCS_ENABLE=3, FS_OPTIONS=0)
    craft.take_off(5.0)
    craft.autopilot.failsafes.note_gcs_heartbeat(craft.autopilot.now_us)
    craft.run(6.0)
    assert craft.autopilot.mode.number == SMART_RTL
