"""Functions of the user that are to be called when something arrives, and the thread that calls them."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Call = Callable[[], object]


class Calls:
    """In order. A thread that waits for a step makes them itself, so that their errors come out there.

    While none does, a thread of its own makes them, or whatever `deliver` is.
    """

    def __init__(self, deliver: Callable[[Call], None] | None = None) -> None:
        self._deliver = deliver
        self._waiting: deque[Call] = deque()
        self._change = threading.Condition()
        self._attended = False
        self._closed = False
        self._thread: threading.Thread | None = None

    def add(self, call: Call) -> None:
        """Have this called soon."""
        if self._deliver is not None:
            self._deliver(call)
            return
        self._waiting.append(call)
        if not self._attended:
            self._hand_over()

    def make(self) -> None:
        """Make all calls that wait; an error goes up, the rest is made later."""
        while self._waiting:
            self._waiting.popleft()()

    @contextmanager
    def attended(self) -> Iterator[None]:
        """This thread calls `make` from now on."""
        self._attended = True
        try:
            yield
        finally:
            self._attended = False
            if self._waiting:
                self._hand_over()

    def close(self) -> None:
        """No more calls."""
        with self._change:
            self._closed = True
            self._change.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _hand_over(self) -> None:
        with self._change:
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._run, name="paddock-callbacks", daemon=True)
                self._thread.start()
            self._change.notify_all()

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._closed or (self._waiting and not self._attended))
                if self._closed:
                    return
            try:
                self._waiting.popleft()()
            except IndexError:  # somebody was quicker
                continue
            except Exception:  # nobody waits whom it could be told: as any thread's error
                threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), threading.current_thread())))
