"""Compass and barometer."""

from __future__ import annotations

from math import isfinite

from paddock.compute.math import atan2, sincos, wrap_angle
from paddock.sensing.site import EARTH_RADIUS, altitude_of
from paddock.sitl.autopilot.estimate import PLACE
from paddock.sitl.autopilot.estimator.fusion import (
    correct_seen,
    doubt_heading,
    forget,
    gate_ratio,
    reset_heading,
    seen_variance,
)
from paddock.sitl.autopilot.estimator.layout import (
    BARO_ALTITUDE,
    BARO_BIAS,
    BARO_GOOD,
    BARO_NOISE,
    BARO_OK,
    BARO_TIME,
    COMPASS_GOOD,
    COMPASS_NOISE,
    COMPASS_OK,
    COMPASS_PATIENCE,
    COMPASS_REFUSED,
    COMPASS_TIME,
    DECLINATION,
    DIP,
    DOWN,
    E_BARO,
    E_POSITION,
    E_TILT,
    E_VELOCITY,
    ERRORS,
    HEADING_KNOWN,
    IMU_TIME,
    TILT_START,
    US,
    VELOCITY,
)
from paddock.sitl.autopilot.estimator.rotations import matrix, turned
from paddock.sitl.autopilot.estimator.watch import moving
from paddock.sitl.sensor_data import COLUMN, Floats

MAG_TIME = COLUMN["compass_time_us"]
MAG = COLUMN["mag_x"]
PRESSURE_TIME = COLUMN["baro_time_us"]
PRESSURE = COLUMN["pressure"]
COMPASS_RATIO = PLACE["compass_ratio"]
HEIGHT_RATIO = PLACE["height_ratio"]

WEAKEST = 1e-7  # T: less horizontal field shows no direction
THINNEST, THICKEST = 100.0, 120000.0  # Pa


def take_compass(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> None:
    """Heading from the horizontal part of the field, as the estimated tilt levels it."""
    time = row[MAG_TIME]
    if not time > m[COMPASS_TIME]:
        return
    m[COMPASS_TIME] = time
    a, b, c = row[MAG], row[MAG + 1], row[MAG + 2]
    north, east, _ = turned(matrix(x), a, b, c)
    level = north * north + east * east
    usable = moving(m, 2, a + 2.0 * b + 3.0 * c) and level > WEAKEST * WEAKEST
    m[COMPASS_OK] = 1.0 if usable else 0.0
    if not usable:
        return
    m[COMPASS_GOOD] = time
    innovation = wrap_angle(m[DECLINATION] - atan2(east, north))
    if m[HEADING_KNOWN] == 0.0:
        reset_heading(x, p, m, innovation, COMPASS_NOISE + TILT_START, TILT_START)
        return
    _fuse_heading(x, p, m, work, out, innovation)


def _fuse_heading(x: Floats, p: Floats, m: Floats, work: Floats, out: Floats, innovation: float) -> None:
    """How the levelled field turns with an error of the attitude follows from the model's field.

    The measured one has the innovation's own noise in it, which would teach a tilt that is not there.
    """
    s, c = sincos(m[DECLINATION])
    r = matrix(x)
    for k in range(ERRORS):
        work[0, k] = 0.0
    for k in range(3):
        work[0, E_TILT + k] = r[6 + k] - m[DIP] * (c * r[k] + s * r[3 + k])
    variance = seen_variance(p, work) + COMPASS_NOISE * COMPASS_NOISE
    out[COMPASS_RATIO] = gate_ratio(innovation, variance)
    if out[COMPASS_RATIO] <= 1.0:
        m[COMPASS_REFUSED] = 0.0
        correct_seen(x, p, work, innovation, variance)
        return
    m[COMPASS_REFUSED] += 1.0
    if m[COMPASS_REFUSED] > COMPASS_PATIENCE:
        doubt_heading(x, p, COMPASS_NOISE)


def take_barometer(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> None:
    """Height from pressure, less the offset that fixes teach."""
    time = row[PRESSURE_TIME]
    if not time > m[BARO_TIME]:
        return
    m[BARO_TIME] = time
    pressure = row[PRESSURE]
    usable = moving(m, 4, pressure) and isfinite(pressure) and THINNEST < pressure < THICKEST
    m[BARO_OK] = 1.0 if usable else 0.0
    if not usable:
        return
    potential = altitude_of(pressure)
    altitude = EARTH_RADIUS * potential / (EARTH_RADIUS - potential)
    first = m[BARO_GOOD] < 0.0
    m[BARO_GOOD], m[BARO_ALTITUDE] = time, altitude
    if first:
        begin_barometer(x, p, m)
    _fuse_height(x, p, work, out, altitude, (m[IMU_TIME] - time) * US)


def begin_barometer(x: Floats, p: Floats, m: Floats) -> None:
    """The offset is what the newest sample says at the present height."""
    x[BARO_BIAS] = m[BARO_ALTITUDE] + x[DOWN]
    forget(p, E_BARO, BARO_NOISE)
    variance = p[E_POSITION + 2, E_POSITION + 2]  # an error of the height is one of the offset too
    for k in range(E_BARO):
        p[E_BARO, k] = p[E_POSITION + 2, k]
        p[k, E_BARO] = p[E_POSITION + 2, k]
    p[E_BARO, E_BARO] += variance


def _fuse_height(x: Floats, p: Floats, work: Floats, out: Floats, altitude: float, age: float) -> None:
    for k in range(ERRORS):
        work[0, k] = 0.0
    work[0, E_POSITION + 2], work[0, E_VELOCITY + 2], work[0, E_BARO] = -1.0, age, 1.0
    innovation = altitude - (x[BARO_BIAS] - x[DOWN] + x[VELOCITY + 2] * age)
    variance = seen_variance(p, work) + BARO_NOISE * BARO_NOISE
    out[HEIGHT_RATIO] = gate_ratio(innovation, variance)
    if out[HEIGHT_RATIO] <= 1.0:
        correct_seen(x, p, work, innovation, variance)
