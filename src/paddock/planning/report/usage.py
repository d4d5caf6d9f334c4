"""What each vehicle's part in a plan amounts to, and all of it in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from paddock.planning.plans import LegKind, Plan, Route
from paddock.planning.problem import Agent
from paddock.planning.report.words import distance, duration, percent

NAMES = {"aircraft": ("aircraft", "aircraft"), "hover": ("drone", "drones"), "ground": ("rover", "rovers")}
"""One and many, by the way they move."""


@dataclass(frozen=True)
class Usage:
    """One vehicle's part in a plan."""

    vehicle: str
    tasks: int
    flown: float  # m, the way home included
    home: float  # s: when it is back
    share: float | None  # of its range; None where that has no limit
    transit: float  # s on the way to tasks
    wait: float  # s waiting for tasks to open
    busy: float  # s doing tasks
    back: float  # s on the way home
    idle: float  # s at home while others are out


def usages(plan: Plan) -> list[Usage]:
    """Of every vehicle, in the problem's order."""
    agents = {agent.name: agent for agent in plan.problem.agents}
    return [_usage(route, agents[route.agent], plan.makespan) for route in plan.routes]


def _usage(route: Route, agent: Agent, makespan: float) -> Usage:
    def spent(kind: LegKind) -> float:
        return sum((leg.ends - leg.begins for leg in route.legs if leg.kind == kind), 0.0)

    transit, wait, busy, back = spent("transit"), spent("wait"), spent("coverage"), spent("return")
    share = route.flown / agent.range if isfinite(agent.range) and agent.range > 0.0 else None
    idle = max(makespan - transit - wait - busy - back, 0.0)
    return Usage(route.agent, len(route.tasks), float(route.flown), route.ends, share, transit, wait, busy, back, idle)


def fleet_word(agents: tuple[Agent, ...], count: int) -> str:
    """What so many of these vehicles are called: aircraft, drones, rovers; vehicles when they are of several kinds."""
    kinds = {agent.moves for agent in agents}
    one, many = NAMES[kinds.pop()] if len(kinds) == 1 else ("vehicle", "vehicles")
    return one if count == 1 else many


def summary(plan: Plan) -> str:
    """`4 aircraft do 20 of 20 tasks in 14 min 20 s; 41.3 km in all; uav[2] uses 62 % of its range.`"""
    parts = usages(plan)
    tasks = len(plan.problem.tasks)
    out = [part for part in parts if part.tasks > 0]
    many = f"{len(out)} of {len(parts)}" if 0 < len(out) < len(parts) else f"{len(parts)}"
    who = f"{many} {fleet_word(plan.problem.agents, len(parts))}"
    verb = "does" if len(out or parts) == 1 else "do"
    said = f"{who} {verb} {plan.done} of {tasks} task{'' if tasks == 1 else 's'}"
    if not out:
        return f"{said}; nobody has anything to do."
    said += f" in {duration(plan.makespan)}; {distance(plan.total)} in all"
    most = max((part for part in out if part.share is not None), key=lambda part: part.share or 0.0, default=None)
    return f"{said}; {most.vehicle} uses {percent(most.share or 0.0)} of its range." if most else f"{said}."
