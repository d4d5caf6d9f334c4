"""Kalman filter arithmetic on state x, covariance p and memory m: array layout, attitude, correction, prediction.

The covariance is that of the error state, whose attitude error is a small rotation in body axes. The quaternion is w,
x, y, z, from body to north-east-down. Plain functions and numbers, for compiled code. In all functions x is the state,
p the covariance, m the memory, `work` (3, ERRORS) holds intermediate rows, and a, b, c are components of a vector.
"""

from paddock.autopilot.estimate import GRAVITY
from paddock.autopilot.vehicle_data import Floats
from paddock.compute.math import asin, atan2, sincos, sqrt
from paddock.compute.quaternion import axes

# nominal state
NORTH, EAST, DOWN = 0, 1, 2  # m
VELOCITY = 3  # 3: m/s north, east, down
QUATERNION = 6  # 4: w, x, y, z, body to north-east-down
GYRO_BIAS = 10  # 3: rad/s
ACCEL_BIAS = 13  # 3: m/s2
BARO_BIAS = 16  # m: barometric altitude less the height above the origin
STATES = 17

# error state
E_POSITION, E_VELOCITY, E_TILT, E_GYRO, E_ACCEL, E_BARO = 0, 3, 6, 9, 12, 15
ERRORS = 16

# memory
ALIGNED, HAS_ORIGIN, HEADING_KNOWN, STANDING = 0, 1, 2, 3  # 0 or 1
IMU_TIME, GNSS_TIME, COMPASS_TIME, BARO_TIME = 4, 5, 6, 7  # us, of the newest sample
IMU_GOOD, GNSS_GOOD, COMPASS_GOOD, BARO_GOOD = 8, 9, 10, 11  # us, of the newest usable sample (GNSS: fused)
RATES = 12  # 3: rad/s, the newest, bias removed
FORCE = 15  # 3: m/s2
LATITUDE, LONGITUDE, ALTITUDE = 18, 19, 20  # of the origin: deg, deg, m
PER_NORTH, PER_EAST = 21, 22  # m per deg
DECLINATION = 23  # rad
FUSED, REFUSED, COMPASS_REFUSED = 24, 25, 26  # fixes fused; fixes, compass samples rejected in a row
REST_TIME = 27  # us, of the last zero-velocity update
BARO_ALTITUDE = 28  # m, newest
DIP = 29  # vertical over horizontal field
GYRO_OK, ACCEL_OK, COMPASS_OK, GNSS_OK, BARO_OK = 30, 31, 32, 33, 34  # 0 or 1
JUMPS = 35  # number of position jumps
JUMPED = 36  # 3: m north, east, down, sum of all jumps
JUMPS_SEEN = 39  # jumps that were reported
USE_TRUTH, TRUTH_PLACED = 40, 41  # 0 or 1: copy the truth; its origin is known
WATCHES = 42  # 5 sensors x WATCH_WIDTH
WATCH_WIDTH = 4  # last value, repeats in a row, samples, 1: noise-free
GLITCH = WATCHES + 5 * WATCH_WIDTH  # 1: fixes are rejected that are far from a position that was certain
MEMORY = GLITCH + 1

# noise: a little more than that of consumer-grade sensors
ACCEL_NOISE = 0.12  # m/s2 per sample
ACCEL_DENSITY = 0.01  # m/s2/Hz^0.5, motion between samples
GYRO_NOISE = 0.012  # rad/s per sample
GYRO_DENSITY = 5e-4  # rad/s/Hz^0.5
ACCEL_WALK = 2e-3  # m/s2/s^0.5
GYRO_WALK = 5e-5  # rad/s/s^0.5
POSITION_WALK = 0.02  # m/s^0.5: slow error of a receiver
BARO_WALK = 0.015  # m/s^0.5: weather
VELOCITY_NOISE = 0.08  # m/s, of a fix
HORIZONTAL_NOISE, VERTICAL_NOISE = 1.0, 1.5  # m, of a fix without accuracy
LEAST_NOISE = 0.3  # m, lower bound of a fix's accuracy
BARO_NOISE = 0.2  # m
COMPASS_NOISE = 0.06  # rad
REST_NOISE, BOOT_NOISE = 0.05, 0.5  # m/s: standing; no fix yet, assumed to stand

# initial uncertainty
TILT_START = 0.1  # rad
GYRO_BIAS_START = 0.02  # rad/s
ACCEL_BIAS_START = 0.2  # m/s2
HEADING_UNKNOWN = 3.0  # rad

GATE = 5.0  # standard deviations
US = 1e-6  # s
LONGEST_STEP = 0.5  # s: longer gaps between inertial samples are clipped
REST_PERIOD = 1e5  # us between zero-velocity updates
STALE = 5e5  # us: timeout of IMU, compass and barometer
GNSS_STALE = 2e6  # us
POSITION_HOLDS = 4e6  # us of dead reckoning with a valid position
POSITION_LIMIT = 10.0  # m, 1 sigma
FIXES_NEEDED = 5.0
REFUSALS_LOST, REFUSALS_FRESH = 3.0, 25.0  # rejected fixes in a row that reset the filter: when lost, when certain
GLITCH_RADIUS, GLITCH_HOLDS = 25.0, 1e7  # m, and us: a farther jump of the fixes resets the filter only after this time
GLITCH_OUTAGE = 5e6  # us without a fix up to which a jump is a glitch: by then the failsafe of the position has acted
COMPASS_PATIENCE = 40.0  # rejected samples in a row that increase the heading uncertainty
FROZEN = 20.0  # equal samples in a row
PROBATION = 50.0  # samples in which a sensor shows whether it is noisy
COURSE_SPEED = 3.0  # m/s: without a compass, the course sets the heading above this speed


# attitude ------------------------------------------------------------------------------------------------------------

Two = tuple[float, float]
Three = tuple[float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]


def matrix(x: Floats) -> Nine:
    """Return the rotation from body to world axes, row by row."""
    forward, left, up = axes(x[QUATERNION + 1], x[QUATERNION + 2], x[QUATERNION + 3], x[QUATERNION])
    return forward[0], left[0], up[0], forward[1], left[1], up[1], forward[2], left[2], up[2]


def rotated(r: Nine, a: float, b: float, c: float) -> Three:
    """Rotate a body vector to world axes."""
    return r[0] * a + r[1] * b + r[2] * c, r[3] * a + r[4] * b + r[5] * c, r[6] * a + r[7] * b + r[8] * c


def rotate_by(x: Floats, a: float, b: float, c: float) -> None:
    """Rotate the attitude by a rotation vector in body axes, rad."""
    angle = sqrt(a * a + b * b + c * c)
    s, cw = sincos(0.5 * angle)
    share = 0.5 - angle * angle / 48.0 if angle < 1e-3 else s / angle
    multiply(x, cw, a * share, b * share, c * share)


def multiply(x: Floats, w: float, a: float, b: float, c: float) -> None:
    """Multiply the attitude by a unit quaternion in body axes, and normalise."""
    qw, qx, qy, qz = x[QUATERNION], x[QUATERNION + 1], x[QUATERNION + 2], x[QUATERNION + 3]
    store_quaternion(
        x,
        qw * w - qx * a - qy * b - qz * c,
        qw * a + qx * w + qy * c - qz * b,
        qw * b - qx * c + qy * w + qz * a,
        qw * c + qx * b - qy * a + qz * w,
    )


def turn_heading(x: Floats, angle: float) -> None:
    """Rotate the attitude clockwise about the vertical, rad."""
    s, c = sincos(0.5 * angle)
    qw, qx, qy, qz = x[QUATERNION], x[QUATERNION + 1], x[QUATERNION + 2], x[QUATERNION + 3]
    store_quaternion(x, c * qw - s * qz, c * qx - s * qy, c * qy + s * qx, c * qz + s * qw)


def store_quaternion(x: Floats, w: float, a: float, b: float, c: float) -> None:
    """Store an attitude with unit length and positive w."""
    scale = 1.0 / sqrt(w * w + a * a + b * b + c * c)
    scale = -scale if w < 0.0 else scale
    x[QUATERNION], x[QUATERNION + 1] = w * scale, a * scale
    x[QUATERNION + 2], x[QUATERNION + 3] = b * scale, c * scale


def euler(x: Floats) -> Three:
    """Return roll, pitch and yaw, rad."""
    r = matrix(x)
    return atan2(r[7], r[8]), asin(-r[6]), atan2(r[3], r[0])


# correction: one scalar measurement at a time ------------------------------------------------------------------------


def gate_ratio(innovation: float, variance: float) -> float:
    """Return the normalised innovation: 1 at the gate."""
    return abs(innovation) / (GATE * sqrt(variance))


def fuse_error(x: Floats, p: Floats, work: Floats, index: int, innovation: float, noise: float) -> None:
    """Fuse a direct measurement of the error state `index`; `noise` is its standard deviation."""
    for i in range(ERRORS):
        work[1, i] = p[i, index]
    correct(x, p, work, innovation, p[index, index] + noise * noise)


def projected_variance(p: Floats, work: Floats) -> float:
    """Return h P h' for the row `work[0]`; P h' is left in `work[1]`."""
    total = 0.0
    for i in range(ERRORS):
        product = 0.0
        for j in range(ERRORS):
            product += p[i, j] * work[0, j]
        work[1, i] = product
        total += work[0, i] * product
    return total


def fuse_row(x: Floats, p: Floats, work: Floats, innovation: float, noise: float) -> float:
    """Fuse a measurement of the row `work[0]` unless it is beyond the gate; return its normalised innovation."""
    variance = projected_variance(p, work) + noise * noise
    ratio = gate_ratio(innovation, variance)
    if ratio <= 1.0:
        correct(x, p, work, innovation, variance)
    return ratio


def correct(x: Floats, p: Floats, work: Floats, innovation: float, variance: float) -> None:
    """Update state and covariance with P h\' in `work[1]`; `variance` of the innovation."""
    for i in range(ERRORS):
        gain = work[1, i] / variance
        work[2, i] = gain * innovation
        for j in range(ERRORS):
            p[i, j] -= gain * work[1, j]
    for k in range(3):
        x[k] += work[2, k]
        x[VELOCITY + k] += work[2, E_VELOCITY + k]
        x[GYRO_BIAS + k] += work[2, E_GYRO + k]
        x[ACCEL_BIAS + k] += work[2, E_ACCEL + k]
    x[BARO_BIAS] += work[2, E_BARO]
    rotate_by(x, work[2, E_TILT], work[2, E_TILT + 1], work[2, E_TILT + 2])


def decorrelate(p: Floats, index: int, noise: float) -> None:
    """Decorrelate one error state and set its standard deviation."""
    for k in range(ERRORS):
        p[index, k] = 0.0
        p[k, index] = 0.0
    p[index, index] = noise * noise


def reset_heading(x: Floats, p: Floats, m: Floats, angle: float, noise: float, tilt: float) -> None:
    """Rotate by `angle` about the vertical; the uncertainty becomes `noise` (heading) and `tilt`, rad."""
    turn_heading(x, angle)
    for k in range(3):
        decorrelate(p, E_TILT + k, tilt)
    inflate_heading(x, p, noise)
    m[HEADING_KNOWN] = 1.0


def inflate_heading(x: Floats, p: Floats, noise: float) -> None:
    """Increase the heading uncertainty, rad."""
    r = matrix(x)
    for i in range(3):
        for j in range(3):
            p[E_TILT + i, E_TILT + j] += noise * noise * r[6 + i] * r[6 + j]


# prediction ----------------------------------------------------------------------------------------------------------


def predict(x: Floats, p: Floats, m: Floats, gyro: Three, accel: Three, dt: float) -> None:
    """Integrate an inertial sample. gyro: rad/s. accel: mean specific force since the last, m/s2. dt: s."""
    w = (gyro[0] - x[GYRO_BIAS], gyro[1] - x[GYRO_BIAS + 1], gyro[2] - x[GYRO_BIAS + 2])
    f = (accel[0] - x[ACCEL_BIAS], accel[1] - x[ACCEL_BIAS + 1], accel[2] - x[ACCEL_BIAS + 2])
    # rates are instantaneous: average two; force is a mean: rotate it with the mid-interval attitude
    half = 0.25 * dt
    a, b, c = (w[0] + m[RATES]) * half, (w[1] + m[RATES + 1]) * half, (w[2] + m[RATES + 2]) * half
    rotate_by(x, a, b, c)
    r = matrix(x)
    rotate_by(x, a, b, c)
    _integrate_motion(x, rotated(r, f[0], f[1], f[2]), dt)
    for k in range(3):
        m[RATES + k], m[FORCE + k] = w[k], f[k]
    tilt, turn = _tilt_to_velocity(r, f, dt), (2.0 * a, 2.0 * b, 2.0 * c)
    _propagate_rows(p, r, tilt, turn, dt)  # F P
    _propagate_rows(p.T, r, tilt, turn, dt)  # (F P) F'
    _add_noise(p, dt)


def _integrate_motion(x: Floats, force: Three, dt: float) -> None:
    """Integrate position and velocity under a specific force in world axes."""
    for k in range(3):
        change = (force[k] + (GRAVITY if k == 2 else 0.0)) * dt
        x[k] += (x[VELOCITY + k] + 0.5 * change) * dt
        x[VELOCITY + k] += change


def _propagate_rows(p: Floats, r: Nine, tilt: Nine, turn: Three, dt: float) -> None:
    """P := F P by sparse operations on rows, in an order that reads only old ones.

    r: body to world. tilt, turn: how an attitude error changes the velocity, and itself. dt: s.
    """
    for j in range(ERRORS):
        for i in range(3):
            p[i, j] += dt * p[E_VELOCITY + i, j]
        t0, t1, t2 = p[E_TILT, j], p[E_TILT + 1, j], p[E_TILT + 2, j]
        b0, b1, b2 = p[E_ACCEL, j], p[E_ACCEL + 1, j], p[E_ACCEL + 2, j]
        for i in range(3):
            p[E_VELOCITY + i, j] += tilt[3 * i] * t0 + tilt[3 * i + 1] * t1 + tilt[3 * i + 2] * t2
            p[E_VELOCITY + i, j] -= dt * (r[3 * i] * b0 + r[3 * i + 1] * b1 + r[3 * i + 2] * b2)
        p[E_TILT, j] += turn[2] * t1 - turn[1] * t2 - dt * p[E_GYRO, j]
        p[E_TILT + 1, j] += turn[0] * t2 - turn[2] * t0 - dt * p[E_GYRO + 1, j]
        p[E_TILT + 2, j] += turn[1] * t0 - turn[0] * t1 - dt * p[E_GYRO + 2, j]


def _tilt_to_velocity(r: Nine, f: Three, dt: float) -> Nine:
    """Return -R [f]x dt: how an attitude error rotates the force."""
    g0, g1, g2 = f[0] * dt, f[1] * dt, f[2] * dt
    return (
        r[2] * g1 - r[1] * g2,
        r[0] * g2 - r[2] * g0,
        r[1] * g0 - r[0] * g1,
        r[5] * g1 - r[4] * g2,
        r[3] * g2 - r[5] * g0,
        r[4] * g0 - r[3] * g1,
        r[8] * g1 - r[7] * g2,
        r[6] * g2 - r[8] * g0,
        r[7] * g0 - r[6] * g1,
    )


def _add_noise(p: Floats, dt: float) -> None:
    """Add the process noise and symmetrise P."""
    for k in range(3):
        p[k, k] += POSITION_WALK * POSITION_WALK * dt
        p[E_VELOCITY + k, E_VELOCITY + k] += (ACCEL_NOISE * dt) ** 2 + ACCEL_DENSITY * ACCEL_DENSITY * dt
        p[E_TILT + k, E_TILT + k] += (GYRO_NOISE * dt) ** 2 + GYRO_DENSITY * GYRO_DENSITY * dt
        p[E_GYRO + k, E_GYRO + k] += GYRO_WALK * GYRO_WALK * dt
        p[E_ACCEL + k, E_ACCEL + k] += ACCEL_WALK * ACCEL_WALK * dt
    p[E_BARO, E_BARO] += BARO_WALK * BARO_WALK * dt
    for i in range(ERRORS):
        for j in range(i):
            p[i, j] = 0.5 * (p[i, j] + p[j, i])
            p[j, i] = p[i, j]
