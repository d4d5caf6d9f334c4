"""What every section of a scenario shares: strict finite numbers, short vectors, and errors that know their place."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from paddock.scenario.marks import KeyPath


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
