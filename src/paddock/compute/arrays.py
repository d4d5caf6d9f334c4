"""Functions of arrays with the same bits on every CPU, under their NumPy names: NumPy's own depend on the processor."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.compute import math as scalar_math
from paddock.compute.twin import vectorised

Floats = NDArray[np.float64]
sin, cos = vectorised(scalar_math.sin), vectorised(scalar_math.cos)
sincos, arctan2 = vectorised(scalar_math.sincos), vectorised(scalar_math.atan2)


def hypot(x: Any, y: Any) -> Any:
    """Return the lengths of vectors (x, y)."""
    return np.sqrt(x * x + y * y)


def rotated(points: Any, angle: float, to: tuple[float, float] = (0.0, 0.0)) -> Floats:
    """Return points (..., 2) turned about the origin by an angle (rad ccw), then moved; BLAS fuses what `@` adds."""
    s, c = scalar_math.sincos(angle)
    x, y = np.moveaxis(np.asarray(points, np.float64), -1, 0)
    return np.stack([c * x - s * y + to[0], s * x + c * y + to[1]], axis=-1)


def norm(vector: Any) -> float:
    """Return the length of one vector; BLAS fuses multiplication and addition on some processors."""
    return float(np.sqrt(np.square(vector).sum()))


def gauss_legendre(count: int) -> tuple[Floats, Floats]:
    """Return nodes in (-1, 1) and weights of Gauss quadrature; NumPy's come from LAPACK."""
    x = cos(np.pi * (np.arange(count, 0, -1) - 0.25) / (count + 0.5))
    for _ in range(6):  # Newton's method; four steps converge
        last, value = np.ones(count), x
        for k in range(2, count + 1):
            last, value = value, ((2 * k - 1) * x * value - (k - 1) * last) / k
        slope = count * (x * value - last) / (x * x - 1.0)
        x = x - value / slope
    return x, 2.0 / ((1.0 - x * x) * slope * slope)
