"""Fusion of measurements: IMU, compass, barometer, GNSS, each if its sample in the sensor row is new.

In all functions `row` is the sensor data, x the state, p the covariance, m the memory (columns in `kalman`), `work`
holds intermediate rows, and `out` is the row of Estimate. Positions are m, velocities m/s, north, east and down.
"""

from math import isfinite

from paddock.autopilot.estimate import ESTIMATE_COLUMN, GRAVITY
from paddock.autopilot.vehicle_data import COLUMN, Floats
from paddock.compute.math import atan2, sincos, sqrt, wrap_angle
from paddock.compute.quaternion import euler_quaternion
from paddock.sensing.site import EARTH_RADIUS, altitude_of

# fmt: off
# isort: off
from paddock.autopilot.kalman import (
    ACCEL_BIAS, ACCEL_BIAS_START, ACCEL_OK, ALIGNED, ALTITUDE as ORIGIN_ALTITUDE, BARO_ALTITUDE, BARO_BIAS, BARO_GOOD,
    BARO_NOISE, BARO_OK, BARO_TIME, BOOT_NOISE, COMPASS_GOOD, COMPASS_NOISE, COMPASS_OK, COMPASS_PATIENCE,
    COMPASS_REFUSED, COMPASS_TIME, COURSE_SPEED, DECLINATION, DIP, DOWN, ERRORS, E_ACCEL, E_BARO, E_GYRO, E_POSITION,
    E_TILT, E_VELOCITY, FIXES_NEEDED, FORCE, FROZEN, FUSED, GLITCH, GLITCH_HOLDS, GLITCH_OUTAGE, GLITCH_RADIUS,
    GNSS_GOOD, GNSS_OK, GNSS_STALE, GNSS_TIME, GYRO_BIAS, GYRO_BIAS_START, GYRO_OK, HAS_ORIGIN,
    HEADING_KNOWN, HEADING_UNKNOWN, HORIZONTAL_NOISE, IMU_GOOD, IMU_TIME, JUMPED, JUMPS, LATITUDE, LEAST_NOISE,
    LONGEST_STEP, LONGITUDE, PER_EAST, PER_NORTH, POSITION_HOLDS, PROBATION, RATES, REFUSALS_FRESH, REFUSALS_LOST,
    REFUSED, REST_NOISE, REST_PERIOD, REST_TIME, STANDING, TILT_START, US, VELOCITY, VELOCITY_NOISE, VERTICAL_NOISE,
    WATCHES, WATCH_WIDTH, Three, Two, decorrelate, euler, fuse_error, fuse_row, gate_ratio, matrix, predict,
    store_quaternion, reset_heading, rotated, inflate_heading,
)
# isort: on
# fmt: on


def is_updating(m: Floats, sensor: int, value: float) -> bool:
    """Return whether a sensor is not frozen; one that repeats values from the start is noise-free, and trusted."""
    at = WATCHES + sensor * WATCH_WIDTH
    same = m[at] == value
    m[at] = value
    m[at + 1] = m[at + 1] + 1.0 if same else 0.0
    m[at + 2] += 1.0
    if same and m[at + 2] <= PROBATION:
        m[at + 3] = 1.0
    return bool(m[at + 1] < FROZEN or m[at + 3] == 1.0)


# inertial sensors ----------------------------------------------------------------------------------------------------

TIME = COLUMN["imu_time_us"]
GYRO = COLUMN["gyro_x"]
ACCEL = COLUMN["accel_x"]


def integrate_imu(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats) -> None:
    """Align with the first valid sample, predict with the others; invalid ones repeat the last."""
    time = row[TIME]
    if not time > m[IMU_TIME]:
        return
    dt = (time - m[IMU_TIME]) * US
    m[IMU_TIME] = time
    gyro = (row[GYRO], row[GYRO + 1], row[GYRO + 2])
    accel = (row[ACCEL], row[ACCEL + 1], row[ACCEL + 2])
    gyro_ok, accel_ok = _check_imu(m, gyro, accel)
    if gyro_ok and accel_ok:
        m[IMU_GOOD] = time
    if m[ALIGNED] == 0.0:
        if gyro_ok and accel_ok:
            _align(x, p, m, gyro, accel)
        return
    if not gyro_ok:
        gyro = _last_valid(x, m, RATES, GYRO_BIAS)
    if not accel_ok:
        accel = _last_valid(x, m, FORCE, ACCEL_BIAS)
    predict(x, p, m, gyro, accel, min(dt, LONGEST_STEP))
    _fuse_zero_velocity(x, p, m, work, time)


def _last_valid(x: Floats, m: Floats, newest: int, bias: int) -> Three:
    """Return the last valid sample, with bias."""
    return m[newest] + x[bias], m[newest + 1] + x[bias + 1], m[newest + 2] + x[bias + 2]


def _check_imu(m: Floats, gyro: Three, accel: Three) -> tuple[bool, bool]:
    """Check gyroscope and accelerometer; store their health."""
    rate, force = gyro[0] + 2.0 * gyro[1] + 3.0 * gyro[2], accel[0] + 2.0 * accel[1] + 3.0 * accel[2]
    gyro_ok, accel_ok = is_updating(m, 0, rate) and isfinite(rate), is_updating(m, 1, force) and isfinite(force)
    m[GYRO_OK], m[ACCEL_OK] = 1.0 if gyro_ok else 0.0, 1.0 if accel_ok else 0.0
    return gyro_ok, accel_ok


def _align(x: Floats, p: Floats, m: Floats, gyro: Three, accel: Three) -> None:
    """Level with gravity; heading unknown, everything else 0 and uncertain."""
    roll = atan2(-accel[1], -accel[2])
    pitch = atan2(accel[0], sqrt(accel[1] * accel[1] + accel[2] * accel[2]))
    a, b, c, w = euler_quaternion(roll, pitch, 0.0)
    store_quaternion(x, w, a, b, c)
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


def _fuse_zero_velocity(x: Floats, p: Floats, m: Floats, work: Floats, time: float) -> None:
    """Fuse zero velocity while standing or before the first fix, unless the estimate contradicts it."""
    if (m[STANDING] == 0.0 and m[HAS_ORIGIN] == 1.0) or time - m[REST_TIME] < REST_PERIOD:
        return
    m[REST_TIME] = time
    noise = REST_NOISE if m[STANDING] == 1.0 else BOOT_NOISE
    for k in range(3):
        index = E_VELOCITY + k
        if m[HAS_ORIGIN] == 1.0 and gate_ratio(x[VELOCITY + k], p[index, index] + noise * noise) > 1.0:
            return
    for k in range(3):
        fuse_error(x, p, work, E_VELOCITY + k, -x[VELOCITY + k], noise)


# compass and barometer -----------------------------------------------------------------------------------------------

MAG_TIME = COLUMN["compass_time_us"]
MAG = COLUMN["mag_x"]
PRESSURE_TIME = COLUMN["baro_time_us"]
PRESSURE = COLUMN["pressure"]
COMPASS_RATIO = ESTIMATE_COLUMN["compass_ratio"]
HEIGHT_RATIO = ESTIMATE_COLUMN["height_ratio"]

WEAKEST = 1e-7  # T: weaker horizontal fields have no direction
THINNEST, THICKEST = 100.0, 120000.0  # Pa


def fuse_compass(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> None:
    """Fuse the heading of the horizontal field, levelled with the estimated tilt."""
    time = row[MAG_TIME]
    if not time > m[COMPASS_TIME]:
        return
    m[COMPASS_TIME] = time
    a, b, c = row[MAG], row[MAG + 1], row[MAG + 2]
    north, east, _ = rotated(matrix(x), a, b, c)
    level = north * north + east * east
    usable = is_updating(m, 2, a + 2.0 * b + 3.0 * c) and level > WEAKEST * WEAKEST
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
    """Fuse a heading; the Jacobian uses the model's field.

    The measured field is correlated with the innovation and would bias the tilt.
    """
    s, c = sincos(m[DECLINATION])
    r = matrix(x)
    for k in range(ERRORS):
        work[0, k] = 0.0
    for k in range(3):
        work[0, E_TILT + k] = r[6 + k] - m[DIP] * (c * r[k] + s * r[3 + k])
    out[COMPASS_RATIO] = fuse_row(x, p, work, innovation, COMPASS_NOISE)
    m[COMPASS_REFUSED] = 0.0 if out[COMPASS_RATIO] <= 1.0 else m[COMPASS_REFUSED] + 1.0
    if m[COMPASS_REFUSED] > COMPASS_PATIENCE:
        inflate_heading(x, p, COMPASS_NOISE)


def fuse_barometer(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> None:
    """Fuse the pressure altitude, less its estimated offset."""
    time = row[PRESSURE_TIME]
    if not time > m[BARO_TIME]:
        return
    m[BARO_TIME] = time
    pressure = row[PRESSURE]
    usable = is_updating(m, 4, pressure) and isfinite(pressure) and THINNEST < pressure < THICKEST
    m[BARO_OK] = 1.0 if usable else 0.0
    if not usable:
        return
    potential = altitude_of(pressure)
    altitude = EARTH_RADIUS * potential / (EARTH_RADIUS - potential)
    first = m[BARO_GOOD] < 0.0
    m[BARO_GOOD], m[BARO_ALTITUDE] = time, altitude
    if first:
        reset_baro_offset(x, p, m)
    age = (m[IMU_TIME] - time) * US
    for k in range(ERRORS):
        work[0, k] = 0.0
    work[0, E_POSITION + 2], work[0, E_VELOCITY + 2], work[0, E_BARO] = -1.0, age, 1.0
    innovation = altitude - (x[BARO_BIAS] - x[DOWN] + x[VELOCITY + 2] * age)
    out[HEIGHT_RATIO] = fuse_row(x, p, work, innovation, BARO_NOISE)


def reset_baro_offset(x: Floats, p: Floats, m: Floats) -> None:
    """Set the offset from the newest sample and the current height."""
    x[BARO_BIAS] = m[BARO_ALTITUDE] + x[DOWN]
    decorrelate(p, E_BARO, BARO_NOISE)
    variance = p[E_POSITION + 2, E_POSITION + 2]  # a height error is also an offset error
    for k in range(E_BARO):
        p[E_BARO, k] = p[E_POSITION + 2, k]
        p[k, E_BARO] = p[E_POSITION + 2, k]
    p[E_BARO, E_BARO] += variance


# GNSS ----------------------------------------------------------------------------------------------------------------

FIX_TIME = COLUMN["gnss_time_us"]
FIX = COLUMN["gnss_fix"]
LAT, LON, ALT = COLUMN["latitude"], COLUMN["longitude"], COLUMN["altitude"]
SPEED = COLUMN["gnss_vn"]
EPH, EPV = COLUMN["gnss_eph"], COLUMN["gnss_epv"]
VELOCITY_RATIO, POSITION_RATIO = ESTIMATE_COLUMN["velocity_ratio"], ESTIMATE_COLUMN["position_ratio"]

COURSE_NOISE = 0.2  # rad
REFUSALS_DOUBT = 2.0  # fixes in a row
DOUBT_VELOCITY, DOUBT_TILT = 1.0, 0.1  # m/s, rad
OLDEST = 0.5  # s: maximum age that is compensated


def fuse_gnss(row: Floats, x: Floats, p: Floats, m: Floats, work: Floats, out: Floats) -> bool:
    """Fuse a new fix; return True if it is good and the origin is not set yet."""
    time = row[FIX_TIME]
    if not time > m[GNSS_TIME]:
        return False
    m[GNSS_TIME] = time
    usable = is_updating(m, 3, row[LAT] + 2.0 * row[LON] + row[ALT]) and good_fix(row)
    m[GNSS_OK] = 1.0 if usable else 0.0
    if not usable or m[HAS_ORIGIN] == 0.0:
        return usable
    fix_position, velocity = _extrapolate_fix(row, x, m, (m[IMU_TIME] - time) * US)
    noise = (_fix_noise(row[EPH], HORIZONTAL_NOISE), _fix_noise(row[EPV], VERTICAL_NOISE))
    if _within_gates(x, p, m, out, fix_position, velocity, noise[0]):
        _fuse_fix(x, p, m, work, fix_position, velocity, noise, time - m[GNSS_GOOD])
        m[GNSS_GOOD] = time
    elif _replaces_position(x, m, fix_position, time - m[GNSS_GOOD]):
        reset_to_fix(x, p, m, fix_position, velocity, noise)
        m[GNSS_GOOD] = time
    _align_heading_to_course(x, p, m, velocity)
    return False


def _replaces_position(x: Floats, m: Floats, fix_position: Three, silence: float) -> bool:
    """Return whether rejected fixes, at `fix_position` and `silence` us after the last good one, replace the position.

    A receiver that suddenly reports another place, while the position is certain and the vehicle moves, is not believed
    for longer: it may see reflections or false signals. The position is lost in the meantime, and a failsafe acts. So
    it is after an outage (a spoofer jams before it captures) until the failsafe has acted: then the first fixes count.
    """
    north, east = fix_position[0] - x[0], fix_position[1] - x[1]
    far = north * north + east * east > GLITCH_RADIUS * GLITCH_RADIUS
    if m[REFUSED] == 1.0:
        certain = silence < GLITCH_OUTAGE and m[FUSED] >= FIXES_NEEDED and m[STANDING] == 0.0
        m[GLITCH] = 1.0 if far and certain else 0.0
    if m[GLITCH] == 1.0 and far:
        return silence >= GLITCH_HOLDS
    return bool(m[REFUSED] >= (REFUSALS_FRESH if silence < POSITION_HOLDS else REFUSALS_LOST))


def _extrapolate_fix(row: Floats, x: Floats, m: Floats, age: float) -> tuple[Three, Three]:
    """Return position and velocity extrapolated from a fix `age` s ago."""
    age = min(max(age, 0.0), OLDEST)
    a, b, c = rotated(matrix(x), m[FORCE], m[FORCE + 1], m[FORCE + 2])
    gain = (a * age, b * age, (c + GRAVITY) * age)
    vn, ve, vd = row[SPEED] + gain[0], row[SPEED + 1] + gain[1], row[SPEED + 2] + gain[2]
    north, east, down = fix_position_ned(row, m)
    north, east = north + (vn - 0.5 * gain[0]) * age, east + (ve - 0.5 * gain[1]) * age
    return (north, east, down + (vd - 0.5 * gain[2]) * age), (vn, ve, vd)


def good_fix(row: Floats) -> bool:
    """Return whether a row's fix is three-dimensional and complete."""
    return row[FIX] >= 3.0 and isfinite(row[LAT] + row[LON] + row[ALT] + row[SPEED] + row[SPEED + 1] + row[SPEED + 2])


def fix_position_ned(row: Floats, m: Floats) -> Three:
    """Return metres north, east and down of the origin."""
    turn = row[LON] - m[LONGITUDE]
    turn = turn - 360.0 if turn > 180.0 else (turn + 360.0 if turn < -180.0 else turn)
    return (row[LAT] - m[LATITUDE]) * m[PER_NORTH], turn * m[PER_EAST], m[ORIGIN_ALTITUDE] - row[ALT]


def _fix_noise(reported: float, default: float) -> float:
    return max(reported, LEAST_NOISE) if reported > 0.0 else default


def _within_gates(
    x: Floats, p: Floats, m: Floats, out: Floats, fix_position: Three, velocity: Three, noise: float
) -> bool:
    """Return whether a fix is within the gates of horizontal position and velocity; count rejections in a row.

    noise: of the fix_position, m.
    """
    position, speed = 0.0, 0.0
    for k in range(2):
        position = max(position, gate_ratio(fix_position[k] - x[k], p[k, k] + noise * noise))
        spread = p[E_VELOCITY + k, E_VELOCITY + k] + VELOCITY_NOISE * VELOCITY_NOISE
        speed = max(speed, gate_ratio(velocity[k] - x[VELOCITY + k], spread))
    out[POSITION_RATIO], out[VELOCITY_RATIO] = position, speed
    accepted = position <= 1.0 and speed <= 1.0
    m[REFUSED] = 0.0 if accepted else m[REFUSED] + 1.0
    if speed > 1.0 and m[REFUSED] >= REFUSALS_DOUBT:
        for k in range(3):  # the inertial sensors have missed something, most likely a turn
            p[E_VELOCITY + k, E_VELOCITY + k] += DOUBT_VELOCITY * DOUBT_VELOCITY
            p[E_TILT + k, E_TILT + k] += DOUBT_TILT * DOUBT_TILT
    return accepted


def _fuse_fix(
    x: Floats, p: Floats, m: Floats, work: Floats, fix_position: Three, velocity: Three, noise: Two, silence: float
) -> None:
    """Fuse a fix `silence` us after the last; its correction after an outage counts as a jump.

    noise: of the fix_position, horizontal and vertical, m. A position that was lost must be confirmed by further fixes
    before it is valid again.
    """
    before = (x[0], x[1], x[2])
    for k in range(2):
        fuse_error(x, p, work, k, fix_position[k] - x[k], noise[0])
        fuse_error(x, p, work, E_VELOCITY + k, velocity[k] - x[VELOCITY + k], VELOCITY_NOISE)
    fuse_error(x, p, work, 2, fix_position[2] - x[DOWN], noise[1])
    fuse_error(x, p, work, E_VELOCITY + 2, velocity[2] - x[VELOCITY + 2], VELOCITY_NOISE)
    m[FUSED] = 1.0 if silence > POSITION_HOLDS else m[FUSED] + 1.0
    if silence > GNSS_STALE:
        _record_jump(x, m, before)


def _record_jump(x: Floats, m: Floats, before: Three) -> None:
    """Record a jump: the estimate has moved, the vehicle has not."""
    m[JUMPS] += 1.0
    for k in range(3):
        m[JUMPED + k] += x[k] - before[k]


def reset_to_fix(x: Floats, p: Floats, m: Floats, fix_position: Three, velocity: Three, noise: Two) -> None:
    """Reset position and velocity to a fix, whose noise is horizontal and vertical, m; the barometer offset follows."""
    x[BARO_BIAS] += fix_position[2] - x[DOWN]
    before = (x[0], x[1], x[2])
    for k in range(3):
        x[k], x[VELOCITY + k] = fix_position[k], velocity[k]
        decorrelate(p, k, noise[0] if k < 2 else noise[1])
        decorrelate(p, E_VELOCITY + k, VELOCITY_NOISE)
    decorrelate(p, E_BARO, noise[1])
    p[E_BARO, 2] = noise[1] * noise[1]  # the same error is in both
    p[2, E_BARO] = p[E_BARO, 2]
    p[E_BARO, E_BARO] += LEAST_NOISE * LEAST_NOISE
    m[REFUSED], m[FUSED] = 0.0, 1.0
    _record_jump(x, m, before)


def _align_heading_to_course(x: Floats, p: Floats, m: Floats, velocity: Three) -> None:
    """Without a compass, set the heading of a moving vehicle from its course."""
    fast = velocity[0] * velocity[0] + velocity[1] * velocity[1] > COURSE_SPEED * COURSE_SPEED
    if m[HEADING_KNOWN] == 0.0 and fast:
        turn = wrap_angle(atan2(velocity[1], velocity[0]) - euler(x)[2])
        reset_heading(x, p, m, turn, COURSE_NOISE, TILT_START)
