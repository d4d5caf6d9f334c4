"""Orbit: circle around a place, or around another vehicle."""

from typing import Annotated, NamedTuple

import numpy as np

from paddock.behaviour.rule import AvoidOption, Floats, RouteLine, Rule, Urge
from paddock.compute import arrays
from paddock.compute.math import absolute, clamp, maximum, select, sqrt
from paddock.vehicles.model import Desire
from paddock.world.columns import FARTHEST, Column, Pose


class Options(NamedTuple):
    """Circle, speed and gain."""

    x: Annotated[float, Column("m", "centre, east (relative to the target if there is one)", -FARTHEST, FARTHEST)] = 0.0
    y: Annotated[float, Column("m", "centre, north", -FARTHEST, FARTHEST)] = 0.0
    z: Annotated[float, Column("m", "height, up", -FARTHEST, FARTHEST)] = 20.0
    radius: Annotated[float, Column("m", "radius", 0.1, 1e6)] = 20.0
    speed: Annotated[float, Column("m/s", "speed along the circle", 0.0, 1e3)] = 5.0
    direction: Annotated[float, Column("", "sense of rotation", 0.0, 1.0, choices=("left", "right"))] = 0.0
    gain: Annotated[float, Column("1/s", "correction per metre off the circle", 0.0, 100.0)] = 0.5
    has_target: Annotated[float, Column("0/1", "set when a target is named", 0.0, 1.0)] = 0.0
    avoid: AvoidOption = 0.0


class Memory(NamedTuple):
    """The correction of the radius: a vehicle that lags behind its desire would fly a wider circle."""

    trim: Annotated[float, Column("m/s", "speed away from the centre, learned from the errors so far")] = 0.0


STEEPEST = 0.8
"""Sine of the steepest approach: the desired speed keeps its size, or a fast approach would widen the circle."""
TRIM_RATE = 0.2
"""1/s: growth of the trim, relative to the correction. Slow compared with the lags of all models."""
TRIM_WITHIN = 0.25
"""Share of the radius within which an error is a lag to be learned, not an approach."""


def desire(me: Pose, m: Memory, o: Options, urge: Urge, target: Pose, path: Floats, dt: float) -> tuple[Desire, Memory]:
    """Follow the tangent, corrected towards the circle, plus the velocity of the target."""
    with_target = o.has_target > 0.5
    cx, cy = select(with_target, target.x + o.x, o.x), select(with_target, target.y + o.y, o.y)
    cz = select(with_target, target.z + o.z, o.z)
    dx, dy = me.x - cx, me.y - cy
    distance = maximum(sqrt(dx * dx + dy * dy), 1e-9)
    ux, uy = select(distance > 1e-6, dx / distance, 1.0), select(distance > 1e-6, dy / distance, 0.0)
    turn = select(o.direction > 0.5, -1.0, 1.0)
    error = o.radius - distance
    learning = select(absolute(error) < TRIM_WITHIN * o.radius, TRIM_RATE * o.gain * dt, 0.0)
    trim = clamp(m.trim + learning * error, -0.5 * o.speed, 0.5 * o.speed)
    steep = STEEPEST * o.speed
    outward = clamp(o.gain * error + trim, -steep, steep)
    carry_x, carry_y = select(with_target, target.vx, 0.0), select(with_target, target.vy, 0.0)
    along = turn * sqrt(maximum(o.speed * o.speed - outward * outward, 0.0))
    vx = carry_x - uy * along + ux * outward
    vy = carry_y + ux * along + uy * outward
    return Desire(vx, vy, clamp(o.gain * (cz - me.z), -o.speed, o.speed), 0.5 * o.radius), Memory(trim)


ROUTE_POINTS = 64
"""Points of the displayed circle."""


def route(o: Options, path: Floats) -> RouteLine | None:
    """Return the circle; None if it moves with a target."""
    if o.has_target > 0.5:
        return None
    angle = np.arange(ROUTE_POINTS) * (2.0 * np.pi / ROUTE_POINTS) * (-1.0 if o.direction > 0.5 else 1.0)
    x, y = o.x + o.radius * arrays.cos(angle), o.y + o.radius * arrays.sin(angle)
    return RouteLine(np.column_stack([x, y, np.full(ROUTE_POINTS, o.z)]), True)


RULE = Rule("Circle around a place or another vehicle", Options, desire, Memory, route=route)
