"""The budget of one link: every gain and loss from the transmitter to the packets that arrive."""

from typing import Any, NamedTuple

from paddock.radio.links import (
    BANDWIDTH,
    BITS,
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
    SPREAD,
    X,
    Y,
    Z,
    antenna_gain,
    common_band,
    model_loss,
    pair_distance,
    pair_gain,
)
from paddock.radio.paths import Paths, extra_losses
from paddock.radio.propagation import MODELS
from paddock.radio.radios import Classes, Radios
from paddock.radio.signal import ber, capacity, decibels, per, power_ratio

MOST_OUTSIDE = 300.0  # dB: nothing is in the band at all
MODEL_NAMES = {number: name for name, number in MODELS.items()}


class LinkBudget(NamedTuple):
    """The budget of a link. dB and dBm; `str()` is a table."""

    source: str
    to: str
    distance: float  # m
    frequency: float  # Hz
    power: float  # dBm, transmitted
    source_gain: float  # dBi, of the transmitter's antenna towards the receiver
    receiver_gain: float  # dBi
    polarisation: float  # dB lost by different polarisations
    model: str
    path_loss: float  # dB, of the propagation model
    diffraction: float  # dB, over terrain
    obstacles: float  # dB
    shadowing: float  # dB gained
    fading: float  # dB gained
    received: float  # dBm
    sensitivity: float  # dBm
    noise: float  # dBm
    interference: float  # dBm, of other radios in the receiver's band
    jamming: float  # dBm
    sinr: float  # dB
    needed: float  # dB
    ber: float
    per: float
    capacity: float  # bit/s, Shannon
    up: bool  # at the last update
    outside: float = 0.0  # dB lost outside the receiver's band, where it cannot decode the transmitter
    mismatch: str = ""  # why it cannot: other channel, other modulation; empty if it can

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
            ("polarisation", 0.0 - self.polarisation, "dB"),
            (f"path loss ({self.model})", 0.0 - self.path_loss, "dB"),
            ("terrain", 0.0 - self.diffraction, "dB"),
            ("obstacles", 0.0 - self.obstacles, "dB"),
            ("shadowing", self.shadowing, "dB"),
            ("fading", self.fading, "dB"),
            *([("outside the band", 0.0 - self.outside, "dB")] if self.mismatch else []),
            ("received power", self.received, "dBm"),
            ("sensitivity", self.sensitivity, "dBm"),
            ("noise", self.noise, "dBm"),
            ("interference", self.interference, "dBm"),
            ("jamming", self.jamming, "dBm"),
            ("SINR", self.sinr, "dB"),
            ("needed SINR", self.needed, "dB"),
            ("packet error rate", self.per, ""),
            ("capacity", self.capacity / 1e6, "Mbit/s"),
        ]
        lines = [f"{name:<28}{value:>10.{4 if unit == '' else 2}f} {unit}".rstrip() for name, value, unit in rows]
        state = "up" if self.up else f"down ({self.mismatch})" if self.mismatch else "down"
        return "\n".join([f"{self.source} -> {self.to}: {state}", *lines])


def link_budget(
    radios: Radios,
    classes: Classes,
    paths: Paths,
    i: int,
    j: int,
    interference: float,
    jamming: float,
    up: bool,
    source: str,
    to: str,
) -> LinkBudget:
    """Return the budget from radio j to radio i; `interference` of all radios and `jamming` in its band are in mW.

    Of a transmission on another channel or with another modulation, the receiver gets power in its band and no packets.
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
    sinr = power_ratio(received) / (float(table[NOISE, i]) + others + jamming)
    errors = 0.5 if mismatch else ber(int(table[MODULATION, i]), sinr * float(table[SPREAD, i]))
    return LinkBudget(
        *(source, to, pair_distance(table, i, j), float(table[FREQUENCY, j]), float(table[POWER, j])),
        *(other, own, polarisation, MODEL_NAMES[int(classes.table[MODEL, c])], loss),
        *(diffraction, obstacles, shadowing, fading, received, float(table[SENSITIVITY, i])),
        *(decibels(float(table[NOISE, i])), decibels(others), decibels(jamming), decibels(sinr)),
        *(float(table[NEEDED, i]), errors, 1.0 if mismatch else per(errors, float(table[BITS, i]))),
        capacity=0.0 if mismatch else capacity(float(table[BANDWIDTH, i]), sinr),
        up=up,
        outside=outside,
        mismatch=mismatch,
    )


def _mismatch(table: Any, i: int, j: int) -> str:
    """Return why receiver i cannot decode transmitter j whatever its power; empty if it can."""
    if abs(float(table[FREQUENCY, j] - table[FREQUENCY, i])) > SAME_CHANNEL * float(table[BANDWIDTH, i]):
        return "other channel"
    return "" if table[MODULATION, j] == table[MODULATION, i] else "other modulation"
