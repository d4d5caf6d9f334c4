"""The whole scenario as typed data, its sections `clock`, `world`, `every` and `record`, and its JSON schema."""

import math
import os
import re
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from paddock.scenario.base import (
    LONGEST_NAME,
    NotNegative,
    Number,
    OneOf,
    Origin,
    Positive,
    Section,
    Seed,
    Text,
    Vector3,
    Whole,
    invalid,
)
from paddock.scenario.contact import ContactSection, check_contact
from paddock.scenario.marked_yaml import dump_yaml
from paddock.scenario.mission import (
    EVENTS,
    MissionSection,
    check_different,
    check_fleet,
    check_mission_via,
    default_fleet,
)
from paddock.scenario.problems import Marks, Step
from paddock.scenario.radio import RadioSection, above_clock, check_radio, check_rates, radio_schema
from paddock.scenario.scenery import FrictionPatch, GroundSection, Obstacle, Obstacles
from paddock.scenario.serve import ENDPOINTS, Serve
from paddock.scenario.sitl import Sitl, check_sitl, mavlink_vias
from paddock.scenario.tasks import KINDS, numbered
from paddock.scenario.track import DISCIPLINES, SOURCES, RulesSection, TrackChoice, check_rules
from paddock.scenario.vehicle import VehicleEntry
from paddock.scenario.via import via_problem, via_schema

RATE_MIN, RATE_MAX = 1e-3, 1e6
PACE_MIN, PACE_MAX = 0.05, 100.0
SCHEMA_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Sync(Section):
    """How a tick waits for synchronous clients."""

    every: Whole = Field(default=1, ge=1, description="Wait before every n-th tick.")
    timeout: Positive = Field(default=1.0, description="Longest wait, in seconds of wall time.")
    on_timeout: Literal["hold", "brake", "default", "pause"] = Field(
        default="hold",
        description="On timeout, the client's vehicles hold their last command, brake or take their default command, "
        "or the clock pauses.",
    )


class ClockSection(Section):
    """How time passes. Give `rate` or `dt`."""

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
    sync: Sync | None = Field(default=None, description="How to wait for clients with claims; null is the default.")

    @model_validator(mode="before")
    @classmethod
    def _one_of_rate_and_dt(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "dt" not in data:
            return data
        if "rate" in data:
            raise invalid("give rate or dt, not both", ("dt",))
        return {**data, "rate": rate} if (rate := _rate_from(data["dt"])) else data

    @field_validator("dt", mode="after")
    @classmethod
    def _exactly_one_over_rate(cls, dt: float, info: ValidationInfo) -> float:
        return 1.0 / info.data["rate"] if "rate" in info.data else dt

    @field_validator("pace", mode="after")
    @classmethod
    def _pace_range(cls, pace: float) -> float:
        if pace != 0 and not PACE_MIN <= pace <= PACE_MAX:
            raise invalid(f"clock.pace must be 0 (as fast as possible) or {PACE_MIN:g} to {PACE_MAX:g}, not {pace:g}")
        return pace


def _rate_from(dt: Any) -> float | None:
    """Return 1/dt in Hz, rounded to a whole number within float precision; None for an invalid dt."""
    if isinstance(dt, bool) or not isinstance(dt, int | float) or not 1 / RATE_MAX <= dt <= 1 / RATE_MIN:
        return None
    rate = 1.0 / dt
    return float(round(rate)) if math.isclose(rate, round(rate), rel_tol=1e-9) else rate


class WindProfileSection(OneOf):
    """How the wind depends on the height above the ground: the logarithmic law (`roughness`) or a power law."""

    ONE_OF: ClassVar = ("wind_profile", ("roughness", "exponent"))
    roughness: Positive | None = Field(
        default=None,
        le=5.0,
        description="Roughness length of the logarithmic law, in m: 0.0002 sea, 0.03 grass, 0.1 crops, 1 town.",
    )
    exponent: NotNegative | None = Field(
        default=None, le=1.0, description="Exponent of the power law (no unit): 0.143 over open country."
    )
    height: Positive = Field(
        default=10.0, le=1e4, description="Height above the ground at which the wind is `wind`, in m."
    )
    top: Positive = Field(
        default=300.0, le=1e5, description="Height above the ground over which it no longer changes, in m."
    )

    @model_validator(mode="after")
    def _reference_in_profile(self) -> Self:
        if self.height > self.top:
            raise invalid(f"height must be at most top, {self.top:g} m", ("height",))
        if self.roughness is not None and self.roughness >= self.height:
            raise invalid(f"roughness must be below height, {self.height:g} m", ("roughness",))
        return self


class GustSection(Section):
    """Gusts with the spectrum of Dryden (MIL-F-8785C, low altitude). `true` is a short form of all defaults."""

    wind_20ft: NotNegative | None = Field(
        default=None,
        le=100.0,
        description="Wind at 6.1 m that determines the intensity, in m/s: 7.7 light, 15.4 moderate, 23.2 severe; "
        "null: that of `wind` there.",
    )


class WorldSection(Section):
    """The world around the vehicles."""

    mu: Positive = Field(default=1.0, description="Friction of the ground (no unit), multiplies each tyre's own.")
    origin: Origin = Field(
        default=(35.6812, 139.7671, 40.0),
        description="Position of (0, 0, 0) on WGS 84: [latitude in degrees, longitude in degrees, height in m].",
    )
    wind: Vector3 = Field(
        default=(0.0, 0.0, 0.0),
        description="Wind [east, north, up], in m/s: where the air moves to; without a profile at every height.",
    )
    wind_profile: WindProfileSection | None = Field(
        default=None, description="Change of the wind with the height above the ground; null: the same everywhere."
    )
    gusts: GustSection | None = Field(
        default=None, description="Gusts, of each vehicle its own: a mapping, or true; null: steady wind."
    )
    gravity: NotNegative = Field(default=9.80665, description="Acceleration of gravity, downwards, in m/s2.")
    air_density: NotNegative = Field(default=1.225, description="Density of the air, in kg/m3.")
    ground_z: Number = Field(default=0.0, description="Height of the flat ground, in m.")
    ground: GroundSection | None = Field(default=None, description="Slope, heights, roughness, friction; null is flat.")
    obstacles: Obstacles | None = Field(
        default=None, description="Boxes, walls, cylinders and cones; with contact, cones can be knocked over."
    )
    date: Number = Field(
        default=2026.0, ge=1900, le=2100, description="Decimal year, 2026.5 is mid-2026 (magnetic field)."
    )

    @field_validator("gusts", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        """Convert true to a section of defaults, false to none."""
        return ({} if value else None) if isinstance(value, bool) else value


class Every(Section):
    """How often stages of the tick run, in ticks."""

    behaviour: Whole = Field(default=1, ge=1, description="Behaviours and autopilots run every n-th tick.")
    snapshot: Whole | None = Field(default=None, ge=1, description="Snapshots every n-th tick; null is on demand only.")


class RecordSection(Section):
    """A recording of the run; it does not change the run. The path alone is a short form."""

    file: Text = Field(min_length=1, description="File to write (MCAP); an existing file is overwritten.")
    rate: Positive = Field(default=30.0, description="Samples per simulated second, in Hz.")
    precision: Literal["auto", "double", "single"] = Field(
        default="auto", description="Float precision; auto is double up to 1,000 vehicles and single beyond."
    )

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value


Entries = tuple[VehicleEntry, ...]


class Scenario(Section):
    """A world and the vehicles in it. Load it with `load_scenario`, whose errors give file, line and column."""

    name: Text = Field(default="scenario", max_length=LONGEST_NAME, description="Name of the scenario.")
    description: Text = Field(default="", description="A description for people.")
    seed: Seed = Field(default=0, description="Seed of every random draw; same seed, same bytes.")
    clock: ClockSection = Field(default=ClockSection(), description="How time passes.")
    world: WorldSection = Field(default=WorldSection(), description="Ground, air, gravity and position on Earth.")
    track: TrackChoice | None = Field(default=None, description="A race track: a name, a file, or a mapping.")
    vehicles: Entries = Field(description="Vehicles and fleets; may be empty, and omitted with a mission.")
    mission: MissionSection | None = Field(default=None, description="The tasks of a fleet and their planning.")
    sitl: Sitl | None = Field(default=None, description="Autopilots in the loop and the vehicles they fly.")
    contact: ContactSection | None = Field(
        default=None, description="How vehicles touch each other and obstacles: a mapping, or true; null: they do not."
    )
    rules: RulesSection | None = Field(
        default=None, description="The discipline that cars drive on the track: its name, or a mapping."
    )
    radio: RadioSection | None = Field(
        default=None, description="Radio links, ground stations and jammers: a mapping, or true; null: no radio."
    )
    on_nan: Literal["stop", "remove"] = Field(
        default="stop",
        description="When a vehicle's state is NaN or infinite: stop the run, or remove the vehicle.",
    )
    every: Every = Field(default=Every(), description="How often stages of the tick run.")
    record: RecordSection | None = Field(default=None, description="Where to record the run: a path, or a mapping.")
    serve: Serve | None = Field(default=None, description="Endpoints for watching and driving from outside.")
    _marks: Marks = PrivateAttr(default_factory=Marks)
    _written: tuple[str, int] | None = PrivateAttr(default=None)  # the source text and its seed
    _left_out: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="before")
    @classmethod
    def _default_fleet(cls, data: Any) -> Any:
        """Add the default fleet to a mission without vehicles."""
        if not isinstance(data, dict) or "vehicles" in data or data.get("mission") is None:
            return data
        return {**data, "vehicles": default_fleet(data["mission"])}

    @field_validator("contact", "radio", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        """Convert true to a section of defaults, false to none."""
        return ({} if value else None) if isinstance(value, bool) else value

    @field_validator("vehicles", mode="after")
    @classmethod
    def _all_different(cls, vehicles: Entries) -> Entries:
        check_different(((entry.name, (k, "name")) for k, entry in enumerate(vehicles)), {}, ("vehicles",))
        _check_ids(vehicles)
        names = {entry.name for entry in vehicles}
        named = list(vehicles)
        for index, entry in enumerate(vehicles):
            if not entry.name:
                model = re.sub(r"[^A-Za-z0-9_.-]", "_", entry.model)
                prefix = model if re.match(r"[A-Za-z_]", model) else f"_{model}"
                named[index] = entry.model_copy(update={"name": numbered(prefix, index, names)})
        return tuple(named)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        check_contact(self.contact, [entry.contact for entry in self.vehicles])
        self._check_track()
        if self.mission is not None:
            check_fleet(self.mission, self.vehicles)
        if self.sitl is not None:
            check_sitl(self.sitl, self.vehicles, self.radio)
        check_rates(self.radio, self.clock.rate)
        for path, via in () if self.sitl is None else mavlink_vias(self.sitl):
            if via.heartbeat is not None and via.heartbeat > self.clock.rate:
                raise invalid(above_clock(via.heartbeat, self.clock.rate), (*path, "via", "heartbeat"))
        check_radio(self.radio, [(entry.name, entry.count, entry.radio) for entry in self.vehicles])
        self._check_via()
        if self.rules is not None:
            check_rules(self.rules, self.track is not None, self.vehicles)
        return self

    def _check_via(self) -> None:
        """Refuse commands and missions over radio without radios or stations."""
        for k, entry in enumerate(self.vehicles):
            if entry.via is None:
                continue
            problem, station = via_problem(
                entry.via, self.radio, entry.radio, [vehicle.radio for vehicle in self.vehicles]
            )
            if problem:
                raise invalid(problem, ("vehicles", k, "via", "radio") if station else ("vehicles", k, "via"))
        if self.mission is not None and self.mission.via is not None:
            check_mission_via(self.mission, self.vehicles, self.radio)

    def _check_track(self) -> None:
        """Refuse vehicles on a track that does not exist, and two maps of friction."""
        if self.track is None:
            for k, entry in enumerate(self.vehicles):
                if entry.spawn is not None and entry.spawn.track is not None:
                    raise invalid("spawn.track needs a section track", ("vehicles", k, "spawn", "track"))
        elif self.track.surface is not None and self.world.ground is not None and self.world.ground.friction_map:
            raise invalid("give track.surface or world.ground.friction_map, not both", ("track", "surface"))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sections of the source text that were not read."""
        return self._left_out

    @property
    def folder(self) -> str:
        """The folder of the scenario file, where relative paths begin; empty for the current folder."""
        return os.path.dirname(self._marks.source)

    def at(self, *path: Step) -> str:
        """Return the location of a value: `race.yaml:7:5`, or `vehicles[0].model` for a scenario made in Python."""
        return self._marks.at(path)

    def at_key(self, *path: Step) -> str:
        """Return the location of a key, for errors about the key rather than its value."""
        return self._marks.at_key(path)

    def with_vehicles(self, vehicles: Entries) -> Self:
        """Return a copy with other vehicle entries at the same locations."""
        changed = self.model_copy(update={"vehicles": vehicles})
        changed._written = None
        return changed

    def with_world(self, world: WorldSection) -> Self:
        """Return a copy with another section `world`."""
        changed = self.model_copy(update={"world": world})
        changed._written = None
        return changed

    def to_dict(self, *, defaults: bool = False) -> dict[str, Any]:
        """Return plain data that loads back equal, with values at their default only on request."""
        return self.model_dump(mode="json", exclude_defaults=not defaults, exclude_none=True)

    def to_yaml(self, *, defaults: bool = False) -> str:
        """Return YAML text that loads back equal."""
        return dump_yaml(self.to_dict(defaults=defaults))

    def to_text(self) -> str:
        """Return the source text with its comments, or generated YAML if there is none or values have changed."""
        if self._written is None or self._written[1] != self.seed:
            return self.to_yaml()
        return self._written[0]

    def __eq__(self, other: object) -> bool:
        """Compare the values, not their locations."""
        if not isinstance(other, Scenario):
            return NotImplemented
        return self.to_dict(defaults=True) == other.to_dict(defaults=True)

    __hash__ = None  # type: ignore[assignment]


def _check_ids(vehicles: Entries) -> None:
    """Reject ids used by two entries; an entry with a count uses a range."""
    spans = sorted((entry.id, index) for index, entry in enumerate(vehicles) if entry.id is not None)
    for (low, first_index), (high, second_index) in pairwise(spans):
        if high < low + vehicles[first_index].count:
            early, late = sorted((first_index, second_index))
            entry = vehicles[early]
            first = entry.id or 0
            span = f" (ids {first} to {first + entry.count - 1})" if entry.count > 1 else ""
            raise invalid(f"id {high} is already used at {{other}}{span}", (late, "id"), ("vehicles", early, "id"))


def scenario_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12); every field has a description with its unit."""
    schema = Scenario.model_json_schema(mode="validation")
    parts = schema["$defs"]
    parts["ClockSection"]["not"] = {"required": ["rate", "dt"]}
    parts["VehicleEntry"]["not"] = {"required": ["driver", "behaviour"]}
    parts["SpawnSection"] |= {"minProperties": 1, "maxProperties": 1}
    for part, names in (
        ("TaskEntry", KINDS), ("NoFlyZone", ("circle", "polygon")), ("MissionEvent", EVENTS),
        ("PolygonTask", ("spacing", "camera")), ("FrictionPatch", FrictionPatch.ONE_OF[1]),
        ("Obstacle", Obstacle.ONE_OF[1]), ("TrackSection", SOURCES),
        ("WindProfileSection", WindProfileSection.ONE_OF[1]),
    ):  # fmt: skip
        parts[part]["oneOf"] = [{"required": [name]} for name in names]
    schema["anyOf"] = [{"required": [name]} for name in (*schema.pop("required"), "mission")]
    for name in ENDPOINTS:  # short forms: the port, the name, or true
        short = {"type": "string"} if name == "shm" else {"type": "integer"}
        parts["Serve"]["properties"][name]["anyOf"] += [short, {"const": True}]
    schema["properties"]["track"]["anyOf"].append({"type": "string", "minLength": 1})
    schema["properties"]["record"]["anyOf"].append({"type": "string", "minLength": 1})
    schema["properties"]["contact"]["anyOf"].append({"type": "boolean"})
    parts["WorldSection"]["properties"]["gusts"]["anyOf"].append({"type": "boolean"})
    schema["properties"]["rules"]["anyOf"].append({"enum": list(DISCIPLINES)})
    parts["VehicleEntry"]["properties"]["contact"]["anyOf"].append({"type": "boolean"})
    radio_schema(schema)
    via_schema(schema)
    derived = {"ClockSection": "dt", "VehicleEntry": "name", "TaskEntry": "name", "NoFlyZone": "name"}
    for part, key in {**derived, "AdapterEntry": "name"}.items():  # derived from other fields
        del parts[part]["properties"][key]["default"]
    return {"$schema": SCHEMA_DIALECT, **schema, "title": "Paddock scenario"}
