"""The HTTP server of the web and metrics endpoints: uvicorn on its own socket, in the hub's event loop."""

import asyncio
import logging
from contextlib import suppress
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from paddock.serve.hub import WAITING, listening_socket

PATIENCE = 10.0  # s that a client has for its first request
SHUTTING_DOWN = 0.3  # s for open requests to finish


class HttpProtocol(H11Protocol):
    """Closes connections that send no request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request."""
        super().connection_made(transport)
        self.loop.call_later(PATIENCE, self._close_if_silent)

    def _close_if_silent(self) -> None:
        upgraded = self.transport.get_protocol() is not self
        if self.cycle is None and not upgraded:
            self.transport.abort()


class HttpServer:
    """An ASGI application on a port."""

    def __init__(self, application: Any, connections: int, **options: Any) -> None:
        """`connections`: maximum number at a time; `options`: uvicorn's, for WebSockets."""
        config = Config(
            application,
            http=HttpProtocol,
            **{"ws": "none", **options},
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level=logging.CRITICAL,  # errors of peers are counted, not printed
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            limit_concurrency=connections,
            backlog=WAITING,
        )
        config.load()
        self._server = Server(config)
        self._server.lifespan = config.lifespan_class(config)

    async def open(self, host: str, port: int) -> int:
        """Listen, and return the port. OSError if that is not possible."""
        listening = listening_socket(host, port)
        await self._server.startup(sockets=[listening])  # not `serve`: the hub owns signals and the event loop
        found: int = listening.getsockname()[1]
        return found

    def stop_listening(self) -> None:
        """Accept no more connections."""
        for server in self._server.servers:
            server.close()

    async def close(self) -> None:
        """Finish open requests, then close."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._server.shutdown(), SHUTTING_DOWN)
