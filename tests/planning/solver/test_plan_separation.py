"""Plans keep aircraft apart, or name those that they could not keep apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.planning import plan as plan_of
from paddock.planning.from_scenario import setup_of
from paddock.planning.geometry.shapes import LineShape
from paddock.planning.metrics import foreseen, separation
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.random_missions import generate
from paddock.planning.solver import layers
from paddock.planning.solver.planner import solve
from paddock.planning.solver.problem import MissionSetup, Problem, Separation, Task, Vehicle
from paddock.planning.solver.routes import Plan
from paddock.world.state import load, save

KEPT = Separation(50.0, 20.0)


def nearest(plan: Plan, dt: float = 0.2) -> dict[tuple[str, str], float]:
    """Of each pair of vehicles the least share of the separation while both are under way, sampled finely."""
    times, places = np.arange(0.0, plan.makespan, dt), {}
    for route in plan.routes:
        if route.legs:
            ends = np.array([route.legs[0].begins, *(leg.ends for leg in route.legs)])
            flown = np.concatenate([[0.0], np.cumsum([leg.flown for leg in route.legs])])
            at = route.path.at(np.interp(times, ends, flown))[:, :3]
            places[route.vehicle] = np.where((times < ends[0]) | (times > ends[-1]), np.nan, at.T).T
    gaps = {}
    for first, other in combinations(places, 2):
        x, y, z = (places[first] - places[other]).T
        share = np.fmax(np.hypot(x, y) / KEPT.distance, np.abs(z) / KEPT.height)
        gaps[first, other] = float(np.fmin.reduce(share, initial=np.inf))
    return gaps


def check(plan: Plan) -> None:
    """No pair is too near, except those that the plan names; and those are."""
    named = {frozenset((meeting.first, meeting.second)) for meeting in plan.meetings}
    for pair, share in nearest(plan).items():
        if frozenset(pair) in named:
            assert share < 1.1, pair
        else:
            assert share >= 1.0 - 1e-9, pair


@given(
    st.integers(0, 10_000), st.integers(2, 8), st.integers(4, 16), st.sampled_from(["kinematic", "dynamics"]),
    st.sampled_from(["hungarian", "clustered_greedy"]),
)  # fmt: skip
@settings(max_examples=max(settings.default.max_examples // 20, 3))
def test_random_missions_are_free_of_conflicts(seed: int, uavs: int, tasks: int, execute: str, method: str) -> None:
    setup = setup_of(generate(seed, uavs, tasks, area=(1000.0, 1000.0), execute=execute, method=method))
    plan = solve(setup.problem, setup.method)
    assert plan.meetings == () and plan.done + len(plan.undone) == tasks
    check(plan)
    near = foreseen(plan, apart=True).separation
    assert near is None or near.distance >= 50.0


def test_without_layers_the_same_missions_have_conflicts() -> None:
    shares = []
    for seed in range(4):
        setup = setup_of(generate(seed, 6, 24, area=(1000.0, 1000.0), separation={"layers": "in_turn"}))
        assert setup.problem.separation is None
        shares.append(min(nearest(solve(setup.problem, "clustered_greedy")).values()))
    assert min(shares) < 0.5


def head_on(**changes: Any) -> Problem:
    """Two aircraft that fly the same line of 1 km in opposite directions at 20 m/s: they meet after 25 s."""
    poses = [(0.0, 0.0, 100.0, 0.0), (1000.0, 0.0, 100.0, np.pi)]
    who = tuple(Vehicle(f"u{k}", pose, poses[1 - k], 20.0, 50.0, 4000.0) for k, pose in enumerate(poses))
    what = (Task("east", LineShape(200.0, 0.0, 0.0, 600.0)), Task("west", LineShape(800.0, 0.0, np.pi, 600.0)))
    return replace(Problem(who, what, separation=KEPT), **changes)


def test_one_of_two_that_meet_head_on_flies_one_layer_higher() -> None:
    plan, level = solve(head_on(), "greedy"), solve(head_on(separation=None), "greedy")
    assert [vehicle.lift for vehicle in plan.problem.vehicles] == [0.0, 25.0]
    assert {leg.path.at(0.0)[0, 2] for leg in plan.routes[1].legs} == {125.0}
    assert plan.total == pytest.approx(level.total) and plan.makespan == pytest.approx(level.makespan)
    assert nearest(level)["u0", "u1"] < 0.1 and plan.meetings == ()


def at_one_height(closes: float) -> Problem:
    """Both tasks at the same height, so that no layer helps, to be begun before a time (s)."""
    problem = head_on()
    return replace(problem, tasks=tuple(replace(task, z=100.0, closes=closes) for task in problem.tasks))


def test_what_cannot_be_separated_is_named() -> None:
    """Both begin after 10 s: there is no time to wait."""
    plan = solve(at_one_height(12.0), "greedy")
    ((first, second, time),) = plan.meetings
    assert (first, second) == ("u0", "u1") and time == pytest.approx(25.0 - 51.0 / 40.0, abs=0.6)
    check(plan)


def test_one_of_two_with_tasks_at_one_height_waits_above_the_other() -> None:
    """It departs when the other one has passed its task: 40 s after 10 s, less the 10 s of its own way there."""
    problem = at_one_height(np.inf)
    plan = solve(problem, "greedy")
    assert plan.meetings == () and plan.done == 2
    check(plan)
    (later,) = [route for route in plan.routes if route.legs[0].kind == "wait"]
    assert later.legs[0].flown == 0.0 and 30.0 <= later.legs[0].ends <= 80.0
    run = KinematicRun(Mission(MissionSetup(problem, "greedy", execute="kinematic")))
    run.advance(20.0)
    other = KinematicRun(Mission(run.mission.setup))
    load(other, save(run))
    other.rebuild()
    run.advance(40.0)
    other.advance(40.0)
    assert np.array_equal(run.poses(), other.poses())
    run.finish()
    near = separation(trace(run, 0.5), KEPT.height)
    assert near is None or near.distance >= 50.0


@pytest.mark.parametrize("altitude", [40.0, 70.0, 85.0])
@pytest.mark.parametrize("x", [-14.0, 300.0])
def test_a_vehicle_that_sinks_to_its_task_starts_below_its_neighbour(altitude: float, x: float) -> None:
    """40 m apart, side by side: from a layer above it would sink through the height of the other."""
    line = {"line": {"start": [0, -20, 100], "end": [0, 20, 100]}}
    tasks = [
        {"name": "a", "point": {"at": [300, 1600]}, "altitude": altitude},
        {"name": "b", "point": {"at": [x, 1412]}},
    ]
    mission = {"base": [0, 0, 100, 0], "range": 8000, "speed": 15, "objective": "makespan", "tasks": tasks}
    quads = {"name": "q", "count": 2, "model": "quad", "preset": "long_range", "spawn": line}
    planned = plan_of({"vehicles": [quads], "mission": mission})
    assert planned.meetings == () and planned.done == 2
    check(planned)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_routes_that_change_height_are_checked_after_they_are_raised(seed: int) -> None:
    """Paths in other layers climb and sink elsewhere, so that others may meet than before."""
    setup = setup_of(generate(seed, 12, 30, area=(1500.0, 1500.0), execute="kinematic", method="clustered_greedy"))
    heights = np.random.default_rng(seed).choice([np.nan, 40.0, 70.0, 150.0], len(setup.problem.tasks))
    tasks = tuple(
        task if np.isnan(z) else replace(task, z=z)
        for task, z in zip(setup.problem.tasks, heights.tolist(), strict=True)
    )
    vehicles = tuple(replace(vehicle, slope=0.2) for vehicle in setup.problem.vehicles)
    plan = solve(replace(setup.problem, tasks=tasks, vehicles=vehicles), setup.method)
    check(plan)
    assert plan.meetings == ()


def test_a_mission_that_is_flown_keeps_its_layers() -> None:
    """Also when it is saved and goes on elsewhere."""
    setup = setup_of(generate(3, 5, 15, area=(1000.0, 1000.0), execute="kinematic", method="clustered_greedy"))
    run = KinematicRun(Mission(setup))
    run.advance(60.0)
    saved, other = save(run), KinematicRun(Mission(setup))
    load(other, saved)
    other.rebuild()
    assert np.array_equal(run.poses(), other.poses())
    assert any(vehicle.spec.lift > 0.0 for vehicle in run.mission.vehicles)
    run.finish()
    near = separation(trace(run, 0.5), KEPT.height)
    assert near is None or near.distance >= 50.0


@pytest.mark.parametrize("seed", range(4))
def test_blocks_that_are_skipped_contain_no_meeting(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight aircraft in random directions; some start late or land early."""
    rng = np.random.default_rng(seed)
    places = np.cumsum(rng.normal(0.0, 8.0, (8, 200, 3)), axis=1) + rng.uniform(-300.0, 300.0, (8, 1, 3))
    places[2, :70] = places[5, 120:] = places[6, 80:90] = np.nan
    met = np.zeros((2, 8, 8), np.int64)
    layers.first_meetings.plain(places, 60.0, 40.0, met[0])
    monkeypatch.setattr(layers, "BLOCK", 1_000)  # one block: nothing is skipped
    layers.first_meetings.plain(places, 60.0, 40.0, met[1])
    assert (met[0] == met[1]).all() and (met[0] >= 0).any() and (met[0] < 0).any()
