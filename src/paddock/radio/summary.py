"""What a vehicle knows of its links: signal, SINR, neighbours; computed after each update."""

from typing import Any

from paddock.compute.math import clamp
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.radio.links import NEEDED, NOISE
from paddock.radio.status import (
    DECEIVED,
    FIRST_PEER,
    FULL_SIGNAL,
    JAMMED,
    LINKS,
    NO_SINR,
    PEERS,
    SIGNAL,
    SINR,
)


def status_rows(
    n: int,
    first: int,
    slots: int,
    carried: int,
    stations: int,
    table: Any,
    owner: Any,
    start: Any,
    peer: Any,
    sinr: Any,
    up: Any,
    interference: Any,
    jamming: Any,
    accepted: Any,
    status: Any,
) -> None:
    """Fill the status (rows, capacity) of the `n` vehicles of a fleet; stations have the radios from `carried` on."""
    for v in parallel_range(n):
        best, margin, heard, jammed, deceived = NO_SINR, 0.0, 0, 0.0, 0.0
        for p in range(PEERS):
            status[FIRST_PEER + p, v], status[FIRST_PEER + PEERS + p, v] = -1.0, NO_SINR
        for i in range(first + v * slots, first + (v + 1) * slots):
            if jamming[i] > table[NOISE, i] + interference[i]:
                jammed = 1.0
            for q in range(accepted.shape[0]):
                deceived = max(deceived, accepted[q, i])
            for m in range(start[i], start[i + 1]):
                if up[m] == 0:
                    continue
                heard += 1
                value = sinr[m]
                if value > best and (stations == 0 or peer[m] >= carried):
                    best, margin = value, value - table[NEEDED, i]
                if value > status[FIRST_PEER + 2 * PEERS - 1, v]:
                    number = float(owner[peer[m]]) if peer[m] < carried else -2.0 - (peer[m] - carried)
                    insert_peer(status, v, number, value)
        status[SIGNAL, v] = clamp(margin / FULL_SIGNAL, 0.0, 1.0)
        status[SINR, v], status[JAMMED, v], status[LINKS, v], status[DECEIVED, v] = best, jammed, heard, deceived


def insert_peer(status: Any, v: int, number: float, value: float) -> None:
    """Put a neighbour among the best of a vehicle, the best first; a vehicle heard by two radios is one neighbour."""
    at = PEERS - 1
    for p in range(PEERS):
        if status[FIRST_PEER + p, v] == number:
            if value <= status[FIRST_PEER + PEERS + p, v]:
                return
            at = p
            break
    while at > 0 and status[FIRST_PEER + PEERS + at - 1, v] < value:
        status[FIRST_PEER + at, v] = status[FIRST_PEER + at - 1, v]
        status[FIRST_PEER + PEERS + at, v] = status[FIRST_PEER + PEERS + at - 1, v]
        at -= 1
    status[FIRST_PEER + at, v], status[FIRST_PEER + PEERS + at, v] = number, value


fill_status = parallel_routine(status_rows)
