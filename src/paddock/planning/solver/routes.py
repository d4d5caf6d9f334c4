"""Plans and routes: legs with their times, and paths built on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import isfinite, nan, pi
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from paddock.compute.math import hypot
from paddock.errors import unknown_name
from paddock.planning.geometry.path import Path, Pose, joined
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.solver.problem import Problem, Task, Vehicle
from paddock.planning.solver.transits import Goal, course_at_end
from paddock.world.columns import Floats

if TYPE_CHECKING:
    from paddock.planning.solver.costs import Costs  # which measures tours on their routes

LegKind = Literal["transit", "wait", "coverage", "return"]
Status = Literal["idle", "transit", "busy", "damaged", "returning", "home", "diverted", "missing"]
STATUSES: tuple[Status, ...] = get_args(Status)
STATUS_ON: dict[str, Status] = {"transit": "transit", "wait": "transit", "coverage": "busy", "return": "returning"}
"""The status of a vehicle on each kind of leg."""


@dataclass(frozen=True)
class Leg:
    """A part of a route: transit to a task, waiting for it, doing it, or the return home."""

    kind: LegKind
    task: str | None  # the task it leads to or does
    flown: float  # m
    begins: float  # s
    ends: float  # s
    start: Pose
    end: Pose
    make: Callable[[], Path] = field(repr=False, compare=False)

    @cached_property
    def path(self) -> Path:
        """The path, built on first access."""
        return self.make()


@dataclass(frozen=True)
class Route:
    """The route of one vehicle."""

    vehicle: str
    legs: tuple[Leg, ...]
    speed: float  # m/s

    @property
    def tasks(self) -> tuple[str, ...]:
        """Its tasks, in order."""
        return tuple(leg.task for leg in self.legs if leg.kind == "coverage" and leg.task is not None)

    @property
    def flown(self) -> float:
        """Metres flown, the way home included."""
        return sum(leg.flown for leg in self.legs)

    @property
    def ends(self) -> float:
        """Time of return, s."""
        return self.legs[-1].ends if self.legs else 0.0

    @cached_property
    def sampled(self) -> dict[float, Floats]:
        """Its positions (k, 3) at whole multiples of a time step (s), NaN on the ground: filled by layers.py."""
        return {}

    @cached_property
    def path(self) -> Path:
        """The whole path; waiting in place has no length."""
        return joined(leg.path for leg in self.legs)


@dataclass(frozen=True)
class Undone:
    """An undone task."""

    task: str
    reason: str


class Meeting(NamedTuple):
    """Two vehicles that come nearer to each other than the separation."""

    first: str
    second: str
    time: float  # s, when they first do


@dataclass(frozen=True)
class Plan:
    """A plan: the routes of all vehicles, and the tasks that are not done."""

    problem: Problem
    method: str
    routes: tuple[Route, ...]  # of all vehicles, in the problem's order; without legs for vehicles that stay
    undone: tuple[Undone, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)  # of the method: rounds, messages, iterations
    meetings: tuple[Meeting, ...] = ()  # what it could not keep apart

    @property
    def total(self) -> float:
        """Metres flown by all."""
        return sum(route.flown for route in self.routes)

    @property
    def makespan(self) -> float:
        """Time when the last vehicle is home, s."""
        return max((route.ends for route in self.routes), default=0.0)

    @property
    def done(self) -> int:
        """Number of tasks that are done."""
        return sum(len(route.tasks) for route in self.routes)

    def route(self, vehicle: str) -> Route:
        """Return the route of a vehicle."""
        for route in self.routes:
            if route.vehicle == vehicle:
                return route
        raise unknown_name("vehicle", str(vehicle), [route.vehicle for route in self.routes])


MEASURED = 1e-9  # relative: a route that fits may exceed the range by this, as it is measured on its paths
SOON = 1e-9  # s: shorter waiting times are ignored
HEADINGS = tuple(2.0 * pi * k / 16 for k in range(16))  # rad, with which a task is passed that leaves no way otherwise


def route_of(costs: Costs, vehicle: int, order: Sequence[int]) -> Route:
    """Return the route of a vehicle that does these tasks in this order, and goes home; raises InfeasibleError."""
    spec = costs.problem.vehicles[vehicle]
    if not order and (not spec.under_way or hypot(spec.pose[0] - spec.home[0], spec.pose[1] - spec.home[1]) < 1e-9):
        return Route(spec.name, (), spec.speed)
    if predictable(costs, vehicle, order):
        return Route(spec.name, tuple(_predicted(costs, vehicle, order)), spec.speed)
    writer = _RouteWriter(costs, vehicle)
    for t in order:
        writer.do(t)
    writer.follow("return", None, writer.onward(spec.home), spec.home[3])
    return Route(spec.name, tuple(writer.legs), spec.speed)


def predictable(costs: Costs, vehicle: int, order: Sequence[int]) -> bool:
    """Return whether compiled lengths are exact, so that paths can wait: no zones, one height, no waiting in wind."""
    problem = costs.problem
    tasks, spec = [problem.tasks[t] for t in order], problem.vehicles[vehicle]
    if spec.departs > spec.ready:
        return False
    level = spec.pose[2] == spec.home[2] == spec.travels_at and all(task.z is None for task in tasks)
    return level and not problem.zones and (problem.wind == (0.0, 0.0) or all(task.opens == 0.0 for task in tasks))


def _predicted(costs: Costs, vehicle: int, order: Sequence[int]) -> list[Leg]:
    spec, jobs, table = costs.problem.vehicles[vehicle], costs.jobs(vehicle), costs.legs(vehicle, order)
    writer = _RouteWriter(costs, vehicle)
    for t, (way, wait, begin, arrival, end, _) in zip(order, table[:-1].tolist(), strict=True):
        task, z = costs.problem.tasks[t], writer.here[2]
        x, y, heading = writer.entry(t)
        there: Pose = (x, y, z, arrival)
        if writer.stays:
            writer.wait(task, begin - way / spec.speed, True)
        writer.add("transit", task, way, way / spec.speed, there, partial(writer.way, (x, y, z, heading), writer.here))
        if begin - writer.time > SOON:
            writer.add("wait", task, wait, begin - writer.time, there, partial(writer.circles, there, wait))
        leave = jobs.leave[t].tolist()
        away: Pose = (leave[0], leave[1], z, leave[2] if isfinite(leave[2]) else arrival)
        writer.add("coverage", task, float(jobs.cover[t]), end - begin, away, partial(writer.coverage, t, there))
    way = float(table[-1, 0])
    writer.add("return", None, way, way / spec.speed, spec.home, partial(writer.way, spec.home, writer.here))
    return writer.legs


def first_infeasible(costs: Costs, vehicle: int, order: Sequence[int]) -> int:
    """Return the position in an infeasible order of the first task that cannot be reached, or that has no way home."""
    writer = _RouteWriter(costs, vehicle)
    for k, t in enumerate(order):
        try:
            writer.do(t)
        except InfeasibleError:
            with suppress(InfeasibleError):
                writer.onward(writer.who.home)
                return k
            return max(k - 1, 0)
    return len(order) - 1


def in_time(costs: Costs, vehicle: int, route: Route) -> bool:
    """Return whether a route is within the range of its vehicle, and begins no task too late."""
    return in_range(route, costs.problem.vehicles[vehicle]) and late_task(costs, route) is None


def in_range(route: Route, vehicle: Vehicle) -> bool:
    """Return whether a route that is measured on its paths is within the range of its vehicle."""
    return route.flown <= vehicle.range * (1.0 + MEASURED)


def late_task(costs: Costs, route: Route) -> int | None:
    """Return the position in the order of the first task that a route begins too late."""
    closes = {task.name: task.closes for task in costs.problem.tasks}
    begun = [leg for leg in route.legs if leg.kind == "coverage"]
    return next((k for k, leg in enumerate(begun) if leg.begins > closes[str(leg.task)] + 1e-9), None)


class _RouteWriter:
    """Builds the legs of a route in sequence."""

    def __init__(self, costs: Costs, vehicle: int) -> None:
        self.costs, self.vehicle = costs, vehicle
        self.who = costs.problem.vehicles[vehicle]
        self.here: Pose = self.who.pose
        self.time = self.who.ready
        self.legs: list[Leg] = []
        self.last: tuple[int, int, Pose, float] | None = None  # a task with any heading, and what was before it

    def entry(self, task: int) -> tuple[float, float, float | None]:
        """Return the start of a task for the vehicle: x, y in m, heading in rad (None: any)."""
        x, y, heading = self.costs.jobs(self.vehicle).entry[task].tolist()
        return x, y, heading if isfinite(heading) else None

    def way(self, goal: Goal, here: Pose | None = None) -> Path:
        """Return the path to a goal from a pose, by default from here."""
        return self.costs.transits.path(self.who, here or self.here, goal)

    def onward(self, goal: Goal) -> Path:
        """Return the path to a goal; where the last task was passed with a heading that leaves no way, with another."""
        try:
            return self.way(goal)
        except InfeasibleError:
            if self.last is None:
                raise
            (t, legs, here, time), (x, y, z, _) = self.last, self.here
            ways: list[tuple[float, float]] = []
            for heading in HEADINGS:
                if not self.costs.transits.roomy(self.who, (x, y, z, heading)):
                    continue
                with suppress(InfeasibleError):
                    there = self.way((x, y, z, heading), here).flown
                    ways.append((there + self.way(goal, (x, y, z, heading)).flown, heading))
            if not ways:
                raise
            self.legs, self.here, self.time, self.last = self.legs[:legs], here, time, None
            self.do(t, min(ways)[1])
            return self.way(goal)

    def coverage(self, task: int, here: Pose) -> Path:
        """Return the path of a task from a pose; raise InfeasibleError."""
        path = self.costs.coverage(self.vehicle, task)
        if isinstance(path, InfeasibleError):
            raise path
        return lifted(path, here[2]) if path.segments else Path((), here)

    def circles(self, here: Pose, flown: float) -> Path:
        """Return circles of that many metres from a pose; 0: a wait in place."""
        return _circles(self.costs.transits.circle(self.who, here), flown) if flown > 0.0 else Path((), here)

    def add(
        self, kind: LegKind, task: Task | None, flown: float, seconds: float, end: Pose, make: Callable[[], Path]
    ) -> None:
        """Add a leg of known length (m) and duration (s)."""
        name = None if task is None else task.name
        begins, self.time = self.time, self.time + seconds
        self.legs.append(Leg(kind, name, flown, begins, self.time, self.here, end, make))
        self.here = end

    def do(self, t: int, chosen: float | None = None) -> None:
        """Go to a task, wait for it and do it, each measured on its path; with a `chosen` heading (rad)."""
        task, leave = self.costs.problem.tasks[t], float(self.costs.jobs(self.vehicle).leave[t, 2])
        x, y, heading = self.entry(t)
        z, free = self.who.travels_at if task.z is None else task.z, task.shape.entry.heading is None
        if chosen is not None:
            heading = leave = chosen
        grounded = self.who.moves != "aircraft"
        self.wait(task, self.who.departs, self.stays or grounded)
        try:
            way = self.onward((x, y, z, heading))
        except InfeasibleError:
            if not free or heading is None:
                raise
            way, heading, leave = self.onward((x, y, z, None)), None, nan
        if chosen is None:
            self.last = (t, len(self.legs), self.here, self.time) if free else None
        if self.stays:
            self.wait(task, task.opens - way.flown / self.who.speed, True)
        self.follow("transit", task, way, heading)
        self.wait(task, task.opens, grounded)
        self.follow("coverage", task, self.coverage(t, self.here), leave if isfinite(leave) else None)

    def follow(self, kind: LegKind, task: Task | None, path: Path, heading: float | None) -> None:
        """Add a leg and measure it; `heading` is the course over the ground at its end, if requested."""
        x, y, z, _ = path.end
        if heading is None and not path.segments:
            heading = self.here[3]
        elif heading is None:
            heading = course_at_end(path)
        self.add(kind, task, path.flown, path.flown / self.who.speed, (x, y, z, heading), lambda: path)

    @property
    def stays(self) -> bool:
        """Whether it is an aircraft before departure: it waits in place."""
        departed = self.who.under_way or self.who.aloft or any(leg.flown for leg in self.legs)
        return self.who.moves == "aircraft" and not departed

    def wait(self, task: Task, until: float, in_place: bool) -> None:
        """Wait until a time (s): in place, or in circles in the air, one at least."""
        seconds = until - self.time
        if seconds <= SOON:
            return
        if in_place:
            self.add("wait", task, 0.0, seconds, self.here, partial(self.circles, self.here, 0.0))
            return
        turn = self.costs.transits.circle(self.who, self.here)
        path = _circles(turn, max(seconds * self.who.speed, turn.flown))
        self.add("wait", task, path.flown, path.flown / self.who.speed, self.here, lambda: path)


def lifted(path: Path, z: float) -> Path:
    """Return the path, `z` metres higher."""
    return Path([segment._replace(z=segment.z + z) for segment in path.segments], path.start, path.rows)


def _circles(turn: Path, flown: float) -> Path:
    """Return as many circles as fit into a distance (m), widened to use it fully."""
    rounds = max(1, int(flown / turn.flown + 1e-9))
    wider = flown / (rounds * turn.flown)
    x, y, _, _ = turn.start
    segments = [
        part._replace(
            x=x + wider * (part.x - x),
            y=y + wider * (part.y - y),
            length=wider * part.length,
            curvature=part.curvature / wider,
        )
        for part in turn.segments
    ]
    return Path(segments * rounds)
