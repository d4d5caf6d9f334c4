"""Where to go: what the mission asks of a craft, and what a ground station or companion asks in guided mode."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from math import nan


class Task(Enum):
    """What the mission's current item asks for."""

    TAKEOFF = "takeoff"  # climb to the target's height
    WAYPOINT = "waypoint"  # go there on the line from `start`; `hold` s there
    LOITER = "loiter"  # go there and stay (a copter hovers, a rover holds position) until told otherwise
    CIRCLE = "circle"  # go round `target` at `radius` (+ clockwise), `turns` times
    LAND = "land"  # go there and land
    RETURN = "return"  # as the mode RTL does
    DELAY = "delay"  # stay where you are
    DONE = "done"  # the mission is over: hold (a copter that is in the air loiters)


@dataclass(frozen=True)
class NavTarget:
    """The executor's word to AUTO; positions are north, east, down (m) in the autopilot's local frame."""

    task: Task
    target: tuple[float, float, float] = (0.0, 0.0, 0.0)
    start: tuple[float, float, float] = (0.0, 0.0, 0.0)  # where the leg begins: the previous waypoint
    after: tuple[float, float, float] | None = None  # the next waypoint, for rounding corners
    radius: float = 0.0  # m
    turns: float = 0.0
    hold: float = 0.0  # s
    yaw: float = nan  # rad, NaN: along the way
    speed: float = nan  # m/s over the ground, NaN: as the parameters say


@dataclass
class GuidedTarget:
    """The newest order from outside for GUIDED; NaN: not asked for."""

    time_us: int = -1  # when it came; velocity and attitude orders are stale after 3 s
    position: tuple[float, float, float] | None = None  # m north, east, down, local frame
    velocity: tuple[float, float, float] | None = None  # m/s north, east, down
    attitude: tuple[float, float, float, float] | None = None  # quaternion w, x, y, z
    thrust: float = nan  # 0 to 1, with `attitude` (0.5: hold height)
    yaw: float = nan  # rad
    yaw_rate: float = nan  # rad/s, clockwise
    speed: float = nan  # m/s towards `position`
    takeoff: float = nan  # m above home to climb to first (MAV_CMD_NAV_TAKEOFF)


@dataclass
class Sticks:
    """A pilot's inputs, from RC override or manual control."""

    roll: float = 0.0  # -1 to 1, + right; a rover's steering
    pitch: float = 0.0  # -1 to 1, + nose up (stick back)
    throttle: float = 0.0  # 0 to 1 for copters; -1 to 1 for rovers
    yaw: float = 0.0  # -1 to 1, + clockwise
    time_us: int = -1  # when they were last heard; -1 never
    pwm: list[int] = field(default_factory=lambda: [0] * 18)  # as RC_CHANNELS shows them, 0: unused
