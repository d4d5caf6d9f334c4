"""Messages between radios and hopping in a scenario: `messages` of the section `radio`, `hopping` of a radio."""

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from paddock.scenario.base import NotNegative, Number, Positive, Section, Text, Whole, invalid

LONGEST = 1e6  # s


class HoppingSection(Section):
    """Hopping: all radios with one key change their channel together, at random."""

    channels: tuple[Whole, ...] = Field(min_length=2, max_length=1024, description="The channels to hop between.")
    dwell: Positive = Field(default=1.0, le=LONGEST, description="Time on each channel, in s.")
    key: Text = Field(default="", description="Radios with equal keys hop together.")

    @model_validator(mode="after")
    def _different(self) -> Self:
        if len(set(self.channels)) != len(self.channels) or min(self.channels) < 0 or max(self.channels) > 10_000:
            raise invalid("channels are different numbers from 0 to 10000", ("channels",))
        return self


class BeaconSection(Section):
    """Beacons: every radio broadcasts the position, attitude and velocity of its vehicle."""

    rate: Positive = Field(default=10.0, le=1e4, description="Beacons of a vehicle per simulated second, in Hz.")
    bits: Whole = Field(default=512, ge=1, le=1_000_000, description="Size of a beacon, in bits.")
    neighbours: Whole = Field(default=16, ge=1, le=256, description="Number of vehicles whose last state is kept.")
    keep: Positive = Field(default=2.0, le=LONGEST, description="Age at which a heard state no longer counts, in s.")


class MessagesSection(Section):
    """How radios share the channel, and what they keep."""

    sharing: Literal["csma", "aloha", "none"] = Field(
        default="csma",
        description="csma: a radio waits while it senses another; aloha: it does not; none: radios never collide.",
    )
    slot: Positive = Field(default=2e-5, ge=1e-6, le=1.0, description="Length of a slot, in s.")
    window: tuple[Whole, Whole] = Field(
        default=(16, 1024), description="Least and largest contention window [from, to], in slots."
    )
    sense: Number | None = Field(
        default=None,
        ge=-200.0,
        le=50.0,
        description="Power above which a packet makes the channel busy, in dBm; null is the sensitivity of the radio.",
    )
    energy: Number | None = Field(
        default=None,
        ge=-200.0,
        le=100.0,
        description="Power above which jammers and packets of other channels or waveforms make it busy, in dBm; "
        "null is 20 dB above sense.",
    )
    overhead: NotNegative = Field(default=1e-4, le=10.0, description="Preamble of every packet, in s.")
    header_bits: Whole = Field(default=272, ge=0, le=100_000, description="Header of every packet, in bits.")
    ack_bits: Whole = Field(default=112, ge=1, le=100_000, description="Size of an acknowledgement, in bits.")
    retries: Whole = Field(default=5, ge=0, le=100, description="Repetitions of a packet without acknowledgement.")
    hops: Whole = Field(default=16, ge=1, le=255, description="Most hops of a message to one vehicle or station.")
    lifetime: Positive = Field(default=10.0, le=LONGEST, description="Age at which a message is discarded, in s.")
    queue: Whole = Field(default=16, ge=1, le=1024, description="Packets in the queue of a radio.")
    mailbox: Whole = Field(default=32, ge=1, le=4096, description="Received messages that a radio keeps.")
    beacons: BeaconSection | None = Field(default=None, description="Beacons; null: none.")

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        """Take `beacons: true` as beacons with default values."""
        if isinstance(value, dict) and isinstance(value.get("beacons"), bool):
            return {**value, "beacons": {} if value["beacons"] else None}
        return value

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        least, most = self.window
        if not 1 <= least <= most <= 1 << 20:
            raise invalid(f"the window ascends within 1 to {1 << 20} slots, not [{least}, {most}]", ("window",))
        return self
