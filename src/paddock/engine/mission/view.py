"""How a mission is seen: its tasks, zones, members and numbers at one moment, and the routes that are left."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine.behaviours import PlannedRoute
from paddock.planning.mission.views import MemberView, MissionView, TaskView, ZoneView

if TYPE_CHECKING:
    from paddock.engine.mission.run import MissionRun

POINTS = 400
"""Of a route that people are shown, at most."""
FINEST = 2.0
"""m between two of them, at least."""


def view_of(run: MissionRun) -> MissionView:
    """The mission now."""
    mission = run.mission
    tasks = tuple(
        TaskView(name, (task := mission.task(name)).shape.kind, job.state, job.agent, job.doing, job.reason,
                 task.shape.outline(), task.z)
        for name, job in mission.tasks.items()
    )  # fmt: skip
    members = tuple(
        MemberView(m.name, m.status, m.doing, tuple(m.ahead), m.progress, m.ends[-1] if m.ends else 0.0, m.travelled)
        for m in mission.agents
    )
    zones = tuple(ZoneView(zone.name, zone.outline()) for zone in mission.zones)
    return MissionView(mission.time, tasks, zones, members, mission.finished, metrics_of(run), tuple(mission.log))


def metrics_of(run: MissionRun) -> dict[str, Any]:
    """Numbers so far."""
    mission = run.mission
    states = [job.state for job in mission.tasks.values()]
    ends = [entry.time for entry in mission.log if entry.kind == "state" and entry.detail == "home"]
    spacing = run.execution.spacing
    apart = None if spacing is None else spacing.closest
    return {
        "tasks": len(states),
        "completed": states.count("completed"),
        "undone": states.count("undone"),
        "travelled": float(sum(member.travelled for member in mission.agents)),
        "makespan": max(ends, default=None),
        "replans": mission.replans,
        "closest": apart.distance if apart is not None and isfinite(apart.distance) else None,
        "separation": apart.share if apart is not None and isfinite(apart.share) else None,
    }


def mission_routes(run: MissionRun) -> Iterator[PlannedRoute]:
    """What is left of the members' routes."""
    agents = run.mission.agents
    for crew in run.cast.crews([member.name for member in agents])[0]:
        fleet = crew.program.fleet
        for row, agent in zip(crew.rows.tolist(), crew.agents.tolist(), strict=True):
            member = agents[agent]
            if member.current is None:
                continue
            path = member.route.path.subpath(member.progress, np.inf)
            if path.segments:
                points = path.points(max(FINEST, path.flown / POINTS))[:, :3]
                yield PlannedRoute(fleet.name, fleet.ids[[row]], "mission", False, points)
