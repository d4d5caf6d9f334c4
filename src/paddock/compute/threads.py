"""How many threads the kernels may use. Results never depend on it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from paddock.errors import InvalidValueError

SERIAL_BELOW = 384
"""Fleets smaller than this run on the calling thread: waking the others costs 20 to 50 us."""

_launching = threading.RLock()  # two threads inside one parallel runtime could abort the process

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


class CompiledTime:
    """Nanoseconds spent inside compiled code by this process."""

    nanoseconds = 0


def launch(n: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a compiled function for `n` agents with as many threads as they are worth; what it returns."""
    with _launching:
        use_threads(1 if n < SERIAL_BELOW else thread_count())
        started = perf_counter_ns()
        result = function(*arguments)
        CompiledTime.nanoseconds += perf_counter_ns() - started
    return result
