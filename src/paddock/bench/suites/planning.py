"""Speed of planning, and quality of the plans."""

import json
import sys
from collections.abc import Callable, Iterator
from time import process_time
from typing import Any

import numpy as np

from paddock.bench.result import Bench, Result, best_time, best_times, measured


def run(quick: bool) -> Iterator[Result]:
    """Measure paths, missions, then the default method against OR-Tools."""
    for part in (_paths, _missions, _default):
        yield from part(quick)


def _paths(quick: bool) -> Iterator[Result]:
    from paddock.planning import dubins_lengths
    from paddock.planning.geometry.dubins import length_to

    starts, goals = _poses(1000, 1), _poses(1000, 2)
    few = _poses(60, 3).tolist()
    dubins_lengths(starts[:2], goals[:2], 80.0)  # compiled

    def plain() -> None:
        for x, y, heading in few:
            for goal_x, goal_y, goal_heading in few:
                length_to(x, y, heading, goal_x, goal_y, goal_heading, 80.0)

    times = best_times({"ours": lambda: dubins_lengths(starts, goals, 80.0), "plain": plain}, 0.5 if quick else 3.0)
    rate, plain_rate = 1e6 / times["ours"], len(few) ** 2 / times["plain"]
    yield measured("Dubins paths of six words", rate / 1e6, "million paths per s", ">= 1.5")
    yield measured("Dubins paths against the same code in Python", rate / plain_rate, "x", ">= 20")
    matrix = best_time(lambda: dubins_lengths(starts[:100], goals, 80.0), 0.3 if quick else 1.0)
    yield measured("cost matrix of 100 x 1,000", matrix, "s", "<= 0.15")


def _poses(count: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    return np.column_stack([random.uniform(-1250.0, 1250.0, (count, 2)), random.uniform(-np.pi, np.pi, count)])


def _missions(quick: bool) -> Iterator[Result]:
    from paddock.planning import KinematicRun, Mission, generate
    from paddock.planning.from_scenario import setup_of

    setup = setup_of(generate(1))
    default = best_time(lambda: KinematicRun(Mission(setup)).finish(), 0.5 if quick else 2.0)
    yield measured("default mission, planned and flown kinematically", default * 1e3, "ms", "<= 500")
    uavs, tasks = (20, 400) if quick else (100, 2000)
    name = f"{uavs} UAVs, {tasks:,} tasks, clustered greedy"
    area, method = (20_000.0, 20_000.0), "clustered_greedy"
    many = setup_of(generate(1, uavs=uavs, tasks=tasks, area=area, range=None, method=method))
    planned = best_time(lambda: Mission(many).start(), 1.0 if quick else 4.0)
    yield measured(f"{name}: planned", planned, "s", None if quick else "<= 1")
    yield from _replanning(name, many, None if quick else "<= 100")


def _replanning(name: str, setup: Any, target: str | None) -> Iterator[Result]:
    """Measure replanning in the middle of a mission, from the event to the new routes."""
    from time import perf_counter

    from paddock.planning import KinematicRun, Mission, Task
    from paddock.planning.geometry.shapes import PointShape
    from paddock.planning.geometry.zones import CircleZone

    run = KinematicRun(Mission(setup))
    run.advance(60.0)
    names = [vehicle.name for vehicle in setup.problem.vehicles]
    new: dict[str, Callable[[int], object]] = {
        "a new task": lambda k: run.mission.add_task(Task(f"new_{k}", PointShape(100.0 * k, 300.0))),
        "a damage": lambda k: run.mission.damage(names[k]),
        "a new zone": lambda k: run.mission.add_zone(CircleZone(f"new_{k}", 900.0 * k - 4000.0, 3000.0, 200.0)),
    }
    for what, change in new.items():
        best = float("inf")
        for k in range(5):
            started = perf_counter()
            change(k)
            run.advance(1e-6)  # takes effect with the next step
            best = min(best, perf_counter() - started)
            run.advance(1.0)
        yield measured(f"{name}: replanned after {what}", best * 1e3, "ms", target)


def _default(quick: bool) -> Iterator[Result]:
    """Measure the default method against OR-Tools in 20 s, if installed; with the best headings for its orders."""
    from paddock.bench.suites.peers import PYTHON, run_peer
    from paddock.planning import generate, solve
    from paddock.planning.from_scenario import setup_of
    from paddock.planning.solver.costs import Costs
    from paddock.planning.solver.methods.annealing import value
    from paddock.planning.solver.methods.routing import chosen_headings, distances_in_decimetres

    for uavs, tasks, side in ((4, 20, 2500.0),) if quick else ((10, 100, 2500.0), (20, 500, 5000.0)):
        setup = setup_of(generate(1, uavs=uavs, tasks=tasks, area=(side, side), range=None, separation=None))
        plan, costs = solve(setup.problem, setup.method), Costs(setup.problem)
        seconds = best_time(lambda: solve(setup.problem, setup.method), 1.0)  # noqa: B023
        started = process_time()  # of all threads
        solve(setup.problem, setup.method)
        processor = process_time() - started
        case = f"{uavs} UAVs, {tasks} tasks"
        yield measured(f"{case}: {setup.method}, total", plan.total / 1000.0, "km")
        yield measured(f"{case}: {setup.method}, planned", seconds, "s", None if quick else "<= 2")
        if not PYTHON.exists():
            print(f"paddock: {case}: OR-Tools is missing; `make bench-peers` installs it and compares", file=sys.stderr)
            continue
        problem = json.dumps({"vehicles": uavs, "ways": distances_in_decimetres(costs, 0).tolist()})
        theirs = run_peer("ortools", str(10.0 * seconds if quick else 20.0), stdin=problem)
        headed = Costs(costs.problem.with_headings(chosen_headings(costs, theirs["orders"])))
        _, total = value(headed, theirs["orders"])
        yield measured(f"{case}: OR-Tools in {theirs['seconds']:.0f} s, total", total / 1000.0, "km")
        above = 100.0 * (plan.total / total - 1.0)
        yield measured(f"{case}: {setup.method} above OR-Tools", above, "%", None if quick else "<= 3")
        share = 100.0 * processor / theirs["processor"]
        times = f"{case}: {setup.method}, processor time of that of OR-Tools"
        yield measured(times, share, "%", None if quick else "<= 10")


BENCH = Bench("speed of planning, and quality of the plans", run, by_default=False)
