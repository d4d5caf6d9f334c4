"""The state estimator: an extended Kalman filter over inertial sensors, GNSS, compass and barometer."""

from collections.abc import Callable
from math import atan2, hypot, isfinite
from typing import NamedTuple

import numpy as np

from paddock.compute.math import sqrt
from paddock.compute.routine import routine
from paddock.sensing.site import EPOCH, HEIGHT_HIGH, HEIGHT_LOW, field_at
from paddock.sitl.autopilot.estimate import ESTIMATE_WIDTH, PLACE, Estimate, LocalFrame
from paddock.sitl.autopilot.estimator import kalman
from paddock.sitl.sensor_data import COLUMN, TRUTH, Floats, SensorData

# fmt: off
# isort: off
from paddock.sitl.autopilot.estimator.kalman import (
    ACCEL_OK as FORCE_OK, ALIGNED, BARO_GOOD, BARO_OK, COMPASS_GOOD, COMPASS_OK, DECLINATION, DIP, FIXES_NEEDED,
    FORCE, FUSED, GNSS_GOOD, GNSS_OK, GNSS_STALE, GNSS_TIME, GRAVITY, GYRO_OK, HAS_ORIGIN, HEADING_KNOWN,
    IMU_GOOD, IMU_TIME, POSITION_HOLDS, POSITION_LIMIT, QUATERNION, RATES, STALE, VELOCITY, euler, matrix,
    rotated, turn_heading,
)
from paddock.sitl.autopilot.estimator.measurements import (
    ACCEL, EPH, EPV, GYRO, SPEED, begin_barometer, fix_place, good_fix, jump, take_barometer, take_compass, take_fix,
    take_imu,
)
# isort: on
# fmt: on

TIME = COLUMN["time_us"]
TRUE = COLUMN["true_north"]
TRUE_VELOCITY = COLUMN["true_vn"]
TRUE_ATTITUDE = COLUMN["true_qw"]
OUT_TIME, OUT_PLACE, OUT_VELOCITY = PLACE["time_us"], PLACE["north"], PLACE["vn"]
OUT_QUATERNION, OUT_EULER, OUT_RATES, OUT_FORCE = PLACE["qw"], PLACE["roll"], PLACE["p"], PLACE["an"]
ATTITUDE_OK, POSITION_OK, HEIGHT_OK = PLACE["attitude_ok"], PLACE["position_ok"], PLACE["height_ok"]
RATIOS = PLACE["velocity_ratio"]
HORIZONTAL, VERTICAL = PLACE["horizontal_error"], PLACE["vertical_error"]


def write(row: Floats, x: Floats, p: Floats, m: Floats, out: Floats) -> None:
    """Write state, derived values and validity."""
    out[OUT_TIME] = row[TIME]
    for k in range(3):
        out[OUT_PLACE + k], out[OUT_VELOCITY + k] = x[k], x[VELOCITY + k]
        out[OUT_RATES + k] = m[RATES + k]
    _write_attitude(x, m, out)
    out[HORIZONTAL] = sqrt(max(p[0, 0], p[1, 1]))
    out[VERTICAL] = sqrt(p[2, 2])
    judge(row[TIME], m, out)


def _write_attitude(x: Floats, m: Floats, out: Floats) -> None:
    for k in range(4):
        out[OUT_QUATERNION + k] = x[QUATERNION + k]
    angles = euler(x)
    force = rotated(matrix(x), m[FORCE], m[FORCE + 1], m[FORCE + 2])
    for k in range(3):
        out[OUT_EULER + k] = angles[k]
        out[OUT_FORCE + k] = force[k] + (GRAVITY if k == 2 else 0.0)


def judge(now: float, m: Floats, out: Floats) -> None:
    """Set the validity flags and the health of sensors, which time out."""
    if now - m[IMU_TIME] > STALE:
        m[GYRO_OK], m[FORCE_OK] = 0.0, 0.0
    if now - m[COMPASS_GOOD] > STALE:
        m[COMPASS_OK] = 0.0
    if now - m[BARO_GOOD] > STALE:
        m[BARO_OK] = 0.0
    if now - m[GNSS_TIME] > GNSS_STALE:
        m[GNSS_OK] = 0.0
    upright = m[ALIGNED] == 1.0 and now - m[IMU_GOOD] <= STALE
    fixed = m[HAS_ORIGIN] == 1.0 and m[FUSED] >= FIXES_NEEDED and now - m[GNSS_GOOD] <= POSITION_HOLDS
    placed = upright and fixed and m[HEADING_KNOWN] == 1.0 and out[HORIZONTAL] < POSITION_LIMIT
    high = upright and (m[BARO_OK] == 1.0 or fixed)
    out[ATTITUDE_OK] = 1.0 if upright and m[HEADING_KNOWN] == 1.0 else 0.0
    out[POSITION_OK] = 1.0 if placed else 0.0
    out[HEIGHT_OK] = 1.0 if high else 0.0


def write_truth(row: Floats, x: Floats, m: Floats, out: Floats) -> None:
    """Write the truth, where a row has it, in place of the filter's state; rates and force are measured."""
    if not isfinite(row[TRUE] + row[TRUE_VELOCITY] + row[TRUE_ATTITUDE]):
        return
    out[OUT_TIME] = row[TIME]
    for k in range(3):
        out[OUT_PLACE + k], out[OUT_VELOCITY + k] = row[TRUE + k], row[TRUE_VELOCITY + k]
        m[RATES + k], m[FORCE + k] = row[GYRO + k], row[ACCEL + k]
        out[OUT_RATES + k] = row[GYRO + k]
    for k in range(4):
        x[QUATERNION + k] = row[TRUE_ATTITUDE + k]
    _write_attitude(x, m, out)
    out[HORIZONTAL], out[VERTICAL] = 0.0, 0.0
    out[ATTITUDE_OK], out[POSITION_OK], out[HEIGHT_OK] = 1.0, 1.0, 1.0
    for k in range(4):
        out[RATIOS + k] = 0.0


# compiled filter -----------------------------------------------------------------------------------------------------


def update(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> bool:
    """Use new samples of a row; return True if a good fix waits for an origin."""
    take_imu(row, x, p, m, work)
    wanted = False
    if m[ALIGNED] == 1.0:
        take_compass(row, x, p, m, work, out)
        take_barometer(row, x, p, m, work, out)
        wanted = take_fix(row, x, p, m, work, out)
    write(row, x, p, m, out)
    return wanted


def begin(row: Floats, x: Floats, p: Floats, m: Floats, declination: float, dip: float) -> None:
    """Set the origin: start there with the fix's velocity; magnetic heading becomes true heading."""
    if m[HEADING_KNOWN] == 1.0:
        turn_heading(x, declination - m[DECLINATION])
    m[DECLINATION], m[DIP] = declination, dip
    m[HAS_ORIGIN] = 1.0
    noise = (row[EPH] if row[EPH] > 0.3 else 1.0, row[EPV] if row[EPV] > 0.3 else 1.5)
    jump(x, p, m, fix_place(row, m), (row[SPEED], row[SPEED + 1], row[SPEED + 2]), noise)
    m[GNSS_GOOD] = m[GNSS_TIME]
    if m[BARO_GOOD] >= 0.0:
        begin_barometer(x, p, m)


run_filter = routine(update)
begin_filter = routine(begin)
copy_truth = routine(write_truth)


# interface -----------------------------------------------------------------------------------------------------------

MIN_SLOPE = 0.1  # minimum horizontal over vertical field, near the magnetic poles
FIX = slice(COLUMN["latitude"], COLUMN["altitude"] + 1)


class SensorHealth(NamedTuple):
    """Whether each sensor is healthy: not timed out, not NaN, not frozen."""

    gyro: bool
    accel: bool
    mag: bool
    gps: bool
    baro: bool


class Estimator:
    """One vehicle's filter. `update` takes every row of sensor data; each sample in it is used once.

    The origin of the local frame is the first good fix; until then the position is invalid and the vehicle is assumed
    to stand. Set `standing` while it certainly does (disarmed, landed), so that it does not drift without fixes.

    After an outage the first fix moves the estimate, not the vehicle: `on_jump` is called with the m north, east and
    down, so that held positions can move along.
    """

    def __init__(
        self,
        use_truth: bool = False,
        declination: float | None = None,
        on_jump: Callable[[float, float, float], None] | None = None,
    ) -> None:
        """`use_truth` copies the ground truth of the rows; `declination` (rad) replaces the magnetic model's."""
        self.use_truth = use_truth
        self.declination = declination
        self._on_jump = on_jump
        self.row: Floats = np.empty(ESTIMATE_WIDTH)
        self.state: Floats = np.empty(kalman.STATES)
        self.covariance: Floats = np.empty((kalman.ERRORS, kalman.ERRORS))
        self._memory: Floats = np.empty(kalman.MEMORY)
        self._work: Floats = np.zeros((3, kalman.ERRORS))
        self.reset()

    def reset(self) -> None:
        """Reset to the state before the first row."""
        self.frame: LocalFrame | None = None
        self.row[:] = 0.0
        self.row[0] = -1.0
        self.state[:] = 0.0
        self.state[kalman.QUATERNION] = 1.0
        self.covariance[:] = 0.0
        self._memory[:] = 0.0
        self._memory[kalman.IMU_TIME : kalman.BARO_GOOD + 1] = -1.0
        self.row[PLACE["qw"]] = 1.0
        self.standing = False  # the vehicle is known not to move: disarmed or landed
        self._truth_placed = False
        self._jumps = 0.0
        self.jumped = [0.0, 0.0, 0.0]  # m north, east, down, sum of all jumps

    def update(self, sensors: SensorData | Floats) -> None:
        """Use the new samples of a row of sensor data; the result is `row`."""
        row = sensors.row if isinstance(sensors, SensorData) else sensors
        self._memory[kalman.STANDING] = self.standing
        fixed = run_filter(row, self.state, self.covariance, self._memory, self._work, self.row)
        if self._memory[kalman.JUMPS] != self._jumps:
            self._jumps = self._memory[kalman.JUMPS]
            before, self.jumped = self.jumped, self._memory[kalman.JUMPED : kalman.JUMPED + 3].tolist()
            if self._on_jump is not None and not self.use_truth:
                self._on_jump(*(now - then for now, then in zip(self.jumped, before, strict=True)))
        if fixed:  # its jump is reported with the next row
            self._place_origin(row)
        if self.use_truth:
            self._follow_truth(row)

    def estimate(self) -> Estimate:
        """Return the row as Python floats."""
        return Estimate(*self.row.tolist())

    @property
    def health(self) -> SensorHealth:
        """Which sensors are healthy."""
        return SensorHealth(*(self._memory[kalman.GYRO_OK : kalman.BARO_OK + 1] == 1.0).tolist())

    def _place_origin(self, row: Floats) -> None:
        """Set the local frame and its declination from the first good fix, and start the filter."""
        latitude, longitude, altitude = row[FIX].tolist()
        self.frame = frame = LocalFrame(latitude, longitude, altitude)
        north, east, _ = frame.to_ned(latitude + 0.001, longitude + 0.001, altitude)
        first = kalman.LATITUDE
        self._memory[first : first + 5] = latitude, longitude, altitude, north * 1e3, east * 1e3
        height = min(max(round(altitude, -3), HEIGHT_LOW), HEIGHT_HIGH)  # one cached field per kilometre
        east, north, up = field_at(round(latitude, 2), round(longitude, 2), height, EPOCH)
        declination = atan2(east, north) if self.declination is None else self.declination
        dip = -up / max(hypot(east, north), abs(up) * MIN_SLOPE)
        begin_filter(row, self.state, self.covariance, self._memory, declination, dip)

    def _follow_truth(self, row: Floats) -> None:
        """Copy the truth; its origin is the world's, which the first good fix shows."""
        copy_truth(row, self.state, self._memory, self.row)
        if self.frame is not None and not self._truth_placed and good_fix(row):
            north, east, down = row[TRUTH][:3].tolist()
            self.frame = LocalFrame(*LocalFrame(*row[FIX].tolist()).to_geodetic(-north, -east, -down))
            self._truth_placed = True
