"""Operations on vehicles: commands, adding and removing, overrides, synchronous control."""

import logging
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from time import monotonic
from typing import Any

import numpy as np

from paddock.engine.actions import Action, CommandAction, OverrideAction, PlaceAction, SpawnAction
from paddock.engine.barrier import Claim, CommandRequest
from paddock.engine.fleets import PreparedSpawn
from paddock.engine.mailbox import MOST_WAITING
from paddock.errors import InvalidValueError, PaddockError
from paddock.serve.live import LiveSource
from paddock.serve.trust import known_names, refuse_counts, refuse_foreign, refuse_foreign_behaviour, refuse_spawn
from paddock.wire.operations.results import Removed
from paddock.world.fleet import Ints

LOG = logging.getLogger(__name__)
MOST_FOR_TICK = 256  # commands and placings that clients may send for the same tick, in advance


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
        run.refuse_driven(client, _ids(run, target))
    _post(run, client, CommandAction(target, inputs, timeout), at_tick)
    run.commands += 1


def place(
    run: LiveSource, client: str, target: str | int, pose: Any, speed: Any = 0.0, at_tick: int | None = None
) -> None:
    _post(run, client, PlaceAction(target, pose, speed), at_tick)


def _post(run: LiveSource, client: str, action: Action, at_tick: int | None) -> None:
    """Post an action; one tick takes a limited number of those that clients have sent for it in advance."""
    if at_tick is None:
        run.sim.engine.post(action, None, client)
        return
    moment, now = (run.sim.engine.world.run, at_tick), (run.sim.engine.world.run, run.sim.tick)
    if run.ahead[moment] >= MOST_FOR_TICK:
        raise PaddockError(f"{MOST_FOR_TICK} actions of clients wait for tick {at_tick} already: use another tick")
    run.sim.engine.post(action, at_tick, client)
    run.ahead[moment] += 1
    if len(run.ahead) > MOST_WAITING:  # those of earlier ticks and runs are done
        run.ahead = Counter({one: count for one, count in run.ahead.items() if one >= now})


def command_many(run: LiveSource, client: str, ids: Any, inputs: dict[str, Any], timeout: float | None = None) -> None:
    """Post one action per fleet; all are checked before the first is posted."""
    numbers = np.asarray(ids, np.int64)
    run.refuse_driven(client, numbers)
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
    run.commands += len(numbers)


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
            run.refuse_driven(client, ids)
        run.drivers = {**run.drivers, number: client}
    elif run.drivers.get(number) == client:
        run.drivers = {one: driver for one, driver in run.drivers.items() if one != number}


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
    if len(entries) > 1:
        engine.fleets.check(entries)
    refuse_spawn(run.sim, run.limits, entries)
    for entry in entries:
        prepared.append(engine.fleets.prepare(entry, [one.entry.name for one in prepared]))

    def add() -> Any:
        if len(entries) > 1:
            engine.fleets.check(entries)
        built = zip(entries, prepared, strict=True)
        return result([engine.apply(SpawnAction(entry), "spawn()", client, one) for entry, one in built])

    return run.added(add)


def clear(run: LiveSource, client: str) -> Removed:
    count = run.sim.engine.world.vehicles
    for name in list(run.sim.engine.world.fleets):
        run.sim.remove(name)
    return {"tick": run.sim.tick, "time": run.sim.time, "removed": count}


def order(run: LiveSource, client: str, target: Any, behaviour: Any) -> Future[Any]:
    """Override behaviours; the check and the compilation run outside the thread that ticks."""
    refuse_foreign_behaviour(behaviour, known_names(run.sim))
    for one in (target if isinstance(target, list) else [target]) if run.drivers else ():
        run.refuse_driven(client, _ids(run, one))

    def check() -> Future[Any]:
        engine = run.sim.engine
        version = engine.applier.version
        checked = engine.applier.checked_override(OverrideAction(target, behaviour))
        return run.answer(lambda: engine.apply_or_post(checked, "override()", source=client, checked_at=version))

    return run.aside(check)


def claim(run: LiveSource, client: str, vehicles: list[str]) -> dict[str, Any]:
    """Claim vehicles; a client has one claim at a time, so this replaces an earlier one."""
    run.states.forget(client)
    run.claims[client] = run.sim.claim(
        *vehicles,
        source=client,
        instead_of=run.claims.get(client),
        on_request=lambda claimed, request: _ask(run, client, claimed, request),
    )
    sync = run.sim.engine.barrier.sync
    return {"every": sync.every, "timeout": sync.timeout, "on_timeout": sync.on_timeout}


def release(run: LiveSource, client: str) -> None:
    claimed = run.claims.pop(client, None)
    if claimed is None:
        raise PaddockError("release: this client has claimed nothing")
    claimed.release()


def control(run: LiveSource, client: str, tick: int, commands: dict[str, dict[str, Any]]) -> int:
    """Answer a control request; a reply to another tick, or after the deadline, is refused."""
    run.claim_of(client).reply(tick, commands)
    run.commands += len(commands)
    return tick


def control_unasked(run: LiveSource, client: str, tick: int, commands: dict[str, dict[str, Any]]) -> None:
    """Answer a control request; only a refusal is reported."""
    try:
        control(run, client, tick, commands)
    except PaddockError as error:
        run.push("refused", {"client": client, "kind": type(error).__name__, "message": str(error)})


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
