"""The tasks of a mission and what has become of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from paddock.errors import InvalidValueError, unknown_name
from paddock.planning.problem import Task

TaskStatus = Literal["unassigned", "assigned", "completed", "undone"]


@dataclass
class Job:
    """A task and its state."""

    version: int  # of the task, among all that the board has known
    added: float  # s
    state: TaskStatus = "unassigned"
    agent: str | None = None  # who does it, or did it
    reason: str = ""  # why it is undone
    removed: bool = False
    doing: bool = False
    assigned: float | None = None  # s, to the agent that has it now
    started: float | None = None  # s
    completed: float | None = None  # s


class Board:
    """All tasks by name. A task that is moved is a new version of it: routes refer to versions."""

    def __init__(self) -> None:
        self.known: list[Task] = []
        self.jobs: dict[str, Job] = {}

    def task(self, name: str) -> Task:
        """A task as it is now."""
        return self.known[self.jobs[name].version]

    def add(self, task: Task, time: float) -> None:
        """One more."""
        self.jobs[task.name] = Job(len(self.known), time)
        self.known.append(task)

    def change(self, task: Task) -> None:
        """A new version of a task."""
        self.jobs[task.name].version = len(self.known)
        self.known.append(task)

    def open(self) -> list[str]:
        """The tasks that still have to be planned: neither completed nor removed nor being done."""
        return [name for name, job in self.jobs.items() if not (job.doing or job.removed or job.state == "completed")]

    def unfinished(self, name: str) -> Job:
        """The job of that name; refused if there is none, or if it is over."""
        if name not in self.jobs:
            raise unknown_name("task", name, self.jobs)
        job = self.jobs[name]
        if job.state == "completed":
            raise InvalidValueError(f"task {name!r} is completed already")
        if job.removed:
            raise InvalidValueError(f"task {name!r} was removed")
        return job

    def give_back(self, name: str) -> None:
        """Nobody has it any more."""
        job = self.jobs[name]
        job.state, job.agent, job.assigned, job.started, job.doing = "unassigned", None, None, None, False
