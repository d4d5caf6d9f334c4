"""Kinematic execution of a mission: every vehicle moves exactly along its route at its speed, without a world.

All poses depend only on the time, and each event happens at its exact time: results do not depend on the step.
"""

from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from paddock.errors import InvalidValueError
from paddock.planning.geometry.path import Pose, as_pose
from paddock.planning.mission.mission import Mission
from paddock.planning.mission.station import Row
from paddock.planning.mission.vehicles import (
    LONGEST,
    MEMBER,
    MissionVehicle,
    RouteInputs,
    extend,
    rebuilt_route,
)
from paddock.planning.solver.layers import poses_on
from paddock.planning.solver.routes import STATUSES, Route
from paddock.world.columns import Floats
from paddock.world.parts import array, child, fill, part, rows, value


class Followed(NamedTuple):
    """A route that a vehicle follows from a given time on."""

    row: int
    since: float  # s
    inputs: RouteInputs
    route: Route


class FollowedInputs(NamedTuple):
    """The inputs of a route that a vehicle follows from a given time on."""

    row: Row
    since: float  # s
    inputs: RouteInputs
    routed: bool  # it has legs


@part
class KinematicRun:
    """Moves the vehicles of a mission exactly along their routes; at home, and when damaged, they do not move."""

    mission: Mission = child()
    time: float = value(0.0, low=-LONGEST, high=LONGEST, unit="s")
    before: Floats = array("f8", MEMBER, unit="m", low=-LONGEST, high=LONGEST)  # flown before the present route
    followed: list[FollowedInputs] = rows(FollowedInputs)

    def __init__(self, mission: Mission, time: float | None = 0.0) -> None:
        """Start the mission at a time (s) if it has not been started; None: later, by `begin`."""
        fill(self)
        self.mission = mission
        self._routes: list[Route] = []  # of `followed`
        if mission.started:
            self.time = mission.time
        elif time is not None:
            self.begin(time)

    def begin(self, time: float) -> None:
        """Plan the mission at a time (s)."""
        self.time = time
        self._follow_routes(self.mission.start(time))

    @property
    def history(self) -> list[Followed]:
        """The routes that vehicles have followed."""
        pairs = zip(self.followed, self._routes, strict=True)
        return [Followed(entry.row, entry.since, entry.inputs, route) for entry, route in pairs]

    @property
    def finished(self) -> bool:
        """Whether all vehicles are at rest and no event is pending."""
        return self.mission.finished

    def advance(self, dt: float) -> None:
        """Advance by `dt` seconds."""
        if not (isfinite(dt) and dt >= 0.0):
            raise InvalidValueError(f"time goes on by a number of seconds >= 0, not {dt!r}")
        self._run(self.time + dt)

    def finish(self, limit: float = inf) -> float:
        """Advance until all vehicles are at rest, or by `limit` seconds; return the time, s."""
        self._run(self.time + limit, to_the_end=False)
        return self.time

    def poses(self) -> Floats:
        """Return the poses of all vehicles: x, y, z in m and heading in rad, (n, 4)."""
        along = self._progress(self.time) - self.mission.fleet.passed
        return np.array([_pose(m, along[m.row]) for m in self.mission.vehicles]).reshape(-1, 4)

    def rebuild(self) -> None:
        """Build what is derived from a loaded state: the mission's vehicles, and all routes."""
        self.mission.rebuild()
        self._routes = [self._route(entry) for entry in self.followed]

    def check(self, state: Any) -> None:
        """Refuse vehicles, tasks and zones that the mission does not have."""
        for entry in self.followed:
            self.mission.check_inputs(entry.inputs)
            if entry.row >= len(self.mission.fleet.joined):
                raise InvalidValueError(f"row {entry.row} of {len(self.mission.fleet.joined)} vehicles")
        if len(self.before) != len(self.mission.fleet.joined):
            raise InvalidValueError(f"{len(self.before)} rows of {len(self.mission.fleet.joined)} vehicles")

    def _run(self, target: float, to_the_end: bool = True) -> None:
        """Advance to a time, or until everything is finished."""
        fleet = self.mission.fleet
        while (due := min(float(fleet.until.min(initial=inf)), self.mission.next_event)) <= target and due < inf:
            self._observe(max(due, self.time))
        if to_the_end or isfinite(due):
            self.time = target
        progress = self._progress(self.time)
        self.mission.record_progress(self.time, progress, self.before + progress)

    def _observe(self, time: float) -> None:
        self.time = time
        progress = self._progress(time)
        fleet = self.mission.fleet

        def pose(row: int) -> Pose:
            return _pose(fleet.vehicles[row], float(progress[row] - fleet.passed[row]))

        if new := self.mission.observe(time, progress, pose, self.before + progress, tolerance=0.0):
            self._follow_routes(new)

    def _follow_routes(self, rows: list[int]) -> None:
        """Set new routes."""
        fleet = self.mission.fleet
        extend(self, len(fleet.vehicles))
        self.before[rows] = fleet.travelled[rows]
        for row in rows:
            vehicle = fleet.vehicles[row]
            self.followed.append(FollowedInputs(row, self.time, vehicle.inputs, bool(vehicle.route.legs)))
            self._routes.append(vehicle.route)

    def _progress(self, time: float) -> Floats:
        """Return metres flown on the present routes; a leg is complete only at its end."""
        m = self.mission.fleet
        # one bit below the end, so that rounding does not end a leg early
        short = np.maximum(np.where(m.due < inf, np.nextafter(m.due, 0.0), m.passed), m.passed)
        moved = np.clip(m.passed + m.speed * (time - m.since), m.passed, short)
        return np.where(m.until <= time, m.due, moved)

    def _route(self, entry: FollowedInputs) -> Route:
        mission, vehicle = self.mission, self.mission.vehicles[entry.row]
        if not entry.routed:
            return Route(vehicle.name, (), vehicle.spec.speed)
        if vehicle.inputs == entry.inputs and vehicle.route.legs:
            return vehicle.route
        return rebuilt_route(mission.problem, mission.versions, mission.all_zones, entry.inputs)


def _pose(vehicle: MissionVehicle, along: float) -> Pose:
    """Return the pose `along` m on the present leg."""
    return vehicle.rest if vehicle.current is None else as_pose(vehicle.current.path.at(along)[0])


MOST_POSES = 50_000_000


class Trace(NamedTuple):
    """Samples of a run."""

    names: tuple[str, ...]  # of n vehicles
    times: Floats  # (k,) s
    poses: Floats  # (k, n, 4) x, y, z in m, heading in rad
    statuses: NDArray[np.int8]  # (k, n) indices in STATUSES


def trace(run: KinematicRun, dt: float) -> Trace:
    """Return the trace of a run so far, every `dt` seconds, including its start and end."""
    mission = run.mission
    begin = min((followed.since for followed in run.history), default=run.time)
    if not dt > 0.0 or (run.time - begin) / dt * max(len(mission.vehicles), 1) > MOST_POSES:
        raise InvalidValueError(f"a trace every {dt!r} s would be none, or more than {MOST_POSES:,} poses")
    times = np.append(np.arange(begin, run.time, dt), run.time)
    poses = np.empty((len(times), len(mission.vehicles), 4))
    for row, vehicle in enumerate(mission.vehicles):
        poses[:, row] = vehicle.spec.pose
        for followed in (followed for followed in run.history if followed.row == row):
            later = times >= followed.since
            poses[later, row] = poses_on(followed.inputs.spec, followed.route, times[later])[0]
    statuses = np.zeros(poses.shape[:2], dtype=np.int8)
    for entry in mission.log:
        if entry.kind == "state":
            row = mission.fleet.row_of[str(entry.vehicle)]
            statuses[np.searchsorted(times, entry.time) :, row] = STATUSES.index(entry.detail)
    return Trace(tuple(vehicle.name for vehicle in mission.vehicles), times, poses, statuses)
