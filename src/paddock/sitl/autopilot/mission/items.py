"""Mission items: the supported MAV_CMDs, their value ranges, and the checks of an upload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from math import inf, isfinite, nan

from paddock.sitl.autopilot.vehicle import drives, find_vehicle

MIN_ALTITUDE, MAX_ALTITUDE = -1_000.0, 100_000.0  # m


class PlanKind(IntEnum):
    """MAV_MISSION_TYPE."""

    MISSION = 0
    FENCE = 1
    RALLY = 2


class AltitudeFrame(IntEnum):
    """The supported MAV_FRAMEs; the _INT variants map to these."""

    GLOBAL = 0  # altitude above sea level
    MISSION = 2  # no position
    RELATIVE = 3  # altitude above home
    TERRAIN = 10  # altitude above ground, which is flat here: as RELATIVE


POSITION_FRAMES = (AltitudeFrame.GLOBAL, AltitudeFrame.RELATIVE, AltitudeFrame.TERRAIN)
INT_FRAMES = {5: 0, 6: 3, 11: 10}  # frames with integer positions on the wire -> the equivalent frame


def plain_frame(frame: int) -> int:
    """Return the frame without the distinction between integer and float positions."""
    return INT_FRAMES.get(frame, frame)


@dataclass(frozen=True)
class MissionItem:
    """An item of a mission, fence or rally plan; `x`, `y` are latitude and longitude in deg, `z` an altitude in m."""

    command: int  # MAV_CMD
    frame: int = AltitudeFrame.RELATIVE
    p1: float = 0.0
    p2: float = 0.0
    p3: float = 0.0
    p4: float = nan
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    autocontinue: bool = True


class Role(Enum):
    """How an item is executed."""

    NAV = "nav"  # moves the vehicle; one after the other
    CONDITION = "condition"  # delays the DO items that follow, while the vehicle moves on
    DO = "do"  # done immediately
    CAMERA = "camera"  # as DO; reported only, there is no camera on board
    JUMP = "jump"


class NavTask(Enum):
    """The task of AUTO for a NAV item."""

    TAKEOFF = "takeoff"  # climb to the target altitude
    WAYPOINT = "waypoint"  # go there on the line from `start`; `hold` s there
    LOITER = "loiter"  # go there and stay
    CIRCLE = "circle"  # circle `target` at `radius` (+ clockwise), `turns` times
    LAND = "land"  # go there and land
    RETURN = "return"  # as the mode RTL
    DELAY = "delay"  # hold the position
    DONE = "done"  # mission complete: hold


@dataclass(frozen=True)
class ItemKind:
    """Properties of all items with one command."""

    name: str  # in status texts
    role: Role
    place: bool = False  # x and y are a position
    height: bool = False  # z is an altitude
    flying: bool = False  # not for rovers
    ranges: Mapping[int, tuple[float, float]] = field(default_factory=dict)  # of p1 to p4; others are not checked
    task: NavTask | None = None  # of a NAV item
    wait: float = 0.0  # s at the target of a NAV item; NaN: p1


TIME = (0.0, 86_400.0)  # s
RADIUS = (0.0, 10_000.0)  # m
SIGNED_RADIUS = (-10_000.0, 10_000.0)  # m, + clockwise
YAW_RANGES = {1: (-360.0, 360.0), 3: (-1.0, 1.0), 4: (0.0, 1.0)}  # deg, direction, 1 relative
NAV, CONDITION, DO = Role.NAV, Role.CONDITION, Role.DO
DO_CHANGE_SPEED = 178
CAMERA_ITEMS = {
    **{203: "DigiCamCtrl", 205: "MountControl", 206: "SetCamTrigDst", 530: "SetCameraMode", 1000: "GimbalPitchYaw"},
    **{1001: "GimbalConfigure", 2000: "ImageStartCapture", 2001: "ImageStopCapture"},
    **{2500: "VideoStartCapture", 2501: "VideoStopCapture"},
}

ITEM_KINDS: Mapping[int, ItemKind] = {
    16: ItemKind("Waypoint", NAV, True, True, ranges={1: TIME, 2: RADIUS}, task=NavTask.WAYPOINT, wait=nan),
    17: ItemKind("LoitUnlim", NAV, True, True, task=NavTask.LOITER, wait=inf),
    18: ItemKind("LoitTurns", NAV, True, True, ranges={1: (0.0, 1e3), 3: SIGNED_RADIUS}, task=NavTask.CIRCLE),
    19: ItemKind("LoitTime", NAV, True, True, ranges={1: TIME}, task=NavTask.LOITER, wait=nan),
    20: ItemKind("RTL", NAV, task=NavTask.RETURN),
    21: ItemKind("Land", NAV, True, flying=True, task=NavTask.LAND),
    22: ItemKind("Takeoff", NAV, height=True, flying=True, task=NavTask.TAKEOFF),
    93: ItemKind("Delay", NAV, ranges={1: TIME}, task=NavTask.DELAY, wait=nan),
    112: ItemKind("CondDelay", CONDITION, ranges={1: TIME}),  # CONDITION_DELAY
    114: ItemKind("CondDistance", CONDITION, ranges={1: (0.0, 1e6)}),  # CONDITION_DISTANCE
    115: ItemKind("CondYaw", CONDITION, flying=True, ranges=YAW_RANGES),  # CONDITION_YAW
    177: ItemKind("Jump", Role.JUMP, ranges={1: (1.0, 65535.0), 2: (-1.0, 32767.0)}),  # DO_JUMP
    DO_CHANGE_SPEED: ItemKind("ChangeSpeed", DO, ranges={1: (0.0, 3.0), 2: (-2.0, 1000.0)}),
    179: ItemKind("SetHome", DO, True, True, ranges={1: (0.0, 1.0)}),  # DO_SET_HOME
    189: ItemKind("LandStart", DO, flying=True),
    195: ItemKind("SetROI", DO, True, True, flying=True),  # DO_SET_ROI_LOCATION
    197: ItemKind("ClearROI", DO, flying=True),  # DO_SET_ROI_NONE
    201: ItemKind("SetROI", DO, True, True, flying=True),  # DO_SET_ROI
    207: ItemKind("FenceEnable", DO, ranges={1: (0.0, 2.0)}),  # DO_FENCE_ENABLE
    **{number: ItemKind(name, Role.CAMERA) for number, name in CAMERA_ITEMS.items()},
}
"""Any other MAV_CMD is refused with MAV_MISSION_UNSUPPORTED: splines, servos, relays, grippers, VTOL..."""

CLIMB_SPEEDS = {2.0: "WPNAV_SPEED_UP", 3.0: "WPNAV_SPEED_DN"}
"""Vertical speed types of DO_CHANGE_SPEED -> the parameter (cm/s) that each changes."""


class MissionResult(IntEnum):
    """MAV_MISSION_RESULT."""

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


def check_mission(items: Sequence[MissionItem], vehicle_kind: str) -> tuple[int, int]:
    """Return the MAV_MISSION_RESULT of a whole mission, and the sequence of the item at fault (or 0)."""
    for sequence, item in enumerate(items):
        result = check_mission_item(item, vehicle_kind)
        if not result and ITEM_KINDS[item.command].role is Role.JUMP and item.p1 >= len(items):
            result = MissionResult.INVALID_PARAM1
        if result:
            return result, sequence
    return MissionResult.ACCEPTED, 0


def check_mission_item(item: MissionItem, vehicle_kind: str) -> int:
    """Return the MAV_MISSION_RESULT of one item for a vehicle type. A NaN yaw is valid."""
    kind = ITEM_KINDS.get(item.command)
    if kind is None or (kind.flying and drives(vehicle_kind)):
        return MissionResult.UNSUPPORTED
    frame = plain_frame(item.frame)
    if frame not in tuple(AltitudeFrame) or (frame == AltitudeFrame.MISSION and (kind.place or kind.height)):
        return MissionResult.UNSUPPORTED_FRAME
    values = (item.p1, item.p2, item.p3, item.p4)
    for number, (low, high) in kind.ranges.items():
        if not low <= values[number - 1] <= high:  # NaN is in no range
            return MissionResult.INVALID_PARAM1 + number - 1
    if kind.role is Role.JUMP and item.p1 != int(item.p1):
        return MissionResult.INVALID_PARAM1
    if item.command == DO_CHANGE_SPEED and (result := _check_speed(item, vehicle_kind)):
        return result
    if kind.place and (result := _check_latitude_longitude(item)):
        return result
    if kind.height and not (isfinite(item.z) and MIN_ALTITUDE <= item.z <= MAX_ALTITUDE):
        return MissionResult.INVALID_PARAM7
    return MissionResult.ACCEPTED


def _check_speed(item: MissionItem, vehicle_kind: str) -> int:
    """Check the type and value of a DO_CHANGE_SPEED against the vehicle's parameters."""
    name = CLIMB_SPEEDS.get(item.p1)
    setting = next((known for known in find_vehicle(vehicle_kind).parameters if known.name == name), None)
    if item.p1 not in (0.0, 1.0) and setting is None:
        return MissionResult.INVALID_PARAM1
    possible = item.p2 > 0.0 and (setting is None or setting.fit(item.p2 * 100.0) is not None)
    return MissionResult.ACCEPTED if possible or item.p2 in (-1.0, -2.0) else MissionResult.INVALID_PARAM2


def _check_latitude_longitude(item: MissionItem) -> int:
    if not -90.0 <= item.x <= 90.0:  # NaN is in no range
        return MissionResult.INVALID_PARAM5_X
    return MissionResult.ACCEPTED if -180.0 <= item.y <= 180.0 else MissionResult.INVALID_PARAM6_Y


def check_position(item: MissionItem) -> int:
    """Check frame, latitude and longitude of a fence or rally item."""
    if plain_frame(item.frame) not in POSITION_FRAMES:
        return MissionResult.UNSUPPORTED_FRAME
    return _check_latitude_longitude(item)
