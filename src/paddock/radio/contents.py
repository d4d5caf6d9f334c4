"""Contents of messages: bytes, or what JSON can hold, kept as bytes with a leading tag."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.air import VALUE_COUNT

MOST_BYTES = 1 << 16  # of one message
RAW, TEXT = 0, 1  # how contents were given


def encoded(data: Any) -> tuple[bytes, list[float]]:
    """Return the bytes of a message's contents with a leading tag, and its numbers if it is a short list of numbers."""
    if isinstance(data, bytes | bytearray | memoryview):
        content, tag, values = bytes(data), RAW, []
    else:
        try:
            content = json.dumps(data, separators=(",", ":"), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InvalidValueError(f"a message is bytes or what JSON can hold: {error}") from None
        plain = isinstance(data, list | tuple) and len(data) <= VALUE_COUNT
        numbers = plain and all(isinstance(one, int | float) and not isinstance(one, bool) for one in data)
        tag, values = TEXT, [float(one) for one in data] if numbers else []
    if len(content) > MOST_BYTES:
        raise InvalidValueError(f"a message has at most {MOST_BYTES} bytes, not {len(content)}")
    return bytes([tag]) + content, values


def decoded(content: bytes) -> Any:
    """Return the contents that `encoded` was given."""
    return content[1:] if content[0] == RAW else json.loads(content[1:])


def saved_contents(saved: Mapping[str, Any]) -> dict[int, bytes]:
    """Return the contents of a saved state by their numbers; PaddockError for those that are not valid."""
    numbers, lengths, joined = (np.asarray(saved[name]) for name in ("numbers", "lengths", "contents"))
    if numbers.dtype != np.int64 or lengths.dtype != np.int64 or joined.dtype != np.uint8:
        raise PaddockError("saved messages: contents are not arrays of whole numbers and bytes")
    valid = lengths.shape == numbers.shape and bool(((lengths >= 1) & (lengths <= MOST_BYTES + 1)).all())
    if numbers.ndim != 1 or not valid or int(lengths.sum()) != joined.size:
        raise PaddockError("saved messages: contents of other lengths than stated")
    every = joined.tobytes()
    ends = np.cumsum(lengths).tolist()
    found = {n: every[end - size : end] for n, end, size in zip(numbers.tolist(), ends, lengths.tolist(), strict=True)}
    for content in found.values():
        try:
            valid = content[0] in (RAW, TEXT)
            decoded(content)
        except ValueError:
            valid = False
        if not valid:
            raise PaddockError("saved messages: contents that are no message")
    return found
