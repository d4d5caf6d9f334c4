"""Flocking: it aligns, keeps apart, stays at home."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import paddock

RANGE, LAYER, HEIGHT = 80.0, 15.0, 20.0


@pytest.fixture(scope="module", params=["quad", "point"])
def flight(request: pytest.FixtureRequest) -> Any:
    """Positions and velocities (samples, n, 3) of 120 s, twice a second."""
    birds = {"name": "birds", "count": 60, "model": request.param, "behaviour": {"flock": {"range": RANGE}}}
    birds["spawn"] = {"random": {"low": [-40, -40, 15], "high": [40, 40, 25]}}
    sim = paddock.load({"seed": 3, "every": {"behaviour": 8}, "vehicles": [birds]})
    seen: list[Any] = []
    sim.watch(lambda snapshot: seen.append(snapshot.fleet("birds")), every=120)
    sim.step(240 * 120)
    return np.array([fleet.position for fleet in seen]), np.array([fleet.velocity for fleet in seen])


def test_it_aligns(flight: Any) -> None:
    _, velocity = flight
    order = np.linalg.norm((velocity / np.linalg.norm(velocity, axis=2, keepdims=True)).mean(axis=1), axis=1)
    assert order[0] < 0.5  # the noses point everywhere at first
    assert order[-80:].mean() > 0.8


def test_it_keeps_apart(flight: Any) -> None:
    position, _ = flight
    assert min(pdist(sample).min() for sample in position[20:]) > 0.5


def test_it_stays_at_home(flight: Any) -> None:
    position, velocity = flight
    assert np.isfinite(position).all() and np.isfinite(velocity).all()
    assert np.hypot(position[..., 0], position[..., 1]).max() < 1.3 * RANGE
    assert np.abs(position[..., 2] - HEIGHT).max() < LAYER + 5.0
    assert np.linalg.norm(velocity[40:], axis=2).mean() == pytest.approx(6.0, rel=0.25)  # its cruising speed


def test_one_bird_alone_cruises(watch: Any) -> None:
    _, ways = watch(30, {"name": "one", "model": "quad", "pose": [0, 0, 20, 0.5], "behaviour": {"flock": {}}})
    step = np.diff(ways["one"][-100:, 0], axis=0) * 20
    assert np.linalg.norm(step, axis=1) == pytest.approx(6.0, rel=0.1)
    assert np.arctan2(step[:, 1], step[:, 0]) == pytest.approx(0.5, abs=0.05)
