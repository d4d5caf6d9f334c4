"""Messages, beacons and packets of services between the radios of one table, and their way through time.

Services are commands, telemetry, heartbeats, missions and MAVLink of the simulation. They share the queues, the channel
and the routes with the messages of users. A service posts many packets at once, with a row of numbers for each, and
takes those that have arrived. The numbers stay beside the channel, which needs the size of a packet only. Packets of
services are numbered from -1 down, so that the numbers of messages count on their own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import int64, zeros

from paddock.compute.philox import signed, uniforms
from paddock.compute.routine import routine
from paddock.errors import PaddockError
from paddock.radio.links.radios import COLUMN
from paddock.radio.links.table import no_links
from paddock.radio.packets import queues as c
from paddock.radio.packets.channel import close_parts, post_packets, relink_radios, run_channel
from paddock.radio.packets.network import Graph
from paddock.radio.packets.queues import (
    BITS,
    DENIED_ROWS,
    FORGED,
    NUMBER,
    NUMBERS,
    ORIGIN,
    PACKET_REAL,
    PACKET_WHOLE,
    SENT_TIME,
    TAKEN,
    VALUES,
    ChannelLinks,
    Devices,
    Events,
    Floats,
    Ints,
    PacketTables,
    Routes,
    Rules,
    put_mail,
)
from paddock.radio.packets.state import (
    LATEST,
    PacketState,
    decoded,
    encoded,
    live,
    new_packets,
    tables_of,
)
from paddock.scenario.radio_types import MessagesSection
from paddock.world.columns import column_index

EVERYONE = "*"
PACKET_COLUMN = column_index(c.Packet)
TREES = 64  # destinations whose routes are kept until the next update of the links
LEAST_KEPT, MOST_KEPT = 64, 100_000  # contents of messages


class Message(NamedTuple):
    """A message that was received."""

    number: int  # counts the messages of the run from 1
    source: int  # radio; -1: it has been removed
    data: Any  # bytes, or what JSON gives back
    bits: int
    hops: int  # that it took
    sent: float  # s
    arrived: float  # s


class Arrivals(NamedTuple):
    """Packets of a service that have arrived, in the order of their arrival."""

    receiver: Ints  # (k,) radios
    origin: Ints  # (k,)
    number: Ints  # (k,) as `post_service` returned it
    hops: Ints  # (k,) that it took
    sent: Floats  # (k,) s
    arrived: Floats  # (k,) s
    values: Floats  # (k, w) as they were posted; w is that of the widest packet of the run, the rest is 0


class Post(NamedTuple):
    """Packets of a service that are to be queued, from radios (k,) to radios (k,)."""

    kind: int  # COMMAND, TELEMETRY, ...
    sources: Ints
    goals: Ints
    values: Floats  # (k, w) numbers of each packet
    bits: Any  # size of all, or of each of them
    lifetime: float | None = None  # s; None: that of the section
    later: Floats | float = 0.0  # s, at most 1, that an idle radio waits: packets of one moment would collide
    frame: tuple[int, int] | None = None  # bits of the header, repetitions at each hop; None: those of the section


def rules_of(section: MessagesSection, seed: int) -> Rules:
    """Return the rules of the channel of a scenario."""
    return Rules(
        *(signed(seed), section.slot, 1, 2, *section.window, float(section.ack_bits), section.sharing != "none")
    )


def no_devices() -> Devices:
    """Return a table without radios."""
    floats, whole = np.zeros(0), np.zeros(0, np.int64)
    return Devices(whole, floats, floats, whole, floats, whole, floats)


def no_channel_links(n: int) -> ChannelLinks:
    """Return those of n radios that have no links."""
    rows = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(0, c.ENTRY)
    links, nothing, denied = no_links(n), np.zeros(0), np.zeros((DENIED_ROWS, n), np.int64)
    values = links.power, links.sinr, links.per
    tables = np.zeros((len(COLUMN), n)), np.zeros((3, n))
    return ChannelLinks(*rows, *tables, *values, links.up, links.collisions, nothing, nothing, links.bursts, denied)


class Messages:
    """The packets between the radios of one table: their state, and the links and routes that they use."""

    def __init__(self, section: MessagesSection, seed: int = 0) -> None:
        self.section = section
        self.rules = rules_of(section, seed)
        self._frame = section.header_bits, section.retries
        self.set_state(new_packets(0, section), no_devices())

    def set_state(self, state: PacketState, devices: Devices, seed: int | None = None) -> None:
        """Use another state, of these radios, and another seed unless it is None; there are no links until `use`."""
        self.state, self.devices = state, devices
        if seed is not None:
            self.rules = rules_of(self.section, seed)
        state.make_room()
        self._idle: PacketState | None = None  # the state, if it is known to be idle
        n = len(devices.streams)
        heap, node, key, due = (np.zeros(n, np.int64) for _ in range(4))
        received, ages = np.zeros(max(n, 1), np.int64), state.heard_real[:, :, c.HEARD_AGE].copy()
        self._events = Events(heap, node, key, np.zeros(1, np.int64), due, received, np.zeros(n), ages)
        self.use(None)
        self.use_graph(None)

    def begin(self, devices: Devices) -> None:
        """Start with the radios of a table that have sent and received nothing."""
        self.set_state(new_packets(len(devices.streams), self.section), devices)

    @property
    def n(self) -> int:
        """Number of radios."""
        return len(self.devices.streams)

    @property
    def tables(self) -> PacketTables:
        """The arrays of the state, for compiled code."""
        return tables_of(self.state, np.array([self.state.arrived]))

    # links ------------------------------------------------------------------------------------------------------------

    def relink(self, links: ChannelLinks | None, graph: Graph | None, now: float = 0.0) -> None:
        """Take the links of an update at a time (s)."""
        slot, tables = self.slot_at(now), self.tables
        if self.n:
            close_parts(self.rules, self.devices, tables, self._events, slot)
        before = self.links.denied
        self.use(links)
        self.use_graph(graph)
        if self.n:
            relink_radios(self.rules, self.links, before, tables, self._events, slot)

    def use(self, links: ChannelLinks | None) -> None:
        """Take links that are those of the present state; None: there are none."""
        self.links = links or no_channel_links(self.n)

    def use_graph(self, graph: Graph | None) -> None:
        """Take the network for routes; None: a network without links."""
        n, trees = self.n, min(TREES, max(self.n, 1))
        if graph is None:
            graph = Graph(np.zeros(n + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))
        self.routes = Routes(
            *graph,
            np.full(n, -1, np.int64),
            np.zeros((trees, n), np.int64),
            np.full(trees, -1, np.int64),
            np.zeros(1, np.int64),
        )

    @property
    def routing(self) -> bool:
        """Whether a packet to one radio is queued, for which routes are needed."""
        s = self.state
        return bool((s.queue[live(s.head, s.queued, s.queue)][:, c.GOAL] >= 0).any())

    def slot_at(self, time: float) -> int:
        """Return the slot that contains a time (s)."""
        return int(np.floor(time / self.rules.slot + 1e-9))

    @property
    def busy(self) -> bool:
        """Whether a packet waits or is transmitted."""
        if self._idle is self.state:  # and nothing was posted since
            return False
        phases, replies = self.state.whole[c.PHASE], self.state.whole[c.REPLY]  # IDLE and NO_REPLY are 0
        busy = bool(phases.max(initial=0) or replies.max(initial=0))
        self._idle = None if busy else self.state
        return busy

    def silence(self, radios: Ints) -> None:
        """End what radios transmit and receive, before the links change; packets in their queues are lost."""
        self.state.silence(radios, self.section.window[0])
        self._idle = None

    # messages ---------------------------------------------------------------------------------------------------------

    def send(
        self,
        source: int,
        goal: int,
        data: Any,
        time: float,
        bits: int | None = None,
        hops: int | None = None,
        lifetime: float | None = None,
    ) -> int:
        """Queue a message of a radio to another one (`BROADCAST`: to all that receive it); return its number.

        Its size is that of its contents unless `bits` are given. A broadcast makes one hop unless `hops` are given.
        """
        content, values = encoded(data)
        state = self.state
        state.number += 1
        self._discard_contents()
        state.contents[state.number] = content
        limit = hops if hops is not None else (1 if goal == c.BROADCAST else self.section.hops)
        size = 8 * (len(content) - 1) if bits is None else bits
        ends = {"number": state.number, "goal": goal, "hops": limit, "bits": size, "kind": c.DATA}
        self._post(np.array([source]), np.array([values]), time, lifetime, **ends, numbers=len(values))
        return state.number

    def _discard_contents(self) -> None:
        """Discard contents that are not used any more, if they may be half of all."""
        state = self.state
        if len(state.contents) > LEAST_KEPT + 2 * int(state.queued.sum() + state.mails.sum()):
            state.discard_unused()
        if len(state.contents) >= MOST_KEPT:
            raise PaddockError(f"more than {MOST_KEPT} messages are under way or in mailboxes")

    def beacon(self, radios: Ints, states: Floats, time: float, later: Floats | float = 0.0) -> None:
        """Queue beacons of radios (k,) with states (k, 10): position, quaternion, velocity.

        Idle radios wait `later` (s) before they contend.
        """
        assert self.section.beacons is not None
        lifetime, size = 1.0 / self.section.beacons.rate, self.section.beacons.bits
        self._post(radios, states, time, lifetime, later, goal=c.BROADCAST, hops=1, bits=size, kind=c.BEACON)

    def forge(
        self, frames: Ints, times: tuple[float, float], chances: Floats, stream: int, origin: int | None, frame: Any
    ) -> int:
        """Let false frames (k,) arrive at radios that accept them with `chances` (n,); return how often they did.

        `times` are the period and the airtime of frames, s; `stream` selects the random numbers. The messages claim to
        be from the radio `origin` (-1: one that is gone), which does not accept them; None: they are only counted.
        `frame` is its bits and its contents.
        """
        bits, data = frame
        content, values = encoded(data)
        group, state = self.devices.group, self.state
        if origin is not None and origin >= 0:
            chances = np.where(group == group[origin], 0.0, chances)
        packet, real = frame_packet(state.number, -1 if origin is None else origin, bits, values)
        accepted = np.zeros(2, np.int64)
        draws = self.rules.seed, stream, self.devices.streams
        accept_frames(*draws, chances, frames, times, origin is not None, packet, real, self.tables, accepted)
        count, made = accepted.tolist()
        state.contents.update(dict.fromkeys(range(state.number + 1, state.number + made + 1), content))
        state.number, state.forged = state.number + made, state.forged + made
        self._discard_contents()
        return int(count)

    def _post(
        self,
        radios: Ints,
        values: Floats,
        time: float,
        lifetime: float | None,
        later: Floats | float = 0.0,
        **columns: Any,
    ) -> Ints:
        """Queue packets of radios (k,) at a time (s); return 1 for those for which there was room.

        values: (k, w) numbers of each
        lifetime: s; None: that of the section
        later: s that an idle radio waits
        columns: those of `Packet`
        """
        self._idle = None
        header, retries = self._frame
        expires = self.slot_at(time + (self.section.lifetime if lifetime is None else lifetime))
        frame = {"next": c.BROADCAST, "expires": expires, "header": header, "retries": retries}
        packets, real = np.zeros((len(radios), c.PACKET_WHOLE), np.int64), np.zeros((len(radios), c.PACKET_REAL))
        for name, column in {"origin": radios, **frame, **columns}.items():
            packets[:, PACKET_COLUMN[name]] = column
        real[:, c.SENT_TIME], real[:, c.VALUES : c.VALUES + values.shape[1]] = time, values
        ahead = np.floor(np.clip(later, 0.0, LATEST) / self.rules.slot).astype(np.int64)
        slots = np.broadcast_to(self.slot_at(time) + ahead, len(radios)).copy()
        return post_packets(radios, packets, real, slots, self.rules, self.tables, self._events)

    def advance(self, time: float) -> None:
        """Handle all transmissions up to a time (s)."""
        if self.n:
            tables = self.tables
            channel = self.rules, self.devices, self.links, self.routes, tables, self._events
            run_channel(self.slot_at(time), *channel)
            self.state.arrived = int(tables.inbox_count[0])

    def airtimes(self, time: float) -> Floats:
        """Return the time (s) that each radio transmitted since the last call, until a time (s); count from there.

        What a transmission in progress still takes counts at the next call.
        """
        w, real, slot = self.state.whole, self.state.real, self.slot_at(time)
        sends, replies = w[c.PHASE] == c.SENDS, w[c.REPLY] == c.REPLIES
        left = np.where(sends, w[c.UNTIL] - slot, 0) + np.where(replies, w[c.REPLY_AT] - slot, 0)
        rest = np.clip(left * self.rules.slot, 0.0, real[c.ON_AIR])
        on_air: Floats = real[c.ON_AIR] - rest
        real[c.ON_AIR] = rest
        return on_air

    # services ---------------------------------------------------------------------------------------------------------

    def post_service(self, post: Post, time: float) -> Ints:
        """Queue packets of a service at a time (s); return their numbers, 0 for those that a full queue has dropped."""
        state = self.state
        if len(state.numbers) > 2 * len(state.inbox):
            state.discard_unused()
        numbers, sources = self._keep_values(np.asarray(post.values, np.float64)), np.asarray(post.sources, np.int64)
        columns: dict[str, Any] = {"number": numbers, "goal": post.goals, "hops": self.section.hops}
        columns |= {"bits": post.bits, "kind": post.kind}
        columns |= {} if post.frame is None else dict(zip(("header", "retries"), post.frame, strict=True))
        queued = self._post(sources, np.zeros((len(numbers), 0)), time, post.lifetime, post.later, **columns)
        return np.where(queued != 0, numbers, 0)

    def _keep_values(self, values: Floats) -> Ints:
        """Keep the numbers of new packets (k, w); return the numbers of the packets."""
        state, count = self.state, len(values)
        width = max(values.shape[1], state.values.shape[1])
        numbers = -1 - state.served - np.arange(count)
        state.served += count
        both = np.zeros((len(state.values) + count, width))
        both[: len(state.values), : state.values.shape[1]] = state.values
        both[len(state.values) :, : values.shape[1]] = values
        state.numbers, state.values = np.concatenate([state.numbers, numbers]), both
        return numbers

    def _values_of(self, numbers: Ints) -> Floats:
        """Return the rows of packets of services."""
        return self.state.values[np.searchsorted(-self.state.numbers, -numbers)]

    def take_service(self, kind: int, time: float = np.inf) -> Arrivals:
        """Take the packets of a service that have arrived by a time (s)."""
        state, count = self.state, self.state.arrived
        whole, real = state.inbox[:count], state.inbox_real[:count]
        selected = (whole[:, c.IN_KIND] == kind) & (real[:, c.IN_ARRIVED] <= time)
        arrivals, times = whole[selected], real[selected]
        order = np.lexsort((-arrivals[:, c.IN_NUMBER], times[:, c.IN_ARRIVED]))
        arrivals, times = arrivals[order], times[order]
        left = count - len(arrivals)
        state.inbox[:left], state.inbox_real[:left] = whole[~selected], real[~selected]
        state.inbox[left:count], state.inbox_real[left:count], state.arrived = 0, 0.0, left
        receiver, origin, number, hops = (arrivals[:, k] for k in (c.IN_RECEIVER, c.IN_ORIGIN, c.IN_NUMBER, c.IN_HOPS))
        sent, arrived = times[:, c.IN_SENT], times[:, c.IN_ARRIVED]
        return Arrivals(receiver, origin, number, hops, sent, arrived, self._values_of(number))

    @property
    def serves(self) -> bool:
        """Whether a packet of a service waits in the inbox."""
        return self.state.arrived > 0

    def queued(self, kind: int, radio: int | None = None) -> Ints:
        """Return the packets (k, PACKET_WHOLE) of a kind in all queues, or in that of one radio."""
        s = self.state
        if radio is None:
            packets = s.queue[live(s.head, s.queued, s.queue)]
        else:
            packets = s.queue[radio, (s.head[radio] + np.arange(s.queued[radio])) % self.section.queue]
        return np.asarray(packets[packets[:, c.KIND] == kind])

    def under_way(self, kind: int) -> tuple[Ints, Ints, Floats]:
        """Return origin, goal and values of each packet of a service that is queued or in the inbox, once."""
        queued, inbox = self.queued(kind), self.state.inbox[: self.state.arrived]
        inbox = inbox[inbox[:, c.IN_KIND] == kind]
        received = (self.state.seen[queued[:, c.GOAL]] == queued[:, c.NUMBER, None]).any(axis=1)
        queued = queued[~received]  # those that have arrived may still wait for an acknowledgement
        columns = ((c.NUMBER, c.IN_NUMBER), (c.ORIGIN, c.IN_ORIGIN), (c.GOAL, c.IN_RECEIVER))
        number, origin, goal = (np.concatenate([queued[:, a], inbox[:, b]]) for a, b in columns)
        number, first = np.unique(number, return_index=True)
        return origin[first], goal[first], self._values_of(number)

    # results ----------------------------------------------------------------------------------------------------------

    def received(self, radio: int, time: float = np.inf) -> list[Message]:
        """Return the messages in the mailbox of a radio that have arrived by a time (s), oldest first."""
        s, messages = self.state, []
        for k in range(int(s.mails[radio])):
            entry = (int(s.mail_head[radio]) + k) % self.section.mailbox
            mail, real = c.Mail(*s.mail[radio, entry].tolist()), s.mail_real[radio, entry]
            if real[c.MAIL_ARRIVED] <= time:
                data = decoded(s.contents[mail.number])
                sent, arrived = float(real[c.MAIL_SENT]), float(real[c.MAIL_ARRIVED])
                messages.append(Message(mail.number, mail.origin, data, mail.bits, mail.hops, sent, arrived))
        return messages

    def counted(self) -> dict[str, int]:
        """Return the sums of all counters: packets transmitted, messages delivered, dropped by reason, ...

        Those of radios that have been removed are included.
        """
        counts = self.state.removed + self.state.counts.sum(axis=1)
        return dict(zip(c.COUNTED, counts.tolist(), strict=True))


# false frames ---------------------------------------------------------------------------------------------------------
FRAME_PURPOSE = 910  # of random numbers


def frame_rows(
    seed: int,
    stream: int,
    streams: Any,
    chances: Any,
    frames: Any,
    times: Any,
    arrives: bool,
    packet: Any,
    values: Any,
    a: PacketTables,
    accepted: Any,
) -> None:
    """Draw which receivers accept frames (k,), and if the frame `arrives`, put it into their mailboxes.

    `times` are the period and the airtime (s). `packet` and `values` are those of a message. `accepted`: how many
    frames were accepted, and how many messages they make; the numbers of these follow that of `packet`.
    """
    period, airtime = times
    for f in frames:
        numbered = 0
        for i in range(len(chances)):
            if chances[i] <= 0.0:
                continue
            drawn, _ = uniforms(seed, streams[i] ^ stream, FRAME_PURPOSE, f)
            if drawn >= chances[i]:
                continue
            accepted[0] += 1
            if not arrives:
                continue
            if numbered == 0:
                numbered = 1
                accepted[1] += 1
                packet[NUMBER] += 1
                values[SENT_TIME] = f * period
            a.counts[FORGED, i] += 1
            put_mail(a, i, packet, values, f * period + airtime)


accept_frames = routine(frame_rows)


def frame_packet(number: int, origin: int, bits: int, numbers: Sequence[float]) -> tuple[Ints, Floats]:
    """Return a false frame as a packet with numbers; the next message of the run is `number` + 1."""
    packet, values = zeros(PACKET_WHOLE, int64), zeros(PACKET_REAL)
    packet[NUMBER], packet[ORIGIN], packet[BITS], packet[TAKEN] = number, origin, bits, 1
    packet[NUMBERS] = len(numbers)
    values[VALUES : VALUES + len(numbers)] = numbers
    return packet, values
