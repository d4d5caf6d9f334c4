"""Steering angle sensor: the mean angle of the steered road wheels."""

from typing import Annotated, NamedTuple

from paddock.compute.math import select
from paddock.sensing.sensor import Delay, Draw, Primed, Rate, Sensor, two
from paddock.sensing.sensors.wheel_speed import quantised
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose


class Reading(NamedTuple):
    """The angle."""

    angle: Annotated[float, Column("rad", "angle of the road wheels, positive to the left")]


class Options(NamedTuple):
    """A potentiometer or encoder at the steering rack, converted to the angle of the road wheels."""

    rate: Rate = 100.0
    delay: Delay = 0.0
    noise: Annotated[float, Column("rad", "standard deviation per sample", low=0.0, high=1.0)] = 0.002
    offset_noise: Annotated[float, Column("rad", "standard deviation of the constant error", low=0.0, high=1.0)] = 0.0
    resolution: Annotated[float, Column("rad", "step between readings; 0: none", low=0.0, high=1.0)] = 0.0


class Memory(NamedTuple):
    """The constant error."""

    primed: Primed
    bias: Annotated[float, Column("rad", "error of the zero")]


class Seen(NamedTuple):
    """What it reads of the vehicle."""

    steer: Annotated[float, Column("rad", "mean angle of the road wheels")]


def measure(
    pose: Pose, v: Seen, m: Memory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, Memory]:
    """Measure the angle with noise and an error of its zero, in steps."""
    noise, _ = two(d, 0)
    first, _ = two(d, 1)
    bias = select(m.primed > 0.0, m.bias, o.offset_noise * first)
    return Reading(quantised(v.steer + bias + o.noise * noise, o.resolution)), Memory(primed=1.0, bias=bias)


SENSOR = Sensor("Angle of the steered wheels", Reading, Options, Memory, measure, seen=Seen)
