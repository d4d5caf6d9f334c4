"""Fields beyond every vehicle's range, divided into bands of rows that single vehicles can sweep."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, inf

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from paddock.planning.geometry.polygon import FieldShape
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.problem import Problem, Task
from paddock.planning.solver.routes import route_of
from paddock.planning.solver.tours import fits

MOST_PARTS = 64  # of a field


def split_fields(problem: Problem) -> Problem:
    """Return the problem with parts in place of each field beyond every vehicle's range: `field[0]`, `field[1]`, ..."""
    return replace(problem, tasks=tuple(part for task in problem.tasks for part in _parts(problem, task)))


def _parts(problem: Problem, task: Task) -> Sequence[Task]:
    """Return the parts of a field, or the task itself.

    Parts of about equal length where as many vehicles can do one each, else as few as possible: each as many rows as
    one of the other vehicles can do.
    """
    if not isinstance(task.shape, FieldShape) or all(vehicle.range == inf for vehicle in problem.vehicles):
        return [task]
    whole = Costs(replace(problem, tasks=(task,)))
    cover = np.array([whole.jobs(k).cover[0] for k in range(whole.vehicles)])
    able = np.isfinite(cover) & np.isfinite(whole.alone[:, 0])
    left = whole.ranges[able] - whole.alone[able, 0]  # m, negative
    share = float(np.max(left / cover[able] + 1.0, initial=0.0))
    if not 0.0 < share < 1.0:
        return [task]
    field = _Field(problem, task, share)
    if field.each_done(equal := field.equal_parts(ceil(1.0 / share))):
        return equal
    filled = field.filled_parts()
    return equal if field.each_done(equal := field.equal_parts(len(filled))) else filled


class _Field:
    """A field that is being divided; `share` is what the vehicle of the longest reach can do of it."""

    def __init__(self, problem: Problem, task: Task, share: float) -> None:
        assert isinstance(task.shape, FieldShape)
        self.problem, self.task, self.shape, self.share = problem, task, task.shape, share
        self.done = np.cumsum(self.shape.row_lengths)  # m, with each row

    def parts(self, ends: Sequence[int]) -> list[Task]:
        """Return parts that end before these rows."""
        cut: Sequence[FieldShape] = self.shape.parts(ends)
        return [replace(self.task, name=f"{self.task.name}[{k}]", shape=part) for k, part in enumerate(cut)]

    def equal_parts(self, count: int) -> list[Task]:
        """Return at most `count` parts of about equal length."""
        last = np.searchsorted(self.done, self.done[-1] * np.arange(1, count + 1) / count - 1e-9)
        return self.parts(np.unique(last + 1).tolist())

    def each_done(self, parts: Sequence[Task]) -> bool:
        """Return whether each part can be done by another vehicle."""
        if len(parts) > len(self.problem.vehicles):
            return False
        costs = Costs(replace(self.problem, tasks=tuple(parts)))
        able = np.isfinite(costs.alone) & (costs.alone <= costs.ranges[:, None])
        chosen = maximum_bipartite_matching(csr_array(able), perm_type="row").tolist()  # vehicle of each part, or -1
        return all(vehicle >= 0 and self.can(costs, vehicle, part) for part, vehicle in enumerate(chosen))

    def can(self, costs: Costs, vehicle: int, task: int) -> bool:
        """Return whether a vehicle's path over one of the tasks, there and back, is within its range."""
        if not costs.fits(vehicle, [task]):
            return False
        try:
            return fits(route_of(costs, vehicle, [task]).flown, costs.problem.vehicles[vehicle].range)
        except InfeasibleError:
            return False

    def filled_parts(self) -> list[Task]:
        """Return parts of as many rows as one of the vehicles without a part can do; all other rows are one part."""
        first, ends, free = 0, list[int](), set(range(len(self.problem.vehicles)))
        impossible = False  # the last part
        while first < len(self.done) and free and len(ends) < MOST_PARTS - 1:
            count, vehicle = self.most_rows(first, free)
            free.discard(vehicle)
            if not count and impossible:
                ends[-1] += 1
            else:
                ends.append(first + max(count, 1))
            impossible, first = not count, ends[-1]
        return self.parts(ends if first == len(self.done) else [*ends, len(self.done)])

    def most_rows(self, first: int, vehicles: set[int]) -> tuple[int, int]:
        """Return the largest number of rows from `first` on that one of the vehicles can do, and the vehicle."""
        before = self.done[first - 1] if first else 0.0
        probe = int(np.searchsorted(self.done, before + self.share * self.done[-1])) - first
        low, high, who = 0, len(self.done) - first + 1, -1  # `low` rows can be done, `high` cannot
        while high - low > 1:
            probe = min(max(probe, low + 1), high - 1)
            most, left = self.doing(first, first + probe, vehicles)
            more = floor(left * probe / (self.done[first + probe - 1] - before)) if abs(left) < inf else 0
            if most is None:
                high, probe = probe, probe + min(more, -1)
            else:
                low, probe, who = probe, probe + max(more, 1), most
        return low, who

    def doing(self, first: int, end: int, vehicles: set[int]) -> tuple[int | None, float]:
        """Return the vehicle that does these rows with the least flight, None if none can, and metres left at most."""
        part = self.parts([first, end] if first else [end])[bool(first)]
        costs = Costs(replace(self.problem, tasks=(part,)))
        alone = costs.alone[:, 0]
        able = (k for k in sorted(vehicles, key=lambda k: float(alone[k])) if self.can(costs, k, 0))
        return next(able, None), max(float(costs.ranges[k] - alone[k]) for k in vehicles)
