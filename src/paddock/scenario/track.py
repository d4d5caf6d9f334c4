"""The sections `track` and `rules`.

A track is one of the catalog, of a file, or a generated one, with the friction of its surface. The rules are the
discipline that cars drive on it, its laps, penalties and limits.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, ValidationInfo, model_serializer, model_validator

from paddock.errors import printable, unknown_name
from paddock.scenario.base import (
    Flag,
    NotNegative,
    Number,
    Positive,
    Section,
    Seed,
    Text,
    Vector3,
    Whole,
    has_length,
    invalid,
)
from paddock.scenario.marked_yaml import read_text
from paddock.scenario.problems import ScenarioError
from paddock.scenario.scenery import FILES
from paddock.scenario.vehicle import VehicleEntry

LONGEST_TRACK = 4 << 20  # bytes of a track file
SOURCES = ("name", "file", "generate")  # where a track comes from: exactly one of them
ENDINGS = (".csv", ".txt", ".yaml", ".yml")


class TrackSurface(Section):
    """Friction of the asphalt and of what lies outside."""

    mu: NotNegative = Field(default=1.0, le=10, description="Friction of the track (no unit), in place of the world's.")
    outside: NotNegative = Field(default=0.6, le=10, description="Friction outside its boundaries (no unit).")
    transition: NotNegative = Field(
        default=0.5, le=100, description="Width over which it changes at the boundaries, in m."
    )


class GeneratedTrack(Section):
    """A random track, a function of the seed."""

    seed: Seed = Field(default=0, description="Seed of the track; the same seed, the same track.")
    width: Number = Field(default=3.5, ge=3.0, le=8.0, description="Least width, in m.")
    length: Annotated[tuple[Number, Number], has_length(2, form="[shortest, longest]")] = Field(
        default=(220.0, 480.0), description="Length of a lap [from, to], in m, within 200 to 500."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not 200.0 <= self.length[0] <= self.length[1] <= 500.0:
            raise invalid(f"length must rise within 200 to 500 m, not {list(self.length)}", ("length",))
        return self


class TrackSection(Section):
    """A track: its name in the catalog, a file, or {generate: {seed: 3}}. The scenario keeps the text of a file."""

    name: Text | None = Field(default=None, min_length=1, description="Name of a track of the catalog: autocross, ...")
    file: Text | None = Field(
        default=None, min_length=1, description="Track file; a relative path begins in the folder of the scenario."
    )
    text: Text | None = Field(default=None, max_length=LONGEST_TRACK, description="Text of the file, in recordings.")
    generate: GeneratedTrack | None = Field(default=None, description="A random track.")
    swap_colours: Flag = Field(default=False, description="Exchange blue and yellow cones.")
    start: Vector3 | None = Field(
        default=None, description="Start pose [x, y, yaw], in m and rad; null is that of the file."
    )
    surface: TrackSurface | None = Field(default=None, description="Friction; null is the world's everywhere.")

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        _check_sources([key for key in SOURCES if getattr(self, key) is not None])
        if self.text is not None and self.file is None:
            raise invalid("text is that of a file: give its name as file", ("text",))
        return self

    @model_serializer(mode="wrap")
    def _short_form(self, handler: Any) -> Any:
        document = handler(self)
        set_ = {key for key, value in document.items() if value not in (None, False)}
        return document["name"] if set_ == {"name"} else document


def _check_sources(values: list[str]) -> None:
    if len(values) == 1:
        return
    has = f"has both {values[0]} and {values[1]}: keep one" if values else "has no source: give one"
    choices = "name (a track of the catalog), file (a track file) or generate (a random track)"
    raise invalid(f"the track {has} of {choices}", tuple(values[1:2]))


def _track(value: Any, info: ValidationInfo) -> Any:
    """Expand a name or path, and read the file."""
    if isinstance(value, str):
        value = {"file" if is_track_file(value) else "name": value}
    if not isinstance(value, dict) or not isinstance(value.get("file"), str) or value.get("text") is not None:
        return value
    _check_sources([key for key in SOURCES if value.get(key) is not None])  # before the file is looked for
    folder = (info.context or {}).get(FILES)
    if folder is None:
        raise invalid("files are not read here: give {file: NAME, text: TEXT}", ("file",))
    return {**value, "text": _file_text(Path(folder, value["file"]))}


def is_track_file(name: str) -> bool:
    """Return whether a text is the path of a track file rather than a name of the catalog."""
    return os.path.splitext(name)[1].lower() in ENDINGS or "/" in name or os.sep in name


def _file_text(path: Path) -> str:
    try:
        return read_text(path, LONGEST_TRACK).replace("\r\n", "\n")
    except ScenarioError as error:
        raise invalid(error.problems[0]) from None


TrackChoice = Annotated[TrackSection, BeforeValidator(_track)]

Discipline = Literal["acceleration", "skidpad", "autocross", "trackdrive", "race"]
DNF = "dnf"
MOST_LAPS = 10_000


def _penalty(value: Any) -> Any:
    if isinstance(value, str) and value != DNF:
        near = " (did you mean 'dnf'?)" if value.strip().lower().replace(".", "") == DNF else ""
        raise invalid(f"a penalty is a number of seconds >= 0, or dnf, not {printable(value[:60])!r}{near}")
    return value


Penalty = Annotated[NotNegative | Literal["dnf"], BeforeValidator(_penalty)]


class RaceRules(NamedTuple):
    """The rules of a run, with the values of its discipline where the scenario has none."""

    discipline: str
    laps: int
    cone_penalty: float  # s for each cone that is down or out (DOO)
    off_course_penalty: float | str  # s for each time off course (OC), or dnf
    stop_distance: float  # m after the finish within which a car stops; 0: no such rule
    unsafe_stop_penalty: float | str  # s for a car that stops too late, or dnf
    time_limit: float | None  # s after its start until a car has finished
    start_limit: float | None  # s after the beginning of the run until a car has started


DISCIPLINES: Mapping[str, RaceRules] = MappingProxyType(
    {
        "acceleration": RaceRules("acceleration", 1, 2.0, DNF, 100.0, DNF, None, None),
        "skidpad": RaceRules("skidpad", 4, 0.2, DNF, 25.0, DNF, None, None),
        "autocross": RaceRules("autocross", 1, 2.0, 10.0, 30.0, 0.0, None, None),
        "trackdrive": RaceRules("trackdrive", 10, 2.0, 10.0, 30.0, 0.0, None, None),
        "race": RaceRules("race", 10, 0.0, 0.0, 0.0, 0.0, None, None),
    }
)
"""The disciplines of Formula Student Driverless, and a race; race penalties count but cost nothing unless given."""


class RulesSection(Section):
    """The discipline and its rules; null is the discipline's own value. The name of the discipline is a short form."""

    discipline: Discipline = Field(description="acceleration, skidpad, autocross, trackdrive or race.")
    laps: Whole | None = Field(default=None, ge=1, le=MOST_LAPS, description="Number of laps.")
    vehicles: tuple[Text, ...] | None = Field(
        default=None, min_length=1, description="Vehicles and fleets that take part; null: all cars."
    )
    cone_penalty: NotNegative | None = Field(default=None, description="For each cone that is down or out, in s.")
    off_course_penalty: Penalty | None = Field(
        default=None, description="For each time with all wheels outside the boundaries, in s, or dnf."
    )
    stop_distance: NotNegative | None = Field(
        default=None, description="Distance after the finish within which a car stops, in m; 0: no such rule."
    )
    unsafe_stop_penalty: Penalty | None = Field(
        default=None, description="For a car that does not stop within stop_distance, in s, or dnf."
    )
    time_limit: Positive | None = Field(
        default=None,
        description="Time after its start in which a car finishes, in s; of a race, after which the flag is shown.",
    )
    start_limit: Positive | None = Field(
        default=None, description="Time from the beginning of the run in which a car starts, in s."
    )

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        return {"discipline": value} if isinstance(value, str) else value

    @property
    def resolved(self) -> RaceRules:
        """The rules with the values of the discipline."""
        fields = {name: getattr(self, name) for name in RaceRules._fields}
        return DISCIPLINES[self.discipline]._replace(**{k: v for k, v in fields.items() if v is not None})


def check_rules(section: RulesSection, has_track: bool, vehicles: Sequence[VehicleEntry]) -> None:
    """Refuse rules without a track, more laps than a discipline has, and unknown vehicles."""
    if not has_track:
        raise invalid("rules need a track: add a section `track`, for example `track: trackdrive`", ("rules",))
    fixed = {"acceleration": 1, "skidpad": 4}.get(section.discipline)
    if fixed is not None and section.laps not in (None, fixed):
        laps = f"{fixed} lap{'' if fixed == 1 else 's'}"
        raise invalid(f"{section.discipline} has {laps}, not {section.laps}", ("rules", "laps"))
    counts = {entry.name: entry.count for entry in vehicles}
    seen = set[str]()
    for k, name in enumerate(section.vehicles or ()):
        member = re.fullmatch(r"(.+)\[(\d+)\]", name)
        fleet = member[1] if member else name
        if fleet not in counts:
            raise invalid(str(unknown_name("vehicle", name, sorted(counts))), ("rules", "vehicles", k))
        if member and int(member[2]) >= counts[fleet]:
            raise invalid(f"{fleet!r} has the vehicles 0 to {counts[fleet] - 1}", ("rules", "vehicles", k))
        if name in seen:
            raise invalid(f"{name!r} is listed twice", ("rules", "vehicles", k))
        seen.add(name)


def takes_part(section: RulesSection | None, fleet: str, kind: str) -> bool:
    """Return whether vehicles of a fleet take part: it, or a member, is named; without names, those of cars."""
    if section is None:
        return False
    names = section.vehicles
    return kind == "car" if names is None else any(name.partition("[")[0] == fleet for name in names)
