"""Spaces of a batch, its options for resets, and the errors of environments."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from paddock.envs.batch import Batch
from paddock.envs.task import Scene
from paddock.errors import InvalidValueError, PaddockError, UnknownNameError, unknown_name
from paddock.world.columns import column_index

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
    if steps is not None and (not isinstance(steps, int | np.integer) or steps < 1):
        raise InvalidValueError(f"max_episode_steps must be a whole number >= 1, not {steps!r}")
    return None if steps is None else int(steps)


def checked_seed(seed: Any) -> int:
    """Return a seed; an error if it is not a whole number of 64 bits."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < SEEDS:
        raise InvalidValueError(f"a seed must be a whole number >= 0 and < 2**64, not {seed!r}")
    return int(seed)


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
