"""The stream endpoint: clients that connect over TCP, and renderers that are dialled."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from paddock.serve.endpoints.stream.connection import TcpConnection
from paddock.serve.endpoints.stream.dial import Dialer, Renderer
from paddock.serve.subscribers.connection import Lost, OnMessage
from paddock.serve.subscribers.endpoint import SubscriberEndpoint, Viewer
from paddock.wire.stream.frames import FrameType
from paddock.world.layout import Layout

if TYPE_CHECKING:
    from paddock.serve.hub import Hub


class StreamServer(SubscriberEndpoint):
    """Frames and calls over TCP."""

    name = "stream"

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, options, every)
        self.dialers = [Dialer(self, dial) for dial in options["dial"]]
        self._listener = Acceptor(hub.loop, self._accept)
        self._port = int(options["port"])

    async def open(self) -> dict[str, Any]:
        """Listen, and dial the renderers."""
        port = self._listener.open(self.hub.options.bind, self._port)
        self.begin()
        for dialer in self.dialers:
            dialer.open()
        return {"port": port}

    async def close(self) -> None:
        """Notify the clients and close."""
        self._listener.close()
        for dialer in self.dialers:
            dialer.close()
        await super().close()

    def viewers(self) -> list[Viewer]:
        """Clients and renderers."""
        return [*self.clients, *self._renderers()]

    def has_news_of(self, layout: Layout) -> bool:
        """Whether a client or a renderer lacks this roster."""
        return super().has_news_of(layout) or not all(link.informed(layout) for link in self._renderers())

    def push_roster(self, layout: Layout) -> None:
        """Send the roster to clients and renderers that lack it."""
        super().push_roster(layout)
        for renderer in self._renderers():
            if not renderer.informed(layout):
                renderer.begin()

    def _renderers(self) -> list[Renderer]:
        return [link for dialer in self.dialers if (link := dialer.link) is not None]

    def _accept(self, peer: socket.socket, address: str) -> None:
        """Accept a client."""

        def connect(on_message: OnMessage, lost: Lost) -> TcpConnection:
            return TcpConnection(self.hub.loop, peer, on_message, lost, (FrameType.COMMANDS,))

        try:
            self.welcome(connect, address)
        except OSError:  # gone already
            peer.close()


WAITING = 128  # connections that may wait to be accepted
PAUSE = 0.2  # s without accepting after the system has run out of a resource


class Acceptor:
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
        except OSError:  # e.g. out of file descriptors: try again later
            self._loop.remove_reader(self._socket)
            self._loop.call_later(PAUSE, self._resume)
            return
        self._welcome(peer, f"{address[0]}:{address[1]}")

    def _resume(self) -> None:
        if self._socket is not None:
            self._loop.add_reader(self._socket, self._accept)
