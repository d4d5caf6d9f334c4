"""Channel sharing: radios with queues that contend for the air, in compiled code.

Time counts in slots; the loop jumps from event to event. A packet to one radio is acknowledged after SIFS by a real
transmission, and repeated with twice the window otherwise. Without sharing, radios neither wait for nor disturb each
other.

Random numbers are functions of (seed, stream, purpose, count). Events of one slot are handled in the order ends,
timeouts, starts, so that the order of radios has no effect.
"""

from typing import Any

from numpy import int64, zeros

from paddock.compute.routine import routine
from paddock.radio.packets.layout import (
    ATTEMPTS,
    BEACON,
    BROADCAST,
    FORWARDED,
    GOAL,
    HOPS,
    KIND,
    LEFT,
    LISTENS,
    LOCK,
    LOST,
    NEVER,
    NEXT,
    NO_REPLY,
    NUMBER,
    ON_AIR,
    ORIGIN,
    PENDING,
    PHASE,
    REPEATED,
    REPLIES,
    REPLY,
    REPLY_AT,
    REPLY_TO,
    RETRIES,
    SENDS,
    SENSED,
    SENT,
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
    frame_bits,
    packet_slots,
)
from paddock.radio.packets.network import find_entry, sift_down
from paddock.radio.packets.queues import (
    contend,
    deliver,
    drop_head,
    enqueue,
    known,
    note_state,
    pause,
    resume,
    schedule,
    usable_head,
)
from paddock.radio.packets.reception import add_power, lock_receivers, received_alone, remove_power, survives_alone


def take(
    r: Rules, d: Devices, routes: Routes, a: PacketTables, e: Events, i: int, j: int, delay: float, ended: float,
    now: int,
) -> bool:  # fmt: skip
    """Handle the packet of j at a radio that received it; return whether it is acknowledged."""
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
    if known(a, i, packet[NUMBER]):
        return bool(single)
    copy = packet.copy()
    copy[HOPS] -= 1
    copy[TAKEN] += 1
    copy[ATTEMPTS] = 0
    if not single or packet[GOAL] == i:
        deliver(a, i, copy, values, ended + delay)
    if not single:
        spread(r, d, routes, a, e, i, copy, values, now)
    elif packet[GOAL] != i and copy[HOPS] <= 0:
        a.counts[TTL, i] += 1
    elif packet[GOAL] != i:
        a.counts[FORWARDED, i] += 1
        enqueue(r, d, routes, a, e, i, copy, values, now)
    return bool(single)


def spread(
    r: Rules, d: Devices, routes: Routes, a: PacketTables, e: Events, i: int, packet: Any, values: Any, now: int
) -> None:  # fmt: skip
    """Let all radios of the vehicle of i, which has received a broadcast, know it; they repeat it if it has hops left.

    Radios of one vehicle have numbers that follow each other.
    """
    k = i
    while k > 0 and d.group[k - 1] == d.group[i]:
        k -= 1
    while k < len(d.group) and d.group[k] == d.group[i]:
        new = k == i or not known(a, k, packet[NUMBER])
        if new and packet[HOPS] > 0:
            a.counts[FORWARDED, k] += 1
            enqueue(r, d, routes, a, e, k, packet, values, now)
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
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, j: int, now: int, got: Any
) -> None:  # fmt: skip
    """End the transmission of a packet: receivers handle it; the sender awaits the reply or continues."""
    packet = a.queue[j, a.head[j]]
    bits, single = frame_bits(packet), packet[GOAL] != BROADCAST
    ended = (now - packet_slots(r, d, j, bits)) * r.slot + airtime(d, j, bits)
    a.whole[PHASE, j] = LISTENS  # no longer transmitting; decided below
    a.whole[UNTIL, j] = NEVER
    found = remove_power(r, d, paths, a, e, j, now, got) if r.shared else received_alone(
        r, d, paths, a, j, bits, ended, got
    )  # fmt: skip
    acknowledged = False
    for k in range(found):
        i = paths.peer[got[k]]
        if take(r, d, routes, a, e, i, j, paths.delay[got[k]], ended, now):
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
    r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, i: int, now: int, got: Any
) -> None:  # fmt: skip
    """End an acknowledgement: the sender of the packet, if it received it, is done with the packet."""
    to = a.whole[REPLY_TO, i]
    found = remove_power(r, d, paths, a, e, i, now, got)
    a.whole[REPLY, i], a.whole[REPLY_AT, i], a.whole[REPLY_TO, i] = NO_REPLY, NEVER, -1
    a.whole[SENT, i] += 1
    a.whole[SENSED, i] -= 1
    schedule(e, a, i)
    if a.whole[SENSED, i] == 0:
        resume(r, paths.denied, a, e, i, now)
    for k in range(found):
        awaited = paths.peer[got[k]] == to and a.whole[PHASE, to] == LISTENS
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
        if not usable_head(r, d, routes, a, j, now):
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


def _run(
    until: int, r: Rules, d: Devices, paths: ChannelLinks, routes: Routes, a: PacketTables, e: Events, got: Any
) -> None:  # fmt: skip
    """Handle all events up to a slot, inclusive."""
    w = a.whole
    e.size[0] = 0
    for i in range(w.shape[1]):
        e.place[i] = -1
        schedule(e, a, i)
    while e.size[0] > 0 and e.key[e.heap[0]] <= until:
        now, count = e.key[e.heap[0]], 0
        while e.size[0] > 0 and e.key[e.heap[0]] == now:
            i = e.heap[0]
            e.due[count] = i
            count += 1
            e.size[0] -= 1
            e.place[i] = -1
            if e.size[0] > 0:
                e.heap[0] = e.heap[e.size[0]]
                e.place[e.heap[0]] = 0
                sift_down(e.heap, e.place, e.key, 0, e.size[0])
        due = e.due[:count]
        due.sort()
        for i in due:
            if w[REPLY, i] == REPLIES and w[REPLY_AT, i] == now:
                end_reply(r, d, paths, routes, a, e, i, now, got)
            if w[PHASE, i] == SENDS and w[UNTIL, i] == now:
                end_packet(r, d, paths, routes, a, e, i, now, got)
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


def _post(
    radios: Any, packets: Any, values: Any, slots: Any, r: Rules, d: Devices, routes: Routes, a: PacketTables, e: Events
) -> Ints:  # fmt: skip
    """Put packets (k, PACKET_WHOLE) into the queues of radios (k,); return 1 for those that were taken.

    An idle radio contends after the slot (k,) of its packet.
    """
    taken = zeros(len(radios), int64)
    for i in range(a.whole.shape[1]):
        e.place[i] = -1
    e.size[0] = 0
    for k in range(len(radios)):
        taken[k] = enqueue(r, d, routes, a, e, radios[k], packets[k], values[k], slots[k])
    return taken


run_channel, post_packets = routine(_run), routine(_post)
