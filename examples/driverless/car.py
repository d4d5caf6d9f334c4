"""What a controller knows about the car: the numbers of the preset `driverless`, its grip, its pedals, its dead time.

The steering reacts 50 ms after its command. Controllers therefore steer for the car as it will be then:
`after_dead_time` integrates a linear single-track model through the commands that are still on their way.
"""

from collections.abc import Sequence
from math import cos, sin
from typing import NamedTuple

import numpy as np
from line import Floats

GRAVITY, AIR_DENSITY = 9.80665, 1.225


class Motion(NamedTuple):
    """Where the car is (m, rad), how its centre of gravity moves (m/s, rad/s; body axes) and how it steers (rad)."""

    x: float
    y: float
    yaw: float
    vx: float
    vy: float = 0.0
    yaw_rate: float = 0.0
    steer: float = 0.0


class Car(NamedTuple):
    """The driverless car; the defaults are its preset."""

    mass: float = 178.0  # kg
    inertia: float = 111.0  # kg m2
    front: float = 0.72  # m, centre of gravity to front axle
    rear: float = 0.72  # m
    half_length: float = 1.18  # m
    half_width: float = 0.68  # m
    wheel_radius: float = 0.206  # m
    steer_max: float = 0.45  # rad
    steer_rate: float = 3.0  # rad/s
    dead_time: float = 0.05  # s, of the steering
    drive_force: float = 2850.0  # N at full throttle
    power: float = 60e3  # W
    engine_drag: float = 178.0  # N without throttle
    brake_force: float = 2912.0  # N at full pedal
    mu: float = 1.5  # peak friction of the front tyres, 1.58, less a reserve
    tyre: tuple[float, float, float] = (9.63, 1.39, 1.6)  # B, C, D of the magic formula; E is 1
    rear_grip: float = 1.1  # of the rear tyres relative to the front
    lift_front: float = 1.6  # m2, lift coefficient times area, + down
    lift_rear: float = 2.1  # m2
    drag: float = 1.1  # m2, drag coefficient times area
    rolling: float = 0.015  # rolling resistance per load

    def loads(self, speed: float) -> tuple[float, float]:
        """Return the loads of both axles, N, at a steady speed (m/s)."""
        share, pressure = self.mass * GRAVITY / (self.front + self.rear), 0.5 * AIR_DENSITY * speed * speed
        return share * self.rear + pressure * self.lift_front, share * self.front + pressure * self.lift_rear

    def grip(self, speed: float) -> float:
        """Return the largest acceleration that the tyres transmit, m/s2."""
        return self.mu * sum(self.loads(speed)) / self.mass

    def axle_stiffness(self, speed: float) -> tuple[float, float]:
        """Return the cornering stiffness of both axles, N/rad."""
        front, rear = self.loads(speed)
        slope = self.tyre[0] * self.tyre[1] * self.tyre[2]
        return slope * front, slope * self.rear_grip * rear

    def side_force(self, slip: Floats) -> tuple[Floats, Floats]:
        """Return side force per load at slip angles (rad), and its slope: the magic formula with E = 1."""
        b, c, d = self.tyre
        inner = np.arctan(b * slip)
        angle = c * np.arctan(inner)
        return d * np.sin(angle), d * np.cos(angle) * c / (1.0 + inner**2) * b / (1.0 + (b * slip) ** 2)

    def resistance(self, speed: float) -> float:
        """Return the deceleration of the coasting car, m/s2, without its engine."""
        drag = 0.5 * AIR_DENSITY * self.drag * speed * speed
        return drag / self.mass + self.rolling * sum(self.loads(speed)) / self.mass

    def pull(self, speed: float) -> float:
        """Return the acceleration at full throttle, m/s2, before the tyres limit it."""
        return min(self.drive_force, self.power / max(speed, 0.1)) / self.mass - self.resistance(speed)

    def pedals(self, acceleration: float, speed: float) -> tuple[float, float]:
        """Return throttle and brake (0 to 1) of a wanted acceleration, m/s2."""
        coast = self.engine_drag * min(0.5 * max(speed, 0.0), 1.0)
        force = self.mass * (acceleration + self.resistance(speed)) + coast
        most = min(self.drive_force, self.power / max(speed, 0.1)) + coast
        return min(max(force / most, 0.0), 1.0), min(max(-force / self.brake_force, 0.0), 1.0)

    def side_speed(self, speed: float, yaw_rate: float) -> float:
        """Return the speed to the left of the centre of gravity in a steady turn, m/s."""
        _, stiffness = self.axle_stiffness(speed)
        slip = self.mass * self.front / (self.front + self.rear) * speed * yaw_rate / stiffness
        return self.rear * yaw_rate - speed * slip

    def bend_steer(self, curvature: float, speed: float) -> float:
        """Return the steering angle (rad) of a steady turn on a path of that curvature (1/m)."""
        front, rear = self.axle_stiffness(speed)
        base = self.front + self.rear
        understeer = self.mass / base * (self.rear / front - self.front / rear)
        return curvature * (base + understeer * speed * speed)

    def moved(self, m: Motion, steer: float, acceleration: float, dt: float) -> Motion:
        """Return the motion after dt with a steering command (rad) in effect: linear tyres, implicit, any speed."""
        reach = self.steer_rate * dt
        steer = m.steer + min(max(min(max(steer, -self.steer_max), self.steer_max) - m.steer, -reach), reach)
        v = max(m.vx, 1.0)
        front, rear = self.axle_stiffness(v)
        couple = self.rear * rear - self.front * front
        a, b = (front + rear) / (self.mass * v), couple / (self.mass * v) - v
        c, d = couple / (self.inertia * v), (self.front**2 * front + self.rear**2 * rear) / (self.inertia * v)
        p = m.vy + dt * front / self.mass * steer
        q = m.yaw_rate + dt * self.front * front / self.inertia * steer
        # solve [[1 + dt a, -dt b], [-dt c, 1 + dt d]] (vy, yaw_rate) = (p, q)
        scale = 1.0 / ((1.0 + dt * a) * (1.0 + dt * d) - dt * dt * b * c)
        vy, rate = scale * ((1.0 + dt * d) * p + dt * b * q), scale * (dt * c * p + (1.0 + dt * a) * q)
        fade = min(max(m.vx, 0.0), 1.0)  # a standing car does not turn
        vy, rate, vx = fade * vy, fade * rate, max(m.vx + dt * acceleration, 0.0)
        yaw = m.yaw + 0.5 * dt * (m.yaw_rate + rate)
        ahead, left = 0.5 * dt * (m.vx + vx), 0.5 * dt * (m.vy + vy)
        middle = 0.5 * (m.yaw + yaw)
        x, y = m.x + ahead * cos(middle) - left * sin(middle), m.y + ahead * sin(middle) + left * cos(middle)
        return Motion(x, y, yaw, vx, vy, rate, steer)

    def after_dead_time(self, m: Motion, sent: Sequence[float], acceleration: float, dt: float) -> Motion:
        """Return the motion when a command of now takes effect; `sent` are the steering commands, oldest first.

        They were sent every `dt` seconds, and only the last `dead_time / dt` of them have not acted yet.
        """
        for steer in sent[len(sent) - round(self.dead_time / dt) :]:
            m = self.moved(m, steer, acceleration, dt)
        return m
