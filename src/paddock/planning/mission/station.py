"""What the station of a mission over radio knows: the last reports of its vehicles, and the routes that it has sent."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Pose
from paddock.planning.mission.vehicles import LONGEST, MEMBER, Bools, RouteInputs, extend
from paddock.planning.solver.problem import LostLink
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.parts import array, mapping, part, record, rows, value

if TYPE_CHECKING:
    from paddock.planning.consensus_radio import Negotiated  # which imports radio

Row = Annotated[int, Ge(0)]
NEGOTIATED = ("negotiations", "agreed", "rounds", "messages", "conflicts", "unassigned")


class VehicleReport(NamedTuple):
    """What a vehicle reports of its route, as of the time of sending."""

    row: int
    number: int  # of the last route that it has received; 0: none
    alone: bool  # it acts on its own
    progress: float  # m on its route
    finished: int  # tasks since the start


class VehicleReports(NamedTuple):
    """Reports of vehicles (k,), in the order of their arrival."""

    rows: Ints
    sent: Floats  # s
    number: Ints  # of the last route that each has received; 0: none
    alone: Bools  # acts on its own
    progress: Floats  # m on its route
    travelled: Floats  # m in all
    charge: Floats  # share of its battery, NaN: unknown
    poses: Floats  # (k, 4)
    finished: Ints  # tasks since the start

    def at(self, k: int) -> VehicleReport:
        """Return one of them."""
        own = self.rows, self.number, self.alone, self.progress, self.finished
        return VehicleReport(*(values[k].item() for values in own))


@part
class StationContact:
    """Knowledge of the station, in the order of the mission's vehicles."""

    rules: LostLink
    lost: Bools = array("?", MEMBER)  # contact is lost
    assumed: Bools = array("?", MEMBER)  # assumed to act on its own: its tasks were given to others
    seen: Floats = array("f8", MEMBER, unit="s", low=-LONGEST, high=LONGEST)  # when the last report arrived
    stamp: Floats = array("f8", MEMBER, unit="s", fill=-1.0, low=-LONGEST, high=LONGEST)  # when it was sent
    poses: Floats = array("f8", MEMBER, 4, unit="m", low=-LONGEST, high=LONGEST)  # m and rad, reported
    charge: Floats = array("f8", MEMBER, fill=np.nan, low=-10.0, high=10.0, nan=True)  # reported, NaN: unknown
    number: Ints = array("i8", MEMBER, low=0)  # of the newest route
    known: Ints = array("i8", MEMBER, low=-1)  # route that the station believes to be flown, see `route_key`
    finished: Ints = array("i8", MEMBER, low=0)  # tasks that were reported
    issued: dict[int, dict[int, RouteInputs]] = record(dict[Row, dict[Row, RouteInputs]], dict)
    """Row -> number -> route that the vehicle has not confirmed."""
    waiting: dict[int, bool] = mapping(Row, bool)  # row -> a new route waits for contact; whether it aborts its task
    agreed: dict[int, tuple[int, float]] = mapping(Row, tuple[Row, float])
    """Row -> number of a negotiated route, and when it takes effect."""
    negotiated: dict[str, int] = record(dict[str, Row], lambda: dict.fromkeys(NEGOTIATED, 0))  # of all so far
    newly_lost: list[str] = rows(str)  # vehicles whose tasks are to be given to others
    settled: float = value(0.0, low=-LONGEST, high=LONGEST, unit="s")
    """Before it, lost and regained contacts do not change the plan."""

    def __post_init__(self) -> None:
        """Set what lasts no longer than an update."""
        self.bundles: dict[int, tuple[int, ...]] = {}  # row -> versions of tasks, of a negotiation in this update
        self.settles = 0.0  # s, when it ends

    def check(self, state: Any) -> None:
        """Refuse rows that do not exist."""
        count = len(self.seen)
        if tuple(self.negotiated) != NEGOTIATED:
            raise InvalidValueError(f"the counts of negotiations are not {', '.join(NEGOTIATED)}")
        if any(row >= count for row in (*self.issued, *self.waiting, *self.agreed)) or (self.known < -1).any():
            raise InvalidValueError(f"a row is not among those of {count} vehicles")

    def grow(self, poses: list[Pose], time: float) -> None:
        """Extend the arrays for vehicles that have joined at these poses, in contact."""
        if poses:
            extend(self, len(self.seen) + len(poses), seen=time, poses=poses)

    def issue(self, row: int, inputs: RouteInputs) -> None:
        """Number a new route of a vehicle; it is kept until the vehicle reports that it has received it."""
        self.number[row] += 1
        self.known[row], self.assumed[row] = -1, False
        self.issued.setdefault(row, {})[int(self.number[row])] = inputs

    def issue_all(self, routes: Mapping[int, RouteInputs], new: Collection[int]) -> list[int]:
        """Number the new routes, of all `routes` by row; return the rows of those that the station has to send.

        A vehicle takes up its own bundle when the negotiation ends; it does not get the same route from the station.
        """
        sent, bundles, self.bundles = [], self.bundles, {}
        for row in sorted({*new, *bundles}):
            inputs = routes[row]
            bundle = bundles.get(row, ())
            if row in bundles and (bundle != inputs.order or row in new):
                self.issue(row, replace(inputs, order=bundle))
                self.agreed[row] = int(self.number[row]), self.settles
            if (row in bundles and bundle != inputs.order) or (row not in bundles and row in new):
                self.issue(row, inputs)
                sent.append(row)
        return sent

    def record_negotiation(self, negotiated: "Negotiated", bundles: dict[int, tuple[int, ...]], ends: float) -> None:
        """Count a negotiation, and note its bundles (row -> versions of tasks), which take effect when it ends (s)."""
        self.bundles, self.settles = bundles, ends
        ended = negotiated.agreement
        more = 1, int(ended.agreed), ended.rounds, ended.sent, ended.conflicts, ended.unassigned
        self.negotiated = {name: self.negotiated[name] + count for name, count in zip(NEGOTIATED, more, strict=True)}

    def confirm(self, row: int, number: int) -> None:
        """Forget the routes of a vehicle up to the one that it has received."""
        unconfirmed = {n: inputs for n, inputs in self.issued.get(row, {}).items() if n > number}
        if unconfirmed:
            self.issued[row] = unconfirmed
        else:
            self.issued.pop(row, None)


def route_key(number: Any, alone: Any) -> Any:
    """Return a number for a route that was received, or for the one that a vehicle has chosen after it on its own.

    Both may be arrays.
    """
    return 2 * number + alone
