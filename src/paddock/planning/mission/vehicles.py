"""The vehicles of a mission: the route of each, and arrays over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import inf, pi

import numpy as np
from numpy.typing import NDArray

from paddock.planning.geometry.path import Path, Pose
from paddock.planning.geometry.zones import Zone
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.planning.solver.routes import STATUSES, Leg, Route, Status, lifted, route_of
from paddock.world.columns import Floats

CODES = {status: code for code, status in enumerate(STATUSES)}
TURNING = 2.658 * pi
"""Upper bound in turn radii of a Dubins path minus the straight line (Savla, Frazzoli and Bullo)."""
ARRAYS = ("progress", "travelled", "due", "gate", "since", "passed", "until", "whole", "fullest")


class MissionVehicle:
    """One vehicle."""

    def __init__(self, spec: Vehicle, row: int, fleet: MissionFleet) -> None:
        self.spec = spec  # as it joined
        self.row = row
        self.route = Route(spec.name, (), spec.speed)
        self.drawn = Drawn(spec, (), ())
        self.ends: list[float] = []  # m flown at the end of each leg
        self.leg = 0  # the leg that it is on
        self._fleet = fleet

    @property
    def name(self) -> str:
        """Its name."""
        return self.spec.name

    @property
    def status(self) -> Status:
        """Its status."""
        return STATUSES[int(self._fleet.codes[self.row])]

    @status.setter
    def status(self, status: Status) -> None:
        self._fleet.codes[self.row] = CODES[status]

    @property
    def spent(self) -> bool:
        """Whether its battery allows no more tasks."""
        return bool(self._fleet.spent[self.row])

    @spent.setter
    def spent(self, spent: bool) -> None:
        self._fleet.spent[self.row] = spent

    @property
    def progress(self) -> float:
        """Metres flown on its route."""
        return float(self._fleet.progress[self.row])

    @property
    def travelled(self) -> float:
        """Metres flown in all."""
        return float(self._fleet.travelled[self.row])

    @property
    def rest(self) -> Pose:
        """Its pose when it follows no leg."""
        return self.route.legs[-1].end if self.route.legs else self.drawn.spec.pose

    @property
    def at_rest(self) -> Status:
        """Its status after its last leg: `diverted` if it waits elsewhere because its home is closed."""
        return "home" if self.drawn.spec.home[:2] == self.spec.home[:2] else "diverted"

    @property
    def able(self) -> bool:
        """Whether it can take tasks."""
        return self.status != "damaged" and not self.spent

    @property
    def current(self) -> Leg | None:
        """The current leg."""
        return self.route.legs[self.leg] if self.leg < len(self.route.legs) else None

    @property
    def doing(self) -> str | None:
        """The task in progress."""
        leg = self.current
        return leg.task if leg is not None and leg.kind == "coverage" else None

    @property
    def ahead(self) -> list[str]:
        """The remaining tasks, in order."""
        later = self.leg + 1 if self.doing else self.leg
        return [str(leg.task) for leg in self.route.legs[later:] if leg.kind == "coverage"]


class MissionFleet:
    """All vehicles, in the order of joining, and arrays over them."""

    def __init__(self) -> None:
        self.list: list[MissionVehicle] = []
        self.row: dict[str, int] = {}
        self.codes: NDArray[np.uint8] = np.empty(0, np.uint8)  # status of each, an index of STATUSES
        self.spent: NDArray[np.bool_] = np.empty(0, bool)  # the battery allows no more tasks
        self.progress: Floats = np.empty(0)  # m flown on the route
        self.travelled: Floats = np.empty(0)  # m flown in all
        self.due: Floats = np.empty(0)  # m of progress at which the present leg ends; inf: there is none
        self.gate: Floats = np.empty(0)  # s: the present leg does not end before
        self.since: Floats = np.empty(0)  # s: when the present leg is planned to begin
        self.passed: Floats = np.empty(0)  # m of progress at its beginning
        self.until: Floats = np.empty(0)  # s: when it is planned to end; inf: there is none
        self.whole: Floats = np.empty(0)  # m of the route; 0 where no task is ahead
        self.route_until: Floats = np.empty(0)  # s: when the route is planned to end; inf: there is none
        self.fullest: Floats = np.empty(0)  # first observed charge; NaN: none
        self.speed: Floats = np.empty(0)  # m/s
        self.limit: Floats = np.empty(0)  # m: its range
        self.turning: Floats = np.empty(0)  # m by which the way home may exceed the straight line
        self.home: Floats = np.empty((0, 2))  # m

    def add(self, spec: Vehicle) -> MissionVehicle:
        """Add a vehicle."""
        vehicle = MissionVehicle(spec, len(self.list), self)
        self.row[spec.name] = vehicle.row
        self.list.append(vehicle)
        new = {"due": inf, "gate": -inf, "until": inf, "fullest": np.nan}
        self.codes = np.append(self.codes, np.uint8(CODES["idle"]))
        self.spent, self.route_until = np.append(self.spent, False), np.append(self.route_until, inf)
        for name in ARRAYS:
            setattr(self, name, np.append(getattr(self, name), new.get(name, 0.0)))
        self.speed, self.limit = np.append(self.speed, spec.speed), np.append(self.limit, spec.range)
        self.turning = np.append(self.turning, TURNING * spec.radius)
        self.home = np.vstack([self.home, spec.home[:2]])
        return vehicle

    def follow(self, vehicle: MissionVehicle, route: Route, drawn: Drawn) -> None:
        """Start a route of a vehicle."""
        vehicle.route, vehicle.drawn = route, drawn
        vehicle.ends = list(accumulate(leg.flown for leg in route.legs))
        self.progress[vehicle.row] = 0.0
        self.route_until[vehicle.row] = route.legs[-1].ends if route.legs else inf
        self.enter(vehicle, 0)

    def enter(self, vehicle: MissionVehicle, leg: int) -> None:
        """Start a leg of a vehicle's route; after the last one there is none."""
        k, vehicle.leg = vehicle.row, leg
        here = vehicle.current
        self.passed[k] = vehicle.ends[leg - 1] if leg else 0.0
        if here is None:
            self.due[k], self.gate[k], self.since[k], self.until[k], self.whole[k] = inf, -inf, 0.0, inf, 0.0
            return
        self.due[k], self.since[k], self.until[k] = vehicle.ends[leg], here.begins, here.ends
        self.gate[k] = here.ends if here.kind == "wait" and here.flown == 0.0 else -inf
        self.whole[k] = vehicle.ends[-1] if here.kind == "coverage" or vehicle.ahead else 0.0

    def marked(self, *statuses: Status) -> NDArray[np.bool_]:
        """Return which vehicles have one of some statuses."""
        found: NDArray[np.bool_] = np.zeros(len(self.codes), bool)
        for status in statuses:
            found |= self.codes == CODES[status]
        return found

    def left(self) -> float:
        """Return the remaining metres of all routes."""
        return sum(m.ends[-1] - float(self.progress[m.row]) for m in self.list if m.current is not None)


@dataclass(frozen=True)
class Rest:
    """A task in progress when a route was built: its rest comes first."""

    task: int  # index of its version
    done: float  # m of its path that had been flown
    begins: float  # s
    end: Pose
    zones: tuple[int, ...] = ()  # indices of the zones that its path avoids


@dataclass(frozen=True)
class Drawn:
    """The inputs of a route."""

    spec: Vehicle  # when and where it was free
    order: tuple[int, ...]  # versions of tasks
    zones: tuple[int, ...]  # indices of the zones that it avoids, among all that were known so far
    rest: Rest | None = None


def drawn_again(problem: Problem, known: Sequence[Task], chart: Sequence[Zone], drawn: Drawn) -> Route:
    """Return the route; `problem` gives the wind, `known` are the versions of tasks, `chart` all zones so far."""
    tasks = tuple(known[version] for version in drawn.order)
    zones = tuple(chart[k] for k in drawn.zones)
    costs = Costs(Problem((drawn.spec,), tasks, zones, problem.wind, clearance=problem.clearance))
    return with_rest(route_of(costs, 0, range(len(tasks))), drawn, problem, known, chart)


def with_rest(route: Route, drawn: Drawn, problem: Problem, known: Sequence[Task], chart: Sequence[Zone]) -> Route:
    """Return the route, preceded by the rest of the task in progress."""
    if drawn.rest is None:
        return route
    rest, spec, task = drawn.rest, drawn.spec, known[drawn.rest.task]
    zones = tuple(chart[k] for k in rest.zones)
    covered = Costs(Problem((spec,), (task,), zones, problem.wind, clearance=problem.clearance)).coverage(0, 0)
    assert isinstance(covered, Path)
    whole = lifted(covered, rest.end[2])
    x, y, z, heading = whole.at(rest.done)[0].tolist()
    flown, start = whole.flown - rest.done, (x, y, z, heading)
    ends = rest.begins + flown / spec.speed
    make = partial(whole.subpath, rest.done, whole.flown)
    leg = Leg("coverage", task.name, flown, rest.begins, ends, start, rest.end, make)
    return Route(route.vehicle, (leg, *route.legs), route.speed)
