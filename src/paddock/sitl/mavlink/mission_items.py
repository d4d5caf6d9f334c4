"""Mission items on the wire: MISSION_ITEM_INT and the older MISSION_ITEM."""

from __future__ import annotations

from math import isfinite, isnan, nan
from typing import TYPE_CHECKING, Any

from paddock.sitl.autopilot.mission.items import ITEM_KINDS, AltitudeFrame, MissionItem, PlanKind
from paddock.sitl.mavlink.dialect import int32, mav

if TYPE_CHECKING:
    from paddock.sitl.mavlink.link import Sender

DEGREE = 1e7  # units of an integer latitude

PLAIN_FRAMES = {  # MAV_FRAME -> altitude frame; others are unsupported
    mav.MAV_FRAME_GLOBAL: AltitudeFrame.GLOBAL,
    mav.MAV_FRAME_GLOBAL_INT: AltitudeFrame.GLOBAL,
    mav.MAV_FRAME_MISSION: AltitudeFrame.MISSION,
    mav.MAV_FRAME_GLOBAL_RELATIVE_ALT: AltitudeFrame.RELATIVE,
    mav.MAV_FRAME_GLOBAL_RELATIVE_ALT_INT: AltitudeFrame.RELATIVE,
    mav.MAV_FRAME_GLOBAL_TERRAIN_ALT: AltitudeFrame.TERRAIN,
    mav.MAV_FRAME_GLOBAL_TERRAIN_ALT_INT: AltitudeFrame.TERRAIN,
}

FIRST_ACTION = 80
"""MAV_CMDs below this number are NAV: their parameters must be numbers. In others NaN means the default."""


def decode(message: Any) -> tuple[MissionItem | None, int]:
    """Return the item and 0, or None and the MAV_MISSION_RESULT."""
    frame = PLAIN_FRAMES.get(message.frame)
    if frame is None:
        return None, mav.MAV_MISSION_UNSUPPORTED_FRAME
    scale = DEGREE if message.get_type() == "MISSION_ITEM_INT" and frame is not AltitudeFrame.MISSION else 1.0
    place, height = _used_fields(message)
    x, y = (_value(value / scale, place) for value in (message.x, message.y))
    z = _value(message.z, height)
    wrong = _wrong_place(frame, x, y, z)
    parameters = (message.param1, message.param2, message.param3)
    for number, value in enumerate((*parameters, message.param4)):
        if not (isfinite(value) or isnan(value)):
            wrong = wrong or mav.MAV_MISSION_INVALID_PARAM1 + number
    if wrong:
        return None, wrong
    # MAVSDK and others send NaN for unused parameters, also of RETURN_TO_LAUNCH
    defaults = message.command >= FIRST_ACTION or message.command == mav.MAV_CMD_NAV_RETURN_TO_LAUNCH
    p1, p2, p3 = (0.0 if isnan(value) and defaults else value for value in parameters)
    again = bool(message.autocontinue)
    return MissionItem(message.command, frame, p1, p2, p3, message.param4, x, y, z, autocontinue=again), 0


def _used_fields(message: Any) -> tuple[bool, bool]:
    """Return whether x, y are a position and z an altitude; neither for an unknown command, which is refused later."""
    if message.mission_type != PlanKind.MISSION:
        return True, message.mission_type == PlanKind.RALLY
    kind = ITEM_KINDS.get(message.command)
    return (kind.place, kind.height) if kind is not None else (False, False)


def _value(value: float, used: bool) -> float:
    """Replace NaN in an unused field."""
    return 0.0 if isnan(value) and not used else value


def _wrong_place(frame: AltitudeFrame, x: float, y: float, z: float) -> int:
    if not isfinite(x) or (frame is not AltitudeFrame.MISSION and abs(x) > 90.0):
        return int(mav.MAV_MISSION_INVALID_PARAM5_X)
    if not isfinite(y) or (frame is not AltitudeFrame.MISSION and abs(y) > 180.0):
        return int(mav.MAV_MISSION_INVALID_PARAM6_Y)
    return 0 if isfinite(z) else int(mav.MAV_MISSION_INVALID_PARAM7)


def encode(item: MissionItem, seq: int, kind: PlanKind, current: bool, sender: Sender, integers: bool) -> Any:
    """Return MISSION_ITEM_INT, or MISSION_ITEM where `integers` is False."""
    scale = DEGREE if integers and item.frame != AltitudeFrame.MISSION else 1.0
    make = mav.MAVLink_mission_item_int_message if integers else mav.MAVLink_mission_item_message
    return make(
        sender.system,
        sender.component,
        seq,
        int(item.frame),
        item.command,
        int(current),
        int(item.autocontinue),
        *(item.p1, item.p2, item.p3, item.p4),
        *((int32(item.x, scale), int32(item.y, scale)) if integers else (item.x, item.y)),
        item.z,
        int(kind),
    )


def decode_place(x: int, y: int) -> tuple[float, float]:
    """Return latitude and longitude (deg) of a COMMAND_INT; NaN where not given."""
    unset = 2**31 - 1
    return (nan if x == unset else x / DEGREE), (nan if y == unset else y / DEGREE)
