"""What a vehicle knows of its links: signal, SINR, neighbours. Columns of snapshots, computed after each update."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from paddock.compute.math import clamp
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.radio.links import NEEDED, NOISE
from paddock.world.columns import Column, column_index

PEERS = 6  # neighbours that a snapshot shows
NO_SINR = -100.0  # dB, of a vehicle without a link
FULL_SIGNAL = 20.0  # dB above the needed SINR at which the signal is 1


class RadioStatus(NamedTuple):
    """The radio of a vehicle, in snapshots."""

    signal: Annotated[float, Column("", "its best link (to a station, if there are any), 0 to 1")] = 0.0
    sinr: Annotated[float, Column("dB", "SINR of that link, -100: none")] = NO_SINR
    jammed: Annotated[float, Column("0/1", "1: jammers are stronger than noise and interference")] = 0.0
    links: Annotated[float, Column("", "number of radios that it hears over a usable link")] = 0.0
    deceived: Annotated[float, Column("", "probability that it accepts a false frame, 0 to 1")] = 0.0


STATUS = column_index(RadioStatus)
SIGNAL, SINR, JAMMED, LINKS, DECEIVED = range(5)
FIRST_PEER = len(STATUS)
NO_STATUS = np.array([*RadioStatus._field_defaults.values(), *[-1.0] * PEERS, *[NO_SINR] * PEERS])
"""The status of a vehicle without links: the columns, then the ids of its best neighbours and their SINR."""


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
