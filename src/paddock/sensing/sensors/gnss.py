"""Satellite navigation: position and velocity."""

from typing import Annotated, NamedTuple

from paddock.sensing.sensor import Sensor, six, three, walk
from paddock.sensing.site import Site
from paddock.world.columns import Column
from paddock.world.pose import Environment, Pose


class Reading(NamedTuple):
    """Position and velocity in world axes."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "position up")]
    vx: Annotated[float, Column("m/s", "velocity east")]
    vy: Annotated[float, Column("m/s", "velocity north")]
    vz: Annotated[float, Column("m/s", "velocity up")]


class Options(NamedTuple):
    """A single-frequency receiver with corrections; noise per axis."""

    rate: Annotated[float, Column("Hz", "samples per second", low=1e-3, high=1e6)] = 5.0
    delay: Annotated[float, Column("s", "age of a reading on arrival", low=0.0, high=10.0)] = 0.0
    noise_horizontal: Annotated[float, Column("m", "standard deviation east and north", low=0.0, high=1e3)] = 0.5
    noise_vertical: Annotated[float, Column("m", "standard deviation up", low=0.0, high=1e3)] = 1.0
    noise_velocity: Annotated[float, Column("m/s", "standard deviation of the velocity", low=0.0, high=100.0)] = 0.05
    walk: Annotated[float, Column("m/s^0.5", "random walk of the position bias", low=0.0, high=100.0)] = 0.01


class Memory(NamedTuple):
    """The slow error of the position."""

    primed: Annotated[float, Column("0/1", "has sampled before")]
    bias_x: Annotated[float, Column("m", "position bias east")]
    bias_y: Annotated[float, Column("m", "position bias north")]
    bias_z: Annotated[float, Column("m", "position bias up")]


def measure(
    pose: Pose,
    m: Memory,
    o: Options,
    w: Environment,
    site: Site,
    seed: int,
    stream: int,
    purpose: int,
    tick: int,
    interval: float,
) -> tuple[Reading, Memory]:
    """Measure position and velocity with independent noise, and a drifting position bias."""
    nx, ny, nz, nvx, nvy, nvz = six(seed, stream, purpose, tick)
    wx, wy, wz = three(seed, stream, purpose + 3, tick)
    after = Memory(
        primed=1.0,
        bias_x=walk(m.bias_x, o.walk, interval, m.primed, wx),
        bias_y=walk(m.bias_y, o.walk, interval, m.primed, wy),
        bias_z=walk(m.bias_z, o.walk, interval, m.primed, wz),
    )
    reading = Reading(
        x=pose.x + after.bias_x + o.noise_horizontal * nx,
        y=pose.y + after.bias_y + o.noise_horizontal * ny,
        z=pose.z + after.bias_z + o.noise_vertical * nz,
        vx=pose.vx + o.noise_velocity * nvx,
        vy=pose.vy + o.noise_velocity * nvy,
        vz=pose.vz + o.noise_velocity * nvz,
    )
    return reading, after


SENSOR = Sensor("Satellite navigation: position and velocity in local axes", Reading, Options, Memory, measure)
