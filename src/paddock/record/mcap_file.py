"""Where things lie in an MCAP file: its records, found by the summary at its end or, where that is missing, one by one.

Only as much of the format as our own files need: a header, metadata, attachments, chunks with their message indexes.
"""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from typing import BinaryIO, NamedTuple

import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, ChunkIndex, Metadata
from mcap.stream_reader import StreamReader
from numpy.typing import NDArray

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


CHUNK_HEAD = struct.Struct("<QQQI")  # first and last log time, bytes and CRC32 when not compressed
MESSAGE = struct.Struct("<HIQQ")  # channel, sequence, log time, publish time
LARGEST_CHUNK = 4 * 2**30
CHUNKS_KEPT = 3
"""Chunks that stay in memory, decompressed."""

Ints = NDArray[np.int64]


class Message(NamedTuple):
    """One message."""

    log_time: int  # ns
    publish_time: int  # ns since 1970
    data: memoryview


class Index(NamedTuple):
    """Where the messages of a topic are, in their order."""

    times: Ints  # (n,) log times, ns
    chunks: Ints  # (n,) which chunk
    offsets: Ints  # (n,) where in it, bytes


class McapFile:
    """An open file. Any thread may read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._lock = threading.Lock()
        try:
            self._file = open(path, "rb")  # noqa: SIM115  closed by close()
            size = os.fstat(self._file.fileno()).st_size
        except OSError as error:
            raise PaddockError(f"cannot read {self.name}: {error.strerror or error}") from None
        try:
            self._open(size)
        except PaddockError:
            self._file.close()
            raise
        except BROKEN as error:
            self._file.close()
            raise self._damaged(error) from None

    def _open(self, size: int) -> None:
        self.places: Places = find_places(self._file, size, self.name)
        self.complete = self.places.complete
        self.metadata = {m.name: m.metadata for m in map(_metadata, self.places.metadata)}
        self.attachments = {a.name: a.data for a in map(_attachment, self.places.attachments)}
        self.chunk = lru_cache(CHUNKS_KEPT)(self._chunk)
        self.index = lru_cache(None)(self._index)
        self.topics = self._topics()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self.chunk.cache_clear()

    def messages(self, topic: str, first: int = 0, end: int | None = None) -> Iterator[Message]:
        """The messages of a topic from the `first` up to, not including, the `end`."""
        for k in range(len(self.index(topic).times))[first:end]:
            yield self.message(topic, k)

    def message(self, topic: str, k: int) -> Message:
        """The k-th message of a topic."""
        index = self.index(topic)
        data, at = self.chunk(int(index.chunks[k])), int(index.offsets[k])
        try:
            opcode, length = HEAD.unpack_from(data, at)
            content = data[at + HEAD.size : at + HEAD.size + length]
            _, _, log_time, publish_time = MESSAGE.unpack_from(content)
            if opcode != Opcode.MESSAGE or len(content) != length:
                raise ValueError("an index that leads nowhere")
        except BROKEN as error:
            raise self._damaged(error) from None
        return Message(log_time, publish_time, content[MESSAGE.size :])

    # inside ----------------------------------------------------------------------------------------------------------

    def _damaged(self, error: BaseException) -> PaddockError:
        return PaddockError(f"{self.name} is damaged: {' '.join(str(error).split()) or type(error).__name__}")

    def _read(self, start: int, length: int) -> bytes:
        with self._lock:
            try:
                self._file.seek(start)
                data = self._file.read(length)
            except (OSError, ValueError) as error:
                raise PaddockError(f"cannot read {self.name}: {error}") from None
        if len(data) < length:
            raise PaddockError(f"{self.name} is damaged: it ends before byte {start + length}")
        return data

    def _chunk(self, number: int) -> memoryview:
        """The records of a chunk, decompressed and checked."""
        place = self.places.chunks[number]
        try:
            return _unpacked(self._read(place.start, place.length))
        except (*BROKEN, zstandard.ZstdError) as error:
            raise PaddockError(f"{self.name} is damaged: the chunk at byte {place.start}: {error}") from None

    def _topics(self) -> dict[str, int]:
        """Topic -> channel; they are all declared in the first chunk."""
        topics = {}
        for opcode, content in _chunk_records(self.chunk(0)) if self.places.chunks else ():
            if opcode == Opcode.CHANNEL:
                channel = Channel.read(ReadDataStream(BytesIO(content)))
                topics[channel.topic] = channel.id
        return topics

    def _index(self, topic: str) -> Index:
        channel = self.topics.get(topic)
        if channel is None:
            return Index(*(np.zeros(0, np.int64) for _ in range(3)))
        try:
            parts = [self._entries(k, place, channel) for k, place in enumerate(self.places.chunks)]
        except BROKEN as error:
            raise self._damaged(error) from None
        entries = np.concatenate(parts) if parts else np.zeros((0, 2), np.int64)
        chunks = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return Index(entries[:, 0], chunks, entries[:, 1])

    def _entries(self, number: int, place: ChunkPlace, channel: int) -> Ints:
        """(n, 2) log time and offset of the channel's messages in a chunk."""
        if place.indexed and channel not in place.indexes:
            return np.zeros((0, 2), np.int64)
        if not place.indexed:  # the file was cut off right behind this chunk
            return _entries_inside(self.chunk(number), channel)
        head = self._read(place.indexes[channel], 6)
        nbytes = int.from_bytes(head[2:], "little")
        return np.frombuffer(self._read(place.indexes[channel] + 6, nbytes), "<u8").astype(np.int64).reshape(-1, 2)


def _unpacked(content: bytes) -> memoryview:
    *_, size, crc = CHUNK_HEAD.unpack_from(content)
    at = CHUNK_HEAD.size
    name_length = int.from_bytes(content[at : at + 4], "little")
    compression = content[at + 4 : at + 4 + name_length]
    at += 4 + name_length
    length = int.from_bytes(content[at : at + 8], "little")
    packed = memoryview(content)[at + 8 : at + 8 + length]
    if size > LARGEST_CHUNK or len(packed) != length or compression not in (b"", b"zstd"):
        raise ValueError(f"{size} bytes of {compression!r} in {len(packed)}")
    data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=size) if compression else bytes(packed)
    if len(data) != size or (crc and zlib.crc32(data) != crc):
        raise ValueError("its checksum is wrong")
    return memoryview(data)


def _chunk_records(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """(opcode, content) of the records of a chunk."""
    at = 0
    while at + HEAD.size <= len(data):
        opcode, length = HEAD.unpack_from(data, at)
        yield opcode, data[at + HEAD.size : at + HEAD.size + length]
        at += HEAD.size + length


def _entries_inside(data: memoryview, channel: int) -> Ints:
    entries, at = [], 0
    for opcode, content in _chunk_records(data):
        if opcode == Opcode.MESSAGE:
            found, _, log_time, _ = MESSAGE.unpack_from(content)
            entries += [(log_time, at)] if found == channel else []
        at += HEAD.size + len(content)
    return np.array(entries, np.int64).reshape(-1, 2)


def _metadata(content: bytes) -> Metadata:
    record: Metadata = Metadata.read(ReadDataStream(BytesIO(content)))
    return record


def _attachment(content: bytes) -> Attachment:
    if zlib.crc32(content[:-4]) != int.from_bytes(content[-4:], "little"):
        raise ValueError("the checksum of an attachment is wrong")
    record: Attachment = Attachment.read(ReadDataStream(BytesIO(content)))
    return record
