"""Types of radios in a scenario: antennas, hopping, messages, and which radios can communicate.

Some options are written as a kind or {kind: {options}}.
"""

from collections.abc import Mapping, Sequence
from math import isclose
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from paddock.errors import unknown_name
from paddock.scenario.base import (
    Flag,
    Name,
    NotNegative,
    Number,
    Place3,
    Positive,
    Section,
    Text,
    Vector3,
    Whole,
    invalid,
)

POLARISATIONS = ("vertical", "horizontal", "left", "right")
ANTENNAS = ("isotropic", "dipole", "sector", "pattern")
ANTENNA_OPTIONS = {
    "sector": ("gain", "beamwidth_deg", "beamheight_deg", "yaw_deg", "pitch_deg"),
    "pattern": ("azimuths_deg", "elevations_deg", "gains", "yaw_deg", "pitch_deg", "gain"),
}
LEAST_GAIN, MOST_GAIN = -200.0, 80.0  # dBi, of a pattern
LONGEST = 1e6  # s: times of messages and hopping
DEFAULT_TYPE = "default"
ModulationName = Literal[
    "bpsk", "qpsk", "16qam", "64qam", "fsk", "gmsk", "lora7", "lora8", "lora9", "lora10", "lora11", "lora12"
]  # fmt: skip
MODULATIONS: tuple[str, ...] = get_args(ModulationName)
BITS_PER_SYMBOL = {"bpsk": 1, "qpsk": 2, "16qam": 4, "64qam": 6, "fsk": 1, "gmsk": 1}
CHANNELS = ("channel", "hopping", "channel_spacing", "frequency")  # settings of a fitted radio
WAVEFORM = ("bandwidth", "bit_rate", "modulation", "frequency", "channel", "hopping", "channel_spacing")
MOST_RADIOS = 8  # of one vehicle
LOWEST_FREQUENCY, HIGHEST_FREQUENCY = 1e6, 3e11  # Hz
LEAST_BANDWIDTH, MOST_BANDWIDTH = 1.0, 1e11  # Hz
LEAST_RATE, MOST_RATE = 1e-3, 1e12  # bit/s
SAME_CHANNEL = 0.1  # of the bandwidth: centre frequencies may differ by this much
SAME = 1e-6  # relative difference of bandwidths and bit rates that count as equal


def one_of(kind: str, names: Sequence[str]) -> BeforeValidator:
    """Check a name against the valid ones; the error suggests the nearest."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and value not in names:
            raise invalid(str(unknown_name(kind, value, names)))
        return value

    return BeforeValidator(check)


def option(
    what: str, kinds: Sequence[str], number: str = "", of: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> BeforeValidator:
    """Convert `name`, `{name: {options}}` and, where `number` is an option, `{name: number}` to fields with a kind.

    `of` has the options of kinds, for errors.
    """

    def convert(value: Any) -> Any:
        if isinstance(value, str):
            value = {"kind": value}
        elif isinstance(value, dict) and len(value) == 1 and "kind" not in value:
            [(kind, options)] = value.items()
            if number and isinstance(options, int | float) and not isinstance(options, bool):
                options = {number: options}
            complete = options is None or (isinstance(options, dict) and [*options] == [number])
            if number and kind in kinds and not complete:
                raise invalid(f"{what} {kind!r} takes a number: {{{kind}: 2}}, not {options!r:.60}", (str(kind),))
            if options is not None and not isinstance(options, dict):
                raise invalid(f"the options of {what} {kind!r} must be a mapping, not {options!r:.60}", (str(kind),))
            for name in (options or {}) if kind in of else ():
                if name not in of[kind]:
                    raise invalid(str(unknown_name(f"option of {what} {kind!r}", str(name), of[kind])))
            value = {"kind": kind, **(options or {})}
        elif isinstance(value, dict) and "kind" not in value:
            written = " and ".join(map(str, value)) or "none"
            raise invalid(f"{what} has one kind: {', '.join(kinds[:-1])} or {kinds[-1]}; not {written:.60}")
        if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"] not in kinds:
            raise invalid(str(unknown_name(what, value["kind"], kinds)))
        return value

    return BeforeValidator(convert)


Polarisation = Annotated[Literal["vertical", "horizontal", "left", "right"], one_of("polarisation", POLARISATIONS)]


class AntennaSection(Section):
    """An antenna: a kind, or {kind: {options}}. Its axis follows the attitude of the vehicle."""

    kind: Literal["isotropic", "dipole", "sector", "pattern"] = Field(
        description="isotropic, dipole, sector or pattern."
    )
    gain: Number | None = Field(
        default=None,
        ge=-50.0,
        le=80.0,
        description="Largest gain, in dBi; null: isotropic 0, dipole 2.15, sector: that of its beam without losses.",
    )
    beamwidth_deg: Positive | None = Field(
        default=None, le=360.0, description="Of a sector: width of the beam 3 dB down, in degrees; null is 60."
    )
    beamheight_deg: Positive | None = Field(
        default=None, le=180.0, description="Of a sector: height of the beam 3 dB down, in degrees; null is 60."
    )
    yaw_deg: Number = Field(default=0.0, description="Direction of the beam, to the left of the front, in degrees.")
    pitch_deg: Number = Field(default=0.0, description="Elevation of the beam above the front, in degrees.")
    azimuths_deg: tuple[Number, ...] | None = Field(
        default=None, description="Of a pattern: ascending angles to the left, within 360 degrees."
    )
    elevations_deg: tuple[Number, ...] | None = Field(
        default=None, description="Of a pattern: ascending angles, within -90 to 90 degrees."
    )
    gains: tuple[tuple[Number, ...], ...] | None = Field(
        default=None, description="Of a pattern: a row of gains for each elevation, in dBi, a value for each azimuth."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        table = ("azimuths_deg", "elevations_deg", "gains")
        for names, kind in ((("beamwidth_deg", "beamheight_deg"), "sector"), (table, "pattern")):
            for name in names:
                if getattr(self, name) is not None and self.kind != kind:
                    raise invalid(f"{name} is an option of antenna {kind!r}, not of {self.kind!r}")
        if self.kind == "pattern":
            if any(getattr(self, name) is None for name in table):
                raise invalid(f"antenna 'pattern' needs {', '.join(table)}")
            if self.gain is not None:
                raise invalid("the gains of antenna 'pattern' are its table; leave out gain")
            self._check_table(self.azimuths_deg or (), self.elevations_deg or (), self.gains or ())
        return self

    def _check_table(self, azimuths: Sequence[float], elevations: Sequence[float], gains: Sequence[Any]) -> None:
        """Refuse angles that do not ascend, and rows of gains that do not fit them."""
        for name, angles, low, high in (
            ("azimuths_deg", azimuths, -360.0, 360.0),
            ("elevations_deg", elevations, -90.0, 90.0),
        ):
            if not angles:
                raise invalid(f"{name} of a pattern are one or more angles", (name,))
            for k, angle in enumerate(angles):
                if not low <= angle <= high:
                    raise invalid(f"{name} are from {low:g} to {high:g}, not {angle:g}", (name, k))
                if k and angle <= angles[k - 1]:
                    raise invalid(f"{name} must ascend: {angle:g} follows {angles[k - 1]:g}", (name, k))
        if azimuths[-1] - azimuths[0] > 360.0:
            span = f"{azimuths[0]:g} to {azimuths[-1]:g}"
            raise invalid(f"azimuths_deg must lie within 360 degrees, not {span}", ("azimuths_deg", len(azimuths) - 1))
        if len(gains) != len(elevations):
            rows = f"{len(elevations)} elevations, not {len(gains)}"
            raise invalid(f"gains of a pattern have a row for each of its {rows}", ("gains",))
        for k, row in enumerate(gains):
            if len(row) != len(azimuths):
                values = f"{len(azimuths)} azimuths, not {len(row)}"
                raise invalid(f"a row of gains has a value for each of its {values}", ("gains", k))
            for m, gain in enumerate(row):
                if not LEAST_GAIN <= gain <= MOST_GAIN:
                    raise invalid(f"gains are from {LEAST_GAIN:g} to {MOST_GAIN:g} dBi, not {gain:g}", ("gains", k, m))
            if azimuths[-1] - azimuths[0] == 360.0 and row[0] != row[-1]:
                same = f"{azimuths[0]:g} and {azimuths[-1]:g} degrees are one direction"
                raise invalid(f"{same}: their gains must be equal, not {row[0]:g} and {row[-1]:g}", ("gains", k))


Antenna = Annotated[AntennaSection, option("antenna", ANTENNAS, of=ANTENNA_OPTIONS)]


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


OFFSET_QUADRATURE = ("gmsk",)  # MSK is QPSK of half-sine pulses: bits on two phases in turn


def most_bit_rate(modulation: str, bandwidth: float) -> float:
    """Return the highest bit rate (bit/s) in a bandwidth (Hz): that of a symbol per second and hertz (Nyquist).

    MSK has two bits in such a symbol: GSM sends 271 kbit/s in 200 kHz.
    """
    return default_bit_rate(modulation, bandwidth) * (2.0 if modulation in OFFSET_QUADRATURE else 1.0)


def band_problem(centre: float, bandwidth: float) -> str:
    """Return what is wrong with a band (Hz) that begins below 0 Hz; "" for others."""
    if bandwidth <= 2.0 * centre:
        return ""
    widest = f"the widest there has {2.0 * centre:g} Hz"
    return f"a band of {bandwidth:g} Hz around {centre:g} Hz begins below 0 Hz; {widest}"


def default_bit_rate(modulation: str, bandwidth: float) -> float:
    """Return the bit rate (bit/s) of a symbol per second and hertz; of LoRa, a symbol of SF bits in 2^SF chips."""
    if modulation in BITS_PER_SYMBOL:
        return BITS_PER_SYMBOL[modulation] * bandwidth
    spreading = int(modulation.removeprefix("lora"))
    return spreading * bandwidth / 2.0**spreading


Frequency = Annotated[Positive, Field(ge=LOWEST_FREQUENCY, le=HIGHEST_FREQUENCY)]
Power = Annotated[Number, Field(ge=-100.0, le=100.0)]
Bandwidth = Annotated[Positive, Field(ge=LEAST_BANDWIDTH, le=MOST_BANDWIDTH)]
BitRate = Annotated[Positive, Field(ge=LEAST_RATE, le=MOST_RATE)]
Modulation = Annotated[ModulationName, one_of("modulation", MODULATIONS)]


class RadioType(Section):
    """A radio: transmitter and receiver."""

    frequency: Frequency = Field(default=2.4e9, description="Centre frequency of channel 0, in Hz.")
    bandwidth: Bandwidth = Field(default=20e6, description="Bandwidth, in Hz.")
    power: Power = Field(default=20.0, description="Transmitted power, in dBm.")
    sensitivity: Number = Field(
        default=-90.0, ge=-200.0, le=50.0, description="Weakest power that the receiver locks on to, in dBm."
    )
    antenna: Antenna = Field(
        default=AntennaSection(kind="isotropic"), description="isotropic, dipole, {sector: {...}}, {pattern: {...}}."
    )
    polarisation: Polarisation = Field(
        default="vertical",
        description="vertical, horizontal, left or right (circular); of other than isotropic antennas.",
    )
    channel: Whole = Field(default=0, ge=0, le=10_000, description="Number of the channel.")
    channel_spacing: Positive = Field(default=5e6, description="Distance between channels, in Hz.")
    modulation: Modulation = Field(
        default="qpsk", description="bpsk, qpsk, 16qam, 64qam, fsk, gmsk, or lora7 to lora12."
    )
    noise_figure: NotNegative = Field(default=6.0, le=50.0, description="Noise figure of the receiver, in dB.")
    bit_rate: BitRate | None = Field(
        default=None, description="Bits per second; null is a symbol per second and Hz of bandwidth."
    )
    duty: NotNegative = Field(
        default=0.0,
        le=1.0,
        description="Share of time in which it transmits beside simulated messages (no unit), for interference.",
    )
    packet_bits: Whole = Field(default=8192, ge=1, le=1_000_000, description="Length of a packet, in bits.")
    hopping: HoppingSection | None = Field(
        default=None, description="Hopping: {channels: [1, 6, 11], dwell: 1, key: red}; null: it stays on its channel."
    )

    @property
    def centre(self) -> float:
        """The centre frequency of its channel, Hz."""
        return self.centre_of(self.channel)

    def centre_of(self, channel: int) -> float:
        """Return the centre frequency of a channel, Hz."""
        return self.frequency + channel * self.channel_spacing

    @property
    def rate(self) -> float:
        """The bit rate, bit/s."""
        return default_bit_rate(self.modulation, self.bandwidth) if self.bit_rate is None else self.bit_rate

    @property
    def waveform(self) -> tuple[str, float, float]:
        """Modulation, bandwidth (Hz) and bit rate (bit/s): radios that differ cannot decode each other."""
        return self.modulation, self.bandwidth, self.rate

    def same_waveform(self, modulation: str, bandwidth: float, rate: float) -> bool:
        """Return whether it has this modulation, bandwidth (Hz) and bit rate (bit/s)."""
        return self.modulation == modulation and same(self.bandwidth, bandwidth) and same(self.rate, rate)

    def mismatch(self, other: "RadioType") -> str:
        """Return the first difference due to which it cannot communicate with another; empty if it can.

        The channels of radios that hop are not compared.
        """
        if self.modulation != other.modulation:
            return f"modulation {self.modulation} and {other.modulation}"
        if not same(self.bandwidth, other.bandwidth):
            return f"bandwidth {self.bandwidth:g} and {other.bandwidth:g} Hz"
        if not same(self.rate, other.rate):
            return f"bit rate {self.rate:g} and {other.rate:g} bit/s"
        fixed = self.hopping is None and other.hopping is None
        if fixed and abs(self.centre - other.centre) > SAME_CHANNEL * self.bandwidth:
            return f"centre frequency {self.centre / 1e6:.10g} and {other.centre / 1e6:.10g} MHz"
        return ""

    def problem(self) -> tuple[str, tuple[str, ...]]:
        """Return what is wrong with its channels, band or bit rate ("": nothing), and the key."""
        channels = (self.channel,) if self.hopping is None else self.hopping.channels
        highest = self.centre_of(max(channels))
        if highest > HIGHEST_FREQUENCY:
            key = ("channel",) if self.hopping is None else ("hopping", "channels")
            text = f"channel {max(channels)} would be at {highest:g} Hz; the highest is {HIGHEST_FREQUENCY:g} Hz"
            return text, key
        if problem := band_problem(self.centre_of(min(channels)), self.bandwidth):
            return problem, ("bandwidth",)
        most = most_bit_rate(self.modulation, self.bandwidth)
        if self.rate > most * (1.0 + SAME):
            text = f"{self.rate:g} bit/s are too fast: {self.modulation} carries at most {most:g} bit/s"
            return f"{text} in {self.bandwidth:g} Hz", ("bit_rate",)
        return "", ()

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.hopping is not None and "channel" in self.model_fields_set:
            raise invalid("a radio has a channel or hops between channels: leave out channel or hopping", ("channel",))
        problem, key = self.problem()
        if problem:
            raise invalid(problem, key)
        return self


def same(first: float, second: float) -> bool:
    """Return whether two bandwidths or bit rates count as equal."""
    return isclose(first, second, rel_tol=SAME)


class FittedRadio(Section):
    """A radio of a vehicle or station: a type, with changes. The name of the type is a short form."""

    type: Text = Field(default=DEFAULT_TYPE, min_length=1, description="The name of its type.")
    frequency: Frequency | None = Field(default=None, description="Centre frequency of channel 0, in Hz.")
    bandwidth: Bandwidth | None = Field(default=None, description="Bandwidth, in Hz.")
    power: Power | None = Field(default=None, description="Transmitted power, in dBm.")
    sensitivity: Number | None = Field(default=None, ge=-200.0, le=50.0, description="Sensitivity, in dBm.")
    antenna: Antenna | None = Field(default=None, description="Its antenna.")
    polarisation: Polarisation | None = Field(default=None, description="Its polarisation.")
    channel: Whole | None = Field(default=None, ge=0, le=10_000, description="Number of the channel.")
    channel_spacing: Positive | None = Field(default=None, description="Distance between channels, in Hz.")
    modulation: Modulation | None = Field(
        default=None, description="bpsk, qpsk, 16qam, 64qam, fsk, gmsk, or lora7 to lora12."
    )
    noise_figure: NotNegative | None = Field(default=None, le=50.0, description="Noise figure, in dB.")
    bit_rate: BitRate | None = Field(default=None, description="Bits per second.")
    duty: NotNegative | None = Field(default=None, le=1.0, description="Share of time in which it transmits.")
    packet_bits: Whole | None = Field(default=None, ge=1, le=1_000_000, description="Length of a packet, in bits.")
    hopping: HoppingSection | Literal[False] | None = Field(
        default=None, description="Hopping between channels; false: it stays on its channel, even if its type hops."
    )

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, str) else value

    def of(self, types: Mapping[str, RadioType]) -> RadioType:
        """Return the radio with the values of its type where it has none of its own."""
        own = {name: getattr(self, name) for name in RadioType.model_fields if getattr(self, name) is not None}
        if self.hopping is False:
            own["hopping"] = None
        return types.get(self.type, RadioType()).model_copy(update=own)

    def problem(self, types: Mapping[str, RadioType]) -> tuple[str, tuple[str, ...]]:
        """Return what is wrong with its changes of a type ("": nothing), and the key."""
        radio = self.of(types)
        if self.channel is not None and radio.hopping is not None:
            return "the radio hops between channels: leave out channel, or set hopping: false", ("channel",)
        problem, key = radio.problem()
        if not problem:
            return "", ()
        causes = WAVEFORM if key in (("bandwidth",), ("bit_rate",)) else CHANNELS
        changed = [name for name in causes if getattr(self, name)]
        return problem, key if not changed or key[0] in changed else (changed[0],)


def _listed(value: Any) -> Any:
    """Convert one radio to a list of one."""
    if isinstance(value, str | dict | FittedRadio):
        return [value]
    if not isinstance(value, list | tuple):
        form = "the name of a type, a mapping, or a list of them"
        raise PydanticCustomError("form", "{form}", {"form": form})
    return value


Fitted = Annotated[tuple[FittedRadio, ...], BeforeValidator(_listed), Field(max_length=MOST_RADIOS)]


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
