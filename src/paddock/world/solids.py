"""One table of what is solid: obstacles of the world, walls, bodies of vehicles, cones; and grids that find them.

Each solid is a row (`SolidColumn`): a box, frustum, sphere or capsule with any attitude. A grid has square cells. What
moves lies in the cell of its centre, solids larger than a cell behind all cells: such a grid is quickly made, at every
use. The obstacles of a world have one grid for the whole run (`Obstacles`), which rays, contact, avoidance and radio
share: an obstacle lies in every cell that its outline meets, so that a ray visits cells in order and stops at the first
hit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute.math import absolute, floor, maximum, minimum, select, sincos, sqrt, table_index, whole
from paddock.compute.routine import routine
from paddock.compute.twin import shared_code
from paddock.world.columns import Floats

Ints = NDArray[np.int64]


class SolidColumn(NamedTuple):
    """Columns of a table of solids: (n, 20) of boxes, frustums, spheres and capsules with any attitude.

    Those of obstacles, which are upright boxes and frustums, have three more columns (n, 23).
    """

    x: int = 0  # m, centre, and the next two
    axes: int = 3  # the body's forward, left and up axes in the world, three numbers each
    half: int = 12  # m, half the size along these axes; a frustum stands along the last one
    shape: int = 15  # BOX, FRUSTUM, ROUND_BALL or ROUND_BAR
    base: int = 16  # m, radius of a frustum at its lower end
    top: int = 17  # m, radius at its upper end
    reach: int = 18  # m, radius of a sphere around the centre that contains it
    number: int = 19  # of the vehicle (its id), or OBSTACLE, or MOVABLE
    size: int = 20
    low: int = 20  # m, lower end of an obstacle
    high: int = 21  # m, upper end
    entry: int = 22  # its index in `Obstacles.entries`
    obstacle_size: int = 23


SOLID = SolidColumn()
BOX, FRUSTUM, ROUND_BALL, ROUND_BAR = 0.0, 1.0, 2.0, 3.0
"""Shapes: a cylinder or cone is a frustum; a capsule is a bar along its first axis, whose half size includes the round
ends; their radius is the last half size."""
X, Y, SHAPE, BASE, TOP, REACH, NUMBER = 0, 1, SOLID.shape, SOLID.base, SOLID.top, SOLID.reach, SOLID.number
LOW, HIGH, ENTRY = SOLID.low, SOLID.high, SOLID.entry
COSINE, SINE, LENGTH, WIDTH = SOLID.axes, SOLID.axes + 1, SOLID.half, SOLID.half + 1
"""Columns in kernels; the last four of upright boxes: cosine and sine of the heading, half length, half width."""
OBSTACLE, MOVABLE = -1.0, -2.0
"""Numbers of solids that are no vehicles: obstacles; cones that stand in the table of obstacles until they are moved,
and are vehicles as well: what sees vehicles skips them here."""
NOTHING = 1e9  # m: the distance of a ray that meets nothing


class Solids(NamedTuple):
    """Solids, and their grid."""

    table: Floats  # (n, 20 or 23), columns of SolidColumn
    cells: Floats  # (5,) x and y of the corner, 1 / cell, columns, rows
    starts: Ints  # (cells + 1,) places in `items`
    items: Ints  # rows of the table, by cell; of moving solids the large ones at the end
    cover: Ints  # (n, 4) first and last column, first and last row of the cells of each obstacle; (0, 4): moving solids


NO_COVER = np.zeros((0, 4), np.int64)
NO_CELLS = np.array([0.0, 0.0, 1.0, 1.0, 1.0]), np.zeros(2, np.int64), np.zeros(0, np.int64), NO_COVER
NO_SOLIDS = Solids(np.zeros((0, SOLID.size)), *NO_CELLS)

# grids of what moves --------------------------------------------------------------------------------------------------
CELL = 16.0  # m: size of the cells in which solids are found
MOST_CELLS = 1 << 16


def sort_into_cells(x: Any, y: Any, reach: Any, cell: float) -> tuple[Any, Any, Any]:
    """Return cells, starts and items of `Solids` for places with a radius, m; `cell` is the least size of a cell."""
    n = x.size
    low_x, low_y, high_x, high_y = NOTHING, NOTHING, -NOTHING, -NOTHING
    for k in range(n):
        if absolute(x[k]) < NOTHING and absolute(y[k]) < NOTHING:
            low_x, high_x = min(low_x, x[k]), max(high_x, x[k])
            low_y, high_y = min(low_y, y[k]), max(high_y, y[k])
    if low_x > high_x:
        low_x = low_y = high_x = high_y = 0.0
    size = cell
    while (floor((high_x - low_x) / size) + 1.0) * (floor((high_y - low_y) / size) + 1.0) > MOST_CELLS:
        size = 2.0 * size
    columns, rows = whole(floor((high_x - low_x) / size)) + 1, whole(floor((high_y - low_y) / size)) + 1
    cells = empty(5)
    cells[0], cells[1], cells[2], cells[3], cells[4] = low_x, low_y, 1.0 / size, 1.0 * columns, 1.0 * rows
    starts, items, of = empty(columns * rows + 1, dtype=int64), empty(n, dtype=int64), empty(n, dtype=int64)
    starts[:] = 0
    for k in range(n):
        i = table_index(floor((x[k] - low_x) / size), columns)
        j = table_index(floor((y[k] - low_y) / size), rows)
        of[k] = j * columns + i if reach[k] <= size else columns * rows
        if of[k] < columns * rows:
            starts[of[k] + 1] += 1
    for c in range(columns * rows):
        starts[c + 1] += starts[c]
    filled = empty(columns * rows + 1, dtype=int64)
    filled[:] = starts
    for k in range(n):
        items[filled[of[k]]] = k
        filled[of[k]] += 1
    return cells, starts, items


sort_places = routine(sort_into_cells)


def cells_around(x: float, y: float, away: float, cells: Any) -> tuple[int, int, int, int]:
    """Return the first and the last column, and row, of the cells within a distance (m) of a place; none: 0 to -1."""
    columns, rows, rate = whole(cells[3]), whole(cells[4]), cells[2]
    u, v, wide, bound = (x - cells[0]) * rate, (y - cells[1]) * rate, away * rate, 1e15
    left, right = floor(maximum(minimum(u - wide, bound), -bound)), floor(maximum(minimum(u + wide, bound), -bound))
    down, up = floor(maximum(minimum(v - wide, bound), -bound)), floor(maximum(minimum(v + wide, bound), -bound))
    if right >= 0.0 and left < columns and up >= 0.0 and down < rows:
        return table_index(left, columns), table_index(right, columns), table_index(down, rows), table_index(up, rows)
    return 0, -1, 0, -1


def solids_around(x: float, y: float, away: float, solids: Solids) -> tuple[Any, int]:
    """Return rows of the solids that may be within a distance (m) of a place, each once, and how many they are."""
    _, cells, starts, items, cover = solids
    columns, rows = whole(cells[3]), whole(cells[4])
    covers = cover.shape[0] > 0  # obstacles, in all their cells; what moves lies in that of its centre
    i0, i1, j0, j1 = cells_around(x, y, away if covers else away + 1.0 / cells[2], cells)
    most = items.size - starts[columns * rows]
    for j in range(j0, j1 + 1):
        most += starts[j * columns + i1 + 1] - starts[j * columns + i0]
    near, count = empty(most, dtype=int64), 0
    for j in range(j0, j1 + 2):  # at last the large ones, behind the cells
        begin, end = starts[columns * rows], items.size
        if j <= j1:
            begin, end = starts[j * columns + i0], starts[j * columns + i1 + 1]
        for item in range(begin, end):
            k = items[item]
            near[count], first = k, True
            if covers:  # it counts in the first of its cells among these
                corner = j * columns + max(i0, cover[k, 0])
                first = j == max(j0, cover[k, 2]) and item < starts[corner + 1]
            count += first
    return near, count


def solids_of(table: Floats, cell: float = CELL) -> Solids:
    """Return the solids of a table with their grid; `cell` is the least size of a cell, m."""
    if not len(table):
        return NO_SOLIDS
    x, y, reach = (np.ascontiguousarray(table[:, column]) for column in (X, Y, REACH))
    return Solids(table, *sort_places(x, y, reach, cell), NO_COVER)


# obstacles: upright, and never moved ----------------------------------------------------------------------------------
OBSTACLE_TABLES = ("cells", "starts", "items", "solids")
"""Tables of the environment for rays against obstacles: cells, starts and items of the grid in one row each, as float64
like all tables of kernels; and the table of solids."""
MOST_OBSTACLE_CELLS = 1 << 20
MARGIN = 1e-6  # m around an obstacle, against rounding at the edges of cells


@dataclass(frozen=True, eq=False)
class Obstacles:
    """The obstacles of a world: boxes, then cylinders and cones; a wall is a box for each of its straight parts."""

    entries: tuple[Any, ...]  # as in a scenario's `world.obstacles`
    solids: Solids  # (n, 23)

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        """The tables of kernels, in the order of OBSTACLE_TABLES."""
        table, cells, starts, items, _ = self.solids
        return cells[None], starts[None].astype(np.float64), items[None].astype(np.float64), table

    @property
    def table(self) -> Floats:
        """The table of solids (n, 23)."""
        return self.solids.table

    @property
    def count(self) -> int:
        """Number of solids."""
        return len(self.solids.table)

    def outline(self, k: int) -> Floats:
        """Return the corners (4, 2) of a box, counter-clockwise."""
        x, y, c, s, length, width = self.table[k, [X, Y, COSINE, SINE, LENGTH, WIDTH]]
        at = np.array([[-length, -width], [length, -width], [length, width], [-length, width]])
        return np.column_stack([x + c * at[:, 0] - s * at[:, 1], y + s * at[:, 0] + c * at[:, 1]])

    def with_movable(self, entries: Sequence[int]) -> "Obstacles":
        """Return a copy in which cones with these entries are MOVABLE, so that they can be hidden."""
        table = self.table.copy()
        table[np.isin(table[:, ENTRY], entries), NUMBER] = MOVABLE
        return replace(self, solids=self.solids._replace(table=table))

    def hide(self, rows: Ints, standing: Floats) -> None:
        """Let rays pass through some cones; all others are as in the table `standing`."""
        self.table[:] = standing
        self.table[rows, LOW], self.table[rows, HIGH] = -2.0 * NOTHING, 1.0 - 2.0 * NOTHING  # far below
        self.table[rows, BASE] = self.table[rows, TOP] = 0.0


def obstacles_of(entries: tuple[Any, ...], height: Callable[[Floats, Floats], Floats]) -> Obstacles:
    """Return the obstacles of a scenario's `world.obstacles`; `height(x, y)` is the ground under them, m."""
    boxes: list[tuple[float, ...]] = []
    rounds: list[tuple[float, ...]] = []
    corners = [corner for entry in entries for corner in _corners(entry)]
    x, y = np.array([corner[:2] for corner in corners], np.float64).reshape(-1, 2).T
    ground = iter(height(np.ascontiguousarray(x), np.ascontiguousarray(y)).tolist())
    for k, entry in enumerate(entries):
        at = [corner[2] if len(corner) == 3 else z for corner, z in zip(_corners(entry), ground, strict=False)]
        if entry.box is not None:
            length, width, tall = entry.box.size
            sine, cosine = sincos(entry.box.heading)
            size = at[0], at[0] + tall, cosine, sine, 0.5 * length, 0.5 * width
            boxes.append((*entry.box.center[:2], *size, 0.0, 0.0, k))
        elif entry.wall is not None:
            boxes += _wall(k, entry.wall, at)
        else:
            shape = entry.cylinder or entry.cone
            assert shape is not None
            top, wide = shape.radius if entry.cylinder is not None else 0.0, shape.radius
            size = at[0], at[0] + shape.height, 1.0, 0.0, wide, wide
            rounds.append((*shape.center[:2], *size, wide, top, k))
    columns = [X, Y, LOW, HIGH, COSINE, SINE, LENGTH, WIDTH, BASE, TOP, ENTRY]
    table = np.zeros((len(boxes) + len(rounds), SOLID.obstacle_size))
    table[:, columns] = np.array([*boxes, *rounds], np.float64).reshape(-1, len(columns))
    table[len(boxes) :, SHAPE] = FRUSTUM
    low, high, axes = table[:, LOW], table[:, HIGH], SOLID.axes
    table[:, 2], table[:, SOLID.half + 2] = 0.5 * (low + high), 0.5 * (high - low)
    table[:, axes + 3], table[:, axes + 4], table[:, axes + 8] = -table[:, SINE], table[:, COSINE], 1.0
    table[:, REACH] = np.sqrt((table[:, SOLID.half : SHAPE] ** 2).sum(axis=1))
    table[:, NUMBER] = OBSTACLE
    return Obstacles(entries, fixed_solids(table))


def _corners(entry: Any) -> Sequence[tuple[float, ...]]:
    """Return the points whose ground an obstacle stands on."""
    if entry.wall is not None:
        return list(entry.wall.points)
    shape = entry.box or entry.cylinder or entry.cone
    assert shape is not None
    return (shape.center,)


def _wall(k: int, wall: Any, ground: list[float]) -> list[tuple[float, ...]]:
    """Return a box for each straight part, from the lower end's ground to `height` above the higher one's."""
    corners = list(zip(wall.points, ground, strict=True))
    parts: list[tuple[float, ...]] = []
    for ((ax, ay), z_a), ((bx, by), z_b) in pairwise([*corners, *(corners[:1] if wall.closed else ())]):
        length = sqrt((bx - ax) ** 2 + (by - ay) ** 2)
        middle = 0.5 * (ax + bx), 0.5 * (ay + by), min(z_a, z_b), max(z_a, z_b) + wall.height
        parts.append((*middle, (bx - ax) / length, (by - ay) / length, 0.5 * length, 0.5 * wall.thickness, 0.0, 0.0, k))
    return parts


def fixed_solids(table: Floats) -> Solids:
    """Return obstacles with their grid: cells about as large as the obstacles, but not many more than obstacles."""
    if not len(table):
        return Solids(table, *NO_CELLS)
    c, s, length, width = np.abs(table[:, [COSINE, SINE, LENGTH, WIDTH]]).T
    half = np.column_stack([c * length + s * width, s * length + c * width])
    low, high = table[:, :2] - half - MARGIN, table[:, :2] + half + MARGIN
    corner, size = low.min(axis=0), high.max(axis=0) - low.min(axis=0)
    most = min(MOST_OBSTACLE_CELLS, 16 * len(table) + 16)
    cell = max(float(np.median(2.0 * half)), float(np.sqrt(size[0] * size[1] / most)), float(size.max()) / 4096.0)
    columns, rows = (np.floor(size / cell).astype(np.int64) + 1).tolist()
    first = np.clip(np.floor((low - corner) / cell), 0, (columns - 1, rows - 1)).astype(np.int64)
    last = np.clip(np.floor((high - corner) / cell), 0, (columns - 1, rows - 1)).astype(np.int64)
    wide, tall = (last - first + 1).T
    item = np.repeat(np.arange(len(table)), wide * tall)
    within = np.arange(len(item)) - np.repeat(np.cumsum(wide * tall) - wide * tall, wide * tall)
    cells = (first[item, 1] + within // wide[item]) * columns + first[item, 0] + within % wide[item]
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(columns * rows + 1))
    cover = np.column_stack([first[:, 0], last[:, 0], first[:, 1], last[:, 1]])
    return Solids(table, np.array([*corner, 1.0 / cell, columns, rows]), starts, item[order], cover)


NO_OBSTACLES = Obstacles((), fixed_solids(np.zeros((0, SOLID.obstacle_size))))

# rays against obstacles -----------------------------------------------------------------------------------------------


@shared_code
def cast_obstacles(x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, w: Any) -> float:
    """Return the distance (m) along a unit vector to the nearest obstacle within reach, NOTHING without one.

    Walks the cells under the ray in order and stops in the first one that has a hit. A start inside an obstacle is a
    hit at 0.
    """
    corner_x, corner_y, rate = w.cells[0, 0], w.cells[0, 1], w.cells[0, 2]
    columns, rows = whole(w.cells[0, 3]), whole(w.cells[0, 4])
    u, v, du, dv = (x - corner_x) * rate, (y - corner_y) * rate, dx * rate, dy * rate
    enters, leaves = slab(u, du, 0.0, 1.0 * columns, 0.0, reach)
    enters, leaves = slab(v, dv, 0.0, 1.0 * rows, enters, leaves)
    nearest = NOTHING
    if not enters <= leaves:  # NaN too
        return nearest
    i, j = table_index(floor(u + enters * du), columns), table_index(floor(v + enters * dv), rows)
    step_x, step_y = 1 if du > 0.0 else -1, 1 if dv > 0.0 else -1
    next_x = ((i + (du > 0.0)) - u) / du if du != 0.0 else NOTHING
    next_y = ((j + (dv > 0.0)) - v) / dv if dv != 0.0 else NOTHING
    across_x = absolute(1.0 / du) if du != 0.0 else NOTHING
    across_y = absolute(1.0 / dv) if dv != 0.0 else NOTHING
    while 0 <= i < columns and 0 <= j < rows and enters <= leaves and enters <= nearest:
        cell = j * columns + i
        for item in range(whole(w.starts[0, cell]), whole(w.starts[0, cell + 1])):
            hit = ray_solid(x, y, z, dx, dy, dz, w.solids, whole(w.items[0, item]))
            nearest = minimum(nearest, select(hit <= reach, hit, NOTHING))
        if next_x < next_y:
            enters, next_x, i = next_x, next_x + across_x, i + step_x
        else:
            enters, next_y, j = next_y, next_y + across_y, j + step_y
    return nearest


def slab(at: float, along: float, low: float, high: float, enters: float, leaves: float) -> tuple[float, float]:
    """Return the part of a ray, from `enters` to `leaves`, between two parallel planes; enters > leaves: none."""
    if along == 0.0:
        return (enters, leaves) if low <= at <= high else (1.0, 0.0)
    a, b = (low - at) / along, (high - at) / along
    return maximum(enters, minimum(a, b)), minimum(leaves, maximum(a, b))


def ray_solid(x: float, y: float, z: float, dx: float, dy: float, dz: float, solids: Any, k: int) -> float:
    """Return the distance along a ray to obstacle `k`: a box, a cylinder or a cone; NOTHING if it misses."""
    px, py, low, high = x - solids[k, X], y - solids[k, Y], solids[k, LOW], solids[k, HIGH]
    if solids[k, SHAPE] == FRUSTUM:
        return ray_frustum(px, py, z, dx, dy, dz, low, high, solids[k, BASE], solids[k, TOP])
    cosine, sine = solids[k, COSINE], solids[k, SINE]
    half_length, half_width = solids[k, LENGTH], solids[k, WIDTH]
    along, across = cosine * px + sine * py, cosine * py - sine * px
    enters, leaves = slab(along, cosine * dx + sine * dy, -half_length, half_length, 0.0, NOTHING)
    enters, leaves = slab(across, cosine * dy - sine * dx, -half_width, half_width, enters, leaves)
    enters, leaves = slab(z, dz, low, high, enters, leaves)
    return select(enters <= leaves, enters, NOTHING)


def ray_frustum(
    px: float, py: float, z: float, dx: float, dy: float, dz: float, base: float, top: float, wide: float, narrow: float
) -> float:
    """Return the distance along a ray to a frustum about the z axis, NOTHING if it misses.

    It stands from `base` to `top` (m), with the radius `wide` below and `narrow` above.
    """
    radius, taper = wide, (wide - narrow) / (top - base)
    here, change = radius - taper * (z - base), -taper * dz  # the radius at the height of the ray, and its change
    low, high = slab(z, dz, base, top, 0.0, NOTHING)
    # |p + t d|^2 <= (here + t change)^2: inside between the roots, or outside them where the cone closes faster
    a = dx * dx + dy * dy - change * change
    b = px * dx + py * dy - here * change
    c = px * px + py * py - here * here
    if not low <= high:
        return NOTHING
    if c + low * (2.0 * b + low * a) <= 0.0:  # where it enters the layer between base and top
        return low
    root = b * b - a * c
    if root < 0.0:
        return NOTHING
    root = sqrt(root)
    # both roots without cancellation; a = 0 leaves one
    q = -(b + root) if b > 0.0 else root - b
    first = c / q if q != 0.0 else NOTHING
    second = q / a if absolute(a) > 1e-15 else NOTHING
    near, far = minimum(first, second), maximum(first, second)
    if low <= near <= high:
        return near
    return select((low <= far) & (far <= high), far, NOTHING)
