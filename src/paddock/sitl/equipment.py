"""Equipment of vehicles with autopilots: an adapter's sensors and options; standard vehicle and sensors of a craft."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, radians
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from paddock.autopilot.vehicle_data import COLUMN, TRUTH, Floats
from paddock.compute.math import atan2, sincos, sqrt
from paddock.compute.routine import routine
from paddock.errors import InvalidValueError, unknown_name
from paddock.scenario.base import Positive, Vector3
from paddock.sensing.sensor import find_sensor
from paddock.sensing.site import Site
from paddock.sensing.suite import FleetSensor
from paddock.world.columns import Environment, column_index, columns_of
from paddock.world.frames import conversion
from paddock.world.geodesy import ECCENTRICITY_SQUARED, SEMI_MAJOR_AXIS, Origin, geodetic_to_ecef
from paddock.world.snapshot import ORIENTATION, POSITION, VELOCITY

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
    readings: Floats,
    rows: NDArray[np.int64],
    signs: Floats,
    columns: NDArray[np.int64],
    at: int,
    time_us: float,
    block: Floats,
) -> None:
    """Copy readings (rows, n) into columns of the block, each with its sign; `time_us` into column `at`."""
    for k in range(readings.shape[1]):
        block[k, at] = time_us
        for j in range(len(rows)):
            block[k, columns[j]] = signs[j] * readings[rows[j], k]


def show_positions(readings: Floats, ecef: Floats, angles: Floats, first: int, block: Floats) -> None:
    """Write latitude, longitude and height of positions east, north, up (3 rows of the readings), by way of ECEF.

    ecef, angles: of the origin, m, and sine and cosine of latitude and longitude. first: column of the latitude.
    """
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


def show_truth(poses: Floats, rows: NDArray[np.int64], signs: Floats, turn: Floats, first: int, block: Floats) -> None:
    """Write position, velocity and attitude of poses (13, n) into the block.

    `rows` of a pose: those of position and velocity in the order of the block, each with its sign, then the attitude
    (x, y, z, w), which times `turn` (4, 4) is the (w, x, y, z) of the block.
    """
    vectors = len(signs)
    for k in range(len(block)):
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
TO_NED = conversion("enu", "ned")
QUATERNIONS: Floats = TO_NED.quaternion(np.eye(4))[:, [3, 0, 1, 2]].astype(np.float64)
"""Attitude (x, y, z, w) of ENU and FLU, times this, is (w, x, y, z) of NED and FRD."""
TRUE_ROWS = np.concatenate(
    [np.arange(13)[part][list(TO_NED.world.index)] for part in (POSITION, VELOCITY)] + [np.arange(13)[ORIENTATION]]
)
"""Rows of a pose for position and velocity in NED, each with a sign, then those of the attitude."""
TRUE_SIGNS = np.array(2 * TO_NED.world.sign, np.float64)


def write_truth(poses: Floats, block: Floats) -> None:
    """Write the ground truth of poses (13, n or more) into the rows of a block (n, SENSOR_WIDTH)."""
    copy_truth(poses, TRUE_ROWS, TRUE_SIGNS, QUATERNIONS, TRUTH.start, block)


class ReadingWriter:
    """Writes the readings of one kind of sensor into their columns of a block (n, SENSOR_WIDTH), in FRD and NED."""

    def __init__(self, kind: str, sensor: FleetSensor, origin: Origin, tick_us: float) -> None:
        """`tick_us`: us per tick of the sensor."""
        self.kind, self.sensor = kind, sensor
        self._tick_us, self._shown = tick_us, -1  # tick of the sample in the block
        self._taken = -1  # number of that sample
        self._copy = copy_readings.direct()
        rows, shown = column_index(sensor.sensor.reading), SHOWN[kind]
        self._time = COLUMN[TIMES[kind]]
        self._rows = np.array([rows[reading.lstrip("-")] for reading in shown.values()])
        self._signs = np.array([-1.0 if reading.startswith("-") else 1.0 for reading in shown.values()])
        self._columns = np.array([COLUMN[column] for column in shown])
        if kind == "gnss":
            self._quality = [(COLUMN["gnss_fix"], rows["fix"]), (COLUMN["gnss_satellites"], rows["satellites"])]
            errors = {"gnss_eph": "horizontal_error", "gnss_epv": "vertical_error"}
            self._errors = [(COLUMN[name], rows[column]) for name, column in errors.items()]
            self._angles = np.array([*sincos(radians(origin.latitude_deg)), *sincos(radians(origin.longitude_deg))])
            position = geodetic_to_ecef(origin.latitude_deg, origin.longitude_deg, origin.height_m)
            self._ecef: Floats = np.asarray(position)

    def publish(self, tick: int, block: Floats) -> None:
        """Write the readings that have arrived by a tick, if they are new."""
        sensor = self.sensor
        if sensor.taken == sensor.arrived == self._taken:  # none in transit
            return
        sensor.arrive(tick)
        self._taken, sampled = sensor.arrived, sensor.sample_tick
        if sampled == self._shown:
            return
        self._shown = sampled
        readings = sensor.published()
        time_us = float(round(sampled * self._tick_us))
        self._copy(readings, self._rows, self._signs, self._columns, self._time, time_us, block)
        if self.kind == "gnss":
            rows = block[: readings.shape[1]]
            copy_positions(readings, self._ecef, self._angles, COLUMN["latitude"], block)
            known = np.isfinite(readings[0])
            for column, row in self._quality:
                rows[:, column] = np.where(known, readings[row], 0.0)
            for column, row in self._errors:
                rows[:, column] = np.maximum(readings[row], LEAST_ERROR)


class Instrument(ReadingWriter):
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
        super().__init__(name, FleetSensor(sensor, {**scaled, **options}, 1e6, site, capacity), origin, 1.0)
        self.next_us = 0

    def sample(self, time_us: int, pose: Floats, n: int, streams: NDArray[np.int64], seed: int) -> None:
        """Measure `n` vehicles at the poses (13, n), when it is due; streams, seed: of the noise."""
        self.sensor.sample(time_us, pose, n, streams, ENVIRONMENT, seed)
        self.next_us = time_us + self.sensor.period

    def align(self, time_us: int) -> None:
        """Skip samples before `time_us`, for a vehicle that was just added."""
        self.next_us = max(self.next_us, self.sensor.due(time_us))

    def reset(self) -> None:
        """Return to the state before the first sample."""
        self.sensor.reset()
        self.next_us, self._shown, self._taken = 0, -1, -1


@dataclass(frozen=True)
class AdapterOptions:
    """Checks the values of an adapter's options; `where` begins error messages."""

    where: str

    def check(self, kind: Any, name: str, value: Any, expected: str) -> Any:
        """Return a value of a type, with the strict types of a scenario; `expected` describes it in the error."""
        try:
            return TypeAdapter(kind).validate_python(value)
        except ValidationError:
            raise self.refused(name, expected, value) from None

    def positive(self, name: str, value: Any, kind: Any = Positive) -> float:
        """Return a number above 0; infinite only where the `kind` allows that."""
        return float(self.check(kind, name, value, "a positive number"))

    def triple(self, name: str, value: Any, what: str) -> tuple[float, float, float]:
        """Return three finite numbers; `what` describes them in the error."""
        first, second, third = map(float, self.check(Vector3, name, value, f"3 numbers [{what}]"))
        return first, second, third

    def refused(self, name: str, expected: str, value: Any) -> InvalidValueError:
        """Return the error for an invalid value."""
        return InvalidValueError(f"{self.where}: {name} must be {expected}, not {value!r}")


IMU_RATES = {"copter": 250.0, "rover": 50.0, "rover_ackermann": 50.0, "plane": 50.0}
"""Hz of the IMU for the built-in autopilot: its control rate, so that it misses no sample."""

ACCELEROMETER, GYRO = 1.5e-3, 1e-4
"""Noise density of a good MEMS unit, m/s2 and rad/s per root of Hz (150 ug and 0.006 deg/s): a sample at rate f has
this times the root of f / 2. A vehicle at rest then shows the vibration of a real autopilot, at every rate."""

SENSORS = {"gnss": {"rate": 5.0}, "compass": {"rate": 50.0, "noise": 0.02}, "barometer": {"rate": 25.0}}
"""Standard sensors of all crafts beside the IMU, with their options."""
OWN_SENSORS = {"copter": {"rangefinder": {"rate": 20.0}}, "plane": {"airspeed": {"rate": 25.0}}}
"""Those of single crafts."""


def standard_sensors(craft: str, imu_rate: float | None = None, most: float = inf) -> list[dict[str, Any]]:
    """Return the `sensors` of a vehicle's entry: an IMU at the autopilot's rate, and the others of the craft.

    `imu_rate` in Hz (None: the control rate of the built-in autopilot); no sensor is faster than `most`, the clock's
    rate.
    """
    if craft not in IMU_RATES:
        raise unknown_name("craft", craft, IMU_RATES)
    rate = min(IMU_RATES[craft] if imu_rate is None else imu_rate, most)
    others = {**SENSORS, **OWN_SENSORS.get(craft, {})}
    slower = [{name: {**options, "rate": min(options["rate"], rate)}} for name, options in others.items()]
    width = sqrt(0.5 * rate)
    imu = {"rate": rate, "accelerometer_noise": ACCELEROMETER * width, "gyro_noise": GYRO * width}
    return [{"imu": imu}, *slower]


VEHICLES: dict[str, dict[str, Any]] = {  # craft -> its standard vehicle
    "copter": {"model": "quad", "preset": "iris"},
    "rover": {"model": "rover", "preset": "skid"},
    "rover_ackermann": {"model": "car.kinematic", "preset": "buggy"},
    "plane": {"model": "plane", "preset": "mapper"},
}
