"""Contact of a mission with its vehicles: to which of them there is a path over the radio, and since when not."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.planning.problem import LostLink
from paddock.world.archive import typed
from paddock.world.columns import Floats

Bools = NDArray[np.bool_]
MARKS = ("reached", "lost", "alone")


class StationContact:
    """Which vehicles can report and receive routes, in the order of the mission's vehicles."""

    def __init__(self, rules: LostLink) -> None:
        self.rules = rules
        self.reached: Bools = np.zeros(0, bool)  # there is a path now
        self.lost: Bools = np.zeros(0, bool)  # reported as lost
        self.alone: Bools = np.zeros(0, bool)  # acts on its own since the time-out
        self.seen: Floats = np.zeros(0)  # s, when there was a path last
        self.unreported: dict[int, list[str]] = {}  # row -> tasks that it has finished and could not report
        self.waiting: dict[int, bool] = {}  # row -> a new route waits for contact; whether it aborts its task

        self.newly_lost: list[str] = []  # vehicles whose tasks are to be given to others
        self.settled = 0.0  # s, before which lost and regained contacts do not change the plan

    def grow(self, count: int, time: float) -> None:
        """Extend the arrays for vehicles that have joined, in contact."""
        more = count - len(self.seen)
        if more > 0:
            self.reached = np.append(self.reached, np.ones(more, bool))
            self.seen = np.append(self.seen, np.full(more, time))
            self.lost, self.alone = (np.append(marks, np.zeros(more, bool)) for marks in (self.lost, self.alone))

    def save(self) -> dict[str, Any]:
        """Return the state."""
        return {
            **{name: getattr(self, name).astype(np.uint8) for name in MARKS},
            "seen": self.seen.copy(),
            "newly_lost": list(self.newly_lost),
            "settled": self.settled,
            "unreported": {str(row): list(tasks) for row, tasks in self.unreported.items()},
            "waiting": {str(row): aborts for row, aborts in self.waiting.items()},
        }

    def restore(self, saved: Mapping[str, Any], tasks: Mapping[str, Any], count: int) -> None:
        """Load what `save` returned, for a mission with these tasks and a number of vehicles."""
        marks = [np.asarray(saved[name]) for name in MARKS]
        seen = np.array(saved["seen"], np.float64)
        known = len(seen) if seen.ndim == 1 else -1
        fits = all(one.shape == (known,) and np.isin(one, (0, 1)).all() for one in marks)
        if not fits or not 0 <= known <= count or not np.isfinite(seen).all():
            raise InvalidValueError("the saved contact of the mission does not fit its vehicles")
        self.reached, self.lost, self.alone = (one.astype(bool) for one in marks)
        self.seen = seen
        self.newly_lost = typed(list[str], saved["newly_lost"], "vehicles whose tasks were given back")
        self.settled = typed(float, saved["settled"], "time of the next plan")
        reports = typed(dict[str, list[str]], saved["unreported"], "unreported tasks")
        self.unreported = {_row(row, known): names for row, names in reports.items()}
        waiting = typed(dict[str, bool], saved["waiting"], "routes that wait for contact")
        self.waiting = {_row(row, known): aborts for row, aborts in waiting.items()}
        for name in (name for names in reports.values() for name in names):
            if name not in tasks:
                raise InvalidValueError(f"saved reports of vehicles name an unknown task {name!r:.60}")


def _row(text: str, count: int) -> int:
    if not text.isdecimal() or not int(text) < count:
        raise InvalidValueError(f"the saved contact of the mission names the vehicle {text!r:.20} of {count}")
    return int(text)
