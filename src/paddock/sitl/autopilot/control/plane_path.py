"""Which way to turn: roll for a line over the ground, for a circle, for a point. Metres north and east, rad, m/s."""

from __future__ import annotations

from math import atan, atan2, hypot, pi

GRAVITY = 9.80665
COURSE_GAIN = 0.35  # 1/s
LINE_TIME = 6.0  # s in which the rest of a distance to a line shrinks to a third

Point = tuple[float, float]


def wrap(angle: float) -> float:
    """The same angle in -pi to pi."""
    return (angle + pi) % (2.0 * pi) - pi


def roll_for_course(course: float, velocity: Point, bend: float = 0.0) -> float:
    """Roll that turns the track over the ground to a course, or along a path that bends (rad/m, + right)."""
    speed = max(hypot(*velocity), 1.0)
    rate = COURSE_GAIN * wrap(course - atan2(velocity[1], velocity[0])) + bend * speed
    return atan(speed * rate / GRAVITY)


def roll_for_line(place: Point, velocity: Point, start: Point, end: Point) -> tuple[float, float]:
    """Roll that leads onto the line from start to end, and the distance to its right."""
    north, east = end[0] - start[0], end[1] - start[1]
    length = hypot(north, east)
    if length < 1.0:
        return roll_for_course(atan2(end[1] - place[1], end[0] - place[0]), velocity), 0.0
    across = ((place[1] - start[1]) * north - (place[0] - start[0]) * east) / length
    reach = max(hypot(*velocity), 1.0) * LINE_TIME
    return roll_for_course(atan2(east, north) - atan(across / reach), velocity), across


def roll_for_circle(place: Point, velocity: Point, centre: Point, radius: float) -> float:
    """Roll that leads onto a circle and keeps to it; a positive radius is clockwise."""
    north, east = place[0] - centre[0], place[1] - centre[1]
    size, side = abs(radius), 1.0 if radius >= 0.0 else -1.0
    away = hypot(north, east)
    bearing = atan2(east, north) if away > 1e-6 else 0.0
    reach = min(max(hypot(*velocity), 1.0) * LINE_TIME, size)
    inwards = atan((away - size) / reach)
    near = max(0.0, 1.0 - abs(away - size) / size)
    return roll_for_course(bearing + side * (pi / 2.0 + inwards), velocity, side * near / size)
