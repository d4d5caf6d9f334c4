"""Links that come up or drop: events of pairs of radios, and counts of all links, each direction by itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import uint64
from numpy.typing import NDArray

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.engine.events import EventLog
from paddock.radio.links import Links
from paddock.radio.radios import Ints, Radios

FEW = 32  # radios up to which every link that comes up or drops is an event; beyond, those of stations


def report_links(
    events: EventLog, tick: int, radios: Radios, before: Links, now: Links, name_of: Callable[[int], str]
) -> None:
    """Report pairs of radios whose links have come up or dropped: of stations, and of all where there are few."""
    lowest = 0 if radios.n <= FEW else radios.carried
    old, new = linked_pairs(before, lowest), linked_pairs(now, lowest)
    risen, fallen = np.setdiff1d(new, old, assume_unique=True), np.setdiff1d(old, new, assume_unique=True)
    for kind, found in (("link_up", risen), ("link_down", fallen)):
        shown = ((name_of(key % radios.n), name_of(key // radios.n)) for key in found.tolist())
        events.report_some(tick, kind, shown, len(found), "links")


def count_changes(before: Links, now: Links) -> tuple[int, int]:
    """Return how many links have become usable and how many are so no longer, each direction by itself.

    Both tables are of the same radios. Vehicles that were added or removed meanwhile have no links in `before`.
    """
    found = np.zeros((2, len(now.start) - 1), np.int64)
    changed_entries(before.start, before.peer, before.up, now.start, now.peer, now.up, found)
    risen, fallen = found.sum(axis=1).tolist()
    return risen, fallen


def _changed_entries(
    start: Any, peer: Any, up: Any, new_start: Any, new_peer: Any, new_up: Any, found: Any
) -> None:  # fmt: skip
    """Count, for each receiver, the entries that are up only in the second table, and only in the first, (2, n)."""
    for i in parallel_range(len(new_start) - 1):
        a, b, last, end = uint64(start[i]), uint64(new_start[i]), uint64(start[i + 1]), uint64(new_start[i + 1])
        risen, fallen, other = uint64(0), uint64(0), uint64(0)
        if last - a == end - b:  # most rows have the same transmitters: these loops vectorise
            for m in range(end - b):
                other += uint64(peer[a + m] != new_peer[b + m])
        if last - a == end - b and other == uint64(0):
            for m in range(end - b):
                risen += uint64(new_up[b + m] > up[a + m])
                fallen += uint64(new_up[b + m] < up[a + m])
            a, b = last, end
        while a < last or b < end:
            if b == end or (a < last and peer[a] < new_peer[b]):
                fallen += uint64(up[a] != 0)
                a += uint64(1)
            elif a == last or new_peer[b] < peer[a]:
                risen += uint64(new_up[b] != 0)
                b += uint64(1)
            else:
                risen += uint64(new_up[b] > up[a])
                fallen += uint64(new_up[b] < up[a])
                a, b = a + uint64(1), b + uint64(1)
        found[0, i], found[1, i] = risen, fallen


changed_entries = parallel_routine(_changed_entries, items=lambda start, *_: start.size)


def linked_pairs(links: Links, lowest: int) -> Ints:
    """Return lower number + n x higher number of every two radios that hear each other, the higher from `lowest` on."""
    n = len(links.start) - 1
    if n == 0 or lowest >= n:
        return np.zeros(0, np.int64)
    first = int(links.start[lowest])
    rows = np.repeat(np.arange(lowest, n), np.diff(links.start[lowest:]))
    peer, up = links.peer[first:].astype(np.int64), links.up[first:] != 0
    down_there: NDArray[np.bool_] = up & (peer < rows)
    rows, peer = rows[down_there], peer[down_there]
    back = _entries(links, peer, rows)
    both = (back >= 0) & (links.up[np.maximum(back, 0)] != 0) if len(links.up) else np.zeros(0, bool)
    return np.sort(rows[both] * n + peer[both])


def _entries(links: Links, rows: Ints, peers: Ints) -> Ints:
    """Return the places of entries by receiver and transmitter, -1 where there are none."""
    low, high = links.start[rows].copy(), links.start[rows + 1].copy()
    end = high.copy()
    for _ in range(int(max(1, (high - low).max(initial=1))).bit_length() + 1):  # binary search in all rows at once
        middle = (low + high) // 2
        less = (middle < high) & (links.peer[np.minimum(middle, len(links.peer) - 1)] < peers)
        low, high = np.where(less, middle + 1, low), np.where(less, high, np.maximum(middle, low))
    found = (low < end) & (links.peer[np.minimum(low, len(links.peer) - 1)] == peers) if len(links.peer) else low < 0
    return np.where(found, low, -1)
