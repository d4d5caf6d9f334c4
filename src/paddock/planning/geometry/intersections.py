"""Compiled intersection of paths and zones: exact for lines and arcs, to a millimetre for curves in moving air."""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, inf, pi

from paddock.compute.math import atan2, cos, hypot, sin, sqrt
from paddock.compute.routine import routine
from paddock.planning.geometry.path import Path
from paddock.planning.geometry.zones import Clearance, Walls, Zone, walls
from paddock.world.columns import Floats

CHORD_ERROR = 1e-3  # m: maximum deviation of the chords that approximate curves in moving air
FULL = 2.0 * pi


def ahead(angle: float) -> float:
    """Return an angle wrapped to 0 .. 2 pi."""
    turned = angle % FULL
    return turned if turned < FULL else 0.0


def within(w: Walls, x: float, y: float) -> int:
    """Return the first zone that contains a point; -1: none."""
    for k in range(len(w.bounds)):
        if hypot(x - w.bounds[k, 0], y - w.bounds[k, 1]) <= w.bounds[k, 2] and _holds(w, k, x, y):
            return k
    return -1


def _holds(w: Walls, k: int, x: float, y: float) -> bool:
    for i in range(w.spans[k, 0], w.spans[k, 1]):
        if hypot(x - w.circles[i, 0], y - w.circles[i, 1]) < w.circles[i, 2]:
            return True
    odd = False
    for i in range(w.spans[k, 2], w.spans[k, 3]):
        ax, ay, bx, by = w.edges[i, 0], w.edges[i, 1], w.edges[i, 2], w.edges[i, 3]
        if (ay > y) != (by > y) and ax + (y - ay) * (bx - ax) / (by - ay) > x:
            odd = not odd
        part = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
        part = min(max(part, 0.0), 1.0)
        if hypot(x - ax - part * (bx - ax), y - ay - part * (by - ay)) < w.reach[k]:
            return True
    return odd


def line_entry(w: Walls, x: float, y: float, ux: float, uy: float, length: float) -> tuple[float, int]:
    """Return metres until a line (point, unit vector) first enters a zone, and the zone; inf, -1: never."""
    first, zone = inf, -1
    for k in range(len(w.bounds)):
        dx, dy = w.bounds[k, 0] - x, w.bounds[k, 1] - y
        along = min(max(dx * ux + dy * uy, 0.0), length)
        if (dx - along * ux) ** 2 + (dy - along * uy) ** 2 > w.bounds[k, 2] ** 2:
            continue
        for i in range(w.spans[k, 0], w.spans[k, 1]):
            dx, dy = w.circles[i, 0] - x, w.circles[i, 1] - y
            middle, off = dx * ux + dy * uy, dx * uy - dy * ux
            room = w.circles[i, 2] ** 2 - off * off
            if room > 0.0:
                half = sqrt(room)
                if middle + half > 0.0 and max(middle - half, 0.0) < min(length, first):
                    first, zone = max(middle - half, 0.0), k
        for i in range(w.spans[k, 2], w.spans[k, 4]):
            dx, dy = w.edges[i, 0] - x, w.edges[i, 1] - y
            ex, ey = w.edges[i, 2] - w.edges[i, 0], w.edges[i, 3] - w.edges[i, 1]
            cross = ux * ey - uy * ex
            if cross != 0.0:
                there, part = (dx * ey - dy * ex) / cross, (dx * uy - dy * ux) / cross
                if 0.0 <= part <= 1.0 and 0.0 <= there <= length and there < first:
                    first, zone = there, k
    return first, zone


def arc_entry(w: Walls, x: float, y: float, radius: float, begin: float, way: float, sweep: float) -> tuple[float, int]:
    """Return radians until an arc first enters a zone, and the zone; inf, -1: never.

    The arc lies on a circle, starts at the angle `begin`, and turns left (`way` 1) or right (-1).
    """
    first, zone = inf, -1
    for k in range(len(w.bounds)):
        dx, dy = w.bounds[k, 0] - x, w.bounds[k, 1] - y
        if abs(sqrt(dx * dx + dy * dy) - radius) > w.bounds[k, 2]:
            continue
        for i in range(w.spans[k, 0], w.spans[k, 1]):
            turn = _arc_circle(w.circles[i, 0] - x, w.circles[i, 1] - y, w.circles[i, 2], radius, begin, way)
            if turn <= sweep and turn < first:
                first, zone = turn, k
        for i in range(w.spans[k, 2], w.spans[k, 4]):
            ax, ay = w.edges[i, 0] - x, w.edges[i, 1] - y
            turn = _arc_edge(ax, ay, w.edges[i, 2] - x, w.edges[i, 3] - y, radius, begin, way)
            if turn <= sweep and turn < first:
                first, zone = turn, k
    return first, zone


def _arc_circle(dx: float, dy: float, other: float, radius: float, begin: float, way: float) -> float:
    apart = hypot(dx, dy)
    if apart >= radius + other or apart + other <= radius:
        return inf
    if apart + radius <= other:
        return 0.0
    cosine = min(max((apart * apart + radius * radius - other * other) / (2.0 * apart * radius), -1.0), 1.0)
    half = atan2(sqrt((1.0 - cosine) * (1.0 + cosine)), cosine)
    enters = atan2(dy, dx) - way * half
    if ahead(way * (begin - enters)) < 2.0 * half:
        return 0.0
    return ahead(way * (enters - begin))


def _arc_edge(ax: float, ay: float, bx: float, by: float, radius: float, begin: float, way: float) -> float:
    ex, ey = bx - ax, by - ay
    length = hypot(ex, ey)
    ex, ey = ex / length, ey / length
    off = ax * ey - ay * ex
    if abs(off) >= radius:
        return inf
    middle, half = -(ax * ex + ay * ey), sqrt(radius * radius - off * off)
    turn = inf
    for side in (-half, half):
        along = middle + side
        if 0.0 <= along <= length:
            turn = min(turn, ahead(way * (atan2(ay + along * ey, ax + along * ex) - begin)))
    return turn


def path_entry(w: Walls, table: Floats) -> tuple[int, float, int]:
    """Return the segment, metres along it and the zone where a path's table first enters a zone; -1: never."""
    for s in range(len(table)):
        along, zone = segment_entry(w, table[s])
        if zone >= 0:
            return s, along, zone
    return -1, inf, -1


def segment_entry(w: Walls, row: Floats) -> tuple[float, int]:
    """Return metres along a segment, a row of a path's table, until it first enters a zone, and the zone; -1: never."""
    if row[8] == 0.0 and row[9] == 0.0:
        return _still_entry(w, row)
    return _carried_entry(w, row) if row[5] == 0.0 or _reaches(w, row) else (inf, -1)


def _reaches(w: Walls, row: Floats) -> bool:
    """Return whether a zone is as near to the beginning of a curve in moving air as the curve is wide."""
    reach = min(row[4], 2.0 / abs(row[5])) + hypot(row[8], row[9]) * row[4]
    for k in range(len(w.bounds)):
        if hypot(w.bounds[k, 0] - row[0], w.bounds[k, 1] - row[1]) <= w.bounds[k, 2] + reach:
            return True
    return False


def _still_entry(w: Walls, row: Floats) -> tuple[float, int]:
    heading = row[3] if row[7] > 0.0 else row[3] + pi
    bend = row[5] * row[7]
    if abs(bend) * row[4] < 1e-9:
        return line_entry(w, row[0], row[1], cos(heading), sin(heading), row[4])
    way, radius = 1.0 if bend > 0.0 else -1.0, 1.0 / abs(bend)
    x, y = row[0] - way * radius * sin(heading), row[1] + way * radius * cos(heading)
    turn, zone = arc_entry(w, x, y, radius, heading - way * 0.5 * pi, way, row[4] / radius)
    return turn * radius, zone


def _carried_entry(w: Walls, row: Floats) -> tuple[float, int]:
    chords = 1
    if row[5] != 0.0:
        chords = max(1, ceil(row[4] / sqrt(8.0 * CHORD_ERROR / abs(row[5]))))
    step = row[4] / chords
    x, y = row[0], row[1]
    for k in range(chords):
        half = 0.5 * row[7] * row[5] * (k + 1) * step
        chord = row[7] * (k + 1) * step * (sin(half) / half if abs(half) > 1e-9 else 1.0)
        nx = row[0] + chord * cos(row[3] + half) + row[8] * (k + 1) * step
        ny = row[1] + chord * sin(row[3] + half) + row[9] * (k + 1) * step
        length = hypot(nx - x, ny - y)
        if length > 0.0:
            there, zone = line_entry(w, x, y, (nx - x) / length, (ny - y) / length, length)
            if zone >= 0:
                return (k + there / length) * step, zone
        x, y = nx, ny
    return inf, -1


first_entry = routine(path_entry)
zone_at = routine(within)


@lru_cache(maxsize=64)
def _known_walls(zones: tuple[Zone, ...], clearance: Clearance) -> Walls:
    return walls(zones, clearance)


def known_walls(zones: Sequence[Zone], clearance: Clearance = 0.0) -> Walls:
    """Return the borders of zones grown by a clearance (m), made once for the same zones."""
    return _known_walls(tuple(zones), clearance if isinstance(clearance, tuple) else float(clearance))


def inside(x: float, y: float, zones: Sequence[Zone], clearance: Clearance = 0.0) -> Zone | None:
    """Return the first zone that contains a point (m) or is nearer than the clearance; None: free."""
    k = zone_at(known_walls(zones, clearance), float(x), float(y))
    return zones[k] if k >= 0 else None


def blocked_by(path: Path, zones: Sequence[Zone], clearance: Clearance = 0.0) -> Zone | None:
    """Return the first zone that a path enters or approaches within the clearance (m); None: clear."""
    if not zones:
        return None
    borders = known_walls(zones, clearance)
    k = zone_at(borders, *path.start[:2])
    if k < 0 and path.segments:
        k = first_entry(borders, path.table)[2]
    return zones[k] if k >= 0 else None
