"""Whether a mission can be done: the answer to each item of an upload, and to the whole."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from math import isfinite

from paddock.sitl.autopilot.crafts import drives, find_craft
from paddock.sitl.autopilot.mission.items import CLIMB_SPEEDS, KINDS, Command, Kind, Role, plain_frame
from paddock.sitl.autopilot.mission_item import Frame, MissionItem

LOWEST, HIGHEST = -1_000.0, 100_000.0  # m: altitudes beyond are mistakes


class MissionResult(IntEnum):
    """The MAV_MISSION_RESULTs in use."""

    ACCEPTED = 0
    UNSUPPORTED_FRAME = 2
    UNSUPPORTED = 3
    NO_SPACE = 4
    INVALID = 5
    INVALID_PARAM1 = 6
    INVALID_PARAM2 = 7
    INVALID_PARAM3 = 8
    INVALID_PARAM4 = 9
    INVALID_PARAM5_X = 10
    INVALID_PARAM6_Y = 11
    INVALID_PARAM7 = 12


INVALID_PARAMS = (
    MissionResult.INVALID_PARAM1,
    MissionResult.INVALID_PARAM2,
    MissionResult.INVALID_PARAM3,
    MissionResult.INVALID_PARAM4,
)


def check_mission_item(item: MissionItem, craft_kind: str) -> int:
    """MAV_MISSION_RESULT of one item: whether that kind of craft can do it. A NaN yaw is allowed: along the way."""
    kind = KINDS.get(item.command)
    if kind is None or (kind.flying and drives(craft_kind)):
        return MissionResult.UNSUPPORTED
    if not _frame_fits(item, kind):
        return MissionResult.UNSUPPORTED_FRAME
    return _check_values(item, kind) or _check_speed(item, craft_kind) or _check_place(item, kind)


def check_mission(items: Sequence[MissionItem], craft_kind: str) -> tuple[int, int]:
    """MAV_MISSION_RESULT of a whole mission, and the sequence of the item at fault (0 if there is none)."""
    for sequence, item in enumerate(items):
        result = check_mission_item(item, craft_kind)
        if not result and item.command == Command.DO_JUMP and item.p1 >= len(items):
            result = MissionResult.INVALID_PARAM1
        if result:
            return result, sequence
    return MissionResult.ACCEPTED, 0


def _frame_fits(item: MissionItem, kind: Kind) -> bool:
    frame = plain_frame(item.frame)
    if frame == Frame.MISSION:
        return not (kind.place or kind.height)
    return frame in (Frame.GLOBAL, Frame.RELATIVE, Frame.TERRAIN)


def _check_values(item: MissionItem, kind: Kind) -> int:
    """Of p1 to p4: INVALID_PARAM1 and so on."""
    values = (item.p1, item.p2, item.p3, item.p4)
    for number, (low, high) in (kind.ranges or {}).items():
        if not low <= values[number - 1] <= high:  # NaN is in no range
            return INVALID_PARAMS[number - 1]
    if kind.role is Role.JUMP and item.p1 != int(item.p1):
        return MissionResult.INVALID_PARAM1
    return MissionResult.ACCEPTED


def _check_speed(item: MissionItem, craft_kind: str) -> int:
    """Of a DO_CHANGE_SPEED: its type, which the craft must have, and a speed that it can fly."""
    if item.command != Command.DO_CHANGE_SPEED:
        return MissionResult.ACCEPTED
    name = CLIMB_SPEEDS.get(item.p1)
    setting = next((known for known in find_craft(craft_kind).parameters if known.name == name), None)
    if item.p1 not in (0.0, 1.0) and setting is None:
        return MissionResult.INVALID_PARAM1
    flyable = item.p2 > 0.0 and (setting is None or setting.fit(item.p2 * 100.0) is not None)
    return MissionResult.ACCEPTED if flyable or item.p2 in (-1.0, -2.0) else MissionResult.INVALID_PARAM2


def _check_place(item: MissionItem, kind: Kind) -> int:
    """Of x, y and z, where they count."""
    if kind.place and not -90.0 <= item.x <= 90.0:
        return MissionResult.INVALID_PARAM5_X
    if kind.place and not -180.0 <= item.y <= 180.0:
        return MissionResult.INVALID_PARAM6_Y
    if kind.height and not (isfinite(item.z) and LOWEST <= item.z <= HIGHEST):
        return MissionResult.INVALID_PARAM7
    return MissionResult.ACCEPTED
