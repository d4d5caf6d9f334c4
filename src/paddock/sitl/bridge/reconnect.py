"""Reaching a simulator again: in a thread of its own, so that nobody else waits, and ever more seldom."""

from __future__ import annotations

import threading
from time import monotonic

from paddock.sitl.adapter import SimulatorAdapter
from paddock.sitl.bridge.events import problem

FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0
"""s of wall time between attempts; each pause is twice the one before."""


class Reconnect:
    """Attempts to connect one adapter."""

    def __init__(self, adapter: SimulatorAdapter) -> None:
        self.adapter = adapter
        self.attempts = 0
        self.problem = ""
        self._pause = FIRST_PAUSE
        self._next = monotonic() + FIRST_PAUSE
        self._thread: threading.Thread | None = None

    def poll(self) -> bool:
        """Whether the adapter is connected by now; begins an attempt when it is time for one."""
        if self._thread is not None:
            if self._thread.is_alive():
                return False
            self._thread = None
            if self.adapter.is_connected:
                return True
            self._pause = min(2.0 * self._pause, LONGEST_PAUSE)
            self._next = monotonic() + self._pause
        elif monotonic() >= self._next:
            self.attempts += 1
            self._thread = threading.Thread(target=self._attempt, name=f"connect {self.adapter.name}", daemon=True)
            self._thread.start()
        return False

    def give_up(self, timeout: float = 1.0) -> None:
        """Let an attempt that is under way end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _attempt(self) -> None:
        try:
            self.adapter.connect()
        except Exception as error:  # whatever it is, it is tried again
            self.problem = problem(error)
