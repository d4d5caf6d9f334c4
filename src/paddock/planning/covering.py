"""The paths of tasks, kept from one planning to the next: only what a new zone can touch is looked at again."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot
from typing import NamedTuple

from paddock.planning.coverage.shape import InfeasibleError
from paddock.planning.obstacles.clear import known_walls
from paddock.planning.paths.path import Path
from paddock.planning.problem import Agent, Moves, Task
from paddock.planning.transits import Transits


class KnownCoverage(NamedTuple):
    """What was found out about a task."""

    task: Task  # it stays with its path, so that its identity does
    path: Path | InfeasibleError  # level at height 0; or why there is none
    zones: int  # so many there were


Covered = dict[tuple[int, float, float, Moves, float | None], KnownCoverage]
"""By the identity of the task, and what matters of who flies it."""


def covered_by(agent: Agent, tasks: Sequence[Task], transits: Transits, known: Covered) -> list[Path | InfeasibleError]:
    """The path on which an agent does each task, level at height 0; or why it cannot. `known` is added to."""
    zones, own = transits.zones, (agent.radius, agent.speed, agent.moves, agent.tightest)
    around = [tuple(known_walls((zone,), transits.clearance).around[0].tolist()) for zone in zones]
    found: list[Path | InfeasibleError] = []
    for task in tasks:
        before = known.get((id(task), *own))
        if before is None or before.zones != len(zones):
            stands = before is not None and _out_of_reach(before, around)
            path = before.path if stands and before is not None else _over(task, agent, transits)
            before = known[(id(task), *own)] = KnownCoverage(task, path, len(zones))
        found.append(before.path)
    return found


def _out_of_reach(known: KnownCoverage, around: Sequence[tuple[float, ...]]) -> bool:
    """Whether the zones since then, by circles around all of them, are farther away than its path is long."""
    if isinstance(known.path, InfeasibleError) or known.zones > len(around):
        return False
    x, y, _ = known.task.shape.entry
    reach = known.path.length
    return all(hypot(x - east, y - north) > reach + radius for east, north, radius in around[known.zones :])


def _over(task: Task, agent: Agent, transits: Transits) -> Path | InfeasibleError:
    try:
        transits.refuse_inside(task.shape.entry)
        return transits.over(task.shape.path(transits.held_radius(agent)), agent)
    except InfeasibleError as error:
        return error
