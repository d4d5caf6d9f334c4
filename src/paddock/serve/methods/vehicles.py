"""Methods that add and command vehicles, with the names and fields that renderers use."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import cos, sin
from typing import TYPE_CHECKING, Any

from paddock.serve.subscribers.subscription import NATIVE
from paddock.wire.operations.arguments import ArgumentError, Robot
from paddock.wire.operations.results import Moment, Spawned, SpawnedDrone
from paddock.world.frames import convert_position, convert_quaternion
from paddock.world.rotation import euler_from_quaternion

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

DRONE = "quad"  # the model of drones that are flown by sticks


async def set_fpv_control(
    client: Client, vehicle: str | int, flight_mode: str | None, **sticks: float | None
) -> Moment:
    """Run the operation `command` with inputs of a quadrotor."""
    inputs: dict[str, Any] = {name: value for name, value in sticks.items() if value is not None}
    if flight_mode is not None:
        inputs["mode"] = flight_mode
    if not inputs:
        valid = "throttle, roll, pitch, yaw, flight_mode"
        raise ArgumentError("missing", f"set_fpv_control: give at least one of {valid}")
    return await client.done("command", target=vehicle, inputs=inputs)


async def arm_drone(client: Client, vehicle: str | int, armed: bool) -> Moment:
    """Run the operation `command`."""
    return await client.done("command", target=vehicle, inputs={"armed": float(armed)})


async def spawn_robots(client: Client, robots: list[Robot], frame: str) -> Spawned:
    """Run the operation `spawn_all`, with one entry for each run of similar robots."""
    poses = [spawn_pose(robot.x, robot.y, robot.z, robot.yaw, frame) for robot in robots]
    runs = [[item for _, item in run] for _, run in groupby(_keyed(robots, poses), key=lambda item: item[0])]
    names = (await client.request("spawn_all", entries=list(map(_entry, runs)))).result
    layout = await client.layout(changed=True)
    fleets = [layout.fleets[layout.fleet_index(name)] for name in names]
    return {
        "names": [fleet.vehicle_name(row) for fleet in fleets for row in range(fleet.n)],
        "ids": [number for fleet in fleets for number in fleet.ids.tolist()],
    }


async def spawn_fpv_drone(
    client: Client,
    vehicle_id: int | None,
    drone_preset: str | None,
    name: str | None,
    x: float,
    y: float,
    z: float,
    yaw: float,
    frame: str,
) -> SpawnedDrone:
    """Run the operation `spawn`."""
    given = {"id": vehicle_id, "preset": drone_preset, "name": name}
    entry = {key: value for key, value in given.items() if value is not None}
    pose, commands = spawn_pose(x, y, z, yaw, frame), {"armed": 0, "mode": "angle"}
    reply = await client.request("spawn", entry={"model": DRONE, "pose": pose, "commands": commands, **entry})
    layout = await client.layout(changed=True)
    return {"name": reply.result, "id": int(layout.fleets[layout.fleet_index(reply.result)].ids[0])}


def spawn_pose(x: float, y: float, z: float | None, yaw: float, frame: str) -> list[float]:
    """Return [x, y, yaw] or [x, y, z, yaw] of a scenario, from coordinates in a frame."""
    east, north, up = convert_position([x, y, z or 0.0], frame, NATIVE).tolist()
    turn = convert_quaternion([0.0, 0.0, sin(0.5 * yaw), cos(0.5 * yaw)], frame, NATIVE)
    heading = float(euler_from_quaternion(turn)[2])
    return [east, north, heading] if z is None else [east, north, up, heading]


def _keyed(robots: list[Robot], poses: list[list[float]]) -> Iterator[tuple[object, tuple[Robot, list[float]]]]:
    """Yield each robot with a key that is equal for neighbours that can be one fleet."""
    for k, (robot, pose) in enumerate(zip(robots, poses, strict=True)):
        alone = k if robot.name is not None else None
        first = None if robot.id is None else robot.id - k
        yield (robot.robot_type, robot.preset, len(pose), alone, first), (robot, pose)


def _entry(alike: list[tuple[Robot, list[float]]]) -> dict[str, Any]:
    """Return the scenario entry for similar robots: a vehicle or a fleet."""
    first, pose = alike[0]
    given = {"id": first.id, "name": first.name, "preset": first.preset}
    entry = {"model": first.robot_type, **{key: value for key, value in given.items() if value is not None}}
    if len(alike) == 1:
        return {**entry, "pose": pose}
    return {**entry, "count": len(alike), "spawn": {"poses": [pose for _, pose in alike]}}
