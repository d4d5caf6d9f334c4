"""Methods about the connection itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError
from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import choices, flag, frame, number, text, vehicles, wants
from paddock.serve.subscribers.roster import roster_tree
from paddock.serve.subscribers.shapes import GrantedRate, Nothing, Pong, Subscribed, WantedNumber
from paddock.serve.subscribers.subscription import (
    KINDS,
    Subscription,
    View,
    Want,
    refuse_too_many,
    refuse_unknown,
    refuse_unknown_columns,
)
from paddock.wire.rpc import INVALID_PARAMS, RpcError

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client

SLOWEST = 0.01
"""Groups per s that may be asked for at least."""


@method(public=True)
async def ping(client: Client) -> Pong:
    """Whether the hub is there, what it knows of the simulation's clock, and what is still being prepared."""
    return {"tick": client.hub.tick, "time": client.hub.time, "preparing": client.hub.mirror.preparing}


@method(text("token", "what the server was started with", longest=4096), public=True)
async def authenticate(client: Client, token: str) -> Nothing:
    """Show the token; any other request may carry it as well, in a field `token`."""
    client.show(token)
    return {}


@method(
    number("rate", "groups per s of wall time at most; null: as many as the server allows", None, low=SLOWEST),
    frame(),
    choices("kinds", "what is sent", KINDS, ("positions",)),
    vehicles(),
    flag("tick", "whether a tick frame (0x10) precedes each group", True),
    wants("columns", "what else of which vehicles goes into frames 0x15 (ENU, SI units)", ()),
)
async def subscribe(client: Client, rate: float | None, **given: Any) -> Subscribed:
    """Be sent frames from now on, instead of what was subscribed before; tells the rate granted and the roster."""
    layout = await client.present_layout()
    wanted = client.next_list()
    view = View(given["frame"], given["kinds"], given["vehicles"], given["tick"], given["columns"], wanted)
    try:
        refuse_unknown(layout, view.vehicles or ())
    except PaddockError as error:
        raise RpcError("value", f"subscribe: 'vehicles': {error}", INVALID_PARAMS) from None
    refuse_too_many(layout, view.columns)
    granted = client.most_groups if rate is None else min(rate, client.most_groups)
    client.subscribe(Subscription(view, granted), layout)
    return {"rate": granted, "ticks_per_second": client.hub.rate, "wanted": wanted, **roster_tree(layout)}


@method(wants("columns", "what else of which vehicles goes into frames 0x15, instead of what did before"))
async def set_columns(client: Client, columns: tuple[Want, ...]) -> WantedNumber:
    """Want other columns; frames that answer this list carry the number that is told."""
    layout = await client.present_layout()
    try:
        refuse_unknown_columns(layout, columns)
    except PaddockError as error:
        raise RpcError("value", f"set_columns: 'columns': {error}", INVALID_PARAMS) from None
    refuse_too_many(layout, columns)
    wanted = client.next_list()
    client.change(view=replace(client.subscribed.view, columns=columns, wanted=wanted))
    return {"wanted": wanted}


@method(number("rate", "groups per s of wall time at most; null: as many as the server allows", None, low=SLOWEST))
async def set_rate(client: Client, rate: float | None) -> GrantedRate:
    """Be sent groups at another rate; tells the rate granted."""
    granted = client.most_groups if rate is None else min(rate, client.most_groups)
    client.change(rate=granted)
    return {"rate": granted}


@method()
async def unsubscribe(client: Client) -> Nothing:
    """Be sent no more frames."""
    if client.subscription is None:
        raise PaddockError("unsubscribe: nothing is subscribed")
    client.unsubscribe()
    return {}
