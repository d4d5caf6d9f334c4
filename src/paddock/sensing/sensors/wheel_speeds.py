"""Wheel speed sensors: the rotation of each of four wheels, with slip where the model has it."""

from typing import Annotated, NamedTuple

from paddock.compute.math import select, sincos
from paddock.compute.quaternion import unrotate
from paddock.sensing.sensor import Delay, Draw, NoMemory, Rate, Sensor, two
from paddock.sensing.sensors.wheel_speed import quantised
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose

NAN = float("nan")


class Reading(NamedTuple):
    """Rotation of each wheel."""

    fl: Annotated[float, Column("rad/s", "front left wheel, positive forwards")]
    fr: Annotated[float, Column("rad/s", "front right wheel")]
    rl: Annotated[float, Column("rad/s", "rear left wheel")]
    rr: Annotated[float, Column("rad/s", "rear right wheel")]


class Options(NamedTuple):
    """Encoders at the hubs; the dimensions are used where a model has no wheels of its own."""

    rate: Rate = 100.0
    delay: Delay = 0.0
    noise: Annotated[float, Column("rad/s", "standard deviation per sample", low=0.0, high=100.0)] = 0.1
    resolution: Annotated[float, Column("rad/s", "step between readings; 0: none", low=0.0, high=100.0)] = 0.0
    radius: Annotated[float, Column("m", "of the wheels; default: the vehicle's", low=1e-3, high=10.0)] = 0.3
    track_front: Annotated[float, Column("m", "between the front wheels", low=0.0, high=100.0)] = 1.5
    track_rear: Annotated[float, Column("m", "between the rear wheels", low=0.0, high=100.0)] = 1.5
    cg_to_front: Annotated[float, Column("m", "from the pose to the front axle", low=0.0, high=100.0)] = 1.0


class Seen(NamedTuple):
    """What it reads of the vehicle: the wheels of models with four, the axles of others; NaN where there is none."""

    steer: Annotated[float, Column("rad", "angle of the road wheels")] = 0.0
    spin_fl: Annotated[float, Column("rad/s", "rotation of the front left wheel")] = NAN
    spin_fr: Annotated[float, Column("rad/s", "rotation of the front right wheel")] = NAN
    spin_rl: Annotated[float, Column("rad/s", "rotation of the rear left wheel")] = NAN
    spin_rr: Annotated[float, Column("rad/s", "rotation of the rear right wheel")] = NAN
    front: Annotated[float, Column("rad/s", "mean rotation of the front wheels, where the rear ones differ")] = NAN
    rear: Annotated[float, Column("rad/s", "mean rotation of the rear wheels")] = NAN


def measure(
    pose: Pose, v: Seen, m: NoMemory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, NoMemory]:
    """Measure each wheel: its own rotation, else that of its axle and the turn, else that of a rolling wheel."""
    a, b = two(d, 0)
    c, e = two(d, 1)
    vx, vy, _ = unrotate(pose.qx, pose.qy, pose.qz, pose.qw, pose.vx, pose.vy, pose.vz)
    sine, cosine = sincos(v.steer)
    ahead, across = vx * cosine + (vy + pose.wz * o.cg_to_front) * sine, 0.5 * o.track_front * pose.wz * cosine
    behind, aside = vx, 0.5 * o.track_rear * pose.wz
    front = select(v.rear == v.rear, v.front, NAN)
    fl = turning(v.spin_fl, front, ahead / o.radius, -across / o.radius)
    fr = turning(v.spin_fr, front, ahead / o.radius, across / o.radius)
    rl = turning(v.spin_rl, v.rear, behind / o.radius, -aside / o.radius)
    rr = turning(v.spin_rr, v.rear, behind / o.radius, aside / o.radius)
    reading = Reading(
        fl=quantised(fl + o.noise * a, o.resolution),
        fr=quantised(fr + o.noise * b, o.resolution),
        rl=quantised(rl + o.noise * c, o.resolution),
        rr=quantised(rr + o.noise * e, o.resolution),
    )
    return reading, NoMemory(primed=1.0)


def turning(spin: float, axle: float, rolling: float, side: float) -> float:
    """Return the rotation of a wheel from what is known of it, rad/s; `side` is the difference to its axle's middle."""
    return select(spin == spin, spin, select(axle == axle, axle, rolling) + side)


SENSOR = Sensor(
    "Rotation of each of four wheels",
    Reading,
    Options,
    NoMemory,
    measure,
    from_vehicle={
        "radius": ("wheel_radius",),
        "track_front": ("track_front", "wheel_base"),
        "track_rear": ("track_rear", "wheel_base"),
        "cg_to_front": ("cg_to_front",),
    },
    seen=Seen,
    from_columns={"front": ("wheel_speed",), "rear": ("spin_rear",)},
)
