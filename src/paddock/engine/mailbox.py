"""The one way in: any thread may post, the tick's thread collects."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from paddock.engine.actions import Action, Posted
from paddock.errors import PaddockError

MOST_WAITING = 100_000
"""Actions that may wait at once."""
AT_ONCE = 0
"""Target tick of an action that is due as soon as it is collected."""


class Mailbox:
    """Actions posted by any thread; `collect` moves them to a queue ordered by target tick, then by arrival."""

    def __init__(self) -> None:
        self._incoming: deque[tuple[int, Action, str]] = deque()
        self._queue: list[Posted] = []
        self.sequence = 0

    def post(self, action: Action, tick: int = AT_ONCE, source: str = "") -> None:
        """Leave an action for the first tick >= `tick`. Safe from any thread, never waits."""
        self._incoming.append((tick, action, source))

    @property
    def waiting(self) -> int:
        """How many actions have not been taken up yet."""
        return len(self._incoming) + len(self._queue)

    def refuse_if_full(self) -> None:
        """PaddockError when so much waits already that more would only fill the memory."""
        if self.waiting >= MOST_WAITING:
            raise PaddockError(f"{self.waiting:,} actions wait for their ticks already: let time pass first")

    def collect(self, now: int) -> None:
        """Number what has come in; what is overdue belongs to the tick that is about to begin."""
        for _ in range(len(self._incoming)):  # what comes in meanwhile has to wait, or a busy sender could stop time
            tick, action, source = self._incoming.popleft()
            self.sequence += 1
            heapq.heappush(self._queue, Posted(max(tick, now), self.sequence, action, source))

    def next_tick(self, now: int) -> int | None:
        """The next tick at which something is due; None if nothing waits."""
        if self._incoming:
            return now
        return max(now, self._queue[0].tick) if self._queue else None

    def due(self, now: int) -> Iterator[Posted]:
        """What is due at this tick, in order."""
        self.collect(now)
        while self._queue and self._queue[0].tick <= now:
            yield heapq.heappop(self._queue)

    def clear(self) -> None:
        """Forget everything that waits."""
        self._incoming.clear()
        self._queue.clear()
        self.sequence = 0

    def save(self, now: int) -> dict[str, Any]:
        """What still waits, numbered anew: only the order counts, not how much was posted before."""
        self.collect(now)
        queue = [replace(posted, sequence=k).to_tree() for k, posted in enumerate(sorted(self._queue), start=1)]
        return {"sequence": len(queue), "queue": queue}

    def restore(self, saved: dict[str, Any]) -> None:
        """Exactly what was saved."""
        self.clear()
        self.sequence = saved["sequence"]
        self._queue = [Posted.from_tree(tree) for tree in saved["queue"]]
        heapq.heapify(self._queue)
