"""A stand-in of the engine for a bridge."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paddock.sitl.bridge import Bridge


@pytest.fixture(scope="session")
def step() -> Callable[..., None]:
    """`step(bridge, n)`: the next n exchanges, called as the engine's barrier calls them."""

    def exchange(bridge: Bridge, count: int = 1) -> None:
        for _ in range(count):
            bridge.exchange(bridge.due(round(bridge.time_us * bridge.tick_rate / 1e6)))

    return exchange
