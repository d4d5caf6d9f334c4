"""Clusters, and the method that assigns one to each vehicle."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddock.planning.geometry.shapes import PointShape
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import MethodResult, find_method
from paddock.planning.solver.methods.clustered_greedy import clusters_of
from paddock.planning.solver.planner import revise, solve
from paddock.planning.solver.problem import Problem, Task, Vehicle


def fleet(points: list[tuple[float, float]], vehicles: int, reach: float = inf) -> Problem:
    home = (0.0, 0.0, 0.0, 0.0)
    who = tuple(Vehicle(f"u{k}", home, home, 10.0, 20.0, reach) for k in range(vehicles))
    return Problem(who, tuple(Task(f"t{k}", PointShape(x, y)) for k, (x, y) in enumerate(points)))


def scattered(seed: int, tasks: int, vehicles: int) -> Problem:
    return fleet([(x, y) for x, y in np.random.default_rng(seed).uniform(-1000, 1000, (tasks, 2)).tolist()], vehicles)


def solved(problem: Problem) -> MethodResult:
    method = find_method("clustered_greedy")
    return method.solve(Costs(problem), method.read({}), lambda share: None)


def revised(problem: Problem, orders: list[list[int]]) -> MethodResult:
    method = find_method("clustered_greedy")
    assert method.revise is not None
    return method.revise(Costs(problem), method.read({}), orders)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 10))
def test_points_belong_to_the_nearest_centre_which_is_their_mean(seed: int, n: int, count: int) -> None:
    points = np.random.default_rng(seed).normal(size=(n, 2)) * 100.0
    labels, centres = clusters_of(points, min(count, n), seed)
    away = np.linalg.norm(points[:, None] - centres[None], axis=2)
    np.testing.assert_allclose(away[np.arange(n), labels], away.min(axis=1))
    for cluster in range(min(count, n)):
        np.testing.assert_allclose(points[labels == cluster].mean(axis=0), centres[cluster], atol=1e-9)


def test_clusters_that_are_far_apart_are_found() -> None:
    draw = np.random.default_rng(1)
    middles = np.array([(0.0, 0.0), (1000.0, 0.0), (0.0, 1000.0), (1000.0, 1000.0)])
    points = np.repeat(middles, 25, axis=0) + draw.normal(size=(100, 2)) * 20.0
    for seed in range(10):
        labels, _ = clusters_of(points, 4, seed)
        assert [len(set(labels[k : k + 25].tolist())) for k in range(0, 100, 25)] == [1, 1, 1, 1]


def test_equal_points_are_handled() -> None:
    labels, centres = clusters_of(np.zeros((5, 2)), 3, 0)
    assert labels.tolist() == [0] * 5
    assert np.isfinite(centres).all()


def test_same_seed_same_clusters() -> None:
    points = np.random.default_rng(0).random((200, 2))
    first, again = clusters_of(points, 8, 42), clusters_of(points, 8, 42)
    assert first[0].tolist() == again[0].tolist() and first[1].tolist() == again[1].tolist()


def test_orders_are_clusters_and_the_nearest_task_comes_next() -> None:
    problem = scattered(3, 40, 4)
    planned = solved(problem)
    assert sorted(t for order in planned.orders for t in order) == list(range(40))
    entry = Costs(problem).jobs(0).entry[:, :2]
    centres = np.array([entry[order].mean(axis=0) for order in planned.orders])
    for vehicle, order in enumerate(planned.orders):
        away = np.linalg.norm(entry[order][:, None] - centres[None], axis=2)
        assert (away.argmin(axis=1) == vehicle).all()
        costs = Costs(problem)
        for k in range(len(order)):
            # the distance to the next task from the metres flown before the return
            ways = [
                costs.tour(vehicle, [*order[:k], task])[1] - _home(costs, vehicle, [*order[:k], task])
                for task in order[k:]
            ]
            assert int(np.argmin(ways)) == 0


def _home(costs: Costs, vehicle: int, order: list[int]) -> float:
    """Seconds of the way home after an order: its tour against one of a vehicle whose home is where it ends."""
    return float(costs.legs(vehicle, order)[-1, 0]) / costs.problem.vehicles[vehicle].speed


def test_fewer_tasks_than_vehicles() -> None:
    planned = solved(scattered(1, 2, 5))
    assert sorted(len(order) for order in planned.orders) == [0, 0, 0, 1, 1]


def test_vehicles_without_feasible_tasks_get_no_cluster() -> None:
    problem = scattered(1, 12, 3)
    lame = replace(problem, vehicles=(replace(problem.vehicles[0], range=1.0), *problem.vehicles[1:]))
    planned = solved(lame)
    assert planned.notes["clusters"] == 2
    assert planned.orders[0] == [] and sum(map(len, planned.orders)) == 12


def test_new_tasks_join_the_nearest_cluster() -> None:
    problem = fleet([(1000.0, 0.0), (1100.0, 0.0), (-1000.0, 0.0), (-1100.0, 0.0)], 2)
    orders = solved(problem).orders
    east = next(vehicle for vehicle, order in enumerate(orders) if 0 in order)
    more = replace(problem, tasks=(*problem.tasks, Task("new", PointShape(1050.0, 10.0))))
    planned = revised(more, orders)
    assert set(planned.orders[east]) == {0, 1, 4}
    assert planned.orders[1 - east] == orders[1 - east]


def test_tasks_of_a_damaged_vehicle_are_shared_by_the_others() -> None:
    problem = scattered(7, 30, 3)
    orders = solved(problem).orders
    planned = revised(replace(problem, vehicles=problem.vehicles[1:]), orders[1:])
    assert sorted(t for order in planned.orders for t in order) == list(range(30))
    for before, after in zip(orders[1:], planned.orders, strict=True):
        assert [task for task in after if task in before] == before


def test_a_task_that_does_not_fit_the_nearest_tour_goes_to_another() -> None:
    problem = fleet([(1000.0, 0.0), (-1000.0, 0.0)], 2)
    tired = replace(problem, vehicles=tuple(replace(vehicle, range=2300.0) for vehicle in problem.vehicles))
    orders = solved(tired).orders
    more = replace(tired, tasks=(*tired.tasks, Task("new", PointShape(500.0, 390.0))))
    planned = revised(more, orders)
    assert sum(len(order) for order in planned.orders) <= 3
    assert all(Costs(more).fits(vehicle, order) for vehicle, order in enumerate(planned.orders))


def test_a_new_vehicle_takes_over_part_of_the_longest_tour() -> None:
    problem = scattered(11, 30, 2)
    orders = solved(problem).orders
    more = replace(problem, vehicles=(*problem.vehicles, replace(problem.vehicles[0], name="new")))
    planned = revised(more, [*orders, []])
    costs = Costs(more)
    before = max(costs.tour(vehicle, order)[1] for vehicle, order in enumerate(orders))
    after = max(costs.tour(vehicle, order)[1] for vehicle, order in enumerate(planned.orders))
    assert 0 < len(planned.orders[2]) <= 10
    assert after < before
    assert sorted(t for order in planned.orders for t in order) == list(range(30))


@pytest.mark.parametrize("vehicles", [0, 1])
def test_no_tasks(vehicles: int) -> None:
    empty = fleet([], vehicles)
    plans = solve(empty, "clustered_greedy"), revise(Costs(empty), "clustered_greedy", {}, [[]] * vehicles, {})
    assert [[route.tasks for route in plan.routes] for plan in plans] == [[()] * vehicles] * 2
