"""How the mission goes on: tasks done and distance flown over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddock.planning.foreseen import done_times, flown_over_time
from paddock.planning.plans import Plan
from paddock.planning.report.style import INK, PAPER, SOFT, colour, dress, minutes

LISTED = 16
"""Vehicles named in the legend, at most."""


def draw_timeline(figure_class: Any, plan: Plan, title: str) -> Any:
    """The figure: two panels over one time."""
    figure = figure_class(figsize=(10.0, 6.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    until = max(plan.makespan, 1.0)
    _done(above, plan, until)
    _flown(below, plan)
    dress(above, f"{title} · progress")
    dress(below, "")
    below.set_xlabel("time, min:s" if until < 3600 else "time, h:min:s")
    below.set_xlim(0.0, until * 1.01)
    minutes(below.xaxis, until)
    return figure


def _done(axes: Any, plan: Plan, until: float) -> None:
    times = done_times(plan)
    tasks = len(plan.problem.tasks)
    moments = np.concatenate([[0.0], times, [until]])
    counts = np.concatenate([np.arange(len(times) + 1), [len(times)]])
    axes.step(moments, counts, where="post", color=INK, linewidth=1.8)
    axes.fill_between(moments, counts, step="post", color=INK, alpha=0.07, linewidth=0)
    axes.axhline(tasks, color=SOFT, linewidth=0.8, linestyle=(0, (4, 3)))
    axes.set_ylim(0.0, max(tasks, 1) * 1.08)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_ylabel(f"tasks done, of {tasks}")


def _flown(axes: Any, plan: Plan) -> None:
    """One vehicle's on top of the other's: the upper edge is the sum."""
    tables = [flown_over_time(route) for route in plan.routes]
    moments = np.unique(np.concatenate([[0.0, plan.makespan], *(times for times, _ in tables)]))
    flown = [np.interp(moments, *table) / 1000.0 if len(table[0]) else np.zeros(len(moments)) for table in tables]
    if flown:
        names = [route.agent if k < LISTED else f"_{k}" for k, route in enumerate(plan.routes)]
        tones = [colour(k) for k in range(len(flown))]
        axes.stackplot(moments, *flown, labels=names, colors=tones, alpha=0.75, edgecolor=PAPER, linewidth=0.6)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5, reverse=True)
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("distance flown by all, km")
