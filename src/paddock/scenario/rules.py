"""The section `rules` of a scenario: the discipline that cars drive on the track, its laps, penalties and limits."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from paddock.errors import printable, unknown_name
from paddock.scenario.base import NotNegative, Positive, Section, Text, Whole, invalid
from paddock.scenario.vehicle import VehicleEntry

Discipline = Literal["acceleration", "skidpad", "autocross", "trackdrive", "race"]
DNF = "dnf"
MOST_LAPS = 10_000


def _penalty(value: Any) -> Any:
    if isinstance(value, str) and value != DNF:
        near = " (did you mean 'dnf'?)" if value.strip().lower().replace(".", "") == DNF else ""
        raise invalid(f"a penalty is a number of seconds >= 0, or dnf, not {printable(value[:60])!r}{near}")
    return value


Penalty = Annotated[NotNegative | Literal["dnf"], BeforeValidator(_penalty)]


class Rules(NamedTuple):
    """The rules of a run, with the values of its discipline where the scenario has none."""

    discipline: str
    laps: int
    cone_penalty: float  # s for each cone that is down or out (DOO)
    off_course_penalty: float | str  # s for each time off course (OC), or dnf
    stop_distance: float  # m after the finish within which a car stops; 0: no such rule
    unsafe_stop_penalty: float | str  # s for a car that stops too late, or dnf
    time_limit: float | None  # s after its start until a car has finished
    start_limit: float | None  # s after the beginning of the run until a car has started


DISCIPLINES: Mapping[str, Rules] = MappingProxyType(
    {
        "acceleration": Rules("acceleration", 1, 2.0, DNF, 100.0, DNF, None, None),
        "skidpad": Rules("skidpad", 4, 0.2, DNF, 25.0, DNF, None, None),
        "autocross": Rules("autocross", 1, 2.0, 10.0, 30.0, 0.0, None, None),
        "trackdrive": Rules("trackdrive", 10, 2.0, 10.0, 30.0, 0.0, None, None),
        "race": Rules("race", 10, 0.0, 0.0, 0.0, 0.0, None, None),
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
    def resolved(self) -> Rules:
        """The rules with the values of the discipline."""
        given = {name: getattr(self, name) for name in Rules._fields}
        return DISCIPLINES[self.discipline]._replace(**{k: v for k, v in given.items() if v is not None})


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
