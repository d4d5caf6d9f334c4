"""Wishes that several rules share."""

from __future__ import annotations

from paddock.compute.math import maximum, minimum, select, sqrt
from paddock.vehicles.model import Desire
from paddock.world.pose import Pose

STILL = 1e-9
SETTLING = 2.0
"""s: a vehicle that slows down in proportion to the way left needs this long, or a car would overshoot its goal."""


def towards(me: Pose, x: float, y: float, z: float, speed: float, slow_within: float) -> Desire:
    """Go to a point at a speed (m/s), slowing down in proportion within `slow_within` (m) of it."""
    dx, dy, dz = x - me.x, y - me.y, z - me.z
    distance = sqrt(dx * dx + dy * dy + dz * dz)
    pace = speed * minimum(1.0, distance / maximum(slow_within, STILL)) / maximum(distance, STILL)
    return Desire(dx * pace, dy * pace, dz * pace, distance)


def station(
    me: Pose, x: float, y: float, z: float, vx: float, vy: float, vz: float, gain: float, most: float
) -> Desire:
    """Keep to a moving point: its velocity plus a correction of `gain` (1/s) times the gap, at most `most` (m/s)."""
    dx, dy, dz = x - me.x, y - me.y, z - me.z
    wx, wy, wz = vx + gain * dx, vy + gain * dy, vz + gain * dz
    speed = sqrt(wx * wx + wy * wy + wz * wz)
    scale = minimum(1.0, most / maximum(speed, STILL))
    return Desire(wx * scale, wy * scale, wz * scale, maximum(sqrt(dx * dx + dy * dy + dz * dz), speed))


def distance_to(me: Pose, x: float, y: float, z: float) -> float:
    """Distance to a point, m."""
    dx, dy, dz = x - me.x, y - me.y, z - me.z
    return sqrt(dx * dx + dy * dy + dz * dz)


def stopped_within(d: Desire, distance: float, tolerance: float) -> Desire:
    """No wish to move any more once the goal is within the tolerance (m)."""
    go = select(distance > tolerance, 1.0, 0.0)
    return Desire(d.vx * go, d.vy * go, d.vz * go, d.ahead)
