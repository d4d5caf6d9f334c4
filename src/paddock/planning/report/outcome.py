"""What comes of a mission with events: flown to the end along exact paths, and planned anew as things happen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paddock.planning.mission.kinematic import KinematicRun
from paddock.planning.mission.log import Entry
from paddock.planning.mission.mission import Mission
from paddock.planning.report.words import distance, duration
from paddock.planning.setup import MissionSetup


@dataclass(frozen=True)
class Outcome:
    """A mission that has been flown."""

    run: KinematicRun
    done: int  # tasks
    tasks: int  # that there were in the end
    undone: tuple[tuple[str, str], ...]  # tasks, with reasons
    total: float  # m flown by all
    time: float  # s: when all had come to rest
    story: tuple[tuple[float, str], ...]  # s, and what happened then


def outcome_of(setup: MissionSetup) -> Outcome:
    """Fly it."""
    run = KinematicRun(Mission(setup))
    run.finish()
    mission = run.mission
    jobs = {name: job for name, job in mission.tasks.items() if not job.removed}
    done = sum(job.state == "completed" for job in jobs.values())
    undone = tuple((name, job.reason or "nobody has done it") for name, job in jobs.items() if job.state != "completed")
    told = ((entry.time, told_of(entry)) for entry in mission.log)
    story = tuple((time, text) for time, text in told if text)
    return Outcome(run, done, len(jobs), undone, float(mission.members.travelled.sum()), run.time, story)


def told_of(entry: Entry) -> str:
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
        "undone": f"{task} will not be done: {entry.detail}",
    }
    return texts.get(entry.kind, "").removesuffix(": ")


def outcome_sentence(outcome: Outcome) -> str:
    """`With its events: 15 of 15 tasks in 12 min 10 s; 43.1 km in all.`"""
    said = f"{outcome.done} of {outcome.tasks} tasks in {duration(outcome.time)}"
    return f"With its events: {said}; {distance(outcome.total)} in all."


def outcome_numbers(outcome: Outcome) -> dict[str, Any]:
    """The same, as plain values; m and s."""
    return {
        "tasks": outcome.tasks,
        "done": outcome.done,
        "undone": [{"task": task, "reason": reason} for task, reason in outcome.undone],
        "total_m": outcome.total,
        "finished_s": outcome.time,
        "story": [{"at_s": time, "what": what} for time, what in outcome.story],
    }
