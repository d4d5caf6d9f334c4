"""Valid items of a mission, and their order."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest
from pymavlink.dialects.v20 import ardupilotmega as mavlink

from paddock.autopilot.mission import next_stretch
from paddock.autopilot.mission_items import (
    ITEM_KINDS,
    AltitudeFrame,
    MissionItem,
    check_mission,
    check_mission_item,
)

HERE: dict[str, Any] = {"x": 35.0, "y": 139.0, "z": 10.0}
WAYPOINT = MissionItem(16, **HERE)
SPEED = MissionItem(178, AltitudeFrame.MISSION, 1.0, 3.0)


def jump(target: float, times: float) -> MissionItem:
    return MissionItem(177, AltitudeFrame.MISSION, target, times)


@pytest.mark.parametrize(
    ("item", "result"),
    [
        (WAYPOINT, mavlink.MAV_MISSION_ACCEPTED),
        (MissionItem(16, p4=nan, **HERE), mavlink.MAV_MISSION_ACCEPTED),
        (MissionItem(16, AltitudeFrame.MISSION, **HERE), mavlink.MAV_MISSION_UNSUPPORTED_FRAME),
        (MissionItem(16, 1, **HERE), mavlink.MAV_MISSION_UNSUPPORTED_FRAME),  # local metres
        (MissionItem(16, 6, **HERE), mavlink.MAV_MISSION_ACCEPTED),  # relative, with integers
        (MissionItem(16, p1=-1.0, **HERE), mavlink.MAV_MISSION_INVALID_PARAM1),
        (MissionItem(16, p1=nan, **HERE), mavlink.MAV_MISSION_INVALID_PARAM1),
        (MissionItem(16, p2=inf, **HERE), mavlink.MAV_MISSION_INVALID_PARAM2),
        (MissionItem(16, x=nan, y=1.0), mavlink.MAV_MISSION_INVALID_PARAM5_X),
        (MissionItem(16, x=91.0, y=1.0), mavlink.MAV_MISSION_INVALID_PARAM5_X),
        (MissionItem(16, x=1.0, y=nan), mavlink.MAV_MISSION_INVALID_PARAM6_Y),
        (MissionItem(16, x=1.0, y=-180.1), mavlink.MAV_MISSION_INVALID_PARAM6_Y),
        (MissionItem(16, x=1.0, y=1.0, z=nan), mavlink.MAV_MISSION_INVALID_PARAM7),
        (MissionItem(18, p1=1.0, p3=nan, **HERE), mavlink.MAV_MISSION_INVALID_PARAM3),
        (MissionItem(82, **HERE), mavlink.MAV_MISSION_ACCEPTED),  # spline
        (MissionItem(94, **HERE), mavlink.MAV_MISSION_UNSUPPORTED),  # payload place
        (MissionItem(183, AltitudeFrame.MISSION, 9.0, 1500.0), mavlink.MAV_MISSION_ACCEPTED),  # servo
        (MissionItem(183, AltitudeFrame.MISSION, 1.0, 1500.0), mavlink.MAV_MISSION_INVALID_PARAM1),  # of a motor
        (MissionItem(206, AltitudeFrame.MISSION, 12.0), mavlink.MAV_MISSION_ACCEPTED),  # items of a survey
        (MissionItem(93, AltitudeFrame.MISSION, -1.0), mavlink.MAV_MISSION_INVALID_PARAM1),
        (SPEED, mavlink.MAV_MISSION_ACCEPTED),
        (MissionItem(178, AltitudeFrame.MISSION, 1.0, 0.0), mavlink.MAV_MISSION_INVALID_PARAM2),
        (MissionItem(178, AltitudeFrame.MISSION, 3.0, 1.0), mavlink.MAV_MISSION_ACCEPTED),  # descent
        (MissionItem(178, AltitudeFrame.MISSION, 4.0, 1.0), mavlink.MAV_MISSION_INVALID_PARAM1),
        (jump(1, -1), mavlink.MAV_MISSION_ACCEPTED),
        (jump(1.5, 1), mavlink.MAV_MISSION_INVALID_PARAM1),
        (jump(0, 1), mavlink.MAV_MISSION_INVALID_PARAM1),
        (jump(1, -2), mavlink.MAV_MISSION_INVALID_PARAM2),
        (MissionItem(22, z=nan), mavlink.MAV_MISSION_INVALID_PARAM7),
        (MissionItem(115, AltitudeFrame.MISSION, 90.0, 10.0, 1.0, nan), mavlink.MAV_MISSION_INVALID_PARAM4),
    ],
)
def test_result_of_each_item(item: MissionItem, result: int) -> None:
    assert check_mission_item(item, "copter") == result


@pytest.mark.parametrize("command", [21, 22, 82, 115, 201])
def test_rovers_refuse_flying_items(command: int) -> None:
    item = MissionItem(command, p4=0.0, **HERE)
    assert check_mission_item(item, "rover") == mavlink.MAV_MISSION_UNSUPPORTED
    assert check_mission_item(item, "rover_ackermann") == mavlink.MAV_MISSION_UNSUPPORTED
    assert check_mission_item(item, "copter") == mavlink.MAV_MISSION_ACCEPTED


def test_command_numbers_match_mavlink() -> None:
    names = mavlink.enums["MAV_CMD"]
    items = {kind.name: names[command].name for command, kind in ITEM_KINDS.items()}
    assert items["LoitTurns"] == "MAV_CMD_NAV_LOITER_TURNS" and items["ClearROI"] == "MAV_CMD_DO_SET_ROI_NONE"
    assert items["SetCamTrigDst"] == "MAV_CMD_DO_SET_CAM_TRIGG_DIST" and items["Jump"] == "MAV_CMD_DO_JUMP"
    assert all(command in names for command in ITEM_KINDS)


def test_a_jump_target_must_exist() -> None:
    assert check_mission([WAYPOINT, WAYPOINT, jump(2, 1)], "rover") == (0, 0)
    assert check_mission([WAYPOINT, WAYPOINT, jump(3, 1)], "rover") == (mavlink.MAV_MISSION_INVALID_PARAM1, 2)
    assert check_mission([WAYPOINT, MissionItem(21), WAYPOINT], "rover") == (mavlink.MAV_MISSION_UNSUPPORTED, 1)


def test_actions_are_passed_on_the_way_to_the_next_waypoint() -> None:
    order = [WAYPOINT, SPEED, WAYPOINT, SPEED, SPEED, WAYPOINT, SPEED]
    assert next_stretch(order, 1, {}) == (2, (1,), False)
    assert next_stretch(order, 3, {}) == (5, (3, 4), False)
    assert next_stretch(order, 6, {}) == (None, (6,), False)


def test_jumps_are_counted() -> None:
    order, jumps = [WAYPOINT, WAYPOINT, jump(1, 2), WAYPOINT], dict[int, int]()
    assert [next_stretch(order, 2, dict(jumps)).nav for _ in range(5)] == [1] * 5
    assert [next_stretch(order, 2, jumps).nav for _ in range(4)] == [1, 1, 3, 3]


def test_an_endless_jump_repeats_but_a_loop_without_waypoints_ends() -> None:
    endless, jumps = [WAYPOINT, WAYPOINT, jump(1, -1)], dict[int, int]()
    assert all(next_stretch(endless, 2, jumps).nav == 1 for _ in range(1000))
    assert next_stretch([WAYPOINT, WAYPOINT, jump(2, -1)], 2, {}) == (None, (), True)
    assert next_stretch([WAYPOINT, WAYPOINT, SPEED, jump(2, -1)], 2, {}).looped
    assert next_stretch([WAYPOINT, WAYPOINT, jump(2, 5), WAYPOINT], 2, {}).nav == 3
