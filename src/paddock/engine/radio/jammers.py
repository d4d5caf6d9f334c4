"""Jammers of a run: jammed receivers, radios to which they deny the channel, and false frames.

A vehicle or station is jammed when one of its radios has lost half of its links or more to jammers. It counts as jammed
until it has not been for `HOLD` seconds, so that sweeps and pulses are one event.

Radios with CSMA wait while they sense a jammer. Those that wait all the time do not transmit: their links to others are
down. This follows from the links and the section `messages`; it is not state.

Frame f of a deceptive jammer begins at f periods of the run and takes its airtime. A receiver accepts it with the
probability that a true frame of this power would survive, against noise, interference and the other jammers, whatever
the receiver does meanwhile. Each frame has its own random number at each receiver.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.compute.math import floor, maximum
from paddock.compute.routine import routine
from paddock.compute.twin import vectorised
from paddock.engine.events import EVENTS_SHOWN, EventLog
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.radio.roster import NOT_JAMMED, RadioRoster, RadioState
from paddock.errors import PaddockError
from paddock.radio.links.jamming import ON, Jammers, add_jamming, band_shares, frame_times
from paddock.radio.links.radios import COLUMN, Floats, Ints, Radios
from paddock.radio.links.table import BURST, SHARE, Bools, on_channel, packet_error
from paddock.radio.packets.messages import rules_of
from paddock.radio.packets.queues import denied_shares
from paddock.radio.physics.signal import decibels, power_ratio
from paddock.scenario.radio_types import MessagesSection
from paddock.wire.radio_results import Links

if TYPE_CHECKING:
    from paddock.engine.radio.stage import RadioStage

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
    sense = radios.table[COLUMN.sensitivity, :n] if section.sense is None else np.full(n, section.sense)
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

    def always_denied(self, radios: Radios, links: Links) -> NDArray[np.bool_]:
        """Return whether each radio never gets the channel, (n,)."""
        return self.shares(radios, links) >= 1.0

    def close_links(self, radios: Radios, links: Links) -> Links:
        """Return the links, where those that such radios transmit are down."""
        denied = self.always_denied(radios, links)
        if denied.any():
            links.up[denied[links.peer]] = 0
        return links

    def denial_of(self, radios: Radios, links: Links, radio: int) -> Denial:
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


def report_jammed(
    events: EventLog, tick: int, hold: int, roster: RadioRoster, state: RadioState, hit: Bools, levels: Floats
) -> None:
    """Report vehicles and stations that are jammed or free after an update, by the first of their radios.

    hold: ticks without jamming after which a receiver counts as free
    hit: (n,) 1 for jammed radios
    levels: mW, of the jammers
    """
    radios, jammers, last = roster.radios, roster.jammers, state.jammed
    if not len(jammers) or not radios.n:
        return
    first = np.flatnonzero(radios.slot == 0)
    now = np.logical_or.reduceat(hit, first).astype(bool)
    before = last[first] != NOT_JAMMED
    risen = first[now & ~before]
    freed = first[before & ~now & (tick - last[first] >= hold)]
    last[first[now]], last[freed] = tick, NOT_JAMMED
    strongest = _strongest(risen[:EVENTS_SHOWN], radios, jammers, state, levels) if len(risen) else []
    by = [jammers.sections[k].name for k in strongest]
    for kind, changed, details in (("jammed", risen, by), ("unjammed", freed, [""] * len(freed))):
        shown = ((roster.name_of(radio), detail) for radio, detail in zip(changed.tolist(), details, strict=False))
        events.report_some(tick, kind, shown, len(changed), "vehicles and stations")


def _strongest(first: Ints, radios: Radios, jammers: Jammers, state: RadioState, levels: Floats) -> list[int]:
    """Return the jammer that is strongest above noise and interference at vehicles and stations, by their first radio.

    One compiled pass for each jammer, over the radios of these vehicles alone.
    """
    n = radios.n
    own = np.flatnonzero(np.isin(np.arange(n) - radios.slot, first))
    table = np.ascontiguousarray(radios.table[:, np.concatenate([own, np.arange(n, radios.table.shape[1])])])
    own_levels, ratios = np.ascontiguousarray(levels[:, own]), np.zeros((len(jammers), len(own)))
    for k in range(len(jammers)):
        alone, columns = state.doing.copy(), jammers.columns_of(k)
        alone[ON] = 0.0
        alone[ON, columns] = state.doing[ON, columns]
        add_jamming(table, alone, own_levels, ratios[k])
    ratios /= radios.table[COLUMN.noise, own] + state.links.interference[own]
    starts = np.flatnonzero(radios.slot[own] == 0)
    return [int(k) for k in np.argmax(np.maximum.reduceat(ratios, starts, axis=1), axis=0)]


ROUNDING = 1e-9  # of a period


def chance_rows(
    table: Any,
    deceptive: Any,
    sending: Any,
    doing: Any,
    levels: Any,
    jamming: Any,
    interference: Any,
    chances: Any,
) -> None:
    """Compute the probability that a receiver accepts a frame of a deceptive jammer, (k, n).

    `sending` (k,) is 0 for those that are off.
    """
    n = jamming.size
    for i in range(n):
        modulation = int(table[COLUMN.modulation, i])
        for q in range(deceptive.size):
            k = deceptive[q]
            j = n + k
            chances[q, i] = 0.0
            if (
                on_channel(table, i, j)
                and table[COLUMN.modulation, j] == modulation
                and sending[q] > 0.0
                and levels[k, i] > 0.0
            ):
                mean, there = band_shares(table, i, j, k, doing)
                others = maximum(jamming[i] - mean * levels[k, i], 0.0)
                ratio = there * levels[k, i] / (table[COLUMN.noise, i] + interference[i] + others)
                chances[q, i] = 1.0 - packet_error(modulation, ratio * table[COLUMN.spread, i], table[COLUMN.bits, j])


find_chances = routine(chance_rows)


def last_frame(time: float, period: float, airtime: float) -> int:
    """Return the number of the last frame that has ended by a time (s), -1: none."""
    return max(int(floor((time - airtime) / period + ROUNDING)), -1)


def next_frame_tick(tick: int, rate: float, period: float, airtime: float) -> int:
    """Return the first tick >= `tick` by which a frame has ended since the tick before it; `rate` in ticks per s."""
    frame = last_frame((tick - 1) / rate, period, airtime) + 1
    later = max(int(floor((frame * period + airtime) * rate)) - 1, tick)
    while last_frame(later / rate, period, airtime) < frame:
        later += 1
    return later


def frames_ended(
    tick: int, rate: float, period: float, airtime: float, schedule: Sequence[tuple[float, float]] | None
) -> Ints:
    """Return the numbers of the frames that have ended since the last tick and began while the schedule (s) was on."""
    before, last = (last_frame(at / rate, period, airtime) for at in (tick - 1, tick))
    frames = np.arange(before + 1, last + 1)
    if schedule is None:
        return frames
    begin = frames * period + ROUNDING * period
    on = np.zeros(len(frames), bool)
    for first, end in schedule:
        on |= (begin >= first) & (begin < end)
    return frames[on]


# the stage ------------------------------------------------------------------------------------------------------------


class DeceptionStage:
    """Lets the frames arrive that have ended since the last tick, with the probabilities of the last links."""

    name = "deception"

    def __init__(self, radio: "RadioStage") -> None:
        self._radio, self.rate = radio, radio.world.clock.rate  # ticks per second

    def update(self, time: float, levels: Floats) -> None:
        """Compute the probabilities from `time` (s) until the next update; `levels` (mW) are those of the jammers."""
        roster, state, interval = self._radio.roster, self._radio.state, self._radio.interval
        jammers, deceptive = roster.jammers, roster.deceptive
        state.chances = np.zeros((len(deceptive), roster.radios.n))
        if len(deceptive):
            sending = [
                jammers.states[k].active_share(jammers.sections[k].on, time, interval) * float(jammers.present[k])
                for k in deceptive.tolist()
            ]
            powers = levels, state.links.jamming, state.links.interference
            find_chances(roster.radios.table, deceptive, np.array(sending), state.doing, *powers, state.chances)
            state.chances[:, state.silent] = 0.0

    def _times(self, roster: RadioRoster, k: int) -> tuple[float, float]:
        """Return the period and the airtime (s) of the frames of a jammer."""
        jammers, column = roster.jammers, roster.radios.table[:, roster.radios.n + k]
        return frame_times(jammers.sections[k], jammers.states[k], column)

    def due(self, tick: int) -> int:
        """Return the tick at which the next frame has ended that a receiver may accept."""
        next_tick = NEVER_DUE
        for q in np.flatnonzero(self._radio.state.chances.any(axis=1)).tolist():
            roster = self._radio.roster
            next_tick = min(next_tick, next_frame_tick(tick, self.rate, *self._times(roster, int(roster.deceptive[q]))))
        return next_tick

    def run(self, tick: int) -> None:
        """Count the frames that receivers accept; those of a jammer with `claims` arrive there as messages."""
        radio, messages = self._radio.channel.fitted(), self._radio.channel.messages
        roster = radio.roster
        for q in np.flatnonzero(self._radio.state.chances.any(axis=1)).tolist():
            k = int(roster.deceptive[q])
            section, state, times = roster.jammers.sections[k], roster.jammers.states[k], self._times(roster, k)
            frames = frames_ended(tick, self.rate, *times, section.on if state.scheduled else None)
            if not state.on or not len(frames):
                continue
            origin = None if section.claims is None else self._claimed(radio.number_of, section.claims)
            column = roster.radios.n + k
            frame = int(roster.radios.table[COLUMN.bits, column]), section.data
            frame_values = (
                frames,
                times,
                self._radio.state.chances[q],
                int(roster.radios.streams[column]),
                origin,
                frame,
            )
            before = messages.state.number
            state.false_frames += messages.forge(*frame_values)
            if origin is not None and origin < 0:
                made = range(before + 1, messages.state.number + 1)
                messages.state.senders.update(dict.fromkeys(made, str(section.claims)))

    @staticmethod
    def _claimed(number_of: Callable[[str | int], int], name: str) -> int:
        try:
            return number_of(name)
        except PaddockError:  # it has been removed; its name lives on
            return -1
