"""Costs of a problem in metres flown: arrays for the methods, computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from paddock.compute.math import hypot
from paddock.planning.geometry.dubins import along
from paddock.planning.geometry.path import Path
from paddock.planning.geometry.polygon import FieldShape
from paddock.planning.geometry.shapes import CALM, Drift, InfeasibleError, TightTurnError, rounded_up
from paddock.planning.geometry.zones import Zone, inside, known_walls
from paddock.planning.solver.problem import Moves, Problem, Task, Vehicle
from paddock.planning.solver.routes import late_task, route_of
from paddock.planning.solver.tours import (
    LEG_COLUMNS,
    Detours,
    Ints,
    Jobs,
    Mover,
    TourData,
    fits,
    write_legs,
    write_single_lengths,
    write_transit_lengths,
)
from paddock.planning.solver.transit_tables import NEVER, TransitTables
from paddock.planning.solver.transits import Transits, between
from paddock.world.columns import Floats

CHANGED = 1e-3  # relative: a leg that differs more from its path is reason to search again


class Costs:
    """The costs of a problem. Vehicles with the same jobs and the same ways between them are a class: see `Kind`.

    A tour is measured: beside zones, its legs between given headings have the lengths of their paths, in this and in
    all later searches. Legs of tours that were never measured are estimated over the bends around zones.
    """

    def __init__(
        self,
        problem: Problem,
        covered: Covered | None = None,
        transits: Transits | None = None,
        before: Costs | None = None,
    ) -> None:
        """`covered` caches the paths of tasks between plannings; `transits` are those of equal zones and wind.

        `before` are costs that differ in the headings of tasks only.
        """
        self.problem = problem
        self.vehicles, self.tasks = len(problem.vehicles), len(problem.tasks)  # how many
        self.covered: Covered = {} if covered is None else covered
        self.transits = Transits(problem) if transits is None else transits
        self.movers = [mover(vehicle, self.transits) for vehicle in problem.vehicles]
        kinds = kinds_of(problem)
        self._kinds = list(dict.fromkeys(kinds))
        self.class_of = [self._kinds.index(kind) for kind in kinds]  # of each vehicle
        first = [kinds.index(kind) for kind in self._kinds]
        self._coverage = [
            covered_by(problem.vehicles[k], kinds[k], problem, self.transits, self.covered) for k in first
        ]
        self._jobs = [_jobs(problem.tasks, paths) for paths in self._coverage]
        tables = None if before is None else before._tables
        self._tables: TransitTables = TransitTables(problem, self.transits, self._jobs, self.class_of, tables)
        self._alone: dict[int, Floats] = {}

    def headed(self, headings: Mapping[int, float]) -> Costs:
        """Return the costs with these headings, by index, for tasks with a free heading; any for all others."""
        problem = self.problem.with_headings(headings)
        return self if problem is self.problem else Costs(problem, self.covered, self.transits, self)

    def jobs(self, vehicle: int) -> Jobs:
        """Return the tasks for a vehicle."""
        return self._jobs[self.class_of[vehicle]]

    def coverage(self, vehicle: int, task: int) -> Path | InfeasibleError:
        """Return the path of a vehicle over a task, at height 0, or the reason why there is none."""
        return self._coverage[self.class_of[vehicle]][task]

    @cached_property
    def ranges(self) -> Floats:
        """Remaining metres of each vehicle, (vehicles,)."""
        return np.array([vehicle.range for vehicle in self.problem.vehicles])

    def detours(self, vehicle: int, order: Sequence[int]) -> Detours:
        """Return the ways of a vehicle around zones on a tour."""
        self._tables.find(self.class_of[vehicle], *self._ends_of(vehicle, order))
        return self._detours_of(vehicle)

    def measure(self, orders: Sequence[Sequence[int]]) -> bool:
        """Measure tours on their paths; return whether a way differs by more than `CHANGED` from what searches used."""
        changed = False
        for vehicle, order in enumerate(orders):
            if len(order) and self.problem.zones:
                kind, (begins, ends) = self.class_of[vehicle], self._ends_of(vehicle, order)
                if len(new := self._tables.unmeasured(kind, begins, ends)):
                    before = self._legs(vehicle, order)[:, 0]
                    self._tables.measure(kind, begins[new], ends[new])
                    after = self._legs(vehicle, order)[:, 0]
                    changed = changed or not np.allclose(after, before, rtol=CHANGED)
                    self._alone.clear()
                    for name in ("_single", "fleet"):
                        vars(self).pop(name, None)
        return changed

    def _detours_of(self, vehicle: int) -> Detours:
        every = self._tables.tables
        start, ways, home = every.start[vehicle], every.ways[self.class_of[vehicle]], every.home[vehicle]
        return every._replace(start=start, ways=ways, home=home)

    def _ends_of(self, vehicle: int, order: Sequence[int]) -> tuple[Ints, Ints]:
        """Return the begins and ends, as of `TransitTables`, of the legs of a tour."""
        tasks = np.array(order, np.int64)
        return np.append(vehicle, self.vehicles + tasks), np.append(tasks, self.tasks + vehicle)

    def possible(self, tasks: Ints) -> Ints:
        """Return the tasks that at least one vehicle can do."""
        able = np.zeros(len(tasks), bool)
        for jobs in self._jobs:
            able |= np.isfinite(jobs.cover[tasks])
        return tasks[able]

    def tour(self, vehicle: int, order: Sequence[int]) -> tuple[float, float]:
        """Return metres flown and the time of return (s) for tasks in this order; inf if impossible.

        Beside zones, the heading with which a task may be passed depends on the room for turns: then they are those of
        the route that is built.
        """
        if self.turns_freely(vehicle, order):
            try:
                route = route_of(self, vehicle, order)
            except InfeasibleError:
                return inf, inf
            return (route.flown, route.ends) if late_task(self, route) is None else (inf, inf)
        flown, end = self.legs(vehicle, order)[-1, [5, 4]].tolist()
        return (flown, end) if flown < inf else (inf, inf)

    def turns_freely(self, vehicle: int, order: Sequence[int]) -> bool:
        """Return whether a tour leaves a task with any heading on a way near a zone."""
        if not self.problem.zones or not len(order):
            return False
        if not np.isnan(self.jobs(vehicle).leave[list(order), 2]).any():
            return False
        rows = self._tables.rows(self.class_of[vehicle], *self._ends_of(vehicle, order))
        return bool((rows >= 0).any() and (rows != NEVER).all())

    def legs(self, vehicle: int, order: Sequence[int]) -> Floats:
        """Return the legs of a tour, rows as in `write_legs`; measured on their paths where they pass zones."""
        self.measure([order if k == vehicle else () for k in range(self.vehicles)])
        return self._legs(vehicle, order)

    def _legs(self, vehicle: int, order: Sequence[int]) -> Floats:
        table = np.empty((len(order) + 1, LEG_COLUMNS))
        tasks = np.array(order, dtype=np.int64)
        write_legs(self.movers[vehicle], self.jobs(vehicle), self.detours(vehicle, order), tasks, table)
        return table

    def fits(self, vehicle: int, order: Sequence[int]) -> bool:
        """Return whether a tour is within the vehicle's range."""
        return fits(self.tour(vehicle, order)[0], self.problem.vehicles[vehicle].range)

    @property
    def first(self) -> Floats:
        """Metres flown (vehicles, tasks) from a vehicle's start to a task; inf if it cannot do the task."""
        return self._single[:, 0]

    @property
    def home(self) -> Floats:
        """Metres flown (vehicles, tasks) from the end of a task to the vehicle's home; inf if it cannot do the task."""
        return self._single[:, 1]

    @property
    def alone(self) -> Floats:
        """Metres flown (vehicles, tasks) for a single task: to it, the task, and home."""
        return self._single[:, 2]

    @cached_property
    def _single(self) -> Floats:
        self._tables.find_all()
        return self._singles(np.arange(self.tasks))

    def alone_of(self, task: int) -> Floats:
        """Return the column of `alone` for one task; the others are not needed for it."""
        if "_single" in vars(self):
            return self.alone[:, task]
        if task not in self._alone:
            for kind in range(len(self._kinds)):
                vehicles = np.flatnonzero(np.array(self.class_of) == kind)
                self._find_single(kind, vehicles, np.full(len(vehicles), task))
            self._alone[task] = self._singles(np.array([task]))[:, 2, 0]
        return self._alone[task]

    def _find_single(self, kind: int, vehicles: Ints, tasks: Ints) -> None:
        """Find the ways of vehicles of a class to tasks and from there home, pair by pair (p,)."""
        self._tables.find(kind, vehicles, tasks)
        self._tables.find(kind, self.vehicles + tasks, self.tasks + vehicles)

    def _singles(self, tasks: Ints) -> Floats:
        lengths = np.empty((self.vehicles, 3, len(tasks)))
        for k, m in enumerate(self.movers):
            write_single_lengths(m, self.jobs(k), self._detours_of(k), tasks, lengths[k])
        return lengths

    @cached_property
    def fleet(self) -> TourData:
        """All vehicles and tasks for compiled searches."""
        self._tables.find_all()
        return self._fleet()

    def fleet_for(self, orders: Sequence[Sequence[int]], tasks: Ints) -> TourData:
        """Return the fleet for a search that only inserts tasks into tours; it knows no other ways around zones."""
        every = np.array([t for order in orders for t in order] + tasks.tolist(), np.int64)
        for kind in range(len(self._kinds)):
            vehicles = [vehicle for vehicle in range(self.vehicles) if self.class_of[vehicle] == kind]
            tours = [self._ends_of(vehicle, orders[vehicle]) for vehicle in vehicles]
            self._tables.find(kind, np.concatenate([b for b, _ in tours]), np.concatenate([e for _, e in tours]))
            begins, ends = np.append(vehicles, self.vehicles + every), np.append(every, self.tasks + np.array(vehicles))
            self._tables.find(kind, np.tile(begins, len(tasks)), np.repeat(tasks, len(begins)))
            self._tables.find(kind, np.repeat(self.vehicles + tasks, len(ends)), np.tile(ends, len(tasks)))
        return self._fleet()

    def _fleet(self) -> TourData:
        entry, leave, z, cover, opens, closes = (np.stack(arrays) for arrays in zip(*self._jobs, strict=True))
        jobs, ways = (entry, leave, z, cover, opens, closes), self._tables.tables._asdict()
        return TourData(np.array(self.movers), np.array(self.class_of), *jobs, **ways)

    def between(self, vehicle: int, tasks: Ints) -> Floats:
        """Return metres flown (n, n) from the end of each task to the start of each; free headings: straight lines."""
        lengths = np.empty((len(tasks), len(tasks)))
        begins, ends = np.repeat(self.vehicles + tasks, len(tasks)), np.tile(tasks, len(tasks))
        self._tables.find(self.class_of[vehicle], begins, ends)
        write_transit_lengths(self.movers[vehicle], self.jobs(vehicle), self._detours_of(vehicle), tasks, lengths)
        return lengths

    def transit_lengths(self, vehicle: int, tasks: Ints) -> tuple[Floats, Floats, Floats]:
        """Return metres flown from the vehicle's start to each task (n,), `between` them, and from each home (n,)."""
        self._find_single(self.class_of[vehicle], np.full(len(tasks), vehicle), tasks)
        between, lengths = self.between(vehicle, tasks), np.empty((3, len(tasks)))
        write_single_lengths(self.movers[vehicle], self.jobs(vehicle), self._detours_of(vehicle), tasks, lengths)
        return lengths[0], between, lengths[1]


Kind = tuple[float, float, Moves, float | None, float | None, float | None, bool | None]
"""The properties of a vehicle on which its jobs and, beside zones, the ways between them depend: radius, speed, way of
moving, tightest turn; its height where zones have limits or ways climb; slope and whether it drives backwards."""


def kinds_of(problem: Problem) -> list[Kind]:
    """Return the kind of each vehicle."""
    zones, tasks = problem.zones, problem.tasks
    climbs = bool(zones) and any(task.z is not None for task in tasks)
    by_height = climbs or any(zone.limits != (None, None) for zone in zones)
    return [
        (
            *(vehicle.radius, vehicle.speed, vehicle.moves, vehicle.tightest),
            vehicle.travels_at if by_height else None,
            vehicle.slope if climbs else None,
            vehicle.reverse if zones else None,
        )
        for vehicle in problem.vehicles
    ]


def mover(vehicle: Vehicle, transits: Transits) -> Mover:
    """Return a vehicle for compiled code."""
    wind_x, wind_y = transits.drift(vehicle)
    held, turn = transits.held_radius(vehicle), transits.circle(vehicle, vehicle.pose)
    circles, reverse = float(vehicle.moves == "aircraft") * (2.0 if vehicle.aloft else 1.0), float(vehicle.reverse)
    height, slope = vehicle.travels_at, max(vehicle.slope, 1e-9)
    own = (height, vehicle.speed, vehicle.radius, vehicle.range, slope, vehicle.ready)
    moves = (wind_x, wind_y, circles, reverse, vehicle.under_way, held, turn.flown, along(turn))
    fields = (*vehicle.pose, *vehicle.home, *own, *moves)
    return Mover(*map(float, fields))  # integers would need another compilation


def _jobs(tasks: Sequence[Task], coverage: Sequence[Path | InfeasibleError]) -> Jobs:
    entry, leave, cover = np.full((len(tasks), 3), np.nan), np.full((len(tasks), 3), np.nan), np.full(len(tasks), inf)
    for k, (task, path) in enumerate(zip(tasks, coverage, strict=True)):
        x, y, heading = task.entry
        entry[k] = leave[k] = x, y, np.nan if heading is None else heading
        if isinstance(path, Path):
            cover[k] = path.flown
            if path.segments:
                entry[k] = path.start[0], path.start[1], path.start[3]
                leave[k] = path.end[0], path.end[1], path.end[3]
    z = np.array([np.nan if task.z is None else task.z for task in tasks])
    opens, closes = np.array([task.opens for task in tasks]), np.array([task.closes for task in tasks])
    return Jobs(entry, leave, z.reshape(-1), cover, opens.reshape(-1), closes.reshape(-1))


class KnownCoverage(NamedTuple):
    """The path of a task."""

    task: Task  # kept with its path, so that its identity stays unique
    path: Path | InfeasibleError  # at height 0; or the reason why there is none
    zones: tuple[Zone, ...]  # at that time


Covered = dict[tuple[int, Kind], KnownCoverage]
"""By the identity of the task and the properties of the vehicle that matter."""


def covered_by(
    vehicle: Vehicle, kind: Kind, problem: Problem, transits: Transits, covered: Covered
) -> list[Path | InfeasibleError]:
    """Return the path on which a vehicle does each task, level at height 0; or why it cannot. `known` is added to."""
    zones = problem.zones
    paths: list[Path | InfeasibleError] = []
    for task in problem.tasks:
        before = covered.get((id(task), kind))
        if before is None or before.zones != zones:
            far = before is not None and _out_of_reach(before, zones, transits.clearance)
            path = before.path if before and far else _over(task, vehicle, transits)
            before = covered[(id(task), kind)] = KnownCoverage(task, path, zones)
        paths.append(before.path)
    return paths


def _out_of_reach(known: KnownCoverage, zones: tuple[Zone, ...], clearance: float) -> bool:
    """Return whether all zones that came or went, by their bounding circles, are farther away than the path is long."""
    if isinstance(known.path, InfeasibleError):
        return False
    x, y, _ = known.task.shape.entry
    reach = known.path.length
    around = (known_walls((zone,), clearance).bounds[0].tolist() for zone in set(zones) ^ set(known.zones))
    return all(hypot(x - east, y - north) > reach + radius for east, north, radius in around)


def _over(task: Task, vehicle: Vehicle, transits: Transits) -> Path | InfeasibleError:
    z = vehicle.travels_at if task.z is None else task.z
    zones, radius = between(transits.zones, z, z), transits.held_radius(vehicle)
    try:
        if isinstance(task.shape, FieldShape):
            windy = transits.drift(vehicle)
            drift = Drift(vehicle.radius, *windy) if windy != (0.0, 0.0) else CALM
            return transits.over(task.shape.path(radius, 0.0, zones, transits.clearance, drift), vehicle, z)
        x, y, _ = task.shape.entry
        zone = inside(x, y, zones) if zones else None
        if zone is not None:
            return InfeasibleError(f"it lies in the no-fly zone {zone.name!r}")
        return transits.over(task.shape.path(radius), vehicle, z)
    except TightTurnError as error:
        return TightTurnError(error.circle, radius, vehicle.name, hypot(*transits.wind), vehicle.radius)
    except InfeasibleError as error:
        if radius <= vehicle.radius:
            return error
        wide = f"{vehicle.name} turns with {rounded_up(radius)} m ({rounded_up(vehicle.radius)} m in still air)"
        return InfeasibleError(f"{error}; in {hypot(*transits.wind):.3g} m/s of wind, {wide}")
