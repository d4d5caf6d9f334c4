"""Equipment of vehicles with autopilots: an adapter's sensors and options; standard vehicle and sensors of a craft."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import atan2, sincos, sqrt
from paddock.compute.routine import routine
from paddock.errors import InvalidValueError, unknown_name
from paddock.sensing.sensor import find_sensor
from paddock.sensing.site import Site
from paddock.sensing.suite import FleetSensor
from paddock.sitl.sensor_data import COLUMN, Floats
from paddock.world.columns import column_index, columns_of
from paddock.world.geodesy import ECCENTRICITY_SQUARED, SEMI_MAJOR_AXIS, Origin, geodetic_to_ecef
from paddock.world.pose import Environment

SATELLITES = 12.0
LEAST_ERROR = 0.1  # m: accuracy reported by a receiver without noise; zero would mean unknown

ENVIRONMENT = np.array(Environment())
TIMES = {"imu": "imu_time_us", "gnss": "gnss_time_us", "compass": "compass_time_us", "barometer": "baro_time_us"}
"""Sensor -> the column with the time of its samples."""
SHOWN = {  # column <- reading, from forward-left-up and east-north-up to forward-right-down and north-east-down
    "imu": {"gyro_x": "wx", "gyro_y": "-wy", "gyro_z": "-wz", "accel_x": "ax", "accel_y": "-ay", "accel_z": "-az"},
    "gnss": {"gnss_vn": "vy", "gnss_ve": "vx", "gnss_vd": "-vz"},
    "compass": {"mag_x": "field_x", "mag_y": "-field_y", "mag_z": "-field_z"},
    "barometer": {"pressure": "pressure", "temperature": "temperature"},
}


def show_readings(
    readings: Floats, rows: NDArray[np.int64], signs: Floats, columns: NDArray[np.int64], block: Floats
) -> None:
    """Copy readings (rows, n) into columns of the block, each with its sign."""
    for k in range(readings.shape[1]):
        for j in range(len(rows)):
            block[k, columns[j]] = signs[j] * readings[rows[j], k]


def show_positions(readings: Floats, ecef: Floats, angles: Floats, first: int, block: Floats) -> None:
    """Write latitude, longitude and height of positions east, north, up (3 rows of the readings), by way of ECEF."""
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
    """Return geodetic latitude (rad) and ellipsoidal height (m) of a point, m from the Earth's axis and equator."""
    latitude = atan2(z, axial * (1.0 - ECCENTRICITY_SQUARED))
    height = 0.0
    for _ in range(4):  # each iteration adds two or three digits near the surface
        sine, cosine = sincos(latitude)
        normal = SEMI_MAJOR_AXIS / sqrt(1.0 - ECCENTRICITY_SQUARED * sine * sine)
        height = axial * cosine + z * sine - normal * (1.0 - ECCENTRICITY_SQUARED * sine * sine)
        latitude = atan2(z + ECCENTRICITY_SQUARED * normal * sine, axial)
    return latitude, height


def show_truth(
    poses: Floats,
    chosen: NDArray[np.bool_],
    rows: NDArray[np.int64],
    signs: Floats,
    turn: Floats,
    first: int,
    block: Floats,
) -> None:
    """Write position, velocity and attitude of poses (13, n) into the block, for the `chosen` vehicles.

    `rows` of a pose: those of position and velocity in the order of the block, each with its sign, then the attitude
    (x, y, z, w), which times `turn` (4, 4) is the (w, x, y, z) of the block.
    """
    vectors = len(signs)
    for k in range(len(chosen)):
        if chosen[k]:
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


class ReadingWriter:
    """Writes the readings of one kind of sensor into their columns of a block (n, WIDTH), in FRD and NED axes."""

    def __init__(self, kind: str, sensor: FleetSensor, origin: Origin) -> None:
        self.kind, self.sensor = kind, sensor
        rows, shown = column_index(sensor.sensor.reading), SHOWN[kind]
        self._time = COLUMN[TIMES[kind]]
        self._rows = np.array([rows[reading.lstrip("-")] for reading in shown.values()])
        self._signs = np.array([-1.0 if reading.startswith("-") else 1.0 for reading in shown.values()])
        self._columns = np.array([COLUMN[column] for column in shown])
        if kind == "gnss":
            options = dict(zip(column_index(sensor.sensor.options), sensor.options.tolist(), strict=True))
            self._errors = [max(options[f"noise_{axis}"], LEAST_ERROR) for axis in ("horizontal", "vertical")]
            latitude, longitude = np.deg2rad(origin.latitude_deg), np.deg2rad(origin.longitude_deg)
            self._angles = np.array([np.sin(latitude), np.cos(latitude), np.sin(longitude), np.cos(longitude)])
            place = geodetic_to_ecef(origin.latitude_deg, origin.longitude_deg, origin.height_m)
            self._ecef: Floats = np.asarray(place)

    def write(self, block: Floats, time_us: int) -> None:
        """Write the newest readings, sampled at `time_us`."""
        readings = self.sensor.published()
        rows = block[: readings.shape[1]]
        copy_readings(readings, self._rows, self._signs, self._columns, block)
        rows[:, self._time] = time_us
        if self.kind == "gnss":
            copy_positions(readings, self._ecef, self._angles, COLUMN["latitude"], block)
            known = np.isfinite(readings[0])
            rows[:, COLUMN["gnss_fix"]] = np.where(known, 3.0, 0.0)
            rows[:, COLUMN["gnss_satellites"]] = np.where(known, SATELLITES, 0.0)
            rows[:, COLUMN["gnss_eph"]], rows[:, COLUMN["gnss_epv"]] = self._errors


class Instrument:
    """One kind of sensor on all vehicles of an adapter; its ticks are microseconds."""

    def __init__(
        self, name: str, options: Mapping[str, Any], noise: float, origin: Origin, site: Site, capacity: int
    ) -> None:
        """`noise` is a factor on every noise and random walk that `options` do not set."""
        sensor = find_sensor(name)
        scaled = {
            column.name: noise * (column.default or 0.0)
            for column in columns_of(sensor.options)
            if "noise" in column.name or "walk" in column.name
        }
        self.fleet = FleetSensor(sensor, {**scaled, **options}, 1e6, site, capacity)
        self.next_us = 0
        self.shown_us = -1
        self._writer = ReadingWriter(name, self.fleet, origin)

    def sample(self, time_us: int, pose: Floats, n: int, streams: NDArray[np.int64], seed: int) -> None:
        """Measure, at the time when it is due."""
        self.fleet.sample(time_us, pose, n, streams, ENVIRONMENT, seed)
        self.next_us = time_us + self.fleet.period

    def align(self, time_us: int) -> None:
        """Skip samples before `time_us`, for a vehicle that was just added."""
        self.next_us = max(self.next_us, self.fleet.due(time_us))

    def publish(self, time_us: int, block: Floats) -> None:
        """Write the readings that have arrived by now."""
        self.fleet.arrive(time_us)
        if self.fleet.sample_tick != self.shown_us:
            self.shown_us = self.fleet.sample_tick
            self._writer.write(block, self.shown_us)

    def reset(self) -> None:
        """Return to the state before the first sample."""
        self.fleet.reset()
        self.next_us, self.shown_us = 0, -1


LARGEST = sys.float_info.max
T = TypeVar("T")


@dataclass(frozen=True)
class AdapterOptions:
    """Checks the values of an adapter's options; `where` begins error messages."""

    where: str

    def positive(self, name: str, value: Any, endless: bool = False) -> float:
        """Return a number above 0; infinite only if `endless`."""
        if not (_is_number(value) and value > 0 and (value <= LARGEST or (endless and value == inf))):
            raise self.refused(name, "a positive number", value)
        return float(value)

    def factor(self, name: str, value: Any) -> float:
        """Return a finite number from 0 on; false is 0, true is 1."""
        if not (isinstance(value, bool) or (_is_number(value) and 0 <= value <= LARGEST)):
            raise self.refused(name, "a factor from 0 on, true or false", value)
        return float(value)

    def typed(self, name: str, value: Any, kind: type[T], wanted: str) -> T:
        """Return a value of a type; a bool is no integer, and a text is not empty."""
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)) or value == "":
            raise self.refused(name, wanted, value)
        return value

    def triple(self, name: str, value: Any, what: str) -> tuple[float, float, float]:
        """Return three finite numbers; `what` describes them in the error."""
        listed = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 3
        if not listed or not all(_is_number(number) and abs(number) <= LARGEST for number in value):
            raise self.refused(name, f"3 numbers [{what}]", value)
        first, second, third = map(float, value)
        return first, second, third

    def refused(self, name: str, wanted: str, value: Any) -> InvalidValueError:
        """Return the error for an invalid value."""
        return InvalidValueError(f"{self.where}: {name} must be {wanted}, not {value!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


IMU_RATES = {"copter": 250.0, "rover": 50.0, "rover_ackermann": 50.0, "plane": 50.0}
"""Hz of the IMU for the built-in autopilot: its control rate, so that it misses no sample."""

SENSORS = {"gnss": {"rate": 5.0}, "compass": {"rate": 50.0, "noise": 0.02}, "barometer": {"rate": 25.0}}
"""Standard sensors of all crafts beside the IMU, with their options; copters also have a rangefinder."""


def standard_sensors(craft: str, imu_rate: float | None = None, most: float = inf) -> list[dict[str, Any]]:
    """Return the `sensors` of a vehicle's entry: an IMU at the autopilot's rate, and the others of the craft.

    `imu_rate` in Hz (None: the control rate of the built-in autopilot); no sensor is faster than `most`, the clock's
    rate.
    """
    if craft not in IMU_RATES:
        raise unknown_name("craft", craft, IMU_RATES)
    rate = min(IMU_RATES[craft] if imu_rate is None else imu_rate, most)
    others = {**SENSORS, "rangefinder": {"rate": 20.0}} if craft == "copter" else SENSORS
    slower = [{name: {**options, "rate": min(options["rate"], rate)}} for name, options in others.items()]
    return [{"imu": {"rate": rate}}, *slower]


VEHICLES: dict[str, dict[str, Any]] = {  # craft -> its standard vehicle
    "copter": {"model": "quad", "preset": "iris"},
    "rover": {"model": "rover", "preset": "skid"},
    "rover_ackermann": {"model": "car.kinematic", "preset": "buggy"},
    "plane": {"model": "fixed_wing", "preset": "mapper"},
}
