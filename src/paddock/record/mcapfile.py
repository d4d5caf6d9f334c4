"""Reading an MCAP file message by message, whether it was finished or cut off; anything wrong is a PaddockError."""

from __future__ import annotations

import os
import struct
import threading
import zlib
from collections.abc import Iterator
from functools import lru_cache
from io import BytesIO
from typing import NamedTuple

import numpy as np
import zstandard
from mcap.data_stream import ReadDataStream
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, Metadata
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.record.places import BROKEN, HEAD, ChunkPlace, Places, find_places

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
        for opcode, content in _records(self.chunk(0)) if self.places.chunks else ():
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


def _records(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """(opcode, content) of the records of a chunk."""
    at = 0
    while at + HEAD.size <= len(data):
        opcode, length = HEAD.unpack_from(data, at)
        yield opcode, data[at + HEAD.size : at + HEAD.size + length]
        at += HEAD.size + length


def _entries_inside(data: memoryview, channel: int) -> Ints:
    entries, at = [], 0
    for opcode, content in _records(data):
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
