"""Events of vehicles and stations that are jammed, and that are not any more.

A vehicle or station is jammed when one of its radios has lost half of its links or more to jammers. It counts as jammed
until it has not been for `HOLD` seconds, so that sweeps and pulses are one event.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from paddock.engine.events import EVENTS_SHOWN, EventLog
from paddock.errors import PaddockError
from paddock.radio.jamming import ON, Jammers, add_jamming
from paddock.radio.links import Bools, Links
from paddock.radio.radios import COLUMN, Floats, Ints, Radios

HOLD = 2.0  # s without jamming after which a receiver counts as free
NOT_JAMMED = -1


class JammedReceivers:
    """Which vehicles and stations are jammed, by the first of their radios."""

    def __init__(self, events: EventLog, hold: int) -> None:
        """`hold` is the number of ticks without jamming after which a receiver counts as free."""
        self.events, self.hold = events, hold
        self.last: Ints = np.zeros(0, np.int64)  # (radios,) tick of the last update with jamming; NOT_JAMMED

    def report(
        self,
        tick: int,
        hit: Bools,
        radios: Radios,
        jammers: Jammers,
        links: Links,
        doing: Floats,
        levels: Floats,
        name_of: Callable[[int], str],
    ) -> None:
        """Report what has changed with an update.

        `hit` is 1 for jammed radios; `doing` and `levels` (mW) are those of the jammers.
        """
        if len(self.last) != radios.n:
            self.last = np.full(radios.n, NOT_JAMMED, np.int64)
        if not len(jammers) or not radios.n:
            return
        first = np.flatnonzero(radios.slot == 0)
        now = np.logical_or.reduceat(hit, first).astype(bool)
        before = self.last[first] != NOT_JAMMED
        risen = first[now & ~before]
        freed = first[before & ~now & (tick - self.last[first] >= self.hold)]
        self.last[first[now]], self.last[freed] = tick, NOT_JAMMED
        if len(risen):
            strongest = _strongest(risen[:EVENTS_SHOWN], radios, jammers, links, doing, levels)
            self._add(tick, "jammed", risen, [jammers.sections[k].name for k in strongest], name_of)
        self._add(tick, "unjammed", freed, [""] * len(freed), name_of)

    def _add(self, tick: int, kind: str, found: Ints, details: list[str], name_of: Callable[[int], str]) -> None:
        shown = ((name_of(radio), detail) for radio, detail in zip(found.tolist(), details, strict=False))
        self.events.report_some(tick, kind, shown, len(found), "vehicles and stations")

    def save(self, n: int) -> Ints:
        """Return the ticks of the last jamming of `n` radios."""
        return self.last.copy() if len(self.last) == n else np.full(n, NOT_JAMMED, np.int64)

    def restore(self, saved: Any, n: int, tick: int) -> None:
        """Load what `save` returned; PaddockError for what it cannot have returned."""
        last = np.asarray(saved)
        valid = last.dtype == np.int64 and last.shape == (n,)
        if not valid or (last < NOT_JAMMED).any() or (last > tick).any():
            raise PaddockError("saved ticks of jamming are not those of the radios")
        self.last = last.copy()


def _strongest(first: Ints, radios: Radios, jammers: Jammers, links: Links, doing: Floats, levels: Floats) -> list[int]:
    """Return the jammer that is strongest above noise and interference at vehicles and stations, by their first radio.

    One compiled pass for each jammer, over the radios of these vehicles alone.
    """
    n = radios.n
    own = np.flatnonzero(np.isin(np.arange(n) - radios.slot, first))
    table = np.ascontiguousarray(radios.table[:, np.concatenate([own, np.arange(n, radios.table.shape[1])])])
    there, ratios = np.ascontiguousarray(levels[:, own]), np.zeros((len(jammers), len(own)))
    for k in range(len(jammers)):
        alone, mine = doing.copy(), jammers.columns_of(k)
        alone[ON] = 0.0
        alone[ON, mine] = doing[ON, mine]
        add_jamming(table, alone, there, ratios[k])
    ratios /= radios.table[COLUMN.noise, own] + links.interference[own]
    starts = np.flatnonzero(radios.slot[own] == 0)
    return [int(k) for k in np.argmax(np.maximum.reduceat(ratios, starts, axis=1), axis=0)]
