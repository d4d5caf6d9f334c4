"""The web endpoint: the page over HTTP, clients over WebSocket, and the checks of Host and Origin."""

import asyncio
import logging
import struct
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from paddock.serve.http import NOT_BUILT, PAGE_FOLDER, HttpServer, find_file, misdirected, single_header
from paddock.serve.hub import Hub
from paddock.serve.protection.admission import is_foreign
from paddock.serve.subscribers.client import Connection, Lost, OnMessage
from paddock.serve.subscribers.endpoint import SubscriberEndpoint
from paddock.wire import WireError
from paddock.wire.stream.frames import JSON_STARTS, FrameType, JsonLine, frames_in

LOG = logging.getLogger("paddock.web")
SOCKET = "/ws"
LARGEST_MESSAGE = 1 << 20  # bytes of a message from a page
FOR_FILES = 64  # connections for files, besides those of pages: browsers open several
SILENCE = 20.0  # s between two pings, and s to answer one
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "worker-src 'self'",
        "frame-ancestors 'self' http://localhost:* http://127.0.0.1:*",
    ]
)
SAFE = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every response."""


class WebServer(SubscriberEndpoint):
    """Serves the page, and frames and calls over WebSockets."""

    name = "web"

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, options, every)
        self._port = int(options["port"])
        self._server = HttpServer(
            self._on_request,
            FOR_FILES,
            ws=SocketProtocol,
            ws_max_size=LARGEST_MESSAGE,
            ws_ping_interval=SILENCE,
            ws_ping_timeout=SILENCE,
            ws_per_message_deflate=False,
        )

    async def open(self) -> dict[str, Any]:
        port = await self._server.open(self.hub.options.bind, self._port)
        self.begin()
        return {"port": port}

    async def close(self) -> None:
        self._server.stop_listening()
        await super().close()
        await self._server.close()

    async def _on_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a file, or serve a WebSocket until it closes: the ASGI application."""
        host, origin = (single_header(scope, name) for name in ("host", "origin"))
        if (refused := misdirected(self, scope)) is not None:
            answer = refused
        elif scope["type"] != "websocket":
            answer = await _file(Request(scope))
        elif scope["path"] != SOCKET:
            answer = self._refusal("path", 404, f"the WebSocket is at {SOCKET}")
        elif is_foreign(origin, host):
            answer = self._refusal("origin", 403, "a page of another origin may not connect")
        else:
            await self._serve(scope, receive, send)
            return
        answer.headers.update(SAFE)
        await answer(scope, receive, send)

    def _refusal(self, reason: str, status: int, problem: str) -> Response:
        self.count("refused", reason=reason)
        return Response(f"{problem}\n", status, media_type="text/plain")

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # the connect event
        await send({"type": "websocket.accept"})
        protocol = scope["extensions"][EXTENSION]

        def connect(on_message: OnMessage, lost: Lost) -> SocketConnection:
            return SocketConnection(receive, send, protocol, on_message, lost)

        host, port = scope["client"] or ("unknown", 0)
        client = self.welcome(connect, f"{host}:{port}")
        assert isinstance(client.connection, SocketConnection)
        await client.connection.run()


ENDPOINT = WebServer


async def _file(request: Request) -> Response:
    if request.method not in ("GET", "HEAD"):
        return Response("only GET is served\n", 405, {"Allow": "GET, HEAD"}, "text/plain")
    path = request.scope["path"]
    gzip = "gzip" in request.headers.get("accept-encoding", "")
    if (file := await asyncio.to_thread(find_file, PAGE_FOLDER, path, gzip)) is not None:
        content, headers = file
        known = headers["ETag"] in request.headers.get("if-none-match", "")  # cached by the browser
        return Response(None, 304, headers) if known else Response(content, 200, headers)
    if path in ("/", "/index.html"):
        return Response(NOT_BUILT, 200, {"Cache-Control": "no-store"}, "text/html")
    return Response("no such file\n", 404, media_type="text/plain")


GOING_AWAY, REFUSED = 1001, 1008  # close codes
EXTENSION = "paddock.protocol"
BINARY = 0x82  # the first byte of an unfragmented binary message


class SocketProtocol(WebSocketsSansIOProtocol):
    """Puts itself into the scope, because ASGI gives no access to the connection below a WebSocket."""

    async def run_asgi(self) -> None:
        extensions: dict[str, Any] = self.scope["extensions"] or {}
        extensions[EXTENSION] = self
        self.scope["extensions"] = extensions
        await super().run_asgi()

    def keepalive_timeout(self) -> None:
        """Abort the connection of a peer that answers no ping."""
        super().keepalive_timeout()
        self.transport.abort()

    def send_parts(self, parts: Sequence[bytes | memoryview]) -> None:
        """Send parts as one binary message; ClientDisconnected if the peer has left.

        ASGI takes a message as one object and copies it twice: with 100,000 vehicles at 30 Hz that took most of the
        hub's time.
        """
        if self.transport.is_closing() or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.transport.write(binary_header(sum(map(len, parts))))
        for part in parts:
            self.transport.write(part)


def binary_header(size: int) -> bytes:
    """Return the header of a binary message to a client (RFC 6455, section 5.2); `size` in bytes."""
    if size < 126:
        return struct.pack("!BB", BINARY, size)
    if size < 1 << 16:
        return struct.pack("!BBH", BINARY, 126, size)
    return struct.pack("!BBQ", BINARY, 127, size)


class SocketConnection(Connection):
    """An accepted WebSocket; `run` serves it until it closes. Messages go first, then the latest group of frames."""

    def __init__(
        self, receive: Receive, send: Send, protocol: SocketProtocol, on_message: OnMessage, lost: Lost
    ) -> None:
        super().__init__(asyncio.get_running_loop(), on_message, lost)
        self._receive, self._send, self._protocol = receive, send, protocol
        self._waiting = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def close(self) -> None:
        """Close immediately, discarding unsent data."""
        if not self._closed:
            self.open, self._closed = False, True
            for task in self._tasks:
                task.cancel()
            self._protocol.transport.abort()

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
                await self._protocol.writable.wait()  # until the peer has read most, so that the next group is recent
                item = self._next()
                if isinstance(item, tuple):
                    self._protocol.send_parts(item)
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
