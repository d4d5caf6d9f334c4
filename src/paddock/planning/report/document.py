"""A plan as plain values: for plan.json and for `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from paddock.planning.metrics import Metrics
from paddock.planning.plans import Leg, Plan, Route
from paddock.planning.problem import Agent, Task
from paddock.planning.report.compare import Trial


def numbers(plan: Plan, metrics: Metrics) -> dict[str, Any]:
    """What it amounts to; m and s."""
    return {
        "method": plan.method,
        "objective": plan.problem.objective,
        "seed": plan.problem.seed,
        "tasks": len(plan.problem.tasks),
        "done": plan.done,
        "undone": [{"task": one.task, "reason": one.reason} for one in plan.undone],
        "total_m": plan.total,
        "makespan_s": plan.makespan,
        "notes": dict(plan.notes),
        "metrics": metrics.to_dict(),
    }


def document(plan: Plan, name: str, metrics: Metrics) -> dict[str, Any]:
    """Everything: the numbers, and every leg of every route. The same plan gives the same values."""
    problem = plan.problem
    return {
        "format": "paddock-plan",
        "version": 1,
        "scenario": name,
        **numbers(plan, metrics),
        "wind_m_s": list(problem.wind),
        "agents": [_agent(agent) for agent in problem.agents],
        "task_list": [_task(task) for task in problem.tasks],
        "zones": [{"name": zone.name, "outline": zone.outline().tolist()} for zone in problem.zones],
        "routes": [_route(route) for route in plan.routes],
    }


def comparison(trials: Sequence[Trial], timed: bool) -> list[dict[str, Any]]:
    """A line for each method; with computing times, which are never the same twice, where they are wanted."""
    rows: list[dict[str, Any]] = []
    for trial in trials:
        row: dict[str, Any] = {"method": trial.method}
        if trial.plan is None:
            row["problem"] = trial.problem
        else:
            plan = trial.plan
            row |= {"total_m": plan.total, "makespan_s": plan.makespan, "done": plan.done, "undone": len(plan.undone)}
        rows.append(row | ({"compute_s": round(trial.seconds, 6)} if timed and trial.plan is not None else {}))
    return rows


def _agent(agent: Agent) -> dict[str, Any]:
    return {
        "name": agent.name,
        "moves": agent.moves,
        "pose": list(agent.pose),
        "home": list(agent.home),
        "speed_m_s": agent.speed,
        "turn_radius_m": agent.radius,
        "range_m": _finite(agent.range),
        "slope": _finite(agent.slope),
    }


def _task(task: Task) -> dict[str, Any]:
    x, y, heading = task.shape.entry
    where = {"entry": [x, y, heading], "height_m": task.z, "outline": task.shape.outline().tolist()}
    return {"name": task.name, "kind": task.shape.kind, **where, "window_s": [task.opens, _finite(task.closes)]}


def _route(route: Route) -> dict[str, Any]:
    return {"vehicle": route.agent, "tasks": list(route.tasks), "legs": [_leg(leg) for leg in route.legs]}


def _leg(leg: Leg) -> dict[str, Any]:
    return {
        "kind": leg.kind,
        "task": leg.task,
        "begins_s": leg.begins,
        "ends_s": leg.ends,
        "flown_m": leg.flown,
        "start": list(leg.start),
        "end": list(leg.end),
    }


def _finite(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if isfinite(value) else None
