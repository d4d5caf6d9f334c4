"""Separation of aircraft in a mission: height layers, and opposite offsets within a layer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddock
from paddock.engine.mission.following import FollowingOptions, FollowingStyle, rows_of
from paddock.engine.mission.spacing import closest, layers, predicted, senses
from paddock.planning.geometry.path import Path, Segment
from paddock.planning.solver import layers as height_layers

AIR = FollowingStyle("aircraft", FollowingOptions())


def towards_each_other(gap: float) -> tuple[Any, ...]:
    """Two aircraft head-on, 20 m/s each."""
    rows = [
        rows_of(Path([Segment(0.0, 0.0, 100.0, 0.0, 2000.0)]), Path(()), AIR),
        rows_of(Path([Segment(gap, 10.0, 100.0, np.pi, 2000.0)]), Path(()), AIR),
    ]
    ints = np.array([0, 1]), np.array([1, 2]), np.array([-1, -1])
    return np.concatenate(rows), *ints, np.zeros(2), np.full(2, 20.0)


def test_layers_exceed_the_required_separation() -> None:
    """One each while there are enough; with room for both of a pair where they are shared."""
    assert np.diff(layers(4, 20.0)[1]).tolist() == [25.0] * 3
    layer, offsets = layers(20, 20.0)
    assert np.diff(np.unique(offsets)).min() == 50.0
    assert np.bincount(layer).max() == 3


def test_predictions_follow_the_path() -> None:
    """At 20 m/s, second by second; a path that is repeated goes round and round."""
    places = predicted(*towards_each_other(1000.0))
    assert places[0, :, 0] == pytest.approx(20.0 * np.arange(21))
    assert places[1, :, 0] == pytest.approx(1000.0 - 20.0 * np.arange(21))
    circle = Segment(0.0, 0.0, 100.0, 0.0, 200.0, 2 * np.pi / 200.0)
    rows = rows_of(Path(()), Path([circle]), AIR)
    row = np.array([0])
    round_ = predicted(rows, row, row + 1, row, np.zeros(1), np.array([20.0]))
    assert round_[0, 10] == pytest.approx(round_[0, 0], abs=1e-6)
    assert round_[0, 5] == pytest.approx((0.0, 200.0 / np.pi), abs=1e-6)


def test_vehicles_that_meet_get_opposite_senses() -> None:
    """Within 20 s, in the same layer; an earlier sense is kept."""
    near, far = predicted(*towards_each_other(700.0)), predicted(*towards_each_other(1700.0))
    same, different = np.array([0, 0]), np.array([0, 1])
    assert senses(near, same, 60.0, np.zeros(2)).tolist() == [1.0, -1.0]
    assert senses(near, same, 60.0, np.array([-1.0, 1.0])).tolist() == [-1.0, 1.0]
    assert senses(near, different, 60.0, np.zeros(2)).tolist() == [0.0, 0.0]
    assert senses(far, same, 60.0, np.zeros(2)).tolist() == [0.0, 0.0]


def test_closest() -> None:
    """3-D distance, and the larger of both shares of the separation."""
    x, y, z = np.array([0.0, 30.0, 500.0]), np.array([0.0, 40.0, 0.0]), np.array([100.0, 110.0, 100.0])
    assert closest(x, y, z, 100.0, 20.0).tolist() == pytest.approx([2600**0.5, 0.5])


def head_on(**fields: Any) -> dict[str, Any]:
    """Two aircraft that fly the same line in opposite directions, and cross."""
    poses = [[-600, 0, 100, 0.0], [600, 0, 100, np.pi]]
    tasks = [
        {"line": {"at": [-450, 0], "heading": 0.0, "length": 900}, "name": "east"},
        {"line": {"at": [450, 0], "heading": np.pi, "length": 900}, "name": "west"},
    ]
    uav = {"name": "uav", "count": 2, "model": "fixed_wing", "spawn": {"poses": poses}}
    return {"clock": {"rate": 20}, "vehicles": [uav], "mission": {"tasks": tasks, "method": "greedy", **fields}}


@pytest.mark.parametrize("shared", [False, True])
def test_head_on_vehicles_keep_separation(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two layers, and also where there is one for both: never nearer than 50 m across and 20 m up."""
    if shared:
        monkeypatch.setattr(height_layers, "LAYERS", 1)
    sim = paddock.load(head_on())
    nearest, share = np.inf, np.inf
    for _ in range(120):
        sim.step(10)
        a, b = sim.snapshot().fleet("uav").position
        nearest = min(nearest, np.hypot(*(a - b)[:2]))
        share = min(share, max(np.hypot(*(a - b)[:2]) / 50.0, abs(a[2] - b[2]) / 20.0))
    assert nearest < 40.0, "they must have met for this to show anything"
    assert share >= 1.0
    view = sim.mission
    assert view is not None
    assert view.metrics["separation"] == pytest.approx(share, abs=0.2)


def test_without_separation_vehicles_meet() -> None:
    """The same without it: they pass through each other."""
    sim = paddock.load(head_on(separation=None))
    nearest = np.inf
    for _ in range(600):
        sim.step(2)
        a, b = sim.snapshot().fleet("uav").position
        nearest = min(nearest, float(np.linalg.norm(a - b)))
    assert nearest < 20.0


def test_the_default_mission_keeps_apart() -> None:
    """Four aircraft and twenty tasks: all done, never nearer than the separation."""
    sim = paddock.load({"clock": {"rate": 20}, "every": {"behaviour": 2}, "mission": {"generate": {}}})
    view = sim.mission
    while view is not None and not view.finished:
        sim.step(400)
        view = sim.mission
    assert view is not None
    assert view.metrics["completed"] == 20
    assert view.metrics["separation"] >= 1.0
    assert view.metrics["closest"] >= 20.0
