"""What the station of a mission over radio knows: the last reports of its vehicles, and the routes that it has sent."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Pose
from paddock.planning.mission.vehicles import Drawn
from paddock.planning.solver.problem import LostLink
from paddock.world.archive import typed
from paddock.world.columns import Floats

if TYPE_CHECKING:
    from paddock.planning.consensus_radio import Negotiated  # which imports radio

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
MARKS = ("lost", "assumed")
TIMES = ("seen", "stamp")
NEGOTIATED = ("negotiations", "agreed", "rounds", "messages", "conflicts", "unassigned")
COUNTS = ("number", "known", "finished")


class VehicleReport(NamedTuple):
    """What a vehicle reports, as of the time of sending."""

    row: int
    sent: float  # s
    number: int  # of the last route that it has received; 0: none
    alone: bool  # it acts on its own
    progress: float  # m on its route
    travelled: float  # m in all
    charge: float  # share of its battery, NaN: unknown
    pose: Pose
    finished: int  # tasks since the start


class VehicleReports(NamedTuple):
    """Reports of vehicles (k,), in the order of their arrival."""

    rows: Ints
    sent: Floats  # s
    number: Ints
    alone: Bools
    progress: Floats  # m
    travelled: Floats  # m
    charge: Floats
    poses: Floats  # (k, 4)
    finished: Ints

    def at(self, k: int) -> VehicleReport:
        """Return one of them."""
        row, sent, number, alone, progress, travelled, charge, (x, y, z, heading), finished = (
            values[k].tolist() for values in self
        )
        return VehicleReport(row, sent, number, alone, progress, travelled, charge, (x, y, z, heading), finished)

    def chosen(self, which: Any) -> "VehicleReports":
        """Return those that a mask or an array of indices selects."""
        return VehicleReports(*(values[which] for values in self))


class StationContact:
    """Knowledge of the station, in the order of the mission's vehicles."""

    def __init__(self, rules: LostLink) -> None:
        self.rules = rules
        self.lost: Bools = np.zeros(0, bool)  # contact is lost
        self.assumed: Bools = np.zeros(0, bool)  # assumed to act on its own: its tasks were given to others
        self.seen: Floats = np.zeros(0)  # s, when the last report arrived
        self.stamp: Floats = np.zeros(0)  # s, when it was sent
        self.poses: Floats = np.zeros((0, 4))  # m and rad, reported
        self.charge: Floats = np.zeros(0)  # reported, NaN: unknown
        self.number: Ints = np.zeros(0, np.int64)  # of the newest route
        self.known: Ints = np.zeros(0, np.int64)  # route that the station believes to be flown, see `route_key`
        self.finished: Ints = np.zeros(0, np.int64)  # tasks that were reported
        self.issued: dict[int, dict[int, Drawn]] = {}  # row -> number -> route that the vehicle has not confirmed
        self.waiting: dict[int, bool] = {}  # row -> a new route waits for contact; whether it aborts its task

        self.agreed: dict[int, tuple[int, float]] = {}  # row -> number of a negotiated route, and when it takes effect
        self.bundles: dict[int, tuple[int, ...]] = {}  # row -> versions of tasks, of a negotiation in this update
        self.settles = 0.0  # s, when it ends
        self.negotiated = dict.fromkeys(NEGOTIATED, 0)  # counts of all negotiations so far
        self.newly_lost: list[str] = []  # vehicles whose tasks are to be given to others
        self.settled = 0.0  # s, before which lost and regained contacts do not change the plan

    def grow(self, poses: list[Pose], time: float) -> None:
        """Extend the arrays for vehicles that have joined at these poses, in contact."""
        more = len(poses)
        if not more:
            return
        self.lost, self.assumed = (np.append(marks, np.zeros(more, bool)) for marks in (self.lost, self.assumed))
        self.seen, self.stamp = np.append(self.seen, np.full(more, time)), np.append(self.stamp, np.full(more, -1.0))
        self.poses, self.charge = np.vstack([self.poses, poses]), np.append(self.charge, np.full(more, np.nan))
        for name in COUNTS:
            setattr(self, name, np.append(getattr(self, name), np.zeros(more, np.int64)))

    def issue(self, row: int, drawn: Drawn) -> None:
        """Number a new route of a vehicle; it is kept until the vehicle reports that it has received it."""
        self.number[row] += 1
        self.known[row], self.assumed[row] = -1, False
        self.issued.setdefault(row, {})[int(self.number[row])] = drawn

    def issue_all(self, routes: Mapping[int, Drawn], new: Collection[int]) -> list[int]:
        """Number the new routes, of all `routes` by row; return the rows of those that the station has to send.

        A vehicle takes up its own bundle when the negotiation ends; it does not get the same route from the station.
        """
        sent, bundles, self.bundles = [], self.bundles, {}
        for row in sorted({*new, *bundles}):
            drawn = routes[row]
            bundle = bundles.get(row, ())
            if row in bundles and (bundle != drawn.order or row in new):
                self.issue(row, replace(drawn, order=bundle))
                self.agreed[row] = int(self.number[row]), self.settles
            if (row in bundles and bundle != drawn.order) or (row not in bundles and row in new):
                self.issue(row, drawn)
                sent.append(row)
        return sent

    def note_negotiation(self, found: "Negotiated") -> None:
        """Count a negotiation."""
        one = found.agreement
        more = 1, int(one.agreed), one.rounds, one.sent, one.conflicts, one.unassigned
        self.negotiated = {name: self.negotiated[name] + count for name, count in zip(NEGOTIATED, more, strict=True)}

    def confirm(self, row: int, number: int) -> None:
        """Forget the routes of a vehicle up to the one that it has received."""
        kept = {n: drawn for n, drawn in self.issued.get(row, {}).items() if n > number}
        if kept:
            self.issued[row] = kept
        else:
            self.issued.pop(row, None)

    def save(self) -> dict[str, Any]:
        """Return the state without the issued routes."""
        return {
            **{name: getattr(self, name).astype(np.uint8) for name in MARKS},
            **{name: getattr(self, name).copy() for name in (*TIMES, *COUNTS, "poses", "charge")},
            "newly_lost": list(self.newly_lost),
            "settled": self.settled,
            "waiting": {str(row): aborts for row, aborts in self.waiting.items()},
            "agreed": {str(row): list(one) for row, one in self.agreed.items()},
            "negotiated": list(self.negotiated.values()),
        }

    def restore(self, saved: Mapping[str, Any], count: int) -> None:
        """Load what `save` returned, for a mission with a number of vehicles."""
        known = len(np.atleast_1d(saved["seen"]))
        self.lost, self.assumed = (column(saved, name, known, np.uint8).astype(bool) for name in MARKS)
        self.seen, self.stamp = (column(saved, name, known, np.float64) for name in TIMES)
        self.number, self.known, self.finished = (column(saved, name, known, np.int64) for name in COUNTS)
        self.charge = column(saved, "charge", known, np.float64, finite=False)
        self.poses = np.array(saved["poses"], np.float64)
        if self.poses.shape != (known, 4) or not np.isfinite(self.poses).all() or known > count:
            raise InvalidValueError("the saved contact of the mission does not fit its vehicles")
        if (self.number < 0).any() or (self.finished < 0).any():
            raise InvalidValueError("the saved contact of the mission has negative counts")
        self.newly_lost = typed(list[str], saved["newly_lost"], "vehicles whose tasks were given back")
        self.settled = typed(float, saved["settled"], "time of the next plan")
        waiting = typed(dict[str, bool], saved["waiting"], "routes that wait for contact")
        self.waiting = {saved_row(row, known): aborts for row, aborts in waiting.items()}
        agreed = typed(dict[str, tuple[int, float]], saved["agreed"], "negotiated routes")
        self.agreed = {saved_row(row, known): one for row, one in agreed.items()}
        counts = typed(list[int], saved["negotiated"], "counts of negotiations")
        self.negotiated = dict(zip(NEGOTIATED, counts, strict=True))


def route_key(number: Any, alone: Any) -> Any:
    """Return a number for a route that was received, or for the one that a vehicle has chosen after it on its own.

    Both may be arrays.
    """
    return 2 * number + alone


def column(saved: Mapping[str, Any], name: str, count: int, dtype: Any, finite: bool = True) -> Any:
    """Return a saved array (count,) of a type; InvalidValueError if it is another one."""
    values = np.asarray(saved[name])
    valid = values.shape == (count,) and values.dtype == dtype
    if not valid or (finite and not np.isfinite(values).all()) or (dtype == np.uint8 and (values > 1).any()):
        raise InvalidValueError(f"the saved contact of the mission does not fit its vehicles: {name}")
    return values.copy()


def saved_row(text: str, count: int) -> int:
    """Return the row of a vehicle from a key of a saved mapping."""
    if not text.isdecimal() or not int(text) < count:
        raise InvalidValueError(f"the saved contact of the mission names the vehicle {text!r:.20} of {count}")
    return int(text)
