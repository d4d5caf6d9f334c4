"""Methods that only look."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from paddock.errors import PaddockError
from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import frame, vehicle, vehicles, whole
from paddock.serve.subscribers.roster import roster_tree
from paddock.serve.subscribers.shapes import EventsTree, FleetStateTree, RosterTree, StatesTree, StateTree
from paddock.serve.subscribers.subscription import NATIVE, refuse_unknown, select
from paddock.wire.rpc import INVALID_PARAMS, RpcError
from paddock.world.frames import conversion
from paddock.world.layout import POSE
from paddock.world.snapshot import ANGULAR_VELOCITY, ORIENTATION, POSITION, VELOCITY, Snapshot

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

MOST_STATES = 10_000
"""Vehicles that one answer holds; whoever wants more subscribes."""


@method(vehicle(), frame())
async def get_state(client: Client, vehicle: str | int, frame: str) -> StateTree:
    """Pose and all other public columns of one vehicle."""
    reply = await client.request("state", vehicle=vehicle)
    tree = reply.result
    pose = np.array([[tree["columns"][name]] for name in POSE])
    moving = {name: values[0] for name, values in _moving(pose, frame).items()}
    others = {name: _plain(value) for name, value in tree["columns"].items() if name not in POSE}
    about = {name: tree[name] for name in ("id", "name", "kind", "model")}
    state: Any = {**about, "tick": reply.tick, "time": reply.time, **moving, "columns": others}
    return cast(StateTree, state)


@method(vehicles(), frame())
async def get_all_states(client: Client, vehicles: tuple[str | int, ...] | None, frame: str) -> StatesTree:
    """The poses of many vehicles, fleet by fleet, up to 10,000 of them."""
    snapshot = await client.present()
    try:
        refuse_unknown(snapshot.layout, vehicles or ())
    except PaddockError as error:
        raise RpcError("value", f"get_all_states: 'vehicles': {error}", INVALID_PARAMS) from None
    selection = select(snapshot.layout, vehicles)
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


@method()
async def get_roster(client: Client) -> RosterTree:
    """Who is there: fleets, with ids and members as [first, count]."""
    return roster_tree(await client.present_layout())


@method(whole("since", "number of the last event known", 0, low=0))
async def get_events(client: Client, since: int) -> EventsTree:
    """What has happened after an event."""
    return {"events": (await client.request("events", since=since)).result}


def _fleet(snapshot: Snapshot, fleet: int, rows: Any, ids: Any, frame: str) -> FleetStateTree:
    layout, block = snapshot.layout.fleets[fleet], snapshot.layout.block(snapshot.buffer, fleet)
    chosen = block if rows is None else block[:, rows]
    about = {"name": layout.name, "kind": layout.kind, "model": layout.model, "ids": ids.tolist()}
    return cast(FleetStateTree, {**about, **_moving(chosen[: len(POSE)], frame)})


def _moving(pose: Any, frame: str) -> dict[str, list[Any]]:
    """Pose columns (13, n) as lists of n, in a frame; null for what is no number."""
    change = conversion(NATIVE, frame)
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
