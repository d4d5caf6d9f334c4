"""What can happen to a mission besides what a scenario foresees, and tasks in another place."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.problem import Task
from paddock.planning.setup import Happening


@dataclass(frozen=True)
class MoveTask:
    """A task is to be done elsewhere."""

    task: str
    x: float  # m east
    y: float  # m north


@dataclass(frozen=True)
class RemoveTask:
    """A task need not be done."""

    task: str


Request = Happening | MoveTask | RemoveTask


def moved(task: Task, x: float, y: float) -> Task:
    """The task in another place (m): where it begins, or for a polygon the mean of its corners."""
    if not np.isfinite([x, y]).all():
        raise InvalidValueError(f"task {task.name!r}: a place must be two numbers of metres, not ({x}, {y})")
    shape: Any = task.shape
    if shape.kind == "polygon":
        return replace(task, shape=_shifted(shape, np.array([x, y]) - np.mean(shape.outer, axis=0)))
    if not {"x", "y"} <= {field.name for field in fields(shape)}:
        raise InvalidValueError(f"task {task.name!r}: a {shape.kind} cannot be moved")
    return replace(task, shape=replace(shape, x=float(x), y=float(y)))


def _shifted(shape: Any, by: Any) -> Any:
    def there(points: Any) -> Any:
        return tuple((px + float(by[0]), py + float(by[1])) for px, py in points)

    start = None if shape.start is None else there([shape.start])[0]
    return replace(shape, outer=there(shape.outer), holes=tuple(there(hole) for hole in shape.holes), start=start)
