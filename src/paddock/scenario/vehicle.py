"""An entry of `vehicles`: one vehicle or a fleet of equal ones, and the spawn pattern of a fleet."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import (
    BeforeValidator,
    Field,
    GetJsonSchemaHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from paddock.files import read_file
from paddock.scenario.base import (
    Behaviour,
    BehaviourChoice,
    GroundOrVector3,
    Inputs,
    Name,
    NotNegative,
    Number,
    Numbers,
    OneOf,
    Pose,
    Positive,
    Section,
    Sensor,
    Text,
    Vector2,
    Whole,
    invalid,
)
from paddock.scenario.contact import FleetContact
from paddock.scenario.problems import KeyPath, Marks, validated
from paddock.scenario.radio_types import Fitted
from paddock.scenario.scenery import FILES, ConeObstacle, Obstacle
from paddock.scenario.tasks import numbered
from paddock.scenario.via import Via

ID_MAX = 2**31 - 1
COUNT_MAX = 10_000_000
EXTERNAL = "external"  # the driver that is not a behaviour: commands come from outside
FMU = "fmu"  # the model whose vehicles are moved by an FMU
PATTERNS = ("poses", "grid", "circle", "random", "line", "track", "lane_change")
PART_FILES = (".tir",)  # endings of files that describe a subsystem
LANE_CHANGE_CONES = 30  # five on each side of three lanes
WIDEST_SPREAD = 0.33  # three standard deviations below a value remain above 0
LONGEST_PART = 1 << 18  # characters of such a file
_GROUND = "null is the ground."


def refuse_mixed(one: Sequence[float], other: Sequence[float], name: str, other_name: str) -> None:
    """Raise an error if only one of two places has a height."""
    if len(one) != len(other):
        raise invalid(f"{name} and {other_name} must both be [x, y] (on the ground) or both [x, y, z]", (other_name,))


class GridPattern(Section):
    """Rows and columns centred on the origin; x grows along a row, y from row to row."""

    spacing: Positive = Field(description="Distance between neighbours, in m.")
    z: Number | None = Field(default=None, description=f"Height, in m; {_GROUND}")
    origin: Vector2 = Field(default=(0.0, 0.0), description="Centre of the grid [x, y], in m.")
    columns: Whole | None = Field(default=None, ge=1, description="Vehicles per row; null makes the grid about square.")
    heading: Number = Field(default=0.0, description="Yaw of every vehicle, in rad (0 faces east, counter-clockwise).")


class CirclePattern(Section):
    """Evenly spaced on a circle, counter-clockwise from the east."""

    radius: Positive = Field(description="Radius, in m.")
    z: Number | None = Field(default=None, description=f"Height, in m; {_GROUND}")
    center: Vector2 = Field(default=(0.0, 0.0), description="Centre [x, y], in m.")
    face: Literal["tangent", "inward", "outward", "fixed"] = Field(
        default="tangent",
        description="Where vehicles face: along the circle (counter-clockwise), in, out, or along heading.",
    )
    heading: Number | None = Field(default=None, description="Yaw, in rad; only with face: fixed (default 0).")

    @model_validator(mode="after")
    def _heading_only_when_fixed(self) -> Self:
        if self.heading is not None and self.face != "fixed":
            raise invalid(f"heading needs face: fixed, not face: {self.face}", ("heading",))
        return self


class RandomPattern(Section):
    """Uniform in a box, drawn from the scenario's seed."""

    low: GroundOrVector3 = Field(description="Lowest corner of the box [x, y, z], or [x, y] on the ground, in m.")
    high: GroundOrVector3 = Field(description="Highest corner of the box [x, y, z], or [x, y] on the ground, in m.")
    heading: Number | None = Field(default=None, description="Yaw of every vehicle, in rad; null draws it at random.")

    @model_validator(mode="after")
    def _low_below_high(self) -> Self:
        refuse_mixed(self.low, self.high, "low", "high")
        for axis, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if low > high:
                raise invalid(f"low must not exceed high: {'xyz'[axis]} from {low:g} to {high:g}", ("low", axis))
        return self


class LinePattern(Section):
    """Evenly spaced from start to end, both included; a single vehicle is at the start."""

    start: GroundOrVector3 = Field(description="First vehicle [x, y, z], or [x, y] on the ground, in m.")
    end: GroundOrVector3 = Field(description="Last vehicle [x, y, z], or [x, y] on the ground, in m.")
    heading: Number | None = Field(default=None, description="Yaw of every vehicle, in rad; null faces along the line.")

    @model_validator(mode="after")
    def _both_on_the_ground(self) -> Self:
        refuse_mixed(self.start, self.end, "start", "end")
        return self


class TrackPattern(Section):
    """A start grid on the scenario's track: rows of cars behind the start pose, heading along the track."""

    gap: Positive = Field(default=8.0, le=1e3, description="Distance between rows, in m.")
    lanes: Whole = Field(default=1, ge=1, le=100, description="Cars per row, from the left.")
    first: Whole = Field(default=0, ge=0, le=100_000, description="Place of the first car; the places before are free.")


class LaneChangePattern(Section):
    """The cones of ISO 3888-2, 30 of them, on both sides of the three lanes; the course leads along x."""

    width: Positive = Field(description="Width of the car for which the lanes are laid out, in m.")
    entry: Vector2 = Field(default=(0.0, 0.0), description="Middle of the first gate [x, y], in m.")
    radius: NotNegative = Field(default=0.18, description="From the edge of a lane to the middle of a cone, in m.")


class SpawnSection(OneOf):
    """Exactly one of the patterns."""

    ONE_OF = ("spawn", PATTERNS)

    poses: tuple[Pose, ...] | None = Field(
        default=None, description="One pose per vehicle: [x, y, yaw] (on the ground) or [x, y, z, yaw], in m and rad."
    )
    grid: GridPattern | None = Field(default=None, description="Rows and columns.")
    circle: CirclePattern | None = Field(default=None, description="A circle.")
    random: RandomPattern | None = Field(default=None, description="At random in a box.")
    line: LinePattern | None = Field(default=None, description="A straight line.")
    track: TrackPattern | None = Field(default=None, description="A start grid on the track.")
    lane_change: LaneChangePattern | None = Field(default=None, description="The cones of a double lane change.")


class FmuSection(Section):
    """An FMU (FMI 2.0 or 3.0, co-simulation) that moves a vehicle of `model: fmu`."""

    file: Text = Field(min_length=1, description="The FMU; a relative path begins in the folder of the scenario.")
    inputs: dict[Text, Text] = Field(
        default_factory=dict, description="Command -> input of the FMU; by default all inputs, under their names."
    )
    outputs: dict[Text, Text] = Field(
        default_factory=dict,
        description="x, y, z (m), yaw, pitch, roll (rad) or qx, qy, qz, qw, vx, vy, vz (m/s), wx, wy, wz (rad/s) -> "
        "variable of the FMU; by default those of these names or pose.x, ... x and y are required.",
    )
    start: dict[Text, Text] = Field(
        default_factory=dict,
        description="x, y, z, yaw, speed -> variable that is set to the start pose; by default start.x, ... Without "
        "any, the outputs are relative to the start pose.",
    )
    telemetry: tuple[Text, ...] | None = Field(
        default=None, description="Variables shown in snapshots; null is all other outputs."
    )
    kind: Literal["car", "quad", "rover", "aircraft", "agent"] = Field(
        default="agent", description="The shape that viewers draw."
    )


class SubsystemChoice(Section):
    """A subsystem: the name of a choice, the dotted path of a function, or a file, whose text the scenario keeps.

    A function may have parameters of its own: {function: my_package.my_brake, parameters: {fade: 0.2}}; actuators
    also a memory, with its values at the start: {function: my_package.lag, memory: {torque: 0}}.
    """

    name: Text = Field(min_length=1, max_length=1000, description="Its name, or that of the file.")
    text: Text | None = Field(default=None, max_length=LONGEST_PART, description="Text of the file.")
    parameters: Numbers = Field(default_factory=dict, description="Values of the function's own parameters.")
    memory: Numbers = Field(default_factory=dict, description="Memory of the function: its values at the start.")

    @model_serializer
    def _short_form(self) -> str | dict[str, Any]:
        own = {"parameters": dict(self.parameters), "memory": dict(self.memory)}
        if self.parameters or self.memory:
            return {"function": self.name, **{name: values for name, values in own.items() if values}}
        return self.name if self.text is None else {"file": self.name, "text": self.text}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe what users write, and the form of recordings."""
        texts = {name: {"type": "string", "minLength": 1} for name in ("file", "text")}
        packed = {"type": "object", "required": ["file", "text"], "properties": texts, "additionalProperties": False}
        numbers = {"type": "object", "additionalProperties": {"type": "number"}}
        named = {"function": texts["file"], "parameters": numbers, "memory": numbers}
        own = {"type": "object", "required": ["function"], "properties": named, "additionalProperties": False}
        return {"description": cls.__doc__, "anyOf": [{"type": "string", "minLength": 1}, packed, own]}


def _subsystem(value: Any, info: ValidationInfo) -> Any:
    """Convert what users write to the fields of a choice; read a file."""
    if isinstance(value, SubsystemChoice):
        return value
    if isinstance(value, dict):
        if "function" in value and value.keys() <= {"function", "parameters", "memory"}:
            return {"name": value["function"], **{key: part for key, part in value.items() if key != "function"}}
        if value.keys() != {"file", "text"}:
            raise invalid(
                "a subsystem is {function: PATH, parameters: {NAME: VALUE}, memory: {NAME: VALUE}} "
                "or {file: NAME, text: TEXT}"
            )
        return {"name": value["file"], "text": value["text"]}
    if not isinstance(value, str):
        raise invalid(f"a subsystem is a name, a dotted path or a file, not {value!r:.60}")
    if not value.lower().endswith(PART_FILES):
        return {"name": value}
    folder = (info.context or {}).get(FILES)
    if folder is None:
        raise invalid("files are not read here: give {file: NAME, text: TEXT}")
    return {"name": value, "text": _part_text(Path(folder, value))}


def _part_text(path: Path) -> str:
    """Return the text of a file; other programs write comments in any encoding, so only ASCII is kept."""
    try:
        data = read_file(path, LONGEST_PART)
    except OSError as error:
        raise invalid(f"cannot read {path}: {error.strerror or error}") from None
    text = "\n".join(data.decode("ascii", "replace").splitlines()) + "\n"
    return "".join(c if c in "\t\n" or 32 <= ord(c) < 127 else "?" for c in text)


def with_files(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an entry written in Python with the text of its files, which recordings then have."""
    if not isinstance(fields.get("subsystems"), Mapping):
        return dict(fields)
    read = {"model": "x", "subsystems": dict(fields["subsystems"])}
    subsystems = validated(VehicleEntry, read, Marks(), ("vehicles", 0), {FILES: ""}).subsystems
    return {**fields, "subsystems": {part: choice.model_dump() for part, choice in subsystems.items()}}


class VehicleEntry(Section):
    """A vehicle, or `count` vehicles of the same model named `name[0]`, `name[1]`, ..."""

    id: Whole | None = Field(
        default=None, ge=0, le=ID_MAX, description="Id, or the first of count; null is the next free."
    )
    name: Name = Field(default="", description="Unique name; by default the model and the index in the list: quad_0.")
    count: Whole = Field(default=1, ge=1, le=COUNT_MAX, description="Number of vehicles.")
    model: Text = Field(min_length=1, description="The vehicle model, e.g. car.bicycle or my_package.my_car.")
    preset: Text | None = Field(default=None, description="Named set of parameters; null takes the model's default.")
    parameters: Numbers = Field(default_factory=dict, description="Parameters other than the preset's, in SI units.")
    subsystems: dict[Text, Annotated[SubsystemChoice, BeforeValidator(_subsystem)]] = Field(
        default_factory=dict,
        description="Other subsystems than the model's: {tyre: touring.tir, brake: my_package.my_brake}, by part.",
    )
    fmu: FmuSection | None = Field(default=None, description="With model: fmu, the FMU that moves it.")
    spread: dict[Text, Annotated[NotNegative, Field(le=WIDEST_SPREAD)]] = Field(
        default_factory=dict,
        description="Relative standard deviation of a parameter between vehicles (no unit): {mass: 0.02} is 2 %. "
        "A value beyond the range of its parameter is moved to the end of it.",
    )
    pose: Pose | None = Field(
        default=None,
        description="Start of a single vehicle: [x, y, yaw] (on the ground) or [x, y, z, yaw], in m and rad; "
        "null is [0, 0, 0], or the start pose of the track.",
    )
    spawn: SpawnSection | None = Field(default=None, description="Start of the vehicles, as exactly one pattern.")
    speed: Number = Field(default=0.0, description="Forward speed at the start, in m/s.")
    commands: Inputs = Field(default_factory=dict, description="Command inputs at the start, by name, in their units.")
    driver: Behaviour | None = Field(
        default=None, description="Same as behaviour, or external (commands; the default)."
    )
    behaviour: Behaviour | None = Field(default=None, description="What drives it: a name, or {name: {options}}.")
    timeout: Positive | None = Field(
        default=None,
        le=1e6,
        description="Simulated seconds without a command before the failsafe; null holds the last command forever.",
    )
    failsafe: Inputs = Field(default_factory=dict, description="Failsafe command inputs other than the model's own.")
    contact: FleetContact | None = Field(
        default=None, description="How it takes part in contact: a mapping, or false; null: with the defaults."
    )
    sensors: tuple[Sensor, ...] = Field(default=(), description="Its sensors: kinds, or {kind: {options}}.")
    radio: Fitted = Field(
        default=(), description="Its radio: a type, or a mapping with a type and changes; or a list of radios."
    )
    via: Via | None = Field(
        default=None,
        description="How commands of clients reach it: radio, or {radio: station, telemetry: Hz}, with which it sends "
        "its state to the station; null: immediately and without loss.",
    )

    @property
    def controller(self) -> BehaviourChoice | None:
        """The behaviour that drives it, from `behaviour` or `driver`; None if commands come from outside."""
        chosen = self.behaviour or self.driver
        return None if chosen is None or chosen.name == EXTERNAL else chosen

    @property
    def controller_key(self) -> str:
        """The key that holds the controller, for locations in errors."""
        return "behaviour" if self.behaviour else "driver"

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.driver and self.behaviour:
            raise invalid("driver and behaviour are the same setting; give one of them", ("behaviour",))
        chosen = self.behaviour or self.driver
        if chosen and chosen.name == EXTERNAL and chosen.options:
            raise invalid("driver 'external' takes no options", (self.controller_key,))
        if (self.model == FMU) != (self.fmu is not None):
            raise invalid("model: fmu and the section fmu belong together", ("fmu" if self.fmu else "model",))
        if self.fmu and self.preset:
            raise invalid("an FMU has no presets; give parameters", ("preset",))
        if self.pose and self.spawn:
            raise invalid("give pose or spawn, not both", ("pose",))
        if self.pose and self.count > 1:
            raise invalid(f"pose is for one vehicle and count is {self.count}; use spawn", ("pose",))
        if self.count > 1 and not self.spawn:
            raise invalid(f"count is {self.count}: add spawn with the start positions", ("count",))
        if self.spawn and self.spawn.poses is not None and len(self.spawn.poses) != self.count:
            raise invalid(f"count is {self.count} but there are {len(self.spawn.poses)} poses", ("spawn", "poses"))
        if self.spawn and self.spawn.lane_change and self.count != LANE_CHANGE_CONES:
            raise invalid(f"a double lane change has {LANE_CHANGE_CONES} cones: count is {self.count}", ("count",))
        if self.id is not None and self.id + self.count - 1 > ID_MAX:
            raise invalid(f"ids {self.id} to {self.id + self.count - 1} exceed {ID_MAX}", ("id",))
        return self


class Declared(NamedTuple):
    """A fleet of a run, and where the user wrote it."""

    entry: VehicleEntry
    place: KeyPath
    obstacles: tuple[int, ...] = ()  # of cones of the world: the index in `world.obstacles` of each vehicle


CONE, CONE_BALANCE = "prop.cone", 0.25
CONE_SHELL = 3.5 / (0.18 * 0.75)  # kg/m2: mass of a cone over radius times height, as of a road cone of 0.75 m
CONE_DRAG = 0.08 / (0.36 * 0.75)  # N s2/m4: drag over its silhouette


def cone_fleets(
    obstacles: Sequence[Obstacle], names_in_use: set[str], of_track: int | None = None
) -> tuple[Declared, ...]:
    """Return the cones of a world as fleets, one for each name and size.

    The obstacles from number `of_track` on are those of the track.
    """
    groups: dict[tuple[Any, ...], list[int]] = {}
    for k, obstacle in enumerate(obstacles):
        if (size := obstacle.cone) is not None:
            groups.setdefault((obstacle.name, size.radius, size.height, size.mass), []).append(k)
    fleets, used = [], set(names_in_use)
    for index, ((name, *_), places) in enumerate(groups.items()):
        plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name) or "cones"
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        name = numbered(plain, index, used) if plain in used else plain
        used.add(name)
        cones = [cone for k in places if (cone := obstacles[k].cone) is not None]
        written = of_track is None or places[0] < of_track
        location: KeyPath = ("world", "obstacles", places[0]) if written else ("track",)
        fleets.append(Declared(_cones(name, cones), location, tuple(places)))
    return tuple(fleets)


def _cones(name: str, cones: Sequence[ConeObstacle]) -> VehicleEntry:
    """Return the entry of cones of one size."""
    size = cones[0]
    poses = [(*c.center[:2], *(z + CONE_BALANCE * c.height for z in c.center[2:]), 0.0) for c in cones]
    parameters = {
        "mass": size.mass or max(CONE_SHELL * size.radius * size.height, 1e-3),
        "length": 2.0 * size.radius,
        "width": 2.0 * size.radius,
        "height": size.height,
        "balance": CONE_BALANCE,
        "drag": min(CONE_DRAG * 2.0 * size.radius * size.height, 100.0),
    }
    spawn = SpawnSection(poses=tuple(poses))
    return VehicleEntry(name=name, count=len(cones), model=CONE, parameters=parameters, spawn=spawn)
