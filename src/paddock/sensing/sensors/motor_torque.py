"""Motor torque, as a motor controller reports it."""

from typing import Annotated, NamedTuple

from paddock.compute.math import absolute, maximum, nearest, select
from paddock.sensing.sensor import Delay, Draw, NoMemory, Rate, Sensor, two
from paddock.sensing.sensors.wheel_speed import quantised
from paddock.sensing.site import Site
from paddock.world.columns import Column, Environment, Pose


class Reading(NamedTuple):
    """The torque, before and after the gears."""

    torque: Annotated[float, Column("N m", "torque of the motor")]
    wheels: Annotated[float, Column("N m", "sum of the torques of the drive shafts")]


class Options(NamedTuple):
    """Torque from the currents of the motor; the error of the shafts is that of the motor times the gears."""

    rate: Rate = 100.0
    delay: Delay = 0.0
    noise: Annotated[float, Column("N m", "standard deviation per sample", low=0.0, high=1e5)] = 0.5
    resolution: Annotated[float, Column("N m", "step between readings; 0: none", low=0.0, high=1e4)] = 0.0


class Seen(NamedTuple):
    """What it reads of the vehicle."""

    drive_torque_fl: Annotated[float, Column("N m", "torque of the drive shaft")]
    drive_torque_fr: Annotated[float, Column("N m", "torque of the drive shaft")]
    drive_torque_rl: Annotated[float, Column("N m", "torque of the drive shaft")]
    drive_torque_rr: Annotated[float, Column("N m", "torque of the drive shaft")]
    final_drive: Annotated[float, Column("", "turns of the motor per turn of the wheel")]
    gear: Annotated[float, Column("", "gear engaged")] = 0.0
    gears: Annotated[float, Column("", "forward gears; 0: one of ratio 1")] = 0.0
    gear_1: Annotated[float, Column("", "ratio")] = 1.0
    gear_2: Annotated[float, Column("", "ratio")] = 1.0
    gear_3: Annotated[float, Column("", "ratio")] = 1.0
    gear_4: Annotated[float, Column("", "ratio")] = 1.0
    gear_5: Annotated[float, Column("", "ratio")] = 1.0
    gear_6: Annotated[float, Column("", "ratio")] = 1.0


def measure(
    pose: Pose, v: Seen, m: NoMemory, o: Options, w: Environment, site: Site, d: Draw, interval: float
) -> tuple[Reading, NoMemory]:
    """Measure the torque of the shafts, divided by the ratio of the gears."""
    noise, _ = two(d, 0)
    through = maximum(absolute(v.final_drive * ratio(v)), 1e-9)
    true = (v.drive_torque_fl + v.drive_torque_fr + v.drive_torque_rl + v.drive_torque_rr) / through
    torque = quantised(true + o.noise * noise, o.resolution)
    return Reading(torque, torque * through), NoMemory(primed=1.0)


def ratio(v: Seen) -> float:
    """Return the ratio of the gear that is engaged."""
    g = nearest(absolute(v.gear))
    high = select(g >= 6.0, v.gear_6, select(g >= 5.0, v.gear_5, v.gear_4))
    low = select(g >= 3.0, v.gear_3, select(g >= 2.0, v.gear_2, v.gear_1))
    return select(v.gears >= 1.0, select(g >= 4.0, high, low), 1.0)


SENSOR = Sensor("Torque of the motor and of the drive shafts", Reading, Options, NoMemory, measure, seen=Seen)
