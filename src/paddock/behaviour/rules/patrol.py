"""Patrol: visit waypoints endlessly, in a loop or back and forth."""

from typing import Annotated, NamedTuple

from paddock.behaviour.paths import constant_speed
from paddock.behaviour.rule import AvoidOption, Floats, RouteLine, Rule, Urge, distance_to, index_in, towards
from paddock.compute.math import select
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, Pose


class Options(NamedTuple):
    """Speed, tolerance, and the direction after the last waypoint."""

    speed: Annotated[float, Column("m/s", "cruising speed", 0.0, 1e3)] = 5.0
    tolerance: Annotated[float, Column("m", "a waypoint is reached within this distance", 0.0, 1e6)] = 2.0
    turn: Annotated[float, Column("", "after the last waypoint", 0.0, 1.0, choices=("round", "back"))] = 0.0
    avoid: AvoidOption = 0.0


class Memory(NamedTuple):
    """Progress."""

    next: Annotated[float, Column("", "index of the waypoint it is heading for")] = 0.0
    direction: Annotated[float, Column("", "1 forward, -1 back")] = 1.0


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Go to the next waypoint; after the last one start again or turn back."""
    last = path.shape[0] - 1.0
    current = index_in(m.next, path.shape[0])
    reached = distance_to(me, path[current, 0], path[current, 1], path[current, 2]) < o.tolerance
    ahead = current + select(reached, m.direction, 0.0)
    outside = (ahead > last) | (ahead < 0.0)
    back = o.turn > 0.5
    direction = select(outside & back, -m.direction, m.direction)
    following = select(outside, select(back, current + direction, 0.0), ahead)
    k = index_in(following, path.shape[0])
    return towards(me, path[k, 0], path[k, 1], path[k, 2], path[k, 3], 0.0), Memory(following, direction)


def route(o: Options, path: Floats) -> RouteLine:
    """Return the waypoints, closed unless the vehicle turns back."""
    return RouteLine(path[:, :3], o.turn < 0.5)


RULE = Rule(
    "Visit waypoints endlessly", Options, desire, Memory, needs_path=True, prepare_path=constant_speed, route=route
)
