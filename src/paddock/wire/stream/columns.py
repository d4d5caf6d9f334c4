"""Columns of vehicles as frames: requested columns out (0x15), command inputs in (0x20).

A frame 0x15 has one block for each entry of the request. A frame 0x20 has the same inputs of many vehicles; other
inputs keep their values.
"""

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.layout import Field, Record, TailField
from paddock.wire.stream.frames import HEADER, Buffer, Cursor, FrameType, Target, fill, open_frame

COLUMNS = Record(
    "columns",
    (
        Field("wanted", "<u4", "", "number of the request that is answered"),
        Field("blocks", "<u4", "", "blocks that follow"),
    ),
)
COLUMNS_BLOCK = Record(
    "columns block",
    (
        Field("request", "<u4", "", "index of the entry of the request, from 0"),
        Field("vehicles", "<u4", "", "number of vehicles; 0 if the requested ones do not exist"),
        Field("columns", "<u4", "", "number of columns"),
        Field("width", "<u4", "B", "bytes of a value: 8 (f64) for up to 4096 values, else 4 (f32)"),
    ),
    (
        TailField(
            "values",
            "f64 or f32",
            "width * columns * vehicles",
            "",
            "column by column, in the requested order; NaN: the vehicle has no such column",
        ),
    ),
)
MOST_WIDE = 4096  # values of a block sent in full precision
DTYPES: dict[int, np.dtype[Any]] = {4: np.dtype("<f4"), 8: np.dtype("<f8")}
Values = NDArray[np.float64] | NDArray[np.float32]


class Block(NamedTuple):
    """The reply to one entry of the request."""

    request: int
    values: Values  # (columns, vehicles)


class ColumnsContent(NamedTuple):
    """The content of a frame."""

    wanted: int
    blocks: tuple[Block, ...]


def encode_columns(wanted: int, blocks: Sequence[Block], into: Target | None = None) -> memoryview:
    """Encode blocks as one frame, as float32 if they have many values."""
    sizes = [COLUMNS_BLOCK.size + _width(block) * block.values.size for block in blocks]
    out = open_frame(FrameType.COLUMNS, COLUMNS.size + sum(sizes), into)
    try:
        COLUMNS.packer.pack_into(out, HEADER.size, wanted, len(blocks))
        at = HEADER.size + COLUMNS.size
        for block, size in zip(blocks, sizes, strict=True):
            columns, vehicles = block.values.shape
            COLUMNS_BLOCK.packer.pack_into(out, at, block.request, vehicles, columns, _width(block))
            if block.values.size:
                target = np.frombuffer(out[at : at + size], DTYPES[_width(block)], offset=COLUMNS_BLOCK.size)
                with np.errstate(over="ignore"):
                    target.reshape(columns, vehicles)[...] = block.values
            at += size
    except (struct.error, ValueError) as error:
        raise InvalidValueError(f"columns: {error}") from error
    return out


def _width(block: Block) -> int:
    return 8 if block.values.size <= MOST_WIDE else 4


def decode_columns(payload: Buffer) -> ColumnsContent:
    """Decode the blocks of a frame; their values are views of the payload."""
    cursor = Cursor(payload, "columns")
    wanted, count = cursor.fields(COLUMNS)
    if count * COLUMNS_BLOCK.size > cursor.left:
        raise WireError("count", f"columns: {count} blocks do not fit into {cursor.left} bytes")
    blocks = tuple(_read(cursor) for _ in range(count))
    cursor.finish()
    return ColumnsContent(wanted, blocks)


def _read(cursor: Cursor) -> Block:
    request, vehicles, columns, width = cursor.fields(COLUMNS_BLOCK)
    if width not in DTYPES:
        raise WireError("value", f"columns: a value has 4 or 8 bytes, not {width}")
    start = cursor.skip(width * columns * vehicles)
    if not columns * vehicles:
        return Block(request, np.empty((columns, vehicles), DTYPES[width]))
    values = np.frombuffer(cursor.payload, DTYPES[width], columns * vehicles, start)
    return Block(request, values.reshape(columns, vehicles))


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
