"""From the thread that ticks to the thread that writes: jobs in order; samples may be refused, nothing else is."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]

FEWEST, MOST = 8, 512
"""Samples that may wait: at least, and at most."""
ROOM = 64 * 2**20
"""Bytes of samples that may wait, if that is more than the fewest."""


class Conveyor:
    """A queue of jobs, of which the samples are bounded."""

    def __init__(self) -> None:
        self._jobs: deque[tuple[Job, bool]] = deque()
        self._change = threading.Condition()
        self._samples = 0  # that wait or are being written
        self.closed = False

    def put(self, job: Job) -> None:
        """A job that must be done; never waits."""
        with self._change:
            if not self.closed:
                self._jobs.append((job, False))
                self._change.notify_all()

    def offer(self, job: Job, nbytes: int, patient: bool) -> bool:
        """A sample: False if there is no room for it, unless one is `patient` and waits until there is."""
        limit = min(max(FEWEST, ROOM // max(nbytes, 1)), MOST)
        with self._change:
            while self._samples >= limit and patient and not self.closed:
                self._change.wait()
            if self._samples >= limit or self.closed:
                return False
            self._samples += 1
            self._jobs.append((job, True))
            self._change.notify_all()
            return True

    def work(self, idle: float) -> bool:
        """Do the next job, or nothing if none comes for `idle` s of wall time; False when all is done and closed."""
        with self._change:
            if not self._jobs and not self.closed:
                self._change.wait(idle)
            if not self._jobs:
                return not self.closed
            job, is_sample = self._jobs.popleft()
        try:
            job()
        finally:
            if is_sample:
                with self._change:
                    self._samples -= 1
                    self._change.notify_all()
        return True

    def close(self) -> None:
        """Nothing more comes; what is there is still done."""
        with self._change:
            self.closed = True
            self._change.notify_all()

    def abandon(self) -> None:
        """Nothing more is done."""
        with self._change:
            self.closed = True
            self._jobs.clear()
            self._change.notify_all()
