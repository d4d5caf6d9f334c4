"""Attitude arithmetic on the filter's arrays: quaternion w, x, y, z from body to north-east-down."""

from __future__ import annotations

from paddock.compute.math import asin, atan2, sincos, sqrt
from paddock.sitl.autopilot.estimator.layout import QUATERNION
from paddock.sitl.sensor_data import Floats

Three = tuple[float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]


def matrix(x: Floats) -> Nine:
    """The rotation from body to world axes, row by row."""
    w, a, b, c = x[QUATERNION], x[QUATERNION + 1], x[QUATERNION + 2], x[QUATERNION + 3]
    return (
        1.0 - 2.0 * (b * b + c * c),
        2.0 * (a * b - w * c),
        2.0 * (a * c + w * b),
        2.0 * (a * b + w * c),
        1.0 - 2.0 * (a * a + c * c),
        2.0 * (b * c - w * a),
        2.0 * (a * c - w * b),
        2.0 * (b * c + w * a),
        1.0 - 2.0 * (a * a + b * b),
    )


def turned(r: Nine, a: float, b: float, c: float) -> Three:
    """A body vector in world axes."""
    return r[0] * a + r[1] * b + r[2] * c, r[3] * a + r[4] * b + r[5] * c, r[6] * a + r[7] * b + r[8] * c


def turn_by(x: Floats, a: float, b: float, c: float) -> None:
    """Turn the attitude by a rotation vector in body axes, rad."""
    angle = sqrt(a * a + b * b + c * c)
    s, cw = sincos(0.5 * angle)
    share = 0.5 - angle * angle / 48.0 if angle < 1e-3 else s / angle
    multiply(x, cw, a * share, b * share, c * share)


def multiply(x: Floats, w: float, a: float, b: float, c: float) -> None:
    """Attitude times a unit quaternion in body axes, of unit length again."""
    qw, qx, qy, qz = x[QUATERNION], x[QUATERNION + 1], x[QUATERNION + 2], x[QUATERNION + 3]
    put_quaternion(
        x,
        qw * w - qx * a - qy * b - qz * c,
        qw * a + qx * w + qy * c - qz * b,
        qw * b - qx * c + qy * w + qz * a,
        qw * c + qx * b - qy * a + qz * w,
    )


def turn_heading(x: Floats, angle: float) -> None:
    """Turn the attitude clockwise about the vertical, rad."""
    s, c = sincos(0.5 * angle)
    qw, qx, qy, qz = x[QUATERNION], x[QUATERNION + 1], x[QUATERNION + 2], x[QUATERNION + 3]
    put_quaternion(x, c * qw - s * qz, c * qx - s * qy, c * qy + s * qx, c * qz + s * qw)


def put_quaternion(x: Floats, w: float, a: float, b: float, c: float) -> None:
    """Store an attitude with unit length and a positive first part."""
    scale = 1.0 / sqrt(w * w + a * a + b * b + c * c)
    scale = -scale if w < 0.0 else scale
    x[QUATERNION], x[QUATERNION + 1] = w * scale, a * scale
    x[QUATERNION + 2], x[QUATERNION + 3] = b * scale, c * scale


def from_euler(x: Floats, roll: float, pitch: float, yaw: float) -> None:
    """Store the attitude of three angles, rad."""
    sr, cr = sincos(0.5 * roll)
    sp, cp = sincos(0.5 * pitch)
    sy, cy = sincos(0.5 * yaw)
    put_quaternion(
        x,
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def euler(x: Floats) -> Three:
    """Roll, pitch and yaw, rad."""
    r = matrix(x)
    return atan2(r[7], r[8]), asin(-r[6]), atan2(r[3], r[0])
