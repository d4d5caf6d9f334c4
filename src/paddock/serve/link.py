"""Between a simulation and its hub: messages over one socket, each a tree of plain values with arrays and bytes.

A message is `u32 bytes of text, u32 blobs, 16 letters, u32 bytes of each blob`, the text (JSON), the blobs. Both ends
are Paddock's own, so that a message is trusted once it is whole; nothing of this is a public wire.
"""

from __future__ import annotations

import json
import secrets
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from paddock.errors import PaddockError

MOST_WAITING = 256 << 20
"""Bytes that may wait for a peer that does not read before the link is given up."""
MARK = secrets.token_hex(8)
"""Key of what stands for a blob: drawn anew by every process, so that no client can pretend to have sent one."""
_HEAD = struct.Struct("<II16s")


class LinkClosedError(PaddockError):
    """The other end is gone, or does not read any more."""


def encode(tree: dict[str, Any]) -> bytes:
    """A message."""
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
        raise TypeError(f"{type(value).__name__} cannot travel over the link")

    text = json.dumps(tree, default=aside, separators=(",", ":")).encode()
    sizes = struct.pack(f"<{len(blobs)}I", *(len(blob) for blob in blobs))
    return b"".join((_HEAD.pack(len(text), len(blobs), MARK.encode()), sizes, text, *blobs))


class Decoder:
    """Messages out of whatever pieces the socket gives."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, piece: bytes) -> Iterator[dict[str, Any]]:
        """The messages that are whole now."""
        self._buffer += piece
        while (size := self._whole()) is not None:
            message = self._buffer[:size]
            del self._buffer[:size]  # does not move what follows
            yield _decoded(message)

    def _whole(self) -> int | None:
        """Bytes of the first message; None while they are not all there."""
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


class Link:
    """One end. Sending never waits, from any thread; receiving is up to one reader."""

    def __init__(self, end: socket.socket, blocking: bool = False) -> None:
        """Takes over a connected stream socket; `blocking`: whether its reader waits for more in `recv`."""
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
        """Send at once what the socket takes; the rest follows from a thread of its own."""
        message = memoryview(encode(tree))
        with self._lock:
            if self._closed:
                raise LinkClosedError("the link is closed")
            if not self._waiting:
                message = message[self._push(message) :]
            if message:
                self._wait_with(message)

    def close(self) -> None:
        """Let go; what still waits is lost."""
        with self._lock:
            self._closed = True
            self._drained.notify_all()
        self.socket.close()

    def _push(self, data: memoryview) -> int:
        """Send without waiting; how many bytes went."""
        try:
            return self.socket.send(data, socket.MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as error:
            raise LinkClosedError(f"the other end of the link is gone: {error}") from None

    def _wait_with(self, rest: memoryview) -> None:
        self._waiting.append(rest)
        self._waiting_bytes += len(rest)
        if self._waiting_bytes > MOST_WAITING:
            raise LinkClosedError("the other end of the link does not read")
        if self._sender is None:
            self._sender = threading.Thread(target=self._drain, name="link-sender", daemon=True)
            self._sender.start()
        self._drained.notify_all()

    def _drain(self) -> None:
        """Send what waits, in order, whenever the socket takes more."""
        import select

        while True:
            with self._lock:
                self._drained.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
            try:
                select.select([], [self.socket], [], 0.5)
                with self._lock:
                    self._drain_some()
            except (LinkClosedError, OSError, ValueError):
                return

    def _drain_some(self) -> None:
        while self._waiting and not self._closed:
            sent = self._push(self._waiting[0])
            self._waiting_bytes -= sent
            if sent < len(self._waiting[0]):
                self._waiting[0] = self._waiting[0][sent:]
                return
            self._waiting.popleft()
