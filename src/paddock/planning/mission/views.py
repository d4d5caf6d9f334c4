"""What a mission looks like from outside: values of one moment, to read and to keep, here and over the wire."""

from __future__ import annotations

from typing import Any, NamedTuple

from paddock.planning.mission.state import LogEntry
from paddock.world.columns import Floats


class TaskView(NamedTuple):
    """A task."""

    name: str
    kind: str  # point, line, circle, area, polygon
    state: str  # unassigned, assigned, completed, undone
    vehicle: str | None  # who does it, or did it
    doing: bool  # it is being done
    reason: str  # why it is undone
    outline: Floats  # (k, 2) m
    height: float | None  # m


class ZoneView(NamedTuple):
    """A no-fly zone."""

    name: str
    outline: Floats  # (k, 2) m


class MemberView(NamedTuple):
    """A vehicle that takes part."""

    name: str
    status: str  # idle, transit, busy, damaged, returning, home
    task: str | None  # what it is busy with
    ahead: tuple[str, ...]  # tasks still to come
    progress: float  # m flown on its route
    length: float  # m of its route
    travelled: float  # m flown in all, while it was able to


class MissionView(NamedTuple):
    """A mission at one moment."""

    time: float  # s
    tasks: tuple[TaskView, ...]
    zones: tuple[ZoneView, ...]
    members: tuple[MemberView, ...]
    finished: bool
    metrics: dict[str, Any]
    log: tuple[LogEntry, ...]


def tree_of(view: MissionView) -> dict[str, Any]:
    """Plain values and arrays."""
    return {
        **view._asdict(),
        "tasks": [task._asdict() for task in view.tasks],
        "zones": [zone._asdict() for zone in view.zones],
        "members": [member._asdict() for member in view.members],
        "log": list(map(list, view.log)),
    }


def view_from(tree: dict[str, Any]) -> MissionView:
    """The inverse of `tree_of`, however lists and tuples were carried."""
    members = (MemberView(**{**member, "ahead": tuple(member["ahead"])}) for member in tree["members"])
    return MissionView(
        tree["time"],
        tuple(TaskView(**task) for task in tree["tasks"]),
        tuple(ZoneView(**zone) for zone in tree["zones"]),
        tuple(members),
        tree["finished"],
        dict(tree["metrics"]),
        tuple(LogEntry(*entry) for entry in tree["log"]),
    )
