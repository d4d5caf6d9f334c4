"""The mailbox, through which every action enters a run, and the log of the actions that were applied."""

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from paddock.engine.actions import Action, CommandAction, OverrideAction, Posted
from paddock.errors import PaddockError
from paddock.world.archive import typed

MOST_WAITING = 100_000  # limit of queued actions
NEXT_TICK = 0  # due tick of an action that is applied at the next tick
BYTES_KEPT = 256 * 2**20  # size limit of the log in memory. A longer run needs a recording to be replayed
ENTRY_BYTES = 1024  # estimated size of a log entry without its arrays


class Mailbox:
    """Queue of actions that wait for their tick. Any thread may post; the ticking thread takes the due ones."""

    def __init__(self) -> None:
        self._incoming: deque[tuple[int, Action, str, tuple[int, ...], bool]] = deque()
        self._queue: list[Posted] = []
        self.sequence = 0

    def post(
        self,
        action: Action,
        tick: int = NEXT_TICK,
        source: str = "",
        checked_at: tuple[int, ...] = (),
        flown: bool = False,
    ) -> None:
        """Queue an action for the first tick >= `tick`. Safe from any thread, never blocks."""
        self._incoming.append((tick, action, source, checked_at, flown))

    @property
    def waiting(self) -> int:
        """Number of queued actions."""
        return len(self._incoming) + len(self._queue)

    def refuse_if_full(self) -> None:
        """Raise PaddockError when the limit of queued actions is reached."""
        if self.waiting >= MOST_WAITING:
            raise PaddockError(f"mailbox full: {self.waiting:,} actions are queued; step first")

    def collect(self, now: int) -> None:
        """Number the incoming actions and sort them into the queue; overdue ones are due now."""
        for _ in range(len(self._incoming)):  # later arrivals wait, so that a busy sender cannot stop time
            tick, action, source, checked_at, flown = self._incoming.popleft()
            self.sequence += 1
            heapq.heappush(self._queue, Posted(max(tick, now), self.sequence, action, source, checked_at, flown))

    def next_tick(self, now: int) -> int | None:
        """Return the tick of the next due action; None if the mailbox is empty."""
        if self._incoming:
            return now
        return max(now, self._queue[0].tick) if self._queue else None

    def due(self, now: int) -> Iterator[Posted]:
        """Take the actions that are due at this tick, in order."""
        self.collect(now)
        while self._queue and self._queue[0].tick <= now:
            yield heapq.heappop(self._queue)

    def clear(self) -> None:
        """Discard all actions."""
        self._incoming.clear()
        self._queue.clear()
        self.sequence = 0

    @property
    def queued(self) -> list[Posted]:
        """The numbered actions, in order."""
        return sorted(self._queue)

    def take_over(self, other: "Mailbox") -> None:
        """Replace all actions by those of another mailbox."""
        self._incoming.clear()
        self._queue, self.sequence = other._queue, other.sequence

    def save(self, now: int) -> dict[str, Any]:
        """Return the queued actions, renumbered from 1: only their order matters."""
        self.collect(now)
        queue = [replace(posted, sequence=k).to_tree() for k, posted in enumerate(self.queued, start=1)]
        return {"sequence": len(queue), "queue": queue}

    def restore(self, saved: dict[str, Any]) -> None:
        """Load what `save` returned."""
        self.clear()
        self.sequence = typed(int, saved["sequence"], "sequence")
        self._queue = [Posted.from_tree(tree) for tree in saved["queue"]]
        heapq.heapify(self._queue)


class ActionLog:
    """Every action applied or refused (a refusal leaves an event), with its tick: with the scenario, the whole run."""

    def __init__(self) -> None:
        self.entries: list[Posted] = []
        self.most_bytes = BYTES_KEPT  # 0: keep nothing; listeners are still notified
        self.kept_bytes = 0
        self.lost = 0  # number of entries that did not fit
        self.restored_at: int | None = None  # tick of the restored state with which the log begins
        self.listeners: list[Callable[[Posted], None]] = []

    def append(self, posted: Posted) -> None:
        """Log an action and notify the listeners."""
        if self.listeners:
            for listener in tuple(self.listeners):
                listener(posted)
        size = _size(posted)
        if self.lost or self.kept_bytes + size > self.most_bytes:
            self.lost += 1
            return
        self.kept_bytes += size
        self.entries.append(posted)

    def clear(self) -> None:
        """Start the log of a new run."""
        self.entries, self.kept_bytes, self.lost, self.restored_at = [], 0, 0, None

    def restart(self, tick: int) -> None:
        """Start the log of a run that continues from a restored state."""
        self.clear()
        self.restored_at = tick

    def complete(self) -> list[Posted]:
        """Return all entries since tick 0; PaddockError if the log does not have them."""
        if self.restored_at is not None:
            raise PaddockError(f"the log begins with the state restored at tick {self.restored_at}, not with tick 0")
        if self.lost:
            raise PaddockError(
                f"the log has lost {self.lost} actions beyond {self.most_bytes >> 20} MiB; record the run instead"
            )
        return list(self.entries)


def _size(posted: Posted) -> int:
    action = posted.action
    if isinstance(action, CommandAction) and isinstance(action.target, str):
        size = ENTRY_BYTES
        for value in action.inputs.values():
            if isinstance(value, np.ndarray):
                size += value.nbytes
        return size
    inputs: Any = action.inputs.values() if isinstance(action, CommandAction) else (getattr(action, "pose", None),)
    target: Any = action.target if isinstance(action, CommandAction | OverrideAction) else ()
    listed = 64 * len(target) if isinstance(target, list) else 0
    return ENTRY_BYTES + listed + sum([value.nbytes for value in (*inputs, target) if isinstance(value, np.ndarray)])
