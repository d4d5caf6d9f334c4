"""Traffic by `duty` that radios with CSMA sense: they wait for it, and it does not collide with their packets.

Radios with a duty are not simulated packet by packet; they access the channel by the same rules as others. Who senses
one begins no packet while it transmits, and it begins none meanwhile: its load is no load of the links of that
transmitter, but the transmitter waits. With the share b of time in which one of the radios that it senses transmits,
itself among them, b / (1 - b) slots go to them for each slot of its own.
"""

from typing import Any

import numpy as np
from numpy import empty, inf, int64, zeros

from paddock.compute.math import absolute, exp, maximum, minimum
from paddock.compute.routine import routine
from paddock.radio.air import Floats, Ints
from paddock.radio.collisions import LOAD, STEADY_DUTY, duty_load, duty_pace, level_of, lowest_level, own_load
from paddock.radio.disturbances import Disturbances
from paddock.radio.links import DUTY, FATAL, NOISE, Links, airtime_of
from paddock.radio.signal import NEPERS

MOST_SENSED = 0.999  # share of time: who senses more waits as if it were this


def unsensed_loads(
    table: Floats, links: Links, others: Disturbances, sense: Floats, energy: Floats, least: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return load of links (m,) without what their transmitters sense, duty of their receivers (m,), and waits (n,).

    The duty is 0 where the transmitter senses its receiver. `others` are no links. `least` (n,) mW is the power of the
    weakest link, `sense` and `energy` as in `air_links`. Waits are slots for each slot of a radio's own packets.
    """
    n, m = len(sense), links.collisions.shape[1]
    loads, duties, waits = links.collisions[LOAD].copy(), np.zeros(m), np.zeros(n)
    if m:
        duties[:] = np.repeat(table[DUTY, :n], np.diff(links.start))
    if table[DUTY, :n].any() and np.isfinite(sense).any():
        start, peer, power = list_traffic(table, links, others, sense, energy)
        find_waits(table, sense, start, peer, power, waits)
        if m:
            subtract_sensed(table, links, least, start, peer, power, loads, duties)
    return loads, duties, waits


def _list(table: Any, links: Any, others: Any, sense: Any, energy: Any) -> tuple[Ints, Ints, Floats]:
    """Return the radios with a duty that each receiver gets, as compressed rows: begins, numbers, powers (mW).

    A negative power is sensed. Numbers ascend.
    """
    n = sense.size
    start = zeros(n + 1, int64)
    for i in range(n):
        count = 0
        for entry in range(links.start[i], links.start[i + 1]):
            count += table[DUTY, links.peer[entry]] > 0.0
        for entry in range(others.first[i], others.first[i] + others.many[i]):
            count += table[DUTY, others.peer[entry]] > 0.0 and others.part[entry] != 0.0
        start[i + 1] = start[i] + count
    peer, power = empty(start[n], int64), empty(start[n])
    for i in range(n):
        at, entry, last = start[i], links.start[i], links.start[i + 1]
        other, end = others.first[i], others.first[i] + others.many[i]
        while entry < last or other < end:
            if other == end or (entry < last and links.peer[entry] < others.peer[other]):
                j, mw, limit = int64(links.peer[entry]), exp(NEPERS * links.power[entry]), sense[i]
                entry += 1
            else:
                j, mw = int64(others.peer[other]), absolute(others.part[other])
                limit = sense[i] if others.part[other] > 0.0 else energy[i]
                other += 1
            if mw != 0.0 and table[DUTY, j] > 0.0:
                peer[at], power[at] = j, -mw if mw >= limit else mw
                at += 1
    return start, peer, power


def _wait(table: Any, sense: Any, start: Any, peer: Any, power: Any, waits: Any) -> None:
    """Compute for how many slots radios with CSMA wait for each slot of their own, from rows of `_list`."""
    for i in range(sense.size):
        idle = 1.0 - table[DUTY, i]
        for entry in range(start[i], start[i + 1]):
            idle *= 1.0 - table[DUTY, peer[entry]] if power[entry] < 0.0 else 1.0
        waits[i] = 1.0 / maximum(idle, 1.0 - MOST_SENSED) - 1.0 if sense[i] < inf else 0.0


def _subtract(table: Any, links: Any, least: Any, start: Any, peer: Any, power: Any, loads: Any, duties: Any) -> None:
    """Subtract from the loads of links what their transmitters sense, from rows of `_list`."""
    for i in range(least.size):
        lowest, share = lowest_level(least[i]), exp(-NEPERS * table[FATAL, i])
        airtime, noise = airtime_of(table, i), table[NOISE, i]
        for entry in range(links.start[i], links.start[i + 1]):
            j, at, last = links.peer[entry], start[i], start[i + 1]
            harms = level_of(maximum(share * exp(NEPERS * links.power[entry]) - noise, 1e-300), lowest)
            for m in range(start[j], start[j + 1]):
                k = peer[m]
                if power[m] >= 0.0:
                    continue
                if k == i:
                    loads[entry], duties[entry] = maximum(loads[entry] - own_load(table[DUTY, i]), 0.0), 0.0
                while at < last and peer[at] < k:
                    at += 1
                met = at < last and peer[at] == k and table[DUTY, k] < STEADY_DUTY
                if met and level_of(absolute(power[at]), lowest) >= harms:
                    pace = duty_pace(table[DUTY, k], airtime_of(table, k))
                    loads[entry] -= minimum(duty_load(table[DUTY, k]) + airtime * pace, loads[entry])


list_traffic, find_waits, subtract_sensed = routine(_list), routine(_wait), routine(_subtract)
