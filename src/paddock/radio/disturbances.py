"""Disturbances: packets of transmitters that a receiver cannot decode, but that add to its interference or are sensed.

They are too weak for a link, on an overlapping channel, or of another waveform. The table of links has none of them, so
that links of a run without packets take no longer; they are found for the channel of packets only, from places and
frequencies of the last update of the links.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy import uint64

from paddock.compute.math import absolute
from paddock.compute.twin import rebound
from paddock.radio.link_rows import (
    compute_free_rows,
    find_links,
    free_levels,
    levels,
    row_routine,
    update_rows,
    within_reach,
)
from paddock.radio.link_update import LinkUpdate
from paddock.radio.links import DUTY, FREQUENCY, HEIGHT, OWNER, PZ, QW, QX, SENSITIVITY, Indices
from paddock.radio.paths import PathTables
from paddock.radio.radios import Floats, Ints, Radios
from paddock.scenario.radio_types import HIGHEST_FREQUENCY, LOWEST_FREQUENCY

PLACED = [*range(HEIGHT + 1), FREQUENCY]  # rows of the table of radios that change from update to update
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
    found = into if into is not None and into.shape == shape else np.empty(shape)
    found[:-1], found[-1] = radios.table[: HEIGHT + 1, : radios.n], radios.table[FREQUENCY, : radios.n]
    return found


def unplaced_radios(radios: Radios) -> Floats:
    """Return the rows PLACED of radios that no update of the links has placed: without an attitude."""
    found = np.zeros((len(PLACED), radios.n))
    found[-1] = radios.table[FREQUENCY, : radios.n]
    return found


def possible_places(placed: Floats) -> bool:
    """Return whether rows PLACED can be those of an update of the links."""
    turned, frequency = np.abs(placed[QX : PZ + 1]), placed[-1]
    good = (np.abs(placed[:3]) <= FARTHEST).all() and (np.abs(placed[HEIGHT]) <= 2.0 * FARTHEST).all()
    good = good and (turned <= 1.0 + 1e-6).all()
    return bool(good and ((frequency >= LOWEST_FREQUENCY) & (frequency <= HIGHEST_FREQUENCY)).all())


def find_disturbing(given: Any, paths: Any, k: int, index: Any, place: Any, mw: Any, part: Any, share: Any,
                    met: Any) -> tuple[Any, float, int]:  # fmt: skip
    """Find what the receiver at place k gets of others, as `find_links` does: `part` is that in its band."""
    near = within_reach(given, k, index, part, share)
    wrong = levels(given, paths, k, near, index, part, mw)
    for m in range(near):
        part[m] = mw[m] * share[m]
    least, kept = given.least[given.order[k]], uint64(0)
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
        table[DUTY], table[SENSITIVITY, :n] = 1.0, least + links.hysteresis
        self._owner: Floats = table[OWNER, :n].copy()
        given = links.classes, links.paths, links.hysteresis, 0.0, links.longest
        super().__init__(replace(links.radios, table=table), *given)

    def refresh(self) -> None:
        """Compute the reach of all groups again, after a change of frequencies."""
        super().refresh()
        self.busy = False  # packets are simulated

    def _rows(self) -> Any:
        return free_disturbing_rows if super()._rows() is compute_free_rows else disturbing_rows

    def find(self, placed: Floats, tables: PathTables) -> Disturbances:
        """Return the disturbances between radios as they were placed, rows PLACED; `tables` are those of `links`."""
        table, n = self.radios.table, self.radios.n
        new = ~placed[QX : QW + 1].any(axis=0)
        owner = np.where(new, NO_OWNER, self._owner)
        table[: HEIGHT + 1, :n] = np.where(new, NOWHERE, placed[:-1])
        if (table[FREQUENCY, :n] != placed[-1]).any() or (table[OWNER, :n] != owner).any():
            table[FREQUENCY, :n], table[OWNER, :n] = placed[-1], owner
            self.refresh()
        moved = not np.array_equal(placed, placed_radios(self.of.radios))
        if moved:  # since the update of the links: fading and shadowing are those of that time
            tables.place(table)
        peer, values, at, count, _, _ = self.find_rows(self.of.keep)
        if moved:
            tables.place()
        return Disturbances(at, count, peer, values[1])
