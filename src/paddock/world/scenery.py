"""Everything in a world that never moves: uneven ground and static obstacles, and rays against both.

`cast` is the ray against flat ground; in a world with scenery the engine replaces it by `cast_scenery`, whose
environment has the tables of `SCENERY_TABLES` as well.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import Shared
from paddock.compute.math import maximum, minimum, select, sqrt
from paddock.scenario.scenario import WorldSection
from paddock.world.ground import GROUND_TABLES, Ground, ground_of, uneven_surface
from paddock.world.obstacles import NOTHING, OBSTACLE_TABLES, Obstacles, cast_obstacles, obstacles_of
from paddock.world.pose import Environment

Floats = NDArray[np.float64]
SCENERY_TABLES = (*GROUND_TABLES, "bounds", *OBSTACLE_TABLES)
"""Tables of the environment for rays; `bounds` (1, 1) is the steepest slope of the ground, m per m."""
SCENIC = Shared("environment", Environment, tables=SCENERY_TABLES)
GRAZING = 1e-3  # rays flatter than this (vertical part of a unit vector) do not hit flat ground
CLOSE = 1e-4  # m: a ray this near to the ground has reached it
MOST_STEPS = 1000


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
            return maximum(along + (gap / nears if nears > GRAZING else 0.0), 0.0)
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


@lru_cache(maxsize=4)
def scenery_of(world: WorldSection) -> Scenery | None:
    """Return the scenery of a scenario's section `world`; None: flat ground without obstacles."""
    if world.ground is None and not world.obstacles:
        return None
    ground = ground_of(world.ground)
    obstacles = obstacles_of(world.obstacles or (), _heights(world, ground))
    return Scenery(ground, obstacles, world.ground is not None)


def ground_heights(world: WorldSection) -> Callable[[Floats, Floats], Floats]:
    """Return the function of the ground's height (m) at places, arrays x and y, of a scenario's section `world`."""
    scenery = scenery_of(world)
    if scenery is None or not scenery.uneven:
        return lambda x, y: np.full(np.shape(x), world.ground_z)
    return _heights(world, scenery.ground)


def _heights(world: WorldSection, ground: Ground) -> Callable[[Floats, Floats], Floats]:
    values = np.array(Environment(mu=world.mu, ground_z=world.ground_z))
    return lambda x, y: np.asarray(ground.at(x, y, values).height)
