"""Matrices of costs for the assignment of rows to columns: checked, and without infinities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import InvalidValueError
from paddock.planning.ways import Ints
from paddock.world.columns import Floats


def checked_cost(cost: ArrayLike) -> Floats:
    """Costs as a matrix of floats; refused where they are not costs."""
    try:
        matrix = np.array(cost, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InvalidValueError("cost must be a matrix of numbers, its rows of one length") from None
    if matrix.ndim != 2 or not matrix.size:
        raise InvalidValueError(f"cost must be a matrix with rows and columns, not of shape {matrix.shape}")
    wrong = np.argwhere(np.isnan(matrix) | (matrix == -np.inf))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InvalidValueError(
            f"cost[{row}, {column}] is {matrix[row, column]:g}; a cost is a number, or inf for never"
        )
    return matrix


def without_infinities(cost: Floats, margin: float = 0.0) -> Floats:
    """The costs with so high a number for inf that a total within `margin` of the least has as few as can be."""
    finite = np.isfinite(cost)
    if finite.all():
        return cost
    if not finite.any():
        return np.zeros_like(cost)
    low, high = float(cost[finite].min()), float(cost[finite].max())
    step = max(high - low, margin, 1e-6 * abs(high)) or 1.0
    return np.where(finite, cost, high + (min(cost.shape) + 1) * step)


def allowed(cost: Floats, rows: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """The pairs of finite cost."""
    possible = np.isfinite(cost[rows, columns])
    return rows[possible], columns[possible]
