"""The boundaries of a track from its cones alone: which cone follows which, on the left and on the right.

Triangles between neighbouring cones (Delaunay): one with cones of both sides is on the track, and is entered and left
through the two edges that join the sides. The triangles therefore form a chain; following it from the start pose gives
the cones of each side in their order. Orange cones belong to the side of the driving direction on which they stand.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import sincos
from paddock.errors import PaddockError
from paddock.track.lines import Floats, first_crossing, side_of
from paddock.world.layout import Ints

LEFT, RIGHT, EITHER, NEITHER = 0, 1, 2, 3
"""Side of a cone: known, to be found, or not part of a boundary."""
WIDEST = 40.0  # m between the sides at the start
FARTHEST_STEP = 15.0  # m between neighbours of one side
DETOUR = 4.0  # m by which a cone beside the way may lengthen its boundary
MOST_INSERTED, MOST_EXAMINED = 100, 2000  # cones, so that a file with many errors is refused quickly
MOST_STRAY = 5  # cones beside a boundary that is complete without them; more are another part of the track
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
    counts = [int(np.count_nonzero(sides == side)) for side in (LEFT, RIGHT)]
    for side, colour in ((LEFT, "blue"), (RIGHT, "yellow")):
        if counts[side] < 2 and (counts[1 - side] >= 2 or np.count_nonzero(sides == EITHER) < 4):
            boundary = f"the {_SIDES[side]} boundary"
            raise TrackShapeError(
                f"{boundary} has {counts[side]} cones: a track has two boundaries, {colour} is the {_SIDES[side]} one"
            )
    walk = _Walk(cones[used], sides[used].copy(), [names[k] for k in used])
    ordered = walk.from_start(*start)
    return Boundaries(used[ordered.left], used[ordered.right], ordered.closed)


class _Walk:
    """The chain of triangles."""

    def __init__(self, points: Floats, sides: NDArray[np.int8], names: list[str]) -> None:
        self.points, self.sides, self.names = points, sides, names
        same: dict[tuple[float, float], int] = {}
        for k, (x, y) in enumerate(points.tolist()):
            if (first := same.setdefault((x, y), k)) != k:
                raise TrackShapeError(f"{names[k]} and {names[first]} stand at one place ({x:g}, {y:g})")
        from scipy.spatial import Delaunay, QhullError  # slow to import, and few runs have cones to order

        try:
            triangles = Delaunay(points)
        except QhullError:
            raise TrackShapeError("all cones stand on one line: a track has two boundaries") from None
        self.corners = triangles.simplices
        self.course = np.zeros(2)  # of the start pose
        self.stop: tuple[int, int] | None = None  # the last cone of a side, and the next one, which is too far away
        self.edges: dict[tuple[int, int], list[int]] = {}
        for number, (a, b, c) in enumerate(self.corners.tolist()):
            for a_cone, second in ((a, b), (b, c), (c, a)):
                self.edges.setdefault((min(a_cone, second), max(a_cone, second)), []).append(number)

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
        self.check(lefts, rights, closed)
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
                self.stop = self.stop or (before, apex)
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

    def check(self, lefts: list[int], rights: list[int], closed: bool) -> None:
        """Add cones that stand beside the way found; refuse those that are passed twice or not at all."""
        for cones, side in ((lefts, LEFT), (rights, RIGHT)):
            seen = set(cones)
            if len(seen) < len(cones):
                twice = next(k for k in cones if cones.count(k) > 1)
                crossing = self.crossing()
                raise self.crosses(twice if crossing is None else crossing)
            missing = [k for k in np.flatnonzero(self.sides == side).tolist() if k not in seen]
            if missing and (left_out := self.inserted(cones, missing, closed)):
                raise self.unreachable(cones, side, left_out, closed)

    def inserted(self, chain: list[int], missing: list[int], closed: bool) -> list[int]:
        """Insert cones where the boundary becomes the least longer; return those that are too far from it."""
        left_out = []
        if len(missing) > MOST_INSERTED:
            return missing
        for cone in missing:
            steps = list(pairwise([*chain, chain[0]] if closed else chain))
            if not steps:
                return missing
            longer = [
                self.gap(first, cone) + self.gap(cone, second) - self.gap(first, second) for first, second in steps
            ]
            k = int(np.argmin(longer))
            if longer[k] > DETOUR or self.gap(steps[k][0], cone) > FARTHEST_STEP:
                left_out.append(cone)
            else:
                chain.insert(k + 1, cone)
        return left_out

    def crosses(self, cone: int) -> TrackShapeError:
        """Return the error about a track that crosses itself near a cone."""
        return TrackShapeError(f"the track crosses itself near {self.names[cone]}; only the skidpad may")

    def unreachable(self, chain: list[int], side: int, missing: list[int], closed: bool) -> TrackShapeError:
        """Return the error about a boundary that does not reach all of its cones."""
        if closed and len(missing) <= MOST_STRAY:
            return self.stray(chain, side, missing)
        if (crossing := self.crossing()) is not None:
            return self.crosses(crossing)
        if self.stop is not None:
            first, second = self.stop
            return TrackShapeError(
                f"the {_SIDES[self.sides[first] if self.sides[first] != EITHER else side]} boundary has a gap of "
                f"{self.gap(first, second):.1f} m after {self.names[first]}: "
                f"neighbours are at most {FARTHEST_STEP:g} m apart"
            )
        last = chain[-1]
        nearest = min(missing, key=lambda k: self.gap(k, last))
        count = f"{len(missing)} cones are" if len(missing) > 1 else "1 cone is"
        return TrackShapeError(
            f"the {_SIDES[side]} boundary cannot be followed beyond {self.names[last]}: {count} not "
            f"reached, the nearest is {self.names[nearest]}, {self.gap(nearest, last):.1f} m away"
        )

    def stray(self, chain: list[int], side: int, missing: list[int]) -> TrackShapeError:
        """Return the error about cones beside a boundary that is complete without them."""
        cone = missing[0]
        nearest = min(chain, key=lambda k: self.gap(k, cone))
        others = f" ({len(missing)} such cones)" if len(missing) > 1 else ""
        return TrackShapeError(
            f"{self.names[cone]} is not on the {_SIDES[side]} boundary, {self.gap(cone, nearest):.1f} m from "
            f"{self.names[nearest]}: move or remove it{others}"
        )

    def crossing(self) -> int | None:
        """Return a cone near which lines between neighbouring cones of one side cross other such lines."""
        links: list[tuple[int, int]] = []
        if len(self.points) > MOST_EXAMINED:
            return None
        for side in (LEFT, RIGHT):
            own = np.flatnonzero(self.sides == side)
            apart = self.points[own][:, None] - self.points[own][None]
            gaps = (apart * apart).sum(axis=2)
            np.fill_diagonal(gaps, np.inf)
            usual = 4.0 * float(np.median(gaps.min(axis=1)))  # squared: twice the usual distance
            for k, near in enumerate(np.argsort(gaps, axis=1, kind="stable")[:, :2].tolist()):
                links += [(int(own[k]), int(own[other])) for other in near if gaps[k, other] < usual]
        unique = sorted({(min(link), max(link)) for link in links})
        linked = set(unique)
        for k, (a, b) in enumerate(unique):
            for c, d in unique[k + 1 :]:
                distant = not linked & {(min(m, n), max(m, n)) for m in (a, b) for n in (c, d)}  # not of one bend
                if distant and len({a, b, c, d}) == 4 and segments_cross(*(self.points[n] for n in (a, b, c, d))):
                    return a
        return None


def segments_cross(a: Floats, b: Floats, c: Floats, d: Floats) -> bool:
    """Return whether the segments from a to b and from c to d cross."""
    sides = side_of(*a, *b, *c) * side_of(*a, *b, *d)
    return bool(sides < 0.0 and side_of(*c, *d, *a) * side_of(*c, *d, *b) < 0.0)


def _once(side: list[int]) -> list[int]:
    return side[:-1] if len(side) > 1 and side[-1] == side[0] else side


def refuse_crossing(cones: Floats, sides: Boundaries, names: list[str]) -> None:
    """Raise TrackShapeError where straight lines between neighbouring cones of the boundaries cross."""
    lines = [np.ascontiguousarray(cones[side]) for side in (sides.left, sides.right)]
    for first, second in ((0, 0), (1, 1), (0, 1)):
        k = int(first_crossing(lines[first], lines[second], sides.closed, first == second))
        if k >= 0:
            cone = (sides.left, sides.right)[first][k]
            raise TrackShapeError(f"the track crosses itself near {names[cone]}; only the skidpad may")
