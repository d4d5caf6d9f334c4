"""Links: the table of all links of an update, losses between two radios as scalar functions, status of vehicles.

`update.py` computes the table. Compiled loops call the functions with the table of radios and two numbers. A vehicle's
status is a row of columns in snapshots.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy import empty, uint64
from numpy.typing import NDArray

from paddock.compute.math import absolute, clamp, exp, log, maximum, minimum, select
from paddock.compute.routine import parallel_range, parallel_routine
from paddock.radio.links.paths import blocking, pair_distance, pair_offset, random_gains
from paddock.radio.links.radios import CLASS, COLUMN, Floats, Ints
from paddock.radio.physics.antennas import ISOTROPIC, direction, gain_db, polarisation_loss_db, polarisation_share
from paddock.radio.physics.propagation import loss_db
from paddock.radio.physics.signal import MOST_LOST, NEPERS, ber, per
from paddock.scenario import radio_types
from paddock.wire.radio_results import Links
from paddock.world.columns import Column, column_index

PEERS = 6  # neighbours that a snapshot shows
NO_SINR = -100.0  # dB, of a vehicle without a link
FULL_SIGNAL = 20.0  # dB above the needed SINR at which the signal is 1


class RadioStatus(NamedTuple):
    """The radio of a vehicle, in snapshots."""

    signal: Annotated[
        float, Column("", "its best direct link (to a station, if there are any), 0 to 1; 0: none", none=0.0)
    ] = 0.0
    sinr: Annotated[float, Column("dB", "SINR of that link, -100: none", none=NO_SINR)] = NO_SINR
    jammed: Annotated[float, Column("0/1", "1: half of its links or more are lost to jammers")] = 0.0
    links: Annotated[float, Column("", "number of radios that it hears over a usable link")] = 0.0
    deceived: Annotated[float, Column("", "probability that it accepts a false frame, 0 to 1")] = 0.0
    contact: Annotated[
        float, Column("0/1", "1: a route leads to a station and back; without stations: it hears another radio")
    ] = 0.0
    uplink: Annotated[float, Column("dB", "SINR at the station that hears it best, -100: none does", none=NO_SINR)] = (
        NO_SINR
    )
    station: Annotated[float, Column("", "number of that station's radio, -1: none", none=-1.0)] = -1.0


STATUS = column_index(RadioStatus)
SIGNAL, SINR, JAMMED, LINKS, DECEIVED, CONTACT, UPLINK, STATION = range(8)
FIRST_PEER = len(STATUS)
NO_STATUS = np.array([*RadioStatus._field_defaults.values(), *[-1.0] * PEERS, *[NO_SINR] * PEERS])
"""The status of a vehicle without links: the columns, then the ids of its best neighbours and their SINR."""
# the table ------------------------------------------------------------------------------------------------------------
Bools = NDArray[np.uint8]
Indices = NDArray[np.int32]
BELOW_BEFORE = 3.0  # dB: how much the SINR of the best neighbours is expected to drop between two updates, at most
TOGETHER = 64  # vehicles that a thread takes at a time
SAME_CHANNEL = radio_types.SAME_CHANNEL  # of the bandwidth: centre frequencies may differ by this much
# rows of bursts: mW while one lasts, share of time and s from one to the next, both until the next update; cycle (s of
# simulated time, from 0 on), begin of a burst within it (s), and its length (s)
BURST, SHARE, PERIOD, CYCLE, BEGIN, LENGTH = range(6)
BURST_ROWS = 6
CALM, LOAD = 0, 1  # rows of `Links.collisions`: SINR (dB) without what packets collide with; load
COLLISION_ROWS = 2


def no_links(n: int) -> Links:
    """Return the links before the first update."""
    floats = np.zeros(0)
    empties = np.zeros(0, np.int32), floats, floats, floats, np.zeros(0, np.uint8)
    zeros = np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.zeros((BURST_ROWS, n))
    return Links(-1, np.zeros(n + 1, np.int64), *empties, *zeros, np.zeros((COLLISION_ROWS, 0)))


def renumbered(start: Ints, peer: Any, number: Ints, n: int) -> tuple[Ints, Ints, Ints]:
    """Return compressed rows of the radios that remain of others: begins, peers, and which entries they are.

    start, peer: the rows before
    number: new number of each radio, -1: removed
    n: number of rows after
    """
    row, peers = np.repeat(number, np.diff(start)), number[peer]
    kept = np.flatnonzero((row >= 0) & (peers >= 0))
    if (np.diff(number[number >= 0]) < 0).any():
        kept = kept[np.lexsort((peers[kept], row[kept]))]
    begins = np.concatenate([[0], np.cumsum(np.bincount(row[kept], minlength=n))]).astype(np.int64)
    return begins, peers[kept], kept


def moved_links(links: Links, number: Ints, n: int) -> Links:
    """Return the links of the radios that remain, under their new numbers `number` (-1: removed) of `n`."""
    start, peer, kept = renumbered(links.start, links.peer, number, n)
    remain = number >= 0
    of_radios: dict[str, Any] = {}
    for name in ("interference", "jamming", "outside", "bursts"):
        before = getattr(links, name)
        of_radios[name] = np.zeros((*before.shape[:-1], n), before.dtype)
        of_radios[name][..., number[remain]] = before[..., remain]
    entries: dict[str, Any] = {name: getattr(links, name)[kept] for name in ("power", "sinr", "per", "up")}
    if links.collisions.shape[1]:
        entries["collisions"] = np.ascontiguousarray(links.collisions[:, kept])
    return links._replace(start=start, peer=peer.astype(np.int32), **entries, **of_radios)


def sinr_of(links: Links) -> Floats:
    """Return the SINR (dB) of links without radios whose packets collide with theirs now and then, (m,)."""
    return links.collisions[CALM] if links.collisions.shape[1] else links.sinr


# scalar parts --------------------------------------------------------------------------------------------------------


def pair_gain(table: Any, i: int, j: int, patterns: Any) -> float:
    """Return the gains of both antennas towards each other less the loss of polarisation, dB."""
    dx, dy, dz = pair_offset(table, i, j)
    gain = antenna_gain(table, i, dx, dy, dz, patterns) + antenna_gain(table, j, -dx, -dy, -dz, patterns)
    if table[COLUMN.antenna, i] != ISOTROPIC and table[COLUMN.antenna, j] != ISOTROPIC:
        ax, ay, az = table[COLUMN.px, i], table[COLUMN.py, i], table[COLUMN.pz, i]
        bx, by, bz = table[COLUMN.px, j], table[COLUMN.py, j], table[COLUMN.pz, j]
        share = polarisation_share(ax, ay, az, bx, by, bz, dx, dy, dz)
        gain -= polarisation_loss_db(int(table[COLUMN.polarised, i]), int(table[COLUMN.polarised, j]), share)
    return gain


def antenna_gain(table: Any, k: int, dx: float, dy: float, dz: float, patterns: Any) -> float:
    """Return the gain (dBi) of a radio's antenna towards a vector of the world."""
    kind = int(table[COLUMN.antenna, k])
    if kind == ISOTROPIC:
        return float(table[COLUMN.peak, k])
    x, y, z = direction(table[COLUMN.qx, k], table[COLUMN.qy, k], table[COLUMN.qz, k], table[COLUMN.qw, k], dx, dy, dz)
    peak, azimuth, elevation = table[COLUMN.peak, k], table[COLUMN.azimuth, k], table[COLUMN.elevation, k]
    return gain_db(kind, peak, azimuth, elevation, int(table[COLUMN.pattern, k]), patterns, x, y, z)


def model_loss(table: Any, i: int, j: int, classes: Any, c: int) -> float:
    """Return the loss (dB) of the model of a link class."""
    model, exponent, reference = int(classes[CLASS.model, c]), classes[CLASS.exponent, c], classes[CLASS.reference, c]
    frequency, heights = table[COLUMN.frequency, j], (table[COLUMN.height, i], table[COLUMN.height, j])
    apart, city = pair_distance(table, i, j), int(classes[CLASS.city, c])
    return loss_db(model, apart, frequency, heights[0], heights[1], exponent, reference, city)


def level_db(table: Any, i: int, j: int, classes: Any, of: Any, patterns: Any, paths: Any, least: float) -> float:
    """Return the power (dBm) of transmitter j at receiver i; terrain and obstacles count from `least` dBm on."""
    c = of[int(table[COLUMN.group, i]), int(table[COLUMN.group, j])]
    shadowing, fading = random_gains(table, i, j, classes, c, paths)
    level = table[COLUMN.power, j] + pair_gain(table, i, j, patterns) - model_loss(table, i, j, classes, c)
    level += shadowing + fading
    if level >= least:
        diffraction, blocked = blocking(table, i, j, classes, c, paths)
        level -= diffraction + blocked
    return float(level)


def common_band(frequency: float, bandwidth: float, other: float, width: float) -> float:
    """Return the share of another transmission, at `other` with `width` (Hz), that falls into a band; <= 0: none."""
    top = minimum(frequency + 0.5 * bandwidth, other + 0.5 * width)
    bottom = maximum(frequency - 0.5 * bandwidth, other - 0.5 * width)
    return (top - bottom) / width


def band_overlap(table: Any, i: int, j: int) -> float:
    """Return the share of the transmission of radio j that falls into the band of radio i; <= 0: none."""
    own, other = (table[COLUMN.frequency, i], table[COLUMN.bandwidth, i]), table[COLUMN.frequency, j]
    return common_band(own[0], own[1], other, table[COLUMN.bandwidth, j])


def on_channel(table: Any, i: int, j: int) -> bool:
    """Return whether the centre frequency of radio j is that of the channel of radio i."""
    offset = absolute(table[COLUMN.frequency, j] - table[COLUMN.frequency, i])
    return bool(offset <= SAME_CHANNEL * table[COLUMN.bandwidth, i])


def can_decode(table: Any, i: int, j: int) -> bool:
    """Return whether receiver i can decode transmitter j if it is strong enough: same channel, same waveform."""
    return bool(on_channel(table, i, j) and table[COLUMN.waveform, j] == table[COLUMN.waveform, i])


def airtime_of(table: Any, i: int) -> float:
    """Return the time (s) that a packet of a radio takes."""
    return float(table[COLUMN.bits, i] * table[COLUMN.spread, i] / table[COLUMN.bandwidth, i])


def packet_error(modulation: int, ratio: float, bits: float) -> float:
    """Return the packet error rate at Eb/N0 (ratio)."""
    return per(ber(modulation, ratio), bits)


# what a vehicle knows of its links -----------------------------------------------------------------------------------


def jammed_rows(table: Any, links: Any, denied: Any, jammed: Any) -> None:
    """Mark the radios that have lost half of their links or more to jammers: those that would be usable without.

    Links that are down because their transmitters never get the channel (`denied`) are not lost to jammers here.
    """
    for i in parallel_range(jammed.size):
        could, can = 0, 0
        for m in range(links.start[i], links.start[i + 1]):
            signal, ratio, clear = exp(NEPERS * links.power[m]), links.sinr[m], True
            if links.collisions.shape[1] > 0:
                ratio = links.collisions[CALM, m]
                clear = links.collisions[LOAD, m] <= -log(1.0 - MOST_LOST)
            others = maximum(signal * exp(-NEPERS * ratio) - links.jamming[i], table[COLUMN.noise, i])
            clear = clear and signal >= exp(NEPERS * table[COLUMN.needed, i]) * others
            usable = clear and links.power[m] >= table[COLUMN.sensitivity, i]
            could += int(usable)
            can += int(links.up[m] != 0 or (denied[links.peer[m]] and usable and ratio >= table[COLUMN.needed, i]))
        jammed[i] = links.jamming[i] > 0.0 and could > 0 and 2 * can <= could


class StatusPart(NamedTuple):
    """Which radios are those of a fleet of n vehicles."""

    n: int
    first: int
    slots: int  # radios of each vehicle
    carried: int  # stations have the radios from this one on
    stations: int  # their number


def status_rows(part: Any, table: Any, owner: Any, links: Any, sinr: Any, hit: Any, accepted: Any, status: Any) -> None:
    """Fill the status (rows, capacity) of the vehicles of a fleet, a `StatusPart`.

    `sinr` is that of `sinr_of`; `hit` is 1 for jammed radios.
    """
    n, first, slots, carried, stations = part.n, part.first, part.slots, part.carried, part.stations
    start, peer, up = links.start, links.peer, links.up
    for block in parallel_range((n + TOGETHER - 1) // TOGETHER):
        numbers, values, most = empty(PEERS), empty(PEERS), 0  # of the best neighbours
        for i in range(first + block * TOGETHER * slots, first + min((block + 1) * TOGETHER, n) * slots):
            most = max(most, start[i + 1] - start[i])
        entries = empty(most + 1, uint64)
        for v in range(block * TOGETHER, min((block + 1) * TOGETHER, n)):
            best, margin, heard, jammed, deceived = NO_SINR, 0.0, 0, 0.0, 0.0
            for p in range(PEERS):
                numbers[p], values[p] = -1.0, NO_SINR
            for i in range(first + v * slots, first + (v + 1) * slots):
                jammed = max(jammed, float(hit[i]))
                for q in range(accepted.shape[0]):
                    deceived = max(deceived, accepted[q, i])
                for m in range(uint64(start[i]), uint64(start[i + 1])):
                    heard += int(up[m] != 0)
                last = status[FIRST_PEER + 2 * PEERS - 1, v]
                if slots == 1:
                    best_links(start[i], start[i + 1], sinr, up, last, entries, numbers, values)
                mine = values[0] if slots == 1 else NO_SINR
                if slots > 1 or stations > 0:
                    mine = best_of(start[i], start[i + 1], sinr, up, peer, carried if stations > 0 else 0)
                margin, best = select(mine > best, mine - table[COLUMN.needed, i], margin), maximum(mine, best)
                if slots == 1:
                    for p in range(PEERS):
                        if numbers[p] >= 0.0:
                            numbers[p] = neighbour(peer[uint64(numbers[p])], carried, owner)
                else:
                    for m in range(uint64(start[i]), uint64(start[i + 1])):
                        if up[m] != 0 and sinr[m] > values[PEERS - 1]:
                            insert_peer(numbers, values, neighbour(peer[m], carried, owner), sinr[m])
            for p in range(PEERS):
                status[FIRST_PEER + p, v], status[FIRST_PEER + PEERS + p, v] = numbers[p], values[p]
            status[SIGNAL, v] = clamp(margin / FULL_SIGNAL, 0.0, 1.0)
            status[SINR, v], status[JAMMED, v], status[LINKS, v], status[DECEIVED, v] = best, jammed, heard, deceived


def neighbour(radio: int, carried: int, owner: Any) -> float:
    """Return the number of a neighbour in the status: the id of a vehicle, or -2 - k for the radio k of stations."""
    return float(owner[radio]) if radio < carried else -2.0 - (radio - carried)


def best_of(start: int, end: int, sinr: Any, up: Any, peer: Any, lowest: int) -> float:
    """Return the best SINR (dB) of the usable links of a row to radios from a number on."""
    best = NO_SINR
    for m in range(uint64(start), uint64(end)):
        best = maximum(select((up[m] != 0) & (peer[m] >= lowest), sinr[m], NO_SINR), best)
    return best


def best_links(
    start: int, end: int, sinr: Any, up: Any, before: float, entries: Any, numbers: Any, values: Any
) -> None:  # fmt: skip
    """Find the entries of the best usable links of a row, the best first, and their SINR.

    `before` is the SINR of the last of them at an earlier time: links that are clearly weaker are left out at first.
    """
    bound = before - BELOW_BEFORE
    while True:
        for p in range(PEERS):
            numbers[p], values[p] = -1.0, NO_SINR
        kept = uint64(0)
        for m in range(uint64(start), uint64(end)):  # no branch: states and values are as good as random
            entries[kept] = m
            kept += uint64((up[m] != 0) & (sinr[m] > bound))
        for k in range(kept):
            value, at = sinr[entries[k]], PEERS - 1
            if value > values[at]:
                while at > 0 and values[at - 1] < value:
                    numbers[at], values[at] = numbers[at - 1], values[at - 1]
                    at -= 1
                numbers[at], values[at] = float(entries[k]), value
        if values[PEERS - 1] > bound or bound <= NO_SINR:
            return
        bound = NO_SINR


def insert_peer(numbers: Any, values: Any, number: float, value: float) -> None:
    """Put a neighbour among the best of a vehicle, (PEERS,), the best first.

    One that two radios hear is one neighbour.
    """
    at = PEERS - 1
    for p in range(PEERS):
        if numbers[p] == number:
            if value <= values[p]:
                return
            at = p
            break
    while at > 0 and values[at - 1] < value:
        numbers[at], values[at] = numbers[at - 1], values[at - 1]
        at -= 1
    numbers[at], values[at] = number, value


find_jammed = parallel_routine(jammed_rows, items=lambda *arguments: arguments[-1].size)
fill_status = parallel_routine(status_rows, items=lambda part, *_: part.n)


def jammed_radios(table: Floats, links: Links, denied: NDArray[np.bool_]) -> Bools:
    """Return 1 for the radios that are jammed, (n,); `denied` (n,): those that jammers keep off the channel.

    These are jammed if others would hear them.
    """
    jammed = np.zeros(len(links.jamming), np.uint8)
    if links.jamming.any():
        find_jammed(table, links, denied, jammed)
        jammed[denied & (np.bincount(links.peer, minlength=len(jammed)) > 0)] = 1
    return jammed
