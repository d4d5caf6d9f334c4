"""Estimated detours around zones, for the search of methods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import hypot, inf
from typing import Any, NamedTuple

import numpy as np
from numpy import ascontiguousarray, empty, int64
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path
from shapely import Polygon, get_parts, get_rings, union_all

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.planning.obstacles.zones import CircleZone, Zone
from paddock.world.columns import Floats

OUTSIDE = 0.01  # m: distance of detours from a zone's corner
CORNERS = 16  # corners of the polygon inscribed in a circle: detours around it are up to 0.6 % too short


class SightWalls(NamedTuple):
    """The outlines of all zones, for compiled code."""

    edges: Floats  # (e, 4) x, y, x, y
    first: NDArray[np.int64]  # (parts + 1,) the first edge of each connected part, and the end
    bounds: Floats  # (parts, 3) a circle around each part: x, y, radius


def zone_walls(zones: Sequence[Zone]) -> SightWalls:
    """Return the outlines of zones."""
    return _map(tuple(zones))[0]


def ways_to_corners(places: Floats, zones: Sequence[Zone]) -> Floats:
    """Return metres (n, v) of the shortest paths around zones from points (n, 2) to the corners."""
    _, corners, among = _map(tuple(zones))
    return cheapest_sums(sights_of_corners(places, zones), among) if len(corners) else np.empty((len(places), 0))


def sights_of_corners(places: Floats, zones: Sequence[Zone]) -> Floats:
    """Return metres (n, v) from points (n, 2) straight to the corners; inf for corners that are not visible."""
    walls, corners, _ = _map(tuple(zones))
    return sight_lengths(ascontiguousarray(places, dtype=np.float64), corners, walls)


def added(walls: SightWalls, x: float, y: float, ways: Floats, gx: float, gy: float, sights: Floats) -> float:
    """Return metres that zones add to the straight line, from one end's `ways` and the other's `sights`; inf: none."""
    if sees(x, y, gx, gy, walls):
        return 0.0
    least = inf
    for v in range(len(ways)):
        least = min(least, ways[v] + sights[v])
    return least - hypot(gx - x, gy - y)


@lru_cache(maxsize=16)
def _map(zones: tuple[Zone, ...]) -> tuple[SightWalls, Floats, Floats]:
    """Return the walls of all zones, the corners (v, 2) of paths around them, and the distances (v, v) between them."""
    angle = np.arange(CORNERS) * (2.0 * np.pi / CORNERS)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    outlines = [
        Polygon((zone.x, zone.y) + zone.radius * circle if isinstance(zone, CircleZone) else zone.points)
        for zone in zones
    ]
    walls = _walls(union_all(outlines))
    grown = _walls(union_all([outline.buffer(OUTSIDE, join_style="mitre") for outline in outlines]))
    corners = np.ascontiguousarray(grown.edges[:, :2])
    seen = sight_lengths(corners, corners, walls)
    seen[~np.isfinite(seen)] = 0.0  # SciPy: no edge
    return walls, corners, np.asarray(shortest_path(seen, directed=False))


def _walls(area: Any) -> SightWalls:
    """Return the edges of all rings of polygons, part by part."""
    edges, first, bounds = [np.empty((0, 4))], [0], []
    for part in get_parts(area):
        rings = [np.asarray(ring.coords) for ring in get_rings(part)]
        edges += [np.hstack([ring[:-1], ring[1:]]) for ring in rings]
        first.append(first[-1] + sum(len(ring) - 1 for ring in rings))
        low, high = rings[0].min(axis=0), rings[0].max(axis=0)
        bounds.append((*(0.5 * (low + high)), 0.5 * float(np.hypot(*(high - low)))))
    return SightWalls(np.ascontiguousarray(np.vstack(edges)), np.array(first, int64), np.array(bounds).reshape(-1, 3))


def crosses(ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float) -> bool:
    """Return whether two segments cross or touch, unless they only overlap along one line."""
    side_c = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    side_d = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax)
    side_a = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx)
    side_b = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx)
    return side_c * side_d <= 0.0 and side_a * side_b <= 0.0 and (side_c != 0.0 or side_d != 0.0)


def passes(ax: float, ay: float, bx: float, by: float, x: float, y: float, radius: float) -> bool:
    """Return whether a segment stays outside of a circle."""
    dx, dy = bx - ax, by - ay
    along = max(0.0, min(1.0, ((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-300)))
    east, north = ax + along * dx - x, ay + along * dy - y
    return east * east + north * north > radius * radius


def sees(ax: float, ay: float, bx: float, by: float, walls: SightWalls) -> bool:
    """Return whether two points are mutually visible."""
    for part in range(len(walls.bounds)):
        if passes(ax, ay, bx, by, walls.bounds[part, 0], walls.bounds[part, 1], walls.bounds[part, 2] * 1.000001):
            continue
        for w in range(walls.first[part], walls.first[part + 1]):
            edge = walls.edges[w]
            if crosses(ax, ay, bx, by, edge[0], edge[1], edge[2], edge[3]):
                return False
    return True


def sights(starts: Floats, goals: Floats, walls: SightWalls) -> Floats:
    """Return distances (n, m) between mutually visible points; inf for others."""
    found = empty((len(starts), len(goals)))
    for i in parallel_range(len(starts)):
        for k in range(len(goals)):
            ax, ay, bx, by = starts[i, 0], starts[i, 1], goals[k, 0], goals[k, 1]
            found[i, k] = hypot(bx - ax, by - ay) if sees(ax, ay, bx, by, walls) else inf
    return found


def sums(first: Floats, second: Floats) -> Floats:
    """Return the least first[i, v] + second[v, k] over all v, (n, m)."""
    found = empty((first.shape[0], second.shape[1]))
    for i in parallel_range(first.shape[0]):
        for k in range(second.shape[1]):
            found[i, k] = inf
        for v in range(first.shape[1]):
            if first[i, v] < inf:
                for k in range(second.shape[1]):
                    found[i, k] = min(found[i, k], first[i, v] + second[v, k])
    return found


sight_lengths = parallel_routine(sights)
cheapest_sums = parallel_routine(sums)
