"""One WebSocket as a connection to a subscriber: whatever waits goes out in one task, the latest group at last."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from starlette.types import Receive, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from paddock.serve.subscribers.connection import Bytes, Connection, Group, Hear, Lost
from paddock.wire.error import WireError
from paddock.wire.stream.frames import FrameType
from paddock.wire.stream.split import JSON_STARTS, Frame, Json, frames_in

LOG = logging.getLogger("paddock.web")
GOING_AWAY = 1001
REFUSED = 1008
"""Codes that a WebSocket is closed with."""


class SocketConnection(Connection):
    """A WebSocket that was accepted. `run` serves it until it is over."""

    def __init__(self, receive: Receive, send: Send, wire: Wire, hear: Hear, lost: Lost) -> None:
        super().__init__(asyncio.get_running_loop(), hear, lost)
        self._receive, self._send, self._wire = receive, send, wire
        self._waiting = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def close(self) -> None:
        """Let go at once; a peer that has taken the last word is gone already."""
        if not self._closed:
            self.open, self._closed = False, True
            for task in self._tasks:
                task.cancel()
            self._wire.abort()

    async def run(self) -> None:
        """Pass messages on until either side has had enough."""
        self._tasks = [self.loop.create_task(self._read()), self.loop.create_task(self._write())]
        try:
            await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.open = False
            for task in self._tasks:
                task.cancel()
            for outcome in await asyncio.gather(*self._tasks, return_exceptions=True):
                if isinstance(outcome, Exception):
                    LOG.error("a WebSocket failed", exc_info=outcome)
            self._lost(self._reason)

    def _flush(self) -> None:
        self._waiting.set()

    async def _read(self) -> None:
        while (message := await self._receive())["type"] != "websocket.disconnect":
            if self.open and message["type"] == "websocket.receive":
                self._take(message)

    def _take(self, message: Any) -> None:
        try:
            text = message.get("text")
            if text is not None:
                self._hear(Json(text.encode()))
                return
            for frame in frames_in(memoryview(message["bytes"])):
                self._hear(_accepted(frame))
        except WireError as error:
            self.cut_off(error.reason, str(error))

    async def _write(self) -> None:
        with suppress(ClientDisconnected):
            while True:
                await self._waiting.wait()
                await self._wire.ready()
                item = self._outbox.next()
                if isinstance(item, Group):
                    self._wire.send(item.parts)
                elif item is not None:
                    await self._send(_message(item))
                elif self.open:
                    self._waiting.clear()
                else:
                    code = GOING_AWAY if self._reason == "closing" else REFUSED
                    await self._send({"type": "websocket.close", "code": code, "reason": self._reason})
                    return


def _accepted(frame: Frame) -> Frame:
    if frame.type is not FrameType.COMMANDS:
        raise WireError("type", f"a page sends frames of commands (0x20), not 0x{frame.type:02x}")
    return frame


def _message(item: Bytes) -> dict[str, Any]:
    """Whatever is JSON is a text, frames are binary."""
    if item and item[0] in JSON_STARTS:
        return {"type": "websocket.send", "text": bytes(item).rstrip(b"\n").decode()}
    return {"type": "websocket.send", "bytes": bytes(item)}


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
