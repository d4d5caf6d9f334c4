"""Taking a byte stream apart: frames and JSON lines as they come over one socket, however the bytes were cut."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple, NoReturn

import numpy as np

from paddock.wire.error import WireError
from paddock.wire.stream.frames import HEADER, FrameType

JSON_STARTS = frozenset(b"{[")


class Frame(NamedTuple):
    """A binary frame; decode the payload by its type."""

    type: FrameType
    payload: memoryview


class Json(NamedTuple):
    """A line of JSON without its end of line."""

    line: bytes


class Splitter:
    """Give it bytes as they arrive, take messages as they become complete.

    `limit_frame` and `limit_json` bound a message (bytes of payload, bytes of a line) and so the memory that is held;
    `types` are the frames that this side takes. After a WireError nothing more can be read from the connection, as
    nobody knows where the next message begins: it is raised again whatever is fed. Time is linear in the bytes; a
    payload is copied once, or not at all where it lies within one piece.
    """

    def __init__(self, limit_frame: int, limit_json: int, types: Collection[int] = frozenset(FrameType)) -> None:
        self.limit_frame = limit_frame
        self.limit_json = limit_json
        self.types = types
        self._piece = b""  # what arrived last
        self._at = 0  # how much of it was used
        self._begun = bytearray()  # a header or a line that is not complete
        self._open: Frame | None = None  # a frame whose payload is not complete
        self._filled = 0  # bytes of that payload that are there
        self._broken: tuple[str, str] | None = None  # not the error itself: its traceback would hold this object

    @property
    def held(self) -> int:
        """Bytes kept of a message that is not complete."""
        return len(self._begun) + self._filled

    def feed(self, data: bytes) -> Iterator[Frame | Json]:
        """The messages that are complete now; what the caller leaves in the iterator comes with the next one."""
        rest = self._piece[self._at :]
        self._piece, self._at = rest + data if rest else bytes(data), 0
        return iter(self._next, None)

    def _next(self) -> Frame | Json | None:
        """The next complete message; None when more bytes are needed."""
        if self._broken:
            raise WireError(*self._broken)
        if self._at == len(self._piece):
            self._piece, self._at = b"", 0  # the caller may want its memory back
            return None
        if self._open:
            return self._fill(self._open)
        first = self._begun[0] if self._begun else self._piece[self._at]
        return self._line() if first in JSON_STARTS else self._frame(first)

    def _line(self) -> Json | None:
        end = self._piece.find(b"\n", self._at)
        stop = end if end >= 0 else len(self._piece)
        if len(self._begun) + stop - self._at > self.limit_json:
            self._fail("length", f"a line of JSON has at most {self.limit_json} bytes")
        self._begun += memoryview(self._piece)[self._at : stop]
        self._at = stop
        if end < 0:
            return None
        self._at += 1
        line = Json(bytes(self._begun))
        self._begun.clear()
        return line

    def _frame(self, first: int) -> Frame | None:
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

    def _payload(self, kind: FrameType, length: int) -> Frame | None:
        """The frame, if all of it is there; otherwise room for the rest, the length having been checked."""
        stop = self._at + length
        if stop <= len(self._piece):
            frame = Frame(kind, memoryview(self._piece)[self._at : stop])
            self._at = stop
            return frame
        self._open = Frame(kind, np.empty(length, np.uint8).data)  # takes memory only as it is filled
        return self._fill(self._open)

    def _fill(self, frame: Frame) -> Frame | None:
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


def frames_in(data: memoryview) -> Iterator[Frame]:
    """The frames of a buffer that holds nothing but whole ones, such as a slot of shared memory; nothing is copied."""
    at = 0
    while at < len(data):
        if len(data) - at < HEADER.size:
            raise WireError("length", f"a frame starts with {HEADER.size} bytes of header, {len(data) - at} are left")
        kind, length = HEADER.unpack_from(data, at)
        if kind not in frozenset(FrameType):
            raise WireError("type", f"no frame has the type 0x{kind:02x}")
        at += HEADER.size
        if length > len(data) - at:
            raise WireError("length", f"a payload of {length} bytes does not fit: {len(data) - at} are left")
        yield Frame(FrameType(kind), data[at : at + length])
        at += length
