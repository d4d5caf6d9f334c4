"""Shortest paths of a vehicle that moves forwards and backwards (Reeds-Shepp), as a `Path` or the lengths of many."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, hypot

from numpy import empty
from numpy.typing import ArrayLike

from paddock.compute.math import sincos, sqrt, wrap_angle
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.planning.paths.checks import PoseLike, not_negative, pose, poses, radii
from paddock.planning.paths.path import Path
from paddock.planning.paths.reverse_words import FAMILIES, QUARTER, Found, shortest_both_ways
from paddock.planning.paths.segment import Pose, Segment, ends_at, line
from paddock.world.columns import Floats


def between(x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float) -> Found:
    """The shortest word from one pose to another, in radii (> 0)."""
    s, c = sincos(wrap_angle(heading))
    dx, dy = (gx - x) / radius, (gy - y) / radius
    return shortest_both_ways(dx * c + dy * s, dy * c - dx * s, wrap_angle(gheading - heading))


def shortest_length(x: float, y: float, heading: float, gx: float, gy: float, gheading: float, radius: float) -> float:
    """Metres of the shortest path, for compiled code; a radius of 0 turns on the spot."""
    dx, dy = gx - x, gy - y
    if radius == 0.0:
        return sqrt(dx * dx + dy * dy)
    return between(x, y, heading, gx, gy, gheading, radius)[0] * radius


def reeds_shepp(start: PoseLike, goal: PoseLike, radius: float) -> Path:
    """The shortest path from a pose to a pose (x, y, heading), forwards and backwards, on curves of `radius` (m).

    Segments have gear 1 forwards and -1 backwards. A radius of 0 turns on the spot: a straight line.
    """
    x, y, heading = pose("start", start)
    gx, gy, gheading = pose("goal", goal)
    if not_negative("radius", radius) == 0.0:
        ahead = atan2(gy - y, gx - x)
        return Path([line(x, y, ahead, hypot(gx - x, gy - y))], (x, y, 0.0, gheading))
    found = between(x, y, heading, gx, gy, gheading, radius)
    begin = (x, y, 0.0, heading)
    return Path(_segments(begin, found, float(radius)), begin)


def _segments(here: Pose, found: Found, radius: float) -> Iterator[Segment]:
    _, family, flip, *_ = found
    reflected, backwards = flip >= 2, flip in (1, 3)
    for kind, part in zip(FAMILIES[family], _parts(found), strict=True):
        side = {"L": 1.0, "S": 0.0, "R": -1.0}[kind] * (-1.0 if reflected else 1.0)
        gear = 1.0 if (part >= 0.0) != backwards else -1.0
        segment = Segment(*here, abs(part) * radius, side / radius, gear=gear)
        here = ends_at(segment)
        yield segment


def _parts(found: Found) -> tuple[float, ...]:
    """The parts of a word before the flips, negative backwards."""
    _, family, _, t, u, v = found
    by_family: dict[int, tuple[float, ...]] = {
        3: (v, u, t),
        4: (t, u, -u, v),
        5: (t, u, u, v),
        6: (t, QUARTER, u, v),
        7: (t, QUARTER, u, v),
        8: (v, u, QUARTER, t),
        9: (v, u, QUARTER, t),
        10: (t, QUARTER, u, QUARTER, v),
    }
    return by_family.get(family, (t, u, v))


def _lengths(starts: Floats, turn: Floats, goals: Floats) -> Floats:
    out = empty((len(starts), len(goals)))
    for i in parallel_range(len(starts)):
        x, y, heading, radius = starts[i, 0], starts[i, 1], starts[i, 2], turn[i]
        for j in range(len(goals)):
            gx, gy, gheading = goals[j, 0], goals[j, 1], goals[j, 2]
            if radius > 0.0:
                out[i, j] = between(x, y, heading, gx, gy, gheading, radius)[0] * radius
            else:
                out[i, j] = sqrt((gx - x) * (gx - x) + (gy - y) * (gy - y))
    return out


_compiled_lengths = parallel_routine(_lengths)


def reeds_shepp_lengths(starts: ArrayLike, goals: ArrayLike, radius: ArrayLike) -> Floats:
    """Lengths (n, m) in m of the shortest paths from each of `starts` (n, 3) to each of `goals` (m, 3).

    Rows are x, y, heading; `radius` (m) is one for all, or (n,) one for each start.
    """
    begins, ends = poses("starts", starts), poses("goals", goals)
    return _compiled_lengths(begins, radii(radius, len(begins)), ends)
