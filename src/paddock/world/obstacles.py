"""Static obstacles: one table per kind, a grid that finds those near a place, and rays against them.

`boxes` (n, 9): x, y (m, centre), base, top (m), cosine and sine of the heading, half length, half width (m), number of
the entry. `rounds` (n, 7): x, y, base, top, radius at the base, radius at the top (m; 0: a cone), number of the entry.
Walls are boxes, one per straight part. The grid has square cells; `starts[c]` to `starts[c + 1]` are the places in
`items` of the obstacles whose outline meets cell c: k < boxes is a box, else round number k - boxes. All are tables of
float64, so that kernels can carry them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute.math import absolute, floor, maximum, minimum, select, sincos, sqrt, table_index, whole
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.compute.twin import shared_code

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
OBSTACLE_TABLES = ("cells", "starts", "items", "boxes", "rounds")
"""Tables of the environment: `cells` (1, 5) is x and y of the grid's corner, 1 / cell, columns, rows."""
NOTHING = 1e9  # m: the distance of a ray that meets nothing
MOST_CELLS = 1 << 20
MARGIN = 1e-6  # m around an obstacle, against rounding at the edges of cells


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
    boxes = w.boxes.shape[0]
    while 0 <= i < columns and 0 <= j < rows and enters <= leaves and enters <= nearest:
        cell = j * columns + i
        for place in range(whole(w.starts[0, cell]), whole(w.starts[0, cell + 1])):
            k = whole(w.items[0, place])
            if k < boxes:
                hit = ray_box(x, y, z, dx, dy, dz, w.boxes, k)
            else:
                hit = ray_round(x, y, z, dx, dy, dz, w.rounds, k - boxes)
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


def ray_box(x: float, y: float, z: float, dx: float, dy: float, dz: float, boxes: Any, k: int) -> float:
    """Return the distance along a ray to a box, NOTHING if it misses."""
    cosine, sine = boxes[k, 4], boxes[k, 5]
    px, py = x - boxes[k, 0], y - boxes[k, 1]
    half_length, half_width = boxes[k, 6], boxes[k, 7]
    along, across = cosine * px + sine * py, cosine * py - sine * px
    enters, leaves = slab(along, cosine * dx + sine * dy, -half_length, half_length, 0.0, NOTHING)
    enters, leaves = slab(across, cosine * dy - sine * dx, -half_width, half_width, enters, leaves)
    enters, leaves = slab(z, dz, boxes[k, 2], boxes[k, 3], enters, leaves)
    return select(enters <= leaves, enters, NOTHING)


def ray_round(x: float, y: float, z: float, dx: float, dy: float, dz: float, rounds: Any, k: int) -> float:
    """Return the distance along a ray to a cylinder or a (blunt) cone, NOTHING if it misses."""
    px, py, base, top = x - rounds[k, 0], y - rounds[k, 1], rounds[k, 2], rounds[k, 3]
    return ray_frustum(px, py, z, dx, dy, dz, base, top, rounds[k, 4], rounds[k, 5])


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


@dataclass(frozen=True, eq=False)
class Obstacles:
    """The obstacles of a world, as tables in the order of OBSTACLE_TABLES."""

    entries: tuple[Any, ...]  # as in a scenario's `world.obstacles`
    cells: Floats
    starts: Floats
    items: Floats
    boxes: Floats
    rounds: Floats

    @property
    def tables(self) -> tuple[Floats, ...]:
        """The tables of kernels."""
        return self.cells, self.starts, self.items, self.boxes, self.rounds

    @property
    def count(self) -> int:
        """Number of boxes and round obstacles."""
        return len(self.boxes) + len(self.rounds)

    def cast(self, origins: Floats, directions: Floats, reach: float) -> Floats:
        """Return the distance of each ray (n, 3) along its unit vector (n, 3) to the nearest obstacle; inf: none."""
        found = np.empty(len(origins))
        given = np.ascontiguousarray(origins, np.float64), np.ascontiguousarray(directions, np.float64)
        cast_rays(*given, float(reach), self.cells, self.starts, self.items, self.boxes, self.rounds, found)
        return np.where(found >= NOTHING, np.inf, found)

    def near(self, low: Any, high: Any) -> Ints:
        """Return the numbers (as in `items`, ascending) of the obstacles whose cells meet a box [x, y] low to high."""
        (x0, y0), (x1, y1) = map(float, low), map(float, high)
        return np.unique(candidates(x0, y0, x1, y1, self.cells, self.starts, self.items))

    def hide(self, rows: Ints, given: Floats) -> None:
        """Let rays pass through some of `rounds`; all others are as in `given`."""
        self.rounds[:] = given
        self.rounds[rows, 2:6] = -2.0 * NOTHING, 1.0 - 2.0 * NOTHING, 0.0, 0.0  # far below

    def outline(self, k: int) -> Floats:
        """Return the corners (4, 2) of a box, counter-clockwise."""
        x, y, _, _, c, s, length, width, _ = self.boxes[k]
        at = np.array([[-length, -width], [length, -width], [length, width], [-length, width]])
        return np.column_stack([x + c * at[:, 0] - s * at[:, 1], y + s * at[:, 0] + c * at[:, 1]])


class ObstacleTuple(NamedTuple):
    """The tables, where rays are cast outside the kernels of fleets."""

    cells: Any
    starts: Any
    items: Any
    boxes: Any
    rounds: Any


def _cast_rays(
    origins: Floats,
    directions: Floats,
    reach: float,
    cells: Floats,
    starts: Floats,
    items: Floats,
    boxes: Floats,
    rounds: Floats,
    found: Floats,
) -> None:
    """Cast every ray."""
    for k in parallel_range(len(origins)):
        w = ObstacleTuple(cells, starts, items, boxes, rounds)
        x, y, z = origins[k, 0], origins[k, 1], origins[k, 2]
        dx, dy, dz = directions[k, 0], directions[k, 1], directions[k, 2]
        found[k] = cast_obstacles(x, y, z, dx, dy, dz, reach, w)


def _candidates(
    low_x: float, low_y: float, high_x: float, high_y: float, cells: Floats, starts: Floats, items: Floats
) -> Ints:
    """Return the items of all cells that meet a box, some of them several times."""
    columns, rows, rate = whole(cells[0, 3]), whole(cells[0, 4]), cells[0, 2]
    i0, i1 = floor((low_x - cells[0, 0]) * rate), floor((high_x - cells[0, 0]) * rate)
    j0, j1 = floor((low_y - cells[0, 1]) * rate), floor((high_y - cells[0, 1]) * rate)
    if not (i0 < columns and j0 < rows and i1 >= 0.0 and j1 >= 0.0):
        return empty(0, dtype=int64)
    left, right, bottom, top = (
        table_index(i0, columns),
        table_index(i1, columns),
        table_index(j0, rows),
        table_index(j1, rows),
    )
    count = 0
    for j in range(bottom, top + 1):
        count += whole(starts[0, j * columns + right + 1]) - whole(starts[0, j * columns + left])
    found, at = empty(count, dtype=int64), 0
    for j in range(bottom, top + 1):
        for place in range(whole(starts[0, j * columns + left]), whole(starts[0, j * columns + right + 1])):
            found[at] = whole(items[0, place])
            at += 1
    return found


cast_rays, candidates = parallel_routine(_cast_rays), routine(_candidates)


def obstacles_of(entries: tuple[Any, ...], height: Callable[[Floats, Floats], Floats]) -> Obstacles:
    """Return the obstacles of a scenario's `world.obstacles`; `height(x, y)` is the ground under them, m."""
    boxes: list[tuple[float, ...]] = []
    rounds: list[tuple[float, ...]] = []
    places = [place for entry in entries for place in _places(entry)]
    x, y = np.array([place[:2] for place in places], np.float64).reshape(-1, 2).T
    ground = iter(height(np.ascontiguousarray(x), np.ascontiguousarray(y)).tolist())
    for k, entry in enumerate(entries):
        at = [place[2] if len(place) == 3 else z for place, z in zip(_places(entry), ground, strict=False)]
        if entry.box is not None:
            length, width, tall = entry.box.size
            sine, cosine = sincos(entry.box.heading)
            place = *entry.box.center[:2], at[0], at[0] + tall
            boxes.append((*place, cosine, sine, 0.5 * length, 0.5 * width, k))
        elif entry.wall is not None:
            boxes += _wall(k, entry.wall, at)
        else:
            shape = entry.cylinder or entry.cone
            assert shape is not None
            top = shape.radius if entry.cylinder is not None else 0.0
            rounds.append((*shape.center[:2], at[0], at[0] + shape.height, shape.radius, top, k))
    tables = np.array(boxes, np.float64).reshape(-1, 9), np.array(rounds, np.float64).reshape(-1, 7)
    return Obstacles(entries, *_index(*tables), *tables)


def _places(entry: Any) -> Sequence[tuple[float, ...]]:
    """Return the places whose ground an obstacle stands on."""
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
        place = 0.5 * (ax + bx), 0.5 * (ay + by), min(z_a, z_b), max(z_a, z_b) + wall.height
        parts.append((*place, (bx - ax) / length, (by - ay) / length, 0.5 * length, 0.5 * wall.thickness, k))
    return parts


def _index(boxes: Floats, rounds: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the grid: cells about as large as the obstacles, but not many more cells than obstacles."""
    reach_x = np.abs(boxes[:, 4]) * boxes[:, 6] + np.abs(boxes[:, 5]) * boxes[:, 7]
    reach_y = np.abs(boxes[:, 5]) * boxes[:, 6] + np.abs(boxes[:, 4]) * boxes[:, 7]
    half = np.concatenate([np.column_stack([reach_x, reach_y]), rounds[:, 4:5].repeat(2, axis=1)])
    middle = np.concatenate([boxes[:, :2], rounds[:, :2]])
    if not len(middle):
        return np.array([[0.0, 0.0, 1.0, 1.0, 1.0]]), np.zeros((1, 2)), np.zeros((1, 1))
    low, high = middle - half - MARGIN, middle + half + MARGIN
    corner, size = low.min(axis=0), high.max(axis=0) - low.min(axis=0)
    most = min(MOST_CELLS, 16 * len(middle) + 16)
    cell = max(float(np.median(2.0 * half)), float(np.sqrt(size[0] * size[1] / most)), float(size.max()) / 4096.0)
    columns, rows = (np.floor(size / cell).astype(np.int64) + 1).tolist()
    first = np.clip(np.floor((low - corner) / cell), 0, (columns - 1, rows - 1)).astype(np.int64)
    last = np.clip(np.floor((high - corner) / cell), 0, (columns - 1, rows - 1)).astype(np.int64)
    wide, tall = (last - first + 1).T
    item = np.repeat(np.arange(len(middle)), wide * tall)
    within = np.arange(len(item)) - np.repeat(np.cumsum(wide * tall) - wide * tall, wide * tall)
    cells = (first[item, 1] + within // wide[item]) * columns + first[item, 0] + within % wide[item]
    order = np.argsort(cells, kind="stable")
    starts = np.searchsorted(cells[order], np.arange(columns * rows + 1))
    header = np.array([[*corner, 1.0 / cell, columns, rows]])
    return header, starts[None].astype(np.float64), item[order][None].astype(np.float64)
