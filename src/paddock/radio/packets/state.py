"""The state of queues, mailboxes and the channel: declaration, checks, what follows when radios come or go.

The contents of messages and of packets of services stay beside the arrays on which compiled code works, by number. They
are bytes, or what JSON can hold, kept as bytes with a leading tag.

`FleetHeard` is what vehicles have heard, for behaviours: states of neighbours and of a target from beacons, numbers of
messages. A rule with the option `sees` uses the truth, the states as they were heard, or the heard states moved on at
their velocities to the present. States older than `beacons.keep` do not count. The first radio of a vehicle is the one
that sends and hears beacons.
"""

import json
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Len

from paddock.compute.kernel import CompiledKernels, fields
from paddock.compute.neighbours import NeighbourSpec
from paddock.compute.routine import routine
from paddock.compute.threads import launch
from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.packets import queues as c
from paddock.radio.packets.queues import (
    HORIZON,
    LONGEST_WAIT,
    MAIL_ARRIVED,
    MAIL_NUMBERS,
    MAIL_SENT,
    MAIL_VALUES,
    OPEN,
    REPEATS,
    VALUE_COUNT,
    WHOLE_ROWS,
    ChannelLinks,
    Devices,
    Floats,
    Ints,
    PacketTables,
    Rules,
)
from paddock.scenario.radio_types import LONGEST, MessagesSection
from paddock.world.parts import RADIO, array, count, fresh, mapping, part, value

MOST_BYTES = 1 << 16  # of one message
RAW, TEXT = 0, 1  # how contents were given
MOST_SERVED = 1 << 53  # packets of services


def encoded(data: Any) -> tuple[bytes, list[float]]:
    """Return the bytes of a message's contents with a leading tag, and its numbers if it is a short list of numbers."""
    if isinstance(data, bytes | bytearray | memoryview):
        content, tag, values = bytes(data), RAW, []
    else:
        try:
            content = json.dumps(data, separators=(",", ":"), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InvalidValueError(f"a message is bytes or what JSON can hold: {error}") from None
        plain = isinstance(data, list | tuple) and len(data) <= VALUE_COUNT
        numbers = plain and all(isinstance(number, int | float) and not isinstance(number, bool) for number in data)
        tag, values = TEXT, [float(number) for number in data] if numbers else []
    if len(content) > MOST_BYTES:
        raise InvalidValueError(f"a message has at most {MOST_BYTES} bytes, not {len(content)}")
    return bytes([tag]) + content, values


def decoded(content: bytes) -> Any:
    """Return the contents that `encoded` was given."""
    return content[1:] if content[0] == RAW else json.loads(content[1:])


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
    contents: dict[int, bytes] = mapping(int, Annotated[bytes, Len(1, MOST_BYTES + 1)])  # of messages
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
        for content in self.contents.values():
            _refuse_unless(content[0] in (RAW, TEXT), "contents are neither bytes nor JSON")
            decoded(content)
        used = self.used_numbers()
        _refuse_unless(np.isin(used[used < 0], self.numbers).all(), "a packet of a service has no contents")
        _refuse_unless(self.contents.keys() >= set(used[used > 0].tolist()), "a message has no contents")
        numbered = all(0 < number <= self.number for number in self.contents)
        _refuse_unless(numbered, "contents are of no message")
        _refuse_unless(self.senders.keys() >= self.orphans(), "a removed sender has no name")
        _refuse_unless(all(0 < len(name) <= LONGEST_NAME for name in self.senders.values()), "a name is not valid")

    def make_room(self) -> None:
        """Give the inbox the room that compiled code needs."""
        room, used = inbox_room(self.n), self.arrived
        if len(self.inbox) != room:
            inbox, real = np.zeros((room, c.IN_WHOLE), np.int64), np.zeros((room, c.IN_REAL))
            inbox[:used], real[:used] = self.inbox[:used], self.inbox_real[:used]
            self.inbox, self.inbox_real = inbox, real

    def reset_radios(self, window: int, now: int = 0) -> None:
        """End all transmissions: radios with packets contend again after slot `now`."""
        w, waits = self.whole, self.queued > 0
        w[[c.SIGNALS, c.SENSED, c.REPLY]] = 0
        w[[c.UNTIL, c.REPLY_AT]] = c.NEVER
        w[[c.LOCK, c.REPLY_TO]] = -1
        w[[c.LOCKED_AT, c.PART]] = 0
        w[c.WINDOW] = window
        self.real[: c.ON_AIR] = 0.0
        w[c.PHASE], w[c.LEFT] = np.where(waits, c.WAITS, c.IDLE), -1
        w[c.UNTIL] = np.where(waits, now + 1, c.NEVER)

    def used_numbers(self) -> Ints:
        """Return the numbers of messages and of packets of services that are queued, in a mailbox or in the inbox."""
        queued = self.queue[live(self.head, self.queued, self.queue)][:, c.NUMBER]
        mailed = self.mail[live(self.mail_head, self.mails, self.mail)][:, c.MAIL_NUMBER]
        every = np.unique(np.concatenate([queued, mailed, self.inbox[: self.arrived, c.IN_NUMBER]]))
        return np.asarray(every[every != 0])

    def orphans(self) -> set[int]:
        """Return the numbers of messages in queues and mailboxes whose senders have been removed."""
        queued = self.queue[live(self.head, self.queued, self.queue)]
        mailed = self.mail[live(self.mail_head, self.mails, self.mail)]
        gone = queued[queued[:, c.ORIGIN] < 0][:, c.NUMBER], mailed[mailed[:, c.MAIL_ORIGIN] < 0][:, c.MAIL_NUMBER]
        return set(np.concatenate(gone).tolist())

    def discard_unused(self) -> None:
        """Discard contents of packets and messages, and names of senders, that are in no queue, mailbox or inbox."""
        used = self.used_numbers()
        kept = np.isin(self.numbers, used)
        self.numbers, self.values = self.numbers[kept], self.values[kept]
        messages = set(used.tolist())
        self.contents = {number: content for number, content in self.contents.items() if number in messages}
        self.senders = {number: name for number, name in self.senders.items() if number in messages}

    def drop_removed(self, gone: Any) -> dict[int, int]:
        """Drop the packets of radios that are about to be removed (`gone`, a mask), and those that go to them.

        A message that has left its sender travels on; packets of services from removed radios are dropped. Counts of
        removed radios are kept. Return the sender of each such message, by its number.
        """
        at = live(self.head, self.queued, self.queue)
        packets, real, row = self.queue[at], self.queue_real[at], at[0]
        self.removed += self.counts[:, gone].sum(axis=1)
        self.removed[c.LOST] += int((gone[row] & (packets[:, c.KIND] != c.BEACON)).sum())
        mailed = live(self.mail_head, self.mails, self.mail)
        mails = self.mail[mailed][~gone[mailed[0]]]
        data = packets[~gone[row] & (packets[:, c.KIND] == c.DATA)]
        numbers = np.concatenate([data[:, c.NUMBER], mails[:, c.MAIL_NUMBER]])
        origins = np.concatenate([data[:, c.ORIGIN], mails[:, c.MAIL_ORIGIN]])
        removed = (origins >= 0) & gone[origins]
        from_gone, to_gone = (gone[packets[:, k]] & (packets[:, k] >= 0) for k in (c.ORIGIN, c.GOAL))
        lost = to_gone | (from_gone & (packets[:, c.KIND] != c.DATA))
        np.add.at(self.counts[c.NO_ROUTE], row[lost & ~gone[row]], 1)
        kept = ~lost & ~gone[row]
        self._refill(row[kept], packets[kept], real[kept])
        used = slice(self.arrived)
        stays = ~gone[self.inbox[used, c.IN_RECEIVER]] & ~gone[self.inbox[used, c.IN_ORIGIN]]
        arrivals, times = self.inbox[used][stays], self.inbox_real[used][stays]
        self.inbox[:], self.inbox_real[:], self.arrived = 0, 0.0, len(arrivals)
        self.inbox[: len(arrivals)], self.inbox_real[: len(arrivals)] = arrivals, times
        return dict(zip(numbers[removed].tolist(), origins[removed].tolist(), strict=True))

    def _refill(self, row: Ints, packets: Ints, real: Floats) -> None:
        """Replace all queues by these packets of rows in ascending order."""
        self.queue[:], self.queue_real[:], self.head[:] = 0, 0.0, 0
        self.queued[:] = np.bincount(row, minlength=self.n)
        at = live(self.head, self.queued, self.queue)
        self.queue[at], self.queue_real[at] = packets, real

    def silence(self, radios: Ints, window: int) -> None:
        """End what radios transmit and receive, before the links change; packets in their queues are lost."""
        row, entry = live(self.head, self.queued, self.queue)
        kinds = self.queue[row, entry, c.KIND]
        lost = np.bincount(row[kinds != c.BEACON], minlength=self.n)
        self.counts[c.LOST, radios] += lost[radios]
        counters = self.whole[[[c.SEEN], [c.DRAWS], [c.SENT]], radios]
        self.queued[radios], self.head[radios] = 0, 0
        idle = np.array([c.RadioRow._field_defaults[name] for name in c.RadioRow._fields])
        self.whole[:, radios] = idle[:, None]
        self.whole[c.WINDOW, radios] = window
        self.whole[[[c.SEEN], [c.DRAWS], [c.SENT]], radios] = counters
        self.real[: c.ON_AIR, radios] = 0.0


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
    made.make_room()
    made.reset_radios(section.window[0], slot)
    return made


def inbox_room(n: int) -> int:
    """Return the size of the inbox of n radios."""
    return max(LEAST_INBOX, PER_RADIO * n)


# rings ----------------------------------------------------------------------------------------------------------------


def live(head: Ints, queued: Ints, ring: Any) -> tuple[Ints, Ints]:
    """Return the index (rows, places) of the entries of rings, row by row, each from its head on."""
    row = np.repeat(np.arange(len(queued)), queued)
    nth = np.arange(len(row)) - np.repeat(np.cumsum(queued) - queued, queued)
    return row, (head[row] + nth) % max(ring.shape[1], 1)


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
    airtimes = devices.overhead + (first[:, c.HEADER] + first[:, c.BITS]) / devices.bit_rate
    replies = _slots(devices.overhead + rules.ack_bits / devices.bit_rate, rules.slot)
    longest = max(int(replies.max(initial=1)), 1) + rules.sifs + 2
    later = int(_slots(LATEST, rules.slot)) + 1
    idle = np.where(links.denied[REPEATS] == OPEN, np.maximum(w[c.LEFT], 0), HORIZON)  # with bursts, over many slots
    waits = np.where(w[c.LEFT] < 0, later, rules.difs + idle) + 1
    last = now + np.select([phase == c.SENDS, phase == c.LISTENS], [_slots(airtimes, rules.slot) + 1, longest], waits)
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


TRUTH, HEARD_STATES, PREDICTED = 0.0, 1.0, 2.0
STATE_FIELDS = ("x", "y", "z", "qx", "qy", "qz", "qw", "vx", "vy", "vz")  # of a beacon, after the time of sending
NO_TARGET = -1


class FleetHeard(NamedTuple):
    """What the vehicles of a fleet have heard by now; vehicle k has radio `first + k * slots`."""

    time: float  # s
    keep: float  # s: older states do not count
    first: int
    slots: int
    n: int
    who: Ints  # (radios, h) radio of each heard state, -1: none
    states: Floats  # (radios, h, 11) time of sending, position, quaternion, velocity
    mail_head: Ints  # of `PacketTables`, as the others
    mails: Ints
    mail: Ints
    mail_real: Floats


class HeardKernels(CompiledKernels):
    """The kernel that visits heard neighbours."""

    def __init__(self, spec: NeighbourSpec) -> None:
        self.spec = spec
        tuples = {"Seen": spec.seen, "Gathered": spec.gathered, "Options": spec.options, "Result": spec.result}
        text = heard_source(spec)
        super().__init__(f"{spec.name}-heard", text, {"visit": spec.visit, "finish": spec.finish}, tuples, "float64")

    def signatures(self) -> dict[str, tuple[Any, ...]]:
        """Return the Numba types of the arguments."""
        from numba import float64, int64, types

        table, fixed = types.Array(float64, 2, "C"), types.Array(float64, 2, "C", True)
        who, states, options = types.Array(int64, 2, "C"), types.Array(float64, 3, "C"), types.Array(float64, 1, "C")
        times = float64, float64, float64
        return {"visit_heard": (int64, fixed, float64, int64, int64, who, states, *times, options, table)}


@lru_cache(maxsize=64)
def heard_kernels(spec: NeighbourSpec) -> HeardKernels:
    """Return the kernel of a spec, built once per process."""
    return HeardKernels(spec)


def visit_heard(
    spec: NeighbourSpec, poses: Floats, heard: FleetHeard, sees: float, radius: float, options: Floats, result: Floats
) -> None:
    """Visit, for each vehicle of a fleet, the vehicles of the same fleet that it has heard of within `radius` (m)."""
    poses = poses.view()
    poses.flags.writeable = False
    [kernel] = heard_kernels(spec).built(False)
    move_on = 1.0 if sees == PREDICTED else 0.0
    own = heard.n, poses, radius, heard.first, heard.slots, heard.who, heard.states
    launch(None, kernel, *own, heard.time, heard.keep, move_on, options, result)


def heard_source(spec: NeighbourSpec) -> str:
    """Return the Python source of the kernel."""
    seen = fields(spec.seen)
    rows = [fields(spec.source).index(f) for f in seen]
    there = {name: f"states[row, k, {STATE_FIELDS.index(name) + 1}]" for name in seen if name in STATE_FIELDS}
    there |= {"x": "x", "y": "y", "z": "z"}
    defaults = [repr(spec.gathered._field_defaults[f]) for f in fields(spec.gathered)]  # type: ignore[attr-defined]
    return SOURCE.format(
        me=", ".join(f"poses[{row}, i]" for row in rows),
        at=", ".join(f"poses[{row}, i]" for row in rows[:3]),
        other=", ".join(there.get(f, "0.0") for f in seen),
        start_values=", ".join(defaults),
        options=", ".join(f"options[{k}]" for k in range(len(fields(spec.options)))),
        store="\n".join(f"        result[{k}, i] = outcome.{f}" for k, f in enumerate(fields(spec.result))),
    )


SOURCE = """\
def visit_heard(n, poses, radius, first, slots, who, states, time, keep, move_on, options, result):
    reach = radius * radius
    opts = Options({options})
    for i in range(n):
        me = Seen({me})
        at_x, at_y, at_z = {at}
        gathered = Gathered({start_values})
        row = first + i * slots
        for k in range(who.shape[1]):
            j = who[row, k]
            age = time - states[row, k, 0]
            if j < first or j >= first + n * slots or age > keep:
                continue
            later = age * move_on
            x = states[row, k, 1] + states[row, k, 8] * later
            y = states[row, k, 2] + states[row, k, 9] * later
            z = states[row, k, 3] + states[row, k, 10] * later
            dx, dy, dz = x - at_x, y - at_y, z - at_z
            apart = dx * dx + dy * dy + dz * dz
            if apart < reach:
                gathered = visit(gathered, me, Seen({other}), dx, dy, dz, apart, opts)
        outcome = finish(gathered, me, opts)
{store}
"""


def _targets(rows: Any, aims: Any, heard: Any, move_on: float, poses: Any, targets: Any) -> None:
    """Write the pose of each vehicle's target as it was last heard; `targets` has its column, -1 if it was not."""
    for k in range(len(rows)):
        row, targets[k] = heard.first + rows[k] * heard.slots, NO_TARGET
        for m in range(heard.who.shape[1]):
            age = heard.time - heard.states[row, m, 0]
            if heard.who[row, m] == aims[k] and age <= heard.keep:
                targets[k] = k
                for c in range(10):
                    poses[c, k] = heard.states[row, m, c + 1]
                for c in range(3):
                    poses[c, k] += heard.states[row, m, c + 8] * age * move_on


find_heard_targets = routine(_targets)


def heard_targets(heard: FleetHeard, rows: Ints, aims: Ints, sees: float, pose_rows: int) -> tuple[Floats, Ints]:
    """Return the heard poses (pose_rows, k) of targets, radios `aims` (k,), of vehicles `rows`, and their columns."""
    poses, targets = np.zeros((pose_rows, len(rows))), np.zeros(len(rows), np.int64)
    move_on = 1.0 if sees == PREDICTED else 0.0
    find_heard_targets(rows, aims, heard, move_on, poses, targets)
    return poses, targets


def _newest(rows: Any, heard: Any, age: int, out: Any) -> None:
    """Write the numbers of the newest message with numbers that has arrived at each vehicle to `out` (columns, k).

    The row `age` (-1: none) is the time since that message was sent. Values before the first message stay.
    """
    room, mail_real = heard.mail_real.shape[1], heard.mail_real
    for k in range(len(rows)):
        newest = -1.0
        for i in range(heard.first + rows[k] * heard.slots, heard.first + (rows[k] + 1) * heard.slots):
            for m in range(heard.mails[i]):
                at = (heard.mail_head[i] + m) % room
                arrived = mail_real[i, at, MAIL_ARRIVED]
                if heard.mail[i, at, MAIL_NUMBERS] > 0 and arrived <= heard.time and arrived >= newest:
                    newest = arrived
                    value = 0
                    for c in range(out.shape[0]):
                        if c == age:
                            out[c, k] = heard.time - mail_real[i, at, MAIL_SENT]
                        elif value < VALUE_COUNT:
                            out[c, k] = mail_real[i, at, MAIL_VALUES + value]
                            value += 1


newest_numbers = routine(_newest)
