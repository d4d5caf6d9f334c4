"""Planning with the scenery of the world: zones made of obstacles, heights of routes above the ground."""

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.errors import InvalidValueError
from paddock.planning.from_scenario import plan, setup_of
from paddock.scenario import load_scenario

TOWER = {"name": "tower", "cylinder": {"center": [100, 0], "radius": 15, "height": 60}}
SHED = {"box": {"center": [100, 100], "size": [20, 20, 5]}}
WALL = {"wall": {"points": [[0, 50], [40, 50], [40, 90]], "height": 3}}


def scenario(world: dict[str, Any], **mission: Any) -> dict[str, Any]:
    tasks = [{"point": {"at": [200, 0]}}]
    section = {"altitude": 40, "speed": 8, "method": "greedy", "clearance": 5, "tasks": tasks, **mission}
    return {"world": world, "vehicles": [{"name": "q", "model": "quad", "pose": [0, 0, 40, 0]}], "mission": section}


def test_obstacles_become_zones_with_a_margin() -> None:
    problem = setup_of(load_scenario(scenario({"obstacles": [TOWER, SHED, WALL]}, obstacle_margin=2.0))).problem
    zones = {zone.name: zone for zone in problem.zones}
    assert list(zones) == ["obstacle_1", "obstacle_2", "obstacle_2_", "tower"]
    assert (zones["tower"].floor, zones["tower"].ceiling) == (-2.0, 62.0)
    assert zones["tower"].distance(100.0, 20.0) == pytest.approx(3.0)
    assert zones["obstacle_1"].ceiling == 7.0
    assert zones["obstacle_1"].distance(100.0, 115.0) == pytest.approx(3.0, abs=0.01)  # its corners are rounded
    assert setup_of(load_scenario(scenario({"obstacles": [TOWER]}))).problem.zones == ()


def test_routes_go_around_an_obstacle_and_over_a_low_one() -> None:
    planned = plan(scenario({"obstacles": [TOWER, SHED]}, obstacle_margin=2.0))
    places = planned.routes[0].path.points(0.5)
    assert np.hypot(places[:, 0] - 100.0, places[:, 1]).min() > 15.0 + 2.0 + 5.0 - 1e-6
    beyond: list[Any] = [{"point": {"at": [200, 200]}}]
    over = plan(scenario({"obstacles": [SHED]}, obstacle_margin=2.0, tasks=beyond))
    assert over.routes[0].flown == plan(scenario({}, tasks=beyond)).routes[0].flown  # 40 m is above the shed


def test_routes_too_near_to_the_ground_are_refused() -> None:
    """The ground rises by 0.16 m per m under a level route: it is nearest at the easternmost place."""
    world = {"ground": {"grade": 0.16}}
    least = 40.0 - 0.16 * plan(scenario(world)).routes[0].path.points(0.5)[:, 0].max()
    assert 0.0 < least < 8.0
    assert plan(scenario(world, ground_clearance=least - 0.1)).done == 1
    with pytest.raises(InvalidValueError, match=f"mission.ground_clearance: the route of 'q' is {least:.1f} m above"):
        plan(scenario(world, ground_clearance=least + 1.0))
    with pytest.raises(InvalidValueError, match=r"ground_clearance is 20 m: an altitude of .* or more is valid"):
        paddock.load(scenario(world, ground_clearance=20.0))
