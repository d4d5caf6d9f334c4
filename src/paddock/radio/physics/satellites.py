"""Jamming and spoofing of satellite navigation: the signals at the antenna of each vehicle.

A jammer adds noise: 1 / (C/N0) = 1 / (C/N0 of open sky) + (J/S) / (Q Rc), where J/S is its power over that of the
signal, Rc the chip rate and Q how well the code spreads the jammer: the inverse of the overlap of both spectra, 1 for a
carrier in the centre, 1.5 for a signal like the satellites', 2.2 for noise over the main lobe (Kaplan and Hegarty,
Understanding GPS/GNSS, chapter 9).

A spoofer sends signals like the satellites'. It captures the tracking loops of a receiver when its power exceeds theirs
by a margin for some time; the receiver then reports the true position plus an offset.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import PI, absolute, clamp, log, maximum, minimum, sincos
from paddock.compute.routine import routine
from paddock.radio.physics.signal import DECIBELS
from paddock.sensing.sensors.gnss import OPEN_SKY, Signal
from paddock.world.columns import Floats, defaults_of

L1 = 1575.42e6  # Hz
CHIP_RATE = 1.023e6  # Hz, of the C/A code
BAND = 2.0 * CHIP_RATE  # Hz: the main lobe, which a receiver lets in
AUTHENTIC = -128.5  # dBm, of a satellite's signal at an antenna of 0 dBi
MATCHED = 1.5  # Q of a signal like the satellites'
STRONGEST = 54.0  # dB-Hz, at most, of false signals: their own noise
LOBE_STEPS = 64  # of Simpson's rule
SIGNAL_ROWS = {f"gnss_signal.{name}": k for k, name in enumerate(Signal._fields)}
CN0, SPOOFED, OFFSET, DRIFT = 0, 1, 2, 5  # rows of a table of signals: those of Signal, then
CAPTOR, CANDIDATE, HELD, SINCE = 8, 9, 10, 11  # spoofer + 1 (0: none), the same, s for which it was strong enough, s
LOST = 12  # s, when the receiver was found without a fix
HAS_FIX = -1.0  # instead
OPEN_SIGNAL = np.concatenate([defaults_of(Signal), np.zeros(4), [HAS_FIX]])
FARTHEST = 1e9  # m, of a false position from the true one
SIGNAL_POWER = 1.4125375446227555e-13  # mW, AUTHENTIC
NOISE_DENSITY = 5.011872336272715e-18  # mW/Hz: -173 dBm/Hz, AUTHENTIC - OPEN_SKY


@lru_cache(maxsize=1024)
def spectrum_overlap(offset: float, bandwidth: float) -> float:
    """Return 1 / Q of a transmission of equal density over a bandwidth (Hz), `offset` (Hz) from L1.

    It is the integral of both spectra, times the chip rate; what lies beyond the main lobe is filtered out.
    """
    low = maximum(offset - 0.5 * bandwidth, -CHIP_RATE) / CHIP_RATE
    high = minimum(offset + 0.5 * bandwidth, CHIP_RATE) / CHIP_RATE
    if high <= low:
        return 0.0
    total, step = 0.0, (high - low) / LOBE_STEPS
    for k in range(LOBE_STEPS + 1):
        weight = 1.0 if k in (0, LOBE_STEPS) else (4.0 if k % 2 else 2.0)
        x = PI * (low + k * step)
        sine, _ = sincos(x)
        total += weight * ((sine / x) ** 2 if absolute(x) > 1e-8 else 1.0)
    return total * step / 3.0 * CHIP_RATE / bandwidth


def effective_cn0(carrier: float, jamming: float) -> float:
    """Return C/N0 (dB-Hz) of a signal (mW) under jammers, the sum of whose powers (mW) times 1 / Q is `jamming`."""
    return DECIBELS * log(carrier / (NOISE_DENSITY + jamming / CHIP_RATE))


class Spoofing(NamedTuple):
    """The spoofers of an update."""

    spoofers: NDArray[np.int64]  # (k,) number of each among the emitters
    active: Floats  # (k,) share of time
    aimed: Floats  # (k, receivers) 1: it forms its signals for the place of the receiver
    rules: Floats  # (3, k) margin as a ratio, capture time and delay, s
    ways: Floats  # (6, k) offset of the false position, m, and its velocity, m/s


def signal_rows(
    n: int, first: int, now: float, dt: float, levels: Any, weights: Any, spoofing: Any, signals: Any
) -> None:
    """Update the signals (rows, capacity) of a fleet of n, whose receivers are `first` on; `now` and `dt` in s.

    `levels` (emitters, receivers) mW; `weights` (emitters,) 1 / Q times the share of time; `spoofing` is a `Spoofing`.
    """
    spoofers, active, aimed = spoofing.spoofers, spoofing.active, spoofing.aimed
    rules, ways = spoofing.rules, spoofing.ways
    for v in range(n):
        i = first + v
        noise = 0.0
        for k in range(weights.size):
            noise += weights[k] * levels[k, i]
        captor = int(signals[CAPTOR, v]) - 1
        if captor >= 0 and (active[captor] == 0.0 or levels[spoofers[captor], i] < SIGNAL_POWER):
            captor = -1  # the true signals are stronger again
        best, power = -1, 0.0
        for q in range(spoofers.size):
            level = levels[spoofers[q], i]
            strong = level >= SIGNAL_POWER * rules[0, q] and level > power
            if active[q] > 0.0 and aimed[q, i] > 0.0 and strong:
                best, power = q, level
        if captor < 0 and best >= 0:
            held = signals[HELD, v] + dt if signals[CANDIDATE, v] == best + 1.0 else 0.0
            signals[CANDIDATE, v], signals[HELD, v] = best + 1.0, held
            if held >= rules[1, best] - 1e-9:
                captor = best
                signals[SINCE, v] = now
        else:
            signals[CANDIDATE, v], signals[HELD, v] = 0.0, 0.0
        carrier = SIGNAL_POWER
        for k in range(6):
            signals[OFFSET + k, v] = 0.0
        if captor >= 0:
            signals[CANDIDATE, v], signals[HELD, v] = 0.0, 0.0
            carrier = levels[spoofers[captor], i]
            noise -= weights[spoofers[captor]] * carrier
            pulled = maximum(now - signals[SINCE, v] - rules[2, captor], 0.0)
            for k in range(3):
                signals[OFFSET + k, v] = clamp(ways[k, captor] + ways[3 + k, captor] * pulled, -FARTHEST, FARTHEST)
                signals[DRIFT + k, v] = ways[3 + k, captor] if pulled > 0.0 else 0.0
        else:
            signals[SINCE, v] = 0.0
        signals[CAPTOR, v] = captor + 1.0
        signals[SPOOFED, v] = 1.0 if captor >= 0 else 0.0
        disturbed = noise > 0.0 or captor >= 0
        ratio = minimum(effective_cn0(carrier, maximum(noise, 0.0)), STRONGEST)
        signals[CN0, v] = ratio if disturbed else OPEN_SKY


update_signals = routine(signal_rows)


def possible_signals(signals: Any, spoofers: int, now: float) -> bool:
    """Return whether a run can have left these signals (rows, n) at a time, s."""
    whole = signals[[CAPTOR, CANDIDATE]]
    valid = ((whole >= 0.0) & (whole <= spoofers) & (whole == np.floor(whole))).all()
    valid &= bool((signals[SPOOFED] == (signals[CAPTOR] > 0.0)).all())
    valid &= bool(((signals[[HELD, SINCE]] >= 0.0) & (signals[[HELD, SINCE]] <= now + 1e-6)).all())
    valid &= bool((np.abs(signals[OFFSET : DRIFT + 3]) <= FARTHEST).all())
    lost = signals[LOST]
    valid &= bool(((lost == HAS_FIX) | ((lost >= 0.0) & (lost <= now + 1e-6))).all())
    return bool(valid and ((signals[CN0] >= -300.0) & (signals[CN0] <= STRONGEST)).all())
