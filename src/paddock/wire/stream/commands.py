"""Frame 0x20, inbound: commands for the same inputs of many vehicles; other inputs keep their values."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.layout import Field, Record, TailField
from paddock.wire.stream.frames import HEADER, Buffer, Cursor, FrameType, Target, fill, open_frame

COMMANDS = Record(
    "commands",
    (Field("count", "<u4", "", "vehicles"), Field("inputs", "u1", "", "K, 1 to 255")),
    (
        TailField("names", "K times u8 + UTF-8", "K + their lengths", "", "length of each input's name, and the name"),
        TailField(
            "values", "count times i32 + f64[K]", "count * (4 + 8 K)", "", "vehicle, and its inputs in that order"
        ),
    ),
)
MAX_NAME = 255  # bytes of an input's name, and the most inputs


class Commands(NamedTuple):
    """A batch: `values[i, k]` is the input `names[k]` of vehicle `ids[i]`."""

    ids: NDArray[np.int32]  # (n,)
    names: tuple[str, ...]  # (k,)
    values: NDArray[np.float64]  # (n, k) in the inputs' own units


@lru_cache
def command_record(inputs: int) -> Record:
    """Return the record of one vehicle for a number of inputs."""
    fields = (Field("id", "<i4", "", "vehicle, 0 to 2^31 - 1"), Field("values", "<f8", "", "its inputs", inputs))
    return Record("command", fields)


def encode_commands(ids: ArrayLike, names: Sequence[str], values: ArrayLike, into: Target | None = None) -> memoryview:
    """Encode `ids` (n,) and `values` (n, k), or (k,) for all vehicles, as one frame."""
    count, labels, dtype = np.size(ids), _labels(names), command_record(len(names)).dtype
    head = COMMANDS.packer.pack(count, len(names)) + labels
    out = open_frame(FrameType.COMMANDS, len(head) + count * dtype.itemsize, into)
    start = HEADER.size + len(head)
    out[HEADER.size : start] = head
    records = np.frombuffer(out, dtype, count, start) if count else np.empty(0, dtype)
    fill(records["id"], np.asarray(ids), "commands: id")
    fill(records["values"].reshape(-1, len(names)), np.asarray(values), "commands: values")
    if problem := _problem(names, records):
        raise InvalidValueError(f"commands: {problem}")
    return out


def _labels(names: Sequence[str]) -> bytes:
    try:
        labels = [name.encode() for name in names]
    except UnicodeEncodeError as error:
        raise InvalidValueError(f"commands: {error.object!r} is not a name: it holds half a surrogate pair") from error
    if not 1 <= len(labels) <= MAX_NAME or max(map(len, labels)) > MAX_NAME:
        raise InvalidValueError(f"commands: 1 to {MAX_NAME} inputs with names of up to {MAX_NAME} bytes, got {names!r}")
    return b"".join(bytes((len(label),)) + label for label in labels)


def decode_commands(payload: Buffer) -> Commands:
    """Decode a batch; ids are not negative, names unique, values finite; arrays are views of the payload."""
    cursor = Cursor(payload, "commands")
    count, inputs = cursor.fields(COMMANDS)
    names = tuple(cursor.text(cursor.payload[cursor.skip(1)]) for _ in range(inputs))
    if not inputs or cursor.left != count * command_record(inputs).size:
        expected = f"{count} vehicles with {inputs} inputs"
        raise WireError("count", f"commands: {cursor.left} bytes do not hold {expected}; 1 input or more")
    dtype = command_record(inputs).dtype
    records = np.frombuffer(payload, dtype, count, cursor.at) if count else np.empty(0, dtype)
    if problem := _problem(names, records):
        raise WireError("value", f"commands: {problem}")
    return Commands(records["id"], names, records["values"].reshape(count, inputs))


def _problem(names: Sequence[str], records: NDArray[Any]) -> str:
    """Return the problem of a batch; empty if there is none."""
    if "" in names or len(set(names)) != len(names):
        return f"every input needs a different name, got {', '.join(map(repr, names[:8]))}"
    if len(records) and records["id"].min() < 0:
        return f"ids must be from 0 to 2^31 - 1, got {records['id'].min()}"
    finite = np.isfinite(records["values"].reshape(-1, len(names)))
    if not finite.all():
        row, column = np.argwhere(~finite)[0].tolist()
        return f"{names[column]!r} of vehicle {records['id'][row]} must be a finite number"
    return ""
