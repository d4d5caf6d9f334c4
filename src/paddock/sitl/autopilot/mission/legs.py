"""Mission legs: the target that an item gives to AUTO, and when the item is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import atan2, inf, isnan, nan, pi, radians, remainder, tau
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.estimate import Ned
from paddock.sitl.autopilot.mission.items import ITEM_KINDS, AltitudeFrame, MissionItem, NavTask, plain_frame
from paddock.sitl.autopilot.telemetry import Landed
from paddock.sitl.autopilot.vehicle import drives

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot
    from paddock.sitl.autopilot.parameters import AutopilotParameters

CLIMB_TOLERANCE = 0.5  # m below the target altitude at which a take-off is done
MIN_CIRCLE = 1.0  # m
ACCEPTANCE_RADIUS = {"WP_RADIUS": 1.0, "WPNAV_RADIUS": 0.01}  # parameter -> m per unit
CIRCLE_RADIUS = {"CIRC_RADIUS": 1.0, "CIRCLE_RADIUS": 0.01, "WP_LOITER_RAD": 1.0}  # of rovers, copters, planes
MIN_RADIUS = 0.2  # m: smallest acceptance radius


@dataclass(frozen=True)
class NavTarget:
    """The executor's target for AUTO."""

    task: NavTask
    target: Ned = (0.0, 0.0, 0.0)
    start: Ned = (0.0, 0.0, 0.0)  # start of the leg: the previous waypoint
    after: Ned | None = None  # the next waypoint, for rounding corners
    radius: float = 0.0  # m
    turns: float = 0.0
    hold: float = 0.0  # s
    yaw: float = nan  # rad, NaN: along the path
    speed: float = nan  # m/s over the ground, NaN: from the parameters


def place_of(item: MissionItem, autopilot: BuiltInAutopilot, default: Ned) -> Ned:
    """Return an item's position in the local frame.

    As in ArduPilot, latitude and longitude 0 mean those of `default`, and so does an altitude of 0 or NaN. Without a
    local frame everything is `default`.
    """
    if autopilot.frame is None:
        return default
    north, east, down = autopilot.frame.to_ned(item.x, item.y, _altitude(item, autopilot))
    if not ITEM_KINDS[item.command].place or (item.x == 0.0 and item.y == 0.0):
        north, east = default[:2]
    if (item.z == 0.0 and ITEM_KINDS[item.command].task is not NavTask.LAND) or item.z != item.z:
        down = default[2]
    return north, east, down


def _altitude(item: MissionItem, autopilot: BuiltInAutopilot) -> float:
    """Return m above sea level; terrain is as high as home."""
    if plain_frame(item.frame) == AltitudeFrame.GLOBAL:
        return item.z
    home = autopilot.home
    return item.z + (home[2] if home is not None else autopilot.frame.altitude if autopilot.frame else 0.0)


@dataclass
class MissionLeg:
    """A NAV item in progress."""

    sequence: int
    target: NavTarget
    radius: float  # m: acceptance radius
    wait: float = 0.0  # s to stay there
    flying: bool = False  # altitude counts
    yaw: float = nan  # rad, as the item asks
    arrived: bool = False
    waited: float = 0.0  # s
    swept: float = 0.0  # rad around the centre of a circle
    bearing: float = nan  # rad, last seen from the centre

    def done(self, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
        """Return whether the item is done, `dt` s after the last call; `lead` m may shorten the acceptance radius."""
        task, here, radius = self.target.task, autopilot.estimate.position, min(self.radius, lead)
        if task is NavTask.TAKEOFF:
            return here[2] <= self.target.target[2] + CLIMB_TOLERANCE
        if task is NavTask.LAND or (task is NavTask.RETURN and self.flying):
            return autopilot.telemetry.landed == Landed.ON_GROUND
        if task is NavTask.RETURN:
            return self.reached(here, radius)
        if task is NavTask.CIRCLE:
            return self._circled(here)
        if task is NavTask.DELAY or (self.arrived and self.wait > 0.0):
            self.waited += dt
        self.arrived = self.arrived or task is NavTask.DELAY or self.reached(here, radius)
        return self.arrived and self.waited >= self.wait

    def _circled(self, here: Ned) -> bool:
        """Count turns once the vehicle is on the circle, within a third of its radius."""
        north, east = here[0] - self.target.target[0], here[1] - self.target.target[1]
        radius, bearing = abs(self.target.radius), atan2(east, north)
        self.arrived = self.arrived or abs((north * north + east * east) ** 0.5 - radius) <= max(radius / 3.0, 1.0)
        if self.arrived and self.bearing == self.bearing:
            turn = remainder(bearing - self.bearing, tau)
            self.swept += turn if self.target.radius >= 0.0 else -turn
        self.bearing = bearing
        return self.swept >= self.target.turns * 2.0 * pi

    def distance(self, position: Ned) -> float:
        """Return the distance to the target, m."""
        return _length(self._offset(position, self.target.target))

    def _offset(self, a: Ned, b: Ned) -> Ned:
        return b[0] - a[0], b[1] - a[1], b[2] - a[2] if self.flying else 0.0

    def reached(self, position: Ned, radius: float) -> bool:
        """Return whether the target is within a radius, or the plane through it across the leg is passed."""
        missing = self._offset(position, self.target.target)
        if _length(missing) <= radius:
            return True
        way = self._offset(self.target.start, self.target.target)
        return _length(way) > radius and sum(w * m for w, m in zip(way, missing, strict=True)) <= 0.0


def make_leg(sequence: int, item: MissionItem, autopilot: BuiltInAutopilot, start: Ned) -> MissionLeg:
    """Return the leg from `start` to an item."""
    kind = ITEM_KINDS[item.command]
    assert kind.task is not None
    place = autopilot.home_position.return_point() if kind.task is NavTask.RETURN else place_of(item, autopilot, start)
    wait, yaw = item.p1 if isnan(kind.wait) else kind.wait, nan
    radius = _first_of(autopilot.parameters, ACCEPTANCE_RADIUS)
    if kind.task is NavTask.WAYPOINT:
        yaw = radians(item.p4) if item.p4 != 0.0 else nan  # 0 means unspecified, as in ArduPilot
        radius = max(item.p2, MIN_RADIUS) if item.p2 > 0.0 else radius
    target = NavTarget(kind.task, target=place, start=start, yaw=yaw)
    if kind.task in (NavTask.CIRCLE, NavTask.LOITER) and abs(item.p3) >= MIN_CIRCLE:  # planes circle to loiter
        target = replace(target, radius=item.p3)
    elif kind.task is NavTask.CIRCLE:
        target = replace(target, radius=max(abs(_first_of(autopilot.parameters, CIRCLE_RADIUS)), MIN_CIRCLE))
    if kind.task is NavTask.CIRCLE:
        target = replace(target, turns=item.p1)
    if kind.task is not NavTask.DELAY and wait < inf:
        target = replace(target, hold=wait)
    return MissionLeg(sequence, target, radius, wait, not drives(autopilot.vehicle.kind), yaw)


def _first_of(parameters: AutopilotParameters, scales: Mapping[str, float]) -> float:
    """Return the scaled value of the first parameter that the vehicle type has."""
    name = next(name for name in scales if name in parameters)
    return parameters.value(name) * scales[name]


def _length(v: Ned) -> float:
    return float((v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5)
