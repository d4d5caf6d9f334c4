"""What a simulation reports about its radio, and what remote clients return: stations, emitters, messages, counts."""

from typing import Any, NamedTuple


class JammerView(NamedTuple):
    """A jammer at this tick."""

    name: str
    kind: str
    on: bool  # whether it is switched on
    scheduled: bool  # whether it follows its schedule; otherwise it transmits while it is on
    active: float  # share of the time from the last update to the next in which it transmits
    position: tuple[float, float, float] | None  # m; None: its vehicle has been removed
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
    position: tuple[float, float, float] | None  # m; None: its vehicle has been removed
    vehicle: str | None
    power: float  # dBm
    captured: int  # vehicles whose receivers track its signals


class Station(NamedTuple):
    """A ground station."""

    name: str
    position: tuple[float, float, float]  # m
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
    delay: float  # s, mean of those delivered; NaN: none was


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


class VehicleTelemetry(NamedTuple):
    """The newest state of a vehicle that is known at its station; its fields are None before the first."""

    sent: int  # states since the start of the run
    received: int
    time: float | None  # s, when it was sent
    age: float | None  # s
    position: tuple[float, float, float] | None  # m
    orientation: tuple[float, float, float, float] | None  # quaternion x, y, z, w
    velocity: tuple[float, float, float] | None  # m/s
    charge: float | None  # of the battery, 0 to 1; None: it has none
