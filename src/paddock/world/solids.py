"""One table of what is solid: obstacles of the world, walls, bodies of vehicles, cones; and a grid that finds them.

Each solid is a row (`SolidColumn`): a box, frustum, sphere or capsule with any attitude. The grid has square cells; a
solid lies in the cell of its centre, those larger than a cell behind all cells.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute.math import absolute, floor, maximum, minimum, table_index, whole
from paddock.compute.routine import routine
from paddock.world.columns import Floats
from paddock.world.scenery import NOTHING, Obstacles

Ints = NDArray[np.int64]


class SolidColumn(NamedTuple):
    """Columns of a table of solids (n, 20): boxes, frustums, spheres and capsules with any attitude."""

    x: int = 0  # m, centre, and the next two
    axes: int = 3  # the body's forward, left and up axes in the world, three numbers each
    half: int = 12  # m, half the size along these axes; a frustum stands along the last one
    shape: int = 15  # BOX, FRUSTUM, ROUND_BALL or ROUND_BAR
    base: int = 16  # m, radius of a frustum at its lower end
    top: int = 17  # m, radius at its upper end
    reach: int = 18  # m, radius of a sphere around the centre that contains it
    number: int = 19  # of the vehicle (its id), or -1
    size: int = 20


SOLID = SolidColumn()
BOX, FRUSTUM, ROUND_BALL, ROUND_BAR = 0.0, 1.0, 2.0, 3.0
"""Shapes: a cylinder or cone is a frustum; a capsule is a bar along its first axis, whose half size includes the round
ends; their radius is the last half size."""


class Solids(NamedTuple):
    """Solids, and their grid."""

    table: Floats  # (n, 20), columns of SolidColumn
    cells: Floats  # (5,) x and y of the corner, 1 / cell, columns, rows
    starts: Ints  # (cells + 1,) places in `items`
    items: Ints  # (n,) rows of the table, by cell; the large ones at the end


NO_SOLIDS = Solids(
    np.zeros((0, SOLID.size)), np.array([0.0, 0.0, 1.0, 1.0, 1.0]), np.zeros(2, np.int64), np.zeros(0, np.int64)
)
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


def solids_of(table: Floats, cell: float = CELL) -> Solids:
    """Return the solids of a table with their grid; `cell` is the least size of a cell, m."""
    if not len(table):
        return NO_SOLIDS
    x, y, reach = (np.ascontiguousarray(table[:, column]) for column in (SOLID.x, SOLID.x + 1, SOLID.reach))
    return Solids(table, *sort_places(x, y, reach, cell))


def obstacle_solids(obstacles: Obstacles, keep: Callable[[int], bool] = lambda entry: True) -> tuple[Floats, Ints]:
    """Return the obstacles of a world as solids, and the number of the entry of each: boxes, then rounds.

    `keep(entry)`: whether a round obstacle is among them.
    """
    boxes = np.zeros((len(obstacles.boxes), SOLID.size))
    x, y, low, high, c, s, length, width, _ = obstacles.boxes.T
    boxes[:, :3] = np.stack([x, y, 0.5 * (low + high)], axis=1)
    zero, one = np.zeros_like(c), np.ones_like(c)
    boxes[:, SOLID.axes : SOLID.half] = np.stack([c, s, zero, -s, c, zero, zero, zero, one], axis=1)
    boxes[:, SOLID.half : SOLID.shape] = np.stack([length, width, 0.5 * (high - low)], axis=1)
    boxes[:, SOLID.shape] = BOX
    kept = obstacles.rounds[[keep(int(entry)) for entry in obstacles.rounds[:, -1]]]
    rounds = np.zeros((len(kept), SOLID.size))
    x, y, low, high, base, top, _ = kept.T
    rounds[:, :3] = np.stack([x, y, 0.5 * (low + high)], axis=1)
    rounds[:, SOLID.axes : SOLID.half] = np.eye(3).reshape(-1)
    wide = np.maximum(base, top)
    rounds[:, SOLID.half : SOLID.shape] = np.stack([wide, wide, 0.5 * (high - low)], axis=1)
    rounds[:, SOLID.shape], rounds[:, SOLID.base], rounds[:, SOLID.top] = FRUSTUM, base, top
    table = np.concatenate([boxes, rounds])
    table[:, SOLID.reach] = np.sqrt((table[:, SOLID.half : SOLID.shape] ** 2).sum(axis=1))
    table[:, SOLID.number] = -1.0
    return table, np.concatenate([obstacles.boxes[:, -1], kept[:, -1]]).astype(np.int64)
