"""Plain Python functions over arrays, compiled as they are: for searches and other work that is not one agent's step.

The function calls others by name (never through a module: `from numpy import empty`) and loops as it likes. It stays
callable as Python (`.plain`), which is what tests compare with. A routine is called from Python, while compiled code
calls plain functions: `lengths = parallel_routine(all_lengths)`. Numba is imported by the first call, and what it
compiled is kept for the next process as long as none of the sources that the function reaches has changed.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from paddock.compute import twin
from paddock.compute.cache import source_path
from paddock.compute.threads import SERIAL_BELOW, launch
from paddock.compute.twin import dressed, fingerprint, reached

P = ParamSpec("P")
R = TypeVar("R")

parallel_range = range
"""`range` in Python; in a parallel routine, the loop whose rounds the threads share (each writes places of its own)."""


class Routine(Generic[P, R]):
    """A function together with its compiled twin, which calls run."""

    def __init__(self, function: Callable[P, R], parallel: bool, inline: bool = False) -> None:
        self.plain = function
        self.parallel = parallel
        self.inline = inline
        self._compiled: Any = None
        update_wrapper(self, function)

    def __call__(self, *arguments: P.args, **_: P.kwargs) -> R:
        """Run it compiled."""
        if self._compiled is None:
            self._compiled = self._compile()
        if not self.parallel:
            return self._compiled(*arguments)  # type: ignore[no-any-return]
        return launch(SERIAL_BELOW, self._compiled, *arguments)  # type: ignore[no-any-return]

    def _compile(self) -> Any:
        function = self.plain
        assert isinstance(function, types.FunctionType)
        others: dict[str, Any] = {"__name__": __name__}  # Numba imports the module of what it loads from its cache
        for name in function.__code__.co_names:
            if function.__globals__.get(name) is parallel_range:
                from numba import prange

                others[name] = prange
        sources = {inspect.getsourcefile(f) or f.__code__.co_filename for f in reached(function)}
        sources |= {twin.__file__, __file__}
        path = source_path(
            f"routine-{function.__name__}", f"# {self.parallel} {self.inline}\n", sources, fingerprint(function)
        )
        made = dressed(function, "float64", self.inline, others)
        made.__code__ = made.__code__.replace(co_filename=str(path))  # where Numba keeps what it compiled
        made.__module__ = __name__
        from numba import njit

        return njit(parallel=self.parallel, error_model="numpy", cache=True, nogil=True)(made)


def routine(function: Callable[P, R], inline: bool = False) -> Routine[P, R]:
    """Have a function run compiled, on the calling thread.

    `inline` puts all that it calls into its own code, so that loops without branches can vectorise.
    """
    return Routine(function, False, inline)


def parallel_routine(function: Callable[P, R], inline: bool = False) -> Routine[P, R]:
    """Have a function run compiled, its `parallel_range` shared by all threads; `inline` as for `routine`."""
    return Routine(function, True, inline)
