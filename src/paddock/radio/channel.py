"""Channel sharing: radios with queues that contend for the air, in compiled code.

Time counts in slots; the loop jumps from event to event. A radio with a packet waits until it has sensed the channel
idle for DIFS slots plus a random number of slots, which stops counting while another transmission is sensed. Receivers
lock to the first packet that they can decode (of those that begin in the same slot, the strongest); every change of
the interference begins a new part of the packet with its own bit error rate; the packet survives with the product of
all parts. A packet to one radio is acknowledged after SIFS by a real transmission, and repeated with twice the window
otherwise. A radio that transmits does not receive. Propagation delays count for arrival times, not for sensing: a slot
is longer than they are. Without sharing, radios neither wait for nor disturb each other.

Random numbers are functions of (seed, stream, purpose, count). Events of one slot are handled in the order ends,
timeouts, starts, so that the order of radios has no effect.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy import empty, int64, zeros
from numpy.typing import NDArray

from paddock.compute.math import exp, floor, sqrt
from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.radio.network import NO_HOP, find_entry, shortest, sift_down, sift_up
from paddock.radio.signal import ber, log1p

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEVER = 1 << 62  # slot
NEPERS = 0.2302585092994046  # per dB
LIGHT = 299_792_458.0  # m/s
BACKOFF_PURPOSE, LOSS_PURPOSE = 900, 901  # of random numbers
BROADCAST = -1  # destination
DATA, BEACON = 0, 1  # kinds of packets
IDLE, WAITS, SENDS, LISTENS = 0, 1, 2, 3  # phases of a radio: no packet, backing off, transmitting, awaiting the reply
NO_REPLY, PENDING, REPLIES = 0, 1, 2  # acknowledging: not, after SIFS, transmitting

# rows of `Air.whole`, a column per radio
(PHASE, UNTIL, LEFT, WINDOW, REPLY, REPLY_AT, REPLY_TO, LOCK, LOCKED_AT, PART, SIGNALS, HEARD, DRAWS, SENT,
 HEAD, COUNT, MAILS, SEEN) = range(18)  # fmt: skip
WHOLE_ROWS = 18
# rows of `Air.real`
ENERGY, LOCK_POWER, LOCK_FLOOR, LOCK_BIT, LOG_OK, ON_AIR = range(6)  # the last: s of transmissions, see `airtimes`
REAL_ROWS = 6
# rows of `Air.counts`
(TRANSMITTED, DELIVERED, FORWARDED, REPEATED, QUEUE_FULL, NO_ROUTE, LOST, TTL, EXPIRED, DAMAGED, MAILBOX_FULL,
 BEACONS_HEARD) = range(12)  # fmt: skip
COUNTED = ("transmitted", "delivered", "forwarded", "repeated", "queue_full", "no_route", "lost", "ttl", "expired",
           "damaged", "mailbox_full", "beacons_heard")  # fmt: skip
# whole numbers of a packet: the message, radios of its origin and its goal, hops left, bits, ..., count of its numbers
NUMBER, ORIGIN, GOAL, HOPS, BITS, ATTEMPTS, EXPIRES, KIND, NEXT, TAKEN, NUMBERS = range(11)
PACKET_WHOLE = 11
SENT_TIME, VALUES = 0, 1  # real numbers of a packet: time of sending, then values
VALUE_COUNT = 10
PACKET_REAL = VALUES + VALUE_COUNT
# whole and real numbers of a message in a mailbox
MAIL_NUMBER, MAIL_ORIGIN, MAIL_BITS, MAIL_HOPS, MAIL_NUMBERS = range(5)
MAIL_WHOLE = 5
MAIL_SENT, MAIL_ARRIVED, MAIL_VALUES = 0, 1, 2
MAIL_REAL = MAIL_VALUES + VALUE_COUNT
HEARD_AGE = 0  # real numbers of a heard state: time of sending, then x, y, z, qx, qy, qz, qw, vx, vy, vz
HEARD_REAL = 1 + VALUE_COUNT


class Rules(NamedTuple):
    """How radios share the channel."""

    seed: int
    slot: float  # s
    sifs: int  # slots
    difs: int  # slots, at least 1
    window: int  # least contention window, slots
    window_most: int
    retries: int  # repetitions of a packet that is not acknowledged
    header_bits: float  # of every packet
    ack_bits: float
    shared: bool  # False: radios neither wait for nor disturb each other


class Devices(NamedTuple):
    """The radios, (n,) each."""

    streams: Ints
    bit_rate: Floats  # bit/s
    overhead: Floats  # s before every packet
    sense: Floats  # mW: carrier-sense threshold; inf: carrier sensing is off
    modulation: Ints
    bandwidth: Floats  # Hz
    group: Ints  # equal for radios of one vehicle


class AirLinks(NamedTuple):
    """Who hears a transmitter, compressed rows by transmitter."""

    start: Ints  # (n + 1,)
    peer: Ints  # (m,) receivers, ascending
    power: Floats  # (m,) mW in the receiver's channel
    floor: Floats  # (m,) mW: noise, jamming and background
    bit: Floats  # (m,) logarithm of a bit's survival without other packets
    decodes: Ints  # (m,) 1: same channel, and the link is up
    delay: Floats  # (m,) s


class Routes(NamedTuple):
    """The network, and ways to destinations that were asked for, computed on demand."""

    start: Ints
    peer: Ints
    cost: Floats
    tree: Ints  # (n,) tree of a destination, -1: none yet
    towards: Ints  # (t, n) the next radio on the way
    goals: Ints  # (t,) destination of each tree, -1: free
    used: Ints  # (1,) trees computed


class Air(NamedTuple):
    """The state of all radios; pools of fixed size."""

    whole: Ints  # (WHOLE_ROWS, n)
    real: Floats  # (REAL_ROWS, n)
    counts: Ints  # (12, n)
    queue: Ints  # (n, q, PACKET_WHOLE)
    queue_real: Floats  # (n, q, PACKET_REAL)
    mail: Ints  # (n, k, MAIL_WHOLE) the newest messages, a ring
    mail_real: Floats  # (n, k, MAIL_REAL)
    seen: Ints  # (n, s) numbers of messages that were received, a ring
    heard: Ints  # (n, h) radio of each heard state, -1: none
    heard_real: Floats  # (n, h, HEARD_REAL)


class Events(NamedTuple):
    """Scratch: an indexed heap of the radios by the slot of their next event."""

    heap: Ints  # (n,)
    place: Ints  # (n,) -1: not in it
    key: Ints  # (n,)
    size: Ints  # (1,)
    due: Ints  # (n,)


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


def slots_of(seconds: float, slot: float) -> int:
    """Return a time in whole slots, rounded up; rounding errors count as nothing."""
    return int(-floor(-(seconds / slot - 1e-9)))


def airtime(r: Rules, d: Devices, i: int, bits: float) -> float:
    """Return the time (s) that a packet takes."""
    return float(d.overhead[i] + (r.header_bits + bits) / d.bit_rate[i])


def ack_slots(r: Rules, d: Devices, i: int) -> int:
    """Return the slots that an acknowledgement takes."""
    return max(1, slots_of(d.overhead[i] + r.ack_bits / d.bit_rate[i], r.slot))


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


def contend(r: Rules, d: Devices, routes: Routes, a: Air, e: Events, i: int, now: int) -> None:
    """Begin to wait for the channel with the first packet of the queue, or become idle."""
    w = a.whole
    while usable_head(r, d, routes, a, i, now):
        packet = a.queue[i, w[HEAD, i]]
        hop = packet[NEXT]
        if hop == BROADCAST or d.group[hop] != d.group[i]:
            u, _ = uniforms(r.seed, d.streams[i], BACKOFF_PURPOSE, w[DRAWS, i])
            w[DRAWS, i] += 1
            w[PHASE, i], w[LEFT, i] = WAITS, int(u * w[WINDOW, i])
            w[UNTIL, i] = now + r.difs + w[LEFT, i] if w[HEARD, i] == 0 else NEVER
            schedule(e, a, i)
            return
        # the other radio of this vehicle takes it: no transmission
        values = a.queue_real[i, w[HEAD, i]]
        taken = packet.copy()
        drop_head(a, i)
        if taken[GOAL] == hop:
            deliver(r, a, hop, taken, values, now * r.slot)
        else:
            enqueue(r, d, routes, a, e, hop, taken, values, now)
    w[PHASE, i], w[UNTIL, i] = IDLE, NEVER
    schedule(e, a, i)


def put(a: Air, i: int, packet: Any, values: Any) -> bool:
    """Append a packet to a queue; a beacon replaces the one that waits. Return whether there was room."""
    w, room = a.whole, a.queue.shape[1]
    busy = 1 if w[PHASE, i] == SENDS or w[PHASE, i] == LISTENS else 0  # the first packet is on the air
    at = -1
    if packet[KIND] == BEACON:
        for k in range(busy, w[COUNT, i]):
            place = (w[HEAD, i] + k) % room
            if a.queue[i, place, KIND] == BEACON:
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
) -> None:  # fmt: skip
    """Append a packet to a queue; an idle radio begins to contend."""
    if put(a, i, packet, values) and a.whole[PHASE, i] == IDLE:
        a.whole[PHASE, i] = WAITS  # `contend` of a sibling must not start it a second time
        a.whole[WINDOW, i] = r.window
        a.whole[UNTIL, i] = now + 1  # contends then: not from within another radio's turn
        a.whole[LEFT, i] = -1
        schedule(e, a, i)


def settle(r: Rules, d: Devices, a: Air, i: int, now: int) -> None:
    """Close the part of the locked packet that ends now."""
    j = a.whole[LOCK, i]
    bits = (now - a.whole[PART, i]) * r.slot * d.bit_rate[j]
    a.whole[PART, i] = now
    others = a.real[ENERGY, i] - a.real[LOCK_POWER, i] if a.whole[SIGNALS, i] > 1 else 0.0
    if others <= 1e-9 * a.real[LOCK_FLOOR, i]:
        a.real[LOG_OK, i] += bits * a.real[LOCK_BIT, i]
        return
    ratio = a.real[LOCK_POWER, i] / (a.real[LOCK_FLOOR, i] + others)
    rate = ber(d.modulation[j], ratio * d.bandwidth[j] / d.bit_rate[j])
    a.real[LOG_OK, i] += bits * min(log1p(-min(rate, 0.5)), a.real[LOCK_BIT, i])


def pause(a: Air, e: Events, i: int, now: int) -> None:
    """Stop the count of a radio that waits for the channel."""
    if a.whole[PHASE, i] == WAITS and a.whole[UNTIL, i] < NEVER and a.whole[LEFT, i] >= 0:
        a.whole[LEFT, i] = min(a.whole[LEFT, i], a.whole[UNTIL, i] - now)
        a.whole[UNTIL, i] = NEVER
        schedule(e, a, i)


def resume(r: Rules, a: Air, e: Events, i: int, now: int) -> None:
    """Continue the count of a radio that waits for the channel."""
    if a.whole[PHASE, i] == WAITS and a.whole[UNTIL, i] == NEVER:
        a.whole[UNTIL, i] = now + r.difs + a.whole[LEFT, i]
        schedule(e, a, i)


def add_power(r: Rules, d: Devices, paths: AirLinks, a: Air, e: Events, j: int, now: int) -> None:
    """Add a transmission that begins to what others receive and sense."""
    for entry in range(paths.start[j], paths.start[j + 1]):
        i, power = paths.peer[entry], paths.power[entry]
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)
        a.real[ENERGY, i] += power
        a.whole[SIGNALS, i] += 1
        if power >= d.sense[i]:
            a.whole[HEARD, i] += 1
            if a.whole[HEARD, i] == 1:
                pause(a, e, i, now)


def lock_receivers(paths: AirLinks, a: Air, j: int, now: int) -> None:
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


def survives(r: Rules, d: Devices, a: Air, j: int, i: int, log_ok: float) -> bool:
    """Return whether a packet of j reaches i, by the draw of its transmission on this link."""
    mix = (d.streams[i] ^ d.streams[j]) + 3 * (d.streams[i] & d.streams[j])  # the same for both directions
    order = 1 if d.streams[j] < d.streams[i] else 0
    u, _ = uniforms(r.seed, mix, LOSS_PURPOSE, 2 * a.whole[SENT, j] + order)
    return u < exp(log_ok)


def remove_power(r: Rules, d: Devices, paths: AirLinks, a: Air, e: Events, j: int, now: int, got: Any) -> int:
    """Remove a transmission that ends; write the radios that received it to `got`, and return how many."""
    found = 0
    for entry in range(paths.start[j], paths.start[j + 1]):
        i, power = paths.peer[entry], paths.power[entry]
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)
            if a.whole[LOCK, i] == j:
                a.whole[LOCK, i] = -1
                if survives(r, d, a, j, i, a.real[LOG_OK, i]):
                    got[found] = entry
                    found += 1
                else:
                    a.counts[DAMAGED, i] += 1
        a.real[ENERGY, i] -= power
        a.whole[SIGNALS, i] -= 1
        if a.whole[SIGNALS, i] == 0:
            a.real[ENERGY, i] = 0.0  # no remainder of rounding
        if power >= d.sense[i]:
            a.whole[HEARD, i] -= 1
            if a.whole[HEARD, i] == 0:
                resume(r, a, e, i, now)
    return found


def received_alone(r: Rules, d: Devices, paths: AirLinks, a: Air, j: int, bits: float, got: Any) -> int:
    """Write the receivers of a transmission that shares the channel with no other to `got`; return how many."""
    found = 0
    for entry in range(paths.start[j], paths.start[j + 1]):
        i = paths.peer[entry]
        if paths.decodes[entry] == 1:
            if survives(r, d, a, j, i, bits * paths.bit[entry]):
                got[found] = entry
                found += 1
            else:
                a.counts[DAMAGED, i] += 1
    return found


def known(a: Air, i: int, number: int) -> bool:
    """Return whether a radio has received a message before; it has now."""
    room = a.seen.shape[1]
    for k in range(min(room, a.whole[SEEN, i])):
        if a.seen[i, k] == number:
            return True
    a.seen[i, a.whole[SEEN, i] % room] = number
    a.whole[SEEN, i] += 1
    return False


def deliver(r: Rules, a: Air, i: int, packet: Any, values: Any, arrived: float) -> None:
    """Put a message into the mailbox of a radio; the oldest one leaves a full one."""
    room = a.mail.shape[1]
    at = a.whole[MAILS, i] % room
    if a.whole[MAILS, i] >= room:
        a.counts[MAILBOX_FULL, i] += 1
    a.whole[MAILS, i] += 1
    a.counts[DELIVERED, i] += 1
    a.mail[i, at, MAIL_NUMBER], a.mail[i, at, MAIL_ORIGIN] = packet[NUMBER], packet[ORIGIN]
    a.mail[i, at, MAIL_BITS], a.mail[i, at, MAIL_HOPS] = packet[BITS], packet[TAKEN]
    a.mail[i, at, MAIL_NUMBERS] = packet[NUMBERS]
    a.mail_real[i, at, MAIL_SENT], a.mail_real[i, at, MAIL_ARRIVED] = values[SENT_TIME], arrived
    for k in range(VALUE_COUNT):
        a.mail_real[i, at, MAIL_VALUES + k] = values[VALUES + k]


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


def take(
    r: Rules, d: Devices, routes: Routes, a: Air, e: Events, i: int, j: int, delay: float, ended: float, now: int
) -> bool:  # fmt: skip
    """Handle the packet of j at a radio that received it; return whether it is acknowledged."""
    at = a.whole[HEAD, j]
    packet, values = a.queue[j, at], a.queue_real[j, at]
    if packet[KIND] == BEACON:
        note_state(a, i, packet[ORIGIN], values)
        return False
    single = packet[GOAL] != BROADCAST
    if single and packet[NEXT] != i:
        return False
    if not single and packet[ORIGIN] == i:
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
        deliver(r, a, i, copy, values, ended + delay)
    if (single and packet[GOAL] != i) or (not single and copy[HOPS] > 0):
        if copy[HOPS] <= 0:
            a.counts[TTL, i] += 1
        else:
            a.counts[FORWARDED, i] += 1
            enqueue(r, d, routes, a, e, i, copy, values, now)
    return bool(single)


def succeed(r: Rules, d: Devices, routes: Routes, a: Air, e: Events, j: int, now: int) -> None:
    """Remove the packet that was sent; continue with the next."""
    drop_head(a, j)
    a.whole[WINDOW, j] = r.window
    contend(r, d, routes, a, e, j, now)


def fail(r: Rules, d: Devices, routes: Routes, a: Air, e: Events, j: int, now: int) -> None:
    """Repeat a packet that was not acknowledged, with twice the window, or give it up."""
    packet = a.queue[j, a.whole[HEAD, j]]
    if packet[ATTEMPTS] > r.retries:
        a.counts[LOST, j] += 1
        succeed(r, d, routes, a, e, j, now)
        return
    a.counts[REPEATED, j] += 1
    a.whole[WINDOW, j] = min(2 * a.whole[WINDOW, j], r.window_most)
    contend(r, d, routes, a, e, j, now)


def end_packet(
    r: Rules, d: Devices, paths: AirLinks, routes: Routes, a: Air, e: Events, j: int, now: int, got: Any
) -> None:  # fmt: skip
    """End the transmission of a packet: receivers handle it; the sender awaits the reply or continues."""
    packet = a.queue[j, a.whole[HEAD, j]]
    taken, single = airtime(r, d, j, packet[BITS]), packet[GOAL] != BROADCAST
    ended = (now - max(1, slots_of(taken, r.slot))) * r.slot + taken
    a.whole[PHASE, j] = LISTENS  # no longer transmitting; decided below
    a.whole[UNTIL, j] = NEVER
    found = remove_power(r, d, paths, a, e, j, now, got) if r.shared else received_alone(
        r, d, paths, a, j, r.header_bits + packet[BITS], got
    )  # fmt: skip
    acknowledged = False
    for k in range(found):
        i = paths.peer[got[k]]
        if take(r, d, routes, a, e, i, j, paths.delay[got[k]], ended, now):
            if r.shared:
                a.whole[REPLY, i], a.whole[REPLY_AT, i], a.whole[REPLY_TO, i] = PENDING, now + r.sifs, j
                a.whole[HEARD, i] += 1
                if a.whole[HEARD, i] == 1:
                    pause(a, e, i, now)
                schedule(e, a, i)
            else:
                back = find_entry(paths.start, paths.peer, i, j)
                a.whole[SENT, i] += 1
                acknowledged = back >= 0 and survives(r, d, a, i, j, r.ack_bits * paths.bit[back])
    a.whole[SENT, j] += 1
    if not single:
        succeed(r, d, routes, a, e, j, now)
    elif not r.shared:
        if acknowledged:
            succeed(r, d, routes, a, e, j, now)
        else:
            fail(r, d, routes, a, e, j, now)
    else:
        slots = ack_slots(r, d, packet[NEXT])
        a.whole[UNTIL, j] = now + r.sifs + slots + 1
        schedule(e, a, j)


def end_reply(
    r: Rules, d: Devices, paths: AirLinks, routes: Routes, a: Air, e: Events, i: int, now: int, got: Any
) -> None:  # fmt: skip
    """End an acknowledgement: the sender of the packet, if it received it, is done with the packet."""
    to = a.whole[REPLY_TO, i]
    a.whole[REPLY, i], a.whole[REPLY_AT, i], a.whole[REPLY_TO, i] = NO_REPLY, NEVER, -1
    found = remove_power(r, d, paths, a, e, i, now, got)
    a.whole[SENT, i] += 1
    a.whole[HEARD, i] -= 1
    schedule(e, a, i)
    if a.whole[HEARD, i] == 0:
        resume(r, a, e, i, now)
    for k in range(found):
        awaited = paths.peer[got[k]] == to and a.whole[PHASE, to] == LISTENS
        if awaited and a.queue[to, a.whole[HEAD, to], NEXT] == i:
            succeed(r, d, routes, a, e, to, now)


def begin(r: Rules, d: Devices, routes: Routes, a: Air, e: Events, j: int, now: int) -> bool:
    """Begin to transmit what is due: a reply or a packet. Return whether it transmits."""
    w = a.whole
    if w[REPLY, j] == PENDING and w[REPLY_AT, j] == now:
        w[REPLY, j], w[REPLY_AT, j] = REPLIES, now + ack_slots(r, d, j)
        a.real[ON_AIR, j] += (w[REPLY_AT, j] - now) * r.slot
    elif w[PHASE, j] == WAITS and w[UNTIL, j] == now and w[LEFT, j] < 0:
        contend(r, d, routes, a, e, j, now)  # a packet has come to an idle radio
        return False
    elif w[PHASE, j] == WAITS and w[UNTIL, j] == now:
        if not usable_head(r, d, routes, a, j, now):
            contend(r, d, routes, a, e, j, now)
            return False
        packet = a.queue[j, w[HEAD, j]]
        if packet[NEXT] != BROADCAST and d.group[packet[NEXT]] == d.group[j]:
            contend(r, d, routes, a, e, j, now)
            return False
        packet[ATTEMPTS] += 1
        w[PHASE, j] = SENDS
        w[UNTIL, j] = now + max(1, slots_of(airtime(r, d, j, packet[BITS]), r.slot))
        a.real[ON_AIR, j] += (w[UNTIL, j] - now) * r.slot
    else:
        return False
    a.counts[TRANSMITTED, j] += 1
    w[LOCK, j] = -1  # what it was receiving is lost
    schedule(e, a, j)
    return True


def _run(
    until: int, r: Rules, d: Devices, paths: AirLinks, routes: Routes, a: Air, e: Events, got: Any
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
                fail(r, d, routes, a, e, i, now)
        starting = 0
        for k in range(count):
            i = due[k]
            if begin(r, d, routes, a, e, i, now):
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


def transmits(a: Air, j: int) -> bool:
    """Return whether a radio is transmitting."""
    return bool(a.whole[PHASE, j] == SENDS or a.whole[REPLY, j] == REPLIES)


def _close_parts(r: Rules, d: Devices, a: Air, now: int) -> None:
    """Close the parts of all packets on the air, before the links change."""
    for i in range(a.whole.shape[1]):
        if a.whole[LOCK, i] >= 0:
            settle(r, d, a, i, now)


def _relink(r: Rules, d: Devices, paths: AirLinks, a: Air, e: Events, now: int) -> None:
    """Set what radios receive and sense from those that transmit, after the links have changed."""
    n = a.whole.shape[1]
    before = a.whole[HEARD].copy()
    for i in range(n):
        a.whole[SIGNALS, i], a.real[ENERGY, i] = 0, 0.0
        a.whole[HEARD, i] = 1 if a.whole[REPLY, i] != NO_REPLY else 0
    for j in range(n):
        for entry in range(paths.start[j], paths.start[j + 1] if transmits(a, j) and r.shared else paths.start[j]):
            i = paths.peer[entry]
            a.real[ENERGY, i] += paths.power[entry]
            a.whole[SIGNALS, i] += 1
            a.whole[HEARD, i] += 1 if paths.power[entry] >= d.sense[i] else 0
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
        if before[i] == 0 and a.whole[HEARD, i] > 0:
            pause(a, e, i, now)
        elif before[i] > 0 and a.whole[HEARD, i] == 0:
            resume(r, a, e, i, now)


def _post(
    radios: Any, packets: Any, values: Any, now: int, r: Rules, d: Devices, routes: Routes, a: Air, e: Events
) -> None:  # fmt: skip
    """Put packets (k, PACKET_WHOLE) into the queues of radios (k,)."""
    for i in range(a.whole.shape[1]):
        e.place[i] = -1
    e.size[0] = 0
    for k in range(len(radios)):
        enqueue(r, d, routes, a, e, radios[k], packets[k], values[k], now)


def _transpose(
    start: Any, peer: Any, power: Any, sinr: Any, per: Any, usable: Any, x: Any, y: Any, z: Any, packet_bits: Any
) -> tuple[Ints, Ints, Floats, Floats, Floats, Ints, Floats]:  # fmt: skip
    """Return the arrays of `AirLinks` from compressed rows by receiver; `packet_bits` (n,): sizes of `per`."""
    n, m = len(start) - 1, len(peer)
    first, place = zeros(n + 1, int64), zeros(n, int64)
    for entry in range(m):
        first[peer[entry] + 1] += 1
    for j in range(n):
        first[j + 1] += first[j]
        place[j] = first[j]
    receivers, decodes = empty(m, int64), empty(m, int64)
    strength, floors, bits, delays = empty(m), empty(m), empty(m), empty(m)
    for i in range(n):
        for entry in range(start[i], start[i + 1]):
            j = peer[entry]
            at = place[j]
            place[j] += 1
            receivers[at], decodes[at] = i, usable[entry]
            strength[at] = exp(NEPERS * power[entry])
            floors[at] = exp(NEPERS * (power[entry] - sinr[entry]))
            bits[at] = log1p(-min(per[entry], 1.0 - 1e-15)) / packet_bits[i]
            dx, dy, dz = x[i] - x[j], y[i] - y[j], z[i] - z[j]
            delays[at] = sqrt(dx * dx + dy * dy + dz * dz) / LIGHT
    return first, receivers, strength, floors, bits, decodes, delays


run_air, close_parts, relink_air, post_packets = routine(_run), routine(_close_parts), routine(_relink), routine(_post)
transposed = routine(_transpose)
