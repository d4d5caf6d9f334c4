"""Results of operations of the radio: what a simulation and its clients return, and their form on the wire."""

from typing import Annotated, Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from paddock.wire.results import ArrayInJson, Point, Quaternion

NULL = "null"  # marks a number that is NaN in Python and null on the wire
NO_POWER = -300.0  # dBm: no power at all
Floats = NDArray[np.float64]
Decibels = Annotated[Floats, ArrayInJson(list[float], decimals=1)]
Rates = Annotated[Floats, ArrayInJson(list[float], decimals=3)]
Values = Annotated[Floats, ArrayInJson(list[float])]
Numbers = Annotated[NDArray[np.int64], ArrayInJson(list[int])]


class SurveyLimits:
    """Limits of surveys: the operations and `paddock.radio.links.survey` check the same ones."""

    FARTHEST = 1e6  # m: centre of a coverage, along x and y
    SMALLEST, LARGEST = 1.0, 1e6  # m: side of its square
    MOST_VALUES = 160  # per side of it, at least 2
    LOWEST, HIGHEST = -1e4, 1e5  # m above the ground
    NARROWEST, WIDEST = 1.0, 1e11  # Hz of a spectrum
    MOST_BINS = 512  # of a spectrum, at least 2
    MOST_PLACES = 10_000  # whose levels one request asks for
    MOST_BIDDERS, MOST_BIDS = 200, 1000  # vehicles and tasks of an assignment over radio
    SHORTEST, LONGEST = 1e-3, 3600.0  # s: a round of it
    MOST_ROUNDS = 10_000


class JammerView(NamedTuple):
    """A jammer at this tick."""

    name: str
    kind: str
    on: bool  # whether it is switched on
    scheduled: bool  # whether it follows its schedule; otherwise it transmits while it is on
    active: float  # share of the time from the last update to the next in which it transmits
    position: Point | None  # m; None: its vehicle has been removed
    vehicle: str | None
    power: float  # dBm
    frequency: float  # Hz, where it transmits now
    bandwidth: float  # Hz
    false_frames: float  # that receivers have accepted since the start, of a deceptive jammer


class SpooferView(NamedTuple):
    """A spoofer at this tick."""

    name: str
    on: bool  # whether it is switched on
    scheduled: bool  # whether it follows its schedule; otherwise it transmits while it is on
    active: bool  # whether it transmits
    position: Point | None  # m; None: its vehicle has been removed
    vehicle: str | None
    power: float  # dBm
    captured: int  # vehicles whose receivers track its signals


class Station(NamedTuple):
    """A ground station."""

    name: str
    position: Point  # m
    radios: int


class RadioReport(NamedTuple):
    """The state of all links at the last update. A link has one direction: two radios that hear each other have two."""

    tick: int
    radios: int
    links: int  # transmitters that receivers hear, summed over all of them
    up: int  # of them, usable
    ups: int  # links that have become usable since the start; those of vehicles that are removed do not count
    downs: int  # links that were usable and are so no longer, likewise
    neglected: float  # dB: at most this much interference of radios beyond the reach is left out, at the worst receiver
    outside: int  # paths that are outside the range of their propagation model
    jammed: int  # receivers that have lost half of their links or more to jammers
    rate: float  # Hz, of updates: that of the scenario, with a whole number of ticks between two


class CommandTraffic(NamedTuple):
    """Commands of a vehicle or fleet that go over the radio, since the start of the run."""

    sent: int
    delivered: int
    lost: int  # on their way: in spite of their repetitions, without a route, in the full queue of a relay
    dropped: int  # replaced by a newer one before they were sent
    waiting: int  # at the station or on their way
    delay: Annotated[float, NULL]  # s, mean of those delivered; NaN: none was


class ServiceTraffic(NamedTuple):
    """Packets of a service of the simulation (commands, telemetry, ...), since the start of the run."""

    sent: int
    delivered: int
    lost: int  # on their way; of telemetry, also states that a newer one has replaced
    dropped: int  # by a full queue at their sender; of commands, also those that a newer one has replaced there
    waiting: int  # on their way


class Received(NamedTuple):
    """A message that a vehicle or station has received."""

    number: int  # counts the messages of the run from 1
    source: str  # vehicle or station
    data: Any  # bytes, or values as in JSON
    bits: int
    hops: int
    sent: float  # s
    arrived: float  # s


class RadioMessageTree(TypedDict):
    """A `Received` message on the wire."""

    number: int
    source: str
    data: Any
    base64: bool  # whether `data` is a text in base64 that stands for bytes
    bits: int
    hops: int
    sent: float  # s
    arrived: float  # s


class VehicleTelemetry(NamedTuple):
    """The newest state of a vehicle that is known at its station; its fields are None before the first."""

    sent: int  # states since the start of the run
    received: int
    time: float | None  # s, when it was sent
    age: float | None  # s
    position: Point | None  # m
    orientation: Quaternion | None  # quaternion x, y, z, w
    velocity: Point | None  # m/s
    charge: float | None  # of the battery, 0 to 1; None: it has none


class Links(NamedTuple):
    """The links after an update, rows of transmitters that each receiver hears.

    Entries of receiver i are `start[i]:start[i + 1]`; `peer` ascends within a row.
    """

    tick: int  # of the update
    start: NDArray[np.int64]  # (n + 1,) where the entries of each receiver begin
    peer: NDArray[np.int32]  # (m,) number of the transmitter
    power: Floats  # (m,) dBm, received
    sinr: Floats  # (m,) dB, with the mean power of all others
    per: Floats  # (m,) packet error rate
    up: NDArray[np.uint8]  # (m,) 1: usable, with hysteresis
    interference: Floats  # (n,) mW, mean of all other radios in the receiver's band
    jamming: Floats  # (n,) mW, of jammers in the receiver's band
    outside: NDArray[np.int64]  # (n,) transmitters whose path is outside the range of its model
    bursts: Floats  # (rows, n) of the strongest jammer that is not always on: `radio.links.table.BURST_ROWS`
    collisions: Floats  # (rows, m) see `radio.physics.signal`; (rows, 0) if no radio transmits at times


class NetworkSummary(NamedTuple):
    """The network of radio links at one tick, vehicles and stations by name, without its paths."""

    tick: int
    components: list[list[str]]  # that reach each other, the largest first
    articulation_points: list[str]  # without which a component splits
    bridges: list[tuple[str, str]]  # links without which a component splits

    @property
    def parts(self) -> int:
        """The number of components."""
        return len(self.components)


class LinkBudget(NamedTuple):
    """The budget of a link. dB and dBm; `str()` is a table."""

    source: str  # name of the transmitter's vehicle or station
    to: str  # of the receiver's
    distance: float  # m
    frequency: float  # Hz
    power: float  # dBm, transmitted
    source_gain: float  # dBi, of the transmitter's antenna towards the receiver
    receiver_gain: float  # dBi, of the receiver's antenna towards the transmitter
    polarisation: float  # dB lost by different polarisations
    model: str  # of propagation
    path_loss: float  # dB, of the propagation model
    diffraction: float  # dB, over terrain
    obstacles: float  # dB, through and around obstacles
    shadowing: float  # dB gained
    fading: float  # dB gained
    received: float  # dBm
    sensitivity: float  # dBm, of the receiver
    noise: float  # dBm, of the receiver in its band; -300 dBm is no power at all, here and below
    interference: float  # dBm, mean of other radios in the receiver's band, without those whose packets collide
    jamming: float  # dBm, mean of all jammers in the receiver's band
    sinr: float  # dB, of received power over noise, interference and jamming
    needed: float  # dB, least SINR of a usable link
    ber: float  # at this SINR
    per: float  # of packets, which bursts of a jammer hit or miss, and which collide; 1 while the link is down
    capacity: float  # bit/s, Shannon, at this SINR
    up: bool  # at the last update
    outside: float = 0.0  # dB lost outside the receiver's band, where it cannot decode the transmitter
    mismatch: str = ""  # why it cannot: other channel, modulation, bandwidth or bit rate; empty if it can
    burst_share: float = 0.0  # of time in bursts of a jammer, 0: there are none
    burst_sinr: float = 0.0  # dB, during them
    collided: float = 0.0  # share of packets that meet transmissions of radios with a duty
    throughput: float = 0.0  # bit/s of packets that arrive, one after the other while the transmitter has the channel
    denied: float = 0.0  # share of time that jammers deny the channel to the transmitter
    denying: float = 0.0  # dBm, of jammers at the transmitter meanwhile, if they do
    energy: float = 0.0  # dBm, from which on they do

    @property
    def jammer_to_signal(self) -> float:
        """J/S, dB."""
        return self.jamming - self.received

    @property
    def problem(self) -> str:
        """Why the link is down; empty if it is up."""
        if self.up or self.mismatch:
            return self.mismatch
        if self.received < self.sensitivity:
            return f"{self.to} receives {self.received:.1f} dBm, its sensitivity is {self.sensitivity:g} dBm"
        if self.sinr < self.needed:
            return f"the SINR at {self.to} is {self.sinr:.1f} dB, it needs {self.needed:.1f} dB"
        return "it was down at the last update"

    def __str__(self) -> str:
        rows = [
            ("distance", self.distance, "m"),
            ("frequency", self.frequency / 1e6, "MHz"),
            ("transmitted power", self.power, "dBm"),
            ("gain of the transmitter", self.source_gain, "dBi"),
            ("gain of the receiver", self.receiver_gain, "dBi"),
            ("loss by polarisation", self.polarisation, "dB"),
            (f"path loss ({self.model})", self.path_loss, "dB"),
            ("loss by diffraction", self.diffraction, "dB"),
            ("loss by obstacles", self.obstacles, "dB"),
            ("gain by shadowing", self.shadowing, "dB"),
            ("gain by fading", self.fading, "dB"),
            *([("loss outside the band", self.outside, "dB")] if self.mismatch else []),
            ("received power", self.received, "dBm"),
            ("sensitivity", self.sensitivity, "dBm"),
            ("noise", self.noise, "dBm"),
            ("interference", self.interference, "dBm"),
            ("jamming", self.jamming, "dBm"),
            ("SINR", self.sinr, "dB"),
            *([("SINR in bursts", self.burst_sinr, "dB")] if self.burst_share else []),
            *([("time in bursts", 100.0 * self.burst_share, "%")] if self.burst_share else []),
            ("needed SINR", self.needed, "dB"),
            *([("packets that collide", 100.0 * self.collided, "%")] if self.collided else []),
            ("packet error rate", self.per, ""),
            *([("jamming at the transmitter", self.denying, "dBm")] if self.denied else []),
            *([("denies the channel from", self.energy, "dBm")] if self.denied else []),
            *([("time without the channel", 100.0 * self.denied, "%")] if self.denied else []),
            ("throughput", self.throughput / 1e6, "Mbit/s"),
            ("capacity", self.capacity / 1e6, "Mbit/s"),
        ]
        lines = [f"{name:<28}{_shown(value, unit)}" for name, value, unit in rows]
        state = "up" if self.up else f"down ({self.problem})"
        return "\n".join([f"{self.source} -> {self.to}: {state}", *lines])


def _shown(value: float, unit: str) -> str:
    """Return a value of a budget in a column; `-` for no power at all."""
    if unit == "dBm" and value < NO_POWER + 1.0:
        return f"{'-':>10}"
    return f"{value:>10.{4 if unit == '' else 2}f} {unit}".rstrip()


class RadioTypeTree(TypedDict):
    """A radio: Hz, dBm, dB; `needed` is the least SINR of a usable link, `range` (m) by the mean loss of its model."""

    type: str
    frequency: float
    bandwidth: float
    power: float
    sensitivity: float
    noise: float
    needed: float
    range: float


class RadioFleetTree(TypedDict):
    """The radios of each vehicle of a fleet."""

    name: str
    radios: list[RadioTypeTree]


class StationTree(TypedDict):
    """A radio of a ground station; the column `radio.peers` has -2 - k for the k-th of them."""

    name: str
    position: Point
    radio: RadioTypeTree


class RadioTree(TypedDict):
    """Radios, stations, jammers and spoofers; audible and usable links, changes, jammed receivers.

    `traffic` counts messages since the start: sent, delivered, dropped by reason; `services` the packets of services
    that have sent any: `commands`, `telemetry`, `heartbeats`, `mission`, `mavlink`.
    """

    rate: float
    fleets: list[RadioFleetTree]
    stations: list[StationTree]
    jammers: list[JammerView]
    spoofers: list[SpooferView]
    traffic: dict[str, int]
    services: dict[str, ServiceTraffic]
    links: int
    up: int
    ups: int
    downs: int
    jammed: int


class CoverageGrid(NamedTuple):
    """Values at the places of a grid, (side, side), rows from the south."""

    x: float  # m, of the first value
    y: float
    cell: float  # m between values
    side: int
    height: float  # m above the ground
    power: Decibels  # dBm, of the strongest transmitter that the receiver can decode
    sinr: Decibels  # dB, of that transmitter, with the mean power of jammers
    jamming: Decibels  # dBm, of all jammers in the receiver's band, mean
    per: Rates  # packet error rate of that transmitter, by the bursts of jammers; 1: none
    noise: float  # dBm
    needed: float  # dB, least SINR of a usable link
    sensitivity: float  # dBm
    time: float  # s


class Spectrum(NamedTuple):
    """Power by frequency at a receiver."""

    low: float  # Hz
    high: float  # Hz
    band: tuple[float, float]  # Hz, of the receiver
    power: Decibels  # (bins,) dBm in each bin: noise, transmitters by the share of time that they use, jammers
    noise: float  # dBm in each bin
    time: float  # s


class HeardLevels(NamedTuple):
    """What a receiver gets at n places."""

    power: Values  # (n,) dBm, of the strongest transmitter that it can decode
    sinr: Values  # (n,) dB, of that transmitter, with the mean power of jammers
    jamming: Values  # (n,) dBm, of all jammers in its band, mean
    per: Values  # (n,) packet error rate of it, by bursts of jammers; 1: none
    best: Numbers  # (n,) which of the transmitters that is, -1: none


class Agreement(NamedTuple):
    """How rounds over radio ended."""

    agreed: bool  # whether all believe in the same winners
    rounds: int  # until the last change
    seconds: float  # of simulated time
    sent: int  # messages
    received: int  # receptions of all vehicles
    conflicts: int  # tasks in the bundles of several vehicles
    unassigned: int  # tasks in no bundle
    parts: int  # groups of vehicles that hear each other, directly or over others of them
    settled: bool = False  # whether the vehicles of each part agree

    def describe(self) -> str:
        """Return the result in one line."""
        rounds = "1 round" if self.rounds == 1 else f"{self.rounds} rounds"
        heard = self.received / max(self.sent, 1)
        took = f"{rounds}, {self.seconds:g} s in all; {self.sent} messages, each heard by {heard:.1f} on average"
        if self.agreed:
            return f"agreed after {took}"
        among = ", which agree among themselves" if self.settled else ""
        apart = f"; there are {self.parts} groups that do not hear each other{among}" if self.parts > 1 else ""
        return f"did not agree after {took}; {self.conflicts} tasks with several winners{apart}"


class NegotiatedAssignment(NamedTuple):
    """The task of each vehicle, and how the vehicles came to it."""

    tasks: list[int | None]  # None: none
    agreement: Agreement


def as_tree(value: Any) -> Any:
    """Return the form of a result on the wire: objects of plain values in place of named tuples."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: as_tree(entry) for name, entry in value._asdict().items()}
    if isinstance(value, dict):
        return {name: as_tree(entry) for name, entry in value.items()}
    return [as_tree(entry) for entry in value] if isinstance(value, list) else value
