"""Metrics of a mission, measured or expected from a plan; exported as JSON, CSV and Parquet."""

import csv
import io
import json
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from paddock.errors import InvalidValueError, MissingFeatureError, unknown_name
from paddock.planning.geometry.polygon import FieldCoverage, FieldShape, swept
from paddock.planning.geometry.shapes import InfeasibleError
from paddock.planning.mission.kinematic import Trace
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.layers import AIRBORNE, poses_on, time_step
from paddock.planning.solver.problem import Vehicle
from paddock.planning.solver.routes import STATUS_ON, STATUSES, Plan, Route
from paddock.planning.solver.transits import between
from paddock.wire.mission_results import LogEntry
from paddock.world.columns import Floats

RESTING = ("home", "diverted", "damaged")
EXPORTED = {"vehicles": "agents", "vehicle": "agent"}  # fields that have another name in exported files
BLOCK = 4_000_000  # distances computed in one block
NOT_SWEPT = (None, None)


@dataclass(frozen=True)
class VehicleMetrics:
    """Metrics of a vehicle."""

    name: str
    status: str  # at the end
    distance: float  # m flown
    range_used: float | None  # share of its range; None: no limit
    tasks: int  # completed
    rested: float | None  # s: end of its route; None: it never left, or is under way
    waited: float | None  # s of waiting for tasks to open; None: unknown
    seconds: dict[str, float]  # in each status


@dataclass(frozen=True)
class TaskMetrics:
    """Metrics of a task."""

    name: str
    kind: str  # of shape
    state: str
    vehicle: str | None  # assigned to, or done by
    added: float  # s
    assigned: float | None  # s, to the one that has it
    started: float | None  # s
    completed: float | None  # s
    latency: float | None  # s from its addition to its completion
    reason: str  # why it is undone
    covered: float | None = None  # share of a field that is covered, holes and zones apart; None: no field, or undone
    outside: float | None = None  # m by which turns leave its outline
    alternative: str = ""  # its length, and what turns on the other side of its outline would cover


@dataclass(frozen=True)
class ClosestApproach:
    """The closest approach of two vehicles that are both under way."""

    distance: float  # m
    time: float  # s
    first: str
    second: str


@dataclass(frozen=True)
class Series:
    """Distance and tasks completed over time, at each change."""

    time: list[float]  # s
    distance: list[float]  # m flown by all
    done: list[int]  # tasks completed


@dataclass(frozen=True)
class MissionMetrics:
    """Metrics of a mission."""

    method: str
    duration: float  # s: observed duration
    makespan: float  # s: when the last vehicle came to rest
    total: float  # m flown by all
    done: int  # tasks
    undone: int  # tasks, unassigned ones included
    replans: int
    vehicles: tuple[VehicleMetrics, ...]
    tasks: tuple[TaskMetrics, ...]
    series: Series
    separation: ClosestApproach | None = None  # None: not measured, or never two vehicles under way

    def to_dict(self) -> dict[str, Any]:
        """Return plain values by their exported names; a number that is not finite is None."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


def measure(mission: Mission, trace: Trace | None = None) -> MissionMetrics:
    """Return the metrics of a mission so far; separation only with a trace."""
    states = [entry for entry in mission.log if entry.kind == "state"]
    tasks = tuple(
        TaskMetrics(
            name, mission.task(name).shape.kind, job.state, job.vehicle, job.added, job.assigned, job.started,
            job.completed, None if job.completed is None else job.completed - job.added, job.reason,
            *(_swept(mission, name) if job.state == "completed" else NOT_SWEPT),
        )
        for name, job in mission.tasks.items()
    )  # fmt: skip
    done = sum(task.state == "completed" for task in tasks)
    return MissionMetrics(
        method=mission.setup.method,
        duration=mission.time,
        makespan=max((entry.time for entry in states if entry.detail in RESTING), default=0.0),
        total=float(mission.fleet.travelled.sum()),
        done=done,
        undone=len(tasks) - done,
        replans=mission.replans,
        vehicles=_vehicles(mission, states),
        tasks=tasks,
        series=_series(mission),
        separation=None if trace is None else separation(trace),
    )


def _swept(mission: Mission, name: str) -> FieldCoverage | tuple[None, None]:
    """Return what its vehicle has covered of a field; None: no field."""
    task, vehicle = mission.task(name), mission.tasks[name].vehicle
    if not isinstance(task.shape, FieldShape) or vehicle is None:
        return NOT_SWEPT
    spec = mission.vehicles[mission.fleet.row_of[vehicle]].spec
    zones = mission.zones_at(mission.tasks[name].started or 0.0)
    path = Costs(replace(mission.problem, vehicles=(spec,), tasks=(task,), zones=zones)).coverage(0, 0)
    z = spec.travels_at if task.z is None else task.z
    return NOT_SWEPT if isinstance(path, InfeasibleError) else swept(task.shape, path, between(zones, z, z))


def separation(trace: Trace, height: float = np.inf) -> ClosestApproach | None:
    """Return the closest approach in a trace of two vehicles under way; None: never two.

    With a `height` (m), the smallest distance across of two that are nearer in height than that.
    """
    flying = np.isin(trace.statuses, AIRBORNE)
    best: ClosestApproach | None = None
    count = flying.shape[1]
    first, second = np.triu_indices(count, 1)
    step = max(BLOCK // max(count * count, 1), 1)
    for begin in range(0, len(trace.times) if count > 1 else 0, step):
        part = slice(begin, begin + step)
        positions, both = trace.poses[part, :, :3], flying[part, :, None] & flying[part, None, :]
        gaps = positions[:, :, None] - positions[:, None, :]
        apart = np.linalg.norm(gaps if height == np.inf else gaps[..., :2], axis=-1)
        both &= np.abs(gaps[..., 2]) < height
        pairs = np.where(both, apart, np.inf)[:, first, second]
        k, pair = np.unravel_index(int(pairs.argmin()), pairs.shape)
        if pairs[k, pair] < (np.inf if best is None else best.distance):
            names = trace.names[first[pair]], trace.names[second[pair]]
            best = ClosestApproach(float(pairs[k, pair]), float(trace.times[part][k]), *names)
    return best


def _vehicles(mission: Mission, states: list[LogEntry]) -> tuple[VehicleMetrics, ...]:
    own: dict[str, list[LogEntry]] = {vehicle.name: [] for vehicle in mission.vehicles}
    for entry in states:
        own[str(entry.vehicle)].append(entry)
    joined = {str(entry.vehicle): entry.time for entry in mission.log if entry.kind == "vehicle"}
    done = [entry.vehicle for entry in mission.log if entry.kind == "completed"]
    began = mission.log[0].time if mission.log else mission.time
    rows = []
    for vehicle in mission.vehicles:
        name, flown, log = vehicle.name, vehicle.travelled, own[vehicle.name]
        spent = {str(status): 0.0 for status in STATUSES}
        times = [joined.get(name, began), *(entry.time for entry in log), mission.time]
        for status, since, until in zip(["idle", *(entry.detail for entry in log)], times[:-1], times[1:], strict=True):
            spent[status] += until - since
        rested = log[-1].time if log and log[-1].detail in RESTING else None
        share = share_of_range(flown, vehicle.spec)
        rows.append(VehicleMetrics(name, vehicle.status, flown, share, done.count(name), rested, None, spent))
    return tuple(rows)


def share_of_range(flown: float, vehicle: Vehicle) -> float | None:
    """Return the share of its range that a vehicle uses; None: no limit, or no range."""
    return flown / vehicle.range if isfinite(vehicle.range) and vehicle.range > 0.0 else None


def _series(mission: Mission) -> Series:
    """Return times between which every vehicle moves steadily, if the mission is flown exactly."""
    marks = [entry for entry in mission.log if entry.travelled is not None]
    times = np.unique([entry.time for entry in marks] + [mission.time])
    distance = np.zeros(len(times))
    by_vehicle: dict[str, list[LogEntry]] = {vehicle.name: [] for vehicle in mission.vehicles}
    for entry in marks:
        by_vehicle[str(entry.vehicle)].append(entry)
    for vehicle in mission.vehicles:
        own = by_vehicle[vehicle.name]
        when = [entry.time for entry in own] + [mission.time]
        flown = [float(entry.travelled or 0.0) for entry in own] + [vehicle.travelled]
        distance += np.interp(times, when, flown, left=0.0)
    finished = np.array([entry.time for entry in mission.log if entry.kind == "completed"])
    done = np.searchsorted(finished, times, side="right")
    return Series(times.tolist(), distance.tolist(), done.tolist())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {EXPORTED.get(key, key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def foreseen(plan: Plan, apart: bool = False) -> MissionMetrics:
    """Return the metrics expected of a plan; with the closest approach if `apart`."""
    times = np.unique([0.0] + [leg.ends for route in plan.routes for leg in route.legs])  # linear between them
    flown = sum((np.interp(times, *flown_over_time(route)) for route in plan.routes if route.legs), 0.0 * times)
    done = np.searchsorted(done_times(plan), times, side="right")
    vehicles = zip(plan.problem.vehicles, plan.routes, strict=True)
    step, rule = time_step(plan.makespan, len(plan.routes)) if apart else None, plan.problem.separation
    return MissionMetrics(
        method=plan.method,
        duration=plan.makespan,
        makespan=plan.makespan,
        total=float(plan.total),
        done=plan.done,
        undone=len(plan.undone),
        replans=0,
        vehicles=tuple(_planned_vehicle(vehicle, route, plan.makespan) for vehicle, route in vehicles),
        tasks=_planned_tasks(plan),
        series=Series(times.tolist(), flown.tolist(), done.tolist()),
        separation=None
        if step is None
        else separation(planned_trace(plan, np.arange(0.0, plan.makespan, step)), rule.height if rule else np.inf),
    )


def planned_trace(plan: Plan, times: Floats) -> Trace:
    """Return the poses of all vehicles at these times (s)."""
    poses = np.empty((len(times), len(plan.routes), 4))
    statuses = np.zeros((len(times), len(plan.routes)), dtype=np.int8)
    for k, (vehicle, route) in enumerate(zip(plan.problem.vehicles, plan.routes, strict=True)):
        poses[:, k], statuses[:, k] = poses_on(vehicle, route, times)
    return Trace(tuple(vehicle.name for vehicle in plan.problem.vehicles), times, poses, statuses)


def _planned_vehicle(vehicle: Vehicle, route: Route, until: float) -> VehicleMetrics:
    seconds = dict.fromkeys(map(str, STATUSES), 0.0)
    for leg in route.legs:
        seconds[STATUS_ON[leg.kind]] += leg.ends - leg.begins
    seconds["idle"] += route.legs[0].begins if route.legs else until
    seconds["home"] += until - route.ends if route.legs else 0.0
    waited = sum((leg.ends - leg.begins for leg in route.legs if leg.kind == "wait"), 0.0)
    status, rested = ("home", route.ends) if route.legs else ("idle", None)
    flown = float(route.flown)
    share = share_of_range(flown, vehicle)
    return VehicleMetrics(vehicle.name, status, flown, share, len(route.tasks), rested, waited, seconds)


def _planned_tasks(plan: Plan) -> tuple[TaskMetrics, ...]:
    done = {leg.task: (route.vehicle, leg) for route in plan.routes for leg in route.legs if leg.kind == "coverage"}
    reasons = {entry.task: entry.reason for entry in plan.undone}
    rows = []
    for task in plan.problem.tasks:
        name, kind = task.name, task.shape.kind
        if name in done:
            vehicle, leg = done[name]
            times = (0.0, 0.0, leg.begins, leg.ends, leg.ends)
            shape, zones = task.shape, between(plan.problem.zones, leg.start[2], leg.start[2])
            covered = swept(shape, leg.path, zones) if isinstance(shape, FieldShape) else NOT_SWEPT
            rows.append(TaskMetrics(name, kind, "completed", vehicle, *times, "", *covered))
        else:
            rows.append(TaskMetrics(name, kind, "undone", None, 0.0, None, None, None, None, reasons[name]))
    return tuple(rows)


def done_times(plan: Plan) -> Floats:
    """Return the completion times of tasks, s, ascending."""
    ends = [leg.ends for route in plan.routes for leg in route.legs if leg.kind == "coverage"]
    return np.sort(np.array(ends, dtype=np.float64))


def flown_over_time(route: Route) -> tuple[Floats, Floats]:
    """Return times (s) and metres flown by then; linear in between."""
    moments = [leg.begins for leg in route.legs[:1]] + [leg.ends for leg in route.legs]
    flown = np.cumsum([0.0] + [leg.flown for leg in route.legs])
    return np.array(moments, dtype=np.float64), flown[: len(moments)]


TABLES: dict[str, Any] = {"tasks": TaskMetrics, "agents": VehicleMetrics, "series": Series}  # by exported name
TYPES = {"tasks": "int64", "done": "int64"}  # of columns that are neither text nor float64
TEXT = ("name", "status", "kind", "state", "agent", "reason", "alternative")


def _table(metrics: MissionMetrics, table: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the columns and the rows of one of TABLES."""
    if table not in TABLES:
        raise unknown_name("metrics table", table, TABLES)
    names = [EXPORTED.get(name, name) for name in TABLES[table].__dataclass_fields__ if name != "seconds"]
    rows = metrics.to_dict()[table]
    if table == "agents":
        rows = [row | {f"{status}_s": value for status, value in row.pop("seconds").items()} for row in rows]
        return names + [f"{status}_s" for status in STATUSES], rows
    if table == "series":
        return names, [dict(zip(names, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    return names, rows


def to_json(metrics: MissionMetrics) -> str:
    """Return all metrics as valid JSON, with keys in order."""
    return json.dumps(metrics.to_dict(), indent=2, sort_keys=True, allow_nan=False, ensure_ascii=False) + "\n"


def to_csv(metrics: MissionMetrics, table: str = "tasks") -> str:
    """Return a table (tasks, agents or series) as CSV; None is an empty field."""
    names, rows = _table(metrics, table)
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def to_arrow(metrics: MissionMetrics, table: str = "tasks") -> Any:
    """Return a table as an Arrow table."""
    pa = check_parquet()
    names, rows = _table(metrics, table)
    kinds = {name: pa.string() if name in TEXT else getattr(pa, TYPES.get(name, "float64"))() for name in names}
    columns = [pa.array([row[name] for row in rows], kinds[name]) for name in names]
    return pa.Table.from_arrays(columns, schema=pa.schema(list(kinds.items())))


def to_parquet(metrics: MissionMetrics, table: str = "tasks") -> bytes:
    """Return a table as the content of a Parquet file."""
    data = to_arrow(metrics, table)  # raises if pyarrow is not installed
    from pyarrow import parquet  # type: ignore[import-untyped]

    content = io.BytesIO()
    parquet.write_table(data, content)
    return content.getvalue()


def export(metrics: MissionMetrics, path: str | Path, table: str = "tasks") -> None:
    """Write a file in the format of its extension: .json (everything), .csv or .parquet (one table)."""
    target = Path(path)
    if target.suffix == ".json":
        content = to_json(metrics).encode()
    elif target.suffix == ".csv":
        content = to_csv(metrics, table).encode()
    elif target.suffix == ".parquet":
        content = to_parquet(metrics, table)
    else:
        raise InvalidValueError(f"{target.name}: metrics are written as .json, .csv or .parquet, not {target.suffix!r}")
    target.write_bytes(content)


def check_parquet() -> Any:
    """Return pyarrow; MissingFeatureError if it is not installed."""
    try:
        import pyarrow as library
    except ImportError:
        raise MissingFeatureError("Parquet needs pyarrow: pip install 'paddock[analysis]'") from None
    return library
