"""The tangent graph: turning circles beside zones, and the free tangents (links) between them.

A shortest path touches zones at their corners, or runs along their round borders. Around a border at least as wide as
the turn radius it turns on the border itself; around anything tighter, on a circle of the turn radius that touches it.
There is one such circle for each direction: some are sampled, and `tangent_search.shorten` rotates them to the best
position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, inf, pi
from typing import NamedTuple

import numpy as np
from numpy import empty
from numpy.typing import NDArray
from shapely import Polygon, get_coordinates

from paddock.compute.math import atan2, cos, hypot, sin, sqrt
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.planning.geometry.wind import held_line, held_sum
from paddock.planning.geometry.zones import (
    FULL,
    CircleZone,
    Clearance,
    PolygonZone,
    Walls,
    Zone,
    arc_entry,
    each_of,
    line_entry,
    moved_out,
    normals,
    zone_at,
)
from paddock.world.columns import Floats

MARGIN = 1e-6  # m between a border and a circle around it
SPREAD = pi / 6.0  # maximum rad between sampled directions
MOST_CORNERS = 24  # corners of a polygon; one with more is replaced by a simpler polygon around it
COLUMNS = 9
X, Y, RADIUS, WAY, AT_X, AT_Y, ARM, ANGLE, GROUP = range(COLUMNS)
"""Columns of a turning circle: centre (m), radius (m) and direction (1 left, -1 right). The centre lies on an arm (m)
at an angle (rad) from a pivot about which it may be rotated; circles about the same pivot are a group."""

Corner = tuple[float, float, float, float, float]
"""x, y (m) and radius (m) of a convex part of a border, and the range of directions (rad) that it faces."""


def turning_circles(zones: Sequence[Zone], walls: Walls, radius: float, clearance: Clearance) -> Floats:
    """Return the turning circles (n, 9) around zones, each in both directions."""
    rows: list[tuple[float, ...]] = []
    grown = zip(zones, each_of(clearance, zones), strict=True)
    for group, corner in enumerate(c for zone, wide in grown for c in corners(zone, wide, radius)):
        x, y, border, begin, end = corner
        for angle in _directions(begin, end, border < radius):
            # a border that is followed may be free at other angles
            if border >= radius or zone_at(walls, x + border * cos(angle), y + border * sin(angle)) < 0:
                circle, arm = max(border, radius), min(border - radius, 0.0)
                centre = (x + arm * cos(angle), y + arm * sin(angle))
                rows += [(*centre, circle, way, x, y, arm, angle, float(group)) for way in (1.0, -1.0)]
    return np.array(rows, dtype=np.float64).reshape(-1, COLUMNS)


def corners(zone: Zone, clearance: float, radius: float) -> Iterator[Corner]:
    """Yield the convex parts of the border of a zone grown by a clearance."""
    if isinstance(zone, CircleZone):
        yield zone.x, zone.y, zone.radius + clearance + MARGIN, 0.0, 2.0 * pi
        return
    simple = _simpler(zone)
    after = normals(simple.corners)
    before = np.roll(after, 1, axis=0)
    sharp = radius + clearance == 0.0  # turns on the spot
    corners_xy = moved_out(simple, MARGIN) if sharp else simple.corners
    for corner, n, m in zip(corners_xy.tolist(), before.tolist(), after.tolist(), strict=True):
        turn = atan2(n[0] * m[1] - n[1] * m[0], n[0] * m[0] + n[1] * m[1])
        if turn > 1e-9:
            begin = atan2(n[1], n[0])
            yield corner[0], corner[1], 0.0 if sharp else clearance + MARGIN, begin, begin + turn


def _directions(begin: float, end: float, several: bool) -> list[float]:
    """Return sampled angles from `begin` to `end`."""
    if not several:
        return [0.5 * (begin + end)]
    if end - begin >= 2.0 * pi:
        return [k * SPREAD for k in range(round(2.0 * pi / SPREAD))]
    count = max(2, ceil((end - begin) / SPREAD))
    return [begin + (end - begin) * k / count for k in range(count + 1)]


def _simpler(zone: PolygonZone) -> PolygonZone:
    """Return the zone; if it has many corners, a polygon around it with fewer."""
    if len(zone.corners) <= MOST_CORNERS:
        return zone
    exact = Polygon(zone.corners)
    size = hypot(*np.ptp(zone.corners, axis=0))
    way, ring = 0.0025 * size, list(zone.points)
    while len(ring) > MOST_CORNERS and way < size:
        wide = Polygon(exact.buffer(way, join_style="mitre").exterior).simplify(0.9 * way)
        ring = [(float(x), float(y)) for x, y in get_coordinates(wide)[:-1]]
        way *= 1.5
    return PolygonZone(zone.name, tuple(ring))


NEAR = 1e-9  # relative tolerance for touching circles


class TangentLinks(NamedTuple):
    """Links from each of n circles to others."""

    first: NDArray[np.int64]  # (n + 1,) index of the first link of each circle
    target: NDArray[np.int64]  # (e,) target circle
    heading: Floats  # (e,) rad
    flown: Floats  # (e,) m flown
    reach: Floats  # (e,) rad of free turning on the target
    sums: Floats  # (e,) of the heading, for `held_turn`


def tangent(
    x: float, y: float, radius: float, way: float, gx: float, gy: float, gradius: float, gway: float
) -> tuple[float, float]:
    """Return length (m) and heading (rad) of the line that leaves one circle and joins another; inf: there is none."""
    dx, dy, shift = gx - x, gy - y, way * radius - gway * gradius
    square = dx * dx + dy * dy
    free = square - shift * shift
    if free < -NEAR * square or square == 0.0:
        return inf, 0.0
    length = sqrt(max(free, 0.0))
    return length, atan2(dy, dx) + atan2(shift, length)


def free_tangent(w: Walls, a: Floats, b: Floats) -> tuple[float, float]:
    """Return `tangent` between two circles; inf also if a zone blocks it."""
    length, heading = tangent(a[X], a[Y], a[RADIUS], a[WAY], b[X], b[Y], b[RADIUS], b[WAY])
    if length == inf:
        return inf, heading
    c, s = cos(heading), sin(heading)
    side = a[WAY] * a[RADIUS]
    _, zone = line_entry(w, a[X] + side * s, a[Y] - side * c, c, s, length)
    return (length if zone < 0 else inf), heading


def _all_tangents(w: Walls, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    lengths, headings = empty((len(a), len(b))), empty((len(a), len(b)))
    lengths[:, :] = inf
    for i in parallel_range(len(a)):
        for j in range(len(b)):
            if a[i, GROUP] != b[j, GROUP]:
                lengths[i, j], headings[i, j] = free_tangent(w, a[i], b[j])
    return lengths, headings


all_tangents = parallel_routine(_all_tangents)


def free_turn(w: Walls, circle: Floats, heading: float) -> float:
    """Return the angle (rad) up to the first zone on a circle; inf on a point and where there is none."""
    if circle[RADIUS] == 0.0:
        return inf
    begin = heading - circle[WAY] * 0.5 * pi
    return arc_entry(w, circle[X], circle[Y], circle[RADIUS], begin, circle[WAY], FULL)[0]


def _measure_links(
    w: Walls,
    circles: Floats,
    target: NDArray[np.int64],
    headings: Floats,
    wx: float,
    wy: float,
    flown: Floats,
    reach: Floats,
    sums: Floats,
) -> None:
    """Write metres flown in wind, from lengths, the free turn on the target and the sums of headings."""
    for e in range(len(target)):
        flown[e] = held_line(flown[e], headings[e], wx, wy)
        reach[e] = free_turn(w, circles[target[e]], headings[e])
        sums[e] = held_sum(headings[e], wx, wy)


measure_links = routine(_measure_links)


class TangentGraph(NamedTuple):
    """Turning circles, and the lines between them."""

    circles: Floats  # (n, 9)
    lengths: Floats  # (n, n) m; inf: there is no line, or it enters a zone
    headings: Floats  # (n, n) rad

    def links(self, w: Walls, wind: tuple[float, float]) -> TangentLinks:
        """Return the lines that exist, with metres flown in a `wind` over the airspeed."""
        source, target = np.nonzero(np.isfinite(self.lengths))
        first = np.searchsorted(source, np.arange(len(self.circles) + 1)).astype(np.int64)
        headings, lengths = self.headings[source, target], self.lengths[source, target]
        targets, (reach, sums) = target.astype(np.int64), np.empty((2, len(lengths)))
        measure_links(w, self.circles, targets, headings, *wind, lengths, reach, sums)
        return TangentLinks(first, targets, headings, lengths, reach, sums)

    def widened(self, w: Walls, more: Floats) -> TangentGraph:
        """Return a network with additional circles."""
        there, back, among = (
            all_tangents(w, a, b) for a, b in ((self.circles, more), (more, self.circles), (more, more))
        )
        lengths = np.block([[self.lengths, there[0]], [back[0], among[0]]])
        headings = np.block([[self.headings, there[1]], [back[1], among[1]]])
        return TangentGraph(np.vstack([self.circles, more]), lengths, headings)


def tangent_graph(w: Walls, circles: Floats) -> TangentGraph:
    """Return all lines between circles of different groups that enter no zone."""
    return TangentGraph(circles, *all_tangents(w, circles, circles))


def point_at(circle: Floats, heading: float) -> tuple[float, float]:
    """Return the point on a circle with that heading."""
    side = circle[WAY] * circle[RADIUS]
    return circle[X] + side * sin(heading), circle[Y] - side * cos(heading)


AROUND = 12  # directions in which a circle may touch that of the start, or a goal without a heading be reached
LATTICE = 0.5  # turn radii between the circles that are tried anywhere near the start and the goal
LATTICE_REACH = 2.0  # turn radii from the start or the goal

free_arc = routine(arc_entry)
Start = tuple[float, float, float]
Goal = tuple[float, float, float | None]


class WayEnds(NamedTuple):
    """Start and end of a search: circles through the start or the goal, each with the heading there."""

    starts: Floats  # (s, 9)
    heading: float  # rad, at the start
    goals: Floats  # (g, 9)
    arrivals: Floats  # (g,) rad; NaN: any (the circle is a point)
    x: float  # m, of the goal
    y: float
    wx: float  # wind over airspeed: what is least is metres flown
    wy: float


def ends(start: Start, goal: Goal, radius: float, many: bool, wind: tuple[float, float] = (0.0, 0.0)) -> WayEnds:
    """Return the turns at the start and the goal; a free heading is a point, with `many` also turns through it."""
    x, y, heading = float(goal[0]), float(goal[1]), goal[2]  # whole numbers would be compiled again
    leaving, (wx, wy) = float(start[2]), map(float, wind)
    starts = [_turn(*start, radius, way) for way in (1.0, -1.0)]
    if radius == 0.0:
        point = np.array([_turn(x, y, 0.0, 0.0, 1.0)])
        return WayEnds(np.array(starts[:1]), leaving, point, np.array([np.nan]), x, y, wx, wy)
    if heading is not None:
        headings = [heading]
        goals, arrivals = [], []
    else:
        headings = [2.0 * pi * k / AROUND for k in range(AROUND)] if many else []
        goals, arrivals = [_turn(x, y, 0.0, 0.0, 1.0)], [np.nan]
    for arrival in headings:
        goals += [_turn(x, y, arrival, radius, way) for way in (1.0, -1.0)]
        arrivals += [arrival, arrival]
    return WayEnds(np.array(starts), leaving, np.array(goals), np.array(arrivals, np.float64), x, y, wx, wy)


def _turn(x: float, y: float, heading: float, radius: float, way: float) -> tuple[float, ...]:
    centre = x - way * radius * sin(heading), y + way * radius * cos(heading)
    return (*centre, radius, way, *centre, 0.0, 0.0, -1.0)


def touching(w: Walls, e: WayEnds, radius: float, group: int) -> Floats:
    """Return circles (n, 9) that touch those of the start and of the goal, for paths with two turns at an end."""
    rows = []
    for circle in e.starts:
        rows += _all_around(w, circle, e.heading, 1.0, radius, group)
    for circle, arrival in zip(e.goals, e.arrivals.tolist(), strict=True):
        if len(e.goals) == 2:  # only a goal with a heading: others have enough turns
            rows += _all_around(w, circle, arrival, -1.0, radius, group + 1)
    for a in e.starts:
        for b in e.goals:
            if a[WAY] == b[WAY] and b[RADIUS] > 0.0:
                rows += _between(a, b, radius, group + 2)
    return np.array(rows, dtype=np.float64).reshape(-1, COLUMNS)


def _all_around(
    w: Walls, circle: Floats, heading: float, along: float, radius: float, group: int
) -> list[tuple[float, ...]]:
    """Return circles that touch a circle on its free part after a heading (`along` 1) or before it (-1)."""
    way = float(circle[WAY])
    begin = heading - way * 0.5 * pi
    x, y = float(circle[X]), float(circle[Y])
    room = min(free_arc(w, x, y, radius, begin, way * along, 2.0 * pi)[0], 2.0 * pi)
    steps = np.arange(1, AROUND + 1) * 2.0 * pi / AROUND
    return [_on_arm(circle, begin + along * way * step, radius, group) for step in steps[steps < room].tolist()]


def _on_arm(circle: Floats, angle: float, radius: float, group: int) -> tuple[float, ...]:
    """Return a circle in the opposite direction that touches a circle."""
    x, y, arm = float(circle[X]), float(circle[Y]), 2.0 * radius
    return x + arm * cos(angle), y + arm * sin(angle), radius, -float(circle[WAY]), x, y, arm, angle, float(group)


def _between(a: Floats, b: Floats, radius: float, group: int) -> list[tuple[float, ...]]:
    """Return the two circles that touch two given ones."""
    dx, dy = float(b[X] - a[X]), float(b[Y] - a[Y])
    apart = hypot(dx, dy)
    if not 1e-9 < apart < 4.0 * radius:
        return []
    opening = atan2(sqrt(16.0 * radius * radius - apart * apart), apart)
    return [_on_arm(a, atan2(dy, dx) + side, radius, group) for side in (opening, -opening)]


def lattice(e: WayEnds, start: Start, radius: float, group: int) -> Floats:
    """Return circles (n, 9) around the start and the goal, each in both directions."""
    steps = np.arange(-LATTICE_REACH, LATTICE_REACH + 0.5 * LATTICE, LATTICE) * radius
    offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    centres = np.vstack([offsets + start[:2], offsets + np.array([e.x, e.y])])
    rows = np.zeros((2 * len(centres), COLUMNS))
    rows[:, [X, Y]] = rows[:, [AT_X, AT_Y]] = np.repeat(centres, 2, axis=0)
    rows[:, RADIUS], rows[:, WAY] = radius, np.tile([1.0, -1.0], len(centres))
    rows[:, GROUP] = group + np.arange(len(rows))
    return rows
