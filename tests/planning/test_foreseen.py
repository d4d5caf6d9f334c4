"""Metrics expected from a plan equal those measured when it is flown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paddock.planning.from_scenario import setup_of
from paddock.planning.geometry.shapes import PointShape
from paddock.planning.metrics import MissionMetrics, foreseen, measure, planned_trace, separation, time_step
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.random_missions import generate
from paddock.planning.solver.planner import solve
from paddock.planning.solver.problem import MissionSetup, Problem, Task, Vehicle


def both(setup: MissionSetup) -> tuple[MissionMetrics, MissionMetrics, KinematicRun]:
    plan = solve(setup.problem, setup.method)
    run = KinematicRun(Mission(setup, plan=plan))
    run.finish()
    return foreseen(plan), measure(run.mission), run


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_random_mission_matches_its_forecast(seed: int) -> None:
    setup = replace(setup_of(generate(seed, 3, 12)), method="greedy")
    planned, flown, _ = both(setup)
    for name in ("makespan", "total"):
        assert getattr(planned, name) == pytest.approx(getattr(flown, name), abs=1e-6)
    assert (planned.done, planned.undone) == (flown.done, flown.undone)
    for mine, theirs in zip(planned.vehicles, flown.vehicles, strict=True):
        assert (mine.name, mine.tasks) == (theirs.name, theirs.tasks)
        assert (mine.distance, mine.range_used) == pytest.approx((theirs.distance, theirs.range_used))
        assert mine.seconds == pytest.approx(theirs.seconds, abs=1e-6)
    for a, b in zip(planned.tasks, flown.tasks, strict=True):
        assert (a.name, a.kind, a.state, a.vehicle, a.reason) == (b.name, b.kind, b.state, b.vehicle, b.reason)
        assert (a.started, a.completed, a.latency) == pytest.approx((b.started, b.completed, b.latency))
    grid = np.linspace(0.0, planned.makespan, 50)
    ours, theirs_ = (np.interp(grid, m.series.time, m.series.distance) for m in (planned, flown))
    assert np.allclose(ours, theirs_, atol=1e-6)


def test_a_run_takes_a_plan_that_is_known() -> None:
    setup = replace(setup_of(generate(1, 2, 6)), method="greedy")
    other = solve(setup.problem, "hungarian")
    mission = Mission(setup, plan=other)
    mission.start()
    assert mission.plan is other
    assert [vehicle.route.tasks for vehicle in mission.vehicles] == [route.tasks for route in other.routes]


def test_planned_poses_equal_flown_poses() -> None:
    setup = replace(setup_of(generate(2, 3, 8)), method="clustered_greedy")
    plan = solve(setup.problem, setup.method)
    run = KinematicRun(Mission(setup, plan=plan))
    run.finish()
    was = trace(run, 1.0)
    will = planned_trace(plan, was.times)
    assert np.allclose(will.poses[..., :3], was.poses[..., :3], atol=1e-6)
    near, seen = separation(will), separation(was)
    assert near is not None and seen is not None and near.distance == pytest.approx(seen.distance, abs=1e-6)


def test_waiting_is_counted_separately() -> None:
    drone = Vehicle("a", (0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), 10.0, 0.0, 1000.0, moves="hover")
    plan = solve(Problem((drone,), (Task("p", PointShape(100.0, 0.0), opens=25.0),)), "greedy")
    (vehicle,) = foreseen(plan).vehicles
    assert (vehicle.waited, vehicle.seconds["transit"], vehicle.rested, vehicle.range_used) == (15.0, 25.0, 35.0, 0.2)


def test_time_step_of_the_separation() -> None:
    assert (time_step(600.0, 4), time_step(600.0, 1), time_step(0.0, 4)) == (0.5, None, None)
    assert time_step(1000.0, 2000) == 1.0
    assert time_step(1000.0, 10_000) is None
