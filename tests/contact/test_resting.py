"""Things at rest: crates, stacks of crates and slopes, at slow and fast ticks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock

GRAVITY = 9.80665
FRICTION = 0.5


def rested(rate: int, count: int, slope: float, seconds: float) -> Any:
    """States (samples, 13, count), five a second, of crates on each other that begin flat on a slope along x."""
    angle = np.arctan(slope)
    poses = [[0, 0, 5 + k, 0] for k in range(count)]
    crates = {"name": "c", "model": "prop.crate", "count": count, "spawn": {"poses": poses}, "parameters": {"drag": 0}}
    world = {"ground": {"grade": slope}} if slope else {}
    tree = {"clock": {"rate": rate}, "contact": {"friction": FRICTION}, "world": world, "vehicles": [crates]}
    with paddock.load(tree) as sim:
        state = sim.engine.world.fleets["c"].state
        for k in range(count):
            state[:3, k] = (0.3 + 0.6 * k) * np.array([-np.sin(angle), 0.0, np.cos(angle)])
            pitch, yaw = -0.5 * angle, 0.05 * k  # halves
            state[6:10, k] = (
                np.sin(pitch) * np.sin(yaw),
                np.sin(pitch) * np.cos(yaw),
                np.cos(pitch) * np.sin(yaw),
                np.cos(pitch) * np.cos(yaw),
            )
        sim.engine.publisher.forget()
        sim.engine.parts.contact.forget()
        rows = []
        for _ in range(round(5 * seconds)):
            sim.step(rate // 5)
            rows.append(sim.snapshot().fleet("c").block[:13].copy())
        return np.array(rows)


@pytest.mark.parametrize(
    ("rate", "seconds"),
    [
        (60, 10.0),
        (200, 3.2),
        pytest.param(1000, 3.2, marks=pytest.mark.slow),
        *(pytest.param(rate, 60.0, marks=pytest.mark.slow) for rate in (60, 200, 1000)),
    ],
)
@pytest.mark.parametrize(("count", "slope"), [(3, 0.0), (1, 0.4), (3, 0.3)])
def test_crates_and_stacks_stay(rate: int, seconds: float, count: int, slope: float) -> None:
    """Below the friction angle (slopes below 0.5): they settle by millimetres, sleep, and then keep every bit."""
    states = rested(rate, count, slope, seconds)
    start = np.array([0.3 + 0.6 * k for k in range(count)]) / np.sqrt(1.0 + slope * slope)
    assert np.abs(states[-1, 0] + slope * start).max() < 0.02
    assert np.abs(states[-1, 2] - start).max() < 0.02
    assert np.abs(states[-1, 1]).max() < 0.02
    assert np.array_equal(states[-1], states[15])  # from 3 s on
    assert (states[15, 7:13] == 0.0).all()


@pytest.mark.parametrize("rate", [60, 200, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_crate_slides_down_a_steep_slope_with_the_analytic_acceleration(rate: int) -> None:
    """Above the friction angle: a = g (sin - mu cos)."""
    for slope in (0.55, 0.8):
        states = rested(rate, 1, slope, 1.2)
        speed = np.linalg.norm(states[:, 7:10, 0], axis=1)
        angle = np.arctan(slope)
        assert speed[5] - speed[0] == pytest.approx(GRAVITY * (np.sin(angle) - FRICTION * np.cos(angle)), rel=1e-6)
        assert np.abs(states[:, 10:13]).max() < 1e-3  # it does not tip
