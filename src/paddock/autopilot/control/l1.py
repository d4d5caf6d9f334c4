"""L1 navigation of planes, as ArduPlane's: the roll that follows a line, a circle or a course over the ground.

Points are m north and east, velocities m/s, angles rad; `NavGains` come from NAVL1_PERIOD and NAVL1_DAMPING.
"""

from math import hypot, pi
from typing import NamedTuple

from paddock.autopilot.estimate import GRAVITY, Point, wrap
from paddock.autopilot.parameters import AutopilotParameters
from paddock.compute.scalars import asin, atan, atan2, cos, sin

LEAST_SPEED = 1.0  # m/s over the ground


class NavGains(NamedTuple):
    """Period (s) and damping of the cross-track error."""

    period: float = 17.0
    damping: float = 0.75


def nav_gains(p: AutopilotParameters) -> NavGains:
    """Return the gains of the parameters."""
    return NavGains(p.value("NAVL1_PERIOD"), p.value("NAVL1_DAMPING"))


def _roll(acceleration: float) -> float:
    return atan(acceleration / GRAVITY)


def _lateral_acceleration(course_error: float, speed: float, g: NavGains) -> float:
    """Return the lateral acceleration that turns by an angle to the point one L1 distance ahead."""
    l1_distance = g.damping * g.period * speed / pi
    return 4.0 * g.damping * g.damping * speed * speed / l1_distance * sin(min(max(course_error, -pi / 2.0), pi / 2.0))


def roll_for_course(course: float, velocity: Point, g: NavGains) -> float:
    """Return the roll that turns the ground track to a course."""
    speed = max(hypot(*velocity), LEAST_SPEED)
    return _roll(_lateral_acceleration(wrap(course - atan2(velocity[1], velocity[0])), speed, g))


def roll_for_line(position: Point, velocity: Point, start: Point, end: Point, g: NavGains) -> tuple[float, float]:
    """Return the roll that follows the line from start to end, and the distance to its right.

    position, velocity: of the plane. g: gains.
    """
    north, east = end[0] - start[0], end[1] - start[1]
    length, speed = hypot(north, east), max(hypot(*velocity), LEAST_SPEED)
    if length < 1.0:
        return roll_for_course(atan2(end[1] - position[1], end[0] - position[0]), velocity, g), 0.0
    pn, pe = position[0] - start[0], position[1] - start[1]
    crosstrack = (pe * north - pn * east) / length
    along_track, l1_distance = (pn * north + pe * east) / length, g.damping * g.period * speed / pi
    if along_track < -0.7071 * max(hypot(pn, pe), l1_distance):  # far behind the start: fly to it
        return roll_for_course(atan2(-pe, -pn), velocity, g), crosstrack
    target_course = atan2(east, north) - asin(min(max(crosstrack / l1_distance, -0.7071), 0.7071))
    return _roll(_lateral_acceleration(wrap(target_course - atan2(velocity[1], velocity[0])), speed, g)), crosstrack


def roll_for_circle(position: Point, velocity: Point, centre: Point, radius: float, g: NavGains) -> float:
    """Return the roll that follows a circle. position, velocity: of the plane. radius: m, + clockwise. g: gains."""
    north, east = position[0] - centre[0], position[1] - centre[1]
    size, side = abs(radius), 1.0 if radius >= 0.0 else -1.0
    distance, speed = hypot(north, east), max(hypot(*velocity), LEAST_SPEED)
    course = atan2(velocity[1], velocity[0])
    bearing = atan2(east, north) if distance > 0.1 else course + pi
    omega = 2.0 * pi / g.period
    radial_speed = velocity[0] * cos(bearing) + velocity[1] * sin(bearing)
    tangential_speed = side * (velocity[1] * cos(bearing) - velocity[0] * sin(bearing))
    radial_error = distance - size
    correction = radial_error * omega * omega + radial_speed * 2.0 * g.damping * omega
    if tangential_speed < 0.0:  # the wrong way round: turn, without overshooting inwards
        correction = max(correction, 0.0)
    circling = side * (correction + tangential_speed * tangential_speed / max(0.5 * size, distance))
    capture = _lateral_acceleration(wrap(bearing + pi - course), speed, g)
    return _roll(capture if radial_error > 0.0 and side * capture < side * circling else circling)
