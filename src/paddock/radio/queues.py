"""Queues of packets, and the wait for the channel, in compiled code.

A radio with a packet waits until it has sensed the channel idle for DIFS slots plus a random number of slots, which
stops counting while another transmission is sensed or a jammer denies the channel (`denial.py`). The number is larger
where radios with a `duty` are sensed. The next hop of a
packet to one radio is chosen when it is sent.
"""

from typing import Any

from numpy import empty

from paddock.compute.philox import uniforms
from paddock.radio.air import (
    BACKOFF_PURPOSE,
    BEACON,
    BEACONS_HEARD,
    BITS,
    BROADCAST,
    COMMAND,
    COUNT,
    DELIVERED,
    DRAWS,
    EXPIRED,
    EXPIRES,
    GOAL,
    HEAD,
    HEARD,
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
    MAILS,
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
    SENT_TIME,
    SERVED,
    TAKEN,
    TELEMETRY,
    UNTIL,
    VALUE_COUNT,
    VALUES,
    WAITS,
    WINDOW,
    Air,
    Devices,
    Events,
    Routes,
    Rules,
    packet_slots,
)
from paddock.radio.denial import idle_slots, slot_after, traffic_slots
from paddock.radio.network import NO_HOP, shortest, sift_down, sift_up


def schedule(e: Events, a: Air, i: int) -> None:
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


def next_hop(routes: Routes, d: Devices, i: int, goal: int) -> int:
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


def drop_head(a: Air, i: int) -> None:
    """Remove the first packet of a queue."""
    a.whole[HEAD, i] = (a.whole[HEAD, i] + 1) % a.queue.shape[1]
    a.whole[COUNT, i] -= 1


def usable_head(r: Rules, d: Devices, routes: Routes, a: Air, i: int, now: int) -> bool:
    """Drop packets that are too old or have no route, pass those for another radio of the same vehicle on.

    Return whether a packet remains; its next hop is written.
    """
    while a.whole[COUNT, i] > 0:
        packet = a.queue[i, a.whole[HEAD, i]]
        if now > packet[EXPIRES]:
            a.counts[EXPIRED, i] += 1
            drop_head(a, i)
            continue
        if packet[GOAL] == BROADCAST:
            packet[NEXT] = BROADCAST
            return True
        hop = next_hop(routes, d, i, packet[GOAL])
        if hop == NO_HOP:
            a.counts[NO_ROUTE, i] += 1
            drop_head(a, i)
            continue
        packet[NEXT] = hop
        return True
    return False


def discard_expired(a: Air, e: Events, i: int, now: int) -> None:
    """Drop the packets of a waiting radio that are too old to be sent, from the first one on."""
    w = a.whole
    if w[PHASE, i] != WAITS or w[LEFT, i] < 0:
        return
    while w[COUNT, i] > 0 and now > a.queue[i, w[HEAD, i], EXPIRES]:
        a.counts[EXPIRED, i] += 1
        drop_head(a, i)
    if w[COUNT, i] == 0:
        w[PHASE, i], w[UNTIL, i] = IDLE, NEVER
        schedule(e, a, i)


def put(a: Air, i: int, packet: Any, values: Any) -> bool:
    """Append a packet to a queue; return whether there was room.

    A beacon or a state (telemetry) replaces the one of the same radio that waits: the newest counts.
    """
    w, room = a.whole, a.queue.shape[1]
    busy = 1 if w[PHASE, i] == SENDS or w[PHASE, i] == LISTENS else 0  # the first packet is on the air
    at = -1
    if packet[KIND] == BEACON or packet[KIND] == TELEMETRY:
        for k in range(busy, w[COUNT, i]):
            place = (w[HEAD, i] + k) % room
            if a.queue[i, place, KIND] == packet[KIND] and a.queue[i, place, ORIGIN] == packet[ORIGIN]:
                at = place
    if at < 0:
        if w[COUNT, i] >= room:
            a.counts[QUEUE_FULL, i] += 1
            return False
        at = (w[HEAD, i] + w[COUNT, i]) % room
        w[COUNT, i] += 1
    for k in range(PACKET_WHOLE):
        a.queue[i, at, k] = packet[k]
    for k in range(PACKET_REAL):
        a.queue_real[i, at, k] = values[k]
    return True


def enqueue(
    r: Rules, d: Devices, routes: Routes, a: Air, e: Events, i: int, packet: Any, values: Any, now: int
) -> bool:  # fmt: skip
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


def known(a: Air, i: int, number: int) -> bool:
    """Return whether a radio has received a message before; it has now."""
    room = a.seen.shape[1]
    for k in range(min(room, a.whole[SEEN, i])):
        if a.seen[i, k] == number:
            return True
    a.seen[i, a.whole[SEEN, i] % room] = number
    a.whole[SEEN, i] += 1
    return False


def deliver(a: Air, i: int, packet: Any, values: Any, arrived: float) -> None:
    """Put a message into the mailbox of a radio, or the packet of a service into the inbox."""
    if packet[KIND] >= COMMAND:
        serve(a, i, packet, values[SENT_TIME], arrived)
        return
    a.counts[DELIVERED, i] += 1
    put_mail(a, i, packet, values, arrived)


def put_mail(a: Air, i: int, packet: Any, values: Any, arrived: float) -> None:
    """Put a message into the mailbox of a radio, from which the oldest leaves if it is full."""
    room = a.mail.shape[1]
    at = a.whole[MAILS, i] % room
    if a.whole[MAILS, i] >= room:
        a.counts[MAILBOX_FULL, i] += 1
    a.whole[MAILS, i] += 1
    a.mail[i, at, MAIL_NUMBER], a.mail[i, at, MAIL_ORIGIN] = packet[NUMBER], packet[ORIGIN]
    a.mail[i, at, MAIL_BITS], a.mail[i, at, MAIL_HOPS] = packet[BITS], packet[TAKEN]
    a.mail[i, at, MAIL_NUMBERS] = packet[NUMBERS]
    a.mail_real[i, at, MAIL_SENT], a.mail_real[i, at, MAIL_ARRIVED] = values[SENT_TIME], arrived
    for k in range(VALUE_COUNT):
        a.mail_real[i, at, MAIL_VALUES + k] = values[VALUES + k]


def serve(a: Air, i: int, packet: Any, sent: float, arrived: float) -> None:
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


def note_state(a: Air, i: int, origin: int, values: Any) -> None:
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


def contend(r: Rules, d: Devices, denied: Any, routes: Routes, a: Air, e: Events, i: int, now: int) -> None:
    """Begin to wait for the channel with the first packet of the queue, or become idle.

    `denied` here and below is that of `AirLinks`.
    """
    w = a.whole
    while usable_head(r, d, routes, a, i, now):
        packet = a.queue[i, w[HEAD, i]]
        hop = packet[NEXT]
        if hop == BROADCAST or d.group[hop] != d.group[i]:
            u, v = uniforms(r.seed, d.streams[i], BACKOFF_PURPOSE, w[DRAWS, i])
            w[DRAWS, i] += 1
            w[PHASE, i], w[LEFT, i] = WAITS, int(u * w[WINDOW, i])
            own = r.difs + w[LEFT, i] + packet_slots(r, d, i, packet[BITS])
            w[LEFT, i] += traffic_slots(denied, i, own, v)
            w[UNTIL, i] = slot_after(denied, i, now + r.difs, w[LEFT, i]) if w[HEARD, i] == 0 else NEVER
            schedule(e, a, i)
            return
        # the other radio of this vehicle takes it: no transmission
        values = a.queue_real[i, w[HEAD, i]]
        taken = packet.copy()
        drop_head(a, i)
        if taken[GOAL] == hop:
            if not known(a, hop, taken[NUMBER]):
                deliver(a, hop, taken, values, now * r.slot)
        else:
            enqueue(r, d, routes, a, e, hop, taken, values, now)
    w[PHASE, i], w[UNTIL, i] = IDLE, NEVER
    schedule(e, a, i)


def pause(denied: Any, a: Air, e: Events, i: int, now: int) -> None:
    """Stop the count of a radio that waits for the channel."""
    if a.whole[PHASE, i] == WAITS and a.whole[UNTIL, i] < NEVER and a.whole[LEFT, i] >= 0:
        a.whole[LEFT, i] = min(a.whole[LEFT, i], idle_slots(denied, i, now, a.whole[UNTIL, i]))
        a.whole[UNTIL, i] = NEVER
        schedule(e, a, i)


def resume(r: Rules, denied: Any, a: Air, e: Events, i: int, now: int) -> None:
    """Continue the count of a radio that waits for the channel."""
    if a.whole[PHASE, i] == WAITS and a.whole[UNTIL, i] == NEVER:
        a.whole[UNTIL, i] = slot_after(denied, i, now + r.difs, a.whole[LEFT, i])
        schedule(e, a, i)
