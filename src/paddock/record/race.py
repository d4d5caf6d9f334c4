"""The race of a recording: standings at a time, from its events and the columns of its snapshots."""

from collections.abc import Sequence

import numpy as np

from paddock.engine.events import Event
from paddock.scenario import Scenario
from paddock.track.course import sectors_of
from paddock.track.from_scenario import track_of
from paddock.track.race_log import RaceEntry, read_entry
from paddock.track.standings import SHOWN, ScoredRules, Standings
from paddock.track.timing import OUT
from paddock.world.columns import Floats
from paddock.world.snapshot import Snapshot


def race_entries(events: Sequence[Event]) -> list[RaceEntry]:
    """Return the entries of the race log that events report."""
    found = (read_entry(event.kind, event.subject, event.detail) for event in events)
    return [entry for entry in found if entry is not None]


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
        own = [one for one in entries if one.car == entry.car]
        cars.append((entry.car, -1))
        shown[SHOWN.index("status"), k], shown[SHOWN.index("position"), k] = OUT, k + 1
        for name, kind in (("cones", "cone_hit"), ("off_course", "off_course"), ("lap", "lap")):
            shown[SHOWN.index(name), k] = sum(one.kind == kind for one in own)
    table = dict(zip(SHOWN, shown, strict=True))
    sectors = sectors_of(track, rules.discipline)
    return ScoredRules(rules).table(track.name, snapshot.time, sectors, cars, table, entries)
