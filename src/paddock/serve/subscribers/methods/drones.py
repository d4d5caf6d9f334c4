"""Methods for drones that are flown by sticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.methods.vehicles import spawn_pose
from paddock.serve.subscribers.parameters import ID_MAX, flag, frame, number, text, vehicle, whole
from paddock.serve.subscribers.shapes import Moment, SpawnedDrone
from paddock.wire.rpc import INVALID_PARAMS, RpcError

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

MODEL = "quad"


@method(
    whole("vehicle_id", "its id; null: the next free one", None, low=0, high=ID_MAX),
    text("drone_preset", "preset of the model quad; null: its own", None),
    text("name", "unique; null: made from the model", None),
    number("x", "position", 0.0),
    number("y", "position", 0.0),
    number("z", "position", 0.0),
    number("yaw", "heading, rad", 0.0),
    frame(),
)
async def spawn_fpv_drone(
    client: Client, vehicle_id: int | None, drone_preset: str | None, name: str | None, frame: str, **place: Any
) -> SpawnedDrone:
    """A quadrotor that is disarmed and in angle mode; tells its name and id."""
    given = {"id": vehicle_id, "preset": drone_preset, "name": name}
    entry = {key: value for key, value in given.items() if value is not None}
    pose = spawn_pose(place, frame)
    commands = {"armed": 0, "mode": "angle"}
    reply = await client.request("spawn", entry={"model": MODEL, "pose": pose, "commands": commands, **entry})
    layout = await client.changed_layout()
    return {"name": reply.result, "id": int(layout.fleets[layout.fleet_index(reply.result)].ids[0])}


@method(
    vehicle(),
    number("throttle", "0 to 1", None),
    number("roll", "-1 to 1, + right", None),
    number("pitch", "-1 to 1, + forward", None),
    number("yaw", "-1 to 1, + left", None),
    text("flight_mode", "e.g. acro, angle, position", None),
)
async def set_fpv_control(
    client: Client, vehicle: str | int, flight_mode: str | None, **sticks: float | None
) -> Moment:
    """The sticks and the mode of a drone; what is not named stays."""
    inputs: dict[str, Any] = {name: value for name, value in sticks.items() if value is not None}
    if flight_mode is not None:
        inputs["mode"] = flight_mode
    if not inputs:
        valid = "throttle, roll, pitch, yaw, flight_mode"
        raise RpcError("missing", f"set_fpv_control: give at least one of {valid}", INVALID_PARAMS)
    return await client.done("command", target=vehicle, inputs=inputs)


@method(vehicle(), flag("armed", "whether its motors may turn"))
async def arm_drone(client: Client, vehicle: str | int, armed: bool) -> Moment:
    """Arm or disarm a drone."""
    return await client.done("command", target=vehicle, inputs={"armed": float(armed)})
