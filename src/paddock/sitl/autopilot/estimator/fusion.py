"""Correction: one scalar measurement at a time, with the gates and resets around it."""

from __future__ import annotations

from paddock.compute.math import sqrt
from paddock.sitl.autopilot.estimator.layout import (
    ACCEL_BIAS,
    BARO_BIAS,
    E_ACCEL,
    E_BARO,
    E_GYRO,
    E_TILT,
    E_VELOCITY,
    ERRORS,
    GATE,
    GYRO_BIAS,
    HEADING_KNOWN,
    VELOCITY,
)
from paddock.sitl.autopilot.estimator.rotations import matrix, turn_by, turn_heading
from paddock.sitl.sensor_data import Floats


def gate_ratio(innovation: float, variance: float) -> float:
    """How far off a measurement is: 1 at the gate."""
    return abs(innovation) / (GATE * sqrt(variance))


def fuse_error(x: Floats, p: Floats, work: Floats, place: int, innovation: float, noise: float) -> None:
    """A measurement of one error state itself; `noise` is its standard deviation."""
    for i in range(ERRORS):
        work[1, i] = p[i, place]
    _correct(x, p, work, innovation, p[place, place] + noise * noise)


def seen_variance(p: Floats, work: Floats) -> float:
    """h P h' for the row `work[0]`; leaves P h' in `work[1]`."""
    total = 0.0
    for i in range(ERRORS):
        product = 0.0
        for j in range(ERRORS):
            product += p[i, j] * work[0, j]
        work[1, i] = product
        total += work[0, i] * product
    return total


def correct_seen(x: Floats, p: Floats, work: Floats, innovation: float, variance: float) -> None:
    """The correction after `seen_variance`; `variance` that of the innovation."""
    _correct(x, p, work, innovation, variance)


def _correct(x: Floats, p: Floats, work: Floats, innovation: float, variance: float) -> None:
    """Gain times innovation into the state, and the covariance less what is now known."""
    for i in range(ERRORS):
        gain = work[1, i] / variance
        work[2, i] = gain * innovation
        for j in range(ERRORS):
            p[i, j] -= gain * work[1, j]
    _inject(x, work)


def _inject(x: Floats, work: Floats) -> None:
    """The error state, in `work[2]`, goes into the nominal one."""
    for k in range(3):
        x[k] += work[2, k]
        x[VELOCITY + k] += work[2, E_VELOCITY + k]
        x[GYRO_BIAS + k] += work[2, E_GYRO + k]
        x[ACCEL_BIAS + k] += work[2, E_ACCEL + k]
    x[BARO_BIAS] += work[2, E_BARO]
    turn_by(x, work[2, E_TILT], work[2, E_TILT + 1], work[2, E_TILT + 2])


def forget(p: Floats, place: int, noise: float) -> None:
    """One error state becomes independent of the others, with that standard deviation."""
    for k in range(ERRORS):
        p[place, k] = 0.0
        p[k, place] = 0.0
    p[place, place] = noise * noise


def reset_heading(x: Floats, p: Floats, m: Floats, angle: float, noise: float, tilt: float) -> None:
    """Turn about the vertical; the heading is then known to `noise`, the tilt to `tilt` rad."""
    turn_heading(x, angle)
    for k in range(3):
        forget(p, E_TILT + k, tilt)
    doubt_heading(x, p, noise)
    m[HEADING_KNOWN] = 1.0


def doubt_heading(x: Floats, p: Floats, noise: float) -> None:
    """More uncertainty about the vertical, rad."""
    r = matrix(x)
    for i in range(3):
        for j in range(3):
            p[E_TILT + i, E_TILT + j] += noise * noise * r[6 + i] * r[6 + j]
