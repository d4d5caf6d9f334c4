"""AUTO: a mission along straight legs, round corners, circles and home, with perfect and with noisy sensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddock.autopilot.estimate import LocalFrame
from paddock.autopilot.mission_items import MissionItem, PlanKind
from paddock.autopilot.telemetry import ItemReached, Landed
from paddock.autopilot.vehicle_data import Floats

PLACE = (35.6812, 139.7671, 40.0)
WAYPOINT, TURNS, RETURN, LAND, TAKEOFF, START = 16, 18, 20, 21, 22, 300


def at(command: int, north: float, east: float, height: float, **more: float) -> MissionItem:
    latitude, longitude, _ = LocalFrame(*PLACE).to_geodetic(north, east, 0.0)
    return MissionItem(command, x=latitude, y=longitude, z=height, **more)


def beside(log: Floats, start: tuple[float, float], end: tuple[float, float]) -> tuple[Floats, Floats]:
    """m from the line, between 5 m after its start and 5 m before its end; and the log of that part."""
    a, b = np.array(start), np.array(end)
    way = (b - a) / np.linalg.norm(b - a)
    along, across = (log[:, 1:3] - a) @ way, (log[:, 1:3] - a) @ np.array([-way[1], way[0]])
    part = (along > 5.0) & (along < np.linalg.norm(b - a) - 5.0)
    return across[part], log[part]


def flown(craft: Any, items: list[MissionItem], seconds: float = 200.0) -> tuple[Floats, list[int]]:
    """The whole mission; the log from its start, and the items reached."""
    answer = craft.autopilot.set_plan(PlanKind.MISSION, [at(WAYPOINT, 0.0, 0.0, 0.0), *items])
    assert answer[0] == 0
    craft.ready()
    craft.autopilot.outbox.clear()
    assert craft.autopilot.command(START, [0.0] * 7).accepted
    log = craft.run(seconds, lambda: not craft.autopilot.armed)
    return log, [notice.sequence for notice in craft.autopilot.outbox if isinstance(notice, ItemReached)]


@pytest.mark.parametrize(
    ("noisy", "home", "side"), [pytest.param(False, 1.0, 0.6, marks=pytest.mark.soak), (True, 2.0, 1.0)]
)
@pytest.mark.slow
def test_a_mission_in_a_side_wind(rig: Any, noisy: bool, home: float, side: float) -> None:
    craft = rig("iris", noisy=noisy, wind=(0.0, 3.0), RTL_LOIT_TIME=0, LAND_ALT_LOW=300)
    items = [
        MissionItem(TAKEOFF, z=12.0),
        at(WAYPOINT, 60.0, 0.0, 12.0),
        at(WAYPOINT, 60.0, 50.0, 15.0),
        at(WAYPOINT, 0.0, 50.0, 15.0, p1=2.0),
        MissionItem(RETURN),
    ]
    log, reached = flown(craft, items)
    assert reached == [1, 2, 3, 4, 5]
    assert not craft.autopilot.armed
    assert craft.distance(0.0, 0.0) < home
    assert -log[log[:, 3] > 0.01][-1, 6] < 1.0
    first = log[log[:, 2] < 25.0]
    first = first[: np.argmax(first[:, 1] > 58.0)]
    across, part = beside(first, (0.0, 0.0), (60.0, 0.0))
    assert np.abs(across).max() < side
    assert np.hypot(part[:, 4], part[:, 5]).max() == pytest.approx(10.0, abs=0.4)  # WPNAV_SPEED
    across, _ = beside(log[log[:, 1] > 50.0], (60.0, 0.0), (60.0, 50.0))
    assert np.abs(across).max() < 1.0
    for waypoint in ((60.0, 0.0), (60.0, 50.0), (0.0, 50.0)):
        assert np.hypot(log[:, 1] - waypoint[0], log[:, 2] - waypoint[1]).min() < 2.0  # WPNAV_RADIUS


def test_a_waypoint_on_a_straight_path_is_passed_at_speed(rig: Any) -> None:
    craft = rig("iris", WPNAV_SPEED=600)
    items = [MissionItem(TAKEOFF, z=8.0), at(WAYPOINT, 30.0, 0.0, 8.0), at(WAYPOINT, 70.0, 0.0, 8.0)]
    log, _ = flown(craft, items, 40.0)
    _, part = beside(log, (15.0, 0.0), (55.0, 0.0))
    assert part[:, 4].min() > 5.5
    assert craft.state.y == pytest.approx(70.0, abs=0.3)  # and stays at the end of the mission
    assert craft.autopilot.telemetry.landed == Landed.IN_AIR


def test_a_waypoint_with_a_hold_time_stops(rig: Any) -> None:
    craft = rig("iris")
    items = [MissionItem(TAKEOFF, z=8.0), at(WAYPOINT, 20.0, 0.0, 8.0, p1=3.0), at(WAYPOINT, 20.0, 20.0, 8.0)]
    log, _ = flown(craft, items, 45.0)
    still = log[np.hypot(log[:, 1] - 20.0, log[:, 2]) < 0.3]
    assert np.hypot(still[:, 4], still[:, 5]).min() < 0.1
    assert log[:, 1].max() < 20.5


@pytest.mark.slow
def test_circles_and_a_landing_elsewhere(rig: Any) -> None:
    craft = rig("iris", LAND_ALT_LOW=300)
    items = [
        MissionItem(TAKEOFF, z=10.0),
        at(TURNS, 20.0, 0.0, 10.0, p1=1.0, p3=8.0),
        at(LAND, 10.0, 25.0, 0.0),
    ]
    log, reached = flown(craft, items)
    assert reached == [1, 2, 3]
    assert craft.distance(10.0, 25.0) < 1.0 and craft.state.z < 0.02
    north, east = log[:, 1] - 20.0, log[:, 2]
    on = np.abs(np.hypot(north, east) - 8.0) < 0.5
    swept = np.unwrap(np.arctan2(east, north)[on])
    assert swept[-1] - swept[0] > 2.0 * np.pi * 0.95  # clockwise


def test_a_mission_without_a_take_off_climbs_first(rig: Any) -> None:
    craft = rig("iris")
    log, _ = flown(craft, [at(WAYPOINT, 30.0, 0.0, 10.0)], 30.0)
    assert np.abs(log[log[:, 3] < 9.0][:, 1]).max() < 0.5
    assert craft.ned == pytest.approx((30.0, 0.0, -10.0), abs=0.3)


def test_a_copter_changes_its_altitude_above_the_place_of_loiter_to_alt(rig: Any) -> None:
    """As ArduCopter: to the place first, then straight up or down (within WPNAV_RADIUS, 2 m)."""
    craft = rig("iris")
    items = [MissionItem(TAKEOFF, z=6.0), at(31, 25.0, 0.0, 16.0), MissionItem(LAND)]
    log, reached = flown(craft, items)
    assert reached == [1, 2, 3]
    under_way = log[(log[:, 1] > 3.0) & (log[:, 1] < 20.0)]
    assert np.abs(under_way[:, 3] - 6.0).max() < 1.0
    assert log[:, 3].max() == pytest.approx(16.0, abs=2.0)
    assert craft.distance(25.0, 0.0) < 2.0


@pytest.mark.parametrize("restart", [0, 1])
def test_a_landing_sequence_is_started_by_command(rig: Any, restart: int) -> None:
    craft = rig("iris", MIS_RESTART=restart)
    items = [MissionItem(TAKEOFF, z=6.0), at(WAYPOINT, 200.0, 0.0, 6.0), MissionItem(189), at(LAND, 0.0, 6.0, 0.0)]
    assert craft.autopilot.command(189, [0.0] * 7).result == 1  # not armed
    assert craft.autopilot.set_plan(PlanKind.MISSION, [at(WAYPOINT, 0.0, 0.0, 0.0), *items])[0] == 0
    craft.ready()
    assert craft.autopilot.command(START, [0.0] * 7).accepted
    craft.run(20.0, lambda: craft.autopilot.executor.current == 2)
    assert craft.autopilot.set_mode(5).accepted  # LOITER
    craft.run(1.0)
    assert craft.autopilot.command(189, [0.0] * 7).accepted
    assert craft.autopilot.mode.name == "AUTO" and craft.autopilot.executor.current == 4
    craft.run(60.0, lambda: not craft.autopilot.armed)
    assert not craft.autopilot.armed
    assert craft.distance(0.0, 6.0) < 2.0


def test_set_current_changes_the_target_immediately(rig: Any) -> None:
    craft = rig("iris")
    items = [MissionItem(TAKEOFF, z=10.0), at(WAYPOINT, 80.0, 0.0, 10.0), at(WAYPOINT, 0.0, 40.0, 10.0)]
    flown(craft, items, 15.0)
    assert craft.autopilot.executor.set_current(3).accepted
    log = craft.run(30.0)
    assert log[:, 1].max() < 60.0
    assert craft.ned == pytest.approx((0.0, 40.0, -10.0), abs=0.3)


def test_a_speed_change_applies_in_flight(rig: Any) -> None:
    craft = rig("iris")
    flown(craft, [MissionItem(TAKEOFF, z=10.0), at(WAYPOINT, 200.0, 0.0, 10.0)], 15.0)
    assert craft.autopilot.command(178, (1.0, 4.0, -1.0, 0.0, 0.0, 0.0, 0.0)).accepted
    craft.run(7.0)  # 6 m/s slower, softly
    assert craft.run(2.0)[:, 4] == pytest.approx(4.0, abs=0.3)


@pytest.mark.slow
def test_a_finished_mission_restarts_after_arming(rig: Any) -> None:
    craft = rig("iris", LAND_ALT_LOW=100)
    items = [MissionItem(TAKEOFF, z=3.0), at(LAND, 0.0, 5.0, 0.0)]
    _, reached = flown(craft, items, 60.0)
    assert reached == [1, 2] and not craft.autopilot.armed
    craft.run(1.0)
    assert craft.autopilot.arm().accepted
    log = craft.run(60.0, lambda: not craft.autopilot.armed)
    assert log[:, 3].max() == pytest.approx(3.0, abs=0.6)
    assert not craft.autopilot.armed and craft.state.z < 0.02
