"""Prometheus metrics, health and readiness over HTTP: /metrics, /healthz, /readyz."""

from collections.abc import Iterator
from time import monotonic
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope
from starlette.types import Send as Reply

from paddock.serve.http import HttpServer, misdirected
from paddock.serve.hub import Endpoint, Hub, Send
from paddock.serve.protection.admission import has_token
from paddock.world.snapshot import Snapshot

CONNECTIONS = 32  # at the same time
STALE = 3.0  # s without a message from the simulation after which it counts as unhealthy


class MetricsServer(Endpoint):
    """Serves GET requests; /metrics requires the token."""

    name = "metrics"

    def __init__(self, hub: Hub, options: dict[str, Any], every: int) -> None:
        super().__init__(hub, every)
        self.port = options["port"]
        self._shown = False
        routes = {"/metrics": self._metrics, "/healthz": self._health, "/readyz": self._readiness}
        self._application = Starlette(routes=[Route(path, answer) for path, answer in routes.items()])
        self._application.add_exception_handler(404, _not_found)
        self._server = HttpServer(self._on_request, CONNECTIONS)

    async def open(self) -> dict[str, Any]:
        self.port = await self._server.open(self.hub.options.bind, self.port)
        return {"port": self.port}

    def prepare(self, snapshot: Snapshot, wall_time: float) -> Send | None:
        """Record that a snapshot exists; send nothing."""
        self._shown = True
        return None

    async def close(self) -> None:
        self._server.stop_listening()
        await self._server.close()

    async def _on_request(self, scope: Scope, receive: Receive, send: Reply) -> None:
        """Answer a request for this server: the ASGI application."""
        await (misdirected(self, scope) or self._application)(scope, receive, send)

    async def _metrics(self, request: Request) -> Response:
        values = [value.encode("latin-1") for value in request.headers.getlist("authorization")]
        tokens = [value.removeprefix(b"Bearer ") for value in values if value.startswith(b"Bearer ")]
        if not any(has_token(self.hub.options, token) for token in tokens or [b""]):
            return PlainTextResponse("send Authorization: Bearer TOKEN\n", 401)
        return Response(exposition(self.hub), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _health(self, request: Request) -> Response:
        if monotonic() - self.hub.mirror.updated < STALE:
            return PlainTextResponse("healthy\n")
        return PlainTextResponse("no message from the simulation\n", 503)

    async def _readiness(self, request: Request) -> Response:
        return PlainTextResponse("ready\n") if self._shown else PlainTextResponse("no snapshot yet\n", 503)


async def _not_found(request: Request, error: Exception) -> Response:
    return PlainTextResponse(f"no {request.url.path}; valid: /metrics, /healthz, /readyz\n", 404)


ENDPOINT = MetricsServer


GAUGES = {
    "tick": "Tick of the simulation.",
    "time": "Simulated time, in seconds.",
    "rate": "Ticks per simulated second.",
    "pace": "Simulated seconds per second; 0 is as fast as possible.",
    "paused": "1 while the run is paused.",
    "run": "Resets since the start.",
    "vehicles": "Vehicles in the world.",
    "claims": "Clients with a claim on vehicles.",
    "lag_seconds": "Seconds of wall time by which a paced run is behind its pace.",
    "tick_seconds": "Recent mean wall time of a tick, in seconds.",
    "radio_links": "Usable radio links at the last update.",
}
COUNTERS = {
    "slips": "Times that a paced run skipped ahead after falling behind.",
    "events": "Events reported.",
    "commands": "Commands accepted.",
    "refused": "Operations refused.",
    "radio_ups": "Radio links that have come up.",
    "radio_downs": "Radio links that have dropped.",
}
HUB_COUNTERS = {
    "aux_unsupported": "Commands with aux_accel or aux_speed, which are not supported.",
    "cookies_sent": "Cookies sent to senders that have not proved where they receive.",
    "cut_off": "Connections ended by the server, by reason.",
    "datagrams_received": "Datagrams received.",
    "datagrams_refused": "Datagrams refused, by reason.",
    "datagrams_sent": "Datagrams sent.",
    "datagrams_unsent": "Datagrams that the system did not accept.",
    "dials_failed": "Failed attempts to connect to a renderer.",
    "endpoint_errors": "Failures inside an endpoint; each is logged.",
    "groups": "Groups of frames written, one per tick.",
    "ignored": "Messages ignored because their client is blocked for a while.",
    "malformed": "Malformed messages, by reason.",
    "misdirected": "Commands for a vehicle that does not exist or takes no commands.",
    "publishes": "Ticks whose states were sent.",
    "publishes_late": "Ticks whose states were sent more than one period late.",
    "refused": "Requests refused, by reason.",
    "refused_commands": "Refused commands and calls without an answer.",
    "refused_controls": "Controls refused, by reason.",
    "refused_operations": "Operations that the simulation refused.",
    "renderer_errors": "Errors returned by renderers.",
    "snapshots_missed": "Snapshots overwritten before the hub read them.",
    "stream_skipped": "Groups of frames replaced by newer ones for slow subscribers.",
    "subscribers_evicted": "Subscribers removed after silence.",
    "unpublished": "States that the publishing socket did not accept.",
    "values_not_finite": "Values sent as 0 because they were not finite.",
    "wrong_tokens": "Wrong tokens received.",
}


class HubCollector:
    """Collects all metrics when they are requested."""

    def __init__(self, hub: Hub) -> None:
        self.hub = hub

    def collect(self) -> Iterator[Metric]:
        figures = self.hub.mirror.figures
        for kind, meanings in ((GaugeMetricFamily, GAUGES), (CounterMetricFamily, COUNTERS)):
            for name, meaning in meanings.items():
                if name in figures:
                    yield kind(f"paddock_{name}", meaning, float(figures[name]))
        calls = CounterMetricFamily("paddock_stage_calls", "Runs of a stage of the tick.", labels=["stage"])
        seconds = CounterMetricFamily("paddock_stage_seconds", "Time spent in a stage of the tick.", labels=["stage"])
        for name, spent in figures.get("stages", {}).items():
            calls.add_metric([name], spent["calls"])
            seconds.add_metric([name], spent["seconds"])
        yield from (calls, seconds)
        yield GaugeMetricFamily("paddock_hub_restarts", "Restarts of the hub.", self.hub.restarts)
        clients = GaugeMetricFamily("paddock_clients", "Connected clients.", labels=["endpoint"])
        meaning = "Groups of frames skipped for a connected client."
        skips = CounterMetricFamily("paddock_subscriber_skipped", meaning, labels=["endpoint", "client"])
        for name, endpoint in self.hub.endpoints.items():
            clients.add_metric([name], float(endpoint.clients_now))
            for client in endpoint.subscribers_now:
                skips.add_metric([name, client["name"]], client["skipped"])
        yield from (clients, skips)
        families: dict[str, CounterMetricFamily] = {}
        for (name, labels), value in sorted(self.hub.counts.items()):
            if name not in families:
                meaning = HUB_COUNTERS.get(name) or name.replace("_", " ").capitalize() + "."
                families[name] = CounterMetricFamily(f"paddock_hub_{name}", meaning, labels=())
            said = {label: text for label, text in labels if text}
            families[name].add_sample(f"paddock_hub_{name}_total", said, value)
        yield from families.values()


def exposition(hub: Hub) -> str:
    """Return the metrics in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(HubCollector(hub))
    return generate_latest(registry).decode()
