"""The standings of a race: order, laps, penalties and gaps, from the columns of a snapshot and the log of the race."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from html import escape
from typing import Annotated, Any, NamedTuple

import numpy as np

from paddock.track.lines import Floats
from paddock.track.race_log import RaceEntry
from paddock.track.timing import FINISHED, OUT, RUNNING, STATUSES, STOPPED, UNSAFE_STOP, WAITING
from paddock.world.columns import Column, column_index


class RaceColumns(NamedTuple):
    """Columns of a snapshot for each car, after `race.`; 0 where there is no value yet."""

    lap: Annotated[float, Column("", "number of the lap, from 1")]
    lap_time: Annotated[float, Column("s", "time in this lap")]
    last_lap: Annotated[float, Column("s", "time of the last lap")]
    best_lap: Annotated[float, Column("s", "time of the best lap")]
    sector: Annotated[float, Column("", "number of the sector, from 1")]
    progress: Annotated[float, Column("m", "distance along the track since the start line, all laps")]
    position: Annotated[float, Column("", "place in the standings, from 1")]
    gap: Annotated[float, Column("s", "time behind the first car at the last gate")]
    cones: Annotated[float, Column("", "cones that are down or out")]
    off_course: Annotated[float, Column("", "times off course")]
    status: Annotated[float, Column("", "-1: does not take part", choices=STATUSES)]


SHOWN = tuple(column_index(RaceColumns))
HEADS = ("", "car", "laps", "best lap", "cones", "off", "result", "gap", "status")
DISTANT = 1e18  # sorts behind every time


@dataclass(frozen=True)
class Standing:
    """A car in the standings."""

    position: int  # from 1
    name: str
    id: int
    status: str  # waiting, running, finished, stopped, unsafe_stop, dnf
    laps: int  # completed
    progress: float  # m since the start line
    gap: float  # s behind the first one, at the last gate that both have passed; in the end of their results
    lap_times: tuple[float, ...]  # s
    sector_times: tuple[tuple[float | None, ...], ...]  # s, for each lap; None: gate not passed
    best_lap: float | None  # s
    cones: int  # down or out
    off_course: int  # times
    penalty: float  # s
    time: float | None  # s of all laps; of a skidpad, the mean of laps 2 and 4
    result: float | None  # s: time and penalty of a car that has finished
    reason: str = ""  # of a DNF


@dataclass(frozen=True)
class Standings:
    """The standings of a race at a time, the first car first."""

    discipline: str
    track: str
    laps: int  # of the discipline
    time: float  # s of simulation time
    rows: tuple[Standing, ...]
    fastest_lap: tuple[str, int, float] | None = None  # car, lap, s
    fastest_sectors: tuple[tuple[str, int, float] | None, ...] = field(default=())  # for each sector

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return asdict(self)

    def __getitem__(self, name: str) -> Standing:
        """Return the row of a car."""
        from paddock.errors import unknown_name

        for row in self.rows:
            if row.name == name:
                return row
        raise unknown_name("car in this race", name, [row.name for row in self.rows])

    def __str__(self) -> str:
        return "\n".join(leaderboard(self))

    def _repr_html_(self) -> str:
        """The standings as a table, for a notebook."""
        lines = ["".join(f"<th>{head}</th>" for head in HEADS)]
        lines += ["".join(f"<td>{escape(cell)}</td>" for cell in _cells(row, self)) for row in self.rows]
        return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def standings_from(tree: Mapping[str, Any]) -> Standings:
    """Return what `to_dict` described, also after a way through JSON."""
    standings: Standings = _adapter().validate_python(tree)
    return standings


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Standings)


def order_of(status: Floats, laps: Floats, progress: Floats, result: Floats, race: bool) -> Any:
    """Return the numbers of the cars, the first one first: those that have finished by laps (in a race) and result.

    Then running ones by distance, then waiting ones, then those that did not finish, by distance. During a race, laps
    count before all: a car that has finished is behind none with as many laps.
    """
    done = (status == FINISHED) | (status == STOPPED) | (status == UNSAFE_STOP)
    group = np.where(done, 0.0, np.where(status == RUNNING, 1.0, np.where(status == WAITING, 2.0, 3.0)))
    if race:
        group = np.where(status == OUT, 3.0, np.where(status == WAITING, 2.0, 0.0))
    by_laps = -laps if race else np.where(done, 0.0, -laps)
    by_result = np.where(done, result, DISTANT)
    by_distance = np.where(done, 0.0, -progress)
    return np.lexsort((np.arange(len(status)), by_distance, by_result, by_laps, group))


class ScoredRules:
    """How a discipline turns laps, cones and times off course into a result."""

    def __init__(self, rules: Any) -> None:
        """`rules` has the fields of the scenario's rules."""
        self.rules = rules

    def penalty(self, cones: Any, off_course: Any, unsafe: Any) -> Any:
        """Return the penalties in s; numbers or arrays. What leads to a DNF costs no time."""
        r = self.rules
        off = 0.0 if isinstance(r.off_course_penalty, str) else r.off_course_penalty
        stop = 0.0 if isinstance(r.unsafe_stop_penalty, str) else r.unsafe_stop_penalty
        return cones * r.cone_penalty + off_course * off + unsafe * stop

    def time(self, lap_times: Sequence[float], total: float) -> float:
        """Return the time of a car that has finished, without penalties, s."""
        if self.rules.discipline == "skidpad" and len(lap_times) >= 4:
            return 0.5 * (lap_times[1] + lap_times[3])
        return total

    def table(
        self,
        track: str,
        now: float,
        sectors: int,
        cars: Sequence[tuple[str, int]],
        shown: Mapping[str, Floats],
        entries: Sequence[RaceEntry],
    ) -> Standings:
        """Return the standings of cars (name, id) from their columns (see SHOWN) and the entries of the log."""
        own: dict[str, list[RaceEntry]] = {name: [] for name, _ in cars}
        for entry in entries:
            if entry.car in own:
                own[entry.car].append(entry)
        rows = [
            self._row(name, number, {key: float(column[k]) for key, column in shown.items()}, own[name], sectors)
            for k, (name, number) in enumerate(cars)
        ]
        rows.sort(key=lambda row: row.position)
        laps = [(time, row.name, k + 1) for row in rows for k, time in enumerate(row.lap_times)]
        parts: list[list[tuple[float, str, int]]] = [[] for _ in range(sectors)]
        for row in rows:
            for lap, times in enumerate(row.sector_times):
                for sector, time in enumerate(times):
                    if time is not None:
                        parts[sector].append((time, row.name, lap + 1))
        rules = self.rules.discipline, track, self.rules.laps
        return Standings(*rules, now, tuple(rows), _fastest(laps), tuple(map(_fastest, parts)))

    def _row(self, name: str, number: int, at: Mapping[str, float], log: list[RaceEntry], sectors: int) -> Standing:
        lap_times = tuple(entry.value for entry in log if entry.kind == "lap")
        parts: dict[int, list[float | None]] = {}
        for entry in log:
            if entry.kind == "sector" and 1 <= entry.number <= sectors:
                parts.setdefault(entry.lap, [None] * sectors)[entry.number - 1] = entry.value
        last = max([*parts, len(lap_times)], default=0)
        sector_times = tuple(tuple(parts.get(lap, [None] * sectors)) for lap in range(1, last + 1)) if sectors else ()
        status, total = STATUSES[int(at["status"])], next((e.value for e in log if e.kind == "finished"), None)
        unsafe = any(entry.kind == "unsafe_stop" for entry in log)
        cones, off = int(at["cones"]), int(at["off_course"])
        penalty = float(self.penalty(cones, off, unsafe))
        time = None if total is None else self.time(lap_times, total)
        return Standing(
            position=int(at["position"]),
            name=name,
            id=number,
            status=status,
            laps=len(lap_times),
            progress=at["progress"],
            gap=at["gap"],
            lap_times=lap_times,
            sector_times=sector_times,
            best_lap=min(lap_times, default=None),
            cones=cones,
            off_course=off,
            penalty=penalty,
            time=time,
            result=None if time is None or status == "dnf" else time + penalty,
            reason=next((entry.reason for entry in log if entry.kind == "dnf"), ""),
        )


def _fastest(times: Sequence[tuple[float, str, int]]) -> tuple[str, int, float] | None:
    """Return car, lap and time of the least time; of equal ones, that of the car in front."""
    best = min(times, key=lambda entry: entry[0], default=None)
    return None if best is None else (best[1], best[2], best[0])


def leaderboard(standings: Standings) -> list[str]:
    """Return the standings as lines of text, the first one with the names of the columns."""
    rows = [HEADS, *(_cells(row, standings) for row in standings.rows)]
    car = max(len(row[1]) for row in rows)
    return ["{:>3} {:<{car}} {:>4} {:>9} {:>5} {:>3} {:>10} {:>9}  {}".format(*row, car=car) for row in rows]


def _cells(row: Standing, standings: Standings) -> tuple[str, ...]:
    """Return the texts of a row, as in HEADS."""
    best, result = (("-" if value is None else f"{value:.3f}") for value in (row.best_lap, row.result))
    status = f"dnf: {row.reason}" if row.status == "dnf" else row.status.replace("_", " ")
    counts = str(row.cones), str(row.off_course)
    return str(row.position), row.name, str(row.laps), best, *counts, result, gap_text(row, standings), status


def gap_text(row: Standing, standings: Standings) -> str:
    """Return how far a car is behind the first one: a time, or laps in a race that it has finished."""
    first = standings.rows[0]
    if row is first or row.status in ("waiting", "dnf"):
        return ""
    behind = first.laps - row.laps
    if standings.discipline == "race" and behind > 0 and row.status != "running":
        return f"{behind} lap{'' if behind == 1 else 's'}"
    return f"+{row.gap:.3f}"
