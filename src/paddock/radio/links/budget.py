"""The budget of one link: every gain and loss from the transmitter to the packets that arrive."""

from math import isclose
from typing import Any

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
from paddock.wire.radio_results import LinkBudget

MOST_OUTSIDE = -NO_POWER  # dB: nothing is in the band at all
MODEL_NAMES = {number: name for name, number in MODELS.items()}


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
