"""Denied access: when energy of jammers in its band keeps a radio with CSMA off the channel.

A radio does not count down while the power of jammers is at or above its energy threshold. What is on between two
updates of the links denies it the channel until the next one. Bursts (pulses, sweeps) deny it periodically: the slots
that they touch, and DIFS after each. Idle slots are counted in closed form, so that a burst is no event.

Times within a cycle are whole numbers of parts of a slot: counts are exact, and equal on every machine.
"""

from typing import Any

import numpy as np

from paddock.compute.math import log, maximum, minimum
from paddock.radio.air import NEVER, Floats, Ints
from paddock.radio.links import BEGIN, BURST, CYCLE, LENGTH, SHARE

# rows of `AirLinks.denied`, a column per radio
ANCHOR, REPEATS, BLOCKED, PLACE = range(4)  # slot; parts of the cycle; of them denied; place of the slot in the cycle
TRAFFIC = 4  # parts of a slot that radios with a duty take for each slot of its own packets, see `sensed_traffic.py`
DENIED_ROWS = 5
OPEN, CLOSED = 0, -1  # values of REPEATS: never and always denied
PARTS = 1 << 20  # of a slot
HORIZON = 1 << 26  # slots: who must wait longer waits for the next links
LONGEST_CYCLE = 1 << 60  # parts
LONGEST_WAIT = 1 << 20  # slots: for radios with a duty, before a packet


def denied_slots(bursts: Floats, steady: Floats, energy: Floats, slot: float, difs: int, anchor: int) -> Ints:
    """Return when radios (n,) are denied the channel, (DENIED_ROWS, n).

    `steady`: mW at each of them without bursts, which are those of `Links`; `energy`: thresholds, mW; `slot` in s.
    `anchor` is a slot near those that will be asked for.
    """
    found = np.zeros((DENIED_ROWS, len(steady)), np.int64)
    found[REPEATS] = np.where(steady >= energy, CLOSED, OPEN)
    part = (steady < energy) & (steady + bursts[BURST] >= energy) & (bursts[SHARE] > 0.0)
    if part.any():
        cycle, begin, length = bursts[[CYCLE, BEGIN, LENGTH]][:, part]
        parts = np.minimum(np.rint(cycle / slot * PARTS), LONGEST_CYCLE).astype(np.int64)
        touched = np.minimum(np.rint(length / slot * PARTS), parts).astype(np.int64)
        blocked = touched + (difs + 1) * PARTS - 1  # from the slot that contains the begin to DIFS after the end
        place = np.rint(np.mod(anchor * slot - begin, cycle) / slot * PARTS).astype(np.int64) + PARTS - 1
        found[ANCHOR, part], found[BLOCKED, part] = anchor, blocked
        found[REPEATS, part] = np.where(blocked < parts, parts, CLOSED)
        found[PLACE, part] = place % np.maximum(parts, 1)
    return found


def denied_shares(bursts: Floats, steady: Floats, energy: Floats, slot: float, difs: int) -> Floats:
    """Return the share of time that radios are denied the channel, (n,); arguments are those of `denied_slots`."""
    denied = denied_slots(bursts, steady, energy, slot, difs, 0)
    part = denied[BLOCKED] / np.maximum(denied[REPEATS], 1)
    found: Floats = np.where(denied[REPEATS] == CLOSED, 1.0, part)
    return found


def traffic_slots(denied: Any, i: int, slots: int, u: float) -> int:
    """Return how long (slots) radio i waits for radios with a duty with a packet that takes some slots itself.

    The wait is random, by a number u from 0 to 1: it has an exponential distribution.
    """
    mean = denied[TRAFFIC, i] / PARTS * slots
    return int(minimum(0.5 - mean * log(maximum(1.0 - u, 1e-16)), float(LONGEST_WAIT))) if mean > 0.0 else 0


def floor_sum(count: int, divisor: int, factor: int, offset: int) -> int:
    """Return the sum of (factor k + offset) // divisor over k from 0 to count - 1, as in Euclid's algorithm.

    All are >= 0, and the divisor more.
    """
    total = 0
    while True:
        total += count * (count - 1) // 2 * (factor // divisor) + count * (offset // divisor)
        factor, offset = factor % divisor, offset % divisor
        top = factor * count + offset
        if top < divisor:
            return total
        count, offset = top // divisor, top % divisor
        divisor, factor = factor, divisor


def idle_slots(denied: Any, i: int, first: int, last: int) -> int:
    """Return how many slots from `first` to before `last` radio i is not denied; at most HORIZON of them."""
    cycle, count = denied[REPEATS, i], min(last - first, HORIZON)
    if cycle == OPEN or count <= 0:
        return max(last - first, 0)
    if cycle == CLOSED:
        return 0
    place = (PARTS * (first - denied[ANCHOR, i]) + denied[PLACE, i]) % cycle
    ends = floor_sum(count, cycle, PARTS, place + cycle - denied[BLOCKED, i])
    return ends - floor_sum(count, cycle, PARTS, place)


def slot_after(denied: Any, i: int, first: int, count: int) -> int:
    """Return the slot, not before `first`, that follows `count` idle ones and is idle; NEVER if there is none soon."""
    cycle = denied[REPEATS, i]
    if cycle == OPEN:
        return first + count
    if cycle == CLOSED or idle_slots(denied, i, first, first + HORIZON) <= count:
        return NEVER
    low, high = first + count, first + HORIZON - 1  # the slot is not before the one, nor after the other
    while low < high:
        middle = (low + high) // 2
        if idle_slots(denied, i, first, middle + 1) > count:
            high = middle
        else:
            low = middle + 1
    return low
