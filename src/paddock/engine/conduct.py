"""How a fleet behaves: a rule, its options and memory, and where it gets its path, its target and its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paddock.behaviour.paths import path_points
from paddock.behaviour.rule import NOBODY, Rule, Urge
from paddock.compute.kernel import kernel
from paddock.compute.neighbours import NeighbourGrid
from paddock.errors import InvalidValueError, UnknownNameError
from paddock.vehicles.model import VehicleModel
from paddock.world.columns import Floats, column_index, defaults_of, filled
from paddock.world.fleet import Fleet
from paddock.world.pose import Pose
from paddock.world.world import World

MEMORY = "memory"
POSE_ROWS = len(column_index(Pose))

PoseBlocks = Callable[[str], Floats]
"""Fleet name -> its poses now, rows as in Pose, at least as many columns as it has vehicles."""


class Conduct:
    """One fleet's behaviour, ready to run."""

    def __init__(
        self,
        rule: Rule,
        given: Mapping[str, Any],
        model: VehicleModel,
        fleet: Fleet,
        varying: tuple[str, ...],
        where: Callable[[str], str],
    ) -> None:
        """`given` are the options as the user wrote them; `where` names the place of an option for errors."""
        self.rule = rule
        self.fleet = fleet
        self.target = self._target(given, where)
        self.options = self._options(given, where)
        self.path = self._path(given, where)
        self.urges = np.zeros((len(column_index(Urge)), 1))
        self.grid = NeighbourGrid(self.rule.neighbours) if self.rule.neighbours else None
        self._act = kernel(self.rule.spec(model, varying))
        fleet.add_table(MEMORY, len(column_index(self.rule.memory)), defaults_of(self.rule.memory))

    def admit(self, rows: slice) -> None:
        """Vehicles have joined: they start with an empty memory."""
        self.fleet.tables[MEMORY][:, rows] = defaults_of(self.rule.memory)[:, None]
        self.assign_slots()

    def assign_slots(self) -> None:
        """Slots belong to the order in the fleet: they close up when vehicles leave and open when they join."""
        if self.rule.slots is not None and self.fleet.n:
            slots = self.rule.slots(self.fleet.n, self.rule.options(*self.options))
            self.fleet.tables[MEMORY][: len(slots), : self.fleet.n] = slots

    def run(self, world: World, poses: PoseBlocks, parameters: tuple[Floats, ...], dt: float) -> str | None:
        """Decide for every vehicle; `parameters` are the model's. Returns the name of a target that has gone."""
        fleet = self.fleet
        if fleet.n == 0:
            return None
        targets, rows, lost = self._targets(world, poses)
        if self.urges.shape[1] < fleet.n:
            self.urges = np.zeros((len(self.urges), fleet.capacity))
        if self.grid is not None:
            self._gather(poses(fleet.name))
        self._act(
            fleet.n,
            1,
            *(fleet.state, fleet.command, *parameters, fleet.tables[MEMORY], self.options, self.urges),
            *(rows, targets, self.path, dt),
        )
        return lost

    def _gather(self, block: Floats) -> None:
        """Let the neighbours speak."""
        assert self.grid is not None
        n = self.fleet.n
        radius = float(self.options[column_index(self.rule.options)["radius"]])
        self.grid.run(block, n, radius, self.options, self.urges)

    def _targets(self, world: World, poses: PoseBlocks) -> tuple[Floats, Any, str | None]:
        """The target fleet's poses, the row each vehicle looks at, and the target's name if it is gone."""
        n = self.fleet.n
        if self.target is None:
            return np.zeros((POSE_ROWS, 1)), np.zeros(n, np.int64), None
        try:
            fleet, rows = world.find(self.target)
        except UnknownNameError:
            fleet, rows = self.fleet, np.zeros(0, np.int64)
        if len(rows) == 0:
            return np.zeros((POSE_ROWS, 1)), np.full(n, NOBODY), self.target
        return poses(fleet.name), rows[np.arange(n) % len(rows)], None

    def _target(self, given: Mapping[str, Any], where: Callable[[str], str]) -> str | None:
        target = given.get("target")
        if target is None and self.rule.needs_target:
            raise InvalidValueError(f"{where('')}: behaviour {self.rule.name!r} needs a target: the name of a vehicle")
        if target is not None and not _takes_target(self.rule):
            raise InvalidValueError(f"{where('target')}: behaviour {self.rule.name!r} takes no target")
        if target is not None and not isinstance(target, str):
            raise InvalidValueError(f"{where('target')}: target must be the name of a vehicle, not {target!r}")
        return target

    def _options(self, given: Mapping[str, Any], where: Callable[[str], str]) -> Floats:
        plain = {name: value for name, value in given.items() if name not in ("path", "target")}
        if "has_target" in plain:  # set below, from whether a target is named
            raise InvalidValueError(f"{where('has_target')}: name a target instead of setting has_target")
        for name, value in plain.items():  # one at a time, so that an error names its own place
            filled(self.rule.options, {**_required(self.rule), name: value}, f"{self.rule.name} option", where(name))
        values = filled(self.rule.options, plain, f"{self.rule.name} option", where(""))
        if "has_target" in column_index(self.rule.options):
            values[column_index(self.rule.options)["has_target"]] = float(self.target is not None)
        return values

    def _path(self, given: Mapping[str, Any], where: Callable[[str], str]) -> Floats:
        if self.rule.prepare_path is None:
            if "path" in given:
                raise InvalidValueError(f"{where('path')}: behaviour {self.rule.name!r} takes no path")
            return np.zeros((1, 4))
        if "path" not in given:
            raise InvalidValueError(
                f"{where('')}: behaviour {self.rule.name!r} needs a path: a list of points or a shape"
            )
        return self.rule.prepare_path(path_points(given["path"], where("path")), self.rule.options(*self.options))


def _takes_target(rule: Rule) -> bool:
    return rule.needs_target or "has_target" in column_index(rule.options)


def _required(rule: Rule) -> dict[str, float]:
    """Stand-ins for options without a default, to check the others one by one."""
    values = defaults_of(rule.options)
    return {name: 0.0 for name, row in column_index(rule.options).items() if np.isnan(values[row])}
