"""Routines: plain Python functions over arrays, compiled unchanged, for searches and other work outside fleets.

The function calls others by name (never through a module: `from numpy import empty`) and may use any loop. It stays
callable as Python (`.plain`), the reference of the tests. Python calls a routine; compiled code calls plain functions:
`lengths = parallel_routine(all_lengths)`. The first call imports Numba and compiles; the next process loads the machine
code from the cache.
"""

import types
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

from paddock.compute.cache import CacheEntry, cache_key
from paddock.compute.kernel import KERNEL_FLAGS
from paddock.compute.threads import SERIAL_BELOW, launch, thread_count
from paddock.compute.twin import dressed

FEW_ITEMS = SERIAL_BELOW  # below, a routine that knows its number of items runs on the calling thread

P = ParamSpec("P")
R = TypeVar("R")

parallel_range = range
"""`range` in Python; in a parallel routine, a loop shared by the threads (each iteration writes its own items)."""


class Routine(Generic[P, R]):
    """A function together with its compiled twin, which calls run."""

    def __init__(
        self,
        function: Callable[P, R],
        parallel: bool,
        inline: bool = False,
        items: Callable[..., int] | None = None,
        few: int | None = None,
    ) -> None:
        """`items` returns how many there are, from the arguments; below `few` (FEW_ITEMS), one thread does them."""
        update_wrapper(self, function)  # first: a rebound function has a `plain` of its own
        self.plain = function
        self.parallel = parallel
        self.inline = inline
        self.items, self.few = items, few
        self._compiled: Any = None

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Run the compiled function."""
        threads = 1
        if self.parallel:
            few = FEW_ITEMS if self.few is None else self.few
            if self.items is None or self.items(*arguments, **named) >= few:
                threads = thread_count()
            if threads == 1:  # its code takes half the time to compile
                return self.alone(*arguments, **named)
        if self._compiled is None:
            self._compiled = self._compile()
        if not self.parallel:
            return self._compiled(*arguments, **named)  # type: ignore[no-any-return]
        return launch(threads, self._compiled, *arguments, **named)  # type: ignore[no-any-return]

    @cached_property
    def alone(self) -> "Routine[P, R]":
        """The routine on the calling thread: waking others takes longer than a little work, most on busy cores."""
        return Routine(self.plain, False, self.inline)

    def direct(self) -> Callable[P, R]:
        """Return the compiled function of a routine without a parallel loop, for calls in every tick.

        It takes no keywords; a call is faster by 0.3 us.
        """
        if self._compiled is None:
            self._compiled = self._compile()
        return self._compiled  # type: ignore[no-any-return]

    def _compile(self) -> Any:
        function = self.plain
        assert isinstance(function, types.FunctionType)
        others: dict[str, Any] = {"__name__": __name__}  # Numba imports the module of what it loads from its cache
        for name in function.__code__.co_names:
            if function.__globals__.get(name) is parallel_range:
                from numba import prange

                others[name] = prange
        key = cache_key("", [function], flags=(self.parallel, self.inline, KERNEL_FLAGS))
        entry = CacheEntry(
            f"routine-{function.__name__}", key, f"# compiled {function.__module__}.{function.__name__}\n"
        )
        made = dressed(function, "float64", self.inline, others)
        made.__code__ = made.__code__.replace(co_filename=str(entry.source))  # where Numba keeps the machine code
        made.__module__ = __name__
        from numba import njit

        return entry.guard(njit(parallel=self.parallel, cache=True, **KERNEL_FLAGS)(made))


def entry_point(function: Any, *arguments: Any) -> Callable[..., Any]:
    """Return a compiled function for arguments of the types of these, which a call of it has already had.

    A call finds no types: it is faster by 0.01 us per argument. Arguments of other types would be misread.
    """
    overloads, kinds = function.overloads, tuple(function.typeof_pyval(value) for value in arguments)
    return overloads[kinds].entry_point if kinds in overloads else function  # type: ignore[no-any-return]


def routine(function: Callable[P, R], inline: bool = False) -> Routine[P, R]:
    """Make a function run compiled, on the calling thread.

    `inline` inlines every function that it calls, so that loops without branches can vectorise.
    """
    return Routine(function, False, inline)


def parallel_routine(
    function: Callable[P, R],
    inline: bool = False,
    items: Callable[..., int] | None = None,
    few: int | None = None,
) -> Routine[P, R]:
    """Make a function run compiled, its `parallel_range` shared by all threads; `inline` as for `routine`.

    If `items(*arguments)` is below `few` (None: FEW_ITEMS), the calling thread runs it alone.
    """
    return Routine(function, True, inline, items, few)
