"""Pursue: intercept another vehicle at its predicted position."""

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import AvoidOption, Floats, Nothing, Rule, Urge
from paddock.compute.math import maximum, minimum, select, sqrt
from paddock.vehicles.model import Desire
from paddock.world.columns import Column, Pose


class Options(NamedTuple):
    """Speed, horizon and tolerance."""

    speed: Annotated[float, Column("m/s", "speed of the pursuer", 0.0, 1e3)] = 10.0
    horizon: Annotated[float, Column("s", "looks ahead at most this long", 0.0, 1e3)] = 20.0
    tolerance: Annotated[float, Column("m", "has caught the target within this distance", 0.0, 1e6)] = 0.5
    avoid: AvoidOption = 0.0


def desire(
    me: Pose, m: Nothing, o: Options, urge: Urge, target: Pose, path: Floats, dt: float
) -> tuple[Desire, Nothing]:
    """Solve |gap + v t| = speed t for the earliest t, and go to the target's position at that time."""
    gx, gy, gz = target.x - me.x, target.y - me.y, target.z - me.z
    gap2 = gx * gx + gy * gy + gz * gz
    a = target.vx * target.vx + target.vy * target.vy + target.vz * target.vz - o.speed * o.speed
    b = gx * target.vx + gy * target.vy + gz * target.vz
    root = sqrt(maximum(b * b - a * gap2, 0.0))
    # the smaller positive root, written so that it stays finite when both are equally fast (a = 0)
    denominator = root - b
    time = select(denominator > 1e-9, gap2 / maximum(denominator, 1e-9), o.horizon)
    lead = minimum(time, o.horizon)
    ax, ay, az = gx + target.vx * lead, gy + target.vy * lead, gz + target.vz * lead
    aim = maximum(sqrt(ax * ax + ay * ay + az * az), 1e-9)
    pace = select(gap2 > o.tolerance * o.tolerance, o.speed / aim, 0.0)
    return Desire(ax * pace, ay * pace, az * pace, aim), m


RULE = Rule("Intercept another vehicle", Options, desire, needs_target=True)
