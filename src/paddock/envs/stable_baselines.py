"""Stable-Baselines3: a vector environment of Paddock as its `VecEnv`, without a process or a copy per world."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from paddock.envs.environments import PaddockVectorEnv
from paddock.errors import MissingFeatureError, PaddockError

if find_spec("stable_baselines3") is None:
    raise MissingFeatureError("paddock.envs.stable_baselines needs Stable-Baselines3: pip install 'paddock[rl]'")

from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv


class PaddockVecEnv(VecEnv):  # type: ignore[misc]
    """Worlds for `stable_baselines3`; `make_vec(..., autoreset_mode="SameStep")` makes the vector environment."""

    def __init__(self, envs: PaddockVectorEnv) -> None:
        if envs.autoreset_mode != AutoresetMode.SAME_STEP:
            raise PaddockError('Stable-Baselines3 resets in the same step: make_vec(..., autoreset_mode="SameStep")')
        self.envs, self.render_mode = envs, envs.render_mode  # the base class asks for the render mode
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._actions: Any = np.zeros(0)
        self._next_seed: int | None = None

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Keep the seed of the next reset; world k gets seed + k."""
        self._next_seed = seed
        return [None if seed is None else seed + k for k in range(self.num_envs)]

    def reset(self) -> Any:
        """Begin an episode in all worlds."""
        observations, _ = self.envs.reset(seed=self._next_seed)
        self._next_seed = None
        return observations

    def step_async(self, actions: Any) -> None:
        """Keep the actions of the step."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Take the step; an episode's last observation is in its world's info."""
        observations, rewards, terminated, truncated, info = self.envs.step(self._actions)
        ended = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for world in np.flatnonzero(ended).tolist():
            infos[world] = {
                "terminal_observation": info["final_obs"][world],
                "TimeLimit.truncated": bool(truncated[world]),
            }
        return observations, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        """Close the vector environment."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the worlds: that of the vector environment."""
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: the worlds have no attributes of their own."""
        raise PaddockError(f"{attr_name}: worlds of a batch have no attributes of their own; make a new environment")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **keywords: Any) -> list[Any]:
        """Call a method of the vector environment once."""
        result = getattr(self.envs, method_name)(*args, **keywords)
        return [result] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return that no world is wrapped."""
        return [False] * len(list(self._get_indices(indices)))

    def get_images(self) -> list[Any]:
        """Return a picture of every world."""
        return list(self.envs.render() or ())
