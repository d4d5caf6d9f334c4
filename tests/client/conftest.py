from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import paddock
from paddock.serve.host import Host

SCENARIO: dict[str, Any] = {
    "seed": 5,
    "clock": {"rate": 400, "pace": 0, "sync": {"every": 1, "timeout": 2.0, "on_timeout": "brake"}},
    "vehicles": [
        {"name": "red", "model": "car.bicycle", "speed": 8, "sensors": ["imu", "gnss"]},
        {"name": "scouts", "count": 4, "model": "quad", "spawn": {"grid": {"spacing": 3, "z": 20}}},
    ],
}


class Served:
    """A simulation that others may connect to."""

    def __init__(self, sim: paddock.Simulation, host: Host) -> None:
        self.sim = sim
        self.host = host
        self.port = host.addresses["zmq"]["port"]
        self.url = f"tcp://127.0.0.1:{self.port}"


Serve = Callable[..., Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """serve(scenario, drive=..., **serve section): a served simulation; `drive` also runs it in a thread, held."""
    with ExitStack() as stack:

        def start(scenario: dict[str, Any] | None = None, drive: bool = False, **options: Any) -> Served:
            sim = stack.enter_context(paddock.load(scenario or SCENARIO))
            host = stack.enter_context(paddock.share(sim, **{"zmq": {"port": 0}, **options}))
            if drive:
                sim.clock.pause()
                stack.enter_context(sim.clock.running())
            return Served(sim, host)

        yield start


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """One served simulation for tests that do not change it."""
    with paddock.load(SCENARIO) as sim, paddock.share(sim, zmq={"port": 0}) as host:
        yield Served(sim, host)
