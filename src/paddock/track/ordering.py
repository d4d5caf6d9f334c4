"""The boundaries of a track from its cones alone: which cone follows which, on the left and on the right.

Triangles between neighbouring cones (Delaunay): one with cones of both sides is on the track, and is entered and left
through the two edges that join the sides. The triangles therefore form a chain; following it from the start pose gives
the cones of each side in their order. Orange cones belong to the side of the driving direction on which they stand.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay, QhullError

from paddock.compute.math import sincos
from paddock.errors import PaddockError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LEFT, RIGHT, EITHER, NEITHER = 0, 1, 2, 3
"""Side of a cone: known, to be found, or not part of a boundary."""
WIDEST = 40.0  # m between the sides at the start
FARTHEST_STEP = 15.0  # m between neighbours of one side
FARTHEST_START = 60.0  # m from the start pose to the first cones
_SIDES = ("left", "right")


class TrackShapeError(PaddockError):
    """Cones that do not form a track: the cone, and what is missing."""


class Boundaries(NamedTuple):
    """Numbers of the cones of both sides, in driving direction."""

    left: Ints
    right: Ints
    closed: bool


def order_cones(
    cones: Floats, sides: NDArray[np.int8], start: tuple[float, float, float], names: list[str]
) -> Boundaries:
    """Return the cones (n, 2) of each side in driving direction; `sides` (n,) is LEFT, RIGHT, EITHER or NEITHER.

    `names` describe the cones in errors.
    """
    used = np.flatnonzero(sides != NEITHER)
    for side, word in ((LEFT, "left"), (RIGHT, "right")):
        if np.count_nonzero(sides == side) < 2 and np.count_nonzero(sides == EITHER) < 4:
            colour = "blue" if side == LEFT else "yellow"
            count = int(np.count_nonzero(sides == side))
            raise TrackShapeError(
                f"the {word} boundary has {count} cones: a track has two boundaries ({colour} is the {word} one)"
            )
    walk = _Walk(cones[used], sides[used].copy(), [names[k] for k in used])
    found = walk.from_start(*start)
    return Boundaries(used[found.left], used[found.right], found.closed)


class _Walk:
    """The chain of triangles."""

    def __init__(self, points: Floats, sides: NDArray[np.int8], names: list[str]) -> None:
        self.points, self.sides, self.names = points, sides, names
        same: dict[tuple[float, float], int] = {}
        for k, (x, y) in enumerate(points.tolist()):
            if (first := same.setdefault((x, y), k)) != k:
                raise TrackShapeError(f"{names[k]} and {names[first]} stand at one place ({x:g}, {y:g})")
        try:
            triangles = Delaunay(points)
        except QhullError:
            raise TrackShapeError("all cones stand on one line: a track has two boundaries") from None
        self.corners = triangles.simplices
        self.edges: dict[tuple[int, int], list[int]] = {}
        for number, (a, b, c) in enumerate(self.corners.tolist()):
            for one, two in ((a, b), (b, c), (c, a)):
                self.edges.setdefault((min(one, two), max(one, two)), []).append(number)

    def gap(self, a: int, b: int) -> float:
        """Return the distance of two cones, m."""
        dx, dy = self.points[a] - self.points[b]
        return float(np.sqrt(dx * dx + dy * dy))

    def from_start(self, x: float, y: float, yaw: float) -> Boundaries:
        left, right = self.first_edge(x, y, yaw)
        self.sides[left], self.sides[right] = LEFT, RIGHT
        lefts, rights, closed = self.follow(left, right, ahead=True)
        if not closed:
            back_left, back_right, _ = self.follow(left, right, ahead=False)
            lefts, rights = back_left[:0:-1] + lefts, back_right[:0:-1] + rights
        self.check(lefts, rights)
        return Boundaries(np.array(lefts, np.int64), np.array(rights, np.int64), closed)

    def first_edge(self, x: float, y: float, yaw: float) -> tuple[int, int]:
        """Return the cones left and right of the start: the first edge across the way ahead that joins both sides."""
        sine, cosine = sincos(yaw)
        self.course = np.array([cosine, sine])
        ahead = (self.points - (x, y)) @ np.array([[cosine, -sine], [sine, cosine]])  # along, to the left
        best: tuple[float, int, int] | None = None
        for a, b in self.edges:
            if ahead[a, 1] < ahead[b, 1]:
                a, b = b, a
            if not ahead[a, 1] > 0.0 >= ahead[b, 1] or self.sides[a] == RIGHT or self.sides[b] == LEFT:
                continue
            share = ahead[a, 1] / (ahead[a, 1] - ahead[b, 1])
            along = float(ahead[a, 0] + share * (ahead[b, 0] - ahead[a, 0]))
            if self.gap(a, b) <= WIDEST and 0.0 <= along <= FARTHEST_START and (best is None or along < best[0]):
                best = along, a, b
        if best is None:
            raise TrackShapeError(
                f"the start pose ({x:g}, {y:g}, {yaw:g} rad) does not face the track: "
                f"no cones to the left and right of its direction within {FARTHEST_START:g} m"
            )
        return best[1], best[2]

    def follow(self, left: int, right: int, ahead: bool) -> tuple[list[int], list[int], bool]:
        """Return the cones of both sides from an edge on, and whether the way has returned to it."""
        lefts, rights, first = [left], [right], (left, right)
        triangle = self.across(left, right, ahead)
        while triangle is not None:
            apex = int(next(k for k in self.corners[triangle] if k not in (left, right)))
            side = self.sides[apex]
            if side == EITHER:
                side = LEFT if self.is_left(apex, lefts, rights, ahead) else RIGHT
            before = left if side == LEFT else right
            if self.gap(apex, before) > FARTHEST_STEP:
                break
            if side == LEFT:
                left = apex
            else:
                right = apex
            if (left, right) == first:  # one side returned to its first cone before the other
                return _once(lefts), _once(rights), True
            if self.sides[apex] == EITHER:
                self.sides[apex] = side
            (lefts if side == LEFT else rights).append(apex)
            sharing = self.edges[min(left, right), max(left, right)]
            triangle = next((k for k in sharing if k != triangle), None)
        return lefts, rights, False

    def is_left(self, apex: int, lefts: list[int], rights: list[int], ahead: bool) -> bool:
        """Return whether a cone stands to the left of the way so far: of the last steps of both sides."""
        steps = [self.points[side[-1]] - self.points[side[-2]] for side in (lefts, rights) if len(side) > 1]
        course = sum(steps[1:], steps[0]) if steps else self.course * (1.0 if ahead else -1.0)
        away = self.points[apex] - 0.5 * (self.points[lefts[-1]] + self.points[rights[-1]])
        return bool((course[0] * away[1] - course[1] * away[0] > 0.0) == ahead)

    def across(self, left: int, right: int, ahead: bool) -> int | None:
        """Return the triangle beyond an edge, ahead or behind."""
        a, b = self.points[left], self.points[right]
        for number in self.edges[min(left, right), max(left, right)]:
            apex = self.points[next(k for k in self.corners[number] if k not in (left, right))]
            turn = (b[0] - a[0]) * (apex[1] - a[1]) - (b[1] - a[1]) * (apex[0] - a[0])
            if (turn > 0.0) == ahead:
                return number
        return None

    def check(self, lefts: list[int], rights: list[int]) -> None:
        """Refuse cones that are passed twice or not at all."""
        for found, side in ((lefts, LEFT), (rights, RIGHT)):
            seen = set(found)
            missing = [k for k in np.flatnonzero(self.sides == side).tolist() if k not in seen]
            if missing:
                last = found[-1]
                nearest = min(missing, key=lambda k: self.gap(k, last))
                raise TrackShapeError(
                    f"the {_SIDES[side]} boundary cannot be followed beyond {self.names[last]}: "
                    f"{len(missing)} cones are not reached, the nearest is {self.names[nearest]}, "
                    f"{self.gap(nearest, last):.1f} m away"
                )
            if len(seen) < len(found):
                twice = next(k for k in found if found.count(k) > 1)
                raise TrackShapeError(f"the track crosses itself at {self.names[twice]}")


def _once(side: list[int]) -> list[int]:
    return side[:-1] if len(side) > 1 and side[-1] == side[0] else side
