"""What a plan amounts to, in a sentence."""

from __future__ import annotations

from paddock.planning.metrics import Metrics
from paddock.planning.problem import Agent
from paddock.planning.report.words import clock, distance, duration, percent
from paddock.planning.setup import MissionSetup

NAMES = {
    "aircraft": ("aircraft", "aircraft"),
    "hover": ("drone", "drones"),
    "ground": ("ground vehicle", "ground vehicles"),
}
"""One and many, by the way they move."""


def fleet_word(agents: tuple[Agent, ...], count: int) -> str:
    """What so many of these vehicles are called: aircraft, drones; vehicles when they are of several kinds."""
    kinds = {agent.moves for agent in agents}
    one, many = NAMES[kinds.pop()] if len(kinds) == 1 else ("vehicle", "vehicles")
    return one if count == 1 else many


def summary(metrics: Metrics, agents: tuple[Agent, ...]) -> str:
    """`4 aircraft do 20 of 20 tasks in 14 min 20 s; 41.3 km in all; uav[2] uses 62 % of its range.`"""
    parts, tasks = metrics.agents, len(metrics.tasks)
    out = [part for part in parts if part.tasks > 0]
    many = f"{len(out)} of {len(parts)}" if 0 < len(out) < len(parts) else f"{len(parts)}"
    who = f"{many} {fleet_word(agents, len(parts))}"
    verb = "does" if len(out or parts) == 1 else "do"
    said = f"{who} {verb} {metrics.done} of {tasks} task{'' if tasks == 1 else 's'}"
    if not out:
        return f"{said}; nobody can do any of them." if tasks else f"{said}; there is nothing to do."
    said += f" in {duration(metrics.makespan)}; {distance(metrics.total)} in all"
    most = max((part for part in out if part.range_used is not None), key=lambda p: p.range_used or 0.0, default=None)
    return f"{said}; {most.name} uses {percent(most.range_used or 0.0)} of its range." if most else f"{said}."


def closeness(metrics: Metrics, setup: MissionSetup) -> str:
    """`uav[0] and uav[2] come closest: 12 m at 8:15 (in the plan, ...).`; nothing where they stay apart."""
    near, kept = metrics.separation, setup.separation
    if near is None or (kept is not None and near.distance >= kept[0]):
        return ""
    said = f"{near.first} and {near.second} come closest: {near.distance:.0f} m at {clock(near.time)}"
    if kept is None:
        return f"{said}."
    kept_apart = f"in flight they keep {kept[1]:g} m of height or {kept[0]:g} m across apart"
    return f"{said} (in the plan, which does not spread heights; {kept_apart})."
