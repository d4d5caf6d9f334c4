"""The state of queues, mailboxes and the channel: declaration, checks, and what follows when radios come or go.

The contents of messages and of packets of services stay beside the arrays on which compiled code works, by number.
"""

from typing import Any

import numpy as np

from paddock.errors import PaddockError
from paddock.radio.links.radios import Floats, Ints
from paddock.radio.packets import layout as c
from paddock.radio.packets.contents import MOST_SERVED, contents_of, contents_tree
from paddock.radio.packets.layout import WHOLE_ROWS, ChannelLinks, Devices, PacketTables, Rules
from paddock.radio.packets.queues import HORIZON, LONGEST_WAIT, OPEN, REPEATS
from paddock.scenario.radio_types import LONGEST, MessagesSection
from paddock.world.parts import RADIO, array, count, fresh, mapping, part, plain, value

LATEST = 1.0  # s that a radio may wait before it contends with a packet
SOON = 1.0  # s: arrivals after the present, by the rest of a slot and the way
LONGEST_AIRTIME = 1e12  # s
LEAST_INBOX, PER_RADIO = 1024, 4  # packets of services that arrive in a tick: at least, and of each radio
SERVICES = (
    "commands",
    "telemetry",
    "heartbeats",
    "mission",
    "mavlink",
)  # in the order of the kinds of packets, from COMMAND on
SERVICE_SENT, SERVICE_DELIVERED, SERVICE_DROPPED = range(3)  # rows of counts of services
PLACED_ROWS = 12  # of `channel_links.PLACED`


@part
class PacketState:
    """Queues, mailboxes and receptions of all radios, messages of users and packets of services."""

    n: int = count(RADIO)
    arrived: int = count("inbox")  # packets of services in the inbox
    number: int = value(0, low=0, high=c.MOST_COUNTED)  # messages sent, false frames among them
    forged: int = value(0, low=0, high=c.MOST_COUNTED)  # of them, false frames of jammers
    served: int = value(0, low=0, high=MOST_SERVED)  # packets of services posted
    whole: Ints = array("i8", WHOLE_ROWS, RADIO, columns=c.RadioRow)
    real: Floats = array("f8", c.REAL_ROWS, RADIO)
    counts: Ints = array("i8", len(c.COUNTED), RADIO, low=0, high=c.MOST_COUNTED)
    removed: Ints = array("i8", len(c.COUNTED), low=0, high=c.MOST_COUNTED)  # counts of radios that have been removed
    head: Ints = array("i8", RADIO, saved=False)
    queued: Ints = array("i8", RADIO, low=0, below="room")
    queue: Ints = array("i8", RADIO, "queue", c.PACKET_WHOLE, ring=("head", "queued"), columns=c.Packet, along=2)
    queue_real: Floats = array("f8", RADIO, "queue", c.PACKET_REAL, ring=("head", "queued"))
    mail_head: Ints = array("i8", RADIO, saved=False)
    mails: Ints = array("i8", RADIO, low=0, below="mail_room")
    mail: Ints = array("i8", RADIO, "mailbox", c.MAIL_WHOLE, ring=("mail_head", "mails"), columns=c.Mail, along=2)
    mail_real: Floats = array("f8", RADIO, "mailbox", c.MAIL_REAL, ring=("mail_head", "mails"))
    seen: Ints = array("i8", RADIO, c.SEEN_MESSAGES, low=-c.MOST_COUNTED, high=c.MOST_COUNTED)
    heard: Ints = array("i8", RADIO, "neighbour", fill=-1, refers=RADIO)  # radios whose beacons were received
    heard_real: Floats = array("f8", RADIO, "neighbour", c.HEARD_REAL)
    inbox: Ints = array("i8", "inbox", c.IN_WHOLE, columns=c.ServiceArrival, along=1)
    inbox_real: Floats = array("f8", "inbox", c.IN_REAL)
    numbers: Ints = array("i8", "packet", low=-c.MOST_COUNTED, high=-1)  # of packets of services: -1, -2, ...
    values: Floats = array("f8", "packet", "width")  # their numbers
    contents: dict[int, bytes] = plain(dict, contents_tree, contents_of)  # of messages
    senders: dict[int, str] = mapping(int, str)  # of messages whose senders have been removed
    services: Ints = array("i8", 3, len(SERVICES), low=0, high=MOST_SERVED)  # packets sent, delivered, dropped
    placed: Floats = array("f8", PLACED_ROWS, RADIO)  # radios at the last update of the links, rows PLACED
    labels: Ints = array("i8", RADIO, fill=-1, low=-1, below=RADIO)  # component of the network; -1: not known

    def check(self, state: Any) -> None:
        """Refuse what no run can have left."""
        w, n, queued = self.whole, self.n, self.queue[live(self.head, self.queued, self.queue)]
        sends, locked = (w[c.PHASE] == c.SENDS) | (w[c.REPLY] == c.REPLIES), w[c.LOCK] >= 0
        _refuse_unless(((w[c.PHASE] == c.IDLE) == (self.queued == 0)).all(), "a radio without packets is not idle")
        _refuse_unless(sends[w[c.LOCK][locked]].all(), "a radio receives from one that does not transmit")
        _refuse_unless((w[c.LOCK] != np.arange(n)).all(), "a radio receives from itself")
        _refuse_unless(((w[c.REPLY_TO] >= 0) == (w[c.REPLY] != c.NO_REPLY)).all(), "an acknowledgement has no goal")
        _refuse_unless((w[c.SIGNALS] <= n).all() and (w[c.SENSED] <= n + 1).all(), "a radio receives too many signals")
        _refuse_unless((self.real[[c.LOG_OK, c.LOCK_BIT]] <= 0.0).all(), "a probability of survival is above 1")
        _refuse_unless(_within(self.real[c.ON_AIR], 0.0, LONGEST_AIRTIME), "a time on the air is not valid")
        kind, single = queued[:, c.KIND], queued[:, c.GOAL] >= 0
        sign = np.select([kind == c.DATA, kind == c.BEACON], [1, 0], -1)
        _refuse_unless((np.sign(queued[:, c.NUMBER]) == sign).all(), "a packet has a number of another kind")
        _refuse_unless((single | (kind < c.COMMAND)).all(), "a packet of a service has no goal")
        _refuse_unless(((queued[:, c.ORIGIN] >= 0) | (kind == c.DATA)).all(), "a packet has no origin")
        _refuse_unless((self.inbox[:, [c.IN_RECEIVER, c.IN_ORIGIN]] >= 0).all(), "an arrival has no radios")
        _refuse_unless(self.arrived <= inbox_room(n), "there are too many arrivals")
        _refuse_unless(self.forged <= self.number, "there are more false frames than messages")
        low, high = min(0, int(queued[:, c.NUMBER].min(initial=0))), int(queued[:, c.NUMBER].max(initial=0))
        _refuse_unless(low >= -self.served and high <= self.number, "a packet has a number that was not given")
        _refuse_unless(_within(self.seen, -self.served, self.number), "a radio has received what was not sent")
        _refuse_unless(
            (np.diff(self.numbers) < 0).all() and (self.numbers >= -self.served).all(), "numbers of services"
        )
        used = used_numbers(self)
        _refuse_unless(np.isin(used[used < 0], self.numbers).all(), "a packet of a service has no contents")
        _refuse_unless(self.contents.keys() >= set(used[used > 0].tolist()), "a message has no contents")
        given = all(0 < number <= self.number for number in self.contents)
        _refuse_unless(given, "contents are of no message")
        _refuse_unless(self.senders.keys() >= orphans(self), "a removed sender has no name")
        _refuse_unless(all(0 < len(name) <= LONGEST_NAME for name in self.senders.values()), "a name is not valid")


LONGEST_NAME = 1000  # of a vehicle


def _refuse_unless(good: Any, what: str) -> None:
    if not good:
        raise PaddockError(what)


def _within(values: Any, low: float, high: Any) -> bool:
    return bool(((values >= low) & (values <= high)).all())


def new_packets(n: int, section: MessagesSection, slot: int = 0) -> PacketState:
    """Return the state of n radios that have sent and received nothing until a slot."""
    neighbours = 1 if section.beacons is None else section.beacons.neighbours
    sizes = {"queue": section.queue, "mailbox": section.mailbox, "neighbour": neighbours}
    made = fresh(PacketState, radio=n, **sizes, room=section.queue + 1, mail_room=section.mailbox + 1)
    made.n = n
    make_room(made)
    reset_radios(made, section.window[0], slot)
    return made


def inbox_room(n: int) -> int:
    """Return the size of the inbox of n radios."""
    return max(LEAST_INBOX, PER_RADIO * n)


def make_room(state: PacketState) -> None:
    """Give the inbox the room that compiled code needs."""
    room, used = inbox_room(state.n), state.arrived
    if len(state.inbox) != room:
        inbox, real = np.zeros((room, c.IN_WHOLE), np.int64), np.zeros((room, c.IN_REAL))
        inbox[:used], real[:used] = state.inbox[:used], state.inbox_real[:used]
        state.inbox, state.inbox_real = inbox, real


def reset_radios(state: PacketState, window: int, now: int = 0) -> None:
    """End all transmissions: radios with packets contend again after slot `now`."""
    w, waits = state.whole, state.queued > 0
    w[[c.SIGNALS, c.SENSED, c.REPLY]] = 0
    w[[c.UNTIL, c.REPLY_AT]] = c.NEVER
    w[[c.LOCK, c.REPLY_TO]] = -1
    w[[c.LOCKED_AT, c.PART]] = 0
    w[c.WINDOW] = window
    state.real[: c.ON_AIR] = 0.0
    w[c.PHASE], w[c.LEFT] = np.where(waits, c.WAITS, c.IDLE), -1
    w[c.UNTIL] = np.where(waits, now + 1, c.NEVER)


# rings ----------------------------------------------------------------------------------------------------------------


def live(head: Ints, queued: Ints, ring: Any) -> tuple[Ints, Ints]:
    """Return the index (rows, places) of the entries of rings, row by row, each from its head on."""
    row = np.repeat(np.arange(len(queued)), queued)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(queued) - queued, queued)
    return row, (head[row] + nth) % max(ring.shape[1], 1)


def used_numbers(state: PacketState) -> Ints:
    """Return the numbers of messages and of packets of services that are queued, in a mailbox or in the inbox."""
    queued = state.queue[live(state.head, state.queued, state.queue)][:, c.NUMBER]
    mailed = state.mail[live(state.mail_head, state.mails, state.mail)][:, c.MAIL_NUMBER]
    every = np.unique(np.concatenate([queued, mailed, state.inbox[: state.arrived, c.IN_NUMBER]]))
    return np.asarray(every[every != 0])


def orphans(state: PacketState) -> set[int]:
    """Return the numbers of messages in queues and mailboxes whose senders have been removed."""
    queued = state.queue[live(state.head, state.queued, state.queue)]
    mailed = state.mail[live(state.mail_head, state.mails, state.mail)]
    gone = queued[queued[:, c.ORIGIN] < 0][:, c.NUMBER], mailed[mailed[:, c.MAIL_ORIGIN] < 0][:, c.MAIL_NUMBER]
    return set(np.concatenate(gone).tolist())


def discard_unused(state: PacketState) -> None:
    """Discard contents of packets and messages, and names of senders, that are in no queue, mailbox or inbox."""
    used = used_numbers(state)
    kept = np.isin(state.numbers, used)
    state.numbers, state.values = state.numbers[kept], state.values[kept]
    messages = set(used.tolist())
    state.contents = {number: content for number, content in state.contents.items() if number in messages}
    state.senders = {number: name for number, name in state.senders.items() if number in messages}


# removal of radios ----------------------------------------------------------------------------------------------------


def drop_removed(state: PacketState, gone: Any) -> dict[int, int]:
    """Drop the packets of radios that are about to be removed (`gone`, a mask), and those that go to them.

    A message that has left its sender travels on; packets of services from removed radios are dropped. Counts of
    removed radios are kept. Return the sender of each such message, by its number.
    """
    at = live(state.head, state.queued, state.queue)
    packets, real, row = state.queue[at], state.queue_real[at], at[0]
    state.removed += state.counts[:, gone].sum(axis=1)
    state.removed[c.LOST] += int((gone[row] & (packets[:, c.KIND] != c.BEACON)).sum())
    mailed = live(state.mail_head, state.mails, state.mail)
    mails = state.mail[mailed][~gone[mailed[0]]]
    data = packets[~gone[row] & (packets[:, c.KIND] == c.DATA)]
    numbers = np.concatenate([data[:, c.NUMBER], mails[:, c.MAIL_NUMBER]])
    origins = np.concatenate([data[:, c.ORIGIN], mails[:, c.MAIL_ORIGIN]])
    removed = (origins >= 0) & gone[origins]
    from_gone, to_gone = (gone[packets[:, k]] & (packets[:, k] >= 0) for k in (c.ORIGIN, c.GOAL))
    lost = to_gone | (from_gone & (packets[:, c.KIND] != c.DATA))
    np.add.at(state.counts[c.NO_ROUTE], row[lost & ~gone[row]], 1)
    kept = ~lost & ~gone[row]
    _refill(state, row[kept], packets[kept], real[kept])
    used = slice(state.arrived)
    stays = ~gone[state.inbox[used, c.IN_RECEIVER]] & ~gone[state.inbox[used, c.IN_ORIGIN]]
    arrivals, times = state.inbox[used][stays], state.inbox_real[used][stays]
    state.inbox[:], state.inbox_real[:], state.arrived = 0, 0.0, len(arrivals)
    state.inbox[: len(arrivals)], state.inbox_real[: len(arrivals)] = arrivals, times
    return dict(zip(numbers[removed].tolist(), origins[removed].tolist(), strict=True))


def _refill(state: PacketState, row: Ints, packets: Ints, real: Floats) -> None:
    """Replace all queues by these packets of rows in ascending order."""
    state.queue[:], state.queue_real[:], state.head[:] = 0, 0.0, 0
    state.queued[:] = np.bincount(row, minlength=state.n)
    at = live(state.head, state.queued, state.queue)
    state.queue[at], state.queue_real[at] = packets, real


def silence(state: PacketState, radios: Ints, window: int) -> None:
    """End what radios transmit and receive, before the links change; packets in their queues are lost."""
    row, place = live(state.head, state.queued, state.queue)
    kinds = state.queue[row, place, c.KIND]
    lost = np.bincount(row[kinds != c.BEACON], minlength=state.n)
    state.counts[c.LOST, radios] += lost[radios]
    kept = state.whole[[[c.SEEN], [c.DRAWS], [c.SENT]], radios]
    state.queued[radios], state.head[radios] = 0, 0
    idle = np.array([c.RadioRow._field_defaults[name] for name in c.RadioRow._fields])
    state.whole[:, radios] = idle[:, None]
    state.whole[c.WINDOW, radios] = window
    state.whole[[[c.SEEN], [c.DRAWS], [c.SENT]], radios] = kept
    state.real[: c.ON_AIR, radios] = 0.0


# checks with the run --------------------------------------------------------------------------------------------------


def check_times(
    state: PacketState, rules: Rules, devices: Devices, links: ChannelLinks, time: float, step: float
) -> None:
    """Refuse a state whose times do not fit a run at a time (s), which had run the channel up to it or `step` s before.

    `links` are those of the state.
    """
    slots = [int(np.floor(at / rules.slot + 1e-9)) for at in (max(time - step, 0.0), time, time + LONGEST)]
    earliest, now, latest = slots
    at, mailed = live(state.head, state.queued, state.queue), live(state.mail_head, state.mails, state.mail)
    sent, mails, used = state.queue_real[at][:, c.SENT_TIME], state.mail_real[mailed], state.inbox_real[: state.arrived]
    ages = state.heard_real[:, :, c.HEARD_AGE][state.heard >= 0]
    past = all(_within(times, 0.0, time + 1e-6) for times in (sent, mails[:, c.MAIL_SENT], ages, used[:, c.IN_SENT]))
    arrivals = _within(mails[:, c.MAIL_ARRIVED], 0.0, time + SOON) and _within(used[:, c.IN_ARRIVED], 0.0, time + SOON)
    arrivals = arrivals and bool((used[:, c.IN_ARRIVED] >= used[:, c.IN_SENT]).all())
    _refuse_unless(past and arrivals, "a packet was sent or has arrived in the future")
    packets = state.queue[at]
    good = _within(packets[:, c.EXPIRES], 0, latest + 1) and _within(
        packets[:, c.ATTEMPTS], 0, packets[:, c.RETRIES] + 1
    )
    _refuse_unless(good, "a packet expires too late, or was repeated too often")
    w, first = state.whole, state.queue[np.arange(state.n), state.head]
    phase, until, due = w[c.PHASE], w[c.UNTIL], w[c.REPLY_AT]
    on_air = (phase == c.SENDS) | (phase == c.LISTENS)
    taken = devices.overhead + (first[:, c.HEADER] + first[:, c.BITS]) / devices.bit_rate
    replies = _slots(devices.overhead + rules.ack_bits / devices.bit_rate, rules.slot)
    longest = max(int(replies.max(initial=1)), 1) + rules.sifs + 2
    later = int(_slots(LATEST, rules.slot)) + 1
    idle = np.where(links.denied[REPEATS] == OPEN, np.maximum(w[c.LEFT], 0), HORIZON)  # with bursts, over many slots
    waits = np.where(w[c.LEFT] < 0, later, rules.difs + idle) + 1
    last = now + np.select([phase == c.SENDS, phase == c.LISTENS], [_slots(taken, rules.slot) + 1, longest], waits)
    pauses = (phase == c.WAITS) & (until == c.NEVER) & (w[c.LEFT] >= 0)
    valid = np.where(phase == c.IDLE, until == c.NEVER, pauses | ((until > earliest) & (until <= last)))
    valid &= np.where(w[c.REPLY] == c.NO_REPLY, due == c.NEVER, (due > earliest) & (due <= now + longest))
    most_left = rules.window_most + (LONGEST_WAIT if devices.duty.any() else 0)
    valid &= (w[c.LEFT] <= most_left) & (w[c.WINDOW] <= rules.window_most)
    valid &= (w[c.LOCKED_AT] <= now) & (w[c.PART] <= now)
    valid &= ~on_air | ((first[:, c.NEXT] >= 0) == (first[:, c.GOAL] >= 0))  # where a packet on the air goes is known
    _refuse_unless(valid.all(), "a radio has an event at a time that is not valid")


def _slots(seconds: Any, slot: float) -> Any:
    return np.maximum(np.ceil(seconds / slot - 1e-9), 1.0).astype(np.int64)


def tables_of(state: PacketState, inbox_count: Ints) -> PacketTables:
    """Return the arrays for compiled code."""
    return PacketTables(
        *(state.whole, state.real, state.counts, state.head, state.queued, state.queue, state.queue_real),
        *(state.mail_head, state.mails, state.mail, state.mail_real, state.seen, state.heard, state.heard_real),
        *(state.inbox, state.inbox_real, inbox_count),
    )
