"""The state of a mission at one tick: what local simulations and clients return, and what pages show."""

from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Place = tuple[float, float]  # x, y in m


class LogEntry(NamedTuple):
    """An event of a mission."""

    time: float  # s
    kind: str  # of the entry: planned, assigned, started, completed, undone, state, task, damage, zone, ...
    vehicle: str | None = None  # the vehicle it concerns
    task: str | None = None  # the task it concerns
    detail: str = ""  # a state, a reason or an amount
    travelled: float | None = None  # m that the vehicle had flown by then


class TaskView(NamedTuple):
    """A task."""

    name: str
    kind: str  # point, line, circle, area, polygon
    state: str  # unassigned, assigned, completed, undone
    vehicle: str | None  # assigned to, or done by
    doing: bool  # in progress
    reason: str  # why it is undone
    outline: Floats  # (k, 2) m
    height: float | None  # m


class ZoneView(NamedTuple):
    """A no-fly zone."""

    name: str
    outline: Floats  # (k, 2) m
    floor: float | None = None  # m; None: from the ground
    ceiling: float | None = None  # m; None: unlimited


class VehicleView(NamedTuple):
    """A vehicle that takes part."""

    name: str
    status: str  # idle, transit, busy, damaged, returning, home, diverted, missing
    task: str | None  # the task in progress
    ahead: tuple[str, ...]  # remaining tasks
    progress: float  # m flown on its route
    length: float  # m of its route
    travelled: float  # m flown in total, before any damage
    contact: bool = True  # its reports arrive


class MissionView(NamedTuple):
    """The state of a mission at one tick."""

    time: float  # s
    tasks: tuple[TaskView, ...]
    zones: tuple[ZoneView, ...]
    vehicles: tuple[VehicleView, ...]
    finished: bool
    metrics: dict[str, Any]
    log: tuple[LogEntry, ...]


TaskState = Literal["unassigned", "assigned", "started", "completed", "undone"]
MemberStatus = Literal["idle", "transit", "busy", "damaged", "returning", "home", "diverted", "missing"]


class TaskTree(TypedDict):
    """A task. `move_task` sets x and y; the outline is a point, a line or a closed ring."""

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
    """A no-fly zone: a closed ring, its floor and its ceiling in m."""

    name: str
    outline: list[Place]
    floor: float | None
    ceiling: float | None


class MemberTree(TypedDict):
    """A vehicle of the mission: m travelled, range in m, and the tasks ahead."""

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
