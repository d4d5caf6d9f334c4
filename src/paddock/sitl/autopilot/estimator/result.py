"""The filter's state as a row of Estimate."""

from __future__ import annotations

from math import isfinite

from paddock.compute.math import sqrt
from paddock.sitl.autopilot.estimate import PLACE
from paddock.sitl.autopilot.estimator.layout import ACCEL_OK as FORCE_OK
from paddock.sitl.autopilot.estimator.layout import (
    ALIGNED,
    BARO_GOOD,
    BARO_OK,
    COMPASS_GOOD,
    COMPASS_OK,
    FIXES_NEEDED,
    FORCE,
    FUSED,
    GNSS_GOOD,
    GNSS_OK,
    GNSS_STALE,
    GNSS_TIME,
    GRAVITY,
    GYRO_OK,
    HAS_ORIGIN,
    HEADING_KNOWN,
    IMU_GOOD,
    IMU_TIME,
    POSITION_HOLDS,
    POSITION_LIMIT,
    QUATERNION,
    RATES,
    STALE,
    VELOCITY,
)
from paddock.sitl.autopilot.estimator.rotations import euler, matrix, turned
from paddock.sitl.sensor_data import COLUMN, Floats

TIME = COLUMN["time_us"]
ACCEL = COLUMN["accel_x"]
GYRO = COLUMN["gyro_x"]
TRUE = COLUMN["true_north"]
TRUE_VELOCITY = COLUMN["true_vn"]
TRUE_ATTITUDE = COLUMN["true_qw"]
OUT_TIME, OUT_PLACE, OUT_VELOCITY = PLACE["time_us"], PLACE["north"], PLACE["vn"]
OUT_QUATERNION, OUT_EULER, OUT_RATES, OUT_FORCE = PLACE["qw"], PLACE["roll"], PLACE["p"], PLACE["an"]
ATTITUDE_OK, POSITION_OK, HEIGHT_OK = PLACE["attitude_ok"], PLACE["position_ok"], PLACE["height_ok"]
RATIOS = PLACE["velocity_ratio"]
HORIZONTAL, VERTICAL = PLACE["horizontal_error"], PLACE["vertical_error"]


def write(row: Floats, x: Floats, p: Floats, m: Floats, out: Floats) -> None:
    """State, derived values, what may be relied on."""
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
    force = turned(matrix(x), m[FORCE], m[FORCE + 1], m[FORCE + 2])
    for k in range(3):
        out[OUT_EULER + k] = angles[k]
        out[OUT_FORCE + k] = force[k] + (GRAVITY if k == 2 else 0.0)


def judge(now: float, m: Floats, out: Floats) -> None:
    """What may be relied on, and which sensors are healthy: silence is as bad as nonsense."""
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
    """The truth in place of the filter's state, where a row has it; rates and force as the sensors measure them."""
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
