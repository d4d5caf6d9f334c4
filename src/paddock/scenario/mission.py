"""The mission: what a fleet has to do, who takes part, and how it is planned and flown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import cos, sin
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from paddock.errors import suggestion
from paddock.scenario.base import (
    Method,
    MethodChoice,
    NotNegative,
    Number,
    Positive,
    Section,
    Text,
    Vector2,
    Whole,
    trouble,
)
from paddock.scenario.problems import KeyPath
from paddock.scenario.tasks import FARTHEST, NoFlyZone, Task, numbered, one_of
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


MOST_DRAWN = 100_000
UAVS, APART, AIRSPEED = 4, 60.0, 17.5
"""The fleet of a mission that names none: how many, m between neighbours, m/s."""


class Separation(Section):
    """How far apart aircraft stay: either is enough."""

    distance: Positive = Field(default=50.0, description="Level distance, in m.")
    height: NotNegative = Field(default=20.0, description="Difference in height, in m.")


class Mix(Section):
    """Relative shares of the kinds of tasks; a kind that is not named is not drawn."""

    point: NotNegative = Field(default=0.0, le=1e6, description="Share of points (no unit).")
    line: NotNegative = Field(default=0.0, le=1e6, description="Share of lines (no unit).")
    circle: NotNegative = Field(default=0.0, le=1e6, description="Share of circles (no unit).")
    area: NotNegative = Field(default=0.0, le=1e6, description="Share of areas (no unit).")

    @model_validator(mode="after")
    def _has_some(self) -> Self:
        if self.point + self.line + self.circle + self.area <= 0:
            raise trouble("a mix needs a share above 0")
        return self


def _has_extent(area: tuple[float, float]) -> tuple[float, float]:
    if not all(0 < side <= FARTHEST for side in area):
        raise trouble(f"an area's sides are above 0 and at most {FARTHEST:g} m, not {list(area)}")
    return area


class Generate(Section):
    """Tasks drawn from the scenario's seed: uniformly in a rectangle centred on the base."""

    tasks: Whole = Field(default=20, ge=0, le=MOST_DRAWN, description="How many.")
    area: Annotated[Vector2, AfterValidator(_has_extent)] = Field(
        default=(2500.0, 2500.0), description="Sides of the rectangle [east, north], in m; the base is its centre."
    )
    mix: Mix = Field(
        default=Mix(point=0.6, line=0.2, circle=0.1, area=0.1), description="Shares of the kinds of tasks."
    )
    headings: NotNegative = Field(
        default=0.3, le=1, description="Share of the points whose heading matters (no unit); of other kinds all do."
    )


def _has_heading(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) not in (3, 4):
        raise PydanticCustomError("form", "{form}", {"form": "[x, y, heading] or [x, y, z, heading]"})
    return value


def _in_reach(base: tuple[float, ...]) -> tuple[float, ...]:
    if not all(abs(number) <= FARTHEST for number in base[:-1]):
        raise trouble(f"a base lies within {FARTHEST:g} m of the origin")
    return base


Base = Annotated[
    tuple[Number, ...], Field(min_length=3, max_length=4), BeforeValidator(_has_heading), AfterValidator(_in_reach)
]


class Mission(Section):
    """What a fleet has to do. Without vehicles, four fixed_wing called uav do it."""

    base: Base = Field(
        default=(0.0, 0.0, 0.0),
        description="Where vehicles return to: [x, y, heading] or [x, y, z, heading], in m and rad.",
    )
    members: tuple[Text, ...] | None = Field(
        default=None, description="Names of the entries of vehicles that take part; null is all."
    )
    altitude: Number = Field(
        default=100.0,
        ge=-FARTHEST,
        le=FARTHEST,
        description="Height of tasks, and of the ways between them, for vehicles that fly, in m.",
    )
    speed: Positive | None = Field(default=None, le=1e4, description="Cruise speed, in m/s; null is the model's own.")
    turn_radius: NotNegative | None = Field(
        default=None, le=FARTHEST, description="Radius of planned turns, in m; null is 1.25 x the model's tightest."
    )
    range: Positive | None = Field(
        default=20_000.0, description="How far each vehicle may go, return included, in m; null is no limit."
    )
    reserve: NotNegative = Field(default=0.0, description="Part of the range that is kept, in m.")
    battery_reserve: NotNegative = Field(
        default=0.2, le=1, description="Share of the charge at which a vehicle with a battery goes home (no unit)."
    )
    separation: Separation | None = Field(
        default=Separation(), description="How far apart aircraft stay; null keeps none."
    )
    clearance: NotNegative = Field(
        default=10.0, le=FARTHEST, description="Kept from no-fly zones by planned ways, where there is room, in m."
    )
    execute: Literal["dynamics", "kinematic"] = Field(
        default="dynamics",
        description="How it is flown: dynamics has the vehicle's own model track the path, kinematic is exactly on it.",
    )
    method: Method = Field(
        default=MethodChoice(name="clustered_greedy"),
        description="How tasks are given out and put in order: a name, or {name: {options}}.",
    )
    objective: Literal["total", "makespan"] = Field(
        default="total", description="What is made small: the sum of all ways, or the time until all are back."
    )
    replan: Annotated[bool, Field(strict=True)] = Field(default=True, description="Whether events change the plan.")
    tasks: tuple[Task, ...] = Field(default=(), description="What has to be done; the list may be empty.")
    zones: tuple[NoFlyZone, ...] = Field(default=(), description="Where nobody may be.")
    events: tuple[MissionEvent, ...] = Field(default=(), description="What happens on the way.")
    generate: Generate | None = Field(default=None, description="More tasks, drawn from the seed.")

    @field_validator("tasks", mode="after")
    @classmethod
    def _tasks_named(cls, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
        return with_names(tasks, "tasks", "task")

    @field_validator("zones", mode="after")
    @classmethod
    def _zones_named(cls, zones: tuple[NoFlyZone, ...]) -> tuple[NoFlyZone, ...]:
        return with_names(zones, "zones", "zone")

    @field_validator("events", mode="after")
    @classmethod
    def _events_named(cls, events: tuple[MissionEvent, ...], info: ValidationInfo) -> tuple[MissionEvent, ...]:
        return named_events(events, info.data.get("tasks", ()), info.data.get("zones", ()))

    @model_validator(mode="after")
    def _some_range(self) -> Self:
        if self.range is not None and self.reserve >= self.range:
            raise trouble(f"a reserve of {self.reserve:g} m leaves nothing of {self.range:g} m", ("reserve",))
        return self

    @model_serializer(mode="wrap")
    def _with_nulls(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keep a null that is not the default, which `exclude_none` would make into the default."""
        plain: dict[str, Any] = handler(self)
        nulls = [name for name in ("range", "separation") if getattr(self, name) is None]
        return plain | dict.fromkeys(nulls)


def default_fleet(written: Any) -> list[VehicleEntry]:
    """The fleet of a mission that names no vehicles: side by side across the base, facing its heading.

    Nobody for a mission that is not valid, which has problems of its own to tell.
    """
    written = written.model_dump() if isinstance(written, Mission) else written
    try:
        needed = {key: written[key] for key in ("base", "altitude", "speed") if key in written}
        mission = Mission.model_validate(needed)
    except (TypeError, ValidationError):
        return []
    return [VehicleEntry.model_validate(fleet_entry(mission, UAVS))]


def fleet_entry(mission: Mission, count: int) -> dict[str, Any]:
    """An entry of `vehicles`: so many aircraft called uav, in a line across the base."""
    x, y, heading = mission.base[0], mission.base[1], mission.base[-1]
    half = 0.5 * APART * (count - 1)
    east, north = -sin(heading) * half, cos(heading) * half
    ends = [[round(x + s * east, 6), round(y + s * north, 6), mission.altitude] for s in (-1.0, 1.0)]
    line = {"start": ends[0], "end": ends[1], "heading": heading}
    speed = AIRSPEED if mission.speed is None else mission.speed
    return {"name": "uav", "count": count, "model": "fixed_wing", "spawn": {"line": line}, "speed": speed}


def check_cast(mission: Mission, vehicles: tuple[VehicleEntry, ...]) -> None:
    """Refuse members and damage that name nobody, and vehicles of events whose names are taken."""
    known = {entry.name: entry.count for entry in vehicles}
    for k, name in enumerate(mission.members or ()):
        if name not in known:
            raise trouble(f"unknown vehicle {name!r}; {suggestion(name, known)}", ("mission", "members", k))
    taking_part = {name: known[name] for name in (known if mission.members is None else mission.members)}
    first = {entry.name: ("vehicles", k, "name") for k, entry in enumerate(vehicles)}
    joining = [(k, event.vehicle) for k, event in enumerate(mission.events) if event.vehicle is not None]
    where = ("mission", "events")
    check_different(((entry.name, (k, "vehicle", "name")) for k, entry in joining), dict(first), where, where)
    _check_ids(vehicles, joining)
    taking_part |= {entry.name: entry.count for _, entry in joining}
    for k, event in enumerate(mission.events):
        if event.damage is not None:
            _check_target(event.damage, taking_part, ("mission", "events", k, "damage"))


def _check_ids(vehicles: tuple[VehicleEntry, ...], joining: list[tuple[int, VehicleEntry]]) -> None:
    """Refuse ids of joining vehicles that others have."""
    taken = [(entry.id, entry.id + entry.count) for entry in vehicles if entry.id is not None]
    for k, entry in joining:
        if entry.id is None:
            continue
        if any(entry.id < end and start < entry.id + entry.count for start, end in taken):
            raise trouble(f"id {entry.id} is already used", ("mission", "events", k, "vehicle", "id"))
        taken.append((entry.id, entry.id + entry.count))


def _check_target(target: str, counts: dict[str, int], at: tuple[str | int, ...]) -> None:
    name, number = member(target)
    if name not in counts:
        raise trouble(f"unknown vehicle {name!r} in the mission; {suggestion(name, counts)}", at)
    if number is not None and number >= counts[name]:
        only = "there is one, without a number" if counts[name] == 1 else f"the last is {name}[{counts[name] - 1}]"
        raise trouble(f"there is no {target}: {only}", at)
