"""Follow another vehicle at a distance."""

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import AvoidOption, Floats, Nothing, Rule, Urge, station
from paddock.compute.math import maximum, sqrt
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, Pose


class Options(NamedTuple):
    """Distance, height and speed."""

    distance: Annotated[float, Column("m", "distance to keep", 0.0, 1e6)] = 5.0
    height: Annotated[float, Column("m", "height above the target", -1e5, 1e5)] = 0.0
    speed: Annotated[float, Column("m/s", "top speed while catching up", 0.0, 1e3)] = 10.0
    gain: Annotated[float, Column("1/s", "correction per metre", 0.0, 100.0)] = 0.5
    avoid: AvoidOption = 0.0


def desire(
    me: Pose, m: Nothing, o: Options, urge: Urge, target: Pose, path: Floats, dt: float
) -> tuple[Desire, Nothing]:
    """Stay on the line to the target at `distance` from it, and move with the target."""
    dx, dy = me.x - target.x, me.y - target.y
    apart = maximum(sqrt(dx * dx + dy * dy), 1e-9)
    x, y = target.x + dx / apart * o.distance, target.y + dy / apart * o.distance
    return station(me, x, y, target.z + o.height, target.vx, target.vy, target.vz, o.gain, o.speed), m


RULE = Rule("Follow another vehicle at a distance", Options, desire, needs_target=True)
