"""Jamming of vehicles and stations: events, and radios to which jammers deny the channel.

A vehicle or station is jammed when one of its radios has lost half of its links or more to jammers. It counts as jammed
until it has not been for `HOLD` seconds, so that sweeps and pulses are one event.

Radios with CSMA wait while they sense a jammer. Those that wait all the time do not transmit: their links to others are
down. This follows from the links and the section `messages`; it is not state.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.twin import vectorised
from paddock.engine.events import EVENTS_SHOWN, EventLog
from paddock.engine.radio.state import NOT_JAMMED
from paddock.radio.links.jamming import ON, Jammers, add_jamming
from paddock.radio.links.radios import COLUMN, Floats, Ints, Radios
from paddock.radio.links.table import BURST, SENSITIVITY, SHARE, Bools, Links
from paddock.radio.packets.messages import rules_of
from paddock.radio.packets.queues import denied_shares
from paddock.radio.physics.signal import decibels, power_ratio
from paddock.scenario.radio_types import MessagesSection

ABOVE_SENSE = 20.0  # dB: of energy over a packet's preamble, as in IEEE 802.11
DENIED = "channel denied"  # why a link of such a radio is down


class Denial(NamedTuple):
    """What denies the channel to a radio."""

    share: float  # of time; 0: nothing does
    power: float  # dBm, of jammers while they do
    limit: float  # dBm, from which on they do


def sensed(radios: Radios, section: MessagesSection) -> Floats:
    """Return the powers (dBm) from which on the channel is busy for each radio, (2, n): of packets, and of energy."""
    n = radios.n
    if section.sharing != "csma":
        return np.full((2, n), np.inf)
    sense = radios.table[SENSITIVITY, :n] if section.sense is None else np.full(n, section.sense)
    return np.stack([sense, sense + ABOVE_SENSE if section.energy is None else np.full(n, section.energy)])


def steady_jamming(links: Links) -> Floats:
    """Return the power (mW) of jammers between bursts, (n,)."""
    steady: Floats = np.maximum(links.jamming - links.bursts[BURST] * links.bursts[SHARE], 0.0)
    return steady


class DeniedRadios:
    """To which radios jammers deny the channel."""

    def __init__(self, section: MessagesSection) -> None:
        self.section, self._rules = section, rules_of(section, 0)
        self._last: tuple[object, Floats] = None, np.zeros(0)  # jamming and shares of the last links with jammers

    def shares(self, radios: Radios, links: Links) -> Floats:
        """Return the share of time that jammers deny the channel to each radio, (n,)."""
        if self.section.sharing != "csma" or not links.jamming.any():
            return np.zeros(radios.n)
        if self._last[0] is not links.jamming:
            energy = vectorised(power_ratio)(sensed(radios, self.section)[1])
            arguments = links.bursts, steady_jamming(links), energy, self._rules.slot, self._rules.difs
            self._last = links.jamming, denied_shares(*arguments)
        return self._last[1]

    def always(self, radios: Radios, links: Links) -> NDArray[np.bool_]:
        """Return whether each radio never gets the channel, (n,)."""
        return self.shares(radios, links) >= 1.0

    def shut(self, radios: Radios, links: Links) -> Links:
        """Return the links, where those that such radios transmit are down."""
        denied = self.always(radios, links)
        if denied.any():
            links.up[denied[links.peer]] = 0
        return links

    def of(self, radios: Radios, links: Links, radio: int) -> Denial:
        """Return what denies the channel to a radio."""
        share = float(self.shares(radios, links)[radio])
        if share == 0.0:
            return Denial(0.0, 0.0, 0.0)
        limit = float(sensed(radios, self.section)[1, radio])
        power = float(steady_jamming(links)[radio])
        if power < power_ratio(limit):
            power += float(links.bursts[BURST, radio])
        return Denial(share, decibels(power), limit)


# events ---------------------------------------------------------------------------------------------------------------
HOLD = 2.0  # s without jamming after which a receiver counts as free


class JammedReceivers:
    """Which vehicles and stations are jammed, by the first of their radios."""

    def __init__(self, events: EventLog, hold: int) -> None:
        """`hold` is the number of ticks without jamming after which a receiver counts as free."""
        self.events, self.hold = events, hold

    def report(
        self,
        tick: int,
        last: Ints,
        hit: Bools,
        radios: Radios,
        jammers: Jammers,
        links: Links,
        doing: Floats,
        levels: Floats,
        name_of: Callable[[int], str],
    ) -> None:
        """Report what has changed with an update.

        `last` (n,) is the tick of the last update with jamming of each radio, NOT_JAMMED: it was released. `hit` is 1
        for jammed radios; `doing` and `levels` (mW) are those of the jammers.
        """
        if not len(jammers) or not radios.n:
            return
        first = np.flatnonzero(radios.slot == 0)
        now = np.logical_or.reduceat(hit, first).astype(bool)
        before = last[first] != NOT_JAMMED
        risen = first[now & ~before]
        freed = first[before & ~now & (tick - last[first] >= self.hold)]
        last[first[now]], last[freed] = tick, NOT_JAMMED
        if len(risen):
            strongest = _strongest(risen[:EVENTS_SHOWN], radios, jammers, links, doing, levels)
            self._add(tick, "jammed", risen, [jammers.sections[k].name for k in strongest], name_of)
        self._add(tick, "unjammed", freed, [""] * len(freed), name_of)

    def _add(self, tick: int, kind: str, radios: Ints, details: list[str], name_of: Callable[[int], str]) -> None:
        shown = ((name_of(radio), detail) for radio, detail in zip(radios.tolist(), details, strict=False))
        self.events.report_some(tick, kind, shown, len(radios), "vehicles and stations")


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
