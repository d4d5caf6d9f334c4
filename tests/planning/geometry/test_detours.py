"""Estimated detours around zones, against geometry and against the path search."""

from __future__ import annotations

from math import acos, hypot, inf, pi, sqrt

import numpy as np
import pytest

from paddock.planning.geometry.shapes import PointShape
from paddock.planning.geometry.zone_map import ZoneMap
from paddock.planning.geometry.zones import CircleZone, PolygonZone, Zone
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.planning.solver.transit_tables import UNKNOWN

SQUARE = PolygonZone("square", ((-100.0, -100.0), (100.0, -100.0), (100.0, 100.0), (-100.0, 100.0)))
DISC = CircleZone("disc", 0.0, 0.0, 100.0)
Point = tuple[float, float]


def estimated(start: Point, goals: list[Point], *zones: Zone) -> list[float]:
    """Metres from a place to others, for something that turns on the spot."""
    where = (*start, 0.0, 0.0)
    drone = Vehicle("a", where, where, 10.0, 0.0, moves="hover")
    tasks = tuple(Task(f"t{k}", PointShape(x, y)) for k, (x, y) in enumerate(goals))
    costs: list[float] = Costs(Problem((drone,), tasks, zones)).first[0].tolist()
    return costs


def test_around_a_square() -> None:
    """Past two corners, past one, and not at all."""
    lengths = estimated((-300.0, 0.0), [(300.0, 0.0), (0.0, 250.0), (-300.0, 500.0), (0.0, 101.0)], SQUARE)
    past_one = hypot(200.0, 100.0) + hypot(100.0, 150.0)
    expected = [2.0 * hypot(200.0, 100.0) + 200.0, min(past_one, hypot(300.0, 250.0)), 500.0]
    assert lengths[:3] == pytest.approx(expected, rel=0.01)
    assert lengths[3] == pytest.approx(hypot(200.0, 100.0) + 100.0, rel=0.01)


def test_around_a_circle() -> None:
    """Two tangents and the arc between them."""
    (length,) = estimated((-300.0, 0.0), [(300.0, 0.0)], DISC)
    assert length == pytest.approx(2.0 * sqrt(300.0**2 - 100.0**2) + 100.0 * (pi - 2.0 * acos(1.0 / 3.0)), rel=0.01)


def test_zones_that_overlap_are_one_obstacle() -> None:
    """A wall from -100 to 900 across the way, made of two."""
    more = PolygonZone("more", ((-100.0, 50.0), (100.0, 50.0), (100.0, 900.0), (-100.0, 900.0)))
    (length,) = estimated((-300.0, 300.0), [(300.0, 300.0)], SQUARE, more)
    assert length == pytest.approx(2.0 * hypot(200.0, 400.0) + 200.0, rel=0.01)


def test_no_way_out_of_a_ring() -> None:
    walls = [PolygonZone(f"wall {k}", tuple(corners)) for k, corners in enumerate(_ring(200.0, 20.0))]
    inside, outside = estimated((0.0, 0.0), [(50.0, 0.0), (900.0, 0.0)], *walls)
    assert inside == pytest.approx(50.0) and outside == inf


def _ring(side: float, width: float) -> list[list[Point]]:
    a, b = side, side + width
    low, high = [(-b, -b), (b, -b), (b, -a), (-b, -a)], [(-b, a), (b, a), (b, b), (-b, b)]
    left, right = [(-b, -b), (-a, -b), (-a, b), (-b, b)], [(a, -b), (b, -b), (b, b), (a, b)]
    return [low, high, left, right]


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.soak) for k in (2, 3))])
def test_the_estimate_equals_the_search_without_a_radius(seed: int) -> None:
    draw = np.random.default_rng(seed)
    zones = (SQUARE, CircleZone("right", 350.0, 50.0, 90.0), CircleZone("left", -320.0, -120.0, 120.0))
    places = [tuple(p) for p in draw.uniform(-600.0, 600.0, (40, 2)).tolist()]
    free = [p for p in places if not any(zone.distance(*p) < 1.0 for zone in zones)]
    chart = ZoneMap(zones, 0.0)
    for start in free[:4]:
        lengths = estimated(start, free[4:12], *zones)
        exact = [chart.transit((*start, 0.0), (*goal, None)).length for goal in free[4:12]]
        assert lengths == pytest.approx(exact, rel=0.01)


def test_only_the_ways_that_a_search_needs_are_found() -> None:
    """Two tours of three and two tasks, and one to insert: 3 ways in the tours, 11 to and from the task."""
    home = (0.0, -700.0, 0.0, 0.0)
    drones = tuple(Vehicle(name, home, home, 10.0, 0.0, moves="hover") for name in "ab")
    draw = np.random.default_rng(4).uniform(-600.0, 600.0, (60, 2))
    free = [(x, y) for x, y in draw.tolist() if min(SQUARE.distance(x, y), DISC.distance(x - 400.0, y)) > 1.0][:40]
    tasks = tuple(Task(f"t{k}", PointShape(x, y)) for k, (x, y) in enumerate(free))
    problem = Problem(drones, tasks, (SQUARE, CircleZone("disc", 400.0, 0.0, 100.0)))
    some, every = Costs(problem), Costs(problem)
    orders = [[0, 1, 2], [3, 4]]
    known = some.fleet_for(orders, np.array([5]))
    assert 0 < np.count_nonzero(known.ways != UNKNOWN) <= 14 < np.count_nonzero(every.fleet.ways != UNKNOWN)
    for vehicle, order in enumerate(([5, 0, 1, 2], [3, 5, 4])):
        assert some.tour(vehicle, order) == every.tour(vehicle, order)
    assert some.alone_of(7).tolist() == every.alone[:, 7].tolist()
