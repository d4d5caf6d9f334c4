"""How old positions are when a subscriber has decoded them, while the simulation keeps its rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from time import sleep
from typing import Any

from paddock.bench.result import Result, measured
from paddock.bench.wires.server import Server
from paddock.bench.wires.subscriber import Subscriber
from paddock.bench.wires.swarms import swarm

CASES = ((1_000, 60, 5), (5_000, 60, 10), (10_000, 30, 20), (50_000, 30, 50), (100_000, 30, 100))
"""(vehicles, groups per second, ms that p99 may be)."""
RING = "paddock_bench"


def latency(quick: bool) -> Iterator[Result]:
    """One subscriber, over the stream and over shared memory."""
    for count, rate, limit in CASES[: 2 if quick else None]:
        for wire in ("stream", "shm"):
            figures, kept = watched(wire, count, rate, 3.0 if quick else 8.0)
            case, judged = f"{wire}, {count:,} vehicles at {rate} Hz", not quick
            p99, arrived = figures.get("p99", inf), figures["groups"] / (figures["seconds"] * rate)
            yield measured("wires", f"{case}: age, p99", p99, "ms", f"<= {limit}" if judged else None)
            yield measured("wires", f"{case}: age, median", figures.get("p50", inf), "ms")
            yield measured("wires", f"{case}: groups that arrived", 100.0 * arrived, "%")
            yield measured("wires", f"{case}: rate kept by the simulation", kept, "%", ">= 99" if judged else None)


def watched(wire: str, count: int, rate: int, seconds: float) -> tuple[dict[str, Any], float]:
    """What a subscriber measured, and the simulation's speed meanwhile (% of real time)."""
    shm = {"shm": {"name": RING, "rate": rate, "kinds": ["positions"]}}
    with Server(swarm(count, rate), shm if wire == "shm" else {"stream": {"port": 0, "rate": rate}}) as server:
        sleep(0.5)
        where = server.addresses[wire].get("port", RING)
        return speed(server, lambda: Subscriber(wire, where, rate, seconds).result())


def speed(server: Server, work: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], float]:
    """What the work returned, and how fast the simulation was meanwhile, in % of real time."""
    before = server.figures()
    result = work()
    after = server.figures()
    return result, 100.0 * (after["time"] - before["time"]) / (after["wall"] - before["wall"])


def many_subscribers(quick: bool) -> Iterator[Result]:
    """Four subscribers at 30 Hz, then one more that never reads: what do the simulation and the others notice?"""
    count, seconds, judged = (10_000, 2.0, False) if quick else (100_000, 8.0, True)
    with Server(swarm(count, 30), {"stream": {"port": 0, "rate": 30}}) as server:
        port = server.addresses["stream"]["port"]
        sleep(1.0)
        _, alone = speed(server, lambda: _nobody(seconds))
        four, with_four = speed(server, lambda: _watching(port, seconds, stalled=0))
        five, with_five = speed(server, lambda: _watching(port, seconds, stalled=1))
    for case, kept, figures in (("to 4 subscribers", with_four, four), ("and 1 stalled", with_five, five)):
        name = f"stream, {count:,} vehicles at 30 Hz {case}"
        lost = 100.0 * (alone - kept) / alone
        yield measured("wires", f"{name}: ticks lost by the simulation", lost, "%", "<= 10" if judged else None)
        yield measured("wires", f"{name}: slowest subscriber", figures["rate"], "Hz")
        yield measured("wires", f"{name}: age, worst p99", figures["p99"], "ms")


def _nobody(seconds: float) -> dict[str, Any]:
    sleep(seconds)
    return {}


def _watching(port: int, seconds: float, stalled: int) -> dict[str, Any]:
    others = [Subscriber("stalled", port, 30, seconds + 1.0) for _ in range(stalled)]
    figures = [one.result() for one in [Subscriber("stream", port, 30, seconds) for _ in range(4)]]
    for one in others:
        one.result()
    worst = max(figure.get("p99", inf) for figure in figures)
    return {"p99": worst, "rate": min(figure["groups"] / figure["seconds"] for figure in figures)}
