"""Fixtures: run a behaviour and record the trajectory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.simulation import Simulation

Ways = tuple[Simulation, dict[str, Any]]


@pytest.fixture
def watch() -> Callable[..., Ways]:
    """`watch(seconds, vehicle, ...)` -> simulation, {fleet: positions (samples, n, 3)} at 20 samples a second."""

    def watched(seconds: float, *vehicles: dict[str, Any], **sections: Any) -> Ways:
        rate = (
            240 if any(vehicle["model"] == "quad" for vehicle in vehicles) else 120
        )  # Hz; quads need ticks of 1/240 s
        sim = paddock.load({"clock": {"rate": rate}, "vehicles": list(vehicles), **sections})
        ways: dict[str, list[Any]] = {name: [] for name in sim.snapshot().fleets}
        sim.clock.watch(lambda snapshot: [ways[f.name].append(f.position) for f in snapshot], every=round(rate / 20))
        sim.step(round(seconds * rate))
        return sim, {name: np.array(way) for name, way in ways.items()}

    return watched
