"""Inertial measurement unit: accelerometer and gyroscope."""

from typing import Annotated, NamedTuple

from paddock.compute.math import clamp, maximum, select, sqrt
from paddock.compute.quaternion import unrotate
from paddock.sensing.sensor import Delay, Draw, Primed, Rate, Sensor, six, walk
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose


class Reading(NamedTuple):
    """Specific force (an accelerometer at rest reads gravity upwards) and angular rate, both in body axes."""

    ax: Annotated[float, Column("m/s2", "specific force forward, mean since the last sample")]
    ay: Annotated[float, Column("m/s2", "specific force left")]
    az: Annotated[float, Column("m/s2", "specific force up")]
    wx: Annotated[float, Column("rad/s", "angular rate about the forward axis")]
    wy: Annotated[float, Column("rad/s", "angular rate about the left axis")]
    wz: Annotated[float, Column("rad/s", "angular rate about the up axis")]


class Options(NamedTuple):
    """A consumer-grade MEMS unit."""

    rate: Rate = 100.0
    delay: Delay = 0.0
    accelerometer_noise: Annotated[float, Column("m/s2", "standard deviation per sample", low=0.0, high=100.0)] = 0.1
    gyro_noise: Annotated[float, Column("rad/s", "standard deviation per sample", low=0.0, high=10.0)] = 0.01
    accelerometer_walk: Annotated[float, Column("m/s2/s^0.5", "random walk of the bias", low=0.0, high=10.0)] = 1e-3
    gyro_walk: Annotated[float, Column("rad/s/s^0.5", "random walk of the bias", low=0.0, high=1.0)] = 3e-5
    accelerometer_range: Annotated[float, Column("m/s2", "largest reading (16 g)", low=1.0, high=1e4)] = 156.9064
    gyro_range: Annotated[float, Column("rad/s", "largest reading (2000 deg/s)", low=0.1, high=1e3)] = 34.90658503988659


class Memory(NamedTuple):
    """Velocity and attitude at the last sample, and the biases."""

    primed: Primed
    vx: Annotated[float, Column("m/s", "velocity east")]
    vy: Annotated[float, Column("m/s", "velocity north")]
    vz: Annotated[float, Column("m/s", "velocity up")]
    qx: Annotated[float, Column("", "attitude quaternion x")]
    qy: Annotated[float, Column("", "attitude quaternion y")]
    qz: Annotated[float, Column("", "attitude quaternion z")]
    qw: Annotated[float, Column("", "attitude quaternion w")]
    bias_ax: Annotated[float, Column("m/s2", "accelerometer bias forward")]
    bias_ay: Annotated[float, Column("m/s2", "accelerometer bias left")]
    bias_az: Annotated[float, Column("m/s2", "accelerometer bias up")]
    bias_wx: Annotated[float, Column("rad/s", "gyro bias about the forward axis")]
    bias_wy: Annotated[float, Column("rad/s", "gyro bias about the left axis")]
    bias_wz: Annotated[float, Column("rad/s", "gyro bias about the up axis")]


def measure(
    pose: Pose, m: Memory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, Memory]:
    """Measure the change of velocity since the last sample, less gravity, in the mid attitude."""
    fx, fy, fz = specific_force(pose, m, w.gravity, interval)
    nax, nay, naz, nwx, nwy, nwz = six(d, 0)
    after = drifted(pose, m, o, d, interval)
    top, turn = o.accelerometer_range, o.gyro_range
    reading = Reading(
        ax=clamp(fx + after.bias_ax + o.accelerometer_noise * nax, -top, top),
        ay=clamp(fy + after.bias_ay + o.accelerometer_noise * nay, -top, top),
        az=clamp(fz + after.bias_az + o.accelerometer_noise * naz, -top, top),
        wx=clamp(pose.wx + after.bias_wx + o.gyro_noise * nwx, -turn, turn),
        wy=clamp(pose.wy + after.bias_wy + o.gyro_noise * nwy, -turn, turn),
        wz=clamp(pose.wz + after.bias_wz + o.gyro_noise * nwz, -turn, turn),
    )
    return reading, after


def specific_force(pose: Pose, m: Memory, gravity: float, interval: float) -> tuple[float, float, float]:
    """Return the mean specific force in body axes, m/s2; zero acceleration in the first sample."""
    share = m.primed / interval
    fx, fy, fz = (pose.vx - m.vx) * share, (pose.vy - m.vy) * share, (pose.vz - m.vz) * share + gravity
    qx, qy, qz, qw = midway(pose, m)
    return unrotate(qx, qy, qz, qw, fx, fy, fz)


def midway(pose: Pose, m: Memory) -> tuple[float, float, float, float]:
    """Return the attitude half way from the last sample (of a quaternion and its negative, the nearer one)."""
    near = pose.qx * m.qx + pose.qy * m.qy + pose.qz * m.qz + pose.qw * m.qw
    share = select(near < 0.0, -m.primed, m.primed)
    x, y = pose.qx + share * m.qx, pose.qy + share * m.qy
    z, w = pose.qz + share * m.qz, pose.qw + share * m.qw
    scale = 1.0 / sqrt(maximum(x * x + y * y + z * z + w * w, 1e-12))
    return x * scale, y * scale, z * scale, w * scale


def drifted(pose: Pose, m: Memory, o: Options, d: Draw, interval: float) -> Memory:
    """Return the memory: this sample's velocity and attitude, and the biases after a step of their walks."""
    nax, nay, naz, nwx, nwy, nwz = six(d, 3)
    return Memory(
        primed=1.0,
        vx=pose.vx,
        vy=pose.vy,
        vz=pose.vz,
        qx=pose.qx,
        qy=pose.qy,
        qz=pose.qz,
        qw=pose.qw,
        bias_ax=walk(m.bias_ax, o.accelerometer_walk, interval, m.primed, nax),
        bias_ay=walk(m.bias_ay, o.accelerometer_walk, interval, m.primed, nay),
        bias_az=walk(m.bias_az, o.accelerometer_walk, interval, m.primed, naz),
        bias_wx=walk(m.bias_wx, o.gyro_walk, interval, m.primed, nwx),
        bias_wy=walk(m.bias_wy, o.gyro_walk, interval, m.primed, nwy),
        bias_wz=walk(m.bias_wz, o.gyro_walk, interval, m.primed, nwz),
    )


SENSOR = Sensor("Accelerometer and gyroscope with noise and bias random walk", Reading, Options, Memory, measure)
