"""The geometry of driving along a way: where to look ahead, and how fast. Metres north and east, angles from north."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, remainder, sin, sqrt, tau
from typing import NamedTuple

Point = tuple[float, float]


class Track(NamedTuple):
    """Where a vehicle is on a leg."""

    along: float  # m from its start; may be beyond either end
    across: float  # m to the right of it
    length: float  # m
    bearing: float  # rad


def track(position: Point, start: Point, end: Point) -> Track:
    """The place of a position relative to the leg; a leg without length has the bearing from the position."""
    north, east = end[0] - start[0], end[1] - start[1]
    length = hypot(north, east)
    if length < 1e-6:
        north, east = end[0] - position[0], end[1] - position[1]
        return Track(-hypot(north, east), 0.0, 0.0, atan2(east, north))
    pn, pe = position[0] - start[0], position[1] - start[1]
    along = (pn * north + pe * east) / length
    return Track(along, (pe * north - pn * east) / length, length, atan2(east, north))


def look_ahead(on: Track, position: Point, start: Point, end: Point, after: Point | None, distance: float) -> Point:
    """The point of the way that is `distance` m from the position, or the nearest if the way is further off.

    Beyond the end the way goes on to `after`, or straight on.
    """
    if on.length <= 0.0:
        return end
    along = max(on.along + sqrt(max(distance * distance - on.across * on.across, 0.0)), 0.0)
    if along > on.length and after is not None and after != end:
        following = track(position, end, after)
        along = following.along + sqrt(max(distance * distance - following.across * following.across, 0.0))
        return _on(end, after, min(max(along, 0.0), following.length) / following.length)
    return _on(start, end, along / on.length)


def _on(start: Point, end: Point, share: float) -> Point:
    return start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])


def bearing(a: Point, b: Point) -> float:
    """From a to b, rad."""
    return atan2(b[1] - a[1], b[0] - a[0])


def turned(a: float, b: float) -> float:
    """How far it is to turn from heading a to heading b, rad, + clockwise, -pi to pi."""
    return remainder(b - a, tau)


def curvature_to(point: Point, position: Point, heading: float) -> float:
    """1/m, + clockwise: of the arc that leaves along the heading and leads to the point; sharpest if it lies behind."""
    distance = max(hypot(point[0] - position[0], point[1] - position[1]), 0.05)
    error = turned(heading, bearing(position, point))
    sine = sin(error) if abs(error) < 0.5 * pi else (1.0 if error > 0.0 else -1.0)
    return 2.0 * sine / distance


def corner(start: Point, end: Point, after: Point | None) -> float:
    """By how much the way turns at the end of the leg, rad, 0 to pi; pi if it ends there."""
    if after is None or after == end or start == end:
        return pi
    return abs(turned(bearing(start, end), bearing(end, after)))


def braking_speed(distance: float, speed_there: float, deceleration: float) -> float:
    """m/s: the most at `distance` m from where the speed must be `speed_there`."""
    return sqrt(speed_there * speed_there + 2.0 * deceleration * max(distance, 0.0))


def circle_heading(position: Point, middle: Point, radius: float, clockwise: bool, distance: float) -> float:
    """The course (rad) that leads onto a circle and round it, the more directly the further off it is."""
    north, east = position[0] - middle[0], position[1] - middle[1]
    outward = atan2(east, north)
    off = hypot(north, east) - radius
    way = 1.0 if clockwise else -1.0
    return outward + way * (0.5 * pi + atan2(off, distance))


def ahead(position: Point, heading: float, distance: float) -> Point:
    """The point `distance` m away in that direction."""
    return position[0] + distance * cos(heading), position[1] + distance * sin(heading)
