"""Missions for the scenario's ground station, from points or files, checked before the upload."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any

from paddock.errors import PaddockError
from paddock.sitl.autopilot.estimate import LocalFrame
from paddock.sitl.autopilot.mission.items import ITEM_KINDS, AltitudeFrame, MissionItem, MissionResult, check_mission
from paddock.sitl.mavlink.dialect import mav
from paddock.sitl.mavlink.mission_items import DEGREE, decode
from paddock.wire.json_document import parse_document
from paddock.wire.qgc_plan import RETURN, TAKEOFF, WAYPOINT, PlanItem, read_plan, read_waypoints

FLYING = ("copter", "plane")
TAKEOFF_HEIGHT = 10.0  # m above home, unless the first point is lower
MAX_INT32 = 2**31 - 1
MAX_COMMAND, MAX_FRAME = 65_535, 255
MAX_FLOAT32 = 3.4e38
REASONS = {
    MissionResult.UNSUPPORTED_FRAME: "frame {item.frame} is not valid for command {item.command}",
    MissionResult.UNSUPPORTED: "command {item.command} is not supported in a mission of a {craft}",
    MissionResult.NO_SPACE: "too many items",
    MissionResult.INVALID_PARAM1: "parameter 1 cannot be {item.p1:g}",
    MissionResult.INVALID_PARAM2: "parameter 2 cannot be {item.p2:g}",
    MissionResult.INVALID_PARAM3: "parameter 3 cannot be {item.p3:g}",
    MissionResult.INVALID_PARAM4: "parameter 4 cannot be {item.p4:g}",
    MissionResult.INVALID_PARAM5_X: "latitude cannot be {item.x:g}",
    MissionResult.INVALID_PARAM6_Y: "longitude cannot be {item.y:g}",
    MissionResult.INVALID_PARAM7: "altitude cannot be {item.z:g}",
}

Point = tuple[float, float, float]


def point_mission(points: Sequence[Point], start: LocalFrame, craft: str) -> list[MissionItem]:
    """Return items for points [x, y, z] (m east, north, up of the start); copters take off first, aircraft return."""
    items = [_at(WAYPOINT, start, (0.0, 0.0, 0.0), AltitudeFrame.GLOBAL, start.altitude)]  # home
    if craft == "copter":
        height = min(points[0][2], TAKEOFF_HEIGHT) or TAKEOFF_HEIGHT
        items.append(_at(TAKEOFF, start, (0.0, 0.0, 0.0), AltitudeFrame.RELATIVE, height))
    items += [_at(WAYPOINT, start, point, AltitudeFrame.RELATIVE, point[2]) for point in points]
    if craft in FLYING:
        items.append(MissionItem(RETURN, AltitudeFrame.MISSION))
    return items


def _at(command: int, start: LocalFrame, point: Point, frame: AltitudeFrame, altitude: float) -> MissionItem:
    latitude, longitude, _ = start.to_geodetic(point[1], point[0], 0.0)
    return MissionItem(command, frame, x=latitude, y=longitude, z=altitude)


def mission_file(path: str | Path, craft: str) -> list[MissionItem]:
    """Return the items of a `.plan` or `.waypoints` file, home first; PaddockError if the craft cannot fly them."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PaddockError(f"mission {file}: cannot read: {getattr(error, 'strerror', None) or error}") from None
    items = _read(text, str(file))
    for k, item in enumerate(items):  # zeros for an omitted place, where the command needs none
        kind = ITEM_KINDS.get(item.command)
        if kind is None or not kind.place:
            items[k] = replace(item, x=0.0 if isnan(item.x) else item.x, y=0.0 if isnan(item.y) else item.y)
    if len(items) < 2:
        raise PaddockError(f"mission {file}: no items")
    if (found := objection(items, craft)) is not None:
        raise PaddockError(f"mission {file}: item {found[0]}: {found[1]}")
    return items


def _read(text: str, source: str) -> list[MissionItem]:
    if text.startswith("QGC WPL"):
        return [_item(item) for item in read_waypoints(text, source)]
    plan = read_plan(parse_document(text, source))
    if plan.home is None:
        raise PaddockError(f"mission {source}: plannedHomePosition is missing")
    latitude, longitude, altitude = plan.home
    home = MissionItem(WAYPOINT, AltitudeFrame.GLOBAL, x=latitude, y=longitude, z=altitude or 0.0)
    return [home, *map(_item, plan.commands())]


def _item(item: PlanItem) -> MissionItem:
    p1, p2, p3, p4, x, y, z = (nan if value is None else value for value in item.params)
    return MissionItem(item.command, item.frame, p1, p2, p3, p4, x, y, z)


def item_message(item: MissionItem, sysid: int, sequence: int) -> Any:
    """Return MISSION_ITEM_INT for a system."""
    head = (sysid, 1, sequence, int(item.frame), item.command, 0, int(item.autocontinue))
    place = (round(item.x * _scale(item)), round(item.y * _scale(item)), item.z)
    return mav.MAVLink_mission_item_int_message(*head, item.p1, item.p2, item.p3, item.p4, *place, 0)


def _scale(item: MissionItem) -> float:
    """Return the units on the wire per unit of `x` and `y`."""
    return 1.0 if item.frame == AltitudeFrame.MISSION else DEGREE


def objection(items: Sequence[MissionItem], craft: str) -> tuple[int, str] | None:
    """Return the number of the first item that the craft refuses, home being 0, and the reason; None if it has none."""
    decoded = []
    for k, item in enumerate(items):
        if result := _wire_limit(item):
            return k, _reason(result, item, craft)
        received, result = decode(item_message(item, 0, k))
        if received is None:
            return k, _reason(result, item, craft)
        decoded.append(received)
    result, k = check_mission(decoded, craft)
    return (k, _reason(result, items[k], craft)) if result else None


def _wire_limit(item: MissionItem) -> int:
    """Return the result for a value that MAVLink's types cannot hold, or 0."""
    if not 0 <= item.command <= MAX_COMMAND:
        return MissionResult.UNSUPPORTED
    if not 0 <= item.frame <= MAX_FRAME:
        return MissionResult.UNSUPPORTED_FRAME
    for k, value in enumerate((item.p1, item.p2, item.p3, item.p4)):
        if not (isnan(value) or abs(value) <= MAX_FLOAT32):
            return MissionResult.INVALID_PARAM1 + k
    for k, value in enumerate((item.x, item.y)):
        if not (isfinite(value) and abs(value) * _scale(item) <= MAX_INT32):
            return MissionResult.INVALID_PARAM5_X + k
    return 0 if abs(item.z) <= MAX_FLOAT32 else MissionResult.INVALID_PARAM7


def _reason(result: int, item: MissionItem, craft: str) -> str:
    known = REASONS.get(MissionResult(result)) if result in list(MissionResult) else None
    return known.format(item=item, craft=craft) if known else f"result {result}"
