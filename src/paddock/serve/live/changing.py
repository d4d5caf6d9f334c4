"""Operations that change vehicles and frames."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from paddock.engine.actions import CommandAction
from paddock.errors import InvalidValueError
from paddock.serve.live.group import Group
from paddock.serve.operations import operation
from paddock.serve.trust import refuse_foreign


class Changing(Group):
    """Commands enter the mailbox at once; vehicles come and go between two ticks."""

    @operation
    def command(
        self,
        client: str,
        target: str | int,
        inputs: dict[str, Any],
        at_tick: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Inputs of a vehicle or a fleet."""
        self.sim.engine.post(CommandAction(target, inputs, timeout), at_tick, client)
        self.stage.commands += 1

    @operation
    def command_many(self, client: str, ids: Any, inputs: dict[str, Any], timeout: float | None = None) -> None:
        """Inputs of vehicles given by their ids, arrays of the same length; all of them, or none if one is wrong."""
        numbers = np.asarray(ids, np.int64)
        for name, values in inputs.items():
            if np.ndim(values) and np.shape(values) != numbers.shape:
                raise InvalidValueError(f"input {name!r} needs one value for each of {len(numbers)} vehicles")
        self.sim.engine.mailbox.refuse_if_full()
        with self.sim.engine.applier.rebuilding:
            parts = [part for _, _, part in self.sim.engine.world.ids.split(numbers)]
        controls = [self._control(numbers, inputs, part, timeout) for part in parts]
        for control in controls:
            self.sim.engine.mailbox.post(control, source=client)
        self.stage.commands += len(numbers)

    def _control(self, ids: Any, inputs: dict[str, Any], part: Any, timeout: float | None) -> CommandAction:
        values = {name: np.asarray(value)[part] if np.ndim(value) else value for name, value in inputs.items()}
        if len(part) == 1:  # one vehicle: plain numbers are checked and latched faster
            values = {name: float(value[0]) if np.ndim(value) else value for name, value in values.items()}
            return self.sim.engine.applier.checked_command(CommandAction(int(ids[part[0]]), values, timeout))
        return self.sim.engine.applier.checked_command(CommandAction(ids[part], values, timeout))

    @operation
    def spawn(self, client: str, entry: dict[str, Any]) -> Future[Any]:
        """More vehicles, of models that are installed or in use; returns their name."""
        refuse_foreign(self.sim, entry)
        return self.stage.errand(lambda: self.sim.spawn(**entry))

    @operation
    def spawn_all(self, client: str, entries: list[dict[str, Any]]) -> Future[Any]:
        """Several entries, all or none; returns their names."""
        for entry in entries:
            refuse_foreign(self.sim, entry)
        return self.stage.errand(lambda: self._spawn_all(entries))

    def _spawn_all(self, entries: list[dict[str, Any]]) -> list[str]:
        self.sim.engine.fleets.check(entries)
        return [self.sim.spawn(**entry) for entry in entries]

    @operation
    def remove(self, client: str, target: str | int) -> Future[Any]:
        """Take a vehicle or a fleet out."""
        return self.stage.errand(lambda: self.sim.remove(target))

    @operation
    def clear(self, client: str) -> Future[Any]:
        """Take everything out; returns how many vehicles that were."""
        return self.stage.errand(self._clear)

    def _clear(self) -> int:
        count = self.sim.engine.world.vehicles
        for name in list(self.sim.engine.world.fleets):
            self.sim.remove(name)
        return count

    @operation
    def set_frame(
        self,
        client: str,
        name: str,
        parent: str = "world",
        position: Sequence[float] = (0.0, 0.0, 0.0),
        quaternion: Sequence[float] = (0.0, 0.0, 0.0, 1.0),
        moving: bool = False,
    ) -> Future[Any]:
        """Place a named frame."""
        return self.stage.errand(lambda: self.sim.frames.set(name, parent, position, quaternion, moving))
