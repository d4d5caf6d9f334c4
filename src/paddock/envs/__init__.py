"""Environments for reinforcement learning: Gymnasium (one world, or N worlds in one compiled batch) and PettingZoo.

Importing this package registers the ids:

    import gymnasium, paddock.envs
    env = gymnasium.make("paddock/QuadHover-v0")
    envs = gymnasium.make_vec("paddock/QuadHover-v0", num_envs=4096)
"""

from importlib.util import find_spec

from paddock.errors import MissingFeatureError, lazy_names

if find_spec("gymnasium") is None:
    raise MissingFeatureError("paddock.envs needs Gymnasium: pip install 'paddock[envs]'")

__all__ = ["Batch", "PaddockEnv", "PaddockVectorEnv", "env_id", "find_task", "parallel_env", "task_names"]

__getattr__ = lazy_names(
    __name__,
    {"Batch": "batch", "parallel_env": "parallel"} | dict.fromkeys(("PaddockEnv", "PaddockVectorEnv"), "environments"),
)

from gymnasium.envs.registration import register, registry

from paddock.envs.task import find_task, task_names

VERSION = 0


def env_id(task: str) -> str:
    """Return the id of a task's environment: `paddock/QuadHover-v0` for the task `quad_hover`."""
    return f"paddock/{''.join(part.capitalize() for part in task.split('_'))}-v{VERSION}"


for _name in task_names():
    if env_id(_name) not in registry:
        register(
            env_id(_name),
            entry_point="paddock.envs.environments:PaddockEnv",
            vector_entry_point="paddock.envs.environments:PaddockVectorEnv",
            max_episode_steps=find_task(_name).steps,
            kwargs={"task": _name},
        )
