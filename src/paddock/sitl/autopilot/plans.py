"""Taking the plans that ground stations upload: missions, fences, rally points."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.mission import check_mission, check_mission_item
from paddock.sitl.autopilot.mission.checks import MissionResult
from paddock.sitl.autopilot.mission.items import plain_frame
from paddock.sitl.autopilot.mission_item import Frame, MissionItem, PlanKind
from paddock.sitl.autopilot.notices import Severity
from paddock.sitl.autopilot.zones import CIRCLES, VERTICES, FenceItem, width_of

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

RALLY_POINT = 5100
MOST_ITEMS = {PlanKind.MISSION: 32766, PlanKind.FENCE: 2000, PlanKind.RALLY: 255}
LEAST_VERTICES = 3
LEAST_WIDTH = 0.1  # m of a polygon
MOST_RADIUS = 100_000.0  # m
MOST_HEIGHT = 100_000.0  # m
TOTALS = {PlanKind.MISSION: "MIS_TOTAL", PlanKind.FENCE: "FENCE_TOTAL", PlanKind.RALLY: "RALLY_TOTAL"}


def check(autopilot: BuiltInAutopilot, kind: PlanKind, item: MissionItem) -> int:
    """MAV_MISSION_RESULT of a single item."""
    if kind == PlanKind.MISSION:
        return check_mission_item(item, autopilot.craft.kind)
    return _check_fence(item) if kind == PlanKind.FENCE else _check_rally(item)


def accept(autopilot: BuiltInAutopilot, kind: PlanKind, items: tuple[MissionItem, ...]) -> tuple[int, int]:
    """Replace the plan if all of it is good: MAV_MISSION_RESULT, index of the offending item."""
    result, index = _check_all(autopilot, kind, items)
    if result:
        return result, index
    autopilot.plans[kind] = items
    autopilot.parameters.show(TOTALS[kind], len(items))
    if kind == PlanKind.FENCE:
        _use_fence(autopilot, items)
    return MissionResult.ACCEPTED, 0


def _use_fence(autopilot: BuiltInAutopilot, items: tuple[MissionItem, ...]) -> None:
    autopilot.fence.use(items)
    if any(item.command == FenceItem.RETURN_POINT for item in items):
        autopilot.say(Severity.NOTICE, "Fence: no use for its return point, RTL goes home or to a rally point")


def _check_all(autopilot: BuiltInAutopilot, kind: PlanKind, items: tuple[MissionItem, ...]) -> tuple[int, int]:
    if len(items) > MOST_ITEMS[kind]:
        return MissionResult.NO_SPACE, MOST_ITEMS[kind]
    if kind == PlanKind.MISSION:
        return check_mission(items, autopilot.craft.kind)
    for index, item in enumerate(items):
        result = check(autopilot, kind, item)
        if result:
            return result, index
    return _check_polygons(items) if kind == PlanKind.FENCE else (MissionResult.ACCEPTED, 0)


def _check_place(item: MissionItem) -> int:
    if plain_frame(item.frame) not in (Frame.GLOBAL, Frame.RELATIVE, Frame.TERRAIN):
        return MissionResult.UNSUPPORTED_FRAME
    if not -90.0 <= item.x <= 90.0:  # NaN is in no range
        return MissionResult.INVALID_PARAM5_X
    return MissionResult.ACCEPTED if -180.0 <= item.y <= 180.0 else MissionResult.INVALID_PARAM6_Y


def _check_fence(item: MissionItem) -> int:
    if item.command not in tuple(FenceItem):
        return MissionResult.UNSUPPORTED
    if item.command in VERTICES and not (isfinite(item.p1) and item.p1 == int(item.p1) >= LEAST_VERTICES):
        return MissionResult.INVALID_PARAM1
    if item.command in CIRCLES and not 0.0 < item.p1 <= MOST_RADIUS:
        return MissionResult.INVALID_PARAM1
    return _check_place(item)


def _check_rally(item: MissionItem) -> int:
    if item.command != RALLY_POINT:
        return MissionResult.UNSUPPORTED
    if not -MOST_HEIGHT <= item.z <= MOST_HEIGHT:
        return MissionResult.INVALID_PARAM7
    return _check_place(item)


def _check_polygons(items: tuple[MissionItem, ...]) -> tuple[int, int]:
    """All vertices of a polygon follow each other, tell the same count, and enclose something."""
    k = 0
    while k < len(items):
        first = items[k]
        count = int(first.p1) if first.command in VERTICES else 1
        for index in range(k, k + count):
            if index >= len(items):
                return MissionResult.INVALID_PARAM1, k
            if items[index].command != first.command or items[index].p1 != first.p1:
                return MissionResult.INVALID_PARAM1, index
        if first.command in VERTICES and width_of(items[k : k + count]) < LEAST_WIDTH:
            return MissionResult.INVALID, k
        k += count
    return MissionResult.ACCEPTED, 0
