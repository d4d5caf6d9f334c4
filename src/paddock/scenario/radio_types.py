"""Types of radios in a scenario, and which of them can communicate."""

from collections.abc import Mapping
from math import isclose
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from paddock.scenario.antennas import Antenna, AntennaSection, Polarisation, one_of
from paddock.scenario.base import NotNegative, Number, Positive, Section, Text, Whole, invalid
from paddock.scenario.messages import HoppingSection

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
        return self.frequency + self.channel * self.channel_spacing

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
        highest = self.frequency + max(channels) * self.channel_spacing
        if highest > HIGHEST_FREQUENCY:
            key = ("channel",) if self.hopping is None else ("hopping", "channels")
            text = f"channel {max(channels)} would be at {highest:g} Hz; the highest is {HIGHEST_FREQUENCY:g} Hz"
            return text, key
        if problem := band_problem(self.frequency + min(channels) * self.channel_spacing, self.bandwidth):
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


def same(one: float, two: float) -> bool:
    """Return whether two bandwidths or bit rates count as equal."""
    return isclose(one, two, rel_tol=SAME)


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
