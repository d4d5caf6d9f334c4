"""Methods that bring vehicles in, take them out and command them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import cos, sin
from typing import TYPE_CHECKING, Any

from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import ID_MAX, frame, number, objects, text, vehicle, whole
from paddock.serve.subscribers.shapes import Moment, Removed, Spawned
from paddock.serve.subscribers.subscription import NATIVE
from paddock.world.frames import convert_position, convert_quaternion
from paddock.world.rotation import euler_from_quaternion

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

MOST_ROBOTS = 20_000


@method(
    objects(
        "robots",
        "who comes, all or none; alike neighbours in the list with consecutive ids, or none, become one fleet",
        whole("id", "vehicle id; null: the next free one", None, low=0, high=ID_MAX),
        text("robot_type", "model, e.g. car.bicycle or quad"),
        text("name", "unique; null: made from the model", None),
        text("preset", "named set of parameters; null: the model's own", None),
        number("x", "position", 0.0),
        number("y", "position", 0.0),
        number("z", "position; null: on the ground", None),
        number("yaw", "heading, rad", 0.0),
        most=MOST_ROBOTS,
    ),
    frame(),
)
async def spawn_robots(client: Client, robots: list[dict[str, Any]], frame: str) -> Spawned:
    """Bring vehicles into the world; tells their names and ids, in the order given."""
    for robot in robots:
        robot["pose"] = spawn_pose(robot, frame)
    runs = [list(run) for _, run in groupby(_keyed(robots), key=lambda item: item[0])]
    entries = [_entry([robot for _, robot in run]) for run in runs]
    names = (await client.request("spawn_all", entries=entries)).result
    layout = await client.changed_layout()
    fleets = [layout.fleets[layout.fleet_index(name)] for name in names]
    return {
        "names": [fleet.vehicle_name(row) for fleet in fleets for row in range(fleet.n)],
        "ids": [number for fleet in fleets for number in fleet.ids.tolist()],
    }


@method(vehicle())
async def remove_vehicle(client: Client, vehicle: str | int) -> Moment:
    """Take a vehicle out, or a fleet by its name."""
    return await client.done("remove", target=vehicle, show=True)


@method()
async def clear_all_robots(client: Client) -> Removed:
    """Take everything out; tells how many vehicles that were."""
    reply = await client.request("clear")
    await client.changed_layout()
    return {"removed": reply.result, "tick": reply.tick, "time": reply.time}


@method(
    vehicle(),
    number("timeout", "simulated s until the failsafe acts; null: as the vehicle's entry says", None, low=0.0),
    inputs=True,
)
async def set_control(client: Client, vehicle: str | int, timeout: float | None, inputs: dict[str, Any]) -> Moment:
    """Inputs of a vehicle, each a member of its own, e.g. `steer`; those not named stay. A fleet takes lists."""
    return await client.done("command", target=vehicle, inputs=inputs, timeout=timeout)


def spawn_pose(place: dict[str, Any], frame: str) -> list[float]:
    """[x, y, yaw] or [x, y, z, yaw] of a scenario, from coordinates in a frame; takes them out of `place`."""
    x, y, z, yaw = (place.pop(name) for name in ("x", "y", "z", "yaw"))
    east, north, up = convert_position([x, y, z or 0.0], frame, NATIVE).tolist()
    turn = convert_quaternion([0.0, 0.0, sin(0.5 * yaw), cos(0.5 * yaw)], frame, NATIVE)
    heading = float(euler_from_quaternion(turn)[2])
    return [east, north, heading] if z is None else [east, north, up, heading]


def _keyed(robots: list[dict[str, Any]]) -> Iterator[tuple[object, dict[str, Any]]]:
    """Each robot with a key that is equal for neighbours that can be one fleet."""
    for k, robot in enumerate(robots):
        number, name = robot["id"], robot["name"]
        alone = k if name is not None else None
        first = None if number is None else number - k
        yield (robot["robot_type"], robot["preset"], len(robot["pose"]), alone, first), robot


def _entry(alike: list[dict[str, Any]]) -> dict[str, Any]:
    """The entry of a scenario that robots make: a vehicle, or a fleet."""
    first = alike[0]
    given = {"id": first["id"], "name": first["name"], "preset": first["preset"]}
    entry = {"model": first["robot_type"], **{key: value for key, value in given.items() if value is not None}}
    if len(alike) == 1:
        return {**entry, "pose": first["pose"]}
    return {**entry, "count": len(alike), "spawn": {"poses": [robot["pose"] for robot in alike]}}
