"""Paths around zones, and out of them, for vehicles with a turn radius; or the reason why there is none."""

from collections.abc import Sequence
from functools import cached_property
from math import degrees, inf, isfinite, pi

import numpy as np
from shapely import Point, Polygon, unary_union
from shapely.geometry.base import BaseGeometry

from paddock.compute import arrays
from paddock.compute.math import atan2, cos, sin
from paddock.compute.routine import routine
from paddock.errors import InvalidValueError
from paddock.planning.geometry.dubins import dubins, dubins_lengths
from paddock.planning.geometry.path import Path, Segment, ends_at
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.geometry.tangent_graph import (
    Goal,
    Start,
    TangentGraph,
    TangentLinks,
    WayEnds,
    ends,
    lattice,
    tangent_graph,
    touching,
    turning_circles,
)
from paddock.planning.geometry.tangent_search import search, shorten
from paddock.planning.geometry.wind import over_ground
from paddock.planning.geometry.zones import (
    CircleZone,
    Clearance,
    Walls,
    Zone,
    arc_entry,
    blocked_by,
    each_of,
    inside,
    known_walls,
    line_entry,
)
from paddock.world.columns import Floats

SUSPICIOUS = 1.02
"""A path longer than the direct one by this factor is compared with paths that turn twice at their ends."""


class ZoneMap:
    """Ways around zones for one turn radius (m; 0: turns on the spot), clearance (m) and wind (over the airspeed).

    They are held over the ground; those are taken on which the fewest metres are flown.
    """

    def __init__(
        self,
        zones: Sequence[Zone],
        radius: float,
        clearance: Clearance = 0.0,
        wind: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        if not (isfinite(radius) and radius >= 0.0):
            raise InvalidValueError(f"a turn radius must be a number of metres >= 0, not {radius}")
        for wide in each_of(clearance, (None,)):
            if not (isfinite(wide) and wide >= 0.0):
                raise InvalidValueError(f"a clearance must be a number of metres >= 0, not {wide}")
        self.zones = tuple(zones)
        self.radius = float(radius)
        self.clearance = clearance
        self.wind = wind
        self.walls = known_walls(self.zones, self.clearance)

    def transit(self, start: Start, goal: Goal) -> Path:
        """Return a short path between poses (x, y, heading; None: any) clear of all zones; or raise InfeasibleError."""
        for what, pose in (("start", start), ("goal", goal)):
            if not all(isfinite(value) for value in pose if value is not None):
                raise InvalidValueError(f"the {what} must be numbers x, y (m) and a heading (rad), not {tuple(pose)}")
        self._check_free("start", start[0], start[1])
        self._check_free("goal", goal[0], goal[1])
        direct = dubins(start, goal, self.radius)
        zone = blocked_by(direct, self.zones, self.clearance)
        return direct if zone is None else self._detour(start, goal, self._flown(direct), zone)

    @cached_property
    def graph(self) -> TangentGraph:
        """The circles around the zones, and the lines between them."""
        return tangent_graph(self.walls, turning_circles(self.zones, self.walls, self.radius, self.clearance))

    @cached_property
    def links(self) -> TangentLinks:
        """Those lines, in the order of a search."""
        return self.graph.links(self.walls, self.wind)

    def _detour(self, start: Start, goal: Goal, shortest: float, zone: Zone) -> Path:
        way = self._way(ends(start, goal, self.radius, False, self.wind), self.graph.circles, self.links)
        if way is None and (why := enclosing(self.zones, self.clearance, start, goal)):
            raise InfeasibleError(why)
        if self.radius > 0.0 and (way is None or self._flown(way) > SUSPICIOUS * shortest):
            way = self._with_more_circles(start, goal, way)
        if way is None:
            raise InfeasibleError(cramped(self.walls, self.zones, self.radius, start, goal, zone))
        return way

    def _with_more_circles(self, start: Start, goal: Goal, way: Path | None) -> Path | None:
        """Also try ways with two turns at the start and at the goal, and without any, turns anywhere near."""
        at_ends, group = ends(start, goal, self.radius, True, self.wind), len(self.graph.circles)
        wider = self.graph.widened(self.walls, touching(self.walls, at_ends, self.radius, group))
        other = self._way(at_ends, wider.circles, wider.links(self.walls, self.wind))
        if way is None and other is None:
            wider = wider.widened(self.walls, lattice(at_ends, start, self.radius, group + 3))
            other = self._way(at_ends, wider.circles, wider.links(self.walls, self.wind))
        return other if way is None or (other is not None and self._flown(other) < self._flown(way)) else way

    def _flown(self, path: Path) -> float:
        """Return metres flown on a path that is held over the ground."""
        return over_ground(path, 1.0, self.wind).flown if self.wind != (0.0, 0.0) else path.length

    def _way(self, at: WayEnds, turns: Floats, between: TangentLinks) -> Path | None:
        length, chain = search(self.walls, turns, between, at)
        if length == inf:
            return None
        row = np.vstack([turns, at.starts, at.goals])[chain]
        arrival = at.arrivals[chain[-1] - len(turns) - len(at.starts)]
        table = shorten(self.walls, row, at, arrival)
        return Path(Segment(x, y, 0.0, h, way, circle) for x, y, h, way, circle in table.tolist())

    def _check_free(self, what: str, x: float, y: float) -> None:
        zone = inside(x, y, self.zones, self.clearance)
        if zone is not None:
            wide = each_of(self.clearance, self.zones)[self.zones.index(zone)]
            near = "inside" if zone.contains(x, y) else f"within the clearance of {wide:g} m of"
            raise InfeasibleError(f"the {what} {coordinates(x, y)} lies {near} the zone {zone.name!r}")


BORDER = 0.01  # m: tolerance of a border

line_room = routine(line_entry)
arc_room = routine(arc_entry)


def enclosing(zones: Sequence[Zone], clearance: Clearance, start: Start, goal: Goal) -> str:
    """Return one line that names zones enclosing only one of start and goal; empty: none."""

    def area(zone: Zone, clearance: float) -> BaseGeometry:
        if isinstance(zone, CircleZone):
            return Point(zone.x, zone.y).buffer(zone.radius + clearance, quad_segs=64)
        return Polygon(zone.corners).buffer(clearance, quad_segs=64)

    areas = list(map(area, zones, each_of(clearance, zones)))
    union = unary_union(areas)
    parts = getattr(union, "geoms", [union])
    holes = [Polygon(ring) for part in parts if isinstance(part, Polygon) for ring in part.interiors]
    first, last = Point(start[0], start[1]), Point(goal[0], goal[1])
    for hole in holes:
        for what, inner, outer in (("goal", last, first), ("start", first, last)):
            if hole.contains(inner) and not hole.contains(outer):
                near = [repr(zone.name) for zone, own in zip(zones, areas, strict=True) if own.distance(hole) < 1e-6]
                names = f"zone {near[0]}" if len(near) == 1 else f"zones {', '.join(near[:-1])} and {near[-1]}"
                return f"the {what} {coordinates(inner.x, inner.y)} is enclosed by the {names}"
    return ""


def cramped(w: Walls, zones: Sequence[Zone], radius: float, start: Start, goal: Goal, zone: Zone) -> str:
    """Return one line that describes where there is no room to turn; `zone` blocks the direct path."""
    points = [("after the start", start[0], start[1], start[2], 1.0)]
    if goal[2] is not None:
        points.append(("before the goal", goal[0], goal[1], goal[2] + pi, -1.0))
    for what, x, y, heading, gear in points:
        near, length = zone_near(w, x, y, heading, radius)
        if near >= 0:
            turned = round(degrees(heading if gear > 0.0 else heading - pi), 1) % 360.0  # from east, as all headings
            at = f"{coordinates(x, y)} with a heading of {turned:.10g} degrees"
            return (
                f"the zone {zones[near].name!r} leaves no room for a turn of {radius:g} m {what} {at}: "
                f"it is {length:.3g} m {'ahead' if gear > 0.0 else 'behind'}"
            )
    return (
        f"no way from {coordinates(start[0], start[1])} to {coordinates(goal[0], goal[1])} leaves room for turns of "
        f"{radius:g} m; the zone {zone.name!r} is in the way"
    )


def coordinates(x: float, y: float) -> str:
    """Return coordinates to a tenth of a metre."""
    return f"({round(x, 1) + 0.0:.10g}, {round(y, 1) + 0.0:.10g})"


def on_border(zone: Zone, x: float, y: float) -> bool:
    """Return whether a point is within tolerance of the border of a zone."""
    return abs(zone.distance(x, y)) < BORDER


def zone_near(w: Walls, x: float, y: float, heading: float, radius: float) -> tuple[int, float]:
    """Return the zone straight ahead and its distance (m) if turns to both sides are blocked, too; -1: free."""
    length, zone = line_room(w, x, y, cos(heading), sin(heading), 2.0 * radius)
    for way in (1.0, -1.0):
        cx, cy = x - way * radius * sin(heading), y + way * radius * cos(heading)
        if arc_room(w, cx, cy, radius, heading - way * 0.5 * pi, way, pi)[1] < 0:
            return -1, length
    return zone, length


OUTSIDE = 0.01  # m beyond the border at which a zone is left
EXITS = 256  # points on the border of each zone


def way_out(start: tuple[float, float, float], radius: float, zones: Sequence[Zone]) -> Path:
    """Return the shortest path from a pose inside zones to a point outside all; raise InfeasibleError."""
    exits = _exits(start[0], start[1], zones)
    goals = np.column_stack([exits, np.full(len(exits), np.nan)])
    x, y = exits[int(np.argmin(dubins_lengths(np.array([start]), goals, radius)[0]))].tolist()
    return dubins(start, (x, y, None), radius)


def way_in(goal: Goal, radius: float, zones: Sequence[Zone]) -> Path:
    """Return the shortest path from a point outside all zones to a pose inside; raise InfeasibleError."""
    x, y, heading = goal
    out = way_out((x, y, 0.0 if heading is None else heading + pi), 0.0 if heading is None else radius, zones)
    turned = [(ends_at(segment), segment) for segment in reversed(out.segments)]
    return Path(
        Segment(x, y, z, heading + pi, segment.length, -segment.curvature) for (x, y, z, heading), segment in turned
    )


def waiting_pose(
    x: float, y: float, radius: float, clearance: float, zones: Sequence[Zone]
) -> tuple[float, float, float]:
    """Return a pose on the circle nearest to a point whose left turns of `radius` stay clear of zones by `kept` (m)."""
    wide = [zone.grown(radius + clearance) for zone in zones]
    exits = _exits(x, y, wide)
    cx, cy = exits[int(np.argmin(arrays.hypot(*(exits - (x, y)).T)))].tolist()
    angle = atan2(y - cy, x - cx)
    return cx + radius * cos(angle), cy + radius * sin(angle), angle + 0.5 * pi


def _exits(x: float, y: float, zones: Sequence[Zone]) -> Floats:
    """Return points (k, 2) just outside the border of a zone and outside all zones."""
    borders = []
    for zone in zones:
        outline = zone.grown(OUTSIDE).outline()
        along = np.concatenate([[0.0], np.cumsum(arrays.hypot(*np.diff(outline, axis=0).T))])
        evenly = np.linspace(0.0, along[-1], EXITS, endpoint=False)
        borders += [np.column_stack([np.interp(evenly, along, outline[:, axis]) for axis in (0, 1)]), outline[:-1]]
        edge, to = np.diff(outline, axis=0), np.array([x, y]) - outline[:-1]
        part = np.clip((to * edge).sum(1) / (edge * edge).sum(1), 0.0, 1.0)  # the nearest place on each edge
        borders.append(outline[:-1] + part[:, None] * edge)
    points = np.vstack(borders)
    free = [inside(px, py, zones) is None for px, py in points.tolist()]
    if not any(free):
        raise InfeasibleError(f"no way leads out of the no-fly zones around ({x:g}, {y:g})")
    return points[free]
