"""Declarations of the parts of a run's state: what each field holds, its unit, axes and limits.

    @part
    class SensorState:
        memory: Floats = array("f8", "memory", VEHICLE)                       # a column class gives size and limits
        samples: Floats = array("f8", "slot", "reading", VEHICLE, fill=nan, nan=True)
        ticks: Ints = array("i8", "slot", unit="tick", fill=-1, low=-1)
        taken: int = value(0, low=0)

        def check(self, state: Any) -> None: ...                              # relations between fields only

    sensor = fresh(SensorState, memory=Memory, reading=3, slot=11)            # sizes of the axes, or column classes

`state.py` saves, loads, hashes and re-sorts parts. An axis is a name. `VEHICLE`, `RADIO` and `LINK` have a `count`
field in the part that owns them: the rows in use of its arrays and those of its children, which may have spare room.
Other axes get their size from `fresh`; an axis without a size is as long as its arrays, which agree within a part.

Fields that are not declared (`delay: int = 0`) are configuration: `fresh` sets them, nothing saves them. What can be
computed again (grids, candidates, caches) does not belong into a part.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from dataclasses import field as dataclass_field
from functools import partial
from math import inf, isnan
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, cast, dataclass_transform

import numpy as np
from annotated_types import Len
from numpy.typing import NDArray

from paddock.errors import InvalidValueError, PaddockError, printable
from paddock.world.columns import FARTHEST, Column, columns_of, defaults_of
from paddock.world.records import fields_from_tree, fields_to_tree, from_tree, to_tree

VEHICLE, RADIO, LINK = "vehicle", "radio", "link"
LARGEST_VALUE = 1e18  # of a float without other limits
LARGEST = {"m": FARTHEST, "m/s": 1e4, "rad/s": 1e4}
LARGEST_OTHER = 1e6
"""Largest magnitude of a value of a column, by unit."""
LONGEST_TEXT = 10_000_000
NEVER_LARGER = 2**62  # limit of whole numbers
INDEXED = re.compile(r"\[\d+\][.:]")  # the beginning of a message about an entry of a list

Part = Any
P = TypeVar("P")
Array = NDArray[Any]
DEFAULTS = "defaults"  # fill: the defaults of the columns


class Slot(NamedTuple):
    """A leaf in a tree: its part, field and, in a field of tables, the name of the table."""

    part: Part
    name: str
    leaf: Leaf
    path: str
    owners: Mapping[str, tuple[Part, str]]  # axis -> the part that owns it, and the field that counts its rows
    table: str = ""

    def get(self) -> Any:
        """Return the value."""
        value = getattr(self.part, self.name)
        return value[self.table] if self.table else value

    def set(self, value: Any) -> None:
        """Replace the value."""
        if self.table:
            getattr(self.part, self.name)[self.table] = value
        else:
            setattr(self.part, self.name, value)

    def refused(self, why: str) -> InvalidValueError:
        """Return the error for a value that is not valid."""
        return InvalidValueError(f"{self.path} {why}")


class Bounds:
    """Sizes of axes while a saved tree is loaded."""

    def __init__(self, limited: bool) -> None:
        """Without `limited`, floats may have any value: those of a run that has ended with one that is not finite."""
        self.limited = limited
        self._lengths: dict[tuple[int, str], int] = {}  # of axes without a declared size, by part

    def count(self, axis: str, slot: Slot) -> int:
        """Return the number of rows of an axis in use."""
        if axis in slot.owners:
            owner, name = slot.owners[axis]
            return cast(int, getattr(owner, name))
        size = _size(axis, slot.part.sizes)
        return self._lengths[id(slot.part), axis] if size is None else size

    def size(self, axis: str | int, slot: Slot, saved: Array, k: int) -> int:
        """Return the size that the dimension `k` of a saved array must have."""
        if isinstance(axis, int):
            return axis
        if axis in slot.owners or _size(axis, slot.part.sizes) is not None:
            return self.count(axis, slot)
        if saved.ndim <= k:
            raise slot.refused(f"has {saved.ndim} dimensions, not {len(slot.leaf.axes)}")
        return self._lengths.setdefault((id(slot.part), axis), saved.shape[k])


@contextmanager
def refusing(path: str) -> Iterator[None]:
    """Raise InvalidValueError with the path for any error: a crafted state may fail in any way.

    A message that begins with an index (`[0].source: ...`) continues the path.
    """
    try:
        yield
    except PaddockError as error:
        message = printable(str(error))
        raise InvalidValueError(f"{path}{'' if INDEXED.match(message) else ': '}{message}") from None
    except Exception:
        raise InvalidValueError(f"{path}: is not valid") from None


@dataclass(frozen=True, eq=False, kw_only=True)
class Leaf:
    """The declaration of a field."""

    everywhere: ClassVar[bool] = True
    hashed: bool = True
    settled: bool = True
    saved: bool = True  # False: not part of a saved state; equal to the value of a fresh part after a load
    axes: tuple[str | int, ...] = ()

    def new(self, sizes: Mapping[str, Any]) -> Any:
        """Return the value of a fresh part."""
        raise NotImplementedError

    def write(self, value: Any) -> Any:
        """Return plain values for the archive."""
        return value

    def read(self, saved: Any, slot: Slot, bounds: Bounds) -> Any:
        """Return the value of a saved one; InvalidValueError with its path if it is not valid."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class ArrayLeaf(Leaf):
    """An array."""

    dtype: str
    unit: str = ""
    fill: Any = (
        0  # the value of new rows, one per index of the first axis, or DEFAULTS of the column class of that axis
    )
    low: float = -inf
    high: float = inf
    nan: bool = False  # NaN is valid
    infinite: bool = False  # so are infinities
    below: str = ""  # the axis that the values index: values that are not less than its size are refused
    refers: str = ""  # the same; they are renumbered when rows of that axis move. Negative ones, from `low` or -1, stay
    key: bool = False  # saved states and hashes have rows in ascending order of this array
    ring: tuple[str, str] | None = None  # (head, count), fields of this part: each row has a ring of places along the
    # second dimension, whose entries are saved from the head on, one row after the other
    columns: type | None = None  # a class whose columns limit the values, as does a column class for the first axis;
    # whole numbers have exactly these limits, and refer to the axes that the columns say
    along: int = 0  # the dimension that the columns describe

    def new(self, sizes: Mapping[str, Any]) -> Array:
        """Return the value of a fresh part."""
        shape = [_size(axis, sizes) or 0 for axis in self.axes]
        table = np.zeros(shape, self.dtype)
        if table.size:
            table[...] = self.filling(sizes)
        return table

    def filling(self, sizes: Mapping[str, Any]) -> Any:
        """Return what new rows are filled with, of a shape that fits the array."""
        fill = self.fill
        if isinstance(fill, str):
            first = sizes[str(self.axes[0])]
            fill = defaults_of(first)
        if isinstance(fill, np.ndarray) and fill.ndim == 1:
            return fill.reshape(-1, *[1] * (len(self.axes) - 1))
        return fill

    def read(self, saved: Any, slot: Slot, bounds: Bounds) -> Array:
        """Return the checked value."""
        if not isinstance(saved, np.ndarray):
            raise slot.refused("is not an array")
        if saved.dtype != np.dtype(self.dtype):
            raise slot.refused(f"is an array of {saved.dtype}, not of {np.dtype(self.dtype)}")
        if self.ring is not None:
            return self._read_ring(saved, slot, bounds)
        shape = tuple(bounds.size(axis, slot, saved, k) for k, axis in enumerate(self.axes))
        if saved.shape != shape:
            raise slot.refused(f"has the shape {saved.shape}, not {shape}")
        self._check_values(saved, slot, bounds)
        return np.array(saved, self.dtype, order="C")

    def _read_ring(self, saved: Array, slot: Slot, bounds: Bounds) -> Array:
        """Return a ring whose entries begin at its start, from the entries of all rows one after the other."""
        assert self.ring is not None
        rows, places = (bounds.count(str(axis), slot) for axis in self.axes[:2])
        counts = getattr(slot.part, self.ring[1])[:rows]
        rest = tuple(bounds.size(axis, slot, saved, k + 1) for k, axis in enumerate(self.axes[2:]))
        if saved.shape != (int(counts.sum()), *rest):
            raise slot.refused(f"has the shape {saved.shape}, not {(int(counts.sum()), *rest)}")
        self._check_values(saved, slot, bounds, max(self.along - 1, 0))
        ring = np.full((rows, places, *rest), self.fill, self.dtype)
        ring[np.arange(places) < counts[:, None]] = saved
        return ring

    def _check_values(self, saved: Array, slot: Slot, bounds: Bounds, along: int | None = None) -> None:
        if saved.dtype == np.bool_ or not saved.size:
            return
        if self.columns is not None and saved.dtype.kind != "f":
            self._check_columns(saved, slot, bounds, self.along if along is None else along)
            return
        low, high = self.low, self.high
        axis = self.refers or self.below
        if axis:
            high = min(high, bounds.count(axis, slot) - 1)
            low = max(low, -1.0 if self.refers and low == -inf else low)
        names: tuple[str, ...] = ()
        limits: Array | None = None
        if saved.dtype.kind == "f" and not axis:
            if not bounds.limited:
                return
            names, limits = _column_limits(self, slot.part.sizes)
            if low == -inf and high == inf and limits is None:
                low, high = (-inf, inf) if self.infinite else (-LARGEST_VALUE, LARGEST_VALUE)
        elif low == -inf and not axis:
            low = 0 if saved.dtype.kind == "u" else -NEVER_LARGER
        with np.errstate(invalid="ignore"):
            valid = (saved >= low) & (saved <= high)
            if limits is not None:
                valid &= np.abs(saved) <= limits.reshape(-1, *[1] * (saved.ndim - 1))
            if self.nan:
                valid |= np.isnan(saved)
        if not valid.all():
            at = tuple(int(k) for k in np.argwhere(~valid)[0])
            name = f" ({names[at[0]]})" if names else ""
            where = ", ".join(map(str, at))
            raise InvalidValueError(f"{slot.path}[{where}]{name}: {saved[at]:g} is out of its limits")

    def _check_columns(self, saved: Array, slot: Slot, bounds: Bounds, along: int) -> None:
        """Refuse whole numbers out of the limits of their columns."""
        for k, column in enumerate(columns_of(cast(type, self.columns))):
            values = np.take(saved, k, axis=along)
            low, high = column.low, column.high
            if column.refers:
                low, high = max(low, -1), min(high, bounds.count(column.refers, slot) - 1)
            valid = (values >= low) & (values <= high)
            if not valid.all():
                at = tuple(int(n) for n in np.argwhere(~valid)[0])
                where = ", ".join(map(str, (*at[:along], k, *at[along:])))
                raise InvalidValueError(f"{slot.path}[{where}] ({column.name}): {values[at]:g} is out of its limits")


@dataclass(frozen=True, eq=False, kw_only=True)
class ScalarLeaf(Leaf):
    """A number, flag or text."""

    default: Any
    low: float = -inf
    high: float = inf
    below: str = ""  # an axis: the value is less than its size
    counts: str = ""  # the axis whose rows it counts
    none: bool = False  # None is valid, too
    choices: tuple[str, ...] = ()
    unit: str = ""

    def new(self, sizes: Mapping[str, Any]) -> Any:
        """Return the value of a fresh part."""
        return self.default

    def read(self, saved: Any, slot: Slot, bounds: Bounds) -> Any:
        """Return the checked value."""
        kind = type(self.default)
        if saved is None and self.none:
            return None
        if type(saved) is not kind and not (kind is type(None) and type(saved) in (int, float)):
            raise slot.refused(f"is {printable(repr(saved))[:40]}, not a {_NAMES.get(kind, 'number')}")
        if isinstance(saved, str):
            if self.choices and saved not in self.choices:
                raise slot.refused(f"{printable(saved[:40])!r} is not one of {', '.join(self.choices)}")
            if len(saved) > self.high:
                raise slot.refused("is too long")
            return saved
        if isinstance(saved, bool):
            return saved
        high = min(self.high, bounds.count(self.below, slot) - 1) if self.below else self.high
        limited = bounds.limited or isinstance(saved, int)
        if (isnan(saved) or not self.low <= saved <= high) and limited:
            raise slot.refused(f"{saved:g} is out of its limits")
        return saved


_NAMES: dict[type, str] = {int: "whole number", float: "number", bool: "flag", str: "text"}


@dataclass(frozen=True, eq=False, kw_only=True)
class BlobLeaf(Leaf):
    """Opaque bytes, or an object whose `save()` returns them; over an axis, a list of these or None for each row."""

    def new(self, sizes: Mapping[str, Any]) -> Any:
        """Return the value of a fresh part."""
        return [None] * (_size(self.axes[0], sizes) or 0) if self.axes else b""

    def write(self, value: Any) -> Any:
        """Return plain values."""
        if isinstance(value, list):
            return [self.write(entry) for entry in value]
        return None if value is None else np.frombuffer(value.save() if hasattr(value, "save") else value, np.uint8)

    def read(self, saved: Any, slot: Slot, bounds: Bounds) -> Any:
        """Return the checked value."""
        if self.axes:
            if not isinstance(saved, list) or len(saved) != bounds.count(str(self.axes[0]), slot):
                raise slot.refused("is not a list with bytes for each row")
            return [None if entry is None else _bytes(entry, slot) for entry in saved]
        return _bytes(saved, slot)


def _bytes(saved: Any, slot: Slot) -> bytes:
    if not isinstance(saved, np.ndarray) or saved.dtype != np.uint8 or saved.ndim != 1:
        raise slot.refused("does not hold bytes")
    return saved.tobytes()


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordLeaf(Leaf):
    """Plain objects of a declared type: `records.py` says how they are saved."""

    hint: Any
    make: Callable[[], Any]
    ascending: bool = False  # a mapping whose order does not matter: it is saved in the order of its keys

    def new(self, sizes: Mapping[str, Any]) -> Any:
        """Return the value of a fresh part."""
        return self.make()

    def write(self, value: Any) -> Any:
        """Return plain values."""
        return to_tree(self.hint, {key: value[key] for key in sorted(value)} if self.ascending else value, "the state")

    def read(self, saved: Any, slot: Slot, bounds: Bounds) -> Any:
        """Return the checked value."""
        return from_tree(self.hint, saved, slot.path)


@dataclass(frozen=True, eq=False, kw_only=True)
class FieldsLeaf(Leaf):
    """The fields of an object that exists as long as the run, or of several by name; `LoadedFields` after a load."""

    many: bool

    def new(self, sizes: Mapping[str, Any]) -> Any:
        """Return the value of a fresh part, until the objects are set."""
        return {} if self.many else None

    def write(self, value: Any) -> Any:
        """Return plain values."""
        if self.many:
            return {name: fields_to_tree(owner, "the state") for name, owner in value.items()}
        return fields_to_tree(value, "the state")

    def read(self, saved: Any, slot: Slot, bounds: Bounds) -> Any:
        """Return the checked fields."""
        value = slot.get()
        if not self.many:
            return LoadedFields(value, fields_from_tree(value, saved, slot.path))
        if not isinstance(saved, dict) or saved.keys() != value.keys():
            raise slot.refused("does not have the names of this run")
        return {
            name: LoadedFields(owner, fields_from_tree(owner, saved[name], f"{slot.path}.{name}"))
            for name, owner in value.items()
        }


class LoadedFields(NamedTuple):
    """New values for the fields of an object."""

    owner: Any
    values: dict[str, Any]

    def adopt(self) -> Any:
        """Return the object, which has them now."""
        vars(self.owner).update(self.values)
        return self.owner


def adopt_fields(part: Part) -> None:
    """Let objects that exist as long as the run have the fields that were loaded."""
    for name in (name for name, leaf in part.leaves.items() if isinstance(leaf, FieldsLeaf)):
        value = getattr(part, name)
        adopted = {key: each.adopt() for key, each in value.items()} if isinstance(value, dict) else value.adopt()
        setattr(part, name, adopted)


@dataclass(frozen=True, eq=False, kw_only=True)
class PlainLeaf(Leaf):
    """A value that `to_tree` turns into plain values, and `from_tree` checks and makes again; `make`: an empty one."""

    make: Callable[[], Any]
    to_tree: Callable[[Any], Any]
    from_tree: Callable[[Any], Any]

    def new(self, sizes: Mapping[str, Any]) -> Any:
        """Return the value of a fresh part."""
        return self.make()

    def write(self, value: Any) -> Any:
        """Return plain values."""
        return self.to_tree(value)

    def read(self, saved: Any, slot: Slot, bounds: Bounds) -> Any:
        """Return the checked value."""
        with refusing(slot.path):
            return self.from_tree(saved)


@dataclass(frozen=True, eq=False, kw_only=True)
class TablesLeaf(Leaf):
    """Arrays by name, declared when a run is built by `add_table`."""

    def new(self, sizes: Mapping[str, Any]) -> dict[str, Array]:
        """Return the value of a fresh part."""
        return {}


@dataclass(frozen=True, eq=False, kw_only=True)
class ChildLeaf(Leaf):
    """A part, None, or parts by name; whether there is one, and which, is a matter of the configuration."""

    kind: type | None
    many: bool = False

    def new(self, sizes: Mapping[str, Any]) -> Any:
        """Return the value of a fresh part."""
        if self.many:
            return {}
        return None if self.kind is None else fresh(self.kind, **sizes)


# declaration ----------------------------------------------------------------------------------------------------------


def array(dtype: str, *axes: str | int, **options: Any) -> Any:
    """Declare an array with an axis (a name or a size) per dimension; the options are the fields of `ArrayLeaf`.

    Floats are finite and at most 1e18 by default.
    """
    return _declared(ArrayLeaf(dtype=dtype, axes=axes, **options))


def count(axis: str) -> Any:
    """Declare the number of rows in use of an axis; this part owns it."""
    return _declared(ScalarLeaf(default=0, low=0, high=2**31, counts=axis))


def value(default: float | None, **options: Any) -> Any:
    """Declare a number of the type of its default; the options are the fields of `ScalarLeaf`."""
    return _declared(ScalarLeaf(default=default, **options))


def flag(default: bool = False, **scopes: bool) -> Any:
    """Declare a flag."""
    return _declared(ScalarLeaf(default=default, **cast(Any, scopes)))


def text(default: str = "", choices: tuple[str, ...] = (), longest: int = LONGEST_TEXT, **scopes: bool) -> Any:
    """Declare a text."""
    return _declared(ScalarLeaf(default=default, choices=choices, high=longest, **cast(Any, scopes)))


def blob(*axes: str, hashed: bool = False, settled: bool = False) -> Any:
    """Declare opaque bytes, or a list of bytes or None over an axis; not hashed by default.

    An object whose `save()` returns bytes may take their place, once it is started from them.
    """
    return _declared(BlobLeaf(axes=axes, hashed=hashed, settled=settled))


def record(hint: Any, make: Callable[[], Any], **scopes: bool) -> Any:
    """Declare plain objects of a type, see `records.py`; `make`: a fresh one."""
    return _declared(RecordLeaf(hint=hint, make=make, **cast(Any, scopes)))


def rows(record: Any, longest: int | None = None, keeps_last: bool = False, **scopes: bool) -> Any:
    """Declare a list of records or values of a type; keeps_last: a deque of the last `longest`."""
    kind: Any = deque[record] if keeps_last else list[record]
    made = partial(deque[Any], maxlen=longest) if keeps_last else list
    hint = kind if longest is None else Annotated[kind, Len(0, longest)]
    return _declared(RecordLeaf(hint=hint, make=cast(Any, made), **cast(Any, scopes)))


def mapping(key: Any, record: Any, **scopes: bool) -> Any:
    """Declare records, or values of a type, by key (int for vehicle ids, str for names), in any order."""
    return _declared(RecordLeaf(hint=dict[key, record], make=dict, ascending=True, **cast(Any, scopes)))


def fields_of(many: bool = False, **scopes: bool) -> Any:
    """Declare the fields of an object that exists as long as the run, or of `many` by name; the objects are assigned
    before the run begins.
    """
    return _declared(FieldsLeaf(many=many, **cast(Any, scopes)))


def plain(
    make: Callable[[], Any], to_tree: Callable[[Any], Any], from_tree: Callable[[Any], Any], **scopes: bool
) -> Any:
    """Declare a value that other functions turn into plain values and check: `from_tree` raises PaddockError."""
    return _declared(PlainLeaf(make=make, to_tree=to_tree, from_tree=from_tree, **cast(Any, scopes)))


def tables(axis: str) -> Any:
    """Declare arrays by name over an axis, each added by `add_table`."""
    return _declared(TablesLeaf(axes=(axis,)))


def child(kind: type | None = None, **scopes: bool) -> Any:
    """Declare a part; without a class None, until one is assigned before the run begins."""
    return _declared(ChildLeaf(kind=kind, **cast(Any, scopes)))


def children(**scopes: bool) -> Any:
    """Declare parts by name."""
    return _declared(ChildLeaf(kind=None, many=True, **cast(Any, scopes)))


def _declared(leaf: Leaf) -> Any:
    return dataclass_field(default=None, metadata={"leaf": leaf})


@dataclass_transform(
    kw_only_default=True,
    field_specifiers=(array, count, value, flag, text, blob, record, rows, mapping, fields_of, tables, child, children),
)
def part(cls: type[P]) -> type[P]:
    """Make a class of declared fields a part of the state."""
    made = dataclass(eq=False, repr=False, kw_only=True)(cls)
    leaves = {entry.name: entry.metadata["leaf"] for entry in fields(cast(Any, made)) if "leaf" in entry.metadata}
    counted = [name for name, leaf in leaves.items() if isinstance(leaf, ScalarLeaf) and leaf.counts]
    cast(Any, made).leaves = {name: leaves[name] for name in (*counted, *leaves)}  # numbers of rows first
    return made


def fresh(kind: type[P], **sizes: Any) -> P:
    """Return a new part: sizes or column classes of its axes, and values of its fields that are not declared."""
    leaves: dict[str, Leaf] = cast(Any, kind).leaves
    known = {entry.name for entry in fields(cast(Any, kind))} - leaves.keys()
    made = kind(**{name: size for name, size in sizes.items() if name in known})
    fill(made, **{name: size for name, size in sizes.items() if name not in known})
    return made


def fill(made: Part, **sizes: Any) -> None:
    """Set the declared fields of a part that was made by its constructor to those of a new part."""
    made.sizes, made.specs = sizes, {}
    for name, leaf in made.leaves.items():
        setattr(made, name, leaf.new(sizes))


def add_table(owner: Part, name: str, leaf: ArrayLeaf, field: str = "tables") -> Array:
    """Add a table to a field that is declared as `tables`."""
    axis, specs, present = str(owner.leaves[field].axes[0]), owner.specs.setdefault(field, {}), getattr(owner, field)
    room = next(
        (present[other].shape[spec.axes.index(axis)] for other, spec in specs.items()), owner.sizes.get(axis, 1)
    )
    specs[name], present[name] = leaf, leaf.new({**owner.sizes, axis: room})
    return cast(Array, present[name])


def _size(axis: str | int, sizes: Mapping[str, Any]) -> int | None:
    """Return the size of an axis: a number, or that of its columns; None: as long as its arrays."""
    size = axis if isinstance(axis, int) else sizes.get(axis)
    return len(columns_of(size)) if isinstance(size, type) else size


def largest_of(column: Column) -> float:
    """Return the largest magnitude in a saved column; commands that no client sends may exceed their range a little."""
    limits = max(abs(column.low), abs(column.high)) * 2.0
    return min(limits, LARGEST.get(column.unit, LARGEST_OTHER))


def limited(column: Column) -> Column:
    """Return the column of an input with the range that can be saved: it matters for one without a range of its own."""
    most = largest_of(column)
    return column if column.choices else replace(column, low=max(column.low, -most), high=min(column.high, most))


def _column_limits(leaf: ArrayLeaf, sizes: Mapping[str, Any]) -> tuple[tuple[str, ...], Array | None]:
    """Return the names of the columns of an array and the limits of their magnitudes."""
    columns = leaf.columns or (sizes.get(str(leaf.axes[0])) if leaf.axes else None)
    if not isinstance(columns, type):
        return (), None
    if leaf.low != -inf or leaf.high != inf:
        return cast(Any, columns)._fields, None
    return cast(Any, columns)._fields, np.array([largest_of(column) for column in columns_of(columns)])
