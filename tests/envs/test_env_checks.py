"""The checks of Gymnasium and PettingZoo, and what their registries promise."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from pettingzoo.test import parallel_api_test, parallel_seed_test

import paddock.envs
from paddock.envs import PaddockVectorEnv, env_id, parallel_env, task_names

IDS = ("paddock/CarRacing-v0", "paddock/DroneRacing-v0", "paddock/Pursuit-v0", "paddock/QuadHover-v0")
CASES: list[tuple[str, dict[str, Any]]] = [
    ("paddock/QuadHover-v0", {}),
    ("paddock/DroneRacing-v0", {"gates": "eight"}),
    ("paddock/Pursuit-v0", {}),
    ("paddock/CarRacing-v0", {"observation": "lidar"}),
    ("paddock/CarRacing-v0", {"observation": "cones", "track": 3}),
    ("paddock/CarRacing-v0", {"observation": "detections"}),
    ("paddock/CarRacing-v0", {"observation": "track", "model": "car.kinematic"}),
]


def test_importing_the_package_registers_every_task() -> None:
    assert tuple(env_id(name) for name in task_names()) == IDS
    assert set(IDS) <= set(gymnasium.registry)
    assert gymnasium.spec("paddock/QuadHover-v0").max_episode_steps == 500
    assert paddock.envs.PaddockEnv is type(gymnasium.make("paddock/QuadHover-v0").unwrapped)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda value: str(value))
def test_check_env_passes(name: str, options: dict[str, Any]) -> None:
    env = gymnasium.make(name, render_mode="rgb_array", **options)
    check_env(env.unwrapped)
    env.reset(seed=0)
    picture = env.render()
    assert isinstance(picture, np.ndarray) and picture.shape == (480, 640, 3) and picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) >= 3  # ground, and at least two colours on it


def test_make_vec_makes_one_batch_and_passes_the_length_of_episodes() -> None:
    envs = gymnasium.make_vec("paddock/QuadHover-v0", num_envs=3, max_episode_steps=4)
    assert isinstance(envs.unwrapped, PaddockVectorEnv) and envs.unwrapped.batch.worlds == 3
    assert envs.observation_space.shape == (3, 12) and envs.single_action_space.shape == (4,)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    envs.reset(seed=1)
    for step in range(4):
        observations, _, terminated, truncated, info = envs.step(np.zeros((3, 4), np.float32))
        assert observations in envs.observation_space
        assert not terminated.any() and truncated.all() == (step == 3)
        assert info["_distance"].all() and info["distance"].shape == (3,)


def test_a_vector_environment_passes_through_the_wrappers_of_gymnasium() -> None:
    envs = gymnasium.make_vec("paddock/QuadHover-v0", num_envs=2, max_episode_steps=5, autoreset_mode="SameStep")
    wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    wrapped.reset(seed=0)
    for _ in range(5):
        *_, info = wrapped.step(np.zeros((2, 4), np.float32))
    assert info["episode"]["l"].tolist() == [5, 5] and (info["episode"]["r"] > 0.0).all()


@pytest.mark.parametrize("options", [{}, {"contact": True}], ids=["ghosts", "contact"])
def test_racing_passes_the_checks_of_pettingzoo(options: dict[str, Any]) -> None:
    def made() -> Any:
        return parallel_env("car_racing", observation="track", agents=3, max_episode_steps=60, **options)

    parallel_api_test(made(), num_cycles=100)
    parallel_seed_test(made, num_cycles=20)


def test_pursuit_passes_the_checks_of_pettingzoo() -> None:
    parallel_api_test(parallel_env("pursuit", max_episode_steps=60), num_cycles=100)
    parallel_seed_test(lambda: parallel_env("pursuit"), num_cycles=20)
    env = parallel_env("pursuit", agents=2, render_mode="rgb_array")
    observations, infos = env.reset(seed=3)
    assert list(observations) == ["pursuer_0", "pursuer_1"] == list(infos)
    assert env.render().shape == (480, 640, 3)
