"""The way a vehicle has come, simplified: what SMARTRTL drives back on."""

from __future__ import annotations

from math import hypot

from paddock.sitl.autopilot.control.rover_path import Point


class Trail:
    """Points from home to here. A loop is cut off where the way comes back to itself; straight stretches are merged."""

    def __init__(self, most: int, accuracy: float) -> None:
        """At most that many points, each at least `accuracy` m from the last."""
        self.most = most
        self.accuracy = max(accuracy, 0.1)
        self.points: list[Point] = []
        self.full = False  # a point could not be kept: the way back is not known

    def begin(self, position: Point) -> None:
        """Forget everything; this is where it returns to."""
        self.points = [position] if self.most > 0 else []
        self.full = self.most <= 0

    def add(self, position: Point) -> None:
        """The vehicle is here; nothing happens before it is `accuracy` m away from the last point."""
        if self.full or not self.points or _distance(self.points[-1], position) < self.accuracy:
            return
        self._cut_loop(position)
        self.points.append(position)
        if len(self.points) > self.most:
            self._make_room()

    def _cut_loop(self, position: Point) -> None:
        """Where the vehicle is back at an earlier part of its way, forget what came after."""
        for k in range(len(self.points) - 2):
            if _off(position, self.points[k], self.points[k + 1]) < 0.5 * self.accuracy:
                del self.points[k + 1 :]
                return

    def _make_room(self) -> None:
        self.points = simplified(self.points, 0.5 * self.accuracy)
        if len(self.points) > self.most:
            self.full = True

    def way_back(self, position: Point) -> list[Point]:
        """The points to drive to, from here to home."""
        return simplified([*self.points, position], 0.5 * self.accuracy)[-2::-1]


def simplified(points: list[Point], tolerance: float) -> list[Point]:
    """As few of the points as keep all others within `tolerance` m of the line through them (Douglas and Peucker)."""
    keep = {0, len(points) - 1}
    pending = [(0, len(points) - 1)]
    while pending:
        first, last = pending.pop()
        off, k = max(
            ((_off(points[k], points[first], points[last]), k) for k in range(first + 1, last)), default=(0.0, 0)
        )
        if off > tolerance:
            keep.add(k)
            pending += [(first, k), (k, last)]
    return [points[k] for k in sorted(keep)]


def _distance(a: Point, b: Point) -> float:
    return hypot(a[0] - b[0], a[1] - b[1])


def _off(point: Point, start: Point, end: Point) -> float:
    """m from a point to a stretch."""
    north, east = end[0] - start[0], end[1] - start[1]
    square = north * north + east * east
    share = ((point[0] - start[0]) * north + (point[1] - start[1]) * east) / square if square > 0.0 else 0.0
    share = min(max(share, 0.0), 1.0)
    return _distance(point, (start[0] + share * north, start[1] + share * east))
