"""What happens to cars in a race, as entries of a log: numbers in the state of a run, texts in its events.

An entry is written in one place and read in one place, so that the results of a recording are those of the run.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from paddock.errors import PaddockError
from paddock.track.lines import Floats

KINDS = (
    *("started", "sector", "lap", "cone_hit", "off_course", "finished", "stopped", "unsafe_stop", "dnf"),
    "lap_refused",
)
"""Kinds of entries, and of the events of a run that report them."""
STARTED, SECTOR, LAP, CONE_HIT, OFF_COURSE, FINISHED, STOPPED, UNSAFE_STOP, DNF, LAP_REFUSED = range(len(KINDS))
REASONS = (
    "time limit",
    "did not start in time",
    "left the course",
    "wrong circle",
    "state not finite",
    "removed",
    "unsafe stop",
)
"""Why a car did not finish."""
TIME_LIMIT, NO_START, LEFT_COURSE, WRONG_CIRCLE, NOT_FINITE, REMOVED, UNSAFE = range(len(REASONS))
COLUMNS = 6


class RaceEntry(NamedTuple):
    """One thing that happened to a car."""

    kind: str  # of KINDS
    car: str
    time: float  # s of simulation time
    lap: int = 0  # number of the lap, from 1; 0 before the start; of `finished`: laps driven
    number: int = 0  # of the sector, from 1; of the reason of a DNF
    value: float = 0.0  # s of a sector, a lap or all laps; m driven after the finish, or in a lap that is refused
    cone: str = ""  # of a cone hit

    @property
    def reason(self) -> str:
        """Why the car did not finish."""
        return REASONS[self.number] if self.kind == "dnf" else ""


_TEXTS = {
    "started": "",
    "sector": "sector {number} of lap {lap} in {value} s ",
    "lap": "lap {lap} in {value} s ",
    "cone_hit": "{cone} in lap {lap} ",
    "off_course": "in lap {lap} ",
    "finished": "laps 1 to {lap} in {value} s ",
    "stopped": "after {value} m ",
    "unsafe_stop": "not stopped after {value} m ",
    "lap_refused": "the line is crossed in lap {lap} after {value} m along the track, less than half of it, ",
    "dnf": "{reason} in lap {lap} ",
}
_TIME = "at {time} s"
_PATTERNS = {"number": r"\d+", "lap": r"\d+", "cone": ".*", "reason": "|".join(REASONS)}
_PATTERNS |= dict.fromkeys(("value", "time"), r"-?\d+\.\d+")
_GROUPS = {name: f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS.items()}
_EXPRESSIONS = {kind: re.compile((text + _TIME).format(**_GROUPS)) for kind, text in _TEXTS.items()}
_READ: dict[str, type] = {"number": int, "lap": int, "value": float, "time": float}


def entry_text(entry: RaceEntry) -> str:
    """Return the text of the event that reports an entry."""
    seconds = {"value": f"{entry.value:.9f}", "time": f"{entry.time:.9f}"}
    return (_TEXTS[entry.kind] + _TIME).format(**entry._asdict() | seconds, reason=entry.reason)


def shown_text(text: str) -> str:
    """Return the text of an event for people: times and distances with three decimals instead of nine."""
    return re.sub(r"-?\b\d+\.\d{9}\b", lambda number: f"{float(number[0]):.3f}", text)


def read_entry(kind: str, car: str, text: str) -> RaceEntry | None:
    """Return the entry that an event reports; None for events of other kinds, and for other texts."""
    match = _EXPRESSIONS[kind].fullmatch(text) if kind in _EXPRESSIONS else None
    if match is None:
        return None
    fields: dict[str, Any] = {name: _READ.get(name, str)(value) for name, value in match.groupdict().items()}
    if "reason" in fields:
        fields["number"] = REASONS.index(fields.pop("reason"))
    return RaceEntry(kind, car, **fields)


def entries_of(log: Floats, cars: list[str], cones: dict[int, str]) -> list[RaceEntry]:
    """Return the entries of a log (COLUMNS, k): kind, car, time, lap, number, value; `cones`: names by number."""
    entries = []
    for kind, car, time, lap, number, value in log.T.tolist():
        name = KINDS[int(kind)]
        hit = name == "cone_hit"
        cone = cones.get(int(number), f"cone {int(number)}") if hit else ""
        entries.append(RaceEntry(name, cars[int(car)], time, int(lap), 0 if hit else int(number), value, cone))
    return entries


def check_log(log: Floats, cars: int, cones: Iterable[int], now: float) -> None:
    """Refuse a log that no run writes."""
    if not isinstance(log, np.ndarray) or log.dtype != np.float64 or log.shape[:-1] != (COLUMNS,):
        raise PaddockError(f"the saved race log is not an array of {COLUMNS} columns")
    kind, car, time, lap, number, value = log
    touched = np.array(sorted(cones), np.float64)
    whole = (log[[0, 1, 3, 4]] == np.floor(log[[0, 1, 3, 4]])).all()
    valid = (
        bool(whole)
        and bool(((kind >= 0) & (kind < len(KINDS)) & (car >= 0) & (car < cars)).all())
        and bool(((time >= 0.0) & (time <= now) & (lap >= 0.0) & (lap <= 1e9)).all())
        and bool(((value >= 0.0) & (value <= 1e12)).all())
        and bool(np.isin(number[kind == CONE_HIT], touched).all())
        and bool(((number >= 0) & ((number < len(REASONS)) | (kind != DNF))).all())
    )
    if not valid:
        raise PaddockError("the saved race log has entries that no run writes")
