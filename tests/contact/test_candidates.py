"""The broad phase against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddock.contact.candidates import CROWD, CandidatePairs
from paddock.scenario.scenery import Obstacle
from paddock.world.solids import NO_OBSTACLES, Obstacles, obstacles_of

RANDOM = np.random.default_rng(7)


def brute(position: Any, radius: Any, slack: float) -> set[tuple[int, int]]:
    apart = np.linalg.norm(position[:, :, None] - position[:, None, :], axis=0) - radius[:, None] - radius[None, :]
    return set(zip(*map(np.ndarray.tolist, np.nonzero(np.triu(apart <= slack, 1))), strict=True))


def pairs_of(candidates: CandidatePairs) -> set[tuple[int, int]]:
    return set(map(tuple, candidates.pairs.T.tolist()))


def made(
    radius: Any, obstacles: Obstacles | None = None, ignores: Any = ((False,),), fleet: Any = None
) -> CandidatePairs:
    n = len(radius)
    fleets = np.zeros(n, np.int64) if fleet is None else fleet
    solids = NO_OBSTACLES.solids if obstacles is None else obstacles.solids
    return CandidatePairs(radius, fleets, np.array(ignores, np.bool_), solids, 1 / 240)


@pytest.mark.parametrize("large", [0.0, 0.03])
@pytest.mark.parametrize("flat", [0.02, 1.0])
def test_all_pairs_are_found_whatever_their_sizes(large: float, flat: float) -> None:
    """A few bodies a hundred times as large as the others, in a volume and in a plane, around the origin."""
    n = 700
    position = RANDOM.uniform(-25, 25, (3, n)) * np.array([[1], [1], [flat]])
    radius = np.where(RANDOM.random(n) < large, RANDOM.uniform(5.0, 20.0, n), 0.2)
    candidates = made(radius)
    candidates.search(position, np.zeros((3, n)))
    assert pairs_of(candidates) == brute(position, radius, candidates.slack)


def test_the_list_holds_while_bodies_keep_their_motion() -> None:
    """Pairs that come to touch within the horizon are in the list, however fast; others need a deviation first."""
    n = 200
    position, velocity = RANDOM.uniform(-6, 6, (3, n)), RANDOM.normal(0, 20, (3, n))
    radius = np.full(n, 0.3)
    candidates = made(radius)
    candidates.search(position, velocity)
    touching = set()
    while candidates.advance():
        position = position + velocity * candidates.dt
        assert candidates.holds(0, *position)
        overlapping = brute(position, radius, 0.0)
        touching |= overlapping
        assert overlapping <= pairs_of(candidates)
    assert len(touching) > 10
    candidates.search(position, velocity)
    position[0, 3] += 0.26 * candidates.slack
    assert not candidates.holds(0, *position)
    position[0, 3] = np.nan
    assert not candidates.holds(0, *position)


def test_layers_and_obstacles() -> None:
    """Fleets that ignore each other have no pairs, and obstacles none among themselves."""
    position, radius = np.zeros((3, 6)), np.full(6, 0.5)
    position[0] = np.arange(6) * 0.2
    fleet = np.array([0, 0, 1, 1, 2, 2])
    boxes = [{"box": {"center": [x, 0.0, -0.5], "size": [1.0, 1.0, 1.0]}} for x in position[0, 4:].tolist()]
    obstacles = obstacles_of(tuple(map(Obstacle.model_validate, boxes)), lambda x, y: np.zeros_like(x))
    candidates = made(radius, obstacles, ((True, False, False), (False, False, True), (False, True, False)), fleet)
    candidates.search(position, np.zeros((3, 6)))
    assert pairs_of(candidates) == {(0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 4), (0, 5), (1, 4), (1, 5)}


@pytest.mark.slow
def test_a_crowd_chooses_the_same_pairs_with_and_without_a_list() -> None:
    """The pairs depend on positions only, not on whether there was room for a list; each body has its nearest ones."""
    n = 110
    position, velocity = RANDOM.uniform(-0.5, 0.5, (3, n)), RANDOM.uniform(0, 3, (3, n))
    radius = np.full(n, 0.4)
    listed = made(radius)
    listed.search(position, np.zeros((3, n)))
    crowd = made(radius)
    crowd.crowded = True
    assert not listed.crowded
    awake = np.zeros(position.shape[1], np.bool_)
    first, two = listed.chosen(position, velocity, awake), crowd.chosen(position, velocity, awake)
    assert np.array_equal(first, two)
    assert first.shape[1] <= CROWD * n
    pairs = set(map(tuple, first.T.tolist()))
    apart = np.linalg.norm(position[:, :1] - position, axis=0)
    nearest = np.argsort(apart)[1 : CROWD + 1]
    assert {(0, int(k)) for k in nearest} <= pairs


def test_a_crowd_beyond_the_list_is_noticed() -> None:
    candidates = made(np.full(400, 1.0))
    candidates.search(RANDOM.uniform(-0.5, 0.5, (3, 400)), np.zeros((3, 400)))
    assert candidates.crowded
    assert not candidates.advance()
