"""The same kernels on a GPU: one thread an agent, substeps in registers, rows read and written once a launch."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute.kernel import Argument, Each, KernelSpec, Rows, Shared, fields, parameter_names, tuple_classes
from paddock.compute.twin import compiled
from paddock.errors import MissingFeatureError


@dataclass(frozen=True)
class Gpu:
    """What was found."""

    available: bool
    name: str = ""
    reason: str = ""  # why there is none, and how to get one
    simulated: bool = False  # Numba's CUDA simulator: slow, for tests


def find_gpu() -> Gpu:
    """Look for a CUDA device; never raises."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
        return Gpu(True, "CUDA simulator", simulated=True)
    if importlib.util.find_spec("numba_cuda") is None:
        return Gpu(False, reason="GPU support is not installed: pip install 'paddock[gpu]'")
    try:
        cuda = cuda_module()
        if not cuda.is_available():
            return Gpu(False, reason="no CUDA device or driver was found")
        name = cuda.get_current_device().name
    except Exception as error:  # whatever a broken driver raises, the answer is the same: no GPU
        return Gpu(False, reason=f"the CUDA driver does not work: {error}")
    return Gpu(True, name.decode() if isinstance(name, bytes) else str(name))


def require_gpu() -> Gpu:
    """The GPU, or an error that says how to get one."""
    gpu = find_gpu()
    if not gpu.available:
        raise MissingFeatureError(f"cannot run on a GPU: {gpu.reason}")
    return gpu


def cuda_module() -> Any:
    """numba.cuda, imported on first use."""
    import numpy as np

    if not hasattr(np, "row_stack"):  # NumPy 2.4 dropped a name that some numba-cuda releases still import
        np.row_stack = np.vstack
    from numba import cuda

    return cuda


THREADS = 128
"""Threads a block."""


class CudaKernel:
    """A kernel for a CUDA device: `kernel(n, substeps, *arrays)`; arrays may live on the host or on the device.

    Host arrays are copied there and back at every call; `to_device` once and keep what it returns for speed.
    """

    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        self._compiled = self._compile(require_gpu().simulated)

    def __call__(self, n: int, substeps: int, *arrays: Any) -> None:
        """Run the function on the first `n` agents, `substeps` times over."""
        if n:
            dtype = np.dtype(self.spec.dtype)
            values = [dtype.type(a) if isinstance(a, float) else a for a in arrays]
            self._compiled[(n + THREADS - 1) // THREADS, THREADS](n, substeps, *values)

    def _compile(self, simulated: bool) -> Any:
        cuda = cuda_module()
        # the simulator runs plain Python: there is nothing to compile
        function = self.spec.function if simulated else compiled(self.spec.function, self.spec.dtype)
        names: dict[str, Any] = {"cuda": cuda, "function": function, "__name__": __name__}
        names |= tuple_classes(self.spec)
        exec(cuda_source(self.spec), names)
        return cuda.jit(names["kernel"])


@lru_cache(maxsize=128)
def cuda_kernel(spec: KernelSpec) -> CudaKernel:
    """The CUDA kernel for a spec, built once per process."""
    return CudaKernel(spec)


def to_device(array: NDArray[Any], dtype: str = "float64") -> Any:
    """A copy on the device; floats in the kernel's number type."""
    cast = array.astype(dtype) if array.dtype.kind == "f" else array
    return cuda_module().to_device(np.ascontiguousarray(cast))


def cuda_source(spec: KernelSpec) -> str:
    """Python source of the CUDA kernel: load the agent's rows, loop over the substeps, store the rows."""
    moving = [a for a in spec.arguments if isinstance(a, Rows) and a.access != "read"]
    lines = [f"def kernel(n, substeps, {', '.join(parameter_names(spec.arguments))}):"]
    lines += ["    i = cuda.grid(1)", "    if i < n:"]
    lines += [f"        {a.name}_now = {_loaded(a)}" for a in spec.arguments if _is_loaded(a)]
    lines += ["        for _ in range(substeps):"]
    call = f"function({', '.join(_passed(spec))})"
    lines += [f"            {', '.join(f'{a.name}_now' for a in moving)} = {call}"]
    for a in moving:
        lines += [f"        {a.name}[{k}, i] = {a.name}_now.{f}" for k, f in enumerate(fields(a.fields))]
    return "\n".join(lines) + "\n"


def _passed(spec: KernelSpec) -> list[str]:
    """What the function is called with: the loaded tuples, and the plain values as they are."""
    given = [a for a in spec.arguments if not (isinstance(a, Rows) and a.access == "write")]
    return [f"{a.name}_now" if isinstance(a, Rows | Shared | Each) else a.name for a in given]


def _is_loaded(a: Argument) -> bool:
    return isinstance(a, Shared | Each) or (isinstance(a, Rows) and a.access != "write")


def _loaded(a: Argument) -> str:
    if isinstance(a, Rows):
        values = [f"{a.name}[{k}, i]" for k in range(len(fields(a.fields)))]
    elif isinstance(a, Shared):
        varying = {f: k for k, f in enumerate(a.varying)}
        values = [
            f"{a.name}_varying[{varying[f]}, i]" if f in varying else f"{a.name}[{k}]"
            for k, f in enumerate(fields(a.fields))
        ]
    else:
        return f"{a.name}[i]"
    return f"{a.name}_tuple({', '.join(values)})"
