"""Prometheus figures, health and readiness over HTTP: /metrics, /healthz, /readyz."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Iterator
from time import time
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from paddock.world.snapshot import Snapshot

if TYPE_CHECKING:
    from paddock.serve.hub import Hub, Send


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


GAUGES = {
    "tick": "Tick that the simulation has reached.",
    "time": "Simulated time, in seconds.",
    "rate": "Ticks per simulated second.",
    "pace": "Simulated seconds per second; 0 is as fast as possible.",
    "paused": "1 while the run is held.",
    "run": "Resets since the start.",
    "vehicles": "Vehicles in the world.",
    "claims": "Clients that are waited for.",
    "lag_seconds": "Seconds of wall time by which a paced run is behind its pace.",
    "tick_seconds": "Mean wall time of a tick lately, in seconds.",
}
COUNTERS = {
    "slips": "Times that a paced run gave up catching up.",
    "events": "Events reported.",
    "commands": "Commands taken.",
    "refused": "Operations refused.",
}
HUB_COUNTERS = {
    "aux_unsupported": "Commands with aux_accel or aux_speed, which are not supported.",
    "cut_off": "Clients whose connection was ended, by reason.",
    "datagrams_received": "Datagrams that have arrived.",
    "datagrams_refused": "Datagrams that changed nothing, by reason.",
    "datagrams_sent": "Datagrams sent.",
    "datagrams_unsent": "Datagrams that the system did not take.",
    "dials_failed": "Attempts to connect to a renderer that failed.",
    "endpoint_errors": "Failures inside an endpoint; each is logged.",
    "groups": "Groups of frames, each of one tick, written.",
    "ignored": "Messages of clients that are cut off for a while.",
    "malformed": "Messages that could not be read, by reason.",
    "misdirected": "Commands for a vehicle that is not there.",
    "publishes": "Ticks whose states were sent.",
    "publishes_late": "Ticks whose states were sent more than one period late.",
    "refused": "Requests refused, by reason.",
    "refused_commands": "Commands and calls without an answer that were refused.",
    "refused_controls": "Controls refused, by reason.",
    "refused_operations": "Operations that the simulation refused.",
    "renderer_errors": "Errors that renderers have answered.",
    "snapshots_missed": "Snapshots that were overwritten before the hub had read them.",
    "stream_skipped": "Groups of frames replaced by newer ones before a slow subscriber took them.",
    "subscribers_evicted": "Subscribers dropped because they were silent.",
    "unpublished": "States that could not be given to the publishing socket.",
    "values_not_finite": "Values sent as 0 because they were not finite.",
    "wrong_tokens": "Wrong tokens shown.",
}


class HubCollector:
    """Reads everything when asked, so that nothing has to be kept in step."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def collect(self) -> Iterator[Metric]:
        """All metrics."""
        figures = self.hub.mirror.figures
        for name, told in GAUGES.items():
            if name in figures:
                yield GaugeMetricFamily(f"paddock_{name}", told, float(figures[name]))
        for name, told in COUNTERS.items():
            if name in figures:
                yield CounterMetricFamily(f"paddock_{name}", told, float(figures[name]))
        yield from _stages(figures)
        yield GaugeMetricFamily("paddock_hub_restarts", "Hubs that had to be replaced.", self.hub.restarts)
        yield from self._clients()
        yield from self._subscribers()
        yield from self._counts()

    def _clients(self) -> Iterator[Metric]:
        gauge = GaugeMetricFamily("paddock_clients", "Clients connected now.", labels=["endpoint"])
        for name, endpoint in self.hub.endpoints.items():
            gauge.add_metric([name], float(getattr(endpoint, "clients_now", 0)))
        yield gauge

    def _subscribers(self) -> Iterator[Metric]:
        told = "Groups of frames that a client, connected now, was too slow for."
        counter = CounterMetricFamily("paddock_subscriber_skipped", told, labels=["endpoint", "client"])
        for name, endpoint in self.hub.endpoints.items():
            for client, skipped in getattr(endpoint, "skipped_now", {}).items():
                counter.add_metric([name, client], skipped)
        yield counter

    def _counts(self) -> Iterator[Metric]:
        families: dict[str, CounterMetricFamily] = {}
        for (name, labels), value in sorted(self.hub.counters.values.items()):
            if name not in families:
                told = HUB_COUNTERS.get(name) or name.replace("_", " ").capitalize() + "."
                families[name] = CounterMetricFamily(f"paddock_hub_{name}", told, labels=())
            said = {label: text for label, text in labels if text}
            families[name].add_sample(f"paddock_hub_{name}_total", said, value)
        yield from families.values()


def _stages(figures: dict[str, Any]) -> Iterator[Metric]:
    calls = CounterMetricFamily("paddock_stage_calls", "Times that a stage of the tick has run.", labels=["stage"])
    seconds = CounterMetricFamily("paddock_stage_seconds", "Time spent in a stage of the tick.", labels=["stage"])
    for name, spent in figures.get("stages", {}).items():
        calls.add_metric([name], spent["calls"])
        seconds.add_metric([name], spent["seconds"])
    yield calls
    yield seconds


def exposition(hub: Hub) -> str:
    """The page that Prometheus scrapes."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(HubCollector(hub))
    return generate_latest(registry).decode()
