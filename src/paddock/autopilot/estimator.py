"""The state estimator: an extended Kalman filter over inertial sensors, GNSS, compass and barometer.

Rows of a vehicle: sensor data `row`, state x, covariance p, memory m, `work`, and the estimate `out`.
"""

from collections.abc import Callable, Iterator, Sequence
from math import hypot, isfinite
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.autopilot import kalman
from paddock.autopilot.estimate import ESTIMATE_COLUMN, ESTIMATE_WIDTH, GRAVITY, Estimate, LocalFrame, Ned
from paddock.autopilot.vehicle_data import COLUMN, SENSOR_WIDTH, TRUTH, Floats, SensorData, blank_sensors
from paddock.compute.math import sqrt
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.compute.scalars import atan2
from paddock.errors import InvalidValueError
from paddock.sensing.site import EPOCH, HEIGHT_HIGH, HEIGHT_LOW, field_at
from paddock.world.parts import VEHICLE, array, count, fresh, part

# fmt: off
# isort: off
from paddock.autopilot.kalman import (
    ACCEL_OK as FORCE_OK, ALIGNED, BARO_GOOD, BARO_OK, COMPASS_GOOD, COMPASS_OK, DECLINATION, DIP, FIXES_NEEDED,
    FORCE, FUSED, GNSS_GOOD, GNSS_OK, GNSS_STALE, GNSS_TIME, GYRO_OK, HAS_ORIGIN, HEADING_KNOWN,
    IMU_GOOD, IMU_TIME, JUMPS, JUMPS_SEEN, POSITION_HOLDS, POSITION_LIMIT, QUATERNION, RATES, STALE, TRUTH_PLACED,
    USE_TRUTH, VELOCITY, euler, matrix, rotated, turn_heading,
)
from paddock.autopilot.measurements import (
    ACCEL, EPH, EPV, GYRO, SPEED, fix_position_ned, fuse_barometer, fuse_compass, fuse_gnss, good_fix, integrate_imu,
    reset_baro_offset, reset_to_fix,
)
# isort: on
# fmt: on

Ints = NDArray[np.int64]
FEW_VEHICLES = 24  # smaller groups run on the calling thread

TIME = COLUMN["time_us"]
TRUE = COLUMN["true_north"]
TRUE_VELOCITY = COLUMN["true_vn"]
TRUE_ATTITUDE = COLUMN["true_qw"]
OUT_TIME, OUT_PLACE, OUT_VELOCITY = ESTIMATE_COLUMN["time_us"], ESTIMATE_COLUMN["north"], ESTIMATE_COLUMN["vn"]
OUT_QUATERNION, OUT_EULER, OUT_RATES, OUT_FORCE = (
    ESTIMATE_COLUMN["qw"],
    ESTIMATE_COLUMN["roll"],
    ESTIMATE_COLUMN["p"],
    ESTIMATE_COLUMN["an"],
)
ATTITUDE_OK, POSITION_OK, HEIGHT_OK = (
    ESTIMATE_COLUMN["attitude_ok"],
    ESTIMATE_COLUMN["position_ok"],
    ESTIMATE_COLUMN["height_ok"],
)
RATIOS = ESTIMATE_COLUMN["velocity_ratio"]
HORIZONTAL, VERTICAL = ESTIMATE_COLUMN["horizontal_error"], ESTIMATE_COLUMN["vertical_error"]


def write(row: Floats, x: Floats, p: Floats, m: Floats, out: Floats) -> None:
    """Write state, derived values and validity."""
    out[OUT_TIME] = row[TIME]
    for k in range(3):
        out[OUT_PLACE + k], out[OUT_VELOCITY + k] = x[k], x[VELOCITY + k]
        out[OUT_RATES + k] = m[RATES + k]
    _write_attitude(x, m, out)
    out[HORIZONTAL] = sqrt(max(p[0, 0], p[1, 1]))
    out[VERTICAL] = sqrt(p[2, 2])
    update_validity(row[TIME], m, out)


def _write_attitude(x: Floats, m: Floats, out: Floats) -> None:
    for k in range(4):
        out[OUT_QUATERNION + k] = x[QUATERNION + k]
    angles = euler(x)
    force = rotated(matrix(x), m[FORCE], m[FORCE + 1], m[FORCE + 2])
    for k in range(3):
        out[OUT_EULER + k] = angles[k]
        out[OUT_FORCE + k] = force[k] + (GRAVITY if k == 2 else 0.0)


def update_validity(now: float, m: Floats, out: Floats) -> None:
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


FIXED, MOVED, PLACED = 1, 2, 4
"""Events of an update: a good fix waits for an origin; the position has jumped; a fix shows the truth's origin."""


def update(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> int:
    """Use new samples of a row, and write the estimate; return the events."""
    events = 0
    integrate_imu(row, x, p, m, work)
    if m[ALIGNED] == 1.0:
        fuse_compass(row, x, p, m, work, out)
        fuse_barometer(row, x, p, m, work, out)
        if fuse_gnss(row, x, p, m, work, out):
            events = FIXED
    write(row, x, p, m, out)
    if m[JUMPS] != m[JUMPS_SEEN]:
        events += MOVED
    if m[USE_TRUTH] == 1.0:
        write_truth(row, x, m, out)
        if m[TRUTH_PLACED] == 0.0 and (m[HAS_ORIGIN] == 1.0 or events & FIXED) and good_fix(row):
            events += PLACED
    return events


def update_all(
    which: Ints, rows: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats, events: Ints
) -> None:
    """Update some vehicles of a group, each from its row of sensor data."""
    for j in parallel_range(len(which)):
        k = which[j]
        events[k] = update(rows[k], x[k], p[k], m[k], work[k], out[k])


def set_origin(row: Floats, x: Floats, p: Floats, m: Floats, declination: float, dip: float) -> None:
    """Set the origin: start there with the fix's velocity; magnetic heading becomes true heading.

    declination: rad. dip: vertical over horizontal field.
    """
    if m[HEADING_KNOWN] == 1.0:
        turn_heading(x, declination - m[DECLINATION])
    m[DECLINATION], m[DIP] = declination, dip
    m[HAS_ORIGIN] = 1.0
    noise = (row[EPH] if row[EPH] > 0.3 else 1.0, row[EPV] if row[EPV] > 0.3 else 1.5)
    reset_to_fix(x, p, m, fix_position_ned(row, m), (row[SPEED], row[SPEED + 1], row[SPEED + 2]), noise)
    m[GNSS_GOOD] = m[GNSS_TIME]
    if m[BARO_GOOD] >= 0.0:
        reset_baro_offset(x, p, m)


run_filters = parallel_routine(update_all, items=lambda which, *_: len(which), few=FEW_VEHICLES)
set_filter_origin = routine(set_origin)


# interface -----------------------------------------------------------------------------------------------------------

CALIBRATED_GYRO, CALIBRATED_ACCEL, CALIBRATED_BARO = 2e-3, 0.02, 0.1  # rad/s, m/s2, m: errors of a calibration
MIN_SLOPE = 0.1  # minimum horizontal over vertical field, near the magnetic poles
FIX = slice(COLUMN["latitude"], COLUMN["altitude"] + 1)


class SensorHealth(NamedTuple):
    """Whether each sensor is healthy: not timed out, not NaN, not frozen."""

    gyro: bool
    accel: bool
    mag: bool
    gps: bool
    baro: bool


LARGEST = 1e15  # of a number in a saved state: the filters' arithmetic stays finite


@part
class FilterArrays:
    """The filters of n vehicles."""

    n: int = count(VEHICLE)
    sensors: Floats = array("f8", VEHICLE, SENSOR_WIDTH, low=-LARGEST, high=LARGEST, nan=True)  # NaN: not measured
    state: Floats = array("f8", VEHICLE, kalman.STATES, low=-LARGEST, high=LARGEST)
    covariance: Floats = array("f8", VEHICLE, kalman.ERRORS, kalman.ERRORS, low=-LARGEST, high=LARGEST)
    memory: Floats = array("f8", VEHICLE, kalman.MEMORY, low=-LARGEST, high=LARGEST, nan=True)
    work: Floats = array("f8", VEHICLE, 3, kalman.ERRORS, saved=False)  # holds nothing between two updates
    estimate: Floats = array("f8", VEHICLE, ESTIMATE_WIDTH, low=-LARGEST, high=LARGEST)
    events: Ints = array("i8", VEHICLE, low=0, high=FIXED | MOVED | PLACED)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield the arrays in the order of the compiled update's arguments."""
        yield from (self.sensors, self.state, self.covariance, self.memory, self.work, self.estimate, self.events)

    def check(self, state: Any) -> None:
        """Only the last values of sensors that have not measured may be NaN in the memory."""
        if np.isnan(self.memory[:, : kalman.WATCHES]).any():
            raise InvalidValueError("memory is not finite")


def filter_arrays(n: int) -> FilterArrays:
    """Return arrays for n vehicles."""
    arrays = fresh(FilterArrays, vehicle=n)
    arrays.n, arrays.sensors[:] = n, blank_sensors(n)
    return arrays


class Estimator:
    """One vehicle's filter. `update` takes every row of sensor data; each sample in it is used once.

    The origin of the local frame is the first good fix; until then the position is invalid and the vehicle is assumed
    to stand. Set `standing` while it certainly does (disarmed, landed), so that it does not drift without fixes.

    After an outage the first fix moves the estimate, not the vehicle: `on_jump` is called with the offset (m north,
    east, down), so that held positions can move along.
    """

    unsaved: ClassVar[tuple[str, ...]] = (
        *("arrays", "_which", "sensors", "state", "covariance", "_memory", "row"),  # saved as rows
        *("use_truth", "_on_jump"),
    )
    run: ClassVar[Any] = run_filters  # the compiled update of some rows of the arrays
    frame: LocalFrame | None
    jumped: list[float]  # m north, east, down, sum of all jumps

    def __init__(self, use_truth: bool = False, on_jump: Callable[[Ned], None] | None = None) -> None:
        """`use_truth` copies the ground truth of the rows."""
        self.use_truth = use_truth
        self._on_jump = on_jump
        self._attach(filter_arrays(1), 0)
        self.reset()

    def _attach(self, arrays: FilterArrays, index: int) -> None:
        self.arrays, self._which = arrays, np.array([index])
        self.sensors: Floats = arrays.sensors[index]
        self.state, self.covariance = arrays.state[index], arrays.covariance[index]
        self._memory, self.row = arrays.memory[index], arrays.estimate[index]

    def move(self, arrays: FilterArrays, index: int) -> None:
        """Keep everything in a row of a group's arrays from now on."""
        for own, shared in zip(self.arrays, arrays, strict=True):
            shared[index] = own[self._which[0]]
        self._attach(arrays, index)

    def reset(self) -> None:
        """Reset to the state before the first row."""
        self.frame = None
        self.row[:] = 0.0
        self.row[0] = -1.0
        self.state[:] = 0.0
        self.state[kalman.QUATERNION] = 1.0
        self.covariance[:] = 0.0
        self._memory[:] = 0.0
        self._memory[kalman.IMU_TIME : kalman.BARO_GOOD + 1] = -1.0
        self._memory[kalman.USE_TRUTH] = self.use_truth
        self.row[ESTIMATE_COLUMN["qw"]] = 1.0
        self.jumped = [0.0, 0.0, 0.0]

    @property
    def standing(self) -> bool:
        """Whether the vehicle is known not to move: disarmed or landed."""
        return bool(self._memory.item(kalman.STANDING))

    @standing.setter
    def standing(self, stands: bool) -> None:
        self._memory[kalman.STANDING] = stands

    def update(self, sensors: SensorData | Floats) -> None:
        """Use the new samples of a row of sensor data; the result is `row`."""
        self.sensors[:] = sensors.row if isinstance(sensors, SensorData) else sensors
        self.run(self._which, *self.arrays)
        self.handle(int(self.arrays.events[self._which[0]]))

    def handle(self, events: int) -> None:
        """Handle the events of an update."""
        if events & MOVED:
            self._memory[kalman.JUMPS_SEEN] = self._memory[kalman.JUMPS]
            before, self.jumped = self.jumped, self._memory[kalman.JUMPED : kalman.JUMPED + 3].tolist()
            if self._on_jump is not None and not self.use_truth:
                (n, e, d), (north, east, down) = before, self.jumped
                self._on_jump((north - n, east - e, down - d))
        if events & FIXED:  # its jump is reported with the next row
            self._place_origin(self.sensors)
        if events & PLACED:  # the origin of the truth is the world's
            north, east, down = self.sensors[TRUTH][:3].tolist()
            self.frame = LocalFrame(*LocalFrame(*self.sensors[FIX].tolist()).to_geodetic(-north, -east, -down))
            self._memory[kalman.TRUTH_PLACED] = 1.0

    def estimate(self) -> Estimate:
        """Return the row as Python floats."""
        return Estimate._make(self.row.tolist())

    @property
    def health(self) -> SensorHealth:
        """Which sensors are healthy."""
        return SensorHealth(*(self._memory[kalman.GYRO_OK : kalman.BARO_OK + 1] == 1.0).tolist())

    @property
    def baro_altitude(self) -> float:
        """The newest barometric altitude, m."""
        return float(self._memory.item(kalman.BARO_ALTITUDE))

    def set_gyro_bias(self, bias: Sequence[float]) -> None:
        """Set the gyroscope bias, rad/s, as measured at rest."""
        self._set_bias(kalman.GYRO_BIAS, kalman.E_GYRO, bias, CALIBRATED_GYRO)

    def set_accel_bias(self, bias: Sequence[float]) -> None:
        """Set the accelerometer bias, m/s2, as measured on level ground."""
        self._set_bias(kalman.ACCEL_BIAS, kalman.E_ACCEL, bias, CALIBRATED_ACCEL)

    def set_baro_offset(self, altitude: float) -> None:
        """Let a barometric altitude (m) be the current height."""
        offset = altitude + float(self.state.item(kalman.DOWN))
        self._set_bias(kalman.BARO_BIAS, kalman.E_BARO, [offset], CALIBRATED_BARO)

    def _set_bias(self, index: int, error: int, bias: Sequence[float], sigma: float) -> None:
        """Set a part of the state; its error is independent of the others.

        index: of the part in the state. error: of the part in the error state. bias: its values. sigma: of its error.
        """
        part = slice(error, error + len(bias))
        self.state[index : index + len(bias)] = bias
        self.covariance[part, :] = self.covariance[:, part] = 0.0
        self.covariance[part, part] = np.eye(len(bias)) * sigma**2

    def _place_origin(self, row: Floats) -> None:
        """Set the local frame and its declination from the first good fix, and start the filter."""
        latitude, longitude, altitude = row[FIX].tolist()
        self.frame = frame = LocalFrame(latitude, longitude, altitude)
        north, east, _ = frame.to_ned(latitude + 0.001, longitude + 0.001, altitude)
        first = kalman.LATITUDE
        self._memory[first : first + 5] = latitude, longitude, altitude, north * 1e3, east * 1e3
        height = min(max(round(altitude, -3), HEIGHT_LOW), HEIGHT_HIGH)  # one cached field per kilometre
        east, north, up = field_at(round(latitude, 2), round(longitude, 2), height, EPOCH)
        dip = -up / max(hypot(east, north), abs(up) * MIN_SLOPE)
        set_filter_origin(row, self.state, self.covariance, self._memory, atan2(east, north), dip)
