"""Spoofers of satellite navigation, in the section `radio`."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from paddock.scenario.base import Flag, Name, NotNegative, Number, Section, Text, Vector3, invalid

MOST_SPOOFERS = 64


class PullSection(Section):
    """How the false position walks away from the true one."""

    velocity: Vector3 = Field(description="Velocity of the false position relative to the true one [x, y, z], in m/s.")
    delay: NotNegative = Field(
        default=0.0, le=1e6, description="Time from the capture of a receiver until the walk begins, in s."
    )


class SpooferSection(Section):
    """A transmitter of false satellite signals at L1, at a place or on a vehicle."""

    name: Name = Field(description="Unique name.")
    position: Vector3 | None = Field(default=None, description="Place of its antenna [x, y, z], in m.")
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
    offset: Vector3 | None = Field(
        default=None, description="The false position jumps by [x, y, z], in m, when the receiver is captured."
    )
    margin: NotNegative = Field(
        default=3.0, le=60.0, description="A receiver is captured from this far above the true signals, in dB."
    )
    capture: NotNegative = Field(default=2.0, le=1e6, description="Time that it takes to capture a receiver, in s.")
    enabled: Flag = Field(default=True, description="Whether it follows its schedule; false: it is off.")
    on: tuple[tuple[Number, Number], ...] | None = Field(
        default=None, description="Times at which it is on: [[from, to], ...], in s; null: always."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.position is not None and self.vehicle is not None:
            raise invalid("a spoofer has a position or a vehicle, not both", ("vehicle",))
        if self.position is None and self.vehicle is None:
            raise invalid(f"spoofer {self.name!r} needs a position or a vehicle")
        if (self.pull is None) == (self.offset is None):
            raise invalid("a spoofer needs pull: {velocity: [x, y, z]} or offset: [x, y, z]")
        for k, (begin, end) in enumerate(self.on or ()):
            if not 0.0 <= begin < end:
                raise invalid(f"times ascend from 0 s: [from, to], not [{begin:g}, {end:g}]", ("on", k))
        return self
