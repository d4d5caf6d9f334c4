"""GUIDED targets: from SET_POSITION_TARGET messages, and from commands that steer the vehicle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite, isnan, nan, radians, remainder, tau
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.ack import ACCEPTED, Ack, CommandResult, denied, position_error, rejected, unsupported
from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.mission.items import CLIMB_SPEEDS
from paddock.sitl.autopilot.vehicle import drives

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

MAX_DISTANCE = 50_000.0  # m
MAX_ALTITUDE = 20_000.0  # m
MAX_SPEED = 200.0  # m/s
CHANGE_MODE = 1  # bit of MAV_DO_REPOSITION_FLAGS
NO_CHANGE, DEFAULT = -1.0, -2.0  # special speeds


@dataclass
class GuidedTarget:
    """The newest target for GUIDED; NaN: not given."""

    time_us: int = -1  # when it was set; velocity and attitude targets expire after 3 s
    position: Ned | None = None
    velocity: Ned | None = None  # m/s north, east, down
    attitude: tuple[float, float, float, float] | None = None  # quaternion w, x, y, z
    thrust: float = nan  # 0 to 1, with `attitude` (0.5: hold altitude)
    yaw: float = nan  # rad
    yaw_rate: float = nan  # rad/s, clockwise
    speed: float = nan  # m/s towards `position`
    takeoff: float = nan  # m above home to climb to first (MAV_CMD_NAV_TAKEOFF)


def take_target(autopilot: BuiltInAutopilot, target: GuidedTarget) -> Ack:
    """Take a target that arrived as a message: valid in GUIDED only."""
    elsewhere = rejected(f"Target rejected: mode is {autopilot.mode.name}, not GUIDED")
    ack = check_target(autopilot, target) if autopilot.mode.name == "GUIDED" else elsewhere
    if ack.accepted:
        _set_target(autopilot, target)
    else:
        autopilot.warn_throttled(ack.text)
    return ack


def _set_target(autopilot: BuiltInAutopilot, target: GuidedTarget) -> None:
    """Replace the target; a speed set by DO_CHANGE_SPEED is kept."""
    target.time_us = autopilot.now_us
    if isnan(target.speed):
        target.speed = autopilot.guided.speed
    autopilot.guided = target


def check_target(autopilot: BuiltInAutopilot, target: GuidedTarget) -> Ack:
    """Check a target, whatever the mode."""
    error = _target_error(autopilot, target)
    return denied(f"Target rejected: {error}") if error else ACCEPTED


def _target_error(autopilot: BuiltInAutopilot, target: GuidedTarget) -> str:
    for name in ("position", "velocity", "attitude"):
        values: Iterable[float] = getattr(target, name) or ()
        if not all(isfinite(value) for value in values):
            return f"{name} is not finite"
    if any(abs(value) > MAX_SPEED for value in target.velocity or ()):
        return f"velocity above {MAX_SPEED:.0f} m/s"
    if not isnan(target.speed) and not 0.0 < target.speed <= MAX_SPEED:
        return f"invalid speed {target.speed:g} m/s"
    if target.position is None:
        turns = not (isnan(target.yaw) and isnan(target.yaw_rate) and isnan(target.takeoff))
        return "" if target.velocity or target.attitude or turns else "target is empty"
    north, east, down = target.position
    distance = hypot(north - autopilot.estimate.north, east - autopilot.estimate.east)
    if distance > MAX_DISTANCE:
        return f"{distance / 1000.0:.0f} km away"
    if abs(down) > MAX_ALTITUDE:
        return f"altitude {-down:.0f} m"
    return "" if autopilot.fence.allows(north, east, down) else "outside the fence"


def reposition(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_REPOSITION: p1 speed (m/s), p2 flags (1: change to GUIDED), p4 yaw (rad), p5 to p7 the position."""
    error = position_error(p, frame)
    if error:
        return denied(f"Reposition: {error}")
    if not isnan(p[0]) and not 0.0 < p[0] <= MAX_SPEED and p[0] not in (NO_CHANGE, DEFAULT, 0.0):
        return denied(f"Reposition: invalid speed {p[0]:g} m/s")
    change = not isnan(p[1]) and int(p[1]) & CHANGE_MODE
    if autopilot.mode.name != "GUIDED" and not change:
        return denied(f"Reposition: mode is {autopilot.mode.name}, not GUIDED")
    return _send_to(autopilot, p, frame, speed=p[0] if p[0] > 0.0 else nan, yaw=p[3])


def go_to(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_WAYPOINT outside of a mission: go to p5 to p7, in GUIDED."""
    error = position_error(p, frame)
    if error:
        return denied(f"Waypoint: {error}")
    if autopilot.mode.name != "GUIDED":
        return rejected(f"Waypoint: mode is {autopilot.mode.name}, not GUIDED")
    return _send_to(autopilot, p, frame, speed=nan, yaw=nan)


def _send_to(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int, speed: float, yaw: float) -> Ack:
    """Go to a position, at the current altitude if none is given."""
    place = autopilot.home_position.to_ned(p[4], p[5], p[6], frame)
    if place is None or not autopilot.estimate.position_ok:
        return Ack(CommandResult.TEMPORARILY_REJECTED, "Target rejected: no position estimate")
    down = autopilot.estimate.down if isnan(p[6]) else place[2]
    target = GuidedTarget(position=(place[0], place[1], down), speed=speed, yaw=yaw)
    number = autopilot.mode_number("GUIDED")
    if number is None:
        return unsupported(autopilot, "GUIDED mode")
    ack = check_target(autopilot, target)
    ack = autopilot.set_mode(number) if ack.accepted else ack
    if ack.accepted:
        _set_target(autopilot, target)
    return ack


def change_speed(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_CHANGE_SPEED: p1 0 or 1 ground speed, 2 climb, 3 descent; p2 m/s, -1 no change, -2 default."""
    speed = p[1]
    if p[0] in CLIMB_SPEEDS:
        # change the parameter until the next boot
        name = CLIMB_SPEEDS[p[0]]
        if name not in autopilot.parameters:
            return unsupported(autopilot, "Climb speed")
        known = autopilot.parameters.known(name)
        wanted = known.default if speed == DEFAULT else speed * 100.0
        if known.fit(wanted) is None and speed != NO_CHANGE:
            return denied(f"Speed: invalid speed {speed:g} m/s")
        if speed != NO_CHANGE:
            autopilot.parameters.override({name: wanted})
        return ACCEPTED
    if p[0] not in (0.0, 1.0):
        return denied(f"Speed: unknown type {p[0]:g}")
    if isnan(speed) or (speed not in (NO_CHANGE, DEFAULT) and not 0.0 < speed <= MAX_SPEED):
        return denied(f"Speed: invalid speed {speed:g} m/s")
    if speed != NO_CHANGE:
        autopilot.executor.change_speed(speed)
        autopilot.guided = replace(autopilot.guided, speed=speed if speed > 0.0 else nan)
    return ACCEPTED


def yaw(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """CONDITION_YAW in GUIDED: p1 deg, p3 direction (-1, 1), p4 1 relative."""
    if autopilot.vehicle.kind != "copter":
        return unsupported(autopilot, "Yaw")
    if isnan(p[0]) or abs(p[0]) > 360.0 or p[3] not in (0.0, 1.0):
        return denied(f"Yaw: {p[0]:g} deg is not in -360 to 360")
    way = -1.0 if p[2] < 0.0 else 1.0
    return _turn(autopilot, autopilot.estimate.yaw + way * radians(p[0]) if p[3] else radians(p[0]))


def change_heading(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """GUIDED_CHANGE_HEADING: p2 deg."""
    if drives(autopilot.vehicle.kind):
        return unsupported(autopilot, "Heading")
    return denied("Heading: not a number") if isnan(p[1]) else _turn(autopilot, radians(p[1]))


def _turn(autopilot: BuiltInAutopilot, wanted: float) -> Ack:
    if autopilot.mode.name != "GUIDED":
        return rejected(f"Yaw: mode is {autopilot.mode.name}, not GUIDED")
    autopilot.guided = replace(autopilot.guided, yaw=remainder(wanted, tau), yaw_rate=nan)
    return ACCEPTED


def change_altitude(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """GUIDED_CHANGE_ALTITUDE: p7 m, at the current position."""
    if drives(autopilot.vehicle.kind):
        return unsupported(autopilot, "Altitude")
    here = autopilot.frame
    if isnan(p[6]) or here is None:
        return denied("Altitude: not a number") if isnan(p[6]) else rejected("Altitude: no position estimate")
    if autopilot.mode.name != "GUIDED":
        return rejected(f"Altitude: mode is {autopilot.mode.name}, not GUIDED")
    latitude, longitude, _ = here.to_geodetic(autopilot.estimate.north, autopilot.estimate.east, 0.0)
    return _send_to(autopilot, (*p[:4], latitude, longitude, p[6]), frame, nan, nan)
