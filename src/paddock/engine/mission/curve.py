"""Curves of planned segments in compiled code: where they lead, and where on them a vehicle is.

The table of a fleet has one row per segment: the columns of planning's Segment, then those below.
"""

from __future__ import annotations

from paddock.behaviour.rule import Floats
from paddock.compute.math import absolute, atan2, maximum, sin, sincos, sqrt, wrap_angle

X, Y, Z, HEADING, LENGTH, CURVATURE, SLOPE, GEAR, DRIFT_X, DRIFT_Y, PACE = range(11)
BEGINS, FLOWN, LIMIT, LEAVE = range(11, 15)
"""m flown from the route's start to its own; m flown on it; m/s at most on it; m/s at most at its end."""
COLUMNS = 15

PI = 3.141592653589793
NEWTON_STEPS = 4
"""Towards the nearest point of a curve in moving air, from one that was nearest a moment ago."""


def along_per_flown(path: Floats, k: int) -> float:
    """Metres along the curve for each metre flown on segment k."""
    return float(path[k, PACE] / sqrt(1.0 + path[k, SLOPE] * path[k, SLOPE]))


def place_on(path: Floats, k: int, s: float) -> tuple[float, float, float]:
    """The point (m) after `s` metres along segment k."""
    half = 0.5 * path[k, GEAR] * path[k, CURVATURE] * s
    way = s * path[k, GEAR]
    chord = way * (1.0 - half * half / 6.0) if absolute(half) < 1e-4 else way * sin(half) / half
    sine, cosine = sincos(path[k, HEADING] + half)
    x = path[k, X] + chord * cosine + path[k, DRIFT_X] * s
    y = path[k, Y] + chord * sine + path[k, DRIFT_Y] * s
    return x, y, path[k, Z] + path[k, SLOPE] * s


def tangent(path: Floats, k: int, s: float) -> tuple[float, float, float]:
    """The level derivative of the point by metres along the curve, and the rate (rad/m) at which its course turns."""
    gear, curvature = path[k, GEAR], path[k, CURVATURE]
    sine, cosine = sincos(path[k, HEADING] + gear * curvature * s)
    tx, ty = gear * cosine + path[k, DRIFT_X], gear * sine + path[k, DRIFT_Y]
    bend = curvature * (tx * cosine + ty * sine) / maximum(tx * tx + ty * ty, 1e-6)
    return tx, ty, bend


def nearest_on(path: Floats, k: int, s: float, x: float, y: float) -> float:
    """Metres along segment k of the point nearest to (x, y), near `s`; the curve goes on beyond its ends."""
    drifting = absolute(path[k, DRIFT_X]) + absolute(path[k, DRIFT_Y]) > 0.0
    if absolute(path[k, CURVATURE]) < 1e-9:
        tx, ty, _ = tangent(path, k, 0.0)
        return float(((x - path[k, X]) * tx + (y - path[k, Y]) * ty) / maximum(tx * tx + ty * ty, 1e-6))
    if not drifting:
        return _nearest_on_arc(path, k, s, x, y)
    for _ in range(NEWTON_STEPS):
        px, py, _ = place_on(path, k, s)
        tx, ty, bend = tangent(path, k, s)
        square = maximum(tx * tx + ty * ty, 1e-6)
        ahead = (x - px) * tx + (y - py) * ty
        beside = (y - py) * tx - (x - px) * ty  # to the left
        s += ahead / maximum(square - bend * beside, 0.3 * square)
    return s


def _nearest_on_arc(path: Floats, k: int, s: float, x: float, y: float) -> float:
    """By the angle about the arc's centre, the way round that is nearer to `s`."""
    curvature = path[k, GEAR] * path[k, CURVATURE]  # of the motion, whichever way the vehicle faces
    moving = path[k, HEADING] + (PI if path[k, GEAR] < 0.0 else 0.0)
    sine, cosine = sincos(moving)
    rx, ry = curvature * (x - path[k, X]) + sine, curvature * (y - path[k, Y]) - cosine
    if rx * rx + ry * ry < 1e-4:
        return s  # in the centre every point is as near
    return float(s + wrap_angle(atan2(rx, -ry) - moving - curvature * s) / curvature)
