"""The entries of vehicles (commands, adding and removing, behaviours, synchronous control) and of their mission."""

from typing import Annotated, Any, Protocol

from annotated_types import Ge, Len

from paddock.wire import results as r
from paddock.wire.mission_results import MissionTree, MissionView
from paddock.wire.operations import arguments as a
from paddock.wire.operations.operation import entry

ROVER = {"name": "guest", "model": "rover", "pose": [0, 0, 0]}


class VehicleOperations(Protocol):
    """Vehicles."""

    # vehicles --------------------------------------------------------------------------------------------------------

    @entry(
        "command", rpc="set_control", zmq="Command", client=None, example={"target": "red", "inputs": {"steer": 0.1}}
    )
    def command(
        self,
        target: a.Target,
        inputs: Annotated[a.Tree, a.InRpc("inputs", a.Members), "input -> value"],
        at_tick: Annotated[a.AtTick, a.InRpc()] = None,
        timeout: Annotated[
            Annotated[float, Ge(0.0)] | None, "simulated s until the failsafe acts; null: that of its entry"
        ] = None,
    ) -> None:
        """Set inputs of a vehicle, or of a fleet with arrays of its length; inputs that are not named stay."""

    @entry("command", rpc=True)
    def drive(
        self,
        target: a.Target,
        driving: Annotated[bool, "false: release"] = True,
        take_over: Annotated[bool, "drive even if another client does"] = False,
    ) -> None:
        """Drive a vehicle alone, or release it; a driven vehicle refuses commands of other clients."""

    @entry("command", zmq="Command.vehicles", client=None)
    def command_many(self, ids: Any, inputs: a.Tree, timeout: float | None = None) -> None:
        """Set inputs of vehicles given by id, with arrays of the same length; all of them or none."""

    @entry("command", zmq="Call", client="vehicles.place", example={"target": "red", "pose": [0, 0, 0, 0]})
    def place(
        self,
        target: a.Target,
        pose: Annotated[Any, "x, y, z (m) and yaw (rad); of a fleet (n, 4)"],
        speed: Annotated[Any, "m/s; of a fleet also (n,)"] = 0.0,
        at_tick: a.AtTick = None,
    ) -> None:
        """Move a vehicle, or every vehicle of a fleet, to a pose as if it started there."""

    @entry("hub", rpc=True)
    def set_fpv_control(
        self,
        vehicle: a.Vehicle,
        throttle: Annotated[float | None, "0 to 1"] = None,
        roll: Annotated[float | None, "-1 to 1, + right"] = None,
        pitch: Annotated[float | None, "-1 to 1, + forward"] = None,
        yaw: Annotated[float | None, "-1 to 1, + left"] = None,
        flight_mode: Annotated[a.Text | None, "e.g. acro, angle, position"] = None,
    ) -> r.Moment:
        """Set the sticks and the mode of a drone; those that are not named stay."""

    @entry("hub", rpc=True)
    def arm_drone(self, vehicle: a.Vehicle, armed: Annotated[bool, "whether its motors may turn"]) -> r.Moment:
        """Arm or disarm a drone."""

    @entry("change", zmq="Call", client=None, slow=True, example={"entry": ROVER})
    def spawn(self, entry: Annotated[a.Tree, "an entry of a scenario's `vehicles`"]) -> str:
        """Add vehicles of models that are installed or in use; return their name."""

    @entry("change", slow=True)
    def spawn_all(self, entries: list[a.Tree]) -> list[str]:
        """Add several entries, all or none; return their names."""

    @entry("hub", rpc=True, slow=True)
    def spawn_robots(
        self,
        robots: Annotated[
            list[a.Robot],
            Len(1, a.MOST_ROBOTS),
            a.FIRST,
            "the vehicles, all or none; neighbours in the list that differ only in pose and have consecutive ids, or "
            "none, become one fleet",
        ],
        frame: a.AxesArgument = "enu",
    ) -> r.Spawned:
        """Add vehicles; return their names and ids, in the order given."""

    @entry("hub", rpc=True)
    def spawn_fpv_drone(
        self,
        vehicle_id: Annotated[a.Id | None, "its id; null: the next free one"] = None,
        drone_preset: Annotated[a.Text | None, "preset of the model quad; null: its default"] = None,
        name: Annotated[a.Text | None, "unique; null: made from the model"] = None,
        x: Annotated[float, "position"] = 0.0,
        y: Annotated[float, "position"] = 0.0,
        z: Annotated[float, "position"] = 0.0,
        yaw: Annotated[float, "heading, rad"] = 0.0,
        frame: a.AxesArgument = "enu",
    ) -> r.SpawnedDrone:
        """Add a quadrotor, disarmed and in angle mode; return its name and id."""

    @entry("change", rpc="remove_vehicle", zmq="Call", shows=True, example={"target": "guest"})
    def remove(self, target: a.Target) -> None:
        """Remove a vehicle or a fleet."""

    @entry("change", rpc="clear_all_robots", shows=True)
    def clear(self) -> r.Removed:
        """Remove all vehicles; return how many there were."""

    # behaviours ------------------------------------------------------------------------------------------------------

    @entry("change", rpc=True, zmq="Call", client=None, slow=True, example={"target": "scouts[7]", "behaviour": "hold"})
    def override(
        self,
        target: Annotated[
            str | int | Annotated[list[str | int], a.Listed],
            a.InRpc("vehicles", a.Overridden),
            "a name, an id, or a list of them",
        ],
        behaviour: a.Behaviour,
    ) -> None:
        """Override the behaviour of vehicles."""

    @entry("fact", rpc=True, zmq="Call", answer="overrides", client="behaviours.overrides", example={})
    def overrides(self) -> list[r.BehaviourOverride]:
        """Return the overrides in effect: ids (in JSON-RPC as [first, count]), name and options of the behaviour."""

    @entry("fact", rpc=True, zmq="Call", answer="routes", client="behaviours.routes", example={})
    def routes(self) -> list[r.PlannedRoute]:
        """Return the paths and points that vehicles follow, in m east, north and up."""

    # synchronous control ---------------------------------------------------------------------------------------------

    @entry("clock", zmq="SetMode.mode", reply="Result", client=None)
    def claim(self, vehicles: list[str]) -> dict[str, Any]:
        """Wait for this client's commands for these vehicles at every barrier; return how the simulation waits."""

    @entry("clock", zmq="SetMode", client=None)
    def release(self) -> None:
        """Release all vehicles of this client's claim."""

    @entry("step", zmq="Control", reply="ControlAck", client=None)
    def control(self, tick: a.Count, commands: dict[str | int, a.Tree]) -> int:
        """Answer the control request of a tick; return that tick."""


class MissionOperations(Protocol):
    """The mission."""

    @entry("fact", rpc=True, answer="mission")
    def mission(self) -> MissionTree | None:
        """Return the mission, in m east and north; null without one."""

    @entry("fact", zmq="Call", client="mission.view", slow=True)
    def mission_view(self) -> MissionView | None:
        """Return the mission with progress, figures and log; null without one."""

    @entry("change", rpc=True, zmq="Call", client=None, slow=True)
    def add_task(self, task: Annotated[a.Tree, "as in a scenario's mission.tasks"]) -> None:
        """Add a task to the mission."""

    @entry("change", rpc=True, zmq="Call", client=None, slow=True)
    def move_task(
        self,
        name: Annotated[a.Text, a.LATER, "the task"],
        x: Annotated[a.Coordinate, a.LATER, "m east"],
        y: Annotated[a.Coordinate, a.LATER, "m north"],
    ) -> None:
        """Move a task of the mission."""

    @entry("change", rpc=True, zmq="Call", client=None, slow=True)
    def remove_task(self, name: Annotated[a.Text, a.LATER, "the task"]) -> None:
        """Remove a task from the mission."""

    @entry("change", rpc=True, zmq="Call", client=None, slow=True)
    def add_zone(self, zone: Annotated[a.Tree, "a no-fly zone, as in a scenario's mission.zones"]) -> None:
        """Add a no-fly zone to the mission."""

    @entry("change", rpc=True, zmq="Call", client=None, slow=True)
    def remove_zone(self, name: Annotated[a.Text, a.LATER, "the zone"]) -> None:
        """Open a no-fly zone of the mission again."""

    @entry("change", zmq="Call", client=None, slow=True)
    def add_vehicle(self, entry: Annotated[a.Tree, "an entry of a scenario's `vehicles`"]) -> None:
        """Add vehicles of models that are installed or in use to the mission."""

    @entry("change", rpc=True, zmq="Call", client="mission.damage", slow=True)
    def damage_vehicle(self, vehicle: Annotated[a.Vehicle, a.LATER]) -> None:
        """Disable a vehicle of the mission permanently; others take over its tasks."""
