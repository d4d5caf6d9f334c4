"""Everything in a world that never moves: uneven ground and static obstacles, and rays against both.

Obstacles have one table per kind, and a grid that finds those near a place. `boxes` (n, 9): x, y (m, centre), base, top
(m), cosine and sine of the heading, half length, half width (m), number of the entry. `rounds` (n, 7): x, y, base, top,
radius at the base, radius at the top (m; 0: a cone), number of the entry. Walls are boxes, one per straight part. The
grid has square cells; `starts[c]` to `starts[c + 1]` are the places in `items` of the obstacles whose outline meets
cell c: k < boxes is a box, else round number k - boxes. All are tables of float64, so that kernels can carry them.

`cast` is the ray against flat ground; in a world with scenery the engine replaces it by `cast_scenery`, whose
environment has the tables of `SCENERY_TABLES` as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64
from numpy.typing import NDArray

from paddock.compute.kernel import Shared
from paddock.compute.math import absolute, atan2, floor, maximum, minimum, select, sincos, sqrt, table_index, whole
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.compute.twin import shared_code
from paddock.world.columns import Environment
from paddock.world.ground import GROUND_TABLES, Ground, flat_ground, ground_of, uneven_surface

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
OBSTACLE_TABLES = ("cells", "starts", "items", "boxes", "rounds")
"""Tables of the environment: `cells` (1, 5) is x and y of the grid's corner, 1 / cell, columns, rows."""
NOTHING = 1e9  # m: the distance of a ray that meets nothing
MOST_CELLS = 1 << 20
MARGIN = 1e-6  # m around an obstacle, against rounding at the edges of cells
SCENERY_TABLES = (*GROUND_TABLES, "bounds", *OBSTACLE_TABLES)
"""Tables of the environment for rays; `bounds` (1, 1) is the steepest slope of the ground, m per m."""
SCENIC = Shared("environment", Environment, tables=SCENERY_TABLES)
GRAZING = 1e-3  # rays flatter than this (vertical part of a unit vector) do not hit flat ground
CLOSE = 1e-4  # m: a ray this near to the ground has reached it
MOST_STEPS = 1000
SHOWN = 100.0  # m around the origin that viewers get at least


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


def cast(x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, w: Environment) -> float:
    """Return the distance (m) along a unit vector to the flat ground, NOTHING without a hit."""
    return select(-dz > GRAZING, (z - w.ground_z) / maximum(-dz, GRAZING), NOTHING)


def cast_scenery(x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, w: Any) -> float:
    """Return the distance (m) along a unit vector to the ground or an obstacle within reach, NOTHING without a hit."""
    return minimum(cast_ground(x, y, z, dx, dy, dz, reach, w), cast_obstacles(x, y, z, dx, dy, dz, reach, w))


def cast_ground(x: float, y: float, z: float, dx: float, dy: float, dz: float, reach: float, w: Any) -> float:
    """Return the distance (m) along a unit vector to uneven ground within reach, NOTHING without a hit.

    Each step is as long as the ground cannot come nearer than the ray is above it; the last one is Newton's.
    """
    closing = w.bounds[0, 0] * sqrt(dx * dx + dy * dy) - dz  # m per m of the ray, at most
    along = 0.0
    for _ in range(MOST_STEPS):
        here = uneven_surface(x + along * dx, y + along * dy, w)
        gap = z + along * dz - here.height
        if gap < CLOSE:
            nears = here.slope_x * dx + here.slope_y * dy - dz
            along = maximum(along + (gap / nears if nears > GRAZING else 0.0), 0.0)
            return select(along <= reach, along, NOTHING)
        if not (closing > 0.0 and along <= reach):
            return NOTHING
        along += gap / closing
    return select(along <= reach, along, NOTHING)


@dataclass(frozen=True, eq=False)
class Scenery:
    """The ground and the obstacles of a world."""

    ground: Ground
    obstacles: Obstacles
    uneven: bool  # the ground differs from a flat one

    @cached_property
    def tables(self) -> tuple[Floats, ...]:
        """The tables of rays, in the order of SCENERY_TABLES."""
        return (*self.ground.tables, np.array([[self.ground.steepest]]), *self.obstacles.tables)

    def with_own_rounds(self) -> "Scenery":
        """Return a copy whose round obstacles can be hidden without a change of this one."""
        return replace(self, obstacles=replace(self.obstacles, rounds=self.obstacles.rounds.copy()))


@lru_cache(maxsize=4)
def scenery_of(world: Any) -> Scenery | None:
    """Return the scenery of a scenario's section `world`; None: flat ground without obstacles."""
    if world.ground is None and not world.obstacles:
        return None
    ground = flat_ground() if world.ground is None else ground_of(world.ground)
    obstacles = obstacles_of(world.obstacles or (), _heights(world, ground))
    return Scenery(ground, obstacles, world.ground is not None)


def ground_heights(world: Any) -> Callable[[Floats, Floats], Floats]:
    """Return the function of the ground's height (m) at places, arrays x and y, of a scenario's section `world`."""
    scenery = scenery_of(world)
    if scenery is None or not scenery.uneven:
        return lambda x, y: np.full(np.shape(x), world.ground_z)
    return _heights(world, scenery.ground)


def _heights(world: Any, ground: Ground) -> Callable[[Floats, Floats], Floats]:
    values = np.array(Environment(mu=world.mu, ground_z=world.ground_z))
    return lambda x, y: np.asarray(ground.at(x, y, values).height)


def scenery_tree(world: Any, side: int = 128, cones: bool = True) -> dict[str, Any]:
    """Return the scenery of a section `world` for viewers: a grid of the ground, at most `side` per side, obstacles.

    Without `cones` they are left out, where they are vehicles.

    `ground` is None where it is flat. Its grid covers the maps, patches and obstacles, and at least 100 m around the
    origin; heights (m) and friction are row by row from the south-west.
    """
    scenery = scenery_of(world)
    if scenery is None:
        return {"ground_z": world.ground_z, "mu": world.mu, "ground": None, "obstacles": []}
    ground = _ground_tree(world, scenery, side) if scenery.uneven else None
    names = [entry.name for entry in scenery.obstacles.entries]
    obstacles: list[dict[str, Any]] = []
    for x, y, low, high, c, s, length, width, k in scenery.obstacles.boxes.tolist():
        kind = scenery.obstacles.entries[int(k)].kind
        size = {"length": 2.0 * length, "width": 2.0 * width, "heading": atan2(s, c), "radius": None}
        obstacles.append({"name": names[int(k)], "kind": kind, "x": x, "y": y, "base": low, "top": high, **size})
    for x, y, low, high, radius, _, k in scenery.obstacles.rounds.tolist():
        kind = scenery.obstacles.entries[int(k)].kind
        if kind == "cone" and not cones:
            continue
        size = {"length": None, "width": None, "heading": 0.0, "radius": radius}
        obstacles.append({"name": names[int(k)], "kind": kind, "x": x, "y": y, "base": low, "top": high, **size})
    return {"ground_z": world.ground_z, "mu": world.mu, "ground": ground, "obstacles": obstacles}


def _ground_tree(world: Any, scenery: Scenery, side: int) -> dict[str, Any]:
    """Return the ground on a square grid."""
    assert world.ground is not None
    low, high = np.full(2, -SHOWN), np.full(2, SHOWN)
    for shown in (world.ground.height_map, world.ground.friction_map):
        if shown is not None:
            corner, size = np.array(shown.corner), np.array([shown.values.columns, shown.values.rows]) - 1
            low, high = np.minimum(low, corner), np.maximum(high, corner + size * shown.spacing)
    for table in (scenery.obstacles.boxes, scenery.obstacles.rounds):
        if len(table):
            low, high = np.minimum(low, table[:, :2].min(axis=0)), np.maximum(high, table[:, :2].max(axis=0))
    cell = float((high - low).max()) / (side - 1)
    columns, rows = (np.ceil((high - low) / cell - 1e-9).astype(int) + 1).tolist()
    x, y = np.meshgrid(low[0] + cell * np.arange(columns), low[1] + cell * np.arange(rows))
    values = np.array(Environment(mu=world.mu, ground_z=world.ground_z))
    found = scenery.ground.at(x, y, values)
    heights, mu = np.broadcast_to(found.height, x.shape), np.broadcast_to(found.mu, x.shape)
    flat = bool((mu == mu.flat[0]).all())
    return {
        "x": float(low[0]),
        "y": float(low[1]),
        "cell": cell,
        "rows": rows,
        "columns": columns,
        "heights": np.round(heights, 4).ravel().tolist(),
        "friction": None if flat else np.round(mu, 4).ravel().tolist(),
    }
