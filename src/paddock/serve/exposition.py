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
    "lag": "Simulated seconds per second that the run falls behind its pace.",
}
COUNTERS = {
    "slips": "Times that a paced run gave up catching up.",
    "events": "Events reported.",
    "commands": "Commands taken.",
    "refused": "Operations refused.",
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
        yield from self._counts()

    def _clients(self) -> Iterator[Metric]:
        gauge = GaugeMetricFamily("paddock_clients", "Clients connected now.", labels=["endpoint"])
        for name, endpoint in self.hub.endpoints.items():
            gauge.add_metric([name], float(getattr(endpoint, "clients_now", 0)))
        yield gauge

    def _counts(self) -> Iterator[Metric]:
        families: dict[str, CounterMetricFamily] = {}
        for (name, labels), value in sorted(self.hub.counters.values.items()):
            names = [label for label, _ in labels]
            if name not in families:
                told = name.replace("_", " ").capitalize() + "."
                families[name] = CounterMetricFamily(f"paddock_hub_{name}", told, labels=names)
            families[name].add_metric([text for _, text in labels], value)
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
