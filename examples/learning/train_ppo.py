"""Train PPO (Stable-Baselines3) on a task: `python train_ppo.py hover` or `python train_ppo.py racing`.

Needs `pip install 'paddock[rl]'`. It prints the mean return of evaluation episodes as training goes on.
"""

import sys
import time

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

from paddock.envs.stable_baselines import PaddockVecEnv

TASKS = {
    "hover": ("paddock/QuadHover-v0", {}, 400_000, 500),
    "racing": ("paddock/CarRacing-v0", {"observation": "lidar"}, 400_000, 500),
    "gates": ("paddock/DroneRacing-v0", {}, 800_000, 500),
}
"""Name -> id, options, steps of training, steps of an evaluation."""
WORLDS, EVALUATED = 64, 32


def evaluated(model: PPO, training: VecNormalize, envs: gymnasium.vector.VectorEnv, steps: int) -> float:
    """Return the mean return of the first episodes of all worlds, without exploration."""
    observations, _ = envs.reset(seed=1000)
    total, running = np.zeros(envs.num_envs), np.ones(envs.num_envs, bool)
    for _ in range(steps):
        actions, _ = model.predict(training.normalize_obs(observations), deterministic=True)
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        total += np.where(running, rewards, 0.0)
        running &= ~(terminated | truncated)
    return float(total.mean())


def main(name: str = "hover", parts: int = 8) -> None:
    """Train in parts, and evaluate before and after each."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    task, options, steps, horizon = TASKS[name]
    worlds = gymnasium.make_vec(task, num_envs=WORLDS, autoreset_mode="SameStep", **options)
    training = VecNormalize(PaddockVecEnv(worlds))
    judging = gymnasium.make_vec(task, num_envs=EVALUATED, max_episode_steps=horizon, **options)
    settings = {
        "n_steps": 128,
        "batch_size": 1024,
        "n_epochs": 8,
        "gamma": 0.99,
        "policy_kwargs": {"log_std_init": -1.0},
    }
    model = PPO("MlpPolicy", training, seed=1, device="cpu", **settings)
    began = time.perf_counter()
    print(f"{task}: {steps} steps in {WORLDS} worlds")
    print(f"      0 steps: return {evaluated(model, training, judging, horizon):8.2f}")
    for part in range(parts):
        model.learn(steps // parts, reset_num_timesteps=part == 0)
        score, taken = evaluated(model, training, judging, horizon), time.perf_counter() - began
        print(f"{model.num_timesteps:7d} steps: return {score:8.2f}   {taken:5.1f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
