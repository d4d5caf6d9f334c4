"""Bends: the circles on which ways around zones turn.

A shortest way touches zones at their corners, or runs along their round borders. Around a border that is at least as
wide as the turn radius it bends on the border itself; around anything tighter, on a circle of the turn radius that
touches it from around, of which there is one for each direction: some are taken, and turned to their best place later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, ceil, cos, hypot, pi, sin

import numpy as np

from paddock.planning.obstacles.clear import zone_at
from paddock.planning.obstacles.walls import Clearance, Walls, each_of, moved_out, normals
from paddock.planning.obstacles.zone import CircleZone, PolygonZone, Zone
from paddock.world.columns import Floats

MARGIN = 1e-6
"""m between a border and what bends around it."""
SPREAD = pi / 6.0
"""rad at most between the directions that are taken."""
MOST_CORNERS = 24
"""Of a polygon; more are first covered by a simpler polygon."""
COLUMNS = 9
X, Y, RADIUS, WAY, AT_X, AT_Y, ARM, ANGLE, GROUP = range(COLUMNS)
"""Of a bend: its centre (m), radius (m) and way round (1 left, -1 right). The centre lies on an arm (m) of some angle
(rad) from a place that it may be turned about; bends about the same place are a group."""

Corner = tuple[float, float, float, float, float]
"""x, y (m), radius (m) of a border that is convex there, and the directions (rad) from .. to which it faces."""


def bends(zones: Sequence[Zone], walls: Walls, radius: float, clearance: Clearance) -> Floats:
    """The bends (n, 9) around zones, each of them both ways round."""
    rows: list[tuple[float, ...]] = []
    kept = zip(zones, each_of(clearance, zones), strict=True)
    for group, corner in enumerate(c for zone, wide in kept for c in corners(zone, wide, radius)):
        x, y, border, begin, end = corner
        for angle in _directions(begin, end, border < radius):
            # a border that is followed may be free elsewhere
            if border >= radius or zone_at(walls, x + border * cos(angle), y + border * sin(angle)) < 0:
                bend, arm = max(border, radius), min(border - radius, 0.0)
                rows += both_ways(x, y, arm, angle, bend, group)
    return np.array(rows, dtype=np.float64).reshape(-1, COLUMNS)


def both_ways(x: float, y: float, arm: float, angle: float, radius: float, group: int) -> list[tuple[float, ...]]:
    """Two bends on an arm about a place."""
    centre = (x + arm * cos(angle), y + arm * sin(angle))
    return [(*centre, radius, way, x, y, arm, angle, float(group)) for way in (1.0, -1.0)]


def corners(zone: Zone, clearance: float, radius: float) -> Iterator[Corner]:
    """Where the border of a zone grown by a clearance is convex."""
    if isinstance(zone, CircleZone):
        yield zone.x, zone.y, zone.radius + clearance + MARGIN, 0.0, 2.0 * pi
        return
    simple = _simpler(zone)
    after = normals(simple.corners)
    before = np.roll(after, 1, axis=0)
    sharp = radius + clearance == 0.0  # turned at on the spot
    places = moved_out(simple, MARGIN) if sharp else simple.corners
    for place, n, m in zip(places.tolist(), before.tolist(), after.tolist(), strict=True):
        turn = atan2(n[0] * m[1] - n[1] * m[0], n[0] * m[0] + n[1] * m[1])
        if turn > 1e-9:
            begin = atan2(n[1], n[0])
            yield place[0], place[1], 0.0 if sharp else clearance + MARGIN, begin, begin + turn


def _directions(begin: float, end: float, several: bool) -> list[float]:
    """Some angles from `begin` to `end`."""
    if not several:
        return [0.5 * (begin + end)]
    if end - begin >= 2.0 * pi:
        return [k * SPREAD for k in range(round(2.0 * pi / SPREAD))]
    count = max(2, ceil((end - begin) / SPREAD))
    return [begin + (end - begin) * k / count for k in range(count + 1)]


def _simpler(zone: PolygonZone) -> PolygonZone:
    """The zone, or where it has many corners a polygon around it with fewer."""
    if len(zone.corners) <= MOST_CORNERS:
        return zone
    from shapely import Polygon, get_coordinates

    exact = Polygon(zone.corners)
    size = hypot(*np.ptp(zone.corners, axis=0))
    way, ring = 0.0025 * size, list(zone.points)
    while len(ring) > MOST_CORNERS and way < size:
        wide = Polygon(exact.buffer(way, join_style="mitre").exterior).simplify(0.9 * way)
        ring = [(float(x), float(y)) for x, y in get_coordinates(wide)[:-1]]
        way *= 1.5
    return PolygonZone(zone.name, tuple(ring))
