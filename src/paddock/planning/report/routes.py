"""The picture of the routes: the map with axes and a legend."""

from __future__ import annotations

from math import atan2, hypot, pi
from typing import Any

import numpy as np

from paddock.planning.plans import Plan
from paddock.planning.report.maps import draw_map
from paddock.planning.report.style import ALARM, INK, PAPER, colour, dress, stroke
from paddock.planning.report.words import course, distance

LISTED = 24
"""Vehicles named in a legend, at most."""


def draw_routes(figure_class: Any, plan: Plan, title: str) -> Any:
    """The figure: everything from above, metres east and north of the origin."""
    figure = figure_class(figsize=(10.0, 7.6), layout="constrained")
    axes = figure.add_subplot()
    draw_map(axes, plan)
    dress(axes, f"{title} · routes", wind_note(plan.problem.wind))
    axes.set_xlabel("east, m")
    axes.set_ylabel("north, m")
    _legend(axes, plan)
    return figure


def wind_note(wind: tuple[float, float]) -> str:
    """`wind 5 m/s from 270°`; nothing in still air."""
    speed = hypot(*wind)
    return f"wind {speed:.3g} m/s from {course(atan2(wind[1], wind[0]) + pi)}" if speed > 0.0 else ""


def _legend(axes: Any, plan: Plan) -> None:
    for k, route in enumerate(plan.routes[:LISTED]):
        label = f"{route.agent}: {len(route.tasks)} task{'' if len(route.tasks) == 1 else 's'}, {distance(route.flown)}"
        axes.plot([], [], color=colour(k), linestyle=stroke(k), linewidth=2.2, label=label)
    if len(plan.routes) > LISTED:
        axes.plot([], [], " ", label=f"and {len(plan.routes) - LISTED} more")
    axes.plot([], [], " ", label=" ")
    hollow = {"color": PAPER, "markeredgecolor": INK, "linestyle": "none", "markersize": 5}
    kinds = {task.shape.kind for task in plan.problem.tasks}
    if "point" in kinds:
        axes.plot([], [], "o", label="point", **hollow)
    if kinds - {"point"}:
        axes.plot([], [], "s", label="start of another task", **hollow)
    if plan.undone:
        axes.plot([], [], "x", color=ALARM, markersize=6, markeredgewidth=1.8, label="task not done")
    axes.plot([], [], "D", color=INK, markeredgecolor=PAPER, markersize=6, label="start of a vehicle")
    axes.plot([], [], "s", color=INK, markeredgecolor=PAPER, markersize=7, label="base")
    if plan.problem.zones:
        hole = np.full(2, np.nan)
        axes.fill(hole, hole, facecolor="none", edgecolor=ALARM, hatch="////", label="no-fly zone")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5, labelspacing=0.7)
