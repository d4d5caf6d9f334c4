"""Rangefinder: distance to the ground, or to an obstacle, along the body's down axis."""

from typing import Annotated, NamedTuple

from paddock.compute.math import clamp, select
from paddock.sensing.sensor import Delay, Draw, Primed, Rate, Sensor, two, walk
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose
from paddock.world.scenery import cast

BEYOND = 10.0  # m beyond the range that a beam is followed: noise may bring what is there into the range


class Reading(NamedTuple):
    """The distance, and whether it lies inside the range."""

    distance: Annotated[float, Column("m", "distance to the ground; the nearer end of the range when outside it")]
    valid: Annotated[float, Column("0/1", "the distance was inside the range")]


class Options(NamedTuple):
    """A small lidar."""

    rate: Rate = 20.0
    delay: Delay = 0.0
    range_min: Annotated[float, Column("m", "shortest distance", low=0.0, high=1.0)] = 0.1
    range_max: Annotated[float, Column("m", "longest distance", low=1.0, high=1e5)] = 40.0
    noise: Annotated[float, Column("m", "standard deviation per sample", low=0.0, high=100.0)] = 0.02
    walk: Annotated[float, Column("m/s^0.5", "random walk of the bias", low=0.0, high=10.0)] = 1e-4


class Memory(NamedTuple):
    """The drift."""

    primed: Primed
    bias: Annotated[float, Column("m", "distance bias")]


def measure(
    pose: Pose, m: Memory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, Memory]:
    """Measure the distance to what the beam hits; beyond the range the maximum, invalid."""
    noise, step = two(d, 0)
    after = Memory(primed=1.0, bias=walk(m.bias, o.walk, interval, m.primed, step))
    cosine = 1.0 - 2.0 * (pose.qx * pose.qx + pose.qy * pose.qy)
    dx, dy = -2.0 * (pose.qx * pose.qz + pose.qw * pose.qy), 2.0 * (pose.qw * pose.qx - pose.qy * pose.qz)
    slant = cast(pose.x, pose.y, pose.z, dx, dy, -cosine, o.range_max + BEYOND, w)
    seen = slant + after.bias + o.noise * noise
    valid = (seen >= o.range_min) & (seen <= o.range_max)
    return Reading(clamp(seen, o.range_min, o.range_max), select(valid, 1.0, 0.0)), after


SENSOR = Sensor("Distance to the ground or an obstacle along the body's down axis", Reading, Options, Memory, measure)
