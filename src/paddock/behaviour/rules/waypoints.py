"""Waypoints: visit each in turn, then stay at the last."""

from typing import Annotated, NamedTuple

from paddock.behaviour.paths import constant_speed
from paddock.behaviour.rule import (
    SETTLING,
    AvoidOption,
    Floats,
    Rule,
    Urge,
    distance_to,
    index_in,
    stopped_within,
    towards,
)
from paddock.compute.math import maximum, minimum, select
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, Pose


class Options(NamedTuple):
    """Speed and tolerance."""

    speed: Annotated[float, Column("m/s", "cruising speed", 0.0, 1e3)] = 5.0
    tolerance: Annotated[float, Column("m", "a waypoint is reached within this distance", 0.0, 1e6)] = 1.0
    slow_within: Annotated[float, Column("m", "slows down this far from the last, or 2 s of travel", 0.0, 1e6)] = 5.0
    avoid: AvoidOption = 0.0


class Memory(NamedTuple):
    """Progress."""

    next: Annotated[float, Column("", "index of the waypoint it is heading for")] = 0.0


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Go to the next waypoint; slow down for the last one only."""
    last = path.shape[0] - 1.0
    current = index_in(m.next, path.shape[0])
    reached = distance_to(me, path[current, 0], path[current, 1], path[current, 2]) < o.tolerance
    following = minimum(current + select(reached, 1.0, 0.0), last)
    k = int(following)
    final = following >= last
    slow_within = select(final, maximum(o.slow_within, SETTLING * o.speed), 0.0)
    d = towards(me, path[k, 0], path[k, 1], path[k, 2], path[k, 3], slow_within)
    left = distance_to(me, path[k, 0], path[k, 1], path[k, 2])
    return stopped_within(d, select(final, left, o.tolerance + 1.0), o.tolerance), Memory(following)


RULE = Rule(
    "Visit waypoints one after the other", Options, desire, Memory, needs_path=True, prepare_path=constant_speed
)
