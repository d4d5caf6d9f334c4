"""From a scalar function to a kernel: generated source whose loop the compiler turns into packed vector code.

A fleet's state is one C-contiguous array, columns x capacity. The generated kernel binds each row to a local name
*before* the parallel loop (that is what lets the compiler prove that rows do not overlap, and vectorise), calls the
scalar function with named tuples, and writes the rows back. Substeps loop over blocks of agents that stay in cache.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from paddock.compute import twin
from paddock.compute.cache import source_path
from paddock.compute.threads import launch
from paddock.compute.twin import compiled, fingerprint, reached

BLOCK = 256
"""Agents per block: their rows fit in the second-level cache while the substeps run over them."""


@dataclass(frozen=True)
class Rows:
    """An argument that is a named tuple of one agent's values, each a row of a 2-D array (columns x capacity)."""

    name: str
    fields: type
    access: str = "read"  # read, update (read and written), write (only returned)


@dataclass(frozen=True)
class Shared:
    """A named tuple that is the same for every agent (a 1-D array), but for the fields that vary (a 2-D array)."""

    name: str
    fields: type
    varying: tuple[str, ...] = ()


@dataclass(frozen=True)
class Each:
    """One value per agent from a 1-D array of any type."""

    name: str


@dataclass(frozen=True)
class Value:
    """A scalar or an array handed on as it is."""

    name: str


Argument = Rows | Shared | Each | Value


@dataclass(frozen=True)
class KernelSpec:
    """What to build: a scalar function, its arguments in order, and the number type.

    The function returns the named tuples of its `update` and `write` arguments: one alone, or several in a tuple.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Argument, ...]
    dtype: str = "float64"

    def source_files(self) -> set[str]:
        """The files whose text shapes the compiled code."""
        files = {inspect.getsourcefile(f) or f.__code__.co_filename for f in reached(self.function)}
        classes = [a.fields for a in self.arguments if isinstance(a, Rows | Shared)]
        return (
            files | {getattr(inspect.getmodule(c), "__file__", None) or "" for c in classes} | {__file__, twin.__file__}
        )


class Kernel:
    """A compiled kernel for CPUs: `kernel(n, substeps, *arrays)`, arrays in the order of the spec's arguments."""

    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        self._compiled: Any = None

    def __call__(self, n: int, substeps: int, *arrays: Any) -> None:
        """Run the function on the first `n` agents, `substeps` times over."""
        launch(n, self.compiled, n, substeps, *arrays)

    @property
    def compiled(self) -> Any:
        """The Numba function (made on first use; loaded from the kernel cache when it was compiled before)."""
        if self._compiled is None:
            self._compiled = self._compile()
        return self._compiled

    def assembly(self, *arguments: Any) -> str:
        """The machine code for these arguments, compiled afresh: what comes from the cache cannot be inspected."""
        from numba import njit

        fresh = njit(parallel=True, error_model="numpy")(self.compiled.py_func)
        fresh(*arguments)
        return "\n".join(fresh.inspect_asm().values())

    def _compile(self) -> Any:
        function = compiled(self.spec.function, self.spec.dtype)
        from numba import njit, prange, uint64

        text = cpu_source(self.spec)
        # the text names no function: without the fingerprint, two functions of one file would share their machine code
        identity = fingerprint(self.spec.function)
        path = source_path(f"{self.spec.name}-{self.spec.dtype}", text, self.spec.source_files(), identity)
        # Numba stores the module's name with the cached code and imports it on loading: it has to be a real one
        names = {"__name__": __name__, "function": function, "prange": prange, "uint64": uint64}
        names |= tuple_classes(self.spec)
        exec(compile(text, str(path), "exec"), names)
        return njit(parallel=True, error_model="numpy", cache=True, nogil=True)(names["kernel"])


@lru_cache(maxsize=512)
def kernel(spec: KernelSpec) -> Kernel:
    """The CPU kernel for a spec, built once per process."""
    return Kernel(spec)


def tuple_classes(spec: KernelSpec) -> dict[str, type]:
    """The named tuple classes under the names that the generated source uses."""
    return {_class_name(a.name): a.fields for a in spec.arguments if isinstance(a, Rows | Shared)}


def cpu_source(spec: KernelSpec) -> str:
    """Python source of the CPU kernel."""
    bind = [line for a in spec.arguments for line in _bind_rows(a)]
    agent = [f"result = function({', '.join(call_arguments(spec.arguments))})", *_store(spec.arguments)]
    lines = [
        f"def kernel(n, substeps, {', '.join(parameter_names(spec.arguments))}):",
        *_indent(bind, 1),
        f"    for block in prange((n + {BLOCK - 1}) // {BLOCK}):",
        # unsigned indices spare the compiler the negative-index test that would stop it from vectorising
        f"        first = uint64(block) * uint64({BLOCK})",
        f"        last = min(first + uint64({BLOCK}), uint64(n))",
        "        for _ in range(substeps):",
        "            for i in range(first, last):",
        *_indent(agent, 4),
    ]
    return "\n".join(lines) + "\n"


def parameter_names(arguments: Sequence[Argument]) -> list[str]:
    """The kernel's own parameters: one array per argument, and a second one where a shared tuple has varying fields."""
    names = []
    for a in arguments:
        names.append(a.name)
        if isinstance(a, Shared) and a.varying:
            names.append(f"{a.name}_varying")
    return names


def _class_name(name: str) -> str:
    return f"{name}_tuple"


def _bind_rows(a: Argument) -> list[str]:
    if isinstance(a, Rows):
        return [f"{a.name}_{f} = {a.name}[{k}]" for k, f in enumerate(fields(a.fields))]
    if isinstance(a, Shared):
        varying = {f: k for k, f in enumerate(a.varying)}
        return [
            f"{a.name}_{f} = {a.name}_varying[{varying[f]}]" if f in varying else f"{a.name}_{f} = {a.name}[{k}]"
            for k, f in enumerate(fields(a.fields))
        ]
    return []


def call_arguments(arguments: Sequence[Argument]) -> list[str]:
    """The expressions that the kernel passes to the scalar function for agent `i`."""
    return [_call_argument(a) for a in arguments if not (isinstance(a, Rows) and a.access == "write")]


def _call_argument(a: Argument) -> str:
    if isinstance(a, Rows):
        return f"{_class_name(a.name)}({', '.join(f'{a.name}_{f}[i]' for f in fields(a.fields))})"
    if isinstance(a, Shared):
        values = (f"{a.name}_{f}[i]" if f in a.varying else f"{a.name}_{f}" for f in fields(a.fields))
        return f"{_class_name(a.name)}({', '.join(values)})"
    return f"{a.name}[i]" if isinstance(a, Each) else a.name


def _store(arguments: Sequence[Argument]) -> list[str]:
    written = [a for a in arguments if isinstance(a, Rows) and a.access != "read"]
    lines = []
    for position, a in enumerate(written):
        result = "result" if len(written) == 1 else f"result[{position}]"
        lines += [f"{a.name}_{f}[i] = {result}.{f}" for f in fields(a.fields)]
    return lines


def fields(tuple_class: type) -> tuple[str, ...]:
    """The field names of a named tuple class."""
    return tuple_class._fields  # type: ignore[attr-defined,no-any-return]


def _indent(lines: Sequence[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]
