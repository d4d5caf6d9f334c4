"""Reception: which radios receive a transmission, by the powers and error rates of their links, in compiled code.

Receivers lock to the first packet that they can decode (of those that begin in the same slot, the strongest); every
change of the interference begins a new part of the packet with its own bit error rate; the packet survives with the
product of all parts. A radio that transmits does not receive. Propagation delays count for arrival times, not for
sensing: a slot is longer than they are. Without sharing, radios do not disturb each other.
"""

from typing import Any

from paddock.compute.math import absolute, exp
from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.radio.links.bursts import burst_time
from paddock.radio.links.table import BURST, SHARE
from paddock.radio.packets.layout import (
    DAMAGED,
    ENERGY,
    LOCK,
    LOCK_BIT,
    LOCK_FLOOR,
    LOCK_POWER,
    LOCKED_AT,
    LOG_OK,
    LOSS_PURPOSE,
    NO_REPLY,
    PART,
    PHASE,
    REPLIES,
    REPLY,
    SENDS,
    SENSED,
    SENT,
    SIGNALS,
    ChannelLinks,
    Devices,
    Events,
    PacketTables,
    Rules,
    ack_slots,
    frame_bits,
    packet_slots,
)
from paddock.radio.packets.network import find_entry
from paddock.radio.packets.queues import OPEN, REPEATS, discard_expired, pause, resume
from paddock.radio.physics.signal import ber, log1p

SATURATED = 0.999  # of packets: with more, an error rate does not say how many bits are wrong


def slot_bits(r: Rules, d: Devices, a: PacketTables, j: int) -> float:
    """Return the bits in each slot of the transmission of j; those of its preamble are no bits that can be wrong."""
    if a.whole[REPLY, j] == REPLIES:
        return float(r.ack_bits / ack_slots(r, d, j))
    bits = frame_bits(a.queue[j, a.head[j]])
    return bits / packet_slots(r, d, j, bits)


def settle(r: Rules, d: Devices, a: PacketTables, i: int, now: int) -> None:
    """Close the part of the locked packet that ends now."""
    j = a.whole[LOCK, i]
    bits = (now - a.whole[PART, i]) * slot_bits(r, d, a, j)
    a.whole[PART, i] = now
    others = a.real[ENERGY, i] - a.real[LOCK_POWER, i] if a.whole[SIGNALS, i] > 1 else 0.0
    if others <= 1e-9 * a.real[LOCK_FLOOR, i]:
        a.real[LOG_OK, i] += bits * a.real[LOCK_BIT, i]
        return
    ratio = a.real[LOCK_POWER, i] / (a.real[LOCK_FLOOR, i] + others)
    rate = ber(d.modulation[j], ratio * d.bandwidth[j] / d.bit_rate[j])
    a.real[LOG_OK, i] += bits * min(log1p(-min(rate, 0.5)), a.real[LOCK_BIT, i])


def add_power(r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, j: int, now: int) -> None:
    """Add a transmission that begins to what others receive and sense."""
    for entry in range(paths.start[j], paths.start[j + 1]):
        begin_at(r, d, paths, a, e, paths.peer[entry], paths.power[entry], paths.sensed[entry] == 1, now)
    for entry in range(paths.other_start[j], paths.other_start[j + 1]):
        power = paths.other_power[entry]
        begin_at(r, d, paths, a, e, int(paths.other_peer[entry]), absolute(power), power < 0.0, now)


def begin_at(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, i: int, power: float, sensed: bool, now: int
) -> None:  # fmt: skip
    """Add a transmission that begins to what radio i receives and senses."""
    if a.whole[LOCK, i] >= 0:
        settle(r, d, a, i, now)
    a.real[ENERGY, i] += power
    a.whole[SIGNALS, i] += 1
    if sensed:
        a.whole[SENSED, i] += 1
        if a.whole[SENSED, i] == 1:
            pause(paths.denied, a, e, i, now)


def end_at(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, i: int, power: float, sensed: bool, now: int
) -> None:  # fmt: skip
    """Remove a transmission that ends from what radio i receives and senses."""
    a.real[ENERGY, i] -= power
    a.whole[SIGNALS, i] -= 1
    if a.whole[SIGNALS, i] == 0:
        a.real[ENERGY, i] = 0.0  # no remainder of rounding
    if sensed:
        a.whole[SENSED, i] -= 1
        if a.whole[SENSED, i] == 0:
            resume(r, paths.denied, a, e, i, now)


def lock_receivers(paths: ChannelLinks, a: PacketTables, j: int, now: int) -> None:
    """Lock listening radios to a transmission that begins, unless they are locked to another or to a stronger one."""
    for entry in range(paths.start[j], paths.start[j + 1]):
        i, power = paths.peer[entry], paths.power[entry]
        if paths.decodes[entry] == 0 or a.whole[PHASE, i] == SENDS or a.whole[REPLY, i] == REPLIES:
            continue
        free = a.whole[LOCK, i] < 0 or (a.whole[LOCKED_AT, i] == now and power > a.real[LOCK_POWER, i])
        if free:
            a.whole[LOCK, i], a.whole[LOCKED_AT, i], a.whole[PART, i] = j, now, now
            a.real[LOCK_POWER, i], a.real[LOCK_FLOOR, i] = power, paths.floor[entry]
            a.real[LOCK_BIT, i], a.real[LOG_OK, i] = paths.bit[entry], 0.0


def missed(r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, j: int, i: int, entry: int, now: int) -> float:
    """Return the probability that bursts and radios with a duty miss the packet of j that ends at i now.

    It is the one to which i is locked, over a path's entry.
    """
    airtime = (now - a.whole[LOCKED_AT, i]) * r.slot
    free = exp(-(paths.load[entry] + paths.pace[entry] * airtime))
    if paths.bursts[SHARE, i] <= 0.0:
        return free
    signal, floor, bit = a.real[LOCK_POWER, i], a.real[LOCK_FLOOR, i], a.real[LOCK_BIT, i]
    begin, end = a.whole[LOCKED_AT, i] * r.slot, now * r.slot
    return free * undamaged(d, paths.bursts, j, i, begin, end, signal, floor, bit, slot_bits(r, d, a, j) / r.slot)


def undamaged(
    d: Devices, bursts: Any, j: int, i: int, begin: float, end: float, signal: float, floor: float, bit: float,
    pace: float,
) -> float:  # fmt: skip
    """Return the probability that bursts at receiver i damage no bit of a packet of j from `begin` to `end` (s).

    `signal` and `floor` in mW; `bit` is the logarithm of a bit's survival between bursts, `pace` the bits per s.
    """
    met = burst_time(bursts, i, begin, end)
    if met <= 0.0:
        return 1.0
    ratio = signal / (floor + bursts[BURST, i]) * d.bandwidth[j] / d.bit_rate[j]
    worse = min(log1p(-min(ber(d.modulation[j], ratio), 0.5)) - bit, 0.0)
    return exp(met * pace * worse)


def survives(r: Rules, d: Devices, a: PacketTables, j: int, i: int, log_ok: float, free: float) -> bool:
    """Return whether a packet of j reaches i, by the draw of its transmission on this link.

    `log_ok` is the logarithm of its survival without bursts and collisions, `free` the probability of none of them.
    """
    mix = (d.streams[i] ^ d.streams[j]) + 3 * (d.streams[i] & d.streams[j])  # the same for both directions
    order = 1 if d.streams[j] < d.streams[i] else 0
    u, _ = uniforms(r.seed, mix, LOSS_PURPOSE, 2 * a.whole[SENT, j] + order)
    return u < exp(log_ok) * free


def remove_power(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, j: int, now: int, got: Any
) -> int:
    """Remove a transmission that ends; write the radios that received it to `got`, and return how many."""
    found = 0
    for entry in range(paths.start[j], paths.start[j + 1]):
        i = paths.peer[entry]
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)
            if a.whole[LOCK, i] == j:
                a.whole[LOCK, i] = -1
                if survives(r, d, a, j, i, a.real[LOG_OK, i], missed(r, d, paths, a, j, i, entry, now)):
                    got[found] = entry
                    found += 1
                else:
                    a.counts[DAMAGED, i] += 1
        end_at(r, d, paths, a, e, i, paths.power[entry], paths.sensed[entry] == 1, now)
    for entry in range(paths.other_start[j], paths.other_start[j + 1]):
        i, power = int(paths.other_peer[entry]), paths.other_power[entry]
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)
        end_at(r, d, paths, a, e, i, absolute(power), power < 0.0, now)
    return found


def survives_alone(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, j: int, i: int, entry: int, bits: float, end: float
) -> bool:
    """Return whether a packet of some bits from j reaches i without others on the channel, over a path's entry.

    It ends at a time (s).
    """
    airtime, bit = bits / d.bit_rate[j], paths.bit[entry]
    free = exp(-(paths.load[entry] + paths.pace[entry] * airtime))
    if paths.bursts[SHARE, i] > 0.0:
        signal, floor = paths.power[entry], paths.floor[entry]
        free *= undamaged(d, paths.bursts, j, i, end - airtime, end, signal, floor, bit, d.bit_rate[j])
    return survives(r, d, a, j, i, bits * bit, free)


def received_alone(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, j: int, bits: float, end: float, got: Any
) -> int:
    """Write the receivers of a transmission that shares the channel with no other to `got`; return how many.

    It ends at a time (s).
    """
    found = 0
    for entry in range(paths.start[j], paths.start[j + 1]):
        i = paths.peer[entry]
        if paths.decodes[entry] == 1:
            if survives_alone(r, d, paths, a, j, i, entry, bits, end):
                got[found] = entry
                found += 1
            else:
                a.counts[DAMAGED, i] += 1
    return found


def transmits(a: PacketTables, j: int) -> bool:
    """Return whether a radio is transmitting."""
    return bool(a.whole[PHASE, j] == SENDS or a.whole[REPLY, j] == REPLIES)


def _close_parts(r: Rules, d: Devices, a: PacketTables, now: int) -> None:
    """Close the parts of all packets on the air, before the links change."""
    for i in range(a.whole.shape[1]):
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)


def _relink(r: Rules, d: Devices, paths: ChannelLinks, denied: Any, a: PacketTables, e: Events, now: int) -> None:
    """Set what radios receive and sense from those that transmit, after the links have changed.

    `denied` is that of the links before. Radios under jammers, before or now, begin with DIFS again.
    """
    n = a.whole.shape[1]
    before = a.whole[SENSED].copy()
    for i in range(n):
        a.whole[SIGNALS, i], a.real[ENERGY, i] = 0, 0.0
        a.whole[SENSED, i] = 1 if a.whole[REPLY, i] != NO_REPLY else 0
    for j in range(n):
        if not transmits(a, j) or not r.shared:
            continue
        for entry in range(paths.start[j], paths.start[j + 1]):
            i = paths.peer[entry]
            a.real[ENERGY, i] += paths.power[entry]
            a.whole[SIGNALS, i] += 1
            a.whole[SENSED, i] += paths.sensed[entry]
        for entry in range(paths.other_start[j], paths.other_start[j + 1]):
            k, power = paths.other_peer[entry], paths.other_power[entry]
            a.real[ENERGY, k] += absolute(power)
            a.whole[SIGNALS, k] += 1
            a.whole[SENSED, k] += 1 if power < 0.0 else 0
    for i in range(n):
        j = a.whole[LOCK, i]
        if j >= 0:
            entry = find_entry(paths.start, paths.peer, j, i)
            if entry < 0 or paths.decodes[entry] == 0:
                a.whole[LOCK, i] = -1
                a.counts[DAMAGED, i] += 1
            else:
                a.real[LOCK_POWER, i], a.real[LOCK_FLOOR, i] = paths.power[entry], paths.floor[entry]
                a.real[LOCK_BIT, i] = paths.bit[entry]
        e.size[0] = 0
        e.place[i] = -1
    for i in range(n):
        jammed = denied[REPEATS, i] != OPEN or paths.denied[REPEATS, i] != OPEN
        if before[i] == 0 and (jammed or a.whole[SENSED, i] > 0):
            pause(denied, a, e, i, now)
        if jammed:
            discard_expired(a, e, i, now)
        if a.whole[SENSED, i] == 0 and (jammed or before[i] > 0):
            resume(r, paths.denied, a, e, i, now)


close_parts, relink_radios = routine(_close_parts), routine(_relink)
