"""The web endpoint: the page over HTTP, and subscribers that connect by WebSocket."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.types import Receive, Scope, Send
from uvicorn import Config, Server

from paddock.serve.endpoints.web.application import Application
from paddock.serve.endpoints.web.connection import SocketConnection
from paddock.serve.endpoints.web.protocol import EXTENSION, SILENCE, PageProtocol, SocketProtocol
from paddock.serve.page_folder import FOLDER
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
