"""Sensors of `paddock.sensing` on the vehicles of an adapter: sampled in simulated us, read in FRD and NED axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import atan2, sincos, sqrt
from paddock.compute.routine import routine
from paddock.sensing.sensor import find_sensor
from paddock.sensing.site import Site
from paddock.sensing.suite import FleetSensor
from paddock.sitl.sensor_data import COLUMN, Floats
from paddock.world.columns import column_index, columns_of
from paddock.world.geodesy import ECCENTRICITY_SQUARED, SEMI_MAJOR_AXIS, Origin, geodetic_to_ecef
from paddock.world.pose import Environment

SATELLITES = 12.0
LEAST_ERROR = 0.1
"""m: a receiver without noise still claims this error; zero would mean that it does not know."""

ENVIRONMENT = np.array(Environment())
TIMES = {"imu": "imu_time_us", "gnss": "gnss_time_us", "compass": "compass_time_us", "barometer": "baro_time_us"}
"""The sensors that there are, and the column with the time of their samples."""
SHOWN = {
    "imu": {"gyro_x": "wx", "gyro_y": "-wy", "gyro_z": "-wz", "accel_x": "ax", "accel_y": "-ay", "accel_z": "-az"},
    "gnss": {"gnss_vn": "vy", "gnss_ve": "vx", "gnss_vd": "-vz"},
    "compass": {"mag_x": "field_x", "mag_y": "-field_y", "mag_z": "-field_z"},
    "barometer": {"pressure": "pressure", "temperature": "temperature"},
}
"""Column <- reading, from forward-left-up and east-north-up to the axes of autopilots."""


def show_readings(
    readings: Floats, rows: NDArray[np.int64], signs: Floats, columns: NDArray[np.int64], block: Floats
) -> None:
    """Copy readings (rows, n) into columns of the block, each with its sign."""
    for k in range(readings.shape[1]):
        for j in range(len(rows)):
            block[k, columns[j]] = signs[j] * readings[rows[j], k]


def show_positions(readings: Floats, ecef: Floats, angles: Floats, first: int, block: Floats) -> None:
    """Latitude, longitude and height of positions east, north, up (3 rows of the readings), exactly, by way of ECEF."""
    sin_lat, cos_lat, sin_lon, cos_lon = angles[0], angles[1], angles[2], angles[3]
    for k in range(readings.shape[1]):
        east, north, up = readings[0, k], readings[1, k], readings[2, k]
        outward = cos_lat * up - sin_lat * north
        x = ecef[0] + cos_lon * outward - sin_lon * east
        y = ecef[1] + sin_lon * outward + cos_lon * east
        z = ecef[2] + sin_lat * up + cos_lat * north
        latitude, height = latitude_of(sqrt(x * x + y * y), z)
        block[k, first] = latitude * 57.29577951308232
        block[k, first + 1] = atan2(y, x) * 57.29577951308232
        block[k, first + 2] = height


def latitude_of(axial: float, z: float) -> tuple[float, float]:
    """Geodetic latitude (rad) and ellipsoidal height (m) of a point so far from the Earth's axis and its equator."""
    latitude = atan2(z, axial * (1.0 - ECCENTRICITY_SQUARED))
    height = 0.0
    for _ in range(4):  # each round brings two or three more digits near the surface
        sine, cosine = sincos(latitude)
        normal = SEMI_MAJOR_AXIS / sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine)
        height = axial * cosine + z * sine - normal * (1.0 - ECCENTRICITY_SQUARED * sine * sine)
        latitude = atan2(z + ECCENTRICITY_SQUARED * normal * sine, axial)
    return latitude, height


def show_truth(
    poses: Floats,
    told: NDArray[np.bool_],
    rows: NDArray[np.int64],
    signs: Floats,
    turn: Floats,
    first: int,
    block: Floats,
) -> None:
    """Position, velocity and attitude of poses (13, n) into the block, of those who are told.

    `rows` of a pose: those of position and velocity as they come in the block, each with its sign, then the attitude
    (x, y, z, w), which times `turn` (4, 4) is the (w, x, y, z) of the block.
    """
    vectors = len(signs)
    for k in range(len(told)):
        if told[k]:
            for j in range(vectors):
                block[k, first + j] = signs[j] * poses[rows[j], k]
            for j in range(4):
                total = 0.0
                for i in range(4):
                    total += poses[rows[vectors + i], k] * turn[i, j]
                block[k, first + vectors + j] = total


copy_readings = routine(show_readings)
copy_positions = routine(show_positions)
copy_truth = routine(show_truth)


class Instrument:
    """One kind of sensor on all vehicles: when it samples (ticks are microseconds), and its columns of the block."""

    def __init__(
        self, name: str, options: Mapping[str, Any], noise: float, origin: Origin, site: Site, capacity: int
    ) -> None:
        """`noise` is a factor on every noise and random walk that `options` do not give."""
        sensor = find_sensor(name)
        scaled = {
            column.name: noise * (column.default or 0.0)
            for column in columns_of(sensor.options)
            if "noise" in column.name or "walk" in column.name
        }
        self.fleet = FleetSensor(sensor, {**scaled, **options}, 1e6, site, capacity)
        self.next_us = 0
        self.shown_us = -1
        self._time = COLUMN[TIMES[name]]
        shown, rows = SHOWN[name], column_index(sensor.reading)
        self._rows = np.array([rows[reading.lstrip("-")] for reading in shown.values()])
        self._signs = np.array([-1.0 if reading.startswith("-") else 1.0 for reading in shown.values()])
        self._columns = np.array([COLUMN[column] for column in shown])
        self._given = dict(zip(column_index(sensor.options), self.fleet.options.tolist(), strict=True))
        self._positions = _place(origin) if name == "gnss" else None

    def sample(self, time_us: int, pose: Floats, n: int, streams: NDArray[np.int64], seed: int) -> None:
        """Measure if it is time."""
        if time_us == self.next_us:
            self.fleet.sample(time_us, pose, n, streams, ENVIRONMENT, seed)
            self.next_us = time_us + self.fleet.period

    def align(self, time_us: int) -> None:
        """Whoever has just come is measured from the next instant on, not from the past."""
        self.next_us = max(self.next_us, self.fleet.due(time_us))

    def publish(self, time_us: int, block: Floats) -> None:
        """Write what has arrived by now into the rows of the block."""
        self.fleet.arrive(time_us)
        if self.fleet.sample_tick == self.shown_us:
            return
        self.shown_us = self.fleet.sample_tick
        readings = self.fleet.published()
        copy_readings(readings, self._rows, self._signs, self._columns, block)
        if self._positions is not None:
            self._publish_gnss(readings, block)
        block[: self.fleet.n, self._time] = self.shown_us

    def reset(self) -> None:
        """As before the first sample."""
        self.fleet.reset()
        self.next_us, self.shown_us = 0, -1

    def _publish_gnss(self, readings: Floats, block: Floats) -> None:
        assert self._positions is not None
        copy_positions(readings, *self._positions, COLUMN["latitude"], block)
        known = np.isfinite(readings[0])
        rows = block[: len(known)]
        rows[:, COLUMN["gnss_fix"]] = np.where(known, 3.0, 0.0)
        rows[:, COLUMN["gnss_satellites"]] = np.where(known, SATELLITES, 0.0)
        rows[:, COLUMN["gnss_eph"]] = max(self._given["noise_horizontal"], LEAST_ERROR)
        rows[:, COLUMN["gnss_epv"]] = max(self._given["noise_vertical"], LEAST_ERROR)


def _place(origin: Origin) -> tuple[Floats, Floats]:
    """The origin in ECEF (3,), and sine and cosine of its latitude and longitude (4,)."""
    latitude, longitude = np.deg2rad(origin.latitude_deg), np.deg2rad(origin.longitude_deg)
    angles = np.array([np.sin(latitude), np.cos(latitude), np.sin(longitude), np.cos(longitude)])
    return np.asarray(geodetic_to_ecef(origin.latitude_deg, origin.longitude_deg, origin.height_m)), angles
