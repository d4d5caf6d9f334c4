"""Lidar in a plane: the distances of many beams, against obstacles, cones, vehicles and the ground."""

from typing import Annotated, NamedTuple

from paddock.sensing.rays import cast_rays, lidar_problem, ranges_of
from paddock.sensing.sensor import ArraySensor, LookingOptions
from paddock.world.columns import Column, column_tuple


class Reading(NamedTuple):
    """A summary of the scan."""

    returns: Annotated[float, Column("", "number of beams with a return")]
    nearest: Annotated[float, Column("m", "shortest range, infinite without a return")]


@column_tuple
class Options(LookingOptions):
    """A scanner of 270 deg with four beams per degree; all beams of a scan are measured at one tick."""

    rate = 40.0
    z = 0.2
    beams: Annotated[float, Column("", "beams of a ring", low=1.0, high=16384.0)] = 1080.0
    fov_deg: Annotated[float, Column("deg", "field of view, centred ahead", low=0.1, high=360.0)] = 270.0
    rings: Annotated[float, Column("", "rings of beams, one above the other", low=1.0, high=256.0)] = 1.0
    vertical_fov_deg: Annotated[float, Column("deg", "between the outer rings", low=0.0, high=180.0)] = 0.0
    range_min: Annotated[float, Column("m", "shortest range", low=0.0, high=1e3)] = 0.06
    range_max: Annotated[float, Column("m", "longest range", low=0.1, high=1e4)] = 30.0
    noise: Annotated[float, Column("m", "standard deviation per beam", low=0.0, high=10.0)] = 0.01
    dropout: Annotated[float, Column("", "share of the beams without a return", low=0.0, high=1.0)] = 0.0
    pitch_deg: Annotated[float, Column("deg", "turned nose down", low=-90.0, high=90.0)] = 0.0


SENSOR = ArraySensor(
    "Laser scanner in a plane: ranges of many beams",
    Reading,
    Options,
    arrays=ranges_of,
    look=cast_rays,
    problem=lidar_problem,
)
