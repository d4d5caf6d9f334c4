"""Why there is no way: zones that enclose the start or the goal, or that leave no room to turn."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, degrees, pi, sin

from paddock.compute.routine import routine
from paddock.planning.obstacles.ends import Goal, Start
from paddock.planning.obstacles.entry import arc_entry, line_entry
from paddock.planning.obstacles.walls import Clearance, Walls, each_of
from paddock.planning.obstacles.zone import CircleZone, Zone

BORDER = 0.01
"""m: who is nearer to a border is on it."""

line_room = routine(line_entry)
arc_room = routine(arc_entry)


def enclosing(zones: Sequence[Zone], clearance: Clearance, start: Start, goal: Goal) -> str:
    """One line that names the zones around the start or the goal, where the other is outside; empty: there are none."""
    from shapely import Point, Polygon, unary_union
    from shapely.geometry.base import BaseGeometry

    def area(zone: Zone, kept: float) -> BaseGeometry:
        if isinstance(zone, CircleZone):
            return Point(zone.x, zone.y).buffer(zone.radius + kept, quad_segs=64)
        return Polygon(zone.corners).buffer(kept, quad_segs=64)

    areas = list(map(area, zones, each_of(clearance, zones)))
    union = unary_union(areas)
    parts = getattr(union, "geoms", [union])
    holes = [Polygon(ring) for part in parts if isinstance(part, Polygon) for ring in part.interiors]
    first, last = Point(start[0], start[1]), Point(goal[0], goal[1])
    for hole in holes:
        for what, inner, outer in (("goal", last, first), ("start", first, last)):
            if hole.contains(inner) and not hole.contains(outer):
                names = [zone.name for zone, own in zip(zones, areas, strict=True) if own.distance(hole) < 1e-6]
                return f"the {what} {place(inner.x, inner.y)} is enclosed by {_listed(names)}"
    return ""


def cramped(w: Walls, zones: Sequence[Zone], radius: float, start: Start, goal: Goal, zone: Zone) -> str:
    """One line that says where there is no room to turn; `zone` is in the way of the direct path."""
    places = [("after the start", start[0], start[1], start[2], 1.0)]
    if goal[2] is not None:
        places.append(("before the goal", goal[0], goal[1], goal[2] + pi, -1.0))
    for what, x, y, heading, gear in places:
        near, length = zone_near(w, x, y, heading, radius)
        if near >= 0:
            at = f"{place(x, y)} with a heading of {_degrees(heading if gear > 0.0 else heading - pi)} degrees"
            return (
                f"the zone {zones[near].name!r} leaves no room for a turn of {radius:g} m {what} {at}: "
                f"it is {length:.3g} m {'ahead' if gear > 0.0 else 'behind'}"
            )
    return (
        f"no way from {place(start[0], start[1])} to {place(goal[0], goal[1])} leaves room for turns of "
        f"{radius:g} m; the zone {zone.name!r} is in the way"
    )


def place(x: float, y: float) -> str:
    """Coordinates to a tenth of a metre."""
    return f"({round(x, 1) + 0.0:.10g}, {round(y, 1) + 0.0:.10g})"


def on_border(zone: Zone, x: float, y: float) -> bool:
    """Whether a place is too near to the border of a zone to be on either side of it."""
    return abs(zone.distance(x, y)) < BORDER


def _degrees(heading: float) -> str:
    """From 0 to 360, counter-clockwise from east as headings are everywhere."""
    return f"{round(degrees(heading), 1) % 360.0:.10g}"


def zone_near(w: Walls, x: float, y: float, heading: float, radius: float) -> tuple[int, float]:
    """The zone straight ahead and metres to it, where turns both ways enter one as well; -1: there is room."""
    length, zone = line_room(w, x, y, cos(heading), sin(heading), 2.0 * radius)
    for way in (1.0, -1.0):
        cx, cy = x - way * radius * sin(heading), y + way * radius * cos(heading)
        if arc_room(w, cx, cy, radius, heading - way * 0.5 * pi, way, pi)[1] < 0:
            return -1, length
    return zone, length


def _listed(names: list[str]) -> str:
    quoted = [repr(name) for name in names]
    if len(quoted) == 1:
        return f"the zone {quoted[0]}"
    return f"the zones {', '.join(quoted[:-1])} and {quoted[-1]}"
