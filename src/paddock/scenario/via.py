"""What goes over the radio: commands of clients, and MAVLink between autopilots and ground stations (`via: radio`)."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from paddock.errors import unknown_name
from paddock.scenario.base import Positive, Section, Text, Whole, invalid
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


def _expanded(value: Any) -> Any:
    """Convert `radio` to a mapping."""
    if isinstance(value, str):
        if value != RADIO:
            raise invalid(str(unknown_name("way", value, [RADIO])))
        return {}
    return value


Via = Annotated[ViaSection, BeforeValidator(_expanded)]
MavlinkVia = Annotated[MavlinkViaSection, BeforeValidator(_expanded)]


def station_of(via: ViaSection, section: RadioSection) -> str:
    """Return the name of the station of a link that `via_problem` has not refused."""
    return section.stations[0].name if via.radio is None else via.radio


def via_problem(via: ViaSection, section: RadioSection | None, radios: tuple[FittedRadio, ...]) -> tuple[str, bool]:
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
    for part in ("ViaSection", "MavlinkViaSection"):
        if part in schema["$defs"]:
            own = schema["$defs"][part]
            text = own.pop("description", "")
            schema["$defs"][part] = {"description": text, "anyOf": [{"const": RADIO, "type": "string"}, own]}
