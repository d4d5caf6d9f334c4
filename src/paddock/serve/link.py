"""The link between a simulation and its hub: messages over one socket, each a tree of plain values, arrays and bytes.

A message is `u32 bytes of text, u32 blobs, 16 letters, u32 bytes of each blob`, the text (JSON), the blobs. Both ends
belong to Paddock, so a complete message is trusted; this is not a public wire format.
"""

from __future__ import annotations

import json
import secrets
import select
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from paddock.errors import PaddockError

MOST_WAITING = 256 << 20  # unsent bytes after which the link counts as broken
MARK = secrets.token_hex(8)  # key of a reference to a blob; random in every process, so that no client can forge one
_HEAD = struct.Struct("<II16s")


class LinkClosedError(PaddockError):
    """The other end is gone, or has stopped reading."""


def encode(tree: dict[str, Any]) -> bytes:
    """Encode a message."""
    blobs: list[Any] = []

    def aside(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            blobs.append(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
            return {MARK: len(blobs) - 1, "type": value.dtype.str, "shape": value.shape}
        if isinstance(value, bytes | bytearray | memoryview):
            blobs.append(value)
            return {MARK: len(blobs) - 1}
        if isinstance(value, np.generic):
            return value.item()
        raise TypeError(f"{type(value).__name__} cannot be sent over the link")

    text = json.dumps(tree, default=aside, separators=(",", ":")).encode()
    sizes = struct.pack(f"<{len(blobs)}I", *(len(blob) for blob in blobs))
    return b"".join((_HEAD.pack(len(text), len(blobs), MARK.encode()), sizes, text, *blobs))


class Decoder:
    """Splits received bytes into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> Iterator[dict[str, Any]]:
        """Yield the messages that are complete."""
        self._buffer += piece
        while (size := self._whole()) is not None:
            message = self._buffer[:size]
            del self._buffer[:size]  # does not copy the rest
            yield _decoded(message)

    def _whole(self) -> int | None:
        """Bytes of the first message; None while it is incomplete."""
        if len(self._buffer) < _HEAD.size:
            return None
        text, blobs, _ = _HEAD.unpack_from(self._buffer)
        head = _HEAD.size + 4 * blobs
        if len(self._buffer) < head:
            return None
        size = head + text + sum(struct.unpack_from(f"<{blobs}I", self._buffer, _HEAD.size))
        return size if len(self._buffer) >= size else None


def _decoded(message: bytearray) -> dict[str, Any]:
    length, count, mark = _HEAD.unpack_from(message)
    start = _HEAD.size + 4 * count
    text, at, blobs = message[start : start + length], start + length, []
    for size in struct.unpack_from(f"<{count}I", message, _HEAD.size):
        blobs.append(bytes(message[at : at + size]))
        at += size

    key = mark.decode()

    def back(tree: dict[str, Any]) -> Any:
        if key not in tree:
            return tree
        blob = blobs[tree[key]]
        return np.frombuffer(blob, tree["type"]).reshape(tree["shape"]) if "type" in tree else blob

    value: dict[str, Any] = json.loads(text, object_hook=back if count else None)
    return value


class HubLink:
    """One end. Sending never blocks and is safe from any thread; one reader receives."""

    def __init__(self, end: socket.socket, blocking: bool = False) -> None:
        """Take over a connected stream socket; `blocking`: whether `recv` blocks."""
        end.setblocking(blocking)
        self.socket = end
        self.decoder = Decoder()
        self._waiting: deque[memoryview] = deque()
        self._waiting_bytes = 0
        self._lock = threading.Lock()
        self._drained = threading.Condition(self._lock)
        self._closed = False
        self._sender: threading.Thread | None = None

    def send(self, tree: dict[str, Any]) -> None:
        """Send what the socket accepts now; a thread sends the rest."""
        message = memoryview(encode(tree))
        with self._lock:
            if self._closed:
                raise LinkClosedError("the link is closed")
            if not self._waiting:
                message = message[self._push(message) :]
            if message:
                self._waiting.append(message)
                self._waiting_bytes += len(message)
                if self._waiting_bytes > MOST_WAITING:
                    raise LinkClosedError("the other end of the link has stopped reading")
                if self._sender is None:
                    self._sender = threading.Thread(target=self._drain, name="link-sender", daemon=True)
                    self._sender.start()
                self._drained.notify_all()

    def close(self) -> None:
        """Close; unsent messages are lost."""
        with self._lock:
            self._closed = True
            self._drained.notify_all()
        self.socket.close()

    def _push(self, data: memoryview) -> int:
        """Send without blocking and return the number of bytes sent."""
        try:
            return self.socket.send(data, socket.MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as error:
            raise LinkClosedError(f"the other end of the link is gone: {error}") from None

    def _drain(self) -> None:
        """Send waiting data, in order, whenever the socket accepts more."""
        while True:
            with self._lock:
                self._drained.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
            try:
                select.select([], [self.socket], [], 0.5)
                with self._lock:
                    while self._waiting and not self._closed:
                        sent = self._push(self._waiting[0])
                        self._waiting_bytes -= sent
                        if sent < len(self._waiting[0]):
                            self._waiting[0] = self._waiting[0][sent:]
                            break
                        self._waiting.popleft()
            except (LinkClosedError, OSError, ValueError):
                return
