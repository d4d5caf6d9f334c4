"""Timelines of exact runs, worked out by hand."""

from __future__ import annotations

from math import inf, pi

import numpy as np
import pytest

from paddock.errors import InvalidValueError
from paddock.planning.geometry.shapes import LineShape, PointShape
from paddock.planning.geometry.zones import CircleZone
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.problem import MissionSetup, Problem, ScheduledEvent, Task, Vehicle
from paddock.planning.solver.routes import STATUSES

HOME = (0.0, 0.0, 0.0, 0.0)


def drone(name: str = "d", range_: float = inf, y: float = 0.0, speed: float = 10.0) -> Vehicle:
    """It hovers and turns on the spot: its ways are straight lines."""
    pose = (0.0, y, 0.0, 0.0)
    return Vehicle(name, pose, pose, speed, 0.0, range_, moves="hover")


def point(name: str, x: float, y: float = 0.0, **when: float) -> Task:
    return Task(name, PointShape(x, y), **when)


def run_of(vehicles: list[Vehicle], tasks: list[Task], *events: ScheduledEvent, **setup: object) -> KinematicRun:
    problem = Problem(tuple(vehicles), tuple(tasks))
    return KinematicRun(Mission(MissionSetup(problem, "greedy", events=events, **setup)))  # type: ignore[arg-type]


def said(run: KinematicRun, kind: str) -> list[tuple[float, str | None, str | None]]:
    return [(entry.time, entry.vehicle, entry.task) for entry in run.mission.log if entry.kind == kind]


def test_two_points_on_a_line() -> None:
    run = run_of([drone()], [point("near", 100.0), point("far", 200.0)])
    assert run.finish() == 40.0
    assert said(run, "completed") == [(10.0, "d", "near"), (20.0, "d", "far")]
    states = [(entry.time, entry.detail) for entry in run.mission.log if entry.kind == "state"]
    assert states == [
        (0.0, "transit"), (10.0, "busy"), (10.0, "transit"), (20.0, "busy"), (20.0, "returning"), (40.0, "home"),
    ]  # fmt: skip
    assert run.mission.vehicles[0].travelled == 400.0


def test_a_line_is_busy_for_its_length() -> None:
    run = run_of([drone()], [Task("line", LineShape(100.0, 0.0, 0.0, 50.0))])
    run.advance(12.0)
    assert run.mission.vehicles[0].status == "busy"
    np.testing.assert_allclose(run.poses(), [[120.0, 0.0, 0.0, 0.0]], atol=1e-12)
    assert run.finish() == 30.0
    assert said(run, "started") == [(10.0, "d", "line")] and said(run, "completed") == [(15.0, "d", "line")]


def test_it_waits_for_a_window() -> None:
    run = run_of([drone()], [point("later", 100.0, opens=25.0)])
    run.advance(20.0)
    np.testing.assert_allclose(run.poses()[0, :2], [100.0, 0.0])
    assert run.finish() == 35.0
    assert said(run, "completed") == [(25.0, "d", "later")]
    assert run.mission.vehicles[0].travelled == 200.0


def test_a_new_task_on_the_way_home() -> None:
    run = run_of([drone()], [point("first", 100.0)], ScheduledEvent(15.0, task=point("second", 50.0, 30.0)))
    # at 15 s it is at x = 50 on its way home: 30 m there, and hypot(50, 30) m home
    assert run.finish() == pytest.approx(15.0 + (30.0 + 3400.0**0.5) / 10.0, abs=1e-9)
    assert said(run, "completed")[-1] == (pytest.approx(18.0), "d", "second")


def test_damage_reassigns_the_active_task() -> None:
    line = Task("line", LineShape(100.0, 0.0, 0.0, 50.0))
    run = run_of([drone("a"), drone("b", y=300.0)], [line], ScheduledEvent(12.0, damage="a"))
    run.finish()
    # b starts at 12 s from (0, 300), does the whole line and returns from its end (150, 0)
    there, home = (100.0**2 + 300.0**2) ** 0.5, (150.0**2 + 300.0**2) ** 0.5
    assert said(run, "completed") == [(pytest.approx(12.0 + (there + 50.0) / 10.0), "b", "line")]
    assert run.time == pytest.approx(12.0 + (there + 50.0 + home) / 10.0)
    assert [vehicle.status for vehicle in run.mission.vehicles] == ["damaged", "home"]
    np.testing.assert_allclose(run.poses()[0, :2], [120.0, 0.0], atol=1e-9)
    assert run.mission.vehicles[0].travelled == pytest.approx(120.0)


def test_without_replanning_tasks_of_the_damaged_are_undone_and_new_ones_wait() -> None:
    events = (ScheduledEvent(5.0, damage="a"), ScheduledEvent(6.0, task=point("new", 1.0)))
    run = run_of([drone("a"), drone("b", y=900.0)], [point("p", 100.0)], *events, replan=False)
    run.finish()
    assert run.mission.tasks["p"].state == "undone" and "a was damaged" in run.mission.tasks["p"].reason
    assert run.mission.tasks["new"].state == "unassigned"


def test_an_event_after_the_return_is_handled() -> None:
    run = run_of([drone()], [point("p", 100.0)], ScheduledEvent(1000.0, task=point("late", 50.0)))
    assert run.finish() == 1010.0
    assert said(run, "completed") == [(10.0, "d", "p"), (1005.0, "d", "late")]


def test_an_added_vehicle_takes_tasks_out_of_reach_of_others() -> None:
    run = run_of([drone("short", 500.0)], [point("p", 300.0)], ScheduledEvent(7.0, vehicle=drone("long", speed=20.0)))
    assert run.mission.tasks["p"].state == "undone" and "600 m there and back" in run.mission.tasks["p"].reason
    assert run.finish() == 37.0
    assert said(run, "completed") == [(22.0, "long", "p")]


def test_a_zone_is_avoided_and_tasks_inside_are_undone() -> None:
    zone = CircleZone("closed", 500.0, 0.0, 50.0)
    run = run_of([drone()], [point("behind", 1000.0), point("within", 510.0)], ScheduledEvent(10.0, zone=zone))
    run.finish()
    assert run.mission.tasks["within"].state == "undone" and "'closed'" in run.mission.tasks["within"].reason
    assert run.mission.tasks["behind"].state == "completed"

    # taut strings around a circle: from 400 m before its centre to 500 m behind it, and from there to 500 m before it
    def taut(a: float, b: float) -> float:
        tangents = (a * a - 2500.0) ** 0.5 + (b * b - 2500.0) ** 0.5
        return tangents + 50.0 * (pi - np.arccos(50.0 / a) - np.arccos(50.0 / b))

    assert run.mission.vehicles[0].travelled == pytest.approx(100.0 + taut(400.0, 500.0) + taut(500.0, 500.0), rel=1e-4)


def test_a_vehicle_inside_a_new_zone_leaves_it_the_shortest_way() -> None:
    zone = CircleZone("closed", 100.0, -20.0, 40.0)
    run = run_of([drone()], [point("p", 400.0)], ScheduledEvent(10.0, zone=zone))
    run.finish()
    traced = trace(run, 0.05)
    inside = np.hypot(traced.poses[:, 0, 0] - 100.0, traced.poses[:, 0, 1] + 20.0) < 40.0 - 1e-3
    assert inside.any() and run.mission.tasks["p"].state == "completed"
    # it is 20 m below the border straight to the north: that is 2 s
    seconds = traced.times[inside & (traced.times >= 10.0)]
    assert seconds.max() == pytest.approx(12.0, abs=0.1)


def test_results_do_not_depend_on_the_step() -> None:
    def log(*steps: float) -> list[object]:
        run = run_of(
            [drone("a"), drone("b", y=70.0, speed=7.0)],
            [point("p", 100.0, 30.0), Task("q", LineShape(-80.0, 60.0, 1.0, 45.0)), point("r", 10.0, -90.0)],
            ScheduledEvent(11.1, task=point("s", 40.0, 40.0)),
            ScheduledEvent(13.3, damage="a"),
        )
        for step in steps:
            run.advance(step)
        run.finish()
        return [*run.mission.log]

    assert log() == log(*[0.01] * 3000) == log(1.0, 0.3, 11.0, 0.0, 50.0)


def test_a_trace_follows_the_routes() -> None:
    run = run_of([drone()], [point("p", 100.0)])
    run.finish()
    traced = trace(run, 2.5)
    np.testing.assert_allclose(traced.times, np.arange(0.0, 20.1, 2.5))
    np.testing.assert_allclose(traced.poses[:, 0, 0], [0, 25, 50, 75, 100, 75, 50, 25, 0], atol=1e-9)
    assert [STATUSES[k] for k in traced.statuses[:, 0]] == ["transit"] * 4 + ["returning"] * 4 + ["home"]


def test_time_does_not_go_back() -> None:
    run = run_of([drone()], [])
    with pytest.raises(InvalidValueError, match="seconds >= 0"):
        run.advance(-1.0)


def test_no_tasks_and_no_vehicles() -> None:
    idle = run_of([drone()], [])
    assert idle.finish() == 0.0 and idle.mission.vehicles[0].status == "idle"
    empty = run_of([], [point("p", 1.0)])
    assert empty.finish() == 0.0 and empty.poses().shape == (0, 4)
    assert empty.mission.tasks["p"].reason == "no vehicle is able to do anything"
    broken = run_of([drone()], [point("p", 100.0)], ScheduledEvent(1.0, damage="d"))
    assert broken.finish() == 1.0
    assert broken.mission.tasks["p"].reason == "no vehicle is able to do anything"
