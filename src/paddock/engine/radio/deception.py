"""False frames of deceptive jammers: who accepts them, their counts, and their way to mailboxes.

Frame f begins at f periods of the run and takes its airtime. A receiver accepts it with the probability that a true
frame of this power would survive, against noise, interference and the other jammers, whatever the receiver does
meanwhile. Each frame has its own random number at each receiver.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddock.compute.math import absolute, floor, maximum
from paddock.compute.routine import routine
from paddock.engine.pipeline import NEVER_DUE
from paddock.engine.radio.packets import MessageStage
from paddock.engine.radio.roster import RadioRoster
from paddock.engine.radio.state import RadioState
from paddock.errors import PaddockError
from paddock.radio.links.jamming import active_share, band_shares, frame_times
from paddock.radio.links.radios import Floats, Ints
from paddock.radio.links.table import (
    BANDWIDTH,
    BITS,
    FREQUENCY,
    MODULATION,
    NOISE,
    SAME_CHANNEL,
    SPREAD,
    packet_error,
)

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
        modulation = int(table[MODULATION, i])
        for q in range(deceptive.size):
            k = deceptive[q]
            j = n + k
            same = absolute(table[FREQUENCY, j] - table[FREQUENCY, i]) <= SAME_CHANNEL * table[BANDWIDTH, i]
            chances[q, i] = 0.0
            if same and table[MODULATION, j] == modulation and sending[q] > 0.0 and levels[k, i] > 0.0:
                mean, there = band_shares(table, i, j, k, doing)
                others = maximum(jamming[i] - mean * levels[k, i], 0.0)
                ratio = there * levels[k, i] / (table[NOISE, i] + interference[i] + others)
                chances[q, i] = 1.0 - packet_error(modulation, ratio * table[SPREAD, i], table[BITS, j])


find_chances = routine(chance_rows)


def last_frame(time: float, period: float, taken: float) -> int:
    """Return the number of the last frame that has ended by a time (s), -1: none."""
    return max(int(floor((time - taken) / period + ROUNDING)), -1)


def next_frame_tick(tick: int, rate: float, period: float, taken: float) -> int:
    """Return the first tick >= `tick` by which a frame has ended since the tick before it; `rate` in ticks per s."""
    wanted = last_frame((tick - 1) / rate, period, taken) + 1
    later = max(int(floor((wanted * period + taken) * rate)) - 1, tick)
    while last_frame(later / rate, period, taken) < wanted:
        later += 1
    return later


def frames_ended(
    tick: int, rate: float, period: float, taken: float, schedule: Sequence[tuple[float, float]] | None
) -> Ints:
    """Return the numbers of the frames that have ended since the last tick and began while the schedule (s) was on."""
    before, last = (last_frame(at / rate, period, taken) for at in (tick - 1, tick))
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

    def __init__(
        self, rate: float, roster: Callable[[], RadioRoster], messages: MessageStage, state: Callable[[], RadioState]
    ) -> None:
        """`rate`: ticks per second; `state` returns that of the run."""
        self.rate, self._roster, self._messages, self._state = rate, roster, messages, state

    def update(self, time: float, interval: float, levels: Floats) -> None:
        """Compute the probabilities from `time` (s) until the next update; `levels` (mW) are those of the jammers."""
        roster, state = self._roster(), self._state()
        jammers, deceptive = roster.jammers, roster.deceptive
        state.chances = np.zeros((len(deceptive), roster.radios.n))
        if len(deceptive):
            sending = [
                active_share(jammers.states[k], jammers.sections[k].on, time, interval) * float(jammers.present[k])
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
        for q in np.flatnonzero(self._state().chances.any(axis=1)).tolist():
            roster = self._roster()
            next_tick = min(next_tick, next_frame_tick(tick, self.rate, *self._times(roster, int(roster.deceptive[q]))))
        return next_tick

    def run(self, tick: int) -> None:
        """Count the frames that receivers accept; those of a jammer with `claims` arrive there as messages."""
        roster, view = self._roster(), self._messages.fitted()
        for q in np.flatnonzero(self._state().chances.any(axis=1)).tolist():
            k = int(roster.deceptive[q])
            section, state, times = roster.jammers.sections[k], roster.jammers.states[k], self._times(roster, k)
            frames = frames_ended(tick, self.rate, *times, section.on if state.scheduled else None)
            if not state.on or not len(frames):
                continue
            origin = None if section.claims is None else self._claimed(view.number_of, section.claims)
            column = roster.radios.n + k
            frame = int(roster.radios.table[BITS, column]), section.data
            frame_values = frames, times, self._state().chances[q], int(roster.radios.streams[column]), origin, frame
            before = self._messages.messages.state.number
            state.false_frames += self._messages.messages.forge(*frame_values)
            if origin is not None and origin < 0:
                made = range(before + 1, self._messages.messages.state.number + 1)
                self._messages.messages.state.senders.update(dict.fromkeys(made, str(section.claims)))

    @staticmethod
    def _claimed(number_of: Callable[[str | int], int], name: str) -> int:
        try:
            return number_of(name)
        except PaddockError:  # it has been removed; its name lives on
            return -1
