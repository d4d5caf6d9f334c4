"""Environments for reinforcement learning: Gymnasium (one world, or N worlds in one compiled batch) and PettingZoo.

Importing this package registers the ids:

    import gymnasium, paddock.envs
    env = gymnasium.make("paddock/QuadHover-v0")
    envs = gymnasium.make_vec("paddock/QuadHover-v0", num_envs=4096)
"""

from importlib.util import find_spec

from paddock.errors import MissingFeatureError, renamed_names

if find_spec("gymnasium") is None:
    raise MissingFeatureError("paddock.envs needs Gymnasium: pip install 'paddock[envs]'")

__all__ = ["Batch", "PaddockEnv", "PaddockVectorEnv", "env_id", "find_task", "parallel_env", "task_names"]

__getattr__ = renamed_names(
    __name__,
    {
        "Batch": "batch",
        "PaddockEnv": "single",
        "PaddockVectorEnv": "vector",
        "env_id": "registration",
        "find_task": "task",
        "parallel_env": "parallel",
        "task_names": "task",
    },
)

from paddock.envs.registration import register_tasks

register_tasks()
