"""Strict JSON: refuses input that parsers treat differently (NaN, huge numbers, duplicate keys, lone surrogates)."""

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

import numpy as np

from paddock.errors import InvalidValueError
from paddock.wire import WireError

MAX_DEPTH = 32  # levels of nested lists and objects
SMALLEST, LARGEST = -(2**63), 2**64 - 1  # whole numbers that fit into 64 bits, signed or not
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
        value = _DECODER.decode(text.decode())
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
    value = int(digits) if len(digits) <= LONGEST else LARGEST + 1  # int() takes quadratic time
    if not SMALLEST <= value <= LARGEST:
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


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole, parse_float=_real, parse_constant=_refused)
_LENIENT = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole_or_none, parse_float=lambda _: None, parse_constant=lambda _: None
)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
