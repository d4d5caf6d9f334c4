"""The air: the layout of the state of all radios that share it, and the rules by which they do.

`queues.py` holds packets and waits for the channel, `reception.py` computes who receives, `channel.py` runs both
through time. Packets have kinds: data (the messages of users), beacons, and those of services of the simulation
(commands, telemetry, heartbeats, missions), which go to one inbox that the simulation empties, not to mailboxes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import floor

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NEVER = 1 << 62  # slot
NEPERS = 0.2302585092994046  # per dB
BACKOFF_PURPOSE, LOSS_PURPOSE = 900, 901  # of random numbers
BROADCAST = -1  # destination
DATA, BEACON, COMMAND, TELEMETRY, HEARTBEAT, MISSION = range(6)  # kinds of packets; from COMMAND on, those of services
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
 BEACONS_HEARD, SERVED, INBOX_FULL, FORGED) = range(15)  # fmt: skip
COUNTED = ("transmitted", "delivered", "forwarded", "repeated", "queue_full", "no_route", "lost", "ttl", "expired",
           "damaged", "mailbox_full", "beacons_heard", "served", "inbox_full", "forged")  # fmt: skip
# whole numbers of a packet: the message (negative: of a service), radios of its origin and its goal, hops left, bits,
# ..., count of its numbers
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
# whole and real numbers of a service's packet in the inbox
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
    retries: int  # repetitions of a packet that is not acknowledged
    header_bits: float  # of every packet
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


class AirLinks(NamedTuple):
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


class Air(NamedTuple):
    """The state of all radios; pools of fixed size."""

    whole: Ints  # (WHOLE_ROWS, n)
    real: Floats  # (REAL_ROWS, n)
    counts: Ints  # (15, n)
    queue: Ints  # (n, q, PACKET_WHOLE)
    queue_real: Floats  # (n, q, PACKET_REAL)
    mail: Ints  # (n, k, MAIL_WHOLE) the newest messages, a ring
    mail_real: Floats  # (n, k, MAIL_REAL)
    seen: Ints  # (n, s) numbers of messages that were received, a ring
    heard: Ints  # (n, h) radio of each heard state, -1: none
    heard_real: Floats  # (n, h, HEARD_REAL)
    inbox: Ints  # (s, IN_WHOLE) packets of services that have arrived
    inbox_real: Floats  # (s, IN_REAL)
    inbox_count: Ints  # (1,) of them, in use


class Events(NamedTuple):
    """Scratch: an indexed heap of the radios by the slot of their next event."""

    heap: Ints  # (n,)
    place: Ints  # (n,) -1: not in it
    key: Ints  # (n,)
    size: Ints  # (1,)
    due: Ints  # (n,)


def slots_of(seconds: float, slot: float) -> int:
    """Return a time in whole slots, rounded up; rounding errors count as nothing."""
    return int(-floor(-(seconds / slot - 1e-9)))


def airtime(r: Rules, d: Devices, i: int, bits: float) -> float:
    """Return the time (s) that a packet takes."""
    return float(d.overhead[i] + (r.header_bits + bits) / d.bit_rate[i])


def packet_slots(r: Rules, d: Devices, i: int, bits: float) -> int:
    """Return the slots that a packet takes."""
    return max(1, slots_of(airtime(r, d, i, bits), r.slot))


def ack_slots(r: Rules, d: Devices, i: int) -> int:
    """Return the slots that an acknowledgement takes."""
    return max(1, slots_of(d.overhead[i] + r.ack_bits / d.bit_rate[i], r.slot))
