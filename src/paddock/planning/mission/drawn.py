"""How a route was made, so that it can be made again: the same legs, to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddock.planning.costs import Costs
from paddock.planning.paths.path import Path
from paddock.planning.paths.segment import Pose
from paddock.planning.plans import Leg, Route
from paddock.planning.problem import Agent, Problem, Task
from paddock.planning.routes import lifted, route_of


@dataclass(frozen=True)
class Rest:
    """A task that was being done when a route was made: what was left of it comes first."""

    task: int  # its version on the board
    done: float  # m of its path that had been flown
    begins: float  # s
    end: Pose


@dataclass(frozen=True)
class Drawn:
    """What a route was made from."""

    agent: Agent  # as it was free
    order: tuple[int, ...]  # versions of tasks on the board
    zones: int  # how many zones there were
    rest: Rest | None = None


def drawn_again(problem: Problem, known: Sequence[Task], drawn: Drawn) -> Route:
    """The route; `problem` gives the wind and all zones, `known` are the versions of tasks."""
    tasks = tuple(known[version] for version in drawn.order)
    zones = problem.zones[: drawn.zones]
    costs = Costs(Problem((drawn.agent,), tasks, zones, problem.wind, clearance=problem.clearance))
    return with_rest(route_of(costs, 0, range(len(tasks))), drawn, problem, known)


def with_rest(route: Route, drawn: Drawn, problem: Problem, known: Sequence[Task]) -> Route:
    """The route with what is left of the task at hand before it."""
    if drawn.rest is None:
        return route
    leg = _rest_leg(drawn.rest, drawn.agent, problem, known[drawn.rest.task])
    return Route(route.agent, (leg, *route.legs), route.speed)


def _rest_leg(rest: Rest, agent: Agent, problem: Problem, task: Task) -> Leg:
    covered = Costs(Problem((agent,), (task,), (), problem.wind)).coverage(0, 0)  # it is flown: no zone is in its way
    assert isinstance(covered, Path)
    whole = lifted(covered, rest.end[2])
    here = whole.at(rest.done)[0].tolist()
    flown = whole.flown - rest.done
    start: Pose = (here[0], here[1], here[2], here[3])

    def make() -> Path:
        return whole.subpath(rest.done, whole.flown)

    return Leg("coverage", task.name, flown, rest.begins, rest.begins + flown / agent.speed, start, rest.end, make)
