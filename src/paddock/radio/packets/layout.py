"""The channel that radios share: the layout of its state, and the rules of access.

`state.py` declares the state, `queues.py` holds packets and waits for the channel, `channel.py` computes who receives
and runs both through time. Packets have kinds: data (the messages of users), beacons, and those of
services of the simulation (commands, telemetry, heartbeats, missions, MAVLink), which go to one inbox that the
simulation empties, not to mailboxes.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import floor
from paddock.radio.settings import MOST_BITS, MOST_HOPS
from paddock.world.columns import Column
from paddock.world.parts import RADIO

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NEVER = 1 << 62  # slot
NEPERS = 0.2302585092994046  # per dB
BACKOFF_PURPOSE, LOSS_PURPOSE = 900, 901  # of random numbers
BROADCAST = -1  # destination
# kinds of packets; from COMMAND on, those of services
DATA, BEACON, COMMAND, TELEMETRY, HEARTBEAT, MISSION, MAVLINK = range(7)
IDLE, WAITS, SENDS, LISTENS = 0, 1, 2, 3  # phases of a radio: no packet, backing off, transmitting, awaiting the reply
NO_REPLY, PENDING, REPLIES = 0, 1, 2  # acknowledging: not, after SIFS, transmitting
MOST_COUNTED = 1 << 53
MOST_RETRIES = 100
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


class ChannelLinks(NamedTuple):
    """Who hears a transmitter, compressed rows by transmitter, and who does not, but is disturbed by it."""

    start: Ints  # (n + 1,)
    peer: Ints  # (m,) receivers, ascending
    power: Floats  # (m,) mW in the receiver's channel
    floor: Floats  # (m,) mW: noise, jamming and background, without bursts and collisions
    bit: Floats  # (m,) logarithm of a bit's survival without other packets, bursts and collisions
    decodes: Ints  # (m,) 1: same channel, and the link is up, or would be between bursts
    delay: Floats  # (m,) s
    load: Floats  # (m,) of collisions with radios with a duty, see `collisions.py`: at no length of a packet
    pace: Floats  # (m,) 1/s, what it gains with the length
    sensed: Ints  # (m,) 1: the receiver senses that the channel is busy
    other_start: Ints  # (n + 1,) rows of those that are disturbed
    other_peer: NDArray[np.int32]  # (k,) receivers, ascending
    other_power: Floats  # (k,) mW in the receiver's band; negative: it senses it
    bursts: Floats  # (BURST_ROWS, n) of jammers at receivers, as in `Links`
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
    place: Ints  # (n,) -1: not in it
    key: Ints  # (n,)
    size: Ints  # (1,)
    due: Ints  # (n,)
    received: Ints  # (n,) entries of the links of its transmitter


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
