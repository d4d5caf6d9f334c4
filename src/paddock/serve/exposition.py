"""The hub's counts and the simulation's figures in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

if TYPE_CHECKING:
    from paddock.serve.hub import Hub

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
