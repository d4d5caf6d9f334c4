"""A listening TCP socket in an event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

WAITING = 128
"""Connections that may wait to be accepted."""
PAUSE = 0.2
"""s without accepting after the system has run out of something."""


class Listener:
    """Accepts connections: `welcome(socket, address)`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, welcome: Callable[[socket.socket, str], None]) -> None:
        self._loop = loop
        self._welcome = welcome
        self._socket: socket.socket | None = None

    def open(self, host: str, port: int) -> int:
        """Listen; returns the port. OSError if that is not possible."""
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        self._socket = socket.socket(family, kind, protocol)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a new hub takes over the port at once
            self._socket.bind(address)
            self._socket.listen(WAITING)
        except OSError:
            self.close()
            raise
        self._socket.setblocking(False)
        self._loop.add_reader(self._socket, self._accept)
        found: int = self._socket.getsockname()[1]
        return found

    def close(self) -> None:
        """Stop listening."""
        if self._socket is not None:
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    def _accept(self) -> None:
        if self._socket is None:
            return
        try:
            peer, address = self._socket.accept()
        except (BlockingIOError, ConnectionAbortedError, InterruptedError):
            return
        except OSError:  # out of file descriptors, say: try again when there may be some
            self._loop.remove_reader(self._socket)
            self._loop.call_later(PAUSE, self._resume)
            return
        self._welcome(peer, f"{address[0]}:{address[1]}")

    def _resume(self) -> None:
        if self._socket is not None:
            self._loop.add_reader(self._socket, self._accept)
