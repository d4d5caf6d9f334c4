"""Wheel speed sensors: surface speed of the left and the right wheel."""

from typing import Annotated, NamedTuple

from paddock.compute.math import nearest, select
from paddock.compute.quaternion import unrotate
from paddock.sensing.sensor import Delay, Draw, Primed, Rate, Sensor, two, walk
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose

FINEST = 1e-6  # resolutions below this (m/s) are ignored


class Reading(NamedTuple):
    """Surface speeds of rolling wheels."""

    left: Annotated[float, Column("m/s", "surface speed of the left wheel, positive forwards")]
    right: Annotated[float, Column("m/s", "surface speed of the right wheel")]


class Options(NamedTuple):
    """Errors are shares of the speed: a worn tyre reads too high at any speed, and 0 at rest."""

    rate: Rate = 50.0
    delay: Delay = 0.0
    track: Annotated[float, Column("m", "distance between wheels; default: the vehicle's", low=0.0, high=100.0)] = 1.5
    noise: Annotated[float, Column("", "standard deviation per sample, share of the speed", low=0.0, high=1.0)] = 0.01
    walk: Annotated[float, Column("1/s^0.5", "random walk of the scale error", low=0.0, high=1.0)] = 1e-5
    resolution: Annotated[float, Column("m/s", "step between readings; 0: none", low=0.0, high=10.0)] = 0.0


class Memory(NamedTuple):
    """The scale error of each wheel."""

    primed: Primed
    scale_left: Annotated[float, Column("", "scale error of the left wheel")]
    scale_right: Annotated[float, Column("", "scale error of the right wheel")]


def measure(
    pose: Pose, m: Memory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, Memory]:
    """Measure the forward speed minus (left) or plus (right) half the track times the yaw rate, with scale errors."""
    noise_left, noise_right = two(d, 0)
    step_left, step_right = two(d, 1)
    after = Memory(
        primed=1.0,
        scale_left=walk(m.scale_left, o.walk, interval, m.primed, step_left),
        scale_right=walk(m.scale_right, o.walk, interval, m.primed, step_right),
    )
    forward, _, _ = unrotate(pose.qx, pose.qy, pose.qz, pose.qw, pose.vx, pose.vy, pose.vz)
    turn = 0.5 * o.track * pose.wz
    left = (forward - turn) * (1.0 + after.scale_left + o.noise * noise_left)
    right = (forward + turn) * (1.0 + after.scale_right + o.noise * noise_right)
    return Reading(quantised(left, o.resolution), quantised(right, o.resolution)), after


def quantised(value: float, step: float) -> float:
    """Return the nearest multiple of a step; the value itself if the step is 0."""
    stepped = step >= FINEST
    size = select(stepped, step, 1.0)
    return select(stepped, nearest(value / size) * size, value)


TRACK = {"track": ("track_rear", "wheel_base")}  # the option's default: a parameter of the vehicle
SENSOR = Sensor("Surface speeds of the left and the right wheel", Reading, Options, Memory, measure, TRACK)
