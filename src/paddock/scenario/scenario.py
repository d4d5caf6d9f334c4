"""The sections that exist once: the clock, the world, how often stages run, and the recording."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from paddock.scenario.base import NotNegative, Number, Origin, Positive, Section, Text, Vector3, Whole, trouble
from paddock.scenario.mission import EVENTS, Mission, check_cast, default_fleet
from paddock.scenario.problems import Marks, Step
from paddock.scenario.serve import ENDPOINTS, Serve
from paddock.scenario.sitl import Sitl, check_sitl
from paddock.scenario.tasks import KINDS
from paddock.scenario.vehicle import VehicleEntry

RATE_MIN, RATE_MAX = 1e-3, 1e6
PACE_MIN, PACE_MAX = 0.05, 100.0


class Sync(Section):
    """Waiting for synchronous clients before a tick."""

    every: Whole = Field(default=1, ge=1, description="Wait before every so many ticks.")
    timeout: Positive = Field(default=1.0, description="Longest wait, in seconds of wall time.")
    on_timeout: Literal["hold", "brake", "default", "pause"] = Field(
        default="hold",
        description="What a vehicle whose client is late does: hold its last command, brake, take its default command, "
        "or the whole clock pauses.",
    )


class Clock(Section):
    """How time passes. `rate` and `dt` say the same thing; give one of them."""

    rate: Number = Field(default=240.0, ge=RATE_MIN, le=RATE_MAX, description="Ticks per simulated second, in Hz.")
    dt: Positive = Field(
        default=1 / 240,
        ge=1 / RATE_MAX,
        le=1 / RATE_MIN,
        exclude=True,
        validate_default=True,
        description="Simulated seconds per tick, in s; instead of rate.",
    )
    pace: Number = Field(
        default=1.0,
        description="Simulated seconds per second of wall time (no unit): 0 is as fast as possible, else 0.05 to 100.",
    )
    sync: Sync | None = Field(
        default=None, description="How to wait for clients that have claimed vehicles; null takes the defaults."
    )

    @model_validator(mode="before")
    @classmethod
    def _one_of_rate_and_dt(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "dt" not in data:
            return data
        if "rate" in data:
            raise trouble("give rate or dt, not both", ("dt",))
        return {**data, "rate": rate} if (rate := _rate_from(data["dt"])) else data

    @field_validator("dt", mode="after")
    @classmethod
    def _exactly_one_over_rate(cls, dt: float, info: ValidationInfo) -> float:
        return 1.0 / info.data["rate"] if "rate" in info.data else dt

    @field_validator("pace", mode="after")
    @classmethod
    def _pace_range(cls, pace: float) -> float:
        if pace != 0 and not PACE_MIN <= pace <= PACE_MAX:
            raise trouble(f"clock.pace must be 0 (as fast as possible) or {PACE_MIN:g} to {PACE_MAX:g}, not {pace:g}")
        return pace


def _rate_from(dt: Any) -> float | None:
    """Return 1/dt in Hz, made whole where only rounding kept it from being so; None for a dt that its field refuses."""
    if isinstance(dt, bool) or not isinstance(dt, int | float) or not 1 / RATE_MAX <= dt <= 1 / RATE_MIN:
        return None
    rate = 1.0 / dt
    return float(round(rate)) if math.isclose(rate, round(rate), rel_tol=1e-9) else rate


class World(Section):
    """What is the same everywhere."""

    mu: Positive = Field(
        default=1.0, description="Friction coefficient of the ground (no unit), multiplies each tyre's own."
    )
    origin: Origin = Field(
        default=(35.6812, 139.7671, 40.0),
        description="Where (0, 0, 0) lies on WGS 84: [latitude in degrees, longitude in degrees, height in m].",
    )
    wind: Vector3 = Field(
        default=(0.0, 0.0, 0.0), description="Steady wind [east, north, up], in m/s: where the air moves to."
    )
    gravity: NotNegative = Field(default=9.80665, description="Acceleration of gravity, downwards, in m/s2.")
    air_density: NotNegative = Field(default=1.225, description="Density of the air, in kg/m3.")
    ground_z: Number = Field(default=0.0, description="Height of the flat ground, in m.")
    date: Number = Field(
        default=2026.0, ge=1900, le=2100, description="Decimal year (2026.5 is mid-2026), for the magnetic model."
    )


class Every(Section):
    """How often stages of the tick run, in ticks."""

    behaviour: Whole = Field(default=1, ge=1, description="Behaviours and pilots decide every so many ticks.")
    snapshot: Whole | None = Field(
        default=None, ge=1, description="A snapshot is published every so many ticks; null publishes on demand only."
    )


class Record(Section):
    """A recording of the run, which does not change it. Instead of a mapping the file's path alone may stand."""

    file: Text = Field(min_length=1, description="Where to write it (MCAP); a file that exists is overwritten.")
    rate: Positive = Field(default=30.0, description="Samples per simulated second, in Hz.")
    precision: Literal["auto", "double", "single"] = Field(
        default="auto", description="Of the numbers; auto is double up to 1,000 vehicles and single beyond."
    )

    @classmethod
    def short(cls, value: Any) -> Any:
        """The mapping that a path stands for."""
        return {"file": value} if isinstance(value, str) else value


Entries = tuple[VehicleEntry, ...]


def check_names(vehicles: Entries) -> None:
    """Refuse the second of two equal names, naming the place of the first."""
    first: dict[str, int] = {}
    for index, entry in enumerate(vehicles):
        if not entry.name:
            continue
        if entry.name in first:
            other = ("vehicles", first[entry.name], "name")
            raise trouble(f"name {entry.name!r} is already used at {{other}}", (index, "name"), other)
        first[entry.name] = index


def check_ids(vehicles: Entries) -> None:
    """Refuse ids that two entries claim; an entry with a count claims as many from its id on."""
    spans = sorted((entry.id, index) for index, entry in enumerate(vehicles) if entry.id is not None)
    for (low, one), (high, two) in pairwise(spans):
        if high < low + vehicles[one].count:
            early, late = sorted((one, two))
            message = f"id {high} is already used at {{other}}{_range(vehicles[early])}"
            raise trouble(message, (late, "id"), ("vehicles", early, "id"))


def _range(entry: VehicleEntry) -> str:
    assert entry.id is not None
    return f" (ids {entry.id} to {entry.id + entry.count - 1})" if entry.count > 1 else ""


def with_names(vehicles: Entries) -> Entries:
    """Give every unnamed entry its default name."""
    taken = {entry.name for entry in vehicles}
    return tuple(
        entry if entry.name else entry.model_copy(update={"name": _default_name(entry.model, index, taken)})
        for index, entry in enumerate(vehicles)
    )


def _default_name(model: str, index: int, taken: set[str]) -> str:
    """Make a name of the model and the position in the list, different from those the user chose."""
    name = f"{re.sub(r'[^A-Za-z0-9_.-]', '_', model)}_{index}"
    name = name if re.match(r"[A-Za-z_]", name) else f"_{name}"
    while name in taken:
        name += "_"
    return name


SEED_END = 2**64


class Scenario(Section):
    """One world and the vehicles in it. Read it with `load_scenario`, whose errors name file, line and column."""

    name: Text = Field(default="scenario", description="Name of the scenario.")
    description: Text = Field(default="", description="What it shows.")
    seed: Whole = Field(default=0, ge=0, lt=SEED_END, description="Seed of every random draw; same seed, same bytes.")
    clock: Clock = Field(default=Clock(), description="How time passes.")
    world: World = Field(default=World(), description="Ground, air, gravity, and where the world lies on Earth.")
    vehicles: tuple[VehicleEntry, ...] = Field(
        description="Vehicles and fleets; the list may be empty, and with a mission left out."
    )
    mission: Mission | None = Field(default=None, description="What a fleet has to do, and how it is planned.")
    sitl: Sitl | None = Field(default=None, description="Autopilots in the loop: who flies which vehicles.")
    every: Every = Field(default=Every(), description="How often stages of the tick run.")
    record: Annotated[Record | None, BeforeValidator(Record.short)] = Field(
        default=None, description="Where to record the run: a path, or a mapping."
    )
    serve: Serve | None = Field(default=None, description="Endpoints for watching and driving from outside.")
    _marks: Marks = PrivateAttr(default_factory=Marks)
    _written: tuple[str, int] | None = PrivateAttr(default=None)  # the text it was read from, and the seed it says
    _left_out: tuple[str, ...] = PrivateAttr(default=())  # sections of that text that it was read without

    @model_validator(mode="before")
    @classmethod
    def _default_fleet(cls, data: Any) -> Any:
        """Give a mission that names no vehicles its usual ones."""
        if not isinstance(data, dict) or "vehicles" in data or data.get("mission") is None:
            return data
        return {**data, "vehicles": default_fleet(data["mission"])}

    @field_validator("vehicles", mode="after")
    @classmethod
    def _all_different(cls, vehicles: tuple[VehicleEntry, ...]) -> tuple[VehicleEntry, ...]:
        check_names(vehicles)
        check_ids(vehicles)
        return with_names(vehicles)

    @model_validator(mode="after")
    def _cast(self) -> Self:
        if self.mission is not None:
            check_cast(self.mission, self.vehicles)
        if self.sitl is not None:
            check_sitl(self.sitl, self.vehicles)
        return self

    @property
    def left_out(self) -> tuple[str, ...]:
        """The sections of its text that it was read without."""
        return self._left_out

    def at(self, *path: Step) -> str:
        """Return where a value was written: `race.yaml:7:5`, or `vehicles[0].model` for a scenario made in Python."""
        return self._marks.at(path)

    def at_key(self, *path: Step) -> str:
        """Return where a key was written, for complaints about the key rather than its value."""
        return self._marks.at_key(path)

    def with_vehicles(self, vehicles: tuple[VehicleEntry, ...]) -> Scenario:
        """Return the same with other entries of vehicles, which stand where those before them stood."""
        changed = self.model_copy(update={"vehicles": vehicles})
        changed._written = None  # its text says something else now
        return changed

    def to_dict(self, *, defaults: bool = False) -> dict[str, Any]:
        """Return plain data that loads back equal; values at their default only where asked for."""
        return self.model_dump(mode="json", exclude_defaults=not defaults, exclude_none=True)

    def to_yaml(self, *, defaults: bool = False) -> str:
        """Return YAML text that loads back equal."""
        from paddock.scenario.marked_yaml import dump_yaml

        return dump_yaml(self.to_dict(defaults=defaults))

    def to_text(self) -> str:
        """Return the text it was read from, comments and all; YAML made from it where it was not, or was changed."""
        if self._written is None or self._written[1] != self.seed:
            return self.to_yaml()
        return self._written[0]

    def __eq__(self, other: object) -> bool:
        """Compare what they say, not where it was written."""
        if not isinstance(other, Scenario):
            return NotImplemented
        return self.to_dict(defaults=True) == other.to_dict(defaults=True)

    __hash__ = None  # type: ignore[assignment]


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12); every field carries a description with its unit."""
    schema = Scenario.model_json_schema(mode="validation")
    parts = schema["$defs"]
    parts["Clock"]["not"] = {"required": ["rate", "dt"]}
    parts["VehicleEntry"]["not"] = {"required": ["driver", "behaviour"]}
    parts["Spawn"] |= {"minProperties": 1, "maxProperties": 1}
    for part, names in (
        ("Task", KINDS), ("NoFlyZone", ("circle", "polygon")), ("MissionEvent", EVENTS),
        ("PolygonTask", ("spacing", "camera")),
    ):  # fmt: skip
        parts[part]["oneOf"] = [{"required": [name]} for name in names]
    schema["anyOf"] = [{"required": [name]} for name in (*schema.pop("required"), "mission")]
    for name in ENDPOINTS:  # instead of the mapping, its port, its name, or just true
        short = {"type": "string"} if name == "shm" else {"type": "integer"}
        parts["Serve"]["properties"][name]["anyOf"] += [short, {"const": True}]
    schema["properties"]["record"]["anyOf"].append({"type": "string", "minLength": 1})
    for part, key in (
        ("Clock", "dt"),
        ("VehicleEntry", "name"),
        ("Task", "name"),
        ("NoFlyZone", "name"),
        ("AdapterEntry", "name"),
    ):  # they follow from other fields
        del parts[part]["properties"][key]["default"]
    return {"$schema": DIALECT, **schema, "title": "Paddock scenario"}
