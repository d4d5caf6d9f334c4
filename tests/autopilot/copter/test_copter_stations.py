"""Commands of ground stations to a flying copter: brake, region of interest, orbit, climb speed."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest

from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.guided import GuidedTarget
from paddock.autopilot.mission_items import AltitudeFrame, MissionItem, PlanKind
from paddock.autopilot.rc import Sticks
from paddock.autopilot.telemetry import StatusText
from paddock.autopilot.vehicle_data import Floats

PLACE = LocalFrame(35.6812, 139.7671, 40.0)
WAYPOINT, TAKEOFF, ORBIT, SPEED, REPOSITION, LOOK_AT, LOOK_AHEAD, START = 16, 22, 34, 178, 192, 195, 197, 300
GUIDED, BRAKE = 4, 17


def at(north: float, east: float, height: float, *first: float) -> list[float]:
    latitude, longitude, _ = PLACE.to_geodetic(north, east, 0.0)
    return [*first, *[0.0] * (4 - len(first)), latitude, longitude, height]


def off(log: Floats, north: float, east: float) -> float:
    """rad between the nose and a place, at most."""
    wanted = np.arctan2(east - log[:, 2], north - log[:, 1])
    return float(np.abs(np.angle(np.exp(1j * (wanted - log[:, 7])))).max())


@pytest.mark.parametrize("wind", [(0.0, 0.0), pytest.param((4.0, 0.0), marks=pytest.mark.soak)])
def test_brake_stops_quickly_and_holds_the_position(rig: Any, wind: tuple[float, float]) -> None:
    craft = rig("iris", wind=wind, FS_THR_ENABLE=0)
    craft.take_off(10.0)
    craft.autopilot.set_guided_target(GuidedTarget(velocity=(8.0, 0.0, 0.0)))
    craft.run(2.9)
    craft.autopilot.set_guided_target(GuidedTarget(velocity=(8.0, 0.0, 0.0)))
    craft.run(2.0)
    assert craft.state.vy == pytest.approx(8.0, abs=0.5)
    assert craft.autopilot.set_mode(BRAKE).accepted and craft.autopilot.mode.name == "BRAKE"
    start = craft.state.y
    craft.autopilot.rc.manual(Sticks(pitch=-1.0, throttle=0.9))  # does nothing
    log = craft.run(12.0)
    assert 8.0**2 / (2.0 * 5.0) - 1.0 < log[:, 1].max() - start < 14.0
    assert np.abs(log[-1000:, 4:7]).max() < 0.15
    assert np.ptp(log[-1000:, 1]) < 0.3 and np.abs(log[:, 3] - 10.0).max() < 0.6


def test_brake_stays_on_the_ground_and_cannot_arm(rig: Any) -> None:
    craft = rig("iris")
    craft.ready()
    assert craft.autopilot.set_mode(BRAKE).accepted
    craft.run(2.0)
    assert craft.state.z < 0.02
    craft.autopilot.disarm()
    assert not craft.autopilot.arm().accepted


def test_guided_faces_the_region_of_interest(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(10.0)
    assert craft.autopilot.command(LOOK_AT, at(0.0, 30.0, 0.0)).accepted
    craft.run(4.0)
    assert off(craft.run(0.1), 0.0, 30.0) < 0.05
    assert craft.autopilot.command(REPOSITION, at(60.0, 0.0, 10.0, nan, 1.0, 0.0, nan)).accepted
    assert off(craft.run(15.0), 0.0, 30.0) < 0.2
    assert craft.distance(60.0, 0.0) < 1.0
    assert craft.autopilot.command(LOOK_AHEAD, [0.0] * 7).accepted
    assert craft.autopilot.command(REPOSITION, at(0.0, 0.0, 10.0, nan, 1.0, 0.0, nan)).accepted
    craft.run(5.0)
    assert off(craft.run(0.1), -40.0, 0.0) < 0.1


@pytest.mark.slow
def test_auto_faces_a_commanded_region_of_interest(rig: Any) -> None:
    craft = rig("iris")
    latitude, longitude, _ = PLACE.to_geodetic(80.0, 0.0, 0.0)
    items = [
        MissionItem(WAYPOINT),
        MissionItem(TAKEOFF, z=10.0),
        MissionItem(WAYPOINT, x=latitude, y=longitude, z=10.0),
    ]
    assert craft.autopilot.set_plan(PlanKind.MISSION, items)[0] == 0
    craft.ready()
    assert craft.autopilot.command(START, [0.0] * 7).accepted
    craft.run(30.0, lambda: craft.state.y > 5.0)
    assert craft.autopilot.command(LOOK_AT, at(20.0, 60.0, 0.0)).accepted
    craft.run(4.0)
    assert off(craft.run(20.0), 20.0, 60.0) < 0.2
    assert craft.autopilot.executor.finished  # and it goes on looking


@pytest.mark.slow
def test_orbit_circles_the_given_centre(rig: Any) -> None:
    craft = rig("iris")
    craft.take_off(10.0)
    order = at(20.0, 10.0, 15.0, -12.0, 3.0, 0.0, nan)
    assert craft.autopilot.command(ORBIT, order, AltitudeFrame.RELATIVE).accepted
    assert craft.autopilot.mode.name == "CIRCLE"
    craft.run(15.0)
    log = craft.run(10.0)
    north, east = log[:, 1] - 20.0, log[:, 2] - 10.0
    assert np.hypot(north, east) == pytest.approx(12.0, abs=0.5)
    assert np.hypot(log[:, 4], log[:, 5]) == pytest.approx(3.0, abs=0.2)
    swept = np.unwrap(np.arctan2(east, north))
    assert swept[-1] - swept[0] == pytest.approx(-10.0 * 3.0 / 12.0, abs=0.1)  # counter-clockwise
    assert log[:, 3] == pytest.approx(15.0, abs=0.3)
    assert craft.autopilot.command(ORBIT, [8.0, nan, nan, nan, nan, nan, nan]).accepted  # here, as high
    craft.run(12.0)
    assert craft.distance(20.0, 10.0) > 13.0 or craft.distance(20.0, 10.0) < 11.0


@pytest.mark.slow
def test_a_mission_changes_the_speeds_of_climb_and_descent(rig: Any) -> None:
    craft = rig("iris")
    latitude, longitude, _ = PLACE.to_geodetic(0.0, 0.0, 0.0)
    items = [
        MissionItem(WAYPOINT),
        MissionItem(TAKEOFF, z=5.0),
        MissionItem(SPEED, p1=2.0, p2=1.0),
        MissionItem(SPEED, p1=3.0, p2=3.0),
        MissionItem(WAYPOINT, x=latitude, y=longitude, z=15.0),
        MissionItem(WAYPOINT, x=latitude, y=longitude, z=5.0, p1=1.0),
    ]
    assert craft.autopilot.set_plan(PlanKind.MISSION, items)[0] == 0
    craft.ready()
    assert craft.autopilot.command(START, [0.0] * 7).accepted
    log = craft.run(60.0, lambda: craft.autopilot.executor.finished)
    above = log[log[:, 3] > 6.0]
    assert above[:, 6].max() == pytest.approx(1.0, abs=0.15)
    assert above[:, 6].min() < -1.8  # faster than the 1.5 m/s before
    texts = [notice.text for notice in craft.autopilot.outbox if isinstance(notice, StatusText)]
    assert "Mission: 2 ChangeSpeed climb 1 m/s" in texts
