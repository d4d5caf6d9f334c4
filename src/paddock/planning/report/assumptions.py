"""What a plan takes for granted: everything a reader has to know before he trusts it."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

from paddock.planning.plans import Plan
from paddock.planning.report.routes import wind_note

OBJECTIVES = {"total": "the distance flown by all together", "makespan": "the time until all are back"}
MOVES = {
    "aircraft": "aircraft: they never stand still, and wait in circles",
    "hover": "multirotors: they may wait where they are",
    "ground": "on the ground: they may wait where they are",
}


def assumptions(plan: Plan) -> list[tuple[str, str]]:
    """What, and its value."""
    problem = plan.problem
    agents = problem.agents
    rows = [
        ("vehicles", "; ".join(sorted({MOVES[agent.moves] for agent in agents})) or "none"),
        ("speed through the air", _span((agent.speed for agent in agents), "m/s")),
        ("turn radius", _span((agent.radius for agent in agents), "m")),
        ("range that may be used", _span((agent.range for agent in agents), "m")),
        ("steepest climb", _span((100.0 * agent.slope for agent in agents), "%")),
        ("wind", wind_note(problem.wind).removeprefix("wind ") or "none"),
        ("no-fly zones", ", ".join(zone.name for zone in problem.zones) or "none"),
        ("method", plan.method),
        ("made small", OBJECTIVES[problem.objective]),
        ("seed", str(problem.seed)),
    ]
    return rows + [(f"{plan.method}: {key}", _value(value)) for key, value in plan.notes.items()]


def _span(values: Iterable[float], unit: str) -> str:
    """`17.5 m/s`, or from the least to the most."""
    found = sorted(set(values))
    if not found:
        return "-"
    ends = [f"{value:,.4g} {unit}" if value < 1e4 else f"{value:,.0f} {unit}" for value in (found[0], found[-1])]
    ends = [end if isfinite(value) else "no limit" for end, value in zip(ends, (found[0], found[-1]), strict=True)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _value(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
