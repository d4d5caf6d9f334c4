"""Values that a request can carry; others are refused in the words of a local simulation."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError

LARGEST = 2**64 - 1
"""The largest whole number that a request can carry."""


def is_finite(value: Any) -> bool:
    """Whether it is a number that float64 can hold."""
    try:
        return isinstance(value, int | float | np.number) and isfinite(float(value))
    except (OverflowError, TypeError):  # a whole number that no float can hold; a complex one
        return False


def whole(rule: str, value: Any) -> int:
    """The value as an int if it is a whole number of 64 bits."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= LARGEST:
        raise InvalidValueError(f"{rule}, not {value!r}")
    return int(value)


def checked_pace(pace: Any) -> float:
    """Simulated s per wall s; the server knows which ones are possible."""
    if isinstance(pace, bool) or not is_finite(pace):
        raise InvalidValueError(f"pace must be a number, not {pace!r}")
    return float(pace)


def numbers(what: str, values: Any) -> list[float]:
    """A vector as a list."""
    try:
        return list(map(float, values))
    except (TypeError, ValueError, OverflowError):
        raise InvalidValueError(f"{what} must be a list of numbers, not {values!r}") from None


def some_ids(target: Any) -> NDArray[Any]:
    """Vehicles by their ids, at least one."""
    try:
        ids = np.asarray(target)
    except ValueError:  # lists of different lengths in a list
        ids = np.empty(())
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise InvalidValueError(f"a command is for a name, an id, or a list of ids, not {target!r}")
    if not ids.size:
        raise InvalidValueError("a command needs at least one vehicle: the list of ids is empty")
    return ids


def checked_inputs(inputs: Any, target: Any) -> dict[str, Any]:
    """Inputs as numbers, texts or arrays of finite numbers."""
    if not isinstance(inputs, Mapping):
        raise InvalidValueError(f"the inputs of {target!r} are given by name, as in {{'steer': 0.1}}, not {inputs!r}")
    return {name: _checked(name, value, target) for name, value in inputs.items()}


def _checked(name: str, value: Any, target: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, np.ndarray | list | tuple):
        return _checked_array(name, value, target)
    if isinstance(value, str) or is_finite(value):
        return value
    raise InvalidValueError(f"{target}: input {name!r} must be a finite number, not {value!r}")


def _checked_array(name: str, value: Any, target: Any) -> NDArray[np.float64]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(f"input {name!r} of {target!r} must be an array of numbers") from None
    if not np.isfinite(array).all():
        raise InvalidValueError(f"input {name!r} of {target!r} has values that are not finite")
    return array
