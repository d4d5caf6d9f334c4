"""Prometheus figures, health and readiness over HTTP: /metrics, /healthz, /readyz."""

from __future__ import annotations

import asyncio
import hmac
from time import time
from typing import TYPE_CHECKING, Any

from paddock.serve.exposition import exposition
from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.endpoint import Send
    from paddock.serve.hub import Hub

REQUEST_MOST = 8192
"""Bytes of a request's head at most."""
PATIENCE = 5.0
"""s that a client has for its request."""
STALE = 3.0
"""s without a word from the simulation after which it counts as unhealthy."""
TEXT = "text/plain; charset=utf-8"


class MetricsEndpoint:
    """A very small HTTP server: GET only, one request per connection."""

    latest = True

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        self.hub = hub
        self.port = options["port"]
        self.every = every
        self._server: asyncio.Server | None = None
        self._shown = False
        self._open = 0

    async def open(self) -> dict[str, Any]:
        """Listen."""
        self._server = await asyncio.start_server(self._serve, self.hub.options.bind, self.port, limit=REQUEST_MOST)
        self.port = self._server.sockets[0].getsockname()[1]
        return {"port": self.port}

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Only take note that there are snapshots."""
        self._shown = True
        return None

    def hear(self, kind: str, content: dict[str, Any]) -> None:
        """Nothing of it is shown."""

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= 32:
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)
                status, kind, body = self._answer(head)
                writer.write(_response(status, kind, body))
                await asyncio.wait_for(writer.drain(), PATIENCE)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            self.hub.counters.add("cut_off", endpoint="metrics", reason="request")
        finally:
            self._open -= 1
            writer.close()

    def _answer(self, head: bytes) -> tuple[str, str, str]:
        """(status, content type, body)."""
        lines = head.decode("latin-1").split("\r\n")
        method, _, rest = lines[0].partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        if method != "GET":
            return "405 Method Not Allowed", TEXT, "only GET is served\n"
        if path == "/healthz":
            return self._health()
        if path == "/readyz":
            return (
                ("200 OK", TEXT, "ready\n") if self._shown else ("503 Service Unavailable", TEXT, "no snapshot yet\n")
            )
        if path != "/metrics":
            return "404 Not Found", TEXT, f"no {path}; there are /metrics, /healthz and /readyz\n"
        if not self._allowed(lines[1:]):
            return "401 Unauthorized", TEXT, "say Authorization: Bearer TOKEN\n"
        return "200 OK", "text/plain; version=0.0.4; charset=utf-8", exposition(self.hub)

    def _health(self) -> tuple[str, str, str]:
        age = time() - self.hub.mirror.figures.get("wall", 0.0)
        if age < STALE:
            return "200 OK", TEXT, "healthy\n"
        return "503 Service Unavailable", TEXT, "nothing heard from the simulation\n"

    def _allowed(self, headers: list[str]) -> bool:
        token = self.hub.options.token
        if token is None:
            return True
        given = [line.split(":", 1)[1].strip() for line in headers if line.lower().startswith("authorization:")]
        expected = f"Bearer {token}".encode()
        return any(hmac.compare_digest(value.encode("latin-1"), expected) for value in given)


def _response(status: str, kind: str, body: str) -> bytes:
    data = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    return head.encode() + data


ENDPOINT = MetricsEndpoint
