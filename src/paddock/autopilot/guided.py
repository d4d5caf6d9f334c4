"""GUIDED targets: from SET_POSITION_TARGET messages, and from commands that steer the vehicle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan, radians, remainder, tau
from typing import TYPE_CHECKING

from paddock.autopilot.contract import drives
from paddock.autopilot.estimate import Ned
from paddock.autopilot.mission_items import CLIMB_SPEEDS, POSITION_FRAMES, YAW_SPEED
from paddock.autopilot.telemetry import Ack, CommandResult, denied, rejected, require, unsupported

if TYPE_CHECKING:
    from paddock.autopilot.autopilot import BuiltInAutopilot

MAX_DISTANCE = 50_000.0  # m
MAX_ALTITUDE = 20_000.0  # m
MAX_SPEED = 200.0  # m/s
STALE_US = 3_000_000  # age at which a velocity, a heading or an attitude expires
CHANGE_MODE = 1  # bit of MAV_DO_REPOSITION_FLAGS
NO_CHANGE, DEFAULT = -1.0, -2.0  # special speeds


@dataclass(frozen=True)
class GuidedTarget:
    """The newest target for GUIDED; NaN: not given."""

    time_us: int = -1  # when it was set
    position: Ned | None = None
    velocity: Ned | None = None  # m/s north, east, down
    attitude: tuple[float, float, float, float] | None = None  # quaternion w, x, y, z
    thrust: float = nan  # 0 to 1, with `attitude` (0.5: hold altitude)
    yaw: float = nan  # rad
    yaw_rate: float = nan  # rad/s, clockwise
    speed: float = nan  # m/s towards `position`
    pace: float = nan  # m/s along the nose while it heads for `yaw`, negative backwards; of rovers
    takeoff: float = nan  # m above home to climb to first (MAV_CMD_NAV_TAKEOFF)
    number: int = 0  # of all targets since boot


def require_position(p: Sequence[float], frame: int, what: str) -> None:
    """Refuse a command whose frame, latitude (p[4], deg) or longitude (p[5], deg) is invalid."""
    require(frame in POSITION_FRAMES, denied(f"{what}: unsupported frame {frame}"))
    valid = -90.0 <= p[4] <= 90.0 and -180.0 <= p[5] <= 180.0  # NaN is in no range
    require(valid, denied(f"{what}: invalid position {p[4]:g}, {p[5]:g}"))


def require_guided(autopilot: BuiltInAutopilot, what: str) -> None:
    """Refuse a command unless the mode is GUIDED."""
    name = autopilot.mode.name
    require(name == "GUIDED", rejected(f"{what}: mode is {name}, not GUIDED"))


def local_position(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int, what: str) -> Ned:
    """Return the position of a command in the local frame, m. p: its parameters. what: its name in refusals."""
    require_position(p, frame, what)
    position = autopilot.home_position.to_ned(p[4], p[5], p[6], frame)
    return require(position, rejected(f"{what}: no position estimate"))


def require_target(autopilot: BuiltInAutopilot, target: GuidedTarget) -> None:
    """Refuse an invalid target, whatever the mode."""

    def check(valid: bool, text: str) -> None:
        require(valid, denied(f"Target rejected: {text}"))

    for name in ("position", "velocity", "attitude"):
        check(all(map(isfinite, getattr(target, name) or ())), f"{name} is not finite")
    check(all(abs(value) <= MAX_SPEED for value in target.velocity or ()), f"velocity above {MAX_SPEED:.0f} m/s")
    check(isnan(target.speed) or 0.0 < target.speed <= MAX_SPEED, f"invalid speed {target.speed:g} m/s")
    if target.position is None:
        turns = not (isnan(target.yaw) and isnan(target.yaw_rate) and isnan(target.takeoff))
        check(bool(target.velocity or target.attitude or turns), "target is empty")
        return
    north, east, down = target.position
    distance = autopilot.estimate.distance(target.position)
    check(distance <= MAX_DISTANCE, f"{distance / 1000.0:.0f} km away")
    check(abs(down) <= MAX_ALTITUDE, f"altitude {-down:.0f} m")
    check(autopilot.fence.allows(north, east, down), "outside the fence")


def set_target(autopilot: BuiltInAutopilot, target: GuidedTarget) -> None:
    """Replace the target; a speed set by DO_CHANGE_SPEED is kept."""
    speed = autopilot.guided.speed if isnan(target.speed) else target.speed
    autopilot.replace_target(replace(target, time_us=autopilot.now_us, speed=speed))


def reposition(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """DO_REPOSITION: p1 speed (m/s), p2 flags (1: change to GUIDED), p4 yaw (rad), p5 to p7 the position."""
    require_position(p, frame, "Reposition")
    speed = isnan(p[0]) or 0.0 < p[0] <= MAX_SPEED or p[0] in (NO_CHANGE, DEFAULT, 0.0)
    require(speed, denied(f"Reposition: invalid speed {p[0]:g} m/s"))
    change = not isnan(p[1]) and bool(int(p[1]) & CHANGE_MODE)
    name = autopilot.mode.name
    require(change or name == "GUIDED", denied(f"Reposition: mode is {name}, not GUIDED"))
    return _set_position_target(autopilot, p, frame, speed=p[0] if p[0] > 0.0 else nan, yaw=p[3])


def go_to(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """NAV_WAYPOINT outside of a mission: go to p5 to p7, in GUIDED."""
    require_position(p, frame, "Waypoint")
    require_guided(autopilot, "Waypoint")
    return _set_position_target(autopilot, p, frame)


def _set_position_target(
    autopilot: BuiltInAutopilot, p: Sequence[float], frame: int, speed: float = nan, yaw: float = nan
) -> Ack:
    """Go to the position in p (parameters), at the current altitude if none is given. speed: m/s. yaw: rad."""
    unknown = rejected("Target rejected: no position estimate")
    position = require(autopilot.home_position.to_ned(p[4], p[5], p[6], frame), unknown)
    require(bool(autopilot.estimate.position_ok), unknown)
    down = autopilot.estimate.down if isnan(p[6]) else position[2]
    target = GuidedTarget(position=(position[0], position[1], down), speed=speed, yaw=yaw)
    number = require(autopilot.mode_number("GUIDED"), unsupported(autopilot, "GUIDED mode"))
    require_target(autopilot, target)
    ack = autopilot.set_mode(number)
    if ack.accepted:
        set_target(autopilot, target)
    return ack


def require_airspeed(autopilot: BuiltInAutopilot, speed: float) -> None:
    """Fail as ArduPlane does, unless the mode uses a commanded airspeed and the plane can fly at it; -2 is default."""
    slowest, fastest = (autopilot.parameters.value(name) for name in ("AIRSPEED_MIN", "AIRSPEED_MAX"))
    flown = autopilot.mode.name in ("AUTO", "GUIDED")
    require(flown, Ack(CommandResult.FAILED, f"Speed: mode is {autopilot.mode.name}, not AUTO or GUIDED"))
    beyond = f"Speed: {speed:g} m/s is not in {slowest:g} to {fastest:g} (AIRSPEED_MIN, AIRSPEED_MAX)"
    require(speed == DEFAULT or slowest <= speed <= fastest, Ack(CommandResult.FAILED, beyond))


def change_speed(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """DO_CHANGE_SPEED: p1 0 or 1 ground speed, 2 climb, 3 descent; p2 m/s, -1 no change, -2 default."""
    speed, parameters = p[1], autopilot.parameters
    invalid = denied(f"Speed: invalid speed {speed:g} m/s")
    if p[0] in CLIMB_SPEEDS:  # changes the parameter until the next boot
        name = CLIMB_SPEEDS[p[0]]
        require(name in parameters, unsupported(autopilot, "Climb speed"))
        known = parameters.known(name)
        setting = known.default if speed == DEFAULT else speed * 100.0
        if speed != NO_CHANGE:
            require(known.fit(setting), invalid)
            parameters.override({name: setting})
        return
    require(p[0] in (0.0, 1.0), denied(f"Speed: unknown type {p[0]:g}"))
    if autopilot.vehicle.kind == "plane" and p[0] == 0.0:
        require_airspeed(autopilot, speed)
    require(speed in (NO_CHANGE, DEFAULT) or 0.0 < speed <= MAX_SPEED, invalid)
    if speed != NO_CHANGE:
        autopilot.executor.actions.change_speed(speed)
        autopilot.replace_target(replace(autopilot.guided, speed=autopilot.executor.actions.speed))


def yaw(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """CONDITION_YAW in GUIDED: p1 deg, p3 direction (-1, 1), p4 1 relative."""
    require(autopilot.vehicle.kind == "copter", unsupported(autopilot, "Yaw"))
    require(abs(p[0]) <= 360.0 and p[3] in (0.0, 1.0), denied(f"Yaw: {p[0]:g} deg is not in -360 to 360"))
    sign = -1.0 if p[2] < 0.0 else 1.0
    _turn(autopilot, autopilot.estimate.yaw + sign * radians(p[0]) if p[3] else radians(p[0]))


def turn_and_drive(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """NAV_SET_YAW_SPEED in GUIDED: a rover heads for p1 deg at p2 m/s, negative backwards; p3 1 relative.

    As every heading in GUIDED it ends after 3 s without another command.
    """
    require(drives(autopilot.vehicle.kind), unsupported(autopilot, "Yaw and speed"))
    for number, (low, high) in YAW_SPEED.items():
        value = denied(f"Yaw and speed: p{number} {p[number - 1]:g} is not in {low:g} to {high:g}")
        require(low <= p[number - 1] <= high, value)
    require_guided(autopilot, "Yaw and speed")
    heading = radians(p[0]) + (autopilot.estimate.yaw if p[2] > 0.0 else 0.0)
    set_target(autopilot, GuidedTarget(yaw=remainder(heading, tau), pace=p[1]))


def change_heading(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> None:
    """GUIDED_CHANGE_HEADING: p2 deg."""
    require(not drives(autopilot.vehicle.kind), unsupported(autopilot, "Heading"))
    require(not isnan(p[1]), denied("Heading: not a number"))
    _turn(autopilot, radians(p[1]))


def _turn(autopilot: BuiltInAutopilot, heading: float) -> None:
    require_guided(autopilot, "Yaw")
    autopilot.replace_target(replace(autopilot.guided, yaw=remainder(heading, tau), yaw_rate=nan))


def change_altitude(autopilot: BuiltInAutopilot, p: Sequence[float], frame: int) -> Ack:
    """GUIDED_CHANGE_ALTITUDE: p7 m, at the current position."""
    require(not drives(autopilot.vehicle.kind), unsupported(autopilot, "Altitude"))
    require(not isnan(p[6]), denied("Altitude: not a number"))
    here, now = require(autopilot.frame, rejected("Altitude: no position estimate")), autopilot.estimate
    require_guided(autopilot, "Altitude")
    return _set_position_target(autopilot, (*p[:4], *here.to_geodetic(now.north, now.east, 0.0)[:2], p[6]), frame)
