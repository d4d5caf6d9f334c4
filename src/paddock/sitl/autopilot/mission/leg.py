"""The item that the craft is busy with: what it asks for, and whether it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import atan2, inf, nan, pi, remainder, tau
from typing import TYPE_CHECKING

from paddock.sitl.autopilot.mission.places import Place
from paddock.sitl.autopilot.targets import NavTarget, Task
from paddock.sitl.autopilot.telemetry import Landed

if TYPE_CHECKING:
    from paddock.sitl.autopilot.autopilot import BuiltInAutopilot

CLIMBED = 0.5  # m below the wanted height at which a take-off is done


@dataclass
class Leg:
    """One item that goes somewhere, under way."""

    sequence: int
    target: NavTarget
    radius: float  # m: so close is there
    wait: float = 0.0  # s to stay there
    flying: bool = False  # whether height counts
    yaw: float = nan  # rad, as the item asks
    arrived: bool = False
    waited: float = 0.0  # s
    swept: float = 0.0  # rad gone round the middle of a circle
    bearing: float = nan  # rad, last seen from the middle

    def done(self, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
        """Whether the item is done, `dt` s after the last call; `lead` m may shorten the radius of acceptance."""
        return FINISHED[self.target.task](self, autopilot, lead, dt)

    def distance(self, position: Place) -> float:
        """m to the target."""
        return _length(self._offset(position, self.target.target))

    def _offset(self, a: Place, b: Place) -> Place:
        """From a to b; level for what does not fly."""
        return b[0] - a[0], b[1] - a[1], b[2] - a[2] if self.flying else 0.0

    def reached(self, position: Place, radius: float) -> bool:
        """Whether it is within a radius of the target, or past the plane through it across the leg."""
        missing = self._offset(position, self.target.target)
        if _length(missing) <= radius:
            return True
        way = self._offset(self.target.start, self.target.target)
        return _length(way) > radius and sum(w * m for w, m in zip(way, missing, strict=True)) <= 0.0


def _length(v: Place) -> float:
    return float((v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) ** 0.5)


def _position(autopilot: BuiltInAutopilot) -> Place:
    now = autopilot.estimate
    return now.north, now.east, now.down


def _there_and_waited(leg: Leg, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
    if not leg.arrived:
        leg.arrived = leg.reached(_position(autopilot), min(leg.radius, lead))
    elif leg.wait > 0.0:
        leg.waited += dt
    return leg.arrived and leg.waited >= leg.wait


def _circled(leg: Leg, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
    """Turns are counted from when it is on the circle, within a third of its radius."""
    north, east, _ = _position(autopilot)
    north, east = north - leg.target.target[0], east - leg.target.target[1]
    radius = abs(leg.target.radius)
    bearing = atan2(east, north)
    leg.arrived = leg.arrived or abs((north * north + east * east) ** 0.5 - radius) <= max(radius / 3.0, 1.0)
    if leg.arrived and leg.bearing == leg.bearing:
        turn = remainder(bearing - leg.bearing, tau)
        leg.swept += turn if leg.target.radius >= 0.0 else -turn
    leg.bearing = bearing
    return leg.swept >= leg.target.turns * 2.0 * pi


def _waited(leg: Leg, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
    leg.waited += dt
    return leg.waited >= leg.wait


def _climbed(leg: Leg, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
    return autopilot.estimate.down <= leg.target.target[2] + CLIMBED


def _landed(leg: Leg, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
    """On the ground after it was in the air: a landing on the ground is over at once."""
    return autopilot.telemetry.landed == Landed.ON_GROUND


def _returned(leg: Leg, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
    if leg.flying:
        return _landed(leg, autopilot, lead, dt)
    return leg.reached(_position(autopilot), min(leg.radius, lead))


def _never(leg: Leg, autopilot: BuiltInAutopilot, lead: float, dt: float) -> bool:
    return False


FINISHED: Mapping[Task, Callable[[Leg, BuiltInAutopilot, float, float], bool]] = {
    Task.TAKEOFF: _climbed,
    Task.WAYPOINT: _there_and_waited,
    Task.LOITER: lambda leg, autopilot, lead, dt: leg.wait < inf and _there_and_waited(leg, autopilot, lead, dt),
    Task.CIRCLE: _circled,
    Task.LAND: _landed,
    Task.RETURN: _returned,
    Task.DELAY: _waited,
    Task.DONE: _never,
}
"""Each returns whether the leg's item is done."""
