"""AUTO: missions driven on three skid-steered rovers and a car."""

from __future__ import annotations

from collections.abc import Callable
from math import degrees
from typing import Any

import pytest

from paddock.autopilot.mission import MissionState
from paddock.autopilot.mission_items import AltitudeFrame, MissionItem

Make = Callable[..., Any]
Way = list[tuple[float, float]]

BENDS = [(0.0, 0.0), (20.0, 0.0), (30.0, 17.0), (30.0, 40.0), (0.0, 40.0), (0.0, 0.0)]
"""Turns by 60, 30, 90 and 90 degrees."""


def drive(yard: Any, way: Way) -> None:
    yard.plan([yard.waypoint(*point) for point in way[1:]])
    yard.begin(10)
    yard.until(lambda: yard.autopilot.mode.number != 10)
    yard.run(3.0)


@pytest.mark.parametrize(
    ("preset", "speed"),
    [
        ("skid", 2.0),
        pytest.param("outdoor", 1.5, marks=pytest.mark.soak),
        pytest.param("indoor", 0.8, marks=pytest.mark.soak),
    ],
)
def test_skid_rovers_follow_the_path_and_stop_at_its_end(skid: Make, preset: str, speed: float) -> None:
    yard = skid(preset, WP_SPEED=speed)
    drive(yard, BENDS)
    assert yard.crosstrack(BENDS) < 0.5
    assert yard.distance((0.0, 0.0)) < 0.15
    assert abs(yard.plant.motion()[3]) < 0.01
    assert yard.reached == yard.currents == [1, 2, 3, 4, 5]
    assert yard.autopilot.mode.name == "HOLD"
    assert max(point[3] for point in yard.track) == pytest.approx(speed, rel=0.2)


@pytest.mark.parametrize(
    "speed", [pytest.param(1.0, marks=pytest.mark.soak), 2.0, pytest.param(4.0, marks=pytest.mark.soak)]
)
def test_a_car_rounds_its_corners(car: Make, speed: float) -> None:
    yard = car(WP_SPEED=speed)
    drive(yard, BENDS)
    assert yard.crosstrack(BENDS) < 0.7
    assert yard.distance((0.0, 0.0)) < 0.2
    assert yard.reached == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("relative", "wanted"), [(0.0, 90.0), (1.0, 90.0)])
def test_a_rover_turns_to_a_heading_at_a_speed(skid: Make, relative: float, wanted: float) -> None:
    """NAV_SET_YAW_SPEED is done within 5 degrees of the heading, as in ArduRover; the next item continues there."""
    yard = skid("skid", WP_SPEED=2.0)
    turn = MissionItem(213, AltitudeFrame.MISSION, p1=90.0, p2=1.0, p3=relative)
    yard.plan([yard.waypoint(5.0, 0.0), turn, MissionItem(93, AltitudeFrame.MISSION, p1=1.0)])
    yard.begin(10)
    yard.until(lambda: yard.autopilot.mode.number != 10)
    assert yard.reached == [1, 2, 3]
    assert degrees(yard.autopilot.estimate.yaw) == pytest.approx(wanted, abs=12.0)
    assert 4.5 < yard.autopilot.estimate.north < 8.0 and 0.0 < yard.autopilot.estimate.east < 3.0


@pytest.mark.parametrize("kind", ["skid", "car"])
def test_a_rover_drives_backwards_after_set_reverse(skid: Make, car: Make, kind: str) -> None:
    yard = skid("skid", WP_SPEED=1.5) if kind == "skid" else car(WP_SPEED=1.5)
    reverse = MissionItem(194, AltitudeFrame.MISSION, p1=1.0)
    yard.plan([yard.waypoint(10.0, 0.0), reverse, yard.waypoint(2.0, 0.0)])
    yard.begin(10)
    yard.until(lambda: yard.autopilot.executor.current == 3 and yard.autopilot.estimate.north < 6.0)
    assert abs(degrees(yard.autopilot.estimate.yaw)) < 10.0  # the nose still points north
    assert yard.autopilot.estimate.vn < -0.5
    yard.until(lambda: yard.autopilot.mode.number != 10)
    assert yard.distance((2.0, 0.0)) < 0.4
    assert abs(degrees(yard.autopilot.estimate.yaw)) < 15.0
    assert not yard.autopilot.mode.driver.reversed  # HOLD: a new mode drives forwards


def test_a_car_that_must_turn_around_does_not_circle_forever(car: Make) -> None:
    """Its smallest circle has a radius of 0.86 m, so it leaves the line by twice that, at least."""
    to_and_fro = [(0.0, 0.0), (15.0, 0.0), (0.0, 0.0), (15.0, 0.0)]
    yard = car(heading=3.0)
    drive(yard, to_and_fro)
    assert yard.reached == [1, 2, 3]
    assert 1.7 < yard.crosstrack(to_and_fro) < 2.5
    assert yard.distance((15.0, 0.0)) < 0.2


def test_waypoints_closer_than_a_turn_are_all_reached(car: Make, skid: Make) -> None:
    close = [(0.0, 0.0), (1.0, 0.0), (1.5, 0.8), (1.2, 1.6), (0.2, 1.5), (0.2, 1.5), (5.0, 5.0)]
    for yard in (car(), skid("indoor", WP_SPEED=0.8)):
        drive(yard, close)
        assert yard.reached == [1, 2, 3, 4, 5, 6]
        assert yard.distance((5.0, 5.0)) < 0.15


def test_a_skid_rover_turns_on_the_spot_at_a_sharp_corner(skid: Make) -> None:
    """From north to south-east, 135 degrees: it stops, turns, and does not leave the corner meanwhile."""
    yard = skid()
    drive(yard, [(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)])
    turning = [(yard_heading, position) for *position, yard_heading, _, rate in yard.track if abs(rate) > 0.2]
    assert max(abs(north - 10.0) + abs(east) for _, (north, east) in turning) < 0.4
    assert degrees(turning[-1][0] - turning[0][0]) == pytest.approx(135.0, abs=10.0)
    assert max(abs(point[4]) for point in yard.track) < 1.1 * 1.047  # WP_PIVOT_RATE is 60 deg/s


def test_without_a_pivot_angle_it_drives_its_turns(skid: Make) -> None:
    yard = skid(WP_PIVOT_ANGLE=0)
    drive(yard, [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)])
    moving = [point for point in yard.track if abs(point[4]) > 0.3]
    assert min(point[3] for point in moving) > 0.3
    assert yard.crosstrack([(0.0, 0.0), (10.0, 0.0), (10.0, 10.0)]) < 0.6


def test_hold_time_and_speed_change(skid: Make) -> None:
    yard = skid()
    speed = MissionItem(178, AltitudeFrame.MISSION, 1.0, 0.8)
    yard.plan([yard.waypoint(10.0, 0.0, p1=4.0), speed, yard.waypoint(20.0, 0.0)])
    yard.begin(10)
    yard.until(lambda: yard.autopilot.executor.current == 3)
    standing = sum(abs(point[3]) < 0.02 for point in yard.track[50:]) * 0.02
    assert standing == pytest.approx(4.0, abs=0.6)
    assert yard.distance((10.0, 0.0)) < 0.15
    yard.track.clear()
    yard.until(lambda: yard.autopilot.mode.number != 10)
    assert max(point[3] for point in yard.track) == pytest.approx(0.8, abs=0.05)
    assert "Mission: 2 ChangeSpeed 0.8 m/s" in yard.texts


def test_loiter_turns_and_return(skid: Make) -> None:
    yard = skid()
    circle = yard.waypoint(20.0, 0.0, 18, p1=1.5, p3=-6.0)
    yard.plan([circle, MissionItem(20, AltitudeFrame.MISSION)])
    yard.begin(10)
    yard.until(lambda: yard.reached == [1])
    lap = yard.track[-round(2 * 3.1416 * 6.0 / 2.0 / 0.02) :]
    radii = [((north - 20.0) ** 2 + east**2) ** 0.5 for north, east, *_ in lap]
    assert min(radii) > 5.8 and max(radii) < 6.2
    assert all(point[4] < 0.0 for point in lap)  # counter-clockwise
    yard.until(lambda: yard.autopilot.mode.number != 10)
    yard.run(2.0)
    assert yard.distance((0.0, 0.0)) < 0.15


def test_jumps_repeat_as_specified(skid: Make) -> None:
    yard = skid()
    jump = MissionItem(177, AltitudeFrame.MISSION, 1.0, 2.0)
    yard.plan([yard.waypoint(5.0, 0.0), yard.waypoint(5.0, 5.0), jump, yard.waypoint(0.0, 0.0)])
    yard.begin(10)
    yard.until(lambda: yard.autopilot.mode.number != 10)
    assert yard.reached == [1, 2, 1, 2, 1, 2, 4]


def test_leaving_auto_pauses_and_entering_resumes(skid: Make) -> None:
    yard = skid()
    yard.plan([yard.waypoint(5.0, 0.0), yard.waypoint(15.0, 0.0), yard.waypoint(15.0, 5.0)])
    yard.begin(10)
    yard.until(lambda: yard.autopilot.executor.current == 2)
    yard.run(1.0)
    yard.enter(4)
    yard.run(2.0)
    assert yard.autopilot.executor.state == MissionState.PAUSED
    assert yard.autopilot.executor.current == 2
    yard.enter(10)
    yard.run(0.1)
    assert yard.currents == [1, 2, 2]
    yard.enter(4)
    yard.autopilot.parameters.set("MIS_RESTART", 1)
    yard.enter(10)
    yard.run(0.1)
    assert yard.currents == [1, 2, 2, 1]


def test_the_current_item_can_be_set_during_the_mission(skid: Make) -> None:
    yard = skid()
    yard.plan([yard.waypoint(5.0, 0.0), yard.waypoint(15.0, 0.0), yard.waypoint(0.0, 5.0)])
    yard.begin(10)
    yard.run(1.0)
    assert yard.autopilot.executor.set_current(3).accepted
    assert not yard.autopilot.executor.set_current(4).accepted
    yard.until(lambda: yard.autopilot.mode.number != 10)
    yard.run(2.0)
    assert yard.reached == [3]
    assert yard.distance((0.0, 5.0)) < 0.15


def test_without_a_mission_auto_is_refused(skid: Make) -> None:
    yard = skid()
    yard.begin()
    assert yard.autopilot.set_mode(10).text == "Mode AUTO: no mission"
    yard.plan([MissionItem(178, AltitudeFrame.MISSION, 1.0, 1.0)])
    assert yard.autopilot.set_mode(10).text == "Mode AUTO: mission has no waypoint"


def test_a_disarmed_rover_waits_in_auto(skid: Make) -> None:
    yard = skid()
    yard.plan([yard.waypoint(5.0, 0.0)])
    yard.run(2.0)
    yard.enter(10)
    yard.run(2.0)
    assert yard.place == (0.0, 0.0)
    assert yard.autopilot.arm().accepted
    yard.until(lambda: yard.reached == [1])


@pytest.mark.parametrize(("behave", "mode"), [(0, "HOLD"), (1, "LOITER"), (2, "ACRO"), (3, "MANUAL")])
def test_mis_done_behave(skid: Make, behave: int, mode: str) -> None:
    yard = skid(MIS_DONE_BEHAVE=behave)
    drive(yard, [(0.0, 0.0), (3.0, 0.0)])
    assert yard.autopilot.mode.name == mode
    assert abs(yard.plant.motion()[3]) < 0.01
