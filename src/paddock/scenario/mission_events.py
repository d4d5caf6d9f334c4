"""What happens during a mission: new tasks, damage, more vehicles, new zones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from paddock.scenario.base import NotNegative, Section, Text, trouble
from paddock.scenario.marks import KeyPath
from paddock.scenario.mission_tasks import NoFlyZone, Task, numbered, one_of
from paddock.scenario.vehicle import VehicleEntry

EVENTS = ("task", "damage", "vehicle", "zone")
_MEMBER = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)(?:\[([0-9]{1,10})\])?")


def member(target: str) -> tuple[str, int | None]:
    """`uav[1]` -> the name of the entry and the member's number; None for the entry as a whole."""
    found = _MEMBER.fullmatch(target)
    if found is None:
        raise ValueError(f"a vehicle is written name or name[number], e.g. uav[1], not {target!r:.60}")
    return found[1], None if found[2] is None else int(found[2])


def _target(target: str) -> str:
    try:
        member(target)
    except ValueError as error:
        raise trouble(str(error)) from None
    return target


class MissionEvent(Section):
    """Something that happens at a time; of exactly one kind."""

    at: NotNegative = Field(description="When, in s of simulated time.")
    task: Task | None = Field(default=None, description="A new task.")
    damage: Annotated[Text, AfterValidator(_target)] | None = Field(
        default=None, description="Who fails for good: a vehicle such as uav[1], or all of an entry."
    )
    vehicle: VehicleEntry | None = Field(
        default=None, description="An entry of vehicles that joins; by default called added_ and its place in the list."
    )
    zone: NoFlyZone | None = Field(default=None, description="A new no-fly zone.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        one_of(self, EVENTS, "an event")
        return self

    @property
    def kind(self) -> str:
        """What happens: task, damage, vehicle or zone."""
        return one_of(self, EVENTS, "an event")


Events = tuple[MissionEvent, ...]
Named = TypeVar("Named", Task, NoFlyZone)


def with_names(items: tuple[Named, ...], field: str, prefix: str) -> tuple[Named, ...]:
    """Check that names differ, and give default ones to items that have none."""
    check_different(((item.name, (k, "name")) for k, item in enumerate(items)), {}, ("mission", field))
    default = numbered(prefix, {item.name for item in items})
    return tuple(item if item.name else item.model_copy(update={"name": default(k)}) for k, item in enumerate(items))


def check_different(
    names: Iterator[tuple[str, KeyPath]], first: dict[str, KeyPath], where: KeyPath, at: KeyPath = ()
) -> None:
    """Refuse a name that is used twice; `first` says where names were first used and is added to."""
    for name, place in names:
        if name in first:
            raise trouble(f"name {name!r} is already used at {{other}}", (*at, *place), first[name])
        if name:
            first[name] = (*where, *place)


def named_events(events: Events, tasks: tuple[Task, ...], zones: tuple[NoFlyZone, ...]) -> Events:
    """Events whose tasks, zones and vehicles have names that differ from all others."""
    events = _named(events, "task", {t.name: ("mission", "tasks", k, "name") for k, t in enumerate(tasks)}, "task")
    events = _named(events, "zone", {z.name: ("mission", "zones", k, "name") for k, z in enumerate(zones)}, "zone")
    return _named(events, "vehicle", {}, "added")


def _named(events: Events, kind: str, first: dict[str, KeyPath], prefix: str) -> Events:
    """Name what events of one kind bring; numbers go on behind those of the list, a vehicle's is the event's own."""
    count = len(first)
    brought = [(k, found) for k, event in enumerate(events) if (found := getattr(event, kind)) is not None]
    check_different(((found.name, (k, kind, "name")) for k, found in brought), first, ("mission", "events"))
    default = numbered(prefix, set(first))
    result = list(events)
    for number, (k, found) in enumerate(brought):
        if not found.name:
            name = default(k if kind == "vehicle" else count + number)
            result[k] = events[k].model_copy(update={kind: found.model_copy(update={"name": name})})
    return tuple(result)
