"""Results of operations of the radio."""

from typing import Any, TypedDict

from paddock.wire.operations.results import Point


class RadioMessageTree(TypedDict):
    """A message that was received over radio."""

    number: int
    source: str
    data: Any
    base64: bool  # whether `data` is a text in base64 that stands for bytes
    bits: int
    hops: int
    sent: float  # s
    arrived: float  # s


class RadioNetworkTree(TypedDict):
    """The network of radio links: vehicles and stations by component, the largest first; its weak points."""

    tick: int
    components: list[list[str]]
    articulation_points: list[str]
    bridges: list[tuple[str, str]]


class SpooferTree(TypedDict):
    """A spoofer of satellite navigation; `captured` vehicles track its signals."""

    name: str
    on: bool
    scheduled: bool
    active: bool
    position: Point | None
    vehicle: str | None
    power: float
    captured: int


class CommandTrafficTree(TypedDict):
    """Commands over the radio since the start; `delay`: mean of those delivered, s, null before the first."""

    sent: int
    delivered: int
    lost: int
    dropped: int
    waiting: int
    delay: float | None


class ServiceTrafficTree(TypedDict):
    """Packets of a service since the start; `dropped` by a full queue or for a newer one, `waiting` on their way."""

    sent: int
    delivered: int
    lost: int
    dropped: int
    waiting: int


class VehicleTelemetryTree(TypedDict):
    """The newest state of a vehicle that has arrived at its station (null before the first), and its age."""

    sent: int
    received: int
    time: float | None  # s
    age: float | None  # s
    position: Point | None
    orientation: tuple[float, float, float, float] | None
    velocity: Point | None
    charge: float | None


class JammerTree(TypedDict):
    """A jammer; `active` is the share of time in which it transmits, `position` (m) is null without its vehicle."""

    name: str
    kind: str
    on: bool
    scheduled: bool
    active: float
    position: Point | None
    vehicle: str | None
    power: float
    frequency: float
    bandwidth: float
    false_frames: float


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


class GroundStationTree(TypedDict):
    """A ground station; `position` in m."""

    name: str
    position: Point
    radios: int


class RadioReportTree(TypedDict):
    """Links at the last update, each direction by itself; `ups`, `downs`: changes since the start.

    `neglected` (dB) bounds the interference of radios beyond the reach; `rate` in Hz.
    """

    tick: int
    radios: int
    links: int
    up: int
    ups: int
    downs: int
    neglected: float
    outside: int
    jammed: int
    rate: float


class RadioTree(TypedDict):
    """Radios, stations, jammers and spoofers; audible and usable links, changes, jammed receivers.

    `traffic` counts messages since the start: sent, delivered, dropped by reason; `services` the packets of services
    that have sent any: `commands`, `telemetry`, `heartbeats`, `mission`.
    """

    rate: float
    fleets: list[RadioFleetTree]
    stations: list[StationTree]
    jammers: list[JammerTree]
    spoofers: list[SpooferTree]
    traffic: dict[str, int]
    services: dict[str, ServiceTrafficTree]
    links: int
    up: int
    ups: int
    downs: int
    jammed: int


class CoverageTree(TypedDict):
    """Values on a square grid, rows from the south: dBm and dB. `x`, `y` (m) are those of the first value.

    `sinr` and `jamming` are means over time; `per` is the packet error rate, by the bursts of jammers.
    """

    x: float
    y: float
    cell: float
    side: int
    height: float
    power: list[float]
    sinr: list[float]
    jamming: list[float]
    per: list[float]
    noise: float
    needed: float
    sensitivity: float
    time: float


class SpectrumTree(TypedDict):
    """Power (dBm) in bins between two frequencies (Hz) at a receiver; `band` is its own."""

    low: float
    high: float
    band: tuple[float, float]
    power: list[float]
    noise: float
    time: float


class LevelsTree(TypedDict):
    """What a receiver gets at places: dBm, dB, dBm, packet error rate; `best`: which of the transmitters, -1: none."""

    power: list[float]
    sinr: list[float]
    jamming: list[float]
    per: list[float]
    best: list[int]


class AgreementTree(TypedDict):
    """How rounds of CBBA over radio ended: messages and receptions, tasks with several winners or none, groups."""

    agreed: bool
    rounds: int
    seconds: float
    sent: int
    received: int
    conflicts: int
    unassigned: int
    parts: int
    settled: bool


class AssignmentTree(TypedDict):
    """The task of each vehicle, null: none; and how the vehicles came to it."""

    tasks: list[int | None]
    agreement: AgreementTree


class LinkBudgetTree(TypedDict):
    """The budget of a link: m, Hz, dB, dBm, bit/s."""

    source: str
    to: str
    distance: float
    frequency: float
    power: float
    source_gain: float
    receiver_gain: float
    polarisation: float
    model: str
    path_loss: float
    diffraction: float
    obstacles: float
    shadowing: float
    fading: float
    received: float
    sensitivity: float
    noise: float
    interference: float
    jamming: float
    sinr: float
    needed: float
    ber: float
    per: float
    capacity: float
    up: bool
    outside: float
    mismatch: str
    burst_share: float
    burst_sinr: float
    collided: float
    throughput: float
    denied: float
    denying: float
    energy: float
