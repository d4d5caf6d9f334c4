"""Frame 0x15: requested columns of some vehicles, one block for each entry of the request."""

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.layout import Field, Record, TailField
from paddock.wire.stream.frames import HEADER, Buffer, Cursor, FrameType, Target, open_frame

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
                place = np.frombuffer(out[at : at + size], DTYPES[_width(block)], offset=COLUMNS_BLOCK.size)
                with np.errstate(over="ignore"):
                    place.reshape(columns, vehicles)[...] = block.values
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
