"""Hold: stay at the position of the first decision."""

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import AvoidOption, Floats, Rule, Urge, station
from paddock.compute.math import select
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, Pose


class Options(NamedTuple):
    """Gain, limit and tolerance."""

    gain: Annotated[float, Column("1/s", "correction per metre", 0.0, 100.0)] = 1.0
    speed: Annotated[float, Column("m/s", "fastest correction", 0.0, 1e3)] = 3.0
    tolerance: Annotated[float, Column("m", "no correction within this distance", 0.0, 1e3)] = 0.0
    avoid: AvoidOption = 0.0


class Memory(NamedTuple):
    """The position to hold."""

    known: Annotated[float, Column("0/1", "the position has been stored")] = 0.0
    x: Annotated[float, Column("m", "position, east")] = 0.0
    y: Annotated[float, Column("m", "position, north")] = 0.0
    z: Annotated[float, Column("m", "position, up")] = 0.0


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Store the position in the first decision, then hold it."""
    new = m.known < 0.5
    x, y, z = select(new, me.x, m.x), select(new, me.y, m.y), select(new, me.z, m.z)
    d = station(me, x, y, z, 0.0, 0.0, 0.0, o.gain, o.speed)
    go = select((x - me.x) ** 2 + (y - me.y) ** 2 + (z - me.z) ** 2 > o.tolerance * o.tolerance, 1.0, 0.0)
    return Desire(d.vx * go, d.vy * go, d.vz * go, d.ahead), Memory(1.0, x, y, z)


RULE = Rule("Stay at the initial position", Options, desire, Memory)
