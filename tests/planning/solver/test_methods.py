"""Properties of every planning method; greedy and the round-based methods in detail."""

from __future__ import annotations

from dataclasses import replace
from math import inf, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.planning.geometry.shapes import AreaShape, CircleShape, LineShape, PointShape, TaskShape
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import MethodResult, find_method
from paddock.planning.solver.planner import build, run_method
from paddock.planning.solver.problem import Problem, Task, Vehicle

METHODS = ["annealing", "auction", "cbba", "clustered_greedy", "greedy", "hungarian", "local_search"]
FEW = {"annealing": {"steps": 300}, "local_search": {"steps": 300}}


def random_problem(seed: int, vehicles: int, tasks: int, **fields: object) -> Problem:
    draw = np.random.default_rng(seed)
    kinds = [(80.0, 17.5), (40.0, 25.0), (0.0, 8.0)]

    def vehicle(k: int) -> Vehicle:
        radius, speed = kinds[int(draw.integers(3))]
        x, y, heading = (float(v) for v in draw.uniform(-1.0, 1.0, 3) * (500.0, 500.0, pi))
        reach = float(draw.choice([inf, 20_000.0, 4000.0, 500.0]))
        moves = "hover" if radius == 0.0 else "aircraft"
        return Vehicle(f"u{k}", (x, y, 0.0, heading), (0.0, 0.0, 0.0, 0.0), speed, radius, reach, moves=moves)  # type: ignore[arg-type]

    def task(k: int) -> Task:
        x, y, heading, size = (float(v) for v in draw.uniform(-1.0, 1.0, 4) * (1500.0, 1500.0, pi, 1.0))
        shapes: list[TaskShape] = [
            PointShape(x, y),
            PointShape(x, y, heading),
            LineShape(x, y, heading, 100.0 + 50.0 * size),
            CircleShape(x, y, heading, 90.0 + 40.0 * size),
            AreaShape(x, y, heading, 300.0, 160.0, 2),
        ]
        opens = float(draw.choice([0.0, 0.0, 0.0, 60.0]))
        closes = float(draw.choice([inf, inf, inf, 200.0]))
        return Task(f"t{k}", shapes[int(draw.integers(len(shapes)))], opens=opens, closes=closes)

    return Problem(tuple(map(vehicle, range(vehicles))), tuple(map(task, range(tasks))), seed=seed, **fields)  # type: ignore[arg-type]


def answer(costs: Costs, name: str) -> MethodResult:
    method = find_method(name)
    return run_method(method, method.read(FEW.get(name, {})), costs, lambda share: None)


@pytest.mark.parametrize("name", METHODS)
@given(st.integers(0, 10_000), st.integers(0, 5), st.integers(0, 12), st.sampled_from(["total", "makespan"]))
@settings(max_examples=settings.default.max_examples // 8)
def test_every_task_is_done_once_or_has_a_reason(
    name: str, seed: int, vehicles: int, tasks: int, objective: str
) -> None:
    problem = random_problem(seed, vehicles, tasks, objective=objective)
    costs = Costs(problem)
    planned = answer(costs, name)
    ordered = [task for order in planned.orders for task in order]
    assert len(planned.orders) == vehicles and len(ordered) == len(set(ordered))
    headed = Costs(problem.with_headings(planned.headings))
    assert all(headed.fits(vehicle, order) for vehicle, order in enumerate(planned.orders) if order)
    plan = build(costs, planned, name)
    done = [task for route in plan.routes for task in route.tasks]
    undone = [item.task for item in plan.undone]
    assert sorted(done + undone) == sorted(task.name for task in problem.tasks)
    assert all(item.reason for item in plan.undone)
    for vehicle, route in zip(problem.vehicles, plan.routes, strict=True):
        assert not route.tasks or route.flown <= vehicle.range * (1.0 + 1e-9)


@pytest.mark.parametrize("name", METHODS)
def test_same_costs_same_answer(name: str) -> None:
    first = answer(Costs(random_problem(5, 4, 15)), name)
    again = answer(Costs(random_problem(5, 4, 15)), name)
    assert first.orders == again.orders and first.notes == again.notes


def line_up(tasks: list[tuple[float, float]], vehicles: int, reach: float = inf, objective: str = "total") -> Costs:
    """Vehicles that turn on the spot at 10 m/s, so that distances can be added by hand."""
    home = (0.0, 0.0, 0.0, 0.0)
    who = tuple(Vehicle(f"u{k}", home, home, 10.0, 0.0, reach, moves="hover") for k in range(vehicles))
    what = tuple(Task(f"t{k}", PointShape(x, y)) for k, (x, y) in enumerate(tasks))
    return Costs(Problem(who, what, objective=objective))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", METHODS)
def test_one_vehicle_on_a_line_flies_there_and_back(name: str) -> None:
    costs = line_up([(100.0, 0.0), (300.0, 0.0), (200.0, 0.0)], 1)
    plan = build(costs, answer(costs, name), name)
    assert plan.total == pytest.approx(600.0)
    assert plan.makespan == pytest.approx(60.0)
    assert plan.done == 3


@pytest.mark.parametrize("name", METHODS)
def test_tasks_out_of_range_are_undone(name: str) -> None:
    costs = line_up([(100.0, 0.0), (900.0, 0.0)], 2, reach=1000.0)
    plan = build(costs, answer(costs, name), name)
    assert plan.done == 1 and [item.task for item in plan.undone] == ["t1"]
    assert "1,800 m" in plan.undone[0].reason


def test_greedy_chooses_the_task_that_adds_least() -> None:
    # 100 there and back: 200; 300 then adds 400; -400 (800) is last, whichever vehicle has it
    costs = line_up([(300.0, 0.0), (-400.0, 0.0), (100.0, 0.0)], 2)
    assert answer(costs, "greedy").orders == [[2, 0, 1], []]  # from 300 on to -400 and home: 800 more, as from home
    assert answer(line_up([(300.0, 0.0), (-400.0, 0.0), (100.0, 0.0)], 2, objective="makespan"), "greedy").orders == [
        [2, 0],
        [1],
    ]


def plain_greedy(costs: Costs, by_time: bool) -> list[list[int]]:
    orders: list[list[int]] = [[] for _ in range(costs.vehicles)]
    left = set(range(costs.tasks))
    while True:
        options = []
        for vehicle, order in enumerate(orders):
            before = costs.tour(vehicle, order)[0]
            for task in sorted(left):
                flown, end = costs.tour(vehicle, [*order, task])
                if flown < inf and costs.fits(vehicle, [*order, task]):
                    options.append((end if by_time else flown - before, vehicle, task))
        if not options:
            return orders
        _, vehicle, task = min(options)
        orders[vehicle].append(task)
        left.remove(task)


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 10), st.sampled_from(["total", "makespan"]))
@settings(max_examples=settings.default.max_examples // 4)
def test_greedy_equals_a_reference(seed: int, vehicles: int, tasks: int, objective: str) -> None:
    costs = Costs(random_problem(seed, vehicles, tasks, objective=objective))
    assert answer(costs, "greedy").orders == plain_greedy(costs, objective == "makespan")


def test_rounds_give_one_task_each() -> None:
    costs = line_up([(100.0, 0.0), (-100.0, 0.0), (200.0, 0.0), (-200.0, 0.0)], 2)
    for name in ("hungarian", "auction"):
        planned = answer(costs, name)
        assert planned.notes["rounds"] == 2
        assert sorted(len(order) for order in planned.orders) == [2, 2]
        # 200 m for each of the first two; going on in the same direction adds 200 m, in the other 400 m
        assert sum(costs.tour(vehicle, order)[0] for vehicle, order in enumerate(planned.orders)) == 800.0


def test_a_vehicle_in_the_air_flies_home_even_without_tasks() -> None:
    waiting = Vehicle("u0", (500.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), 10.0, 0.0, moves="hover")
    tasks = (Task("t0", PointShape(250.0, 0.0)),)
    assert Costs(Problem((waiting,), tasks)).tour(0, []) == (0.0, 0.0)
    costs = Costs(Problem((replace(waiting, under_way=True),), tasks))
    assert costs.tour(0, []) == (500.0, 50.0)
    assert costs.tour(0, [0]) == (500.0, 50.0)  # it is on the way
