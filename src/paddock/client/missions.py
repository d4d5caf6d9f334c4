"""The verbs of a mission that runs elsewhere, for both kinds of client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeVar

from paddock.client.verbs import Verb, nothing, value
from paddock.planning.mission.views import MissionView, view_from
from paddock.wire.messages.replies import Reply
from paddock.wire.messages.requests import Call

T = TypeVar("T")


def _do(method: str, /, **arguments: Any) -> Verb[None]:
    """Something that is asked of the mission. It may be planning: that takes as long as it takes."""
    return Verb(Call(method, arguments), nothing, patient=True)


def _seen(reply: Reply) -> MissionView | None:
    tree = value(reply)
    return None if tree is None else view_from(tree)


VIEW: Verb[MissionView | None] = Verb(Call("mission_view", {}), _seen, patient=True)


class RemoteMission(ABC):
    """What a simulation has for its mission."""

    @abstractmethod
    def _ask(self, verb: Verb[T], keep: bool = False) -> T:
        """Ask and wait."""

    @property
    def mission(self) -> MissionView | None:
        """The mission as it is now: tasks, zones, members, numbers so far; None without one."""
        return self._ask(VIEW)

    def add_task(self, name: str, **fields: Any) -> None:
        """One more task for the mission: the fields of a scenario's task, such as `point={"at": [100, 50]}`."""
        self._ask(_do("add_task", task={"name": name, **fields}))

    def add_zone(self, name: str, **fields: Any) -> None:
        """Nobody of the mission may be there from now on: the fields of a scenario's zone."""
        self._ask(_do("add_zone", zone={"name": name, **fields}))

    def add_vehicle(self, name: str, **fields: Any) -> None:
        """Vehicles join the mission: the fields of a scenario's `vehicles` entry."""
        self._ask(_do("add_vehicle", entry={"name": name, **fields}))

    def damage(self, vehicle: str) -> None:
        """A vehicle of the mission can do nothing more; others take over its tasks."""
        self._ask(_do("damage", vehicle=vehicle))

    def move_task(self, task: str, x: float, y: float) -> None:
        """A task of the mission is to be done elsewhere (m)."""
        self._ask(_do("move_task", name=task, x=x, y=y))

    def remove_task(self, task: str) -> None:
        """A task of the mission need not be done."""
        self._ask(_do("remove_task", name=task))


class AsyncRemoteMission(ABC):
    """The same as coroutines."""

    @abstractmethod
    async def _ask(self, verb: Verb[T]) -> T:
        """Ask and wait."""

    async def mission(self) -> MissionView | None:
        """The mission as it is now: tasks, zones, members, numbers so far; None without one."""
        return await self._ask(VIEW)

    async def add_task(self, name: str, **fields: Any) -> None:
        """One more task for the mission: the fields of a scenario's task."""
        await self._ask(_do("add_task", task={"name": name, **fields}))

    async def add_zone(self, name: str, **fields: Any) -> None:
        """Nobody of the mission may be there from now on: the fields of a scenario's zone."""
        await self._ask(_do("add_zone", zone={"name": name, **fields}))

    async def add_vehicle(self, name: str, **fields: Any) -> None:
        """Vehicles join the mission: the fields of a scenario's `vehicles` entry."""
        await self._ask(_do("add_vehicle", entry={"name": name, **fields}))

    async def damage(self, vehicle: str) -> None:
        """A vehicle of the mission can do nothing more; others take over its tasks."""
        await self._ask(_do("damage", vehicle=vehicle))

    async def move_task(self, task: str, x: float, y: float) -> None:
        """A task of the mission is to be done elsewhere (m)."""
        await self._ask(_do("move_task", name=task, x=x, y=y))

    async def remove_task(self, task: str) -> None:
        """A task of the mission need not be done."""
        await self._ask(_do("remove_task", name=task))
