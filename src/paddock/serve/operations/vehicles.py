"""Operations that command, add, remove and direct vehicles."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import numpy as np

from paddock.engine.actions import CommandAction, OverrideAction
from paddock.errors import InvalidValueError
from paddock.serve.trust import known_names, refuse_foreign, refuse_foreign_behaviour

if TYPE_CHECKING:
    from paddock.serve.live import LiveRun


def command(
    run: LiveRun,
    client: str,
    target: str | int,
    inputs: dict[str, Any],
    at_tick: int | None = None,
    timeout: float | None = None,
) -> None:
    """The engine checks the inputs against the model."""
    run.sim.engine.post(CommandAction(target, inputs, timeout), at_tick, client)
    run.commands += 1


def command_many(run: LiveRun, client: str, ids: Any, inputs: dict[str, Any], timeout: float | None = None) -> None:
    """One action per fleet; all are checked before the first is posted."""
    numbers = np.asarray(ids, np.int64)
    for name, values in inputs.items():
        if np.ndim(values) and np.shape(values) != numbers.shape:
            raise InvalidValueError(f"input {name!r} needs one value for each of {len(numbers)} vehicles")
    sim = run.sim
    sim.engine.mailbox.refuse_if_full()
    with sim.engine.applier.rebuilding:
        parts = [part for _, _, part in sim.engine.world.ids.split(numbers)]
    controls = [sim.engine.applier.checked_command(_control(numbers, inputs, part, timeout)) for part in parts]
    for control in controls:
        sim.engine.mailbox.post(control, source=client)
    run.commands += len(numbers)


def _control(ids: Any, inputs: dict[str, Any], part: Any, timeout: float | None) -> CommandAction:
    """The command of the vehicles at some positions in a list of ids."""
    values = {name: np.asarray(value)[part] if np.ndim(value) else value for name, value in inputs.items()}
    if len(part) == 1:  # plain numbers are checked and latched faster
        values = {name: float(value[0]) if np.ndim(value) else value for name, value in values.items()}
        return CommandAction(int(ids[part[0]]), values, timeout)
    return CommandAction(ids[part], values, timeout)


def spawn(run: LiveRun, client: str, entry: dict[str, Any]) -> Future[Any]:
    """Foreign names are refused here, so that the tick does not wait for that."""
    refuse_foreign(run.sim, entry)
    return run.change(lambda: run.sim.spawn(**entry))


def spawn_all(run: LiveRun, client: str, entries: list[dict[str, Any]]) -> Future[Any]:
    """The entries are checked together before the first is added."""
    for entry in entries:
        refuse_foreign(run.sim, entry)
    return run.change(lambda: _spawn_all(run, entries))


def _spawn_all(run: LiveRun, entries: list[dict[str, Any]]) -> list[str]:
    run.sim.engine.fleets.check(entries)
    return [run.sim.spawn(**entry) for entry in entries]


def remove(run: LiveRun, client: str, target: str | int) -> None:
    """Takes effect before the next tick."""
    run.sim.remove(target)


def clear(run: LiveRun, client: str) -> int:
    """Return the number of vehicles removed."""
    count = run.sim.engine.world.vehicles
    for name in list(run.sim.engine.world.fleets):
        run.sim.remove(name)
    return count


# behaviours ----------------------------------------------------------------------------------------------------------


def order(run: LiveRun, client: str, target: Any, behaviour: Any) -> Future[Any]:
    """The override is checked, and its kernel compiled, beside the thread that ticks."""
    refuse_foreign_behaviour(behaviour, known_names(run.sim))
    return run.aside(lambda: _order(run, client, OverrideAction(target, behaviour)))


def _order(run: LiveRun, client: str, given: OverrideAction) -> Future[Any]:
    checked = run.sim.engine.applier.checked_override(given)
    return run.change(lambda: run.sim.override(checked.target, checked.behaviour, source=client))


def orders(run: LiveRun, client: str) -> list[dict[str, Any]]:
    """Return the overrides as dictionaries."""
    return [given._asdict() for given in run.sim.overrides()]


def routes(run: LiveRun, client: str) -> list[dict[str, Any]]:
    """Return the routes as dictionaries."""
    return [route._asdict() for route in run.sim.routes()]
