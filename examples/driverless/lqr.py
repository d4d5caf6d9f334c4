"""LQR: the steering that minimises offset, heading error and effort of a linear single-track model, for each speed.

The state is (offset, its rate, heading error, its rate), after Rajamani, Vehicle Dynamics and Control, chapter 2. The
gain follows from the discrete Riccati equation, solved by the doubling algorithm, and is kept for speeds 0.5 m/s apart.
A feed-forward holds the car in bends; the gain only acts on what differs from them.
"""

from math import pi, remainder

import numpy as np
from car import Car, Motion
from line import Floats, Line
from scipy.linalg import expm

EFFORT = 8.0  # weight of the steering angle squared
WEIGHTS = (1.0, 0.05, 2.0, 0.05)  # of the state


def riccati(a: Floats, b: Floats, q: Floats, r: Floats) -> Floats:
    """Return the stabilising P of P = A'PA - A'PB (R + B'PB)^-1 B'PA + Q; each pass doubles the steps considered."""
    identity = np.eye(len(a))
    g, h = b @ np.linalg.solve(r, b.T), q.copy()
    for _ in range(60):
        inner = np.linalg.inv(identity + g @ h)
        step = a.T @ h @ inner @ a
        g, h, a = g + a @ inner @ g @ a.T, h + step, a @ inner @ a
        if np.abs(step).max() <= 1e-13 * np.abs(h).max():
            break
    return 0.5 * (h + h.T)


def gain(a: Floats, b: Floats, q: Floats, r: Floats) -> Floats:
    """Return K of u = -K x."""
    p = riccati(a, b, q, r)
    return np.asarray(np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a))


def error_model(car: Car, speed: float, dt: float) -> tuple[Floats, Floats]:
    """Return A (4, 4) and B (4, 1) of the errors beside a straight line after dt, with the steering held."""
    front, rear = car.axle_stiffness(speed)
    lever, moment = car.rear * rear - car.front * front, car.front**2 * front + car.rear**2 * rear
    m, i, v = car.mass, car.inertia, speed
    flow = np.zeros((5, 5))
    flow[0, 1] = flow[2, 3] = 1.0
    flow[1, 1:5] = -(front + rear) / (m * v), (front + rear) / m, lever / (m * v), front / m
    flow[3, 1:5] = lever / (i * v), -lever / i, -moment / (i * v), car.front * front / i
    whole = expm(dt * flow)  # the fifth column holds the input
    return whole[:4, :4], whole[:4, 4:]


class Lqr:
    """Gains by speed, computed when first needed."""

    def __init__(self, car: Car, dt: float = 0.025) -> None:
        self.car, self.dt = car, dt
        self.gains: dict[int, Floats] = {}

    def gain_at(self, speed: float) -> Floats:
        """Return K (4,) at a speed, m/s."""
        key = max(round(2.0 * speed), 4)
        if key not in self.gains:
            a, b = error_model(self.car, 0.5 * key, self.dt)
            self.gains[key] = gain(a, b, np.diag(WEIGHTS), np.array([[EFFORT]]))[0]
        return self.gains[key]

    def steer(self, line: Line, m: Motion, near: float | None = None) -> float:
        """Return the steering angle, rad, positive to the left; `near` as in `Line.closest`."""
        car = self.car
        along, offset = line.closest(m.x, m.y, near)
        _, heading, bend, _ = line.at(along)
        drift = -car.side_speed(m.vx, float(bend) * m.vx) / max(m.vx, 1.0)
        turned = remainder(m.yaw - float(heading), 2.0 * pi)
        state = np.array([offset, m.vy + m.vx * turned, turned - drift, m.yaw_rate - float(bend) * m.vx])
        angle = car.bend_steer(float(bend), m.vx) - float(self.gain_at(m.vx) @ state)
        return min(max(angle, -car.steer_max), car.steer_max)
