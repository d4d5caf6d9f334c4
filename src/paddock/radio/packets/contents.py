"""Contents of messages: bytes, or what JSON can hold, kept as bytes with a leading tag."""

import json
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.packets.layout import VALUE_COUNT

MOST_BYTES = 1 << 16  # of one message
RAW, TEXT = 0, 1  # how contents were given
MOST_SERVED = 1 << 53  # packets of services


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


def contents_tree(contents: dict[int, bytes]) -> list[Any]:
    """Return contents by number as arrays: numbers, lengths and all bytes."""
    ordered = [contents[number] for number in sorted(contents)]
    lengths = np.array([len(content) for content in ordered], np.int64)
    return [np.array(sorted(contents), np.int64), lengths, np.frombuffer(b"".join(ordered), np.uint8)]


def contents_of(tree: Any) -> dict[int, bytes]:
    """Return the contents of a tree by their numbers; PaddockError for those that are not valid."""
    numbers, lengths, joined = (np.asarray(values) for values in tree)
    if numbers.dtype != np.int64 or lengths.dtype != np.int64 or joined.dtype != np.uint8:
        raise PaddockError("contents are not arrays of whole numbers and bytes")
    valid = lengths.shape == numbers.shape and bool(((lengths >= 1) & (lengths <= MOST_BYTES + 1)).all())
    if numbers.ndim != 1 or not valid or int(lengths.sum()) != joined.size or (np.diff(numbers) <= 0).any():
        raise PaddockError("contents have other lengths than stated")
    every, ends = joined.tobytes(), np.cumsum(lengths).tolist()
    contents = {
        number: every[end - size : end]
        for number, end, size in zip(numbers.tolist(), ends, lengths.tolist(), strict=True)
    }
    for content in contents.values():
        if content[0] not in (RAW, TEXT):
            raise PaddockError("contents are neither bytes nor JSON")
        decoded(content)
    return contents
