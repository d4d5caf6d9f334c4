"""Operations on the mission, and the mission in the form that subscribers receive."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from paddock.engine.actions import MissionAction
from paddock.errors import UnknownNameError
from paddock.planning.mission.mission import Mission
from paddock.planning.mission.state import Job, tree_of
from paddock.planning.mission.vehicles import MissionVehicle
from paddock.planning.obstacles.zones import Zone
from paddock.planning.problem import Task
from paddock.serve.live import Later, LiveSource
from paddock.serve.trust import refuse_counts, refuse_foreign, refuse_spawn, refuse_task
from paddock.wire.operations.results import MemberTree, MissionTree, Place, TaskState, TaskTree, ZoneTree
from paddock.world.columns import Floats

DECIMALS = 3  # of a metre, in coordinates sent to subscribers


def mission(run: LiveSource, client: str) -> MissionTree | None:
    found = run.sim.engine.mission
    if found is None or found.scenario.mission is None:
        return None
    return mission_tree(found.mission, found.scenario.mission.base, lambda name: _id_of(run, name), run.drawn)


def mission_view(run: LiveSource, client: str) -> Later | None:
    found = run.sim.mission
    return None if found is None else Later(partial(tree_of, found.view()))


def add_task(run: LiveSource, client: str, task: dict[str, Any]) -> Future[Any]:
    """Add a task, within the limit of tasks."""
    return _direct(run, client, "add_task", task)


def move_task(run: LiveSource, client: str, name: str, x: float, y: float) -> Future[Any]:
    return _direct(run, client, "move_task", {"task": name, "x": x, "y": y})


def remove_task(run: LiveSource, client: str, name: str) -> Future[Any]:
    return _direct(run, client, "remove_task", {"task": name})


def add_zone(run: LiveSource, client: str, zone: dict[str, Any]) -> Future[Any]:
    return _direct(run, client, "add_zone", zone)


def remove_zone(run: LiveSource, client: str, name: str) -> Future[Any]:
    return _direct(run, client, "remove_zone", {"zone": name})


def add_vehicle(run: LiveSource, client: str, entry: dict[str, Any]) -> Future[Any]:
    """Add vehicles; foreign names are refused after the mission has validated the entry."""
    return _direct(run, client, "add_vehicle", entry)


def damage(run: LiveSource, client: str, vehicle: str | int) -> Future[Any]:
    return _direct(run, client, "damage", {"vehicle": vehicle})


def _direct(run: LiveSource, client: str, verb: str, arguments: dict[str, Any]) -> Future[Any]:
    """Validate a change now; the mission applies it between two ticks. A worker thread builds vehicles."""
    engine = run.sim.engine
    if verb == "add_vehicle":
        refuse_counts(run.limits, arguments)
        refuse_foreign(run.sim, arguments, verb)  # before it is read: that may import modules and read files
    order = engine.mission_stage.checked(MissionAction(verb, arguments))
    if verb != "add_vehicle":

        def apply() -> None:
            if verb == "add_task":
                refuse_task(run.sim, run.limits)
            engine.apply_or_post(order, f"{verb}()", source=client)

        return run.answer(apply)

    def build() -> Future[Any]:
        refuse_spawn(run.sim, run.limits, [order.arguments])
        prepared = engine.fleets.prepare(order.arguments, where=verb)
        return run.added(lambda: engine.apply(order, f"{verb}()", client, prepared))

    return run.aside(build)


def _id_of(run: LiveSource, name: str) -> int | None:
    try:
        fleet, rows = run.sim.engine.world.find(name)
    except UnknownNameError:
        return None
    return int(fleet.ids[rows[0]])


def _zone(zone: Zone) -> ZoneTree:
    floor, ceiling = zone.limits
    return {"name": zone.name, "outline": list(map(_place, zone.outline())), "floor": floor, "ceiling": ceiling}


def mission_tree(
    mission: Mission, base: Sequence[float], id_of: Callable[[str], int | None], drawn: dict[str, Any]
) -> MissionTree:
    """Describe a mission; `base` is x, y, (z,) heading, `id_of` returns the id of a vehicle that exists.

    `drawn` keeps the shapes of tasks by name, so that they are computed once.
    """
    return {
        "tasks": [_task(mission.task(name), job, drawn) for name, job in mission.tasks.items() if not job.removed],
        "zones": [_zone(zone) for zone in mission.zones],
        "members": [_vehicle(vehicle, id_of(vehicle.name)) for vehicle in mission.vehicles],
        "base": [base[0], base[1], base[2] if len(base) == 4 else 0.0, base[-1]],
    }


def _task(task: Task, job: Job, drawn: dict[str, Any]) -> TaskTree:
    if task.name not in drawn or drawn[task.name][0] is not task:
        drawn[task.name] = task, _drawing(task)
    reason = job.reason if job.state == "undone" else ""
    state: TaskState = "started" if job.state == "assigned" and job.doing else job.state
    facts = {"name": task.name, "state": state, "vehicle": job.vehicle, "reason": reason}
    return {**drawn[task.name][1], **facts}  # type: ignore[typeddict-item]


def _drawing(task: Task) -> dict[str, Any]:
    """Return a task's shape; x and y as for `move_task`: its entry, or the mean of a polygon's corners."""
    shape, outline = task.shape, task.shape.outline()
    if shape.kind == "polygon":
        (x, y), heading = _place(np.mean(outline[:-1], axis=0)), None
    else:
        (x, y), heading = _place(shape.entry[:2]), shape.entry.heading
    return {"kind": shape.kind, "x": x, "y": y, "heading": heading, "outline": list(map(_place, outline))}


def _vehicle(vehicle: MissionVehicle, id: int | None) -> MemberTree:
    doing = vehicle.doing
    return {
        "id": id,
        "name": vehicle.name,
        "status": vehicle.status,
        "travelled": round(vehicle.travelled, DECIMALS),
        "range": vehicle.spec.range if isfinite(vehicle.spec.range) else None,
        "tasks": [*([doing] if doing else ()), *vehicle.ahead],
    }


def _place(point: Sequence[float] | Floats) -> Place:
    return round(float(point[0]), DECIMALS), round(float(point[1]), DECIMALS)
