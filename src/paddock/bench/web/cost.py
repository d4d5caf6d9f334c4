"""What one page costs the server: the hub's processor time, and what publishing takes of the tick's thread."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic, sleep

from paddock.bench.result import Result, measured
from paddock.bench.web.usage import processor_seconds
from paddock.bench.web.watcher import Watcher
from paddock.bench.wires.server import Server
from paddock.bench.wires.swarms import swarm

RATE = 30
"""Groups per s."""


def cost(quick: bool) -> Iterator[Result]:
    """100,000 vehicles at 30 Hz to one page."""
    count, seconds = (10_000, 2.0) if quick else (100_000, 10.0)
    with Server(swarm(count, RATE), {"web": {"port": 0, "rate": RATE}}) as server:
        watcher = Watcher(server.addresses["web"]["port"], RATE)
        sleep(1.0)
        hub, publishing = _shares(server, seconds)
        figures = watcher.result()
    case = f"{count:,} vehicles at {RATE} Hz"
    target = None if quick else "<= 10"
    yield measured("web", f"{case}: the hub, above the tick", 100.0 * hub, "% of a core", target)
    yield measured("web", f"{case}: publishing, within the tick", 100.0 * publishing, "% of a core")
    yield measured("web", f"{case}: groups that arrived", figures["rate"], "Hz", None if quick else ">= 29")
    yield measured("web", f"{case}: bytes to the page", figures["bytes_per_second"] / 1e6, "MB/s")


def _shares(server: Server, seconds: float) -> tuple[float, float]:
    """(processor time of the hub, time that the tick's thread spends on snapshots) per second."""
    _, hub = server.pids()
    spent, published, begun = processor_seconds(hub), _publishing(server), monotonic()
    sleep(seconds)
    spent, published = processor_seconds(hub) - spent, _publishing(server) - published
    return spent / (monotonic() - begun), published / (monotonic() - begun)


def _publishing(server: Server) -> float:
    return float(server.figures()["stages"]["publish"]["seconds"])
