"""The race of a recording: standings at a time, from its events and the columns of its snapshots, and laps.

A lap is the motion of a car between two crossings of the line: what the figures of a race show.
"""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from paddock.compute.quaternion import axes
from paddock.engine.events import Event
from paddock.errors import PaddockError
from paddock.record.reader import FleetHistory, RecordedRun, open_run
from paddock.scenario import Scenario
from paddock.track.loading import track_of
from paddock.track.race_log import RaceEntry, read_entry
from paddock.track.standings import SHOWN, ScoredRules, Standings
from paddock.track.timing import OUT, RUNNING, sectors_of
from paddock.track.track import Track
from paddock.world.columns import Floats
from paddock.world.snapshot import Snapshot


def race_entries(events: Sequence[Event]) -> list[RaceEntry]:
    """Return the entries of the race log that events report."""
    entries = (read_entry(event.kind, event.subject, event.detail) for event in events)
    return [entry for entry in entries if entry is not None]


def described_race(scenario: Scenario) -> dict[str, str | int | float] | None:
    """Return what standings need besides columns and events; None without rules. A DNF costs no time."""
    track = track_of(scenario.track)
    if scenario.rules is None or track is None:
        return None
    rules = scenario.rules.resolved
    named = ("cone_penalty", "off_course_penalty", "unsafe_stop_penalty")
    seconds = {name: 0.0 if isinstance(getattr(rules, name), str) else getattr(rules, name) for name in named}
    sectors = sectors_of(track, rules.discipline)
    return {"discipline": rules.discipline, "track": track.name, "laps": rules.laps, "sectors": sectors, **seconds}


def recorded_standings(scenario: Scenario, snapshot: Snapshot, events: Sequence[Event]) -> Standings | None:
    """Return the standings at a snapshot of a recording, from the events up to it; None without rules.

    Cars that have been removed come last, with what their events say.
    """
    track = track_of(scenario.track)
    if scenario.rules is None or track is None:
        return None
    rules, entries = scenario.rules.resolved, race_entries(events)
    cars: list[tuple[str, int]] = []
    columns: list[Floats] = []
    for fleet in snapshot:
        if "race.status" in fleet.columns:
            part = np.stack([fleet[f"race.{name}"] for name in SHOWN])
            here = np.flatnonzero(part[-1] >= 0.0)
            names, ids = fleet.names, fleet.ids.tolist()
            cars += [(names[k], ids[k]) for k in here.tolist()]
            columns.append(part[:, here])
    gone = [entry for entry in entries if entry.kind == "dnf" and entry.car not in {name for name, _ in cars}]
    shown = np.concatenate([np.zeros((len(SHOWN), 0)), *columns, np.zeros((len(SHOWN), len(gone)))], axis=1)
    for k, entry in enumerate(gone, len(cars)):
        own = [earlier for earlier in entries if earlier.car == entry.car]
        cars.append((entry.car, -1))
        shown[SHOWN.index("status"), k], shown[SHOWN.index("position"), k] = OUT, k + 1
        for name, kind in (("cones", "cone_hit"), ("off_course", "off_course"), ("lap", "lap")):
            shown[SHOWN.index(name), k] = sum(earlier.kind == kind for earlier in own)
    table = dict(zip(SHOWN, shown, strict=True))
    sectors = sectors_of(track, rules.discipline)
    return ScoredRules(rules).table(track.name, snapshot.time, sectors, cars, table, entries)


COLUMNS = ("x", "y", "qx", "qy", "qz", "qw", "vx", "vy", "race.progress", "race.status")
GRAVITY = 9.80665  # m/s2


@dataclass(frozen=True, eq=False)
class LapTrace:
    """A lap of a car, sample by sample, and at its first and last crossing of the line between two samples."""

    number: int  # from 1
    seconds: float | None  # None: not completed
    time: Floats  # (k,) s since its start
    distance: Floats  # (k,) m since its start
    x: Floats  # m
    y: Floats
    speed: Floats  # m/s
    ahead: Floats  # g: acceleration forward
    left: Floats  # g: acceleration to the left


@dataclass(frozen=True, eq=False)
class CarTrace:
    """The laps of a car."""

    name: str
    laps: tuple[LapTrace, ...]

    @property
    def best(self) -> LapTrace | None:
        """The fastest lap; if none is completed, the first one."""
        done = [lap for lap in self.laps if lap.seconds is not None]
        return min(done, key=lambda lap: lap.seconds or 0.0) if done else next(iter(self.laps), None)


def laps(source: str | os.PathLike[str] | RecordedRun) -> dict[str, CarTrace]:
    """Return the laps of every car of a recorded race in the order of the standings: speed, acceleration, position."""
    with nullcontext(source) if isinstance(source, RecordedRun) else open_run(source) as run:
        standings, track = race_of(run)
        return {car.name: car for car in car_traces(run, standings, track, len(standings.rows))}


def race_of(run: RecordedRun) -> tuple[Standings, Track]:
    """Return the standings at the end of a recording, and its track; PaddockError without a race."""
    section, scenario = run.sections[-1], run.scenario
    if not len(section.samples):
        raise PaddockError(f"{run.path} holds no samples to report")
    standings = recorded_standings(scenario, run.sample(section.samples[-1]), run.events(section.number))
    if standings is None or run.track is None:
        raise PaddockError(f"{run.path} has no race to report: its scenario has no section `rules`")
    return standings, run.track


def car_traces(run: RecordedRun, standings: Standings, track: Track, most: int) -> list[CarTrace]:
    """Return the motion of the first cars of the standings, at most `most`, in the last section of a recording."""
    section = run.sections[-1]
    entries = race_entries(run.events(section.number))
    inside = slice(section.samples.start, section.samples.stop)
    traces, histories = [], dict[str, FleetHistory]()
    for row in standings.rows[:most]:
        fleet = row.name.partition("[")[0]
        if fleet not in histories:
            histories[fleet] = run.fleet(fleet, COLUMNS)
        history = histories[fleet]
        columns = history.data[:, inside, history.names.index(row.name)]
        there = np.isfinite(columns).all(axis=0)
        times = history.ticks[inside][there] / run.rate
        own = [entry for entry in entries if entry.car == row.name]
        begun = [entry.time for entry in own if entry.kind == "started"][:1]
        if standings.discipline == "race":
            begun = times[:1].tolist()
        ends = [entry.time for entry in own if entry.kind == "lap"]
        laps = _laps(times, columns[:, there], [*begun, *ends], track) if begun else ()
        traces.append(CarTrace(row.name, laps))
    return traces


def _laps(time: Floats, columns: Floats, borders: list[float], track: Track) -> tuple[LapTrace, ...]:
    """Split the samples at the times at which laps end; the last part counts if the car was still timed."""
    x, y, qx, qy, qz, qw, vx, vy, progress, status = columns
    (cosine, sine, _), _, _ = axes(qx, qy, qz, qw)
    ax, ay = (np.gradient(v, time) if len(time) > 2 else np.zeros_like(v) for v in (vx, vy))
    ahead, left = (ax * cosine + ay * sine) / GRAVITY, (ay * cosine - ax * sine) / GRAVITY
    speed = np.sqrt(vx * vx + vy * vy)
    laps = []
    for number, begin in enumerate(borders, 1):
        end = borders[number] if number < len(borders) else None
        inside = (time >= begin) & ((status == RUNNING) if end is None else (time <= end))
        if inside.sum() < 3:
            continue
        start = np.interp(begin, time, progress)
        if track.closed:
            start = round(start / track.length) * track.length
        edges = [edge for edge in (begin, end) if edge is not None and time[0] <= edge <= time[-1]]
        at = np.unique(np.concatenate([time[inside], edges]))  # a lap reaches from line to line, between samples too
        values = (np.interp(at, time, part) for part in (progress - start, x, y, speed, ahead, left))
        laps.append(LapTrace(number, None if end is None else end - begin, at - begin, *values))
    return tuple(laps)
