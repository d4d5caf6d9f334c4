"""Routes in parts: what the station has still to send, and what vehicles have received.

A route is cut into packets of at most `mtu` bytes. A vehicle follows it when all parts have arrived. Until then its
reports name the first part that it lacks and which of the next ones it has, as block acknowledgements do; the station
repeats the parts that are missing. A newer route replaces an older one on both sides.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import InvalidValueError
from paddock.planning.mission.station import Row
from paddock.planning.mission.vehicles import MEMBER, Bools, extend, record
from paddock.world.archive import typed
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.parts import array, part, plain

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


def outgoing_from(saved: Any) -> dict[int, Outgoing]:
    """Return the routes to be sent by row, in their order."""
    rows = typed(list[tuple[Row, tuple[tuple[Row, ...], bool]]], saved, "routes to be sent")
    if len({row for row, _ in rows}) != len(rows):
        raise InvalidValueError("a vehicle has two routes to be sent")
    return {row: Outgoing(*outgoing) for row, outgoing in rows}


@part
class Outbox:
    """Routes that the station sends, the oldest first."""

    most_bits: int  # of a packet
    number: Ints = array("i8", MEMBER, low=0)  # of the route whose size is known
    bits: Ints = array("i8", MEMBER, low=0, high=2**62)  # of it
    waiting: dict[int, Outgoing] = plain(dict, record, outgoing_from)  # by row

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

    number: int
    arrived: Bools  # (parts,)


def incoming_record(routes: dict[int, Incoming]) -> list[Any]:
    """Return routes that have arrived in part as plain values."""
    return [[row, route.number, route.arrived] for row, route in sorted(routes.items())]


def incoming_from(saved: Any) -> dict[int, Incoming]:
    """Return routes that have arrived in part, by row."""
    routes = {}
    for row, number, arrived in saved:
        valid = isinstance(arrived, np.ndarray) and arrived.dtype == np.bool_ and arrived.ndim == 1
        valid = valid and 0 < len(arrived) <= MOST_PARTS and arrived.any() and not arrived.all()
        if not valid or type(number) is not int or not 0 < number < 1 << 53 or type(row) is not int or row < 0:
            raise InvalidValueError("the parts of a route are not valid")
        routes[row] = Incoming(number, arrived.copy())
    return routes


@part
class Inboxes:
    """Routes that vehicles have received in part, by row."""

    routes: dict[int, Incoming] = plain(dict, incoming_record, incoming_from)

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
