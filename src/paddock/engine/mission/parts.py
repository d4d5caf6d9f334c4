"""Routes in parts: what the station has still to send, and what vehicles have received.

A route is cut into packets of at most `mtu` bytes. A vehicle follows it when all parts have arrived. Until then its
reports name the first part that it lacks and which of the next ones it has, as block acknowledgements do; the station
repeats the parts that are missing. A newer route replaces an older one on both sides.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.mission.station import Bools, Ints, column, saved_row
from paddock.world.archive import typed
from paddock.world.columns import Floats

WINDOW = 32  # parts that a report describes
MOST_PARTS = 1 << 24  # of a route
RECEPTION = 3  # numbers of a report about a route that is incomplete: its number, the first missing part, the next ones


class Outgoing(NamedTuple):
    """Parts of the newest route of a vehicle that wait to be sent."""

    parts: tuple[int, ...]
    again: bool  # they were sent before


class PartsPosted(NamedTuple):
    """Parts that go out, (k,) each."""

    rows: Ints
    part: Ints
    parts: Ints  # of their routes
    bits: Ints
    again: Bools


class Outbox:
    """Routes that the station sends, the oldest first."""

    def __init__(self, mtu: int) -> None:
        """`mtu`: largest payload of a packet, in bytes."""
        self.most_bits = 8 * mtu
        self.waiting: dict[int, Outgoing] = {}  # by row
        self.number: Ints = np.zeros(0, np.int64)  # of the route whose size is known
        self.bits: Ints = np.zeros(0, np.int64)  # of it

    def grow(self, count: int) -> None:
        """Extend the arrays for vehicles that have joined."""
        more = np.zeros(count - len(self.number), np.int64)
        self.number, self.bits = np.append(self.number, more), np.append(self.bits, more)

    def parts_of(self, rows: Any) -> Any:
        """Return the number of parts of the routes of rows."""
        return -(-self.bits[rows] // self.most_bits)

    def announce(self, row: int, number: int, bits: int) -> None:
        """Send a new route, instead of what is left of an older one."""
        self.number[row], self.bits[row] = number, bits
        self.waiting[row] = Outgoing(tuple(range(int(self.parts_of(row)))), False)

    def repeat(self, row: int, reception: Sequence[int]) -> None:
        """Send the parts of a route again that a vehicle lacks, by its report."""
        count, (number, first, mask) = int(self.parts_of(row)), reception
        if number != self.number[row]:  # none has arrived
            missing = tuple(range(count))
        else:
            last = min(first + WINDOW, count)
            missing = tuple(part for part in range(first, last) if not mask >> (part - first) & 1)
        if missing:
            self.waiting[row] = Outgoing(missing, True)

    def take(self, room: int, not_yet: Collection[int]) -> PartsPosted:
        """Take as many parts as there is room for; `not_yet` are rows that still negotiate."""
        found: list[tuple[int, int, bool]] = []
        for row, (parts, again) in list(self.waiting.items()):
            if len(found) >= room:
                break
            if row in not_yet:
                continue
            now = parts[: room - len(found)]
            found += [(row, part, again) for part in now]
            if len(now) == len(parts):
                del self.waiting[row]
            else:
                self.waiting[row] = Outgoing(parts[len(now) :], again)
        rows, part, again_ = np.array(found, np.int64).reshape(-1, 3).T
        bits = np.minimum(self.bits[rows] - part * self.most_bits, self.most_bits)
        return PartsPosted(rows, part, self.parts_of(rows), bits, again_ != 0)

    def save(self) -> dict[str, Any]:
        """Return the state; an archive would sort the rows of a mapping."""
        waiting = [[row, again, list(parts)] for row, (parts, again) in self.waiting.items()]
        return {"waiting": waiting, "number": self.number.copy(), "bits": self.bits.copy()}

    def restore(self, saved: Mapping[str, Any], count: int) -> None:
        """Load what `save` returned, for a number of vehicles."""
        self.number, self.bits = (column(saved, name, count, np.int64) for name in ("number", "bits"))
        waiting = typed(list[tuple[int, bool, tuple[int, ...]]], saved["waiting"], "routes to be sent")
        self.waiting = {row: Outgoing(parts, again) for row, again, parts in waiting}
        good = len(self.waiting) == len(waiting) and bool((self.bits >= 0).all() and (self.number >= 0).all())
        good = good and bool((self.bits <= self.most_bits * MOST_PARTS).all())
        for row, one in self.waiting.items() if good else ():
            good = good and 0 <= row < count and len(one.parts) > 0
            good = good and one.parts == tuple(sorted({*one.parts}))
            good = good and one.parts[0] >= 0 and one.parts[-1] < int(self.parts_of(row))
        if not good:
            raise InvalidValueError("the saved packets of the mission do not fit its vehicles")


@dataclass
class Incoming:
    """A route of which parts have arrived."""

    number: int
    arrived: Bools  # (parts,)


class Inboxes:
    """Routes that vehicles have received in part, by row."""

    def __init__(self) -> None:
        self.routes: dict[int, Incoming] = {}

    def take(self, row: int, number: int, part: int, parts: int) -> bool:
        """Take a part of a route; return whether that completes it. Parts of an older route are ignored."""
        one = self.routes.get(row)
        if one is None or number > one.number:
            one = self.routes[row] = Incoming(number, np.zeros(parts, bool))
        if number < one.number or part >= len(one.arrived):
            return False
        one.arrived[part] = True
        if not one.arrived.all():
            return False
        del self.routes[row]
        return True

    def discard(self, rows: Collection[int], number: Ints) -> None:
        """Forget the routes of vehicles that have a newer one, of a number each, by now."""
        for row in rows:
            if row in self.routes and self.routes[row].number <= number[row]:
                del self.routes[row]

    def reception(self, rows: Ints) -> Floats:
        """Return the numbers about incomplete routes in reports of vehicles (k, RECEPTION); 0: there is none."""
        found = np.zeros((len(rows), RECEPTION))
        mine = np.isin(rows, list(self.routes)) if self.routes else np.zeros(len(rows), bool)
        for k in np.flatnonzero(mine).tolist():
            one = self.routes[int(rows[k])]
            first = int(np.argmin(one.arrived))
            next_ones = one.arrived[first : first + WINDOW]
            mask = sum(1 << place for place in np.flatnonzero(next_ones).tolist())
            found[k] = one.number, first, mask
        return found

    def save(self) -> dict[str, Any]:
        """Return the state."""
        return {str(row): [one.number, one.arrived.astype(np.uint8)] for row, one in self.routes.items()}

    def restore(self, saved: Mapping[str, Any], count: int) -> None:
        """Load what `save` returned, for a number of vehicles."""
        self.routes = {}
        for text, (number, arrived) in saved.items():
            row, number = saved_row(text, count), typed(int, number, "number of a route")
            good = isinstance(arrived, np.ndarray) and arrived.dtype == np.uint8 and arrived.ndim == 1
            good = good and 0 < len(arrived) <= MOST_PARTS and set(arrived.tolist()) == {0, 1} and 0 < number < 1 << 53
            if not good:
                raise InvalidValueError("the saved parts of routes that vehicles have received are not valid")
            self.routes[row] = Incoming(number, arrived.astype(bool))
