"""Static obstacles and rays: analytic hits, many rays against a march through implicit shapes, the grid, the view."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paddock.compute.kernel import shared_tuple
from paddock.compute.threads import limit_threads
from paddock.errors import PaddockError
from paddock.scenario import load_scenario
from paddock.world.columns import Environment
from paddock.world.scenery import SCENIC, Obstacles, Scenery, cast_scenery, ray_box, ray_round, scenery_of, scenery_tree

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


def cast(made: Obstacles, origin: list[float], direction: list[float], reach: float = 100.0) -> float:
    unit = np.array([direction], float) / np.linalg.norm(direction)
    return float(made.cast(np.array([origin], float), unit, reach)[0])


def test_rays_hit_where_geometry_says() -> None:
    made = scenery(BOX, TURNED, CYLINDER, CONE, WALL).obstacles
    for direction, distance in (([1, 0, 0], 9.0), ([0, 1, 0], 9.0), ([0, -1, 0], 9.5), ([-1, 0, 0], 9.8)):
        assert cast(made, [0, 0, 1], direction) == pytest.approx(distance, abs=1e-12)
    assert cast(made, [0, 0, 1], [0.6, 0.8, 0.0]) == np.inf
    assert cast(made, [0, 0, 1], [1, 0, 0], reach=8.9) == np.inf
    for place, distance in (([10, 0, 9], 6.0), ([0, 10, 9], 4.0), ([0, -10, 9], 7.0), ([0, -9.5, 9], 8.0)):
        assert cast(made, place, [0, 0, -1]) == pytest.approx(distance, abs=1e-12)  # half of the cone's height
    assert cast(made, [0, 20, 2], [0, 1, 0]) == pytest.approx(10.0 - np.sqrt(2.0))  # the corner of the turned box
    assert cast(made, [0, 20, 0.9], [0, 1, 0]) == np.inf  # under it
    assert cast(made, [10, 0.5, 1], [0, 1, 0]) == 0.0  # from inside
    assert cast(made, [-15, 5, 9], [0, 0, -1]) == 7.0  # the second part of the wall
    # x = 3 k - 3 and z = 3 - 2 k meet the cone's -x = 1 - z / 2 at k = 7 / 8
    assert cast(made, [-3, -10, 3], [3, 0, -2]) == pytest.approx(np.hypot(3.0, 2.0) * 7.0 / 8.0)


def forest(count: int) -> list[Any]:
    rng = np.random.default_rng(1)
    found: list[Any] = []
    for k in range(count):
        place, size = rng.uniform(-200, 200, 2).tolist(), rng.uniform(1, 8, 3).tolist()
        kinds = (
            {"box": {"center": place, "size": size, "heading": size[0]}},
            {"cylinder": {"center": place, "radius": size[0] / 2, "height": 3 * size[1]}},
            {"cone": {"center": place, "radius": size[0] / 2, "height": 3 * size[1]}},
        )
        found.append(kinds[k % 3])
    return found


def rays(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    directions = rng.normal(size=(count, 3)) * [1, 1, 0.3]
    origins = np.column_stack([rng.uniform(-210, 210, (count, 2)), rng.uniform(-1, 25, count)])
    return origins, directions / np.linalg.norm(directions, axis=1)[:, None]


def inside(made: Obstacles, places: np.ndarray) -> np.ndarray:
    """Return whether places (n, 3) are inside any shape, by its definition."""
    x, y, z = (column[:, None] for column in places.T)
    b, r = made.boxes.T, made.rounds.T
    px, py = x - b[0], y - b[1]
    boxed = (np.abs(b[4] * px + b[5] * py) <= b[6]) & (np.abs(b[4] * py - b[5] * px) <= b[7])
    radius = r[4] + (r[5] - r[4]) * (z - r[2]) / (r[3] - r[2])
    rounded = (np.hypot(x - r[0], y - r[1]) <= radius) & (z >= r[2]) & (z <= r[3])
    return np.asarray((boxed & (z >= b[2]) & (z <= b[3])).any(axis=1) | rounded.any(axis=1))


@pytest.mark.usefixtures("all_threads")
def test_many_rays_among_many_obstacles() -> None:
    made, (origins, directions) = scenery(*forest(600)).obstacles, rays(4000)
    found = made.cast(origins, directions, 80.0)
    try:
        limit_threads(1)
        assert_array_equal(made.cast(origins, directions, 80.0), found)
    finally:
        limit_threads(None)
    assert 0.2 < np.isfinite(found).mean() < 0.9
    steps = np.arange(0.0, 80.0, 0.05)
    for k in range(60):  # marched
        hits = np.flatnonzero(inside(made, origins[k] + steps[:, None] * directions[k]))
        marched = steps[hits[0]] if len(hits) else np.inf
        assert marched == found[k] or 0.0 <= marched - found[k] <= 0.051, k
    for k in range(20):  # every obstacle, without the grid
        each = [ray_box(*origins[k], *directions[k], made.boxes, i) for i in range(len(made.boxes))]
        each += [ray_round(*origins[k], *directions[k], made.rounds, i) for i in range(len(made.rounds))]
        assert found[k] == (min(each) if min(each) <= 80.0 else np.inf)


def test_obstacles_near_a_box() -> None:
    made = scenery(*forest(600)).obstacles
    near = made.near([-20, -20], [10, 30])
    outlines = np.concatenate([made.boxes[:, :2], made.rounds[:, :2]])
    must = np.flatnonzero(((outlines >= [-20, -20]) & (outlines <= [10, 30])).all(axis=1))
    assert set(must) <= set(near) and len(near) < 200
    assert len(made.near([900, 900], [910, 910])) == 0


def test_obstacles_stand_on_their_ground() -> None:
    made = scenery(BOX, WALL, CYLINDER, TURNED, grade=0.1).obstacles
    assert_allclose(made.boxes[:, 2:4], [[1.0, 4.0], [-1.0, 1.0], [-2.0, 1.0], [1.0, 3.0]], atol=1e-12)
    assert_allclose(made.rounds[0, 2:4], [0.0, 5.0], atol=1e-12)
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
    assert [one["kind"] for one in tree["obstacles"]] == ["box", "wall", "wall", "box", "cone"]
    assert tree["obstacles"][3]["name"] == "crate" and tree["obstacles"][3]["heading"] == pytest.approx(np.pi / 4)
    assert scenery_tree(load_scenario({"vehicles": []}).world)["ground"] is None
