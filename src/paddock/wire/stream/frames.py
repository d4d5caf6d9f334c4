"""Frames of the stream: a header `type u8, payload length u32`, then mostly `count u32` and that many records.

Encoders write to `into` if given (e.g. a slot of shared memory), else to a new buffer, and return a view of the bytes
written. Decoders return views of the payload without copying. `Splitter` splits a byte stream into frames and JSON
lines, for any chunking of the bytes. The modules of the frames:

    positions.py  POSITIONS, POSES, TELEMETRY, FPV_STATE
    columns.py    COLUMNS, COMMANDS
    drawing.py    DEBUG_*, MARKERS
    frames.py     TICK, EVENTS, and the layout of frames in shared memory (this module)
"""

import math
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paddock.errors import InvalidValueError
from paddock.wire import WireError
from paddock.wire.layout import Field, Record, TailField
from paddock.wire.results import EventRecord

T = TypeVar("T")
Buffer = bytes | bytearray | memoryview  # a payload
Target = bytearray | memoryview | NDArray[np.uint8]  # memory that a frame is written to
Records = NDArray[np.void]  # a structured array, one element per record


class FrameType(IntEnum):
    """The first byte of a frame; never `[` or `{` (0x5B, 0x7B), which start JSON on the same socket."""

    POSITIONS = 0x01
    TELEMETRY = 0x02
    DEBUG_LINES = 0x03
    DEBUG_SPHERES = 0x04
    TICK = 0x10
    FPV_STATE = 0x11
    MARKERS = 0x12
    EVENTS = 0x13
    POSES = 0x14
    COLUMNS = 0x15
    COMMANDS = 0x20


FRAME_HEADER = Record(
    "frame header",
    (
        Field("type", "u1", "", "type of the payload"),
        Field("payload_length", "<u4", "B", "bytes that follow the header"),
    ),
)
COUNT = Record("count", (Field("count", "<u4", "", "records that follow"),))
HEADER = struct.Struct("<BI")
COUNTED = struct.Struct("<BII")
MAX_PAYLOAD = 2**32 - 1


def counted_size(record: Record, count: int) -> int:
    """Return the bytes of a frame of `count` records of a fixed size."""
    return COUNTED.size + count * record.size


def destination(size: int, into: Target | None) -> memoryview:
    """Return `size` writable bytes: the start of `into`, or a new buffer."""
    if size - HEADER.size > MAX_PAYLOAD:
        raise InvalidValueError(f"a frame holds at most {MAX_PAYLOAD} bytes, not {size}")
    if into is None:
        return np.empty(size, np.uint8).data  # a bytearray would be zeroed
    view = into.data if isinstance(into, np.ndarray) else memoryview(into)
    if view.readonly or not view.c_contiguous or view.nbytes < size:
        raise InvalidValueError(f"a frame needs {size} contiguous writable bytes, not {view.nbytes} of {type(into)}")
    return view.cast("B")[:size]


def open_frame(kind: FrameType, size: int, into: Target | None) -> memoryview:
    """Return a frame with its header and room for `size` bytes of payload."""
    out = destination(HEADER.size + size, into)
    HEADER.pack_into(out, 0, kind, size)
    return out


def encode_records(kind: FrameType, records: Sequence[bytes], into: Target | None) -> memoryview:
    """Encode records of variable length as a frame."""
    payload = COUNT.packer.pack(len(records)) + b"".join(records)
    out = open_frame(kind, len(payload), into)
    out[HEADER.size :] = payload
    return out


def open_table(kind: FrameType, record: Record, count: int, into: Target | None) -> tuple[memoryview, Records]:
    """Return a frame with header and count, and its records (count,) to fill."""
    out = destination(counted_size(record, count), into)
    COUNTED.pack_into(out, 0, kind, len(out) - HEADER.size, count)
    return out, np.frombuffer(out, record.dtype, offset=COUNTED.size) if count else np.empty(0, record.dtype)


def encode_table(kind: FrameType, record: Record, *columns: ArrayLike, into: Target | None = None) -> memoryview:
    """Encode a column (n,) or (n, k) per field as a frame; the first defines n, scalars apply to all, `pad` is 0."""
    arrays = [np.asarray(values) for values in columns]
    out, records = open_table(kind, record, len(arrays[0]) if arrays[0].ndim else 1, into)
    for field in record.fields:
        values = np.zeros((), np.uint8) if field.name == "pad" else arrays.pop(0)
        fill(records[field.name], values, f"{record.name}: {field.name}")
    return out


def fill(target: NDArray[Any], values: NDArray[Any], what: str) -> None:
    """Copy a column; numbers that the wire's integers cannot hold are an error, they never wrap."""
    if target.dtype.kind in "iu" and values.dtype != target.dtype and values.size:
        limits = np.iinfo(target.dtype)
        if values.dtype.kind not in "iub" or values.min() < limits.min or values.max() > limits.max:
            raise InvalidValueError(f"{what} takes whole numbers from {limits.min} to {limits.max}")
    try:
        target[...] = values
    except (ValueError, TypeError) as error:
        raise InvalidValueError(f"{what} has shape {target.shape}; {values.shape} does not fit") from error


def decode_table(payload: Buffer, record: Record) -> Records:
    """Return the records (n,) of a payload that consists of a count and that many records; a view."""
    count = read_count(payload, record.name)
    expected = COUNT.size + count * record.size
    if len(payload) != expected:
        raise WireError("length", f"{record.name}: {count} records take {expected} bytes, got {len(payload)}")
    return np.frombuffer(payload, record.dtype, count, COUNT.size) if count else np.empty(0, record.dtype)


def read_count(payload: Buffer, what: str) -> int:
    """Return the count at the start of a payload; the caller checks it against the length."""
    if len(payload) < COUNT.size:
        raise WireError("length", f"{what}: a payload starts with {COUNT.size} bytes of count, got {len(payload)}")
    return int.from_bytes(payload[: COUNT.size], "little")


class Cursor:
    """A position in a payload that only moves forward, with checked lengths; `what` names the message in errors."""

    def __init__(self, payload: Buffer, what: str) -> None:
        self.payload = memoryview(payload)
        self.what = what
        self.at = 0

    @property
    def left(self) -> int:
        """Bytes not read yet."""
        return len(self.payload) - self.at

    def skip(self, size: int) -> int:
        """Skip `size` bytes; return where they start."""
        if size > self.left:
            raise WireError("length", f"{self.what}: {size} bytes expected at byte {self.at}, got {self.left}")
        start = self.at
        self.at += size
        return start

    def fields(self, record: Record) -> tuple[Any, ...]:
        """Read the fixed fields of one record."""
        return record.packer.unpack_from(self.payload, self.skip(record.size))

    def text(self, size: int) -> str:
        """Read `size` bytes of UTF-8."""
        start = self.skip(size)
        try:
            return str(self.payload[start : self.at], "utf-8")
        except UnicodeDecodeError as error:
            raise WireError("utf8", f"{self.what}: the text at byte {start} is not UTF-8") from error

    def finish(self) -> None:
        """Check that no bytes are left."""
        if self.left:
            raise WireError("length", f"{self.what}: {self.left} bytes too many")


def decode_records(payload: Buffer, record: Record, read: Callable[[Cursor], T]) -> tuple[T, ...]:
    """Decode a payload that consists of a count and that many records of variable length."""
    cursor, count = Cursor(payload, record.name), read_count(payload, record.name)
    cursor.skip(COUNT.size)
    if count * record.size > cursor.left:
        raise WireError("count", f"{record.name}: {count} records do not fit into {cursor.left} bytes")
    records = tuple(read(cursor) for _ in range(count))
    cursor.finish()
    return records


TICK = Record(
    "tick",
    (
        Field("tick", "<u8", "", "ticks since the start of the run"),
        Field("sim_time", "<f8", "s", "simulation time"),
        Field("wall_time", "<f8", "s", "time of publication, since 1970 (UTC)"),
        Field("run", "<u4", "", "+1 with every reset"),
        Field("roster", "<u4", "", "+1 when vehicles are added or removed"),
    ),
)
FRAME_SIZE = HEADER.size + TICK.size  # bytes of the whole frame


class Tick(NamedTuple):
    """The tick of a group of frames."""

    tick: int
    sim_time: float  # s
    wall_time: float  # s since 1970
    run: int
    roster: int


def encode_tick(tick: Tick, into: Target | None = None) -> memoryview:
    """Encode the frame, 37 bytes."""
    out = open_frame(FrameType.TICK, TICK.size, into)
    try:
        TICK.packer.pack_into(out, HEADER.size, *tick)
    except struct.error as error:
        raise InvalidValueError(f"tick frame: {error} in {tick}") from error
    return out


def decode_tick(payload: Buffer) -> Tick:
    """Decode the payload; times are finite."""
    if len(payload) != TICK.size:
        raise WireError("length", f"tick: a payload has {TICK.size} bytes, got {len(payload)}")
    tick = Tick._make(TICK.packer.unpack(payload))
    if not (math.isfinite(tick.sim_time) and math.isfinite(tick.wall_time)):
        raise WireError("value", f"tick: times must be finite, got {tick.sim_time} and {tick.wall_time}")
    return tick


EVENT = Record(
    "events",
    (
        Field("number", "<u8", "", "counts the events of a run, from 1"),
        Field("tick", "<u8", "", "tick of the event"),
        Field("kind_bytes", "u1", "B", "length of the kind"),
        Field("subject_bytes", "u1", "B", "length of the subject"),
        Field("detail_bytes", "<u2", "B", "length of the detail"),
    ),
    (
        TailField("kind", "UTF-8", "kind_bytes", "", "spawned, removed, failsafe, ..."),
        TailField("subject", "UTF-8", "subject_bytes", "", "the vehicle or fleet concerned"),
        TailField("detail", "UTF-8", "detail_bytes", "", "more, as text"),
    ),
)


def encode_events(events: Iterable[EventRecord], into: Target | None = None) -> memoryview:
    """Encode events, in order, as one frame."""
    return encode_records(FrameType.EVENTS, [_record(event) for event in events], into)


def _record(event: EventRecord) -> bytes:
    try:
        texts = [text.encode() for text in (event.kind, event.subject, event.detail)]
        return b"".join((EVENT.packer.pack(event.number, event.tick, *map(len, texts)), *texts))
    except (struct.error, UnicodeEncodeError) as error:
        where = f"event {event.number} ({event.kind[:40]!r})"
        raise InvalidValueError(f"{where} does not fit its frame: {error}") from error


def decode_events(payload: Buffer) -> tuple[EventRecord, ...]:
    """Decode the events of a frame."""
    return decode_records(payload, EVENT, _read)


def _read(cursor: Cursor) -> EventRecord:
    number, tick, kind, subject, detail = cursor.fields(EVENT)
    return EventRecord(number, tick, cursor.text(kind), cursor.text(subject), cursor.text(detail))


JSON_STARTS = frozenset(b"{[")


class StreamFrame(NamedTuple):
    """A binary frame; decode the payload by its type."""

    type: FrameType
    payload: memoryview


class JsonLine(NamedTuple):
    """A line of JSON without its line break."""

    line: bytes


class Splitter:
    """Splits received bytes into messages.

    `limit_frame` and `limit_json` bound a message (bytes of payload, bytes of a line) and the memory in use; `types`
    are the accepted frames. After a WireError the start of the next message is unknown: the error is raised again by
    every later call. Time is linear in the bytes; a payload is copied once, or not at all if it arrives in one piece.
    """

    def __init__(self, limit_frame: int, limit_json: int, types: Collection[int] = frozenset(FrameType)) -> None:
        self.limit_frame = limit_frame
        self.limit_json = limit_json
        self.types = types
        self._piece = b""  # the bytes fed last
        self._at = 0  # bytes of it used
        self._begun = bytearray()  # an incomplete header or line
        self._open: StreamFrame | None = None  # a frame with an incomplete payload
        self._filled = 0  # bytes of that payload
        self._broken: tuple[str, str] | None = None  # not the error itself: its traceback would keep this object

    @property
    def held(self) -> int:
        """Bytes held of an incomplete message."""
        return len(self._begun) + self._filled

    def feed(self, data: bytes) -> Iterator[StreamFrame | JsonLine]:
        """Return the messages that are complete now; those not taken are returned by the next call."""
        rest = self._piece[self._at :]
        self._piece, self._at = rest + data if rest else bytes(data), 0
        return iter(self._next, None)

    def _next(self) -> StreamFrame | JsonLine | None:
        """Return the next complete message; None if more bytes are needed."""
        if self._broken:
            raise WireError(*self._broken)
        if self._at == len(self._piece):
            self._piece, self._at = b"", 0  # releases the memory
            return None
        if self._open:
            return self._fill(self._open)
        first = self._begun[0] if self._begun else self._piece[self._at]
        return self._line() if first in JSON_STARTS else self._frame(first)

    def _line(self) -> JsonLine | None:
        end = self._piece.find(b"\n", self._at)
        stop = end if end >= 0 else len(self._piece)
        if len(self._begun) + stop - self._at > self.limit_json:
            self._fail("length", f"a line of JSON has at most {self.limit_json} bytes")
        self._begun += memoryview(self._piece)[self._at : stop]
        self._at = stop
        if end < 0:
            return None
        self._at += 1
        line = JsonLine(bytes(self._begun))
        self._begun.clear()
        return line

    def _frame(self, first: int) -> StreamFrame | None:
        if first not in self.types:
            self._fail("type", f"a message starts with '{{', '[' or a frame type, not with 0x{first:02x}")
        missing = HEADER.size - len(self._begun)
        self._begun += self._piece[self._at : self._at + missing]
        self._at = min(self._at + missing, len(self._piece))
        if len(self._begun) < HEADER.size:
            return None
        _, length = HEADER.unpack(self._begun)
        if length > self.limit_frame:
            self._fail("length", f"a payload has at most {self.limit_frame} bytes, not {length} (frame 0x{first:02x})")
        self._begun.clear()
        return self._payload(FrameType(first), length)

    def _payload(self, kind: FrameType, length: int) -> StreamFrame | None:
        """Return the frame if it is complete; otherwise reserve its memory."""
        stop = self._at + length
        if stop <= len(self._piece):
            frame = StreamFrame(kind, memoryview(self._piece)[self._at : stop])
            self._at = stop
            return frame
        self._open = StreamFrame(kind, np.empty(length, np.uint8).data)  # takes memory only as it is filled
        return self._fill(self._open)

    def _fill(self, frame: StreamFrame) -> StreamFrame | None:
        part = memoryview(self._piece)[self._at : self._at + len(frame.payload) - self._filled]
        frame.payload[self._filled : self._filled + len(part)] = part
        self._filled += len(part)
        self._at += len(part)
        if self._filled < len(frame.payload):
            return None
        self._open, self._filled = None, 0
        return frame

    def _fail(self, reason: str, message: str) -> NoReturn:
        self._broken = reason, message
        self._piece, self._at, self._begun = b"", 0, bytearray()
        raise WireError(reason, message)


def frames_in(data: memoryview) -> Iterator[StreamFrame]:
    """Yield the frames of a buffer of complete frames, such as a slot of shared memory; nothing is copied."""
    at = 0
    while at < len(data):
        if len(data) - at < HEADER.size:
            raise WireError("length", f"a frame starts with {HEADER.size} bytes of header, {len(data) - at} are left")
        kind, length = HEADER.unpack_from(data, at)
        if kind not in frozenset(FrameType):
            raise WireError("type", f"unknown frame type 0x{kind:02x}")
        at += HEADER.size
        if length > len(data) - at:
            raise WireError("length", f"a payload of {length} bytes does not fit: {len(data) - at} are left")
        yield StreamFrame(FrameType(kind), data[at : at + length])
        at += length


# The layout of the shared memory that carries frames; `world/ring.py` writes and reads it.
SHM_CONTROL = Record(
    "control segment",
    (
        Field("magic", "<u8", "", 'the letters "PDKFRAME"'),
        Field("version", "<u8", "", "1"),
        Field("token", "<u8", "", "random number of the writer"),
        Field("generation", "<u8", "", "of the current data segment; 0 before the first group"),
        Field("pid", "<u8", "", "process of the writer"),
        Field("birth", "<u8", "", "start of that process, in the system's clock ticks"),
        Field("closed", "<u8", "", "1 once the writer has ended"),
    ),
)
SHM_DATA = Record(
    "data segment",
    (
        Field("magic", "<u8", "", "as in the control segment"),
        Field("version", "<u8", "", "1"),
        Field("token", "<u8", "", "as in the control segment"),
        Field("generation", "<u8", "", "of this segment"),
        Field("slots", "<u8", "", "number of slots"),
        Field("stride", "<u8", "B", "from one slot to the next"),
        Field("first", "<u8", "B", "offset of the first slot"),
        Field("room", "<u8", "B", "for the frames of a group"),
        Field("latest", "<u8", "", "number of the newest complete group; 0 before the first"),
        Field("retired", "<u8", "", "1 once there is a newer generation"),
    ),
)
SHM_SLOT = Record(
    "slot",
    (
        Field("lock", "<u8", "", "2 s of group s, 2 s + 1 while it is written"),
        Field("size", "<u8", "B", "of the frames"),
        *TICK.fields,
    ),
)
SHM_SLOT_META = Record("slot without its lock", SHM_SLOT.fields[1:]).packer
