"""JSON: strict messages of clients; files of other programs, with typed access and errors at `file:line:column`."""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.wire import WireError

KeyPath = tuple[str | int, ...]  # keys and list indices from the root to a value
LatLon = tuple[float, float]  # latitude and longitude in deg, WGS 84
TEXT = "<text>"
LARGEST = sys.float_info.max  # NaN, infinity and integers beyond all floats are not finite numbers
_SPACE = re.compile(r"[ \t\r\n]*")


class DocumentError(PaddockError):
    """An invalid document; the message begins with the position of the error."""


@dataclass(frozen=True)
class Document:
    """A JSON object, its text and the name of its file."""

    root: Mapping[str, Any]
    source: str
    text: str = ""

    def refuse(self, path: KeyPath, message: str) -> NoReturn:
        """Raise an error at a value of the document."""
        if self.text:
            line, column = locate(self.text, path)
            raise DocumentError(f"{self.source}:{line}:{column}: {message}")
        dotted = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
        raise DocumentError(f"{self.source}: {dotted}: {message}" if path else f"{self.source}: {message}")

    def mapping(self, value: Any, path: KeyPath) -> Mapping[str, Any]:
        """Return a value that must be an object."""
        if not isinstance(value, Mapping):
            self.refuse(path, f"expected an object, not {shown(value)}")
        return value

    def items(self, value: Any, path: KeyPath) -> list[Any]:
        """Return a value that must be a list."""
        if not isinstance(value, list | tuple):
            self.refuse(path, f"expected a list, not {shown(value)}")
        return list(value)

    def number(self, value: Any, path: KeyPath) -> float:
        """Return a value that must be a finite number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            self.refuse(path, f"expected a finite number, not {shown(value)}")
        return float(value)

    def integer(self, value: Any, path: KeyPath) -> int:
        """Return a value that must be a whole number."""
        number = self.number(value, path)
        if not number.is_integer():
            self.refuse(path, f"expected a whole number, not {shown(value)}")
        return int(number)

    def position(self, value: Any, path: KeyPath, lon_first: bool = False) -> LatLon:
        """Return latitude and longitude of a list that begins with them (`lon_first`: in the other order)."""
        items = self.items(value, path)
        if len(items) < 2:
            self.refuse(path, f"expected at least two coordinates, not {shown(value)}")
        x, y = (self.number(items[k], (*path, k)) for k in (0, 1))
        latitude, longitude = (y, x) if lon_first else (x, y)
        if abs(latitude) > 90 or abs(longitude) > 180:
            order = "longitude, latitude" if lon_first else "latitude, longitude"
            self.refuse(path, f"[{x:g}, {y:g}] is not a position on Earth; the order is {order}")
        return latitude, longitude


def parse_document(source: str | Mapping[str, Any], name: str = TEXT) -> Document:
    """Parse JSON text, or wrap an object; `name` is the file name in errors."""
    if isinstance(source, Mapping):
        return Document(source, name if name != TEXT else "<object>")
    try:
        root = json.loads(source, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise DocumentError(f"{name}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise DocumentError(f"{name}: not valid JSON: nested too deeply") from None
    except ValueError as error:
        raise DocumentError(f"{name}: not valid JSON: {error}") from None
    if not isinstance(root, dict):
        raise DocumentError(f"{name}:1:1: expected an object, not {shown(root)}")
    return Document(root, name, source)


def document_text(root: Mapping[str, Any]) -> str:
    """Return the JSON text of a file; equal content gives equal bytes."""
    return json.dumps(root, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def locate(text: str, path: KeyPath) -> tuple[int, int]:
    """Return line and column of a value in valid JSON text, or of its nearest parent that exists."""
    at = _skip(text, 0)
    for key in path:
        start = _member(text, at, key)
        if start is None:
            break
        at = start
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _member(text: str, at: int, key: str | int) -> int | None:
    """Return the index of a member of the object or list at an index; of equal keys the last, as `json.loads`."""
    opening, start, number = text[at], None, 0
    if opening not in "{[":
        return None
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        name: str | int = number
        if opening == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if name == key:
            start = at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        if text[at] == ",":
            at = _skip(text, at + 1)
        number += 1
    return start


def _skip(text: str, at: int) -> int:
    """Return the index of the next character that is not white space."""
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def shown(value: Any) -> str:
    """Return a value as short JSON, for a message."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:37] + "..."


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


_DECODER = json.JSONDecoder()


MAX_DEPTH = 32  # levels of nested lists and objects
LOWEST_WHOLE, HIGHEST_WHOLE = -(2**63), 2**64 - 1  # whole numbers that fit into 64 bits, signed or not
LONGEST = 20  # characters of such a number

_STRING = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)  # never backtracks: an open string ends with the text
_MANY_DIGITS = re.compile(r"\d{20}")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_STEPS = np.zeros(256, np.int32)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


def loads(text: bytes) -> Any:
    """Parse JSON."""
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH:
        _check_depth(text)
    try:
        value = _STRICT.decode(text.decode())
    except UnicodeDecodeError as error:
        raise WireError("utf8", f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise WireError("json", f"not JSON: {error.msg} at character {error.pos}") from error
    if _SURROGATE.search(text):
        _check_surrogates(value)
    return value


def loads_around_numbers(text: bytes) -> Any:
    """Parse like `loads`, with None for each number that it refuses, to read the id of a refused message."""
    value = _LENIENT.decode(text.decode())
    _check_surrogates(value)
    return value


def dumps(value: Any) -> bytes:
    """Encode as compact JSON without line breaks; NumPy arrays become lists."""
    try:
        text = _ENCODER.encode(value)
        data = text.encode()
        if _MANY_DIGITS.search(text):
            loads(data)
    except (ValueError, TypeError, RecursionError, WireError) as error:
        raise InvalidValueError(f"this cannot be sent as JSON: {error}") from error
    return data


def _plain(value: Any) -> Any:
    """Convert NumPy values."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"JSON has no {type(value).__name__}")


def _check_depth(text: bytes) -> None:
    """Refuse nesting that could overflow the parser's stack; brackets inside strings do not count."""
    steps = _STEPS[np.frombuffer(_STRING.sub(b"", text), np.uint8)]
    if steps.size and steps.cumsum().max() > MAX_DEPTH:
        raise WireError("json", f"more than {MAX_DEPTH} levels of lists and objects")


def _check_surrogates(value: Any) -> None:
    """Refuse lone surrogates, which UTF-8 cannot encode."""
    try:
        _ENCODER.encode(value).encode()
    except UnicodeEncodeError as error:
        raise WireError("utf8", "half of a surrogate pair is not text") from error


def _whole(digits: str) -> int:
    value = int(digits) if len(digits) <= LONGEST else HIGHEST_WHOLE + 1  # int() takes quadratic time
    if not LOWEST_WHOLE <= value <= HIGHEST_WHOLE:
        raise WireError("value", f"whole numbers have up to 64 bits, not {digits[:24]}")
    return value


def _real(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise WireError("value", f"{digits[:24]} is too large for a number of 64 bits")
    return value


def _whole_or_none(digits: str) -> int | None:
    try:
        return _whole(digits)
    except WireError:
        return None


def _refused(word: str) -> NoReturn:
    raise WireError("value", f"{word} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise WireError("json", f"the key {twice[:40]!r} is repeated in one object")
    return members


_STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole, parse_float=_real, parse_constant=_refused)
_LENIENT = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole_or_none, parse_float=lambda _: None, parse_constant=lambda _: None
)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
