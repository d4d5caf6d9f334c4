"""The HTTP server of the web and metrics endpoints: uvicorn on its own socket, in the hub's event loop; files of the
page.

Connections without a WebSocket are limited: one more ends that whose last response is oldest. Those without a request
end after some seconds, as do those that stay open after one.
"""

import asyncio
import logging
import mimetypes
import os
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import xxhash
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from paddock.serve.hub import Endpoint
from paddock.serve.protection.admission import WAITING, Slots, is_named, listening_socket, share_of_files

PATIENCE = 10.0  # s that a client has for its first request
SHUTTING_DOWN = 0.3  # s for open requests to finish
PAGE_FOLDER = Path(os.environ.get("PADDOCK_PAGE") or Path(__file__).parent / "page")
"""The built page; PADDOCK_PAGE names another folder during development."""
FOREVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"
KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
NOT_BUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Paddock</title>
<body style="font-family: system-ui; max-width: 40em; margin: 4em auto; line-height: 1.5">
<h1>The page was not built</h1>
<p>The simulation is being served, but this installation has no page to show it.
Build it with <code>make page</code>, or install with <code>pip install .</code>, and load this again.</p>
"""


def single_header(scope: Scope, name: str) -> str | None:
    """Return the value of a header; None if it is missing, empty if it is repeated."""
    values = Headers(scope=scope).getlist(name)
    return None if not values else values[0].strip() if len(values) == 1 else ""


def misdirected(endpoint: Endpoint, scope: Scope) -> Response | None:
    """Return the refusal of a request for a host that is not this server; None if it is."""
    options = endpoint.hub.options
    if is_named(options, single_header(scope, "host")):
        return None
    endpoint.count("refused", reason="host")
    if options.local:
        problem = "this server is for this machine only: use http://localhost or http://127.0.0.1"
    else:
        problem = "unknown host name: use the address of this server, or start it with --hosts NAME"
    return Response(f"{problem}\n", 421, media_type="text/plain")


class HttpProtocol(H11Protocol):
    """One connection; closed if it sends no request, or loses its slot."""

    def __init__(self, slots: "Slots[HttpProtocol]", *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._slots = slots

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request."""
        super().connection_made(transport)
        self._slots.enter(self, self._address)
        self.loop.call_later(PATIENCE, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the slot."""
        self._slots.leave(self)
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Free the slot: the endpoint limits WebSockets."""
        self._slots.leave(self)
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        """Renew the slot."""
        if self in self._slots:
            self._slots.enter(self, self._address)
        super().on_response_complete()

    def end(self) -> None:
        """Close at once, even if the peer does not read."""
        self.transport.abort()

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _close_if_silent(self) -> None:
        upgraded = self.transport.get_protocol() is not self
        if self.cycle is None and not upgraded:
            self.transport.abort()


class HttpServer:
    """An ASGI application on a port."""

    def __init__(self, application: Any, connections: int, **options: Any) -> None:
        """`connections`: maximum number at a time, without WebSockets; `options`: uvicorn's, for these."""
        self.slots: Slots[HttpProtocol] = Slots(share_of_files(connections), HttpProtocol.end)
        config = Config(
            application,
            http=partial(HttpProtocol, self.slots),  # type: ignore[arg-type]
            **{"ws": "none", **options},
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level=logging.CRITICAL,  # errors of peers are counted, not printed
            access_log=False,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            backlog=WAITING,
        )
        config.load()
        self._server = Server(config)
        self._server.lifespan = config.lifespan_class(config)

    async def open(self, host: str, port: int) -> int:
        """Listen, and return the port. OSError if that is not possible."""
        listening = listening_socket(host, port)
        await self._server.startup(sockets=[listening])  # not `serve`: the hub owns signals and the event loop
        bound_port: int = listening.getsockname()[1]
        return bound_port

    def stop_listening(self) -> None:
        """Accept no more connections."""
        for server in self._server.servers:
            server.close()

    async def close(self) -> None:
        """Finish open requests, then close."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._server.shutdown(), SHUTTING_DOWN)


def find_file(folder: Path, path: str, gzip: bool) -> tuple[bytes, dict[str, str]] | None:
    """Return content and headers of the file at a URL path; None without one. `gzip`: whether it may be compressed."""
    name = path.lstrip("/") or "index.html"
    try:
        path_of_file, root = (folder / name).resolve(), folder.resolve()
        if name.endswith(".gz") or not (path_of_file.is_relative_to(root) and path_of_file.is_file()):
            return None
    except (OSError, ValueError):
        return None
    packed = path_of_file.with_name(f"{path_of_file.name}.gz")
    use_packed = gzip and packed.is_file()
    content = (packed if use_packed else path_of_file).read_bytes()
    kind = KINDS.get(path_of_file.suffix) or mimetypes.guess_type(path_of_file.name)[0] or "application/octet-stream"
    text = kind.startswith("text/") or kind == "application/json"
    named_by_content = path_of_file.parent.name == "assets" and path_of_file.name.startswith("chunk-")
    headers = {
        "Content-Type": f"{kind}; charset=utf-8" if text else kind,
        "Cache-Control": FOREVER if named_by_content else ASK_AGAIN,
        "ETag": f'"{xxhash.xxh3_64_hexdigest(content)}"',
        "Vary": "Accept-Encoding",
    }
    return content, {**headers, "Content-Encoding": "gzip"} if use_packed else headers
