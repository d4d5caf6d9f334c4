"""The state of all radios on the air: it follows their table and their links, and is saved and restored.

Compiled code works on the arrays (`layout.py`), which are pools of fixed size. The contents of messages and of packets
of services stay beside them, by number.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from paddock.compute.philox import signed
from paddock.errors import PaddockError
from paddock.radio.links.table import BURST_ROWS
from paddock.radio.packets import layout as c
from paddock.radio.packets.checks import MOST_COUNTED, check_packets, check_radios, check_times
from paddock.radio.packets.contents import (
    ServiceContents,
    inbox_room,
    move_inbox,
    restore_inbox,
    saved_contents,
    saved_inbox,
)
from paddock.radio.packets.layout import Air, AirLinks, Devices, Events, Ints, Routes, Rules
from paddock.radio.packets.network import Graph
from paddock.radio.packets.queues import DENIED_ROWS
from paddock.radio.packets.reception import close_parts, relink_air
from paddock.radio.settings import MOST_HOPS
from paddock.scenario.radio_types import LONGEST, MessagesSection
from paddock.world.archive import whole

SEEN_MESSAGES = 32  # numbers of received messages that a radio remembers, to discard repetitions
TREES = 64  # destinations whose routes are kept until the next update of the links
MOST_KEPT = 100_000  # contents of messages


def rules_of(section: MessagesSection, seed: int) -> Rules:
    """Return the rules of the channel of a scenario."""
    return Rules(
        *(signed(seed), section.slot, 1, 2, *section.window, section.retries),
        *(float(section.header_bits), float(section.ack_bits), section.sharing != "none"),
    )


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
        np.zeros((inbox_room(n), c.IN_WHOLE), np.int64),
        np.zeros((inbox_room(n), c.IN_REAL)),
        np.zeros(1, np.int64),
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


class AirState:
    """The radios of one table with their queues, mailboxes and heard states, and the links between them."""

    def __init__(self, section: MessagesSection, seed: int = 0) -> None:
        self.section = section
        self.rules = rules_of(section, seed)
        self.number = 0  # messages sent, false frames among them
        self.forged = 0  # of them, false frames of jammers
        self.contents: dict[int, bytes] = {}
        self.gone: Ints = np.zeros(len(c.COUNTED), np.int64)  # counts of radios that have been removed
        self.served = ServiceContents()
        self.devices = _no_devices()
        self.air = empty_air(0, section)
        self._idle: Air | None = None  # the state, if it is known to be idle
        self._scratch()
        self.use(None)
        self.use_graph(None)

    @property
    def n(self) -> int:
        """Number of radios."""
        return len(self.devices.streams)

    def fit(self, devices: Devices, time: float = 0.0) -> dict[int, int]:
        """Take another table of radios at a time (s); those with the same streams keep their queues and mailboxes.

        Transmissions in progress start again, without links. Packets in the queues of radios that are gone are lost,
        and those to them have no route. A message that has left its sender travels on; packets of services from radios
        that are gone are dropped. Return the former radio of each message, by its number, whose sender has gone now.
        """
        old, new = self.devices.streams, devices.streams
        self.devices = devices
        if np.array_equal(old, new):
            return {}
        place = places_of(new, old)  # new index of each old radio, -1: gone
        before, self.air = self.air, empty_air(len(new), self.section)
        kept = np.flatnonzero(place >= 0)
        gone = np.flatnonzero(place < 0)
        self.gone += before.counts[:, gone].sum(axis=1)
        self.gone[c.LOST] += int((self._queued(before, gone)[:, c.KIND] != c.BEACON).sum())
        senders = self._senders(before, kept, place)
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
        move_inbox(before, self.air, renumbered)
        self._drop_orphans(renumbered)
        reset_radios(self.air, self.section.window[0], self.slot_at(time))
        self._scratch()
        self.use(None)
        self.use_graph(None)
        return senders

    def _senders(self, before: Air, kept: Ints, place: Ints) -> dict[int, int]:
        """Return number and sender of each message of a radio that is gone, in queues and mailboxes of `kept` ones."""
        k, queued = self.section.mailbox, self._queued(before, kept)
        mails = before.mail[kept][np.arange(k) < np.minimum(before.whole[c.MAILS, kept], k)[:, None]]
        queued = queued[queued[:, c.KIND] == c.DATA]
        numbers = np.concatenate([queued[:, c.NUMBER], mails[:, c.MAIL_NUMBER]])
        origins = np.concatenate([queued[:, c.ORIGIN], mails[:, c.MAIL_ORIGIN]])
        found = (origins >= 0) & (place[origins] < 0)
        return dict(zip(numbers[found].tolist(), origins[found].tolist(), strict=True))

    def _queued(self, air: Air, radios: Ints) -> Ints:
        """Return the packets (k, PACKET_WHOLE) in the queues of some radios."""
        room = self.section.queue
        inside = (np.arange(room) - air.whole[c.HEAD, radios][:, None]) % room < air.whole[c.COUNT, radios][:, None]
        found: Ints = air.queue[radios][inside]
        return found

    def _drop_orphans(self, renumbered: Ints) -> None:
        """Renumber the radios of packets; drop those to radios that are gone, and of services also those from them."""
        air, room = self.air, self.section.queue
        order = (air.whole[c.HEAD][:, None] + np.arange(room)) % room
        rows = np.arange(self.n)[:, None]
        queue, real = air.queue[rows, order], air.queue_real[rows, order]
        inside = np.arange(room) < air.whole[c.COUNT][:, None]
        to_all = queue[:, :, c.GOAL] == c.BROADCAST
        for column in (c.ORIGIN, c.GOAL, c.NEXT):
            queue[:, :, column] = renumbered[np.where(inside, queue[:, :, column], -1)]
        sent = (queue[:, :, c.ORIGIN] >= 0) | (queue[:, :, c.KIND] == c.DATA)  # messages travel on
        good = inside & sent & (to_all | (queue[:, :, c.GOAL] >= 0))
        air.counts[c.NO_ROUTE] += (inside & ~good).sum(axis=1)
        first = np.argsort(~good, axis=1, kind="stable")
        air.queue[:], air.queue_real[:] = queue[rows, first], real[rows, first]
        air.whole[c.HEAD], air.whole[c.COUNT] = 0, good.sum(axis=1)
        beyond = np.arange(room) >= air.whole[c.COUNT][:, None]
        air.queue[beyond], air.queue_real[beyond] = 0, 0.0

    def silence(self, radios: Ints) -> None:
        """End what radios transmit and receive, before the links change; packets in their queues are lost."""
        air, room, idle = self.air, self.section.queue, empty_air(1, self.section)
        first, count = air.whole[c.HEAD, radios][:, None], air.whole[c.COUNT, radios][:, None]
        inside = (np.arange(room) - first) % room < count
        air.counts[c.LOST, radios] += (inside & (air.queue[radios, :, c.KIND] != c.BEACON)).sum(axis=1)
        rows = np.setdiff1d(np.arange(c.WHOLE_ROWS), (c.MAILS, c.SEEN, c.DRAWS, c.SENT))
        air.whole[np.ix_(rows, radios)] = idle.whole[rows]
        air.real[: c.ON_AIR, radios] = 0.0
        self._idle = None

    def _scratch(self) -> None:
        n = self.n
        rows = [np.zeros(n, np.int64) for _ in range(4)]
        self._events = Events(rows[0], rows[1], rows[2], np.zeros(1, np.int64), rows[3])
        self._got = np.zeros(max(n, 1), np.int64)

    def relink(self, paths: AirLinks | None, graph: Graph | None, now: float = 0.0) -> None:
        """Take the links of an update at a time (s)."""
        slot = self.slot_at(now)
        if self.n:
            close_parts(self.rules, self.devices, self.air, slot)
        before = self.paths.denied
        self.use(paths)
        self.use_graph(graph)
        if self.n:
            relink_air(self.rules, self.devices, self.paths, before, self.air, self._events, slot)

    def use(self, paths: AirLinks | None) -> None:
        """Take links that are those of the present state; None: there are none."""
        none, empty, start = np.zeros(0), np.zeros(0, np.int64), np.zeros(self.n + 1, np.int64)
        quiet = (
            start,
            np.zeros(0, np.int32),
            none,
            np.zeros((BURST_ROWS, self.n)),
            np.zeros((DENIED_ROWS, self.n), np.int64),
        )
        self.paths = paths or AirLinks(start, empty, none, none, none, empty, none, none, none, empty, *quiet)

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

    def slot_at(self, time: float) -> int:
        """Return the slot that contains a time (s)."""
        return int(np.floor(time / self.rules.slot + 1e-9))

    @property
    def busy(self) -> bool:
        """Whether anything waits or is on the air."""
        if self._idle is self.air:  # and nothing was posted since
            return False
        phases, replies = self.air.whole[c.PHASE], self.air.whole[c.REPLY]  # idle and none are 0, others more
        found = bool(phases.max(initial=0) or replies.max(initial=0))
        self._idle = None if found else self.air
        return found

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
        """Return the numbers of messages and of packets of services that are queued, in a mailbox or in the inbox."""
        (queued, mailed), (q, k), rows = self._live(), self._ordered(), np.arange(self.n)[:, None]
        numbers = [self.air.queue[rows, q][queued][:, c.NUMBER], self.air.mail[rows, k][mailed][:, c.MAIL_NUMBER]]
        numbers.append(self.air.inbox[: int(self.air.inbox_count[0]), c.IN_NUMBER])
        every = np.unique(np.concatenate(numbers))
        found: Ints = every[every != 0]
        return found

    def orphans(self) -> set[int]:
        """Return the numbers of messages in queues and mailboxes whose senders have been removed."""
        (queued, mailed), (q, k), rows = self._live(), self._ordered(), np.arange(self.n)[:, None]
        packets, mails = self.air.queue[rows, q][queued], self.air.mail[rows, k][mailed]
        found = packets[packets[:, c.ORIGIN] < 0][:, c.NUMBER], mails[mails[:, c.MAIL_ORIGIN] < 0][:, c.MAIL_NUMBER]
        return set(np.concatenate(found).tolist())

    def _discard_contents(self) -> None:
        """Forget contents that are no longer queued or in a mailbox."""
        used = set(self._used_numbers().tolist())
        self.contents = {number: content for number, content in self.contents.items() if number in used}
        if len(self.contents) >= MOST_KEPT:
            raise PaddockError(f"more than {MOST_KEPT} messages are under way or in mailboxes")

    def save(self) -> dict[str, Any]:
        """Return the state in a form that does not depend on the positions in its rings."""
        self._discard_contents()
        self.served.keep(self._used_numbers())
        air, (queued, mailed), (q, k) = self.air, self._live(), self._ordered()
        rows, states = np.arange(self.n)[:, None], air.whole.copy()
        states[c.HEAD] = 0
        contents = [self.contents[number] for number in sorted(self.contents)]
        return {
            "number": self.number,
            "forged": self.forged,
            "whole": states,
            "real": air.real.copy(),
            "counts": air.counts.copy(),
            "gone": self.gone.copy(),
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
            **self.served.save(),
            **saved_inbox(air),
        }

    def restore(self, saved: Mapping[str, Any], time: float, step: float = 0.0) -> None:
        """Load what `save` returned, for the same radios; PaddockError if it does not fit or no run can have left it.

        The links in use are those of the state. `time` (s) is that of the state; the channel had run up to it, or to
        `step` s before.
        """
        if not isinstance(saved, Mapping) or not _KEYS.issubset(saved):
            raise PaddockError("saved messages lack a part")
        air = empty_air(self.n, self.section)
        for name in ("whole", "real", "counts", "seen", "heard", "heard_real"):
            mine, value = getattr(air, name), np.asarray(saved[name])
            if value.shape != mine.shape or value.dtype != mine.dtype:
                raise PaddockError(f"saved messages: {name} do not fit {self.n} radios")
            mine[:] = value
        gone = np.asarray(saved["gone"])
        if gone.shape != self.gone.shape or gone.dtype != np.int64 or not ((gone >= 0) & (gone <= MOST_COUNTED)).all():
            raise PaddockError("saved messages: counts of removed radios are not valid")
        number, forged = (whole(saved[name], f"{name} of messages") for name in ("number", "forged"))
        if forged > number:
            raise PaddockError("saved messages: more false frames than messages")
        served = ServiceContents()
        served.restore(saved)
        check_radios(air, self.n, number, served.posted, time)
        restore_inbox(air, saved, self.n, served.posted, time, MOST_HOPS)
        self.air = air
        (queued, mailed), (_, k), rows = self._live(), self._ordered(), np.arange(self.n)[:, None]
        packets = [np.asarray(saved[name]) for name in ("queue", "queue_real", "mail", "mail_real")]
        for value, used, width, of in zip(packets, (queued, queued, mailed, mailed), _WIDTHS, _TYPES, strict=True):
            if value.shape != (int(used.sum()), width) or value.dtype != of:
                raise PaddockError("saved messages: packets do not fit the queues and mailboxes")
        latest = self.slot_at(time + LONGEST) + 1
        check_packets(packets, self.n, self.rules, (number, served.posted), time, latest)
        air.queue[queued], air.queue_real[queued] = packets[0], packets[1]
        ordered, real = air.mail[rows, k], air.mail_real[rows, k]
        ordered[mailed], real[mailed] = packets[2], packets[3]
        air.mail[rows, k], air.mail_real[rows, k] = ordered, real
        ran = self.slot_at(max(time - step, 0.0)), self.slot_at(time)
        check_times(air, self.rules, self.devices, self.paths.denied, ran)
        self.number, self.forged, self.served, self.gone = number, forged, served, gone.copy()
        self.contents = saved_contents(saved)
        used = self._used_numbers()
        of_messages, of_services = used[used > 0].tolist(), used[used < 0].tolist()
        if sorted(self.contents) != of_messages or served.numbers[::-1].tolist() != of_services:
            raise PaddockError("saved messages: their contents are not those of the queues and mailboxes")


_KEYS = {
    *("number", "forged", "whole", "real", "counts", "gone", "queue", "queue_real", "mail", "mail_real", "seen"),
    *("heard", "heard_real"),
    *("numbers", "lengths", "contents", "served", "served_numbers", "served_values", "inbox", "inbox_real"),
}
_WIDTHS = (c.PACKET_WHOLE, c.PACKET_REAL, c.MAIL_WHOLE, c.MAIL_REAL)
_TYPES = (np.int64, np.float64, np.int64, np.float64)


def _no_devices() -> Devices:
    none, whole = np.zeros(0), np.zeros(0, np.int64)
    return Devices(whole, none, none, whole, none, whole, none)


def places_of(new: Ints, old: Ints) -> Ints:
    """Return the index in `new` of each stream of `old`, -1 where it is not there."""
    if not len(new):
        return np.full(len(old), -1, np.int64)
    order = np.argsort(new, kind="stable")
    at = np.minimum(np.searchsorted(new[order], old), len(new) - 1)
    return np.where(new[order][at] == old, order[at], -1).astype(np.int64)
