"""From an item that goes somewhere to the leg that does it."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan, radians
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.crafts import drives
from paddock.sitl.autopilot.mission.items import Command
from paddock.sitl.autopilot.mission.leg import Leg
from paddock.sitl.autopilot.mission.places import Place, place_of
from paddock.sitl.autopilot.mission_item import MissionItem
from paddock.sitl.autopilot.targets import NavTarget, Task

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

TASKS = {
    Command.WAYPOINT: Task.WAYPOINT,
    Command.LOITER_UNLIM: Task.LOITER,
    Command.LOITER_TIME: Task.LOITER,
    Command.LOITER_TURNS: Task.CIRCLE,
    Command.RETURN_TO_LAUNCH: Task.RETURN,
    Command.LAND: Task.LAND,
    Command.TAKEOFF: Task.TAKEOFF,
    Command.DELAY: Task.DELAY,
}
WAITS = (Command.WAYPOINT, Command.LOITER_TIME, Command.DELAY)  # p1 is a time
THROUGH = (Command.WAYPOINT, Command.LOITER_UNLIM, Command.LOITER_TIME, Command.LAND)  # the way leads to their place
SMALLEST_CIRCLE = 1.0  # m
SMALLEST_RADIUS = 0.2  # m: no craft is asked to be closer


def make_leg(sequence: int, item: MissionItem, autopilot: BuiltInAutopilot, start: Place) -> Leg:
    """The leg to an item, from `start`."""
    task = TASKS[Command(item.command)]
    target = NavTarget(task, target=_place(item, autopilot, start), start=start, yaw=_yaw(item))
    if task is Task.CIRCLE:
        target = replace(target, radius=_circle_radius(item, autopilot), turns=item.p1)
    elif task is Task.LOITER and abs(item.p3) >= SMALLEST_CIRCLE:  # what cannot stand still goes round
        target = replace(target, radius=item.p3)
    wait = item.p1 if item.command in WAITS else inf if item.command == Command.LOITER_UNLIM else 0.0
    if task is not Task.DELAY and wait < inf:
        target = replace(target, hold=wait)
    flying = not drives(autopilot.craft.kind)
    return Leg(sequence, target, _acceptance(item, autopilot), wait, flying, target.yaw)


def goes_through(item: MissionItem) -> bool:
    """Whether the way leads to the item's own place, so that a corner before it can be rounded."""
    return item.command in THROUGH


def _place(item: MissionItem, autopilot: BuiltInAutopilot, start: Place) -> Place:
    if item.command == Command.RETURN_TO_LAUNCH:
        return autopilot.return_point()
    return place_of(item, autopilot, start)


def _yaw(item: MissionItem) -> float:
    """rad; 0 is what ground stations send for nothing in particular, as ArduPilot takes it."""
    asked = item.command == Command.WAYPOINT and item.p4 == item.p4 and item.p4 != 0.0
    return radians(item.p4) if asked else nan


def _acceptance(item: MissionItem, autopilot: BuiltInAutopilot) -> float:
    """m: the item's own radius, or the parameter's."""
    if item.command == Command.WAYPOINT and item.p2 > 0.0:
        return max(item.p2, SMALLEST_RADIUS)
    parameters = autopilot.parameters
    return parameters.value("WP_RADIUS") if "WP_RADIUS" in parameters else parameters.value("WPNAV_RADIUS") * 0.01


def _circle_radius(item: MissionItem, autopilot: BuiltInAutopilot) -> float:
    """m, + clockwise; 0 in the item: the parameter's."""
    if abs(item.p3) >= SMALLEST_CIRCLE:
        return item.p3
    parameters = autopilot.parameters
    if "CIRC_RADIUS" in parameters:
        return max(parameters.value("CIRC_RADIUS"), SMALLEST_CIRCLE)
    if "CIRCLE_RADIUS" in parameters:
        return max(parameters.value("CIRCLE_RADIUS") * 0.01, SMALLEST_CIRCLE)
    return max(abs(parameters.value("WP_LOITER_RAD")), SMALLEST_CIRCLE)
