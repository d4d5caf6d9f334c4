"""Cone detections, as of a camera or lidar pipeline of a driverless race car, with the truth beside them."""

from typing import Annotated, NamedTuple

from paddock.sensing.cone_detection import cone_arrays, cones_problem, look_for_cones
from paddock.sensing.sensor import ArraySensor, LookingOptions
from paddock.world.columns import Column, column_tuple


class Reading(NamedTuple):
    """How many there are."""

    detected: Annotated[float, Column("", "number of detections")]
    visible: Annotated[float, Column("", "number of cones that could be detected")]


@column_tuple
class Options(LookingOptions):
    """Stages: visible, detected, measured, coloured, and false detections besides; each with draws of its own."""

    delay = 0.1
    delay_max = 0.2
    z = 1.0
    range_min: Annotated[float, Column("m", "shortest distance of a cone", low=0.0, high=1e3)] = 1.0
    range_max: Annotated[float, Column("m", "longest distance", low=0.1, high=1e4)] = 45.0
    fov_deg: Annotated[float, Column("deg", "field of view, centred ahead", low=0.1, high=360.0)] = 120.0
    detection_0: Annotated[float, Column("", "probability of detection at 0 m", low=0.0, high=1.0)] = 0.99
    detection_1: Annotated[float, Column("1/m", "its change with distance", low=-10.0, high=10.0)] = -0.01
    detection_2: Annotated[float, Column("1/m2", "its change with distance squared", low=-10.0, high=10.0)] = -0.00012
    detection_floor: Annotated[float, Column("", "its least value", low=0.0, high=1.0)] = 0.1
    miss: Annotated[float, Column("", "share of the cones that are missed besides", low=0.0, high=1.0)] = 0.0
    noise_range: Annotated[float, Column("m", "standard deviation of the distance", low=0.0, high=100.0)] = 0.02
    noise_bearing: Annotated[float, Column("rad", "standard deviation of the direction", low=0.0, high=1.0)] = 0.001
    noise_xy: Annotated[float, Column("m", "standard deviation of x and y besides", low=0.0, high=100.0)] = 0.01
    colour_range: Annotated[float, Column("m", "distance up to which colours are seen", low=0.0, high=1e4)] = 15.0
    colour_confusion: Annotated[float, Column("", "share of the colours that are wrong", low=0.0, high=1.0)] = 0.01
    clutter: Annotated[float, Column("", "false detections per frame, mean", low=0.0, high=10.0)] = 0.1
    occlusion: Annotated[float, Column("0/1", "other vehicles and obstacles hide cones", low=0.0, high=1.0)] = 1.0
    max_detections: Annotated[float, Column("", "rows of arrays; the nearest are kept", low=1.0, high=4096.0)] = 64.0


SENSOR = ArraySensor(
    "Cones: place, colour and covariance of each detection, and what is really there",
    Reading,
    Options,
    arrays=cone_arrays,
    look=look_for_cones,
    problem=cones_problem,
)
