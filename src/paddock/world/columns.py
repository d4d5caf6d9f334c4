"""Named tuples as column lists: every field has a unit, a meaning and a range.

class State(NamedTuple):
    x: Annotated[float, Column("m", "position east")] = 0.0

A model's state, command and parameters, a behaviour's options and memory, and a sensor's readings are declared like
this; a fleet stores each as one array of columns x capacity, in the order of the fields. `Pose` has the public columns
of every vehicle, `Environment` what is the same for all vehicles.
"""

import builtins
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from math import inf, isfinite
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    NamedTuple,
    Self,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from paddock.errors import CodeError, InvalidValueError, code_place, reason, unknown_name, users_place

T = TypeVar("T")
Floats = NDArray[np.float64]
FARTHEST = 1e7  # largest coordinate in m: beyond it, rounding loses metres and products overflow float32


@dataclass(frozen=True)
class Column:
    """The description of one column."""

    unit: str  # SI symbol; "" for pure numbers, "0/1" for switches
    meaning: str
    low: float = -inf
    high: float = inf
    failsafe: float | None = None  # of a command: the value after a timeout; None: hold the last value
    brake: float | None = None  # of a command: the value that stops the vehicle; None: hold the last value
    choices: tuple[str, ...] = ()  # names of the values 0, 1, 2, ..., which users may write instead
    none: float | None = None  # the number of vehicles without such a value; None: all have one
    refers: str = ""  # of whole numbers in a part of the state: the axis whose rows they are; -1: none
    name: str = ""
    default: float | None = None


class ColumnGroup:
    """Columns that several named tuples share; `column_tuple` makes them.

    @column_tuple
    class Battery(ColumnGroup):
        charge: Annotated[float, Column("", "share of the capacity")] = 1.0

    @column_tuple
    class State(Battery):  # charge, x, speed_left, speed_right
        charge = 0.5  # another default; with an annotation, another column in its place
        x: Annotated[float, Column("m", "position east")]
        speed: Annotated[Wheels, Column("m/s", "speed")]  # a column for each field of Wheels: left and right
    """

    if TYPE_CHECKING:
        _fields: ClassVar[tuple[str, ...]]

        def __init__(self, *values: Any, **named: Any) -> None: ...
        def _replace(self, **changes: Any) -> Self: ...
        def _asdict(self) -> dict[str, Any]: ...
        def __iter__(self) -> Iterator[float]: ...


def column_tuple(group: type[T]) -> type[T]:
    """Return the named tuple of a class: the columns of its bases, in their order, then its own."""
    columns: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for base in (base for base in group.__bases__ if base is not ColumnGroup):
        columns |= base.__annotations__
        defaults |= getattr(base, "_field_defaults", {})
    hints = get_type_hints(group, include_extras=True)
    for name in inspect.get_annotations(group):
        kind, column = get_args(hints[name])[:2]
        columns |= {name: hints[name]} if kind is float else _columns_per_field(name, kind, column)
    defaults |= {name: value for name, value in vars(group).items() if name in columns}
    made = named_tuple(group.__name__, columns, defaults)
    made.__module__, made.__doc__, made.__qualname__ = group.__module__, group.__doc__, group.__qualname__
    return made  # type: ignore[no-any-return]


def named_tuple(name: str, columns: Mapping[str, Any], defaults: Mapping[str, Any]) -> Any:
    """Return the named tuple class of these columns: name -> Annotated[float, Column(...)]."""
    made: Any = NamedTuple(name, list(columns.items()))  # type: ignore[misc]
    made._field_defaults = {name: defaults[name] for name in columns if name in defaults}
    made.__new__.__defaults__ = tuple(made._field_defaults.values())
    return made


def _columns_per_field(name: str, kind: type, column: Column) -> dict[str, Any]:
    """Return a column for each field of a named tuple, whose columns say where it is: `front left wheel`."""
    return {
        f"{name}_{part.name}": Annotated[float, replace(column, meaning=f"{part.meaning}: {column.meaning}")]
        for part in columns_of(kind)
    }


@cache
def columns_of(tuple_class: type) -> tuple[Column, ...]:
    """Return the columns of a named tuple class, in order."""
    try:
        hints = get_type_hints(tuple_class, include_extras=True)
    except NameError as error:  # of annotations that Python has not evaluated yet
        names = vars(sys.modules.get(tuple_class.__module__, builtins))
        raise CodeError(f"{_field_place(tuple_class, str(error.name))}: {reason(error, names)}") from None
    defaults = getattr(tuple_class, "_field_defaults", {})
    columns = []
    for name in tuple_class._fields:  # type: ignore[attr-defined]
        found = [a for a in get_args(hints[name])[1:] if isinstance(a, Column)]
        if not found:
            raise CodeError(f"{_field_place(tuple_class, name)} has no Column with its unit")
        if not isinstance(defaults.get(name, 0.0), float | int | np.number):
            wrong = f"has the default {defaults[name]!r}; it must be a number"
            raise CodeError(f"{_field_place(tuple_class, name)} {wrong}")
        given = {k: v for k, v in vars(found[0]).items() if k not in ("name", "default")}
        columns.append(Column(**given, name=name, default=defaults.get(name)))
    return tuple(columns)


def _field_place(tuple_class: type, name: str) -> str:
    """Return `my_boat.py:12: State.speed`, without file and line where the source is unavailable."""
    try:
        lines, first = inspect.getsourcelines(tuple_class)
        line = next(k for k, text in enumerate(lines) if re.search(rf"^\s+{name}:|^\s+\w+:.*\b{name}\b", text))
        place = f"{code_place(inspect.getsourcefile(tuple_class) or '', first + line)}: "
    except (OSError, TypeError, StopIteration):
        place = f"{tuple_class.__module__}."
    return f"{place}{tuple_class.__qualname__}{f'.{name}' if name in tuple_class.__annotations__ else ''}"


KINDS: dict[Any, str] = {str: "a text", type: "a named tuple of columns", float: "a number", int: "a whole number"}


def check_fields(plugin: Any) -> None:
    """Raise CodeError if a field of a model, rule or sensor is not of its declared type, e.g. where one was omitted."""
    for field in fields(plugin):
        value, allowed = getattr(plugin, field.name), [get_origin(one) or one for one in _alternatives(field.type)]
        if type in allowed and isinstance(value, type):
            fits = hasattr(value, "_fields")
        elif float in allowed:
            fits = isinstance(value, float | int) and not isinstance(value, bool)
        else:
            fits = isinstance(value, tuple(allowed)) and not isinstance(value, type)
        if not fits:
            kind = next((text for one, text in KINDS.items() if one in allowed), f"a {allowed[0].__name__.lower()}")
            kind = "a function" if "Callable" in str(field.type) else kind
            place = f"{users_place()}: ".removeprefix(": ")
            shown = value.__name__ if isinstance(value, type) else repr(value)
            raise CodeError(f"{place}{type(plugin).__name__}.{field.name} must be {kind}, not {shown:.100}")


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return the types of a union; another type alone."""
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)


@cache
def column_index(tuple_class: type) -> dict[str, int]:
    """Return the row of each field."""
    return {name: k for k, name in enumerate(tuple_class._fields)}  # type: ignore[attr-defined]


@cache
def defaults_of(tuple_class: type) -> Floats:
    """Return the default values as a read-only array; NaN for a field without one."""
    values = np.array([np.nan if c.default is None else float(c.default) for c in columns_of(tuple_class)])
    values.flags.writeable = False
    return values


def filled(tuple_class: type, given: Mapping[str, Any], what: str, where: str = "") -> Floats:
    """Return the values of a named tuple class: the defaults, overridden by `given`; names and ranges are checked."""
    rows = column_index(tuple_class)
    values = defaults_of(tuple_class).copy()
    for name, value in given.items():
        if name not in rows:
            raise unknown_name(what, name, rows, where)
        values[rows[name]] = checked(columns_of(tuple_class)[rows[name]], value, what, where)
    missing = [name for name, row in rows.items() if np.isnan(values[row])]
    if missing:
        raise InvalidValueError(f"{_subject(what, missing[0], where)} has no default: give a value")
    return values


def checked(column: Column, value: Any, what: str, where: str = "") -> float:
    """Return the value as a float; an error if it is not finite or outside the column's range."""
    if isinstance(value, str) and column.choices:
        if value not in column.choices:
            raise unknown_name(f"{what} {column.name}", value, column.choices, where)
        return float(column.choices.index(value))
    if not (isinstance(value, bool | int | float | np.number) and _is_finite(value)):
        why = f"must be a finite number, not {value!r}"
    elif column.choices and value not in range(len(column.choices)):
        why = f"is one of {', '.join(column.choices)}, not {value:g}"
    elif column.unit == "0/1" and value not in (0, 1):
        why = f"is on or off: 0 or 1, not {value:g}"
    elif column.low <= value <= column.high:
        return float(value)
    else:
        allowed = f"{column.low:g} to {column.high:g} {column.unit}".rstrip()
        why = f"must lie in {allowed}, not {value:g}"
    raise InvalidValueError(f"{_subject(what, column.name, where)} {why}")


def _subject(what: str, name: str, where: str) -> str:
    """Return the beginning of an error: `FILE:1:2: option 'noise' of sensor 'imu'`, from `option of sensor 'imu'`."""
    noun, of, owner = what.partition(" of ")
    return f"{f'{where}: ' if where else ''}{noun} {name!r}{of}{owner}"


def _is_finite(value: Any) -> bool:
    try:
        return isfinite(float(value))
    except OverflowError:  # a whole number that no float can hold
        return False


class Pose(NamedTuple):
    """Position, attitude and motion of one vehicle; world ENU, body FLU."""

    x: Annotated[float, Column("m", "position east")]
    y: Annotated[float, Column("m", "position north")]
    z: Annotated[float, Column("m", "position up")]
    qx: Annotated[float, Column("", "attitude quaternion x, body to world")]
    qy: Annotated[float, Column("", "attitude quaternion y")]
    qz: Annotated[float, Column("", "attitude quaternion z")]
    qw: Annotated[float, Column("", "attitude quaternion w")]
    vx: Annotated[float, Column("m/s", "velocity east")]
    vy: Annotated[float, Column("m/s", "velocity north")]
    vz: Annotated[float, Column("m/s", "velocity up")]
    wx: Annotated[float, Column("rad/s", "body rate about the forward axis")]
    wy: Annotated[float, Column("rad/s", "body rate about the left axis")]
    wz: Annotated[float, Column("rad/s", "body rate about the up axis")]


class Environment(NamedTuple):
    """Properties of the world that act on every vehicle."""

    gravity: Annotated[float, Column("m/s2", "acceleration of gravity, downwards", low=0.0, high=100.0)] = 9.80665
    air_density: Annotated[float, Column("kg/m3", "density of the air", low=0.0, high=100.0)] = 1.225
    wind_x: Annotated[float, Column("m/s", "wind towards the east", low=-100.0, high=100.0)] = 0.0
    wind_y: Annotated[float, Column("m/s", "wind towards the north", low=-100.0, high=100.0)] = 0.0
    wind_z: Annotated[float, Column("m/s", "wind upwards", low=-100.0, high=100.0)] = 0.0
    mu: Annotated[float, Column("", "friction of the ground, as a factor on a tyre's own", low=0.0, high=10.0)] = 1.0
    ground_z: Annotated[float, Column("m", "height of the flat ground", low=-1e5, high=1e5)] = 0.0
