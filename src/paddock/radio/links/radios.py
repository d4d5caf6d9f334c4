"""The table of radios: what each transmits and hears, and where it is.

Radios are numbered fleet by fleet in the order of names, vehicle by vehicle, then stations by name. Radios with equal
settings on vehicles of one fleet are a group; propagation and ranges are tables of groups x groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import radians
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.quaternion import euler_quaternion, rotate
from paddock.compute.twin import vectorised
from paddock.radio.physics.antennas import (
    ISOTROPIC,
    KINDS,
    POLARISATIONS,
    Antenna,
    dipole_antenna,
    facing,
    mounting,
    pattern_table,
    polarisation_axis,
    sector_antenna,
)
from paddock.radio.physics.fading import NONE
from paddock.radio.physics.signal import (
    MODULATIONS,
    STEADY_DUTY,
    ber,
    duty_pace,
    log1p,
    needed_sinr_db,
    noise_dbm,
    per,
    power_ratio,
)
from paddock.scenario.radio import JammerSection, RadioSection
from paddock.scenario.radio_types import AntennaSection, FittedRadio, RadioType
from paddock.world.fleet import stream_ids

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
GOLDEN = 0x9E3779B97F4A7C15
ALMOST = 1e-15  # packet error rate at the end of a curve
CURVE = 1024  # steps of a curve of packet error rates over SINR
SATURATES = 60.0  # dB below the begin of a curve of packet error rates, where bit error rates are almost 0.5
SURVIVAL = 2048  # steps of a curve of the survival of packets over SINR
NEEDED_PER = 0.1  # packet error rate up to which a link is usable


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
    waveform: int = 36  # equal for radios of one modulation, bandwidth and bit rate: they can communicate
    fatal: int = 37  # dB, SINR at which half of the packets are lost
    growing: int = 38  # part of the load of collisions that grows with the length of a packet


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


class Classes(NamedTuple):
    """The link classes of a scenario: the default is the last."""

    table: Floats  # (columns, k)
    of: Ints  # (groups, groups) class between two groups

    def without_fading(self) -> "Classes":
        """Return the classes without small-scale fading: the mean over a few wavelengths."""
        table = self.table.copy()
        table[CLASS.fading] = NONE
        return Classes(table, self.of)


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


def group_names(groups: Sequence[RadioGroup]) -> list[str]:
    """Return names of groups: those of their owners, `red/1` for the second radio of `red`."""
    slots: dict[str, int] = {}
    names = []
    for group in groups:
        slot = slots[group.owner] = slots.get(group.owner, -1) + 1
        names.append(f"{group.owner}/{slot}" if slot else group.owner)
    return names


class RadioPart(NamedTuple):
    """Where the radios of a fleet are in the table: vehicle k has `first + k * slots` to `first + (k + 1) * slots`."""

    fleet: str
    first: int
    n: int
    slots: int

    @property
    def radios(self) -> slice:
        """The radios of all vehicles."""
        return slice(self.first, self.first + self.n * self.slots)

    def first_radios(self, places: Ints) -> Ints:
        """Return the first radio of each of some vehicles, by their places in the order of the fleet's members."""
        return self.first + places * self.slots

    def vehicles(self, radios: Ints) -> tuple[Ints, Ints]:
        """Return which of some radios are the fleet's, and the places of their vehicles in the order of its members."""
        own = np.flatnonzero((radios >= self.first) & (radios < self.first + self.n * self.slots))
        return own, (radios[own] - self.first) // self.slots


@dataclass(frozen=True, eq=False, repr=False)
class Radios:
    """All radios of a run, and the antennas of its jammers; the rows of the table are those of `RadioColumn`."""

    table: Floats  # (columns, n + jammers + followers): a follower has a second column, see `Jammers`
    streams: Ints  # (n + jammers + followers,)
    owner: Ints  # (n,) id of the vehicle, -1: a station
    slot: Ints  # (n,) number among the radios of its vehicle or station
    parts: tuple[RadioPart, ...]
    stations: tuple[str, ...]  # of the radios after those of the fleets, one name for each radio
    groups: tuple[RadioGroup, ...]  # of radios, then a group for each jammer
    patterns: Floats  # (k, rows, columns) of antennas
    curves: Floats  # (groups, CURVE, 4) packet error rates of a group over the SINR in dB: a cubic for each step
    survivals: Floats  # (groups, SURVIVAL, 4) logarithms of a packet's survival, from SATURATES dB below on

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
    return rotate(qx, qy, qz, qw, *polarisation_axis(tilt))


class Patterns:
    """Collects the tables of antennas while radios are read."""

    def __init__(self) -> None:
        self.tables: list[Floats] = []

    def antenna(self, section: AntennaSection) -> Antenna:
        """Return the numbers of an antenna."""
        if section.kind == "dipole":
            return dipole_antenna(section.gain)
        if section.kind == "sector":
            width = 60.0 if section.beamwidth_deg is None else section.beamwidth_deg
            height = 60.0 if section.beamheight_deg is None else section.beamheight_deg
            return sector_antenna(radians(width), radians(height), section.gain)
        if section.kind == "pattern":
            pattern = section.azimuths_deg, section.elevations_deg, section.gains
            self.tables.append(pattern_table(*(np.array(values, np.float64) for values in pattern)))
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
    rate, modulation = radio.rate, MODULATIONS[radio.modulation]
    values[COLUMN.frequency], values[COLUMN.bandwidth] = radio.centre, radio.bandwidth
    values[COLUMN.power], values[COLUMN.sensitivity] = radio.power, radio.sensitivity
    values[COLUMN.noise] = power_ratio(noise_dbm(radio.bandwidth, radio.noise_figure))
    values[COLUMN.needed] = needed_sinr_db(modulation, radio.bandwidth, rate, NEEDED_PER, float(radio.packet_bits))
    waveform = modulation, radio.bandwidth, rate
    hopeless = needed_sinr_db(*waveform, 1.0 - ALMOST, float(radio.packet_bits))
    certain = needed_sinr_db(*waveform, ALMOST, float(radio.packet_bits))
    values[COLUMN.fatal] = needed_sinr_db(*waveform, 0.5, float(radio.packet_bits))
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
        return constants(radio, patterns.antenna(radio.antenna), len(groups) - 1)

    for fleet in sorted(fleets, key=lambda fleet: fleet.name):
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
    for station in sorted(section.stations, key=lambda station: station.name):
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
    seconds = []  # columns and streams of followers
    for jammer in sorted(section.jammers, key=lambda jammer: jammer.name):
        radio = jammer_radio(jammer)
        groups.append(RadioGroup(jammer.name, jammer.name, radio))
        antenna = patterns.antenna(radio.antenna)
        blocks.append(constants(radio, antenna, len(groups) - 1)[:, None])
        blocks[-1][COLUMN.owner] = -1.0
        streams.append(stream_ids(jammer.name, np.arange(1)))
        if jammer.kind == "follower":
            seconds.append((blocks[-1], streams[-1]))
    blocks, streams = blocks + [block for block, _ in seconds], streams + [stream for _, stream in seconds]
    table = np.ascontiguousarray(np.concatenate(blocks, axis=1))
    alike = np.array(waveforms([group.radio for group in groups]))
    table[COLUMN.waveform] = alike[table[COLUMN.group].astype(np.int64)]
    ids = _joined(streams), _joined(owner), _joined(slot)
    table[COLUMN.growing] = growing_loads(table[:, : len(ids[1])], table)
    firsts = [int(np.argmax(table[COLUMN.group] == g)) for g in range(len(groups))]
    curves, survivals = (
        cubics(np.array([curve(*table[CURVED, k].tolist()) for k in firsts]).reshape(-1, steps + 4))
        for curve, steps in ((error_curve, CURVE), (survival_curve, SURVIVAL))
    )
    return Radios(table, *ids, tuple(parts), tuple(names), tuple(groups), patterns.stacked(), curves, survivals)


def waveforms(radios: Sequence[RadioType]) -> list[int]:
    """Return for each radio the number of the first one whose modulation, bandwidth and bit rate are the same."""
    first: dict[tuple[str, float, float], int] = {}
    numbers = []
    for k, radio in enumerate(radios):
        same = (number for other, number in first.items() if radio.same_waveform(*other))
        numbers.append(next(same, k))
        first.setdefault(radio.waveform, numbers[-1])
    return numbers


def growing_loads(transmitters: Floats, table: Floats) -> Floats:
    """Return the part of the load of collisions that grows with the length of a packet, for all transmitters."""
    duty = transmitters[COLUMN.duty]
    some = transmitters[:, (duty > 0.0) & (duty < STEADY_DUTY)]
    airtimes = [columns[COLUMN.bits] * columns[COLUMN.spread] / columns[COLUMN.bandwidth] for columns in (some, table)]
    paces: Any = duty_pace(some[COLUMN.duty], airtimes[0])
    fixed, pace = -np.log1p(-some[COLUMN.duty]).sum(), paces.sum()
    return pace * airtimes[1] / np.maximum(fixed + pace * airtimes[1], 1e-300)  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def error_curve(modulation: float, spread: float, bits: float, hopeless: float, rate: float) -> tuple[float, ...]:
    """Return packet error rates from one step below the SINR `hopeless` (dB) on, in steps of 1 / rate dB."""
    at = [hopeless + (k - 1) / rate for k in range(CURVE + 4)]
    rates = [per(ber(int(modulation), power_ratio(sinr) * spread), bits) for sinr in at]
    return (1.0, 1.0, *rates[2:-3], 0.0, 0.0, 0.0)


@lru_cache(maxsize=256)
def survival_curve(modulation: float, spread: float, bits: float, hopeless: float, rate: float) -> tuple[float, ...]:
    """Return logarithms of a packet's survival, from one step below `hopeless` - SATURATES (dB) to the same end."""
    step = (SATURATES + CURVE / rate) / SURVIVAL
    at = [hopeless - SATURATES + (k - 1) * step for k in range(SURVIVAL + 4)]
    return tuple(bits * log1p(-ber(int(modulation), power_ratio(sinr) * spread)) for sinr in at)


def cubics(values: Floats) -> Floats:
    """Return the coefficients (k, steps, 4) of the cubics through values (k, steps + 3) and their mean slopes."""
    steps = values.shape[1] - 4
    a, b, c, d = (values[:, k : k + steps] for k in range(4))
    slope, bend = 0.5 * (c - a), a - 2.5 * b + 2.0 * c - 0.5 * d
    return np.ascontiguousarray(np.stack([b, slope, bend, 0.5 * (d - a) + 1.5 * (b - c)], axis=2))


def jammer_radio(jammer: JammerSection) -> RadioType:
    """Return the transmitter of a jammer as a radio."""
    settings = {name: getattr(jammer, name) for name in ("frequency", "power", "antenna", "polarisation")}
    bits, modulation = jammer.packet_bits or 8192, jammer.modulation or "qpsk"
    return RadioType(**settings, bandwidth=jammer.width, modulation=modulation, packet_bits=bits, duty=1.0)


def _joined(parts: Sequence[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)


def _slot_streams(slot: Ints) -> Ints:
    with np.errstate(over="ignore"):
        return (slot.astype(np.uint64) * np.uint64(GOLDEN)).view(np.int64)
