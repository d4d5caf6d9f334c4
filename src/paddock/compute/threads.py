"""The number of threads that kernels use. Results do not depend on it."""

import os
import threading
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from paddock.errors import InvalidValueError

SERIAL_BELOW = 384
"""Smaller fleets run on the calling thread: waking the others costs 20 to 50 us."""

_launching = threading.RLock()  # two threads in the parallel runtime could abort the process
_limit: int | None = None
_active = threading.local()


def available_threads() -> int:
    """Return the largest number of threads: the cores this process may run on, or $NUMBA_NUM_THREADS."""
    chosen = number_from_environment("NUMBA_NUM_THREADS", least=1)
    if chosen is not None:
        return chosen
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def number_from_environment(variable: str, least: int) -> int | None:
    """Return the whole number in an environment variable; None if it is not set or empty."""
    text = os.environ.get(variable)
    if not text:
        return None
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise InvalidValueError(f"the environment variable {variable} takes a whole number >= {least}, not {text!r}")
    return number


def thread_count() -> int:
    """Return the number of threads that the kernels of a large fleet use."""
    return available_threads() if _limit is None else _limit


def threads_for(n: int) -> int | None:
    """Return the number of threads that share work on `n` vehicles; None if the calling thread does it alone."""
    if n < SERIAL_BELOW:
        return None
    count = thread_count()
    return count if count > 1 else None


def limit_threads(count: int | None) -> None:
    """Use at most `count` threads from now on; None: all available ones."""
    global _limit
    if count is not None and not 1 <= count <= available_threads():
        raise InvalidValueError(f"threads must lie in 1..{available_threads()}, not {count}")
    _limit = count


class CompiledTime:
    """Nanoseconds that this process has spent inside launched code."""

    nanoseconds = 0


class DirectCall:
    """Calls a kernel; for a small fleet without a launch, which takes longer than the work on one vehicle."""

    def __init__(self, kernel: Any) -> None:
        """`kernel` has `watch`, which launches it, and `built`, its compiled functions."""
        self._kernel = kernel
        self._serial: Any = None  # the function for small fleets, once it has run: the first call compiles

    def __call__(self, arguments: tuple[Any, ...]) -> None:
        """Call with all arguments, of which the first is the number of vehicles."""
        if arguments[0] >= SERIAL_BELOW or self._serial is None:
            self._kernel.watch(*arguments)
            self._serial = self._kernel.built(False)[0] if arguments[0] < SERIAL_BELOW else None
            return
        self._serial(*arguments)


def launch(threads: int | None, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a compiled function and return its result; one with a parallel loop gets a number of threads."""
    if threads is not None:
        with _launching:
            if getattr(_active, "count", None) != threads:
                import numba

                numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
                _active.count = threads
            return launch(None, function, *arguments, **named)
    started = perf_counter_ns()
    try:
        result = function(*arguments, **named)
    except Exception as error:  # the first call compiles
        from paddock.compute.contract import compile_error

        raise compile_error(error) from None
    CompiledTime.nanoseconds += perf_counter_ns() - started
    return result
