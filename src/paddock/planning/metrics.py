"""How a mission went, in numbers: of each vehicle, of each task, over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from paddock.planning.mission.log import LogEntry
from paddock.planning.mission.members import STATUSES
from paddock.planning.mission.mission import Mission
from paddock.planning.mission.trace import Trace
from paddock.planning.problem import Agent

AIRBORNE = tuple(STATUSES.index(status) for status in ("transit", "busy", "returning"))
RESTING = ("home", "damaged")
BLOCK = 4_000_000
"""Distances looked at in one go."""


@dataclass(frozen=True)
class AgentMetrics:
    """How a vehicle fared."""

    name: str
    status: str  # at the end
    distance: float  # m flown
    range_used: float | None  # share of its range; None: that has no limit
    tasks: int  # completed
    rested: float | None  # s: when it came to rest; None: it never left, or is under way
    waited: float | None  # s in transit that it waited for tasks to open; None: not known
    seconds: dict[str, float]  # in each status


@dataclass(frozen=True)
class TaskMetrics:
    """What became of a task."""

    name: str
    kind: str  # of shape
    state: str
    agent: str | None  # who has it, or did it
    added: float  # s
    assigned: float | None  # s, to the one that has it
    started: float | None  # s
    completed: float | None  # s
    latency: float | None  # s from its being added to its completion
    reason: str  # why it is undone


@dataclass(frozen=True)
class Separation:
    """The closest that two vehicles came to each other while both were under way."""

    distance: float  # m
    time: float  # s
    first: str
    second: str


@dataclass(frozen=True)
class Series:
    """What had been done by then, whenever something changed."""

    time: list[float]  # s
    distance: list[float]  # m flown by all
    done: list[int]  # tasks completed


@dataclass(frozen=True)
class Metrics:
    """A mission in numbers."""

    method: str
    duration: float  # s: how long it was followed
    makespan: float  # s: when the last vehicle came to rest
    total: float  # m flown by all
    done: int  # tasks
    undone: int  # tasks, and those that nobody has begun
    replans: int
    agents: tuple[AgentMetrics, ...]
    tasks: tuple[TaskMetrics, ...]
    series: Series
    separation: Separation | None = None  # None: not measured, or there were never two under way

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not a finite number is None."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


def measure(mission: Mission, trace: Trace | None = None) -> Metrics:
    """The metrics of a mission so far; separation only where there is a trace."""
    states = [entry for entry in mission.log if entry.kind == "state"]
    tasks = tuple(_task(mission, name) for name in mission.tasks)
    done = sum(task.state == "completed" for task in tasks)
    return Metrics(
        method=mission.setup.method,
        duration=mission.time,
        makespan=max((entry.time for entry in states if entry.detail in RESTING), default=0.0),
        total=float(mission.members.travelled.sum()),
        done=done,
        undone=len(tasks) - done,
        replans=mission.replans,
        agents=_agents(mission, states),
        tasks=tasks,
        series=_series(mission),
        separation=None if trace is None else separation(trace),
    )


def separation(trace: Trace) -> Separation | None:
    """The smallest distance in a trace between two vehicles that are both under way; None: there never were two."""
    flying = np.isin(trace.statuses, AIRBORNE)
    best: Separation | None = None
    count = flying.shape[1]
    step = max(BLOCK // max(count * count, 1), 1)
    for begin in range(0, len(trace.times) if count > 1 else 0, step):
        found = _closest(trace, flying, slice(begin, begin + step))
        if found is not None and (best is None or found.distance < best.distance):
            best = found
    return best


def _closest(trace: Trace, flying: Any, part: slice) -> Separation | None:
    places, both = trace.poses[part, :, :3], flying[part, :, None] & flying[part, None, :]
    apart = np.linalg.norm(places[:, :, None] - places[:, None, :], axis=-1)
    first, second = np.triu_indices(apart.shape[1], 1)
    pairs = np.where(both, apart, np.inf)[:, first, second]
    k, pair = np.unravel_index(int(pairs.argmin()), pairs.shape)
    if not np.isfinite(pairs[k, pair]):
        return None
    names = trace.names[first[pair]], trace.names[second[pair]]
    return Separation(float(pairs[k, pair]), float(trace.times[part][k]), *names)


def _agents(mission: Mission, states: list[LogEntry]) -> tuple[AgentMetrics, ...]:
    own: dict[str, list[LogEntry]] = {member.name: [] for member in mission.agents}
    for entry in states:
        own[str(entry.agent)].append(entry)
    joined = {str(entry.agent): entry.time for entry in mission.log if entry.kind == "vehicle"}
    done = [entry.agent for entry in mission.log if entry.kind == "completed"]
    began = mission.log[0].time if mission.log else mission.time
    return tuple(
        AgentMetrics(
            member.name,
            member.status,
            member.travelled,
            share_of_range(member.travelled, member.agent),
            done.count(member.name),
            _rested(own[member.name]),
            None,
            _seconds(own[member.name], joined.get(member.name, began), mission.time),
        )
        for member in mission.agents
    )


def share_of_range(flown: float, agent: Agent) -> float | None:
    """How much of its range a vehicle uses; None: that has no limit, or there is none."""
    return flown / agent.range if isfinite(agent.range) and agent.range > 0.0 else None


def _rested(states: list[LogEntry]) -> float | None:
    return states[-1].time if states and states[-1].detail in RESTING else None


def _seconds(states: list[LogEntry], begins: float, ends: float) -> dict[str, float]:
    """Seconds in each status."""
    spent = dict.fromkeys(STATUSES, 0.0)
    times = [begins, *(entry.time for entry in states), ends]
    names = ["idle", *(entry.detail for entry in states)]
    for name, since, until in zip(names, times[:-1], times[1:], strict=True):
        spent[name] += until - since  # type: ignore[index]
    return {str(name): seconds for name, seconds in spent.items()}


def _task(mission: Mission, name: str) -> TaskMetrics:
    job = mission.tasks[name]
    latency = None if job.completed is None else job.completed - job.added
    times = (job.added, job.assigned, job.started, job.completed, latency)
    return TaskMetrics(name, mission.task(name).shape.kind, job.state, job.agent, *times, job.reason)


def _series(mission: Mission) -> Series:
    """Between two of its times every vehicle flies steadily, if it is flown exactly."""
    marks = [entry for entry in mission.log if entry.travelled is not None]
    times = np.unique([entry.time for entry in marks] + [mission.time])
    distance = np.zeros(len(times))
    by_agent: dict[str, list[LogEntry]] = {member.name: [] for member in mission.agents}
    for entry in marks:
        by_agent[str(entry.agent)].append(entry)
    for member in mission.agents:
        own = by_agent[member.name]
        when = [entry.time for entry in own] + [mission.time]
        flown = [float(entry.travelled or 0.0) for entry in own] + [member.travelled]
        distance += np.interp(times, when, flown, left=0.0)
    finished = np.array([entry.time for entry in mission.log if entry.kind == "completed"])
    done = np.searchsorted(finished, times, side="right")
    return Series(times.tolist(), distance.tolist(), done.tolist())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def rows_of(metrics: Metrics, table: str) -> Iterable[dict[str, Any]]:
    """One of the tables `agents`, `tasks` and `series`, row by row."""
    plain = metrics.to_dict()
    if table == "agents":
        return [row | _columns(row.pop("seconds")) for row in plain["agents"]]
    if table == "series":
        series = plain["series"]
        return [dict(zip(series, row, strict=True)) for row in zip(*series.values(), strict=True)]
    rows: list[dict[str, Any]] = plain["tasks"]
    return rows


def _columns(seconds: dict[str, float]) -> dict[str, float]:
    return {f"{status}_s": value for status, value in seconds.items()}
