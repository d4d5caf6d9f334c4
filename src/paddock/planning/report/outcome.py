"""What comes of a mission with events: flown to the end along exact paths, and planned anew as things happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paddock.planning.foreseen import pause
from paddock.planning.metrics import Metrics, measure
from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.log import LogEntry
from paddock.planning.mission.mission import Mission
from paddock.planning.mission.trace import trace
from paddock.planning.plans import Plan
from paddock.planning.report.words import distance, duration
from paddock.planning.setup import MissionSetup

UNPLANNED = "it came after the plan was made, and nothing is planned anew"


@dataclass(frozen=True)
class Outcome:
    """A mission that has been flown."""

    run: KinematicRun
    metrics: Metrics
    story: tuple[tuple[float, str], ...]  # s, and what happened then

    @property
    def undone(self) -> tuple[tuple[str, str], ...]:
        """Tasks, with reasons."""
        left = (task for task in self.metrics.tasks if task.state != "completed")
        return tuple((task.name, task.reason or UNPLANNED) for task in left)


def outcome_of(setup: MissionSetup, plan: Plan) -> Outcome:
    """Fly a plan."""
    run = KinematicRun(Mission(setup, plan=plan))
    run.finish()
    told = ((entry.time, told_of(entry)) for entry in run.mission.log)
    step = pause(run.time, len(run.mission.agents))
    metrics = measure(run.mission, None if step is None else trace(run, step))
    return Outcome(run, metrics, tuple((time, text) for time, text in told if text))


def told_of(entry: LogEntry) -> str:
    """What an entry of the log means, in a line; nothing for what goes without saying."""
    who, task = entry.agent, entry.task
    busy = f" while it does {task}" if task else ""
    texts = {
        "task": f"new task {task}",
        "damage": f"{who} is damaged{busy}",
        "vehicle": f"{who} joins",
        "zone": f"new no-fly zone {entry.detail}",
        "replanned": f"planned anew: {entry.detail}",
        "range": f"{who} gives tasks back: {entry.detail}",
        "battery": f"{who} returns: {entry.detail}",
        "stranded": f"{who}: {entry.detail}",
    }
    return texts.get(entry.kind, "").removesuffix(": ")


def outcome_sentence(outcome: Outcome) -> str:
    """`With its events: 15 of 15 tasks in 12 min 10 s; 43.1 km in all.`"""
    metrics = outcome.metrics
    tasks = f"{len(metrics.tasks)} task{'' if len(metrics.tasks) == 1 else 's'}"
    said = f"{metrics.done} of {tasks} in {duration(metrics.makespan)}"
    return f"With its events: {said}; {distance(metrics.total)} in all."


def outcome_numbers(outcome: Outcome) -> dict[str, Any]:
    """The same, as plain values; m and s."""
    return {
        "tasks": len(outcome.metrics.tasks),
        "done": outcome.metrics.done,
        "undone": [{"task": task, "reason": reason} for task, reason in outcome.undone],
        "total_m": outcome.metrics.total,
        "makespan_s": outcome.metrics.makespan,
        "story": [{"at_s": time, "what": what} for time, what in outcome.story],
        "metrics": outcome.metrics.to_dict(),
    }
