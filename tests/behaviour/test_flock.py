"""Flocking: it aligns, keeps apart, stays at home."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import pdist, squareform

import paddock

RANGE, LAYER, HEIGHT, SIGHT = 80.0, 15.0, 20.0, 10.0


FLIGHTS = [
    pytest.param((model, seed), id=f"{model}-{seed}", marks=() if seed == 1 else pytest.mark.slow)
    for model in ("quad", "point")
    for seed in range(3)
]


@pytest.fixture(scope="module", params=FLIGHTS)
def flight(request: pytest.FixtureRequest) -> Any:
    """Positions and velocities (samples, n, 3) of 120 s, twice a second, with the default options but the range."""
    model, seed = request.param
    birds = {"name": "birds", "count": 60, "model": model, "behaviour": {"flock": {"range": RANGE}}}
    birds["spawn"] = {"random": {"low": [-40, -40, 15], "high": [40, 40, 25]}}
    sim = paddock.load({"seed": seed, "every": {"behaviour": 8}, "vehicles": [birds]})
    seen: list[Any] = []
    sim.clock.watch(lambda snapshot: seen.append(snapshot.fleet("birds")), every=120)
    sim.step(240 * 120)
    return np.array([fleet.position for fleet in seen]), np.array([fleet.velocity for fleet in seen])


def order(position: Any, velocity: Any) -> float:
    """Mean normalised velocity within each group whose members see each other, weighted by size.

    Birds out of sight of each other do not agree: a flock that has split flies in two directions, each in order.
    """
    heading = velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
    count, group = connected_components(squareform(pdist(position)) < SIGHT)
    return sum(float(np.linalg.norm(heading[group == k].sum(axis=0))) for k in range(count)) / len(heading)


def test_it_aligns(flight: Any) -> None:
    orders = [order(*sample) for sample in zip(*flight, strict=True)]
    assert orders[0] < 0.7  # the noses point everywhere at first; a bird that is alone counts as in order
    assert np.mean(orders[-80:]) > 0.9


def test_it_gathers(flight: Any) -> None:
    position, _ = flight
    groups = [connected_components(squareform(pdist(sample)) < SIGHT)[0] for sample in (position[0], position[-1])]
    assert groups[1] < 0.5 * groups[0]


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
    _, ways = watch(18, {"name": "one", "model": "quad", "pose": [0, 0, 20, 0.5], "behaviour": {"flock": {}}})
    step = np.diff(ways["one"][-100:, 0], axis=0) * 20
    assert np.linalg.norm(step, axis=1) == pytest.approx(6.0, rel=0.1)
    assert np.arctan2(step[:, 1], step[:, 0]) == pytest.approx(0.5, abs=0.25)


def test_a_flock_avoids_vehicles_of_other_fleets_if_it_is_asked_to() -> None:
    """It flies through three standing vehicles, or around them, hardly closer than the distance to keep."""
    nearest = {}
    for avoid in (0.0, 6.0):
        start = {"grid": {"spacing": 4, "z": 20, "origin": [-40, 0]}}
        mast = [[0, -4, 20, 0], [0, 0, 20, 0], [0, 4, 20, 0]]
        sim = paddock.load(
            {
                "clock": {"rate": 60},
                "vehicles": [
                    {"name": "birds", "model": "point", "count": 60, "spawn": start, "speed": 5,
                     "behaviour": {"flock": {"avoid": avoid}}},
                    {"name": "mast", "model": "point", "count": 3, "spawn": {"poses": mast}},
                ],
            }
        )  # fmt: skip
        gaps = []
        for _ in range(120):
            sim.step(6)
            birds = sim.snapshot().fleet("birds").position
            gaps.append(np.linalg.norm(birds[:, None] - np.array(mast)[None, :, :3], axis=2).min())
        nearest[avoid] = min(gaps)
    assert nearest[0.0] < 1.0
    assert nearest[6.0] > 5.0
