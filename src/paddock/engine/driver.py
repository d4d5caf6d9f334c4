"""Time has one owner: who ticks a simulation, and what others may do meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from paddock.errors import PaddockError


class Driver:
    """At most one thread changes the state at a time; nobody waits, whoever comes second is refused by name."""

    def __init__(self) -> None:
        self.closed = False
        self._lock = threading.Lock()
        self._verb = ""
        self._thread: threading.Thread | None = None

    @contextmanager
    def driving(self, verb: str) -> Iterator[None]:
        """Hold the clock while a verb changes the state."""
        if self.closed:
            raise PaddockError(f"{verb} refused: the simulation is closed")
        if not self._lock.acquire(blocking=False):
            raise PaddockError(f"{verb} refused: the clock is being driven by {self._verb}")
        self._thread = threading.current_thread()
        self._verb = f"{verb} in thread {self._thread.name!r}"
        try:
            yield
        finally:
            self._thread = None
            self._lock.release()

    def elsewhere(self) -> bool:
        """Whether another thread is driving right now."""
        driver = self._thread
        return driver is not None and driver is not threading.current_thread()

    def refuse_elsewhere(self, verb: str) -> None:
        """The state is in motion while another thread ticks: only snapshots may be read then."""
        if self.elsewhere():
            raise PaddockError(f"{verb} refused: the clock is being driven by {self._verb}; use a snapshot")
