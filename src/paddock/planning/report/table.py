"""A plan in the terminal: calm tables, with and without colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paddock.planning.metrics import AgentMetrics, Metrics
from paddock.planning.report.compare import Trial
from paddock.planning.report.words import clock, computing, distance, percent

if TYPE_CHECKING:
    from rich.table import Table

SHOWN = 40
"""Vehicles that have a line of their own, at most."""
HEADS = ("tasks", "distance", "range", "transit", "busy", "waiting", "return", "idle", "home at")


def vehicle_table(metrics: Metrics) -> Table:
    """A line for each vehicle, and one for all; times in minutes and seconds."""
    parts = metrics.agents
    table = _table(["vehicle"], HEADS)
    for part in parts[:SHOWN]:
        table.add_row(_plain(part.name), *cells(part), style="" if part.tasks else "dim")
    if len(parts) > SHOWN:
        table.add_row(f"and {len(parts) - SHOWN} more", style="dim")
    if len(parts) > 1:
        table.add_section()
        table.add_row("all", *sums(metrics), style="bold")
    return table


def comparison_table(trials: Sequence[Trial]) -> Table:
    """A line for each method, the best first."""
    table = _table(["method"], ("distance", "makespan", "done", "undone", "computed in"))
    for trial in trials:
        if trial.plan is None:
            table.add_row(_plain(trial.method), "-", "-", "-", "-", "-", style="dim")
            continue
        plan = trial.plan
        undone = f"[yellow]{len(plan.undone)}[/]" if plan.undone else "0"
        cells = (distance(plan.total), clock(plan.makespan), str(plan.done), undone, computing(trial.seconds))
        table.add_row(_plain(trial.method), *cells)
    return table


def _table(left: Sequence[str], right: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    for head in left:
        table.add_column(head, no_wrap=True)
    for head in right:
        table.add_column(head, justify="right", no_wrap=True)
    return table


def cells(part: AgentMetrics) -> tuple[str, ...]:
    """What stands under the heads, for a vehicle."""
    share = "-" if part.range_used is None else percent(part.range_used)
    back = "-" if part.rested is None else clock(part.rested)
    return f"{part.tasks}", distance(part.distance), share, *map(clock, spent(part)), back


def sums(metrics: Metrics) -> tuple[str, ...]:
    """The same for all vehicles together."""
    times = [clock(sum(column)) for column in zip(*map(spent, metrics.agents), strict=True)] or ["0:00"] * 5
    return f"{metrics.done}", distance(metrics.total), "", *times, clock(metrics.makespan)


def spent(part: AgentMetrics) -> tuple[float, ...]:
    """Seconds in transit, busy, waiting, returning, and at rest while others are out."""
    waited, times = part.waited or 0.0, part.seconds
    return times["transit"] - waited, times["busy"], waited, times["returning"], times["idle"] + times["home"]


def _plain(text: str) -> str:
    """Text in which brackets are only that."""
    from rich.markup import escape

    return escape(text)
