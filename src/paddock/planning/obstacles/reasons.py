"""Why there is no way: zones that enclose the start or the goal, or that leave no room to turn."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, degrees, pi, sin

from paddock.compute.routine import routine
from paddock.planning.obstacles.ends import Goal, Start
from paddock.planning.obstacles.entry import arc_entry, line_entry
from paddock.planning.obstacles.walls import Walls
from paddock.planning.obstacles.zone import CircleZone, Zone

line_room = routine(line_entry)
arc_room = routine(arc_entry)


def enclosing(zones: Sequence[Zone], clearance: float, start: Start, goal: Goal) -> str:
    """One line that names the zones around the start or the goal, where the other is outside; empty: there are none."""
    from shapely import Point, Polygon, unary_union
    from shapely.geometry.base import BaseGeometry

    def area(zone: Zone) -> BaseGeometry:
        if isinstance(zone, CircleZone):
            return Point(zone.x, zone.y).buffer(zone.radius + clearance, quad_segs=64)
        return Polygon(zone.corners).buffer(clearance, quad_segs=64)

    areas = [area(zone) for zone in zones]
    union = unary_union(areas)
    parts = getattr(union, "geoms", [union])
    holes = [Polygon(ring) for part in parts if isinstance(part, Polygon) for ring in part.interiors]
    first, last = Point(start[0], start[1]), Point(goal[0], goal[1])
    for hole in holes:
        for what, inner, outer in (("goal", last, first), ("start", first, last)):
            if hole.contains(inner) and not hole.contains(outer):
                names = [zone.name for zone, own in zip(zones, areas, strict=True) if own.distance(hole) < 1e-6]
                return f"the {what} ({inner.x:g}, {inner.y:g}) is enclosed by {_listed(names)}"
    return ""


def cramped(w: Walls, zones: Sequence[Zone], radius: float, start: Start, goal: Goal, zone: Zone) -> str:
    """One line that says where there is no room to turn; `zone` is in the way of the direct path."""
    places = [("after the start", start[0], start[1], start[2], 1.0)]
    if goal[2] is not None:
        places.append(("before the goal", goal[0], goal[1], goal[2] + pi, -1.0))
    for what, x, y, heading, gear in places:
        near, length = zone_near(w, x, y, heading, radius)
        if near >= 0:
            at = f"({x:g}, {y:g}) with a heading of {degrees(heading if gear > 0.0 else heading - pi):.4g} degrees"
            return (
                f"the zone {zones[near].name!r} leaves no room for a turn of {radius:g} m {what} {at}: "
                f"it is {length:.3g} m {'ahead' if gear > 0.0 else 'behind'}"
            )
    return (
        f"no way from ({start[0]:g}, {start[1]:g}) to ({goal[0]:g}, {goal[1]:g}) leaves room for turns of "
        f"{radius:g} m; the zone {zone.name!r} is in the way"
    )


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
