"""Queues of packets, and access to the channel, in compiled code.

A radio with a packet waits until it has sensed the channel idle for DIFS slots plus a random number of slots, which
stops counting while another transmission is sensed or a jammer denies the channel. The number is larger where radios
with a `duty` are sensed. The next hop of a packet to one radio is chosen when it is sent.

A radio with CSMA does not count down while the power of jammers is at or above its energy threshold. What is on between
two updates of the links denies it the channel until the next one. Bursts (pulses, sweeps) deny it periodically: the
slots that they touch, and DIFS after each. Idle slots are counted in closed form, so that a burst is no event. Times
within a cycle are whole numbers of parts of a slot: counts are exact, and equal on every machine.
"""

from typing import Any

import numpy as np
from numpy import empty

from paddock.compute.math import log, maximum, minimum
from paddock.compute.philox import uniforms
from paddock.radio.links.table import BEGIN, BURST, CYCLE, LENGTH, SHARE
from paddock.radio.packets.layout import (
    BACKOFF_PURPOSE,
    BEACON,
    BEACONS_HEARD,
    BITS,
    BROADCAST,
    COMMAND,
    DELIVERED,
    DRAWS,
    EXPIRED,
    EXPIRES,
    GOAL,
    HEARD_AGE,
    HEARD_REAL,
    IDLE,
    IN_ARRIVED,
    IN_HOPS,
    IN_KIND,
    IN_NUMBER,
    IN_ORIGIN,
    IN_RECEIVER,
    IN_SENT,
    INBOX_FULL,
    KIND,
    LEFT,
    LISTENS,
    MAIL_ARRIVED,
    MAIL_BITS,
    MAIL_HOPS,
    MAIL_NUMBER,
    MAIL_NUMBERS,
    MAIL_ORIGIN,
    MAIL_SENT,
    MAIL_VALUES,
    MAILBOX_FULL,
    NEVER,
    NEXT,
    NO_ROUTE,
    NUMBER,
    NUMBERS,
    ORIGIN,
    PACKET_REAL,
    PACKET_WHOLE,
    PHASE,
    QUEUE_FULL,
    REPLY_AT,
    SEEN,
    SENDS,
    SENSED,
    SENT_TIME,
    SERVED,
    TAKEN,
    TELEMETRY,
    UNTIL,
    VALUE_COUNT,
    VALUES,
    WAITS,
    WINDOW,
    Devices,
    Events,
    Floats,
    Ints,
    PacketTables,
    Routes,
    Rules,
    frame_bits,
    packet_slots,
)
from paddock.radio.packets.network import NO_HOP, shortest, sift_down, sift_up

# rows of `ChannelLinks.denied`, a column per radio
ANCHOR, REPEATS, BLOCKED, PLACE = range(4)  # slot; parts of the cycle; of them denied; place of the slot in the cycle
TRAFFIC = 4  # parts of a slot that radios with a duty take for each slot of its own packets, see `channel_links.py`
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
    denied = np.zeros((DENIED_ROWS, len(steady)), np.int64)
    denied[REPEATS] = np.where(steady >= energy, CLOSED, OPEN)
    part = (steady < energy) & (steady + bursts[BURST] >= energy) & (bursts[SHARE] > 0.0)
    if part.any():
        cycle, begin, length = bursts[[CYCLE, BEGIN, LENGTH]][:, part]
        parts = np.minimum(np.rint(cycle / slot * PARTS), LONGEST_CYCLE).astype(np.int64)
        touched = np.minimum(np.rint(length / slot * PARTS), parts).astype(np.int64)
        blocked = touched + (difs + 1) * PARTS - 1  # from the slot that contains the begin to DIFS after the end
        place = np.rint(np.mod(anchor * slot - begin, cycle) / slot * PARTS).astype(np.int64) + PARTS - 1
        denied[ANCHOR, part], denied[BLOCKED, part] = anchor, blocked
        denied[REPEATS, part] = np.where(blocked < parts, parts, CLOSED)
        denied[PLACE, part] = place % np.maximum(parts, 1)
    return denied


def denied_shares(bursts: Floats, steady: Floats, energy: Floats, slot: float, difs: int) -> Floats:
    """Return the share of time that radios are denied the channel, (n,); arguments are those of `denied_slots`."""
    denied = denied_slots(bursts, steady, energy, slot, difs, 0)
    part = denied[BLOCKED] / np.maximum(denied[REPEATS], 1)
    shares: Floats = np.where(denied[REPEATS] == CLOSED, 1.0, part)
    return shares


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


# queues ---------------------------------------------------------------------------------------------------------------


def schedule(e: Events, a: PacketTables, i: int) -> None:
    """Put a radio at the place of its next event."""
    key = min(a.whole[UNTIL, i], a.whole[REPLY_AT, i])
    at = e.place[i]
    e.key[i] = key
    if at < 0:
        if key == NEVER:
            return
        at = e.size[0]
        e.heap[at] = i
        e.place[i] = at
        e.size[0] += 1
        sift_up(e.heap, e.place, e.key, at)
        return
    if key == NEVER:
        e.size[0] -= 1
        last, e.place[i] = e.heap[e.size[0]], -1
        if last != i:
            e.heap[at] = last
            e.place[last] = at
            sift_up(e.heap, e.place, e.key, at)
            sift_down(e.heap, e.place, e.key, e.place[last], e.size[0])
        return
    sift_up(e.heap, e.place, e.key, at)
    sift_down(e.heap, e.place, e.key, e.place[i], e.size[0])


def next_hop(routes: Routes, i: int, goal: int) -> int:
    """Return the next radio on the cheapest way to a goal, -1 if there is none."""
    tree = routes.tree[goal]
    if tree < 0:
        tree = routes.used[0] % len(routes.goals)
        routes.used[0] += 1
        if routes.goals[tree] >= 0:
            routes.tree[routes.goals[tree]] = -1
        routes.goals[tree], routes.tree[goal] = goal, tree
        distance = empty(len(routes.tree))
        shortest(routes.start, routes.peer, routes.cost, goal, distance, routes.towards[tree])
    return int(routes.towards[tree, i])


def drop_head(a: PacketTables, i: int) -> None:
    """Remove the first packet of a queue."""
    a.head[i] = (a.head[i] + 1) % a.queue.shape[1]
    a.queued[i] -= 1


def usable_head(routes: Routes, a: PacketTables, i: int, now: int) -> bool:
    """Drop packets that are too old or have no route, pass those for another radio of the same vehicle on.

    Return whether a packet remains; its next hop is written.
    """
    while a.queued[i] > 0:
        packet = a.queue[i, a.head[i]]
        if now > packet[EXPIRES]:
            a.counts[EXPIRED, i] += 1
            drop_head(a, i)
            continue
        if packet[GOAL] == BROADCAST:
            packet[NEXT] = BROADCAST
            return True
        hop = next_hop(routes, i, packet[GOAL])
        if hop == NO_HOP:
            a.counts[NO_ROUTE, i] += 1
            drop_head(a, i)
            continue
        packet[NEXT] = hop
        return True
    return False


def discard_expired(a: PacketTables, e: Events, i: int, now: int) -> None:
    """Drop the packets of a waiting radio that are too old to be sent, from the first one on."""
    w = a.whole
    if w[PHASE, i] != WAITS or w[LEFT, i] < 0:
        return
    while a.queued[i] > 0 and now > a.queue[i, a.head[i], EXPIRES]:
        a.counts[EXPIRED, i] += 1
        drop_head(a, i)
    if a.queued[i] == 0:
        w[PHASE, i], w[UNTIL, i] = IDLE, NEVER
        schedule(e, a, i)


def put(a: PacketTables, i: int, packet: Any, values: Any) -> bool:
    """Append a packet to a queue; return whether there was room.

    A beacon or a state (telemetry) replaces the one of the same radio that waits: the newest counts.
    """
    w, room = a.whole, a.queue.shape[1]
    busy = 1 if w[PHASE, i] == SENDS or w[PHASE, i] == LISTENS else 0  # the first packet is on the air
    at = -1
    if packet[KIND] == BEACON or packet[KIND] == TELEMETRY:
        for k in range(busy, a.queued[i]):
            place = (a.head[i] + k) % room
            if a.queue[i, place, KIND] == packet[KIND] and a.queue[i, place, ORIGIN] == packet[ORIGIN]:
                at = place
    if at < 0:
        if a.queued[i] >= room:
            a.counts[QUEUE_FULL, i] += 1
            return False
        at = (a.head[i] + a.queued[i]) % room
        a.queued[i] += 1
    for k in range(PACKET_WHOLE):
        a.queue[i, at, k] = packet[k]
    for k in range(PACKET_REAL):
        a.queue_real[i, at, k] = values[k]
    return True


def enqueue(r: Rules, a: PacketTables, e: Events, i: int, packet: Any, values: Any, now: int) -> bool:
    """Append a packet to a queue; an idle radio begins to contend. Return whether there was room."""
    if not put(a, i, packet, values):
        return False
    if a.whole[PHASE, i] == IDLE:
        a.whole[PHASE, i] = WAITS  # `contend` of a sibling must not start it a second time
        a.whole[WINDOW, i] = r.window
        a.whole[UNTIL, i] = now + 1  # contends then: not from within another radio's turn
        a.whole[LEFT, i] = -1
        schedule(e, a, i)
    return True


def known(a: PacketTables, i: int, number: int) -> bool:
    """Return whether a radio has received a message before; it has now."""
    room = a.seen.shape[1]
    for k in range(min(room, a.whole[SEEN, i])):
        if a.seen[i, k] == number:
            return True
    a.seen[i, a.whole[SEEN, i] % room] = number
    a.whole[SEEN, i] += 1
    return False


def deliver(a: PacketTables, i: int, packet: Any, values: Any, arrived: float) -> None:
    """Put a message into the mailbox of a radio, or the packet of a service into the inbox."""
    if packet[KIND] >= COMMAND:
        serve(a, i, packet, values[SENT_TIME], arrived)
        return
    a.counts[DELIVERED, i] += 1
    put_mail(a, i, packet, values, arrived)


def put_mail(a: PacketTables, i: int, packet: Any, values: Any, arrived: float) -> None:
    """Put a message into the mailbox of a radio, from which the oldest leaves if it is full."""
    room = a.mail.shape[1]
    at = (a.mail_head[i] + a.mails[i]) % room
    if a.mails[i] >= room:
        a.counts[MAILBOX_FULL, i] += 1
        a.mail_head[i] = (at + 1) % room
    else:
        a.mails[i] += 1
    a.mail[i, at, MAIL_NUMBER], a.mail[i, at, MAIL_ORIGIN] = packet[NUMBER], packet[ORIGIN]
    a.mail[i, at, MAIL_BITS], a.mail[i, at, MAIL_HOPS] = packet[BITS], packet[TAKEN]
    a.mail[i, at, MAIL_NUMBERS] = packet[NUMBERS]
    a.mail_real[i, at, MAIL_SENT], a.mail_real[i, at, MAIL_ARRIVED] = values[SENT_TIME], arrived
    for k in range(VALUE_COUNT):
        a.mail_real[i, at, MAIL_VALUES + k] = values[VALUES + k]


def serve(a: PacketTables, i: int, packet: Any, sent: float, arrived: float) -> None:
    """Put the packet of a service into the inbox; a full one drops it."""
    at = a.inbox_count[0]
    if at >= len(a.inbox):
        a.counts[INBOX_FULL, i] += 1
        return
    a.inbox_count[0] += 1
    a.counts[SERVED, i] += 1
    a.inbox[at, IN_NUMBER], a.inbox[at, IN_RECEIVER] = packet[NUMBER], i
    a.inbox[at, IN_ORIGIN], a.inbox[at, IN_KIND], a.inbox[at, IN_HOPS] = packet[ORIGIN], packet[KIND], packet[TAKEN]
    a.inbox_real[at, IN_SENT], a.inbox_real[at, IN_ARRIVED] = sent, arrived


def note_state(a: PacketTables, i: int, origin: int, values: Any) -> None:
    """Keep the state that a beacon reports, in place of the last one of its sender or of the oldest."""
    at, oldest = 0, a.heard_real[i, 0, HEARD_AGE]
    a.counts[BEACONS_HEARD, i] += 1
    for k in range(a.heard.shape[1]):
        if a.heard[i, k] == origin or a.heard[i, k] < 0:
            at = k
            break
        if a.heard_real[i, k, HEARD_AGE] < oldest:
            at, oldest = k, a.heard_real[i, k, HEARD_AGE]
    a.heard[i, at] = origin
    for k in range(HEARD_REAL):
        a.heard_real[i, at, k] = values[k]


def contend(r: Rules, d: Devices, denied: Any, routes: Routes, a: PacketTables, e: Events, i: int, now: int) -> None:
    """Begin to wait for the channel with the first packet of the queue, or become idle.

    `denied` here and below is that of `ChannelLinks`.
    """
    w = a.whole
    while usable_head(routes, a, i, now):
        packet = a.queue[i, a.head[i]]
        hop = packet[NEXT]
        if hop == BROADCAST or d.group[hop] != d.group[i]:
            u, v = uniforms(r.seed, d.streams[i], BACKOFF_PURPOSE, w[DRAWS, i])
            w[DRAWS, i] += 1
            w[PHASE, i], w[LEFT, i] = WAITS, int(u * w[WINDOW, i])
            own = r.difs + w[LEFT, i] + packet_slots(r, d, i, frame_bits(packet))
            w[LEFT, i] += traffic_slots(denied, i, own, v)
            w[UNTIL, i] = slot_after(denied, i, now + r.difs, w[LEFT, i]) if w[SENSED, i] == 0 else NEVER
            schedule(e, a, i)
            return
        # the other radio of this vehicle takes it: no transmission
        values = a.queue_real[i, a.head[i]]
        taken = packet.copy()
        drop_head(a, i)
        if taken[GOAL] == hop:
            if not known(a, hop, taken[NUMBER]):
                deliver(a, hop, taken, values, now * r.slot)
        else:
            enqueue(r, a, e, hop, taken, values, now)
    w[PHASE, i], w[UNTIL, i] = IDLE, NEVER
    schedule(e, a, i)


def pause(denied: Any, a: PacketTables, e: Events, i: int, now: int) -> None:
    """Stop the count of a radio that waits for the channel."""
    if a.whole[PHASE, i] == WAITS and a.whole[UNTIL, i] < NEVER and a.whole[LEFT, i] >= 0:
        a.whole[LEFT, i] = min(a.whole[LEFT, i], idle_slots(denied, i, now, a.whole[UNTIL, i]))
        a.whole[UNTIL, i] = NEVER
        schedule(e, a, i)


def resume(r: Rules, denied: Any, a: PacketTables, e: Events, i: int, now: int) -> None:
    """Continue the count of a radio that waits for the channel."""
    if a.whole[PHASE, i] == WAITS and a.whole[UNTIL, i] == NEVER:
        a.whole[UNTIL, i] = slot_after(denied, i, now + r.difs, a.whole[LEFT, i])
        schedule(e, a, i)
