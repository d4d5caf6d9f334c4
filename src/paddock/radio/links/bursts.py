"""Packet errors under a jammer that transmits in bursts: pulses, or a sweep that crosses the band again and again.

The mean power of a burst says little about packets: one that a pulse does not hit survives, and a short pulse may be
enough for a long packet. Error rates of links are those of packets that begin at any time; packets on the simulated
channel meet bursts at their times. Of all jammers at a receiver, the one with the largest mean power among those that
are not always on counts as bursts; the others count with their mean power. Jammers whose bursts begin and end together
are one.
"""

from typing import Any

from numpy import empty, int64, uint64

from paddock.compute.math import clamp, exp, floor, log, maximum, minimum
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.radio.links.collisions import CALM, LOAD, MOST_LOST
from paddock.radio.links.radios import CURVE, NEEDED_PER, SATURATES, SURVIVAL
from paddock.radio.links.rows import BLOCK, decibels_of, mark_known
from paddock.radio.links.table import (
    BEGIN,
    BITS,
    BURST,
    CURVE_RATE,
    CYCLE,
    GROUP,
    HOPELESS,
    LENGTH,
    MODULATION,
    PERIOD,
    SENSITIVITY,
    SHARE,
    SPREAD,
    airtime_of,
)
from paddock.radio.physics.signal import NEPERS, ber, log1p


def hit_probability(share: float, period: float, airtime: float) -> float:
    """Return the probability that a packet of some airtime (s) overlaps a burst.

    A burst lasts `share` of the `period` (s); packets begin at any time.
    """
    return minimum(share + airtime / period, 1.0)


def burst_time(bursts: Any, i: int, begin: float, end: float) -> float:
    """Return for how long (s) bursts last at receiver i between two times (s)."""
    cycle, length = bursts[CYCLE, i], bursts[LENGTH, i]
    first = (begin - bursts[BEGIN, i]) / cycle
    first = (first - floor(first)) * cycle  # from the begin of a burst
    last = first + end - begin
    whole = floor(last / cycle)
    return float(whole * length + minimum(last - whole * cycle, length) - minimum(first, length))


def burst_error(
    modulation: int, bits: float, airtime: float, quiet: float, jammed: float, share: float, period: float
) -> float:
    """Return the packet error rate under bursts, from Eb/N0 (ratio) between and during them.

    A packet that is hit shares, in the mean, share / (probability of a hit) of its bits with bursts.
    """
    hit = hit_probability(share, period, airtime)
    part = share / maximum(hit, 1e-300)
    good, bad = log1p(-minimum(ber(modulation, quiet), 0.5)), log1p(-minimum(ber(modulation, jammed), 0.5))
    missed = exp(bits * good)
    return 1.0 - ((1.0 - hit) * missed + hit * exp(bits * (part * bad + (1.0 - part) * good)))


def link_error(table: Any, i: int, signal: float, floor: float, bursts: Any) -> float:
    """Return the packet error rate at receiver i of a signal over the mean of all else (mW), bursts included.

    Collisions with transmissions of other radios are not in it.
    """
    power, share, period = bursts[BURST, i], bursts[SHARE, i], bursts[PERIOD, i]
    quiet = maximum(floor - power * share, 1e-300)
    spread, bits, airtime = table[SPREAD, i], table[BITS, i], airtime_of(table, i)
    ratios = signal / quiet * spread, signal / (quiet + power) * spread
    return burst_error(int(table[MODULATION, i]), bits, airtime, ratios[0], ratios[1], share, period)


def burst_rows(table: Any, survivals: Any, hysteresis: float, known: Any, made: Any) -> None:
    """Set packet error rates and states of the links, in `made`, of receivers with bursts.

    `survivals` are curves of `survival_curve`. A link that is up in `known` stays up down to the hysteresis (dB) below
    the limits.
    """
    n = made.bursts.shape[1]
    for block in parallel_range((n + BLOCK - 1) // BLOCK):
        last, most = min(n, (block + 1) * BLOCK), 0
        for i in range(block * BLOCK, last):
            most = max(most, made.start[i + 1] - made.start[i])
        between, during, good, bad = empty(most), empty(most), empty(most), empty(most)
        for i in range(block * BLOCK, last):
            if made.bursts[SHARE, i] > 0.0:
                rate_row(table, i, survivals[int(table[GROUP, i])], hysteresis, known, made, between, during, good, bad)


def rate_row(table: Any, i: int, curve: Any, hysteresis: float, known: Any, made: Any, between: Any,
             during: Any, good: Any, bad: Any) -> None:  # fmt: skip
    """Set packet error rates and states of the links of receiver i, in loops that vectorise.

    `between` and `during` have room for the SINR (dB) between and during bursts, `good` and `bad` for the logarithms
    of the survival of packets there.
    """
    first, many = uint64(made.start[i]), uint64(made.start[i + 1] - made.start[i])
    mark_known(made.peer, known.peer, known.up, first, first + many, known.start[i], known.start[i + 1], made.up)
    power, share, period = made.bursts[BURST, i], made.bursts[SHARE, i], made.bursts[PERIOD, i]
    powers, errors, up, collide = made.power, made.per, made.up, made.collisions.shape[1] > 0
    ratios = made.collisions[CALM] if collide else made.sinr
    for m in range(many):
        between[m] = exp(NEPERS * powers[first + m])
    for m in range(many):
        during[m] = maximum(between[m] * exp(-NEPERS * ratios[first + m]) - power * share, 1e-300)
    for m in range(many):
        signal, quiet = between[m], during[m]
        between[m], during[m] = decibels_of(signal / quiet), decibels_of(signal / (quiet + power))
    start, rate = table[HOPELESS, i] - SATURATES, SURVIVAL / (SATURATES + CURVE / table[CURVE_RATE, i])
    hit = hit_probability(share, period, airtime_of(table, i))
    part = share / hit
    sensitivity, most = table[SENSITIVITY, i], -log(1.0 - MOST_LOST)
    for m in range(many):
        good[m] = log_survival(curve, (between[m] - start) * rate)
    for m in range(many):
        bad[m] = log_survival(curve, (during[m] - start) * rate)
    for m in range(many):
        missed, met = exp(good[m]), exp(part * bad[m] + (1.0 - part) * good[m])
        errors[first + m] = 1.0 - ((1.0 - hit) * missed + hit * met)
    for m in range(many):
        lost, held, lower, limit = errors[first + m], up[first + m] != 0, 0.0, most
        if held:
            lower, limit = hysteresis, most * exp(NEPERS * hysteresis)
        if held and lost > NEEDED_PER:
            clear = log_survival(curve, (between[m] + hysteresis - start) * rate)
            worse = log_survival(curve, (during[m] + hysteresis - start) * rate)
            lost = 1.0 - ((1.0 - hit) * exp(clear) + hit * exp(part * worse + (1.0 - part) * clear))
        load = made.collisions[LOAD, first + m] if collide else 0.0
        up[first + m] = (lost <= NEEDED_PER) & (powers[first + m] >= sensitivity - lower) & (load <= limit)
    if collide:
        loads = made.collisions[LOAD]
        for m in range(many):
            errors[first + m] = 1.0 - (1.0 - errors[first + m]) * exp(-loads[first + m])


def log_survival(curve: Any, at: float) -> float:
    """Return the logarithm of the probability that a packet has no error, from a curve; `at` counts its steps."""
    x = clamp(at, 0.0, SURVIVAL - 1e-9)
    k: Any = uint64(int64(x))
    t = x - int64(x)
    return minimum(curve[k, 0] + t * (curve[k, 1] + t * (curve[k, 2] + t * curve[k, 3])), 0.0)


apply_bursts = parallel_routine(burst_rows, inline=True, items=lambda *given: given[-1].bursts.shape[1])
