"""Spoofers of satellite navigation, in the section `radio`."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from paddock.scenario.base import Flag, Name, NotNegative, Number, Place3, Section, Text, Vector3, invalid

MOST_SPOOFERS = 64
MOST_OFFSET = 1e7  # m, of a false position
FASTEST_PULL = 1e4  # m/s


def _pairs(value: Any) -> Any:
    """Check the form of a schedule."""
    if value is not None and not (
        isinstance(value, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in value)
    ):
        raise PydanticCustomError("form", "{form}", {"form": "a list of [from, to] pairs: [[5, 20]]"})
    return value


def _within(most: float, unit: str) -> AfterValidator:
    """Limit the components of a vector."""

    def check(value: tuple[float, float, float]) -> tuple[float, float, float]:
        for k, component in enumerate(value):
            if abs(component) > most:
                raise invalid(f"components are from {-most:g} to {most:g} {unit}, not {component:g}", (k,))
        return value

    return AfterValidator(check)


Schedule = Annotated[tuple[tuple[Number, Number], ...] | None, BeforeValidator(_pairs)]


def check_schedule(on: Sequence[tuple[float, float]]) -> None:
    """Refuse times [from, to] of a jammer or spoofer that do not ascend, or overlap."""
    for k, (begin, end) in enumerate(on):
        if not 0.0 <= begin < end:
            raise invalid(f"times ascend from 0 s: [from, to], not [{begin:g}, {end:g}]", ("on", k))
        if k and begin < on[k - 1][1]:
            raise invalid(f"times ascend and do not overlap: {begin:g} s is before {on[k - 1][1]:g} s", ("on", k))


class PullSection(Section):
    """How the false position walks away from the true one."""

    velocity: Annotated[Vector3, _within(FASTEST_PULL, "m/s")] = Field(
        description="Velocity of the false position relative to the true one [x, y, z], in m/s, each up to 10,000."
    )
    delay: NotNegative = Field(
        default=0.0, le=1e6, description="Time from the capture of a receiver until the walk begins, in s."
    )


class SpooferSection(Section):
    """A transmitter of false satellite signals at L1, at a place or on a vehicle."""

    name: Name = Field(description="Unique name.")
    position: Place3 | None = Field(default=None, description="Place of its antenna [x, y, z], in m.")
    vehicle: Text | None = Field(default=None, description="The vehicle that carries it: red, or scouts[3].")
    power: Annotated[Number, Field(ge=-100.0, le=100.0)] = Field(
        default=-20.0, description="Power of each false signal, radiated equally in all directions, in dBm."
    )
    target: Text | None = Field(
        default=None,
        description="The fleet or vehicle for whose place it forms its signals; others are jammed. Null: all vehicles.",
    )
    pull: PullSection | None = Field(
        default=None, description="The false position begins at the true one and walks away: {velocity: [x, y, z]}."
    )
    offset: Annotated[Vector3, _within(MOST_OFFSET, "m")] | None = Field(
        default=None,
        description="The false position jumps by [x, y, z], in m, each up to 10,000 km, when the receiver is captured.",
    )
    margin: NotNegative = Field(
        default=3.0, le=60.0, description="A receiver is captured from this far above the true signals, in dB."
    )
    capture: NotNegative = Field(default=2.0, le=1e6, description="Time that it takes to capture a receiver, in s.")
    enabled: Flag = Field(default=True, description="Whether it follows its schedule; false: it is off.")
    on: Schedule = Field(default=None, description="Times at which it is on: [[from, to], ...], in s; null: always.")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.position is not None and self.vehicle is not None:
            raise invalid("a spoofer has a position or a vehicle, not both", ("vehicle",))
        if self.position is None and self.vehicle is None:
            raise invalid(f"spoofer {self.name!r} needs a position or a vehicle")
        if self.pull is not None and self.offset is not None:
            raise invalid("a spoofer has either pull or offset, not both", ("offset",))
        if self.pull is None and self.offset is None:
            raise invalid("a spoofer needs pull: {velocity: [x, y, z]} or offset: [x, y, z]")
        check_schedule(self.on or ())
        return self
