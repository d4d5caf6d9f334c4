"""The state of a mission at one tick, as local simulations and clients return it, and its form on the wire."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
