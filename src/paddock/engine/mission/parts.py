"""Routes in parts: what the station has still to send, and what vehicles have received.

A route is cut into packets of at most `mtu` bytes. A vehicle follows it when all parts have arrived. Until then its
reports name the first part that it lacks and which of the next ones it has, as block acknowledgements do; the station
repeats the parts that are missing. A newer route replaces an older one on both sides.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge

from paddock.errors import InvalidValueError
from paddock.planning.mission.station import Row
from paddock.planning.mission.vehicles import MEMBER, Bools, extend
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.parts import array, mapping, part, record

WINDOW = 32  # parts that a report describes
MOST_PARTS = 1 << 24  # of a route
RECEPTION = 3  # numbers of a report about a route that is incomplete: its number, the first missing part, the next ones


class Outgoing(NamedTuple):
    """Parts of the newest route of a vehicle that wait to be sent."""

    parts: tuple[Row, ...]
    again: bool  # they were sent before


class PartsPosted(NamedTuple):
    """Parts that go out, (k,) each."""

    rows: Ints
    part: Ints
    parts: Ints  # of their routes
    bits: Ints
    again: Bools


@part
class Outbox:
    """Routes that the station sends, the oldest first."""

    most_bits: int  # of a packet
    number: Ints = array("i8", MEMBER, low=0)  # of the route whose size is known
    bits: Ints = array("i8", MEMBER, low=0, high=2**62)  # of it
    waiting: dict[int, Outgoing] = record(dict[Row, Outgoing], dict)  # by row

    def check(self, state: Any) -> None:
        """Refuse parts that the routes do not have."""
        if (self.bits > self.most_bits * MOST_PARTS).any():
            raise InvalidValueError(f"a route of more than {MOST_PARTS:,} parts")
        for row, (parts, _) in self.waiting.items():
            in_order = len(parts) > 0 and parts == tuple(sorted({*parts}))
            if row >= len(self.bits) or not in_order or parts[-1] >= int(self.parts_of(row)):
                raise InvalidValueError(f"parts of a route that vehicle {row} does not have")

    def grow(self, count: int) -> None:
        """Extend the arrays for vehicles that have joined."""
        extend(self, count)

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
        packets: list[tuple[int, int, bool]] = []
        for row, (parts, again) in list(self.waiting.items()):
            if len(packets) >= room:
                break
            if row in not_yet:
                continue
            now = parts[: room - len(packets)]
            packets += [(row, part, again) for part in now]
            if len(now) == len(parts):
                del self.waiting[row]
            else:
                self.waiting[row] = Outgoing(parts[len(now) :], again)
        rows, part, repeated = np.array(packets, np.int64).reshape(-1, 3).T
        bits = np.minimum(self.bits[rows] - part * self.most_bits, self.most_bits)
        return PartsPosted(rows, part, self.parts_of(rows), bits, repeated != 0)


@dataclass
class Incoming:
    """A route of which parts have arrived."""

    number: Annotated[int, Ge(1)]
    arrived: Bools  # (parts,)

    def check_saved(self) -> bool:
        """Return whether some parts have arrived, but not all."""
        known = self.arrived.ndim == 1 and 0 < len(self.arrived) <= MOST_PARTS
        return known and bool(self.arrived.any()) and not self.arrived.all()


@part
class Inboxes:
    """Routes that vehicles have received in part, by row."""

    routes: dict[int, Incoming] = mapping(Row, Incoming)

    def take(self, row: int, number: int, part: int, parts: int) -> bool:
        """Take a part of a route; return whether that completes it. Parts of an older route are ignored."""
        route = self.routes.get(row)
        if route is None or number > route.number:
            route = self.routes[row] = Incoming(number, np.zeros(parts, bool))
        if number < route.number or part >= len(route.arrived):
            return False
        route.arrived[part] = True
        if not route.arrived.all():
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
        table = np.zeros((len(rows), RECEPTION))
        incomplete = np.isin(rows, list(self.routes)) if self.routes else np.zeros(len(rows), bool)
        for k in np.flatnonzero(incomplete).tolist():
            route = self.routes[int(rows[k])]
            first = int(np.argmin(route.arrived))
            next_ones = route.arrived[first : first + WINDOW]
            mask = sum(1 << bit for bit in np.flatnonzero(next_ones).tolist())
            table[k] = route.number, first, mask
        return table
