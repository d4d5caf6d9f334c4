"""How a vehicle truly turns and accelerates, from one truth to the next: sensors say it with their noise."""

from __future__ import annotations

from math import atan2, isfinite, sqrt
from typing import NamedTuple

from paddock.sitl.sensor_data import Columns

Triple = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


class Turning(NamedTuple):
    """Angular rate (rad/s) and acceleration over the ground (m/s2), both forward, right, down; means since before."""

    rate: Triple
    acceleration: Triple


class TrueMotion:
    """Of one vehicle; None until there are two truths to compare."""

    def __init__(self) -> None:
        self._before: Columns | None = None
        self.turning: Turning | None = None

    def forget(self) -> None:
        """What comes next does not follow from what was."""
        self._before = self.turning = None

    def update(self, v: Columns) -> None:
        """The truth at its time."""
        if not isfinite(v.true_qw + v.true_vn):
            self.forget()
            return
        before, self._before = self._before, v
        if before is not None and v.time_us > before.time_us:
            self.turning = _turning(before, v, (v.time_us - before.time_us) * 1e-6)


def _turning(before: Columns, v: Columns, seconds: float) -> Turning:
    attitude = (v.true_qw, v.true_qx, v.true_qy, v.true_qz)
    change = _between((before.true_qw, before.true_qx, before.true_qy, before.true_qz), attitude)
    gained = (v.true_vn - before.true_vn, v.true_ve - before.true_ve, v.true_vd - before.true_vd)
    x, y, z = _to_body(attitude, gained)
    return Turning(_rate(change, seconds), (x / seconds, y / seconds, z / seconds))


def _between(a: Quaternion, b: Quaternion) -> Quaternion:
    """The turn, in the body's own axes, that takes attitude a to attitude b."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw + ax * bx + ay * by + az * bz,
        aw * bx - ax * bw - ay * bz + az * by,
        aw * by + ax * bz - ay * bw - az * bx,
        aw * bz - ax * by + ay * bx - az * bw,
    )


def _rate(turn: Quaternion, seconds: float) -> Triple:
    """rad/s of a turn by less than half a circle."""
    w, x, y, z = turn if turn[0] >= 0.0 else (-turn[0], -turn[1], -turn[2], -turn[3])
    sine = sqrt(x * x + y * y + z * z)
    scale = (2.0 if sine < 1e-12 else 2.0 * atan2(sine, w) / sine) / seconds
    return x * scale, y * scale, z * scale


def _to_body(attitude: Quaternion, vector: Triple) -> Triple:
    """A vector of north, east, down in the body's axes."""
    w, x, y, z = attitude
    n, e, d = vector
    return (
        (1 - 2 * (y * y + z * z)) * n + 2 * (x * y + w * z) * e + 2 * (x * z - w * y) * d,
        2 * (x * y - w * z) * n + (1 - 2 * (x * x + z * z)) * e + 2 * (y * z + w * x) * d,
        2 * (x * z + w * y) * n + 2 * (y * z - w * x) * e + (1 - 2 * (x * x + y * y)) * d,
    )
