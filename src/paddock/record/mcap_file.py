"""Read an MCAP file by topic and index, complete or truncated; anything wrong is a PaddockError.

The mcap library decodes records and the summary. Its readers have no random access by message number and decompress a
chunk again for every query (measured: 2 to 800 times slower when samples are read one by one), and they cannot read a
truncated file by index; hence the index here. Supports what our files use: metadata, attachments, indexed chunks.
"""

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
from mcap.reader import SeekingReader
from mcap.records import Attachment, Channel, Chunk, Metadata

from paddock.errors import PaddockError, file_errors
from paddock.files import open_file
from paddock.world.layout import Ints

MAGIC = b"\x89MCAP0\r\n"
HEAD = struct.Struct("<BQ")  # of every record: opcode, bytes of content
MESSAGE = struct.Struct("<HIQQ")  # channel, sequence, log time, publish time
LARGEST_CHUNK = 256 << 20  # bytes: a sample of a million vehicles
CHUNKS_KEPT = 3  # decompressed chunks kept in memory
MOST_UNINDEXED = 1 << 20  # messages of a chunk without an index
BROKEN = (McapError, struct.error, ValueError, IndexError, KeyError, EOFError, OverflowError, MemoryError)
"""Errors of reading damaged bytes."""


class McapMessage(NamedTuple):
    """One message."""

    log_time: int  # ns
    data: memoryview


class TopicIndex(NamedTuple):
    """The location of the messages of a topic, in order."""

    times: Ints  # (n,) log times, ns
    chunks: Ints  # (n,) number of the chunk
    offsets: Ints  # (n,) offset in the chunk, bytes


@dataclass
class ChunkLocation:
    """The location of one chunk."""

    start: int  # of its content, bytes
    length: int  # of its content, bytes
    indexes: dict[int, int] = field(default_factory=dict)  # channel -> start of its message index
    indexed: bool = False  # whether all indexes are known


class McapFile:
    """An open file; thread-safe."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._lock = threading.Lock()
        self.chunks: list[ChunkLocation] = []
        self.metadata: dict[str, dict[str, str]] = {}
        self.attachments: dict[str, bytes] = {}
        self.complete = False
        with file_errors(f"cannot read {self.name}"):
            self._file = open_file(path)
            size = os.fstat(self._file.fileno()).st_size
        try:
            self._scan(size)
            self.chunk = lru_cache(CHUNKS_KEPT)(self._chunk)
            self.index = lru_cache(None)(self._index)
            self.topics = self._topics()
        except PaddockError:
            self._file.close()
            raise
        except BROKEN as error:
            self._file.close()
            raise self._damaged(error) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self.chunk.cache_clear()

    def messages(self, topic: str, first: int = 0, end: int | None = None) -> Iterator[McapMessage]:
        """Yield the messages of a topic from `first` up to, not including, `end`."""
        for k in range(len(self.index(topic).times))[first:end]:
            yield self.message(topic, k)

    def message(self, topic: str, k: int) -> McapMessage:
        """Return the k-th message of a topic."""
        index = self.index(topic)
        data, at = self.chunk(int(index.chunks[k])), int(index.offsets[k])
        try:
            opcode, length = HEAD.unpack_from(data, at)
            content = data[at + HEAD.size : at + HEAD.size + length]
            log_time = MESSAGE.unpack_from(content)[2]
            if opcode != Opcode.MESSAGE or len(content) != length:
                raise ValueError("wrong offset in a message index")
        except BROKEN as error:
            raise self._damaged(error) from None
        return McapMessage(log_time, content[MESSAGE.size :])

    def _scan(self, size: int) -> None:
        """Find the records of a file of `size` bytes, through its summary if it has one."""
        self._file.seek(0)
        if self._file.read(len(MAGIC)) != MAGIC:
            raise PaddockError(f"{self.name} is not an MCAP file")
        summary = _summary(self._file)
        self.complete = summary is not None
        for opcode, start, length in _file_records(self._file, len(MAGIC), size):
            if summary is not None and opcode == Opcode.CHUNK:
                break  # the summary has the rest
            self._note(opcode, start, length)
        if summary is not None:
            self.chunks = summary

    def _note(self, opcode: int, start: int, length: int) -> None:
        self._file.seek(start)
        if opcode == Opcode.CHUNK:
            if self.chunks:
                self.chunks[-1].indexed = bool(self.chunks[-1].indexes)
            self.chunks.append(ChunkLocation(start, length))
        elif opcode == Opcode.MESSAGE_INDEX and self.chunks and length >= 2:
            channel = int.from_bytes(self._file.read(2), "little")
            self.chunks[-1].indexes[channel] = start
        elif opcode == Opcode.METADATA:
            record = Metadata.read(ReadDataStream(BytesIO(self._file.read(length))))
            self.metadata[record.name] = record.metadata
        elif opcode == Opcode.ATTACHMENT:
            content = self._file.read(length)
            if zlib.crc32(content[:-4]) != int.from_bytes(content[-4:], "little"):
                raise ValueError("wrong checksum of an attachment")
            attachment = Attachment.read(ReadDataStream(BytesIO(content)))
            self.attachments[attachment.name] = attachment.data

    def _topics(self) -> dict[str, int]:
        """Return the channel of each topic; all are registered in the first chunk."""
        topics = {}
        for opcode, content in _chunk_records(self.chunk(0)) if self.chunks else ():
            if opcode == Opcode.CHANNEL:
                channel = Channel.read(ReadDataStream(BytesIO(content)))
                topics[channel.topic] = channel.id
        return topics

    def _index(self, topic: str) -> TopicIndex:
        channel = self.topics.get(topic)
        if channel is None:
            return TopicIndex(*(np.zeros(0, np.int64) for _ in range(3)))
        try:
            parts = [self._entries(k, chunk, channel) for k, chunk in enumerate(self.chunks)]
        except BROKEN as error:
            raise self._damaged(error) from None
        entries = np.concatenate(parts) if parts else np.zeros((0, 2), np.int64)
        chunks = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        return TopicIndex(entries[:, 0], chunks, entries[:, 1])

    def _entries(self, number: int, chunk: ChunkLocation, channel: int) -> Ints:
        """Return (n, 2) log times and offsets of the channel's messages in a chunk."""
        if chunk.indexed and channel not in chunk.indexes:
            return np.zeros((0, 2), np.int64)
        if not chunk.indexed:  # the file is truncated right after this chunk
            return _entries_inside(self.chunk(number), channel)
        head = self._read(chunk.indexes[channel], 6)
        nbytes = int.from_bytes(head[2:], "little")
        return np.frombuffer(self._read(chunk.indexes[channel] + 6, nbytes), "<u8").astype(np.int64).reshape(-1, 2)

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
        """Return the records of a chunk, decompressed and checked."""
        location = self.chunks[number]
        try:
            return _unpacked(self._read(location.start, location.length))
        except (*BROKEN, zstandard.ZstdError) as error:
            raise PaddockError(f"{self.name} is damaged: the chunk at byte {location.start}: {error}") from None


def _file_records(file: BinaryIO, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield (opcode, start of the content, its bytes) of every complete record."""
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


def _summary(file: BinaryIO) -> list[ChunkLocation] | None:
    """Return the chunks from the summary; None if the file was not finished or the summary is damaged."""
    file.seek(-len(MAGIC), os.SEEK_END)
    if file.read() != MAGIC:
        return None
    file.seek(0)
    try:
        summary = SeekingReader(file).get_summary()
    except (*BROKEN, OSError, StopIteration):
        return None
    chunks = []
    for record in () if summary is None else summary.chunk_indexes:
        offsets = {channel: offset + HEAD.size for channel, offset in record.message_index_offsets.items()}
        start, length = record.chunk_start_offset + HEAD.size, record.chunk_length - HEAD.size
        chunks.append(ChunkLocation(start, length, offsets, indexed=bool(offsets)))
    return chunks if summary else None


def _unpacked(content: bytes) -> memoryview:
    chunk = Chunk.read(ReadDataStream(BytesIO(content)))
    size, data, crc = chunk.uncompressed_size, chunk.data, chunk.uncompressed_crc
    if size > LARGEST_CHUNK or chunk.compression not in ("", "zstd"):
        raise ValueError(f"{size} bytes of {chunk.compression!r} in {len(data)}")
    if chunk.compression:
        data = zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    if len(data) != size or (crc and zlib.crc32(data) != crc):
        raise ValueError("wrong checksum")
    return memoryview(data)


def _chunk_records(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield (opcode, content) of the records of a chunk."""
    at = 0
    while at + HEAD.size <= len(data):
        opcode, length = HEAD.unpack_from(data, at)
        yield opcode, data[at + HEAD.size : at + HEAD.size + length]
        at += HEAD.size + length


def _entries_inside(data: memoryview, channel: int) -> Ints:
    entries, at = [], 0
    for opcode, content in _chunk_records(data):
        if opcode == Opcode.MESSAGE:
            channel_id, _, log_time, _ = MESSAGE.unpack_from(content)
            entries += [(log_time, at)] if channel_id == channel else []
            if len(entries) > MOST_UNINDEXED:
                raise ValueError(f"more than {MOST_UNINDEXED} messages without an index")
        at += HEAD.size + len(content)
    return np.array(entries, np.int64).reshape(-1, 2)
