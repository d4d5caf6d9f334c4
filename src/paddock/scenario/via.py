"""What goes over the radio (`via: radio`): commands, missions, and MAVLink between autopilots and ground stations."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from paddock.errors import unknown_name
from paddock.scenario.base import NotNegative, Positive, Section, Text, Whole, invalid
from paddock.scenario.radio import RadioSection
from paddock.scenario.radio_types import FittedRadio, RadioType
from paddock.scenario.serve import LAST_PORT

RADIO = "radio"  # the only way so far
LONGEST_QUEUE = 64


class ViaSection(Section):
    """The way of commands from a ground station: `radio`, or {radio: station}, with options."""

    radio: Text | None = Field(
        default=None, description="The station at which the client is; null is the first station."
    )
    telemetry: Positive | None = Field(
        default=None,
        le=1e4,
        description="States that each vehicle sends to the station per simulated second, in Hz; null: none.",
    )

    @model_validator(mode="before")
    @classmethod
    def _moved(cls, value: Any) -> Any:
        """Refuse options that belong to the channel."""
        for name in ("retries", "queue", "header_bits"):
            if isinstance(value, dict) and name in value:
                raise invalid(f"commands share the channel with messages: set {name} of `messages` of `radio`", (name,))
        return value


class MavlinkViaSection(Section):
    """A link between autopilots and their ground station: `radio`, or {radio: station}, with options."""

    radio: Text | None = Field(
        default=None, description="The station at which the ground station is; null is the first station."
    )
    retries: Whole = Field(
        default=3, ge=0, le=20, description="Repetitions of a packet that was not acknowledged, at each hop."
    )
    queue: Whole = Field(
        default=LONGEST_QUEUE, ge=1, le=1024, description="MAVLink packets that wait to be sent, at each radio."
    )
    header_bits: Whole = Field(
        default=128,
        ge=1,
        le=100_000,
        description="Bits added to each packet.",
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
    reports: Positive = Field(default=1.0, le=10.0, description="Reports of a vehicle per simulated second, in Hz.")
    report_bits: Whole = Field(default=400, ge=1, le=100_000, description="Size of a report, in bits.")
    waypoint_bits: Whole = Field(
        default=304, ge=1, le=100_000, description="Size of a route per waypoint, in bits; 304 are a MISSION_ITEM_INT."
    )
    mtu: Whole = Field(
        default=1024,
        ge=16,
        le=65_535,
        description="Largest packet of a route, in bytes without the header; longer routes are sent in parts.",
    )
    heartbeat: Positive = Field(
        default=2.0, le=1e6, description="Longest time between packets of the station to a vehicle that reports, in s."
    )
    lost_after: NotNegative = Field(
        default=3.0, le=1e6, description="Contact with a vehicle is lost after this time without a report, in s."
    )
    lost_link: Literal["return", "hold", "continue"] = Field(
        default="return",
        description="What a vehicle does after the time-out: return home or hold, and others get its tasks; or "
        "continue to the end of its route.",
    )
    timeout: NotNegative = Field(
        default=20.0,
        le=1e6,
        description="Time without a packet of the station after which a vehicle acts on its own, in s.",
    )

    replan_every: NotNegative = Field(
        default=5.0, le=1e6, description="Shortest time between plans for lost and regained contacts, in s."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.timeout < self.lost_after:
            raise invalid(f"the time-out must not be before contact is lost, {self.lost_after:g} s", ("timeout",))
        if self.lost_after <= 1.0 / self.reports:
            raise invalid(f"contact must not be lost between two reports, {1.0 / self.reports:g} s", ("lost_after",))
        if self.timeout <= self.heartbeat:
            raise invalid(f"the time-out must be longer than the heartbeat, {self.heartbeat:g} s", ("timeout",))
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


AnyVia = ViaSection | MavlinkViaSection | MissionViaSection


def station_of(via: AnyVia, section: RadioSection) -> str:
    """Return the name of the station of a link that `via_problem` has not refused."""
    return section.stations[0].name if via.radio is None else via.radio


def via_problem(
    via: AnyVia,
    section: RadioSection | None,
    radios: tuple[FittedRadio, ...],
    relays: Iterable[tuple[FittedRadio, ...]],
) -> tuple[str, bool]:
    """Return what is wrong with a link of vehicles with these radios ("": nothing), and whether it is the station.

    `relays` are the radios of all vehicles, which may pass packets on.
    """
    if section is None:
        return "there is no radio: add a section `radio: {}` to the scenario", False
    if not section.stations:
        return "there is no ground station: add `stations: [{name: base, position: [0, 0, 2]}]` to the radio", False
    names = [station.name for station in section.stations]
    if via.radio is not None and via.radio not in names:
        return str(unknown_name("station", via.radio, names)), True
    if not radios:
        return "its vehicles have no radio: add `radio: default` to their entry", False
    name, types, relays = station_of(via, section), section.known_types, list(relays)
    if any(radio.type not in types for held in (radios, *relays) for radio in held):
        return "", False  # an error elsewhere
    mine = [radio.of(types) for radio in radios]
    [theirs] = [[radio.of(types) for radio in station.radio] for station in section.stations if station.name == name]
    others = [
        [radio.of(types) for radio in held] for held in (*relays, *(station.radio for station in section.stations))
    ]
    if not _connected(mine, theirs, others):
        reason = mine[0].mismatch(theirs[0])
        return f"the radios of its vehicles and of station {name!r} cannot communicate: {reason}", True
    return "", False


def _connected(mine: list[RadioType], theirs: list[RadioType], others: list[list[RadioType]]) -> bool:
    """Return whether packets could pass from one set of radios to another, over others that hold several."""
    reached, waiting = list(mine), others
    while True:
        if any(not peer.mismatch(two) for peer in reached for two in theirs):
            return True
        near = [held for held in waiting if any(not peer.mismatch(two) for peer in reached for two in held)]
        if not near:
            return False
        reached = [peer for held in near for peer in held]
        waiting = [held for held in waiting if not any(held is peer for peer in near)]


def via_schema(schema: dict[str, Any]) -> None:
    """Add the short form to the JSON schema of a scenario."""
    for part in ("ViaSection", "MavlinkViaSection", "MissionViaSection"):
        if part in schema["$defs"]:
            own = schema["$defs"][part]
            text = own.pop("description", "")
            schema["$defs"][part] = {"description": text, "anyOf": [{"const": RADIO, "type": "string"}, own]}
