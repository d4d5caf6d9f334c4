"""How many threads the kernels may use. Results never depend on it."""

from __future__ import annotations

import os
import threading

from paddock.errors import InvalidValueError

launch_lock = threading.RLock()
"""Held around every launch: two threads inside one parallel runtime could abort the process."""

_limit: int | None = None
_active = threading.local()


def available_threads() -> int:
    """The threads that kernels can use at most: the cores this process may run on, or $NUMBA_NUM_THREADS."""
    if chosen := os.environ.get("NUMBA_NUM_THREADS"):
        return int(chosen)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count() -> int:
    """The threads that a large fleet's kernels use."""
    return available_threads() if _limit is None else _limit


def limit_threads(count: int | None) -> None:
    """Use at most `count` threads from now on; None: all there are."""
    global _limit
    if count is not None and not 1 <= count <= available_threads():
        raise InvalidValueError(f"threads must lie in 1..{available_threads()}, not {count}")
    _limit = count


def use_threads(count: int) -> None:
    """Set the number of threads for the next launch on this thread."""
    if getattr(_active, "count", None) != count:
        import numba

        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
        _active.count = count
