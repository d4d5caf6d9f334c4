"""Ids of the environments in Gymnasium's registry: `paddock/QuadHover-v0` for the task `quad_hover`."""

from gymnasium.envs.registration import register, registry

from paddock.envs.task import find_task, task_names

VERSION = 0


def env_id(task: str) -> str:
    """Return the id of a task's environment."""
    return f"paddock/{''.join(part.capitalize() for part in task.split('_'))}-v{VERSION}"


def register_tasks() -> None:
    """Register all tasks that are not registered yet."""
    for name in task_names():
        if env_id(name) not in registry:
            register(
                env_id(name),
                entry_point="paddock.envs.single:PaddockEnv",
                vector_entry_point="paddock.envs.vector:PaddockVectorEnv",
                max_episode_steps=find_task(name).steps,
                kwargs={"task": name},
            )
