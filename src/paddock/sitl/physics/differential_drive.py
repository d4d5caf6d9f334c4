"""Differential drive: two wheels that ramp to their speeds, and the arc that follows. Compiled, all rovers at once."""

from __future__ import annotations

from math import pi

import numpy as np

from paddock.compute.math import absolute, minimum, sincos, wrap_angle
from paddock.compute.routine import routine
from paddock.sitl.sensor_data import Floats


def drive(n: int, dt: float, pose: Floats, wheels: Floats, targets: Floats, base: float, acceleration: float) -> None:
    """Move `n` rovers for `dt` s: wheels (yaw, left m/s, right m/s) ramp to their targets, the way is an exact arc."""
    for k in range(n):
        left, go_left = ramp(wheels[1, k], targets[0, k], acceleration, dt)
        right, go_right = ramp(wheels[2, k], targets[1, k], acceleration, dt)
        half = 0.5 * (go_right - go_left) / base
        sine, cosine = sincos(wheels[0, k] + half)
        chord = 0.5 * (go_left + go_right)
        if absolute(half) > 1e-5:
            chord *= sincos(half)[0] / half
        pose[0, k] += chord * cosine
        pose[1, k] += chord * sine
        yaw = wrap_angle(wheels[0, k] + 2.0 * half)
        wheels[0, k], wheels[1, k], wheels[2, k] = yaw, left, right
        show(pose, k, yaw, 0.5 * (left + right), (right - left) / base)


def ramp(speed: float, target: float, acceleration: float, dt: float) -> tuple[float, float]:
    """The speed after `dt` s towards a target, and the way covered meanwhile (m)."""
    change = minimum(absolute(target - speed), acceleration * dt)
    reached = speed + change if target > speed else speed - change
    ramping = change / acceleration
    return reached, 0.5 * (speed + reached) * ramping + reached * (dt - ramping)


def show(pose: Floats, k: int, yaw: float, speed: float, turn: float) -> None:
    """Write the attitude and the motion of a level rover into its pose."""
    pose[5, k], pose[6, k] = sincos(0.5 * yaw)
    sine, cosine = sincos(yaw)
    pose[7, k], pose[8, k], pose[12, k] = speed * cosine, speed * sine, turn


drive_all = routine(drive)


def truth_rows(pose: Floats, yaw: Floats) -> Floats:
    """Position, velocity and attitude (n, 10) in north-east-down of poses (13, n) in east-north-up."""
    half, zero = 0.5 * (0.5 * pi - yaw), np.zeros(len(yaw))
    moved = [pose[1], pose[0], -pose[2], pose[8], pose[7], -pose[9]]
    return np.array([*moved, np.cos(half), zero, zero, np.sin(half)]).T
