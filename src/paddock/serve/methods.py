"""Handlers of JSON-RPC methods in the hub.

A handler is a coroutine named like its operation: `async handler(client, **arguments)`. It answers from snapshots, or
through other operations. Operations of the simulation that JSON-RPC offers unchanged need none: the client forwards
them. Another process checks scenarios and tracks that a client wrote, so that frames are not delayed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import groupby
from math import cos, isfinite, sin
from typing import Any, cast

import numpy as np

from paddock.behaviour.rule import Rule, find_rule, rule_names
from paddock.errors import PaddockError
from paddock.scenario import bundled_names, bundled_path, preset_names, scenario_schema
from paddock.scenario import load_scenario as loaded
from paddock.scenario.marked_yaml import read_text
from paddock.sensing.sensor import find_sensor, sensor_names
from paddock.serve.describe import column_trees
from paddock.serve.facts import OperationError
from paddock.serve.http import PAGE_FOLDER
from paddock.serve.subscribers import subscription
from paddock.serve.subscribers.client import Client
from paddock.serve.subscribers.subscription import NATIVE, units_per_metre
from paddock.vehicles.model import find_model, model_names
from paddock.wire import results as r
from paddock.wire.operations import OPERATIONS
from paddock.wire.operations.arguments import ArgumentError, ColumnList, Robot
from paddock.wire.results import (
    Moment,
    ProblemTree,
    ScenarioCardTree,
    ScenarioLoading,
    ScenarioText,
    Spawned,
    SpawnedDrone,
    TrackCheckTree,
    TrackFileTree,
)
from paddock.world.columns import Column, columns_of
from paddock.world.frames import conversion, convert_position, convert_quaternion, euler_from_quaternion
from paddock.world.layout import POSE
from paddock.world.snapshot import ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY, Snapshot, VehicleSnapshot

MOST_STATES = 10_000  # vehicles in one answer; subscribe to more
DRONE = "quad"  # the model of drones that are flown by sticks
SHOWN_PROBLEMS = 3  # errors that a refusal repeats; `check_scenario` returns all of them


async def get_state(client: Client, vehicle: str | int, frame: str) -> r.StateTree:
    await client.endpoint.refresh()
    return client.endpoint.read(lambda snapshot: _state(snapshot, snapshot[vehicle], frame))


async def get_all_states(client: Client, vehicles: list[str | int] | None, frame: str) -> r.StatesTree:
    await client.endpoint.refresh()
    snapshot = client.endpoint.newest()
    try:
        subscription.refuse_unknown(snapshot.layout, tuple(vehicles or ()))
    except PaddockError as error:
        raise ArgumentError("value", f"get_all_states: 'vehicles': {error}") from None
    selection = subscription.select(snapshot.layout, None if vehicles is None else tuple(vehicles))
    if selection.size > MOST_STATES:
        raise PaddockError(f"get_all_states: {selection.size} vehicles are too many for one answer; subscribe to them")
    parts = zip(selection.parts, selection.ids, strict=True)
    fleets = [_fleet(snapshot, fleet, rows, ids, frame) for (fleet, rows), ids in parts]
    return {
        "tick": snapshot.tick,
        "time": snapshot.time,
        "run": snapshot.run,
        "roster": snapshot.roster,
        "fleets": fleets,
    }


async def get_roster(client: Client) -> r.RosterTree:
    return subscription.roster_tree(await client.layout())


async def get_frames(client: Client) -> r.FramesTree:
    return {"frames": client.hub.mirror.frame_trees()}


async def list_models(client: Client) -> list[r.ModelTree]:
    """Return all models; each is loaded once."""
    return await asyncio.to_thread(_models)


@cache
def _models() -> list[r.ModelTree]:
    return [tree for name in model_names() if (tree := _model(name)) is not None]


def _model(name: str) -> r.ModelTree | None:
    """Return one model; None for a broken plug-in, whose error appears when it is used."""
    try:
        model = find_model(name)
    except PaddockError:
        return None
    return {
        "model": name,
        "kind": model.kind,
        "summary": model.summary,
        "presets": preset_names(name),
        "inputs": column_trees(model.command),
    }


def _state(snapshot: Snapshot, vehicle: VehicleSnapshot, frame: str) -> r.StateTree:
    columns = dict(zip(vehicle.columns, vehicle.block[:, vehicle.row].tolist(), strict=True))
    pose = np.array([[columns[name]] for name in POSE])
    moving = {name: values[0] for name, values in _moving(pose, frame).items()}
    others = {name: _plain(value) for name, value in columns.items() if name not in POSE}
    about = {"id": vehicle.id, "name": vehicle.name, "kind": vehicle.kind, "model": vehicle.model}
    return cast(r.StateTree, {**about, "tick": snapshot.tick, "time": snapshot.time, **moving, "columns": others})


def _fleet(snapshot: Snapshot, fleet: int, rows: Any, ids: Any, frame: str) -> r.FleetStateTree:
    layout, block = snapshot.layout.fleets[fleet], snapshot.layout.block(snapshot.buffer, fleet)
    chosen = block if rows is None else block[:, rows]
    about = {"name": layout.name, "kind": layout.kind, "model": layout.model, "ids": ids.tolist()}
    return cast(r.FleetStateTree, {**about, **_moving(chosen[: len(POSE)], frame)})


def _moving(pose: Any, frame: str) -> dict[str, list[Any]]:
    """Return pose columns (13, n) as lists of n, in a frame; null for values that are not finite."""
    change = conversion(subscription.NATIVE, frame)
    parts = {
        "position": change.position(pose[POSITION].T),
        "orientation": change.quaternion(pose[ORIENTATION].T),
        "velocity": change.velocity(pose[VELOCITY].T),
        "angular_velocity": change.angular_rate(pose[ANGULAR_VELOCITY].T),
    }
    return {
        name: values.tolist() if np.isfinite(values).all() else [list(map(_plain, row)) for row in values.tolist()]
        for name, values in parts.items()
    }


def _plain(value: float) -> float | None:
    return value if isfinite(value) else None


async def ping(client: Client) -> r.Pong:
    return {"tick": client.hub.tick, "time": client.hub.time, "preparing": client.hub.mirror.preparing}


async def authenticate(client: Client, token: str) -> r.Empty:
    client.authenticate(token)
    return {}


async def subscribe(
    client: Client,
    rate: float | None,
    frame: str,
    kinds: list[str],
    vehicles: list[str | int] | None,
    tick: bool,
    columns: list[ColumnList],
) -> r.Subscribed:
    layout = await client.layout()
    number = client.next_list()
    wanted = None if vehicles is None else tuple(vehicles)
    view = subscription.View(frame, tuple(kinds), wanted, tick, _lists(columns), number)
    try:
        subscription.refuse_unknown(layout, view.vehicles or ())
    except PaddockError as error:
        raise ArgumentError("value", f"subscribe: 'vehicles': {error}") from None
    subscription.refuse_too_many(layout, view.columns)
    granted = client.endpoint.rate if rate is None else min(rate, client.endpoint.rate)
    client.subscribe(subscription.Subscription(view, granted), layout)
    return {"rate": granted, "ticks_per_second": client.hub.rate, "wanted": number, **subscription.roster_tree(layout)}


async def set_columns(client: Client, columns: list[ColumnList]) -> int:
    lists = _lists(columns)
    layout = await client.layout()
    try:
        subscription.refuse_unknown_columns(layout, lists)
    except PaddockError as error:
        raise ArgumentError("value", f"set_columns: 'columns': {error}") from None
    subscription.refuse_too_many(layout, lists)
    number = client.next_list()
    client.change(view=replace(client.subscribed.view, columns=lists, wanted=number))
    return number


async def set_rate(client: Client, rate: float | None) -> float:
    granted = client.endpoint.rate if rate is None else min(rate, client.endpoint.rate)
    client.change(rate=granted)
    return granted


async def unsubscribe(client: Client) -> r.Empty:
    if client.subscription is None:
        raise PaddockError("unsubscribe: no subscription")
    client.unsubscribe()
    return {}


def _lists(columns: list[ColumnList]) -> tuple[subscription.ColumnChoice, ...]:
    return tuple(subscription.ColumnChoice(choice.of, tuple(choice.columns), choice.rate) for choice in columns)


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
    fields = {"id": vehicle_id, "preset": drone_preset, "name": name}
    entry = {key: value for key, value in fields.items() if value is not None}
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
    fields = {"id": first.id, "name": first.name, "preset": first.preset}
    entry = {"model": first.robot_type, **{key: value for key, value in fields.items() if value is not None}}
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
        return await client.done("delete_markers", namespace=DEBUG)
    except OperationError as error:
        if error.kind != "UnknownNameError":
            raise
        return {"tick": client.hub.tick, "time": client.hub.time}


async def _draw(client: Client, markers: list[dict[str, Any]], color: list[float], ttl: float | None) -> list[int]:
    ids = [client.endpoint.next_debug_id() for _ in markers]
    look = {"namespace": DEBUG, "color": [part / 255.0 for part in color], "ttl": ttl}
    named = [{**look, "id": id, **marker} for id, marker in zip(ids, markers, strict=True)]
    await client.request("put_markers", markers=named)
    return ids


async def list_scenarios(client: Client) -> list[ScenarioCardTree]:
    """Return a card for each demo and manoeuvre; each file is read once."""
    return [_card(name) for name in bundled_names()]


async def get_scenario(client: Client, name: str) -> ScenarioText:
    return {"name": name, "text": read_text(bundled_path(name))}


async def get_schema(client: Client) -> dict[str, Any]:
    return named_schema()


async def check_scenario(client: Client, text: str) -> list[ProblemTree]:
    return await _problems(client, text)


async def load_scenario(client: Client, text: str | None, name: str | None) -> ScenarioLoading:
    """Check the scenario, then run the operation `switch_scenario`."""
    if (text is None) == (name is None):
        raise PaddockError("load_scenario: give 'text', a scenario in YAML, or 'name', that of a demo or manoeuvre")
    source_text = read_text(bundled_path(str(name))) if text is None else text
    if problems := await _problems(client, source_text):
        lines = [
            f"line {problem['line']}, column {problem['column']}: {problem['message']}"
            for problem in problems[:SHOWN_PROBLEMS]
        ]
        more = [f"and {len(problems) - len(lines)} more"] if len(problems) > len(lines) else []
        raise PaddockError("; ".join([*lines, *more]))
    return {"ignored": (await client.request("switch_scenario", text=source_text)).result}


async def _problems(client: Client, text: str) -> list[ProblemTree]:
    try:
        known = (await client.request("known_names")).result
    except OperationError:  # a recording has no models of its own
        known = None
    return await client.hub.checker.check(text, known, client.hub.options.limits, client.name)


@lru_cache(maxsize=64)
def _card(name: str) -> ScenarioCardTree:
    scenario = loaded(bundled_path(name))
    picture = f"/pictures/{name}.webp"
    return {
        "name": name,
        "description": scenario.description,
        "vehicles": sum(entry.count for entry in scenario.vehicles),
        "picture": picture if (PAGE_FOLDER / picture[1:]).is_file() else None,
    }


INTERNAL = "has_target"  # an option that the builder fills in when a rule is given a target
EXTERNAL = {"const": "external", "description": "Takes commands from outside."}


@lru_cache(maxsize=1)
def named_schema() -> dict[str, Any]:
    """Return the schema with behaviours and sensors by name, with their options; other names stay valid."""
    schema = scenario_schema()
    rules = {name: _rule_schema(find_rule(name)) for name in rule_names()}
    sensors = {name: _options(s.summary, columns_of(s.options)) for name in sensor_names() for s in [find_sensor(name)]}
    _offer(schema["$defs"]["BehaviourChoice"], rules, [EXTERNAL])
    _offer(schema["$defs"]["SensorChoice"], sensors, [])
    return schema


def _offer(choice: dict[str, Any], named: dict[str, dict[str, Any]], more: list[dict[str, Any]]) -> None:
    """Add names to a choice between a name and {name: {options}}."""
    names = [{"const": name, "description": options["description"]} for name, options in named.items()]
    for branch in choice["anyOf"]:
        if branch.get("type") == "object":
            branch["properties"] = named
    choice["anyOf"] = [*more, *names, *choice["anyOf"]]


def _rule_schema(rule: Rule) -> dict[str, Any]:
    """Return the options of a behaviour, with the path and the target that the builder reads."""
    columns = columns_of(rule.options)
    schema = _options(rule.summary, [column for column in columns if column.name != INTERNAL])
    if rule.needs_path:
        schema["properties"]["path"] = {"description": "Points [x, y] or [x, y, z], in m, or {oval: {}}, {circle: {}}."}
    if rule.needs_target or any(column.name == INTERNAL for column in columns):
        schema["properties"]["target"] = {"type": "string", "description": "Name of another vehicle."}
    if rule.relays:
        ends = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
        schema["properties"]["between"] = {**ends, "description": "Names of two vehicles or stations."}
    return schema


def _options(summary: str, columns: Iterable[Column]) -> dict[str, Any]:
    properties = {column.name: _option(column) for column in columns}
    return {"type": ["object", "null"], "description": f"{summary}.", "properties": properties}


def _option(column: Column) -> dict[str, Any]:
    """Return the schema of one option: a number, or one of its names."""
    unit = f", in {column.unit}" if column.unit not in ("", "0/1") else ""
    schema: dict[str, Any] = {"description": f"{column.meaning}{unit}."}
    if column.choices:
        return {**schema, "enum": list(column.choices)}
    limits = {"minimum": column.low, "maximum": column.high}
    schema |= {"type": "number", **{key: value for key, value in limits.items() if isfinite(value)}}
    return schema if column.default is None else {**schema, "default": column.default}


async def check_track(client: Client, **request: Any) -> TrackCheckTree:
    return cast(TrackCheckTree, await client.hub.checker.track(request, client.name))


async def read_track(client: Client, text: str, name: str = "track") -> TrackFileTree:
    return cast(TrackFileTree, await client.hub.checker.track({"file": name, "text": text}, client.name))


async def write_track(client: Client, **request: Any) -> str:
    return str((await client.hub.checker.track(request, client.name))["text"])


HUB_HANDLERS: dict[str, Callable[..., Awaitable[Any]]] = {
    name: value for name, value in list(globals().items()) if name in OPERATIONS and value.__module__ == __name__
}  # the handlers by the names of their operations
