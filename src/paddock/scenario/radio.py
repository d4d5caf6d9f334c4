"""The section `radio` of a scenario: types of radios, propagation between them, ground stations and jammers."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

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
    Whole,
    has_length,
    invalid,
)
from paddock.scenario.marked_yaml import plain
from paddock.scenario.problems import KeyPath, ScenarioError
from paddock.scenario.radio_types import (
    DEFAULT_TYPE,
    HIGHEST_FREQUENCY,
    LOWEST_FREQUENCY,
    MOST_SPOOFERS,
    Antenna,
    AntennaSection,
    Fitted,
    FittedRadio,
    Frequency,
    HoppingSection,
    MessagesSection,
    Modulation,
    Polarisation,
    Power,
    RadioType,
    Schedule,
    SpooferSection,
    band_problem,
    check_schedule,
    one_of,
    option,
)

ModelName = Literal["free_space", "two_ray", "log_distance", "cost231_hata", "okumura_hata", "ground_reflection"]
MODELS: tuple[str, ...] = get_args(ModelName)
HATA = ("cost231_hata", "okumura_hata")
CITIES = ("small", "large", "suburban", "open")
FADINGS = ("rayleigh", "rician", "nakagami")
JAMMERS = ("barrage", "spot", "swept", "pulsed", "follower", "deceptive")
LEAST_M, MOST_M = 0.5, 50.0  # of Nakagami fading
MOST_JAMMERS = 256
NARROWEST, WIDEST = 1e-3, 1e11  # Hz, bandwidths of jammers


class Shadowing(Section):
    """Log-normal shadowing, correlated in space."""

    sigma: NotNegative = Field(le=30.0, description="Standard deviation, in dB.")
    distance: Positive = Field(default=30.0, le=1e6, description="Distance at which the correlation is 1/e, in m.")


class Fading(Section):
    """Small-scale fading: rayleigh, {rician: K in dB} or {nakagami: m}."""

    kind: Literal["rayleigh", "rician", "nakagami"] = Field(description="rayleigh, rician or nakagami.")
    parameter: Number | None = Field(
        default=None, le=100.0, description="Rician: K factor, in dB; Nakagami: m, from 0.5 to 50 (no unit)."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind == "rayleigh" and self.parameter is not None:
            raise invalid("rayleigh fading has no parameter")
        if self.kind == "rician" and (self.parameter is None or self.parameter < -100.0):
            raise invalid("rician fading needs its K factor in dB, at least -100: {rician: 6}")
        if self.kind == "nakagami" and (self.parameter is None or not LEAST_M <= self.parameter <= MOST_M):
            raise invalid(f"nakagami fading needs m from {LEAST_M:g} to {MOST_M:g}: {{nakagami: 1.5}}")
        return self


class LinkSettings(Section):
    """How radio waves propagate between two ends."""

    model: Annotated[ModelName, one_of("propagation model", MODELS)] = Field(
        default="free_space", description=f"{', '.join(MODELS[:-1])} or {MODELS[-1]}."
    )
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
    fading: Annotated[Fading, option("fading", FADINGS, "parameter")] | None = Field(
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

    between: Annotated[tuple[Text, Text], has_length(2, form="two names: [a, b]")] = Field(
        description="Two names of fleets, stations, jammers or types of radios; equal names: among themselves."
    )


class StationSection(Section):
    """A ground station: radios at a fixed place."""

    name: Name = Field(description="Unique name.")
    position: Place3 = Field(description="Place of its antenna [x, y, z], in m.")
    yaw_deg: Number = Field(default=0.0, description="Direction of its front, counter-clockwise from east, in degrees.")
    radio: Fitted = Field(
        default=(FittedRadio(),), min_length=1, description="Its radio, as that of a vehicle; or a list of them."
    )


Span = Annotated[tuple[Number, Number], has_length(2, form="[lowest, highest]")]
KIND_FIELDS = {
    "sweep": ("swept",),
    "period": ("swept", "pulsed"),
    "duty": ("pulsed",),
    "reaction": ("follower",),
    "sensitivity": ("follower",),
    "frames": ("deceptive",),
    "modulation": ("deceptive",),
    "packet_bits": ("deceptive",),
    "claims": ("deceptive",),
    "data": ("deceptive",),
}
WIDTHS = {"barrage": 100e6, "spot": 1e6}  # Hz, of jammers, unless given
WIDTH = 20e6  # Hz, of the others
MOST_DATA = 1 << 16  # bytes of JSON, of a false frame


class JammerSection(Section):
    """A jammer, at a place or on a vehicle."""

    name: Name = Field(description="Unique name.")
    kind: Annotated[
        Literal["barrage", "spot", "swept", "pulsed", "follower", "deceptive"], one_of("jammer kind", JAMMERS)
    ] = Field(
        description="barrage (wide band), spot (narrow band), swept (its centre follows a sawtooth), pulsed, follower "
        "(tunes to the strongest transmission), deceptive (sends false frames)."
    )
    position: Place3 | None = Field(default=None, description="Place of its antenna [x, y, z], in m.")
    vehicle: Text | None = Field(default=None, description="The vehicle that carries it: red, or scouts[3].")
    frequency: Frequency = Field(default=2.4e9, description="Centre frequency, in Hz; of a follower, before it tunes.")
    bandwidth: Positive | None = Field(
        default=None,
        ge=NARROWEST,
        le=WIDEST,
        description="Bandwidth, in Hz; null: barrage 100 MHz, spot 1 MHz, others 20 MHz.",
    )
    power: Power = Field(default=30.0, description="Transmitted power while it is on, in dBm.")
    antenna: Antenna = Field(default=AntennaSection(kind="isotropic"), description="As that of a radio.")
    polarisation: Polarisation = Field(default="vertical", description="As that of a radio.")
    enabled: Flag = Field(default=True, description="Whether it follows its schedule; false: it is switched off.")
    on: Schedule = Field(default=None, description="Times at which it is on: [[from, to], ...], in s; null: always.")
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
    claims: Text | None = Field(
        default=None,
        description="Of a deceptive jammer: the vehicle or station that its frames claim to be from. Receivers get "
        "accepted frames as messages of it; null: frames are only counted.",
    )
    data: Any = Field(
        default=None, description="Of a deceptive jammer with `claims`: contents of its frames, as in JSON; null."
    )

    @property
    def width(self) -> float:
        """The bandwidth, Hz."""
        return WIDTHS.get(self.kind, WIDTH) if self.bandwidth is None else self.bandwidth

    @field_validator("data", mode="before")
    @classmethod
    def _plain_data(cls, value: Any) -> Any:
        """Refuse what JSON cannot hold."""
        try:
            data = plain(value)
            size = len(json.dumps(data, separators=(",", ":"), allow_nan=False))
        except (ScenarioError, TypeError, ValueError):
            raise invalid("data are what JSON can hold: numbers, texts, lists and mappings") from None
        if size > MOST_DATA:
            raise invalid(f"data have at most {MOST_DATA} bytes of JSON, not {size}")
        return data

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.data is not None and self.claims is None and self.kind == "deceptive":
            raise invalid("data need claims: the vehicle or station that the frames claim to be from", ("data",))
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
        lowest = self.frequency if self.sweep is None else min(self.frequency, self.sweep[0])
        if problem := band_problem(lowest, self.width):
            raise invalid(problem, ("frequency",) if self.bandwidth is None else ("bandwidth",))
        check_schedule(self.on or ())
        return self


class RadioSection(Section):
    """Radio links between vehicles and ground stations, and jammers."""

    rate: Positive = Field(
        default=10.0,
        le=1e4,
        description="Updates of all links per simulated second, in Hz, at most that of the clock; rounded to whole "
        "ticks from one to the next.",
    )
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
        default=12.0,
        le=60.0,
        description="Radios with a duty, and packets, that are weaker than any usable link by more than this are left "
        "out, in dB.",
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

    @model_validator(mode="after")
    def _hops_slowly(self) -> Self:
        for name, radio in self.types.items():
            if radio.hopping is not None:
                self.check_dwell(radio.hopping, ("types", name, "hopping", "dwell"))
        return self

    def check_dwell(self, hopping: HoppingSection, path: KeyPath) -> None:
        """Refuse a radio that hops more often than links are updated."""
        if hopping.dwell * self.rate < 1.0 - 1e-9:
            least = f"links are updated every {1.0 / self.rate:g} s (radio.rate: {self.rate:g})"
            raise invalid(f"{least}: a dwell is that long or longer, not {hopping.dwell:g} s", path)

    @property
    def known_types(self) -> dict[str, RadioType]:
        """The types by name, with the default one."""
        return {DEFAULT_TYPE: RadioType(), **self.types}


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
        problem, key = radio.problem(section.known_types)
        if problem:
            raise invalid(problem, (*path, *key))
        if radio.hopping:
            section.check_dwell(radio.hopping, (*path, "hopping", "dwell"))
    names = set(counts)
    for name, path in emitter_names(section):
        if name in names:
            raise invalid(f"the name {name!r} is already used", path)
        names.add(name)
    ends = sorted(names | set(section.known_types))
    for k, link in enumerate(section.links):
        for m, name in enumerate(link.between):
            if name not in ends:
                error = unknown_name("fleet, station, jammer or radio type", name, ends)
                raise invalid(str(error), ("radio", "links", k, "between", m))
    for k, jammer in enumerate(section.jammers):
        if jammer.vehicle is not None:
            _check_carrier(jammer.vehicle, counts, ("radio", "jammers", k, "vehicle"))
        if jammer.claims is not None:
            _check_claimed(jammer.claims, section, fleets, ("radio", "jammers", k, "claims"))
    for k, spoofer in enumerate(section.spoofers):
        if spoofer.vehicle is not None:
            _check_carrier(spoofer.vehicle, counts, ("radio", "spoofers", k, "vehicle"))
        if spoofer.target is not None:
            _check_carrier(spoofer.target, counts, ("radio", "spoofers", k, "target"), fleets=True)


def check_rates(section: RadioSection | None, clock: float) -> None:
    """Refuse rates of links and beacons (Hz) that were given and are above that of the clock."""
    if section is None:
        return
    beacons = section.messages.beacons
    if section.rate > clock and "rate" in section.model_fields_set:
        raise invalid(above_clock(section.rate, clock), ("radio", "rate"))
    if beacons is not None and beacons.rate > clock and "rate" in beacons.model_fields_set:
        raise invalid(above_clock(beacons.rate, clock), ("radio", "messages", "beacons", "rate"))


def above_clock(rate: float, clock: float) -> str:
    """Return the error of a rate (Hz) above that of the clock."""
    return f"{rate:g} Hz is not possible: the clock allows at most {clock:g} Hz"


def emitter_names(section: RadioSection) -> list[tuple[str, KeyPath]]:
    """Return the names of stations, jammers and spoofers, which vehicles cannot have, with their paths."""
    return [
        *((station.name, ("radio", "stations", k, "name")) for k, station in enumerate(section.stations)),
        *((jammer.name, ("radio", "jammers", k, "name")) for k, jammer in enumerate(section.jammers)),
        *((spoofer.name, ("radio", "spoofers", k, "name")) for k, spoofer in enumerate(section.spoofers)),
    ]


def _check_claimed(
    name: str, section: RadioSection, fleets: Sequence[tuple[str, int, tuple[FittedRadio, ...]]], path: KeyPath
) -> None:
    """Refuse to claim what is no station, and no vehicle with a radio."""
    stations = [station.name for station in section.stations]
    if name in stations:
        return
    counts = {fleet: count for fleet, count, _ in fleets}
    if name.partition("[")[0] not in counts:
        raise invalid(str(unknown_name("vehicle or station", name, sorted([*counts, *stations]))), path)
    _check_carrier(name, counts, path)
    if not any(radios for fleet, _, radios in fleets if fleet == name.partition("[")[0]):
        raise invalid(f"{name!r} has no radio: add `radio: default` to its entry", path)


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
