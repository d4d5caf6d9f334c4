"""Obstacles in the way of a signal: over the top of all that is there, around the sides of a group, or through it.

`obstruction_db` returns the least loss of three ways, which all use the same scalar functions:

- through or around every group by itself (`obstacle_ways.py`), over the ground between them;
- over everything: one Deygout construction (`diffraction.py`) over the ground and all roofs;
- over the groups that cost less over their tops, each by itself, and through or around the others.

A group that the line passes at a distance costs what a knife edge at that distance costs: nothing from v = -0.78 on.
"""

from typing import Any

from paddock.compute.math import absolute, maximum, minimum, sqrt, whole
from paddock.radio.diffraction import CLEAR, SAME, deygout_db, distance, flat_db, worst_edge
from paddock.radio.obstacle_groups import TOUCH
from paddock.radio.obstacle_ways import (
    NONE,
    TINY,
    bent,
    columns_under,
    is_cheap,
    line_of,
    nearby,
    roof_span,
    rows_under,
    span_edge,
)
from paddock.radio.propagation import LIGHT
from paddock.world.ground import SLOPE_X, SLOPE_Y

ONE_ROOF = 1.0  # m: roofs that touch and differ by less are one edge
FARTHEST = 1e9  # m: longer lines have no obstacles


def obstruction_db(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float, frequency: float,
    buildings: Any, ground: Any, terrain: bool, beyond_flat: bool, diffraction: float,
) -> float:  # fmt: skip
    """Return the loss (dB) that obstacles add between two places (m); 0 is a free line of sight.

    `buildings` are those of `obstacle_groups`, `ground` that of `diffraction`. With `terrain` the ground counts; it
    costs `diffraction` dB without obstacles, with `beyond_flat` only what it adds to flat ground.
    """
    apart = distance(ax, ay, az, bx, by, bz)
    if buildings.group.size == 0 or not SAME <= apart <= FARTHEST:
        return 0.0
    line = line_of(ax, ay, az, bx, by, bz, LIGHT / frequency)
    near = nearby(line, buildings)
    alone = near.met + near.missed
    if alone <= 0.0:
        return near.indoor
    flat = 0.0
    if terrain and beyond_flat and ground.relief.shape[0] >= 2:
        za, zb = az - plane_z(ax, ay, ground), bz - plane_z(bx, by, ground)
        flat = flat_db(ax, ay, za, bx, by, zb, line.wavelength, ground.terrain, ground.relief)
    least = minimum(diffraction + alone, passing_db(line, buildings, ground, terrain, False, near, flat))
    if near.dear and near.cheap > 0.0:
        least = minimum(least, passing_db(line, buildings, ground, terrain, True, near, flat) + near.cheap)
    return maximum(least - diffraction, 0.0) + near.indoor


def passing_db(line: Any, b: Any, ground: Any, terrain: bool, dear: bool, near: Any, flat: float) -> float:
    """Return the loss (dB) over ground and roofs, less `flat`, and past what the line leaves beside it."""
    loss, bend, lift = over_db(line, b, ground, terrain, dear, near.home, near.goal)
    beside: float = near.beside
    if beside > 0.0 and lift > 0.0:
        beside = nearby(bent(line, bend, lift), b).beside
    return maximum(loss - flat, 0.0) + beside


# over the top --------------------------------------------------------------------------------------------------------


def over_db(
    line: Any, b: Any, ground: Any, terrain: bool, dear: bool, home: int, goal: int
) -> tuple[float, float, float]:
    """Return the loss (dB) over ground and roofs by Deygout's construction, and share and height (m) of its main edge.

    The height is that above the line. Touching roofs of one height are one edge. Groups `home` and `goal` are left out,
    with `dear` also those that cost less through or around than over their tops.
    """
    z_end = line.z + line.apart * line.dz
    main, at, top, k = edge_between(
        line, b, ground, terrain, 0.0, line.z, 1.0, z_end, dear, home, goal, 2.0, -1.0, 0.0
    )  # fmt: skip
    if main <= CLEAR:
        return 0.0, 0.5, 0.0
    begin, end = 2.0, -1.0  # of the roof
    if k >= 0:
        begin, end = one_roof(line, b, k, top)
    before = edge_between(line, b, ground, terrain, 0.0, line.z, at, top, dear, home, goal, begin, end, top)[0]
    after = edge_between(line, b, ground, terrain, at, top, 1.0, z_end, dear, home, goal, begin, end, top)[0]
    return deygout_db(main, before, after), at, top - line.z - at * line.apart * line.dz


def edge_between(
    line: Any, b: Any, ground: Any, terrain: bool, p: float, z_p: float, q: float, z_q: float,
    dear: bool, home: int, goal: int, begin: float, end: float, level: float,
) -> tuple[float, float, float, int]:  # fmt: skip
    """Return the largest v of ground and roofs between the shares p and q of a line, seen from heights there (m).

    With its share, its height (m) and the number of its obstacle, -1: ground. The roof from `begin` to `end` at the
    height `level` is left out.
    """
    if q - p < TINY:
        return NONE, p, z_p, -1
    worst, at, top, k = roof_between(line, b, p, z_p, q, z_q, dear, home, goal, begin, end, level)
    if terrain:
        ax, ay = line.x + p * line.apart * line.dx, line.y + p * line.apart * line.dy
        bx, by = line.x + q * line.apart * line.dx, line.y + q * line.apart * line.dy
        v, share, height = worst_edge(
            ax, ay, z_p - plane_z(ax, ay, ground), bx, by, z_q - plane_z(bx, by, ground),
            line.wavelength, ground.terrain, ground.relief, ground.peaks,
        )  # fmt: skip
        if v > worst:
            worst, at, k = v, p + share * (q - p), -1
            top = height + plane_z(line.x + at * line.apart * line.dx, line.y + at * line.apart * line.dy, ground)
    return worst, at, top, k


def plane_z(x: float, y: float, ground: Any) -> float:
    """Return the height (m) of the plane under the relief of the ground."""
    return ground.ground_z + ground.terrain[0, SLOPE_X] * x + ground.terrain[0, SLOPE_Y] * y  # type: ignore[no-any-return]


def roof_between(
    line: Any, b: Any, p: float, z_p: float, q: float, z_q: float,
    dear: bool, home: int, goal: int, begin: float, end: float, level: float,
) -> tuple[float, float, float, int]:  # fmt: skip
    """Return the largest v of the roofs between two shares of a line, as `edge_between`."""
    worst, at, top, found = NONE, p, z_p, -1
    rise, length = z_q - z_p, line.apart * line.level * (q - p)
    zone = 0.5 * line.wavelength * sqrt(length * length + rise * rise)
    u, v, du, dv, i0, i1 = columns_under(line, b, p, q, 0.0)
    rows = whole(b.cells[0, 4])
    for i in range(i0, i1 + 1):
        j0, j1 = rows_under(u, v, du, dv, p, q, i, 0.0, rows)
        for j in range(j0, j1 + 1):
            cell = j * whole(b.cells[0, 3]) + i
            for place in range(whole(b.starts[0, cell]), whole(b.starts[0, cell + 1])):
                k = whole(b.items[0, place])
                t0, t1, height = roof_span(line, b, k)
                if not t0 <= t1 or b.group[k] == home or b.group[k] == goal:
                    continue
                if absolute(height - level) < ONE_ROOF and t0 >= begin - TINY and t1 <= end + TINY:
                    continue
                t0, t1 = (maximum(t0, p) - p) / (q - p), (minimum(t1, q) - p) / (q - p)
                if not t0 <= t1 or t1 <= TINY or t0 >= 1.0 - TINY:
                    continue
                if base_of(b, k) > z_p + maximum(t0 * rise, t1 * rise):
                    continue  # the line passes below it
                edge, share = span_edge(height - z_p, -rise, t0, t1, zone)
                if edge > worst and not (dear and is_cheap(line, b, b.group[k])):
                    worst, at, top, found = edge, p + share * (q - p), height, k
    return worst, at, top, found


def one_roof(line: Any, b: Any, k: int, top: float) -> tuple[float, float]:
    """Return the shares of a line between which obstacles that touch k continue its roof, at the height `top` (m)."""
    begin, end, _ = roof_span(line, b, k)
    gap = TOUCH / maximum(line.apart * line.level, TOUCH)
    g, longer = b.group[k], True
    while longer:
        longer = False
        for n in range(b.first[g], b.first[g + 1]):
            t0, t1, height = roof_span(line, b, b.members[n])
            near = t0 <= t1 and t0 <= end + gap and t1 >= begin - gap and absolute(height - top) < ONE_ROOF
            if near and (t0 < begin or t1 > end):
                begin, end, longer = minimum(begin, t0), maximum(end, t1), True
    return begin, end


def base_of(b: Any, k: int) -> float:
    """Return the height (m) of the underside of an obstacle."""
    n = b.boxes.shape[0]
    return b.boxes[k, 2] if k < n else b.rounds[k - n, 2]  # type: ignore[no-any-return]
