"""Properties of every mission: random vehicles, tasks, zones, winds, events and steps."""

from __future__ import annotations

from math import inf, pi
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.planning.geometry.shapes import AreaShape, CircleShape, LineShape, PointShape, TaskShape
from paddock.planning.geometry.zones import CircleZone
from paddock.planning.metrics import RESTING
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.problem import MissionSetup, Problem, ScheduledEvent, Task, Vehicle
from paddock.world.archive import pack, unpack
from paddock.world.state import load, save

chances = st.randoms(use_true_random=False)
few = settings(max_examples=settings.default.max_examples // 4)


def a_shape(r: Random) -> TaskShape:
    x, y, heading = r.uniform(-600.0, 600.0), r.uniform(-600.0, 600.0), r.uniform(-pi, pi)
    kind = r.choice(["point", "point", "free", "line", "circle", "area"])
    if kind in ("point", "free"):
        return PointShape(x, y, heading if kind == "point" else None)
    if kind == "line":
        return LineShape(x, y, heading, r.uniform(20.0, 200.0))
    if kind == "circle":
        return CircleShape(x, y, heading, r.uniform(20.0, 150.0), r.random() < 0.5)
    return AreaShape(x, y, heading, r.uniform(50.0, 200.0), r.uniform(40.0, 120.0), r.randint(2, 4), r.random() < 0.5)


def a_task(r: Random, k: int) -> Task:
    opens = r.choice([0.0, 0.0, r.uniform(0.0, 100.0)])
    return Task(f"task{k}", a_shape(r), opens=opens, closes=r.choice([inf, inf, opens + 200.0]))


def an_agent(r: Random, k: int) -> Vehicle:
    moves = r.choice(["aircraft", "aircraft", "hover", "ground"])
    radius = r.choice([20.0, 40.0] if moves == "aircraft" else [0.0, 20.0])
    pose = (r.uniform(-50.0, 50.0), r.uniform(-50.0, 50.0), 0.0, r.uniform(-pi, pi))
    home = r.choice([pose, (0.0, 0.0, 0.0, 0.0)])
    most = r.choice([inf, 8000.0, 3000.0, 1200.0])
    return Vehicle(f"agent{k}", pose, home, r.uniform(5.0, 20.0), radius, most, moves=moves)


def a_happening(r: Random, k: int, vehicles: tuple[Vehicle, ...]) -> ScheduledEvent:
    at = r.choice([0.0, r.uniform(0.0, 100.0), r.uniform(0.0, 100.0), 5000.0])  # by then all are home
    kind = r.choice(["task", "damage", "agent", "zone"])
    if kind == "damage" and vehicles:
        return ScheduledEvent(at, damage=r.choice(vehicles).name)
    if kind == "agent":
        return ScheduledEvent(at, vehicle=an_agent(r, 100 + k))
    if kind == "zone":
        return ScheduledEvent(at, zone=a_zone(r, 100 + k))
    return ScheduledEvent(at, task=a_task(r, 100 + k))


def a_zone(r: Random, k: int) -> CircleZone:
    return CircleZone(f"zone{k}", r.uniform(-500.0, 500.0), r.uniform(-500.0, 500.0), r.uniform(20.0, 200.0))


def a_setup(r: Random, zones: bool = True) -> MissionSetup:
    vehicles = tuple(an_agent(r, k) for k in range(r.randint(0, 4)))
    tasks = tuple(a_task(r, k) for k in range(r.randint(0, 7)))
    closed = tuple(a_zone(r, k) for k in range(r.choice([0, 0, 1]))) if zones else ()
    events = tuple(a_happening(r, k, vehicles) for k in range(r.randint(0, 4)))
    if not zones:
        events = tuple(event for event in events if event.zone is None)
    wind = r.choice([(0.0, 0.0), (0.0, 0.0), (2.0, -1.0)])
    problem = Problem(vehicles, tasks, closed, wind, r.choice(["total", "makespan"]))
    return MissionSetup(problem, "greedy", replan=r.random() < 0.8, events=events)


def finished(setup: MissionSetup) -> KinematicRun:
    run = KinematicRun(Mission(setup))
    run.finish()
    return run


@few
@given(chances)
def test_every_task_is_done_once_or_undone_with_a_reason(r: Random) -> None:
    setup = a_setup(r)
    mission = finished(setup).mission
    named = {task.name for task in setup.problem.tasks} | {h.task.name for h in setup.events if h.task}
    done = [entry.task for entry in mission.log if entry.kind == "completed"]
    assert set(mission.tasks) == named and len(done) == len(set(done))
    for name, job in mission.tasks.items():
        assert (job.state == "completed") == (name in done)
        assert job.state == "completed" or job.reason or (not setup.replan and job.state == "unassigned")
    assert all(vehicle.status in ("idle", *RESTING) for vehicle in mission.vehicles)


@few
@given(chances)
def test_no_vehicle_flies_beyond_its_range(r: Random) -> None:
    setup = a_setup(r, zones=False)  # a zone added in flight may make every way home too long
    for vehicle in finished(setup).mission.vehicles:
        assert vehicle.travelled <= vehicle.spec.range * (1.0 + 1e-6)


@few
@given(chances)
def test_steps_do_not_matter_and_the_distance_is_the_route_length(r: Random) -> None:
    setup = a_setup(r)
    whole = finished(setup)
    run = KinematicRun(Mission(setup))
    run.advance(0.0)
    while run.time < whole.time:
        run.advance(r.choice([0.01 * r.random(), r.uniform(0.0, 5.0), r.uniform(0.0, 50.0), 400.0]))
    assert run.mission.log == whole.mission.log
    for vehicle in whole.mission.vehicles:
        own = [followed for followed in whole.history if followed.row == vehicle.row]
        ends = [later.since for later in own[1:]] + [whole.time]
        ways = [_flown(followed.route, followed.since, end) for followed, end in zip(own, ends, strict=True)]
        assert abs(vehicle.travelled - sum(ways)) < 1e-5


def _flown(route: object, since: float, until: float) -> float:
    """Metres of a route's paths up to a time, measured on the paths themselves."""
    flown = 0.0
    for leg in route.legs:  # type: ignore[attr-defined]
        if leg.ends <= until:
            flown += leg.path.flown
        elif leg.begins < until and leg.flown > 0.0:
            flown += leg.path.subpath(0.0, (until - leg.begins) * route.speed).flown  # type: ignore[attr-defined]
    return flown


@few
@given(chances)
def test_a_restored_run_continues_bit_for_bit(r: Random) -> None:
    setup = a_setup(r)
    whole = finished(setup)
    run = KinematicRun(Mission(setup))
    run.advance(r.uniform(0.0, min(whole.time, 200.0)))
    saved = unpack(pack(save(run)))
    again = KinematicRun(Mission(setup))
    load(again, saved)
    again.rebuild()
    again.finish()
    assert again.mission.log == whole.mission.log and again.time == whole.time
    assert again.poses().tobytes() == whole.poses().tobytes()
    assert trace(again, 7.0).poses.tobytes() == trace(whole, 7.0).poses.tobytes()


@few
@given(chances)
def test_no_vehicle_jumps(r: Random) -> None:
    setup = a_setup(r)
    run = finished(setup)
    traced = trace(run, 1.0)
    steps = np.hypot(*np.diff(traced.poses[:, :, :2], axis=0).transpose(2, 0, 1))
    fastest = run.mission.fleet.speed + np.hypot(*setup.problem.wind)
    assert (steps <= fastest * np.diff(traced.times)[:, None] + 1e-6).all()
