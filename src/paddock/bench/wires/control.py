"""Synchronous control over ZeroMQ: how long the wire makes a step take."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import Any

from paddock.bench.result import Result, measured
from paddock.bench.wires.server import Server
from paddock.bench.wires.swarms import cars


def control(quick: bool) -> Iterator[Result]:
    """One car at 1 kHz: plain steps, and steps for which the server asks the client for commands."""
    from paddock import connect

    steps, judged = (200, False) if quick else (3000, True)
    with Server(cars(1, 1000), {"zmq": {"port": 0}}) as server, connect(_url(server)) as sim:
        plain = _times(sim, steps)
        own: list[float] = []

        @sim.on_control_request("car_1")
        def drive(request: Any) -> dict[str, dict[str, float]]:
            started = perf_counter()
            commands = {"car_1": {"steer": 0.1, "throttle": 0.3}}
            own.append(perf_counter() - started)
            return commands

        asked = _times(sim, steps)
    trip = 1000 * (median(asked) - median(plain) - median(own))
    yield measured("wires", "zmq, step(1): median", 1000 * median(plain), "ms")
    yield measured("wires", "zmq, step(1) with control: median", 1000 * median(asked), "ms")
    name = "zmq, control round trip above the client's own work: median"
    yield measured("wires", name, trip, "ms", "<= 0.5" if judged else None)
    yield measured("wires", "zmq, steps with control", len(asked) / sum(asked), "per s", ">= 1000" if judged else None)


def _url(server: Server) -> str:
    return f"tcp://127.0.0.1:{server.addresses['zmq']['port']}"


def _times(sim: Any, steps: int) -> list[float]:
    """s of each of so many steps, after some that warm up."""
    times = []
    for k in range(steps + 100):
        started = perf_counter()
        sim.step(1)
        if k >= 100:
            times.append(perf_counter() - started)
    return times
