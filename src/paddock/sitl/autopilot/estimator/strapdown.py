"""Prediction: inertial samples carry the state forward, and its covariance with it."""

from __future__ import annotations

from paddock.sitl.autopilot.estimator.layout import (
    ACCEL_BIAS,
    ACCEL_DENSITY,
    ACCEL_NOISE,
    ACCEL_WALK,
    BARO_WALK,
    E_ACCEL,
    E_BARO,
    E_GYRO,
    E_TILT,
    E_VELOCITY,
    ERRORS,
    FORCE,
    GRAVITY,
    GYRO_BIAS,
    GYRO_DENSITY,
    GYRO_NOISE,
    GYRO_WALK,
    POSITION_WALK,
    RATES,
    VELOCITY,
)
from paddock.sitl.autopilot.estimator.rotations import Nine, Three, matrix, turn_by, turned
from paddock.sitl.sensor_data import Floats


def predict(x: Floats, p: Floats, m: Floats, gyro: Three, accel: Three, dt: float) -> None:
    """One inertial sample: body rates at its time (rad/s), mean specific force since the one before (m/s2), `dt` s."""
    w = (gyro[0] - x[GYRO_BIAS], gyro[1] - x[GYRO_BIAS + 1], gyro[2] - x[GYRO_BIAS + 2])
    f = (accel[0] - x[ACCEL_BIAS], accel[1] - x[ACCEL_BIAS + 1], accel[2] - x[ACCEL_BIAS + 2])
    # rates are instants, so the turn is the mean of two; force is a mean, seen from the attitude half way
    half = 0.25 * dt
    a, b, c = (w[0] + m[RATES]) * half, (w[1] + m[RATES + 1]) * half, (w[2] + m[RATES + 2]) * half
    turn_by(x, a, b, c)
    r = matrix(x)
    turn_by(x, a, b, c)
    _move(x, turned(r, f[0], f[1], f[2]), dt)
    for k in range(3):
        m[RATES + k], m[FORCE + k] = w[k], f[k]
    _spread(p, r, (2.0 * a, 2.0 * b, 2.0 * c), f, dt)
    _add_noise(p, dt)


def _move(x: Floats, force: Three, dt: float) -> None:
    """Position and velocity under a specific force in world axes."""
    for k in range(3):
        change = (force[k] + (GRAVITY if k == 2 else 0.0)) * dt
        x[k] += (x[VELOCITY + k] + 0.5 * change) * dt
        x[VELOCITY + k] += change


def _spread(p: Floats, r: Nine, turn: Three, f: Three, dt: float) -> None:
    """P := F P F' by sparse operations on rows, then on columns; rows change in an order that reads old ones only."""
    tilt = _tilt_to_velocity(r, f, dt)
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
    _spread_columns(p, r, tilt, turn, dt)


def _spread_columns(p: Floats, r: Nine, tilt: Nine, turn: Three, dt: float) -> None:
    for j in range(ERRORS):
        for i in range(3):
            p[j, i] += dt * p[j, E_VELOCITY + i]
        t0, t1, t2 = p[j, E_TILT], p[j, E_TILT + 1], p[j, E_TILT + 2]
        b0, b1, b2 = p[j, E_ACCEL], p[j, E_ACCEL + 1], p[j, E_ACCEL + 2]
        for i in range(3):
            p[j, E_VELOCITY + i] += tilt[3 * i] * t0 + tilt[3 * i + 1] * t1 + tilt[3 * i + 2] * t2
            p[j, E_VELOCITY + i] -= dt * (r[3 * i] * b0 + r[3 * i + 1] * b1 + r[3 * i + 2] * b2)
        p[j, E_TILT] += turn[2] * t1 - turn[1] * t2 - dt * p[j, E_GYRO]
        p[j, E_TILT + 1] += turn[0] * t2 - turn[2] * t0 - dt * p[j, E_GYRO + 1]
        p[j, E_TILT + 2] += turn[1] * t0 - turn[0] * t1 - dt * p[j, E_GYRO + 2]


def _tilt_to_velocity(r: Nine, f: Three, dt: float) -> Nine:
    """-R [f]x dt: how an attitude error turns the force."""
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
    """What a step adds to the uncertainty; P is made symmetric again."""
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
