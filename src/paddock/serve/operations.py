"""Operations by name: methods that clients may call, each with the arguments it takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

import numpy as np

from paddock.errors import InvalidValueError, PaddockError, unknown_name

Method = TypeVar("Method", bound=Callable[..., Any])
Fits = Callable[[Any], bool]
MARK = "_operation"
SHOWN = 60
"""Characters of a wrong value that its error repeats."""


def operation(method: Method) -> Method:
    """Let clients call this method: `method(self, client, **arguments)`."""
    setattr(method, MARK, True)
    return method


class Argument(NamedTuple):
    """What a client may give."""

    needed: bool
    expected: str  # in words
    fits: Fits


class Operations:
    """All operations of some objects."""

    def __init__(self, objects: Iterable[object]) -> None:
        """Those marked with @operation."""
        methods = [item for one in objects for item in inspect.getmembers(one, inspect.ismethod)]
        self._methods = {name: method for name, method in methods if hasattr(method, MARK)}
        self._arguments = {name: _arguments(method) for name, method in self._methods.items()}

    def names(self) -> list[str]:
        """Their names."""
        return sorted(self._methods)

    def call(self, name: str, client: str, arguments: Mapping[str, Any]) -> Any:
        """Call one; unknown names, and arguments that are unknown or of a wrong type, are refused."""
        if name not in self._methods:
            raise unknown_name("operation", name, self._methods)
        known = self._arguments[name]
        for argument, value in arguments.items():
            if argument not in known:
                raise unknown_name(f"argument of {name}", argument, known)
            if not known[argument].fits(value):
                told = f"{name}: {argument!r} must be {known[argument].expected}"
                raise InvalidValueError(f"{told}, not {_shown(value)}")
        for argument, (needed, _, _) in known.items():
            if needed and argument not in arguments:
                raise PaddockError(f"{name} needs {argument!r}")
        return self._methods[name](client, **arguments)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


# types ---------------------------------------------------------------------------------------------------------------


def _arguments(method: Callable[..., Any]) -> dict[str, Argument]:
    """What a method takes, as its annotations say; the first argument is the client."""
    parameters = list(inspect.signature(method, eval_str=True).parameters.values())[1:]
    return {one.name: Argument(one.default is one.empty, *_kind(one.annotation)) for one in parameters}


def _kind(annotation: Any) -> tuple[str, Fits]:
    """A type in words, and what tells whether a value is of it."""
    if annotation in PLAIN:
        return PLAIN[annotation]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is UnionType:
        return _any_of([_kind(one) for one in inner])
    if origin in (list, Sequence):
        return _list_of(*_kind(inner[0]), numbers=inner[0] in (int, float))
    if origin is dict and inner[0] is str:
        return _object_of(*_kind(inner[1]))
    raise TypeError(f"operations take no arguments of type {annotation}")


def _any_of(kinds: list[tuple[str, Fits]]) -> tuple[str, Fits]:
    checks = [fits for _, fits in kinds]
    return " or ".join(words for words, _ in kinds), lambda value: any(fits(value) for fits in checks)


def _list_of(words: str, fits: Fits, numbers: bool) -> tuple[str, Fits]:
    """`numbers`: an array of them will do as well."""

    def check(value: Any) -> bool:
        if numbers and isinstance(value, np.ndarray):
            return value.ndim == 1 and value.dtype.kind in "iuf"
        return isinstance(value, list | tuple) and all(map(fits, value))

    return f"a list, each item {words}", check


def _object_of(words: str, fits: Fits) -> tuple[str, Fits]:
    told = "an object" if fits is _anything else f"an object, each value {words}"
    return told, lambda value: isinstance(value, dict) and all(map(_text, value)) and all(map(fits, value.values()))


def _anything(value: Any) -> bool:
    return True


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


PLAIN: dict[Any, tuple[str, Fits]] = {
    Any: ("anything", _anything),
    str: ("a text", _text),
    int: ("a whole number", _whole),
    float: ("a number", _number),
    bool: ("True or False", lambda value: isinstance(value, bool)),
    bytes: ("bytes", lambda value: isinstance(value, bytes)),
    NoneType: ("None", lambda value: value is None),
    dict: ("an object", lambda value: isinstance(value, dict)),
}
