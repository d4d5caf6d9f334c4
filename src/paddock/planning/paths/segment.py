"""A segment: a straight line, an arc or a helix, perhaps carried by the wind or flown against it.

All of them are one formula, so that compiled code needs no cases: a curve of constant curvature that starts at a pose,
to which a drift is added in proportion to the way. Angles are rad, counter-clockwise from east; a positive curvature
turns left.
"""

from __future__ import annotations

from math import cos, hypot, sin, sqrt
from typing import NamedTuple


class Segment(NamedTuple):
    """A part of a path. Its way is measured in metres flown, which in still air are metres over the ground."""

    x: float  # m east, at its start
    y: float  # m north
    z: float  # m up
    heading: float  # rad: where the vehicle's nose points through the air, at its start
    length: float  # m along the curve, level; with a drift: relative to the air
    curvature: float = 0.0  # 1/m, positive to the left
    slope: float = 0.0  # m up for each m along
    gear: float = 1.0  # 1 forwards, -1 backwards: the curve is then left behind with the heading reversed
    drift_x: float = 0.0  # m east for each m along: the wind over the airspeed, for curves in moving air
    drift_y: float = 0.0  # m north
    pace: float = 1.0  # m along for each m flown: ground speed over airspeed, for curves held over the ground in wind


FIELDS = len(Segment._fields)
Pose = tuple[float, float, float, float]
"""x, y, z in m and heading in rad."""


def line(x: float, y: float, heading: float, length: float, z: float = 0.0, slope: float = 0.0) -> Segment:
    """Straight ahead."""
    return Segment(x, y, z, heading, length, 0.0, slope)


def arc(x: float, y: float, heading: float, radius: float, turn: float, z: float = 0.0, slope: float = 0.0) -> Segment:
    """A turn by `turn` rad (positive left) on a circle of that radius (m)."""
    return Segment(x, y, z, heading, abs(turn) * radius, (1.0 if turn >= 0.0 else -1.0) / radius, slope)


def point_along(s: Segment, along: float) -> Pose:
    """The pose after `along` metres of its curve."""
    turn = s.curvature * along
    way = along * s.gear
    half = 0.5 * s.gear * turn
    chord = way * (1.0 - half * half / 6.0) if abs(half) < 1e-4 else way * sin(half) / half
    x = s.x + chord * cos(s.heading + half) + s.drift_x * along
    y = s.y + chord * sin(s.heading + half) + s.drift_y * along
    return x, y, s.z + s.slope * along, s.heading + s.gear * turn


def flown_of(s: Segment) -> float:
    """Metres flown: along the curve and its climb, at the pace that the wind allows."""
    return s.length * sqrt(1.0 + s.slope * s.slope) / s.pace


def ends_at(s: Segment) -> Pose:
    """The pose at its end."""
    return point_along(s, s.length)


def carried(s: Segment) -> bool:
    """Whether it is a curve in moving air."""
    return hypot(s.drift_x, s.drift_y) > 0.0
