"""A Gymnasium environment of one world."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from paddock.envs.batch import Batch
from paddock.envs.spaces import (
    RENDER_MODES,
    NotResetError,
    action_space,
    checked_options,
    checked_render_mode,
    checked_seed,
    checked_steps,
    observation_space,
    rendered,
)
from paddock.envs.task import find_task

Observation = NDArray[np.float32]


class PaddockEnv(gymnasium.Env[Observation, Observation]):
    """One world of a task; keywords as of `Batch`. It equals a world of `PaddockVectorEnv` with the same seed.

    Without `max_episode_steps` an episode has no end by time: `gymnasium.make` adds that of the task.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 50}  # noqa: RUF012

    def __init__(
        self, task: str, render_mode: str | None = None, max_episode_steps: int | None = None, **given: Any
    ) -> None:
        self.batch = Batch(find_task(task), 1, **given)
        self.render_mode = checked_render_mode(render_mode)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.batch.step_time)}
        self.action_space: Any = action_space(self.batch)
        self.observation_space: Any = observation_space(self.batch)
        self._most = checked_steps(max_episode_steps)
        self._seeded = self._running = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Any]:
        """Begin an episode: the first one of a seed, or the next one."""
        checked_options(options)
        super().reset(seed=None if seed is None else checked_seed(seed))
        if seed is not None:
            self.batch.seed([seed])
        elif not self._seeded:
            self.batch.seed([self.np_random.integers(1 << 62)])
        self._seeded = self._running = True
        self.batch.reset()
        return self.batch.observe()[0], self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Advance by one step; an action outside the action space is an error."""
        if not self._running:
            after = "the episode has ended" if self._seeded else "there is no episode yet"
            raise NotResetError(f"{after}: call reset() before step()")
        batch = self.batch
        batch.take_actions(np.asarray(action)[None], alone=True)
        batch.advance()
        reward, over = batch.verdict[:, 0].tolist()
        terminated = over > 0.5
        truncated = not terminated and self._most is not None and int(batch.elapsed[0]) >= self._most
        self._running = not (terminated or truncated)
        return batch.observed()[0], reward, terminated, truncated, self._info()

    def render(self) -> Any:
        """Return a picture (height, width, 3) if the render mode is "rgb_array"."""
        return None if self.render_mode is None else rendered(self.batch, 0)

    def _info(self) -> dict[str, Any]:
        memory = self.batch.memory
        return {name: memory.item(row, 0) for name, row in self.batch.score_rows.items()}
