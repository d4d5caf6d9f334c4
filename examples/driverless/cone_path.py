"""From cones to a centreline: sort cones into a left and a right boundary by a walk through their Delaunay triangles.

The walk crosses edges between a left and a right cone. Behind each edge lies a triangle whose third cone continues
the left or the right boundary; colours, widths, gaps and bends decide which. A beam search keeps the best few walks, so
that one wrong colour, a missing cone or a false one does not mislead it. Blue cones are left, yellow ones right.
"""

from collections.abc import Iterator
from itertools import pairwise
from math import atan2, cos, hypot, pi, remainder, sin
from typing import NamedTuple

import numpy as np
from line import Floats, resampled, smoothed
from numpy.typing import NDArray
from scipy.spatial import Delaunay, QhullError

BLUE, YELLOW, ORANGE, BIG_ORANGE, UNKNOWN = range(5)  # as in Paddock's tracks and detections
Ints = NDArray[np.int64]

BEAM = 24  # walks kept at each step
WIDTH = (2.4, 6.5)  # m: edges across the track, diagonal ones included, that cost nothing
GAP = 5.6  # m: distance of neighbours on one boundary that costs nothing
SHORTEST = 60.0  # m, of a lap
DISCARDS = 6  # cones left out at most
WRONG_SIDE = 3.0  # cost of a blue cone on the right or a yellow one on the left


class Boundaries(NamedTuple):
    """Indices of cones in order: an edge across the track per entry, from left[k] to right[k]."""

    left: Ints
    right: Ints
    closed: bool


class _Walk(NamedTuple):
    """A walk so far: its last edge, the triangle it entered last, directions of the boundaries, and its score."""

    left: int
    right: int
    triangle: int
    course_left: float | None
    course_right: float | None
    start: tuple[int, int]  # its first edge
    seen: int  # bit i: cone i was met on the way
    score: float
    length: float
    before: "_Walk | None"

    def steps(self) -> "list[_Walk]":
        """Return the steps from the first to this one."""
        steps, walk = [self], self.before
        while walk is not None:
            steps.append(walk)
            walk = walk.before
        return steps[::-1]


class _Cones:
    """Cones as plain numbers, and their triangles."""

    def __init__(self, cones: Floats, colours: Ints) -> None:
        self.x, self.y = cones[:, 0].tolist(), cones[:, 1].tolist()
        self.colour = colours.tolist()
        mesh = Delaunay(cones)
        self.corners = mesh.simplices.tolist()
        self.across: dict[tuple[int, int], list[int]] = {}  # edge -> its triangles
        for t, corners in enumerate(self.corners):
            for a, b in ((0, 1), (1, 2), (2, 0)):
                i, j = corners[a], corners[b]
                self.across.setdefault((min(i, j), max(i, j)), []).append(t)

    def first_edges(self, pose: tuple[float, float, float], reach: float) -> list[tuple[float, int, int]]:
        """Return (distance, left, right) of the edges that the ray ahead of a pose crosses."""
        x, y, yaw = pose
        c, s = cos(yaw), sin(yaw)
        px, py = np.array(self.x) - x, np.array(self.y) - y
        ahead, beside = c * px + s * py, c * py - s * px
        found = []
        for i, j in self.across:
            if (beside[i] > 0.0) != (beside[j] > 0.0):
                left, right = (i, j) if beside[i] > 0.0 else (j, i)
                share = beside[left] / (beside[left] - beside[right])
                distance = ahead[left] + share * (ahead[right] - ahead[left])
                if -0.5 <= distance <= reach:
                    found.append((float(distance), left, right))
        return sorted(found)

    def behind(self, left: int, right: int) -> int:
        """Return the triangle on the near side of an edge that is crossed with `left` to the left; -1 on the rim."""
        dx, dy = self.x[right] - self.x[left], self.y[right] - self.y[left]
        for triangle in self.across[min(left, right), max(left, right)]:
            third = next(c for c in self.corners[triangle] if c not in (left, right))
            if dx * (self.y[third] - self.y[left]) - dy * (self.x[third] - self.x[left]) < 0.0:
                return triangle
        return -1

    def edge_cost(self, left: int, right: int) -> float:
        """Return the cost of an edge across the track: its width and its colours."""
        width = hypot(self.x[left] - self.x[right], self.y[left] - self.y[right])
        cost = 2.0 * max(WIDTH[0] - width, 0.0) + 0.7 * max(width - WIDTH[1], 0.0)
        return cost + WRONG_SIDE * ((self.colour[left] == YELLOW) + (self.colour[right] == BLUE))

    def across_share(self, left: int, right: int, course: float) -> float:
        """Return the sine of the angle from an edge to a course: 1 straight across the track, 0 along it."""
        dx, dy = self.x[right] - self.x[left], self.y[right] - self.y[left]
        return float(sin(course) * dx - cos(course) * dy) / max(hypot(dx, dy), 1e-9)

    def next_steps(self, walk: _Walk) -> Iterator[_Walk]:
        """Yield the walks that the third cone of the triangle behind the last edge allows."""
        edge = min(walk.left, walk.right), max(walk.left, walk.right)
        behind = [t for t in self.across[edge] if t != walk.triangle]
        if not behind:
            return
        triangle = behind[0]
        third = next(c for c in self.corners[triangle] if c not in edge)
        if walk.seen >> third & 1:
            return
        for side in (0, 1):
            start, course = (walk.left, walk.course_left) if side == 0 else (walk.right, walk.course_right)
            dx, dy = self.x[third] - self.x[start], self.y[third] - self.y[start]
            gap, after = hypot(dx, dy), atan2(dy, dx)
            left, right = (third, walk.right) if side == 0 else (walk.left, third)
            cost = self.edge_cost(left, right) + 0.6 * max(gap - GAP, 0.0)
            if course is not None:
                bend = abs(remainder(after - course, 2.0 * pi))
                cost += 1.5 * max(bend - 0.5, 0.0) ** 2
            other = walk.course_right if side == 0 else walk.course_left
            cost += 5.0 * max(0.55 - self.across_share(left, right, after if other is None else other), 0.0)
            courses = (after, walk.course_right) if side == 0 else (walk.course_left, after)
            score, length = walk.score + 0.5 + 0.25 * min(gap, GAP) - cost, walk.length + 0.5 * gap
            yield _Walk(left, right, triangle, *courses, walk.start, walk.seen | 1 << third, score, length, walk)


def boundaries(
    cones: Floats,
    colours: Ints,
    pose: tuple[float, float, float],
    length: float = 35.0,
    closed: bool = False,
    reach: float = 12.0,
) -> Boundaries | None:
    """Return the boundaries of the track ahead of a pose (x, y, yaw), or None if the cones show none.

    `closed`: of a whole map, once round; otherwise up to `length` (m) ahead. The walk starts at an edge within `reach`.
    A cone that spoils the walk is left out where the walk without it is better by more than one cone's worth.
    """
    kept = np.arange(len(cones))
    best = _search(cones, colours, pose, length, closed, reach)
    for _ in range(DISCARDS):
        doubtful = _doubtful(best) if best is not None else []
        found = None
        for cone in doubtful:
            rest = np.delete(np.arange(len(kept)), cone)
            other = _search(cones[kept[rest]], colours[kept[rest]], pose, length, closed, reach)
            if other is not None and (found is None or other[-1].score > found[1][-1].score):
                found = rest, other
        if found is None or best is None or found[1][-1].score <= best[-1].score:
            break
        kept, best = kept[found[0]], found[1]
    if best is None:
        return None
    lap = best[1:] if closed else best  # the last edge of a lap is the first again
    return Boundaries(kept[[w.left for w in lap]], kept[[w.right for w in lap]], closed)


def _search(
    cones: Floats, colours: Ints, pose: tuple[float, float, float], length: float, closed: bool, reach: float
) -> list[_Walk] | None:
    """Return the steps of the best walk: the best part of it ahead, or the best lap."""
    if len(cones) < 4:
        return None
    try:
        mesh = _Cones(cones, colours)
    except QhullError:  # all on one line
        return None
    beam = _first_walks(mesh, pose, reach)
    best = None if closed or not beam else beam[0]
    while beam:
        grown: dict[tuple[int, int], _Walk] = {}
        for walk in beam:
            if walk.length >= length and not closed:
                continue
            for step in mesh.next_steps(walk):
                if (step.left, step.right) == step.start:  # once round
                    if closed and step.length > SHORTEST and (best is None or best.score < step.score):
                        best = step
                    continue
                rival = grown.get((step.left, step.right))
                if rival is None or rival.score < step.score:
                    grown[step.left, step.right] = step
        beam = sorted(grown.values(), key=lambda walk: -walk.score)[:BEAM]
        if beam and not closed and best is not None and beam[0].score > best.score:
            best = beam[0]
    return None if best is None else best.steps()


def _doubtful(steps: list[_Walk], count: int = 3) -> list[int]:
    """Return the cones of the steps that cost most, at most `count`."""
    doubtful: dict[int, float] = {}
    for before, after in pairwise(steps):
        gain = after.score - before.score
        if gain < 0.5:
            for cone in {before.left, before.right, after.left, after.right}:
                doubtful[cone] = doubtful.get(cone, 0.0) + gain - 0.5
    return sorted(doubtful, key=lambda cone: doubtful[cone])[:count]


def _first_walks(mesh: _Cones, pose: tuple[float, float, float], reach: float) -> list[_Walk]:
    """Return walks of one edge: the nearest few plausible ones, entered from behind."""
    walks: dict[tuple[int, int], _Walk] = {}
    x, y, yaw = pose
    for aside in (0.0, 0.35, -0.35):  # in a tight bend, the track ahead is beside the ray ahead
        for distance, left, right in mesh.first_edges((x, y, yaw + aside), reach):
            cost = mesh.edge_cost(left, right) + 0.1 * distance + abs(aside)
            if cost < WRONG_SIDE and (left, right) not in walks:
                behind = mesh.behind(left, right)
                walks[left, right] = _Walk(left, right, behind, None, None, (left, right), 0, -cost, 0.0, None)
    return sorted(walks.values(), key=lambda walk: -walk.score)[:6]


def centreline(cones: Floats, found: Boundaries, step: float = 1.0, stiffness: float = 2.0) -> Floats:
    """Return equally spaced points (n, 2) in the middle between boundaries, smoothed (see `line.smoothed`)."""
    middle = 0.5 * (cones[found.left] + cones[found.right])
    return smoothed(resampled(middle, step, found.closed), stiffness, found.closed)


def widths(points: Floats, cones: Floats, found: Boundaries) -> tuple[Floats, Floats]:
    """Return the distances (n,) of points (n, 2) from the left and the right boundary, m."""
    sides = []
    for order in (found.left, found.right):
        kept = order[np.append(True, np.diff(order) != 0)]
        fence = cones[kept]
        fence = np.vstack([fence, fence[:1]]) if found.closed else fence
        start, way = fence[:-1], np.diff(fence, axis=0)
        square = np.maximum((way * way).sum(axis=1), 1e-12)
        share = np.clip(((points[:, None] - start) * way).sum(axis=2) / square, 0.0, 1.0)
        foot = start + share[:, :, None] * way
        sides.append(np.hypot(*np.moveaxis(points[:, None] - foot, 2, 0)).min(axis=1))
    return sides[0], sides[1]
