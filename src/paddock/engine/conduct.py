"""How vehicles behave: a rule that is followed, their memory, and where it gets its target and its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paddock.behaviour.rule import NOBODY, Urge
from paddock.compute.kernel import kernel
from paddock.compute.neighbours import NeighbourGrid
from paddock.engine.plan import Plan
from paddock.errors import UnknownNameError
from paddock.vehicles.model import VehicleModel
from paddock.world.columns import Floats, column_index, defaults_of
from paddock.world.fleet import Fleet, Ints
from paddock.world.pose import Pose
from paddock.world.world import World

MEMORY = "memory"
POSE_ROWS = len(column_index(Pose))

PoseBlocks = Callable[[str], Floats]
"""Fleet name -> its poses now, rows as in Pose, at least as many columns as it has vehicles."""


class Apart(NamedTuple):
    """What differs between vehicles that follow one rule, each in its own way."""

    options: Floats  # (options, n)
    places: Ints  # (n,) each one's place among those it was told with: which of several targets it looks at


class Conduct:
    """The behaviour of a fleet's vehicles, or of those gathered from one, ready to run."""

    def __init__(
        self, plan: Plan, model: VehicleModel, fleet: Fleet, varying: tuple[str, ...], apart: Apart | None = None
    ) -> None:
        """`fleet` is given a table for the memory."""
        self.plan = plan
        self.rule = plan.rule
        self.target = plan.target
        self.options = plan.options
        self.path = plan.path
        self.fleet = fleet
        self.urges = np.zeros((len(column_index(Urge)), 1))
        self.grid = NeighbourGrid(self.rule.neighbours) if self.rule.neighbours else None
        told = tuple(column_index(self.rule.options)) if apart is not None else ()
        self._told = (self.options, apart.options) if apart is not None and told else (self.options,)
        self._places = None if apart is None else apart.places
        self._act = kernel(self.rule.spec(model, varying, told))
        fleet.add_table(MEMORY, len(column_index(self.rule.memory)), defaults_of(self.rule.memory))

    def admit(self, rows: slice | Ints) -> None:
        """Vehicles have joined, or come back: they start with an empty memory."""
        self.fleet.tables[MEMORY][:, rows] = defaults_of(self.rule.memory)[:, None]
        self.assign_slots()

    def assign_slots(self) -> None:
        """Slots belong to the order in the fleet: they close up when vehicles leave and open when they join."""
        give_slots(self.plan, self.fleet.tables[MEMORY][:, : self.fleet.n])

    def run(
        self,
        world: World,
        poses: PoseBlocks,
        parameters: tuple[Floats, ...],
        dt: float,
        among: tuple[int, Ints] | None = None,
    ) -> str | None:
        """Decide for every vehicle; `parameters` are the model's. Returns the name of a target that has gone.

        `among`: these are only some of a fleet, whose size and whose rows are given; all of it are neighbours.
        """
        fleet = self.fleet
        if fleet.n == 0:
            return None
        targets, rows, lost = self._targets(world, poses)
        if self.urges.shape[1] < fleet.n:
            self.urges = np.zeros((len(self.urges), fleet.capacity))
        if self.grid is not None:
            self._gather(self.grid, poses(fleet.name), among)
        self._act(fleet.n, 1, *self._arguments(parameters, rows, targets, dt))
        return lost

    def compile(self, parameters: tuple[Floats, ...]) -> None:
        """Have the machine code ready, so that the first decision does not wait for it. Any thread may call this."""
        from numba import typeof

        nobody = np.zeros(1, np.int64), _only_read(np.zeros((POSE_ROWS, 1)))
        arguments = (1, 1, *self._arguments(parameters, *nobody, 1.0))
        self._act.compiled.compile(tuple(map(typeof, arguments)))

    def _arguments(self, parameters: tuple[Floats, ...], rows: Ints, targets: Floats, dt: float) -> tuple[Any, ...]:
        fleet = self.fleet
        own = (fleet.state, fleet.command, *parameters, fleet.tables[MEMORY], *self._told, self.urges)
        return (*own, rows, targets, self.path, dt)

    def _gather(self, grid: NeighbourGrid, block: Floats, among: tuple[int, Ints] | None) -> None:
        """Let the neighbours speak."""
        radius = float(self.options[column_index(self.rule.options)["radius"]])
        if among is None:
            grid.run(block, self.fleet.n, radius, self.options, self.urges)
            return
        count, rows = among
        everybody = np.zeros((len(self.urges), count))
        grid.run(block, count, radius, self.options, everybody)
        self.urges[:, : len(rows)] = everybody[:, rows]

    def _targets(self, world: World, poses: PoseBlocks) -> tuple[Floats, Any, str | None]:
        """The target fleet's poses, the row each vehicle looks at, and the target's name if it is gone."""
        n = self.fleet.n
        if self.target is None:
            return _only_read(np.zeros((POSE_ROWS, 1))), np.zeros(n, np.int64), None
        try:
            fleet, rows = world.find(self.target)
        except UnknownNameError:
            fleet, rows = self.fleet, np.zeros(0, np.int64)
        if len(rows) == 0:
            return _only_read(np.zeros((POSE_ROWS, 1))), np.full(n, NOBODY), self.target
        places = np.arange(n) if self._places is None else self._places
        return _only_read(poses(fleet.name)), rows[places % len(rows)], None


def _only_read(poses: Floats) -> Floats:
    """The same as a read-only view, as poses of a snapshot are: compiled code is another for arrays that are not."""
    view = poses.view()
    view.flags.writeable = False
    return view


def give_slots(plan: Plan, memory: Floats) -> None:
    """Write the slots of so many vehicles into their memory (columns, n), if their rule has any."""
    count = memory.shape[1]
    if plan.rule.slots is not None and count:
        slots = plan.rule.slots(count, plan.rule.options(*plan.options))
        memory[: len(slots)] = slots
