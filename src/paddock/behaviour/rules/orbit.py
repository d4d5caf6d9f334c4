"""Orbit: circle around a place, or around another vehicle."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from paddock.behaviour.rule import Floats, Nothing, Rule, Urge
from paddock.compute.math import clamp, maximum, select, sqrt
from paddock.vehicles.model import Desire
from paddock.world.columns import Column
from paddock.world.pose import Pose


class Options(NamedTuple):
    """The circle."""

    x: Annotated[float, Column("m", "centre, east (relative to the target if there is one)")] = 0.0
    y: Annotated[float, Column("m", "centre, north")] = 0.0
    z: Annotated[float, Column("m", "height, up")] = 20.0
    radius: Annotated[float, Column("m", "radius", 0.1, 1e6)] = 20.0
    speed: Annotated[float, Column("m/s", "speed along the circle", 0.0, 1e3)] = 5.0
    direction: Annotated[float, Column("", "sense of rotation", 0.0, 1.0, choices=("left", "right"))] = 0.0
    gain: Annotated[float, Column("1/s", "correction per metre off the circle", 0.0, 100.0)] = 0.5
    has_target: Annotated[float, Column("0/1", "set when a target is named", 0.0, 1.0)] = 0.0


def desire(
    me: Pose, m: Nothing, o: Options, urge: Urge, target: Pose, path: Floats, dt: float
) -> tuple[Desire, Nothing]:
    """Along the tangent, corrected towards the circle, carried along with the target."""
    with_target = o.has_target > 0.5
    cx, cy = select(with_target, target.x + o.x, o.x), select(with_target, target.y + o.y, o.y)
    cz = select(with_target, target.z + o.z, o.z)
    dx, dy = me.x - cx, me.y - cy
    distance = maximum(sqrt(dx * dx + dy * dy), 1e-9)
    ux, uy = select(distance > 1e-6, dx / distance, 1.0), select(distance > 1e-6, dy / distance, 0.0)
    turn = select(o.direction > 0.5, -1.0, 1.0)
    inward = clamp(o.gain * (o.radius - distance), -o.speed, o.speed)
    carry_x, carry_y = select(with_target, target.vx, 0.0), select(with_target, target.vy, 0.0)
    vx = carry_x - turn * uy * o.speed + ux * inward
    vy = carry_y + turn * ux * o.speed + uy * inward
    return Desire(vx, vy, clamp(o.gain * (cz - me.z), -o.speed, o.speed), 0.5 * o.radius), m


RULE = Rule("Circle around a place or another vehicle", Options, desire)
