"""Messages: the queues, mailboxes and heard states of all radios, and their way through time.

`channel.py` computes in compiled code on the arrays that this module holds, names and saves. All arrays are pools of
fixed size. The contents of messages stay beside them, by number: the channel needs their size only.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.compute.philox import signed
from paddock.errors import InvalidValueError, PaddockError
from paddock.radio import channel as c
from paddock.radio.channel import Air, AirLinks, Devices, Events, Routes, Rules
from paddock.radio.message_checks import check_packets, check_radios, check_times
from paddock.radio.network import Floats, Graph, Ints
from paddock.scenario.messages import LONGEST, MessagesSection
from paddock.world.archive import whole

SEEN_MESSAGES = 32  # numbers of received messages that a radio remembers, to discard repetitions
TREES = 64  # destinations whose routes are kept until the next update of the links
MOST_BYTES = 1 << 16  # of one message
MOST_KEPT = 100_000  # contents of messages
EVERYONE = "*"
RAW, TEXT = 0, 1  # how contents were given


class Message(NamedTuple):
    """A message that was received."""

    number: int  # counts the messages of the run from 1
    source: int  # radio
    data: Any  # bytes, or what JSON gives back
    bits: int
    hops: int  # that it took
    sent: float  # s
    arrived: float  # s


def rules_of(section: MessagesSection, seed: int) -> Rules:
    """Return the rules of the channel of a scenario."""
    return Rules(
        *(signed(seed), section.slot, 1, 2, *section.window, section.retries),
        *(float(section.header_bits), float(section.ack_bits), section.sharing != "none"),
    )


def encoded(data: Any) -> tuple[bytes, list[float]]:
    """Return the bytes of a message's contents with a leading tag, and its numbers if it is a short list of numbers."""
    if isinstance(data, bytes | bytearray | memoryview):
        content, tag, values = bytes(data), RAW, []
    else:
        try:
            content = json.dumps(data, separators=(",", ":"), allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InvalidValueError(f"a message is bytes or what JSON can hold: {error}") from None
        plain = isinstance(data, list | tuple) and len(data) <= c.VALUE_COUNT
        numbers = plain and all(isinstance(one, int | float) and not isinstance(one, bool) for one in data)
        tag, values = TEXT, [float(one) for one in data] if numbers else []
    if len(content) > MOST_BYTES:
        raise InvalidValueError(f"a message has at most {MOST_BYTES} bytes, not {len(content)}")
    return bytes([tag]) + content, values


def decoded(content: bytes) -> Any:
    """Return the contents that `encoded` was given."""
    return content[1:] if content[0] == RAW else json.loads(content[1:])


def empty_air(n: int, section: MessagesSection) -> Air:
    """Return the state of n radios that have sent and received nothing."""
    q, k, h = section.queue, section.mailbox, 1 if section.beacons is None else section.beacons.neighbours
    air = Air(
        np.zeros((c.WHOLE_ROWS, n), np.int64),
        np.zeros((c.REAL_ROWS, n)),
        np.zeros((len(c.COUNTED), n), np.int64),
        np.zeros((n, q, c.PACKET_WHOLE), np.int64),
        np.zeros((n, q, c.PACKET_REAL)),
        np.zeros((n, k, c.MAIL_WHOLE), np.int64),
        np.zeros((n, k, c.MAIL_REAL)),
        np.zeros((n, SEEN_MESSAGES), np.int64),
        np.full((n, h), -1, np.int64),
        np.zeros((n, h, c.HEARD_REAL)),
    )
    reset_radios(air, section.window[0])
    return air


def reset_radios(air: Air, window: int, now: int = 0) -> None:
    """End all transmissions: radios with packets contend again after slot `now`."""
    w = air.whole
    w[[c.SIGNALS, c.HEARD, c.REPLY]] = 0
    w[[c.UNTIL, c.REPLY_AT]] = c.NEVER
    w[[c.LOCK, c.REPLY_TO]] = -1
    w[[c.LOCKED_AT, c.PART]] = 0
    w[c.WINDOW] = window
    air.real[: c.ON_AIR] = 0.0
    w[c.PHASE], w[c.LEFT] = np.where(w[c.COUNT] > 0, c.WAITS, c.IDLE), -1
    w[c.UNTIL] = np.where(w[c.COUNT] > 0, now + 1, c.NEVER)


class Messages:
    """The messages of a run between the radios of one table."""

    def __init__(self, section: MessagesSection, seed: int = 0) -> None:
        self.section = section
        self.rules = rules_of(section, seed)
        self.number = 0  # messages sent
        self.contents: dict[int, bytes] = {}
        self.devices = _no_devices()
        self.air = empty_air(0, section)
        self._scratch()
        self.relink(None, None)

    @property
    def n(self) -> int:
        """Number of radios."""
        return len(self.devices.streams)

    def reseed(self, seed: int) -> None:
        """Use another seed from now on."""
        self.rules = self.rules._replace(seed=signed(seed))

    # radios and links ------------------------------------------------------------------------------------------------

    def fit(self, devices: Devices, time: float = 0.0) -> None:
        """Take another table of radios at a time (s); those with the same streams keep their queues and mailboxes.

        Transmissions in progress start again. Packets from or to radios that are gone are dropped.
        """
        old, new = self.devices.streams, devices.streams
        self.devices = devices
        if np.array_equal(old, new):
            return
        place = places_of(new, old)  # new index of each old radio, -1: gone
        before, self.air = self.air, empty_air(len(new), self.section)
        kept = np.flatnonzero(place >= 0)
        to = place[kept]
        for name in ("queue", "queue_real", "mail", "mail_real", "seen", "heard_real"):
            getattr(self.air, name)[to] = getattr(before, name)[kept]
        self.air.counts[:, to] = before.counts[:, kept]
        self.air.real[c.ON_AIR, to] = before.real[c.ON_AIR, kept]
        for row in (c.HEAD, c.COUNT, c.MAILS, c.SEEN, c.DRAWS, c.SENT):
            self.air.whole[row, to] = before.whole[row, kept]
        renumbered = np.append(place, -1)
        self.air.heard[to] = renumbered[before.heard[kept]]
        self.air.mail[:, :, c.MAIL_ORIGIN] = renumbered[self.air.mail[:, :, c.MAIL_ORIGIN]] if len(old) else 0
        self._drop_orphans(renumbered)
        reset_radios(self.air, self.section.window[0], self.slot_at(time))
        self._scratch()

    def _drop_orphans(self, renumbered: Ints) -> None:
        """Renumber the radios of packets, and drop those of radios that are gone."""
        air, room = self.air, self.section.queue
        order = (air.whole[c.HEAD][:, None] + np.arange(room)) % room
        rows = np.arange(self.n)[:, None]
        queue, real = air.queue[rows, order], air.queue_real[rows, order]
        inside = np.arange(room) < air.whole[c.COUNT][:, None]
        to_all = queue[:, :, c.GOAL] == c.BROADCAST
        for column in (c.ORIGIN, c.GOAL, c.NEXT):
            queue[:, :, column] = renumbered[np.where(inside, queue[:, :, column], -1)]
        good = inside & (queue[:, :, c.ORIGIN] >= 0) & (to_all | (queue[:, :, c.GOAL] >= 0))
        air.counts[c.NO_ROUTE] += (inside & ~good).sum(axis=1)
        first = np.argsort(~good, axis=1, kind="stable")
        air.queue[:], air.queue_real[:] = queue[rows, first], real[rows, first]
        air.whole[c.HEAD], air.whole[c.COUNT] = 0, good.sum(axis=1)
        beyond = np.arange(room) >= air.whole[c.COUNT][:, None]
        air.queue[beyond], air.queue_real[beyond] = 0, 0.0

    def _scratch(self) -> None:
        n = self.n
        rows = [np.zeros(n, np.int64) for _ in range(4)]
        self._events = Events(rows[0], rows[1], rows[2], np.zeros(1, np.int64), rows[3])
        self._got = np.zeros(max(n, 1), np.int64)

    def relink(self, paths: AirLinks | None, graph: Graph | None, now: float = 0.0) -> None:
        """Take the links of an update at a time (s)."""
        slot = self.slot_at(now)
        if self.n:
            c.close_parts(self.rules, self.devices, self.air, slot)
        self.use(paths)
        self.use_graph(graph)
        if self.n:
            c.relink_air(self.rules, self.devices, self.paths, self.air, self._events, slot)

    def use(self, paths: AirLinks | None) -> None:
        """Take links that are those of the present state; None: there are none."""
        none, start = np.zeros(0), np.zeros(self.n + 1, np.int64)
        no_entries = np.zeros(0, np.int64)
        self.paths = AirLinks(start, no_entries, none, none, none, no_entries, none) if paths is None else paths

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
        queued, _ = self._live()
        (order, _), rows = self._ordered(), np.arange(self.n)[:, None]
        return bool((queued & (self.air.queue[rows, order][:, :, c.GOAL] >= 0)).any())

    # time ------------------------------------------------------------------------------------------------------------

    def slot_at(self, time: float) -> int:
        """Return the slot that contains a time (s)."""
        return int(np.floor(time / self.rules.slot + 1e-9))

    @property
    def busy(self) -> bool:
        """Whether anything waits or is on the air."""
        return bool((self.air.whole[c.PHASE] != c.IDLE).any() | self.air.whole[c.REPLY].any())

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

    def beacon(self, radios: Ints, states: Floats, time: float) -> None:
        """Queue beacons of radios (k,) with states (k, 10): position, quaternion, velocity."""
        assert self.section.beacons is not None
        packets = np.zeros((len(radios), c.PACKET_WHOLE), np.int64)
        packets[:, c.ORIGIN], packets[:, c.GOAL], packets[:, c.NEXT] = radios, c.BROADCAST, c.BROADCAST
        packets[:, c.HOPS], packets[:, c.BITS], packets[:, c.KIND] = 1, self.section.beacons.bits, c.BEACON
        packets[:, c.EXPIRES] = self.slot_at(time + 1.0 / self.section.beacons.rate)
        values = np.concatenate([np.full((len(radios), 1), time), states], axis=1)
        self._post(radios, packets, values, time)

    def _post(self, radios: Ints, packets: Ints, values: Floats, time: float) -> None:
        here = self.rules, self.devices, self.routes, self.air, self._events
        c.post_packets(radios, packets, values, self.slot_at(time), *here)

    def advance(self, time: float) -> None:
        """Handle everything on the air up to a time (s)."""
        if self.n:
            here = self.rules, self.devices, self.paths, self.routes, self.air, self._events, self._got
            c.run_air(self.slot_at(time), *here)

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

    # results ---------------------------------------------------------------------------------------------------------

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
        """Return the sums of all counters: packets transmitted, messages delivered, dropped by reason, ..."""
        return dict(zip(c.COUNTED, self.air.counts.sum(axis=1).tolist(), strict=True))

    # state -----------------------------------------------------------------------------------------------------------

    def _live(self) -> tuple[Any, Any]:
        """Return (n, q) and (n, k): whether a place of a queue or mailbox is used, in the order of `_ordered`."""
        q, k = self.section.queue, self.section.mailbox
        queued = np.arange(q) < self.air.whole[c.COUNT][:, None]
        return queued, np.arange(k) < np.minimum(self.air.whole[c.MAILS], k)[:, None]

    def _ordered(self) -> tuple[Any, Any]:
        """Return the places of queues and mailboxes from the first and oldest on."""
        q, k, w = self.section.queue, self.section.mailbox, self.air.whole
        oldest = np.where(w[c.MAILS] > k, w[c.MAILS] % k, 0)
        return (w[c.HEAD][:, None] + np.arange(q)) % q, (oldest[:, None] + np.arange(k)) % k

    def _used_numbers(self) -> Ints:
        """Return the numbers of messages that are queued or in a mailbox."""
        (queued, mailed), (q, k), rows = self._live(), self._ordered(), np.arange(self.n)[:, None]
        numbers = [self.air.queue[rows, q][queued][:, c.NUMBER], self.air.mail[rows, k][mailed][:, c.MAIL_NUMBER]]
        found: Ints = np.unique(np.concatenate(numbers))
        return found[found > 0]

    def _discard_contents(self) -> None:
        """Forget contents that are no longer queued or in a mailbox."""
        used = set(self._used_numbers().tolist())
        self.contents = {number: content for number, content in self.contents.items() if number in used}
        if len(self.contents) >= MOST_KEPT:
            raise PaddockError(f"more than {MOST_KEPT} messages are under way or in mailboxes")

    def save(self) -> dict[str, Any]:
        """Return the state in a form that does not depend on the positions in its rings."""
        self._discard_contents()
        air, (queued, mailed), (q, k) = self.air, self._live(), self._ordered()
        rows, states = np.arange(self.n)[:, None], air.whole.copy()
        states[c.HEAD] = 0
        contents = [self.contents[number] for number in sorted(self.contents)]
        return {
            "number": self.number,
            "whole": states,
            "real": air.real.copy(),
            "counts": air.counts.copy(),
            "queue": air.queue[rows, q][queued],
            "queue_real": air.queue_real[rows, q][queued],
            "mail": air.mail[rows, k][mailed],
            "mail_real": air.mail_real[rows, k][mailed],
            "seen": air.seen.copy(),
            "heard": air.heard.copy(),
            "heard_real": air.heard_real.copy(),
            "numbers": np.array(sorted(self.contents), np.int64),
            "lengths": np.array([len(one) for one in contents], np.int64),
            "contents": np.frombuffer(b"".join(contents), np.uint8).copy(),
        }

    def restore(self, saved: Mapping[str, Any], time: float, step: float = 0.0) -> None:
        """Load what `save` returned, for the same radios; PaddockError if it does not fit or no run can have left it.

        `time` (s) is that of the state; the channel had run up to it, or to `step` s before.
        """
        if not isinstance(saved, Mapping) or not _KEYS.issubset(saved):
            raise PaddockError("saved messages lack a part")
        air = empty_air(self.n, self.section)
        for name in ("whole", "real", "counts", "seen", "heard", "heard_real"):
            mine, value = getattr(air, name), np.asarray(saved[name])
            if value.shape != mine.shape or value.dtype != mine.dtype:
                raise PaddockError(f"saved messages: {name} do not fit {self.n} radios")
            mine[:] = value
        number = whole(saved["number"], "number of messages")
        check_radios(air, self.n, number, time)
        self.air = air
        (queued, mailed), (_, k), rows = self._live(), self._ordered(), np.arange(self.n)[:, None]
        packets = [np.asarray(saved[name]) for name in ("queue", "queue_real", "mail", "mail_real")]
        for value, used, width, of in zip(packets, (queued, queued, mailed, mailed), _WIDTHS, _TYPES, strict=True):
            if value.shape != (int(used.sum()), width) or value.dtype != of:
                raise PaddockError("saved messages: packets do not fit the queues and mailboxes")
        latest = self.slot_at(time + LONGEST) + 1
        check_packets(packets, self.n, self.rules, number, time, latest)
        air.queue[queued], air.queue_real[queued] = packets[0], packets[1]
        ordered, real = air.mail[rows, k], air.mail_real[rows, k]
        ordered[mailed], real[mailed] = packets[2], packets[3]
        air.mail[rows, k], air.mail_real[rows, k] = ordered, real
        check_times(air, self.rules, self.devices, (self.slot_at(max(time - step, 0.0)), self.slot_at(time)))
        self.number = number
        self.contents = _contents(saved)
        used_numbers = self._used_numbers().tolist()
        if sorted(self.contents) != used_numbers:
            raise PaddockError("saved messages: their contents are not those of the queues and mailboxes")


_KEYS = {
    *("number", "whole", "real", "counts", "queue", "queue_real", "mail", "mail_real", "seen", "heard", "heard_real"),
    *("numbers", "lengths", "contents"),
}
_WIDTHS = (c.PACKET_WHOLE, c.PACKET_REAL, c.MAIL_WHOLE, c.MAIL_REAL)
_TYPES = (np.int64, np.float64, np.int64, np.float64)


def _no_devices() -> Devices:
    none, whole = np.zeros(0), np.zeros(0, np.int64)
    return Devices(whole, none, none, none, whole, none, whole)


def places_of(new: Ints, old: Ints) -> Ints:
    """Return the index in `new` of each stream of `old`, -1 where it is not there."""
    if not len(new):
        return np.full(len(old), -1, np.int64)
    order = np.argsort(new, kind="stable")
    at = np.minimum(np.searchsorted(new[order], old), len(new) - 1)
    return np.where(new[order][at] == old, order[at], -1).astype(np.int64)


def _contents(saved: Mapping[str, Any]) -> dict[int, bytes]:
    numbers, lengths, joined = (np.asarray(saved[name]) for name in ("numbers", "lengths", "contents"))
    if numbers.dtype != np.int64 or lengths.dtype != np.int64 or joined.dtype != np.uint8:
        raise PaddockError("saved messages: contents are not arrays of whole numbers and bytes")
    valid = lengths.shape == numbers.shape and bool(((lengths >= 1) & (lengths <= MOST_BYTES + 1)).all())
    if numbers.ndim != 1 or not valid or int(lengths.sum()) != joined.size:
        raise PaddockError("saved messages: contents of other lengths than stated")
    every = joined.tobytes()
    ends = np.cumsum(lengths).tolist()
    found = {n: every[end - size : end] for n, end, size in zip(numbers.tolist(), ends, lengths.tolist(), strict=True)}
    for content in found.values():
        try:
            valid = content[0] in (RAW, TEXT)
            decoded(content)
        except ValueError:
            valid = False
        if not valid:
            raise PaddockError("saved messages: contents that are no message")
    return found
