"""A mission in the shape that subscribers are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TypedDict

import numpy as np

from paddock.planning.mission.mission import Mission
from paddock.planning.mission.state import Job
from paddock.planning.mission.vehicles import MissionVehicle
from paddock.planning.obstacles.zones import Zone
from paddock.planning.problem import Task
from paddock.serve.subscribers.shapes import MemberTree, MissionTree, Place, TaskTree, ZoneTree
from paddock.serve.subscribers.shapes.mission import TaskState
from paddock.world.columns import Floats

FINEST = 3
"""Decimals of a metre that are told."""


class MissionTeller:
    """Describes a mission again and again; what a task looks like is worked out once."""

    def __init__(self) -> None:
        self._drawn: dict[str, tuple[Task, Drawing]] = {}

    def tree(self, mission: Mission, base: Sequence[float], id_of: Callable[[str], int | None]) -> MissionTree:
        """The mission as it stands; `base` is x, y, (z,) heading, `id_of` finds the id of a vehicle that is there."""
        height = base[2] if len(base) == 4 else 0.0
        return {
            "tasks": [self._task(mission.task(name), job) for name, job in mission.tasks.items() if not job.removed],
            "zones": list(map(_zone, mission.zones)),
            "members": [_vehicle(vehicle, id_of(vehicle.name)) for vehicle in mission.vehicles],
            "base": [base[0], base[1], height, base[-1]],
        }

    def _task(self, task: Task, job: Job) -> TaskTree:
        known, drawing = self._drawn.get(task.name, (None, None))
        if drawing is None or known is not task:
            drawing = _drawing(task)
            self._drawn[task.name] = task, drawing
        reason = job.reason if job.state == "undone" else ""
        return {**drawing, "name": task.name, "state": _state(job), "vehicle": job.vehicle, "reason": reason}


class Drawing(TypedDict):
    """What a task looks like."""

    kind: str
    x: float
    y: float
    heading: float | None
    outline: list[Place]


def _drawing(task: Task) -> Drawing:
    """Its place is where `move_task` puts it: where it begins, or for a polygon the mean of its corners."""
    shape, outline = task.shape, task.shape.outline()
    if shape.kind == "polygon":
        (x, y), heading = _place(np.mean(outline[:-1], axis=0)), None
    else:
        (x, y), heading = _place(shape.entry[:2]), shape.entry.heading
    return {"kind": shape.kind, "x": x, "y": y, "heading": heading, "outline": list(map(_place, outline))}


def _state(job: Job) -> TaskState:
    return "started" if job.state == "assigned" and job.doing else job.state


def _zone(zone: Zone) -> ZoneTree:
    return {"name": zone.name, "outline": list(map(_place, zone.outline()))}


def _vehicle(vehicle: MissionVehicle, id: int | None) -> MemberTree:
    doing = vehicle.doing
    return {
        "id": id,
        "name": vehicle.name,
        "status": vehicle.status,
        "travelled": round(vehicle.travelled, FINEST),
        "range": vehicle.spec.range if isfinite(vehicle.spec.range) else None,
        "tasks": [*([doing] if doing else ()), *vehicle.ahead],
    }


def _place(point: Sequence[float] | Floats) -> Place:
    return round(float(point[0]), FINEST), round(float(point[1]), FINEST)
