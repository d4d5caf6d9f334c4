"""Who is there, and the frames that have names."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Range = tuple[int, int]  # first and count of numbers that follow one another
Point = tuple[float, float, float]  # x, y, z in m
Quaternion = tuple[float, float, float, float]  # x, y, z, w


class FleetTree(TypedDict):
    """A fleet as rosters tell it."""

    name: str
    kind: str
    model: str
    single: bool
    ids: list[Range]
    members: list[Range]
    columns: list[str]


class RosterTree(TypedDict):
    """Who is there, in the order of the frames' records."""

    roster: int
    fleets: list[FleetTree]


class FrameTree(TypedDict):
    """A named frame where it was placed in its parent last."""

    name: str
    parent: str
    position: Point
    quaternion: Quaternion


class FramesTree(TypedDict):
    """All named frames."""

    frames: list[FrameTree]


class ColumnTree(TypedDict):
    """What a column means; a limit is null where there is none."""

    name: str
    unit: str
    meaning: str
    low: float | None
    high: float | None
    choices: list[str]


class ValueTree(ColumnTree):
    """A column of one vehicle with its value; null where that is no finite number."""

    value: float | None


class FleetInfoTree(TypedDict):
    """A fleet in full."""

    name: str
    count: int
    kind: str
    model: str
    single: bool
    driven_by: str | None
    inputs: list[ColumnTree]
    columns: list[ColumnTree]
    sensors: list[str]


class RecordingTree(TypedDict):
    """A recording that is played: the simulated time at which it starts; position and duration from there, all in s."""

    path: str
    start: float
    position: float
    duration: float


class MetadataTree(TypedDict):
    """What is being simulated or played."""

    name: str
    description: str
    seed: int
    rate: float
    pace: float
    paused: bool
    run: int
    version: str
    owner: str | None
    locked: bool
    can_load: bool
    scenario: dict[str, Any]
    fleets: list[FleetInfoTree]
    recording: RecordingTree | None


class InspectedTree(TypedDict):
    """One vehicle, every column of it."""

    id: int
    name: str
    fleet: str
    kind: str
    model: str
    preset: str | None
    driven_by: str | None
    tick: int
    time: float
    state: list[ValueTree]
    command: list[ValueTree]
    parameters: list[ValueTree]
    sensors: dict[str, list[ValueTree]]


class StageTree(TypedDict):
    """What a stage of the tick has cost so far."""

    calls: int
    seconds: float


class SubscriberTree(TypedDict):
    """Someone who is connected."""

    name: str
    endpoint: str
    rate: float
    skipped: int


class FiguresTree(TypedDict):
    """Numbers about the run, twice a second; `running`: it goes on by itself unless it is paused."""

    tick: int
    time: float
    wall: float
    rate: float
    pace: float
    paused: bool
    running: bool
    run: int
    vehicles: int
    slips: int
    lag_seconds: float
    tick_seconds: float
    events: int
    commands: int
    refused: int
    owner: str
    stages: dict[str, StageTree]
    subscribers: list[SubscriberTree]
    counts: dict[str, int]


class EventTree(TypedDict):
    """Something that has happened."""

    number: int
    tick: int
    kind: str
    subject: str
    detail: str


class RouteTree(TypedDict):
    """Where vehicles are to go."""

    fleet: str
    ids: list[Range]
    behaviour: str
    closed: bool
    points: list[Point]


class OrderTree(TypedDict):
    """What some vehicles were told to do instead of what their entry says."""

    ids: list[Range]
    behaviour: str
    options: dict[str, Any]


Place = tuple[float, float]  # x, y in m
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


class ProblemTree(TypedDict):
    """What is wrong with a scenario, and where; lines and columns count from 1."""

    line: int
    column: int
    message: str


class ScenarioCardTree(TypedDict):
    """A scenario that can be started."""

    name: str
    description: str
    vehicles: int
    picture: str | None


class ModelTree(TypedDict):
    """A model of which vehicles can be brought in."""

    model: str
    kind: str
    summary: str
    presets: list[str]
    inputs: list[ColumnTree]


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


class RestartTree(TypedDict):
    """A run has begun again (`reset`) or gone back to a saved state (`restore`)."""

    how: str
    run: int
    tick: int


class PreparingTree(TypedDict):
    """What the simulation does before it can begin, and calls wait for; empty when it is done."""

    text: str


class ClosedTree(TypedDict):
    """Why the server ends the connection."""

    reason: str


class RefusedTree(TypedDict):
    """Why calls without an answer were refused, and how many since this was told last."""

    of: str
    reason: str
    count: int


class Notifications(TypedDict):
    """What the server tells without being asked, by method."""

    roster: RosterTree
    figures: FiguresTree
    mission: MissionTree
    restart: RestartTree
    frames: FramesTree
    preparing: PreparingTree
    closed: ClosedTree
    refused: RefusedTree
    command_refused: RefusedTree
