"""What every section of a scenario shares: strict finite numbers, short vectors, and errors that know their place."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from paddock.scenario.marked_yaml import plain
from paddock.scenario.problems import KeyPath, ScenarioError


class Section(BaseModel):
    """A mapping of a scenario: no unknown keys, never changed after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def trouble(message: str, at: KeyPath = (), other: KeyPath | None = None) -> PydanticCustomError:
    """Build a validation error; `at` leads on from the failing value, `{other}` stands for a second place."""
    return PydanticCustomError("scenario", "{message}", {"message": message, "at": at, "other": other})


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0)]
NotNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0)]
Whole = Annotated[int, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]


def _has_length(*lengths: int, form: str) -> BeforeValidator:
    """Check how many numbers a list has before the numbers themselves."""

    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) not in lengths:
            raise PydanticCustomError("form", "{form}", {"form": form})
        return value

    return BeforeValidator(check)


Vector2 = Annotated[tuple[Number, Number], _has_length(2, form="[x, y]")]
Vector3 = Annotated[tuple[Number, Number, Number], _has_length(3, form="[x, y, z]")]
Pose = Annotated[
    tuple[Number, ...],
    Field(min_length=3, max_length=4),
    _has_length(3, 4, form="[x, y, yaw] or [x, y, z, yaw]"),
]
"""`[x, y, yaw]` (on the ground) or `[x, y, z, yaw]`: metres and radians, world frame ENU."""


def _within(low: float, high: float, index: int, what: str) -> AfterValidator:
    """Check the range of one component of a vector."""

    def check(value: tuple[float, ...]) -> tuple[float, ...]:
        if not low <= value[index] <= high:
            raise trouble(f"{what} must be between {low:g} and {high:g}, not {value[index]:g}", (index,))
        return value

    return AfterValidator(check)


Origin = Annotated[
    tuple[Number, Number, Number],
    _has_length(3, form="[latitude, longitude, height]"),
    _within(-90, 90, 0, "latitude"),
    _within(-180, 180, 1, "longitude"),
    _within(-1000, 100_000, 2, "height"),
]
"""`[latitude deg, longitude deg, height m]` of the world's (0, 0, 0) on WGS 84."""

Numbers = dict[Text, Number]
Inputs = dict[Text, Number | Text]
"""Command inputs: numbers, or the name of a choice such as `mode: angle`."""
"""Names with a number each."""


def _plain(options: Any) -> Any:
    try:
        return plain(options)
    except ScenarioError as error:
        raise trouble(error.problems[0]) from None


Options = Annotated[dict[Text, Any], BeforeValidator(_plain)]


class Choice(Section):
    """Something picked by name, with its options. Which names and options exist is the engine's to say."""

    name: Text = Field(min_length=1, description="Its name.")
    options: Options = Field(default_factory=dict, description="Its options.")

    @model_serializer
    def _short_form(self) -> str | dict[str, Any]:
        return {self.name: self.options} if self.options else self.name

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the two forms that people write."""
        one = {"type": "object", "minProperties": 1, "maxProperties": 1}
        long = {**one, "additionalProperties": {"type": ["object", "null"]}}
        return {"description": cls.__doc__, "anyOf": [{"type": "string", "minLength": 1}, long]}


class BehaviourChoice(Choice):
    """What drives a vehicle: the name of a behaviour, or {name: {options}}."""


class SensorChoice(Choice):
    """What a vehicle perceives with: the kind of a sensor, or {kind: {options}}."""


class MethodChoice(Choice):
    """How tasks are given out and put in order: the name of a method, or {name: {options}}."""


def _from_written(kind: str) -> BeforeValidator:
    """Turn `name` and `{name: {options}}` into the fields of a choice."""

    def convert(data: Any) -> Any:
        if isinstance(data, Choice):
            return data
        if isinstance(data, str):
            return {"name": data}
        if not isinstance(data, dict):
            raise trouble(f"a {kind} is a name or {{name: {{options}}}}, not {data!r:.60}")
        if len(data) != 1:
            raise trouble(f"a {kind} is one name with its options, not {len(data)} keys{_listed(data)}")
        return _from_pair(kind, *next(iter(data.items())))

    return BeforeValidator(convert)


def _listed(data: dict[str, Any]) -> str:
    return f" ({', '.join(map(str, data))})" if data else ""


def _from_pair(kind: str, name: str, options: Any) -> dict[str, Any]:
    if options is not None and not isinstance(options, dict):
        raise trouble(f"the options of {kind} {name!r} must be a mapping, not {options!r:.60}", (name,))
    return {"name": name, "options": options or {}}


Behaviour = Annotated[BehaviourChoice, _from_written("behaviour")]
Sensor = Annotated[SensorChoice, _from_written("sensor")]
Method = Annotated[MethodChoice, _from_written("method")]
