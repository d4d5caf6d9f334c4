"""Methods of the connection (token, subscription, rate), and reads of the state, never by the thread that ticks."""

import asyncio
from dataclasses import replace
from functools import cache
from math import isfinite
from typing import Any, cast

import numpy as np

from paddock.errors import PaddockError
from paddock.scenario import preset_names
from paddock.serve.describe import column_trees
from paddock.serve.subscribers import subscription
from paddock.serve.subscribers.client import Client
from paddock.vehicles.model import find_model, model_names
from paddock.wire.operations import results as r
from paddock.wire.operations.arguments import ArgumentError, ColumnList
from paddock.world.frames import conversion
from paddock.world.layout import POSE
from paddock.world.snapshot import ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY, Snapshot, VehicleSnapshot

MOST_STATES = 10_000  # vehicles in one answer; subscribe to more


async def get_state(client: Client, vehicle: str | int, frame: str) -> r.StateTree:
    return await client.read(lambda snapshot: _state(snapshot, snapshot[vehicle], frame))


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
    client.show(token)
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
    return tuple(subscription.ColumnChoice(one.of, tuple(one.columns), one.rate) for one in columns)
