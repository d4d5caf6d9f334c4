"""Where things lie in an MCAP file: its records, found by the summary at its end or, where that is missing, one by one.

Only as much of the format as our own files need: a header, metadata, attachments, chunks with their message indexes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import ChunkIndex
from mcap.stream_reader import StreamReader

from paddock.errors import PaddockError

MAGIC = b"\x89MCAP0\r\n"
HEAD = struct.Struct("<BQ")
"""Every record: opcode, bytes of content."""
FOOTER = struct.Struct("<QQI")
TRAILER = HEAD.size + FOOTER.size + len(MAGIC)
BROKEN = (McapError, struct.error, ValueError, IndexError, KeyError, EOFError, OverflowError, MemoryError)
"""What reading bytes that make no sense may raise."""


@dataclass
class ChunkPlace:
    """One chunk."""

    start: int  # where its content begins, bytes
    length: int  # of its content, bytes
    indexes: dict[int, int] = field(default_factory=dict)  # channel -> where its message index record begins
    indexed: bool = False  # whether those are all


@dataclass
class Places:
    """What a file holds, and where."""

    chunks: list[ChunkPlace] = field(default_factory=list)
    metadata: list[bytes] = field(default_factory=list)  # contents of the records
    attachments: list[bytes] = field(default_factory=list)
    complete: bool = False  # whether the file was finished


def find_places(file: BinaryIO, size: int, name: str) -> Places:
    """Look around in a file of `size` bytes."""
    file.seek(0)
    if file.read(len(MAGIC)) != MAGIC:
        raise PaddockError(f"{name} is not an MCAP file")
    summary = _summary(file, size)
    places = Places(complete=summary is not None)
    for opcode, start, length in _records(file, len(MAGIC), size):
        if summary is not None and opcode == Opcode.CHUNK:
            break  # the rest is known from the summary
        _note(file, places, opcode, start, length)
    if summary is not None:
        places.chunks = summary
    return places


def _records(file: BinaryIO, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(opcode, where the content begins, its bytes) of every whole record."""
    while at + HEAD.size <= end:
        file.seek(at)
        head = file.read(HEAD.size)
        if len(head) < HEAD.size:
            return
        opcode, length = HEAD.unpack(head)
        at += HEAD.size
        if length > end - at or opcode in (0, Opcode.DATA_END):
            return
        yield opcode, at, length
        at += length


def _note(file: BinaryIO, places: Places, opcode: int, start: int, length: int) -> None:
    if opcode == Opcode.CHUNK:
        if places.chunks:
            places.chunks[-1].indexed = bool(places.chunks[-1].indexes)
        places.chunks.append(ChunkPlace(start, length))
    elif opcode == Opcode.MESSAGE_INDEX and places.chunks and length >= 2:
        file.seek(start)
        channel = int.from_bytes(file.read(2), "little")
        places.chunks[-1].indexes[channel] = start
    elif opcode in (Opcode.METADATA, Opcode.ATTACHMENT):
        file.seek(start)
        kept = places.metadata if opcode == Opcode.METADATA else places.attachments
        kept.append(file.read(length))


def _summary(file: BinaryIO, size: int) -> list[ChunkPlace] | None:
    """The chunks, if the file was finished and its summary is whole."""
    if size < len(MAGIC) + TRAILER:
        return None
    file.seek(size - TRAILER)
    trailer = file.read(TRAILER)
    opcode, length = HEAD.unpack_from(trailer)
    if trailer[-len(MAGIC) :] != MAGIC or opcode != Opcode.FOOTER or length != FOOTER.size:
        return None
    start = FOOTER.unpack_from(trailer, HEAD.size)[0]
    if not len(MAGIC) < start < size - TRAILER:
        return None
    file.seek(start)
    reader = StreamReader(BytesIO(file.read(size - start)), skip_magic=True)
    try:
        indexes = [record for record in reader.records if isinstance(record, ChunkIndex)]
    except BROKEN:
        return None
    return [_place(index) for index in indexes]


def _place(index: ChunkIndex) -> ChunkPlace:
    start, length = index.chunk_start_offset + HEAD.size, index.chunk_length - HEAD.size
    offsets = {channel: offset + HEAD.size for channel, offset in index.message_index_offsets.items()}
    return ChunkPlace(start, length, offsets, indexed=bool(offsets))
