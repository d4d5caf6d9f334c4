"""Methods that look at the mission and change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paddock.serve.subscribers.method import method
from paddock.serve.subscribers.parameters import Parameter, number, text, vehicle
from paddock.serve.subscribers.shapes import Moment, PresentMission
from paddock.wire.params import Params

if TYPE_CHECKING:
    from paddock.serve.subscribers.client import Client


def _section(name: str, meaning: str) -> Parameter:
    """An object as scenarios write it, which the simulation checks."""

    def read(params: Params, members: Mapping[str, Any]) -> Any:
        params.mapping(name)
        return members[name]

    return Parameter(name, "object", meaning, read, types=(dict[str, Any],))


@method()
async def get_mission(client: Client) -> PresentMission:
    """The mission as it stands, in m east and north; null where there is none."""
    return {"mission": (await client.request("mission")).result}


@method(_section("task", "one more task, as in a scenario's mission.tasks"))
async def add_task(client: Client, task: dict[str, Any]) -> Moment:
    """Have one more task done."""
    return await client.done("add_task", task=task)


@method(text("name", "the task"), number("x", "where it is from now on, m east"), number("y", "m north"))
async def move_task(client: Client, name: str, x: float, y: float) -> Moment:
    """Have a task done elsewhere."""
    return await client.done("move_task", name=name, x=x, y=y)


@method(text("name", "the task"))
async def remove_task(client: Client, name: str) -> Moment:
    """Have a task not done."""
    return await client.done("remove_task", name=name)


@method(_section("zone", "where nobody may be from now on, as in a scenario's mission.zones"))
async def add_zone(client: Client, zone: dict[str, Any]) -> Moment:
    """Close one more zone."""
    return await client.done("add_zone", zone=zone)


@method(vehicle())
async def damage_vehicle(client: Client, vehicle: str | int) -> Moment:
    """Let a vehicle fail for good: it does no more tasks."""
    return await client.done("damage", vehicle=vehicle)
