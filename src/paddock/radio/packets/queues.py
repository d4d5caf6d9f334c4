"""Packets and their queues, and access to the channel that radios share: the layout of arrays, and compiled code.

`state.py` declares the state; `channel.py` computes who receives and runs the channel through time. Packets have
kinds: data (the messages of users), beacons, and those of services of the simulation (commands, telemetry, heartbeats,
missions, MAVLink), which go to one inbox that the simulation empties, not to mailboxes.

A radio with a packet waits until it has sensed the channel idle for DIFS slots plus a random number of slots, which
stops counting while another transmission is sensed or a jammer denies the channel. The number is larger where radios
with a `duty` are sensed. The next hop of a packet to one radio is chosen when it is sent.

A radio with CSMA does not count down while the power of jammers is at or above its energy threshold. What is on between
two updates of the links denies it the channel until the next one. Bursts (pulses, sweeps) deny it periodically: the
slots that they touch, and DIFS after each. Idle slots are counted in closed form, so that a burst is no event. Times
within a cycle are whole numbers of parts of a slot: counts are exact, and equal on every machine.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import empty
from numpy.typing import NDArray

from paddock.compute.math import floor, log, maximum, minimum
from paddock.compute.philox import uniforms
from paddock.compute.twin import shared_code
from paddock.radio.links.table import BEGIN, BURST, CYCLE, LENGTH, SHARE
from paddock.radio.packets.network import NO_HOP, shortest, sift_down, sift_up
from paddock.radio.settings import MOST_BITS, MOST_HOPS, MOST_RETRIES
from paddock.world.columns import Column
from paddock.world.parts import RADIO

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NEVER = 1 << 62  # slot
BACKOFF_PURPOSE, LOSS_PURPOSE = 900, 901  # of random numbers
BROADCAST = -1  # destination
# kinds of packets; from COMMAND on, those of services
DATA, BEACON, COMMAND, TELEMETRY, HEARTBEAT, MISSION, MAVLINK = range(7)
IDLE, WAITS, SENDS, LISTENS = 0, 1, 2, 3  # phases of a radio: no packet, backing off, transmitting, awaiting the reply
NO_REPLY, PENDING, REPLIES = 0, 1, 2  # acknowledging: not, after SIFS, transmitting
MOST_COUNTED = 1 << 53
SEEN_MESSAGES = 32  # numbers of received messages that a radio remembers, to discard repetitions
VALUE_COUNT = 10  # values of a packet


class RadioRow(NamedTuple):
    """The rows of `PacketTables.whole`, a column per radio; times are slots."""

    phase: Annotated[int, Column("", "IDLE, WAITS, SENDS or LISTENS", low=0, high=3)] = IDLE
    until: Annotated[int, Column("slot", "next event of the phase, NEVER: none", low=0, high=NEVER)] = NEVER
    left: Annotated[int, Column("slot", "idle slots that it still waits, -1: not drawn", low=-1, high=1 << 21)] = -1
    window: Annotated[int, Column("slot", "contention window", low=1, high=1 << 20)] = 1
    reply: Annotated[int, Column("", "NO_REPLY, PENDING or REPLIES", low=0, high=2)] = NO_REPLY
    reply_at: Annotated[int, Column("slot", "next event of the acknowledgement", low=0, high=NEVER)] = NEVER
    reply_to: Annotated[int, Column("", "radio to which it goes", refers=RADIO)] = -1
    lock: Annotated[int, Column("", "radio whose packet it receives", refers=RADIO)] = -1
    locked_at: Annotated[int, Column("slot", "begin of that packet", low=0, high=NEVER)] = 0
    part: Annotated[int, Column("slot", "begin of its present part", low=0, high=NEVER)] = 0
    signals: Annotated[int, Column("", "transmissions that it receives", low=0, high=1 << 31)] = 0
    sensed: Annotated[int, Column("", "of them sensed, and its own acknowledgement", low=0, high=1 << 31)] = 0
    draws: Annotated[int, Column("", "backoffs that it has drawn", low=0, high=1 << 47)] = 0
    sent: Annotated[int, Column("", "transmissions that have ended", low=0, high=1 << 46)] = 0
    seen: Annotated[int, Column("", "messages that it has received, see `seen`", low=0, high=MOST_COUNTED)] = 0


(PHASE, UNTIL, LEFT, WINDOW, REPLY, REPLY_AT, REPLY_TO, LOCK, LOCKED_AT, PART, SIGNALS, SENSED, DRAWS, SENT,
 SEEN) = range(15)  # fmt: skip
WHOLE_ROWS = 15
# rows of `PacketTables.real`
ENERGY, LOCK_POWER, LOCK_FLOOR, LOCK_BIT, LOG_OK, ON_AIR = range(6)  # the last: s of transmissions, see `airtimes`
REAL_ROWS = 6
# rows of `PacketTables.counts`
(TRANSMITTED, DELIVERED, FORWARDED, REPEATED, QUEUE_FULL, NO_ROUTE, LOST, TTL, EXPIRED, DAMAGED, MAILBOX_FULL,
 BEACONS_HEARD, SERVED, INBOX_FULL, FORGED) = range(15)  # fmt: skip
COUNTED = ("transmitted", "delivered", "forwarded", "repeated", "queue_full", "no_route", "lost", "ttl", "expired",
           "damaged", "mailbox_full", "beacons_heard", "served", "inbox_full", "forged")  # fmt: skip


class Packet(NamedTuple):
    """The whole numbers of a packet in a queue."""

    number: Annotated[int, Column("", "of its message; negative: of a service", low=-MOST_COUNTED, high=MOST_COUNTED)]
    origin: Annotated[int, Column("", "radio; -1: it has been removed", refers=RADIO)]
    goal: Annotated[int, Column("", "radio; -1: a broadcast", refers=RADIO)]
    hops: Annotated[int, Column("", "hops left", low=0, high=MOST_HOPS)]
    bits: Annotated[int, Column("bit", "size", low=0, high=MOST_BITS)]
    attempts: Annotated[int, Column("", "transmissions to the next hop", low=0, high=1 << 20)]
    expires: Annotated[int, Column("slot", "when it is discarded", low=0, high=NEVER)]
    kind: Annotated[int, Column("", "DATA, BEACON, COMMAND, ...", low=DATA, high=MAVLINK)]
    next: Annotated[int, Column("", "radio of the next hop", refers=RADIO)]
    taken: Annotated[int, Column("", "hops that it has taken", low=0, high=MOST_HOPS)]
    numbers: Annotated[int, Column("", "count of its values", low=0, high=VALUE_COUNT)]
    header: Annotated[int, Column("bit", "added to its size on the air", low=0, high=MOST_BITS)]
    retries: Annotated[int, Column("", "repetitions at each hop", low=0, high=MOST_RETRIES)]


NUMBER, ORIGIN, GOAL, HOPS, BITS, ATTEMPTS, EXPIRES, KIND, NEXT, TAKEN, NUMBERS, HEADER, RETRIES = range(13)
PACKET_WHOLE = 13
SENT_TIME, VALUES = 0, 1  # real numbers of a packet: time of sending, then values
PACKET_REAL = VALUES + VALUE_COUNT


class Mail(NamedTuple):
    """The whole numbers of a message in a mailbox."""

    number: Annotated[int, Column("", "of the message", low=1, high=MOST_COUNTED)]
    origin: Annotated[int, Column("", "radio; -1: it has been removed", refers=RADIO)]
    bits: Annotated[int, Column("bit", "size", low=0, high=MOST_BITS)]
    hops: Annotated[int, Column("", "hops that it has taken", low=0, high=MOST_HOPS)]
    numbers: Annotated[int, Column("", "count of its values", low=0, high=VALUE_COUNT)]


MAIL_NUMBER, MAIL_ORIGIN, MAIL_BITS, MAIL_HOPS, MAIL_NUMBERS = range(5)
MAIL_WHOLE = 5
MAIL_SENT, MAIL_ARRIVED, MAIL_VALUES = 0, 1, 2
MAIL_REAL = MAIL_VALUES + VALUE_COUNT
HEARD_AGE = 0  # real numbers of a received state: time of sending, then x, y, z, qx, qy, qz, qw, vx, vy, vz
HEARD_REAL = 1 + VALUE_COUNT


class ServiceArrival(NamedTuple):
    """The whole numbers of a service's packet in the inbox."""

    number: Annotated[int, Column("", "of the packet", low=-MOST_COUNTED, high=-1)]
    receiver: Annotated[int, Column("", "radio", refers=RADIO)]
    origin: Annotated[int, Column("", "radio", refers=RADIO)]
    kind: Annotated[int, Column("", "COMMAND, TELEMETRY, ...", low=COMMAND, high=MAVLINK)]
    hops: Annotated[int, Column("", "hops that it has taken", low=0, high=MOST_HOPS)]


IN_NUMBER, IN_RECEIVER, IN_ORIGIN, IN_KIND, IN_HOPS = range(5)
IN_WHOLE = 5
IN_SENT, IN_ARRIVED = 0, 1
IN_REAL = 2


class Rules(NamedTuple):
    """How radios share the channel."""

    seed: int
    slot: float  # s
    sifs: int  # slots
    difs: int  # slots, at least 1
    window: int  # least contention window, slots
    window_most: int
    ack_bits: float
    shared: bool  # False: radios neither wait for nor disturb each other


class Devices(NamedTuple):
    """The radios, (n,) each."""

    streams: Ints
    bit_rate: Floats  # bit/s
    overhead: Floats  # s before every packet
    modulation: Ints
    bandwidth: Floats  # Hz
    group: Ints  # equal for radios of one vehicle
    duty: Floats  # share of time in which it transmits beside packets


ENTRY = np.dtype([("power", "f8"), ("peer", "i4"), ("link", "i4")])
"""An entry of a row: mW in the receiver's band (negative: it senses it), receiver, and which of the m links by receiver
it is (-1: it is no link, and cannot be decoded)."""


class ChannelLinks(NamedTuple):
    """Who receives a transmitter, senses it or is disturbed by it: rows by transmitter, over the links of an update.

    Most radios send no packet between two updates: what a reception needs is computed when one begins.
    """

    first: Ints  # (n,) the row of radio j is first[j]:last[j]
    last: Ints  # (n,)
    entries: Any  # (k,) of ENTRY, receivers ascend in a row
    table: Floats  # of radios
    position: Floats  # (3, n) m
    level: Floats  # (m,) dBm, as the following ones those of `Links`
    sinr: Floats  # (m,) dB
    per: Floats  # (m,)
    up: NDArray[np.uint8]  # (m,)
    collisions: Floats  # (COLLISION_ROWS, m or 0)
    load: Floats  # (m or 0,) of collisions that the transmitter does not sense, see `channel_links.py`
    duty: Floats  # (m or 0,) of the receiver, where the transmitter does not sense it
    bursts: Floats  # (BURST_ROWS, n) of jammers at receivers
    denied: Ints  # (DENIED_ROWS, n) slots in which jammers keep radios off the channel; see `queues.py`


class Routes(NamedTuple):
    """The network, and ways to destinations that were asked for, computed on demand."""

    start: Ints
    peer: Ints
    cost: Floats
    tree: Ints  # (n,) tree of a destination, -1: none yet
    towards: Ints  # (t, n) the next radio on the way
    goals: Ints  # (t,) destination of each tree, -1: free
    used: Ints  # (1,) trees computed


class PacketTables(NamedTuple):
    """The arrays of `PacketState` on which compiled code works: pools of fixed size."""

    whole: Ints  # (WHOLE_ROWS, n), see `RadioRow`
    real: Floats  # (REAL_ROWS, n)
    counts: Ints  # (15, n)
    head: Ints  # (n,) first packet of each queue
    queued: Ints  # (n,) packets in each queue
    queue: Ints  # (n, q, PACKET_WHOLE), rings
    queue_real: Floats  # (n, q, PACKET_REAL)
    mail_head: Ints  # (n,) oldest message of each mailbox
    mails: Ints  # (n,) messages in each mailbox
    mail: Ints  # (n, k, MAIL_WHOLE) the newest messages, rings
    mail_real: Floats  # (n, k, MAIL_REAL)
    seen: Ints  # (n, s) numbers of messages that were received, a ring
    heard: Ints  # (n, h) radio of each received state, -1: none
    heard_real: Floats  # (n, h, HEARD_REAL)
    inbox: Ints  # (s, IN_WHOLE) packets of services that have arrived
    inbox_real: Floats  # (s, IN_REAL)
    inbox_count: Ints  # (1,) of them, in use


class Events(NamedTuple):
    """Scratch: an indexed heap of the radios by the slot of their next event, and who received a transmission."""

    heap: Ints  # (n,)
    node: Ints  # (n,) of each radio in the heap, -1: not in it
    key: Ints  # (n,)
    size: Ints  # (1,)
    due: Ints  # (n,)
    received: Ints  # (n,) receivers, ascending
    pace: Floats  # (n,) bits in each slot of what a radio transmits
    ages: Floats  # (n, h) copy of the times of sending of `heard_real`, in one place


def slots_of(seconds: float, slot: float) -> int:
    """Return a time in whole slots, rounded up; rounding errors count as nothing."""
    return int(-floor(-(seconds / slot - 1e-9)))


def frame_bits(packet: Any) -> float:
    """Return the size of a packet on the air, its header included."""
    return float(packet[HEADER] + packet[BITS])


def airtime(d: Devices, i: int, bits: float) -> float:
    """Return the time (s) that a packet of some bits takes, its header included."""
    return float(d.overhead[i] + bits / d.bit_rate[i])


def packet_slots(r: Rules, d: Devices, i: int, bits: float) -> int:
    """Return the slots that a packet takes."""
    return max(1, slots_of(airtime(d, i, bits), r.slot))


def ack_slots(r: Rules, d: Devices, i: int) -> int:
    """Return the slots that an acknowledgement takes."""
    return max(1, slots_of(d.overhead[i] + r.ack_bits / d.bit_rate[i], r.slot))


# access to the channel ------------------------------------------------------------------------------------------------
# rows of `ChannelLinks.denied`, a column per radio
ANCHOR, REPEATS, BLOCKED, OFFSET = range(4)  # slot; parts of the cycle; of them denied; those before the slot
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
        offset = np.rint(np.mod(anchor * slot - begin, cycle) / slot * PARTS).astype(np.int64) + PARTS - 1
        denied[ANCHOR, part], denied[BLOCKED, part] = anchor, blocked
        denied[REPEATS, part] = np.where(blocked < parts, parts, CLOSED)
        denied[OFFSET, part] = offset % np.maximum(parts, 1)
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
    offset = (PARTS * (first - denied[ANCHOR, i]) + denied[OFFSET, i]) % cycle
    ends = floor_sum(count, cycle, PARTS, offset + cycle - denied[BLOCKED, i])
    return ends - floor_sum(count, cycle, PARTS, offset)


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


@shared_code
def schedule(e: Events, w: Any, i: int) -> None:
    """Put a radio at the place of its next event; `w` here and below is `PacketTables.whole`."""
    key = min(w[UNTIL, i], w[REPLY_AT, i])
    at = e.node[i]
    e.key[i] = key
    if at < 0:
        if key == NEVER:
            return
        at = e.size[0]
        e.heap[at] = i
        e.node[i] = at
        e.size[0] += 1
        sift_up(e.heap, e.node, e.key, at)
        return
    if key == NEVER:
        e.size[0] -= 1
        last, e.node[i] = e.heap[e.size[0]], -1
        if last != i:
            e.heap[at] = last
            e.node[last] = at
            sift_up(e.heap, e.node, e.key, at)
            sift_down(e.heap, e.node, e.key, e.node[last], e.size[0])
        return
    sift_up(e.heap, e.node, e.key, at)
    sift_down(e.heap, e.node, e.key, e.node[i], e.size[0])


@shared_code
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


@shared_code
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


@shared_code
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
        schedule(e, w, i)


def put(a: PacketTables, i: int, packet: Any, values: Any) -> bool:
    """Append a packet to a queue; return whether there was room.

    A beacon or a state (telemetry) replaces the one of the same radio that waits: the newest counts.
    """
    w, room = a.whole, a.queue.shape[1]
    busy = 1 if w[PHASE, i] == SENDS or w[PHASE, i] == LISTENS else 0  # the first packet is on the air
    at = -1
    if packet[KIND] == BEACON or packet[KIND] == TELEMETRY:
        for k in range(busy, a.queued[i]):
            entry = (a.head[i] + k) % room
            if a.queue[i, entry, KIND] == packet[KIND] and a.queue[i, entry, ORIGIN] == packet[ORIGIN]:
                at = entry
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


@shared_code
def enqueue(r: Rules, a: PacketTables, e: Events, i: int, packet: Any, values: Any, now: int) -> bool:
    """Append a packet to a queue; an idle radio begins to contend. Return whether there was room."""
    if not put(a, i, packet, values):
        return False
    if a.whole[PHASE, i] == IDLE:
        a.whole[PHASE, i] = WAITS  # `contend` of a sibling must not start it a second time
        a.whole[WINDOW, i] = r.window
        a.whole[UNTIL, i] = now + 1  # contends then: not from within another radio's turn
        a.whole[LEFT, i] = -1
        schedule(e, a.whole, i)
    return True


def received_before(a: PacketTables, i: int, number: int) -> bool:
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


def store_state(heard: Any, heard_real: Any, ages: Any, i: int, origin: int, values: Any) -> None:
    """Store the state that a beacon reports, in place of the last one of its sender or of the oldest.

    `ages` is that of `Events`.
    """
    room, at = heard.shape[1], 0
    while at < room and heard[i, at] != origin and heard[i, at] >= 0:
        at += 1
    if at == room:
        at = 0
        for k in range(1, room):
            if ages[i, k] < ages[i, at]:
                at = k
    heard[i, at], ages[i, at] = origin, values[HEARD_AGE]
    for k in range(HEARD_REAL):
        heard_real[i, at, k] = values[k]


@shared_code
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
            schedule(e, w, i)
            return
        # the other radio of this vehicle takes it: no transmission
        values = a.queue_real[i, a.head[i]]
        passed = packet.copy()
        drop_head(a, i)
        if passed[GOAL] == hop:
            if not received_before(a, hop, passed[NUMBER]):
                deliver(a, hop, passed, values, now * r.slot)
        else:
            enqueue(r, a, e, hop, passed, values, now)
    w[PHASE, i], w[UNTIL, i] = IDLE, NEVER
    schedule(e, w, i)


@shared_code
def pause(denied: Any, w: Any, e: Events, i: int, now: int) -> None:
    """Stop the count of a radio that waits for the channel."""
    if w[PHASE, i] == WAITS and w[UNTIL, i] < NEVER and w[LEFT, i] >= 0:
        w[LEFT, i] = min(w[LEFT, i], idle_slots(denied, i, now, w[UNTIL, i]))
        w[UNTIL, i] = NEVER
        schedule(e, w, i)


@shared_code
def resume(difs: int, denied: Any, w: Any, e: Events, i: int, now: int) -> None:
    """Continue the count of a radio that waits for the channel."""
    if w[PHASE, i] == WAITS and w[UNTIL, i] == NEVER:
        w[UNTIL, i] = slot_after(denied, i, now + difs, w[LEFT, i])
        schedule(e, w, i)
