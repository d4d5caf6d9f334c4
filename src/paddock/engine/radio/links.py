"""Links of a run: columns of snapshots, events of links that come up or drop, and silent radios.

Silent radios are those of vehicles that the mission has damaged, from the next update of the links on. They neither
transmit nor receive: they have no links, do not interfere, send and forward no packets, and are no node of the network.
Their queued packets are lost. Jammers on the vehicle are devices of their own: they are not affected.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy import uint64
from numpy.typing import NDArray

from paddock.compute.routine import parallel_range, parallel_routine
from paddock.engine.behaviours import RADIO
from paddock.engine.events import EventLog
from paddock.engine.program import FleetProgram
from paddock.radio.links.radios import COLUMN, Floats, Ints, Radios, growing_loads
from paddock.radio.links.table import (
    CONTACT,
    LINKS,
    NO_SINR,
    STATION,
    UPLINK,
    Bools,
    StatusPart,
    fill_status,
    moved_links,
    renumbered,
    sinr_of,
)
from paddock.radio.packets.network import Graph, contacts
from paddock.wire.radio_results import Links


def show_links(
    radios: Radios, links: Links, accepted: Floats, jammed: Bools, programs: Mapping[str, FleetProgram]
) -> None:
    """Write the columns of all vehicles with radios; `accepted` (k, n): probabilities of false frames."""
    stations = len(radios.stations) > 0
    contact = radios_in_contact(radios, links) if stations else np.zeros(0)
    if stations:
        uplink, station = heard_by_stations(radios, links)
    else:
        uplink, station = np.full(radios.n, NO_SINR), np.full(radios.n, -1.0)
    for part in radios.parts:
        fleet = programs[part.fleet].fleet
        status = fleet.tables[RADIO] if fleet.in_order else fleet.by_key(fleet.tables[RADIO])
        own = StatusPart(part.n, part.first, part.slots, radios.carried, len(radios.stations))
        fill_status(own, radios.table, radios.owner, links, sinr_of(links), jammed, accepted, status)
        rows, best = np.arange(part.n), uplink[part.radios].reshape(part.n, part.slots).argmax(axis=1)
        of_vehicles = contact[part.radios].reshape(-1, part.slots)[:, 0]  # that of all its radios
        status[CONTACT, : part.n] = of_vehicles if stations else status[LINKS, : part.n] > 0.0
        status[UPLINK, : part.n] = uplink[part.radios].reshape(part.n, part.slots)[rows, best]
        status[STATION, : part.n] = station[part.radios].reshape(part.n, part.slots)[rows, best]
        if not fleet.in_order:
            fleet.tables[RADIO][:, fleet.rows] = status


def radios_in_contact(radios: Radios, links: Links) -> Floats:
    """Return 1 for radios with a route to a station and back, by the rule of routes."""
    owner = radios.table[COLUMN.owner, : radios.n].astype(np.int64)
    in_contact: Floats = contacts(links.start, links.peer, links.per, links.up, owner, radios.carried).astype(
        np.float64
    )
    return in_contact


def heard_by_stations(radios: Radios, links: Links) -> tuple[Floats, Floats]:
    """Return, for each radio, the SINR (dB) at the station that hears it best and the number of that station's radio.

    They are -100 and -1 where no station hears it over a usable link.
    """
    carried, first = radios.carried, int(links.start[radios.carried])
    receivers = np.repeat(np.arange(len(radios.stations)), np.diff(links.start[carried:]))
    peer, sinr = links.peer[first:], sinr_of(links)[first:]
    heard = np.flatnonzero((links.up[first:] != 0) & (peer < carried))
    heard = heard[np.argsort(sinr[heard], kind="stable")]  # of values for one radio, the last one stays
    uplink, station = np.full(radios.n, NO_SINR), np.full(radios.n, -1.0)
    uplink[peer[heard]], station[peer[heard]] = sinr[heard], receivers[heard]
    return uplink, station


# events ---------------------------------------------------------------------------------------------------------------
FEW = 32  # radios up to which every link that comes up or drops is an event; beyond, those of stations


def report_links(
    events: EventLog, tick: int, radios: Radios, before: Links, now: Links, name_of: Callable[[int], str]
) -> None:
    """Report pairs of radios whose links have come up or dropped: of stations, and of all where there are few."""
    lowest = 0 if radios.n <= FEW else radios.carried
    old, new = linked_pairs(before, lowest), linked_pairs(now, lowest)
    risen, fallen = np.setdiff1d(new, old, assume_unique=True), np.setdiff1d(old, new, assume_unique=True)
    for kind, pairs in (("link_up", risen), ("link_down", fallen)):
        shown = ((name_of(key % radios.n), name_of(key // radios.n)) for key in pairs.tolist())
        events.report_some(tick, kind, shown, len(pairs), "links")


def count_changes(before: Links, now: Links) -> tuple[int, int]:
    """Return how many links have become usable and how many are so no longer, each direction by itself.

    Both tables are of the same radios. Vehicles that were added or removed meanwhile have no links in `before`.
    """
    changes = np.zeros((2, len(now.start) - 1), np.int64)
    changed_entries(before.start, before.peer, before.up, now.start, now.peer, now.up, changes)
    risen, fallen = changes.sum(axis=1).tolist()
    return risen, fallen


def _changed_entries(
    start: Any, peer: Any, up: Any, new_start: Any, new_peer: Any, new_up: Any, changes: Any
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
        changes[0, i], changes[1, i] = risen, fallen


changed_entries = parallel_routine(_changed_entries, items=lambda start, *_: start.size)


def linked_pairs(links: Links, lowest: int) -> Ints:
    """Return lower number + n x higher number of every two radios that hear each other, the higher from `lowest` on."""
    n, first = len(links.start) - 1, int(links.start[lowest])
    if lowest >= n:
        return np.zeros(0, np.int64)
    rows, peer = np.repeat(np.arange(lowest, n), np.diff(links.start[lowest:])), links.peer[first:]
    down_there = np.flatnonzero((links.up[first:] != 0) & (peer < rows))
    up_there = np.flatnonzero(links.peer >= lowest)
    up_there = up_there[links.up[up_there] != 0]
    below = np.searchsorted(links.start, up_there, "right") - 1
    there, back = rows[down_there] * n + peer[down_there], links.peer[up_there] * np.int64(n) + below
    return np.intersect1d(there, back[below < links.peer[up_there]], assume_unique=True)


# silent radios --------------------------------------------------------------------------------------------------------
Mask = NDArray[np.bool_]
DAMAGED = "damaged"  # why a link of such a radio is down


def silent_radios(radios: Radios, damaged: Iterable[tuple[str, Ints]]) -> Mask:
    """Return whether each radio is that of a damaged vehicle, (n,).

    `damaged` are fleets and the places of vehicles in the order of their members.
    """
    mask = np.zeros(radios.n, bool)
    parts = {part.fleet: part for part in radios.parts}
    for fleet, places in damaged:
        if fleet in parts:
            part = parts[fleet]
            own = mask[part.radios]
            own.reshape(part.n, part.slots)[places] = True
    return mask


def mute(radios: Radios, silent: Mask) -> bool:
    """Let silent radios no longer transmit by their duty; return whether one did."""
    duty = radios.table[COLUMN.duty, : radios.n]
    if not duty[silent].any():
        return False
    duty[silent] = 0.0
    radios.table[COLUMN.growing] = growing_loads(radios.table[:, : radios.n], radios.table)
    return True


def without(links: Links, silent: Mask) -> Links:
    """Return the links without those of silent radios."""
    return moved_links(links, np.where(silent, -1, np.arange(len(silent))), len(silent)) if silent.any() else links


def among(graph: Graph, present: Ints) -> Graph:
    """Return the network of some radios, under their places in `present`."""
    number = np.full(len(graph.start) - 1, -1)
    number[present] = np.arange(len(present))
    start, peer, kept = renumbered(graph.start, graph.peer, number, len(present))
    return Graph(start, peer, graph.cost[kept])
