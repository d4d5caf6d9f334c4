"""The inertial sample of a row: alignment with the first, prediction with the others."""

from __future__ import annotations

from math import isfinite

from paddock.compute.math import atan2, sqrt
from paddock.sitl.autopilot.estimator.fusion import fuse_error, gate_ratio
from paddock.sitl.autopilot.estimator.layout import (
    ACCEL_BIAS,
    ACCEL_BIAS_START,
    ACCEL_OK,
    ALIGNED,
    BOOT_NOISE,
    E_ACCEL,
    E_GYRO,
    E_TILT,
    E_VELOCITY,
    ERRORS,
    FORCE,
    GYRO_BIAS,
    GYRO_BIAS_START,
    GYRO_OK,
    HAS_ORIGIN,
    HEADING_UNKNOWN,
    IMU_GOOD,
    IMU_TIME,
    LONGEST_STEP,
    RATES,
    REST_NOISE,
    REST_PERIOD,
    REST_TIME,
    STANDING,
    TILT_START,
    US,
    VELOCITY,
)
from paddock.sitl.autopilot.estimator.rotations import Three, from_euler
from paddock.sitl.autopilot.estimator.strapdown import predict
from paddock.sitl.autopilot.estimator.watch import moving
from paddock.sitl.sensor_data import COLUMN, Floats

TIME = COLUMN["imu_time_us"]
GYRO = COLUMN["gyro_x"]
ACCEL = COLUMN["accel_x"]


def take_imu(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats) -> None:
    """Align with the first good sample, predict with the others; without a good one the last rates go on."""
    time = row[TIME]
    if not time > m[IMU_TIME]:
        return
    dt = (time - m[IMU_TIME]) * US
    m[IMU_TIME] = time
    gyro = (row[GYRO], row[GYRO + 1], row[GYRO + 2])
    accel = (row[ACCEL], row[ACCEL + 1], row[ACCEL + 2])
    gyro_ok, accel_ok = _check(m, gyro, accel)
    if gyro_ok and accel_ok:
        m[IMU_GOOD] = time
    if m[ALIGNED] == 0.0:
        if gyro_ok and accel_ok:
            _align(x, p, m, gyro, accel)
        return
    if not gyro_ok:
        gyro = _again(x, m, RATES, GYRO_BIAS)
    if not accel_ok:
        accel = _again(x, m, FORCE, ACCEL_BIAS)
    predict(x, p, m, gyro, accel, min(dt, LONGEST_STEP))
    _assume_rest(x, p, m, work, time)


def _again(x: Floats, m: Floats, newest: int, bias: int) -> Three:
    """The last good sample, as the sensor would have said it."""
    return m[newest] + x[bias], m[newest + 1] + x[bias + 1], m[newest + 2] + x[bias + 2]


def _check(m: Floats, gyro: Three, accel: Three) -> tuple[bool, bool]:
    """Whether gyroscope and accelerometer measure; kept as their health."""
    rate, force = gyro[0] + 2.0 * gyro[1] + 3.0 * gyro[2], accel[0] + 2.0 * accel[1] + 3.0 * accel[2]
    gyro_ok, accel_ok = moving(m, 0, rate) and isfinite(rate), moving(m, 1, force) and isfinite(force)
    m[GYRO_OK], m[ACCEL_OK] = 1.0 if gyro_ok else 0.0, 1.0 if accel_ok else 0.0
    return gyro_ok, accel_ok


def _align(x: Floats, p: Floats, m: Floats, gyro: Three, accel: Three) -> None:
    """Level with gravity, heading unknown; everything else 0 and uncertain."""
    roll = atan2(-accel[1], -accel[2])
    pitch = atan2(accel[0], sqrt(accel[1] * accel[1] + accel[2] * accel[2]))
    from_euler(x, roll, pitch, 0.0)
    for i in range(ERRORS):
        for j in range(ERRORS):
            p[i, j] = 0.0
    for k in range(3):
        p[E_VELOCITY + k, E_VELOCITY + k] = BOOT_NOISE**2
        p[E_TILT + k, E_TILT + k] = TILT_START**2
        p[E_GYRO + k, E_GYRO + k] = GYRO_BIAS_START**2
        p[E_ACCEL + k, E_ACCEL + k] = ACCEL_BIAS_START**2
        m[RATES + k], m[FORCE + k] = gyro[k], accel[k]
    p[E_TILT + 2, E_TILT + 2] = HEADING_UNKNOWN**2
    m[ALIGNED] = 1.0


def _assume_rest(x: Floats, p: Floats, m: Floats, work: Floats, time: float) -> None:
    """A vehicle that stands, or has never had a fix, does not move; a speed that says otherwise is believed."""
    if (m[STANDING] == 0.0 and m[HAS_ORIGIN] == 1.0) or time - m[REST_TIME] < REST_PERIOD:
        return
    m[REST_TIME] = time
    noise = REST_NOISE if m[STANDING] == 1.0 else BOOT_NOISE
    for k in range(3):
        place = E_VELOCITY + k
        if m[HAS_ORIGIN] == 1.0 and gate_ratio(x[VELOCITY + k], p[place, place] + noise * noise) > 1.0:
            return
    for k in range(3):
        fuse_error(x, p, work, E_VELOCITY + k, -x[VELOCITY + k], noise)
