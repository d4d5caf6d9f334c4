"""Compass: a three-axis magnetometer and the heading that follows from it."""

from typing import Annotated, NamedTuple

from paddock.compute.math import atan2, sqrt, wrap_angle
from paddock.compute.quaternion import heading, rotate, unrotate
from paddock.sensing.sensor import Delay, Draw, Primed, Rate, Sensor, six, walk
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose


class Reading(NamedTuple):
    """The field in body axes, and the heading, levelled and corrected for declination."""

    heading: Annotated[float, Column("rad", "direction of the forward axis, counter-clockwise from true east")]
    field_x: Annotated[float, Column("T", "magnetic field forward")]
    field_y: Annotated[float, Column("T", "magnetic field left")]
    field_z: Annotated[float, Column("T", "magnetic field up")]


class Options(NamedTuple):
    """Errors of each axis are given as the heading error they cause in a level vehicle."""

    rate: Rate = 20.0
    delay: Delay = 0.0
    noise: Annotated[float, Column("rad", "standard deviation per sample", low=0.0, high=1.0)] = 0.05
    walk: Annotated[float, Column("rad/s^0.5", "random walk of the field's bias", low=0.0, high=1.0)] = 1e-4


class Memory(NamedTuple):
    """The drifting magnetic bias of the vehicle, as a share of the horizontal field."""

    primed: Primed
    bias_x: Annotated[float, Column("rad", "bias forward")]
    bias_y: Annotated[float, Column("rad", "bias left")]
    bias_z: Annotated[float, Column("rad", "bias up")]


def measure(
    pose: Pose, m: Memory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, Memory]:
    """Measure the site's field in body axes with errors on each axis; the heading follows from it."""
    nx, ny, nz, wx, wy, wz = six(d, 0)
    after = Memory(
        primed=1.0,
        bias_x=walk(m.bias_x, o.walk, interval, m.primed, wx),
        bias_y=walk(m.bias_y, o.walk, interval, m.primed, wy),
        bias_z=walk(m.bias_z, o.walk, interval, m.primed, wz),
    )
    horizontal = sqrt(site.field_x * site.field_x + site.field_y * site.field_y)
    bx, by, bz = unrotate(pose.qx, pose.qy, pose.qz, pose.qw, site.field_x, site.field_y, site.field_z)
    bx = bx + horizontal * (after.bias_x + o.noise * nx)
    by = by + horizontal * (after.bias_y + o.noise * ny)
    bz = bz + horizontal * (after.bias_z + o.noise * nz)
    return Reading(seen_heading(pose, site, bx, by, bz), bx, by, bz), after


def seen_heading(pose: Pose, site: Site, bx: float, by: float, bz: float) -> float:
    """Return the heading (rad) of a field measured in body axes, for known tilt and declination."""
    east, north, _ = rotate(pose.qx, pose.qy, pose.qz, pose.qw, bx, by, bz)
    turned = atan2(north, east) - atan2(site.field_y, site.field_x)
    return wrap_angle(heading(pose.qx, pose.qy, pose.qz, pose.qw) - turned)


SENSOR = Sensor("Three-axis magnetometer in the Earth's field, and heading", Reading, Options, Memory, measure)
