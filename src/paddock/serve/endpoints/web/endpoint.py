"""The web endpoint: the page over HTTP, and subscribers that connect by WebSocket."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn import Config, Server

from paddock.serve.endpoints.web.connection import EXTENSION, SILENCE, PageProtocol, SocketConnection, SocketProtocol
from paddock.serve.page import FOLDER, NOT_BUILT, File, find_file
from paddock.serve.subscribers.audience import Audience
from paddock.serve.subscribers.connection import Hear, Lost

if TYPE_CHECKING:
    from paddock.serve.hub import Hub


LARGEST_MESSAGE = 1 << 20
"""Bytes that a page may send at once."""
SEND_BUFFER = 1 << 20
"""Bytes the kernel may hold for a page: a large group in a few pieces, and not many old small ones."""
WAITING = 128
"""Connections that may wait to be accepted."""
FOR_FILES = 64
"""Connections beside those of pages that are served at once: browsers open several to load one."""
SHUTTING_DOWN = 0.3
"""s that requests have to be finished."""


class WebEndpoint(Audience):
    """The page, and frames and calls over WebSockets."""

    name = "web"

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, options, every)
        self._port = int(options["port"])
        self._server: Server | None = None

    async def open(self) -> dict[str, Any]:
        """Listen."""
        listening = _listen(self.hub.options.bind, self._port)
        self._server = _server(self._application(), self.connections + FOR_FILES)
        await self._server.startup(sockets=[listening])  # and no more of it: signals and the loop are the hub's
        self.begin()
        return {"port": listening.getsockname()[1]}

    async def close(self) -> None:
        """Tell the pages and let go."""
        for server in self._server.servers if self._server is not None else ():
            server.close()
        await super().close()
        if self._server is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._server.shutdown(), SHUTTING_DOWN)

    def _application(self) -> Application:
        return Application(FOLDER, self.hub.options.local, self._serve, lambda why: self.count("refused", reason=why))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One WebSocket, from its first moment to its last."""
        await receive()  # that it wants to connect
        await send({"type": "websocket.accept"})
        wire = scope["extensions"][EXTENSION]

        def connect(hear: Hear, lost: Lost) -> SocketConnection:
            return SocketConnection(receive, send, wire, hear, lost)

        host, port = scope["client"] or ("unknown", 0)
        client = self.welcome(connect, f"{host}:{port}")
        assert isinstance(client.connection, SocketConnection)
        await client.connection.run()


def _listen(host: str, port: int) -> socket.socket:
    """A socket that may listen; what it accepts has the same options. OSError if that is not possible."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a new hub takes over the port at once
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        listening.bind(address)
    except OSError:
        listening.close()
        raise
    listening.setblocking(False)
    return listening


def _server(application: Application, most: int) -> Server:
    config = Config(
        application,
        http=PageProtocol,
        ws=SocketProtocol,
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_interval=SILENCE,
        ws_ping_timeout=SILENCE,
        ws_per_message_deflate=False,
        lifespan="off",
        interface="asgi3",
        log_config=None,
        log_level=logging.CRITICAL,  # a peer's mistakes are counted, not printed
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=most,
        backlog=WAITING,
    )
    config.load()
    server = Server(config)
    server.lifespan = config.lifespan_class(config)
    return server


SOCKET = "/ws"
Serve = Callable[[Scope, Receive, Send], Awaitable[None]]


class Application:
    """An ASGI application: `serve` takes over a WebSocket that may be accepted."""

    def __init__(self, folder: Path, local: bool, serve: Serve, count: Callable[[str], None]) -> None:
        """`local`: only this machine may connect; `count` is told the reason of every refusal."""
        self._folder = folder
        self._local = local
        self._serve = serve
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = None
        if problem := host_problem(scope["headers"], self._local):
            answer = self._refusal("host", 421, problem)
        elif scope["type"] == "websocket":
            answer = self._socket_problem(scope)
            if answer is None:
                await self._serve(scope, receive, send)
                return
        else:
            answer = await self._page(Request(scope))
        answer.headers.update(SAFE)
        await answer(scope, receive, send)

    def _socket_problem(self, scope: Scope) -> Response | None:
        if scope["path"] != SOCKET:
            return self._refusal("path", 404, f"the WebSocket is at {SOCKET}")
        problem = origin_problem(scope["headers"])
        return self._refusal("origin", 403, problem) if problem else None

    async def _page(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response("only GET is served\n", 405, {"Allow": "GET, HEAD"}, "text/plain")
        path = request.scope["path"]
        gzip = "gzip" in request.headers.get("accept-encoding", "")
        file = await asyncio.to_thread(find_file, self._folder, path, gzip)
        if file is not None:
            return _sent(file, request)
        if path in ("/", "/index.html"):
            return Response(NOT_BUILT, 200, {"Cache-Control": "no-store"}, "text/html")
        return Response("there is no such file\n", 404, media_type="text/plain")

    def _refusal(self, reason: str, status: int, problem: str) -> Response:
        self._count(reason)
        return Response(f"{problem}\n", status, media_type="text/plain")


def _sent(file: File, request: Request) -> Response:
    """The file, or that the browser has it."""
    if file.headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(None, 304, file.headers)
    return Response(file.content, 200, file.headers)


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
"""Headers of every answer."""


def header(headers: Headers, name: bytes) -> str | None:
    """The one value of a header; None if it is not there, empty if it is there more than once."""
    values = [value.decode("latin-1").strip() for key, value in headers if key.lower() == name]
    return None if not values else values[0] if len(values) == 1 else ""


def is_loopback(host: str | None) -> bool:
    """Whether a Host header names this machine by a name that no other machine's DNS can give out."""
    try:
        name = urlsplit(f"//{host or ''}").hostname or ""
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_problem(headers: Headers, local: bool) -> str:
    """Why a request may not come in under this Host; empty if it may.

    A page of someone else whose name is suddenly said to be 127.0.0.1 (DNS rebinding) still has its own name there.
    """
    if local and not is_loopback(header(headers, b"host")):
        return "this server is for this machine only: use http://localhost or http://127.0.0.1"
    return ""


def origin_problem(headers: Headers) -> str:
    """Why a WebSocket may not be opened from where it comes; empty if it may. Only browsers say where that is."""
    origin, host = header(headers, b"origin"), header(headers, b"host")
    if origin is None:
        return ""
    scheme, _, place = origin.partition("://")
    if scheme in ("http", "https") and host and place.lower() == host.lower():
        return ""
    return "a page of another origin may not connect"
