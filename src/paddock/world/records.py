"""Values of declared types as plain trees and back: one codec for all plain objects of a run's state.

A type hint says what a value is: None, bool, int, float, str, bytes, an enum, a Literal, an array, a tuple, list,
deque, set or mapping of these, a union, or a record. Records are named tuples, dataclasses, and classes that declare
the types of their attributes as annotations of their bodies; a new one is saved without further code.

What is saved of a record are its fields, except those that its class lists in `unsaved`, cached properties, and
listeners (`on_...`); a class with few may list them in `saved_fields` instead. A field whose type is a class that holds
the record refers to the holder: it is not saved, and set again when the record is read. A class whose values have a
range or belong together has a method `check_saved`, which returns whether they are valid; a frozen dataclass checks
them when it is made.

`Annotated` limits numbers (`Ge`, `Le`, ...) and lengths (`Len`), or has a `Predicate`. Other whole numbers are smaller
than 2^53, other floats at most 1e15 or not finite.

In a tree, named tuples and frozen dataclasses are lists of their fields, other records mappings, and mappings lists of
pairs. Where a record may be of several classes, its tree is a mapping with the name of its class as `is`.
"""

import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import cache, cached_property, partial
from itertools import repeat
from math import inf
from types import MemberDescriptorType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)  # fmt: skip

import annotated_types as limits
import numpy as np

from paddock.errors import InvalidValueError, PaddockError, printable
from paddock.world.archive import Tree

MOST_WHOLE, MOST = (1 << 53) - 1, 1e15
LONGEST_TEXT = 10_000_000  # characters
UNSAVED = ("on_", "__")  # listeners, and what Python notes
Text = Annotated[str, limits.MaxLen(1000), limits.Predicate(str.isprintable)]
"""One line that may be shown."""

Holders = tuple[Any, ...]  # the records that hold a value, innermost first
Write = Callable[[Any], Any]
Read = Callable[[Any, Holders], Any]


class RefusedValueError(PaddockError):
    """A value that cannot be saved or read; `path` leads to it, innermost first."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.path: list[str] = []

    def within(self, step: str) -> "RefusedValueError":
        """Return this error one level further out."""
        self.path.append(step)
        return self

    def message(self, path: str) -> str:
        """Return the message with the whole path."""
        return f"{path}{''.join(reversed(self.path))}: {self}"


def to_tree(hint: Any, value: Any, path: str) -> Any:
    """Return a value of a type as plain values; its arrays are views. InvalidValueError with the path if it is none."""
    try:
        return codec(hint).write(value)
    except RefusedValueError as refused:
        raise InvalidValueError(refused.message(path)) from None


def from_tree(hint: Any, tree: Any, path: str, holders: Holders = ()) -> Any:
    """Return the value of a tree of unknown origin; InvalidValueError with the path of what is not valid."""
    try:
        return codec(hint).read(tree, holders)
    except RefusedValueError as refused:
        raise InvalidValueError(refused.message(path)) from None


def fields_to_tree(owner: Any, path: str) -> Tree:
    """Return the fields of an object that exists as long as the run."""
    try:
        return cast(Tree, fields_of(cast(Any, type(owner)), ()).write(owner))
    except RefusedValueError as refused:
        raise InvalidValueError(refused.message(path)) from None


def fields_from_tree(owner: Any, tree: Any, path: str) -> dict[str, Any]:
    """Return new values of the fields of an object that exists as long as the run, which is not changed."""
    try:
        return fields_of(cast(Any, type(owner)), ()).read(tree, (owner,))
    except RefusedValueError as refused:
        raise InvalidValueError(refused.message(path)) from None


# codecs ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ValueCodec:
    """How values of a type are written, which raises if they are of another type, and read."""

    write: Write
    read: Read


@cache
def codec(hint: Any, within: tuple[type, ...] = ()) -> ValueCodec:
    """Return the codec of a type hint in a record of a class that others hold: `within`, outermost first."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _limited(inner[0], inner[1:], within)
    if isinstance(hint, TypeVar):
        return codec(hint.__bound__, within)
    if origin in (Union, UnionType):
        return _union(inner, within)
    if origin is Literal:
        return _literal(inner)
    if hint in _SCALARS:
        return _SCALARS[hint]
    if origin is np.ndarray:
        return _array(np.dtype(get_args(inner[1])[0]))
    if origin in _LISTS:
        return _list(origin, inner, within)
    if origin in (dict, Mapping):
        return _mapping(inner, within)
    kind = origin or hint
    if not isinstance(kind, type):
        raise TypeError(f"no codec for values of the type {hint}")
    if issubclass(kind, Enum):
        return _enum(kind)
    return _record(kind, within)


def _refuse(tree: Any, expected: str) -> RefusedValueError:
    shown = repr(tree) if tree is None or isinstance(tree, str | int | float) else f"a {type(tree).__name__}"
    return RefusedValueError(f"is {printable(shown)[:40]}, not {expected}")


def _scalar(kind: Any, name: str, least: float = -inf, most: float = inf) -> ValueCodec:
    def write(value: Any) -> Any:
        if type(value) is kind:
            return value
        plain = value.item() if isinstance(value, np.generic) else value
        whole = kind is float and isinstance(plain, int)
        if isinstance(plain, bool) is not (kind is bool) or not (isinstance(plain, kind) or whole):
            raise _refuse(value, name)
        return kind(plain)

    def read(tree: Any, holders: Holders) -> Any:
        if type(tree) is not kind and not (kind is float and type(tree) is int and abs(tree) <= MOST_WHOLE):
            raise _refuse(tree, name)
        if tree < least or tree > most:
            raise RefusedValueError(f"{tree!s:.20} is out of its limits")
        return kind(tree)

    def read_text(tree: Any, holders: Holders) -> str:
        if type(tree) is not str or len(tree) > LONGEST_TEXT:
            raise _refuse(tree, name)
        return tree

    return ValueCodec(write, read_text if kind is str else read)


def _number(least: float, most: float) -> ValueCodec:
    plain = _scalar(float, "a number")

    def read(tree: Any, holders: Holders) -> float:
        value = cast(float, plain.read(tree, holders))
        if MOST < abs(value) < inf or value < least or value > most:
            raise RefusedValueError(f"{value:g} is out of its limits")
        return value

    return ValueCodec(plain.write, read)


def _write_none(value: Any) -> None:
    if value is not None:
        raise _refuse(value, "None")


def _read_none(tree: Any, holders: Holders) -> None:
    _write_none(tree)


def _write_bytes(value: Any) -> Any:
    return np.frombuffer(value, np.uint8)


def _read_bytes(tree: Any, holders: Holders) -> bytes:
    if not isinstance(tree, np.ndarray) or tree.dtype != np.uint8 or tree.ndim != 1:
        raise _refuse(tree, "bytes")
    return tree.tobytes()


_SCALARS: dict[Any, ValueCodec] = {
    bool: _scalar(bool, "a flag"),
    int: _scalar(int, "a whole number", -MOST_WHOLE, MOST_WHOLE),
    float: _number(-inf, inf),
    str: _scalar(str, "a text"),
    bytes: ValueCodec(_write_bytes, _read_bytes),
    NoneType: ValueCodec(_write_none, _read_none),
    None: ValueCodec(_write_none, _read_none),
}


def _limited(kind: Any, notes: Any, within: tuple[type, ...]) -> ValueCodec:
    """Return the codec of a type with limits."""
    lows: list[Any] = [note.ge for note in notes if isinstance(note, limits.Ge)]
    highs: list[Any] = [note.le for note in notes if isinstance(note, limits.Le)]
    highs += [cast(int, note.lt) - 1 for note in notes if isinstance(note, limits.Lt)]
    if kind is int:
        return _scalar(int, "a whole number", *(lows or [-MOST_WHOLE]), *(highs or [MOST_WHOLE]))
    if kind is float:
        return _number(*(lows or [-inf]), *(highs or [inf]))
    plain = codec(kind, within)
    most = next((note.max_length for note in notes if isinstance(note, limits.MaxLen | limits.Len)), None)
    least = next((note.min_length for note in notes if isinstance(note, limits.MinLen | limits.Len)), 0)
    tests = [note.func for note in notes if isinstance(note, limits.Predicate)]
    keeps_last = get_origin(kind) is deque

    def read(tree: Any, holders: Holders) -> Any:
        if isinstance(tree, Collection) and not least <= len(tree) <= (inf if most is None else most):
            bound = f"fewer than {least}" if len(tree) < least else f"more than {most}"
            raise RefusedValueError(f"has {len(tree)} entries, {bound}")
        value = plain.read(tree, holders)
        if not all(test(value) for test in tests):
            raise RefusedValueError("is not valid")
        return deque(value, most) if keeps_last else value

    return ValueCodec(plain.write, read)


def _literal(values: tuple[Any, ...]) -> ValueCodec:
    def write(value: Any) -> Any:
        if not any(value == each and type(value) is type(each) for each in values):
            raise _refuse(value, f"one of {', '.join(map(str, values))}")
        return value

    return ValueCodec(write, lambda tree, holders: write(tree))


def _enum(kind: type[Enum]) -> ValueCodec:
    def write(value: Any) -> Any:
        if not isinstance(value, kind):
            raise _refuse(value, f"a {kind.__name__}")
        return value.value

    def read(tree: Any, holders: Holders) -> Any:
        member = next((each for each in kind if each.value == tree and type(each.value) is type(tree)), None)
        if member is None:
            raise _refuse(tree, f"a {kind.__name__}")
        return member

    return ValueCodec(write, read)


def _array(dtype: np.dtype[Any]) -> ValueCodec:
    def write(value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.dtype != dtype:
            raise _refuse(value, f"an array of {dtype}")
        return value

    def read(tree: Any, holders: Holders) -> Any:
        if not isinstance(tree, np.ndarray) or tree.dtype != dtype:
            raise _refuse(tree, f"an array of {dtype}")
        most = MOST if dtype.kind == "f" else MOST_WHOLE
        finite = tree[np.isfinite(tree)]
        if dtype.kind != "b" and not ((finite >= -most) & (finite <= most)).all():
            raise RefusedValueError("is out of its limits")
        return tree.copy()

    return ValueCodec(write, read)


# collections ----------------------------------------------------------------------------------------------------------

_LISTS: dict[Any, Callable[[Any], Any]] = {
    tuple: tuple, list: list, deque: deque, set: set, frozenset: frozenset, Sequence: tuple, AbstractSet: frozenset,
}  # fmt: skip
"""Types that are saved as lists, and what makes them of one."""


def _list(origin: Any, inner: tuple[Any, ...], within: tuple[type, ...]) -> ValueCodec:
    """Return the codec of values of one type, or of a tuple with a type for each value."""
    make, ordered = _LISTS[origin], origin in (set, frozenset, AbstractSet)
    fixed = origin is tuple and inner[-1:] != (...,)
    codecs = [codec(each, within) for each in (inner if fixed else inner[:1])]
    kind: Any = (origin if isinstance(origin, type) else make) if origin not in (Sequence, AbstractSet) else origin

    def write(value: Any) -> list[Any]:
        if not isinstance(value, kind) or isinstance(value, str) or (fixed and len(value) != len(codecs)):
            raise _refuse(value, f"a {origin.__name__}")
        entries = sorted(value) if ordered else value
        try:
            if fixed:
                return [each.write(entry) for each, entry in zip(codecs, entries, strict=True)]
            return [codecs[0].write(entry) for entry in entries]
        except RefusedValueError as refused:
            raise refused.within(_first_refused((each.write for each in _along(codecs)), entries)) from None

    def read(tree: Any, holders: Holders) -> Any:
        if not isinstance(tree, list | tuple) or (fixed and len(tree) != len(codecs)):
            raise _refuse(tree, f"a list of {len(codecs)}" if fixed else "a list")
        try:
            reads = zip(_along(codecs), tree, strict=False)
            value = make([each.read(entry, holders) for each, entry in reads])
        except RefusedValueError as refused:
            calls = (partial(_read_with, each, holders) for each in _along(codecs))
            raise refused.within(_first_refused(calls, tree)) from None
        if ordered and len(value) != len(tree):
            raise RefusedValueError("has an entry twice")
        return value

    return ValueCodec(write, read)


def _read_with(each: ValueCodec, holders: Holders, tree: Any) -> Any:
    return each.read(tree, holders)


def _along(codecs: list[ValueCodec]) -> Iterator[ValueCodec]:
    """Yield the codec of each entry: one for each, or the same for all."""
    return iter(codecs) if len(codecs) > 1 else repeat(codecs[0])


def _first_refused(calls: Iterator[Callable[[Any], Any]], entries: Any) -> str:
    """Return the index of the entry that is refused: it is found again, so that others need no index."""
    for k, (call, entry) in enumerate(zip(calls, entries, strict=False)):
        try:
            call(entry)
        except RefusedValueError:
            return f"[{k}]"
    return "[]"


def _mapping(inner: tuple[Any, ...], within: tuple[type, ...]) -> ValueCodec:
    keys, values = (codec(each, within) for each in inner)

    def write(value: Any) -> list[Any]:
        if not isinstance(value, Mapping):
            raise _refuse(value, "a mapping")
        pairs, key = [], None
        try:
            for key, entry in value.items():
                pairs.append([keys.write(key), values.write(entry)])
        except RefusedValueError as refused:
            raise refused.within(f"[{key!s:.40}]") from None
        return pairs

    def read(tree: Any, holders: Holders) -> dict[Any, Any]:
        if not isinstance(tree, list | tuple):
            raise _refuse(tree, "a list of pairs")
        made: dict[Any, Any] = {}
        k = 0
        try:
            for pair in tree:
                if not isinstance(pair, list | tuple) or len(pair) != 2:
                    raise _refuse(pair, "a pair")
                key = keys.read(pair[0], holders)
                if key in made:
                    raise RefusedValueError("has a key twice")
                made[key] = values.read(pair[1], holders)
                k += 1
        except RefusedValueError as refused:
            raise refused.within(f"[{k}]") from None
        return made

    return ValueCodec(write, read)


def _union(inner: tuple[Any, ...], within: tuple[type, ...]) -> ValueCodec:
    """Return the codec of None or one type, or of one of several classes of records."""
    others = [each for each in inner if each not in (None, NoneType)]
    optional = len(others) < len(inner)
    plain = codec(others[0], within) if len(others) == 1 else _variants(cast(Any, tuple(others)), within)
    if not optional:
        return plain
    return ValueCodec(
        lambda value: None if value is None else plain.write(value),
        lambda tree, holders: None if tree is None else plain.read(tree, holders),
    )


# records --------------------------------------------------------------------------------------------------------------

_members: dict[type, tuple[type, ...]] = {}


def register(protocol: type, *kinds: type) -> None:
    """Declare the classes of which a value of a protocol may be."""
    _members[protocol] = kinds


def _record(kind: type, within: tuple[type, ...]) -> ValueCodec:
    if kind in _members:
        return _variants(_members[kind], within)
    if any(issubclass(holder, kind) for holder in within):
        return _holder(kind)
    if getattr(kind, "__abstractmethods__", None) or kind.__subclasses__():
        return _subclass(kind, within)
    fields = fields_of(kind, within)
    return ValueCodec(fields.write, fields.make)


def _holder(kind: type) -> ValueCodec:
    """Return the codec of a reference to the record that holds this one: it is read, but not saved."""

    def read(tree: Any, holders: Holders) -> Any:
        return next(each for each in holders if isinstance(each, kind))

    return ValueCodec(_write_none, read)


def _variants(kinds: tuple[type, ...], within: tuple[type, ...]) -> ValueCodec:
    """Return the codec of a record of one of several classes."""
    names = {kind.__name__: kind for kind in kinds}
    if len(names) != len(kinds) or not all(_is_record(kind) for kind in kinds):
        raise TypeError(f"no codec for a value of one of {kinds}")

    def write(value: Any) -> Tree:
        if type(value) not in kinds:
            raise _refuse(value, f"one of {', '.join(names)}")
        return _tagged(value, within)

    def read(tree: Any, holders: Holders) -> Any:
        return _untagged(tree, names.get, holders, within, ", ".join(names))

    return ValueCodec(write, read)


def _subclass(kind: type, within: tuple[type, ...]) -> ValueCodec:
    """Return the codec of a record of a class or of one of its subclasses, also of those that are defined later."""

    def write(value: Any) -> Tree:
        if not isinstance(value, kind):
            raise _refuse(value, f"a {kind.__name__}")
        return _tagged(value, within)

    def read(tree: Any, holders: Holders) -> Any:
        classes = {each.__name__: each for each in _all_subclasses(kind)}
        return _untagged(tree, classes.get, holders, within, f"a {kind.__name__}")

    return ValueCodec(write, read)


def _tagged(value: Any, within: tuple[type, ...]) -> Tree:
    fields = fields_of(cast(Any, type(value)), within)
    tree = fields.write(value)
    return {"is": type(value).__name__, **(tree if isinstance(tree, dict) else {"fields": tree})}


def _untagged(
    tree: Any, class_named: Callable[[str], type | None], holders: Holders, within: tuple[type, ...], expected: str
) -> Any:
    name = tree.get("is") if isinstance(tree, dict) else None
    kind = class_named(name) if isinstance(name, str) else None
    if kind is None:
        raise _refuse(tree if name is None else name, expected)
    fields = fields_of(kind, within)
    if fields.listed:
        if tree.keys() != {"is", "fields"}:
            raise _refuse(tree, f"a {kind.__name__}")
        return fields.make(tree["fields"], holders)
    return fields.make({key: entry for key, entry in tree.items() if key != "is"}, holders)


def _all_subclasses(kind: Any) -> Iterator[type]:
    yield kind
    for each in kind.__subclasses__():
        yield from _all_subclasses(each)


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and kind not in _SCALARS and not issubclass(kind, Enum)


class Fields:
    """The fields of a class of records that others hold, and their codecs."""

    def __init__(self, kind: type, within: tuple[type, ...]) -> None:
        self.kind, self.names = kind, saved_names(kind)
        hints = type_hints(kind)
        held = (*within, kind)
        self.codecs = {name: codec(hints[name], held) for name in self.names}
        self.saved = {name: each for name, each in self.codecs.items() if each.write is not _write_none}
        self.named = issubclass(kind, tuple)
        self.made_at_once = self.named or (is_dataclass(kind) and cast(Any, kind).__dataclass_params__.frozen)
        self.listed = self.made_at_once

    def write(self, value: Any) -> Any:
        """Return the tree of a record."""
        if type(value) is not self.kind:
            raise _refuse(value, f"a {self.kind.__name__}")
        name = ""
        try:
            tree = {}
            for name, each in self.saved.items():
                tree[name] = each.write(getattr(value, name))
            return [*tree.values()] if self.listed else tree
        except RefusedValueError as refused:
            raise refused.within(f".{name}") from None
        except AttributeError:
            raise RefusedValueError("is missing").within(f".{name}") from None

    def read(self, tree: Any, holders: Holders) -> dict[str, Any]:
        """Return the values of all fields by name."""
        if self.listed:
            if not isinstance(tree, list | tuple) or len(tree) != len(self.saved):
                raise _refuse(tree, f"a list of {', '.join(self.saved)}")
            tree = dict(zip(self.saved, tree, strict=True))
        if not isinstance(tree, dict):
            raise _refuse(tree, f"the fields of a {self.kind.__name__}")
        for name in tree:
            if name not in self.saved:
                raise RefusedValueError(f"unknown field {printable(repr(name))[:60]}")
        name = ""
        try:
            values: dict[str, Any] = {}
            for name, field in self.codecs.items():
                if name not in tree and name in self.saved:
                    raise RefusedValueError("is missing")
                values[name] = field.read(tree.get(name), holders)
            return values
        except RefusedValueError as refused:
            raise refused.within(f".{name}") from None

    def make(self, tree: Any, holders: Holders) -> Any:
        """Return the record of a tree."""
        made: Any = object
        try:
            if self.made_at_once:
                made = self.kind(**self.read(tree, holders))
            else:
                made = object.__new__(self.kind)
                for name, each in self.codecs.items():  # its parts may use their holders when they check themselves
                    if name not in self.saved:
                        object.__setattr__(made, name, each.read(None, holders))
                for name, value in self.read(tree, (made, *holders)).items():
                    object.__setattr__(made, name, value)
            valid = not hasattr(made, "check_saved") or made.check_saved()
        except RefusedValueError:
            raise
        except PaddockError as error:
            raise RefusedValueError(printable(str(error))) from None
        except Exception:  # a crafted state may fail in any way
            valid = False
        if not valid:
            raise RefusedValueError(f"is not a valid {self.kind.__name__}")
        return made


@cache
def fields_of(kind: Any, within: tuple[type, ...]) -> Fields:
    """Return the fields of a class of records that others hold: `within`, outermost first."""
    return Fields(kind, within)


@cache
def saved_names(kind: type) -> tuple[str, ...]:
    """Return the fields of a class of records that are saved."""
    if hasattr(kind, "_fields"):
        return cast(tuple[str, ...], cast(Any, kind)._fields)
    if hasattr(kind, "saved_fields"):
        return cast(tuple[str, ...], cast(Any, kind).saved_fields)
    skipped = unsaved_names(kind)
    return tuple(
        name
        for name, hint in type_hints(kind).items()
        if get_origin(hint) is not ClassVar and hint is not ClassVar
        if name not in skipped and not name.startswith(UNSAVED)
        if not hasattr(attribute := getattr(kind, name, None), "__get__") or isinstance(attribute, MemberDescriptorType)
    )


@cache
def unsaved_names(kind: type) -> frozenset[str]:
    """Return the attributes that a class lists as `unsaved`, and its cached properties."""
    members = [(name, value) for base in kind.__mro__ for name, value in vars(base).items()]
    listed = (value for name, value in members if name == "unsaved")
    return frozenset(name for name, value in members if isinstance(value, cached_property)).union(*listed)


@cache
def type_hints(kind: type) -> dict[str, Any]:
    """Return the types of the attributes that a class and its bases declare; also of names imported for typing only."""
    try:
        return get_type_hints(kind, include_extras=True)
    except NameError:
        room = ".".join(kind.__module__.split(".")[:2])
        modules = [module for path, module in list(sys.modules.items()) if path.startswith(room)]
        names = {name: each for module in modules for name, each in vars(module).items() if isinstance(each, type)}
        return get_type_hints(kind, localns=names, include_extras=True)
