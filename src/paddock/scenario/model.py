"""What the user wrote, typed: the whole scenario."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, PrivateAttr, field_validator, model_validator

from paddock.scenario.base import Section, Text, Whole
from paddock.scenario.marks import Marks, Step
from paddock.scenario.mission import Mission, check_cast, default_fleet
from paddock.scenario.sections import Clock, Every, Record, World
from paddock.scenario.serve import Serve
from paddock.scenario.sitl import Sitl, check_sitl
from paddock.scenario.unique import check_ids, check_names, with_names
from paddock.scenario.vehicle import VehicleEntry

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
        from paddock.scenario.dump import dump_yaml

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
