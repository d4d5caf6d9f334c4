"""The section `radio` of a scenario: types of radios, propagation between them, ground stations and jammers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from paddock.errors import unknown_name
from paddock.scenario.base import Flag, Name, NotNegative, Number, Positive, Section, Text, Vector3, Whole, invalid
from paddock.scenario.messages import HoppingSection, MessagesSection
from paddock.scenario.problems import KeyPath
from paddock.scenario.spoofing import MOST_SPOOFERS, SpooferSection

DEFAULT_TYPE = "default"
MODULATIONS = (
    *("bpsk", "qpsk", "16qam", "64qam", "fsk", "gmsk"),
    *("lora7", "lora8", "lora9", "lora10", "lora11", "lora12"),
)
POLARISATIONS = ("vertical", "horizontal", "left", "right")
ANTENNAS = ("isotropic", "dipole", "sector", "pattern")
ANTENNA_OPTIONS = {
    "sector": ("gain", "beamwidth_deg", "beamheight_deg", "yaw_deg", "pitch_deg"),
    "pattern": ("azimuths_deg", "elevations_deg", "gains", "yaw_deg", "pitch_deg", "gain"),
}
MODELS = ("free_space", "two_ray", "ground_reflection", "log_distance", "cost231_hata", "okumura_hata")
HATA = MODELS[4:]
CITIES = ("small", "large", "suburban", "open")
FADINGS = ("rayleigh", "rician", "nakagami")
JAMMERS = ("barrage", "spot", "swept", "pulsed", "follower", "deceptive")
MOST_RADIOS = 8  # of one vehicle
MOST_JAMMERS = 256
LOWEST_FREQUENCY, HIGHEST_FREQUENCY = 1e6, 3e11  # Hz


def one_of(kind: str, names: Sequence[str]) -> BeforeValidator:
    """Check a name against the valid ones; the error suggests the nearest."""

    def check(value: Any) -> Any:
        if isinstance(value, str) and value not in names:
            raise invalid(str(unknown_name(kind, value, names)))
        return value

    return BeforeValidator(check)


def _option(
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
            if options is not None and not isinstance(options, dict):
                raise invalid(f"the options of {what} {kind!r} must be a mapping, not {options!r:.60}", (str(kind),))
            for name in (options or {}) if kind in of else ():
                if name not in of[kind]:
                    raise invalid(str(unknown_name(f"option of {what} {kind!r}", str(name), of[kind])))
            value = {"kind": kind, **(options or {})}
        if isinstance(value, dict) and isinstance(value.get("kind"), str) and value["kind"] not in kinds:
            raise invalid(str(unknown_name(what, value["kind"], kinds)))
        return value

    return BeforeValidator(convert)


Frequency = Annotated[Positive, Field(ge=LOWEST_FREQUENCY, le=HIGHEST_FREQUENCY)]
Power = Annotated[Number, Field(ge=-100.0, le=100.0)]
Modulation = Annotated[
    Literal[
        "bpsk", "qpsk", "16qam", "64qam", "fsk", "gmsk", "lora7", "lora8", "lora9", "lora10", "lora11", "lora12"
    ],
    one_of("modulation", MODULATIONS),
]  # fmt: skip
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
        return self


Antenna = Annotated[AntennaSection, _option("antenna", ANTENNAS, of=ANTENNA_OPTIONS)]


class RadioType(Section):
    """A radio: transmitter and receiver."""

    frequency: Frequency = Field(default=2.4e9, description="Centre frequency of channel 0, in Hz.")
    bandwidth: Positive = Field(default=20e6, le=1e11, description="Bandwidth, in Hz.")
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
    bit_rate: Positive | None = Field(
        default=None, le=1e12, description="Bits per second; null is a symbol per second and Hz of bandwidth."
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


class FittedRadio(Section):
    """A radio of a vehicle or station: a type, with changes. The name of the type is a short form."""

    type: Text = Field(default=DEFAULT_TYPE, min_length=1, description="The name of its type.")
    frequency: Frequency | None = Field(default=None, description="Centre frequency of channel 0, in Hz.")
    bandwidth: Positive | None = Field(default=None, le=1e11, description="Bandwidth, in Hz.")
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
    bit_rate: Positive | None = Field(default=None, le=1e12, description="Bits per second.")
    duty: NotNegative | None = Field(default=None, le=1.0, description="Share of time in which it transmits.")
    packet_bits: Whole | None = Field(default=None, ge=1, le=1_000_000, description="Length of a packet, in bits.")
    hopping: HoppingSection | None = Field(default=None, description="Hopping between channels.")

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, str) else value

    def of(self, types: Mapping[str, RadioType]) -> RadioType:
        """Return the radio with the values of its type where it has none of its own."""
        own = {name: getattr(self, name) for name in RadioType.model_fields if getattr(self, name) is not None}
        return types.get(self.type, RadioType()).model_copy(update=own)


def _listed(value: Any) -> Any:
    """Convert one radio to a list of one."""
    return [value] if isinstance(value, str | dict | FittedRadio) else value


Fitted = Annotated[tuple[FittedRadio, ...], BeforeValidator(_listed), Field(max_length=MOST_RADIOS)]


class Shadowing(Section):
    """Log-normal shadowing, correlated in space."""

    sigma: NotNegative = Field(le=30.0, description="Standard deviation, in dB.")
    distance: Positive = Field(default=30.0, le=1e6, description="Distance at which the correlation is 1/e, in m.")


class Fading(Section):
    """Small-scale fading: rayleigh, {rician: K in dB} or {nakagami: m}."""

    kind: Literal["rayleigh", "rician", "nakagami"] = Field(description="rayleigh, rician or nakagami.")
    parameter: Number | None = Field(
        default=None, le=100.0, description="Rician: K factor, in dB; Nakagami: m, at least 0.5 (no unit)."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind == "rayleigh" and self.parameter is not None:
            raise invalid("rayleigh fading has no parameter")
        if self.kind == "rician" and (self.parameter is None or self.parameter < -100.0):
            raise invalid("rician fading needs its K factor in dB, at least -100: {rician: 6}")
        if self.kind == "nakagami" and (self.parameter is None or self.parameter < 0.5):
            raise invalid("nakagami fading needs m >= 0.5: {nakagami: 1.5}")
        return self


class LinkSettings(Section):
    """How radio waves propagate between two ends."""

    model: Annotated[
        Literal["free_space", "two_ray", "ground_reflection", "log_distance", "cost231_hata", "okumura_hata"],
        one_of("propagation model", MODELS),
    ] = Field(default="free_space", description=f"{', '.join(MODELS[:-1])} or {MODELS[-1]}.")
    exponent: Positive | None = Field(
        default=None, ge=1.0, le=10.0, description="Of log_distance: path-loss exponent (no unit); null is 3."
    )
    reference: Positive | None = Field(
        default=None, le=1e5, description="Of log_distance: distance up to which waves spread freely, in m; null is 1."
    )
    city: Annotated[Literal["small", "large", "suburban", "open"], one_of("city", CITIES)] | None = Field(
        default=None, description="Of the Hata models: small, large, suburban or open; null is small."
    )
    extrapolate: Flag = Field(default=False, description="Whether to use the model outside its range of frequencies.")
    shadowing: Shadowing | None = Field(default=None, description="Shadowing: {sigma: dB, distance: m}; null: none.")
    fading: Annotated[Fading, _option("fading", FADINGS, "parameter")] | None = Field(
        default=None, description="Small-scale fading: rayleigh, {rician: 6}, {nakagami: 1.5}; null: none."
    )
    terrain: Flag = Field(default=False, description="Whether waves are diffracted over the terrain.")
    obstacles: Flag = Field(default=False, description="Whether obstacles in the way cost power.")

    @model_validator(mode="before")
    @classmethod
    def _expand(cls, value: Any) -> Any:
        """Convert `model: {log_distance: {exponent: 3}}` to fields."""
        model = value.get("model") if isinstance(value, dict) else None
        if not isinstance(model, dict):
            return value
        if len(model) != 1 or not isinstance(next(iter(model.values())), dict | None):
            raise invalid("a propagation model is a name or {name: {options}}", ("model",))
        [(name, options)] = model.items()
        twice = sorted(set(options or {}) & set(value))
        if twice:
            raise invalid(f"{twice[0]} is given twice", (twice[0],))
        return {**value, "model": name, **(options or {})}

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        for names, models in ((("exponent", "reference"), ("log_distance",)), (("city",), HATA)):
            for name in names:
                if getattr(self, name) is not None and self.model not in models:
                    raise invalid(f"{name} is an option of {' and '.join(models)}, not of {self.model}", (name,))
        if self.city == "open" and self.model == "cost231_hata":
            raise invalid("cost231_hata knows small, large and suburban", ("city",))
        return self


class LinkClass(LinkSettings):
    """Propagation between two groups of radios."""

    between: tuple[Text, Text] = Field(
        description="Two names of fleets, stations, jammers or types of radios; equal names: among themselves."
    )


class StationSection(Section):
    """A ground station: radios at a fixed place."""

    name: Name = Field(description="Unique name.")
    position: Vector3 = Field(description="Place of its antenna [x, y, z], in m.")
    yaw_deg: Number = Field(default=0.0, description="Direction of its front, counter-clockwise from east, in degrees.")
    radio: Fitted = Field(
        default=(FittedRadio(),), min_length=1, description="Its radio, as that of a vehicle; or a list of them."
    )


def _span(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise invalid("must be [from, to]")
    return value


Span = Annotated[tuple[Number, Number], BeforeValidator(_span)]
KIND_FIELDS = {
    "sweep": ("swept",),
    "period": ("swept", "pulsed"),
    "duty": ("pulsed",),
    "reaction": ("follower",),
    "sensitivity": ("follower",),
    "frames": ("deceptive",),
    "modulation": ("deceptive",),
    "packet_bits": ("deceptive",),
}


class JammerSection(Section):
    """A jammer, at a place or on a vehicle."""

    name: Name = Field(description="Unique name.")
    kind: Annotated[
        Literal["barrage", "spot", "swept", "pulsed", "follower", "deceptive"], one_of("jammer kind", JAMMERS)
    ] = Field(
        description="barrage (wide band), spot (narrow band), swept (its centre follows a sawtooth), pulsed, follower "
        "(tunes to the strongest transmission), deceptive (sends false frames)."
    )
    position: Vector3 | None = Field(default=None, description="Place of its antenna [x, y, z], in m.")
    vehicle: Text | None = Field(default=None, description="The vehicle that carries it: red, or scouts[3].")
    frequency: Frequency = Field(default=2.4e9, description="Centre frequency, in Hz; of a follower, before it tunes.")
    bandwidth: Positive | None = Field(
        default=None, le=1e11, description="Bandwidth, in Hz; null: barrage 100 MHz, spot 1 MHz, others 20 MHz."
    )
    power: Power = Field(default=30.0, description="Transmitted power while it is on, in dBm.")
    antenna: Antenna = Field(default=AntennaSection(kind="isotropic"), description="As that of a radio.")
    polarisation: Polarisation = Field(default="vertical", description="As that of a radio.")
    enabled: Flag = Field(default=True, description="Whether it follows its schedule; false: it is off.")
    on: tuple[Span, ...] | None = Field(
        default=None, description="Times at which it is on: [[from, to], ...], in s; null: always."
    )
    sweep: Span | None = Field(default=None, description="Of a swept jammer: lowest and highest centre, in Hz.")
    period: Positive | None = Field(
        default=None, le=1e6, description="Of a swept or pulsed jammer: period of the sweep or pulses, in s."
    )
    duty: Positive | None = Field(default=None, le=1.0, description="Of a pulsed jammer: share of the period; 0.5.")
    reaction: NotNegative | None = Field(
        default=None, le=1e6, description="Of a follower: time from a transmission until it is tuned, in s; 0.1."
    )
    sensitivity: Number | None = Field(
        default=None, ge=-200.0, le=50.0, description="Of a follower: weakest power that it hears, in dBm; -90."
    )
    frames: Positive | None = Field(
        default=None, le=1e6, description="Of a deceptive jammer: false frames per second; 100."
    )
    modulation: Modulation | None = Field(default=None, description="Of a deceptive jammer: as of its victims; qpsk.")
    packet_bits: Whole | None = Field(
        default=None, ge=1, le=1_000_000, description="Of a deceptive jammer: length of its frames, in bits; 8192."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.position is not None and self.vehicle is not None:
            raise invalid("a jammer has a position or a vehicle, not both", ("vehicle",))
        if self.position is None and self.vehicle is None:
            raise invalid(f"jammer {self.name!r} needs a position or a vehicle")
        for name, kinds in KIND_FIELDS.items():
            if getattr(self, name) is not None and self.kind not in kinds:
                whose = " and ".join(kinds)
                raise invalid(f"{name} is an option of {whose} jammers, not of a {self.kind} jammer", (name,))
        if self.kind in ("swept", "pulsed") and self.period is None:
            raise invalid(f"a {self.kind} jammer needs a period in s")
        if self.kind == "swept" and self.sweep is None:
            raise invalid("a swept jammer needs sweep: [lowest, highest centre frequency in Hz]")
        if self.sweep is not None and not LOWEST_FREQUENCY <= self.sweep[0] < self.sweep[1] <= HIGHEST_FREQUENCY:
            span = f"{LOWEST_FREQUENCY:g} to {HIGHEST_FREQUENCY:g}"
            raise invalid(f"sweep must ascend within {span} Hz, not {list(self.sweep)}", ("sweep",))
        for k, (begin, end) in enumerate(self.on or ()):
            if not 0.0 <= begin < end:
                raise invalid(f"times ascend from 0 s: [from, to], not [{begin:g}, {end:g}]", ("on", k))
        return self


class RadioSection(Section):
    """Radio links between vehicles and ground stations, and jammers."""

    rate: Positive = Field(default=10.0, le=1e4, description="Updates of all links per simulated second, in Hz.")
    types: dict[Name, RadioType] = Field(
        default_factory=dict, description="Radios by name; `default` is a type of default values unless it is given."
    )
    links: tuple[LinkClass, ...] = Field(
        default=(), description="Propagation between groups; the first entry that matches both ends is used."
    )
    default: LinkSettings = Field(default=LinkSettings(), description="Propagation between all others.")
    hysteresis: NotNegative = Field(
        default=3.0, le=40.0, description="A link that is up drops this far below the limit for coming up, in dB."
    )
    margin: NotNegative = Field(
        default=3.0,
        le=60.0,
        description="Transmitters weaker than any usable link by more than this are left out of interference, in dB.",
    )
    range: Positive | None = Field(
        default=None, le=1e7, description="Longest link, in m; null is as far as power and sensitivity reach."
    )
    messages: MessagesSection = Field(
        default=MessagesSection(), description="Messages between radios: how they share the channel, beacons."
    )
    stations: tuple[StationSection, ...] = Field(default=(), description="Ground stations.")
    jammers: tuple[JammerSection, ...] = Field(default=(), max_length=MOST_JAMMERS, description="Jammers.")
    spoofers: tuple[SpooferSection, ...] = Field(
        default=(), max_length=MOST_SPOOFERS, description="Spoofers of satellite navigation."
    )

    @property
    def known_types(self) -> dict[str, RadioType]:
        """The types by name, with the default one."""
        return {DEFAULT_TYPE: RadioType(), **self.types}


def expanded_radio(value: Any) -> Any:
    """Return the section for its short forms: true is a section of defaults, false is none."""
    return ({} if value else None) if isinstance(value, bool) else value


def check_radio(section: RadioSection | None, fleets: Sequence[tuple[str, int, tuple[FittedRadio, ...]]]) -> None:
    """Refuse unknown types, names in use, and ends of links that do not exist; `fleets`: name, count and radios."""
    if section is None:
        for k, (_, _, radios) in enumerate(fleets):
            if radios:
                raise invalid("there is no radio: add a section `radio: {}` to the scenario", ("vehicles", k, "radio"))
        return
    counts = {name: count for name, count, _ in fleets}
    for path, radio in _fitted(section, fleets):
        if radio.type not in section.known_types:
            raise invalid(str(unknown_name("radio type", radio.type, section.known_types)), path)
    taken = set(counts)
    placed: list[tuple[str, KeyPath]] = [
        *((one.name, ("radio", "stations", k, "name")) for k, one in enumerate(section.stations)),
        *((one.name, ("radio", "jammers", k, "name")) for k, one in enumerate(section.jammers)),
        *((one.name, ("radio", "spoofers", k, "name")) for k, one in enumerate(section.spoofers)),
    ]
    for name, path in placed:
        if name in taken:
            raise invalid(f"the name {name!r} is already used", path)
        taken.add(name)
    ends = sorted(taken | set(section.known_types))
    for k, one in enumerate(section.links):
        for m, name in enumerate(one.between):
            if name not in ends:
                error = unknown_name("fleet, station, jammer or radio type", name, ends)
                raise invalid(str(error), ("radio", "links", k, "between", m))
    for k, jammer in enumerate(section.jammers):
        if jammer.vehicle is not None:
            _check_carrier(jammer.vehicle, counts, ("radio", "jammers", k, "vehicle"))
    for k, spoofer in enumerate(section.spoofers):
        if spoofer.vehicle is not None:
            _check_carrier(spoofer.vehicle, counts, ("radio", "spoofers", k, "vehicle"))
        if spoofer.target is not None:
            _check_carrier(spoofer.target, counts, ("radio", "spoofers", k, "target"), fleets=True)


def _fitted(
    section: RadioSection, fleets: Sequence[tuple[str, int, tuple[FittedRadio, ...]]]
) -> Iterator[tuple[KeyPath, FittedRadio]]:
    """Yield every fitted radio, with its path."""
    for k, (_, _, radios) in enumerate(fleets):
        for m, radio in enumerate(radios):
            yield ("vehicles", k, "radio", m), radio
    for k, station in enumerate(section.stations):
        for m, radio in enumerate(station.radio):
            yield ("radio", "stations", k, "radio", m), radio


def _check_carrier(name: str, counts: Mapping[str, int], path: KeyPath, fleets: bool = False) -> None:
    """Refuse a vehicle that does not exist, and unless `fleets` are valid, a fleet."""
    member = re.fullmatch(r"(.+)\[(\d+)\]", name)
    fleet = member[1] if member else name
    if fleet not in counts:
        raise invalid(str(unknown_name("vehicle", name, sorted(counts))), path)
    if member and int(member[2]) >= counts[fleet]:
        raise invalid(f"{fleet!r} has the vehicles 0 to {counts[fleet] - 1}", path)
    if not member and counts[fleet] > 1 and not fleets:
        raise invalid(f"{fleet!r} is a fleet of {counts[fleet]}: name one vehicle, e.g. {fleet}[0]", path)


def radio_schema(schema: dict[str, Any]) -> None:
    """Add the short forms to the JSON schema of a scenario."""
    parts = schema["$defs"]
    name = {"type": "string", "minLength": 1}
    for part in ("AntennaSection", "Fading"):
        own = {key: value for key, value in parts[part].items() if key != "description"}
        options = {"type": ["object", "null"] if part == "AntennaSection" else ["object", "number", "null"]}
        choice = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": options}
        parts[part] = {"description": parts[part]["description"], "anyOf": [name, choice, own]}
    for part in ("VehicleEntry", "StationSection"):
        listed = parts[part]["properties"]["radio"]
        items = listed.pop("items")
        items = {"anyOf": [name, items]}
        lengths = {key: listed.pop(key) for key in ("type", "minItems", "maxItems") if key in listed}
        listed["anyOf"] = [*items["anyOf"], {**lengths, "items": items}]
    model = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": {"type": "object"}}
    for part in ("LinkSettings", "LinkClass"):
        properties = parts[part]["properties"]
        kinds = {key: properties["model"].pop(key) for key in ("type", "enum") if key in properties["model"]}
        properties["model"]["anyOf"] = [kinds, model]
    parts["MessagesSection"]["properties"]["beacons"]["anyOf"].append({"type": "boolean"})
    schema["properties"]["radio"]["anyOf"].append({"type": "boolean"})
