"""Methods about the connection itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paddock.errors import PaddockError
from paddock.serve.endpoints.stream.method import method
from paddock.serve.endpoints.stream.parameters import choices, flag, frame, number, text, vehicles
from paddock.serve.endpoints.stream.roster import roster_tree
from paddock.serve.endpoints.stream.selection import refuse_unknown
from paddock.serve.endpoints.stream.subscription import KINDS, Subscription, View
from paddock.wire.rpc import INVALID_PARAMS, RpcError

if TYPE_CHECKING:
    from paddock.serve.endpoints.stream.client import Client

SLOWEST = 0.01
"""Groups per s that may be asked for at least."""


@method(public=True)
async def ping(client: Client) -> dict[str, Any]:
    """Whether the hub is there, and what it knows of the simulation's clock."""
    return {"tick": client.hub.tick, "time": client.hub.time}


@method(text("token", "what the server was started with", longest=4096), public=True)
async def authenticate(client: Client, token: str) -> dict[str, Any]:
    """Show the token; any other request may carry it as well, in a field `token`."""
    client.show(token)
    return {}


@method(
    number("rate", "groups per s of wall time at most; null: as many as the server allows", None, low=SLOWEST),
    frame(),
    choices("kinds", "what is sent", KINDS, ("positions",)),
    vehicles(),
    flag("tick", "whether a tick frame (0x10) precedes each group", True),
)
async def subscribe(client: Client, rate: float | None, **wanted: Any) -> dict[str, Any]:
    """Be sent frames from now on, instead of what was subscribed before; tells the rate granted and the roster."""
    layout = await client.present_layout()
    view = View(wanted["frame"], wanted["kinds"], wanted["vehicles"], wanted["tick"])
    try:
        refuse_unknown(layout, view.vehicles or ())
    except PaddockError as error:
        raise RpcError("value", f"subscribe: 'vehicles': {error}", INVALID_PARAMS) from None
    granted = client.most_groups if rate is None else min(rate, client.most_groups)
    client.subscribe(Subscription(view, granted), layout)
    return {"rate": granted, "ticks_per_second": client.hub.rate, **roster_tree(layout)}


@method()
async def unsubscribe(client: Client) -> dict[str, Any]:
    """Be sent no more frames."""
    if client.subscription is None:
        raise PaddockError("unsubscribe: nothing is subscribed")
    client.unsubscribe()
    return {}
