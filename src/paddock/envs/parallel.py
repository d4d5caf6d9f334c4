"""PettingZoo parallel environments: several vehicles with actions in one world."""

from importlib.util import find_spec
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils.seeding import np_random

from paddock.envs.batch import Batch, Float32s
from paddock.envs.environments import (
    RENDER_MODES,
    NotResetError,
    action_space,
    checked_render_mode,
    checked_seed,
    checked_steps,
    observation_space,
    rendered,
)
from paddock.envs.task import LearningTask, find_task, task_names
from paddock.errors import InvalidValueError, MissingFeatureError, unknown_name, whole_number

if find_spec("pettingzoo") is None:
    raise MissingFeatureError("paddock.envs.parallel needs PettingZoo: pip install 'paddock[envs]'")

from pettingzoo import ParallelEnv


def parallel_tasks() -> list[str]:
    """Return the tasks for several vehicles."""
    return [name for name in task_names() if find_task(name).agents > 1]


class PaddockParallelEnv(ParallelEnv[str, Float32s, Float32s]):  # type: ignore[misc]
    """One world of a task for several vehicles; keywords as of `Batch`. A vehicle that has ended leaves the world."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "is_parallelizable": True}  # noqa: RUF012

    def __init__(
        self,
        task: LearningTask,
        agents: int | None = None,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        **options: Any,
    ) -> None:
        count = whole_number("agents must be a whole number >= 1", task.agents if agents is None else agents, low=1)
        self.batch = Batch(task, 1, count, **options)
        self.metadata = {**self.metadata, "name": f"paddock_{task.name}"}
        self.render_mode = checked_render_mode(render_mode)
        self.possible_agents = [f"{task.agent_name}_{k}" for k in range(count)]
        self.agents: list[str] = []
        names = self.possible_agents
        self.observation_spaces: dict[str, spaces.Space[Any]] = {name: observation_space(self.batch) for name in names}
        self.action_spaces: dict[str, spaces.Space[Any]] = {name: action_space(self.batch) for name in names}
        self._most = checked_steps(max_episode_steps) or task.steps
        self._number = {name: k for k, name in enumerate(self.possible_agents)}
        self._seeded = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Float32s], dict[str, dict[str, Any]]]:
        """Begin an episode: the first one of a seed, or the next one; there are no options."""
        if seed is not None:
            self.batch.seed([checked_seed(seed)])
        elif not self._seeded:
            self.batch.seed([np_random()[0].integers(1 << 62)])
        self._seeded = True
        self.batch.reset()
        self.agents = list(self.possible_agents)
        return dict(zip(self.agents, self.batch.observe(), strict=True)), self._infos(self.agents)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Float32s], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Advance by one step with an action of every agent that has not ended."""
        if not self.agents:
            raise NotResetError("no agent is left: call reset() before step()" if self._seeded else NOT_YET)
        present = self.agents
        table = np.zeros((len(self.possible_agents), len(self.batch.action)))
        for name, action in actions.items():
            if name not in present:
                raise unknown_name("agent", str(name), present)
            table[self._number[name]] = self._checked(name, action)
        if missing := [name for name in present if name not in actions]:
            raise InvalidValueError(f"the action of {missing[0]} is missing: every agent in `agents` takes one")
        self.batch.take_actions(table, alone=True)
        outcome = self.batch.step()
        late = int(self.batch.elapsed[0]) >= self._most
        rows = [self._number[name] for name in present]
        ended = {name: bool(outcome.terminated[k]) for name, k in zip(present, rows, strict=True)}
        late_ones = {name: late and not ended[name] for name in present}
        rewards = {name: float(outcome.rewards[k]) for name, k in zip(present, rows, strict=True)}
        observations = {name: outcome.observations[k] for name, k in zip(present, rows, strict=True)}
        infos = self._infos(present)
        gone = [self._number[name] for name in present if ended[name]]
        if gone:
            self.batch.retire(self.batch.player_rows[gone])
        self.agents = [name for name in present if not (ended[name] or late_ones[name])]
        return observations, rewards, ended, late_ones, infos

    def _checked(self, name: str, action: Any) -> Any:
        values = np.asarray(action)
        if values.shape != self.action_spaces[name].shape or values.dtype.kind not in "fiu":
            expected = f"numbers of shape {self.action_spaces[name].shape}"
            raise InvalidValueError(f"action of {name}: {expected}, not {values.dtype} of shape {values.shape}")
        return values

    def render(self) -> Any:
        """Return a picture (height, width, 3) if the render mode is "rgb_array"."""
        return None if self.render_mode is None else rendered(self.batch, 0)

    def _infos(self, agents: list[str]) -> dict[str, dict[str, Any]]:
        scores = self.batch.scores()
        return {name: {key: float(values[self._number[name]]) for key, values in scores.items()} for name in agents}


NOT_YET = "there is no episode yet: call reset() before step()"


def parallel_env(task: str, **options: Any) -> PaddockParallelEnv:
    """Return the environment of a task for several vehicles, e.g. `parallel_env("pursuit", agents=3)`."""
    if task not in parallel_tasks():
        raise unknown_name("task for several vehicles", task, parallel_tasks())
    return PaddockParallelEnv(find_task(task), **options)
