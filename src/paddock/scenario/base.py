"""Common parts of all sections of a scenario: strict types, short vectors, choices by name, errors with a location."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from paddock.scenario.marked_yaml import plain
from paddock.scenario.problems import KeyPath, ScenarioError


class Section(BaseModel):
    """A section of a scenario: immutable; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def invalid(message: str, at: KeyPath = (), other: KeyPath | None = None) -> PydanticCustomError:
    """Build a validation error; `at` continues the path of the failing value, `{other}` is a second location."""
    return PydanticCustomError("scenario", "{message}", {"message": message, "at": at, "other": other})


class OneOf(Section):
    """A section with exactly one of several fields."""

    ONE_OF: ClassVar[tuple[str, Sequence[str]]]  # the section's name in errors, and the names of the fields

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        named = [name for name in self.ONE_OF[1] if getattr(self, name) is not None]
        if len(named) != 1:
            what, has = self.ONE_OF[0], f"it has {' and '.join(named) or 'none'}"
            at = (named[1],) if named else ()
            raise invalid(f"{what} needs exactly one of {', '.join(self.ONE_OF[1])}; {has}", at)
        return self

    @property
    def kind(self) -> str:
        """The name of the field that is set."""
        return next(name for name in self.ONE_OF[1] if getattr(self, name) is not None)


def _without_controls(text: str) -> str:
    """Refuse control characters, which would reach terminals; tabs and line breaks are allowed."""
    if any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 for c in text):
        raise invalid(f"contains control characters: {text!r:.60}")
    return text


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0)]
NotNegative = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0)]
Whole = Annotated[int, Field(strict=True)]
Seed = Annotated[int, Field(strict=True, ge=0, le=2**64 - 1)]
Text = Annotated[str, Field(strict=True), AfterValidator(_without_controls)]
Flag = Annotated[bool, Field(strict=True)]
LONGEST_NAME = 200  # characters; with an index, it still fits where clients name a vehicle
Name = Annotated[str, Field(strict=True, max_length=LONGEST_NAME, pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")]
Numbers = dict[Text, Number]
Inputs = dict[Text, Number | Text]  # command inputs: numbers, or the name of a choice such as `mode: angle`


def has_length(*lengths: int, form: str) -> BeforeValidator:
    """Check the length of a list before its items."""

    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) not in lengths:
            raise PydanticCustomError("form", "{form}", {"form": form})
        return value

    return BeforeValidator(check)


def _within(low: float, high: float, index: int, what: str) -> AfterValidator:
    """Check the range of one component of a vector."""

    def check(value: tuple[float, ...]) -> tuple[float, ...]:
        if not low <= value[index] <= high:
            raise invalid(f"{what} must be between {low:g} and {high:g}, not {value[index]:g}", (index,))
        return value

    return AfterValidator(check)


Vector2 = Annotated[tuple[Number, Number], has_length(2, form="[x, y]")]
Vector3 = Annotated[tuple[Number, Number, Number], has_length(3, form="[x, y, z]")]
FARTHEST_PLACE = 1e9  # m
Coordinate = Annotated[Number, Field(ge=-FARTHEST_PLACE, le=FARTHEST_PLACE)]
Place3 = Annotated[tuple[Coordinate, Coordinate, Coordinate], has_length(3, form="[x, y, z]")]
"""A place in the world, m."""
GroundOrVector3 = Annotated[
    tuple[Number, ...], Field(min_length=2, max_length=3), has_length(2, 3, form="[x, y] or [x, y, z]")
]
"""`[x, y]` (on the ground) or `[x, y, z]`: metres, world frame ENU."""
Pose = Annotated[
    tuple[Number, ...], Field(min_length=3, max_length=4), has_length(3, 4, form="[x, y, yaw] or [x, y, z, yaw]")
]
"""`[x, y, yaw]` (on the ground) or `[x, y, z, yaw]`: metres and radians, world frame ENU."""
Origin = Annotated[
    tuple[Number, Number, Number],
    has_length(3, form="[latitude, longitude, height]"),
    _within(-90, 90, 0, "latitude"),
    _within(-180, 180, 1, "longitude"),
    _within(-1000, 100_000, 2, "height"),
]
"""`[latitude deg, longitude deg, height m]` of the world's (0, 0, 0) on WGS 84."""


class Choice(Section):
    """Something chosen by name, with options: `hold`, or `{flock: {radius: 10}}`. The engine checks both."""

    name: Text = Field(min_length=1, description="Its name.")
    options: dict[Text, Any] = Field(default_factory=dict, description="Its options.")

    @field_validator("options", mode="before")
    @classmethod
    def _plain_options(cls, options: Any) -> Any:
        try:
            return plain(options)
        except ScenarioError as error:
            raise invalid(error.problems[0]) from None

    @model_serializer
    def _short_form(self) -> str | dict[str, Any]:
        return {self.name: self.options} if self.options else self.name

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the two forms that users write."""
        single = {"type": "object", "minProperties": 1, "maxProperties": 1}
        long = {**single, "additionalProperties": {"type": ["object", "null"]}}
        return {"description": cls.__doc__, "anyOf": [{"type": "string", "minLength": 1}, long]}


class BehaviourChoice(Choice):
    """The behaviour that drives a vehicle: a name, or {name: {options}}."""


class SensorChoice(Choice):
    """A sensor of a vehicle: a kind, or {kind: {options}}."""


class MethodChoice(Choice):
    """The planning method that assigns and orders tasks: a name, or {name: {options}}."""


def _choice(kind: str) -> BeforeValidator:
    """Convert `name` and `{name: {options}}` to the fields of a choice."""

    def convert(data: Any) -> Any:
        if isinstance(data, Choice):
            return data
        if isinstance(data, str):
            return {"name": data}
        if not isinstance(data, dict):
            raise invalid(f"a {kind} is a name or {{name: {{options}}}}, not {data!r:.60}")
        if len(data) != 1:
            listed = f" ({', '.join(map(str, data))})" if data else ""
            raise invalid(f"a {kind} is one name with its options, not {len(data)} keys{listed}")
        [(name, options)] = data.items()
        if options is not None and not isinstance(options, dict):
            raise invalid(f"the options of {kind} {name!r} must be a mapping, not {options!r:.60}", (name,))
        return {"name": name, "options": options or {}}

    return BeforeValidator(convert)


Behaviour = Annotated[BehaviourChoice, _choice("behaviour")]
Sensor = Annotated[SensorChoice, _choice("sensor")]
Method = Annotated[MethodChoice, _choice("method")]
