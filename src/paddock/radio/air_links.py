"""The links as the channel of packets needs them: rows by transmitter, with what is no link but disturbs or is sensed.

A receiver senses packets of its channel and waveform from `sense` on, as the detection of a preamble does, and other
packets from `energy` on, by their power in its band.
"""

from typing import Any

import numpy as np
from numpy import empty, int32, int64, zeros

from paddock.compute.math import absolute, exp, sqrt
from paddock.compute.routine import routine
from paddock.radio.air import AirLinks, Floats, Ints
from paddock.radio.collisions import CALM, LOAD, split_load
from paddock.radio.denial import CLOSED, PARTS, REPEATS, TRAFFIC
from paddock.radio.disturbances import Disturbances
from paddock.radio.links import (
    BITS,
    BURST,
    GROWING,
    MODULATION,
    SENSITIVITY,
    SHARE,
    SPREAD,
    Links,
    airtime_of,
)
from paddock.radio.propagation import LIGHT
from paddock.radio.radios import NEEDED_PER
from paddock.radio.sensed_traffic import unsensed_loads
from paddock.radio.signal import NEPERS, ber, log1p

SATURATED = 0.999  # of packets: with more, an error rate does not say how many bits are wrong


def air_links(
    table: Floats,
    links: Links,
    others: Disturbances,
    place: Floats,
    sense: Floats,
    energy: Floats,
    least: Floats,
    denied: Ints,
) -> AirLinks:
    """Return the links of a table of radios at places (3, n) in m, and `others`, for the channel.

    `sense` and `energy` (n,) in mW, inf: packets are not sensed; `least` (n,) mW: the power of the weakest link.
    `denied` is that of `AirLinks`; its row TRAFFIC is written.
    """
    drop_links(links, others)
    loads, duties, waits = unsensed_loads(table, links, others, sense, energy, least)
    denied[TRAFFIC] = np.rint(waits * PARTS).astype(np.int64)
    rows = transposed(table, links, place, sense, loads, duties, denied)
    return AirLinks(*rows, *transposed_others(others, sense, energy), links.bursts, denied)


def _drop(links: Any, others: Any) -> None:
    """Set the power of those that are links to 0."""
    for i in range(others.first.size):
        entry, last = links.start[i], links.start[i + 1]
        for m in range(others.first[i], others.first[i] + others.many[i]):
            while entry < last and links.peer[entry] < others.peer[m]:
                entry += 1
            if entry < last and links.peer[entry] == others.peer[m]:
                others.part[m] = 0.0


def _transpose(
    table: Any, links: Any, place: Any, sense: Any, load: Any, duty: Any, denied: Any
) -> tuple[Ints, Ints, Floats, Floats, Floats, Ints, Floats, Floats, Floats, Ints]:  # fmt: skip
    """Return the arrays of `AirLinks` of links; `load` and `duty` (m,) are those of `unsensed_loads`."""
    n, m = links.start.size - 1, links.peer.size
    first, free = zeros(n + 1, int64), zeros(n, int64)
    for entry in range(m):
        first[links.peer[entry] + 1] += 1
    for j in range(n):
        first[j + 1] += first[j]
        free[j] = first[j]
    receivers, decodes, sensed = empty(m, int64), empty(m, int64), empty(m, int64)
    strength, floors, bits, delays, loads, paces = empty(m), empty(m), empty(m), empty(m), zeros(m), zeros(m)
    for i in range(n):
        for entry in range(links.start[i], links.start[i + 1]):
            j = links.peer[entry]
            at = free[j]
            free[j] += 1
            receivers[at], strength[at] = i, exp(NEPERS * links.power[entry])
            floors[at], bits[at], decodes[at] = reception_of(table, links, i, entry, strength[at], denied)
            if load.size > 0:
                loads[at], paces[at] = split_load(load[entry], duty[entry], table[GROWING, i], airtime_of(table, i))
            dx, dy, dz = place[0, i] - place[0, j], place[1, i] - place[1, j], place[2, i] - place[2, j]
            delays[at] = sqrt(dx * dx + dy * dy + dz * dz) / LIGHT
            sensed[at] = 1 if strength[at] >= sense[i] else 0
    return first, receivers, strength, floors, bits, decodes, delays, loads, paces, sensed


def _transpose_others(others: Any, sense: Any, energy: Any) -> tuple[Ints, Any, Floats]:
    """Return the rows of `AirLinks` of those that are disturbed."""
    n = others.first.size
    first, free = zeros(n + 1, int64), zeros(n, int64)
    for i in range(n):
        for entry in range(others.first[i], others.first[i] + others.many[i]):
            first[others.peer[entry] + 1] += others.part[entry] != 0.0
    for j in range(n):
        first[j + 1] += first[j]
        free[j] = first[j]
    receivers, powers = empty(first[n], int32), empty(first[n])
    for i in range(n):
        for entry in range(others.first[i], others.first[i] + others.many[i]):
            part, j = others.part[entry], others.peer[entry]
            if part != 0.0:
                power = absolute(part)
                receivers[free[j]] = i
                powers[free[j]] = -power if power >= (sense[i] if part > 0.0 else energy[i]) else power
                free[j] += 1
    return first, receivers, powers


def reception_of(table: Any, links: Any, i: int, entry: int, strength: float, denied: Any) -> tuple[float, float, int]:
    """Return floor (mW), logarithm of a bit's survival and `decodes`, as in `AirLinks`, of a link of receiver i.

    `strength` is its power in mW. Links of transmitters that are always denied the channel are down, but what they
    have begun to send, and their acknowledgements, are decoded.
    """
    ratio, load, decodes = links.sinr[entry], 0.0, int(links.up[entry])
    if links.collisions.shape[1] > 0:
        ratio, load = links.collisions[CALM, entry], links.collisions[LOAD, entry]
    floor = strength * exp(-NEPERS * ratio)
    lost, burst = links.per[entry], links.bursts[SHARE, i] > 0.0
    bit = min(log1p(-min(lost, SATURATED)) + load, 0.0) / table[BITS, i]
    if burst:
        floor = max(floor - links.bursts[BURST, i] * links.bursts[SHARE, i], 1e-300)
    if burst or lost >= SATURATED:
        bit = log1p(-min(ber(int(table[MODULATION, i]), strength / floor * table[SPREAD, i]), 0.5))
    clear = 1.0 - exp(table[BITS, i] * bit) <= NEEDED_PER and links.power[entry] >= table[SENSITIVITY, i]
    shut = denied[REPEATS, links.peer[entry]] == CLOSED
    return floor, bit, 1 if (burst or shut) and clear else decodes


drop_links, transposed, transposed_others = routine(_drop), routine(_transpose), routine(_transpose_others)
