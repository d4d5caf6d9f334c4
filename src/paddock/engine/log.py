"""The log of actions: with the scenario, it is all that a run depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paddock.engine.actions import Control, Order, Posted
from paddock.errors import PaddockError

BYTES_KEPT = 256 * 2**20
"""How much of the log stays in memory. A longer run hands it to a recorder, or loses the means to be replayed."""
ENTRY_BYTES = 1024
"""What an action takes in memory, beside its arrays."""


class ActionLog:
    """Every action that was taken up (refused ones too, for they leave an event), with the tick at which it was."""

    def __init__(self) -> None:
        self.entries: list[Posted] = []
        self.most_bytes = BYTES_KEPT  # 0 keeps nothing: for runs that only their listeners remember
        self.kept_bytes = 0
        self.lost = 0  # entries that were not kept
        self.restored_at: int | None = None  # tick of a restored state, with which the log no longer begins at tick 0
        self.listeners: list[Callable[[Posted], None]] = []

    def append(self, posted: Posted) -> None:
        """Note an action and tell the listeners."""
        for listener in self.listeners:
            listener(posted)
        size = _size(posted)
        if self.lost or self.kept_bytes + size > self.most_bytes:
            self.lost += 1
            return
        self.kept_bytes += size
        self.entries.append(posted)

    def clear(self) -> None:
        """A new run begins."""
        self.entries, self.kept_bytes, self.lost, self.restored_at = [], 0, 0, None

    def restart(self, tick: int) -> None:
        """The run goes on from a restored state: what was noted so far belongs to another past."""
        self.clear()
        self.restored_at = tick

    def complete(self) -> list[Posted]:
        """All entries since tick 0; refused when some were not kept."""
        if self.restored_at is not None:
            raise PaddockError(f"the log begins with the state restored at tick {self.restored_at}, not with tick 0")
        if self.lost:
            raise PaddockError(
                f"the log has lost {self.lost} actions beyond {self.most_bytes >> 20} MiB; record the run instead"
            )
        return list(self.entries)


def _size(posted: Posted) -> int:
    action = posted.action
    inputs: Any = action.inputs.values() if isinstance(action, Control) else ()
    target: Any = action.target if isinstance(action, Control | Order) else ()
    listed = 64 * len(target) if isinstance(target, list) else 0
    return ENTRY_BYTES + listed + sum(value.nbytes for value in (*inputs, target) if isinstance(value, np.ndarray))
