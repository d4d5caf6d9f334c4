"""Everything in a world that never moves: uneven ground and static obstacles (`solids.py`), and rays against both.

`cast` is the ray against flat ground; in a world with scenery the engine replaces it by `cast_scenery`, whose
environment has the tables of `SCENERY_TABLES` as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from paddock.compute.kernel import Shared
from paddock.compute.math import atan2, maximum, minimum, select, sqrt
from paddock.world.columns import Environment, Floats
from paddock.world.ground import GROUND_TABLES, Ground, flat_ground, ground_of, uneven_surface
from paddock.world.solids import (
    BASE,
    BOX,
    COSINE,
    ENTRY,
    HIGH,
    LENGTH,
    LOW,
    NOTHING,
    OBSTACLE_TABLES,
    SHAPE,
    SINE,
    WIDTH,
    Obstacles,
    X,
    Y,
    cast_obstacles,
    obstacles_of,
)

SCENERY_TABLES = (*GROUND_TABLES, "bounds", *OBSTACLE_TABLES)
"""Tables of the environment for rays; `bounds` (1, 1) is the steepest slope of the ground, m per m."""
SCENIC = Shared("environment", Environment, tables=SCENERY_TABLES)
GRAZING = 1e-3  # rays flatter than this (vertical part of a unit vector) do not hit flat ground
CLOSE = 1e-4  # m: a ray this near to the ground has reached it
MOST_STEPS = 1000
SHOWN = 100.0  # m around the origin that viewers get at least


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

    def with_movable(self, entries: Sequence[int]) -> "Scenery":
        """Return a copy in which the obstacles of these entries are vehicles: rays pass through those that are hidden.

        This one, which other runs share, does not change.
        """
        return replace(self, obstacles=self.obstacles.with_movable(entries))


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
    obstacles: list[dict[str, Any]] = []
    for row in scenery.obstacles.table.tolist():
        entry, size = scenery.obstacles.entries[int(row[ENTRY])], {"length": None, "width": None, "heading": 0.0}
        if entry.kind == "cone" and not cones:
            continue
        if row[SHAPE] == BOX:
            heading = atan2(row[SINE], row[COSINE])
            size = {"length": 2.0 * row[LENGTH], "width": 2.0 * row[WIDTH], "heading": heading}
        place = {"x": row[X], "y": row[Y], "base": row[LOW], "top": row[HIGH]}
        radius = None if row[SHAPE] == BOX else row[BASE]
        obstacles.append({"name": entry.name, "kind": entry.kind, **place, **size, "radius": radius})
    return {"ground_z": world.ground_z, "mu": world.mu, "ground": ground, "obstacles": obstacles}


def _ground_tree(world: Any, scenery: Scenery, side: int) -> dict[str, Any]:
    """Return the ground on a square grid."""
    assert world.ground is not None
    low, high = np.full(2, -SHOWN), np.full(2, SHOWN)
    for shown in (world.ground.height_map, world.ground.friction_map):
        if shown is not None:
            corner, size = np.array(shown.corner), np.array([shown.values.columns, shown.values.rows]) - 1
            low, high = np.minimum(low, corner), np.maximum(high, corner + size * shown.spacing)
    if scenery.obstacles.count:
        centres = scenery.obstacles.table[:, :2]
        low, high = np.minimum(low, centres.min(axis=0)), np.maximum(high, centres.max(axis=0))
    cell = float((high - low).max()) / (side - 1)
    columns, rows = (np.ceil((high - low) / cell - 1e-9).astype(int) + 1).tolist()
    x, y = np.meshgrid(low[0] + cell * np.arange(columns), low[1] + cell * np.arange(rows))
    values = np.array(Environment(mu=world.mu, ground_z=world.ground_z))
    surface = scenery.ground.at(x, y, values)
    heights, mu = np.broadcast_to(surface.height, x.shape), np.broadcast_to(surface.mu, x.shape)
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
