"""What methods answer."""

from __future__ import annotations

from typing import TypedDict

from paddock.serve.subscribers.shapes.roster import RosterTree
from paddock.serve.subscribers.shapes.run import EventTree, OrderTree, RouteTree
from paddock.serve.subscribers.shapes.scenarios import ModelTree, ProblemTree, ScenarioCardTree


class WantedColumns(TypedDict):
    """Columns of a vehicle, a fleet, or (null) of all vehicles."""

    of: str | int | None
    columns: list[str]


class Subscribed(RosterTree):
    """The answer to `subscribe`."""

    rate: float
    ticks_per_second: float
    wanted: int


class Moment(TypedDict):
    """When something was done."""

    tick: int
    time: float


class Pong(Moment):
    """The answer to `ping`; `preparing` is empty once the simulation can go."""

    preparing: str


class Spawned(TypedDict):
    """Vehicles that have come."""

    names: list[str]
    ids: list[int]


class WantedNumber(TypedDict):
    """The number of a list of wanted columns; frames that answer it carry it."""

    wanted: int


class GrantedRate(TypedDict):
    """Groups of frames per s of wall time."""

    rate: float


class Position(TypedDict):
    """Where a recording is played, in s from its beginning."""

    position: float


class Removed(Moment):
    """How many vehicles were taken out."""

    removed: int


class SpawnedDrone(TypedDict):
    """A drone that has come."""

    name: str
    id: int


class DrawnTree(TypedDict):
    """Ids of markers of the namespace `debug`."""

    ids: list[int]


class EventsTree(TypedDict):
    """What has happened."""

    events: list[EventTree]


class ModelsTree(TypedDict):
    """What vehicles there can be."""

    models: list[ModelTree]


class RoutesTree(TypedDict):
    """Where vehicles are to go."""

    routes: list[RouteTree]


class OrdersTree(TypedDict):
    """What vehicles were told to do."""

    orders: list[OrderTree]


class ScenariosTree(TypedDict):
    """What can be started."""

    scenarios: list[ScenarioCardTree]


class ScenarioText(TypedDict):
    """A scenario in YAML."""

    name: str
    text: str


class ProblemsTree(TypedDict):
    """What is wrong with a scenario; nothing if it is fine."""

    problems: list[ProblemTree]


class StateTree(TypedDict):
    """Pose and public columns of one vehicle; null for what is no number."""

    id: int
    name: str
    kind: str
    model: str
    tick: int
    time: float
    position: list[float | None]
    orientation: list[float | None]
    velocity: list[float | None]
    angular_velocity: list[float | None]
    columns: dict[str, float | None]


class FleetStateTree(TypedDict):
    """The poses of some vehicles of a fleet, in the order of their ids here."""

    name: str
    kind: str
    model: str
    ids: list[int]
    position: list[list[float | None]]
    orientation: list[list[float | None]]
    velocity: list[list[float | None]]
    angular_velocity: list[list[float | None]]


class StatesTree(TypedDict):
    """The poses of many vehicles."""

    tick: int
    time: float
    run: int
    roster: int
    fleets: list[FleetStateTree]


class Nothing(TypedDict):
    """An answer that says no more than that it was done."""
