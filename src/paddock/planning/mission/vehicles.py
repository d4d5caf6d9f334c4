"""The vehicles of a mission: the route of each, and arrays over all of them.

Routes are not saved, but their inputs, as plain values: routes are built again from them, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from math import inf, isfinite, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Path, Pose, as_pose
from paddock.planning.geometry.polygon import PolygonShape
from paddock.planning.geometry.shapes import AreaShape, CircleShape, LineShape, PointShape, TaskShape
from paddock.planning.geometry.zones import Zone
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.planning.solver.routes import STATUS_ON, STATUSES, Leg, Route, Status, lifted, route_of
from paddock.world.columns import Floats
from paddock.world.fleet import Ints
from paddock.world.parts import ArrayLeaf, array, part, rows
from paddock.world.records import register

Bools = NDArray[np.bool_]
MEMBER = "member"  # the axis of arrays over the vehicles of a mission

CODES = {status: code for code, status in enumerate(STATUSES)}
TURNING = 2.658 * pi
"""Upper bound in turn radii of a Dubins path minus the straight line (Savla, Frazzoli and Bullo)."""
LONGEST = 1e12  # m or s, of saved values
register(TaskShape, PointShape, LineShape, CircleShape, AreaShape, PolygonShape)


@dataclass(frozen=True)
class TaskRest:
    """A task in progress when a route was built: its rest comes first."""

    task: int  # index of its version
    done: float  # m of its path that had been flown
    begins: float  # s
    end: Pose
    zones: tuple[int, ...] = ()  # indices of the zones that its path avoids


@dataclass(frozen=True)
class RouteInputs:
    """The inputs of a route."""

    spec: Vehicle  # when and where it was free
    order: tuple[int, ...]  # versions of tasks
    zones: tuple[int, ...]  # indices of the zones that it avoids, among all that were known so far
    rest: TaskRest | None = None


def extend(part: Any, count: int, **values: Any) -> None:
    """Extend the arrays of a part over the vehicles of a mission to `count` rows: as declared, or `values`."""
    for name, leaf in part.leaves.items():
        if isinstance(leaf, ArrayLeaf) and MEMBER in leaf.axes:
            rows = getattr(part, name)
            new = np.full((count - len(rows), *rows.shape[1:]), values.get(name, leaf.fill), rows.dtype)
            setattr(part, name, np.concatenate([rows, new]))


def unchanged(value: Any) -> Any:
    """Return a value."""
    return value


def field_of(name: str, read: Callable[[Any], Any] = unchanged, write: Callable[[Any], Any] = unchanged) -> Any:
    """Return a property of a vehicle that is its entry in a field of the fleet."""

    def get(vehicle: MissionVehicle) -> Any:
        return read(getattr(vehicle.fleet, name)[vehicle.row])

    def put(vehicle: MissionVehicle, value: Any) -> None:
        getattr(vehicle.fleet, name)[vehicle.row] = write(value)

    return property(get, put)


class MissionVehicle:
    """One vehicle: its route, and a view of its row of the fleet."""

    def __init__(self, row: int, fleet: MissionFleet) -> None:
        self.row, self.fleet = row, fleet
        self.route = Route(self.spec.name, (), self.spec.speed)
        self.ends: list[float] = []  # m flown at the end of each leg

    def set_route(self, route: Route) -> None:
        """Set the route."""
        self.route, self.ends = route, list(accumulate(leg.flown for leg in route.legs))
        self.fleet.route_until[self.row] = route.legs[-1].ends if route.legs else inf

    spec: Vehicle = field_of("joined")  # as it joined, raised to its layer
    inputs: RouteInputs = field_of("inputs")  # of its route
    leg: int = field_of("leg", int)  # the leg that it is on
    status: Status = field_of("codes", STATUSES.__getitem__, CODES.__getitem__)
    spent: bool = field_of("spent", bool)  # its battery allows no more tasks
    progress: float = field_of("progress", float)  # m flown on its route
    travelled: float = field_of("travelled", float)  # m flown in all

    @property
    def name(self) -> str:
        """Its name."""
        return self.spec.name

    @property
    def rest(self) -> Pose:
        """Its pose when it follows no leg."""
        return self.route.legs[-1].end if self.route.legs else self.inputs.spec.pose

    @property
    def at_rest(self) -> Status:
        """Its status after its last leg: `diverted` if it waits elsewhere because its home is closed."""
        return "home" if self.inputs.spec.home[:2] == self.spec.home[:2] else "diverted"

    @property
    def leg_status(self) -> Status:
        """Its status by its leg."""
        if self.current is not None:
            return STATUS_ON[self.current.kind]
        return self.at_rest if self.travelled > 0.0 else "idle"

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


@part
class MissionFleet:
    """All vehicles of a mission, in the order of joining: their routes' inputs and arrays over them."""

    joined: list[Vehicle] = rows(Vehicle)  # as they joined, raised to their layers
    inputs: list[RouteInputs] = rows(RouteInputs)  # of their routes
    routed: Bools = array("?", MEMBER)  # has a route
    leg: Ints = array("i8", MEMBER, low=0)  # the leg that it is on
    codes: NDArray[np.uint8] = array("u1", MEMBER, fill=CODES["idle"], high=len(STATUSES) - 1)  # of its status
    spent: Bools = array("?", MEMBER)  # the battery allows no more tasks
    progress: Floats = array("f8", MEMBER, unit="m", low=-LONGEST, high=LONGEST)  # flown on the route
    travelled: Floats = array("f8", MEMBER, unit="m", low=-LONGEST, high=LONGEST)  # flown in all
    due: Floats = array("f8", MEMBER, unit="m", fill=inf, infinite=True)  # progress at the leg's end; inf: no leg
    gate: Floats = array("f8", MEMBER, unit="s", fill=-inf, infinite=True)  # the leg does not end before
    since: Floats = array("f8", MEMBER, unit="s", low=-LONGEST, high=LONGEST)  # when the leg is planned to begin
    passed: Floats = array("f8", MEMBER, unit="m", low=-LONGEST, high=LONGEST)  # progress at its beginning
    until: Floats = array("f8", MEMBER, unit="s", fill=inf, infinite=True)  # when it is planned to end; inf: no leg
    whole: Floats = array("f8", MEMBER, unit="m", low=-LONGEST, high=LONGEST)  # of the route; 0: no task is ahead
    fullest: Floats = array("f8", MEMBER, fill=np.nan, low=-10.0, high=10.0, nan=True)  # first observed charge

    def __post_init__(self) -> None:
        """Set what is derived from the state."""
        self.vehicles: list[MissionVehicle] = []
        self.row_of: dict[str, int] = {}
        self.route_until: Floats = np.empty(0)  # s: when the route is planned to end; inf: there is none
        self.speed: Floats = np.empty(0)  # m/s
        self.limit: Floats = np.empty(0)  # m: its range
        self.turning: Floats = np.empty(0)  # m by which the way home may exceed the straight line
        self.home: Floats = np.empty((0, 2))  # m

    def add(self, spec: Vehicle) -> MissionVehicle:
        """Add a vehicle."""
        self.joined.append(spec)
        self.inputs.append(RouteInputs(spec, (), ()))
        extend(self, len(self.joined))
        return self._derive(spec)

    def _derive(self, spec: Vehicle) -> MissionVehicle:
        vehicle = MissionVehicle(len(self.vehicles), self)
        self.row_of[spec.name] = vehicle.row
        self.vehicles.append(vehicle)
        self.route_until = np.append(self.route_until, inf)
        self.speed, self.limit = np.append(self.speed, spec.speed), np.append(self.limit, spec.range)
        self.turning = np.append(self.turning, TURNING * spec.radius)
        self.home = np.vstack([self.home, spec.home[:2]])
        return vehicle

    def rebuild(self, problem: Problem, versions: Sequence[Task], all_zones: Sequence[Zone]) -> None:
        """Build the vehicles and routes of a loaded state; `versions` are those of tasks."""
        self.__post_init__()
        for spec in self.joined:
            vehicle = self._derive(spec)
            if self.routed[vehicle.row]:
                vehicle.set_route(rebuilt_route(problem, versions, all_zones, vehicle.inputs))
            if isfinite(self.due[vehicle.row]) and vehicle.leg >= len(vehicle.route.legs):
                raise InvalidValueError(f"vehicle {spec.name!r:.60} has no leg {vehicle.leg}")

    def follow(self, vehicle: MissionVehicle, route: Route, inputs: RouteInputs) -> None:
        """Start a route of a vehicle."""
        k = vehicle.row
        self.inputs[k], self.routed[k], self.progress[k] = inputs, bool(route.legs), 0.0
        vehicle.set_route(route)
        self.enter(vehicle, 0)

    def stop(self, vehicle: MissionVehicle, spec: Vehicle) -> None:
        """Leave a vehicle without a route, at the pose of `spec`."""
        self.follow(vehicle, Route(vehicle.name, (), vehicle.spec.speed), RouteInputs(spec, (), ()))

    def at_ends(self, time: float, tolerance: float) -> list[MissionVehicle]:
        """Return the vehicles that have reached the end of their leg to within `tolerance` (m)."""
        ended = (self.progress >= self.due - tolerance) & (time >= self.gate)
        return [self.vehicles[row] for row in np.flatnonzero(ended).tolist()]

    def pass_legs(self, vehicle: MissionVehicle, time: float, tolerance: float) -> Iterator[Leg]:
        """Yield the legs whose end a vehicle has reached to within `tolerance` (m); the next has begun then."""
        k = vehicle.row
        while self.progress[k] >= self.due[k] - tolerance and time >= self.gate[k]:
            leg = vehicle.route.legs[vehicle.leg]
            self.enter(vehicle, vehicle.leg + 1)
            yield leg

    def enter(self, vehicle: MissionVehicle, leg: int) -> None:
        """Start a leg of a vehicle's route; after the last one there is none."""
        k = vehicle.row
        self.leg[k] = leg
        present = vehicle.current
        self.passed[k] = vehicle.ends[leg - 1] if leg else 0.0
        if present is None:
            self.due[k], self.gate[k], self.since[k], self.until[k], self.whole[k] = inf, -inf, 0.0, inf, 0.0
            return
        self.due[k], self.since[k], self.until[k] = vehicle.ends[leg], present.begins, present.ends
        self.gate[k] = present.ends if present.kind == "wait" and present.flown == 0.0 else -inf
        self.whole[k] = vehicle.ends[-1] if present.kind == "coverage" or vehicle.ahead else 0.0

    def marked(self, *statuses: Status) -> Bools:
        """Return which vehicles have one of some statuses."""
        return np.isin(self.codes, [CODES[status] for status in statuses])

    def left(self) -> float:
        """Return the remaining metres of all routes."""
        return sum(m.ends[-1] - float(self.progress[m.row]) for m in self.vehicles if m.current is not None)


def rebuilt_route(problem: Problem, versions: Sequence[Task], all_zones: Sequence[Zone], inputs: RouteInputs) -> Route:
    """Return the route of some inputs; `problem` gives the wind, `versions` are those of tasks."""
    tasks = tuple(versions[version] for version in inputs.order)
    zones = tuple(all_zones[k] for k in inputs.zones)
    costs = Costs(Problem((inputs.spec,), tasks, zones, problem.wind, clearance=problem.clearance))
    return with_rest(route_of(costs, 0, range(len(tasks))), inputs, problem, versions, all_zones)


def with_rest(
    route: Route, inputs: RouteInputs, problem: Problem, versions: Sequence[Task], all_zones: Sequence[Zone]
) -> Route:
    """Return the route, preceded by the rest of the task in progress."""
    if inputs.rest is None:
        return route
    rest, spec, task = inputs.rest, inputs.spec, versions[inputs.rest.task]
    zones = tuple(all_zones[k] for k in rest.zones)
    covered = Costs(Problem((spec,), (task,), zones, problem.wind, clearance=problem.clearance)).coverage(0, 0)
    assert isinstance(covered, Path)
    whole = lifted(covered, rest.end[2])
    flown, start = whole.flown - rest.done, as_pose(whole.at(rest.done)[0])
    ends = rest.begins + flown / spec.speed
    make = partial(whole.subpath, rest.done, whole.flown)
    leg = Leg("coverage", task.name, flown, rest.begins, ends, start, rest.end, make)
    return Route(route.vehicle, (leg, *route.legs), route.speed)
