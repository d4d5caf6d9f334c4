"""What one page costs the server: processor time of simulation and hub, with it and without."""

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
    """100,000 vehicles at 30 Hz to one page, against the same run that serves nobody."""
    count, seconds, rounds = (10_000, 2.0, 1) if quick else (100_000, 8.0, 3)
    with Server(swarm(count, RATE), {"metrics": {"port": 0}}) as server:  # a hub, but nothing that reads snapshots
        alone = min(_share(server, seconds) for _ in range(rounds))
    with Server(swarm(count, RATE), {"web": {"port": 0, "rate": RATE}}) as server:
        watcher = Watcher(server.addresses["web"]["port"], RATE)
        shares = [_share(server, seconds) for _ in range(rounds)]
        figures = watcher.result()
    case = f"{count:,} vehicles at {RATE} Hz"
    above = 100.0 * (min(shares) - alone)
    yield measured("web", f"{case}: a page, above the tick", above, "% of a core", None if quick else "<= 10")
    yield measured("web", f"{case}: groups that arrived", figures["rate"], "Hz", None if quick else ">= 29")
    yield measured("web", f"{case}: bytes to the page", figures["bytes_per_second"] / 1e6, "MB/s")


def _share(server: Server, seconds: float) -> float:
    """Processor time of simulation and hub per second."""
    sleep(0.5)
    pids = server.pids()
    before, begun = sum(map(processor_seconds, pids)), monotonic()
    sleep(seconds)
    return (sum(map(processor_seconds, pids)) - before) / (monotonic() - begun)
