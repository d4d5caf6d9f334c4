"""Jammers: barrage, spot, swept, pulsed, follower and deceptive, and their power at every receiver.

An update covers the time until the next one. What a jammer does faster than that is averaged over it: the share of a
pulse train that is on, the share of a sweep that crosses the receiver's band; `rows.py` has its effect on packets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import int64, zeros

from paddock.compute.math import absolute, clamp, exp, floor, log, maximum, minimum
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.errors import PaddockError, unknown_name
from paddock.radio.links.paths import Paths
from paddock.radio.links.radios import COLUMN, Classes, Floats, Radios, jammer_radio, turn
from paddock.radio.links.table import BEGIN, BURST, BURST_ROWS, CYCLE, LENGTH, PERIOD, SHARE, common_band, level_db
from paddock.radio.physics.signal import DECIBELS, NEPERS
from paddock.radio.settings import SETTABLE, checked_changes
from paddock.scenario.base import FARTHEST_PLACE
from paddock.scenario.radio import JammerSection
from paddock.scenario.radio_types import HIGHEST_FREQUENCY, LOWEST_FREQUENCY

WEAK = -200.0  # dBm: terrain and obstacles count for stronger jammers
PULSE_DUTY, REACTION, HEARS, FRAMES = 0.5, 0.1, -90.0, 100.0  # unless given
LARGEST = FARTHEST_PLACE  # m
LEAST = 1e-9  # s
# rows of the table of what jammers do now; EVERY: s from one burst to the next, 0: on or off until the next update;
# the last three: cycle of bursts (s), begin and length of one (s; those of a sweep depend on the receiver)
ON, LOW, HIGH, PHASE, SPAN, EVERY, TURN, START, LASTS = range(9)
ROWS = 9


@dataclass
class JammerState:
    """What changes of a jammer in a run."""

    name: str
    on: bool  # whether it is switched on
    scheduled: bool  # whether it follows its schedule; otherwise it transmits while it is on
    position: tuple[float, float, float] | None  # m; None: on a vehicle
    vehicle: str | None
    power: float  # dBm
    frequency: float  # Hz
    bandwidth: float  # Hz
    tuned: float  # Hz: where a follower transmits from its last reaction until the next update on, 0: nowhere
    left: float  # Hz: where it transmitted before that since the last update, 0: nowhere; `tuned` if it has not changed
    heard: float  # Hz: the strongest transmission that a follower hears, 0: none
    since: float  # s: when it began to hear it
    false_frames: float  # that receivers have accepted, of a deceptive jammer: a whole number

    def change(self, changes: Mapping[str, Any]) -> None:
        """Apply checked changes to a jammer; one that is switched on transmits whatever its schedule."""
        for name, value in changes.items():
            setattr(self, name, tuple(value) if name == "position" else value)
        if "scheduled" in changes:
            self.on = True
        elif "on" in changes:
            self.scheduled = False
        if "position" in changes:
            self.vehicle = None
        elif "vehicle" in changes:
            self.position = None

    def follow(self, reaction: float, heard: float, time: float, interval: float) -> float:
        """Let a follower hear a frequency (Hz; 0: none) at `time`, and tune to it when its reaction (s) is over.

        Return how long (s) after `time` it transmits where it was (`left`): from then on until the next update,
        `interval` s after `time`, it is where it is `tuned`.
        """
        self.left = self.tuned
        if heard != self.heard:
            self.heard, self.since = heard, time
        switches = self.since + reaction - time
        if self.tuned == self.heard or switches >= interval - LEAST:
            return 0.0
        self.tuned = self.heard
        if switches <= LEAST:
            self.left = self.tuned
            return 0.0
        return switches

    def active_share(self, schedule: Sequence[tuple[float, float]] | None, time: float, interval: float) -> float:
        """Return the share of an interval in which a jammer may transmit, by its switch and its schedule."""
        if not self.on:
            return 0.0
        return on_share(schedule if self.scheduled else None, time, interval)


class Jammers:
    """The jammers of a run, in the order of their names.

    Each is a column of the table of radios, after the radios, and of what jammers do. Columns of followers for the
    frequencies that they leave between two updates come last.
    """

    def __init__(
        self, sections: Sequence[JammerSection], radios: Radios, states: Sequence[JammerState] | None = None
    ) -> None:
        """states: those of the jammers in the order of their names; None: as at the start of a run."""
        self.sections = sorted(sections, key=lambda section: section.name)
        self.radios = radios
        self.states = [started(section) for section in self.sections] if states is None else list(states)
        self.present = np.zeros(len(self.sections), bool)  # those whose vehicle exists
        followers = [k for k, section in enumerate(self.sections) if section.kind == "follower"]
        self.second = {k: len(self.sections) + q for q, k in enumerate(followers)}  # columns of what they leave

    def __len__(self) -> int:
        return len(self.sections)

    @property
    def columns(self) -> int:
        """Number of columns: one for each jammer, and another for each follower."""
        return len(self.sections) + len(self.second)

    def columns_of(self, k: int) -> list[int]:
        """Return the columns of a jammer."""
        return [k, self.second[k]] if k in self.second else [k]

    def position(self, k: int) -> tuple[float, float, float] | None:
        """Return where a jammer is, m; None: its vehicle does not exist."""
        x, y, z = self.radios.table[:3, self.radios.n + k].tolist()
        return (x, y, z) if self.present[k] else None

    def place(self, k: int, position: Floats | None, attitude: Floats | None, owner: float) -> None:
        """Put a jammer where its vehicle is; without a position, its vehicle has been removed."""
        self.present[k] = position is not None
        if position is None:
            return
        table, level = self.radios.table, np.array([0.0, 0.0, 0.0, 1.0]) if attitude is None else attitude
        for column in self.columns_of(k):
            at = self.radios.n + column
            table[:3, at] = position
            table[COLUMN.owner, at] = owner
            turn(table[:, at : at + 1], level[:, None])

    def tune(self) -> None:
        """Set the frequencies, bandwidths and powers that the jammers have now."""
        table, n, rows = self.radios.table, self.radios.n, [COLUMN.frequency, COLUMN.bandwidth, COLUMN.power]
        for k, state in enumerate(self.states):
            now = state.tuned if k in self.second and state.tuned else state.frequency
            table[rows, n + k] = now, state.bandwidth, state.power
            if k in self.second:
                table[rows, n + self.second[k]] = state.left or now, state.bandwidth, state.power

    def act(self, time: float, interval: float, classes: Classes, paths: Paths, on_air: Floats) -> Floats:
        """Return what the jammers do from `time` (s) until the next update: rows ON to LASTS, a column each.

        `on_air` (n,) is the share of time that each radio has transmitted messages or commands since the last update.
        Followers may have other frequencies afterwards.
        """
        doing = np.zeros((ROWS, self.columns))
        self.tune()
        heard = self.levels(classes, paths, heard=True) if self.second else np.zeros((0, 0))
        for k, (section, state) in enumerate(zip(self.sections, self.states, strict=True)):
            if k in self.second:
                listens = state.on and bool(self.present[k])
                loudest = self._loudest(section, heard[k] * float(listens), on_air)
                reaction = REACTION if section.reaction is None else section.reaction
                switches = state.follow(reaction, loudest, time, interval)
                if not self.present[k]:
                    continue
                parts = (state.tuned, switches, interval), (state.left, 0.0, switches)
                for column, (frequency, begin, end) in zip(self.columns_of(k), parts, strict=True):
                    if frequency and end > begin:
                        _transmit(doing[:, column], section, state, time, interval, begin, end)
            elif self.present[k]:
                self._act_alone(doing[:, k], k, time, interval)
        self.tune()
        return doing

    def _act_alone(self, doing: Floats, k: int, time: float, interval: float) -> None:
        """Write the column of a jammer that does not listen."""
        section, state = self.sections[k], self.states[k]
        pulses = pulse_times(section, state, self.radios.table[:, self.radios.n + k])
        share = state.active_share(section.on, time, interval)
        if pulses is None and section.sweep is None:
            _transmit(doing, section, state, time, interval, 0.0, interval)
            return
        if pulses is not None:
            share *= pulsed_share(time, interval, *pulses)
        doing[ON], period = share, section.period if pulses is None else pulses[0]
        assert period is not None
        if section.sweep is not None:
            doing[LOW], doing[HIGH] = section.sweep
            doing[PHASE], doing[SPAN] = time / period - floor(time / period), min(interval / period, 1.0)
        if 0.0 < share < 1.0 or section.sweep is not None:
            doing[EVERY] = min(period, interval)
            doing[TURN:] = period, 0.0, 0.0 if pulses is None else period * pulses[1]

    def levels(self, classes: Classes, paths: Paths, heard: bool = False) -> Floats:
        """Return the powers (mW) of their columns at all radios, (columns, n); `heard`: of all radios at jammers."""
        radios, powers = self.radios, np.zeros((len(self) if heard else self.columns, self.radios.n))
        tables = classes.table, classes.of, radios.patterns, paths
        jammer_levels(radios.table, radios.n, heard, *tables, powers)
        return powers

    def _loudest(self, section: JammerSection, levels: Floats, on_air: Floats) -> float:
        """Return the frequency (Hz) of the strongest transmission that a follower hears, 0: none.

        `levels` (n,) are those of all radios, mW.
        """
        radios = self.radios
        levels = np.where(radios.table[COLUMN.duty, : radios.n] + on_air > 0.0, levels, 0.0)
        best = int(np.argmax(levels)) if len(levels) else -1
        limit = HEARS if section.sensitivity is None else section.sensitivity
        hears = best >= 0 and levels[best] > 0.0 and DECIBELS * log(float(levels[best])) >= limit
        return float(radios.table[COLUMN.frequency, best]) if hears else 0.0


def check_emitters(states: Sequence[JammerState], names: Sequence[str]) -> None:
    """Refuse states of jammers or spoofers that are not those of these names, or that no run can have left."""
    if [state.name for state in states] != list(names):
        raise PaddockError("jammers are not those of the scenario")
    for state in states:
        changes = {name: getattr(state, name) for name in SETTABLE}
        checked_changes({name: value for name, value in changes.items() if value is not None}, restoring=True)
        tuned = [state.tuned, state.left, state.heard]
        if any(f != 0.0 and not LOWEST_FREQUENCY <= f <= HIGHEST_FREQUENCY for f in tuned):
            raise PaddockError(f"jammer {state.name!r} is tuned to {tuned} Hz")
        if not (abs(state.since) <= LARGEST and 0.0 <= state.false_frames <= 1e18):
            raise PaddockError(f"jammer {state.name!r} has values that are not valid")


def find_emitter(kind: str, states: Sequence[JammerState], name: str) -> JammerState:
    """Return the state of a jammer or spoofer (`kind`) by name."""
    for state in states:
        if state.name == name:
            return state
    raise unknown_name(kind, name, [state.name for state in states])


def started(section: JammerSection) -> JammerState:
    """Return the state of a jammer at the start of a run."""
    frequency = section.frequency if section.sweep is None else 0.5 * sum(section.sweep)
    place, band = (section.position, section.vehicle), (frequency, jammer_radio(section).bandwidth)
    return JammerState(section.name, section.enabled, True, *place, section.power, *band, 0.0, 0.0, 0.0, 0.0, 0.0)


def on_share(schedule: Sequence[tuple[float, float]] | None, time: float, interval: float) -> float:
    """Return the share of an interval (s, from `time` on) in which a schedule is on."""
    if schedule is None:
        return 1.0
    share = 0.0
    for begin, end in schedule:
        share += maximum(minimum(end, time + interval) - maximum(begin, time), 0.0) / interval
    return minimum(share, 1.0)


def frame_times(section: JammerSection, state: JammerState, column: Floats) -> tuple[float, float]:
    """Return the time (s) from one frame of a deceptive jammer to the next, and that of a frame on the air.

    `column` is that of the jammer in the table of radios. Frames that would overlap follow each other.
    """
    airtime = float(column[COLUMN.bits] * column[COLUMN.spread] / state.bandwidth)
    return max(1.0 / (section.frames or FRAMES), airtime), airtime


def pulse_times(section: JammerSection, state: JammerState, column: Floats) -> tuple[float, float] | None:
    """Return the period (s) of a jammer's pulses and the share of it that they take; None: it has no pulses.

    The frames of a deceptive jammer are pulses.
    """
    if section.kind == "deceptive":
        period, airtime = frame_times(section, state, column)
        return period, airtime / period
    if section.kind == "pulsed" and section.period is not None:
        return section.period, PULSE_DUTY if section.duty is None else section.duty
    return None


def _transmit(
    doing: Floats, section: JammerSection, state: JammerState, time: float, interval: float, begin: float, end: float
) -> None:
    """Write the column of a transmission between two times (s after `time`), where the schedule allows it.

    What begins or ends within the interval is one burst.
    """
    share = state.active_share(section.on, time + begin, end - begin) * (end - begin) / interval
    doing[ON] = share
    if 0.0 < share < 1.0:
        schedule = section.on if state.scheduled else None
        begins = [first for first, last in schedule or () if last > time + begin and first < time + end]
        first = max(min(begins, default=0.0), time + begin)
        doing[EVERY], doing[TURN:] = interval, (interval, first % interval, share * interval)


def possible_acts(doing: Floats) -> bool:
    """Return whether jammers can do this: rows ON to LASTS."""
    on, low, high, phase, span, every, *times = doing
    shares = all(((values >= 0.0) & (values <= 1.0)).all() for values in (on, phase, span))
    still = (low == 0.0) & (high == 0.0)
    swept = (low >= LOWEST_FREQUENCY) & (low < high) & (high <= HIGHEST_FREQUENCY) & (span > 0.0) & (phase < 1.0)
    possible = all(((values >= 0.0) & (values <= LARGEST)).all() for values in (every, *times))
    return shares and bool((still | swept).all()) and possible and bool((times[2] <= times[0]).all())


def pulsed_share(time: float, interval: float, period: float, duty: float) -> float:
    """Return the share of an interval in which a pulse train is on; pulses begin at multiples of the period (s)."""

    def on_until(t: float) -> float:
        whole = floor(t / period)
        return whole * duty * period + minimum(t - whole * period, duty * period)

    return (on_until(time + interval) - on_until(time)) / interval


def swept_share(
    frequency: float, bandwidth: float, low: float, high: float, width: float, phase: float, span: float
) -> tuple[float, float]:
    """Return the mean and the largest share of a swept transmission in a band, over a part of the sawtooth's period."""
    before = minimum(span, 1.0 - phase)  # the rest follows from the lowest frequency on
    total, largest = 0.0, 0.0
    for begin, end in ((phase, phase + before), (0.0, span - before)):
        if end > begin:
            first, last = low + begin * (high - low) - frequency, low + end * (high - low) - frequency
            passed = crossed(last, bandwidth, width) - crossed(first, bandwidth, width)
            total += passed / (high - low)
            nearest = maximum(maximum(first, -last), 0.0)
            largest = maximum(largest, clamp(common_band(0.0, bandwidth, nearest, width), 0.0, 1.0))
    return total / span, largest


def crossed(offset: float, bandwidth: float, width: float) -> float:
    """Return the integral (Hz) of the share of a transmission in a band over its centre, up to an offset (Hz).

    The share rises from 0 to its largest value, stays there and falls: a trapezium.
    """
    narrower = minimum(bandwidth, width)
    flat, foot, height = 0.5 * absolute(bandwidth - width), 0.5 * (bandwidth + width), narrower / width
    x = clamp(offset, -foot, foot)
    if x < -flat:
        return 0.5 * height * (x + foot) * (x + foot) / narrower
    if x <= flat:
        return height * (0.5 * narrower + x + flat)
    return height * (narrower + 2.0 * flat - 0.5 * (foot - x) * (foot - x) / narrower)


def band_shares(table: Any, i: int, j: int, k: int, doing: Any) -> tuple[float, float]:
    """Return the shares of the power of jammer k (antenna j) in a receiver's band: the mean, and while it is there."""
    frequency, bandwidth, width = table[COLUMN.frequency, i], table[COLUMN.bandwidth, i], table[COLUMN.bandwidth, j]
    if doing[HIGH, k] > 0.0:
        mean, largest = swept_share(
            frequency, bandwidth, doing[LOW, k], doing[HIGH, k], width, doing[PHASE, k], doing[SPAN, k]
        )
    else:
        mean = maximum(common_band(frequency, bandwidth, table[COLUMN.frequency, j], width), 0.0)
        largest = mean
    return float(mean * doing[ON, k]), float(largest)


def crossing(table: Any, i: int, j: int, k: int, doing: Any) -> tuple[float, float]:
    """Return when the sweep of jammer k (antenna j) comes to a receiver's band, and for how long (s of its period).

    It counts as there with its largest share, for as long as gives its mean, around its way over the band's centre.
    """
    frequency, low, high = table[COLUMN.frequency, i], doing[LOW, k], doing[HIGH, k]
    mean, largest = swept_share(frequency, table[COLUMN.bandwidth, i], low, high, table[COLUMN.bandwidth, j], 0.0, 1.0)
    part = minimum(mean / maximum(largest, 1e-300), 1.0)
    begin = clamp((frequency - low) / (high - low) - 0.5 * part, 0.0, 1.0 - part)
    return float(begin * doing[TURN, k]), float(part * doing[TURN, k])


def band_share(table: Any, i: int, j: int, k: int, doing: Any) -> float:
    """Return the mean share of the power of jammer k (antenna j) in a receiver's band, in time and frequency."""
    return band_shares(table, i, j, k, doing)[0]


def level_rows(table: Any, n: int, heard: bool, classes: Any, of: Any, patterns: Any, paths: Any, levels: Any) -> None:
    """Compute the powers (mW) of jammers at all radios, (jammers, n); `heard`: of all radios at the jammers."""
    for i in parallel_range(n):
        for k in range(levels.shape[0]):
            radio: Any = int64(i)  # of one type, so that `level_db` is compiled once
            jammer: Any = int64(n + k)
            receiver, transmitter = (jammer, radio) if heard else (radio, jammer)
            level = level_db(table, receiver, transmitter, classes, of, patterns, paths, WEAK)
            levels[k, i] = exp(NEPERS * level) if table[COLUMN.owner, n + k] != table[COLUMN.owner, i] else 0.0


def jam_rows(table: Any, doing: Any, levels: Any, jamming: Any) -> None:
    """Add up the power (mW) of all jammers in the band of each receiver."""
    n = jamming.size
    for i in range(n):
        total = 0.0
        for k in range(doing.shape[1]):
            if doing[ON, k] > 0.0:
                total += band_share(table, i, n + k, k, doing) * levels[k, i]
        jamming[i] = total


def burst_of(table: Any, i: int, j: int, k: int, doing: Any, burst: Any) -> bool:
    """Write the burst of jammer k (antenna j) at receiver i, with its share in the band as power.

    Return whether it comes and goes there.
    """
    if doing[EVERY, k] <= 0.0 or doing[ON, k] <= 0.0:
        return False
    mean, largest = band_shares(table, i, j, k, doing)
    if mean <= 0.0 or mean >= largest:
        return False
    burst[BURST], burst[SHARE], burst[PERIOD], burst[CYCLE] = largest, mean / largest, doing[EVERY, k], doing[TURN, k]
    burst[BEGIN], burst[LENGTH] = doing[START, k], doing[LASTS, k]
    if doing[HIGH, k] > 0.0:
        burst[BEGIN], burst[LENGTH] = crossing(table, i, j, k, doing)
    return True


def find_burst_rows(table: Any, doing: Any, levels: Any, bursts: Any) -> None:
    """Find, for each receiver, the bursts with the largest mean power (mW); those of equal times are one burst.

    Of two in turns, what the stronger one has more is the burst.
    """
    n, count = bursts.shape[1], doing.shape[1]
    bursts_here = zeros((count, BURST_ROWS))
    for i in range(n):
        count_here, strongest = 0, 0.0
        for k in range(count):
            burst = bursts_here[count_here]
            if not burst_of(table, i, n + k, k, doing, burst):
                continue
            burst[BURST] *= levels[k, i]
            same = 0
            while same < count_here and not together(burst, bursts_here[same]):
                same += 1
            if same < count_here:
                bursts_here[same, BURST] += burst[BURST]
                continue
            same = 0
            while same < count_here and not in_turns(burst, bursts_here[same]):
                same += 1
            if same == count_here:
                count_here += 1
            elif bursts_here[same, BURST] >= burst[BURST]:
                bursts_here[same, BURST] -= burst[BURST]
            else:
                burst[BURST] -= bursts_here[same, BURST]
                for row in range(BURST_ROWS):
                    bursts_here[same, row] = burst[row]
        for k in range(count_here):
            if bursts_here[k, BURST] * bursts_here[k, SHARE] > strongest:
                strongest = bursts_here[k, BURST] * bursts_here[k, SHARE]
                for row in range(BURST_ROWS):
                    bursts[row, i] = bursts_here[k, row]


def together(first: Any, second: Any) -> bool:
    """Return whether two bursts begin and end together, and are on for the same share of time."""
    alike = first[CYCLE] == second[CYCLE] and first[BEGIN] == second[BEGIN] and first[LENGTH] == second[LENGTH]
    return bool(alike and first[PERIOD] == second[PERIOD] and absolute(first[SHARE] - second[SHARE]) < 1e-12)


def in_turns(first: Any, second: Any) -> bool:
    """Return whether one of two bursts begins whenever the other one ends."""
    cycle, shift = first[CYCLE], (first[BEGIN] + first[LENGTH] - second[BEGIN]) / first[CYCLE]
    gap = absolute(shift - floor(shift + 0.5)) + absolute(first[LENGTH] + second[LENGTH] - cycle) / cycle
    return bool(cycle == second[CYCLE] and first[PERIOD] == second[PERIOD] and gap < 1e-9)


jammer_levels = parallel_routine(level_rows, items=lambda table, n, *_: n)
add_jamming = routine(jam_rows)
find_bursts = routine(find_burst_rows)
