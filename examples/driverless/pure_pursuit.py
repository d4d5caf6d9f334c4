"""Pure pursuit: steer on the circle through a point of the line ahead.

The geometry of the rear axle (Coulter 1992), with a distance that grows with the speed. What the geometry leaves out,
the angle at which tyres roll in a fast bend, is added from the car's understeer.
"""

from math import atan2, cos, hypot, sin

from car import Car, Motion
from line import Line

TIME, SHORTEST = 0.28, 2.2  # s and m: the point ahead is at speed x time, but not nearer


def steer(line: Line, m: Motion, car: Car, near: float | None = None) -> float:
    """Return the steering angle, rad, positive to the left; `near` as in `Line.closest`."""
    x, y = m.x - car.rear * cos(m.yaw), m.y - car.rear * sin(m.yaw)  # the rear axle
    along, _ = line.closest(x, y, near)
    ahead = max(TIME * m.vx, SHORTEST)
    goal, _, bend, _ = line.at(along + ahead if line.closed else min(along + ahead, line.length))
    dx, dy = float(goal[0]) - x, float(goal[1]) - y
    left = cos(m.yaw) * dy - sin(m.yaw) * dx
    curvature = 2.0 * left / max(hypot(dx, dy), 1e-3) ** 2
    base = car.front + car.rear
    understeer = car.bend_steer(float(bend), m.vx) - base * float(bend)
    return min(max(atan2(base * curvature, 1.0) + understeer, -car.steer_max), car.steer_max)
