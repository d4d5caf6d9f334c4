"""The web endpoint: the page over HTTP, clients over WebSocket, and the checks of Host and Origin."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from paddock.serve.endpoints.web.connection import EXTENSION, SILENCE, SocketConnection, SocketProtocol
from paddock.serve.http import HttpServer
from paddock.serve.page import FOLDER, NOT_BUILT, find_file
from paddock.serve.subscribers.connection import Lost, OnMessage
from paddock.serve.subscribers.endpoint import SubscriberEndpoint

if TYPE_CHECKING:
    from paddock.serve.hub import Hub


LARGEST_MESSAGE = 1 << 20  # bytes of a message from a page
FOR_FILES = 64  # connections for files besides those of pages: browsers open several


class WebServer(SubscriberEndpoint):
    """The page, and frames and calls over WebSockets."""

    name = "web"

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, options, every)
        self._port = int(options["port"])
        local = hub.options.local
        self._server = HttpServer(
            Application(FOLDER, local, self._serve, lambda why: self.count("refused", reason=why)),
            self.connections + FOR_FILES,
            ws=SocketProtocol,
            ws_max_size=LARGEST_MESSAGE,
            ws_ping_interval=SILENCE,
            ws_ping_timeout=SILENCE,
            ws_per_message_deflate=False,
        )

    async def open(self) -> dict[str, Any]:
        """Listen."""
        port = await self._server.open(self.hub.options.bind, self._port)
        self.begin()
        return {"port": port}

    async def close(self) -> None:
        """Notify the pages, then close."""
        self._server.stop_listening()
        await super().close()
        await self._server.close()

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket."""
        await receive()  # the connect event
        await send({"type": "websocket.accept"})
        wire = scope["extensions"][EXTENSION]

        def connect(on_message: OnMessage, lost: Lost) -> SocketConnection:
            return SocketConnection(receive, send, wire, on_message, lost)

        host, port = scope["client"] or ("unknown", 0)
        client = self.welcome(connect, f"{host}:{port}")
        assert isinstance(client.connection, SocketConnection)
        await client.connection.run()


SOCKET = "/ws"
Serve = Callable[[Scope, Receive, Send], Awaitable[None]]


class Application:
    """The ASGI application: files, and WebSockets that `serve` takes over."""

    def __init__(self, folder: Path, local: bool, serve: Serve, count: Callable[[str], None]) -> None:
        """`local`: only this machine may connect; `count` is called with the reason of a refusal."""
        self._folder = folder
        self._local = local
        self._serve = serve
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = scope["headers"]
        if self._local and not is_loopback(header(headers, b"host")):  # after DNS rebinding, a foreign page's own name
            problem = "this server is for this machine only: use http://localhost or http://127.0.0.1"
            answer = self._refusal("host", 421, problem)
        elif scope["type"] != "websocket":
            answer = await self._page(Request(scope))
        elif scope["path"] != SOCKET:
            answer = self._refusal("path", 404, f"the WebSocket is at {SOCKET}")
        elif is_foreign(header(headers, b"origin"), header(headers, b"host")):
            answer = self._refusal("origin", 403, "a page of another origin may not connect")
        else:
            await self._serve(scope, receive, send)
            return
        answer.headers.update(SAFE)
        await answer(scope, receive, send)

    async def _page(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response("only GET is served\n", 405, {"Allow": "GET, HEAD"}, "text/plain")
        path = request.scope["path"]
        gzip = "gzip" in request.headers.get("accept-encoding", "")
        file = await asyncio.to_thread(find_file, self._folder, path, gzip)
        if file is not None and file.headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(None, 304, file.headers)  # the browser has it
        if file is not None:
            return Response(file.content, 200, file.headers)
        if path in ("/", "/index.html"):
            return Response(NOT_BUILT, 200, {"Cache-Control": "no-store"}, "text/html")
        return Response("no such file\n", 404, media_type="text/plain")

    def _refusal(self, reason: str, status: int, problem: str) -> Response:
        self._count(reason)
        return Response(f"{problem}\n", status, media_type="text/plain")


Headers = Iterable[tuple[bytes, bytes]]

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


def header(headers: Headers, name: bytes) -> str | None:
    """The value of a header; None if it is missing, empty if it is repeated."""
    values = [value.decode("latin-1").strip() for key, value in headers if key.lower() == name]
    return None if not values else values[0] if len(values) == 1 else ""


def is_loopback(host: str | None) -> bool:
    """Whether a Host header names this machine by a name that DNS cannot redirect."""
    try:
        name = urlsplit(f"//{host or ''}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def is_foreign(origin: str | None, host: str | None) -> bool:
    """Whether an Origin header, which only browsers send, names a page of another host."""
    scheme, _, place = (origin or "").partition("://")
    return origin is not None and not (scheme in ("http", "https") and host and place.lower() == host.lower())
