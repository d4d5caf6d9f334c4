"""A mission as it stands: what is to be done, where nobody may be, and who does it."""

from __future__ import annotations

from typing import Literal, TypedDict

Place = tuple[float, float]
"""x, y in m."""
TaskState = Literal["unassigned", "assigned", "started", "completed", "undone"]
MemberStatus = Literal["idle", "transit", "busy", "damaged", "returning", "home"]


class TaskTree(TypedDict):
    """Something to be done. `move_task` moves x and y; the outline is one point, a line or a closed ring."""

    name: str
    kind: str
    state: TaskState
    x: float
    y: float
    heading: float | None
    outline: list[Place]
    vehicle: str | None
    reason: str


class ZoneTree(TypedDict):
    """Where nobody may be: a closed ring."""

    name: str
    outline: list[Place]


class MemberTree(TypedDict):
    """A vehicle that takes part; metres travelled, and metres it may travel; the tasks that it has still to do."""

    id: int | None
    name: str
    status: MemberStatus
    travelled: float
    range: float | None
    tasks: list[str]


class MissionTree(TypedDict):
    """A mission; its base is x, y, z in m and the heading in rad."""

    tasks: list[TaskTree]
    zones: list[ZoneTree]
    members: list[MemberTree]
    base: list[float]


class PresentMission(TypedDict):
    """The mission, if there is one."""

    mission: MissionTree | None
