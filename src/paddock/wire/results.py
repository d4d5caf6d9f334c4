"""Results of operations and contents of notifications in JSON-RPC; the page's types are generated from them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from paddock.wire.mission_results import MissionTree, Place

Range = tuple[int, int]  # first and count of consecutive numbers
Point = tuple[float, float, float]  # x, y, z in m
Quaternion = tuple[float, float, float, float]  # x, y, z, w


@dataclass(frozen=True)
class ArrayInJson:
    """The form of an array in JSON: its type there, where lists of numbers are flat; numbers may be rounded.

    ZeroMQ sends arrays as they are.
    """

    annotation: Any
    decimals: int | None = None

    def of(self, array: NDArray[Any]) -> list[Any]:
        """Return an array in this form; whole numbers that are ranges as [first, count]."""
        if self.annotation == list[Range]:
            return ranges(array)
        rounded = array if self.decimals is None else array.round(self.decimals)
        values: list[Any] = (rounded.ravel() if self.annotation in (list[float], list[int]) else rounded).tolist()
        return values


def ranges(numbers: NDArray[np.integer]) -> list[Range]:
    """Return consecutive numbers as [first, count]: 4, 5, 6, 9 -> [4, 3], [9, 1]."""
    if not len(numbers):
        return []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(numbers) != 1) + 1])
    counts = np.diff(np.append(starts, len(numbers)))
    return np.column_stack([numbers[starts], counts]).tolist()  # type: ignore[no-any-return]


class FleetTree(TypedDict):
    """A fleet of a roster."""

    name: str
    kind: str
    model: str
    single: bool
    ids: list[Range]
    members: list[Range]
    columns: list[str]


class RosterTree(TypedDict):
    """The fleets, in the order of the frames' records."""

    roster: int
    fleets: list[FleetTree]


TransformTree = NewType("TransformTree", dict[str, Any])
"""A `world.transforms.Transform`: position and quaternion."""
PlacedMarkerTree = NewType("PlacedMarkerTree", dict[str, Any])
"""A `world.markers.PlacedMarker`: the fields of the marker, since, expires (null: never), source."""


class FrameTree(TypedDict):
    """A named frame with its last pose in its parent."""

    name: str
    parent: str
    position: Point
    quaternion: Quaternion


class FramesTree(TypedDict):
    """All named frames."""

    frames: list[FrameTree]


class ColumnTree(TypedDict):
    """A column with its meaning; a limit is null if there is none."""

    name: str
    unit: str
    meaning: str
    low: float | None
    high: float | None
    choices: list[str]


class ValueTree(ColumnTree):
    """A column of one vehicle with its value; null if it is not finite."""

    value: float | None


class ArrayTree(TypedDict):
    """An array that each vehicle of a fleet has: a reading of a sensor, with that sensor's kind and options.

    `shape` is that of one vehicle; `fields` are the columns of the last axis, where they differ.
    """

    name: str
    shape: list[int]
    sensor: str
    unit: str
    meaning: str
    fields: list[ColumnTree]
    options: dict[str, float]


class FleetInfoTree(TypedDict):
    """A fleet with its inputs and columns; `dimensions` are the parameters (m) that say what it looks like.

    `parameters` are in the units of the model, null if not finite; those in `varying` differ between vehicles.
    """

    name: str
    count: int
    kind: str
    model: str
    preset: str | None
    dimensions: dict[str, float]
    single: bool
    driven_by: str | None
    inputs: list[ColumnTree]
    columns: list[ColumnTree]
    arrays: list[ArrayTree]
    sensors: list[str]
    parameters: dict[str, float | None]
    varying: list[str]


class EventRecord(NamedTuple):
    """An event."""

    number: int  # counts the events of a run, from 1
    tick: int
    kind: str
    subject: str
    detail: str = ""


class ActionRecord(NamedTuple):
    """An applied action, with the fields of the engine's `Posted.to_tree()`."""

    tick: int
    sequence: int
    source: str
    kind: str
    action: dict[str, Any]  # may hold arrays


class RecordingTree(TypedDict):
    """A recording being played: simulation time of its start, position and duration, all in s; all its events."""

    path: str
    start: float
    position: float
    duration: float
    events: list[EventRecord]


class MetadataTree(TypedDict):
    """The scenario, the clock and the fleets of a run or a recording; `client` is the name of the caller.

    `web` is the address of the page: {port}.
    """

    name: str
    description: str
    seed: int
    rate: float
    pace: float
    paused: bool
    run: int
    version: str
    client: str
    owner: str | None
    locked: bool
    can_load: bool
    scenario: dict[str, Any]
    fleets: list[FleetInfoTree]
    recording: RecordingTree | None
    web: dict[str, int] | None


class InspectedTree(TypedDict):
    """Every column of one vehicle; `state` is that of its model, `columns` has the names and meanings of frames."""

    id: int
    name: str
    fleet: str
    kind: str
    model: str
    preset: str | None
    driven_by: str | None
    substeps: int | None  # steps of the dynamics in a tick; null in a recording
    tick: int
    time: float
    state: list[ValueTree]
    columns: list[ValueTree]
    command: list[ValueTree]
    parameters: list[ValueTree]
    sensors: dict[str, list[ValueTree]]


class AutopilotTree(TypedDict):
    """A vehicle with an autopilot: its MAVLink system, its ports, and the places of its mission."""

    id: int
    system: int
    autopilot: str
    link: str
    mode: str
    armed: bool
    item: str
    note: str
    waypoints: list[Point]


class SeriesTree(TypedDict):
    """Simulation times in s, and the values of each column; null where there is none."""

    times: list[float]
    values: list[list[float | None]]


class StageTree(TypedDict):
    """The cost of a stage of the tick so far."""

    calls: int
    seconds: float


class SubscriberTree(TypedDict):
    """A connected client."""

    name: str
    endpoint: str
    rate: float
    skipped: int


class FiguresTree(TypedDict):
    """Figures of the run, twice a second; `running`: time advances unless it is paused; `drivers`: id -> client."""

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
    drivers: dict[str, str]
    visualization: "VisualizationTree | None"
    stages: dict[str, StageTree]
    subscribers: list[SubscriberTree]
    counts: dict[str, int]


class PlannedRoute(NamedTuple):
    """A line that vehicles follow, or a point that they go to."""

    fleet: str
    ids: Annotated[NDArray[np.int64], ArrayInJson(list[Range])]
    behaviour: str
    closed: bool  # the last point joins the first
    points: Annotated[NDArray[np.float64], ArrayInJson(list[Point])]  # (k, 3) m


class GroundTree(TypedDict):
    """Uneven ground on a square grid: heights in m and friction (null: the same everywhere), rows from the south."""

    x: float  # of the first value, m
    y: float
    cell: float  # m between values
    rows: int
    columns: int
    heights: list[float]
    friction: list[float] | None


class ObstacleTree(TypedDict):
    """A static obstacle; a wall is one per straight part. A cone has a radius of 0 at its top."""

    name: str
    kind: Literal["box", "wall", "cylinder", "cone"]
    x: float  # of its centre, m
    y: float
    base: float  # height in m
    top: float
    heading: float  # rad
    length: float | None  # m; null for round ones
    width: float | None
    radius: float | None  # m, at the base; null for boxes and walls


class RoadTree(TypedDict):
    """A road on which vehicles drive; a closed one joins its last point to the first."""

    points: list[Point]  # along its middle
    width: float  # m
    closed: bool


FastestTree = tuple[str, int, float]  # car, lap, s


class StandingTree(TypedDict):
    """A car in a race; times in s, distances in m. `result` is null until it has finished, and after a DNF."""

    position: int
    name: str
    id: int
    status: str  # waiting, running, finished, stopped, unsafe_stop or dnf
    laps: int
    progress: float
    gap: float
    lap_times: list[float]
    sector_times: list[list[float | None]]
    best_lap: float | None
    cones: int
    off_course: int
    penalty: float
    time: float | None
    result: float | None
    reason: str


class StandingsTree(TypedDict):
    """A race at a time (s of simulation time); `laps` are those of the discipline."""

    discipline: str
    track: str
    laps: int
    time: float
    rows: list[StandingTree]
    fastest_lap: FastestTree | None
    fastest_sectors: list[FastestTree | None]


class VisualizationTree(TypedDict):
    """What pages show since `version` changes of it; null: as their users have chosen."""

    version: int
    show_comm_links: bool | None
    show_rf_range: bool | None
    show_jamming: bool | None
    show_coverage: bool | None
    show_paths: bool | None
    show_labels: bool | None


class GateTree(TypedDict):
    """A line across a track: its ends (m), and where it crosses the middle line (m along it)."""

    name: str
    left: Place
    right: Place
    along: float


class TrackTree(TypedDict):
    """A race track; positions are [x, y] in m. `colours` are places in `colour_names`.

    `movable`: the cones are vehicles, of the fleets `cones_blue` and so on. `left_cones` and `right_cones` are the
    numbers of the cones of each boundary, in their order.
    """

    name: str
    closed: bool
    length: float
    start: Point
    cones: list[Place]
    colours: list[int]
    colour_names: list[str]
    movable: bool
    centre: list[Place]
    left_width: list[float]
    right_width: list[float]
    left: list[Place]
    right: list[Place]
    left_cones: list[int]
    right_cones: list[int]
    gates: list[GateTree]


class TrackCheckTree(TypedDict):
    """An edited track: null if its cones form none, with the reason in `problems`; `warnings` are broken rules."""

    track: TrackTree | None
    problems: list[str]
    warnings: list[str]


class TrackFileTree(TypedDict):
    """A track file that was read: its format, cones and start pose; `notes` say what of the file is left out.

    `covariances` are null where no cone has one, `start` where the file has none.
    """

    format: Literal["csv", "csv4", "cones", "lanes"]
    cones: list[tuple[float, float]]
    colours: list[Literal["blue", "yellow", "orange", "big_orange", "unknown"]]
    covariances: list[tuple[float, float, float]] | None
    start: tuple[float, float, float] | None
    notes: list[str]


class SceneryTree(TypedDict):
    """What never moves; `ground` is null where it is flat, at `ground_z`."""

    ground_z: float
    mu: float
    ground: GroundTree | None
    obstacles: list[ObstacleTree]
    roads: list[RoadTree]
    track: TrackTree | None


class BehaviourOverride(NamedTuple):
    """An override in force: a behaviour that replaces that of the vehicles' entry."""

    ids: Annotated[NDArray[np.int64], ArrayInJson(list[Range])]
    behaviour: str
    options: dict[str, Any]


class ProblemTree(TypedDict):
    """An error of a scenario; lines and columns count from 1."""

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
    """A model of which vehicles can be added."""

    model: str
    kind: str
    summary: str
    presets: list[str]
    inputs: list[ColumnTree]


class WantedColumns(TypedDict):
    """Columns of a vehicle, a fleet, or (null) of all vehicles; `rate`: at most so many times per second."""

    of: str | int | None
    columns: list[str]
    rate: NotRequired[float | None]


class ScenarioLoading(TypedDict):
    """The answer to `load_scenario`; `ignored` are the sections of the scenario that clients may not set."""

    ignored: list[str]


class Subscribed(RosterTree):
    """The answer to `subscribe`."""

    rate: float
    ticks_per_second: float
    wanted: int


class Moment(TypedDict):
    """The tick and the simulation time of an operation."""

    tick: int
    time: float


class Pong(Moment):
    """The answer to `ping`; `preparing` is empty once the simulation can run."""

    preparing: str


class Spawned(TypedDict):
    """Added vehicles."""

    names: list[str]
    ids: list[int]


class Removed(Moment):
    """The number of removed vehicles."""

    removed: int


class SpawnedDrone(TypedDict):
    """An added drone."""

    name: str
    id: int


class ScenarioText(TypedDict):
    """A scenario in YAML."""

    name: str
    text: str


class StateTree(TypedDict):
    """Pose and public columns of one vehicle; null for values that are not finite."""

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
    """The poses of vehicles of a fleet, in the order of `ids`."""

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


class Empty(TypedDict):
    """An empty answer."""


class RestartTree(TypedDict):
    """The run was reset (`reset`) or restored (`restore`)."""

    how: str
    run: int
    tick: int


class PreparingTree(TypedDict):
    """The preparation that calls wait for, before the simulation can run; empty when done."""

    text: str


class ClosedTree(TypedDict):
    """The reason why the server ends the connection."""

    reason: str


class RefusedTree(TypedDict):
    """The reason for refused calls without an answer, and their number since the last notification."""

    of: str
    reason: str
    count: int


class Notifications(TypedDict):
    """The notifications of the server, by method."""

    roster: RosterTree
    figures: FiguresTree
    mission: MissionTree
    restart: RestartTree
    frames: FramesTree
    preparing: PreparingTree
    closed: ClosedTree
    refused: RefusedTree
    command_refused: RefusedTree
