"""Parameters of RPC methods, declared once: they are read by it, and the documentation lists them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

from paddock.errors import suggestion
from paddock.serve.subscribers.shapes import WantedColumns
from paddock.serve.subscribers.subscription import Want
from paddock.wire.params import REQUIRED, Params
from paddock.wire.strict_json import LARGEST, SMALLEST
from paddock.world.frames import FRAMES

ID_MAX = 2**31 - 1
MOST_ITEMS = 100_000
MOST_NAMES = 10_000
"""Vehicles that are named one by one; more of them are better named as a fleet."""

MOST_WANTS = 256
"""Lists of columns of one subscription."""
MOST_COLUMNS = 256
"""Columns of one list."""

Read = Callable[[Params, Mapping[str, Any]], Any]
"""(checked access, the members as they came) -> the value."""


@dataclass(frozen=True)
class Parameter:
    """One parameter: how it is read, and what users are told about it."""

    name: str
    kind: str  # what may stand there, for people
    meaning: str
    read: Read
    default: Any = REQUIRED
    parts: tuple[Parameter, ...] = ()  # of each object in a list
    written: tuple[str, ...] = ()  # names on the wire, where they are not simply its own
    types: tuple[Any, ...] = (Any,)  # what each of those names takes, as an annotation: the page's types are made of it

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called on the wire."""
        return self.written or (self.name,)


def read_all(parameters: tuple[Parameter, ...], params: Params, members: Mapping[str, Any]) -> dict[str, Any]:
    """The values of all parameters; refuses what is wrong and what is not known."""
    values = {parameter.name: parameter.read(params, members) for parameter in parameters}
    params.finish()
    return values


def number(name: str, meaning: str, default: Any = REQUIRED, low: float = -inf, high: float = inf) -> Parameter:
    """A number."""
    return Parameter(name, "number", meaning, lambda p, _: p.number(name, default, low, high), default, types=(float,))


def whole(name: str, meaning: str, default: Any = REQUIRED, low: int = SMALLEST, high: int = LARGEST) -> Parameter:
    """A whole number."""
    return Parameter(
        name, "whole number", meaning, lambda p, _: p.whole(name, default, low, high), default, types=(int,)
    )


def text(name: str, meaning: str, default: Any = REQUIRED, longest: int = 255) -> Parameter:
    """A text that is not empty."""
    return Parameter(name, "text", meaning, lambda p, _: p.text(name, default, longest), default, types=(str,))


def flag(name: str, meaning: str, default: Any = REQUIRED) -> Parameter:
    """True or false."""
    return Parameter(name, "true or false", meaning, lambda p, _: p.boolean(name, default), default, types=(bool,))


def choice(name: str, meaning: str, choices: tuple[str, ...], default: Any = REQUIRED) -> Parameter:
    """One of some words."""

    def read(params: Params, _: Mapping[str, Any]) -> Any:
        given = params.text(name, default)
        if given != default and given not in choices:
            params.refuse(f"{name!r} cannot be {given[:40]!r}; {suggestion(given, choices)}")
        return given

    return Parameter(name, " or ".join(choices), meaning, read, default, types=(Literal[choices],))


def choices(name: str, meaning: str, valid: tuple[str, ...], default: tuple[str, ...]) -> Parameter:
    """Some words out of many."""

    def read(params: Params, _: Mapping[str, Any]) -> tuple[str, ...]:
        given = params.items(name, default)
        for item in given:
            if item not in valid:
                params.refuse(f"{name!r} cannot hold {item!r}; {suggestion(str(item)[:40], valid)}")
        if not given:
            params.refuse(f"{name!r} needs at least one of {', '.join(valid)}")
        return tuple(given)

    return Parameter(name, "list of " + ", ".join(valid), meaning, read, default, types=(list[Literal[valid]],))  # type: ignore[valid-type]


def numbers(name: str, meaning: str, size: int, default: Any = REQUIRED) -> Parameter:
    """A list of so many numbers."""
    return Parameter(
        name, f"{size} numbers", meaning, lambda p, _: p.numbers(name, size, default), default, types=(list[float],)
    )


def rows(name: str, meaning: str, size: int) -> Parameter:
    """A list of lists of so many numbers."""

    def read(params: Params, _: Mapping[str, Any]) -> list[list[float]]:
        given = params.items(name)
        for k, row in enumerate(given):
            if not (isinstance(row, list) and len(row) == size and all(type(item) in (int, float) for item in row)):
                params.refuse(f"'{name}[{k}]' must be a list of {size} numbers")
        if not given:
            params.refuse(f"{name!r} is empty")
        return given

    return Parameter(name, f"list of {size} numbers each", meaning, read, types=(list[list[float]],))


def objects(name: str, meaning: str, *parts: Parameter, most: int = MOST_ITEMS) -> Parameter:
    """A list of objects, each with parameters of its own."""

    def read(params: Params, members: Mapping[str, Any]) -> list[dict[str, Any]]:
        given = params.mappings(name, most=most)
        if not given:
            params.refuse(f"{name!r} is empty")
        return [read_all(parts, item, raw) for item, raw in zip(given, members[name], strict=True)]

    return Parameter(name, "list of objects", meaning, read, parts=parts)


def trees(name: str, meaning: str, most: int = MOST_ITEMS) -> Parameter:
    """A list of objects that the simulation itself checks."""

    def read(params: Params, members: Mapping[str, Any]) -> Any:
        if not params.mappings(name, most=most):
            params.refuse(f"{name!r} is empty")
        return members[name]

    return Parameter(name, "list of objects", meaning, read, types=(list[dict[str, Any]],))


def vehicle() -> Parameter:
    """Whom it is about: a vehicle's id, or its name."""

    def read(params: Params, members: Mapping[str, Any]) -> str | int:
        number = params.whole("vehicle_id", None, 0, ID_MAX)
        name = _name_or_id(params, members, "vehicle")
        if (number is None) == (name is None):
            params.refuse("say whom it is about: 'vehicle_id', a whole number, or 'vehicle', a name or an id")
        return name if number is None else number  # type: ignore[return-value]

    names = ("vehicle_id", "vehicle")
    kind, types = "whole number; `vehicle` may be a text, too", (int, str | int)
    return Parameter("vehicle", kind, "the vehicle, by id or by name", read, written=names, types=types)


def _name_or_id(params: Params, members: Mapping[str, Any], name: str) -> str | int | None:
    """A text or a whole number; None if there is neither."""
    if type(members.get(name)) is int:
        return params.whole(name, None, 0, ID_MAX)
    return params.text(name, None)


def vehicles() -> Parameter:
    """Some vehicles: names of vehicles and fleets, and ids."""

    def read(params: Params, _: Mapping[str, Any]) -> tuple[str | int, ...] | None:
        given = params.items("vehicles", None, MOST_NAMES)
        if given is not None and not all(type(item) in (str, int) for item in given):
            params.refuse("'vehicles' must hold names of vehicles or fleets, and ids; null is all of them")
        return None if given is None else tuple(given)

    kind = "null, or list of names and ids"
    types = (list[str | int],)
    return Parameter(
        "vehicles", kind, "which vehicles: names of vehicles or fleets, ids; null: all", read, None, types=types
    )


def wants(name: str, meaning: str, default: Any = REQUIRED) -> Parameter:
    """Lists of columns, each of a vehicle, a fleet or (null) all vehicles."""

    def read(params: Params, members: Mapping[str, Any]) -> tuple[Want, ...]:
        return tuple(map(_want, params.mappings(name, default, MOST_WANTS), members.get(name, ())))

    kind = "list of {of: null, a name or an id; columns: names}"
    return Parameter(name, kind, meaning, read, default, types=(list[WantedColumns],))


def _want(params: Params, members: Mapping[str, Any]) -> Want:
    columns = params.items("columns", most=MOST_COLUMNS)
    if not all(isinstance(column, str) and 0 < len(column) <= 255 for column in columns):
        params.refuse("'columns' must hold names of columns")
    of = _name_or_id(params, members, "of")
    params.finish()
    return Want(of, tuple(columns))


def frame(default: str = "enu") -> Parameter:
    """The axes and units of the coordinates."""
    return choice("frame", "axes and units of the coordinates", tuple(FRAMES), default)
