"""Time has one owner: who ticks a simulation, and what others may do meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep

from paddock.errors import PaddockError

MOMENT = 0.005
"""s to wait for whoever is just letting go."""
PATIENCE = 0.25
"""s that a look at the state waits for requests of others."""


class Driver:
    """At most one thread changes the state at a time; nobody waits, whoever comes second is refused by name."""

    def __init__(self) -> None:
        self.closed = False
        self.afterwards: Callable[[], None] = lambda: None  # called when the clock is let go
        self.open_to_errands = False  # the driving thread itself may use verbs now, on behalf of others
        self._lock = threading.Lock()
        self._verb = ""
        self._for_others = False
        self._thread: threading.Thread | None = None

    @contextmanager
    def driving(self, verb: str, for_others: bool = False) -> Iterator[None]:
        """Hold the clock while a verb changes the state; who does so `for_others` is waited for."""
        if self.closed:
            raise PaddockError(f"{verb} refused: the simulation is closed")
        if self.open_to_errands and self._thread is threading.current_thread():
            yield
            return
        while not self._lock.acquire(timeout=MOMENT):
            if not self._for_others or for_others:
                raise PaddockError(f"{verb} refused: the clock is being driven by {self._verb}")
        self._for_others = for_others
        self._thread = threading.current_thread()
        self._verb = f"{verb} in thread {self._thread.name!r}"
        try:
            yield
        finally:
            self._thread = None
            self._lock.release()
            self.afterwards()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Let the calling thread drive for the one that does, which sleeps meanwhile."""
        owner, self._thread = self._thread, threading.current_thread()
        try:
            yield
        finally:
            self._thread = owner

    @property
    def busy(self) -> bool:
        """Whether any thread is driving right now."""
        return self._thread is not None

    def elsewhere(self) -> bool:
        """Whether another thread is driving right now."""
        driver = self._thread
        return driver is not None and driver is not threading.current_thread()

    def refuse_elsewhere(self, verb: str) -> None:
        """The state is in motion while another thread ticks: only snapshots may be read then."""
        end = monotonic() + PATIENCE
        while self.elsewhere():
            if not self._for_others or monotonic() > end:
                raise PaddockError(f"{verb} refused: the clock is being driven by {self._verb}; use a snapshot")
            sleep(MOMENT)  # a request has been answered a moment before its thread lets go
