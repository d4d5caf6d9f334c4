"""A packet link between a ground station and a vehicle: airtime, propagation, errors, repetition, a bounded queue.

The radios of both ends and the links of the last update give packet error rate, bit rate and distance. A packet that is
lost is repeated until its retries are used up. The queue of each vehicle is a column of a table, so that the state of
all commands on their way is part of the fleet. Each link has the bit rate of its transmitter to itself.
"""

from typing import Any, NamedTuple

import numpy as np

from paddock.compute.math import exp, floor, maximum
from paddock.compute.philox import uniforms
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.radio.links import (
    BANDWIDTH,
    MODULATION,
    SENSITIVITY,
    SPREAD,
    Links,
    packet_error,
    pair_distance,
)
from paddock.radio.propagation import LIGHT
from paddock.radio.radios import Floats, Radios
from paddock.radio.signal import NEPERS

UP_PURPOSE, DOWN_PURPOSE, BEAT_PURPOSE = 50_100, 50_101, 50_102  # of draws: commands, telemetry, heartbeats
INPUT_BITS = 32  # of an input in a command
NOT_GIVEN = 1e15  # value of an input that a command leaves as it is: tables hold no NaN
HELD = -1.0  # ticks of a command that never expires
NO_TICK = 1 << 62
# rows of a queue: numbers of the vehicle, then those of each packet
COUNT, NUMBER, FREE, SENT, DELIVERED, LOST, DROPPED, DELAY, AIR, FROM = range(10)
PER_VEHICLE = 10  # AIR: s on the air that nothing has counted yet, FROM: which radio of the station transmitted last
POSTED, LASTING, ATTEMPTS, ARRIVES = range(4)  # tick, ticks, number, s (WAITS, GONE)
PER_PACKET = 4  # then the inputs
WAITS, GONE = -1.0, -2.0
LARGEST_COUNT = 1e15


class LinkQuality(NamedTuple):
    """A direction of the link between a vehicle and its station at the last update."""

    ratio: float  # Eb/N0, 0: nothing is received
    modulation: int
    bit_rate: float  # bit/s
    distance: float  # m

    def error_rate(self, bits: float) -> float:
        """Return the packet error rate of a packet of some bits."""
        return packet_error(self.modulation, self.ratio, bits) if self.ratio > 0.0 else 1.0


NO_LINK = LinkQuality(0.0, 0, 1e6, 0.0)


def best_pair(
    first: int, last: int, low: int, high: int, start: Any, peer: Any, power: Any, sinr: Any, table: Any
) -> tuple[int, int, float]:
    """Return receiver, transmitter and Eb/N0 of the best link from radios low..high to radios first..last.

    Without a link: the first of each, and 0.
    """
    receiver, transmitter, best = first, low, 0.0
    for i in range(first, last):
        begin, end = start[i], start[i + 1]
        while begin < end:  # the first peer from `low` on
            middle = (begin + end) // 2
            if peer[middle] < low:
                begin = middle + 1
            else:
                end = middle
        for m in range(begin, start[i + 1]):
            if peer[m] >= high:
                break
            ratio = exp(NEPERS * sinr[m]) * table[SPREAD, i]
            if power[m] >= table[SENSITIVITY, i] and ratio > best:
                receiver, transmitter, best = i, int(peer[m]), ratio
    return receiver, transmitter, best


def quality_between(
    radios: Radios, links: Links, receivers: tuple[int, int], transmitters: tuple[int, int]
) -> LinkQuality:
    """Return the quality of the best link between two ranges of radios, [first, last)."""
    table = radios.table
    i, j, ratio = best_pair(*receivers, *transmitters, links.start, links.peer, links.power, links.sinr, table)
    rate = float(table[BANDWIDTH, j] / table[SPREAD, j])
    return LinkQuality(float(ratio), int(table[MODULATION, i]), rate, float(pair_distance(table, i, j)))


def queue_rows(packets: int, inputs: int) -> int:
    """Return the number of rows of a table of queues."""
    return PER_VEHICLE + packets * (PER_PACKET + inputs)


def put(queue: Floats, rows: Any, packets: int, tick: int, lasting: float, values: Floats) -> None:
    """Queue a command for some vehicles; `values` (inputs, vehicles) with NOT_GIVEN; full queues drop it."""
    width = PER_PACKET + len(values)
    queue[SENT, rows] += 1.0
    full = queue[COUNT, rows] >= packets
    queue[DROPPED, rows[full]] += 1.0
    free = rows[~full]
    at = PER_VEHICLE + queue[COUNT, free].astype(np.int64) * width
    for k, value in enumerate((float(tick), lasting, 0.0, WAITS)):
        queue[at + k, free] = value
    for k in range(len(values)):
        queue[at + PER_PACKET + k, free] = values[k, ~full]
    queue[COUNT, free] += 1.0


def transmit(
    queue: Any,
    v: int,
    width: int,
    until: float,
    dt: float,
    retries: float,
    header_bits: float,
    key: int,
    stream: int,
    ratio: float,
    modulation: int,
    rate: float,
    flight: float,
) -> None:
    """Send what waits in a vehicle's queue as far as transmissions begin before `until`, s."""
    for s in range(int(queue[COUNT, v])):
        at = PER_VEHICLE + s * width
        if queue[at + ARRIVES, v] != WAITS:
            continue
        inputs = 0
        for k in range(width - PER_PACKET):
            inputs += 1 if queue[at + PER_PACKET + k, v] != NOT_GIVEN else 0
        bits = header_bits + INPUT_BITS * inputs
        error = packet_error(modulation, ratio, bits) if ratio > 0.0 else 1.0
        begin = maximum(queue[FREE, v], queue[at + POSTED, v] * dt)
        while begin < until and queue[at + ARRIVES, v] == WAITS:
            queue[NUMBER, v] += 1.0
            queue[AIR, v] += bits / rate
            u, _ = uniforms(key, stream, UP_PURPOSE, int(queue[NUMBER, v]))
            if u >= error:
                queue[at + ARRIVES, v] = begin + bits / rate + flight
            else:
                queue[at + ATTEMPTS, v] += 1.0
                if queue[at + ATTEMPTS, v] > retries:
                    queue[at + ARRIVES, v] = GONE
                    queue[LOST, v] += 1.0
            begin += (bits + header_bits) / rate
            queue[FREE, v] = begin
        if queue[at + ARRIVES, v] == WAITS:
            return


def deliver(queue: Any, v: int, width: int, now: float, tick: int, dt: float, command: Any, expires: Any) -> int:
    """Latch the commands that have arrived, remove lost ones; return how many have arrived."""
    count, kept, arrived = int(queue[COUNT, v]), 0, 0
    for s in range(count):
        at = PER_VEHICLE + s * width
        when = queue[at + ARRIVES, v]
        if when == GONE:
            continue
        if when == WAITS or when > now:
            if kept < s:
                for k in range(width):
                    queue[PER_VEHICLE + kept * width + k, v] = queue[at + k, v]
            kept += 1
            continue
        arrived += 1
        for k in range(width - PER_PACKET):
            value = queue[at + PER_PACKET + k, v]
            if value != NOT_GIVEN:
                command[k, v] = value
        lasting = queue[at + LASTING, v]
        expires[v] = NO_TICK - 1 if lasting == HELD else tick + int(lasting)
        queue[DELIVERED, v] += 1.0
        queue[DELAY, v] += when - queue[at + POSTED, v] * dt
    for s in range(kept, count):
        for k in range(width):
            queue[PER_VEHICLE + s * width + k, v] = 0.0
    queue[COUNT, v] = float(kept)
    return arrived


def next_rows(queue: Any, v: int, width: int, tick: int, rate: float) -> int:
    """Return the tick at which a vehicle's queue has to be looked at next."""
    first = NO_TICK
    for s in range(int(queue[COUNT, v])):
        when = queue[PER_VEHICLE + s * width + ARRIVES, v]
        due = tick + 1 if when == WAITS else int(-floor(-when * rate))
        first = min(first, max(due, tick + 1))
    return first


def carry_rows(
    queue: Any,
    width: int,
    tick: int,
    clock_rate: float,
    retries: float,
    header_bits: float,
    key: int,
    streams: Any,
    first: int,
    slots: int,
    low: int,
    high: int,
    start: Any,
    peer: Any,
    power: Any,
    sinr: Any,
    table: Any,
    command: Any,
    expires: Any,
    driven: Any,
    arrived: Any,
    due: Any,
) -> None:
    """Carry the commands of a fleet at a tick: transmissions that begin in it, and what has arrived by it.

    The radios of vehicle v are `first + v * slots` on, those of the station `low` to `high`. `arrived` counts the
    commands of each vehicle, `due` is the tick of its next change. Commands for `driven` vehicles are lost.
    """
    dt = 1.0 / clock_rate
    for v in parallel_range(arrived.size):
        arrived[v], due[v] = 0, NO_TICK
        if queue[COUNT, v] == 0.0:
            continue
        radio = first + v * slots
        i, j, ratio = best_pair(radio, radio + slots, low, high, start, peer, power, sinr, table)
        rate = table[BANDWIDTH, j] / table[SPREAD, j]
        flight = pair_distance(table, i, j) / LIGHT
        modulation, until = int(table[MODULATION, i]), (tick + 1) * dt
        given = key, streams[v], ratio, modulation, rate, flight
        queue[FROM, v] = j - low
        transmit(queue, v, width, until, dt, retries, header_bits, *given)
        if driven[v] != 0:
            queue[LOST, v] += queue[COUNT, v]
            for k in range(PER_VEHICLE, queue.shape[0]):
                queue[k, v] = 0.0
            queue[COUNT, v] = 0.0
            continue
        arrived[v] = deliver(queue, v, width, tick * dt, tick, dt, command, expires)
        due[v] = next_rows(queue, v, width, tick, clock_rate)


carry = parallel_routine(carry_rows)


def possible_queue(queue: Floats, packets: int, inputs: int, tick: int) -> bool:
    """Return whether a run can have left these queues (rows, n) at a tick."""
    width = PER_PACKET + inputs
    counts = queue[[COUNT, NUMBER, SENT, DELIVERED, LOST, DROPPED, FROM]]
    whole = ((counts >= 0.0) & (counts <= LARGEST_COUNT) & (counts == np.floor(counts))).all()
    if not whole or (queue[COUNT] > packets).any() or not ((queue[[FREE, DELAY, AIR]] >= 0.0).all()):
        return False
    parts = queue[PER_VEHICLE:].reshape(packets, width, -1)
    used = np.arange(packets)[:, None] < queue[COUNT]
    posted, lasting, attempts, arrives = (parts[:, k] for k in range(PER_PACKET))
    times = (posted >= 0.0) & (posted <= tick) & (posted == np.floor(posted))
    times &= ((lasting == HELD) | (lasting >= 1.0)) & (lasting <= LARGEST_COUNT) & (lasting == np.floor(lasting))
    times &= (attempts >= 0.0) & (attempts <= 1e3) & (attempts == np.floor(attempts))
    times &= (arrives == WAITS) | ((arrives >= 0.0) & (arrives <= 1e9))
    empty = (parts == 0.0).all(axis=1)
    return bool(np.where(used, times, empty).all())
