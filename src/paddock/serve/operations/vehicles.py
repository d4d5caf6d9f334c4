"""Operations on vehicles (commands, adding and removing, overrides, synchronous control) and on their mission.

The mission is also returned in the form that subscribers receive.
"""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from math import isfinite
from time import monotonic
from typing import Any

import numpy as np

from paddock.engine.actions import (
    CommandAction,
    MissionAction,
    OverrideAction,
    PlaceAction,
    SpawnAction,
)
from paddock.engine.barrier import Claim
from paddock.engine.fleets import PreparedSpawn
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError
from paddock.planning.geometry.zones import Zone
from paddock.planning.mission.mission import Mission
from paddock.planning.mission.state import Job
from paddock.planning.mission.vehicles import MissionVehicle
from paddock.planning.solver.problem import Task
from paddock.serve.live import LiveSource
from paddock.serve.protection.trust import (
    known_names,
    refuse_counts,
    refuse_foreign,
    refuse_foreign_behaviour,
    refuse_spawn,
    refuse_task,
)
from paddock.wire.mission_results import MemberTree, MissionTree, MissionView, Place, TaskState, TaskTree, ZoneTree
from paddock.wire.results import Removed
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.snapshot import CommandRequest

LOG = logging.getLogger(__name__)
DECIMALS = 3  # of a metre, in coordinates sent to subscribers


def command(
    run: LiveSource,
    client: str,
    target: str | int,
    inputs: dict[str, Any],
    at_tick: int | None = None,
    timeout: float | None = None,
) -> None:
    """Post a command; the engine checks the inputs against the model."""
    if run.drivers:
        run.refuse_other_driver(client, _ids(run, target))
    run.post(CommandAction(target, inputs, timeout), client, at_tick)
    run.count_commands(1)


def place(
    run: LiveSource, client: str, target: str | int, pose: Any, speed: Any = 0.0, at_tick: int | None = None
) -> None:
    run.post(PlaceAction(target, pose, speed), client, at_tick)


def command_many(run: LiveSource, client: str, ids: Any, inputs: dict[str, Any], timeout: float | None = None) -> None:
    """Post one action per fleet; all are checked before the first is posted."""
    numbers = np.asarray(ids, np.int64)
    if not len(numbers):
        raise InvalidValueError("a command needs at least one vehicle: the list of ids is empty")
    run.refuse_other_driver(client, numbers)
    for name, values in inputs.items():
        if np.ndim(values) and np.shape(values) != numbers.shape:
            raise InvalidValueError(f"input {name!r} needs one value for each of {len(numbers)} vehicles")
    sim = run.sim
    sim.engine.mailbox.refuse_if_full()
    with sim.engine.applier.rebuilding:
        parts = [part for _, _, part in sim.engine.world.ids.split(numbers)]
    controls = [sim.engine.applier.checked_now(_control(numbers, inputs, part, timeout)) for part in parts]
    for control, checked_at in controls:
        sim.engine.mailbox.post(control, source=client, checked_at=checked_at)
    run.count_commands(len(numbers))


def _control(ids: Any, inputs: dict[str, Any], part: Any, timeout: float | None) -> CommandAction:
    """Return the command for the vehicles at some positions in a list of ids."""
    values = {name: np.asarray(value)[part] if np.ndim(value) else value for name, value in inputs.items()}
    if len(part) == 1:  # plain numbers are checked and latched faster
        values = {name: float(value[0]) if np.ndim(value) else value for name, value in values.items()}
        return CommandAction(int(ids[part[0]]), values, timeout)
    return CommandAction(ids[part], values, timeout)


def drive(run: LiveSource, client: str, target: str | int, driving: bool = True, take_over: bool = False) -> None:
    """Set or end the driver; refused for vehicles of autopilots and claims. A client that leaves ends it, too."""
    ids = _ids(run, target)
    if len(ids) != 1:
        raise InvalidValueError(f"{target!r} is a fleet of {len(ids)}: a client drives one vehicle, e.g. {target}[0]")
    number = int(ids[0])
    if driving:
        run.sim.engine.claims.refuse_controlled(ids)
        if not take_over:
            run.refuse_other_driver(client, ids)
    run.set_driver(number, client, driving)


def _ids(run: LiveSource, target: str | int) -> Ints:
    program, rows = run.sim.engine.applier.found(target)
    return program.fleet.ids[rows]


def spawn(run: LiveSource, client: str, entry: dict[str, Any]) -> Future[Any]:
    """Add vehicles; foreign names are refused here, so that the tick does not wait for the check."""
    refuse_counts(run.limits, entry)
    refuse_foreign(run.sim, entry)
    return run.aside(lambda: _add(run, client, [entry], lambda names: names[0]))


def spawn_all(run: LiveSource, client: str, entries: list[dict[str, Any]]) -> Future[Any]:
    """Add several entries; all are checked before the first is added."""
    refuse_counts(run.limits, *entries)
    for entry in entries:
        refuse_foreign(run.sim, entry)
    return run.aside(lambda: _add(run, client, entries, lambda names: names))


def _add(
    run: LiveSource, client: str, entries: list[dict[str, Any]], result: Callable[[list[str]], Any]
) -> Future[Any]:
    """Build the vehicles and compile their kernels in a worker thread; then add them between two ticks.

    The worker waits, so that the next entries are built for the fleets that exist then.
    """
    engine, prepared = run.sim.engine, list[PreparedSpawn]()
    several = len(entries) > 1
    if several and any("fleet" in fields for fields in entries):
        raise PaddockError("several entries at once are new fleets; add vehicles to a fleet in a separate call")
    read = refuse_spawn(run.sim, run.limits, entries)
    if several:
        engine.fleets.check(read)
    for fields, entry in zip(entries, read, strict=True):
        prepared.append(engine.fleets.prepare(fields, [spawn.entry.name for spawn in prepared], read=entry))

    def add() -> Any:
        if several:
            engine.fleets.check(read)
        built = zip(entries, prepared, strict=True)
        return result(
            [engine.applier.apply_now(SpawnAction(entry), "spawn()", client, spawn) for entry, spawn in built]
        )

    return run.added(add)


def clear(run: LiveSource, client: str) -> Removed:
    count = run.sim.engine.world.vehicles
    for name in list(run.sim.engine.world.fleets):
        run.sim.remove(name)
    return {"tick": run.sim.tick, "time": run.sim.time, "removed": count}


def override(run: LiveSource, client: str, target: Any, behaviour: Any) -> Future[Any]:
    """Override behaviours; the check and the compilation run outside the thread that ticks."""
    refuse_foreign_behaviour(behaviour, known_names(run.sim))
    for vehicle in (target if isinstance(target, list) else [target]) if run.drivers else ():
        run.refuse_other_driver(client, _ids(run, vehicle))

    def check() -> Future[Any]:
        engine = run.sim.engine
        version = engine.applier.version
        checked = engine.applier.checked_override(OverrideAction(target, behaviour))
        return run.answer(
            lambda: engine.applier.apply_or_post(checked, "override()", source=client, checked_at=version)
        )

    return run.aside(check)


def claim(run: LiveSource, client: str, vehicles: list[str]) -> dict[str, Any]:
    """Claim vehicles; a client has one claim at a time, so this replaces an earlier one."""
    run.states.forget(client)
    run.claims[client] = run.sim.control.claim(
        *vehicles,
        source=client,
        instead_of=run.claims.get(client),
        on_request=lambda claimed, request: _ask(run, client, claimed, request),
    )
    sync = run.sim.engine.stages.barrier.sync
    return {"every": sync.every, "timeout": sync.timeout, "on_timeout": sync.on_timeout}


def release(run: LiveSource, client: str) -> None:
    claimed = run.claims.pop(client, None)
    if claimed is None:
        raise PaddockError("release: this client has claimed nothing")
    claimed.release()


def control(run: LiveSource, client: str, tick: int, commands: dict[str | int, dict[str, Any]]) -> int:
    """Answer a control request; a reply to another tick, or after the deadline, is refused."""
    run.claim_of(client).reply(tick, commands)
    run.count_commands(len(commands))
    return tick


def _ask(run: LiveSource, client: str, claimed: Claim, request: CommandRequest) -> None:
    """Send a control request. Runs in the thread that ticks; a client that cannot be reached loses its claim."""
    try:
        left = request.deadline - monotonic()
        message = run.states.control_request(client, request.snapshot, left, request.vehicles)
        run.push("control_request", {"client": client, "tick": request.tick, "message": message})
        if client not in run.claims:  # it has disconnected meanwhile
            run.states.forget(client)
    except Exception as error:  # must not stop the tick
        claimed.release()
        if run.claims.get(client) is claimed:
            del run.claims[client]
        LOG.exception("cannot send a control request to %s; its claim has ended", client)
        reason = f"the simulation could not send the control request of tick {request.tick}: the claim has ended"
        with suppress(Exception):  # the failure may be in pushing itself
            run.push("refused", {"client": client, "kind": type(error).__name__, "message": reason})


def mission(run: LiveSource, client: str) -> MissionTree | None:
    mission_run = run.sim.engine.mission
    if mission_run is None or mission_run.scenario.mission is None:
        return None
    return mission_tree(
        mission_run.mission, mission_run.scenario.mission.base, lambda name: _id_of(run, name), run.drawn
    )


def mission_view(run: LiveSource, client: str) -> MissionView | None:
    return None if run.sim.mission is None else run.sim.mission.view()


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


def damage_vehicle(run: LiveSource, client: str, vehicle: str | int) -> Future[Any]:
    return _direct(run, client, "damage", {"vehicle": vehicle})


def _direct(run: LiveSource, client: str, verb: str, arguments: dict[str, Any]) -> Future[Any]:
    """Validate a change now; the mission applies it between two ticks. A worker thread builds vehicles."""
    engine = run.sim.engine
    if verb == "add_vehicle":
        refuse_counts(run.limits, arguments)
        refuse_foreign(run.sim, arguments, verb)  # before it is read: that may import modules and read files
    order = engine.parts.mission.checked(MissionAction(verb, arguments))
    if verb != "add_vehicle":

        def apply() -> None:
            if verb == "add_task":
                refuse_task(run.sim, run.limits)
            engine.applier.apply_or_post(order, f"{verb}()", source=client)

        return run.answer(apply)

    def build() -> Future[Any]:
        [read] = refuse_spawn(run.sim, run.limits, [order.arguments])
        prepared = engine.fleets.prepare(order.arguments, where=verb, read=read)
        return run.added(lambda: engine.applier.apply_now(order, f"{verb}()", client, prepared))

    return run.aside(build)


def _id_of(run: LiveSource, name: str) -> int | None:
    try:
        fleet, rows = run.sim.engine.world.find(name)
    except UnknownNameError:
        return None
    return int(fleet.ids[rows[0]])


def _zone(zone: Zone) -> ZoneTree:
    floor, ceiling = zone.limits
    return {"name": zone.name, "outline": list(map(_place_tree, zone.outline())), "floor": floor, "ceiling": ceiling}


def mission_tree(
    mission: Mission, base: Sequence[float], id_of: Callable[[str], int | None], drawn: dict[str, Any]
) -> MissionTree:
    """Describe a mission; `base` is x, y, (z,) heading, `id_of` returns the id of a vehicle that exists.

    `drawn` keeps the shapes of tasks by name, so that they are computed once.
    """
    return {
        "tasks": [_task_tree(mission.task(name), job, drawn) for name, job in mission.tasks.items() if not job.removed],
        "zones": [_zone(zone) for zone in mission.zones],
        "members": [_vehicle_tree(vehicle, id_of(vehicle.name)) for vehicle in mission.vehicles],
        "base": [base[0], base[1], base[2] if len(base) == 4 else 0.0, base[-1]],
    }


def _task_tree(task: Task, job: Job, drawn: dict[str, Any]) -> TaskTree:
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
        (x, y), heading = _place_tree(np.mean(outline[:-1], axis=0)), None
    else:
        (x, y), heading = _place_tree(shape.entry[:2]), shape.entry.heading
    return {"kind": shape.kind, "x": x, "y": y, "heading": heading, "outline": list(map(_place_tree, outline))}


def _vehicle_tree(vehicle: MissionVehicle, id: int | None) -> MemberTree:
    doing = vehicle.doing
    return {
        "id": id,
        "name": vehicle.name,
        "status": vehicle.status,
        "travelled": round(vehicle.travelled, DECIMALS),
        "range": vehicle.spec.range if isfinite(vehicle.spec.range) else None,
        "tasks": [*([doing] if doing else ()), *vehicle.ahead],
    }


def _place_tree(point: Sequence[float] | Floats) -> Place:
    return round(float(point[0]), DECIMALS), round(float(point[1]), DECIMALS)
