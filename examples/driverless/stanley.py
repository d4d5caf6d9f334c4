"""Stanley: steer along the line, and towards it by the offset of the front axle (Hoffmann et al. 2007)."""

from math import atan, cos, pi, remainder, sin

from car import Car, Motion
from line import Line

GAIN, SOFT = 3.0, 2.0  # 1/s, and m/s that soften it at low speed
DAMPING = 0.08  # s: steering against a yaw rate that the line does not ask for


def steer(line: Line, m: Motion, car: Car, near: float | None = None) -> float:
    """Return the steering angle, rad, positive to the left; `near` as in `Line.closest`."""
    along, _ = line.closest(m.x, m.y, near)
    _, headings, bends, _ = line.at(along)
    heading, bend = float(headings), float(bends)
    x, y = m.x + car.front * cos(m.yaw), m.y + car.front * sin(m.yaw)  # the front axle
    _, offset = line.closest(x, y, near)
    # in a steady turn the car's heading differs from its course: that is no error
    drift = -car.side_speed(m.vx, bend * m.vx) / max(m.vx, 1.0)
    turned = remainder(m.yaw - heading - drift, 2.0 * pi)
    towards = atan(GAIN * offset / (SOFT + m.vx))
    angle = car.bend_steer(bend, m.vx) - turned - towards - DAMPING * (m.yaw_rate - bend * m.vx)
    return min(max(angle, -car.steer_max), car.steer_max)
