"""The table of radios: what each transmits and hears, where it is, and which propagation lies between two of them.

Radios are numbered fleet by fleet in the order of names, vehicle by vehicle, then stations by name. Radios with equal
settings on vehicles of one fleet are a group; propagation and ranges are tables of groups x groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import radians
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import PI
from paddock.compute.quaternion import euler_quaternion
from paddock.compute.twin import vectorised
from paddock.errors import InvalidValueError
from paddock.radio.antennas import (
    DIPOLE_GAIN,
    ISOTROPIC,
    KINDS,
    POLARISATIONS,
    Antenna,
    facing,
    mounting,
    pattern_table,
    polarisation_axis,
    sector_antenna,
)
from paddock.radio.fading import FADINGS, NAKAGAMI, RICIAN
from paddock.radio.propagation import (
    BASE_HIGH,
    BASE_LOW,
    CITIES,
    FREE_SPACE,
    GROUND_REFLECTION,
    LIGHT,
    LOG_DISTANCE,
    MOBILE_HIGH,
    MOBILE_LOW,
    MODELS,
    TWO_RAY,
    VALIDITY,
    loss_db,
)
from paddock.radio.signal import (
    MODULATIONS,
    ber,
    decibels,
    default_bit_rate,
    needed_sinr_db,
    noise_dbm,
    per,
    power_ratio,
)
from paddock.scenario import Scenario
from paddock.scenario.radio import AntennaSection, FittedRadio, JammerSection, LinkSettings, RadioSection, RadioType
from paddock.world.fleet import stream_ids

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
GOLDEN = 0x9E3779B97F4A7C15
ALMOST = 1e-15  # packet error rate at the end of a curve
CURVE = 1024  # steps of a curve of packet error rates over SINR
NEEDED_PER = 0.1  # packet error rate up to which a link is usable
EXPONENT, REFERENCE = 3.0, 1.0  # of log_distance, unless given
REFLECTED = 6.03  # dB: two rays in phase
UPFADE = 12.1  # dB: the waves of a radio in phase
SHADOWS = 3.0  # standard deviations of shadowing that the range allows for
FARTHEST = 1e7  # m
JAMMED_BANDWIDTHS = {"barrage": 100e6, "spot": 1e6}  # Hz, of jammers, unless given
JAMMED_BANDWIDTH = 20e6  # Hz, of the others


class RadioColumn(NamedTuple):
    """The rows of a table of radios, (columns, n) float64."""

    x: int = 0  # m, of the antenna
    y: int = 1
    z: int = 2
    qx: int = 3  # from the antenna's frame to the world
    qy: int = 4
    qz: int = 5
    qw: int = 6
    px: int = 7  # plane of linear polarisation, world axes
    py: int = 8
    pz: int = 9
    height: int = 10  # m above the ground
    mx: int = 11  # mounting: from the antenna's frame to the body
    my: int = 12
    mz: int = 13
    mw: int = 14
    polarised: int = 15  # kind of polarisation
    tilt: int = 16  # rad, angle of linear polarisation
    frequency: int = 17  # Hz, centre
    bandwidth: int = 18  # Hz
    power: int = 19  # dBm
    sensitivity: int = 20  # dBm
    noise: int = 21  # mW
    needed: int = 22  # dB, least SINR of a usable link
    modulation: int = 23
    spread: int = 24  # bandwidth / bit rate
    duty: int = 25
    bits: int = 26  # of a packet
    antenna: int = 27  # kind
    peak: int = 28  # dBi
    azimuth: int = 29  # rad
    elevation: int = 30  # rad
    pattern: int = 31
    group: int = 32
    owner: int = 33  # number of the vehicle or station in the table: it does not hear itself
    hopeless: int = 34  # dB, SINR at the beginning of the curve of packet error rates
    curve_rate: int = 35  # steps of the curve per dB


COLUMN = RadioColumn()


class ClassColumn(NamedTuple):
    """The rows of a table of link classes, (columns, k) float64."""

    model: int = 0
    exponent: int = 1
    reference: int = 2  # m
    city: int = 3
    sigma: int = 4  # dB
    distance: int = 5  # m
    fading: int = 6
    parameter: int = 7
    terrain: int = 8
    obstacles: int = 9
    field: int = 10  # of shadowing
    ground: int = 11  # 1: the model contains flat ground


CLASS = ClassColumn()
CURVED = [COLUMN.modulation, COLUMN.spread, COLUMN.bits, COLUMN.hopeless, COLUMN.curve_rate]


class FleetRadios(NamedTuple):
    """The radios of a fleet."""

    name: str
    ids: Ints  # (n,) of its vehicles
    streams: Ints  # (n,)
    fitted: tuple[FittedRadio, ...]


class RadioGroup(NamedTuple):
    """Radios with equal settings on the vehicles of a fleet, on a station, or a jammer."""

    owner: str
    type: str
    radio: RadioType


class RadioPart(NamedTuple):
    """Where the radios of a fleet are in the table: vehicle k has `first + k * slots` to `first + (k + 1) * slots`."""

    fleet: str
    first: int
    n: int
    slots: int


@dataclass(frozen=True, eq=False, repr=False)
class Radios:
    """All radios of a run, and the antennas of its jammers; the rows of the table are those of `RadioColumn`."""

    table: Floats  # (columns, n + jammers)
    streams: Ints  # (n + jammers,)
    owner: Ints  # (n,) id of the vehicle, -1: a station
    slot: Ints  # (n,) number among the radios of its vehicle or station
    parts: tuple[RadioPart, ...]
    stations: tuple[str, ...]  # of the radios after those of the fleets, one name for each radio
    groups: tuple[RadioGroup, ...]  # of radios, then a group for each jammer
    patterns: Floats  # (k, rows, columns) of antennas
    curves: Floats  # (groups, CURVE + 4) packet error rates of the radios of a group over the SINR in dB

    @property
    def n(self) -> int:
        """Number of radios."""
        return len(self.owner)

    @property
    def carried(self) -> int:
        """Number of radios on vehicles; those of stations follow."""
        return self.n - len(self.stations)

    def place(self, part: RadioPart, poses: Floats) -> None:
        """Copy the poses (rows as in Pose, >= n columns) of a fleet."""
        many = slice(part.first, part.first + part.n * part.slots)
        self.table[:3, many] = (
            np.repeat(poses[:3, : part.n], part.slots, axis=1) if part.slots > 1 else poses[:3, : part.n]
        )
        if self.table[COLUMN.antenna, many].any():  # the attitude of an isotropic antenna is immaterial
            attitude = np.repeat(poses[3:7, : part.n], part.slots, axis=1)
            turn(self.table[:, many], attitude)


def turn(table: Floats, attitude: Floats) -> None:
    """Set the directions of antennas from the attitudes (4, n) of what carries them."""
    mount = table[COLUMN.mx : COLUMN.mw + 1]
    table[COLUMN.qx : COLUMN.qw + 1] = np.stack(vectorised(facing)(*attitude, *mount))
    axis = vectorised(world_axis)(*table[COLUMN.qx : COLUMN.qw + 1], table[COLUMN.tilt])
    table[COLUMN.px : COLUMN.pz + 1] = np.stack(axis)


def world_axis(qx: float, qy: float, qz: float, qw: float, tilt: float) -> tuple[float, float, float]:
    """Return the plane of a linear polarisation as a unit vector in world axes."""
    from_x, from_y, from_z = polarisation_axis(tilt)
    tx = 2.0 * (qy * from_z - qz * from_y)
    ty = 2.0 * (qz * from_x - qx * from_z)
    tz = 2.0 * (qx * from_y - qy * from_x)
    return (
        from_x + qw * tx + (qy * tz - qz * ty),
        from_y + qw * ty + (qz * tx - qx * tz),
        from_z + qw * tz + (qx * ty - qy * tx),
    )


class Patterns:
    """Collects the tables of antennas while radios are read."""

    def __init__(self) -> None:
        self.tables: list[Floats] = []

    def antenna(self, section: AntennaSection, where: str) -> Antenna:
        """Return the numbers of an antenna."""
        if section.kind == "dipole":
            return Antenna(KINDS["dipole"], DIPOLE_GAIN if section.gain is None else section.gain)
        if section.kind == "sector":
            width = 60.0 if section.beamwidth_deg is None else section.beamwidth_deg
            height = 60.0 if section.beamheight_deg is None else section.beamheight_deg
            return sector_antenna(radians(width), radians(height), section.gain)
        if section.kind == "pattern":
            given = section.azimuths_deg, section.elevations_deg, section.gains
            try:
                table = pattern_table(*(np.array(one, np.float64) for one in given))
            except (ValueError, TypeError) as error:
                raise InvalidValueError(f"{where}: the gains of a pattern are rows of equal length") from error
            self.tables.append(table)
            return Antenna(KINDS["pattern"], 0.0, 0.0, 0.0, len(self.tables) - 1)
        return Antenna(ISOTROPIC, 0.0 if section.gain is None else section.gain)

    def stacked(self) -> Floats:
        """Return all tables; one of zeros if there are none, because compiled code wants an array."""
        return np.stack(self.tables) if self.tables else np.zeros((1, 1, 1))


def constants(radio: RadioType, antenna: Antenna, group: int) -> Floats:
    """Return the column of a radio, at the origin and level."""
    values = np.zeros(len(COLUMN))
    section, (polarised, tilt) = radio.antenna, POLARISATIONS[radio.polarisation]
    values[COLUMN.mx : COLUMN.mw + 1] = mounting(radians(section.pitch_deg), radians(section.yaw_deg))
    values[COLUMN.polarised], values[COLUMN.tilt] = polarised, tilt
    rate = default_bit_rate(radio.modulation, radio.bandwidth) if radio.bit_rate is None else radio.bit_rate
    modulation = MODULATIONS[radio.modulation]
    values[COLUMN.frequency], values[COLUMN.bandwidth] = radio.centre, radio.bandwidth
    values[COLUMN.power], values[COLUMN.sensitivity] = radio.power, radio.sensitivity
    values[COLUMN.noise] = power_ratio(noise_dbm(radio.bandwidth, radio.noise_figure))
    values[COLUMN.needed] = needed_sinr_db(modulation, radio.bandwidth, rate, NEEDED_PER, float(radio.packet_bits))
    given = modulation, radio.bandwidth, rate
    hopeless = needed_sinr_db(*given, 1.0 - ALMOST, float(radio.packet_bits))
    certain = needed_sinr_db(*given, ALMOST, float(radio.packet_bits))
    values[COLUMN.hopeless], values[COLUMN.curve_rate] = hopeless, CURVE / (certain - hopeless)
    values[COLUMN.modulation], values[COLUMN.spread] = modulation, radio.bandwidth / rate
    values[COLUMN.duty], values[COLUMN.bits] = radio.duty, radio.packet_bits
    values[COLUMN.antenna], values[COLUMN.peak] = antenna.kind, antenna.peak
    values[COLUMN.azimuth], values[COLUMN.elevation] = antenna.azimuth, antenna.elevation
    values[COLUMN.pattern], values[COLUMN.group] = antenna.pattern, group
    turn(values[:, None], np.array([[0.0], [0.0], [0.0], [1.0]]))
    return values


def radios_of(section: RadioSection, fleets: Sequence[FleetRadios]) -> Radios:
    """Return the table of the radios of these fleets, in the order of names, and of the stations."""
    types, patterns, groups = section.known_types, Patterns(), list[RadioGroup]()
    blocks, streams, owner, slot = [np.zeros((len(COLUMN), 0))], [], [], []
    parts, first, seat = [], 0, 0

    def column(name: str, fitted: FittedRadio) -> Floats:
        radio = fitted.of(types)
        groups.append(RadioGroup(name, fitted.type, radio))
        return constants(radio, patterns.antenna(radio.antenna, f"radio of {name!r}"), len(groups) - 1)

    for fleet in sorted(fleets, key=lambda one: one.name):
        if not fleet.fitted:
            continue
        n, slots = len(fleet.ids), len(fleet.fitted)
        columns = np.stack([column(fleet.name, fitted) for fitted in fleet.fitted], axis=1)
        block = np.tile(columns, n)
        block[COLUMN.owner] = seat + np.repeat(np.arange(n), slots)
        blocks.append(block)
        owner.append(np.repeat(fleet.ids, slots))
        slot.append(np.tile(np.arange(slots), n))
        streams.append(np.repeat(fleet.streams, slots) ^ _slot_streams(slot[-1]))
        parts.append(RadioPart(fleet.name, first, n, slots))
        first, seat = first + n * slots, seat + n
    names = []
    for station in sorted(section.stations, key=lambda one: one.name):
        block = np.stack([column(station.name, fitted) for fitted in station.radio], axis=1)
        block[:3] = np.array(station.position)[:, None]
        slots = block.shape[1]
        turn(block, np.repeat(np.array(euler_quaternion(0.0, 0.0, radians(station.yaw_deg)))[:, None], slots, axis=1))
        block[COLUMN.owner] = seat
        blocks.append(block)
        owner.append(np.full(slots, -1))
        slot.append(np.arange(slots))
        streams.append(stream_ids(station.name, np.arange(slots)))
        names += [station.name] * slots
        seat += 1
    for jammer in sorted(section.jammers, key=lambda one: one.name):
        radio = jammer_radio(jammer)
        groups.append(RadioGroup(jammer.name, jammer.name, radio))
        antenna = patterns.antenna(radio.antenna, f"jammer {jammer.name!r}")
        blocks.append(constants(radio, antenna, len(groups) - 1)[:, None])
        blocks[-1][COLUMN.owner] = -1.0
        streams.append(stream_ids(jammer.name, np.arange(1)))
    table = np.ascontiguousarray(np.concatenate(blocks, axis=1))
    ids = _joined(streams), _joined(owner), _joined(slot)
    firsts = [int(np.argmax(table[COLUMN.group] == g)) for g in range(len(groups))]
    curves = np.array([error_curve(*table[CURVED, k].tolist()) for k in firsts]).reshape(-1, CURVE + 4)
    return Radios(table, *ids, tuple(parts), tuple(names), tuple(groups), patterns.stacked(), curves)


@lru_cache(maxsize=256)
def error_curve(modulation: float, spread: float, bits: float, hopeless: float, rate: float) -> tuple[float, ...]:
    """Return packet error rates from one step below the SINR `hopeless` (dB) on, in steps of 1 / rate dB."""
    at = [hopeless + (k - 1) / rate for k in range(CURVE + 4)]
    found = [per(ber(int(modulation), power_ratio(sinr) * spread), bits) for sinr in at]
    return (1.0, 1.0, *found[2:-3], 0.0, 0.0, 0.0)


def jammer_radio(one: JammerSection) -> RadioType:
    """Return the transmitter of a jammer as a radio."""
    given = {name: getattr(one, name) for name in ("frequency", "power", "antenna", "polarisation")}
    bandwidth = JAMMED_BANDWIDTHS.get(one.kind, JAMMED_BANDWIDTH) if one.bandwidth is None else one.bandwidth
    bits, modulation = one.packet_bits or 8192, one.modulation or "qpsk"
    return RadioType(**given, bandwidth=bandwidth, modulation=modulation, packet_bits=bits, duty=1.0)


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)


def _slot_streams(slot: Ints) -> Ints:
    with np.errstate(over="ignore"):
        return (slot.astype(np.uint64) * np.uint64(GOLDEN)).view(np.int64)


# propagation between groups ------------------------------------------------------------------------------------------


class Classes(NamedTuple):
    """The link classes of a scenario: the default is the last."""

    table: Floats  # (columns, k)
    of: Ints  # (groups, groups) class between two groups


def classes_of(section: RadioSection, groups: Sequence[RadioGroup]) -> Classes:
    """Return the link classes, and the one between every two groups: the first that matches both ends."""
    settings: list[LinkSettings] = [*section.links, section.default]
    table = np.stack([_class(one) for one in settings], axis=1)
    shadowed = table[CLASS.sigma] > 0.0
    table[CLASS.field, shadowed] = np.arange(int(shadowed.sum()))
    of = np.full((len(groups), len(groups)), len(settings) - 1, np.int64)
    for k in range(len(section.links) - 1, -1, -1):
        one, two = (np.array([name in (g.owner, g.type) for g in groups], bool) for name in section.links[k].between)
        of[one[:, None] & two[None] | two[:, None] & one[None]] = k
    return Classes(table, of)


def _class(one: LinkSettings) -> Floats:
    values = np.zeros(len(CLASS))
    values[CLASS.model] = MODELS[one.model]
    values[CLASS.exponent] = one.exponent or EXPONENT
    values[CLASS.reference] = one.reference or REFERENCE
    values[CLASS.city] = CITIES.get(one.model, {}).get(one.city or "small", 0)
    values[CLASS.distance] = 1.0
    if one.shadowing is not None:
        values[CLASS.sigma], values[CLASS.distance] = one.shadowing.sigma, one.shadowing.distance
    if one.fading is not None:
        values[CLASS.fading], values[CLASS.parameter] = FADINGS[one.fading.kind], one.fading.parameter or 0.0
    values[CLASS.terrain], values[CLASS.obstacles] = one.terrain, one.obstacles
    values[CLASS.ground] = one.model not in ("free_space", "log_distance")
    return values


def check_frequencies(scenario: Scenario, groups: Sequence[RadioGroup], classes: Classes) -> None:
    """Raise InvalidValueError at its place if a model is used outside its range of frequencies."""
    section = scenario.radio
    assert section is not None
    for i, a in enumerate(groups):
        for j, b in enumerate(groups[: i + 1]):
            k = int(classes.of[i, j])
            own = k < len(section.links)
            one: LinkSettings = section.links[k] if own else section.default
            low, high = VALIDITY[one.model].frequency
            wrong = [g for g in (a, b) if not low <= g.radio.centre <= high]
            meet = abs(a.radio.centre - b.radio.centre) < 0.5 * (a.radio.bandwidth + b.radio.bandwidth)
            if wrong and meet and not one.extrapolate:
                where = scenario.at("radio", "links", k, "model") if own else scenario.at("radio", "default", "model")
                used = f"{wrong[0].radio.centre / 1e6:g} MHz of {wrong[0].owner!r}"
                raise InvalidValueError(
                    f"{where}: {one.model} is valid from {low / 1e6:g} to {high / 1e6:g} MHz, not for the {used}; "
                    "set extrapolate: true to use it all the same"
                )


def check_setup(scenario: Scenario) -> None:
    """Raise InvalidValueError at its place if the radios of a scenario cannot be built."""
    assert scenario.radio is not None
    one = np.zeros(1, np.int64)
    radios = radios_of(scenario.radio, [FleetRadios(entry.name, one, one, entry.radio) for entry in scenario.vehicles])
    check_frequencies(scenario, radios.groups, classes_of(scenario.radio, radios.groups))


def boost(values: Floats) -> float:
    """Return how far (dB) the power of a link class may exceed that of its model: reflection, shadowing, fading."""
    fading, parameter = int(values[CLASS.fading]), float(values[CLASS.parameter])
    above = REFLECTED if values[CLASS.model] == GROUND_REFLECTION else 0.0
    above += SHADOWS * float(values[CLASS.sigma])
    if fading == RICIAN:  # the direct wave and the scattered ones in phase
        scattered = power_ratio(0.5 * (UPFADE - max(parameter, 0.0)))
        above += min(UPFADE, 2.0 * decibels(1.0 + scattered))
    elif fading == NAKAGAMI and parameter < 1.0:
        above += UPFADE / parameter  # deeper fades, and higher peaks, than Rayleigh's
    elif fading:
        above += UPFADE
    return above


def reaches(radios: Radios, classes: Classes, threshold: Floats) -> Floats:
    """Return the distance (m) beyond which no transmitter of a group exceeds a receiver's threshold (dBm).

    Shape (groups, groups): receivers x transmitters. Terrain, obstacles and polarisation only add loss.
    """
    count = len(np.unique(radios.table[COLUMN.group, : radios.n]))
    found = np.zeros((count, count))
    first = [int(np.argmax(radios.table[COLUMN.group] == g)) for g in range(count)]
    peaks = [largest_gain(radios.table[:, k], radios.patterns) for k in first]
    for i in range(count):
        for j in range(count):
            transmitter = radios.table[:, first[j]]
            values = classes.table[:, classes.of[i, j]]
            allowed = transmitter[COLUMN.power] + peaks[i] + peaks[j] - threshold[first[i]] + boost(values)
            found[i, j] = farthest(values, float(allowed), float(transmitter[COLUMN.frequency]))
    return found


def largest_gain(column: Floats, patterns: Floats) -> float:
    """Return the gain (dBi) of an antenna in its best direction."""
    pattern = patterns[int(column[COLUMN.pattern])].max() if column[COLUMN.antenna] == KINDS["pattern"] else 0.0
    return float(column[COLUMN.peak] + pattern)


def farthest(values: Floats, allowed: float, frequency: float) -> float:
    """Return the distance (m) up to which a link class may lose less than `allowed` dB; at most FARTHEST."""
    model = int(values[CLASS.model])
    free = LIGHT / (4.0 * PI * frequency) * power_ratio(0.5 * min(allowed, 400.0))
    if model in (FREE_SPACE, TWO_RAY, GROUND_REFLECTION) or allowed <= 0.0:
        return float(min(free, FARTHEST))
    exponent, reference, city = (float(values[k]) for k in (CLASS.exponent, CLASS.reference, CLASS.city))
    if model == LOG_DISTANCE:
        near = loss_db(model, reference, frequency, 1.0, 1.0, exponent, reference, 0)
        if allowed <= near:
            return float(min(free, FARTHEST))
        return float(min(reference * power_ratio(min(allowed - near, 400.0) / exponent), FARTHEST))
    heights = [(base, mobile) for base in (BASE_LOW, BASE_HIGH) for mobile in (MOBILE_LOW, MOBILE_HIGH)]
    low, high = 0.0, min(free, FARTHEST)
    for _ in range(60):
        middle = 0.5 * (low + high)
        least = min(loss_db(model, middle, frequency, *pair, exponent, reference, int(city)) for pair in heights)
        low, high = (middle, high) if least < allowed else (low, middle)
    return float(high)
