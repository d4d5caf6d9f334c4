"""Barometer: static pressure and temperature of the standard atmosphere."""

from typing import Annotated, NamedTuple

from paddock.compute.math import maximum
from paddock.sensing.sensor import Delay, Draw, Primed, Rate, Sensor, two, walk
from paddock.sensing.site import Site, altitude_of, geopotential, pressure_at, temperature_at
from paddock.world.columns import Column, Environment, Pose


class Reading(NamedTuple):
    """State of the air around the vehicle."""

    pressure: Annotated[float, Column("Pa", "static pressure")]
    temperature: Annotated[float, Column("K", "air temperature")]
    altitude: Annotated[float, Column("m", "pressure altitude: geopotential, above sea level")]


class Options(NamedTuple):
    """Noise and drift; near the ground 12 Pa correspond to 1 m."""

    rate: Rate = 20.0
    delay: Delay = 0.0
    noise: Annotated[float, Column("Pa", "standard deviation per sample", low=0.0, high=1e4)] = 1.2
    walk: Annotated[float, Column("Pa/s^0.5", "random walk of the bias: drift", low=0.0, high=1e3)] = 0.1


class Memory(NamedTuple):
    """The drift."""

    primed: Primed
    bias: Annotated[float, Column("Pa", "pressure bias")]


def measure(
    pose: Pose, m: Memory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, Memory]:
    """Measure the standard atmosphere at the vehicle's height, with noise and drift on the pressure."""
    noise, step = two(d, 0)
    after = Memory(primed=1.0, bias=walk(m.bias, o.walk, interval, m.primed, step))
    true_altitude = geopotential(site.height + pose.z)
    pressure = maximum(pressure_at(true_altitude) + after.bias + o.noise * noise, 0.0)
    return Reading(pressure, temperature_at(true_altitude), altitude_of(pressure)), after


SENSOR = Sensor("Static pressure, temperature and pressure altitude", Reading, Options, Memory, measure)
