"""The table of items that a mission may have: what each is, for which craft, and which values it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum


class Command(IntEnum):
    """The MAV_CMDs that missions may use."""

    WAYPOINT = 16
    LOITER_UNLIM = 17
    LOITER_TURNS = 18
    LOITER_TIME = 19
    RETURN_TO_LAUNCH = 20
    LAND = 21
    TAKEOFF = 22
    DELAY = 93
    CONDITION_DELAY = 112
    CONDITION_DISTANCE = 114
    CONDITION_YAW = 115
    DO_JUMP = 177
    DO_CHANGE_SPEED = 178
    DO_SET_HOME = 179
    DO_LAND_START = 189
    DO_SET_ROI_LOCATION = 195
    DO_SET_ROI_NONE = 197
    DO_SET_ROI = 201
    DO_DIGICAM_CONTROL = 203
    DO_MOUNT_CONTROL = 205
    DO_SET_CAM_TRIGG_DIST = 206
    DO_FENCE_ENABLE = 207
    SET_CAMERA_MODE = 530
    GIMBAL_PITCH_YAW = 1000
    GIMBAL_CONFIGURE = 1001
    IMAGE_START_CAPTURE = 2000
    IMAGE_STOP_CAPTURE = 2001
    VIDEO_START_CAPTURE = 2500
    VIDEO_STOP_CAPTURE = 2501


class Role(Enum):
    """How an item takes part."""

    NAV = "nav"  # the craft goes somewhere; one after the other
    CONDITION = "condition"  # holds back the actions that follow, while the craft goes on
    DO = "do"  # done at once
    CAMERA = "camera"  # as DO; announced, for there is no camera on board
    JUMP = "jump"


@dataclass(frozen=True)
class Kind:
    """What is true of all items with one command."""

    name: str  # as status texts show it
    role: Role
    place: bool = False  # whether x and y are a position
    height: bool = False  # whether z is an altitude
    flying: bool = False  # not for rovers
    ranges: Mapping[int, tuple[float, float]] | None = None  # of p1 to p4 that count; the others may be anything


TIME = (0.0, 86_400.0)  # s
RADIUS = (0.0, 10_000.0)  # m

KINDS: Mapping[int, Kind] = {
    Command.WAYPOINT: Kind("waypoint", Role.NAV, True, True, ranges={1: TIME, 2: RADIUS}),
    Command.LOITER_UNLIM: Kind("loiter", Role.NAV, True, True),
    Command.LOITER_TURNS: Kind("loiter turns", Role.NAV, True, True, ranges={1: (0.0, 1000.0), 3: (-1e4, 1e4)}),
    Command.LOITER_TIME: Kind("loiter time", Role.NAV, True, True, ranges={1: TIME}),
    Command.RETURN_TO_LAUNCH: Kind("return to launch", Role.NAV),
    Command.LAND: Kind("land", Role.NAV, True, False, flying=True),
    Command.TAKEOFF: Kind("take-off", Role.NAV, False, True, flying=True),
    Command.DELAY: Kind("delay", Role.NAV, ranges={1: TIME}),
    Command.CONDITION_DELAY: Kind("wait for time", Role.CONDITION, ranges={1: TIME}),
    Command.CONDITION_DISTANCE: Kind("wait for distance", Role.CONDITION, ranges={1: (0.0, 1e6)}),
    Command.CONDITION_YAW: Kind(
        "yaw", Role.CONDITION, flying=True, ranges={1: (-360.0, 360.0), 3: (-1.0, 1.0), 4: (0.0, 1.0)}
    ),
    Command.DO_JUMP: Kind("jump", Role.JUMP, ranges={1: (1.0, 65535.0), 2: (-1.0, 32767.0)}),
    Command.DO_CHANGE_SPEED: Kind("change speed", Role.DO, ranges={1: (0.0, 3.0), 2: (-2.0, 1000.0)}),
    Command.DO_SET_HOME: Kind("set home", Role.DO, True, True, ranges={1: (0.0, 1.0)}),
    Command.DO_LAND_START: Kind("landing begins", Role.DO, flying=True),
    Command.DO_SET_ROI_LOCATION: Kind("look at", Role.DO, True, True, flying=True),
    Command.DO_SET_ROI_NONE: Kind("look ahead", Role.DO, flying=True),
    Command.DO_SET_ROI: Kind("look at", Role.DO, True, True, flying=True),
    Command.DO_FENCE_ENABLE: Kind("fence", Role.DO, ranges={1: (0.0, 2.0)}),
    Command.DO_DIGICAM_CONTROL: Kind("picture", Role.CAMERA),
    Command.DO_MOUNT_CONTROL: Kind("mount", Role.CAMERA),
    Command.DO_SET_CAM_TRIGG_DIST: Kind("pictures by distance", Role.CAMERA),
    Command.SET_CAMERA_MODE: Kind("camera mode", Role.CAMERA),
    Command.GIMBAL_PITCH_YAW: Kind("gimbal", Role.CAMERA),
    Command.GIMBAL_CONFIGURE: Kind("who moves the gimbal", Role.CAMERA),
    Command.IMAGE_START_CAPTURE: Kind("pictures", Role.CAMERA),
    Command.IMAGE_STOP_CAPTURE: Kind("no more pictures", Role.CAMERA),
    Command.VIDEO_START_CAPTURE: Kind("video", Role.CAMERA),
    Command.VIDEO_STOP_CAPTURE: Kind("no more video", Role.CAMERA),
}
"""Everything else is answered with MAV_MISSION_UNSUPPORTED: splines, servos, relays, grippers, VTOL..."""

CLIMB_SPEEDS = {2.0: "WPNAV_SPEED_UP", 3.0: "WPNAV_SPEED_DN"}
"""Types of DO_CHANGE_SPEED that are no speed over the ground, and the parameter (cm/s) that each changes."""

INT_FRAMES = {5: 0, 6: 3, 11: 10}
"""Frames whose positions are integers on the wire, and the frame each is taken as."""


def plain_frame(frame: int) -> int:
    """The frame without the distinction of how positions travel."""
    return INT_FRAMES.get(frame, frame)
