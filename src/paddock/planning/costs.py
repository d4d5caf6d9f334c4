"""Costs of a problem in metres flown: arrays for the methods, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import hypot, inf, isnan
from typing import NamedTuple

import numpy as np

from paddock.planning.coverage.polygon import FieldShape
from paddock.planning.coverage.shapes import InfeasibleError
from paddock.planning.obstacles.around import nearest_outside
from paddock.planning.obstacles.crossing import inside, known_walls
from paddock.planning.obstacles.detours import SightWalls, sights_of_corners, ways_to_corners, zone_walls
from paddock.planning.obstacles.zones import Zone
from paddock.planning.paths.path import Path
from paddock.planning.problem import Moves, Problem, Task, Vehicle
from paddock.planning.tours import (
    LEG_COLUMNS,
    Detours,
    Ints,
    Jobs,
    Mover,
    TourData,
    fits,
    ways_between,
    write_legs,
    write_single_ways,
)
from paddock.planning.transits import Transits
from paddock.world.columns import Floats

NO_WALLS = SightWalls(np.empty((0, 4)), np.zeros(1, np.int64), np.empty((0, 3)))


class Costs:
    """The costs of a problem. Vehicles with the same radius, speed and kind of motion form a class with equal jobs."""

    def __init__(self, problem: Problem, covered: Covered | None = None) -> None:
        """`covered` caches the paths of tasks between plannings."""
        self.problem = problem
        self.vehicles, self.tasks = len(problem.vehicles), len(problem.tasks)  # how many
        self.transits = Transits(problem)
        self.movers = [mover(vehicle, problem.wind) for vehicle in problem.vehicles]
        kinds = [(vehicle.radius, vehicle.speed, vehicle.moves, vehicle.tightest) for vehicle in problem.vehicles]
        self._kinds = list(dict.fromkeys(kinds))
        self.class_of = [self._kinds.index(kind) for kind in kinds]  # of each vehicle
        first = [kinds.index(kind) for kind in self._kinds]
        known: Covered = {} if covered is None else covered
        self._coverage = [covered_by(problem.vehicles[k], problem.tasks, self.transits, known) for k in first]
        self._jobs = [_jobs(problem.tasks, paths) for paths in self._coverage]
        self._zoned: dict[int, tuple[Floats, Floats]] = {}  # by class

    def jobs(self, vehicle: int) -> Jobs:
        """Return the tasks for a vehicle."""
        return self._jobs[self.class_of[vehicle]]

    def coverage(self, vehicle: int, task: int) -> Path | InfeasibleError:
        """Return the path of a vehicle over a task, at height 0, or the reason why there is none."""
        return self._coverage[self.class_of[vehicle]][task]

    def detours(self, vehicle: int) -> Detours:
        """Return the detours of a vehicle around zones, estimated from shortest paths without a turn radius."""
        start, from_start, home = self._ends
        leave, entry = self._corners(self.class_of[vehicle])
        return Detours(*self._walls, start[vehicle], from_start[vehicle], leave, entry, home[vehicle])

    def possible(self, tasks: Ints) -> Ints:
        """Return the tasks that at least one vehicle can do."""
        able = np.zeros(len(tasks), bool)
        for jobs in self._jobs:
            able |= np.isfinite(jobs.cover[tasks])
        return tasks[able]

    def tour(self, vehicle: int, order: Sequence[int]) -> tuple[float, float]:
        """Return metres flown and the time of return (s) for tasks in this order; inf if impossible."""
        flown, end = self.legs(vehicle, order)[-1, [5, 4]].tolist()
        return (flown, end) if flown < inf else (inf, inf)

    def legs(self, vehicle: int, order: Sequence[int]) -> Floats:
        """Return the legs of a tour, rows as in `write_legs`."""
        table = np.empty((len(order) + 1, LEG_COLUMNS))
        tasks = np.array(order, dtype=np.int64)
        write_legs(self.movers[vehicle], self.jobs(vehicle), self.detours(vehicle), tasks, table)
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
        found = np.empty((self.vehicles, 3, self.tasks))
        for k, m in enumerate(self.movers):
            write_single_ways(m, self.jobs(k), self.detours(k), found[k])
        return found

    @cached_property
    def fleet(self) -> TourData:
        """All vehicles and tasks for compiled searches."""
        entry, leave, z, cover, opens, closes = (np.stack(arrays) for arrays in zip(*self._jobs, strict=True))
        movers, kind = np.array(self.movers), np.array(self.class_of)
        start, ways, home = self._ends
        leaving, entering = (
            np.stack(arrays) for arrays in zip(*map(self._corners, range(len(self._kinds))), strict=True)
        )
        jobs = (entry, leave, z, cover, opens, closes)
        return TourData(movers, kind, *jobs, *self._walls, start, ways, leaving, entering, home)

    def between(self, vehicle: int, tasks: Ints) -> Floats:
        """Return metres flown (n, n) from the end of each task to the start of each; free headings: straight lines."""
        found = np.empty((len(tasks), len(tasks)))
        ways_between(self.movers[vehicle], self.jobs(vehicle), self.detours(vehicle), tasks, found)
        return found

    @cached_property
    def _walls(self) -> SightWalls:
        return zone_walls(self.problem.zones) if self.problem.zones else NO_WALLS

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, Floats]:
        """The arrays `start`, `from_start` and `home` of Detours, for all vehicles."""
        zones, count = self.problem.zones, self.vehicles
        if not zones:
            start = np.array([[m.x, m.y, 0.0] for m in self.movers]).reshape(-1, 3)
            return start, np.empty((count, 0)), np.empty((count, 0))
        start = np.array([_outside(m.x, m.y, zones) for m in self.movers])
        home = np.array([[m.home_x, m.home_y] for m in self.movers])
        return start, ways_to_corners(start[:, :2], zones), sights_of_corners(home, zones)

    def _corners(self, kind: int) -> tuple[Floats, Floats]:
        """Return the arrays `leave` and `entry` of Detours, for a class of vehicles."""
        if kind not in self._zoned:
            jobs, zones = self._jobs[kind], self.problem.zones
            if not zones:
                return np.empty((self.tasks, 0)), np.empty((self.tasks, 0))
            leave, entry = ways_to_corners(jobs.leave[:, :2], zones), sights_of_corners(jobs.entry[:, :2], zones)
            self._zoned[kind] = leave, entry
        return self._zoned[kind]


def _outside(x: float, y: float, zones: Sequence[Zone]) -> tuple[float, float, float]:
    """Return the nearest point outside all zones and its distance (m); infinite if there is none."""
    free_x, free_y = nearest_outside(x, y, zones)
    return (x, y, inf) if isnan(free_x) else (free_x, free_y, hypot(free_x - x, free_y - y))


def mover(vehicle: Vehicle, wind: tuple[float, float]) -> Mover:
    """Return a vehicle for compiled code."""
    carried = vehicle.moves != "ground"
    wind_x, wind_y = (wind[0] / vehicle.speed, wind[1] / vehicle.speed) if carried else (0.0, 0.0)
    circles, reverse = float(vehicle.moves == "aircraft") * (2.0 if vehicle.aloft else 1.0), float(vehicle.reverse)
    height, slope = vehicle.pose[2] if vehicle.height is None else vehicle.height, max(vehicle.slope, 1e-9)
    own = (height, vehicle.speed, vehicle.radius, vehicle.range, slope, vehicle.ready)
    fields = (*vehicle.pose, *vehicle.home, *own, wind_x, wind_y, circles, reverse, vehicle.under_way)
    return Mover(*map(float, fields))  # integers would compile another variant


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
    zones: int  # number of zones at that time


Covered = dict[tuple[int, float, float, Moves, float | None], KnownCoverage]
"""Paths by the identity of the task and the relevant properties of the vehicle."""


def covered_by(
    vehicle: Vehicle, tasks: Sequence[Task], transits: Transits, known: Covered
) -> list[Path | InfeasibleError]:
    """Return the path of a vehicle over each task, at height 0, or the reason why there is none; extends `known`."""
    zones, own = transits.zones, (vehicle.radius, vehicle.speed, vehicle.moves, vehicle.tightest)
    around = [tuple(known_walls((zone,), transits.clearance).around[0].tolist()) for zone in zones]
    found: list[Path | InfeasibleError] = []
    for task in tasks:
        before = known.get((id(task), *own))
        if before is None or before.zones != len(zones):
            path = before.path if before and _out_of_reach(before, around) else _over(task, vehicle, transits)
            before = known[(id(task), *own)] = KnownCoverage(task, path, len(zones))
        found.append(before.path)
    return found


def _out_of_reach(known: KnownCoverage, around: Sequence[tuple[float, ...]]) -> bool:
    """Return whether all newer zones, by their bounding circles, are farther away than the path is long."""
    if isinstance(known.path, InfeasibleError) or known.zones > len(around):
        return False
    x, y, _ = known.task.shape.entry
    reach = known.path.length
    return all(hypot(x - east, y - north) > reach + radius for east, north, radius in around[known.zones :])


def _over(task: Task, vehicle: Vehicle, transits: Transits) -> Path | InfeasibleError:
    try:
        if isinstance(task.shape, FieldShape):
            around = transits.zones, transits.clearance
            return transits.over(task.shape.path(transits.held_radius(vehicle), 0.0, *around), vehicle)
        x, y, _ = task.shape.entry
        zone = inside(x, y, transits.zones) if transits.zones else None
        if zone is not None:
            return InfeasibleError(f"it lies in the no-fly zone {zone.name!r}")
        return transits.over(task.shape.path(transits.held_radius(vehicle)), vehicle)
    except InfeasibleError as error:
        return error
