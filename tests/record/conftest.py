"""Recordings for the tests: a small world with everything that a recording contains."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.engine.simulation import Simulation
from paddock.record import Recorder

WORLD: dict[str, Any] = {
    "name": "small",
    "description": "A car, scouts that are commanded, and a ring of dots.",
    "seed": 5,
    "clock": {"rate": 100},
    "vehicles": [
        {"name": "red", "model": "car.bicycle", "pose": [0, 0, 0], "speed": 8, "timeout": 0.5, "sensors": ["imu"]},
        {"name": "scouts", "count": 3, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}, "timeout": 0.25},
        {"name": "dot", "model": "point", "behaviour": {"orbit": {"radius": 10, "z": 2, "speed": 5}}},
    ],
}

Make = Callable[..., Path]


@pytest.fixture
def world() -> dict[str, Any]:
    """What `small` simulates."""
    return WORLD


@pytest.fixture
def small() -> Simulation:
    """A simulation that starts fast."""
    return paddock.load(WORLD)


@pytest.fixture
def record(tmp_path: Path) -> Make:
    """`record(drive, **options)` records `drive(sim)` and returns the path."""

    def made(drive: Callable[[Simulation], object], name: str = "run.mcap", **options: Any) -> Path:
        path = tmp_path / name
        with paddock.load(WORLD) as sim, Recorder(sim, path, **options):
            drive(sim)
        return path

    return made
