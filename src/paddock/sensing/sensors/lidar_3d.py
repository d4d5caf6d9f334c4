"""Lidar with rings: the distances of beams all around, at several elevations."""

from dataclasses import replace

from paddock.sensing.sensors import lidar
from paddock.world.columns import column_tuple


@column_tuple
class Options(lidar.Options):
    """A rotating lidar of 32 rings; all beams of a scan are measured at one tick."""

    rate = 10.0
    beams = 1024.0
    fov_deg = 360.0
    rings = 32.0
    vertical_fov_deg = 40.0
    range_min = 0.5
    range_max = 100.0
    noise = 0.02
    z = 1.0


SENSOR = replace(lidar.SENSOR, summary="Laser scanner with rings: ranges of beams all around", options=Options)
