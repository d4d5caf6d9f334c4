"""How the station puts a mission item on the wire."""

from __future__ import annotations

from typing import Any

from paddock.sitl.autopilot.mission.items import AltitudeFrame, MissionItem
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.mission_items import DEGREE

LARGEST = 2**31 - 1
"""What an integer of the wire holds."""


def scale_of(item: MissionItem) -> float:
    """Units on the wire per unit of `x` and `y`."""
    return 1.0 if item.frame == AltitudeFrame.MISSION else DEGREE


def item_message(item: MissionItem, sysid: int, sequence: int) -> Any:
    """MISSION_ITEM_INT for a system."""
    head = (sysid, 1, sequence, int(item.frame), item.command, 0, int(item.autocontinue))
    place = (round(item.x * scale_of(item)), round(item.y * scale_of(item)), item.z)
    return mav.MAVLink_mission_item_int_message(*head, item.p1, item.p2, item.p3, item.p4, *place, 0)
