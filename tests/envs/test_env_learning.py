"""A short cross-entropy learner improves a policy clearly, in a few seconds and with fixed seeds."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import paddock.envs  # noqa: F401  # registers the ids
from paddock.envs.cross_entropy import LinearPolicy, learn, mean_return


@pytest.mark.parametrize(
    ("name", "options", "generations", "before", "after"),
    [
        ("paddock/QuadHover-v0", {}, 20, 80.0, 120.0),
        ("paddock/CarRacing-v0", {"observation": "track", "track": "park"}, 10, 3.0, 12.0),
    ],
    ids=["hover", "racing"],
)
def test_a_linear_policy_is_learned(
    name: str, options: dict[str, str], generations: int, before: float, after: float
) -> None:
    envs = gymnasium.make_vec(name, num_envs=192, **options)
    learned = learn(envs, generations=generations, steps=200, seed=1)
    untrained = LinearPolicy(np.zeros_like(learned.policy.weights))
    assert mean_return(envs, untrained, seed=500, steps=200) < before
    assert mean_return(envs, learned.policy, seed=500, steps=200) > after  # starts that it has not seen
    assert learn(envs, generations=1, steps=200, seed=1).returns[0] == learned.returns[0]
