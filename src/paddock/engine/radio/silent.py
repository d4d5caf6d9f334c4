"""Silent radios: those of vehicles that the mission has damaged, from the next update of the links on.

They neither transmit nor receive: they have no links, do not interfere, send and pass on no packets, and are no node of
the network. What they had to send is lost. Jammers on the vehicle are devices of their own: they stay as they are.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import PaddockError
from paddock.radio.links import DUTY, GROWING, Links
from paddock.radio.network import Graph
from paddock.radio.radios import Floats, Ints, Radios, growing_loads

Bools = NDArray[np.bool_]
DamagedRows = Callable[[], Iterable[tuple[str, Ints]]]
"""Returns the rows of damaged vehicles, fleet by fleet."""
DAMAGED = "damaged"  # why a link of such a radio is down


class SilentRadios:
    """Which radios are silent; part of the state, because links follow damage only with their next update."""

    def __init__(self, damaged: DamagedRows) -> None:
        self._damaged = damaged
        self.mask: Bools = np.zeros(0, bool)  # (n,)

    def look(self, radios: Radios) -> None:
        """Find the radios of vehicles that are damaged now."""
        self.mask = np.zeros(radios.n, bool)
        parts = {part.fleet: part for part in radios.parts}
        for fleet, rows in self._damaged():
            if fleet in parts:
                part = parts[fleet]
                own = self.mask[part.first : part.first + part.n * part.slots]
                own.reshape(part.n, part.slots)[rows] = True

    def mute(self, radios: Radios) -> bool:
        """Let them no longer transmit by their duty; return whether one did."""
        duty = radios.table[DUTY, : radios.n]
        if not duty[self.mask].any():
            return False
        duty[self.mask] = 0.0
        radios.table[GROWING] = growing_loads(radios.table[:, : radios.n], radios.table)
        return True

    def save(self) -> NDArray[np.uint8]:
        """Return the mask."""
        return self.mask.astype(np.uint8)

    def restore(self, saved: Any, radios: Radios, links: Links) -> None:
        """Load what `save` returned; PaddockError for what it cannot have returned."""
        mask = np.zeros(radios.n, np.uint8) if saved is None else np.asarray(saved)
        good = mask.shape == (radios.n,) and mask.dtype == np.uint8 and bool((mask <= 1).all())
        if not good or mask[radios.carried :].any():
            raise PaddockError("saved radios of damaged vehicles are not valid")
        self.mask = mask.astype(bool)
        if len(without(links, self.mask).peer) != len(links.peer):
            raise PaddockError("saved radios of damaged vehicles have links")


def without(links: Links, silent: Bools) -> Links:
    """Return the links without those of silent radios."""
    if not silent.any():
        return links
    n = len(silent)
    rows = np.repeat(np.arange(n), np.diff(links.start))
    kept = np.flatnonzero(~(silent[rows] | silent[links.peer]))
    start = np.append(0, np.cumsum(np.bincount(rows[kept], minlength=n)))
    entries = {name: getattr(links, name)[kept] for name in ("peer", "power", "sinr", "per", "up")}
    of_radios = {name: getattr(links, name).copy() for name in ("interference", "jamming", "outside", "bursts")}
    for values in of_radios.values():
        values[..., silent] = 0
    collisions = links.collisions[:, kept] if links.collisions.shape[1] else links.collisions
    return links._replace(start=start, collisions=np.ascontiguousarray(collisions), **entries, **of_radios)


def among(graph: Graph, present: Ints) -> Graph:
    """Return the network of some radios, under their places in `present`."""
    n = len(graph.start) - 1
    place = np.full(n, -1)
    place[present] = np.arange(len(present))
    rows = place[np.repeat(np.arange(n), np.diff(graph.start))]
    kept = np.flatnonzero((rows >= 0) & (place[graph.peer] >= 0))
    start: Floats = np.append(0, np.cumsum(np.bincount(rows[kept], minlength=len(present))))
    return Graph(start.astype(np.int64), place[graph.peer[kept]], graph.cost[kept])
