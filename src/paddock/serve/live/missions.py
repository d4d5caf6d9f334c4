"""Operations on the mission: what is to be done, where nobody may be, and who fails."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

from paddock.errors import PaddockError, UnknownNameError, unknown_name
from paddock.scenario.mission_tasks import NoFlyZone, Task
from paddock.serve.live.group import Group, Stage
from paddock.serve.mission_tree import MissionTeller
from paddock.serve.operations import operation
from paddock.serve.subscribers.shapes import MissionTree


class Missions(Group):
    """What is asked for is noted between two ticks; the mission acts on it as soon as time passes."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._teller = MissionTeller()

    @operation
    def mission(self, client: str) -> Future[Any]:
        """The mission as it stands; None where there is none."""
        return self.stage.glance(self._tree)

    @operation
    def add_task(self, client: str, task: dict[str, Any]) -> Future[Any]:
        """One more task, as a scenario has it."""
        _refuse_unknown("task", task, Task.model_fields)
        return self._ask(client, "add_task", **task)

    @operation
    def move_task(self, client: str, name: str, x: float, y: float) -> Future[Any]:
        """A task is elsewhere from now on (m)."""
        return self._ask(client, "move_task", task=name, x=x, y=y)

    @operation
    def remove_task(self, client: str, name: str) -> Future[Any]:
        """A task need not be done."""
        return self._ask(client, "remove_task", task=name)

    @operation
    def add_zone(self, client: str, zone: dict[str, Any]) -> Future[Any]:
        """Nobody may be there from now on; as a scenario has it."""
        _refuse_unknown("zone", zone, NoFlyZone.model_fields)
        return self._ask(client, "add_zone", **zone)

    @operation
    def damage(self, client: str, vehicle: str | int) -> Future[Any]:
        """A vehicle fails for good."""
        return self._ask(client, "damage", vehicle=vehicle if isinstance(vehicle, str) else self._name_of(vehicle))

    def _ask(self, client: str, verb: str, **arguments: Any) -> Future[Any]:
        if self.sim.stage.mission is None:
            raise PaddockError(f"{verb}: there is no mission; add a section `mission` to the scenario")
        return self.stage.errand(lambda: self.sim.direct(verb, source=client, **arguments))

    def _tree(self) -> MissionTree | None:
        run = self.sim.stage.mission
        if run is None or run.scenario.mission is None:
            return None
        return self._teller.tree(run.mission, run.scenario.mission.base, self._id_of)

    def _id_of(self, name: str) -> int | None:
        try:
            fleet, rows = self.sim.world.find(name)
        except UnknownNameError:
            return None
        return int(fleet.ids[rows[0]])

    def _name_of(self, id: int) -> str:
        program, rows = self.sim.applier.found(id)
        return program.fleet.vehicle_name(int(rows[0]))


def _refuse_unknown(what: str, given: dict[str, Any], known: Iterable[str]) -> None:
    """Fields that a scenario's section does not have."""
    fields = list(known)
    for name in given:
        if name not in fields:
            raise unknown_name(f"field of a {what}", name, fields)
