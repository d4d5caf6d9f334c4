"""The input of the planner: vehicles, tasks, zones and wind in local metres, independent of scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Any, Literal, NamedTuple

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Pose
from paddock.planning.geometry.shapes import Entry, TaskShape
from paddock.planning.geometry.zones import Zone

Moves = Literal["aircraft", "hover", "ground"]
"""Aircraft cannot stop; vehicles that hover or drive wait in place."""
Objective = Literal["total", "makespan"]


@dataclass(frozen=True)
class Vehicle:
    """A vehicle for the planner: where and when it is free, and its limits."""

    name: str
    pose: Pose  # where it is free
    home: Pose  # where it returns to
    speed: float  # m/s through the air
    radius: float  # m, of its planned turns; 0: it turns on the spot
    range: float = inf  # remaining m flown
    slope: float = inf  # maximum m up per m along
    moves: Moves = "aircraft"
    reverse: bool = False  # may drive backwards
    ready: float = 0.0  # s: when it is free
    height: float | None = None  # m, travel height; None: that of its pose
    under_way: bool = False  # under way: returns home even without tasks
    aloft: bool = False  # an aircraft that starts in the air: it waits in circles even before departure
    tightest: float | None = None  # m, radius of its tightest turn through the air; None: as planned
    lift: float = 0.0  # m by which the plan has raised it to its layer
    departs: float = 0.0  # s: until then the plan lets it wait where it is free, as it would meet another vehicle

    @property
    def travels_at(self) -> float:
        """The height (m) at which it travels."""
        return self.pose[2] if self.height is None else self.height


@dataclass(frozen=True)
class Task:
    """A task, done once by one vehicle."""

    name: str
    shape: TaskShape
    z: float | None = None  # m; None: at the vehicle's own height
    opens: float = 0.0  # s: earliest start
    closes: float = inf  # s: latest start
    heading: float | None = None  # rad: chosen by a plan for a shape with a free heading

    @property
    def entry(self) -> Entry:
        """Its start; with the heading chosen by a plan if that of the shape is free."""
        x, y, heading = self.shape.entry
        return Entry(x, y, self.heading if heading is None else heading)


class Separation(NamedTuple):
    """The least distance between aircraft; either one is enough."""

    distance: float  # m across
    height: float  # m up
    spread: bool = False  # a layer for each, as far as there are layers: real vehicles keep to no timetable


@dataclass(frozen=True)
class Problem:
    """A planning problem."""

    vehicles: tuple[Vehicle, ...]
    tasks: tuple[Task, ...]
    zones: tuple[Zone, ...] = ()
    wind: tuple[float, float] = (0.0, 0.0)  # m/s east, north: where the air moves to
    objective: Objective = "total"
    seed: int = 0
    clearance: float = 0.0  # m of clearance from zones, where there is room
    separation: Separation | None = None  # kept by routes; None: routes may meet

    def __post_init__(self) -> None:
        """Raise for impossible vehicles and duplicate names."""
        _check_names("vehicle", (vehicle.name for vehicle in self.vehicles))
        _check_names("task", (task.name for task in self.tasks))
        for vehicle in self.vehicles:
            _check(vehicle, self.wind)

    def with_headings(self, headings: Mapping[int, float]) -> Problem:
        """Return the problem with these headings, by index, for tasks with a free heading; any for all others."""
        tasks = tuple(
            task if task.heading == headings.get(k) else replace(task, heading=headings.get(k))
            for k, task in enumerate(self.tasks)
        )
        return self if tasks == self.tasks else replace(self, tasks=tasks)


def _check_names(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidValueError(f"two {kind}s are called {name!r}; every {kind} needs a name of its own")
        seen.add(name)


def _check(vehicle: Vehicle, wind: tuple[float, float]) -> None:
    who = f"vehicle {vehicle.name!r}"
    for what, pose in (("pose", vehicle.pose), ("home", vehicle.home)):
        if not all(map(isfinite, pose)):
            raise InvalidValueError(f"{who}: its {what} must be finite numbers x, y, z and heading, not {pose!r}")
    for what, valid, value in (
        ("the time when it is free must be a number of seconds", isfinite(vehicle.ready), vehicle.ready),
        ("its speed must be a positive number of m/s", 0.0 < vehicle.speed < inf, vehicle.speed),
        ("its turn radius must be a number of metres >= 0", 0.0 <= vehicle.radius < inf, vehicle.radius),
        ("its range must be a number of metres >= 0", vehicle.range >= 0.0, vehicle.range),
        ("its travel height must be a number of metres", isfinite(vehicle.travels_at), vehicle.travels_at),
        ("its layer must be a number of metres", isfinite(vehicle.lift), vehicle.lift),
        ("its slope must be a positive number", vehicle.slope > 0.0, vehicle.slope),
        ("its departure must be a number of seconds", isfinite(vehicle.departs), vehicle.departs),
    ):
        if not valid:
            raise InvalidValueError(f"{who}: {what}, not {value:g}")
    strength = (wind[0] ** 2 + wind[1] ** 2) ** 0.5
    if vehicle.moves != "ground" and strength >= vehicle.speed:
        way = f"leaves no way forward at {vehicle.speed:g} m/s; the wind must be weaker"
        raise InvalidValueError(f"{who}: a wind of {strength:g} m/s {way}")


@dataclass(frozen=True)
class ScheduledEvent:
    """An event at a time, or a request; exactly one of the other fields is set."""

    at: float  # s
    task: Task | None = None  # a new task
    damage: str | None = None  # the name of a vehicle that fails
    vehicle: Vehicle | None = None  # a new vehicle
    zone: Zone | None = None  # a new no-fly zone
    remove_zone: str | None = None  # the name of a no-fly zone that is open again
    move_task: tuple[str, float, float] | None = None  # the name of a task, and its new position (m east, north)
    remove_task: str | None = None  # the name of a task that is not to be done


@dataclass(frozen=True)
class LostLink:
    """What happens when packets between a mission and a vehicle do not arrive."""

    lost_after: float = 3.0  # s without a report after which contact is lost
    action: Literal["return", "hold", "continue"] = "return"  # of the vehicle, after the time-out
    timeout: float = 20.0  # s without a packet
    replan_every: float = 5.0  # s, at least, between plans for lost and regained contacts


@dataclass(frozen=True)
class MissionSetup:
    """The initial data of a mission."""

    problem: Problem
    method: str = "local_search"
    options: Mapping[str, Any] = field(default_factory=dict)
    replan: bool = True
    battery_reserve: float = 0.2  # share of the charge at which a vehicle goes home
    separation: tuple[float, float] | None = (50.0, 20.0)  # m horizontally, m vertically; None: no separation
    execute: Literal["dynamics", "kinematic"] = "dynamics"
    events: tuple[ScheduledEvent, ...] = ()
    lost_link: LostLink | None = None  # None: all vehicles are always in contact
