"""Jammers: barrage, spot, swept, pulsed, follower and deceptive, and their power at every receiver.

An update covers the time until the next one. What a jammer does faster than that is averaged over it: the share of a
pulse train that is on, the share of a sweep that crosses the receiver's band.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy import int64

from paddock.compute.math import absolute, exp, floor, log, maximum, minimum
from paddock.compute.routine import parallel_range, parallel_routine, routine
from paddock.errors import InvalidValueError, PaddockError, unknown_name
from paddock.radio.links import (
    BANDWIDTH,
    BITS,
    DUTY,
    FREQUENCY,
    MODULATION,
    NOISE,
    OWNER,
    POWER,
    SAME_CHANNEL,
    SPREAD,
    common_band,
    level_db,
    packet_error,
)
from paddock.radio.paths import Paths
from paddock.radio.radios import Classes, Floats, Radios, jammer_radio, turn
from paddock.radio.signal import DECIBELS, NEPERS
from paddock.scenario.radio import HIGHEST_FREQUENCY, LOWEST_FREQUENCY, JammerSection
from paddock.world.archive import typed

WEAK = -200.0  # dBm: terrain and obstacles count for stronger jammers
PULSE_DUTY, REACTION, HEARS, FRAMES = 0.5, 0.1, -90.0, 100.0  # unless given
SWEPT_STEPS = 64  # phases at which the overlap of a sweep is averaged
SETTABLE = ("on", "position", "vehicle", "power", "frequency", "bandwidth")
LARGEST = 1e9  # m
ON, LOW, HIGH, PHASE, SPAN = range(5)  # rows of the table of what jammers do now


@dataclass
class JammerState:
    """What changes of a jammer in a run."""

    name: str
    on: bool  # whether it follows its schedule
    position: tuple[float, float, float] | None  # m; None: on a vehicle
    vehicle: str | None
    power: float  # dBm
    frequency: float  # Hz
    bandwidth: float  # Hz
    tuned: float  # Hz: where a follower transmits, 0: nowhere
    heard: float  # Hz: the strongest transmission that a follower hears, 0: none
    since: float  # s: when it began to hear it
    false_frames: float  # that receivers have accepted, of a deceptive jammer


class Jammers:
    """The jammers of a run, in the order of their names."""

    def __init__(self, sections: Sequence[JammerSection], radios: Radios) -> None:
        self.sections = sorted(sections, key=lambda one: one.name)
        self.radios = radios
        self.states = [started(one) for one in self.sections]
        self.present = np.zeros(len(self.sections), bool)  # those whose vehicle exists

    def __len__(self) -> int:
        return len(self.sections)

    def find(self, name: str) -> JammerState:
        """Return the state of a jammer by name."""
        for one in self.states:
            if one.name == name:
                return one
        raise unknown_name("jammer", name, [one.name for one in self.states])

    def reset(self) -> None:
        """Start a new run."""
        self.states = [started(one) for one in self.sections]

    def place(self, k: int, position: Floats | None, attitude: Floats | None, owner: float) -> None:
        """Put a jammer where its vehicle is; without a position, its vehicle has been removed."""
        self.present[k] = position is not None
        if position is not None:
            table, at = self.radios.table, self.radios.n + k
            table[:3, at] = position
            table[OWNER, at] = owner
            level = np.array([0.0, 0.0, 0.0, 1.0]) if attitude is None else attitude
            turn(table[:, at : at + 1], level[:, None])

    def act(self, time: float, interval: float, classes: Classes, paths: Paths, on_air: Floats) -> Floats:
        """Return what the jammers do from `time` (s) until the next update: rows ON to SPAN.

        `on_air` (n,) is the share of time that each radio has transmitted messages or commands since the last update.
        """
        doing, table = np.zeros((SPAN + 1, len(self))), self.radios.table
        followers = any(one.kind == "follower" for one in self.sections)
        heard = self.levels(classes, paths, heard=True) if followers else np.zeros((0, 0))
        for k, (one, state) in enumerate(zip(self.sections, self.states, strict=True)):
            at = self.radios.n + k
            share = on_share(one.on, time, interval) if state.on and self.present[k] else 0.0
            table[FREQUENCY, at], table[BANDWIDTH, at] = state.frequency, state.bandwidth
            table[POWER, at] = state.power
            if one.kind == "pulsed":
                assert one.period is not None
                share *= pulsed_share(time, interval, one.period, PULSE_DUTY if one.duty is None else one.duty)
            if one.kind == "swept":
                assert one.period is not None and one.sweep is not None
                doing[LOW, k], doing[HIGH, k] = one.sweep
                doing[PHASE, k] = time / one.period - floor(time / one.period)
                doing[SPAN, k] = min(interval / one.period, 1.0)
            if one.kind == "follower":
                self._follow(k, one, state, time, heard, on_air)
                table[FREQUENCY, at] = state.tuned or state.frequency
                share = share if state.tuned else 0.0
            doing[ON, k] = share
        return doing

    def levels(self, classes: Classes, paths: Paths, heard: bool = False) -> Floats:
        """Return the powers (mW) of jammers at all radios, (jammers, n); `heard`: of all radios at the jammers."""
        radios, found = self.radios, np.zeros((len(self), self.radios.n))
        given = classes.table, classes.of, radios.patterns, paths
        jammer_levels(radios.table, radios.n, heard, *given, found)
        return found

    def _follow(
        self, k: int, one: JammerSection, state: JammerState, time: float, heard_levels: Floats, on_air: Floats
    ) -> None:
        """Listen for the strongest transmission; tune to it after the reaction time."""
        radios, listens = self.radios, state.on and bool(self.present[k])
        transmits = radios.table[DUTY, : radios.n] + on_air > 0.0
        levels = np.where(transmits, heard_levels[k], 0.0) * float(listens)
        best = int(np.argmax(levels)) if len(levels) else -1
        limit = HEARS if one.sensitivity is None else one.sensitivity
        hears = best >= 0 and levels[best] > 0.0 and DECIBELS * log(float(levels[best])) >= limit
        heard = float(radios.table[FREQUENCY, best]) if hears else 0.0
        if heard != state.heard:
            state.heard, state.since = heard, time
        reaction = REACTION if one.reaction is None else one.reaction
        if time - state.since >= reaction - 1e-9:
            state.tuned = heard

    def save(self) -> list[dict[str, Any]]:
        """Return the states as plain values."""
        return self.saved(self.states)

    def restore(self, saved: Any) -> None:
        """Load what `save` returned; PaddockError for what it cannot have returned."""
        self.states = self.loaded(saved, [one.name for one in self.states])

    @staticmethod
    def saved(states: Sequence[JammerState]) -> list[dict[str, Any]]:
        """Return states as plain values."""
        return [asdict(one) | {"position": None if one.position is None else [*one.position]} for one in states]

    @staticmethod
    def loaded(saved: Any, names: Sequence[str]) -> list[JammerState]:
        """Return the states of these jammers from what `saved` returned; PaddockError for what it cannot have."""
        states = [typed(JammerState, one, "jammer") for one in typed(list[Any], saved, "jammers")]
        if [one.name for one in states] != list(names):
            raise PaddockError("saved jammers are not those of the scenario")
        for one in states:
            changes = {name: getattr(one, name) for name in SETTABLE}
            checked_changes({**changes, "position": changes["position"] and list(changes["position"])}, both=True)
            tuned = [one.tuned, one.heard]
            if any(f != 0.0 and not LOWEST_FREQUENCY <= f <= HIGHEST_FREQUENCY for f in tuned):
                raise PaddockError(f"saved jammer {one.name!r} is tuned to {tuned} Hz")
            if not (abs(one.since) <= LARGEST and 0.0 <= one.false_frames <= 1e18):
                raise PaddockError(f"saved jammer {one.name!r} has values that are not valid")
        return states


def started(one: JammerSection) -> JammerState:
    """Return the state of a jammer at the start of a run."""
    given = one.enabled, one.position, one.vehicle, one.power, one.frequency, jammer_radio(one).bandwidth
    return JammerState(one.name, *given, 0.0, 0.0, 0.0, 0.0)


LIMITS = {"power": (-100.0, 100.0), "frequency": (LOWEST_FREQUENCY, HIGHEST_FREQUENCY), "bandwidth": (1e-3, 1e11)}


def checked_changes(changes: Mapping[str, Any], both: bool = False) -> dict[str, Any]:
    """Return changes of a jammer in plain values; InvalidValueError for those that are not valid."""
    found: dict[str, Any] = {}
    for name, value in changes.items():
        if name not in SETTABLE:
            raise unknown_name("setting of a jammer", name, SETTABLE)
        if name == "on":
            if not isinstance(value, bool):
                raise InvalidValueError(f"on must be true or false, not {value!r}")
            found[name] = value
        elif name == "vehicle":
            if value is not None and not isinstance(value, str):
                raise InvalidValueError(f"vehicle must be the name of a vehicle, not {value!r}")
            found[name] = value
        elif name == "position":
            found[name] = None if value is None else _position(value)
        else:
            low, high = LIMITS[name]
            if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
                raise InvalidValueError(f"{name} must be a number from {low:g} to {high:g}, not {value!r}")
            found[name] = float(value)
    given = [name for name in ("position", "vehicle") if found.get(name) is not None]
    if len(given) == 2 or (both and not given):
        raise InvalidValueError("a jammer has a position or a vehicle, not both")
    return found


def _position(value: Any) -> list[float]:
    values = value.tolist() if isinstance(value, np.ndarray) else value
    numbers = isinstance(values, list | tuple) and len(values) == 3
    if not numbers or not all(
        isinstance(one, int | float) and not isinstance(one, bool) and abs(one) <= LARGEST for one in values
    ):
        raise InvalidValueError(f"position must be [x, y, z] in m, not {value!r}")
    return [float(one) for one in values]


def changed(state: JammerState, changes: Mapping[str, Any]) -> None:
    """Apply checked changes to a jammer."""
    for name, value in changes.items():
        setattr(state, name, tuple(value) if name == "position" and value is not None else value)
    if changes.get("position") is not None:
        state.vehicle = None
    elif changes.get("vehicle") is not None:
        state.position = None


def on_share(schedule: Sequence[tuple[float, float]] | None, time: float, interval: float) -> float:
    """Return the share of an interval (s, from `time` on) in which a schedule is on."""
    if schedule is None:
        return 1.0
    share = 0.0
    for begin, end in schedule:
        share += maximum(minimum(end, time + interval) - maximum(begin, time), 0.0) / interval
    return minimum(share, 1.0)


def pulsed_share(time: float, interval: float, period: float, duty: float) -> float:
    """Return the share of an interval in which a pulse train is on; pulses begin at multiples of the period (s)."""

    def on_until(t: float) -> float:
        whole = floor(t / period)
        return whole * duty * period + minimum(t - whole * period, duty * period)

    return (on_until(time + interval) - on_until(time)) / interval


def swept_share(
    frequency: float, bandwidth: float, low: float, high: float, width: float, phase: float, span: float
) -> float:
    """Return the mean share of a swept transmission in a receiver's band, over a part of the sawtooth's period."""
    total = 0.0
    for step in range(SWEPT_STEPS):
        at = phase + span * (step + 0.5) / SWEPT_STEPS
        at -= floor(at)
        total += maximum(common_band(frequency, bandwidth, low + at * (high - low), width), 0.0)
    return total / SWEPT_STEPS


def band_share(table: Any, i: int, j: int, k: int, doing: Any) -> float:
    """Return the share of the power of jammer k (antenna j) in a receiver's band, in time and frequency."""
    frequency, bandwidth, width = table[FREQUENCY, i], table[BANDWIDTH, i], table[BANDWIDTH, j]
    if doing[HIGH, k] > 0.0:
        share = swept_share(frequency, bandwidth, doing[LOW, k], doing[HIGH, k], width, doing[PHASE, k], doing[SPAN, k])
    else:
        share = maximum(common_band(frequency, bandwidth, table[FREQUENCY, j], width), 0.0)
    return float(share * doing[ON, k])


def level_rows(table: Any, n: int, heard: bool, classes: Any, of: Any, patterns: Any, paths: Any, levels: Any) -> None:
    """Compute the powers (mW) of jammers at all radios, (jammers, n); `heard`: of all radios at the jammers."""
    for i in parallel_range(n):
        for k in range(levels.shape[0]):
            radio: Any = int64(i)  # of one type, so that `level_db` is compiled once
            jammer: Any = int64(n + k)
            receiver, transmitter = (jammer, radio) if heard else (radio, jammer)
            level = level_db(table, receiver, transmitter, classes, of, patterns, paths, WEAK)
            levels[k, i] = exp(NEPERS * level) if table[OWNER, n + k] != table[OWNER, i] else 0.0


def jam_rows(table: Any, doing: Any, levels: Any, jamming: Any) -> None:
    """Add up the power (mW) of all jammers in the band of each receiver."""
    n = jamming.size
    for i in range(n):
        total = 0.0
        for k in range(doing.shape[1]):
            if doing[ON, k] > 0.0:
                total += band_share(table, i, n + k, k, doing) * levels[k, i]
        jamming[i] = total


def deceive_rows(
    table: Any, deceptive: Any, doing: Any, levels: Any, jamming: Any, interference: Any, accepted: Any
) -> None:
    """Compute the probability that a receiver accepts a frame of a deceptive jammer, (k, n)."""
    n = jamming.size
    for i in range(n):
        modulation = int(table[MODULATION, i])
        for q in range(deceptive.size):
            k = deceptive[q]
            j = n + k
            same = absolute(table[FREQUENCY, j] - table[FREQUENCY, i]) <= SAME_CHANNEL * table[BANDWIDTH, i]
            accepted[q, i] = 0.0
            if same and table[MODULATION, j] == modulation and doing[ON, k] > 0.0 and levels[k, i] > 0.0:
                others = maximum(jamming[i] - band_share(table, i, j, k, doing) * levels[k, i], 0.0)
                ratio = levels[k, i] / (table[NOISE, i] + interference[i] + others)
                good = 1.0 - packet_error(modulation, ratio * table[SPREAD, i], table[BITS, j])
                accepted[q, i] = doing[ON, k] * good


jammer_levels = parallel_routine(level_rows)
add_jamming = routine(jam_rows)
add_false_frames = routine(deceive_rows)
