"""Metrics of missions that can be worked out by hand."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from paddock.planning.geometry.shapes import LineShape, PointShape
from paddock.planning.metrics import ClosestApproach, measure, separation
from paddock.planning.mission.kinematic import KinematicRun, Trace, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.problem import MissionSetup, Problem, ScheduledEvent, Task, Vehicle
from paddock.planning.solver.routes import STATUSES


def finished(*events: ScheduledEvent) -> KinematicRun:
    def drone(name: str, y: float) -> Vehicle:
        return Vehicle(name, (0.0, y, 0.0, 0.0), (0.0, y, 0.0, 0.0), 10.0, 0.0, 600.0, moves="hover")

    tasks = (Task("line", LineShape(100.0, 0.0, 0.0, 50.0)), Task("far", PointShape(0.0, 5000.0)))
    problem = Problem((drone("a", 0.0), drone("b", 40.0)), tasks)
    run = KinematicRun(Mission(MissionSetup(problem, "greedy", events=events)))
    run.finish()
    return run


def test_one_line_there_and_back() -> None:
    metrics = measure(finished().mission)
    assert (metrics.makespan, metrics.total, metrics.done, metrics.undone, metrics.replans) == (30.0, 300.0, 1, 1, 0)
    a, b = metrics.vehicles
    assert (a.distance, a.tasks, b.distance, b.tasks) == (300.0, 1, 0.0, 0)
    assert {k: v for k, v in a.seconds.items() if v} == {"transit": 10.0, "busy": 5.0, "returning": 15.0}
    assert {k: v for k, v in b.seconds.items() if v} == {"idle": 30.0}
    line, far = metrics.tasks
    assert (line.kind, line.vehicle, line.assigned, line.started, line.completed) == ("line", "a", 0.0, 10.0, 15.0)
    assert (far.state, far.latency) == ("undone", None) and far.reason


def test_series_and_latency_of_a_task_that_came_later() -> None:
    metrics = measure(finished(ScheduledEvent(50.0, task=Task("new", PointShape(0.0, 140.0)))).mission)
    assert next(task for task in metrics.tasks if task.name == "new").latency == pytest.approx(10.0)
    at = dict(zip(metrics.series.time, zip(metrics.series.distance, metrics.series.done, strict=True), strict=True))
    assert at[10.0] == (100.0, 0) and at[15.0] == (150.0, 1) and at[30.0] == (300.0, 1) and at[50.0] == (300.0, 1)
    assert at[60.0] == (pytest.approx(400.0), 2) and metrics.makespan == pytest.approx(70.0)


def test_a_vehicle_that_joins_counts_from_then_on() -> None:
    late = Vehicle("c", (0.0, 90.0, 0.0, 0.0), (0.0, 90.0, 0.0, 0.0), 10.0, 0.0, 100.0, moves="hover")
    metrics = measure(finished(ScheduledEvent(12.0, vehicle=late)).mission)
    assert sum(metrics.vehicles[2].seconds.values()) == pytest.approx(18.0)


def test_separation_of_two_vehicles_that_pass_each_other() -> None:
    times = np.arange(0.0, 10.5, 0.5)
    poses = np.zeros((len(times), 3, 4))
    poses[:, 0, 0], poses[:, 1, 0] = 10.0 * times, 100.0 - 10.0 * times
    poses[:, 1, 2] = 30.0  # above the other, and the third stands where both pass
    poses[:, 2, 0] = 50.0
    under_way, home = STATUSES.index("transit"), STATUSES.index("home")
    statuses = np.full((len(times), 3), under_way, dtype=np.int8)
    statuses[:, 2] = home
    assert separation(Trace(("a", "b", "c"), times, poses, statuses)) == ClosestApproach(30.0, 5.0, "a", "b")
    statuses[:, 1] = home
    assert separation(Trace(("a", "b", "c"), times, poses, statuses)) is None


def test_separation_is_measured_in_a_trace() -> None:
    run = finished(ScheduledEvent(2.0, task=Task("new", PointShape(300.0, 40.0))))
    metrics = measure(run.mission, trace(run, 0.5))
    assert metrics.separation is not None and metrics.separation.distance <= 40.0
    assert measure(run.mission).separation is None


def test_undefined_numbers_are_none() -> None:
    mission = Mission(MissionSetup(Problem((), (Task("p", PointShape(0.0, 0.0), closes=inf),)), "greedy"))
    mission.start()
    plain = measure(mission).to_dict()
    assert plain["tasks"][0]["completed"] is None and plain["agents"] == [] and plain["makespan"] == 0.0
