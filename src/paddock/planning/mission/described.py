"""Tasks, zones, vehicles and routes as plain values, and back: for states that are saved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from typing import Any

from paddock.errors import InvalidValueError
from paddock.planning.mission.drawn import Drawn, Rest
from paddock.planning.mission.requests import MoveTask, RemoveTask, Request
from paddock.planning.obstacles.zone import CircleZone, PolygonZone, Zone
from paddock.planning.problem import Agent, Task
from paddock.planning.setup import Happening

SHAPES = {
    kind: (f"paddock.planning.coverage.{kind}", f"{kind.capitalize()}Shape")
    for kind in ("point", "line", "circle", "area", "polygon")
}

REQUESTS: dict[type[Any], str] = {MoveTask: "Move", RemoveTask: "Remove", Happening: "Happening"}
"""Names in saved states."""


def values_of(thing: Any) -> Any:
    """A dataclass as a mapping of those fields that are not at their default; tuples as lists."""
    if isinstance(thing, (tuple, list)):
        return [values_of(one) for one in thing]
    if not is_dataclass(thing):
        return thing
    own = {f.name: values_of(getattr(thing, f.name)) for f in fields(thing) if _differs(thing, f)}
    if isinstance(thing, CircleZone | PolygonZone):
        return own | {"kind": "circle" if isinstance(thing, CircleZone) else "polygon"}
    kind = getattr(type(thing), "kind", None)
    if kind is not None and kind not in SHAPES:
        raise InvalidValueError(
            f"a state with a task of the shape {kind!r} cannot be saved; valid: {', '.join(SHAPES)}"
        )
    return own if kind is None else own | {"kind": kind}


def given(things: Sequence[Any], known: Sequence[Any]) -> list[Any]:
    """Things as their places among those that are known beforehand; otherwise all of each."""
    places = {id(one): k for k, one in enumerate(known) if one is not None}
    return [places[id(thing)] if id(thing) in places else values_of(thing) for thing in things]


def task_from(row: Any, known: Sequence[Any] = ()) -> Task:
    """A task again."""
    if isinstance(row, int):
        return known[row]  # type: ignore[no-any-return]
    module, name = SHAPES[row["shape"]["kind"]]
    shape = getattr(import_module(module), name)(**_arguments(row["shape"]))
    return Task(**{**row, "shape": shape})


def zone_from(row: Any, known: Sequence[Any] = ()) -> Zone:
    """A zone again."""
    if isinstance(row, int):
        return known[row]  # type: ignore[no-any-return]
    own = _arguments(row)
    return CircleZone(**own) if row["kind"] == "circle" else PolygonZone(**own)


def agent_from(row: Any, known: Sequence[Any] = ()) -> Agent:
    """A vehicle again."""
    return known[row] if isinstance(row, int) else Agent(**_arguments(row))


def drawn_from(row: Mapping[str, Any]) -> Drawn:
    """What a route was made from, again."""
    rest = row.get("rest")
    return Drawn(
        agent_from(row["agent"]),
        tuple(row["order"]),
        row["zones"],
        None if rest is None else Rest(**_arguments(rest)),
    )


def request_of(request: Request) -> dict[str, Any]:
    """What was asked for."""
    return {"what": REQUESTS[type(request)], **values_of(request)}


def request_from(row: Mapping[str, Any]) -> Request:
    """It again."""
    own = {name: value for name, value in row.items() if name != "what"}
    if row["what"] == REQUESTS[MoveTask]:
        return MoveTask(**own)
    if row["what"] == REQUESTS[RemoveTask]:
        return RemoveTask(**own)
    read: dict[str, Callable[[Any], Any]] = {"task": task_from, "agent": agent_from, "zone": zone_from}
    return Happening(**{name: read[name](value) if name in read else value for name, value in own.items()})


def tuples(value: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(tuples(one) for one in value) if isinstance(value, (list, tuple)) else value


def _differs(thing: Any, field: Any) -> bool:
    return field.default is MISSING or getattr(thing, field.name) != field.default


def _arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuples(value) for name, value in row.items() if name != "kind"}
