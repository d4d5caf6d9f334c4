"""Deceptive jammers: who accepts their false frames, and those frames as messages in mailboxes.

Frame f begins at f periods of the run and takes its airtime. A receiver accepts it with the probability that a true
frame of this power would survive, against noise, interference and the other jammers, whatever the receiver does
meanwhile. Each frame has its own random number at each receiver.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import int64, zeros

from paddock.compute.math import absolute, floor, maximum
from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.radio.air import (
    BITS,
    FORGED,
    NUMBER,
    NUMBERS,
    ORIGIN,
    PACKET_REAL,
    PACKET_WHOLE,
    SENT_TIME,
    TAKEN,
    VALUES,
    Air,
    Floats,
    Ints,
)
from paddock.radio.jamming import band_shares
from paddock.radio.links import BANDWIDTH, FREQUENCY, MODULATION, NOISE, SAME_CHANNEL, SPREAD, packet_error
from paddock.radio.links import BITS as FRAME_BITS
from paddock.radio.queues import put_mail

FRAME_PURPOSE = 910  # of random numbers
ROUNDING = 1e-9  # of a period


def chance_rows(
    table: Any,
    deceptive: Any,
    sending: Any,
    doing: Any,
    levels: Any,
    jamming: Any,
    interference: Any,
    chances: Any,
) -> None:
    """Compute the probability that a receiver accepts a frame of a deceptive jammer, (k, n).

    `sending` (k,) is 0 for those that are off.
    """
    n = jamming.size
    for i in range(n):
        modulation = int(table[MODULATION, i])
        for q in range(deceptive.size):
            k = deceptive[q]
            j = n + k
            same = absolute(table[FREQUENCY, j] - table[FREQUENCY, i]) <= SAME_CHANNEL * table[BANDWIDTH, i]
            chances[q, i] = 0.0
            if same and table[MODULATION, j] == modulation and sending[q] > 0.0 and levels[k, i] > 0.0:
                mean, there = band_shares(table, i, j, k, doing)
                others = maximum(jamming[i] - mean * levels[k, i], 0.0)
                ratio = there * levels[k, i] / (table[NOISE, i] + interference[i] + others)
                chances[q, i] = 1.0 - packet_error(modulation, ratio * table[SPREAD, i], table[FRAME_BITS, j])


def frame_rows(
    seed: int,
    stream: int,
    streams: Any,
    chances: Any,
    frames: Any,
    times: Any,
    arrives: bool,
    packet: Any,
    values: Any,
    a: Air,
    found: Any,
) -> None:
    """Draw which receivers accept frames (k,), and if the frame `arrives`, put it into their mailboxes.

    `times` are the period and the airtime (s). `packet` and `values` are those of a message. `found`: how many frames
    were accepted, and how many messages they make; the numbers of these follow that of `packet`.
    """
    period, taken = times
    for f in frames:
        numbered = 0
        for i in range(len(chances)):
            if chances[i] <= 0.0:
                continue
            drawn, _ = uniforms(seed, streams[i] ^ stream, FRAME_PURPOSE, f)
            if drawn >= chances[i]:
                continue
            found[0] += 1
            if not arrives:
                continue
            if numbered == 0:
                numbered = 1
                found[1] += 1
                packet[NUMBER] += 1
                values[SENT_TIME] = f * period
            a.counts[FORGED, i] += 1
            put_mail(a, i, packet, values, f * period + taken)


find_chances, accept_frames = routine(chance_rows), routine(frame_rows)


def last_frame(time: float, period: float, taken: float) -> int:
    """Return the number of the last frame that has ended by a time (s), -1: none."""
    return max(int(floor((time - taken) / period + ROUNDING)), -1)


def next_frame_tick(tick: int, rate: float, period: float, taken: float) -> int:
    """Return the first tick >= `tick` by which a frame has ended since the tick before it; `rate` in ticks per s."""
    wanted = last_frame((tick - 1) / rate, period, taken) + 1
    found = max(int(floor((wanted * period + taken) * rate)) - 1, tick)
    while last_frame(found / rate, period, taken) < wanted:
        found += 1
    return found


def frames_ended(
    tick: int, rate: float, period: float, taken: float, schedule: Sequence[tuple[float, float]] | None
) -> Ints:
    """Return the numbers of the frames that have ended since the last tick and began while the schedule (s) was on."""
    before, last = (last_frame(at / rate, period, taken) for at in (tick - 1, tick))
    frames = np.arange(before + 1, last + 1)
    if schedule is None:
        return frames
    begin = frames * period + ROUNDING * period
    on = np.zeros(len(frames), bool)
    for first, end in schedule:
        on |= (begin >= first) & (begin < end)
    return frames[on]


def frame_packet(number: int, origin: int, bits: int, given: Sequence[float]) -> tuple[Ints, Floats]:
    """Return a false frame as a packet with the `given` numbers; the next message of the run is `number` + 1."""
    packet, values = zeros(PACKET_WHOLE, int64), zeros(PACKET_REAL)
    packet[NUMBER], packet[ORIGIN], packet[BITS], packet[TAKEN] = number, origin, bits, 1
    packet[NUMBERS] = len(given)
    values[VALUES : VALUES + len(given)] = given
    return packet, values
