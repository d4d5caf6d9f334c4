"""What each task would cost each vehicle, if it were its only one."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.planning.costs import Costs
from paddock.planning.plans import Plan
from paddock.planning.report.style import DARK, LIGHT, SOFT, dress

WRITTEN = (16, 32)
"""Rows and columns up to which the numbers stand in the cells, and names at the edges."""


def draw_costs(figure_class: Any, plan: Plan, title: str) -> Any:
    """The figure: vehicles by tasks, km there, on the task and home; who does it is marked."""
    costs = Costs(plan.problem).alone / 1000.0
    rows, columns = costs.shape
    figure = figure_class(figsize=(10.0, float(np.clip(2.2 + 0.42 * rows, 3.0, 12.0))), layout="constrained")
    axes = figure.add_subplot()
    if costs.size == 0:
        axes.text(0.5, 0.5, "no vehicles" if rows == 0 else "no tasks", ha="center", color=SOFT)
    else:
        _cells(figure, axes, costs)
        _chosen(axes, plan, max(rows, columns))
    dress(axes, f"{title} · costs", "a task alone: there, done, and home; a ring marks who does it")
    axes.grid(False)
    axes.set_xlabel("task")
    _cost_names(axes, plan)
    return figure


def _cells(figure: Any, axes: Any, costs: Any) -> None:
    known = np.where(np.isfinite(costs), costs, np.nan)
    axes.set_facecolor("#eceff2")
    picture = axes.imshow(known, cmap="YlGnBu", aspect="auto", vmin=0.0, interpolation="nearest")
    bar = figure.colorbar(picture, ax=axes, pad=0.015, aspect=14)
    bar.set_label("km", color=SOFT)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    rows, columns = costs.shape
    if rows > WRITTEN[0] or columns > WRITTEN[1]:
        return
    dark = 0.55 * (np.nanmax(known) if np.isfinite(known).any() else 1.0)
    for (row, column), cost in np.ndenumerate(costs):
        text, tone = (f"{cost:.1f}", LIGHT if cost > dark else DARK) if np.isfinite(cost) else ("–", DARK)  # noqa: RUF001
        axes.text(column, row, text, ha="center", va="center", fontsize=7, color=tone)


def _chosen(axes: Any, plan: Plan, size: int) -> None:
    place = {task.name: k for k, task in enumerate(plan.problem.tasks)}
    pairs = [(place[task], row) for row, route in enumerate(plan.routes) for task in route.tasks]
    look = {"facecolors": "none", "edgecolors": "#d55e00", "linewidths": 1.6 if size <= WRITTEN[1] else 0.5}
    axes.scatter([x for x, _ in pairs], [y for _, y in pairs], s=330 if size <= WRITTEN[1] else 6, zorder=3, **look)


def _cost_names(axes: Any, plan: Plan) -> None:
    agents = [agent.name.replace("$", r"\$") for agent in plan.problem.agents]
    tasks = [task.name.replace("$", r"\$") for task in plan.problem.tasks]
    written = len(agents) <= WRITTEN[0] and len(tasks) <= WRITTEN[1]
    axes.set_yticks(range(len(agents)) if written else [])
    axes.set_xticks(range(len(tasks)) if written else [])
    if written:
        axes.set_yticklabels(agents)
        axes.set_xticklabels(tasks, rotation=45, ha="right", rotation_mode="anchor")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
