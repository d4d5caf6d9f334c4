"""Is there a GPU that the kernels can run on? Asked politely: without one there is a message, never an import error."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import Any

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
