"""Gymnasium environments: one world (`PaddockEnv`), or N worlds in one compiled batch (`PaddockVectorEnv`).

Before them, what the environments of PettingZoo use, too: spaces of a batch, checks of arguments and options, errors.
"""

from collections.abc import Collection, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from paddock.envs.batch import Batch, Bools, Float32s
from paddock.envs.task import Scene, find_task
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name, whole_number
from paddock.world.columns import Floats, column_index
from paddock.world.layout import Ints

RENDER_MODES = ("rgb_array",)
SEEDS = 1 << 64


class NotResetError(PaddockError, ResetNeeded):
    """A step before the first reset, or after the end of an episode."""


def action_space(batch: Batch) -> spaces.Box:
    """Return the space of one vehicle's actions."""
    return spaces.Box(-1.0, 1.0, (len(column_index(batch.task.action)),), np.float32)


def observation_space(batch: Batch) -> spaces.Box:
    """Return the space of one vehicle's observations."""
    return spaces.Box(*batch.observation_bounds, dtype=np.float32)


def checked_render_mode(mode: str | None) -> str | None:
    """Return the render mode; an error if there is no such mode."""
    if mode is not None and mode not in RENDER_MODES:
        raise unknown_name("render mode", str(mode), RENDER_MODES)
    return mode


def checked_steps(steps: Any) -> int | None:
    """Return the length of an episode."""
    return None if steps is None else whole_number("max_episode_steps must be a whole number >= 1", steps, low=1)


def checked_seed(seed: Any) -> int:
    """Return a seed; an error if it is not a whole number of 64 bits."""
    return whole_number("a seed must be a whole number >= 0 and < 2**64", seed, SEEDS - 1)


def checked_options(options: Any, valid: Collection[str] = ()) -> dict[str, Any]:
    """Return the options of a reset; an error names one that there is not."""
    if options is not None and not isinstance(options, Mapping):
        raise InvalidValueError(f"the options of reset are a dict, not {options!r}")
    for name in options or ():
        if not valid:
            raise UnknownNameError(f"unknown option {name!r} of reset: this environment has none")
        if name not in valid:
            raise unknown_name("option of reset", str(name), valid)
    return dict(options or {})


def rendered(batch: Batch, world: int) -> Any:
    """Return a picture (480, 640, 3) of one world."""
    from paddock.envs.picture import Picture

    picture = Picture()
    assert batch.task.draw is not None
    of = slice(world * batch.size, (world + 1) * batch.size)
    view, seen = batch.course.view, np.zeros((0, 2))
    if view is not None:
        seen = view.places(batch.observe(np.array([world]))[0, -view.values :])
    options = batch.task.options(*batch.options.tolist())
    batch.task.draw(picture, Scene(batch.course, options, batch.pose[:, of], batch.memory[:, of], seen))
    return picture.pixels


class PaddockEnv(gymnasium.Env[Float32s, Float32s]):
    """One world of a task; keywords as of `Batch`. It equals a world of `PaddockVectorEnv` with the same seed.

    Without `max_episode_steps` an episode has no end by time: `gymnasium.make` adds that of the task.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 50}  # noqa: RUF012

    def __init__(
        self, task: str, render_mode: str | None = None, max_episode_steps: int | None = None, **options: Any
    ) -> None:
        self.batch = Batch(find_task(task), 1, **options)
        self.render_mode = checked_render_mode(render_mode)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.batch.step_time)}
        self.action_space: Any = action_space(self.batch)
        self.observation_space: Any = observation_space(self.batch)
        self._most = checked_steps(max_episode_steps)
        self._seeded = self._running = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Float32s, Any]:
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

    def step(self, action: Any) -> tuple[Float32s, float, bool, bool, dict[str, Any]]:
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


class PaddockVectorEnv(VectorEnv[Any, Any, Any]):
    """N worlds of a task; keywords as of `Batch`. World k of seed s is the single environment of seed s + k."""

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 50}  # noqa: RUF012

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        **options: Any,
    ) -> None:
        learning_task = find_task(task)
        self.batch = Batch(learning_task, num_envs, **options)
        self.num_envs = num_envs = self.batch.worlds
        self.render_mode = checked_render_mode(render_mode)
        self.autoreset_mode = _autoreset(autoreset_mode)
        fps = round(1.0 / self.batch.step_time)
        self.metadata = {**self.metadata, "render_fps": fps, "autoreset_mode": self.autoreset_mode}
        self.single_action_space = action_space(self.batch)
        self.single_observation_space = observation_space(self.batch)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._most = checked_steps(max_episode_steps) or learning_task.steps
        self._ended: Bools = np.ones(num_envs, np.bool_)  # worlds whose episode is over
        self._seeded = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Float32s, dict[str, Any]]:
        """Begin an episode in all worlds, or in those of `options["reset_mask"]`, (num_envs,) of bool.

        `seed`: a number, to which world k adds k, or a list with one for each world.
        """
        super().reset(seed=checked_seed(seed) if isinstance(seed, int | np.integer) else None)
        mask = self._mask(options)
        chosen = np.flatnonzero(mask)
        seeds, worlds = self._seeds(seed)
        if not self._seeded:
            unseeded = np.setdiff1d(np.arange(self.num_envs), worlds)
            self.batch.seed(self.np_random.integers(1 << 62, size=len(unseeded)), unseeded)
            chosen, self._seeded = np.arange(self.num_envs), True  # a world that has never begun is begun, too
        held = np.isin(worlds, chosen)
        self.batch.seed(np.array(seeds, object)[held], worlds[held])
        self.batch.reset(chosen)
        self._ended[chosen] = False
        return self.batch.observe(), self._info(self.batch.scores(), mask)

    def step(self, actions: Any) -> tuple[Float32s, Floats, Bools, Bools, dict[str, Any]]:
        """Advance all worlds by one step; an action outside the action space is an error."""
        if not self._seeded:
            raise NotResetError("there is no episode yet: call reset() before step()")
        before = self._ended
        if self.autoreset_mode == AutoresetMode.DISABLED and before.any():
            which = f"the episode of world {int(np.argmax(before))} has ended"
            raise NotResetError(f'{which}: call reset(options={{"reset_mask": mask}}) before step()')
        self.batch.take_actions(actions)
        observations, rewards, terminated = self.batch.step()
        truncated = (self.batch.elapsed >= self._most) & ~terminated
        info: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and before.any():
            self._begin(np.flatnonzero(before), observations)
            rewards[before] = 0.0
            terminated[before] = truncated[before] = False
        ended = terminated | truncated
        everywhere = np.ones(self.num_envs, np.bool_)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and ended.any():
            final, rows = self._info(self.batch.scores(), ended), np.flatnonzero(ended)
            info = {"final_obs": _scattered(observations[rows], rows, self.num_envs), "_final_obs": ended.copy()}
            info |= {"final_info": final, "_final_info": ended.copy()}
            self._begin(rows, observations)
        self._ended = ended if self.autoreset_mode != AutoresetMode.SAME_STEP else np.zeros_like(ended)
        return observations, rewards, terminated, truncated, {**info, **self._info(self.batch.scores(), everywhere)}

    def _begin(self, worlds: Ints, observations: Float32s) -> None:
        """Begin the next episode of worlds and put its first observations in their place."""
        self.batch.reset(worlds)
        observations[worlds] = self.batch.observe(worlds)

    def _seeds(self, seed: Any) -> tuple[list[int], Ints]:
        """Return the seeds that are given, and the worlds that they are for."""
        if seed is None:
            return [], np.zeros(0, np.int64)
        if isinstance(seed, int | np.integer):
            if int(seed) + self.num_envs > SEEDS:
                most = f"at most 2**64 - {self.num_envs} for {self.num_envs} worlds: world k has the seed + k"
                raise InvalidValueError(f"the seed must be {most}, not {seed}")
            return [int(seed) + k for k in range(self.num_envs)], np.arange(self.num_envs)
        seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise InvalidValueError(f"seeds: a list of {self.num_envs}, one for each world, not of {len(seeds)}")
        worlds = [k for k, number in enumerate(seeds) if number is not None]
        return [checked_seed(seeds[k]) for k in worlds], np.array(worlds, np.int64)

    def _mask(self, options: dict[str, Any] | None) -> Bools:
        checked = checked_options(options, ("reset_mask",))
        if "reset_mask" not in checked:
            return np.ones(self.num_envs, np.bool_)
        mask = np.asarray(checked["reset_mask"])
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            expected = f"bool of shape ({self.num_envs},), at least one of them True"
            raise InvalidValueError(f"reset_mask: {expected}, not {mask.dtype} of shape {mask.shape}")
        return mask

    def _info(self, scores: dict[str, Floats], mask: Bools) -> dict[str, Any]:
        """Return the scores of worlds as Gymnasium does: an array and a mask for each."""
        info: dict[str, Any] = {}
        for name, values in scores.items():
            info[name], info[f"_{name}"] = np.where(mask, values, 0.0), mask.copy()
        return info

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture of every world if the render mode is "rgb_array"."""
        if self.render_mode is None:
            return None
        return tuple(rendered(self.batch, world) for world in range(self.num_envs))


def _autoreset(mode: AutoresetMode | str) -> AutoresetMode:
    names = [choice.value for choice in AutoresetMode]
    try:
        return mode if isinstance(mode, AutoresetMode) else AutoresetMode(mode)
    except ValueError:
        raise unknown_name("autoreset mode", str(mode), names) from None


def _scattered(values: Float32s, rows: Ints, count: int) -> NDArray[np.object_]:
    """Return an array of objects with a value in each of the rows, None elsewhere."""
    scattered = np.full(count, None, dtype=object)
    scattered[rows] = np.fromiter(values, object, len(values))
    return scattered
