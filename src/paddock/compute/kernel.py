"""From a scalar function to a kernel: generated source whose loop the compiler turns into packed vector code.

A fleet's state is one C-contiguous array, columns x capacity. The generated kernel binds each row to a local name
*before* the loop (this lets the compiler prove that rows do not overlap, and vectorise), calls the scalar function with
named tuples, and writes the rows back. Substeps loop over blocks of vehicles that stay in cache. The same source is
compiled twice at most: for the calling thread, and with its blocks shared by all threads for large fleets.
"""

from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from paddock.compute.cache import CacheEntry, cache_key
from paddock.compute.math import select
from paddock.compute.threads import launch, threads_for
from paddock.compute.twin import Function, compiled
from paddock.errors import PaddockError

BLOCK = 256
"""Vehicles per block: their rows fit in the second-level cache while the substeps run over them."""
CHOICE = {"select": select}  # what the source of alarms calls
KERNEL_FLAGS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "no_cfunc_wrapper": True}
"""Numba's options for everything that Python calls; fastmath stays off, it would make results depend on the loop."""


@dataclass(frozen=True)
class Rows:
    """An argument that is a named tuple of one vehicle's values, each a row of a 2-D array (columns x capacity)."""

    name: str
    fields: type
    # read, update (read and written), write (only returned), watch (only returned, and not stored)
    access: str = "read"
    fixed: bool = False  # the array is read-only: Numba compiles other code for it


@dataclass(frozen=True)
class Shared:
    """A named tuple that is the same for every vehicle (a 1-D array) except for varying fields (a 2-D array).

    `tables` are the names of 2-D arrays (C-contiguous, of the kernel's number type, writeable) that the function finds
    as further fields of the tuple; `shared_tuple` returns its class. A call passes the 1-D array, then the array of
    varying fields if there are any, then one array per table.
    """

    name: str
    fields: type
    varying: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Each:
    """One value per vehicle from a 1-D array; whole numbers unless another type is declared."""

    name: str
    type: str = "int64"


@dataclass(frozen=True)
class Value:
    """A scalar or an array passed on unchanged: a number, "int64", "table" (2-D) or "fixed table" (2-D, read-only)."""

    name: str
    type: str = "number"


@dataclass(frozen=True)
class Bundle:
    """A named tuple of arguments that a call passes one by one."""

    name: str
    fields: type
    parts: tuple[Each | Value, ...]


Argument = Rows | Shared | Each | Value | Bundle


@dataclass(frozen=True)
class KernelSpec:
    """The recipe of a kernel: a scalar function, its arguments in order, and the number type.

    The function returns the named tuples of its `update`, `write` and `watch` arguments: one alone, or several in a
    tuple. A kernel with a `watch` argument reports returned values that are not finite (`Kernel.watch`).
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple[Argument, ...]
    dtype: str = "float64"
    # the kernel raises alarms about the rows that it updates: values that are not finite, and contacts with the
    # ground (columns z, vx, vy, vz) at a larger sink rate, m/s; None: no alarms
    crash_sink: float | None = None
    crash_gap: str = ""  # field of the argument `parameters`: height of the contact above the ground, m; "": 0
    # f(x, y, environment) with the fields height, slope_x, slope_y: the ground of these alarms, whose sink rate is then
    # that along the normal; None: the flat ground at the environment's ground_z
    crash_ground: Callable[..., Any] | None = None
    # columns of the updated rows that the function returns as they are: the kernel neither checks nor stores them
    unchanged: tuple[str, ...] = ()


class CompiledKernels(ABC):
    """Generated functions, compiled for the calling thread and, on demand, with their loop shared by all threads."""

    spec: Any  # picklable: other processes rebuild the kernels from it

    def __init__(self, name: str, text: str, calls: dict[str, Function], tuples: dict[str, type], dtype: str) -> None:
        """`text` defines functions that use the names of `calls` and `tuples`."""
        self.name = name
        self.text = text
        self.calls = calls
        self.tuples = tuples
        self.dtype = dtype
        self._variants: dict[bool, tuple[Any, ...]] = {}
        self._entries: dict[bool, CacheEntry] = {}

    @abstractmethod
    def signatures(self) -> dict[str, tuple[Any, ...]]:
        """Return the Numba types of the arguments of each generated function."""

    def variants(self, n: int) -> tuple[Any, ...]:
        """Return the Numba functions for `n` vehicles, in the order of the signatures."""
        return self.built(threads_for(n) is not None)

    def is_compiled(self, n: int) -> bool:
        """Return whether the machine code for `n` vehicles is in the cache."""
        return all(map(self.entry(n).is_compiled, map(str, self.signatures().values())))

    def compile(self, n: int) -> None:
        """Compile (or load) the code for `n` vehicles without running it. Any thread may call this."""
        for function, signature in zip(self.variants(n), self.signatures().values(), strict=True):
            function.compile(signature)

    def entry(self, n: int) -> CacheEntry:
        """Return the cache entry of the code for `n` vehicles."""
        return self._entry(threads_for(n) is not None)

    @property
    def _has_tables(self) -> bool:
        return "table_view(" in self.text

    def _entry(self, parallel: bool) -> CacheEntry:
        if parallel not in self._entries:
            flags = (self.dtype, parallel, KERNEL_FLAGS, *(("apart",) if self._has_tables else ()))
            key = cache_key(self.text, self.calls.values(), self.tuples.values(), flags)
            name = f"{self.name}-{self.dtype}-{'parallel' if parallel else 'serial'}"
            self._entries[parallel] = CacheEntry(name, key, self.text)
        return self._entries[parallel]

    def built(self, parallel: bool) -> tuple[Any, ...]:
        """Return the Numba functions with or without a parallel loop, in the order of the signatures."""
        if parallel in self._variants:
            return self._variants[parallel]
        calls = {name: compiled(function, self.dtype, from_python=False) for name, function in self.calls.items()}
        from numba import njit, prange, uint64

        entry = self._entry(parallel)
        # Numba stores the module's name with the cached code and imports it on loading: the module must exist
        names: dict[str, Any] = {"__name__": __name__, "np": np, "prange": prange, "uint64": uint64}
        if self._has_tables:
            from paddock.compute.numba_extensions import table_view

            names["table_view"] = table_view
        names |= calls | self.tuples
        exec(compile(self.text, str(entry.source), "exec"), names)
        made = njit(parallel=parallel, cache=True, **KERNEL_FLAGS, **self._pipeline())
        self._variants[parallel] = tuple(entry.guard(made(names[name])) for name in self.signatures())
        return self._variants[parallel]

    def _pipeline(self) -> dict[str, Any]:
        """Return Numba's option for arrays that do not overlap: a table is none of the rows that are stored."""
        if not self._has_tables:
            return {}
        from paddock.compute.numba_extensions import DistinctArrays

        return {"pipeline_class": DistinctArrays}


class Kernel(CompiledKernels):
    """A compiled kernel for CPUs: `kernel(n, substeps, *arrays)`, arrays in the order of the spec's arguments."""

    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        calls: dict[str, Function] = {"function": spec.function, **alarm_calls(spec)}
        super().__init__(spec.name, cpu_source(spec), calls, tuple_classes(spec), spec.dtype)

    def __call__(self, n: int, substeps: int, *arrays: Any) -> None:
        """Run the function on the first `n` vehicles, `substeps` times over; alarms are ignored."""
        self.watch(n, substeps, *arrays, *self._unwatched(n))

    def watch(self, n: int, ticks: int, *arrays: Any) -> None:
        """Launch. A kernel with a `watch` argument takes `alarms, raised` too, one with alarms of a model `substeps,
        alarms, progress`.

        With a `watch` argument, `alarms` (n,) holds 0, k for its k-th field if that is not finite, or -k if a field of
        the k-th returned tuple is not; `raised` (1,) is set to 1 if there is any.

        Of a model, `alarms` (n,) holds 0, the squared speed of a crash in m2/s2, or NaN. `progress` (3, blocks) holds
        the ticks that a block has taken and how many of its alarms are known: it stops after a tick with a new one,
        sets `progress[2, 0]` to 1, and a launch with the same arguments continues.
        """
        threads = threads_for(n)
        launch(threads, self.built(threads is not None)[0], n, ticks, *arrays)

    def _unwatched(self, n: int) -> tuple[Any, ...]:
        """Return the arguments for alarms that stop nothing."""
        if self.spec.crash_sink is None:
            return (np.zeros(n, self.dtype), np.zeros(1, np.int64)) if is_watched(self.spec) else ()
        return 1, np.zeros(n, self.dtype), np.full((3, -(-n // BLOCK)), ((0,), (n,), (0,)))

    def signatures(self) -> dict[str, tuple[Any, ...]]:
        """Return the Numba types of a call: counts, then one or two arrays or a scalar per argument."""
        from numba import from_dtype, int64, types

        number = from_dtype(np.dtype(self.dtype))
        table, row = types.Array(number, 2, "C"), types.Array(number, 1, "C")
        values = {"number": number, "int64": int64, "table": table, "fixed table": types.Array(number, 2, "C", True)}
        passed: list[Any] = [int64, int64]
        for a in _passed(self.spec.arguments):
            if isinstance(a, Shared):
                passed += [row, *[table] * (bool(a.varying) + len(a.tables))]
            elif isinstance(a, Each):
                passed.append(types.Array(from_dtype(np.dtype(a.type)), 1, "C"))
            elif not (isinstance(a, Rows) and a.access == "watch"):
                passed.append(values[("fixed table" if a.fixed else "table") if isinstance(a, Rows) else a.type])
        if self.spec.crash_sink is not None:
            passed += [int64, row, types.Array(int64, 2, "C")]
        elif is_watched(self.spec):
            passed += [row, types.Array(int64, 1, "C")]
        return {"kernel": tuple(passed)}

    def assembly(self, *arguments: Any) -> str:
        """Return the machine code for these arguments, compiled again: code from the cache cannot be inspected."""
        from numba import njit

        n = arguments[0]
        function, options = self.variants(n)[0].py_func, KERNEL_FLAGS | self._pipeline()
        fresh = njit(parallel=threads_for(n) is not None, **options)(function)
        fresh(*arguments, *self._unwatched(n))
        return "\n".join(fresh.inspect_asm().values())


@lru_cache(maxsize=512)
def kernel(spec: KernelSpec) -> Kernel:
    """Return the CPU kernel for a spec, built once per process."""
    return Kernel(spec)


def tuple_classes(spec: KernelSpec) -> dict[str, type]:
    """Map the names that the generated source uses to the named tuple classes."""
    classes = {a.name: shared_tuple(a) if isinstance(a, Shared) else a.fields for a in _tuples(spec.arguments)}
    return {_class_name(name): tuple_class for name, tuple_class in classes.items()}


def shared_tuple(a: Shared) -> type:
    """Return the class of the tuple that the function gets: the fields, then the tables."""
    return _with_tables(a.fields, a.tables) if a.tables else a.fields


@lru_cache(maxsize=512)
def _with_tables(base: type, tables: tuple[str, ...]) -> type:
    """Return a named tuple class with further fields, which every process defines alike."""
    taken = {*fields(base), "varying"}
    if wrong := next((name for k, name in enumerate(tables) if name in taken or name in tables[:k]), None):
        raise PaddockError(f"a table of {base.__name__} cannot be named {wrong!r}: the name is in use")
    made: Any = namedtuple(f"{base.__name__}_{'_'.join(tables)}", (*fields(base), *tables))  # type: ignore[misc]
    made.__module__ = base.__module__
    return made


def _tuples(arguments: Sequence[Argument]) -> list[Rows | Shared | Bundle]:
    return [a for a in arguments if isinstance(a, Rows | Shared | Bundle)]


def _passed(arguments: Sequence[Argument]) -> list[Rows | Shared | Each | Value]:
    """Return the arguments of a call: the parts of a bundle one by one."""
    return [part for a in arguments for part in (a.parts if isinstance(a, Bundle) else (a,))]


def alarm_calls(spec: KernelSpec) -> dict[str, Function]:
    """Return the functions that the lines of alarms call, by name."""
    if spec.crash_sink is None:
        return CHOICE if is_watched(spec) else {}
    return CHOICE if spec.crash_ground is None else {**CHOICE, "ground": spec.crash_ground}


def cpu_source(spec: KernelSpec) -> str:
    """Return the Python source of the CPU kernel."""
    bind = [line for a in spec.arguments for line in _bind_rows(a)]
    call, store = f"result = function({', '.join(call_arguments(spec.arguments))})", _store(spec)
    blocks = [
        f"    for block in prange((n + {BLOCK - 1}) // {BLOCK}):",
        # unsigned indices spare the compiler the test for negative ones, which would stop it from vectorising
        f"        first = uint64(block) * uint64({BLOCK})",
        f"        last = min(first + uint64({BLOCK}), uint64(n))",
        *(f"        {table} = table_view({array})" for table, array in _views(spec.arguments)),
    ]
    parameters = ", ".join(parameter_names(spec.arguments))
    if spec.crash_sink is None and is_watched(spec):
        lines = [
            f"def kernel(n, substeps, {parameters}, alarms, raised):",
            *_indent(bind, 1),
            *blocks,
            "        count = 0",
            "        for _ in range(substeps):",
            "            for i in range(first, last):",
            *_indent([call, *_watch_lines(spec), *store], 4),
            "        if count > 0:",
            "            raised[0] = 1",
        ]
    elif spec.crash_sink is None:
        head = [f"def kernel(n, substeps, {parameters}):", *_indent(bind, 1), *blocks]
        loops = ["for _ in range(substeps):", "    for i in range(first, last):"]
        lines = [*head, *_indent(loops, 2), *_indent([call, *store], 4)]
    else:
        lines = [
            f"def kernel(n, ticks, {parameters}, substeps, alarms, progress):",
            *_indent(bind, 1),
            *blocks,
            "        tick, known = progress[0, block], progress[1, block]",
            "        raised = known",
            "        while tick < ticks and raised <= known:",
            "            for _ in range(substeps):",
            "                raised = 0",
            "                for i in range(first, last):",
            *_indent([call, *_raise_alarm(spec), *store], 5),
            "            tick += 1",
            "        progress[0, block] = tick",
            "        if raised > known:",  # not counted: a sum over the blocks would take long to compile
            "            progress[2, 0] = 1",
        ]
    return "\n".join(lines) + "\n"


def is_watched(spec: KernelSpec) -> bool:
    """Return whether the kernel reports returned values that are not finite."""
    return any(a.access == "watch" for a in returned_rows(spec.arguments))


def _watch_lines(spec: KernelSpec) -> list[str]:
    """Return the lines that set the alarm of vehicle `i` and count it."""
    lines = ["alarm = 0.0"]
    for position, a in enumerate(returned_rows(spec.arguments)):
        values = [f"result[{position}].{f}" for f in fields(a.fields)]
        if a.access == "watch":
            bad = [f"select({value} - {value} == 0.0, alarm, {k + 1}.0)" for k, value in enumerate(values)]
            lines += [f"alarm = {line}" for line in reversed(bad)]
        else:
            lines += [f"total = {_sum(values)}", f"alarm = select(total - total == 0.0, alarm, {-position - 1}.0)"]
    return [*lines, "alarms[i] = alarm", "count += alarm != 0.0"]


def _sum(terms: list[str]) -> str:
    """Return the sum, finite if every value is; in pairs, so that the additions do not wait for each other."""
    while len(terms) > 1:
        terms = [f"({' + '.join(terms[k : k + 2])})" for k in range(0, len(terms), 2)]
    return terms[0]


def _raise_alarm(spec: KernelSpec) -> list[str]:
    """Return the lines that set the alarm of vehicle `i` after its step, before the rows are stored, and count it.

    The count makes the compiler interleave several vectors of vehicles, which saves more time than alarms cost.
    """
    shared = next((a for a in spec.arguments if a.name == "environment"), None)
    world = _call_argument(shared) if spec.crash_ground is not None and shared is not None else "environment"
    varying = any(isinstance(a, Shared) and spec.crash_gap in a.varying for a in spec.arguments)
    gap = f"parameters_{spec.crash_gap}{'[i]' if varying else ''}" if spec.crash_gap else ""
    lines = alarm_lines(spec, "{name}_{field}[i]", "result.{field}", "environment_ground_z", world, gap)
    lines += ["alarm = select(alarms[i] == 0.0, alarm, alarms[i])", "alarms[i] = alarm", "raised += alarm != 0.0"]
    return lines


def alarm_lines(spec: KernelSpec, before: str, after: str, flat: str, environment: str, gap: str = "") -> list[str]:
    """Return the lines that compute `alarm` of a vehicle: 0, the squared speed of a crash (m2/s2), or NaN.

    `before` and `after` spell a `field` of the updated rows, `name`, before and after the step; `flat` the height of
    the flat ground, `environment` the tuple for the ground's function, `gap` the height of the contact above it.
    """
    assert spec.crash_sink is not None
    watched = next(a for a in spec.arguments if isinstance(a, Rows) and a.access == "update")
    terms = [after.format(name=watched.name, field=f) for f in fields(watched.fields) if f not in spec.unchanged]
    lines = [f"total = {_sum(terms)}", "alarm = total - total"]
    if isfinite(spec.crash_sink):
        x, y, z, vx, vy, vz = (before.format(name=watched.name, field=f) for f in ("x", "y", "z", "vx", "vy", "vz"))
        next_x, next_y, next_z = (after.format(name=watched.name, field=f) for f in ("x", "y", "z"))
        flat = f"({flat} + {gap})" if gap else flat
        above, landed, sinks = f"({z} > {flat})", f"({next_z} <= {flat})", f"({vz} < {-spec.crash_sink!r})"
        fast = f"{vx} * {vx} + {vy} * {vy} + {vz} * {vz}"
        falls = [f"falls = {sinks} & {above} & {landed}"]
        if spec.crash_ground is not None:
            lifted = f" + {gap}" if gap else ""
            above, landed = f"({z} > here.height{lifted})", f"({next_z} <= there.height{lifted})"
            sinks = f"(along < 0.0) & (along * along > {spec.crash_sink * spec.crash_sink!r} * steep)"
            falls = [
                "falls = False",
                f"if {fast} > {spec.crash_sink * spec.crash_sink!r}:",  # slower, the ground need not be known
                f"    here = ground({x}, {y}, {environment})",
                f"    there = ground({next_x}, {next_y}, {environment})",
                f"    along = {vz} - there.slope_x * {vx} - there.slope_y * {vy}",  # the normal, times its length
                "    steep = 1.0 + there.slope_x * there.slope_x + there.slope_y * there.slope_y",
                f"    falls = {sinks} & {above} & {landed}",
            ]
        lines += [*falls, f"alarm = select(falls, {fast}, alarm)"]
    return lines


def parameter_names(arguments: Sequence[Argument]) -> list[str]:
    """Return the kernel's parameters: one array per argument; after a shared tuple, varying fields and tables."""
    names = []
    for a in _passed(arguments):
        names += [] if isinstance(a, Rows) and a.access == "watch" else [a.name]
        if isinstance(a, Shared):
            names += [f"{a.name}_{name}" for name in ((("varying",) if a.varying else ()) + a.tables)]
    return names


def _class_name(name: str) -> str:
    return f"{name}_tuple"


def _bind_rows(a: Argument) -> list[str]:
    if isinstance(a, Rows) and a.access == "watch":
        return []
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
    """Return the expressions that the kernel passes to the scalar function for vehicle `i`."""
    return [_call_argument(a) for a in arguments if not (isinstance(a, Rows) and a.access in ("write", "watch"))]


def _call_argument(a: Argument) -> str:
    if isinstance(a, Rows):
        return f"{_class_name(a.name)}({', '.join(f'{a.name}_{f}[i]' for f in fields(a.fields))})"
    if isinstance(a, Shared):
        values = [f"{a.name}_{f}[i]" if f in a.varying else f"{a.name}_{f}" for f in fields(a.fields)]
        return f"{_class_name(a.name)}({', '.join([*values, *(view for view, _ in _views([a]))])})"
    if isinstance(a, Bundle):
        return f"{_class_name(a.name)}({', '.join(map(_call_argument, a.parts))})"
    return f"{a.name}[i]" if isinstance(a, Each) else a.name


def _views(arguments: Sequence[Argument]) -> list[tuple[str, str]]:
    """Return the names of the views of tables in the loop, and of their arrays."""
    return [(f"{a.name}_{t}_view", f"{a.name}_{t}") for a in arguments if isinstance(a, Shared) for t in a.tables]


def _store(spec: KernelSpec) -> list[str]:
    returned = returned_rows(spec.arguments)
    lines = []
    for position, a in enumerate(returned):
        if a.access == "watch":
            continue
        result = "result" if len(returned) == 1 else f"result[{position}]"
        stored = [f for f in fields(a.fields) if a.access == "write" or f not in spec.unchanged]
        lines += [f"{a.name}_{f}[i] = {result}.{f}" for f in stored]
    return lines


def returned_rows(arguments: Sequence[Argument]) -> list[Rows]:
    """Return the arguments whose named tuples the function returns, in order."""
    return [a for a in arguments if isinstance(a, Rows) and a.access != "read"]


def fields(tuple_class: type) -> tuple[str, ...]:
    """Return the field names of a named tuple class."""
    return tuple_class._fields  # type: ignore[attr-defined,no-any-return]


def _indent(lines: Sequence[str], depth: int) -> list[str]:
    return ["    " * depth + line for line in lines]
