"""Commands that steer a vehicle in GUIDED."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan, nan, radians, remainder, tau
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.answer import ACCEPTED, Answer, Result
from paddock.sitl.autopilot.commands.checks import denied, not_now, place_wrong, unsupported
from paddock.sitl.autopilot.crafts import drives
from paddock.sitl.autopilot.mission.items import CLIMB_SPEEDS
from paddock.sitl.autopilot.position_target import guide
from paddock.sitl.autopilot.targets import GuidedTarget

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

CHANGE_MODE = 1  # bit of MAV_DO_REPOSITION_FLAGS
FASTEST = 200.0  # m/s
NO_CHANGE, DEFAULT = -1.0, -2.0  # of a speed


def reposition(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_REPOSITION: p1 speed (m/s), p2 flags (1: change to GUIDED), p4 yaw (rad), p5 to p7 the place."""
    wrong = place_wrong(p, frame)
    if wrong:
        return denied(f"Reposition: {wrong}")
    if not isnan(p[0]) and not 0.0 < p[0] <= FASTEST and p[0] not in (NO_CHANGE, DEFAULT, 0.0):
        return denied(f"Reposition: speed {p[0]:g} m/s")
    change = not isnan(p[1]) and int(p[1]) & CHANGE_MODE
    if autopilot.mode.name != "GUIDED" and not change:
        return denied(f"Reposition: only in GUIDED, not in {autopilot.mode.name}")
    return _send(autopilot, p, frame, speed=p[0] if p[0] > 0.0 else nan, yaw=p[3])


def go_to(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """NAV_WAYPOINT, outside of a mission: go there, in GUIDED."""
    wrong = place_wrong(p, frame)
    if wrong:
        return denied(f"Waypoint: {wrong}")
    if autopilot.mode.name != "GUIDED":
        return not_now(f"Waypoint: only in GUIDED, not in {autopilot.mode.name}")
    return _send(autopilot, p, frame, speed=nan, yaw=nan)


def _send(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int, speed: float, yaw: float) -> Answer:
    """To a place; without an altitude at the height it has now."""
    place = autopilot.homes.to_ned(p[4], p[5], p[6], frame)
    if place is None or not autopilot.estimate.position_ok:
        return Answer(Result.TEMPORARILY_REJECTED, "Target refused: no position yet")
    down = autopilot.estimate.down if isnan(p[6]) else place[2]
    order = GuidedTarget(position=(place[0], place[1], down), speed=speed, yaw=yaw)
    return guide(autopilot, order)


def change_speed(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """DO_CHANGE_SPEED: p1 0 or 1 over the ground, 2 climb, 3 descent; p2 m/s, -1 no change, -2 default."""
    speed = p[1]
    if p[0] in CLIMB_SPEEDS:
        return _change_climb(autopilot, CLIMB_SPEEDS[p[0]], speed)
    if p[0] not in (0.0, 1.0):
        return denied(f"Speed: there is no type {p[0]:g}")
    if isnan(speed) or (speed not in (NO_CHANGE, DEFAULT) and not 0.0 < speed <= FASTEST):
        return denied(f"Speed: {speed:g} m/s")
    if speed != NO_CHANGE:
        autopilot.executor.change_speed(speed)
        autopilot.guided = replace(autopilot.guided, speed=speed if speed > 0.0 else nan)
    return ACCEPTED


def _change_climb(autopilot: BuiltInAutopilot, name: str, speed: float) -> Answer:
    """The parameter is changed until the next boot."""
    if name not in autopilot.parameters:
        return unsupported(autopilot, "Climb")
    known = autopilot.parameters.known(name)
    wanted = known.default if speed == DEFAULT else speed * 100.0
    if known.fit(wanted) is None and speed != NO_CHANGE:
        return denied(f"Speed: {speed:g} m/s")
    if speed != NO_CHANGE:
        autopilot.parameters.override({name: wanted})
    return ACCEPTED


def yaw(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """CONDITION_YAW: p1 deg, p3 way (-1, 1), p4 1 relative; in GUIDED."""
    if autopilot.craft.kind != "copter":
        return unsupported(autopilot, "Yaw")
    if isnan(p[0]) or abs(p[0]) > 360.0 or p[3] not in (0.0, 1.0):
        return denied(f"Yaw: {p[0]:g} deg is not in -360 to 360")
    way = -1.0 if p[2] < 0.0 else 1.0
    wanted = autopilot.estimate.yaw + way * radians(p[0]) if p[3] else radians(p[0])
    return _turn(autopilot, wanted)


def change_heading(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """GUIDED_CHANGE_HEADING: p2 deg."""
    if drives(autopilot.craft.kind):
        return unsupported(autopilot, "Heading")
    return denied("Heading: not a number") if isnan(p[1]) else _turn(autopilot, radians(p[1]))


def _turn(autopilot: BuiltInAutopilot, wanted: float) -> Answer:
    if autopilot.mode.name != "GUIDED":
        return not_now(f"Yaw: only in GUIDED, not in {autopilot.mode.name}")
    autopilot.guided = replace(autopilot.guided, yaw=remainder(wanted, tau), yaw_rate=nan)
    return ACCEPTED


def change_altitude(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Answer:
    """GUIDED_CHANGE_ALTITUDE: p7 m, over the place where it is."""
    if drives(autopilot.craft.kind):
        return unsupported(autopilot, "Altitude")
    here = autopilot.frame
    if isnan(p[6]) or here is None:
        return denied("Altitude: not a number") if isnan(p[6]) else not_now("Altitude: no position yet")
    if autopilot.mode.name != "GUIDED":
        return not_now(f"Altitude: only in GUIDED, not in {autopilot.mode.name}")
    latitude, longitude, _ = here.to_geodetic(autopilot.estimate.north, autopilot.estimate.east, 0.0)
    return _send(autopilot, (*p[:4], latitude, longitude, p[6]), frame, nan, nan)
