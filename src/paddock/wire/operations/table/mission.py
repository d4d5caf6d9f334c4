"""The entries of the mission."""

from typing import Annotated, Any, Protocol

from paddock.wire.operations import arguments as a
from paddock.wire.operations import results as r
from paddock.wire.operations.operation import entry


class MissionOperations(Protocol):
    """The mission."""

    @entry("read", rpc="get_mission", answer="mission")
    def mission(self) -> r.MissionTree | None:
        """Return the mission, in m east and north; null without one."""

    @entry("read", zmq="Call", client="mission.view", slow=True)
    def mission_view(self) -> dict[str, Any] | None:
        """Return the mission with progress, figures and log; null without one."""

    @entry("post", rpc="add_task", zmq="Call", client="mission.add_task", slow=True)
    def add_task(self, task: Annotated[a.Tree, "as in a scenario's mission.tasks"]) -> None:
        """Add a task to the mission."""

    @entry("post", rpc="move_task", zmq="Call", client="mission.move_task", slow=True)
    def move_task(
        self,
        name: Annotated[a.Text, "the task"],
        x: Annotated[a.Coordinate, "m east"],
        y: Annotated[a.Coordinate, "m north"],
    ) -> None:
        """Move a task of the mission."""

    @entry("post", rpc="remove_task", zmq="Call", client="mission.remove_task", slow=True)
    def remove_task(self, name: Annotated[a.Text, "the task"]) -> None:
        """Remove a task from the mission."""

    @entry("post", rpc="add_zone", zmq="Call", client="mission.add_zone", slow=True)
    def add_zone(self, zone: Annotated[a.Tree, "a no-fly zone, as in a scenario's mission.zones"]) -> None:
        """Add a no-fly zone to the mission."""

    @entry("post", rpc="remove_zone", zmq="Call", client="mission.remove_zone", slow=True)
    def remove_zone(self, name: Annotated[a.Text, "the zone"]) -> None:
        """Open a no-fly zone of the mission again."""

    @entry("post", zmq="Call", client="mission.add_vehicle", slow=True)
    def add_vehicle(self, entry: Annotated[a.Tree, "an entry of a scenario's `vehicles`"]) -> None:
        """Add vehicles of models that are installed or in use to the mission."""

    @entry("post", rpc="damage_vehicle", zmq="Call", client="mission.damage", slow=True)
    def damage(self, vehicle: a.Vehicle) -> None:
        """Disable a vehicle of the mission permanently; others take over its tasks."""
