"""The budget of one link: every gain and loss from the transmitter to the packets that arrive."""

from math import isclose
from typing import Any, NamedTuple

from paddock.radio.links.bursts import link_error
from paddock.radio.links.paths import Paths, extra_losses
from paddock.radio.links.radios import Classes, Floats, Radios
from paddock.radio.links.table import (
    BANDWIDTH,
    BITS,
    BURST,
    DUTY,
    FREQUENCY,
    GROUP,
    MODEL,
    MODULATION,
    NEEDED,
    NOISE,
    POWER,
    SAME_CHANNEL,
    SENSITIVITY,
    SHARE,
    SPREAD,
    WAVEFORM,
    X,
    Y,
    Z,
    antenna_gain,
    common_band,
    model_loss,
    pair_distance,
    pair_gain,
)
from paddock.radio.physics.propagation import MODELS
from paddock.radio.physics.signal import NO_POWER, ber, capacity, decibels, expm1, per, power_ratio
from paddock.scenario.radio_types import SAME

MOST_OUTSIDE = -NO_POWER  # dB: nothing is in the band at all
MODEL_NAMES = {number: name for name, number in MODELS.items()}


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
    per: float  # of packets, which bursts of a jammer hit or miss, and which collide
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
        state = "up" if self.up else f"down ({self.mismatch})" if self.mismatch else "down"
        return "\n".join([f"{self.source} -> {self.to}: {state}", *lines])


def _shown(value: float, unit: str) -> str:
    """Return a value of a budget in a column; `-` for no power at all."""
    if unit == "dBm" and value < NO_POWER + 1.0:
        return f"{'-':>10}"
    return f"{value:>10.{4 if unit == '' else 2}f} {unit}".rstrip()


def link_budget(
    radios: Radios,
    classes: Classes,
    paths: Paths,
    i: int,
    j: int,
    interference: float,
    jamming: float,
    bursts: Floats,
    collisions: tuple[float, float] | None,
    up: bool,
    source: str,
    to: str,
) -> LinkBudget:
    """Return the budget from radio j to radio i; `interference` of all radios and `jamming` in its band are in mW.

    `bursts` (BURST_ROWS, n) are those of the links: errors are those of packets that a jammer hits now and then.
    `collisions`: power (mW) of all but packets of other radios, and the load of those; None if there are none: then
    all `interference` is steady. Of a transmission that it cannot decode, the receiver gets power in its band and no
    packets.
    """
    table: Any = radios.table
    c = int(classes.of[int(table[GROUP, i]), int(table[GROUP, j])])
    dx, dy, dz = (float(table[k, j] - table[k, i]) for k in (X, Y, Z))
    own = antenna_gain(table, i, dx, dy, dz, radios.patterns)
    other = antenna_gain(table, j, -dx, -dy, -dz, radios.patterns)
    polarisation = own + other - pair_gain(table, i, j, radios.patterns)
    loss = model_loss(table, i, j, classes.table, c)
    diffraction, obstacles, shadowing, fading = extra_losses(table, i, j, classes.table, c, paths)
    received = float(table[POWER, j]) + own + other - polarisation - loss - diffraction - obstacles + shadowing + fading
    share = common_band(table[FREQUENCY, i], table[BANDWIDTH, i], table[FREQUENCY, j], table[BANDWIDTH, j])
    in_band = power_ratio(received) * max(share, 0.0)
    others = max(interference - in_band * float(table[DUTY, j]), 0.0)
    mismatch, outside = _mismatch(table, i, j), 0.0
    if mismatch:
        outside = 0.0 - decibels(share) if share > 0.0 else MOST_OUTSIDE
        received -= outside
    noise, collided = float(table[NOISE, i]), 0.0
    if collisions is not None and not mismatch:
        others, collided = max(collisions[0] - noise - jamming, 0.0), -expm1(-collisions[1])
    floor, signal = noise + others + jamming, power_ratio(received)
    errors = 0.5 if mismatch else ber(int(table[MODULATION, i]), signal / floor * float(table[SPREAD, i]))
    lost = 1.0 if mismatch else per(errors, float(table[BITS, i]))
    share_of_time = float(bursts[SHARE, i])
    if share_of_time > 0.0 and not mismatch:
        lost = link_error(table, i, signal, floor, bursts)
    lost = 1.0 - (1.0 - lost) * (1.0 - collided)
    return LinkBudget(
        *(source, to, pair_distance(table, i, j), float(table[FREQUENCY, j]), float(table[POWER, j])),
        *(other, own, polarisation, MODEL_NAMES[int(classes.table[MODEL, c])], loss),
        *(diffraction, obstacles, shadowing, fading, received, float(table[SENSITIVITY, i])),
        *(decibels(noise), decibels(others), decibels(jamming), decibels(signal / floor)),
        *(float(table[NEEDED, i]), errors, lost),
        capacity=0.0 if mismatch else capacity(float(table[BANDWIDTH, i]), signal / floor),
        up=up,
        outside=outside,
        mismatch=mismatch,
        burst_share=share_of_time,
        burst_sinr=decibels(signal / (floor + bursts[BURST, i] * (1.0 - share_of_time))) if share_of_time else 0.0,
        collided=collided,
        throughput=(1.0 - lost) * float(table[BANDWIDTH, j] / table[SPREAD, j]),
    )


def _mismatch(table: Any, i: int, j: int) -> str:
    """Return why receiver i cannot decode transmitter j whatever its power; empty if it can."""
    if abs(float(table[FREQUENCY, j] - table[FREQUENCY, i])) > SAME_CHANNEL * float(table[BANDWIDTH, i]):
        return "other channel"
    if table[WAVEFORM, j] == table[WAVEFORM, i]:
        return ""
    if table[MODULATION, j] != table[MODULATION, i]:
        return "other modulation"
    return "other bit rate" if isclose(table[BANDWIDTH, j], table[BANDWIDTH, i], rel_tol=SAME) else "other bandwidth"
