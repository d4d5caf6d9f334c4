"""Functions of arrays with the same bits on every CPU, under their NumPy names: NumPy's own depend on the processor."""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import Any

import numpy as np

from paddock.compute import math as scalar_math
from paddock.compute.twin import vectorised

NUMPY_MATH = ContextVar("NUMPY_MATH", default=False)
"""Whether to use NumPy's own after all, to verify recordings of versions that did."""


def _of_arrays(function: Any, *values: Any) -> Any:
    return vectorised(function, NUMPY_MATH.get())(*values)


sin, cos, arctan2 = (partial(_of_arrays, f) for f in (scalar_math.sin, scalar_math.cos, scalar_math.atan2))


def norm(vector: Any) -> float:
    """Return the length of one vector; BLAS fuses multiplication and addition on some processors."""
    return float(np.linalg.norm(vector) if NUMPY_MATH.get() else np.sqrt(np.square(vector).sum()))


def root_of_sum(speed: float, rest: float) -> float:
    """Return the square root of speed**2 + rest."""
    return float((speed**2 + rest) ** 0.5) if NUMPY_MATH.get() else scalar_math.sqrt(speed * speed + rest)
