"""Contents of packets: bytes or JSON of messages with a leading tag, rows of numbers of services.

Services are commands, telemetry, heartbeats and missions that the simulation itself sends. They share the queues, the
channel and the routes with the messages of users. A service posts many packets at once, with a row of numbers for each,
and takes those that have arrived. The numbers stay here, by the number of the packet: the channel needs its size only.
Packets of services are numbered from -1 down, so that the numbers of messages count on their own.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import InvalidValueError, PaddockError
from paddock.radio.packets import layout as c
from paddock.radio.packets.layout import VALUE_COUNT, Air, Floats, Ints

MOST_BYTES = 1 << 16  # of one message
RAW, TEXT = 0, 1  # how contents were given


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
        numbers = plain and all(isinstance(one, int | float) and not isinstance(one, bool) for one in data)
        tag, values = TEXT, [float(one) for one in data] if numbers else []
    if len(content) > MOST_BYTES:
        raise InvalidValueError(f"a message has at most {MOST_BYTES} bytes, not {len(content)}")
    return bytes([tag]) + content, values


def decoded(content: bytes) -> Any:
    """Return the contents that `encoded` was given."""
    return content[1:] if content[0] == RAW else json.loads(content[1:])


def saved_contents(saved: Mapping[str, Any]) -> dict[int, bytes]:
    """Return the contents of a saved state by their numbers; PaddockError for those that are not valid."""
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


# services -------------------------------------------------------------------------------------------------------------
LEAST_INBOX = 1024  # packets of services that arrive in a tick
PER_RADIO = 4  # more of them, for each radio
WIDEST = 1 << 12  # numbers of one packet
MOST_SERVED = 1 << 53
SOON = 1.0  # s: arrivals after the present, by the rest of a slot and the way


class Arrivals(NamedTuple):
    """Packets of a service that have arrived, in the order of their arrival."""

    receiver: Ints  # (k,) radios
    origin: Ints  # (k,)
    number: Ints  # (k,) as `post_service` returned it
    hops: Ints  # (k,) that it took
    sent: Floats  # (k,) s
    arrived: Floats  # (k,) s
    values: Floats  # (k, w) as they were posted; w is that of the widest packet of the run, the rest is 0


class ServiceContents:
    """The numbers of all packets of services that are queued or in the inbox."""

    def __init__(self) -> None:
        self.posted = 0  # packets of services, since the start
        self.numbers: Ints = np.zeros(0, np.int64)  # (m,) -1, -2, ...: descending
        self.values: Floats = np.zeros((0, 0))  # (m, w)

    def add(self, values: Floats) -> Ints:
        """Keep the numbers of new packets (k, w); return the numbers of the packets."""
        count, wide = len(values), max(values.shape[1], self.values.shape[1])
        numbers = -1 - self.posted - np.arange(count)
        self.posted += count
        both = np.zeros((len(self.values) + count, wide))
        both[: len(self.values), : self.values.shape[1]] = self.values
        both[len(self.values) :, : values.shape[1]] = values
        self.numbers, self.values = np.concatenate([self.numbers, numbers]), both
        return numbers

    def find(self, numbers: Ints) -> Floats:
        """Return the rows of packets."""
        return self.values[np.searchsorted(-self.numbers, -numbers)]

    def keep(self, used: Ints) -> None:
        """Discard all but the numbers of packets that are still used."""
        kept = np.isin(self.numbers, used)
        self.numbers, self.values = self.numbers[kept], self.values[kept]

    def save(self) -> dict[str, Any]:
        """Return the contents as arrays."""
        return {"served": self.posted, "served_numbers": self.numbers.copy(), "served_values": self.values.copy()}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Load what `save` returned; PaddockError if no run can have left it."""
        numbers, values, posted = (saved[name] for name in ("served_numbers", "served_values", "served"))
        good = type(posted) is int and 0 <= posted <= MOST_SERVED
        good = good and isinstance(numbers, np.ndarray) and isinstance(values, np.ndarray)
        good = good and numbers.dtype == np.int64 and values.dtype == np.float64 and numbers.ndim == 1
        good = good and values.ndim == 2 and len(values) == len(numbers) and values.shape[1] <= WIDEST
        good = good and bool((numbers < 0).all() and (numbers >= -posted).all() and (np.diff(numbers) < 0).all())
        if not good or not np.isfinite(values).all():
            raise PaddockError("saved messages: contents of services are not valid")
        self.posted, self.numbers, self.values = posted, numbers.copy(), values.copy()


def inbox_room(n: int) -> int:
    """Return the size of the inbox of n radios."""
    return max(LEAST_INBOX, PER_RADIO * n)


def taken_from(air: Air, contents: ServiceContents, kind: int, time: float) -> Arrivals:
    """Take the packets of a kind that have arrived by a time (s) out of the inbox."""
    count = int(air.inbox_count[0])
    whole, real = air.inbox[:count], air.inbox_real[:count]
    mine = (whole[:, c.IN_KIND] == kind) & (real[:, c.IN_ARRIVED] <= time)
    got, times = whole[mine], real[mine]
    order = np.lexsort((-got[:, c.IN_NUMBER], times[:, c.IN_ARRIVED]))
    got, times = got[order], times[order]
    left = count - len(got)
    air.inbox[:left], air.inbox_real[:left] = whole[~mine], real[~mine]
    air.inbox[left:count], air.inbox_real[left:count], air.inbox_count[0] = 0, 0.0, left
    number = got[:, c.IN_NUMBER]
    given = got[:, c.IN_RECEIVER], got[:, c.IN_ORIGIN], number, got[:, c.IN_HOPS]
    return Arrivals(*given, times[:, c.IN_SENT], times[:, c.IN_ARRIVED], contents.find(number))


def move_inbox(before: Air, after: Air, renumbered: Ints) -> None:
    """Copy the inbox to other radios; packets from or to radios that are gone (-1 in `renumbered`) are dropped."""
    count = int(before.inbox_count[0])
    whole, real = before.inbox[:count].copy(), before.inbox_real[:count]
    for column in (c.IN_RECEIVER, c.IN_ORIGIN):
        whole[:, column] = renumbered[whole[:, column]]
    kept = np.flatnonzero((whole[:, c.IN_RECEIVER] >= 0) & (whole[:, c.IN_ORIGIN] >= 0))[: len(after.inbox)]
    after.inbox[: len(kept)], after.inbox_real[: len(kept)] = whole[kept], real[kept]
    after.inbox_count[0] = len(kept)


def saved_inbox(air: Air) -> dict[str, Any]:
    """Return the inbox in the order of arrival."""
    count = int(air.inbox_count[0])
    whole, real = air.inbox[:count], air.inbox_real[:count]
    order = np.lexsort((whole[:, c.IN_RECEIVER], -whole[:, c.IN_NUMBER], real[:, c.IN_ARRIVED]))
    return {"inbox": whole[order], "inbox_real": real[order]}


def restore_inbox(air: Air, saved: Mapping[str, Any], n: int, posted: int, time: float, hops: int) -> None:
    """Load what `saved_inbox` returned at a time (s), for n radios; PaddockError if no run can have left it."""
    whole, real = np.asarray(saved["inbox"]), np.asarray(saved["inbox_real"])
    count = len(whole) if whole.ndim else 0
    good = whole.shape == (count, c.IN_WHOLE) and whole.dtype == np.int64 and count <= len(air.inbox)
    good = good and real.shape == (count, c.IN_REAL) and real.dtype == np.float64
    ranges = {
        c.IN_NUMBER: (-posted, -1),
        c.IN_RECEIVER: (0, n - 1),
        c.IN_ORIGIN: (0, n - 1),
        c.IN_KIND: (c.COMMAND, c.MISSION),
        c.IN_HOPS: (0, hops),
    }
    for at, (low, high) in ranges.items() if good else ():
        good = good and bool(((whole[:, at] >= low) & (whole[:, at] <= high)).all())
    if good:
        sent, arrived = real[:, c.IN_SENT], real[:, c.IN_ARRIVED]
        good = bool(((sent >= 0.0) & (sent <= time + 1e-6) & (arrived >= sent) & (arrived <= time + SOON)).all())
    if not good:
        raise PaddockError("saved messages: the inbox of services is not valid")
    air.inbox[:count], air.inbox_real[:count], air.inbox_count[0] = whole, real, count
