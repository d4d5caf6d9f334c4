"""Shortest paths of a vehicle that moves forwards only (Dubins), one as a `Path` or the lengths of many."""

from __future__ import annotations

from math import atan2, hypot, isnan

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import InvalidValueError
from paddock.planning.paths.checks import PoseLike, not_negative, pose, poses, radii
from paddock.planning.paths.matrix import all_lengths, paired_lengths
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import Pose, Segment, ends_at, line
from paddock.planning.paths.words import STRAIGHT, shortest, turns_left
from paddock.world.columns import Floats

SHORT = 1e-6
"""Straights below so many radii have the heading of the turn before them: their own would be rounding noise."""


def dubins(start: PoseLike, goal: PoseLike, radius: float) -> Path:
    """The shortest path from a pose to a pose (x, y, heading) with no turn tighter than `radius` (m).

    A goal heading of None is free: the best of a turn and a straight, and of two turns. A radius of 0 turns on the
    spot: a straight line.
    """
    x, y, heading = pose("start", start)
    gx, gy, gheading = pose("goal", goal, free=True)
    radius = not_negative("radius", radius)
    _, word, t, p, q = shortest(x, y, heading, gx, gy, gheading, radius)
    begin: Pose = (x, y, 0.0, heading)
    if word == STRAIGHT:
        return _straight(begin, gx, gy, gheading)
    first = _turn(begin, t, turns_left(word, 0) / radius)
    if p < SHORT * radius or isnan(gheading):
        return _onwards(begin, first, word, p, q, radius)
    return _joined((gx, gy, 0.0, gheading), begin, first, word, (p, q), radius)


def _straight(begin: Pose, gx: float, gy: float, gheading: float) -> Path:
    x, y, _, heading = begin
    distance = hypot(gx - x, gy - y)
    if distance == 0.0:
        return Path((), (x, y, 0.0, heading if isnan(gheading) else gheading))
    return Path([line(x, y, atan2(gy - y, gx - x), distance)])


def _turn(begin: Pose, length: float, curvature: float) -> Segment:
    return Segment(*begin, length, curvature)


def _onwards(begin: Pose, first: Segment, word: int, p: float, q: float, radius: float) -> Path:
    """The parts one after the other from the start."""
    middle = Segment(*ends_at(first), p, _middle(word) / radius)
    last = _turn(ends_at(middle), q, turns_left(word, 2) / radius)
    return Path((first, middle, last), begin)


def _middle(word: int) -> float:
    """The curvature of a word's middle part on the unit circle."""
    return {4: 1.0, 5: -1.0}.get(word, 0.0)


def _joined(goal: Pose, begin: Pose, first: Segment, word: int, parts: tuple[float, float], radius: float) -> Path:
    """The outer parts laid from the start and from the goal, so that both are met exactly, and what lies between."""
    if word > 3:
        return _onwards(begin, first, word, *parts, radius)
    curvature = turns_left(word, 2) / radius
    backwards = Segment(*goal, parts[1], curvature, gear=-1.0)
    x, y, z, heading = ends_at(backwards)
    here = ends_at(first)
    straight = line(here[0], here[1], atan2(y - here[1], x - here[0]), hypot(x - here[0], y - here[1]))
    return Path((first, straight, Segment(x, y, z, heading, parts[1], curvature)), begin)


def dubins_lengths(starts: ArrayLike, goals: ArrayLike, radius: ArrayLike) -> Floats:
    """Lengths (n, m) in m of the shortest paths from each of `starts` (n, 3) to each of `goals` (m, 3).

    Rows are x, y, heading; a goal's heading may be NaN: any. `radius` (m) is one for all, or (n,) one for each start.
    """
    begins, ends = poses("starts", starts), poses("goals", goals, free=True)
    turn = radii(radius, len(begins))
    order = np.argsort(np.isnan(ends[:, 2]), kind="stable")  # those with a heading first: each kind its own loop
    fixed = int(np.count_nonzero(~np.isnan(ends[:, 2])))
    lengths = all_lengths(begins, turn, np.ascontiguousarray(ends[order].T), fixed)
    if 0 < fixed < len(ends):
        lengths[:, order] = lengths.copy()
    return lengths


def dubins_lengths_paired(starts: ArrayLike, goals: ArrayLike, radius: ArrayLike) -> Floats:
    """Lengths (n,) in m of the shortest paths from each of `starts` (n, 3) to the goal (n, 3) of the same number."""
    begins, ends = poses("starts", starts), poses("goals", goals, free=True)
    if len(begins) != len(ends):
        raise InvalidValueError(f"starts and goals have to be as many, not {len(begins)} and {len(ends)}")
    return paired_lengths(begins, radii(radius, len(begins)), ends)
