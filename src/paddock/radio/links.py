"""Links: the table of all links of an update, and what lies between two radios as scalar functions.

`link_update.py` computes the table. Compiled loops call the functions with the table of radios and two numbers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import maximum, minimum, sqrt
from paddock.radio.antennas import ISOTROPIC, direction, gain_db, polarisation_loss_db, polarisation_share
from paddock.radio.paths import blocking, random_gains
from paddock.radio.propagation import loss_db
from paddock.radio.radios import CLASS, COLUMN, Floats, Ints
from paddock.radio.signal import ber, per

Bools = NDArray[np.uint8]
Indices = NDArray[np.int32]
SAME_CHANNEL = 0.1  # of the bandwidth: centre frequencies may differ by this much

X, Y, Z, QX, QY, QZ, QW = range(7)
PX, PY, PZ, HEIGHT = COLUMN.px, COLUMN.py, COLUMN.pz, COLUMN.height
POLARISED, FREQUENCY, BANDWIDTH, POWER = COLUMN.polarised, COLUMN.frequency, COLUMN.bandwidth, COLUMN.power
NOISE, MODULATION, SPREAD, DUTY, BITS = COLUMN.noise, COLUMN.modulation, COLUMN.spread, COLUMN.duty, COLUMN.bits
ANTENNA, PEAK, AZIMUTH, ELEVATION, PATTERN = (
    COLUMN.antenna,
    COLUMN.peak,
    COLUMN.azimuth,
    COLUMN.elevation,
    COLUMN.pattern,
)
GROUP, OWNER, SENSITIVITY, NEEDED = COLUMN.group, COLUMN.owner, COLUMN.sensitivity, COLUMN.needed
HOPELESS, CURVE_RATE = COLUMN.hopeless, COLUMN.curve_rate
MODEL, EXPONENT, REFERENCE, CITY = CLASS.model, CLASS.exponent, CLASS.reference, CLASS.city


class Links(NamedTuple):
    """The links after an update, rows of transmitters that each receiver hears.

    Entries of receiver i are `start[i]:start[i + 1]`; `peer` ascends within a row.
    """

    tick: int
    start: Ints  # (n + 1,)
    peer: Indices  # (m,) number of the transmitter
    power: Floats  # (m,) dBm, received
    sinr: Floats  # (m,) dB
    per: Floats  # (m,) packet error rate
    up: Bools  # (m,) 1: usable, with hysteresis
    interference: Floats  # (n,) mW, of all other radios in the receiver's band
    jamming: Floats  # (n,) mW
    outside: Ints  # (n,) transmitters whose path is outside the range of its model


def no_links(n: int) -> Links:
    """Return the links before the first update."""
    floats = np.zeros(0)
    empties = np.zeros(0, np.int32), floats, floats, floats, np.zeros(0, np.uint8)
    return Links(-1, np.zeros(n + 1, np.int64), *empties, np.zeros(n), np.zeros(n), np.zeros(n, np.int64))


# scalar parts --------------------------------------------------------------------------------------------------------


def pair_gain(table: Any, i: int, j: int, patterns: Any) -> float:
    """Return the gains of both antennas towards each other less the loss of polarisation, dB."""
    dx, dy, dz = table[X, j] - table[X, i], table[Y, j] - table[Y, i], table[Z, j] - table[Z, i]
    gain = antenna_gain(table, i, dx, dy, dz, patterns) + antenna_gain(table, j, -dx, -dy, -dz, patterns)
    if table[ANTENNA, i] != ISOTROPIC and table[ANTENNA, j] != ISOTROPIC:
        share = polarisation_share(
            table[PX, i], table[PY, i], table[PZ, i], table[PX, j], table[PY, j], table[PZ, j], dx, dy, dz
        )
        gain -= polarisation_loss_db(int(table[POLARISED, i]), int(table[POLARISED, j]), share)
    return gain


def antenna_gain(table: Any, k: int, dx: float, dy: float, dz: float, patterns: Any) -> float:
    """Return the gain (dBi) of a radio's antenna towards a vector of the world."""
    kind = int(table[ANTENNA, k])
    if kind == ISOTROPIC:
        return float(table[PEAK, k])
    x, y, z = direction(table[QX, k], table[QY, k], table[QZ, k], table[QW, k], dx, dy, dz)
    return gain_db(
        kind, table[PEAK, k], table[AZIMUTH, k], table[ELEVATION, k], int(table[PATTERN, k]), patterns, x, y, z
    )


def pair_distance(table: Any, i: int, j: int) -> float:
    """Return the distance (m) between two antennas."""
    dx, dy, dz = table[X, j] - table[X, i], table[Y, j] - table[Y, i], table[Z, j] - table[Z, i]
    return sqrt(dx * dx + dy * dy + dz * dz)


def model_loss(table: Any, i: int, j: int, classes: Any, c: int) -> float:
    """Return the loss (dB) of the model of a link class."""
    return loss_db(
        int(classes[MODEL, c]),
        pair_distance(table, i, j),
        table[FREQUENCY, j],
        table[HEIGHT, i],
        table[HEIGHT, j],
        classes[EXPONENT, c],
        classes[REFERENCE, c],
        int(classes[CITY, c]),
    )


def level_db(table: Any, i: int, j: int, classes: Any, of: Any, patterns: Any, paths: Any, least: float) -> float:
    """Return the power (dBm) of transmitter j at receiver i; terrain and obstacles count from `least` dBm on."""
    c = of[int(table[GROUP, i]), int(table[GROUP, j])]
    shadowing, fading = random_gains(table, i, j, classes, c, paths)
    level = table[POWER, j] + pair_gain(table, i, j, patterns) - model_loss(table, i, j, classes, c)
    level += shadowing + fading
    if level >= least:
        diffraction, blocked = blocking(table, i, j, classes, c, paths)
        level -= diffraction + blocked
    return float(level)


def common_band(frequency: float, bandwidth: float, other: float, width: float) -> float:
    """Return the share of another transmission, at `other` with `width` (Hz), that falls into a band; <= 0: none."""
    top = minimum(frequency + 0.5 * bandwidth, other + 0.5 * width)
    bottom = maximum(frequency - 0.5 * bandwidth, other - 0.5 * width)
    return (top - bottom) / width


def packet_error(modulation: int, ratio: float, bits: float) -> float:
    """Return the packet error rate at Eb/N0 (ratio)."""
    return per(ber(modulation, ratio), bits)
