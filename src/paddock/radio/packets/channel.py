"""Channel sharing and reception: radios with queues that contend for the air, in compiled code.

Time counts in slots; the loop jumps from event to event. A packet to one radio is acknowledged after SIFS by a real
transmission, and repeated with twice the window otherwise. Without sharing, radios neither wait for nor disturb each
other. Random numbers are functions of (seed, stream, purpose, count). Events of one slot are handled in the order ends,
timeouts, starts, so that the order of radios has no effect.

Receivers lock to the first packet that they can decode (of those that begin in the same slot, the strongest); every
change of the interference begins a new part of the packet with its own bit error rate; the packet survives with the
product of all parts. A radio that transmits does not receive. Propagation delays count for arrival times, not for
sensing: a slot is longer than they are.
"""

from typing import Any

from numpy import int64, zeros

from paddock.compute.math import absolute, exp
from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.radio.links.rows import burst_time
from paddock.radio.links.table import BURST, SHARE
from paddock.radio.packets.network import find_entry, sift_down
from paddock.radio.packets.queues import (
    ATTEMPTS,
    BEACON,
    BROADCAST,
    DAMAGED,
    ENERGY,
    FORWARDED,
    GOAL,
    HOPS,
    KIND,
    LEFT,
    LISTENS,
    LOCK,
    LOCK_BIT,
    LOCK_FLOOR,
    LOCK_POWER,
    LOCKED_AT,
    LOG_OK,
    LOSS_PURPOSE,
    LOST,
    NEVER,
    NEXT,
    NO_REPLY,
    NUMBER,
    ON_AIR,
    OPEN,
    ORIGIN,
    PART,
    PENDING,
    PHASE,
    REPEATED,
    REPEATS,
    REPLIES,
    REPLY,
    REPLY_AT,
    REPLY_TO,
    RETRIES,
    SENDS,
    SENSED,
    SENT,
    SIGNALS,
    TAKEN,
    TRANSMITTED,
    TTL,
    UNTIL,
    WAITS,
    WINDOW,
    ChannelLinks,
    Devices,
    Events,
    Ints,
    PacketTables,
    Routes,
    Rules,
    ack_slots,
    airtime,
    contend,
    deliver,
    discard_expired,
    drop_head,
    enqueue,
    frame_bits,
    note_state,
    packet_slots,
    pause,
    received_before,
    resume,
    schedule,
    usable_head,
)
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
    r: Rules, paths: ChannelLinks, a: PacketTables, e: Events, i: int, power: float, sensed: bool, now: int
) -> None:
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
    begin, end = a.whole[LOCKED_AT, i] * r.slot, now * r.slot
    return free * undamaged(d, paths, j, i, entry, begin, end, slot_bits(r, d, a, j) / r.slot)


def undamaged(
    d: Devices, paths: ChannelLinks, j: int, i: int, entry: int, begin: float, end: float, pace: float
) -> float:
    """Return the probability that bursts at receiver i damage no bit of a packet of j from `begin` to `end` (s).

    It comes over a path's entry with `pace` bits per s.
    """
    met = burst_time(paths.bursts, i, begin, end)
    if met <= 0.0:
        return 1.0
    ratio = paths.power[entry] / (paths.floor[entry] + paths.bursts[BURST, i]) * d.bandwidth[j] / d.bit_rate[j]
    worse = min(log1p(-min(ber(d.modulation[j], ratio), 0.5)) - paths.bit[entry], 0.0)
    return exp(met * pace * worse)


def survives(r: Rules, d: Devices, a: PacketTables, j: int, i: int, log_ok: float, free: float) -> bool:
    """Return whether a packet of j reaches i, by the draw of its transmission on this link.

    `log_ok` is the logarithm of its survival without bursts and collisions, `free` the probability of none of them.
    """
    mix = (d.streams[i] ^ d.streams[j]) + 3 * (d.streams[i] & d.streams[j])  # the same for both directions
    order = 1 if d.streams[j] < d.streams[i] else 0
    u, _ = uniforms(r.seed, mix, LOSS_PURPOSE, 2 * a.whole[SENT, j] + order)
    return u < exp(log_ok) * free


def remove_power(r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, j: int, now: int) -> int:
    """Remove a transmission that ends; write the entries of radios that received it, and return how many."""
    count = 0
    for entry in range(paths.start[j], paths.start[j + 1]):
        i = paths.peer[entry]
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)
            if a.whole[LOCK, i] == j:
                a.whole[LOCK, i] = -1
                if survives(r, d, a, j, i, a.real[LOG_OK, i], missed(r, d, paths, a, j, i, entry, now)):
                    e.received[count] = entry
                    count += 1
                else:
                    a.counts[DAMAGED, i] += 1
        end_at(r, paths, a, e, i, paths.power[entry], paths.sensed[entry] == 1, now)
    for entry in range(paths.other_start[j], paths.other_start[j + 1]):
        i, power = int(paths.other_peer[entry]), paths.other_power[entry]
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)
        end_at(r, paths, a, e, i, absolute(power), power < 0.0, now)
    return count


def survives_alone(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, j: int, i: int, entry: int, bits: float, end: float
) -> bool:
    """Return whether a packet of some bits from j reaches i without others on the channel, over a path's entry.

    It ends at a time (s).
    """
    airtime = bits / d.bit_rate[j]
    free = exp(-(paths.load[entry] + paths.pace[entry] * airtime))
    if paths.bursts[SHARE, i] > 0.0:
        free *= undamaged(d, paths, j, i, entry, end - airtime, end, d.bit_rate[j])
    return survives(r, d, a, j, i, bits * paths.bit[entry], free)


def received_alone(
    r: Rules, d: Devices, paths: ChannelLinks, a: PacketTables, e: Events, j: int, bits: float, end: float
) -> int:
    """Write the entries of receivers of a transmission that shares the channel with no other; return how many.

    It ends at a time (s).
    """
    count = 0
    for entry in range(paths.start[j], paths.start[j + 1]):
        i = paths.peer[entry]
        if paths.decodes[entry] == 1:
            if survives_alone(r, d, paths, a, j, i, entry, bits, end):
                e.received[count] = entry
                count += 1
            else:
                a.counts[DAMAGED, i] += 1
    return count


def transmits(a: PacketTables, j: int) -> bool:
    """Return whether a radio is transmitting."""
    return bool(a.whole[PHASE, j] == SENDS or a.whole[REPLY, j] == REPLIES)


def _close_parts(r: Rules, d: Devices, a: PacketTables, now: int) -> None:
    """Close the parts of all packets on the air, before the links change."""
    for i in range(a.whole.shape[1]):
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)


def _relink(r: Rules, paths: ChannelLinks, denied: Any, a: PacketTables, e: Events, now: int) -> None:
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
        e.node[i] = -1
    for i in range(n):
        jammed = denied[REPEATS, i] != OPEN or paths.denied[REPEATS, i] != OPEN
        if before[i] == 0 and (jammed or a.whole[SENSED, i] > 0):
            pause(denied, a, e, i, now)
        if jammed:
            discard_expired(a, e, i, now)
        if a.whole[SENSED, i] == 0 and (jammed or before[i] > 0):
            resume(r, paths.denied, a, e, i, now)


close_parts, relink_radios = routine(_close_parts), routine(_relink)


def receive_packet(r: Rules, d: Devices, a: PacketTables, e: Events, i: int, j: int, arrived: float, now: int) -> bool:
    """Handle the packet of j at a radio that received it at a time (s); return whether it is acknowledged."""
    at = a.head[j]
    packet, values = a.queue[j, at], a.queue_real[j, at]
    if packet[KIND] == BEACON:
        note_state(a, i, packet[ORIGIN], values)
        return False
    single = packet[GOAL] != BROADCAST
    if single and packet[NEXT] != i:
        return False
    if not single and packet[ORIGIN] >= 0 and d.group[packet[ORIGIN]] == d.group[i]:
        return False
    if single and (a.whole[PHASE, i] == LISTENS or a.whole[REPLY, i] != NO_REPLY):
        return False  # it awaits or sends a reply, and cannot acknowledge
    if received_before(a, i, packet[NUMBER]):
        return bool(single)
    copy = packet.copy()
    copy[HOPS] -= 1
    copy[TAKEN] += 1
    copy[ATTEMPTS] = 0
    if not single or packet[GOAL] == i:
        deliver(a, i, copy, values, arrived)
    if not single:
        spread(r, d, a, e, i, copy, values, now)
    elif packet[GOAL] != i and copy[HOPS] <= 0:
        a.counts[TTL, i] += 1
    elif packet[GOAL] != i:
        a.counts[FORWARDED, i] += 1
        enqueue(r, a, e, i, copy, values, now)
    return bool(single)


def spread(r: Rules, d: Devices, a: PacketTables, e: Events, i: int, packet: Any, values: Any, now: int) -> None:
    """Let all radios of the vehicle of i, which has received a broadcast, know it; they repeat it if it has hops left.

    Radios of one vehicle have numbers that follow each other.
    """
    k = i
    while k > 0 and d.group[k - 1] == d.group[i]:
        k -= 1
    while k < len(d.group) and d.group[k] == d.group[i]:
        new = k == i or not received_before(a, k, packet[NUMBER])
        if new and packet[HOPS] > 0:
            a.counts[FORWARDED, k] += 1
            enqueue(r, a, e, k, packet, values, now)
        k += 1


def succeed(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int
) -> None:
    """Remove the packet that was sent; continue with the next."""
    drop_head(a, j)
    a.whole[WINDOW, j] = r.window
    contend(r, d, paths.denied, routes, a, e, j, now)


def fail(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int
) -> None:
    """Repeat a packet that was not acknowledged, with twice the window, or give it up."""
    packet = a.queue[j, a.head[j]]
    if packet[ATTEMPTS] > packet[RETRIES]:
        a.counts[LOST, j] += 1
        succeed(r, d, paths, routes, a, e, j, now)
        return
    a.counts[REPEATED, j] += 1
    a.whole[WINDOW, j] = min(2 * a.whole[WINDOW, j], r.window_most)
    contend(r, d, paths.denied, routes, a, e, j, now)


def end_packet(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int
) -> None:
    """End the transmission of a packet: receivers handle it; the sender awaits the reply or continues."""
    packet = a.queue[j, a.head[j]]
    bits, single = frame_bits(packet), packet[GOAL] != BROADCAST
    ended = (now - packet_slots(r, d, j, bits)) * r.slot + airtime(d, j, bits)
    a.whole[PHASE, j] = LISTENS  # no longer transmitting; decided below
    a.whole[UNTIL, j] = NEVER
    count = remove_power(r, d, paths, a, e, j, now) if r.shared else received_alone(r, d, paths, a, e, j, bits, ended)
    acknowledged = False
    for k in range(count):
        i = paths.peer[e.received[k]]
        if receive_packet(r, d, a, e, i, j, ended + paths.delay[e.received[k]], now):
            if r.shared:
                a.whole[REPLY, i], a.whole[REPLY_AT, i], a.whole[REPLY_TO, i] = PENDING, now + r.sifs, j
                a.whole[SENSED, i] += 1
                if a.whole[SENSED, i] == 1:
                    pause(paths.denied, a, e, i, now)
                schedule(e, a, i)
            else:
                back = find_entry(paths.start, paths.peer, i, j)
                a.whole[SENT, i] += 1
                acknowledged = back >= 0 and survives_alone(r, d, paths, a, i, j, back, r.ack_bits, ended)
    a.whole[SENT, j] += 1
    if not single:
        succeed(r, d, paths, routes, a, e, j, now)
    elif not r.shared:
        if acknowledged:
            succeed(r, d, paths, routes, a, e, j, now)
        else:
            fail(r, d, paths, routes, a, e, j, now)
    else:
        slots = ack_slots(r, d, packet[NEXT])
        a.whole[UNTIL, j] = now + r.sifs + slots + 1
        schedule(e, a, j)


def end_reply(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, i: int, now: int
) -> None:
    """End an acknowledgement: the sender of the packet, if it received it, is done with the packet."""
    to = a.whole[REPLY_TO, i]
    count = remove_power(r, d, paths, a, e, i, now)
    a.whole[REPLY, i], a.whole[REPLY_AT, i], a.whole[REPLY_TO, i] = NO_REPLY, NEVER, -1
    a.whole[SENT, i] += 1
    a.whole[SENSED, i] -= 1
    schedule(e, a, i)
    if a.whole[SENSED, i] == 0:
        resume(r, paths.denied, a, e, i, now)
    for k in range(count):
        awaited = paths.peer[e.received[k]] == to and a.whole[PHASE, to] == LISTENS
        if awaited and a.queue[to, a.head[to], NEXT] == i:
            succeed(r, d, paths, routes, a, e, to, now)


def begin(
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int
) -> bool:
    """Begin to transmit what is due: a reply or a packet. Return whether it transmits."""
    w = a.whole
    if w[REPLY, j] == PENDING and w[REPLY_AT, j] == now:
        w[REPLY, j], w[REPLY_AT, j] = REPLIES, now + ack_slots(r, d, j)
        a.real[ON_AIR, j] += (w[REPLY_AT, j] - now) * r.slot
    elif w[PHASE, j] == WAITS and w[UNTIL, j] == now and w[LEFT, j] < 0:
        contend(r, d, paths.denied, routes, a, e, j, now)  # a packet has come to an idle radio
        return False
    elif w[PHASE, j] == WAITS and w[UNTIL, j] == now:
        if not usable_head(routes, a, j, now):
            contend(r, d, paths.denied, routes, a, e, j, now)
            return False
        packet = a.queue[j, a.head[j]]
        if packet[NEXT] != BROADCAST and d.group[packet[NEXT]] == d.group[j]:
            contend(r, d, paths.denied, routes, a, e, j, now)
            return False
        packet[ATTEMPTS] += 1
        w[PHASE, j] = SENDS
        w[UNTIL, j] = now + packet_slots(r, d, j, frame_bits(packet))
        a.real[ON_AIR, j] += (w[UNTIL, j] - now) * r.slot
    else:
        return False
    a.counts[TRANSMITTED, j] += 1
    w[LOCK, j] = -1  # what it was receiving is lost
    schedule(e, a, j)
    return True


def _run(until: int, r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events) -> None:
    """Handle all events up to a slot, inclusive."""
    w = a.whole
    e.size[0] = 0
    for i in range(w.shape[1]):
        e.node[i] = -1
        schedule(e, a, i)
    while e.size[0] > 0 and e.key[e.heap[0]] <= until:
        now, count = e.key[e.heap[0]], 0
        while e.size[0] > 0 and e.key[e.heap[0]] == now:
            i = e.heap[0]
            e.due[count] = i
            count += 1
            e.size[0] -= 1
            e.node[i] = -1
            if e.size[0] > 0:
                e.heap[0] = e.heap[e.size[0]]
                e.node[e.heap[0]] = 0
                sift_down(e.heap, e.node, e.key, 0, e.size[0])
        due = e.due[:count]
        due.sort()
        for i in due:
            if w[REPLY, i] == REPLIES and w[REPLY_AT, i] == now:
                end_reply(r, d, paths, routes, a, e, i, now)
            if w[PHASE, i] == SENDS and w[UNTIL, i] == now:
                end_packet(r, d, paths, routes, a, e, i, now)
        for i in due:
            if w[PHASE, i] == LISTENS and w[UNTIL, i] == now:
                fail(r, d, paths, routes, a, e, i, now)
        starting = 0
        for k in range(count):
            i = due[k]
            if begin(r, d, paths, routes, a, e, i, now):
                due[starting] = i
                starting += 1
            else:
                if w[UNTIL, i] <= now:  # in no state of a run: an event that nothing handles must not repeat
                    w[UNTIL, i] = NEVER
                if w[REPLY_AT, i] <= now:
                    w[REPLY_AT, i] = NEVER
                schedule(e, a, i)
        for k in range(starting if r.shared else 0):
            add_power(r, d, paths, a, e, due[k], now)
        for k in range(starting if r.shared else 0):
            lock_receivers(paths, a, due[k], now)


def _post(radios: Any, packets: Any, values: Any, slots: Any, r: Rules, a: PacketTables, e: Events) -> Ints:
    """Put packets (k, PACKET_WHOLE) into the queues of radios (k,); return 1 for those that were taken.

    An idle radio contends after the slot (k,) of its packet.
    """
    queued = zeros(len(radios), int64)
    for i in range(a.whole.shape[1]):
        e.node[i] = -1
    e.size[0] = 0
    for k in range(len(radios)):
        queued[k] = enqueue(r, a, e, radios[k], packets[k], values[k], slots[k])
    return queued


run_channel, post_packets = routine(_run), routine(_post)
