"""Where everybody is at given times, and what changes on the map meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paddock.planning.foreseen import planned_trace
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.members import STATUSES
from paddock.planning.mission.trace import trace
from paddock.planning.obstacles.zone import Zone
from paddock.planning.plans import Plan
from paddock.planning.problem import Task
from paddock.world.columns import Floats


@dataclass(frozen=True)
class News:
    """What changes at a time: one of these."""

    time: float  # s
    done: tuple[str, int] | None = None  # a task, and the index of the vehicle that has done it
    task: Task | None = None  # a new one
    zone: Zone | None = None  # a new one


@dataclass(frozen=True)
class Tracks:
    """Vehicles over time."""

    times: Floats  # s, (k,)
    poses: Floats  # x, y, z in m and heading in rad, (k, n, 4)
    able: NDArray[np.bool_]  # (k, n): not damaged
    news: tuple[News, ...]  # in order


def tracks_of(plan: Plan, count: int) -> Tracks:
    """Of a plan that is followed, at that many moments from the start until all are back."""
    times = np.linspace(0.0, plan.makespan, count)
    poses = planned_trace(plan, times).poses
    done = [
        News(leg.ends, (str(leg.task), k))
        for k, route in enumerate(plan.routes)
        for leg in route.legs
        if leg.kind == "coverage"
    ]
    return Tracks(times, poses, np.ones(poses.shape[:2], dtype=np.bool_), _ordered(done))


def tracks_of_run(run: KinematicRun, count: int) -> Tracks:
    """Of a mission that has been flown, whatever happened on the way."""
    mission = run.mission
    found = trace(run, max(run.time, 1e-3) / (count - 1))
    chosen = np.linspace(0.0, len(found.times) - 1.0, count).round().astype(np.int64)
    rows = {name: row for row, name in enumerate(found.names)}
    news = [News(entry.time, (str(entry.task), rows[str(entry.agent)])) for entry in mission.log
            if entry.kind == "completed"]  # fmt: skip
    news += [News(one.at, task=one.task, zone=one.zone) for one in mission.setup.happenings if one.task or one.zone]
    able = found.statuses != STATUSES.index("damaged")
    return Tracks(found.times[chosen], found.poses[chosen], able[chosen], _ordered(news))


def _ordered(news: list[News]) -> tuple[News, ...]:
    return tuple(sorted(news, key=lambda one: one.time))
