"""The contract of a task: scalar functions that start an episode, turn actions into commands, judge and observe.

They are compiled like vehicle models: one pass over all worlds per step. Files of `envs/tasks/` are the shipped tasks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.contract import check_functions
from paddock.compute.kernel import Each, KernelSpec, Rows, Shared, Value
from paddock.compute.twin import bound
from paddock.envs import tasks
from paddock.plugins import PluginFolder
from paddock.vehicles.model import Placement, find_model
from paddock.world.columns import Column, Floats, Pose, columns_of, filled

if TYPE_CHECKING:
    from paddock.envs.batch import Batch
    from paddock.envs.picture import Picture


class Verdict(NamedTuple):
    """What a step earned, and whether the task has ended with it."""

    reward: Annotated[float, Column("", "reward of the step")]
    terminated: Annotated[float, Column("0/1", "the task has ended: solved, crashed or lost")]


class SensedView(NamedTuple):
    """What vehicles sense beside the observation that the task computes."""

    # (batch, rows, observations): writes the last `values` columns of observations (rows, all values)
    sense: "Callable[[Batch, NDArray[np.int64], NDArray[np.float32]], None]"
    values: int  # for each vehicle
    low: float
    high: float
    places: "Callable[[NDArray[np.float32]], Floats]"  # values -> points (k, 2) in the vehicle's axes, m, for pictures
    beams: bool = False  # they are ends of beams


class TaskCourse(NamedTuple):
    """What a task prepares from its settings when an environment is made."""

    table: Floats  # (rows, columns): passed to the functions
    options: Mapping[str, float] = MappingProxyType({})  # values of options that follow from the settings
    view: SensedView | None = None
    drawing: Any = None  # for `draw`


class Scene(NamedTuple):
    """A world to draw."""

    course: TaskCourse
    options: Any  # of the task
    poses: Floats  # (13, k) of its vehicles
    memory: Floats  # (columns, k)
    seen: Floats  # (m, 2) places that the first vehicle senses, m in its axes


def no_course(settings: Mapping[str, Any], vehicle: Any) -> TaskCourse:
    """Return the course of a task without one."""
    return TaskCourse(np.zeros((1, 1)))


@dataclass(frozen=True)
class LearningTask:
    """A task. `poses` (13, n) and `row` show a function the vehicles of all worlds and its own; a world's are adjacent.

    start(seed, agent, episode, options, course) -> (Placement, memory); seed of the world, number of the vehicle in it
    and of the episode since the world was seeded: draws of `compute.philox` take nothing else, so that an episode does
    not depend on the batch
    act(action, at, memory, options) -> command of the model
    judge(at, memory, action, alarm, options, course, poses, row) -> (memory, Verdict); alarm: 0, or it crashed
    observe(at, memory, action, options, course, poses, row) -> observation
    """

    summary: str
    model: str
    action: type  # columns within -1 and 1
    observation: type
    memory: type
    options: type
    start: Callable[..., tuple[Placement, Any]]
    act: Callable[..., Any]
    judge: Callable[..., tuple[Any, Verdict]]
    observe: Callable[..., Any]
    preset: str | None = None
    levels: tuple[str, ...] = ()  # models that may take the place of `model`
    rate: float = 500.0  # Hz: ticks of the vehicles
    ticks: int = 10  # per step
    steps: int = 500  # of an episode at most
    settings: tuple[str, ...] = ()  # options that are not numbers, for `prepare`
    prepare: Callable[[Mapping[str, Any], Any], TaskCourse] = no_course
    agents: int = 1  # vehicles with actions in a world of the multi-agent form; 1: there is none
    scripted: int = 0  # further vehicles of a world, the last ones, that `act` flies from its memory
    agent_name: str = "agent"
    touches: bool = False  # vehicles of a world may touch each other: the option `contact`
    scores: tuple[str, ...] = ()  # columns of the memory that `info` reports
    draw: "Callable[[Picture, Scene], None] | None" = None
    name: str = ""

    def specs(self) -> tuple[KernelSpec, ...]:
        """Return the kernels: start, act, judge with observation, observe."""
        options, course = Shared("options", self.options), Value("course", "table")
        seen = Rows("at", Pose), Rows("memory", self.memory), Rows("action", self.action)
        others = Value("poses", "table"), Each("row")
        updated = Rows("memory", self.memory, "update")
        observed = Rows("observation", self.observation, "write")
        draws = Each("seed"), Each("agent"), Each("episode")
        started = Rows("placement", Placement, "write"), Rows("memory", self.memory, "write")
        commanded = Rows("command", find_model(self.model).command, "write")
        judged = seen[0], updated, seen[2], Each("alarm", "float64"), options, course, *others
        judge = bound(judge_and_observe, {"judge": self.judge, "observe": self.observe})
        name = f"env-{self.name}"
        return (
            KernelSpec(f"{name}-start", self.start, (*draws, options, course, *started)),
            KernelSpec(f"{name}-act", self.act, (seen[2], *seen[:2], options, commanded)),
            KernelSpec(f"{name}-judge", judge, (*judged, Rows("verdict", Verdict, "write"), observed)),
            KernelSpec(f"{name}-observe", self.observe, (*seen, options, course, *others, observed)),
        )

    def option_values(self, values: Mapping[str, Any]) -> Floats:
        """Return the options as numbers; an error names an option that is unknown or out of range."""
        return filled(self.options, values, f"option of {self.name}")


def judge(*arguments: Any) -> tuple[Any, Verdict]:
    """Stand for a task's `judge`."""
    raise NotImplementedError


def observe(*arguments: Any) -> Any:
    """Stand for a task's `observe`."""
    raise NotImplementedError


def judge_and_observe(
    at: Pose, memory: Any, action: Any, alarm: float, options: Any, course: Floats, poses: Floats, row: int
) -> tuple[Any, Verdict, Any]:
    """Judge a step, then observe."""
    after, verdict = judge(at, memory, action, alarm, options, course, poses, row)
    return after, verdict, observe(at, after, action, options, course, poses, row)


def check_task(task: LearningTask) -> None:
    """Require columns with units, and functions that are compiled alike everywhere."""
    for tuple_class in (task.action, task.observation, task.memory, task.options):
        columns_of(tuple_class)
    check_functions(task)


TASKS = PluginFolder("task", tasks, "paddock.envs", "TASK", LearningTask, check_task)
find_task, task_names = TASKS.find, TASKS.names
