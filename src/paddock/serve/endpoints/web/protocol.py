"""uvicorn's side of a connection, with what the application needs to wait for a slow peer, or not to."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

EXTENSION = "paddock.wire"
SILENCE = 20.0
"""s between two pings, and s that a peer has to answer one."""
PATIENCE = 10.0
"""s that a client has for its first request."""


class Wire:
    """The connection below a WebSocket."""

    def __init__(self, transport: asyncio.Transport, writable: asyncio.Event) -> None:
        self._transport = transport
        self._writable = writable

    async def ready(self) -> None:
        """Wait until the peer has taken most of what it was sent: only then is it worth choosing what comes next."""
        await self._writable.wait()

    def abort(self) -> None:
        """Close at once, though the peer has not taken everything."""
        self._transport.abort()


class SocketProtocol(WebSocketsSansIOProtocol):
    """Puts the wire into the scope: ASGI itself can neither look at it nor break it off."""

    async def run_asgi(self) -> None:
        """Run the application."""
        extensions: dict[str, Any] = self.scope["extensions"] or {}
        extensions[EXTENSION] = Wire(self.transport, self.writable)
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
