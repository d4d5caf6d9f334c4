"""Methods that tell vehicles what to do, and say what they were told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import MOST_ITEMS, MOST_NAMES, Parameter
from paddock.serve.subscribers.roster import ranges
from paddock.serve.subscribers.shapes import Moment, OrdersTree, OrderTree, RoutesTree, RouteTree
from paddock.wire.params import Params
from paddock.world.columns import Floats
from paddock.world.layout import Ints

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client


def _whom() -> Parameter:
    """Vehicles, at least one."""

    def read(params: Params, _: Mapping[str, Any]) -> list[str | int]:
        given = params.items("vehicles", most=MOST_ITEMS)
        if not given or not all(type(item) in (str, int) for item in given):
            params.refuse("'vehicles' must hold names of vehicles or fleets, and ids, at least one")
        if sum(isinstance(item, str) for item in given) > MOST_NAMES:
            params.refuse(f"'vehicles' holds at most {MOST_NAMES} names: give ids, or name a fleet")
        return given

    kind = "list of names and ids"
    return Parameter("vehicles", kind, "who: names of vehicles or fleets, ids", read, types=(list[str | int],))


def _what() -> Parameter:
    """A behaviour as scenarios write it, which the simulation checks."""

    def read(params: Params, members: Mapping[str, Any]) -> Any:
        if "behaviour" not in members:
            params.refuse("'behaviour' is missing: a name, {name: options}, 'external', or null")
        if isinstance(members["behaviour"], dict):
            params.mapping("behaviour")
            return members["behaviour"]
        return params.text("behaviour", None)

    meaning = "a behaviour; `external`: takes commands from now on; null: back to what its entry says"
    return Parameter("behaviour", "null, text, or {name: options}", meaning, read, types=(str | dict[str, Any] | None,))


@method(_whom(), _what())
async def give_order(client: Client, vehicles: list[str | int], behaviour: Any) -> Moment:
    """Tell vehicles to do something else than their entry says."""
    return await client.done("order", target=vehicles, behaviour=behaviour)


@method()
async def get_orders(client: Client) -> OrdersTree:
    """The orders that vehicles follow, with their ids as [first, count]."""
    orders = (await client.request("orders")).result
    return {"orders": [_order(**order) for order in orders]}


@method()
async def get_routes(client: Client) -> RoutesTree:
    """Where vehicles are to go: the paths and points of what they follow, in m east, north and up."""
    routes = (await client.request("routes")).result
    return {"routes": [_route(**route) for route in routes]}


def _order(ids: Ints, behaviour: str, options: dict[str, Any]) -> OrderTree:
    return {"ids": ranges(ids), "behaviour": behaviour, "options": options}


def _route(fleet: str, ids: Ints, behaviour: str, closed: bool, points: Floats) -> RouteTree:
    return {
        "fleet": fleet,
        "ids": ranges(ids),
        "behaviour": behaviour,
        "closed": closed,
        "points": list(map(tuple, points.tolist())),
    }
