"""Courses of gates for drones: named ones, or any list of gates."""

from typing import Any

import numpy as np

from paddock.compute import arrays
from paddock.errors import InvalidValueError, unknown_name
from paddock.world.columns import Floats

GATE_COLUMNS = 4  # x, y, z (m) of the centre, yaw (rad) of the direction through it


def _around(points: Floats) -> Floats:
    """Return gates at points (k, 3) of a closed course, each across the line from the last to the next one."""
    way = np.roll(points, -1, axis=0) - np.roll(points, 1, axis=0)
    return np.column_stack([points, arrays.arctan2(way[:, 1], way[:, 0])])


def _oval() -> Floats:
    angle = np.arange(8) * np.pi / 4.0
    return _around(np.column_stack([10.0 * arrays.cos(angle), 6.0 * arrays.sin(angle), 2.0 + 0.0 * angle]))


def _eight() -> Floats:
    angle = (np.arange(8) + 0.5) * np.pi / 4.0
    height = 2.5 + 0.5 * arrays.cos(2.0 * angle)
    return _around(np.column_stack([12.0 * arrays.sin(angle), 6.0 * arrays.sin(2.0 * angle), height]))


def _climb() -> Floats:
    angle = np.arange(6) * np.pi / 3.0
    return _around(
        np.column_stack([8.0 * arrays.cos(angle), 8.0 * arrays.sin(angle), 3.0 + 1.5 * arrays.sin(2.0 * angle)])
    )


COURSES = {"oval": _oval, "eight": _eight, "climb": _climb}


def gate_course(given: Any) -> Floats:
    """Return gates (k, 4): a named course, or rows of x, y, z (m) and yaw (rad)."""
    if isinstance(given, str):
        if given not in COURSES:
            raise unknown_name("course of gates", given, COURSES)
        return np.ascontiguousarray(COURSES[given]())
    try:
        gates = np.array(given, np.float64)
    except (TypeError, ValueError):
        gates = np.zeros(0)
    if gates.ndim != 2 or gates.shape[1] != GATE_COLUMNS or len(gates) < 2 or not np.isfinite(gates).all():
        raise InvalidValueError("gates: a name, or at least two rows of x, y, z (m) and yaw (rad), all finite")
    if (gates[:, 2] <= 0.0).any():
        raise InvalidValueError(f"gates: the centre of gate {int(np.argmin(gates[:, 2]))} is not above the ground")
    return gates
