"""The same kernels on a GPU: one thread per vehicle, substeps in registers, rows read and written once per launch."""

import importlib.util
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.contract import compile_error
from paddock.compute.kernel import (
    Bundle,
    Each,
    KernelSpec,
    Rows,
    Shared,
    Value,
    alarm_calls,
    alarm_lines,
    fields,
    parameter_names,
    tuple_classes,
)
from paddock.compute.twin import compiled
from paddock.errors import MissingFeatureError


@dataclass(frozen=True)
class Gpu:
    """The GPU that the kernels can run on, if any."""

    available: bool
    name: str = ""
    reason: str = ""  # why it is unavailable, and what to do
    simulated: bool = False  # Numba's CUDA simulator: slow, for tests


def find_gpu() -> Gpu:
    """Look for a CUDA device. Never raises."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
        return Gpu(True, "CUDA simulator", simulated=True)
    if importlib.util.find_spec("numba_cuda") is None:
        return Gpu(False, reason="GPU support is not installed: pip install 'paddock[gpu]'")
    try:
        cuda = cuda_module()
        if not cuda.is_available():
            return Gpu(False, reason="no CUDA device or driver was found")
        name = cuda.get_current_device().name
    except Exception as error:  # a broken driver may raise anything
        return Gpu(False, reason=f"the CUDA driver does not work: {error}")
    return Gpu(True, name.decode() if isinstance(name, bytes) else str(name))


def require_gpu() -> Gpu:
    """Return the GPU, or raise MissingFeatureError with the reason."""
    gpu = find_gpu()
    if not gpu.available:
        raise MissingFeatureError(f"cannot run on a GPU: {gpu.reason}")
    return gpu


def cuda_module() -> Any:
    """Return numba.cuda, imported on first use."""
    if not hasattr(np, "row_stack"):  # NumPy 2.4 dropped a name that some numba-cuda releases still import
        np.row_stack = np.vstack
    from numba import cuda

    return cuda


THREADS = 128
"""Threads per block."""


class CudaKernel:
    """A kernel for a CUDA device: `kernel(n, substeps, *arrays)`; arrays may live on the host or on the device.

    Host arrays are copied to the device and back in every call; for speed pass the arrays that `to_device` returns.
    """

    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        self._ignored: tuple[Any, ...] | None = None  # alarms of calls that do not watch
        self._compiled = self._compile(require_gpu().simulated)

    def __call__(self, n: int, substeps: int, *arrays: Any) -> None:
        """Run the function on the first `n` vehicles, `substeps` times over; alarms are ignored."""
        if self.spec.crash_sink is None:
            self.watch(n, substeps, *arrays)
            return
        if self._ignored is None or len(self._ignored[0]) < n:
            self._ignored = alarm_arrays(n, self.spec.dtype)
        self.watch(n, substeps, *arrays, 1, *self._ignored)

    def watch(self, n: int, ticks: int, *arrays: Any) -> None:
        """Launch. A kernel with alarms takes `substeps` and the three arrays of `alarm_arrays` too.

        `alarms` (n,) holds 0, or the first alarm of a vehicle in this launch: the squared speed of a crash in m2/s2, or
        NaN; `alarm_ticks` (n,) the ticks until then; `raised` (1,) counts the alarms.
        """
        if n:
            dtype = np.dtype(self.spec.dtype)
            values = [dtype.type(a) if isinstance(a, float) else a for a in arrays]
            try:
                self._compiled[(n + THREADS - 1) // THREADS, THREADS](n, ticks, *values)
            except Exception as error:  # the first call compiles
                raise compile_error(error) from None

    def _compile(self, simulated: bool) -> Any:
        cuda = cuda_module()
        import numba

        # the simulator runs the kernel as plain Python, which calls the function compiled for the CPU
        calls = {"function": self.spec.function, **alarm_calls(self.spec)}
        made = {name: compiled(called, self.spec.dtype, from_python=simulated) for name, called in calls.items()}
        if simulated and any(isinstance(a, Shared) and a.tables for a in self.spec.arguments):
            made = {name: _of_host_arrays(called) for name, called in made.items()}
        number = np.dtype(self.spec.dtype).type if simulated else getattr(numba, self.spec.dtype)
        names: dict[str, Any] = {"cuda": cuda, "number": number, "__name__": __name__}
        names |= made | tuple_classes(self.spec)
        exec(cuda_source(self.spec), names)
        return cuda.jit(names["kernel"])


def _of_host_arrays(function: Any) -> Any:
    """Return a compiled function that takes the tuples of a simulated kernel: NumPy's arrays for the simulator's."""

    def on_host(value: Any) -> Any:
        if isinstance(value, tuple):
            return type(value)(*(part._item._ary if hasattr(part, "_item") else part for part in value))
        return value

    return lambda *arguments: function(*map(on_host, arguments))


@lru_cache(maxsize=128)
def cuda_kernel(spec: KernelSpec) -> CudaKernel:
    """Return the CUDA kernel for a spec, built once per process."""
    return CudaKernel(spec)


def to_device(array: NDArray[Any], dtype: str = "float64") -> Any:
    """Return a copy on the device; floats in the kernel's number type."""
    cast = array.astype(dtype) if array.dtype.kind == "f" else array
    return cuda_module().to_device(np.ascontiguousarray(cast))


def alarm_arrays(n: int, dtype: str = "float64") -> tuple[Any, ...]:
    """Return `alarms`, `alarm_ticks` and `raised` of a kernel with alarms, all 0, on the device."""
    return tuple(map(cuda_module().to_device, (np.zeros(n, dtype), np.zeros(n, np.int64), np.zeros(1, np.int64))))


def cuda_source(spec: KernelSpec) -> str:
    """Return the Python source of the CUDA kernel: load a vehicle's rows, loop over the substeps, store the rows."""
    moving = [a for a in spec.arguments if isinstance(a, Rows) and a.access != "read"]
    arguments = [a for a in spec.arguments if not (isinstance(a, Rows) and a.access == "write")]
    passed = ", ".join(a.name if isinstance(a, Value) else f"{a.name}_now" for a in arguments)
    step = [f"{', '.join(f'{a.name}_new' for a in moving)} = function({passed})"]
    names, loops = ["substeps", *parameter_names(spec.arguments)], ["for _ in range(substeps):"]
    if spec.crash_sink is not None:
        names = ["ticks", *names[1:], "substeps", "alarms", "alarm_ticks", "raised"]
        loops = ["for tick in range(ticks):", "    for _ in range(substeps):"]
        now, new, ground = "{name}_now.{field}", "{name}_new.{field}", "environment_now.ground_z"
        gap = f"parameters_now.{spec.crash_gap}" if spec.crash_gap else ""
        step += alarm_lines(spec, now, new, ground, "environment_now", gap)
        step += ["if alarm != 0.0 and alarms[i] == 0.0:", "    alarms[i], alarm_ticks[i] = alarm, tick + 1"]
        step += ["    cuda.atomic.add(raised, 0, 1)"]
    for a in moving:  # of one type in every round, even where the function returns a literal
        cast = ", ".join(f"number({a.name}_new.{f})" for f in fields(a.fields))
        step += [f"{a.name}_now = {a.name}_tuple({cast})"]
    lines = [f"def kernel(n, {', '.join(names)}):", "    i = cuda.grid(1)", "    if i < n:"]
    lines += [f"        {a.name}_now = {_loaded(a)}" for a in arguments if not isinstance(a, Value)]
    lines += ["        " + line for line in loops]
    lines += ["        " + "    " * len(loops) + line for line in step]
    for a in moving:
        lines += [f"        {a.name}[{k}, i] = {a.name}_now.{f}" for k, f in enumerate(fields(a.fields))]
    return "\n".join(lines) + "\n"


def _loaded(a: Rows | Shared | Each | Bundle) -> str:
    if isinstance(a, Rows):
        values = [f"{a.name}[{k}, i]" for k in range(len(fields(a.fields)))]
    elif isinstance(a, Shared):
        varying = {f: k for k, f in enumerate(a.varying)}
        values = [
            f"{a.name}_varying[{varying[f]}, i]" if f in varying else f"{a.name}[{k}]"
            for k, f in enumerate(fields(a.fields))
        ] + [f"{a.name}_{name}" for name in a.tables]
    elif isinstance(a, Bundle):
        values = [part.name if isinstance(part, Value) else f"{part.name}[i]" for part in a.parts]
    else:
        return f"{a.name}[i]"
    return f"{a.name}_tuple({', '.join(values)})"
