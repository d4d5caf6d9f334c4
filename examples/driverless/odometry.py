"""Dead reckoning: speeds from wheels, gyro and accelerometer, and the way of the car between two times.

Cone detections arrive 0.1 to 0.2 s late. SLAM therefore estimates the pose at the time of their sample; `Odometry`
remembers the speeds of the last seconds, moves the pose from one sample to the next, and from there to now.
"""

from collections import deque
from typing import NamedTuple

import numpy as np
from car import Car
from line import Floats

LONG_STIFFNESS = 26.4  # B C D of the tyre along: force per load and slip ratio
SIDE_MEMORY = 0.25  # s: for how long the accelerometer, which drifts, is trusted about the speed sideways


class Travel(NamedTuple):
    """A way in the axes of its start: dx, dy (m), turn (rad), and its covariance (3, 3)."""

    step: Floats
    covariance: Floats


class Odometry:
    """Speeds of the centre of gravity over time.

    `spread`: standard deviations of the way along and across (m) and of the turn (rad) after one metre. They grow with
    the square root of the way, and with that of the time in s as if the car crept at `creep` (m/s).
    """

    def __init__(
        self, car: Car, spread: tuple[float, float, float] = (0.03, 0.02, 0.003), creep: float = 0.05, keep: float = 3.0
    ) -> None:
        self.car, self.spread, self.creep, self.keep = car, spread, creep, keep
        self.samples: deque[tuple[float, float, float, float]] = deque()  # time, vx, vy, yaw rate

    def sense(self, time: float, wheels: Floats, imu: tuple[float, float, float]) -> None:
        """Estimate the speeds from the rotation of the rear wheels (rad/s) and imu: ax, ay (m/s2), yaw rate.

        Driven wheels turn faster than the car moves, braked ones slower: by the slip that the force `ax` needs.
        """
        ax, ay, rate = imu
        rolling = self.car.wheel_radius * float(np.mean(wheels))  # left and right cancel the turn
        slip = ax / (LONG_STIFFNESS * sum(self.car.loads(rolling)) / self.car.mass)
        vx = rolling / (1.0 + slip) if rolling > 0.5 else rolling
        settled = self.car.side_speed(vx, rate) if vx > 1.0 else 0.0
        vy = settled
        if self.samples and vx > 3.0:
            before, _, last, _ = self.samples[-1]
            dt = time - before
            vy = last + dt * (ay - vx * rate) + dt / SIDE_MEMORY * (settled - last)
        self.record(time, vx, vy, rate)

    def record(self, time: float, vx: float, vy: float, yaw_rate: float) -> None:
        """Remember the speeds at a time."""
        self.samples.append((time, vx, vy, yaw_rate))
        while self.samples[0][0] < time - self.keep:
            self.samples.popleft()

    @property
    def latest(self) -> tuple[float, float, float, float]:
        """Return time, vx, vy and yaw rate of the last sample."""
        return self.samples[-1]

    def travel(self, start: float, end: float) -> Travel:
        """Return the way of the car between two times."""
        table = np.array(self.samples)
        inner = table[(table[:, 0] > start) & (table[:, 0] < end), 0]
        times = np.concatenate([[start], inner, [end]])
        dt, middle = np.diff(times), 0.5 * (times[1:] + times[:-1])
        vx, vy, rate = (np.interp(middle, table[:, 0], table[:, k]) for k in (1, 2, 3))
        turn = np.cumsum(rate * dt)
        yaw = turn - 0.5 * rate * dt
        dx, dy = ((vx * np.cos(yaw) - vy * np.sin(yaw)) * dt).sum(), ((vx * np.sin(yaw) + vy * np.cos(yaw)) * dt).sum()
        way = float((np.abs(vx) * dt).sum() + self.creep * (end - start))
        return Travel(np.array([dx, dy, turn[-1]]), np.diag(np.square(self.spread)) * way)


def rotation(yaw: float) -> Floats:
    """Return the matrix (2, 2) from body axes to the map's."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s], [s, c]])


def composed(pose: Floats, step: Floats) -> Floats:
    """Return the pose (x, y, yaw) after a way in its own axes."""
    return np.append(pose[:2] + rotation(pose[2]) @ step[:2], pose[2] + step[2])


def composed_jacobians(pose: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Return the derivatives (3, 3) of `composed` by the pose and by the way."""
    turn = rotation(pose[2])
    by_pose, by_step = np.eye(3), np.eye(3)
    by_pose[:2, 2] = turn @ np.array([-step[1], step[0]])
    by_step[:2, :2] = turn
    return by_pose, by_step


def seen_from(pose: Floats, cones: Floats) -> tuple[Floats, Floats]:
    """Return cones (n, 2) in the axes of a car at a pose, and their derivatives (n, 2, 3) by that pose."""
    turn = rotation(pose[2])
    seen = (cones - pose[:2]) @ turn
    slope = np.empty((len(cones), 2, 3))
    slope[:, :, :2] = -turn.T
    slope[:, 0, 2], slope[:, 1, 2] = seen[:, 1], -seen[:, 0]
    return seen, slope
