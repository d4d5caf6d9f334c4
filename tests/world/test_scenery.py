"""Static obstacles and rays: analytic hits, many rays against a march through implicit shapes, the grid, the view."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paddock.compute.kernel import shared_tuple
from paddock.compute.routine import routine
from paddock.errors import PaddockError
from paddock.scenario import load_scenario
from paddock.world.columns import Environment
from paddock.world.scenery import SCENIC, Scenery, cast_scenery, scenery_of, scenery_tree
from paddock.world.solids import (
    BASE,
    COSINE,
    FRUSTUM,
    HIGH,
    LENGTH,
    LOW,
    NOTHING,
    SHAPE,
    SINE,
    TOP,
    WIDTH,
    Obstacles,
    X,
    Y,
    cast_obstacles,
    fixed_solids,
    ray_solid,
    solids_around,
)
from paddock.world.solids import (
    BOX as BOX_SHAPE,
)

BOX = {"box": {"center": [10, 0], "size": [2, 4, 3]}}
TURNED = {"name": "crate", "box": {"center": [0, 30, 1], "size": [2, 2, 2], "heading": 0.25 * np.pi}}
CYLINDER = {"cylinder": {"center": [0, 10], "radius": 1, "height": 5}}
CONE = {"cone": {"center": [0, -10], "radius": 1, "height": 2}}
WALL = {"wall": {"points": [[-10, -5], [-10, 5], [-20, 5]], "height": 2, "thickness": 0.4}}


def scenery(*entries: Any, **ground: Any) -> Scenery:
    world: dict[str, Any] = {"obstacles": list(entries), **({"ground": ground} if ground else {})}
    made = scenery_of(load_scenario({"world": world, "vehicles": []}).world)
    assert made is not None
    return made


class ObstacleTables(NamedTuple):
    """Names the tables for `cast_obstacles`."""

    cells: Any
    starts: Any
    items: Any
    solids: Any


def _cast_rays(origins: Any, directions: Any, reach: float, w: Any, distances: Any) -> None:
    for k in range(len(origins)):
        x, y, z = origins[k, 0], origins[k, 1], origins[k, 2]
        dx, dy, dz = directions[k, 0], directions[k, 1], directions[k, 2]
        distances[k] = cast_obstacles(x, y, z, dx, dy, dz, reach, w)


cast_rays, around = routine(_cast_rays), routine(solids_around)


def cast_all(made: Obstacles, origins: np.ndarray, directions: np.ndarray, reach: float) -> np.ndarray:
    """Return the distance of each ray (n, 3) along its unit vector to the nearest obstacle; inf: none."""
    distances = np.empty(len(origins))
    cast_rays(origins, directions, reach, ObstacleTables(*made.tables), distances)
    return np.where(distances >= NOTHING, np.inf, distances)


def cast(made: Obstacles, origin: list[float], direction: list[float], reach: float = 100.0) -> float:
    unit = np.array([direction], float) / np.linalg.norm(direction)
    return float(cast_all(made, np.array([origin], float), unit, reach)[0])


def test_rays_hit_where_geometry_says() -> None:
    made = scenery(BOX, TURNED, CYLINDER, CONE, WALL).obstacles
    for direction, distance in (([1, 0, 0], 9.0), ([0, 1, 0], 9.0), ([0, -1, 0], 9.5), ([-1, 0, 0], 9.8)):
        assert cast(made, [0, 0, 1], direction) == pytest.approx(distance, abs=1e-12)
    assert cast(made, [0, 0, 1], [0.6, 0.8, 0.0]) == np.inf
    assert cast(made, [0, 0, 1], [1, 0, 0], reach=8.9) == np.inf
    for position, distance in (([10, 0, 9], 6.0), ([0, 10, 9], 4.0), ([0, -10, 9], 7.0), ([0, -9.5, 9], 8.0)):
        assert cast(made, position, [0, 0, -1]) == pytest.approx(distance, abs=1e-12)  # half of the cone's height
    assert cast(made, [0, 20, 2], [0, 1, 0]) == pytest.approx(10.0 - np.sqrt(2.0))  # the corner of the turned box
    assert cast(made, [0, 20, 0.9], [0, 1, 0]) == np.inf  # under it
    assert cast(made, [10, 0.5, 1], [0, 1, 0]) == 0.0  # from inside
    assert cast(made, [-15, 5, 9], [0, 0, -1]) == 7.0  # the second part of the wall
    # x = 3 k - 3 and z = 3 - 2 k meet the cone's -x = 1 - z / 2 at k = 7 / 8
    assert cast(made, [-3, -10, 3], [3, 0, -2]) == pytest.approx(np.hypot(3.0, 2.0) * 7.0 / 8.0)


def forest(count: int) -> list[Any]:
    rng = np.random.default_rng(1)
    trees: list[Any] = []
    for k in range(count):
        position, size = rng.uniform(-200, 200, 2).tolist(), rng.uniform(1, 8, 3).tolist()
        kinds = (
            {"box": {"center": position, "size": size, "heading": size[0]}},
            {"cylinder": {"center": position, "radius": size[0] / 2, "height": 3 * size[1]}},
            {"cone": {"center": position, "radius": size[0] / 2, "height": 3 * size[1]}},
        )
        trees.append(kinds[k % 3])
    return trees


def rays(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    directions = rng.normal(size=(count, 3)) * [1, 1, 0.3]
    origins = np.column_stack([rng.uniform(-210, 210, (count, 2)), rng.uniform(-1, 25, count)])
    return origins, directions / np.linalg.norm(directions, axis=1)[:, None]


def inside(made: Obstacles, places: np.ndarray) -> np.ndarray:
    """Return whether places (n, 3) are inside any shape, by its definition."""
    x, y, z = (column[:, None] for column in places.T)
    t = made.table
    px, py, rounded = x - t[:, X], y - t[:, Y], t[:, SHAPE] == FRUSTUM
    along, across = t[:, COSINE] * px + t[:, SINE] * py, t[:, COSINE] * py - t[:, SINE] * px
    radius = t[:, BASE] + (t[:, TOP] - t[:, BASE]) * (z - t[:, LOW]) / (t[:, HIGH] - t[:, LOW])
    boxed = (np.abs(along) <= t[:, LENGTH]) & (np.abs(across) <= t[:, WIDTH])
    within = np.where(rounded, np.hypot(px, py) <= radius, boxed)
    return np.asarray((within & (z >= t[:, LOW]) & (z <= t[:, HIGH])).any(axis=1))


@pytest.mark.usefixtures("all_threads")
def test_many_rays_among_many_obstacles() -> None:
    made, (origins, directions) = scenery(*forest(600)).obstacles, rays(4000)
    distances = cast_all(made, origins, directions, 80.0)
    assert 0.2 < np.isfinite(distances).mean() < 0.9
    steps = np.arange(0.0, 80.0, 0.05)
    for k in range(60):  # marched
        hits = np.flatnonzero(inside(made, origins[k] + steps[:, None] * directions[k]))
        marched = steps[hits[0]] if len(hits) else np.inf
        assert marched == distances[k] or 0.0 <= marched - distances[k] <= 0.051, k
    for k in range(20):  # every obstacle, without the grid
        each = [ray_solid(*origins[k], *directions[k], made.table, i) for i in range(made.count)]
        assert distances[k] == (min(each) if min(each) <= 80.0 else np.inf)


def test_the_grid_finds_every_obstacle_near_a_place_once() -> None:
    solids = scenery(*forest(600)).obstacles.solids
    for x, y, away in ((-5.0, 5.0, 25.0), (150.0, -190.0, 3.0), (0.0, 0.0, 500.0), (900.0, 900.0, 10.0)):
        near, count = around(x, y, away, solids)
        rows = near[:count].tolist()
        assert len(set(rows)) == count
        apart = np.abs(solids.table[:, :2] - [x, y]).max(axis=1)
        assert set(np.flatnonzero(apart <= away).tolist()) <= set(rows)
        assert count == 600 if away == 500.0 else count < 200
    alone = fixed_solids(solids.table[:1])
    assert around(*alone.table[0, :2].tolist(), 0.0, alone)[1] == 1


def test_obstacles_stand_on_their_ground() -> None:
    made = scenery(BOX, WALL, CYLINDER, TURNED, grade=0.1).obstacles
    ends = [[1.0, 4.0], [-1.0, 1.0], [-2.0, 1.0], [1.0, 3.0], [0.0, 5.0]]
    assert_allclose(made.table[:, [LOW, HIGH]], ends, atol=1e-12)
    assert_array_equal(made.table[:, SHAPE], [BOX_SHAPE] * 4 + [FRUSTUM])
    with pytest.raises(PaddockError, match=r"world.obstacles\[0\].wall.points\[1\]: two corners in a row are equal"):
        scenery({"wall": {"points": [[1, 2], [1, 2]]}})


def test_rays_against_a_slope_a_hill_and_what_stands_there() -> None:
    """A plane z = 0.2 x: from height h above it, straight down h, along the normal h / sqrt(1.04), level h / 0.2."""
    made, environment = scenery(CYLINDER, grade=0.2), shared_tuple(SCENIC)
    w: Any = environment(*Environment(), *made.tables)  # type: ignore[call-arg]
    ray = cast_scenery  # compiled, it is part of sensors: no kernel of its own here
    steep = np.sqrt(1.04)
    assert ray(10.0, 0.0, 5.0, 0.0, 0.0, -1.0, 40.0, w) == pytest.approx(3.0, abs=1e-9)
    assert ray(10.0, 0.0, 5.0, 0.2 / steep, 0.0, -1.0 / steep, 40.0, w) == pytest.approx(3.0 / steep, abs=1e-9)
    assert ray(10.0, 0.0, 5.0, 1.0, 0.0, 0.0, 40.0, w) == pytest.approx(15.0, abs=1e-9)
    assert ray(10.0, 0.0, 5.0, 1.0, 0.0, 0.0, 14.0, w) == 1e9
    assert ray(10.0, 0.0, 5.0, -1.0, 0.0, 0.0, 40.0, w) == 1e9
    assert ray(0.0, 10.0, 8.0, 0.0, 0.0, -1.0, 40.0, w) == pytest.approx(3.0, abs=1e-9)  # the top of the cylinder
    x = np.arange(-20.0, 21.0)
    bowl = (0.05 * x[None, :] ** 2 + 0.0 * x[:, None]).tolist()  # z = x^2 / 20
    hill = scenery(height_map={"values": bowl, "cell": 1.0, "origin": [-20, -20]})
    w = environment(*Environment(), *hill.tables)
    assert ray(0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 40.0, w) == pytest.approx(10.0, abs=1e-6)
    assert ray(0.0, 0.0, 5.0, -0.6, 0.0, -0.8, 40.0, w) == pytest.approx(5.0 * (-0.8 + np.sqrt(0.64 + 0.36)) / 0.18)


def test_the_view_of_the_scenery() -> None:
    world = load_scenario({"world": {"ground": {"bank": 0.1}, "obstacles": [BOX, WALL, CONE, TURNED]}, "vehicles": []})
    tree = scenery_tree(world.world, side=11)
    ground = tree["ground"]
    assert (ground["x"], ground["y"], ground["cell"], ground["rows"], ground["columns"]) == (-100, -100, 20, 11, 11)
    heights = np.array(ground["heights"]).reshape(11, 11)
    assert_allclose(heights, np.repeat(0.1 * np.linspace(-100, 100, 11)[:, None], 11, axis=1), atol=1e-4)
    assert ground["friction"] is None
    assert [obstacle["kind"] for obstacle in tree["obstacles"]] == ["box", "wall", "wall", "box", "cone"]
    assert tree["obstacles"][3]["name"] == "crate" and tree["obstacles"][3]["heading"] == pytest.approx(np.pi / 4)
    assert scenery_tree(load_scenario({"vehicles": []}).world)["ground"] is None
