"""A plan and the flown outcome as plain values, for `plan.json` and `--json`."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from paddock.planning.metrics import MissionMetrics, measure
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.mission.state import LogEntry
from paddock.planning.problem import MissionSetup
from paddock.planning.routes import Plan, Route
from paddock.planning.separation import pause
from paddock.record.mission_report.comparison import Trial
from paddock.record.mission_report.text import distance, duration


def numbers(plan: Plan, metrics: MissionMetrics) -> dict[str, Any]:
    """Return the numbers of a plan; m and s."""
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


def document(plan: Plan, name: str, metrics: MissionMetrics) -> dict[str, Any]:
    """Return everything: the numbers, and every leg of every route. The same plan gives the same values."""
    problem = plan.problem
    return {
        "format": "paddock-plan",
        "version": 1,
        "scenario": name,
        **numbers(plan, metrics),
        "wind_m_s": list(problem.wind),
        "agents": [
            {
                "name": vehicle.name,
                "moves": vehicle.moves,
                "pose": list(vehicle.pose),
                "home": list(vehicle.home),
                "speed_m_s": vehicle.speed,
                "turn_radius_m": vehicle.radius,
                "range_m": _finite(vehicle.range),
                "slope": _finite(vehicle.slope),
            }
            for vehicle in problem.vehicles
        ],
        "task_list": [
            {
                "name": task.name,
                "kind": task.shape.kind,
                "entry": list(task.shape.entry),
                "height_m": task.z,
                "outline": task.shape.outline().tolist(),
                "window_s": [task.opens, _finite(task.closes)],
            }
            for task in problem.tasks
        ],
        "zones": [
            {
                "name": zone.name,
                "outline": zone.outline().tolist(),
                "floor_m": zone.limits[0],
                "ceiling_m": zone.limits[1],
            }
            for zone in problem.zones
        ],
        "routes": [_route_tree(route) for route in plan.routes],
    }


def _route_tree(route: Route) -> dict[str, Any]:
    """Return a route with its legs."""
    legs = [
        {
            "kind": leg.kind,
            "task": leg.task,
            "begins_s": leg.begins,
            "ends_s": leg.ends,
            "flown_m": leg.flown,
            "start": list(leg.start),
            "end": list(leg.end),
        }
        for leg in route.legs
    ]
    return {"vehicle": route.vehicle, "tasks": list(route.tasks), "legs": legs}


def comparison(trials: Sequence[Trial], timed: bool) -> list[dict[str, Any]]:
    """Return a line for each method; with computing times, which vary between runs, if requested."""
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


def _finite(value: float) -> float | None:
    """Return None for values that JSON cannot represent."""
    return value if isfinite(value) else None


UNPLANNED = "it was added after planning, and replanning is off"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a flown mission."""

    run: KinematicRun
    metrics: MissionMetrics
    timeline: tuple[tuple[float, str], ...]  # time in s, and the event

    @property
    def undone(self) -> tuple[tuple[str, str], ...]:
        """The undone tasks, with reasons."""
        left = (task for task in self.metrics.tasks if task.state != "completed")
        return tuple((task.name, task.reason or UNPLANNED) for task in left)


def outcome_of(setup: MissionSetup, plan: Plan) -> Outcome:
    """Fly a plan."""
    run = KinematicRun(Mission(setup, plan=plan))
    run.finish()
    lines = ((entry.time, entry_text(entry)) for entry in run.mission.log)
    step = pause(run.time, len(run.mission.vehicles))
    metrics = measure(run.mission, None if step is None else trace(run, step))
    return Outcome(run, metrics, tuple((time, text) for time, text in lines if text))


def entry_text(entry: LogEntry) -> str:
    """Return the text of a log entry; empty for routine entries."""
    vehicle, task = entry.vehicle, entry.task
    busy = f" while it does {task}" if task else ""
    texts = {
        "task": f"new task {task}",
        "damage": f"{vehicle} is damaged{busy}",
        "vehicle": f"{vehicle} joins",
        "zone": f"new no-fly zone {entry.detail}",
        "replanned": f"replanned: {entry.detail}",
        "range": f"{vehicle} gives tasks back: {entry.detail}",
        "battery": f"{vehicle} returns: {entry.detail}",
        "stranded": f"{vehicle}: {entry.detail}",
    }
    return texts.get(entry.kind, "").removesuffix(": ")


def outcome_sentence(outcome: Outcome) -> str:
    """Return `With its events: 15 of 15 tasks in 12 min 10 s; 43.1 km in total.`"""
    metrics = outcome.metrics
    tasks = f"{len(metrics.tasks)} task{'' if len(metrics.tasks) == 1 else 's'}"
    said = f"{metrics.done} of {tasks} in {duration(metrics.makespan)}"
    return f"With its events: {said}; {distance(metrics.total)} in total."


def outcome_numbers(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as plain values; m and s."""
    return {
        "tasks": len(outcome.metrics.tasks),
        "done": outcome.metrics.done,
        "undone": [{"task": task, "reason": reason} for task, reason in outcome.undone],
        "total_m": outcome.metrics.total,
        "makespan_s": outcome.metrics.makespan,
        "story": [{"at_s": time, "what": what} for time, what in outcome.timeline],
        "metrics": outcome.metrics.to_dict(),
    }
