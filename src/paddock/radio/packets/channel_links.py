"""The links as the channel of packets needs them: rows by transmitter, disturbances, and traffic that is sensed.

Disturbances are transmitters that a receiver cannot decode, but that add to its interference or are sensed: they are
too weak for a link, on an overlapping channel, or of another waveform. The table of links has none of them, so that
links of a run without packets take no longer; they are found for the channel of packets only, from positions and
frequencies of the last update of the links. A receiver senses packets of its channel and waveform from `sense` on, as
the detection of a preamble does, and other packets from `energy` on, by their power in its band.

Radios with a duty are not simulated packet by packet; they access the channel by the same rules as others. Who senses
one begins no packet while it transmits, and it begins none meanwhile: its load is no load of the links of that
transmitter, but the transmitter waits. With the share b of time in which one of the radios that it senses transmits,
itself among them, b / (1 - b) slots go to them for each slot of its own.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy import empty, inf, int64, uint64, zeros

from paddock.compute.math import absolute, exp, maximum, minimum, select
from paddock.compute.routine import routine
from paddock.compute.twin import rebound
from paddock.radio.links.paths import PathTables
from paddock.radio.links.radios import COLUMN, Floats, Ints, Radios
from paddock.radio.links.rows import (
    RowScratch,
    compute_free_rows,
    find_links,
    free_levels,
    levels,
    row_routine,
    update_rows,
    within_reach,
)
from paddock.radio.links.table import LOAD, Indices, airtime_of
from paddock.radio.links.update import LinkUpdate
from paddock.radio.packets.queues import ENTRY, PARTS, TRAFFIC, ChannelLinks
from paddock.radio.physics.signal import (
    NEPERS,
    STEADY_DUTY,
    duty_load,
    duty_pace,
    level_of,
    lowest_level,
    own_load,
)
from paddock.scenario.radio_types import HIGHEST_FREQUENCY, LOWEST_FREQUENCY
from paddock.wire.radio_results import Links

PLACED = [*range(COLUMN.height + 1), COLUMN.frequency]  # rows of the table of radios that change from update to update
FARTHEST = 1e9  # m
NOWHERE = 2e9  # m, of radios that no update of the links has placed
NO_OWNER = -2.0  # of them: they do not hear each other


class Disturbances(NamedTuple):
    """What receivers get of others; those of receiver i are `first[i]:first[i] + many[i]`, `peer` ascends.

    Links may be among them.
    """

    first: Ints  # (n,)
    many: Ints  # (n,)
    peer: Indices  # number of the transmitter
    part: Floats  # mW in the receiver's band; negative: it cannot decode it at any power


def no_disturbances(n: int) -> Disturbances:
    """Return those of a channel on which radios do not disturb each other."""
    return Disturbances(np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(0, np.int32), np.zeros(0))


def placed_radios(radios: Radios, into: Floats | None = None) -> Floats:
    """Return the rows PLACED of the table of radios, a copy: in the array `into`, if it fits."""
    shape = len(PLACED), radios.n
    table = into if into is not None and into.shape == shape else np.empty(shape)
    table[:-1], table[-1] = radios.table[: COLUMN.height + 1, : radios.n], radios.table[COLUMN.frequency, : radios.n]
    return table


def unplaced_radios(radios: Radios) -> Floats:
    """Return the rows PLACED of radios that no update of the links has placed: without an attitude."""
    table = np.zeros((len(PLACED), radios.n))
    table[-1] = radios.table[COLUMN.frequency, : radios.n]
    return table


def possible_places(placed: Floats) -> bool:
    """Return whether rows PLACED can be those of an update of the links."""
    turned, frequency = np.abs(placed[COLUMN.qx : COLUMN.pz + 1]), placed[-1]
    good = (np.abs(placed[:3]) <= FARTHEST).all() and (np.abs(placed[COLUMN.height]) <= 2.0 * FARTHEST).all()
    good = good and (turned <= 1.0 + 1e-6).all()
    return bool(good and ((frequency >= LOWEST_FREQUENCY) & (frequency <= HIGHEST_FREQUENCY)).all())


def find_disturbing(tables: Any, paths: Any, k: int, scratch: RowScratch) -> tuple[Any, float, int]:
    """Find what the receiver at place k gets of others, as `find_links` does: `part` is that in its band."""
    index, place, mw, part, share, _ = scratch
    near = within_reach(tables, k, index, part, share)
    wrong = levels(tables, paths, k, near, index, part, mw)
    for m in range(near):
        part[m] = mw[m] * share[m]
    least, kept = tables.least[tables.order[k]], uint64(0)
    for m in range(near):
        index[kept], place[kept] = index[m], m
        kept += uint64(absolute(part[m]) >= least)
    return kept, 0.0, wrong


disturbing_rows = row_routine(rebound(update_rows, {find_links: find_disturbing}))
free_disturbing_rows = row_routine(
    rebound(update_rows, {find_links: rebound(find_disturbing, {levels: free_levels})}), inline=True
)


class DisturbanceUpdate(LinkUpdate):
    """Finds the disturbances of a table of radios; keeps what does not change between updates."""

    def __init__(self, links: LinkUpdate, least: Floats) -> None:
        """`links` computes those of the radios; `least` (n,) dBm: weaker ones do not count."""
        self.of = links
        table, n = links.radios.table.copy(), links.radios.n
        table[COLUMN.duty], table[COLUMN.sensitivity, :n] = 1.0, least + links.hysteresis
        self._owner: Floats = table[COLUMN.owner, :n].copy()
        settings = links.classes, links.paths, links.hysteresis, 0.0, links.longest
        super().__init__(replace(links.radios, table=table), *settings)

    def refresh(self) -> None:
        """Compute the reach of all groups again, after a change of frequencies."""
        super().refresh()
        self.busy = False  # packets are simulated

    def _rows(self) -> Any:
        return free_disturbing_rows if super()._rows() is compute_free_rows else disturbing_rows

    def find(self, placed: Floats, tables: PathTables) -> Disturbances:
        """Return the disturbances between radios as they were placed, rows PLACED; `tables` are those of `links`."""
        table, n = self.radios.table, self.radios.n
        new = ~placed[COLUMN.qx : COLUMN.qw + 1].any(axis=0)
        owner = np.where(new, NO_OWNER, self._owner)
        table[: COLUMN.height + 1, :n] = np.where(new, NOWHERE, placed[:-1])
        if (table[COLUMN.frequency, :n] != placed[-1]).any() or (table[COLUMN.owner, :n] != owner).any():
            table[COLUMN.frequency, :n], table[COLUMN.owner, :n] = placed[-1], owner
            self.refresh()
        moved = not np.array_equal(placed, placed_radios(self.of.radios))
        if moved:  # since the update of the links: fading and shadowing are those of that time
            tables.place(table)
        rows = self.find_rows(self.of.keep)
        if moved:
            tables.place()
        return Disturbances(rows.at, rows.many, rows.peer, rows.values[1])


# sensed traffic -------------------------------------------------------------------------------------------------------
MOST_SENSED = 0.999  # share of time: who senses more waits as if it were this


def unsensed_loads(
    table: Floats, links: Links, others: Disturbances, sense: Floats, energy: Floats, least: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return load of links (m,) without what their transmitters sense, duty of their receivers (m,), and waits (n,).

    The duty is 0 where the transmitter senses its receiver. `others` are no links. `least` (n,) mW is the power of the
    weakest link, `sense` and `energy` as in `channel_links`. Waits are slots for each slot of a radio's own packets.
    """
    n, m = len(sense), links.collisions.shape[1]
    loads, duties, waits = links.collisions[LOAD].copy(), np.zeros(m), np.zeros(n)
    if m:
        duties[:] = np.repeat(table[COLUMN.duty, :n], np.diff(links.start))
    if table[COLUMN.duty, :n].any() and np.isfinite(sense).any():
        start, peer, power = list_traffic(table, links, others, sense, energy)
        find_waits(table, sense, start, peer, power, waits)
        if m:
            subtract_sensed(table, links, least, start, peer, power, loads, duties)
    return loads, duties, waits


def _list(table: Any, links: Any, others: Any, sense: Any, energy: Any) -> tuple[Ints, Ints, Floats]:
    """Return the radios with a duty that each receiver gets, as compressed rows: begins, numbers, powers (mW).

    A negative power is sensed. Numbers ascend.
    """
    n = sense.size
    start = zeros(n + 1, int64)
    for i in range(n):
        count = 0
        for entry in range(links.start[i], links.start[i + 1]):
            count += table[COLUMN.duty, links.peer[entry]] > 0.0
        for entry in range(others.first[i], others.first[i] + others.many[i]):
            count += table[COLUMN.duty, others.peer[entry]] > 0.0
        start[i + 1] = start[i] + count  # at most: links are among the others
    peer, power = empty(start[n], int64), empty(start[n])
    for i in range(n):
        at, entry, last = start[i], links.start[i], links.start[i + 1]
        other, end = others.first[i], others.first[i] + others.many[i]
        while entry < last or other < end:
            if other == end or (entry < last and links.peer[entry] <= others.peer[other]):
                j, mw, limit = int64(links.peer[entry]), exp(NEPERS * links.power[entry]), sense[i]
                other += 1 if other < end and others.peer[other] == j else 0
                entry += 1
            else:
                j, mw = int64(others.peer[other]), absolute(others.part[other])
                limit = sense[i] if others.part[other] > 0.0 else energy[i]
                other += 1
            if table[COLUMN.duty, j] > 0.0:
                peer[at], power[at] = j, -mw if mw >= limit else mw
                at += 1
        start[i + 1] = at
    return start, peer, power


def _wait(table: Any, sense: Any, start: Any, peer: Any, power: Any, waits: Any) -> None:
    """Compute for how many slots radios with CSMA wait for each slot of their own, from rows of `_list`."""
    for i in range(sense.size):
        idle = 1.0 - table[COLUMN.duty, i]
        for entry in range(start[i], start[i + 1]):
            idle *= 1.0 - table[COLUMN.duty, peer[entry]] if power[entry] < 0.0 else 1.0
        waits[i] = 1.0 / maximum(idle, 1.0 - MOST_SENSED) - 1.0 if sense[i] < inf else 0.0


def _subtract(table: Any, links: Any, least: Any, start: Any, peer: Any, power: Any, loads: Any, duties: Any) -> None:
    """Subtract from the loads of links what their transmitters sense, from rows of `_list`."""
    for i in range(least.size):
        lowest, share = lowest_level(least[i]), exp(-NEPERS * table[COLUMN.fatal, i])
        airtime, noise = airtime_of(table, i), table[COLUMN.noise, i]
        for entry in range(links.start[i], links.start[i + 1]):
            j, at, last = links.peer[entry], start[i], start[i + 1]
            harms = level_of(maximum(share * exp(NEPERS * links.power[entry]) - noise, 1e-300), lowest)
            for m in range(start[j], start[j + 1]):
                k = peer[m]
                if power[m] >= 0.0:
                    continue
                if k == i:
                    loads[entry], duties[entry] = maximum(loads[entry] - own_load(table[COLUMN.duty, i]), 0.0), 0.0
                while at < last and peer[at] < k:
                    at += 1
                met = at < last and peer[at] == k and table[COLUMN.duty, k] < STEADY_DUTY
                if met and level_of(absolute(power[at]), lowest) >= harms:
                    pace = duty_pace(table[COLUMN.duty, k], airtime_of(table, k))
                    loads[entry] -= minimum(duty_load(table[COLUMN.duty, k]) + airtime * pace, loads[entry])


list_traffic, find_waits, subtract_sensed = routine(_list), routine(_wait), routine(_subtract)
# rows by transmitter --------------------------------------------------------------------------------------------------


def channel_links(
    table: Floats,
    links: Links,
    others: Disturbances,
    position: Floats,
    sense: Floats,
    energy: Floats,
    least: Floats,
    denied: Ints,
) -> ChannelLinks:
    """Return the links of a table of radios at positions (3, n) in m, and `others`, for the channel.

    `sense` and `energy` (n,) in mW, inf: packets are not sensed; `least` (n,) mW: the power of the weakest link.
    `denied` is that of `ChannelLinks`; its row TRAFFIC is written.
    """
    loads, duties, waits = unsensed_loads(table, links, others, sense, energy, least)
    denied[TRAFFIC] = np.rint(waits * PARTS).astype(np.int64)
    entries = np.empty(len(links.peer) + int(others.many.sum()), ENTRY)  # at most: links are among the others
    fields = entries["peer"], entries["power"], entries["link"]
    rows = transposed(links.start, links.peer, links.power, others, sense, energy, fields)
    values, traffic = (links.power, links.sinr, links.per), (links.collisions, loads, duties)
    return ChannelLinks(*rows, entries, table, position.copy(), *values, links.up, *traffic, links.bursts, denied)


def _transpose(
    start: Any, peer: Any, level: Any, others: Any, sense: Any, energy: Any, entries: Any
) -> tuple[Ints, Ints]:
    """Write the entries of `ChannelLinks` of links by receiver, and of others that are no links; return their rows.

    `entries` are their receivers, powers and links.
    """
    n = sense.size
    first, last, mw = zeros(n, int64), zeros(n, int64), empty(level.size)
    for entry in range(level.size):
        mw[entry] = exp(NEPERS * level[entry])
    for entry in range(peer.size):
        last[peer[entry]] += 1
    for i in range(n):
        for other in range(others.first[i], others.first[i] + others.many[i]):
            last[others.peer[other]] += 1
    room: Any = 0
    for j in range(n):
        room, first[j], last[j] = room + last[j], room, room
    receivers, powers, numbers = entries
    linked = zeros(n, int64) - 1  # the last receiver that has a link from each transmitter
    for i in range(n):
        for entry in range(start[i], start[i + 1]):
            j, power = peer[entry], mw[entry]
            at = last[j]
            receivers[at], numbers[at], powers[at] = i, entry, select(power >= sense[i], -power, power)
            linked[j], last[j] = i, at + 1
        for other in range(others.first[i], others.first[i] + others.many[i]):  # without branches: they are random
            j, part = others.peer[other], others.part[other]
            at, power, limit = last[j], absolute(part), select(part > 0.0, sense[i], energy[i])
            receivers[at], numbers[at], powers[at] = i, -1, select(power >= limit, -power, power)
            last[j] = at + int64(linked[j] != i)
    return first, last


transposed = routine(_transpose, inline=True)
