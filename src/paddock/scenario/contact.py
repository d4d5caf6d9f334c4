"""The section `contact` of a scenario, and the contact settings of a fleet."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from paddock.errors import unknown_name
from paddock.scenario.base import Flag, NotNegative, Number, Positive, Section, Text, invalid

OBSTACLES = "obstacles"  # the layer of static obstacles
DEFAULT_LAYER = "vehicles"


class ContactSection(Section):
    """Vehicles touch each other and obstacles. `true` is a short form of all defaults."""

    friction: NotNegative = Field(
        default=0.5, le=10.0, description="Coulomb friction of bodies (no unit): of two, the geometric mean."
    )
    restitution: Number = Field(
        default=0.2,
        ge=0.0,
        le=1.0,
        description="Share of the approach speed after a touch (no unit): of two, the larger.",
    )
    overlap: Literal["refuse", "resolve"] = Field(
        default="refuse", description="Vehicles that overlap at the start: refuse the scenario, or move them apart."
    )
    crash_speed: Positive | None = Field(
        default=4.0,
        description="Change of speed by a touch, in m/s, from which a drone crashes and is disarmed; null: never.",
    )


class FleetContact(Section):
    """How a fleet takes part in contact. `false` leaves it out."""

    enabled: Flag = Field(default=True, description="Whether others can touch it.")
    layer: Text = Field(default=DEFAULT_LAYER, min_length=1, description="The name of its layer.")
    ignores: tuple[Text, ...] = Field(
        default=(), description="Layers whose bodies it passes through; `obstacles` are those of the world."
    )
    friction: NotNegative | None = Field(default=None, le=10.0, description="Its friction; null is that of `contact`.")
    restitution: Number | None = Field(
        default=None, ge=0.0, le=1.0, description="Its restitution; null is that of `contact`."
    )

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        return {"enabled": value} if isinstance(value, bool) else value


def check_contact(section: ContactSection | None, fleets: Sequence[FleetContact | None]) -> None:
    """Refuse contact settings of a fleet without contact, and layers that no fleet has."""
    layers = {OBSTACLES, *(DEFAULT_LAYER if fleet is None else fleet.layer for fleet in fleets)}
    for k, fleet in enumerate(fleets):
        if fleet is None:
            continue
        if section is None and fleet.enabled:
            raise invalid("contact is off: add a section `contact: {}` to the scenario", ("vehicles", k, "contact"))
        for m, layer in enumerate(fleet.ignores):
            if layer not in layers:
                error = unknown_name("contact layer", layer, sorted(layers))
                raise invalid(str(error), ("vehicles", k, "contact", "ignores", m))
