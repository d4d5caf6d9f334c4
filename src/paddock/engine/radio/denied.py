"""Radios to which jammers deny the channel: with CSMA they wait, and those that wait all the time have no way out.

Their links to others are down. It follows from the links and the section `messages`: there is nothing to save.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.twin import vectorised
from paddock.errors import PaddockError
from paddock.radio.air_state import rules_of
from paddock.radio.denial import denied_shares
from paddock.radio.links import BURST, SENSITIVITY, SHARE, Links
from paddock.radio.radios import Floats, Radios
from paddock.radio.signal import decibels, power_ratio
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
    found: Floats = np.maximum(links.jamming - links.bursts[BURST] * links.bursts[SHARE], 0.0)
    return found


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
            given = links.bursts, steady_jamming(links), energy, self._rules.slot, self._rules.difs
            self._last = links.jamming, denied_shares(*given)
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

    def check_saved(self, radios: Radios, links: Links) -> None:
        """Refuse links that are up although their transmitter never gets the channel."""
        denied = self.always(radios, links)
        if denied.any() and links.up[denied[links.peer]].any():
            raise PaddockError("saved links of radios that jammers keep off the channel are up")
