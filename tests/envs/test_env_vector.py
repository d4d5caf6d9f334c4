"""A vector environment equals single ones: bit for bit, in every autoreset mode, for any number of worlds."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given
from hypothesis import strategies as st

from paddock.compute.threads import limit_threads
from paddock.envs import PaddockEnv, PaddockVectorEnv

SPREAD = {"mass": 0.1}
EASY: dict[str, Any] = {"bounds": 0.8, "away": 0.6}  # some episodes end early, others by time


def actions_of(worlds: int, step: int, size: int = 4) -> Any:
    return np.random.default_rng([step, 7]).uniform(-1.0, 1.0, (64, size)).astype(np.float32)[:worlds]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple) or (isinstance(a, np.ndarray) and a.dtype == object):
        return len(a) == len(b) and all(same(first, other) for first, other in zip(a, b, strict=True))
    return a is b if a is None or b is None else np.array_equal(a, b)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_it_does_what_gymnasiums_own_vector_of_single_environments_does(mode: AutoresetMode) -> None:
    ours = PaddockVectorEnv("quad_hover", 5, max_episode_steps=12, autoreset_mode=mode, spread=SPREAD, **EASY)
    theirs = SyncVectorEnv(
        [lambda: PaddockEnv("quad_hover", max_episode_steps=12, spread=SPREAD, **EASY)] * 5, autoreset_mode=mode
    )
    assert same(ours.reset(seed=11), theirs.reset(seed=11))
    early, late, resets = 0, 0, 0
    for step in range(60):
        actions = actions_of(5, step)
        mine, his = ours.step(actions), theirs.step(actions)
        for a, b in zip(mine, his, strict=True):
            assert same(a, b), step
        early, late = early + mine[2].sum(), late + mine[3].sum()
        ended = mine[2] | mine[3]
        if mode == AutoresetMode.DISABLED and ended.any():
            both = [envs.reset(options={"reset_mask": ended.copy()}) for envs in (ours, theirs)]
            assert same(both[0][0], both[1][0])
            resets += 1
    assert early and late and (resets or mode != AutoresetMode.DISABLED)


def trajectory(worlds: int, world: int, seed: int) -> list[bytes]:
    """Return the bytes of one world's observations and rewards; the others of the batch get other actions."""
    envs = PaddockVectorEnv("quad_hover", worlds, max_episode_steps=10, autoreset_mode="SameStep", **EASY)
    seeds = [seed + 1000 + k for k in range(worlds)]
    seeds[world] = seed
    observations, _ = envs.reset(seed=seeds)
    rows = [observations[world].tobytes()]
    for step in range(25):
        actions = np.full((worlds, 4), 0.002 * worlds, np.float32)
        actions[world] = actions_of(1, step)[0]
        observations, rewards, *_ = envs.step(actions)
        rows += [observations[world].tobytes(), rewards[world].tobytes()]
    return rows


def test_a_world_does_not_depend_on_the_others_nor_on_their_number() -> None:
    alone = trajectory(1, 0, 42)
    assert trajectory(3, 2, 42) == alone
    assert trajectory(300, 299, 42) == alone
    assert trajectory(3, 2, 43) != alone


@pytest.mark.slow  # compiles the task's kernels once more
def test_it_does_not_depend_on_the_threads() -> None:
    """400 worlds, more than 384: shared by the threads."""
    limit_threads(1)
    serial = trajectory(400, 17, 5)
    limit_threads(None)
    assert trajectory(400, 17, 5) == serial
    assert trajectory(400, 399, 42) == trajectory(1, 0, 42)


def test_seeds_are_those_of_gymnasium() -> None:
    envs = gymnasium.make_vec("paddock/QuadHover-v0", num_envs=3)
    first, _ = envs.reset(seed=4)
    env = gymnasium.make("paddock/QuadHover-v0")
    for world in range(3):
        assert np.array_equal(env.reset(seed=4 + world)[0], first[world])
    again, _ = envs.reset()
    assert not np.array_equal(first, again)  # the next episodes
    assert np.array_equal(envs.reset(seed=[4, None, 6])[0][[0, 2]], first[[0, 2]])
    unseeded = [gymnasium.make("paddock/QuadHover-v0").reset()[0] for _ in range(2)]
    assert not np.array_equal(*unseeded)


@given(seed=st.integers(0, 2**64 - 1), away=st.floats(0.0, 1.5))
def test_any_seed_starts_inside_the_box(seed: int, away: float) -> None:
    env = PaddockEnv("quad_hover", away=away)
    observation, info = env.reset(seed=seed)
    assert observation in env.observation_space
    assert info["distance"] <= away * 3**0.5 + 1e-9
    assert np.linalg.norm(observation[:3]) == pytest.approx(info["distance"], abs=1e-5)


def test_parameters_are_drawn_again_in_every_episode() -> None:
    envs = PaddockVectorEnv("quad_hover", 300, spread=SPREAD)
    envs.reset(seed=0)
    episodes = [envs.batch.varying[0].copy()]
    for _ in range(7):
        envs.reset()
        episodes.append(envs.batch.varying[0].copy())
    masses = np.array(episodes)
    assert masses.mean() == pytest.approx(0.65, rel=0.01)  # the preset's mass
    assert masses.std() == pytest.approx(0.065, rel=0.06)
    assert np.abs(np.corrcoef(masses) - np.eye(8)).max() < 0.25
    envs.reset(seed=0)
    assert np.array_equal(masses[0], envs.batch.varying[0])
