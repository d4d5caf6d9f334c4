"""Lidar with rings: the distances of beams all around, at several elevations."""

from typing import Annotated, NamedTuple

from paddock.sensing.rays import lidar_problem, look_around, ranges_of
from paddock.sensing.sensor import ArraySensor
from paddock.sensing.sensors.lidar import Reading
from paddock.world.columns import Column


class Options(NamedTuple):
    """A rotating lidar of 32 rings; all beams of a scan are measured at one tick."""

    rate: Annotated[float, Column("Hz", "scans per second", low=1e-3, high=1e6)] = 10.0
    delay: Annotated[float, Column("s", "age of a scan on arrival; or [shortest, longest]", low=0.0, high=10.0)] = 0.0
    delay_max: Annotated[float, Column("s", "longest age, where it varies; 0: as `delay`", low=0.0, high=10.0)] = 0.0
    beams: Annotated[float, Column("", "beams of a ring", low=1.0, high=16384.0)] = 1024.0
    fov_deg: Annotated[float, Column("deg", "field of view, centred ahead", low=0.1, high=360.0)] = 360.0
    rings: Annotated[float, Column("", "rings of beams, one above the other", low=1.0, high=256.0)] = 32.0
    vertical_fov_deg: Annotated[float, Column("deg", "between the outer rings", low=0.0, high=180.0)] = 40.0
    range_min: Annotated[float, Column("m", "shortest range", low=0.0, high=1e3)] = 0.5
    range_max: Annotated[float, Column("m", "longest range", low=0.1, high=1e4)] = 100.0
    noise: Annotated[float, Column("m", "standard deviation per beam", low=0.0, high=10.0)] = 0.02
    dropout: Annotated[float, Column("", "share of the beams without a return", low=0.0, high=1.0)] = 0.0
    x: Annotated[float, Column("m", "place on the vehicle, forward", low=-100.0, high=100.0)] = 0.0
    y: Annotated[float, Column("m", "place on the vehicle, left", low=-100.0, high=100.0)] = 0.0
    z: Annotated[float, Column("m", "place on the vehicle, up", low=-100.0, high=100.0)] = 1.0
    yaw_deg: Annotated[float, Column("deg", "turned left", low=-180.0, high=180.0)] = 0.0
    pitch_deg: Annotated[float, Column("deg", "turned nose down", low=-90.0, high=90.0)] = 0.0


SENSOR = ArraySensor(
    "Laser scanner with rings: ranges of beams all around",
    Reading,
    Options,
    arrays=ranges_of,
    look=look_around,
    problem=lidar_problem,
)
