"""Where am I? An extended Kalman filter over inertial sensors, satellite fixes, compass and barometer."""

from __future__ import annotations

from collections.abc import Callable
from math import atan2, hypot
from typing import NamedTuple

import numpy as np

from paddock.sensing.site import EPOCH, HEIGHT_HIGH, HEIGHT_LOW, field_at
from paddock.sitl.autopilot.estimate import ESTIMATE_WIDTH, PLACE, Estimate
from paddock.sitl.autopilot.estimator import layout
from paddock.sitl.autopilot.estimator.filter import begin_filter, copy_truth, run_filter
from paddock.sitl.autopilot.estimator.satellites import good_fix
from paddock.sitl.autopilot.local_frame import LocalFrame
from paddock.sitl.sensor_data import COLUMN, TRUTH, Floats, SensorData

LEAST_SLOPE = 0.1
"""Nearer to a magnetic pole the field is taken to be at least this far from the vertical."""
FIX = slice(COLUMN["latitude"], COLUMN["altitude"] + 1)


class SensorHealth(NamedTuple):
    """Whether each sensor measures: not silent, not NaN, not frozen."""

    gyro: bool
    accel: bool
    mag: bool
    gps: bool
    baro: bool


class Estimator:
    """One vehicle's filter. Give it every row of sensor data; each sample in it is used once.

    The local frame's origin is the first good fix; until then position is not to be relied on and the vehicle is
    taken to stand. Set `standing` while it certainly does (disarmed, landed): then it does not drift without fixes.

    After an outage the first fix moves the estimate, not the vehicle: `on_jump` is then called with the m north, east
    and down, so that whoever holds a place by the estimate can carry it along.
    """

    def __init__(self, use_truth: bool = False, declination: float | None = None) -> None:
        """`use_truth` copies the ground truth of the rows; `declination` (rad) replaces the magnetic model's."""
        self.use_truth = use_truth
        self.declination = declination
        self.on_jump: Callable[[float, float, float], None] | None = None
        self.row: Floats = np.empty(ESTIMATE_WIDTH)
        self._state: Floats = np.empty(layout.STATES)
        self._covariance: Floats = np.empty((layout.ERRORS, layout.ERRORS))
        self._memory: Floats = np.empty(layout.MEMORY)
        self._work: Floats = np.zeros((3, layout.ERRORS))
        self.reset()

    def reset(self) -> None:
        """Know nothing, as before the first row."""
        self.frame: LocalFrame | None = None
        self.row[:] = 0.0
        self.row[0] = -1.0
        self._state[:] = 0.0
        self._state[layout.QUATERNION] = 1.0
        self._covariance[:] = 0.0
        self._memory[:] = 0.0
        self._memory[layout.IMU_TIME : layout.BARO_GOOD + 1] = -1.0
        self.row[PLACE["qw"]] = 1.0
        self._truth_placed = False
        self._jumps = 0.0
        self._jumped = (0.0, 0.0, 0.0)  # m, as last told

    def update(self, sensors: SensorData | Floats) -> None:
        """Use what is new in a row of sensor data; `row` is the result."""
        row = sensors.row if isinstance(sensors, SensorData) else sensors
        fixed = run_filter(row, self._state, self._covariance, self._memory, self._work, self.row)
        if self._memory[layout.JUMPS] != self._jumps:
            self._tell_jump()
        if fixed:  # the next row shows it, and then its jump is told
            self._place_origin(row)
        if self.use_truth:
            self._follow_truth(row)

    def estimate(self) -> Estimate:
        """The row as Python floats."""
        return Estimate(*self.row.tolist())

    @property
    def health(self) -> SensorHealth:
        """Which sensors measure."""
        return SensorHealth(*(self._memory[layout.GYRO_OK : layout.BARO_OK + 1] == 1.0).tolist())

    @property
    def standing(self) -> bool:
        """Whether the vehicle is known not to move; set it when disarmed or landed."""
        return bool(self._memory[layout.STANDING] == 1.0)

    @standing.setter
    def standing(self, value: bool) -> None:
        self._memory[layout.STANDING] = float(value)

    @property
    def jumped(self) -> tuple[float, float, float]:
        """m north, east, down that the position has jumped altogether, as far as the vehicle did not move so."""
        north, east, down = self._memory[layout.JUMPED : layout.JUMPED + 3].tolist()
        return north, east, down

    @property
    def gyro_bias(self) -> Floats:
        """(3,), rad/s."""
        return self._state[layout.GYRO_BIAS : layout.GYRO_BIAS + 3].copy()

    @property
    def accel_bias(self) -> Floats:
        """(3,), m/s2."""
        return self._state[layout.ACCEL_BIAS : layout.ACCEL_BIAS + 3].copy()

    @property
    def covariance(self) -> Floats:
        """(16, 16): position, velocity, attitude (body axes), gyro bias, accelerometer bias, barometer's offset."""
        return self._covariance.copy()

    def _place_origin(self, row: Floats) -> None:
        """The first good fix: the frame, its declination, and the filter's start in it."""
        latitude, longitude, altitude = row[FIX].tolist()
        self.frame = frame = LocalFrame(latitude, longitude, altitude)
        north, east, _ = frame.to_ned(latitude + 0.001, longitude + 0.001, altitude)
        first = layout.LATITUDE
        self._memory[first : first + 5] = latitude, longitude, altitude, north * 1e3, east * 1e3
        declination, dip = _magnetism_at(latitude, longitude, altitude)
        declination = declination if self.declination is None else self.declination
        begin_filter(row, self._state, self._covariance, self._memory, declination, dip)

    def _tell_jump(self) -> None:
        self._jumps = self._memory[layout.JUMPS]
        before, self._jumped = self._jumped, self.jumped
        if self.on_jump is not None and not self.use_truth:
            self.on_jump(*(now - then for now, then in zip(self._jumped, before, strict=True)))

    def _follow_truth(self, row: Floats) -> None:
        """The truth's origin is the world's, which the first good fix shows."""
        copy_truth(row, self._state, self._memory, self.row)
        if self.frame is not None and not self._truth_placed and good_fix(row):
            north, east, down = row[TRUTH][:3].tolist()
            self.frame = LocalFrame(*LocalFrame(*row[FIX].tolist()).to_geodetic(-north, -east, -down))
            self._truth_placed = True


def _magnetism_at(latitude: float, longitude: float, altitude: float) -> tuple[float, float]:
    """The field's direction (rad, east of true north) and its part down over its horizontal part.

    Neighbours within a kilometre share one evaluation of the model.
    """
    height = min(max(round(altitude, -3), HEIGHT_LOW), HEIGHT_HIGH)
    east, north, up = field_at(round(latitude, 2), round(longitude, 2), height, EPOCH)
    return atan2(east, north), -up / max(hypot(east, north), abs(up) * LEAST_SLOPE)
