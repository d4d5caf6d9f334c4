"""Messages, beacons and packets of services between the radios of one table, and their way through time."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy import int64, zeros

from paddock.compute.philox import uniforms
from paddock.compute.routine import routine
from paddock.radio.packets import layout as c
from paddock.radio.packets.channel import post_packets, run_air
from paddock.radio.packets.checks import LATEST
from paddock.radio.packets.contents import Arrivals, decoded, encoded, taken_from
from paddock.radio.packets.layout import (
    BITS,
    FORGED,
    NUMBER,
    NUMBERS,
    ORIGIN,
    PACKET_REAL,
    PACKET_WHOLE,
    SENT_TIME,
    TAKEN,
    VALUES,
    Air,
    Floats,
    Ints,
)
from paddock.radio.packets.queues import put_mail
from paddock.radio.packets.state import MOST_KEPT, AirState

EVERYONE = "*"


class Message(NamedTuple):
    """A message that was received."""

    number: int  # counts the messages of the run from 1
    source: int  # radio; -1: it has been removed
    data: Any  # bytes, or what JSON gives back
    bits: int
    hops: int  # that it took
    sent: float  # s
    arrived: float  # s


class Messages(AirState):
    """The messages of a run between the radios of one table."""

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
        """Queue a message of a radio to another one (`BROADCAST`: to all that hear it); return its number.

        Its size is that of its contents unless `bits` are given. A broadcast makes one hop unless `hops` are given.
        """
        content, values = encoded(data)
        self.number += 1
        if len(self.contents) >= MOST_KEPT:
            self._discard_contents()
        self.contents[self.number] = content
        limit = hops if hops is not None else (1 if goal == c.BROADCAST else self.section.hops)
        expires = self.slot_at(time + (self.section.lifetime if lifetime is None else lifetime))
        size = 8 * (len(content) - 1) if bits is None else bits
        numbers = self.number, source, goal, limit, size, 0, expires, c.DATA, c.BROADCAST, 0, len(values)
        packet = np.array(numbers, np.int64)
        real = np.zeros(c.PACKET_REAL)
        real[c.SENT_TIME] = time
        real[c.VALUES : c.VALUES + len(values)] = values
        self._post(np.array([source]), packet[None], real[None], time)
        return self.number

    def beacon(self, radios: Ints, states: Floats, time: float, later: Floats | float = 0.0) -> None:
        """Queue beacons of radios (k,) with states (k, 10): position, quaternion, velocity.

        Idle radios wait `later` (s) before they contend.
        """
        assert self.section.beacons is not None
        packets = np.zeros((len(radios), c.PACKET_WHOLE), np.int64)
        packets[:, c.ORIGIN], packets[:, c.GOAL], packets[:, c.NEXT] = radios, c.BROADCAST, c.BROADCAST
        packets[:, c.HOPS], packets[:, c.BITS], packets[:, c.KIND] = 1, self.section.beacons.bits, c.BEACON
        packets[:, c.EXPIRES] = self.slot_at(time + 1.0 / self.section.beacons.rate)
        values = np.concatenate([np.full((len(radios), 1), time), states], axis=1)
        self._post(radios, packets, values, time, later)

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
        group = self.devices.group
        if origin is not None and origin >= 0:
            chances = np.where(group == group[origin], 0.0, chances)
        packet, real = frame_packet(self.number, -1 if origin is None else origin, bits, values)
        found = np.zeros(2, np.int64)
        seed, streams = self.rules.seed, self.devices.streams
        accept_frames(seed, stream, streams, chances, frames, times, origin is not None, packet, real, self.air, found)
        accepted, made = found.tolist()
        self.contents.update(dict.fromkeys(range(self.number + 1, self.number + made + 1), content))
        self.number, self.forged = self.number + made, self.forged + made
        if len(self.contents) >= MOST_KEPT:
            self._discard_contents()
        return int(accepted)

    def _post(self, radios: Ints, packets: Ints, values: Floats, time: float, later: Floats | float = 0.0) -> Ints:
        here = self.rules, self.devices, self.routes, self.air, self._events
        self._idle = None
        ahead = np.floor(np.clip(later, 0.0, LATEST) / self.rules.slot).astype(np.int64)
        slots = np.broadcast_to(self.slot_at(time) + ahead, len(radios)).copy()
        return post_packets(radios, packets, values, slots, *here)

    def advance(self, time: float) -> None:
        """Handle everything on the air up to a time (s)."""
        if self.n:
            here = self.rules, self.devices, self.paths, self.routes, self.air, self._events, self._got
            run_air(self.slot_at(time), *here)

    def airtimes(self, time: float) -> Floats:
        """Return the time (s) that each radio was on the air since the last call, until a time (s); count from there.

        What a transmission in progress still takes counts at the next call.
        """
        w, real, slot = self.air.whole, self.air.real, self.slot_at(time)
        sends, replies = w[c.PHASE] == c.SENDS, w[c.REPLY] == c.REPLIES
        left = np.where(sends, w[c.UNTIL] - slot, 0) + np.where(replies, w[c.REPLY_AT] - slot, 0)
        rest = np.clip(left * self.rules.slot, 0.0, real[c.ON_AIR])
        taken: Floats = real[c.ON_AIR] - rest
        real[c.ON_AIR] = rest
        return taken

    # services ---------------------------------------------------------------------------------------------------------

    def post_service(
        self,
        kind: int,
        sources: Ints,
        goals: Ints,
        values: Floats,
        bits: Any,
        time: float,
        lifetime: float | None = None,
        later: Floats | float = 0.0,
    ) -> Ints:
        """Queue packets of a service (`COMMAND`, ...) from radios (k,) to radios (k,), with rows of numbers (k, w).

        `bits` is the size of all or each of them. An idle radio waits `later` (s, at most 1) before it contends:
        packets of one moment would collide where radios do not hear each other. Return their numbers, 0 for those that
        a full queue has dropped.
        """
        if len(self.served.numbers) > 2 * len(self.air.inbox):
            self.served.keep(self._used_numbers())
        numbers = self.served.add(np.asarray(values, np.float64))
        packets = np.zeros((len(numbers), c.PACKET_WHOLE), np.int64)
        packets[:, c.NUMBER], packets[:, c.ORIGIN], packets[:, c.GOAL] = numbers, sources, goals
        packets[:, c.HOPS], packets[:, c.BITS], packets[:, c.KIND] = self.section.hops, bits, kind
        packets[:, c.NEXT] = c.BROADCAST
        packets[:, c.EXPIRES] = self.slot_at(time + (self.section.lifetime if lifetime is None else lifetime))
        real = np.zeros((len(numbers), c.PACKET_REAL))
        real[:, c.SENT_TIME] = time
        taken = self._post(np.asarray(sources, np.int64), packets, real, time, later)
        posted: Ints = np.where(taken != 0, numbers, 0)
        return posted

    def take_service(self, kind: int, time: float = np.inf) -> Arrivals:
        """Take the packets of a service that have arrived by a time (s)."""
        return taken_from(self.air, self.served, kind, time)

    @property
    def serves(self) -> bool:
        """Whether a packet of a service waits in the inbox."""
        return bool(self.air.inbox_count[0])

    def queued(self, kind: int, radio: int | None = None) -> Ints:
        """Return the packets (k, PACKET_WHOLE) of a kind in all queues, or in that of one radio."""
        if radio is None:
            (order, _), rows = self._ordered(), np.arange(self.n)[:, None]
            packets = self.air.queue[rows, order][self._live()[0]]
        else:
            head, count = self.air.whole[[c.HEAD, c.COUNT], radio].tolist()
            packets = self.air.queue[radio, (head + np.arange(count)) % self.section.queue]
        found: Ints = packets[packets[:, c.KIND] == kind]
        return found

    def under_way(self, kind: int) -> tuple[Ints, Ints, Floats]:
        """Return origin, goal and values of each packet of a service that is queued or in the inbox, once."""
        queued, inbox = self.queued(kind), self.air.inbox[: int(self.air.inbox_count[0])]
        inbox = inbox[inbox[:, c.IN_KIND] == kind]
        known = (self.air.seen[queued[:, c.GOAL]] == queued[:, c.NUMBER, None]).any(axis=1)
        queued = queued[~known]  # those that have arrived may still wait for an acknowledgement
        columns = ((c.NUMBER, c.IN_NUMBER), (c.ORIGIN, c.IN_ORIGIN), (c.GOAL, c.IN_RECEIVER))
        number, origin, goal = (np.concatenate([queued[:, a], inbox[:, b]]) for a, b in columns)
        number, first = np.unique(number, return_index=True)
        return origin[first], goal[first], self.served.find(number)

    # results ----------------------------------------------------------------------------------------------------------

    def received(self, radio: int, time: float = np.inf) -> list[Message]:
        """Return the messages in the mailbox of a radio that have arrived by a time (s), oldest first."""
        air, room = self.air, self.section.mailbox
        count = int(air.whole[c.MAILS, radio])
        found = []
        for k in range(max(0, count - room), count):
            mail, real = air.mail[radio, k % room].tolist(), air.mail_real[radio, k % room]
            if real[c.MAIL_ARRIVED] <= time:
                number, origin, bits, hops, _ = mail
                data = decoded(self.contents[number])
                sent, arrived = float(real[c.MAIL_SENT]), float(real[c.MAIL_ARRIVED])
                found.append(Message(number, origin, data, bits, hops, sent, arrived))
        return found

    def counted(self) -> dict[str, int]:
        """Return the sums of all counters: packets transmitted, messages delivered, dropped by reason, ...

        Those of radios that have been removed are included.
        """
        return dict(zip(c.COUNTED, (self.gone + self.air.counts.sum(axis=1)).tolist(), strict=True))


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
    a: Air,
    found: Any,
) -> None:
    """Draw which receivers accept frames (k,), and if the frame `arrives`, put it into their mailboxes.

    `times` are the period and the airtime (s). `packet` and `values` are those of a message. `found`: how many frames
    were accepted, and how many messages they make; the numbers of these follow that of `packet`.
    """
    period, taken = times
    for f in frames:
        numbered = 0
        for i in range(len(chances)):
            if chances[i] <= 0.0:
                continue
            drawn, _ = uniforms(seed, streams[i] ^ stream, FRAME_PURPOSE, f)
            if drawn >= chances[i]:
                continue
            found[0] += 1
            if not arrives:
                continue
            if numbered == 0:
                numbered = 1
                found[1] += 1
                packet[NUMBER] += 1
                values[SENT_TIME] = f * period
            a.counts[FORGED, i] += 1
            put_mail(a, i, packet, values, f * period + taken)


accept_frames = routine(frame_rows)


def frame_packet(number: int, origin: int, bits: int, given: Sequence[float]) -> tuple[Ints, Floats]:
    """Return a false frame as a packet with the `given` numbers; the next message of the run is `number` + 1."""
    packet, values = zeros(PACKET_WHOLE, int64), zeros(PACKET_REAL)
    packet[NUMBER], packet[ORIGIN], packet[BITS], packet[TAKEN] = number, origin, bits, 1
    packet[NUMBERS] = len(given)
    values[VALUES : VALUES + len(given)] = given
    return packet, values
