"""Small worlds for the engine's tests that cover every part of the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import paddock
from paddock.compute.threads import limit_threads
from paddock.engine.simulation import Simulation

Load = Callable[..., Simulation]

BIRDS = {
    "name": "birds",
    "count": 12,
    "model": "quad",
    "spawn": {"random": {"low": [-20, -20, 10], "high": [20, 20, 30]}},
    "speed": 3,
    "spread": {"mass": 0.05},
    "behaviour": {"flock": {}},
    "sensors": [{"imu": {"delay": 0.03}}, {"gnss": {"rate": 10, "delay": 0.15}}],
}
RED = {
    "name": "red",
    "model": "car.bicycle",
    "pose": [0, 40, 0],
    "speed": 8,
    "timeout": 0.5,
    "sensors": ["wheel_speed"],
}
SCOUTS = {"name": "scouts", "count": 5, "model": "point", "spawn": {"grid": {"spacing": 3, "z": 5}}, "timeout": 0.25}
DOG = {"name": "dog", "model": "rover", "pose": [-30, 40, 0], "behaviour": {"follow": {"target": "red"}}}


def mixed(**changes: Any) -> dict[str, Any]:
    """Random spawns, a parameter spread, delayed noisy sensors, behaviours every 8 ticks, timeouts, a target."""
    scenario = {"seed": 7, "clock": {"rate": 240}, "every": {"behaviour": 8}, "vehicles": [BIRDS, RED, SCOUTS, DOG]}
    return {**scenario, **changes}


def send_commands(sim: Simulation) -> None:
    """Commands for ticks to come: one early, one that fails to be repeated in time, one for a single member."""
    sim.command("red", steer=0.1, throttle=0.4, at_tick=3)
    sim.command("scouts", vx=[1.0, 2.0, 3.0, 4.0, 5.0], at_tick=10, source="radio")
    sim.command("scouts[2]", vy=-1.0, at_tick=40)
    sim.command("red", steer=-0.05, at_tick=100)


@pytest.fixture
def load() -> Load:
    """`load(vehicle, ..., rate=...)`: a simulation of these vehicles."""

    def loaded(*vehicles: dict[str, Any], rate: float = 240, **sections: Any) -> Simulation:
        clock = {"rate": rate, **sections.pop("clock", {})}
        return paddock.load({"clock": clock, "vehicles": list(vehicles), **sections})

    return loaded


@pytest.fixture
def load_mixed() -> Load:
    """`load_mixed(seed=...)`: the mixed world."""
    return lambda **changes: paddock.load(mixed(**changes))


@pytest.fixture
def commanded(load_mixed: Load) -> Callable[..., Simulation]:
    """`commanded()`: the mixed world with commands on their way."""

    def prepared(**changes: Any) -> Simulation:
        sim = load_mixed(**changes)
        send_commands(sim)
        return sim

    return prepared


@pytest.fixture
def threads() -> Any:
    """Limits the kernels' threads, for one test."""
    yield limit_threads
    limit_threads(None)
