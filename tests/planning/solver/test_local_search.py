"""The default method: as good as OR-Tools with far more time, the same everywhere."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paddock.compute.threads import available_threads, limit_threads
from paddock.planning.from_scenario import setup_of
from paddock.planning.geometry.shapes import PointShape
from paddock.planning.random_missions import generate
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods.annealing import Options as Heat
from paddock.planning.solver.methods.annealing import Schedule, annealed, row_cost, value
from paddock.planning.solver.methods.local_search import METHOD, Options, tabulated_row_cost, ways_of
from paddock.planning.solver.planner import solve
from paddock.planning.solver.problem import MissionSetup, Problem, Task, Vehicle
from paddock.planning.solver.routes import Plan

ORTOOLS = 80_320.0
"""m: OR-Tools 9.15, guided local search, on the problem of `hundred`, with the best headings for its orders."""


def hundred() -> Problem:
    return setup_of(generate(1, 10, 100, range=None, separation=None)).problem


def orders_of(plan: Plan) -> list[tuple[str, ...]]:
    return [route.tasks for route in plan.routes]


def test_it_is_the_default_and_needs_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyvrp", None)
    setup = setup_of(generate(3, 2, 6))
    assert setup.method == MissionSetup(setup.problem).method == "local_search"
    assert solve(setup.problem, setup.method).done == 6


def test_a_hundred_tasks_within_three_percent_of_ortools() -> None:
    plan = solve(hundred(), "local_search")
    assert plan.done == 100
    assert plan.total <= 1.03 * ORTOOLS


def test_a_plan_made_within_a_time_is_made_again_by_its_steps() -> None:
    problem = setup_of(generate(4, 3, 15)).problem
    timed = solve(problem, "local_search", {"seconds": 0.3})
    steps = timed.notes["steps"]
    assert steps >= 20_000 and int(str(steps)[2:]) == 0  # two digits
    again = solve(problem, "local_search", {"steps": steps})
    assert orders_of(timed) == orders_of(again) and timed.total == again.total


@pytest.mark.skipif(available_threads() < 2, reason="needs two cores")
def test_the_number_of_threads_changes_nothing() -> None:
    problem = setup_of(generate(4, 3, 15)).problem
    limit_threads(1)
    first = solve(problem, "local_search")
    limit_threads(2)
    two = solve(problem, "local_search")
    assert orders_of(first) == orders_of(two)
    assert [leg.flown for r in first.routes for leg in r.legs] == [leg.flown for r in two.routes for leg in r.legs]


@pytest.mark.parametrize("by_time", [False, True])
def test_known_ways_add_up_to_exact_tours(by_time: bool) -> None:
    """With headings for all tasks, the ways are exact: windows, waiting and range included."""
    problem = setup_of(generate(5, 3, 12, headings=1.0, range=6000.0)).problem
    tasks = [replace(task, opens=40.0 * k, closes=40.0 * k + 300.0) for k, task in enumerate(problem.tasks)]
    costs = Costs(replace(problem, tasks=tuple(tasks)))
    ways, schedule = ways_of(costs), Schedule(1, 1.0, 1.0, 0, by_time, 7.0)
    draw, seen = np.random.default_rng(0), set()
    for _ in range(200):
        order = np.sort(draw.permutation(12)[: draw.integers(0, 6)])
        vehicle = int(draw.integers(0, 4))  # 3: the row of tasks that are not done
        exact = row_cost(costs.fleet, schedule, vehicle, order, len(order))
        seen.add(np.isfinite(exact))
        assert tabulated_row_cost(ways, schedule, vehicle, order, len(order)) == pytest.approx(exact, rel=1e-12)
    assert seen == {True, False}


@pytest.mark.parametrize("objective", ["total", "makespan"])
def test_never_worse_than_its_start(objective: Any) -> None:
    for seed in range(3):
        costs = Costs(replace(setup_of(generate(seed, 3, 10)).problem, objective=objective))
        start = solve(costs.problem, "clustered_greedy")
        plan = solve(costs.problem, "local_search", {"steps": 1})
        aim = (lambda plan: plan.makespan) if objective == "makespan" else (lambda plan: plan.total)
        assert (len(plan.undone), aim(plan)) <= (len(start.undone), 1.001 * aim(start))


def test_more_ways_than_it_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = setup_of(generate(6, 2, 8)).problem
    monkeypatch.setattr("paddock.planning.solver.methods.local_search.MOST_WAYS", 10)
    costs = Costs(problem)
    solution = METHOD.solve(costs, Options(500), lambda share: None)
    assert solution.notes == {"steps": 500} and value(costs, solution.orders)[0] == 0


def test_two_vehicles_share_what_lies_on_both_sides() -> None:
    home = (0.0, 0.0, 0.0, 0.0)
    who = tuple(Vehicle(f"u{k}", home, home, 10.0, 0.0, 2500.0, moves="hover") for k in range(2))
    what = tuple(Task(f"t{k}", PointShape(x, 0.0)) for k, x in enumerate((900.0, -900.0, 1000.0, -1000.0)))
    plan = solve(Problem(who, what), "local_search")
    assert plan.total == pytest.approx(4000.0) and plan.makespan == pytest.approx(200.0)


def test_a_vehicle_that_is_needed_elsewhere_passes_its_tasks_on() -> None:
    """Only the car can reach the far tasks, but first the near ones seem to be its own."""
    near, away = (0.0, 5.0, 0.0, 0.0), (-1_500.0, 1_500.0, 0.0, 0.0)
    car = Vehicle("car", near, near, 10.0, 0.0, 4_250.0, moves="ground")
    van = Vehicle("van", away, away, 10.0, 0.0, 4_600.0, moves="ground")
    places = {"a": (2_000.0, 0.0), "b": (1_800.0, 300.0), "c": (-900.0, 0.0), "d": (0.0, 900.0)}
    tasks = tuple(Task(name, PointShape(*position)) for name, position in places.items())
    orders = annealed(Costs(Problem((car, van), tasks)), [[3, 2], []], 4_000, Heat(0, 0.2))
    assert [sorted(order) for order in orders] == [[0, 1], [2, 3]]
