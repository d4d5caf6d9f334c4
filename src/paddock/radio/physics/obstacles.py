"""Obstacles in the way of a signal: materials, groups of obstacles that touch each other, and lines through them.

A signal finds no way between two obstacles that touch: parts of a wall, or boxes that make one building. They are one
group, and the way around its sides is that around all of it.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import absolute, clamp, floor, maximum, minimum, select, sqrt, table_index, whole
from paddock.radio.physics.propagation import CLEAR, SAME, Position, distance
from paddock.world.columns import Floats
from paddock.world.solids import (
    BASE,
    BOX,
    COSINE,
    ENTRY,
    FRUSTUM,
    HIGH,
    LENGTH,
    LOW,
    SHAPE,
    SINE,
    TOP,
    WIDTH,
    Obstacles,
    X,
    Y,
    slab,
)

Ints = NDArray[np.int64]
MATERIALS = {"concrete": 15.0, "metal": 100.0, "wood": 5.0, "vegetation": 0.5, "glass": 2.0}
"""Loss of materials, dB per m."""
TOUCH = 0.1  # m: obstacles this near to each other touch
CORNERS = 24  # of the outline of a round obstacle in a group


class Buildings(NamedTuple):
    """The obstacles of a world with materials and groups, numbered by the rows of their table."""

    cells: Floats  # the grid and the table of solids, as OBSTACLE_TABLES
    starts: Floats
    items: Floats
    solids: Floats  # (n, 23), columns of SolidColumn: boxes, then cylinders and cones
    cover: Ints  # (n, 4) first and last column, first and last row of the cells of each
    rates: Floats  # (n,) dB/m
    group: Ints  # (n,) of each
    first: Ints  # (groups + 1,) members of group g: members[first[g] : first[g + 1]], ascending
    members: Ints  # (n,)
    boxes: int  # rows of boxes; one test of a number is faster than one of the column `shape`
    begin: Ints  # (groups + 1,) corners of group g: corners[begin[g] : begin[g + 1]]
    corners: Floats  # (m, 2) of convex outlines; none for groups of one


def buildings_of(obstacles: Obstacles) -> Buildings:
    """Return obstacles with their materials and groups; a copy, because cones of the table may be hidden later."""
    group = _connected(obstacles)
    members = np.argsort(group, kind="stable")
    first = np.searchsorted(group[members], np.arange(int(group.max(initial=-1)) + 2))
    outlines = [_outline(obstacles, members[a:b]) for a, b in pairwise(first.tolist())]
    begin = np.concatenate([[0], np.cumsum([len(outline) for outline in outlines])]).astype(np.int64)
    rates = material_rates(obstacles.entries)[obstacles.table[:, ENTRY].astype(np.int64)]
    boxes = int((obstacles.table[:, SHAPE] == BOX).sum())
    corners = np.concatenate([np.zeros((0, 2)), *outlines])
    cells, starts, items, table = map(np.array, obstacles.tables)
    grid = cells, starts, items, table, obstacles.solids.cover
    return Buildings(*grid, rates, group, first, members, boxes, begin, corners)


def material_rates(entries: Sequence[Any]) -> Floats:
    """Return the loss (dB/m) of each entry of a scenario's `world.obstacles`."""
    return np.array([MATERIALS[entry.material] for entry in entries], np.float64)


def _connected(obstacles: Obstacles) -> Ints:
    """Return the group (n,) of each obstacle; groups have the order of their first obstacles."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n, table = obstacles.count, obstacles.table
    if not n:
        return np.zeros(0, np.int64)
    a, b = _neighbours(table)
    level = (table[a, LOW] <= table[b, HIGH] + TOUCH) & (table[b, LOW] <= table[a, HIGH] + TOUCH)
    a, b = a[level], b[level]
    round_a, round_b = table[a, SHAPE] == FRUSTUM, table[b, SHAPE] == FRUSTUM  # boxes have smaller numbers
    touch = np.zeros(len(a), bool)
    touch[~round_b] = _boxes_touch(table[a[~round_b]], table[b[~round_b]])
    mixed = round_b & ~round_a
    touch[mixed] = _box_touches_round(table[a[mixed]], table[b[mixed]])
    first, second = table[a[round_a]], table[b[round_a]]
    apart = np.hypot(first[:, X] - second[:, X], first[:, Y] - second[:, Y])
    touch[round_a] = apart <= first[:, LENGTH] + second[:, LENGTH] + TOUCH
    pairs = coo_matrix((np.ones(int(touch.sum())), (a[touch], b[touch])), (n, n))
    label = connected_components(pairs, directed=False)[1]
    _, start, group = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(start))[group.reshape(-1)], np.int64)


def _neighbours(table: Floats) -> tuple[Ints, Ints]:
    """Return the pairs of obstacles, the smaller number first, whose bounds are within TOUCH of each other."""
    from scipy.spatial import cKDTree

    centre, circle = table[:, :2], table[:, SHAPE] == FRUSTUM
    size = np.where(circle, table[:, LENGTH], np.hypot(table[:, LENGTH], table[:, WIDTH])) + 0.5 * TOUCH
    pairs_by_scale = []
    for scale in np.unique(np.ceil(np.log2(size))):  # each with those of its size and smaller ones
        large = np.flatnonzero(np.ceil(np.log2(size)) == scale)
        small = np.flatnonzero(np.ceil(np.log2(size)) <= scale)
        near = cKDTree(centre[large]).query_ball_tree(cKDTree(centre[small]), 2.0 ** (scale + 1.0))
        first = np.repeat(large, [len(rows) for rows in near])
        second = small[np.array([k for rows in near for k in rows], np.int64)]
        pairs_by_scale.append(np.column_stack([first, second]))
    pairs = np.concatenate(pairs_by_scale)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    a, b = pairs.T
    close = np.hypot(*(centre[a] - centre[b]).T) <= size[a] + size[b]
    return a[close], b[close]


def _boxes_touch(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Return whether rectangles touch, pair by pair: no axis of either separates them."""
    apart, touch = second[:, :2] - first[:, :2], np.ones(len(first), bool)
    turn_c = np.abs(first[:, COSINE] * second[:, COSINE] + first[:, SINE] * second[:, SINE])
    turn_s = np.abs(first[:, COSINE] * second[:, SINE] - first[:, SINE] * second[:, COSINE])
    for a, b in ((first, second), (second, first)):
        along = np.abs(apart[:, 0] * a[:, COSINE] + apart[:, 1] * a[:, SINE])
        across = np.abs(apart[:, 1] * a[:, COSINE] - apart[:, 0] * a[:, SINE])
        touch &= along <= a[:, LENGTH] + turn_c * b[:, LENGTH] + turn_s * b[:, WIDTH] + TOUCH
        touch &= across <= a[:, WIDTH] + turn_s * b[:, LENGTH] + turn_c * b[:, WIDTH] + TOUCH
    return touch


def _box_touches_round(box: Floats, circle: Floats) -> NDArray[np.bool_]:
    """Return whether rectangles and circles touch, pair by pair."""
    px, py = (circle[:, :2] - box[:, :2]).T
    along = np.maximum(np.abs(px * box[:, COSINE] + py * box[:, SINE]) - box[:, LENGTH], 0.0)
    across = np.maximum(np.abs(py * box[:, COSINE] - px * box[:, SINE]) - box[:, WIDTH], 0.0)
    return np.asarray(np.hypot(along, across) <= circle[:, LENGTH] + TOUCH)


def _outline(obstacles: Obstacles, members: Ints) -> Floats:
    """Return the corners (m, 2) of the convex outline of several obstacles; none of one."""
    if len(members) < 2:
        return np.zeros((0, 2))
    from scipy.spatial import ConvexHull

    angle = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    circle, outlines = np.column_stack([np.cos(angle), np.sin(angle)]), []
    for k, row in zip(members.tolist(), obstacles.table[members], strict=True):
        outlines.append(row[:2] + row[LENGTH] * circle if row[SHAPE] == FRUSTUM else obstacles.outline(k))
    points = np.concatenate(outlines)
    return np.asarray(points[ConvexHull(points).vertices])


# lines ----------------------------------------------------------------------------------------------------------------
NONE = 2.0 * CLEAR  # v without an edge
TINY = 1e-9  # share of the way: edges nearer to an end are moved there
FAR = 1e9  # v of a side that is no way


class Line(NamedTuple):
    """A line between two places: start (m), unit vector, its horizontal part (unit vector, length), and its length."""

    x: float
    y: float
    z: float
    dx: float
    dy: float
    dz: float
    c: float
    s: float
    level: float
    apart: float  # m
    wavelength: float  # m
    bend: float  # share of the way to the edge over which it is bent
    lift: float  # m, there


def line_of(a: Position, b: Position, wavelength: float) -> Line:
    """Return the straight line between two places."""
    apart = distance(a, b)
    dx, dy, dz = (b[0] - a[0]) / apart, (b[1] - a[1]) / apart, (b[2] - a[2]) / apart
    level = sqrt(dx * dx + dy * dy)
    c = select(level > SAME, dx / maximum(level, SAME), 1.0)
    s = select(level > SAME, dy / maximum(level, SAME), 0.0)
    return Line(a[0], a[1], a[2], dx, dy, dz, c, s, level, apart, wavelength, 0.5, 0.0)


def bent(line: Any, bend: float, lift: float) -> Line:
    """Return a line over an edge at a share of the way, `lift` m above the straight one; only `edges_of` uses it."""
    x, y, z, dx, dy, dz = line.x, line.y, line.z, line.dx, line.dy, line.dz
    return Line(x, y, z, dx, dy, dz, line.c, line.s, line.level, line.apart, line.wavelength, bend, lift)


def span_edge(height: float, rise: float, t0: float, t1: float, zone: float) -> tuple[float, float]:
    """Return the largest v of a straight edge along a line, and its share of the way.

    It stands `height` + share x `rise` (m) above the line, from share t0 to t1; `zone` is half the wavelength x the
    length of the line. v is largest at an end, or, below the line, where that is nearest in units of the Fresnel zone.
    """
    t0, t1 = clamp(t0, TINY, 1.0 - TINY), clamp(t1, TINY, 1.0 - TINY)
    turn = rise + 2.0 * height
    middle = clamp(height / turn, t0, t1) if turn != 0.0 else t0
    best, share = -1e300, t0
    for t in (t0, t1, middle):
        above = height + t * rise
        score = above * absolute(above) / (t * (1.0 - t))
        if score > best:
            best, share = score, t
    return select(best > 0.0, 1.0, -1.0) * sqrt(absolute(best) / zone), share


def roof_span(line: Any, b: Any, k: int) -> tuple[float, float, float]:
    """Return where (shares of the way) a line passes over or under the roof of an obstacle, and its height (m).

    t0 > t1: never. Of a cone, it is the highest point in the vertical plane of the line.
    """
    reach, solids = line.apart, b.solids
    if k < b.boxes:
        px, py, cosine, sine = line.x - solids[k, X], line.y - solids[k, Y], solids[k, COSINE], solids[k, SINE]
        long, broad = solids[k, LENGTH], solids[k, WIDTH]
        t0, t1 = slab(cosine * px + sine * py, cosine * line.dx + sine * line.dy, -long, long, 0.0, reach)
        t0, t1 = slab(cosine * py - sine * px, cosine * line.dy - sine * line.dx, -broad, broad, t0, t1)
        return t0 / reach, t1 / reach, solids[k, HIGH]
    px, py = solids[k, X] - line.x, solids[k, Y] - line.y
    along, aside = line.c * px + line.s * py, absolute(line.c * py - line.s * px)
    wide, narrow, base, top = solids[k, BASE], solids[k, TOP], solids[k, LOW], solids[k, HIGH]
    if aside >= maximum(wide, narrow):
        return 1.0, 0.0, top
    half = sqrt(maximum(narrow * narrow - aside * aside, 0.0))
    height = top - (top - base) * maximum(aside - narrow, 0.0) / maximum(wide - narrow, SAME)
    t0, t1 = slab(-along, line.level, -half, half, 0.0, reach)
    return t0 / reach, t1 / reach, height


# cells ---------------------------------------------------------------------------------------------------------------


CellLine = tuple[float, float, float, float]
"""A line in cells: its start, and the change along all of it."""


def columns_under(line: Any, b: Any, p: float, q: float, wide: float) -> tuple[CellLine, int, int]:
    """Return a line in cells, and the first and last column within `wide` cells of a part of it."""
    rate, size = b.cells[0, 2], b.cells[0, 3]
    u, v = (line.x - b.cells[0, 0]) * rate, (line.y - b.cells[0, 1]) * rate
    du, dv = line.apart * line.dx * rate, line.apart * line.dy * rate
    low, high = minimum(u + p * du, u + q * du) - wide, maximum(u + p * du, u + q * du) + wide
    if not (low < size and high >= 0.0):
        return (u, v, du, dv), 0, -1
    return (u, v, du, dv), table_index(floor(low), whole(size)), table_index(floor(high), whole(size))


def rows_under(line: CellLine, p: float, q: float, i: int, wide: float, rows: int) -> tuple[int, int]:
    """Return the first and last row of column i within `wide` cells of a part of a line; none: first > last."""
    u, v, du, dv = line
    t0, t1 = slab(u, du, i - wide - TINY, i + 1.0 + wide + TINY, p, q)
    low, high = minimum(v + t0 * dv, v + t1 * dv) - wide - TINY, maximum(v + t0 * dv, v + t1 * dv) + wide + TINY
    if not (t0 <= t1 and low < rows and high >= 0.0):
        return 0, -1
    return table_index(floor(low), rows), table_index(floor(high), rows)


def radius_at(line: Any, b: Any, row: int, px: float, py: float) -> float:
    """Return the radius (m) of a round obstacle, px, py from the start of a line, at the height of that line."""
    along = clamp((line.c * px + line.s * py) / maximum(line.level, TINY), 0.0, line.apart)
    base, top, wide, narrow = b.solids[row, LOW], b.solids[row, HIGH], b.solids[row, BASE], b.solids[row, TOP]
    share = clamp((line.z + along * line.dz - base) / (top - base), 0.0, 1.0)
    return wide + share * (narrow - wide)  # type: ignore[no-any-return]


def box_part(line: Any, solids: Any, k: int) -> tuple[float, float]:
    """Return where a line enters and leaves a box, in m from its start; enters > leaves: never."""
    cosine, sine, long, broad = solids[k, COSINE], solids[k, SINE], solids[k, LENGTH], solids[k, WIDTH]
    px, py, dx, dy = line.x - solids[k, X], line.y - solids[k, Y], line.dx, line.dy
    enters, leaves = slab(cosine * px + sine * py, cosine * dx + sine * dy, -long, long, 0.0, line.apart)
    enters, leaves = slab(cosine * py - sine * px, cosine * dy - sine * dx, -broad, broad, enters, leaves)
    return slab(line.z, line.dz, solids[k, LOW], solids[k, HIGH], enters, leaves)


def round_part(line: Any, solids: Any, k: int) -> tuple[float, float]:
    """Return where a line enters and leaves a cylinder or a (blunt) cone, as `box_part`."""
    z, dx, dy, dz, reach = line.z, line.dx, line.dy, line.dz, line.apart
    px, py, base, top = line.x - solids[k, X], line.y - solids[k, Y], solids[k, LOW], solids[k, HIGH]
    taper = (solids[k, BASE] - solids[k, TOP]) / (top - base)
    here, change = solids[k, BASE] - taper * (z - base), -taper * dz  # the radius at the height of the line
    low, high = slab(z, dz, base, top, 0.0, reach)
    # |p + t d|^2 <= (here + t change)^2
    a = dx * dx + dy * dy - change * change
    b = px * dx + py * dy - here * change
    c = px * px + py * py - here * here
    root = b * b - a * c
    if not low <= high or (root <= 0.0 and c > 0.0):
        return 1.0, 0.0  # also a line beside a cylinder, along its axis
    if root <= 0.0:  # inside a cone along its axis
        return low, high
    root = sqrt(root)
    # both roots without cancellation
    q = -(b + root) if b > 0.0 else root - b
    first = c / q if q != 0.0 else 0.0
    if absolute(a) < 1e-12:  # along a flank, or along the axis of a cylinder: one root
        if absolute(b) < 1e-12:
            return (low, high) if c <= 0.0 else (1.0, 0.0)
        return (low, minimum(high, first)) if b > 0.0 else (maximum(low, first), high)
    second = q / a
    near, far = minimum(first, second), maximum(first, second)
    if a > 0.0:
        return maximum(low, near), minimum(high, far)
    # the cone closes faster than the line leaves its axis: inside before the one root or after the other
    if c + low * (2.0 * b + low * a) <= 0.0:
        return low, select(near > low, minimum(high, near), high)
    return maximum(low, far), high
