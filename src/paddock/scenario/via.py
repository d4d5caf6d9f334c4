"""What goes over the radio (`via: radio`): commands, missions, and MAVLink between autopilots and ground stations."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from paddock.errors import unknown_name
from paddock.scenario.base import NotNegative, Positive, Section, Text, Whole, invalid
from paddock.scenario.radio import FittedRadio, RadioSection
from paddock.scenario.serve import LAST_PORT

RADIO = "radio"  # the only way so far
LONGEST_QUEUE = 64


class ViaSection(Section):
    """A link to a ground station: `radio`, or {radio: station}, with options."""

    radio: Text | None = Field(
        default=None, description="The station at which the client or ground station is; null is the first station."
    )
    retries: Whole = Field(default=3, ge=0, le=20, description="Repetitions of a packet that was not acknowledged.")
    queue: Whole = Field(
        default=8, ge=1, le=LONGEST_QUEUE, description="Packets that wait to be sent; more are dropped."
    )
    header_bits: Whole = Field(
        default=128,
        ge=1,
        le=100_000,
        description="Bits added to each packet, and length of an acknowledgement.",
    )


class MavlinkViaSection(ViaSection):
    """A link between autopilots and their ground station: `radio`, or {radio: station}, with options."""

    queue: Whole = Field(
        default=LONGEST_QUEUE, ge=1, le=1024, description="Packets of each direction that wait to be sent."
    )
    heartbeat: Positive | None = Field(
        default=None,
        le=50.0,
        description="Heartbeats of the scenario's own ground station per simulated second, in Hz; null: they come from "
        "programs that connect.",
    )
    relay: Annotated[Whole, Field(ge=1, le=LAST_PORT)] | None = Field(
        default=None,
        description="Of a real autopilot: UDP port to which it sends its packets; 1 more for each further one.",
    )


class MissionViaSection(Section):
    """The way between a mission and its vehicles: `radio`, or {radio: station}, with options."""

    radio: Text | None = Field(
        default=None, description="The station at which the mission is planned; null is the first station."
    )
    lost_after: NotNegative = Field(
        default=2.0, le=1e6, description="Contact with a vehicle is lost after this time without a path to it, in s."
    )
    lost_link: Literal["return", "hold", "continue"] = Field(
        default="return",
        description="What a vehicle does after the time-out: return home or hold, and others get its tasks; or "
        "continue to the end of its route.",
    )
    timeout: NotNegative = Field(
        default=20.0, le=1e6, description="Time without a path after which a vehicle acts on its own, in s."
    )

    replan_every: NotNegative = Field(
        default=5.0, le=1e6, description="Shortest time between plans for lost and regained contacts, in s."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.timeout < self.lost_after:
            raise invalid(f"the time-out must not be before contact is lost, {self.lost_after:g} s", ("timeout",))
        return self


def _expanded(value: Any) -> Any:
    """Convert `radio` to a mapping."""
    if isinstance(value, str):
        if value != RADIO:
            raise invalid(str(unknown_name("way", value, [RADIO])))
        return {}
    return value


Via = Annotated[ViaSection, BeforeValidator(_expanded)]
MissionVia = Annotated[MissionViaSection, BeforeValidator(_expanded)]
MavlinkVia = Annotated[MavlinkViaSection, BeforeValidator(_expanded)]


def station_of(via: ViaSection | MissionViaSection, section: RadioSection) -> str:
    """Return the name of the station of a link that `via_problem` has not refused."""
    return section.stations[0].name if via.radio is None else via.radio


def via_problem(
    via: ViaSection | MissionViaSection, section: RadioSection | None, radios: tuple[FittedRadio, ...]
) -> tuple[str, bool]:
    """Return what is wrong with a link of vehicles with these radios ("": nothing), and whether it is the station."""
    if section is None:
        return "there is no radio: add a section `radio: {}` to the scenario", False
    if not section.stations:
        return "there is no ground station: add `stations: [{name: base, position: [0, 0, 2]}]` to the radio", False
    names = [one.name for one in section.stations]
    if via.radio is not None and via.radio not in names:
        return str(unknown_name("station", via.radio, names)), True
    if not radios:
        return "its vehicles have no radio: add `radio: default` to their entry", False
    return "", False


def via_schema(schema: dict[str, Any]) -> None:
    """Add the short form to the JSON schema of a scenario."""
    for part in ("ViaSection", "MavlinkViaSection", "MissionViaSection"):
        if part in schema["$defs"]:
            own = schema["$defs"][part]
            text = own.pop("description", "")
            schema["$defs"][part] = {"description": text, "anyOf": [{"const": RADIO, "type": "string"}, own]}
