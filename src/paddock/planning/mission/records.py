"""What a mission saves beside numbers: tasks, zones, vehicles, inputs of routes and requests, as plain values and back.

Routes are not saved: they are built again from their inputs, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Pose
from paddock.planning.geometry.polygon import PolygonShape
from paddock.planning.geometry.shapes import AreaShape, CircleShape, LineShape, PointShape
from paddock.planning.geometry.zones import CircleZone, PolygonZone, Zone
from paddock.planning.solver.problem import ScheduledEvent, Task, Vehicle
from paddock.world.archive import typed

SHAPES: dict[str, Any] = {shape.kind: shape for shape in (PointShape, LineShape, CircleShape, AreaShape, PolygonShape)}


@dataclass(frozen=True)
class TaskRest:
    """A task in progress when a route was built: its rest comes first."""

    task: int  # index of its version
    done: float  # m of its path that had been flown
    begins: float  # s
    end: Pose
    zones: tuple[int, ...] = ()  # indices of the zones that its path avoids


@dataclass(frozen=True)
class RouteInputs:
    """The inputs of a route."""

    spec: Vehicle  # when and where it was free
    order: tuple[int, ...]  # versions of tasks
    zones: tuple[int, ...]  # indices of the zones that it avoids, among all that were known so far
    rest: TaskRest | None = None


@dataclass(frozen=True)
class MoveTask:
    """A request to move a task."""

    task: str
    x: float  # m east
    y: float  # m north


@dataclass(frozen=True)
class RemoveTask:
    """A request to remove a task."""

    task: str


Request = ScheduledEvent | MoveTask | RemoveTask
REQUESTS: dict[str, type[Any]] = {"move": MoveTask, "remove": RemoveTask, "event": ScheduledEvent}


def record(value: Any) -> Any:
    """Return a value in plain form: a dataclass as a mapping of the fields that are not at their default."""
    if isinstance(value, (tuple, list)):
        return [record(entry) for entry in value]
    if isinstance(value, dict):
        return [[key, record(entry)] for key, entry in value.items()]  # an archive would sort a mapping
    if not is_dataclass(value):
        return value
    plain = {
        f.name: record(getattr(value, f.name))
        for f in fields(value)
        if f.default is MISSING or getattr(value, f.name) != f.default
    }
    kind = _kind(value)
    return plain | {"kind": kind} if kind else plain


def _kind(value: Any) -> str:
    """Return the name of a class where several are possible."""
    if isinstance(value, CircleZone | PolygonZone):
        return "circle" if isinstance(value, CircleZone) else "polygon"
    if isinstance(value, MoveTask | RemoveTask | ScheduledEvent):
        return next(name for name, kind in REQUESTS.items() if isinstance(value, kind))
    kind: str = getattr(type(value), "kind", "")
    if kind and kind not in SHAPES:
        raise InvalidValueError(f"cannot save a task of the shape {kind!r}; valid: {', '.join(SHAPES)}")
    return kind


def tasks_from(saved: Any) -> list[Task]:
    """Return tasks."""
    return [task_from(row) for row in saved]


def task_from(row: Mapping[str, Any]) -> Task:
    """Return a task."""
    return Task(**{**row, "shape": SHAPES[row["shape"]["kind"]](**_arguments(row["shape"]))})


def zones_from(saved: Any) -> list[Zone]:
    """Return no-fly zones."""
    return [zone_from(row) for row in saved]


def zone_from(row: Mapping[str, Any]) -> Zone:
    """Return a no-fly zone."""
    return (CircleZone if row["kind"] == "circle" else PolygonZone)(**_arguments(row))


def vehicles_from(saved: Any) -> list[Vehicle]:
    """Return vehicles."""
    vehicles: list[Vehicle] = typed(list[Vehicle], saved, "vehicles")
    return vehicles


def inputs_from(saved: Any) -> list[RouteInputs]:
    """Return inputs of routes."""
    inputs: list[RouteInputs] = typed(list[RouteInputs], saved, "inputs of routes")
    return inputs


def requests_from(saved: Any) -> list[Request]:
    """Return requests."""
    return [_request(row) for row in saved]


def _request(row: Mapping[str, Any]) -> Request:
    values = {name: value for name, value in row.items() if name != "kind"}
    kind = REQUESTS[row["kind"]]
    if kind is not ScheduledEvent:
        request: Request = typed(kind, values, "request")
        return request
    read: dict[str, Any] = {"task": task_from, "vehicle": lambda tree: vehicles_from([tree])[0], "zone": zone_from}
    values = {name: read[name](value) if name in read else value for name, value in values.items()}
    return ScheduledEvent(**values)


def _arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _tuples(value) for name, value in row.items() if name != "kind"}


def _tuples(value: Any) -> Any:
    """Convert lists to tuples, recursively."""
    return tuple(_tuples(entry) for entry in value) if isinstance(value, (list, tuple)) else value
