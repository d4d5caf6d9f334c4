"""What the functions of this folder are given, checked and in one form."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan

import numpy as np
from numpy.typing import ArrayLike

from paddock.errors import InvalidValueError
from paddock.world.columns import Floats

PoseLike = Sequence[float | None] | Floats
"""x, y in m and heading in rad; a goal's heading may be None: any."""


def numbers(name: str, value: PoseLike, count: int, free: bool) -> list[float]:
    """So many finite numbers, the last of which may be None or NaN (given back as NaN) where it is `free`."""
    try:
        given = [nan if part is None else float(part) for part in value]
    except (TypeError, ValueError):
        given = []
    if len(given) != count:
        raise InvalidValueError(f"{name} is {'x, y, heading' if count == 3 else 'x, y, z, heading'}, not {value!r}")
    must = given[:-1] if free else given
    if not (all(isfinite(part) for part in must) and (isfinite(given[-1]) or given[-1] != given[-1])):
        raise InvalidValueError(f"{name} has to be finite{' (heading None: any)' if free else ''}, not {value!r}")
    return given


def pose(name: str, value: PoseLike, free: bool = False) -> tuple[float, float, float]:
    """x, y, heading; a free heading is NaN."""
    x, y, heading = numbers(name, value, 3, free)
    return x, y, heading


def not_negative(name: str, value: float) -> float:
    """A finite number >= 0."""
    if not (isinstance(value, int | float | np.number) and isfinite(value) and value >= 0.0):
        raise InvalidValueError(f"{name} has to be a number >= 0, not {value!r}")
    return float(value)


def positive(name: str, value: float) -> float:
    """A finite number > 0."""
    if not (isinstance(value, int | float | np.number) and isfinite(value) and value > 0.0):
        raise InvalidValueError(f"{name} has to be a number > 0, not {value!r}")
    return float(value)


def poses(name: str, values: ArrayLike, free: bool = False) -> Floats:
    """An array (n, 3) of x, y, heading; a free heading is NaN."""
    try:
        rows = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"{name} have to be an array (n, 3) of numbers: x, y, heading") from None
    if rows.size == 0:
        rows = rows.reshape(0, 3)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise InvalidValueError(f"{name} have to be an array (n, 3): x, y, heading; not one of shape {rows.shape}")
    wrong = ~np.isfinite(rows)
    if free:
        wrong[:, 2] &= ~np.isnan(rows[:, 2])
    if wrong.any():
        row = int(np.argwhere(wrong)[0, 0])
        raise InvalidValueError(f"{name}[{row}] has to be finite, not {rows[row].tolist()}")
    return rows


def radii(radius: ArrayLike, n: int) -> Floats:
    """A turn radius for each start (n,), from one for all or one for each."""
    try:
        given = np.asarray(radius, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"radius has to be a number or {n} of them, not {radius!r}") from None
    if given.shape not in ((), (n,)):
        raise InvalidValueError(f"radius has to be one number or one for each of {n} starts, not {given.shape}")
    if not (np.isfinite(given) & (given >= 0.0)).all():
        raise InvalidValueError("radius has to be a number >= 0, not " + repr(np.atleast_1d(given).min().item()))
    return np.ascontiguousarray(np.broadcast_to(given, (n,)))
