"""Methods that add and command vehicles and draw, with the names and fields that renderers use."""

from collections.abc import Iterator
from itertools import groupby
from math import cos, sin
from typing import Any

import numpy as np

from paddock.serve.hub import OperationError
from paddock.serve.subscribers.client import Client
from paddock.serve.subscribers.subscription import NATIVE, units_per_metre
from paddock.wire.operations.arguments import ArgumentError, Robot
from paddock.wire.operations.results import Moment, Spawned, SpawnedDrone
from paddock.world.frames import convert_position, convert_quaternion, euler_from_quaternion

DRONE = "quad"  # the model of drones that are flown by sticks


async def set_fpv_control(
    client: Client, vehicle: str | int, flight_mode: str | None, **sticks: float | None
) -> Moment:
    inputs: dict[str, Any] = {name: value for name, value in sticks.items() if value is not None}
    if flight_mode is not None:
        inputs["mode"] = flight_mode
    if not inputs:
        valid = "throttle, roll, pitch, yaw, flight_mode"
        raise ArgumentError("missing", f"set_fpv_control: give at least one of {valid}")
    return await client.done("command", target=vehicle, inputs=inputs)


async def arm_drone(client: Client, vehicle: str | int, armed: bool) -> Moment:
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


DEBUG = "debug"  # the namespace of quick drawings
THICKNESS = 0.05  # m, of lines


async def draw_debug_lines(
    client: Client, lines: list[list[float]], thickness: float | None, color: list[float], ttl: float | None, frame: str
) -> list[int]:
    """Draw all lines as one marker."""
    points = convert_position(np.array(lines, np.float64).reshape(-1, 3), frame, NATIVE)
    width = THICKNESS if thickness is None else thickness / units_per_metre(frame)
    marker = {"kind": "line_list", "scale": [width, 1.0, 1.0], "vertices": points}
    return await _draw(client, [marker], color, ttl)


async def draw_debug_spheres(
    client: Client, spheres: list[list[float]], color: list[float], ttl: float | None, frame: str
) -> list[int]:
    """Draw one marker for each radius."""
    balls = np.array(spheres, np.float64)
    centres = convert_position(balls[:, :3], frame, NATIVE)
    markers = [
        {
            "kind": "points",
            "scale": [2.0 * radius / units_per_metre(frame), 1.0, 1.0],
            "vertices": centres[balls[:, 3] == radius],
        }
        for radius in np.unique(balls[:, 3]).tolist()
    ]
    return await _draw(client, markers, color, ttl)


async def clear_debug(client: Client) -> Moment:
    """Remove everything drawn; no effect if nothing was drawn."""
    try:
        return await client.done("unmark", namespace=DEBUG)
    except OperationError as error:
        if error.kind != "UnknownNameError":
            raise
        return {"tick": client.hub.tick, "time": client.hub.time}


async def _draw(client: Client, markers: list[dict[str, Any]], color: list[float], ttl: float | None) -> list[int]:
    ids = [client.endpoint.next_debug_id() for _ in markers]
    look = {"namespace": DEBUG, "color": [part / 255.0 for part in color], "ttl": ttl}
    named = [{**look, "id": id, **marker} for id, marker in zip(ids, markers, strict=True)]
    await client.request("mark", markers=named)
    return ids
