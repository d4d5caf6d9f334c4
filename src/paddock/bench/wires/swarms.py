"""The worlds that wires are measured with."""

from __future__ import annotations

from typing import Any


def swarm(count: int, rate: int) -> dict[str, Any]:
    """Quadrotors with full physics at about 240 Hz, published `rate` times a second, in real time."""
    ticks = max(1, round(240 / rate))
    side = 5.0 * count**0.5
    spawn = {"random": {"low": [-side / 2, -side / 2, 12], "high": [side / 2, side / 2, 28]}}
    return {
        "clock": {"rate": rate * ticks, "pace": 1.0},
        "vehicles": [{"name": "scouts", "count": count, "model": "quad", "preset": "micro", "spawn": spawn}],
    }


def cars(count: int, rate: int) -> dict[str, Any]:
    """Separately named cars at a standstill, waiting for commands, in real time."""
    vehicles = [
        {"id": k + 1, "name": f"car_{k + 1}", "model": "car.bicycle", "preset": "sedan", "pose": [0, 5 * k, 0]}
        for k in range(count)
    ]
    return {"clock": {"rate": rate, "pace": 1.0}, "vehicles": vehicles}
