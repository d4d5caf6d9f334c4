"""Methods of the connection: token, subscription, rate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paddock.errors import PaddockError
from paddock.serve.subscribers.subscription import (
    ColumnChoice,
    Subscription,
    View,
    refuse_too_many,
    refuse_unknown,
    refuse_unknown_columns,
    roster_tree,
)
from paddock.wire.operations.arguments import ArgumentError, ColumnList
from paddock.wire.operations.results import Empty, Pong, Subscribed

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client


async def ping(client: Client) -> Pong:
    """Answer without a token."""
    return {"tick": client.hub.tick, "time": client.hub.time, "preparing": client.hub.mirror.preparing}


async def authenticate(client: Client, token: str) -> Empty:
    """Check the token; three wrong tokens end the connection."""
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
) -> Subscribed:
    """Subscribe; the first frames follow the answer."""
    layout = await client.layout()
    number = client.next_list()
    wanted = None if vehicles is None else tuple(vehicles)
    view = View(frame, tuple(kinds), wanted, tick, _lists(columns), number)
    try:
        refuse_unknown(layout, view.vehicles or ())
    except PaddockError as error:
        raise ArgumentError("value", f"subscribe: 'vehicles': {error}") from None
    refuse_too_many(layout, view.columns)
    granted = client.endpoint.rate if rate is None else min(rate, client.endpoint.rate)
    client.subscribe(Subscription(view, granted), layout)
    return {"rate": granted, "ticks_per_second": client.hub.rate, "wanted": number, **roster_tree(layout)}


async def set_columns(client: Client, columns: list[ColumnList]) -> int:
    """Set the columns; unknown columns are refused."""
    lists = _lists(columns)
    layout = await client.layout()
    try:
        refuse_unknown_columns(layout, lists)
    except PaddockError as error:
        raise ArgumentError("value", f"set_columns: 'columns': {error}") from None
    refuse_too_many(layout, lists)
    number = client.next_list()
    client.change(view=replace(client.subscribed.view, columns=lists, wanted=number))
    return number


async def set_rate(client: Client, rate: float | None) -> float:
    """Set the rate, up to the server's limit."""
    granted = client.endpoint.rate if rate is None else min(rate, client.endpoint.rate)
    client.change(rate=granted)
    return granted


async def unsubscribe(client: Client) -> Empty:
    """End the subscription; refused without one."""
    if client.subscription is None:
        raise PaddockError("unsubscribe: no subscription")
    client.unsubscribe()
    return {}


def _lists(columns: list[ColumnList]) -> tuple[ColumnChoice, ...]:
    return tuple(ColumnChoice(one.of, tuple(one.columns)) for one in columns)
