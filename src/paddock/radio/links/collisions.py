"""Collisions: packets that meet transmissions of radios with a `duty`.

A radio with a duty d transmits packets of airtime T at random: it is off for an exponential time, T (1 - d) / d in the
mean. A packet of airtime t meets none of its transmissions with the probability (1 - d) exp(-t d / ((1 - d) T)). With
several radios the probabilities multiply: the load of a link is the sum of -log(1 - d) + t d / ((1 - d) T), for its
own packets. Of packets of another length, the part of it that grows with t is scaled. A receiver's own transmissions
count in the same way: it does not hear while it transmits.

Which radios count depends on the link. One that alone takes the SINR below that of 50 % packet errors destroys the
packets that it meets. The mean power of all weaker ones, and of those that transmit STEADY_DUTY of the time or more,
adds to the noise. To look this up for each link, the powers at a receiver are sorted into levels of 3 dB / 2, as
numbers of floating point are: by exponent and first bit of the mantissa.
"""

from typing import Any

from numpy import float64, int64, uint64

from paddock.compute.math import maximum, minimum
from paddock.radio.physics.signal import log1p

STEADY_DUTY = 0.5  # share of time from which on a transmitter counts as always on, with its mean power
MOST_LOST = 0.5  # share of packets that collide on a link that comes up
MOST_DUTY = 1.0 - 1e-5  # who transmits for longer receives nothing
LEVELS = 64
BELOW = 1e-3  # of the weakest link: power at the lowest level
POWERS, LOADS = 0, 1  # rows of the levels of a receiver
CALM, LOAD = 0, 1  # rows of `Links.collisions`: SINR (dB) without what packets collide with; load
COLLISION_ROWS = 2


def duty_load(duty: float) -> float:
    """Return the load of a radio: -log of the share of time in which it is off."""
    return -log1p(-duty)


def duty_pace(duty: float, airtime: float) -> float:
    """Return the pace (1/s) of a radio with packets of an airtime (s): how often it begins while it is off."""
    return duty / ((1.0 - duty) * airtime)


def own_load(duty: float) -> float:
    """Return the load of a receiver's own transmissions, for packets as long as its own."""
    share = minimum(duty, MOST_DUTY)
    return duty_load(share) + duty_pace(share, 1.0)


def split_load(load: float, duty: float, growing: float, airtime: float) -> tuple[float, float]:
    """Return the load of a link at no length of a packet, and what it gains with the length (1/s).

    It is that of packets of an `airtime` (s), at a receiver with a `duty`. `growing` is the part of the load of other
    radios that grows with the length.
    """
    share, others = minimum(duty, MOST_DUTY), maximum(load - own_load(duty), 0.0)
    return duty_load(share) + others * (1.0 - growing), duty_pace(share, airtime) + others * growing / airtime


def level_of(power: float, lowest: Any) -> Any:
    """Return the level of a power (mW) above 0, from 1 on. `lowest` is from `lowest_level`."""
    return uint64(min(max((float64(power).view(int64) >> int64(51)) - lowest, int64(1)), int64(LEVELS - 1)))


def lowest_level(least: float) -> Any:
    """Return the number below that of level 1, at a receiver whose weakest link has a power (mW)."""
    return (float64(BELOW * least).view(int64) >> int64(51)) - int64(1)


def clear_levels(levels: Any) -> None:
    """Set all sums to 0."""
    powers, loads = levels[POWERS], levels[LOADS]
    for k in range(LEVELS):
        powers[k], loads[k] = 0.0, 0.0


def add_to_level(levels: Any, lowest: Any, part: float, inverse: float, load: float) -> None:
    """Add a transmitter with a mean power (mW); `inverse` is 1 / its duty, or 0 where it counts as steady."""
    level = level_of(part * inverse, lowest) if inverse > 0.0 else uint64(0)
    powers, loads = levels[POWERS], levels[LOADS]
    powers[level] += part
    loads[level] += load


def sum_levels(levels: Any) -> None:
    """Replace powers by sums over all lower levels, loads by sums over their own and all higher ones."""
    total, load, powers, loads = 0.0, 0.0, levels[POWERS], levels[LOADS]
    for k in range(uint64(LEVELS)):  # two sums that need not wait for each other
        total, powers[k] = total + powers[k], total
        load += loads[uint64(LEVELS - 1) - k]
        loads[uint64(LEVELS - 1) - k] = load


def met_by(levels: Any, lowest: Any, harms: float, part: float, inverse: float, load: float) -> tuple[float, float]:
    """Return the steady interference (mW) and load of a link, from sums of levels.

    Transmitters from the power `harms` (mW) on destroy the packets that they meet. The link's own transmitter is left
    out: `part` is the mean power that it has in the sums, `inverse` 1 / its duty, or 0 where it counts as steady.
    """
    least = level_of(maximum(harms, 1e-300), lowest)
    steady, loads = levels[POWERS, least], levels[LOADS, least]
    among = inverse > 0.0 and (part * inverse >= 2.0 * harms or level_of(part * inverse, lowest) >= least)
    if among:
        return steady, maximum(loads - load, 0.0)
    return maximum(steady - part, 0.0), loads
