"""Split a byte stream into frames and JSON lines, for any chunking of the bytes."""

from collections.abc import Collection, Iterator
from typing import NamedTuple, NoReturn

import numpy as np

from paddock.errors import renamed_names
from paddock.wire import WireError
from paddock.wire.stream.frames import HEADER, FrameType

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


__getattr__ = renamed_names(__name__, Frame=StreamFrame, Json=JsonLine)
