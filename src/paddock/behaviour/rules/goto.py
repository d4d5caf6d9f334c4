"""Go to one place and stay there."""

from typing import Annotated, NamedTuple

import numpy as np

from paddock.behaviour.rule import (
    SETTLING,
    AvoidOption,
    Floats,
    Nothing,
    RouteLine,
    Rule,
    Urge,
    distance_to,
    stopped_within,
    towards,
)
from paddock.compute.math import maximum
from paddock.vehicles.model import Desire
from paddock.world.columns import FARTHEST, Column, Pose


class Options(NamedTuple):
    """Goal and speed."""

    x: Annotated[float, Column("m", "goal, east", -FARTHEST, FARTHEST)]
    y: Annotated[float, Column("m", "goal, north", -FARTHEST, FARTHEST)]
    z: Annotated[float, Column("m", "goal, up", -FARTHEST, FARTHEST)] = 0.0
    speed: Annotated[float, Column("m/s", "cruising speed", 0.0, 1e3)] = 5.0
    slow_within: Annotated[float, Column("m", "slows down within this distance, or 2 s of travel", 0.0, 1e6)] = 5.0
    tolerance: Annotated[float, Column("m", "has arrived within this distance", 0.0, 1e6)] = 0.1
    avoid: AvoidOption = 0.0


def desire(
    me: Pose, m: Nothing, o: Options, urge: Urge, target: Pose, path: Floats, dt: float
) -> tuple[Desire, Nothing]:
    """Go straight to the goal and slow down at the end."""
    d = towards(me, o.x, o.y, o.z, o.speed, maximum(o.slow_within, SETTLING * o.speed))
    return stopped_within(d, distance_to(me, o.x, o.y, o.z), o.tolerance), m


def route(o: Options, path: Floats) -> RouteLine:
    """Return the goal."""
    return RouteLine(np.array([[o.x, o.y, o.z]]), False)


RULE = Rule("Go to a place and stay there", Options, desire, route=route)
