"""uvicorn's side of a connection, with what the application needs to wait for a slow peer, or not to."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

EXTENSION = "paddock.wire"
SILENCE = 20.0
"""s between two pings, and s that a peer has to answer one."""
PATIENCE = 10.0
"""s that a client has for its first request."""


BINARY = 0x82
"""The first byte of a message that is whole, and binary."""


class Wire:
    """The connection below a WebSocket."""

    def __init__(self, protocol: WebSocketsSansIOProtocol) -> None:
        self._protocol = protocol
        self._transport: asyncio.Transport = protocol.transport

    async def ready(self) -> None:
        """Wait until the peer has taken most of what it was sent: only then is it worth choosing what comes next."""
        await self._protocol.writable.wait()

    def send(self, parts: Sequence[bytes | memoryview]) -> None:
        """Some bytes as one binary message; ClientDisconnected if the peer has left.

        Written here because ASGI takes a message as one object, and copies it twice more on its way: of 100,000
        vehicles at 30 Hz that took most of the hub's time.
        """
        if self._transport.is_closing() or self._protocol.conn.state is not State.OPEN:
            raise ClientDisconnected
        self._transport.write(header(sum(map(len, parts))))
        for part in parts:
            self._transport.write(part)

    def abort(self) -> None:
        """Close at once, though the peer has not taken everything."""
        self._transport.abort()


def header(size: int) -> bytes:
    """What goes before a binary message of so many bytes to a client (RFC 6455, section 5.2)."""
    if size < 126:
        return struct.pack("!BB", BINARY, size)
    if size < 1 << 16:
        return struct.pack("!BBH", BINARY, 126, size)
    return struct.pack("!BBQ", BINARY, 127, size)


class SocketProtocol(WebSocketsSansIOProtocol):
    """Puts the wire into the scope: ASGI itself can neither look at it nor break it off."""

    async def run_asgi(self) -> None:
        """Run the application."""
        extensions: dict[str, Any] = self.scope["extensions"] or {}
        extensions[EXTENSION] = Wire(self)
        self.scope["extensions"] = extensions
        await super().run_asgi()

    def keepalive_timeout(self) -> None:
        """A peer that answers no ping does not take what waits for it, either."""
        super().keepalive_timeout()
        self.transport.abort()


class PageProtocol(H11Protocol):
    """Lets nobody hold a connection without asking for something."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Someone has connected."""
        super().connection_made(transport)
        self.loop.call_later(PATIENCE, self._look_after)

    def _look_after(self) -> None:
        upgraded = self.transport.get_protocol() is not self
        if self.cycle is None and not upgraded:
            self.transport.abort()
