"""Paths in constant wind: the quickest between two poses, and given paths held over the ground.

Distances flown are metres through the air (airspeed times time), which is what range is spent on. Directions given and
taken are courses over the ground; a vehicle's nose points where the wind triangle wants it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, hypot, inf, isnan, radians, sqrt

import numpy as np

from paddock.compute.math import asin, atan2, sincos, wrap_angle
from paddock.errors import InvalidValueError
from paddock.planning.paths.checks import PoseLike, not_negative, pose, positive
from paddock.planning.paths.drift import best_free_in_wind, best_in_wind, intercept
from paddock.planning.paths.dubins import dubins
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import Pose, Segment, ends_at, point_along
from paddock.planning.paths.words import STRAIGHT, length_to, turns_left
from paddock.world.columns import Floats

PIECE = radians(5.0)
"""Arcs held over the ground are cut into pieces no longer than this: within one, the pace is constant."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


def heading_on(course: float, wx: float, wy: float) -> float:
    """Where the nose points on a course over the ground, rad; the wind is a fraction of the airspeed."""
    s, c = sincos(course)
    return wrap_angle(course - asin(wy * c - wx * s))


def course_of(heading: float, wx: float, wy: float) -> float:
    """The course over the ground with the nose on a heading, rad."""
    s, c = sincos(heading)
    return atan2(s + wy, c + wx)


def quickest(
    x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float, wx: float, wy: float
) -> tuple[float, int, float, float, float]:
    """As `words.shortest`, in wind: m flown, number of the word, m flown in its parts. Headings are the nose's."""
    if radius <= 0.0:
        distance = intercept(gx - x, gy - y, wx, wy)
        return distance, STRAIGHT, 0.0, distance, 0.0
    s, c = sincos(wrap_angle(heading))
    dx, dy = (gx - x) / radius, (gy - y) / radius
    ux, uy, vx, vy = dx * c + dy * s, dy * c - dx * s, wx * c + wy * s, wy * c - wx * s
    if isnan(gheading):
        total, word, t, p, q = best_free_in_wind(ux, uy, vx, vy)
    else:
        total, word, t, p, q = best_in_wind(ux, uy, wrap_angle(gheading - heading), vx, vy)
    return total * radius, word, t * radius, p * radius, q * radius


def flown_in_wind(
    x: float, y: float, course: float, gx: float, gy: float, gcourse: float, radius: float, wx: float, wy: float
) -> tuple[float, float]:
    """Metres flown of the quickest path between two poses, and the course at its end; a goal course of NaN is free.

    The wind (wx, wy) is a fraction of the airspeed; from 1 on nothing is certain to be reached: infinite.
    """
    if wx == 0.0 and wy == 0.0:
        return length_to(x, y, course, gx, gy, gcourse, radius)
    if wx * wx + wy * wy >= 1.0:
        return inf, gcourse
    heading = heading_on(course, wx, wy)
    gheading = gcourse if isnan(gcourse) else heading_on(gcourse, wx, wy)
    flown, word, t, _, q = quickest(x, y, heading, gx, gy, gheading, radius, wx, wy)
    if not isnan(gcourse):
        return flown, gcourse
    if word == STRAIGHT:
        return flown, course if flown == 0.0 else atan2(gy - y, gx - x)
    turn = (turns_left(word, 0) * t + turns_left(word, 2) * q) / radius
    return flown, course_of(heading + turn, wx, wy)


def _relative(speed: float, wind: PoseLike) -> tuple[float, float]:
    """The wind as a fraction of the airspeed, checked."""
    positive("speed", speed)
    try:
        east, north = (float(part) for part in wind if part is not None)
    except (TypeError, ValueError):
        raise InvalidValueError(f"wind is (east, north) in m/s, not {wind!r}") from None
    strength = hypot(east, north)
    if not strength < speed:
        raise InvalidValueError(f"a wind of {strength:g} m/s cannot be flown against at an airspeed of {speed:g} m/s")
    return east / speed, north / speed


def dubins_in_wind(start: PoseLike, goal: PoseLike, radius: float, speed: float, wind: PoseLike) -> Path:
    """The quickest path between two poses (x, y, course over the ground) at an airspeed (m/s) in constant wind (m/s).

    `wind` is (east, north), where it blows to; turns are no tighter than `radius` (m) in the air. A goal's course may
    be None: any. The path's segments drift; its headings are those of the nose.
    """
    wx, wy = _relative(speed, wind)
    if wx == 0.0 and wy == 0.0:
        return dubins(start, goal, radius)
    x, y, course = pose("start", start)
    gx, gy, gcourse = pose("goal", goal, free=True)
    radius = not_negative("radius", radius)
    heading = heading_on(course, wx, wy)
    gheading = gcourse if isnan(gcourse) else heading_on(gcourse, wx, wy)
    flown, word, t, p, q = quickest(x, y, heading, gx, gy, gheading, radius, wx, wy)
    if word == STRAIGHT:
        ahead = heading if flown == 0.0 else heading_on(atan2(gy - y, gx - x), wx, wy)
        return Path([Segment(x, y, 0.0, ahead, flown, drift_x=wx, drift_y=wy)], (x, y, 0.0, ahead))
    middle = {4: 1.0, 5: -1.0}.get(word, 0.0)
    parts = ((t, turns_left(word, 0)), (p, middle), (q, turns_left(word, 2)))
    return Path(_drifting((x, y, 0.0, heading), parts, radius, wx, wy), (x, y, 0.0, heading))


def _drifting(
    here: Pose, parts: tuple[tuple[float, float], ...], radius: float, wx: float, wy: float
) -> Iterator[Segment]:
    """Segments one after the other, from lengths and sides (1 left, 0 straight, -1 right)."""
    for length, side in parts:
        segment = Segment(*here, length, side / radius, drift_x=wx, drift_y=wy)
        here = ends_at(segment)
        yield segment


def over_ground(path: Path, speed: float, wind: PoseLike) -> Path:
    """The same path over the ground, held at an airspeed (m/s) in constant wind (east, north in m/s).

    Each line gets the pace of the wind triangle. Arcs are cut into pieces, each with the pace that makes its flown
    distance exact. A climb is part of the airspeed.
    """
    wx, wy = _relative(speed, wind)
    if any(segment.drift_x or segment.drift_y for segment in path.segments):
        raise InvalidValueError("a path that drifts with the wind cannot also be held over the ground")
    return Path([piece for segment in path.segments for piece in _held(segment, wx, wy)], path.start)


def _held(segment: Segment, wx: float, wy: float) -> Iterator[Segment]:
    pieces = max(1, ceil(abs(segment.curvature) * segment.length / PIECE - 1e-9))
    width = segment.length / pieces
    climb = sqrt(1.0 + segment.slope**2)
    for k in range(pieces):
        x, y, z, heading = point_along(segment, k * width)
        along = 0.5 * width * (NODES + 1.0)
        course = heading + segment.gear * segment.curvature * along
        times = float((0.5 * WEIGHTS / _ground_speed(course, segment.gear, climb, wx, wy)).sum())
        yield segment._replace(x=x, y=y, z=z, heading=heading, length=width, pace=climb / times)


def _ground_speed(course: Floats, gear: float, climb: float, wx: float, wy: float) -> Floats:
    """Level speed over the ground on courses, in airspeeds; `climb` is the way for each metre of it."""
    along = gear * (wx * np.cos(course) + wy * np.sin(course))
    rest = 1.0 - wx * wx - wy * wy
    return np.asarray((along + np.sqrt(along**2 + climb**2 * rest)) / climb**2)
