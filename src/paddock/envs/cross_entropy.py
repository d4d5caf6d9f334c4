"""The cross-entropy method: a short learner, to see whether a task can be learned at all.

In every generation each world of a vector environment flies another linear policy, all from the same start; the next
generation is drawn around the best of them.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.world.columns import Floats


@dataclass(frozen=True)
class LinearPolicy:
    """Actions tanh(observation @ gains + bias)."""

    weights: Floats  # (observations + 1, actions): gains, then the bias

    def __call__(self, observations: Any) -> NDArray[np.float32]:
        """Return the actions (..., actions) for observations (..., values)."""
        return np.asarray(np.tanh(np.asarray(observations) @ self.weights[:-1] + self.weights[-1]), np.float32)


@dataclass
class Learned:
    """The policy of the last generation, and the history."""

    policy: LinearPolicy
    returns: list[float] = field(default_factory=list)  # of each generation's mean policy, in one episode


def episode_returns(envs: Any, weights: Floats, seed: int, steps: int) -> Floats:
    """Return the sum of rewards (n,) of the first episode of every world, world k with the policy weights[k]."""
    observations, _ = envs.reset(seed=[seed] * envs.num_envs)
    total, running = np.zeros(envs.num_envs), np.ones(envs.num_envs, np.bool_)
    for _ in range(steps):
        actions = np.tanh(np.matmul(observations[:, None], weights[:, :-1])[:, 0] + weights[:, -1])
        observations, rewards, terminated, truncated, _ = envs.step(actions.astype(np.float32))
        total += np.where(running, rewards, 0.0)
        running &= ~(terminated | truncated)
        if not running.any():
            break
    return total


def mean_return(envs: Any, policy: LinearPolicy, seed: int, steps: int) -> float:
    """Return the mean sum of rewards of a policy over one episode of every world, each with a start of its own."""
    observations, _ = envs.reset(seed=seed)
    total, running = np.zeros(envs.num_envs), np.ones(envs.num_envs, np.bool_)
    for _ in range(steps):
        observations, rewards, terminated, truncated, _ = envs.step(policy(observations))
        total += np.where(running, rewards, 0.0)
        running &= ~(terminated | truncated)
    return float(total.mean())


def learn(
    envs: Any, generations: int = 30, steps: int = 250, seed: int = 0, spread: float = 0.3, kept: float = 0.125
) -> Learned:
    """Learn a linear policy; `spread` of the first generation's weights, share of policies that is `kept`."""
    values, actions = envs.single_observation_space.shape[0], envs.single_action_space.shape[0]
    mean, deviation = np.zeros((values + 1, actions)), np.full((values + 1, actions), spread)
    rng, best = np.random.default_rng(seed), max(2, round(kept * envs.num_envs))
    learned = Learned(LinearPolicy(mean))
    for generation in range(generations):
        weights = mean + deviation * rng.standard_normal((envs.num_envs, *mean.shape))
        weights[0] = mean
        returns = episode_returns(envs, weights, generation, steps)
        elite = weights[np.argsort(returns, kind="stable")[-best:]]
        mean, deviation = elite.mean(axis=0), elite.std(axis=0) + 0.02
        learned.returns.append(float(returns[0]))
    learned.policy = LinearPolicy(mean)
    return learned
