"""A TCP connection in the hub's event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection
from contextlib import suppress

from paddock.serve.subscribers.connection import Connection, Lost, OnMessage
from paddock.wire.error import WireError
from paddock.wire.stream.frames import FrameType
from paddock.wire.stream.split import Splitter

PIECE = 1 << 18
LONGEST_LINE = 1 << 20
LARGEST_FRAME = 4 << 20
SEND_BUFFER = 1 << 20
"""Bytes that the kernel may hold for a peer: a large group in a few pieces, and not many small old ones."""
KEEPALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}
"""Detects a peer whose machine has vanished: s, s, tries."""


class TcpConnection(Connection):
    """Splits received bytes into messages and sends without blocking."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        peer: socket.socket,
        on_message: OnMessage,
        lost: Lost,
        types: Collection[FrameType] = (),
    ) -> None:
        """`types` are the accepted frames; `lost` is called with a word for the reason, empty if the peer left."""
        super().__init__(loop, on_message, lost)
        self.socket = peer
        self._splitter = Splitter(LARGEST_FRAME, LONGEST_LINE, frozenset(types))
        self._writing = False
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEPALIVE.items():
            if hasattr(socket, option):
                peer.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        loop.add_reader(peer, self._on_readable)

    def close(self) -> None:
        """Close immediately."""
        if self._closed:
            return
        self.open, self._closed = False, True
        self.loop.remove_reader(self.socket)
        self.loop.remove_writer(self.socket)
        self.socket.close()
        self._lost(self._reason)

    def _on_readable(self) -> None:
        try:
            piece = self.socket.recv(PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            piece = b""
        if not piece:
            self.close()
        elif self.open:  # read and discard after the end, or the peer would not see the reason
            self._take(piece)

    def _take(self, piece: bytes) -> None:
        try:
            for message in self._splitter.feed(piece):
                self._on_message(message)
                if not self.open:
                    return
        except WireError as error:
            self.cut_off(error.reason, str(error))

    def _flush(self) -> None:
        if self._closed:
            return
        try:
            done = self._outbox.send(self.socket)
        except OSError:
            self.close()
            return
        if not done and not self._writing:
            self.loop.add_writer(self.socket, self._flush)
        elif done and self._writing:
            self.loop.remove_writer(self.socket)
        self._writing = not done
        if done and not self.open:
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
