"""The adapter for Stable-Baselines3; skipped without it (extra `rl`)."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import paddock.envs  # noqa: F401  # registers the ids
from paddock.errors import PaddockError

pytest.importorskip("stable_baselines3", reason="pip install 'paddock[rl]'")


def test_it_is_a_vec_env_with_terminal_observations() -> None:
    from paddock.envs.stable_baselines import PaddockVecEnv

    made = {"num_envs": 3, "max_episode_steps": 4}
    worlds = gymnasium.make_vec("paddock/QuadHover-v0", autoreset_mode="SameStep", **made)
    envs = PaddockVecEnv(worlds)
    assert envs.seed(5) == [5, 6, 7]
    single = gymnasium.make("paddock/QuadHover-v0")
    assert np.array_equal(envs.reset()[1], single.reset(seed=6)[0])
    for step in range(4):
        observations, rewards, ended, infos = envs.step(np.zeros((3, 4), np.float32))
        last = single.step(np.zeros(4, np.float32))[0]
        assert ended.all() == (step == 3) and rewards.dtype == np.float32
    assert infos[1]["TimeLimit.truncated"] and np.array_equal(infos[1]["terminal_observation"], last)
    assert np.array_equal(observations[1], single.reset()[0])  # of the next episode
    with pytest.raises(PaddockError, match=r'make_vec.*autoreset_mode="SameStep"'):
        PaddockVecEnv(gymnasium.make_vec("paddock/QuadHover-v0", **made))
