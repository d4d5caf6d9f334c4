"""The zones of an uploaded fence, in the local frame, with scalar arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import hypot, inf

from paddock.sitl.autopilot.local_frame import LocalFrame
from paddock.sitl.autopilot.mission_item import MissionItem

Point = tuple[float, float]


class FenceItem(IntEnum):
    """The MAV_CMDs of a fence."""

    RETURN_POINT = 5000
    INCLUSION_VERTEX = 5001
    EXCLUSION_VERTEX = 5002
    INCLUSION_CIRCLE = 5003
    EXCLUSION_CIRCLE = 5004


VERTICES = (FenceItem.INCLUSION_VERTEX, FenceItem.EXCLUSION_VERTEX)
CIRCLES = (FenceItem.INCLUSION_CIRCLE, FenceItem.EXCLUSION_CIRCLE)
INCLUSIONS = (FenceItem.INCLUSION_VERTEX, FenceItem.INCLUSION_CIRCLE)


@dataclass(frozen=True)
class Zone:
    """A polygon, or with a radius a circle, that must not be left (`inclusion`) or entered."""

    inclusion: bool
    points: tuple[Point, ...]  # m north, east
    radius: float = 0.0  # m

    def outside(self, north: float, east: float) -> float:
        """How far the point is on the wrong side, m; negative: on the right side by that much."""
        distance = self._circle(north, east) if self.radius > 0.0 else self._polygon(north, east)
        return distance if self.inclusion else -distance

    def _circle(self, north: float, east: float) -> float:
        return hypot(north - self.points[0][0], east - self.points[0][1]) - self.radius

    def _polygon(self, north: float, east: float) -> float:
        """Distance to the border, negative inside: a ray to the north crosses the border an odd number of times."""
        inside, least = False, inf
        n0, e0 = self.points[-1]
        for n1, e1 in self.points:
            if (e0 > east) != (e1 > east) and north < n0 + (n1 - n0) * (east - e0) / (e1 - e0):
                inside = not inside
            dn, de = n1 - n0, e1 - e0
            square = dn * dn + de * de
            along = ((north - n0) * dn + (east - e0) * de) / square if square > 0.0 else 0.0
            along = 0.0 if along < 0.0 else 1.0 if along > 1.0 else along
            least = min(least, hypot(n0 + along * dn - north, e0 + along * de - east))
            n0, e0 = n1, e1
        return -least if inside else least


def width_of(vertices: Sequence[MissionItem]) -> float:
    """How far the vertices are from lying on one line, m: the distance of one from the line through two others."""
    frame = LocalFrame(vertices[0].x, vertices[0].y, 0.0)
    points = [frame.to_ned(vertex.x, vertex.y, 0.0)[:2] for vertex in vertices]
    n, e = max(points, key=lambda point: hypot(*point))
    length = hypot(n, e)
    return max(abs(north * e - east * n) / length for north, east in points) if length > 0.0 else 0.0


def zones_of(items: Sequence[MissionItem], frame: LocalFrame) -> tuple[Zone, ...]:
    """The zones of a plan that has been checked."""
    zones: list[Zone] = []
    k = 0
    while k < len(items):
        item = items[k]
        count = int(item.p1) if item.command in VERTICES else 1
        points = tuple(frame.to_ned(i.x, i.y, 0.0)[:2] for i in items[k : k + count])
        if item.command in VERTICES:
            zones.append(Zone(item.command in INCLUSIONS, points))
        elif item.command in CIRCLES:
            zones.append(Zone(item.command in INCLUSIONS, points, item.p1))
        k += count
    return tuple(zones)
