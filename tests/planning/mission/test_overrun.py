"""Tours beyond the range: the vehicle keeps as many tasks as it can do, and the others are offered the rest."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations
from math import hypot

import numpy as np
import pytest

from paddock.planning.geometry.shapes import PointShape
from paddock.planning.geometry.zones import CircleZone, blocked_by
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import MethodResult
from paddock.planning.solver.planner import build, most_within
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.planning.solver.routes import route_of

HOME = (0.0, 0.0, 0.0, 0.0)
Place = tuple[float, float]


def places_of(seed: int, count: int = 6) -> list[Place]:
    return [(x, y) for x, y in np.random.default_rng(seed).uniform(-1000.0, 1000.0, (count, 2)).tolist()]


def length(places: list[Place]) -> float:
    """Straight from the base over places and back."""
    return sum(hypot(bx - ax, by - ay) for (ax, ay), (bx, by) in pairwise([(0.0, 0.0), *places, (0.0, 0.0)]))


def hovers(*ranges: float) -> tuple[Vehicle, ...]:
    return tuple(Vehicle(f"d{k}", HOME, HOME, 10.0, 0.0, most, moves="hover") for k, most in enumerate(ranges))


def tasks_at(places: list[Place]) -> tuple[Task, ...]:
    return tuple(Task(f"t{k}", PointShape(x, y)) for k, (x, y) in enumerate(places))


@pytest.mark.parametrize("seed", range(12))
def test_a_tour_that_is_too_long_keeps_as_many_tasks_as_possible(seed: int) -> None:
    """Against all subsets in the same order; for equally many tasks, the shortest."""
    places = places_of(seed)
    limit = (0.4 + 0.05 * seed) * length(places)
    subsets = [some for count in range(7) for some in combinations(range(6), count)]
    fitting = [some for some in subsets if length([places[k] for k in some]) <= limit]
    best = min(fitting, key=lambda some: (-len(some), length([places[k] for k in some])))
    costs = Costs(Problem(hovers(limit), tasks_at(places)))
    kept, cost = most_within(costs, 0, list(range(6)), limit)
    assert tuple(kept) == best and cost == pytest.approx(length([places[k] for k in best]))
    plan = build(costs, MethodResult([list(range(6))]), "greedy")
    assert plan.done >= len(best) and plan.routes[0].flown <= limit


def test_of_a_long_tour_the_beginning_is_kept() -> None:
    """300 tasks 10 m apart on a line: 2 x 1,500 m are enough for 150."""
    costs = Costs(Problem(hovers(3001.0), tasks_at([(10.0 * k, 0.0) for k in range(1, 301)])))
    assert most_within(costs, 0, list(range(300)), 3001.0) == (list(range(150)), pytest.approx(3000.0))


def most_done(places: list[Place], ranges: tuple[float, ...]) -> int:
    """The largest number of tasks that vehicles can do, by trying all orders of all subsets."""
    least = {0: 0.0}
    for mask in range(1, 1 << len(places)):
        own = [position for k, position in enumerate(places) if mask >> k & 1]
        least[mask] = min(length(list(order)) for order in permutations(own))
    done = {0}
    for most in ranges:
        done = {a | b for a in done for b, way in least.items() if way <= most}
    return max(mask.bit_count() for mask in done)


@pytest.mark.parametrize(
    ("seed", "ranges"), [(19, (0.4, 0.5)), (23, (0.45, 0.45)), (32, (0.35, 0.55)), (53, (0.5, 0.4)), (7, (0.5, 0.3))]
)
def test_an_idle_vehicle_takes_as_many_of_the_rest_as_any_plan_could(seed: int, ranges: tuple[float, ...]) -> None:
    places = places_of(seed)
    tour = min(permutations(range(6)), key=lambda order: length([places[k] for k in order]))
    limits = tuple(share * length([places[k] for k in tour]) for share in ranges)
    plan = build(Costs(Problem(hovers(*limits), tasks_at(places))), MethodResult([list(tour), []]), "greedy")
    assert plan.done == most_done(places, limits)
    assert all(f"a range of {limits[0]:,.0f} m left" in entry.reason or "d1" in entry.reason for entry in plan.undone)


@pytest.mark.parametrize("share", [0.55, 0.75, 0.95])
def test_a_tour_that_is_too_long_around_zones_in_wind_is_cut_where_its_path_is(share: float) -> None:
    """Every larger part of the order is too long on its path."""
    zones = (CircleZone("tower", 600.0, 300.0, 200.0), CircleZone("mast", -400.0, -500.0, 150.0))
    places = [(900.0, 500.0), (1300.0, -200.0), (300.0, -900.0), (-900.0, -700.0), (-800.0, 600.0)]
    home = (0.0, 0.0, 100.0, 0.0)
    far = Vehicle("u", home, home, 17.5, 80.0)
    whole = route_of(Costs(Problem((far,), tasks_at(places), zones, (5.0, 3.0))), 0, range(5)).flown
    who = Vehicle("u", home, home, 17.5, 80.0, share * whole)
    costs = Costs(Problem((who,), tasks_at(places), zones, (5.0, 3.0)))
    plan = build(costs, MethodResult([list(range(5))]), "greedy")
    assert 0 < plan.done < 5 and plan.routes[0].flown <= who.range
    assert all(blocked_by(leg.path, zones) is None for leg in plan.routes[0].legs)
    for some in combinations(range(5), plan.done + 1):
        assert route_of(costs, 0, some).flown > who.range
