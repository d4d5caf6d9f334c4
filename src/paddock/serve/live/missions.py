"""Operations on the mission: what is to be done, where nobody may be, and who fails."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from paddock.engine.actions import MissionAction
from paddock.errors import UnknownNameError
from paddock.planning.mission.views import tree_of
from paddock.serve.live.group import Group, Stage
from paddock.serve.mission_tree import MissionTeller
from paddock.serve.operations import operation
from paddock.serve.subscribers.shapes import MissionTree
from paddock.serve.trust import refuse_foreign


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
    def mission_view(self, client: str) -> Future[Any]:
        """The same in full, for programs: with progress, numbers so far and the log."""
        return self.stage.glance(self._view)

    @operation
    def add_task(self, client: str, task: dict[str, Any]) -> Future[Any]:
        """One more task, as a scenario has it."""
        return self._ask(client, "add_task", task)

    @operation
    def move_task(self, client: str, name: Any, x: Any, y: Any) -> Future[Any]:
        """A task is elsewhere from now on (m)."""
        return self._ask(client, "move_task", {"task": name, "x": x, "y": y})

    @operation
    def remove_task(self, client: str, name: Any) -> Future[Any]:
        """A task need not be done."""
        return self._ask(client, "remove_task", {"task": name})

    @operation
    def add_zone(self, client: str, zone: dict[str, Any]) -> Future[Any]:
        """Nobody may be there from now on; as a scenario has it."""
        return self._ask(client, "add_zone", zone)

    @operation
    def add_vehicle(self, client: str, entry: dict[str, Any]) -> Future[Any]:
        """Vehicles join, of models that are installed or in use; as a scenario has them."""
        order = self._checked("add_vehicle", entry)
        refuse_foreign(self.sim, order.arguments, "add_vehicle")
        return self._give(client, order)

    @operation
    def damage(self, client: str, vehicle: Any) -> Future[Any]:
        """A vehicle fails for good."""
        by_id = isinstance(vehicle, int) and not isinstance(vehicle, bool)
        return self._ask(client, "damage", {"vehicle": self._name_of(vehicle) if by_id else vehicle})

    def _ask(self, client: str, verb: str, arguments: dict[str, Any]) -> Future[Any]:
        return self._give(client, self._checked(verb, arguments))

    def _checked(self, verb: str, arguments: dict[str, Any]) -> MissionAction:
        """The mission says what is wrong, in the words that it has for programs too."""
        return self.sim.engine.mission_stage.checked(MissionAction(verb, arguments))

    def _give(self, client: str, order: MissionAction) -> Future[Any]:
        return self.stage.errand(lambda: self.sim.engine.apply_or_post(order, f"{order.verb}()", source=client))

    def _view(self) -> dict[str, Any] | None:
        mission = self.sim.mission
        return None if mission is None else tree_of(mission.view())

    def _tree(self) -> MissionTree | None:
        run = self.sim.engine.mission
        if run is None or run.scenario.mission is None:
            return None
        return self._teller.tree(run.mission, run.scenario.mission.base, self._id_of)

    def _id_of(self, name: str) -> int | None:
        try:
            fleet, rows = self.sim.engine.world.find(name)
        except UnknownNameError:
            return None
        return int(fleet.ids[rows[0]])

    def _name_of(self, id: int) -> str:
        program, rows = self.sim.engine.applier.found(id)
        return program.fleet.vehicle_name(int(rows[0]))
