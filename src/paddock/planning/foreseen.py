"""The metrics that a mission will have if everything goes as planned, and where everybody will be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paddock.planning.metrics import (
    AgentMetrics,
    Metrics,
    Separation,
    Series,
    TaskMetrics,
    separation,
    share_of_range,
)
from paddock.planning.mission.members import STATUS_ON, STATUSES
from paddock.planning.mission.trace import Trace
from paddock.planning.plans import Leg, Plan, Route
from paddock.planning.problem import Agent
from paddock.world.columns import Floats

FINE, COARSE = 0.5, 2.0
"""s between the moments at which distances between vehicles are looked at: as a rule, and at most."""
MOST = 2_000_000
"""Poses that are looked at for that."""


def foreseen(plan: Plan, apart: bool = False) -> Metrics:
    """Those of a plan that is followed to its end; with the smallest separation if `apart`."""
    agents = zip(plan.problem.agents, plan.routes, strict=True)
    return Metrics(
        method=plan.method,
        duration=plan.makespan,
        makespan=plan.makespan,
        total=float(plan.total),
        done=plan.done,
        undone=len(plan.undone),
        replans=0,
        agents=tuple(_planned_agent(agent, route, plan.makespan) for agent, route in agents),
        tasks=_planned_tasks(plan),
        series=_planned_series(plan),
        separation=_separation(plan) if apart else None,
    )


def planned_trace(plan: Plan, times: Floats) -> Trace:
    """Where everybody will be at these times (s)."""
    poses = np.empty((len(times), len(plan.routes), 4))
    statuses = np.zeros((len(times), len(plan.routes)), dtype=np.int8)
    for k, (agent, route) in enumerate(zip(plan.problem.agents, plan.routes, strict=True)):
        poses[:, k], statuses[:, k] = _followed(agent, route, times)
    return Trace(tuple(agent.name for agent in plan.problem.agents), times, poses, statuses)


def pause(seconds: float, vehicles: int) -> float | None:
    """s between two looks at the distances between so many vehicles; None: that would be too much, or too coarse."""
    least = seconds * vehicles / MOST
    return None if vehicles < 2 or seconds <= 0.0 or least > COARSE else max(least, FINE)


def _planned_agent(agent: Agent, route: Route, until: float) -> AgentMetrics:
    seconds = dict.fromkeys(map(str, STATUSES), 0.0)
    for leg in route.legs:
        seconds[STATUS_ON[leg.kind]] += leg.ends - leg.begins
    seconds["idle"] += route.legs[0].begins if route.legs else until
    seconds["home"] += until - route.ends if route.legs else 0.0
    waited = sum((leg.ends - leg.begins for leg in route.legs if leg.kind == "wait"), 0.0)
    status, rested = ("home", route.ends) if route.legs else ("idle", None)
    flown = float(route.flown)
    share = share_of_range(flown, agent)
    return AgentMetrics(agent.name, status, flown, share, len(route.tasks), rested, waited, seconds)


def _planned_tasks(plan: Plan) -> tuple[TaskMetrics, ...]:
    done = {leg.task: (route.agent, leg) for route in plan.routes for leg in route.legs if leg.kind == "coverage"}
    reasons = {one.task: one.reason for one in plan.undone}
    return tuple(
        _done(task.name, task.shape.kind, *done[task.name])
        if task.name in done
        else TaskMetrics(task.name, task.shape.kind, "undone", None, 0.0, None, None, None, None, reasons[task.name])
        for task in plan.problem.tasks
    )


def _done(name: str, kind: str, agent: str, leg: Leg) -> TaskMetrics:
    return TaskMetrics(name, kind, "completed", agent, 0.0, 0.0, leg.begins, leg.ends, leg.ends, "")


def _planned_series(plan: Plan) -> Series:
    """At the end of every leg: between them everybody flies steadily."""
    times = np.unique([0.0] + [leg.ends for route in plan.routes for leg in route.legs])
    distance = sum((np.interp(times, *flown_over_time(route)) for route in plan.routes if route.legs), 0.0 * times)
    done = np.searchsorted(done_times(plan), times, side="right")
    return Series(times.tolist(), distance.tolist(), done.tolist())


def done_times(plan: Plan) -> Floats:
    """When tasks are done, s, in order."""
    ends = [leg.ends for route in plan.routes for leg in route.legs if leg.kind == "coverage"]
    return np.sort(np.array(ends, dtype=np.float64))


def flown_over_time(route: Route) -> tuple[Floats, Floats]:
    """Moments (s) and metres flown by then; straight between them."""
    moments = [leg.begins for leg in route.legs[:1]] + [leg.ends for leg in route.legs]
    flown = np.cumsum([0.0] + [leg.flown for leg in route.legs])
    return np.array(moments, dtype=np.float64), flown[: len(moments)]


def _separation(plan: Plan) -> Separation | None:
    step = pause(plan.makespan, len(plan.routes))
    return None if step is None else separation(planned_trace(plan, np.arange(0.0, plan.makespan, step)))


def _followed(agent: Agent, route: Route, times: Floats) -> tuple[Floats, NDArray[np.int8]]:
    """Poses (k, 4) and statuses (k,); before its first leg and after its last one a vehicle stands."""
    poses, statuses = np.tile(np.array(agent.pose), (len(times), 1)), np.zeros(len(times), dtype=np.int8)
    for leg in route.legs:
        now = (times >= leg.begins) & (times <= leg.ends)
        lasts = leg.ends - leg.begins
        if now.any() and lasts > 0.0:
            poses[now] = leg.path.at((times[now] - leg.begins) / lasts * leg.path.flown)
            statuses[now] = STATUSES.index(STATUS_ON[leg.kind])
        poses[times > leg.ends] = leg.end
    statuses[times > route.ends] = STATUSES.index("home" if route.legs else "idle")
    return poses, statuses
