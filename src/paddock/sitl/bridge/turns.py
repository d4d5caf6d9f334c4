"""A lock that is fair: a thread that holds it nearly always lets those who wait have their turn."""

from __future__ import annotations

import threading
from types import TracebackType


class Turns:
    """Used with `with`; the same thread may enter again."""

    def __init__(self) -> None:
        self._queue = threading.Lock()
        self._lock = threading.Lock()
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        if self._owner != threading.get_ident():
            self._acquire()
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._release()

    def give_way(self, pause: threading.Event | None = None, seconds: float = 0.0) -> None:
        """Let everybody in who waits, and meanwhile wait for an event; called by the thread that holds it."""
        depth, self._depth = self._depth, 0
        self._release()
        try:
            if pause is not None:
                pause.wait(seconds)
        finally:
            self._acquire()
            self._depth = depth

    def _acquire(self) -> None:
        with self._queue:  # whoever waits inside here comes before a thread that has just released the lock
            self._lock.acquire()
        self._owner = threading.get_ident()

    def _release(self) -> None:
        self._owner = None
        self._lock.release()
