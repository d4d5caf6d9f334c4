"""Whether a vehicle will take a mission, known before it is uploaded: what is wrong is told with the item's number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, isnan

from paddock.sitl.autopilot.mission.items import ITEM_KINDS, MissionItem, MissionResult, check_mission
from paddock.sitl.mavlink.mission_items import decode
from paddock.sitl.station.item_message import LARGEST, item_message, scale_of

MOST_COMMAND, MOST_FRAME = 65_535, 255
MOST_FLOAT = 3.4e38
"""What fits a number of 32 bits on the wire."""

REASONS = {
    MissionResult.UNSUPPORTED_FRAME: "its frame {item.frame} cannot be used with command {item.command}",
    MissionResult.UNSUPPORTED: "a {craft} has no use for command {item.command} in a mission",
    MissionResult.NO_SPACE: "there are too many items",
    MissionResult.INVALID_PARAM1: "parameter 1 cannot be {item.p1:g}",
    MissionResult.INVALID_PARAM2: "parameter 2 cannot be {item.p2:g}",
    MissionResult.INVALID_PARAM3: "parameter 3 cannot be {item.p3:g}",
    MissionResult.INVALID_PARAM4: "parameter 4 cannot be {item.p4:g}",
    MissionResult.INVALID_PARAM5_X: "its latitude cannot be {item.x:g}",
    MissionResult.INVALID_PARAM6_Y: "its longitude cannot be {item.y:g}",
    MissionResult.INVALID_PARAM7: "its altitude cannot be {item.z:g}",
}


def anywhere(item: MissionItem) -> MissionItem:
    """With zeros for a place that was left out, where the item needs none."""
    kind = ITEM_KINDS.get(item.command)
    if kind is not None and kind.place:
        return item
    return replace(item, x=0.0 if isnan(item.x) else item.x, y=0.0 if isnan(item.y) else item.y)


def objection(items: Sequence[MissionItem], craft: str) -> tuple[int, str] | None:
    """The number of the first item that a craft of that kind does not take, home being 0, and why; None if it will."""
    arrived = []
    for k, item in enumerate(items):
        if result := _off_the_wire(item):
            return k, _reason(result, item, craft)
        seen, result = decode(item_message(item, 0, k))
        if seen is None:
            return k, _reason(result, item, craft)
        arrived.append(seen)
    result, k = check_mission(arrived, craft)
    return (k, _reason(result, items[k], craft)) if result else None


def _off_the_wire(item: MissionItem) -> int:
    """What MAVLink's numbers cannot hold."""
    if not 0 <= item.command <= MOST_COMMAND:
        return MissionResult.UNSUPPORTED
    if not 0 <= item.frame <= MOST_FRAME:
        return MissionResult.UNSUPPORTED_FRAME
    for k, value in enumerate((item.p1, item.p2, item.p3, item.p4)):
        if not (isnan(value) or abs(value) <= MOST_FLOAT):
            return MissionResult.INVALID_PARAM1 + k
    for k, value in enumerate((item.x, item.y)):
        if not (isfinite(value) and abs(value) * scale_of(item) <= LARGEST):
            return MissionResult.INVALID_PARAM5_X + k
    return 0 if abs(item.z) <= MOST_FLOAT else MissionResult.INVALID_PARAM7


def _reason(result: int, item: MissionItem, craft: str) -> str:
    known = REASONS.get(MissionResult(result)) if result in list(MissionResult) else None
    return known.format(item=item, craft=craft) if known else f"result {result}"
