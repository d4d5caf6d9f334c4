"""Pitot tube: differential pressure, and the airspeed that it stands for."""

from typing import Annotated, NamedTuple

from paddock.compute.math import clamp, maximum, select, sqrt
from paddock.compute.quaternion import unrotate
from paddock.sensing.sensor import Delay, Draw, Primed, Rate, Sensor, two, walk
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose

SEA_LEVEL = 1.225  # kg/m3: the density for which the airspeed is indicated


class Reading(NamedTuple):
    """Pressure of the air ahead, and the indicated airspeed."""

    pressure: Annotated[float, Column("Pa", "total less static pressure; noise makes it negative at rest")]
    airspeed: Annotated[float, Column("m/s", "indicated airspeed, 0 without pressure; coarse below some m/s")]


class Options(NamedTuple):
    """A digital sensor of 1 psi: 2 Pa are 1.8 m/s at rest, but 0.1 m/s at 17 m/s."""

    rate: Rate = 25.0
    delay: Delay = 0.0
    noise: Annotated[float, Column("Pa", "standard deviation per sample", low=0.0, high=1e4)] = 2.0
    offset_noise: Annotated[float, Column("Pa", "standard deviation of the initial bias", low=0.0, high=1e4)] = 1.0
    walk: Annotated[float, Column("Pa/s^0.5", "random walk of the bias", low=0.0, high=1e3)] = 0.05
    pressure_max: Annotated[float, Column("Pa", "largest pressure (1 psi)", low=1.0, high=1e6)] = 6894.76


class Memory(NamedTuple):
    """The bias."""

    primed: Primed
    bias: Annotated[float, Column("Pa", "pressure bias")]


def measure(
    pose: Pose, m: Memory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, Memory]:
    """Measure the dynamic pressure of the air that comes from ahead; a tail wind gives none."""
    noise, step = two(d, 0)
    bias = select(m.primed > 0.0, walk(m.bias, o.walk, interval, m.primed, step), o.offset_noise * step)
    through = pose.vx - w.wind_x, pose.vy - w.wind_y, pose.vz - w.wind_z
    forward, _, _ = unrotate(pose.qx, pose.qy, pose.qz, pose.qw, through[0], through[1], through[2])
    ahead = maximum(forward, 0.0)
    pressure = 0.5 * w.air_density * ahead * ahead + bias + o.noise * noise
    pressure = clamp(pressure, -o.pressure_max, o.pressure_max)
    return Reading(pressure, sqrt(maximum(pressure, 0.0) * (2.0 / SEA_LEVEL))), Memory(primed=1.0, bias=bias)


SENSOR = Sensor("Differential pressure and indicated airspeed of a pitot tube", Reading, Options, Memory, measure)
