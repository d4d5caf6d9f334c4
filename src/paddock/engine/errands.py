"""Work that other threads leave for the thread that ticks, which does it between two ticks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from paddock.engine.driver import Driver
from paddock.errors import PaddockError


class Errands:
    """A queue of verbs to be used on a simulation; whoever drives the clock serves it, or else `serve_idle`."""

    def __init__(self, driver: Driver, wake: Callable[[], None]) -> None:
        """`wake` rouses a driving thread that sleeps."""
        self.driver = driver
        self.wake = wake
        self._queue: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._glances: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        driver.afterwards = self.serve_idle

    def leave(self, work: Callable[[], Any], glance: bool = False) -> Future[Any]:
        """Have this done between two ticks; a `glance` only looks, and may be served while a client is waited for.

        Any thread may call this. While nobody drives, somebody has to call `serve_idle`.
        """
        done: Future[Any] = Future()
        (self._glances if glance else self._queue).append((work, done))
        self.wake()
        return done

    def serve(self) -> None:
        """Do what has been left (by the driving thread, between two ticks)."""
        self.serve_glances()
        for _ in range(len(self._queue)):
            self._do(self._queue.popleft())

    def serve_glances(self) -> None:
        """Do what only looks (by the driving thread, at any moment at which the state is whole)."""
        for _ in range(len(self._glances)):
            self._do(self._glances.popleft())

    def serve_idle(self) -> None:
        """Do what has been left, unless some thread drives: that one will."""
        while (self._queue or self._glances) and not self.driver.busy:
            try:
                with self.driver.driving("a request", for_others=True):
                    self.serve()
            except PaddockError:  # somebody was quicker, or the simulation is closed
                if self.driver.closed:
                    self.cancel()
                return

    def cancel(self) -> None:
        """Nothing will be done any more."""
        for queue in (self._queue, self._glances):
            while queue:
                queue.popleft()[1].set_exception(PaddockError("the simulation is closed"))

    def _do(self, errand: tuple[Callable[[], Any], Future[Any]]) -> None:
        work, done = errand
        outer, self.driver.open_to_errands = self.driver.open_to_errands, True
        try:
            done.set_result(work())
        except Exception as error:  # whoever asked is told, the clock goes on
            done.set_exception(error)
        finally:
            self.driver.open_to_errands = outer
