"""A WebSocket as a connection to a client; messages go first, then the latest group of frames."""

from __future__ import annotations

import asyncio
import logging
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from starlette.types import Receive, Send
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from paddock.serve.subscribers.connection import Connection, Lost, OnMessage
from paddock.wire.error import WireError
from paddock.wire.stream.frames import FrameType
from paddock.wire.stream.split import JSON_STARTS, JsonLine, frames_in

LOG = logging.getLogger("paddock.web")
GOING_AWAY = 1001
REFUSED = 1008  # close codes of WebSockets


class SocketConnection(Connection):
    """An accepted WebSocket; `run` serves it until it closes."""

    def __init__(self, receive: Receive, send: Send, wire: Wire, on_message: OnMessage, lost: Lost) -> None:
        super().__init__(asyncio.get_running_loop(), on_message, lost)
        self._receive, self._send, self._wire = receive, send, wire
        self._waiting = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def close(self) -> None:
        """Close immediately."""
        if not self._closed:
            self.open, self._closed = False, True
            for task in self._tasks:
                task.cancel()
            self._wire.abort()

    async def run(self) -> None:
        """Serve until either side closes."""
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
                self._on_message(JsonLine(text.encode()))
                return
            for frame in frames_in(memoryview(message["bytes"])):
                if frame.type is not FrameType.COMMANDS:
                    raise WireError("type", f"a page sends frames of commands (0x20), not 0x{frame.type:02x}")
                self._on_message(frame)
        except WireError as error:
            self.cut_off(error.reason, str(error))

    async def _write(self) -> None:
        with suppress(ClientDisconnected):
            while True:
                await self._waiting.wait()
                await self._wire.ready()
                item = self._outbox.next()
                if isinstance(item, tuple):
                    self._wire.send(item)
                elif item and item[0] in JSON_STARTS:  # JSON is sent as text, frames as binary
                    await self._send({"type": "websocket.send", "text": bytes(item).rstrip(b"\n").decode()})
                elif item is not None:
                    await self._send({"type": "websocket.send", "bytes": bytes(item)})
                elif self.open:
                    self._waiting.clear()
                else:
                    code = GOING_AWAY if self._reason == "closing" else REFUSED
                    await self._send({"type": "websocket.close", "code": code, "reason": self._reason})
                    return


EXTENSION = "paddock.wire"
SILENCE = 20.0  # s between two pings, and s to answer one
BINARY = 0x82  # the first byte of an unfragmented binary message


class Wire:
    """The connection below a WebSocket."""

    def __init__(self, protocol: WebSocketsSansIOProtocol) -> None:
        self._protocol = protocol
        self._transport: asyncio.Transport = protocol.transport

    async def ready(self) -> None:
        """Wait until the peer has read most of the sent data, so that the next group is recent."""
        await self._protocol.writable.wait()

    def send(self, parts: Sequence[bytes | memoryview]) -> None:
        """Send parts as one binary message; ClientDisconnected if the peer has left.

        ASGI takes a message as one object and copies it twice: with 100,000 vehicles at 30 Hz that took most of the
        hub's time.
        """
        if self._transport.is_closing() or self._protocol.conn.state is not State.OPEN:
            raise ClientDisconnected
        self._transport.write(header(sum(map(len, parts))))
        for part in parts:
            self._transport.write(part)

    def abort(self) -> None:
        """Close immediately, discarding unsent data."""
        self._transport.abort()


def header(size: int) -> bytes:
    """The header of a binary message to a client (RFC 6455, section 5.2); `size` in bytes."""
    if size < 126:
        return struct.pack("!BB", BINARY, size)
    if size < 1 << 16:
        return struct.pack("!BBH", BINARY, 126, size)
    return struct.pack("!BBQ", BINARY, 127, size)


class SocketProtocol(WebSocketsSansIOProtocol):
    """Puts the wire into the scope, because ASGI gives no access to it."""

    async def run_asgi(self) -> None:
        """Run the application."""
        extensions: dict[str, Any] = self.scope["extensions"] or {}
        extensions[EXTENSION] = Wire(self)
        self.scope["extensions"] = extensions
        await super().run_asgi()

    def keepalive_timeout(self) -> None:
        """Abort the connection of a peer that answers no ping."""
        super().keepalive_timeout()
        self.transport.abort()
