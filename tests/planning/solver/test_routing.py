"""Routing: never worse than the baseline, reproducible, within range, window and radius."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import pi
from typing import Any

import numpy as np
import pytest

from paddock.planning.from_scenario import setup_of
from paddock.planning.geometry.dubins import dubins_lengths
from paddock.planning.geometry.shapes import PointShape
from paddock.planning.random_missions import generate
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods.routing import chosen_headings
from paddock.planning.solver.planner import solve
from paddock.planning.solver.problem import Objective, Problem, Task, Vehicle
from paddock.planning.solver.routes import Plan

pyvrp = pytest.importorskip("pyvrp")
QUICK = {"iterations": 200, "polish": 4000}


def drawn(seed: int, objective: Objective = "total") -> Problem:
    return replace(setup_of(generate(seed, 3, 12)).problem, objective=objective)


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.soak) for k in (2, 3))])
def test_no_worse_than_clustered_greedy(seed: int) -> None:
    routed, plain = (solve(drawn(seed), m, o) for m, o in (("routing", QUICK), ("clustered_greedy", {})))
    assert routed.done == 12 and routed.total <= plain.total
    routed, plain = (solve(drawn(seed, "makespan"), m, o) for m, o in (("routing", QUICK), ("clustered_greedy", {})))
    assert routed.done == 12 and routed.makespan <= plain.makespan


@pytest.mark.parametrize("objective", ["total", "makespan"])
def test_equal_iterations_give_equal_plans(objective: Objective) -> None:
    first, second = (solve(drawn(4, objective), "routing", QUICK) for _ in range(2))
    assert [route.tasks for route in first.routes] == [route.tasks for route in second.routes]
    assert (first.total, first.makespan) == (second.total, second.makespan)


def test_each_objective_minimises_its_own_value() -> None:
    total, makespan = (solve(drawn(5, o), "routing", QUICK) for o in ("total", "makespan"))
    assert total.total <= makespan.total and makespan.makespan <= total.makespan


def test_warnings_of_the_search_stay_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings are errors here: this one would reach the user's terminal."""
    search = pyvrp.solve

    def warned(*arguments: Any, **named: Any) -> Any:
        warnings.warn("a penalty is at its bound", pyvrp.exceptions.PenaltyBoundWarning, stacklevel=2)
        return search(*arguments, **named)

    monkeypatch.setattr(pyvrp, "solve", warned)
    assert solve(drawn(1), "routing", QUICK).done == 12


def held(plan: Plan) -> None:
    """Ranges, windows and speeds of a plan hold."""
    tasks = {task.name: task for task in plan.problem.tasks}
    for vehicle, route in zip(plan.problem.vehicles, plan.routes, strict=True):
        assert route.flown <= vehicle.range * (1.0 + 1e-9)
        for leg in route.legs:
            if leg.kind != "wait":
                assert leg.ends - leg.begins == pytest.approx(leg.flown / vehicle.speed)
            assert all(abs(s.curvature) * vehicle.radius <= 1.0 + 1e-9 for s in leg.path.segments)
            if leg.kind == "coverage":
                assert tasks[str(leg.task)].opens - 1e-6 <= leg.begins <= tasks[str(leg.task)].closes + 1e-6


def test_windows_ranges_and_speeds_are_respected() -> None:
    """Three different aircraft; some tasks open late or close early, one is out of reach."""
    draw = np.random.default_rng(8)
    kinds = [(10.0, 30.0, 9000.0), (20.0, 80.0, 9000.0), (30.0, 150.0, 12_000.0)]
    home = (0.0, 0.0, 0.0, 0.0)
    vehicles = tuple(Vehicle(f"u{k}", home, home, v, r, reach) for k, (v, r, reach) in enumerate(kinds))
    places = draw.uniform(-1500.0, 1500.0, (10, 2)).tolist()
    opens, closes = [0.0, 200.0] * 5, [np.inf, 400.0, 250.0, np.inf, np.inf] * 2
    tasks = [
        Task(f"t{k}", PointShape(x, y), opens=opens[k], closes=max(closes[k], opens[k] + 50.0))
        for k, (x, y) in enumerate(places)
    ]
    tasks.append(Task("far", PointShape(20_000.0, 0.0)))
    for objective in ("total", "makespan"):
        plan = solve(Problem(vehicles, tuple(tasks), objective=objective), "routing", QUICK)
        held(plan)
        undone = {entry.task for entry in plan.undone}
        assert "far" in undone and plan.done + len(undone) == len(tasks) and plan.done >= 8


def test_a_fast_vehicle_does_more_for_the_makespan() -> None:
    """Two lines of points on both sides; one aircraft is four times as fast."""
    home = (0.0, 0.0, 0.0, 0.0)
    vehicles = (Vehicle("slow", home, home, 5.0, 20.0), Vehicle("fast", home, home, 20.0, 20.0))
    tasks = tuple(Task(f"t{k}{s:+.0f}", PointShape(300.0 * (k + 1) * s, 0.0)) for k in range(4) for s in (-1.0, 1.0))
    plan = solve(Problem(vehicles, tasks, objective="makespan"), "routing", QUICK)
    slow, fast = (sum(1 for _ in route.tasks) for route in plan.routes)
    assert plan.done == 8 and fast > slow
    assert plan.makespan < 1.05 * (4 * 1200.0 + 2.0 * pi * 20.0 * 4.0) / 20.0  # the fast one alone, to and fro


# headings ------------------------------------------------------------------------------------------------------------


def test_headings_against_all_of_a_grid() -> None:
    """Two points, turn radius 60 m: every pair of 120 headings each."""
    start, home = (0.0, 0.0, 0.0, 0.3), (0.0, -40.0, 0.0, 2.0)
    places = [(150.0, 120.0), (40.0, 260.0)]
    vehicle = Vehicle("a", start, home, 10.0, 60.0)
    costs = Costs(Problem((vehicle,), tuple(Task(f"t{k}", PointShape(*p)) for k, p in enumerate(places))))
    grid = np.linspace(-pi, pi, 120, endpoint=False)
    first, second = (np.column_stack([np.full((120, 2), p), grid]) for p in places)
    there = dubins_lengths(np.array([[0.0, 0.0, 0.3]]), first, 60.0)[0]
    between = dubins_lengths(first, second, 60.0)
    back = dubins_lengths(second, np.array([[0.0, -40.0, 2.0]]), 60.0)[:, 0]
    least = (there[:, None] + between + back[None, :]).min()
    headings = chosen_headings(costs, [[0, 1]])
    cost = Costs(costs.problem.with_headings(headings)).tour(0, [0, 1])[0]
    assert cost <= least + 0.5 and cost >= least - 15.0
    assert cost < costs.tour(0, [0, 1])[0] - 1.0  # straight at the next one is worse


def test_fixed_headings_are_unchanged() -> None:
    vehicle = Vehicle("a", (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), 10.0, 60.0)
    tasks = (Task("free", PointShape(300.0, 200.0)), Task("fixed", PointShape(-200.0, 300.0, 1.0)))
    assert set(chosen_headings(Costs(Problem((vehicle,), tasks)), [[0, 1]])) == {0}
