"""Arguments of operations: their types and descriptions. `operation.py` validates them (pydantic, strict).

An argument is an annotated parameter of an entry in `*_entries.py`. Its annotation carries the limits that pydantic
checks and, as a plain string, its meaning for the documentation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from annotated_types import Ge, Le, Len
from pydantic import AfterValidator, AllowInfNan, BaseModel, BeforeValidator, ConfigDict, FailFast

from paddock.wire import WireError
from paddock.wire.json_document import dumps

ID_MAX = 2**31 - 1
MARKER_ID_MAX = 2**32 - 1
LONGEST_NAME = 255
LONGEST_SCENARIO = 1 << 20  # characters of a scenario's text
MOST_ITEMS = 100_000
MOST_NAMES = 10_000  # vehicles named one by one in a request; name a fleet for more
MOST_ROBOTS = 20_000
MOST_LISTS = 256  # lists of columns in one subscription
MOST_COLUMNS = 256  # columns in one list
MOST_CONES = 5000  # of an edited track
MOST_FIELDS = 1000  # members of one object; more are refused before any is validated
SHOWN_VALUE = 60  # characters of an invalid value shown in its error
STRICT = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True, protected_namespaces=())


class ArgumentError(WireError):
    """An argument that is missing, unknown or of a wrong type; `reason` is `missing`, `unknown` or `value`."""


@dataclass(frozen=True)
class Expected:
    """The description of an argument's valid values, where its type does not give a good one."""

    text: str


@dataclass(frozen=True)
class ErrorText:
    """The error text for an invalid argument, `text, not value`, as in a local simulation. JSON-RPC has its own."""

    text: str


class Spelling:
    """Marks an argument that has another form in JSON-RPC."""


@dataclass(frozen=True, eq=False)
class InRpc:
    """The form of an argument in JSON-RPC: another name and type; without a name it always has one value there."""

    name: str = ""
    annotation: Any = None
    value: Any = None


BY_ID = Spelling()  # A vehicle: JSON-RPC takes `vehicle_id`, a whole number, or `vehicle`, a name or an id
MEMBERS = Spelling()  # the inputs of a vehicle: in JSON-RPC, each is a member of the parameters
LATER = Spelling()
"""The simulation validates it, with the same errors as for local programs; only JSON-RPC checks its type first."""


class _FailFast(FailFast):
    __hash__ = object.__hash__  # so that it can be part of a union


FIRST = _FailFast()  # stop at the first invalid item of a list


def _listed(value: Any) -> Any:
    """Accept a one-dimensional array of numbers, or a tuple, as a list."""
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "iuf":
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _rows(value: Any) -> Any:
    """Accept an array of numbers (n, m), or tuples and arrays of them, as a list of lists."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.ndim == 2 and value.dtype.kind in "iuf" else value
    return [_listed(row) for row in value] if isinstance(value, list | tuple) else value


def _few_names(items: list[str | int]) -> list[str | int]:
    if sum(isinstance(item, str) for item in items) > MOST_NAMES:
        raise ValueError("too many names")
    return items


def _with_array(marker: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a marker with its points as an array, which is sent and decoded faster."""
    points = marker.get("vertices")
    try:
        array = np.asarray(points if isinstance(points, list) else "")
    except ValueError:  # rows of different lengths
        return marker
    return {**marker, "vertices": array} if array.dtype.kind in "iuf" else marker


Text = Annotated[str, Len(1, LONGEST_NAME)]
Id = Annotated[int, Ge(0), Le(ID_MAX)]
Count = Annotated[int, Ge(0)]
AtTick = Annotated[Count | None, ErrorText("at_tick takes a whole number of ticks >= 0"), "null: the next tick"]
Ticks = Annotated[int, Ge(0), Le((1 << 53) - 1), ErrorText("step takes a whole number of ticks >= 0"), "how many ticks"]
Listed = BeforeValidator(_listed)
Numbers = Annotated[list[float], Listed]
Rows = BeforeValidator(_rows)
Finite = Annotated[float, AllowInfNan(False)]
Coordinate = Annotated[float, Ge(-1e6), Le(1e6)]  # of a task, m
Tree = dict[str, Any]  # an object whose content the simulation checks
MarkerTree = Annotated[Tree, AfterValidator(_with_array)]
Members = Annotated[
    dict[str, int | float | str | list[int | float]], Expected("a number, a text or a list of numbers"), MEMBERS
]
ForPage = Annotated[bool, InRpc(value=True), "in the form of the page: JSON-RPC answers in it"]
Vehicle = Annotated[Text | Id, BY_ID, "the vehicle, by id or by name"]
Target = Annotated[str | int, BY_ID, "a vehicle or a fleet: a name or an id"]
Namespace = Annotated[Text | None, "null: all markers"]
MarkerId = Annotated[Annotated[int, Ge(0), Le(MARKER_ID_MAX)] | None, "null: all of the namespace"]
Axes = Literal["enu", "nwu", "ned", "unreal"]  # the frames of `paddock.world.frames`: axes and units of coordinates
Kind = Literal["positions", "poses", "telemetry", "fpv", "lines", "spheres", "markers", "events", "figures", "mission"]
"""The kinds of data of a subscription; the first six make up the frames of a tick."""
AxesArgument = Annotated[Axes, "axes and units of the coordinates"]
Color = Annotated[
    Annotated[list[Annotated[float, Ge(0), Le(255)]], Len(4, 4)],
    Expected("4 numbers from 0 to 255"),
    "red, green, blue, alpha: 0 to 255",
]
Ttl = Annotated[Annotated[float, Ge(0)] | None, "simulated s until they disappear; null: until cleared"]
Rate = Annotated[
    Annotated[float, Ge(0.01)] | None, "groups of frames per wall second at most; null: the server's limit"
]
NamesAndIds = Annotated[
    Annotated[list[str | int], Len(0, MOST_NAMES), FIRST] | None,
    Expected(f"a list of up to {MOST_NAMES} names of vehicles or fleets and ids, or null for all"),
    "names of vehicles or fleets, ids; null: all vehicles",
]
Overridden = Annotated[
    Annotated[list[str | int], Len(1, MOST_ITEMS), FIRST, AfterValidator(_few_names)],
    Expected(f"a list of names of vehicles or fleets and ids, at least one, at most {MOST_NAMES} names"),
    "names of vehicles or fleets, ids",
]
Behaviour = Annotated[
    Text | Tree | None,
    Expected("a name, {name: options}, 'external', or null"),
    "a behaviour; `external`: takes commands; null: back to its entry",
]


class ColumnList(BaseModel):
    """Columns of a vehicle, of a fleet, or (null) of all vehicles; `rate`: at most so many times per wall second."""

    model_config = STRICT
    columns: Annotated[
        list[Text], Len(0, MOST_COLUMNS), FIRST, Expected(f"a list of up to {MOST_COLUMNS} names of columns")
    ]
    of: Text | Id | None = None
    rate: Annotated[float, Ge(0.01)] | None = None


class Robot(BaseModel):
    """A vehicle of `spawn_robots`."""

    model_config = STRICT
    id: Annotated[Id | None, "vehicle id; null: the next free one"] = None
    robot_type: Annotated[Text, "model, e.g. car.bicycle or quad"]
    name: Annotated[Text | None, "unique; null: made from the model"] = None
    preset: Annotated[Text | None, "named set of parameters; null: the model's default"] = None
    x: Annotated[float, "position"] = 0.0
    y: Annotated[float, "position"] = 0.0
    z: Annotated[float | None, "position; null: on the ground"] = None
    yaw: Annotated[float, "heading, rad"] = 0.0


Cones = Annotated[
    list[Annotated[list[Finite], Len(2, 2)]], Len(0, MOST_CONES), FIRST, "positions [x, y] of the cones, m"
]
ConeColours = Annotated[
    list[Literal["blue", "yellow", "orange", "big_orange", "unknown"]], Len(0, MOST_CONES), FIRST, "colour of each cone"
]
ConeCovariances = Annotated[
    Annotated[list[Annotated[list[Finite], Len(3, 3)]], Len(0, MOST_CONES), FIRST] | None,
    "variances of x and y of each cone and their covariance, m2; null: none",
]
StartPose = Annotated[Annotated[list[Finite], Len(3, 3)], "start pose [x, y, yaw], m and rad"]
ColumnLists = Annotated[list[ColumnList], Len(0, MOST_LISTS), FIRST, "columns to send in frames 0x15 (ENU, SI units)"]


@dataclass(frozen=True)
class Argument:
    """One argument of an operation."""

    name: str
    annotation: Any
    default: Any = ...  # ...: required

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is ...

    @property
    def meaning(self) -> str:
        """Its meaning, for the documentation."""
        return next((note for note in reversed(notes_of(self.annotation)) if isinstance(note, str)), "")

    def marked(self, spelling: Spelling) -> bool:
        """Whether its annotation carries a mark."""
        return any(note is spelling for note in notes_of(self.annotation))

    @property
    def in_rpc(self) -> InRpc | None:
        """Its form in JSON-RPC, if that differs."""
        return next((note for note in notes_of(self.annotation) if isinstance(note, InRpc)), None)

    @property
    def members(self) -> "tuple[Argument, ...]":
        """The fields of each object, if it is a list of objects."""
        inner = get_args(plain(self.annotation))
        model = plain(inner[0]) if get_origin(plain(self.annotation)) is list else None
        return fields_of(model) if isinstance(model, type) and issubclass(model, BaseModel) else ()


def fields_of(model: type[BaseModel]) -> tuple[Argument, ...]:
    """Return the fields of an object in a list."""
    hints = get_type_hints(model, include_extras=True)
    return tuple(
        Argument(name, hints[name], ... if field.is_required() else field.default)
        for name, field in model.model_fields.items()
    )


def notes_of(annotation: Any) -> tuple[Any, ...]:
    """Return the metadata that `Annotated` adds to a type."""
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def plain(annotation: Any) -> Any:
    """Return the type without the metadata of `Annotated`."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


_WORDS: dict[Any, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_WORDS |= {bytes: "bytes", NoneType: "null", dict: "an object", Any: "any value"}


def described(annotation: Any) -> str:
    """Describe the valid values of a type in a few words, for errors and the documentation."""
    notes, kind = notes_of(annotation), plain(annotation)
    for note in notes:
        if isinstance(note, Expected):
            return note.text
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        return " or ".join(dict.fromkeys(described(option) for option in inner if option is not NoneType))
    if origin is Literal:
        return " or ".join(inner)
    if origin is dict or (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return "an object"
    if origin is not list:
        return _WORDS[kind] + _limits(notes)
    kind, length = plain(inner[0]), next((note for note in notes if isinstance(note, Len)), Len(0, None))
    if get_origin(kind) is Literal:
        return "a list of " + ", ".join(get_args(kind))
    if kind in (int, float):
        exact = f"{length.max_length} " if length.min_length == length.max_length else ""
        return f"a list of {exact}numbers"
    objects = get_origin(kind) is dict or (isinstance(kind, type) and issubclass(kind, BaseModel))
    at_least = "at least 1 and " if length.min_length else ""
    most = f"{at_least}up to {length.max_length} " if length.max_length else ""
    return f"a list of {most}{'objects' if objects else 'items'}"


def _limits(notes: Iterable[Any]) -> str:
    # whole limits without decimals: equal annotations such as Ge(0) and Ge(0.0) share one object
    low = next((_shortest(note.ge) for note in notes if isinstance(note, Ge)), None)
    high = next((_shortest(note.le) for note in notes if isinstance(note, Le)), None)
    length = next((note for note in notes if isinstance(note, Len)), None)
    if length is not None:
        return f" of {length.min_length} to {length.max_length} characters"
    if low is not None and high is not None:
        return f" from {low} to {high}"
    return f" of {low} or more" if low is not None else f" of {high} or less" if high is not None else ""


def _shortest(limit: Any) -> Any:
    return int(limit) if limit == int(limit) else limit


def shown(value: Any) -> str:
    """Return a value for an error: as JSON, truncated."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    try:
        text = dumps(value).decode()
    except Exception:  # bytes, arrays, NaN
        text = repr(value)
    return text if len(text) <= SHOWN_VALUE else f"{text[:SHOWN_VALUE]}..."
