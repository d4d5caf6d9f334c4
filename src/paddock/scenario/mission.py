"""The section `mission`: tasks, zones and events of a fleet, and how the mission is planned and flown."""

import re
from collections.abc import Iterator
from math import cos, sin
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from paddock.errors import suggestion
from paddock.scenario.base import (
    Flag,
    Method,
    MethodChoice,
    NotNegative,
    Number,
    OneOf,
    Positive,
    Section,
    Text,
    Vector2,
    Whole,
    has_length,
    invalid,
)
from paddock.scenario.problems import KeyPath
from paddock.scenario.radio import RadioSection
from paddock.scenario.tasks import FARTHEST, NoFlyZone, TaskEntry, numbered
from paddock.scenario.vehicle import VehicleEntry
from paddock.scenario.via import MissionVia, via_problem

EVENTS = ("task", "damage", "vehicle", "zone", "remove_zone")
MOST_DRAWN = 100_000
UAVS, APART, AIRSPEED = 4, 60.0, 17.5  # the default fleet of a mission: number of vehicles, m between neighbours, m/s
_MEMBER = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]*)(?:\[([0-9]{1,10})\])?")


def _checked_target(target: str) -> str:
    if _MEMBER.fullmatch(target) is None:
        raise invalid(f"a vehicle is written name or name[number], e.g. uav[1], not {target!r:.60}")
    return target


class MissionEvent(OneOf):
    """An event at a given time; of exactly one kind."""

    ONE_OF = ("an event", EVENTS)
    at: NotNegative = Field(description="When it happens, in s of simulated time.")
    task: TaskEntry | None = Field(default=None, description="A new task.")
    damage: Annotated[Text, AfterValidator(_checked_target)] | None = Field(
        default=None, description="What fails permanently: a vehicle such as uav[1], or a whole entry."
    )
    vehicle: VehicleEntry | None = Field(
        default=None, description="An entry of vehicles that joins; by default named added_0, added_1, ..."
    )
    zone: NoFlyZone | None = Field(default=None, description="A new no-fly zone.")
    remove_zone: Text | None = Field(default=None, description="The name of a no-fly zone that is open again.")


class SeparationSection(Section):
    """Minimum distance between aircraft; either one is enough."""

    distance: Positive = Field(default=50.0, description="Horizontal distance, in m.")
    height: NotNegative = Field(default=20.0, description="Difference in height, in m.")
    layers: Literal["planned", "in_turn"] = Field(
        default="planned",
        description="Height layers: planned, where routes would meet; in_turn, by number and only in flight.",
    )


class TaskMix(Section):
    """Relative shares of the kinds of tasks; a kind without a share is not drawn."""

    point: NotNegative = Field(default=0.0, le=1e6, description="Share of points (no unit).")
    line: NotNegative = Field(default=0.0, le=1e6, description="Share of lines (no unit).")
    circle: NotNegative = Field(default=0.0, le=1e6, description="Share of circles (no unit).")
    area: NotNegative = Field(default=0.0, le=1e6, description="Share of areas (no unit).")

    @model_validator(mode="after")
    def _has_some(self) -> Self:
        if self.point + self.line + self.circle + self.area <= 0:
            raise invalid("a mix needs a share above 0")
        return self


def _has_extent(area: tuple[float, float]) -> tuple[float, float]:
    if not all(0 < side <= FARTHEST for side in area):
        raise invalid(f"an area's sides must be above 0 and at most {FARTHEST:g} m, not {list(area)}")
    return area


class Generate(Section):
    """Tasks drawn from the scenario's seed: uniform in a rectangle centred on the base."""

    tasks: Whole = Field(default=20, ge=0, le=MOST_DRAWN, description="Number of tasks.")
    area: Annotated[Vector2, AfterValidator(_has_extent)] = Field(
        default=(2500.0, 2500.0), description="Sides of the rectangle [east, north], in m; the base is its centre."
    )
    mix: TaskMix = Field(default=TaskMix(point=0.6, line=0.2, circle=0.1, area=0.1), description="Shares of the kinds.")
    headings: NotNegative = Field(default=0.3, le=1, description="Share of the points that have a heading (no unit).")


def _in_reach(base: tuple[float, ...]) -> tuple[float, ...]:
    if not all(abs(number) <= FARTHEST for number in base[:-1]):
        raise invalid(f"a base must be within {FARTHEST:g} m of the origin")
    return base


Base = Annotated[
    tuple[Number, ...],
    Field(min_length=3, max_length=4),
    has_length(3, 4, form="[x, y, heading] or [x, y, z, heading]"),
    AfterValidator(_in_reach),
]


class MissionSection(Section):
    """A mission for a fleet. Without vehicles, four fixed_wing named uav fly it."""

    base: Base = Field(
        default=(0.0, 0.0, 0.0), description="Home: [x, y, heading] or [x, y, z, heading], in m and rad."
    )
    members: tuple[Text, ...] | None = Field(
        default=None, description="Entries of vehicles that take part; null is all."
    )
    altitude: Number = Field(
        default=100.0,
        ge=-FARTHEST,
        le=FARTHEST,
        description="Height of tasks, and of the routes between them, for vehicles that fly, in m.",
    )
    speed: Positive | None = Field(default=None, le=1e4, description="Cruise speed, in m/s; null is the model's own.")
    turn_radius: NotNegative | None = Field(
        default=None, le=FARTHEST, description="Radius of planned turns, in m; null is 1.25 x the model's tightest."
    )
    range: Positive | None = Field(
        default=20_000.0, description="Maximum distance, return included, in m; null is no limit."
    )
    reserve: NotNegative = Field(default=0.0, description="Part of the range that is not planned, in m.")
    battery_reserve: NotNegative = Field(
        default=0.2, le=1, description="Battery charge at which a vehicle returns, 0 to 1."
    )
    separation: SeparationSection | None = Field(
        default=SeparationSection(), description="Distance between aircraft; null is none."
    )
    clearance: NotNegative = Field(default=10.0, le=FARTHEST, description="Distance of routes from no-fly zones, in m.")
    execute: Literal["dynamics", "kinematic"] = Field(
        default="dynamics",
        description="Execution: dynamics has the vehicle's own model track the path, kinematic stays exactly on it.",
    )
    method: Method = Field(
        default=MethodChoice(name="local_search"),
        description="The method that assigns and orders tasks: a name, or {name: {options}}.",
    )
    objective: Literal["total", "makespan"] = Field(
        default="total", description="What is minimised: the total distance, or the time until all have returned."
    )
    replan: Flag = Field(default=True, description="Whether events change the plan.")
    via: MissionVia | None = Field(
        default=None,
        description="radio: reports of vehicles and their routes go over the radio, with options; null: they always "
        "arrive.",
    )
    tasks: tuple[TaskEntry, ...] = Field(default=(), description="The tasks; the list may be empty.")
    zones: tuple[NoFlyZone, ...] = Field(default=(), description="No-fly zones.")
    obstacle_margin: NotNegative | None = Field(
        default=None,
        le=FARTHEST,
        description="Make a no-fly zone of every obstacle of the world, larger by this on all sides, in m; null: none.",
    )
    ground_clearance: NotNegative | None = Field(
        default=None,
        le=FARTHEST,
        description="Refuse a plan whose routes come nearer to uneven ground, in m; null: do not check.",
    )
    events: tuple[MissionEvent, ...] = Field(default=(), description="Events during the mission.")
    generate: Generate | None = Field(default=None, description="More tasks, drawn from the seed.")

    @field_validator("tasks", "zones", mode="after")
    @classmethod
    def _named(cls, items: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        """Check that names differ, and give default names to items without one."""
        field = info.field_name or ""
        check_different(((item.name, (k, "name")) for k, item in enumerate(items)), {}, ("mission", field))
        prefix, names = field.removesuffix("s"), {item.name for item in items}
        return tuple(
            item if item.name else item.model_copy(update={"name": numbered(prefix, k, names)})
            for k, item in enumerate(items)
        )

    @field_validator("events", mode="after")
    @classmethod
    def _events_named(cls, events: tuple[MissionEvent, ...], info: ValidationInfo) -> tuple[MissionEvent, ...]:
        for kind in ("task", "zone"):
            listed = info.data.get(f"{kind}s", ())
            first: dict[str, KeyPath] = {item.name: ("mission", f"{kind}s", k, "name") for k, item in enumerate(listed)}
            events = _named_events(events, kind, first, kind)
        return _named_events(events, "vehicle", {}, "added")

    @model_validator(mode="after")
    def _some_range(self) -> Self:
        if self.range is not None and self.reserve >= self.range:
            raise invalid(f"a reserve of {self.reserve:g} m leaves nothing of {self.range:g} m", ("reserve",))
        return self

    @model_serializer(mode="wrap")
    def _with_nulls(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keep a null that differs from the default, which `exclude_none` would drop."""
        plain: dict[str, Any] = handler(self)
        nulls = [name for name in ("range", "separation") if getattr(self, name) is None]
        return plain | dict.fromkeys(nulls)


Events = tuple[MissionEvent, ...]


def check_different(
    names: Iterator[tuple[str, KeyPath]], first: dict[str, KeyPath], where: KeyPath, at: KeyPath = ()
) -> None:
    """Reject a name that is used twice; `first` maps names to their first use and is extended."""
    for name, path in names:
        if name in first:
            raise invalid(f"name {name!r} is already used at {{other}}", (*at, *path), first[name])
        if name:
            first[name] = (*where, *path)


def _named_events(events: Events, kind: str, first: dict[str, KeyPath], prefix: str) -> Events:
    """Name the items that events add; numbers continue those of the list, a vehicle's is its event's."""
    count = len(first)
    added = [(k, added_event) for k, event in enumerate(events) if (added_event := getattr(event, kind)) is not None]
    check_different(((added_event.name, (k, kind, "name")) for k, added_event in added), first, ("mission", "events"))
    result = list(events)
    for number, (k, added_event) in enumerate(added):
        if not added_event.name:
            name = numbered(prefix, k if kind == "vehicle" else count + number, first)
            result[k] = events[k].model_copy(update={kind: added_event.model_copy(update={"name": name})})
    return tuple(result)


def default_fleet(written: Any) -> list[VehicleEntry]:
    """Return the default fleet of a mission without vehicles; empty for an invalid mission, reported elsewhere."""
    written = written.model_dump() if isinstance(written, MissionSection) else written
    try:
        needed = {key: written[key] for key in ("base", "altitude", "speed") if key in written}
        mission = MissionSection.model_validate(needed)
    except (TypeError, ValidationError):
        return []
    return [VehicleEntry.model_validate(fleet_entry(mission, UAVS))]


def fleet_entry(mission: MissionSection, count: int) -> dict[str, Any]:
    """Return an entry of `vehicles`: `count` aircraft named uav, side by side across the base, along its heading."""
    x, y, heading = mission.base[0], mission.base[1], mission.base[-1]
    half = 0.5 * APART * (count - 1)
    east, north = -sin(heading) * half, cos(heading) * half
    # rounded, so that they do not depend on the last bits of sin and cos
    ends = [[round(x + s * east, 6), round(y + s * north, 6), mission.altitude] for s in (-1.0, 1.0)]
    line = {"start": ends[0], "end": ends[1], "heading": heading}
    speed = AIRSPEED if mission.speed is None else mission.speed
    return {"name": "uav", "count": count, "model": "fixed_wing", "spawn": {"line": line}, "speed": speed}


def check_fleet(mission: MissionSection, vehicles: tuple[VehicleEntry, ...]) -> None:
    """Reject members and damage that name no vehicle, and vehicles of events whose names or ids are taken."""
    counts = {entry.name: entry.count for entry in vehicles}
    for k, name in enumerate(mission.members or ()):
        if name not in counts:
            raise invalid(f"unknown vehicle {name!r}; {suggestion(name, counts)}", ("mission", "members", k))
    taking_part = {name: counts[name] for name in (counts if mission.members is None else mission.members)}
    first: dict[str, KeyPath] = {entry.name: ("vehicles", k, "name") for k, entry in enumerate(vehicles)}
    joining = [(k, event.vehicle) for k, event in enumerate(mission.events) if event.vehicle is not None]
    where = ("mission", "events")
    check_different(((entry.name, (k, "vehicle", "name")) for k, entry in joining), first, where, where)
    _check_ids(vehicles, joining)
    taking_part |= {entry.name: entry.count for _, entry in joining}
    for k, event in enumerate(mission.events):
        if event.damage is not None:
            _check_damage(event.damage, taking_part, (*where, k, "damage"))


def check_mission_via(
    mission: MissionSection, vehicles: tuple[VehicleEntry, ...], section: RadioSection | None
) -> None:
    """Reject a mission over radio whose vehicles or station have no radio, or whose vehicles are placed on routes."""
    assert mission.via is not None
    if mission.execute == "kinematic":
        raise invalid("a mission over radio needs `execute: dynamics`", ("mission", "via"))
    members = {entry.name for entry in vehicles} if mission.members is None else set(mission.members)
    joining = [event.vehicle for event in mission.events if event.vehicle is not None]
    for entry in (*(vehicle for vehicle in vehicles if vehicle.name in members), *joining):
        problem, station = via_problem(
            mission.via, section, entry.radio, [vehicle.radio for vehicle in (*vehicles, *joining)]
        )
        if problem:
            named = problem.replace("its vehicles have", f"{entry.name!r} has").replace("their entry", "its entry")
            named = named.replace("its vehicles", repr(entry.name))
            raise invalid(named, ("mission", "via", "radio") if station else ("mission", "via"))


def _check_ids(vehicles: tuple[VehicleEntry, ...], joining: list[tuple[int, VehicleEntry]]) -> None:
    """Reject ids of joining vehicles that are already used."""
    ranges = [(entry.id, entry.id + entry.count) for entry in vehicles if entry.id is not None]
    for k, entry in joining:
        if entry.id is None:
            continue
        if any(entry.id < end and start < entry.id + entry.count for start, end in ranges):
            raise invalid(f"id {entry.id} is already used", ("mission", "events", k, "vehicle", "id"))
        ranges.append((entry.id, entry.id + entry.count))


def _check_damage(target: str, counts: dict[str, int], at: KeyPath) -> None:
    name, bracket, number = target.removesuffix("]").partition("[")
    if name not in counts:
        raise invalid(f"unknown vehicle {name!r} in the mission; {suggestion(name, counts)}", at)
    if bracket and int(number) >= counts[name]:
        only = f"{name!r} is a single vehicle" if counts[name] == 1 else f"the last is {name}[{counts[name] - 1}]"
        raise invalid(f"unknown vehicle {target!r}: {only}", at)
