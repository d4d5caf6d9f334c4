"""Who does what when: a bar for each vehicle."""

from __future__ import annotations

from typing import Any

from paddock.planning.plans import Leg, Plan, Route
from paddock.planning.report.style import INK, LIGHT, PAPER, SOFT, colour, dress, minutes

SHADES = {"transit": 0.35, "wait": 0.0, "coverage": 1.0, "return": 0.2}
LABELS = {"transit": "on the way", "wait": "waiting", "coverage": "doing a task", "return": "returning"}
HATCH = "////"
LETTER = 5.0
"""Points (1/72 inch) that a letter of a name takes, generously."""
WIDTH = 10.0
MOST_ROWS = 40
"""Vehicles that are named, at most."""


def draw_gantt(figure_class: Any, plan: Plan, title: str) -> Any:
    """The figure."""
    rows = len(plan.routes)
    figure = figure_class(figsize=(WIDTH, min(1.7 + 0.42 * rows, 16.0)), layout="constrained")
    axes = figure.add_subplot()
    until = max(plan.makespan, 1.0)
    room = 72.0 * (WIDTH - 1.2) / until  # points for each second
    for k, route in enumerate(plan.routes):
        for leg in route.legs:
            _bar(axes, leg, k)
        if rows <= MOST_ROWS:
            _names(axes, route, k, room)
        done = [leg.ends for leg in route.legs if leg.kind == "coverage" and leg.ends - leg.begins < 1e-6]
        axes.plot(done, [k] * len(done), "d", color=colour(k), markeredgecolor=PAPER, markersize=7, zorder=4)
    dress(axes, f"{title} · timetable")
    _axes(axes, plan, until)
    _legend(figure)
    return figure


def _bar(axes: Any, leg: Leg, row: int) -> None:
    lasts = leg.ends - leg.begins
    if lasts > 0.0:
        tone = colour(row)
        edge = {"hatch": HATCH, "edgecolor": tone} if leg.kind == "wait" else {"edgecolor": PAPER}
        look = {"height": 0.62, "linewidth": 0.5, "zorder": 3, **edge}
        axes.barh(row, lasts, left=leg.begins, facecolor=(tone, SHADES[leg.kind]), **look)


def _names(axes: Any, route: Route, row: int, room: float) -> None:
    """Of tasks, where they fit: in the task's own bar, or else at the end of the way there."""
    style = {"va": "center", "fontsize": 7, "zorder": 5, "parse_math": False}
    begun = dict[str | None, Leg]()
    for leg in route.legs:
        if leg.task is None or leg.kind == "wait":
            continue
        if leg.kind == "transit":
            begun[leg.task] = leg
        elif _fits(leg, room):
            axes.text(0.5 * (leg.begins + leg.ends), row, leg.task, color=LIGHT, ha="center", **style)
        elif leg.task in begun and _fits(begun[leg.task], room):
            ends = {"xytext": (-6, 0), "textcoords": "offset points", "ha": "right"}
            axes.annotate(leg.task, (begun[leg.task].ends, row), color=INK, **ends, **style)


def _fits(leg: Leg, room: float) -> bool:
    return (leg.ends - leg.begins) * room >= LETTER * len(leg.task or "") + 10.0


def _axes(axes: Any, plan: Plan, until: float) -> None:
    rows = len(plan.routes)
    axes.set_xlim(0.0, until * 1.01)
    axes.set_ylim(max(rows, 1) - 0.4, -0.6)
    axes.set_yticks(range(rows) if rows <= MOST_ROWS else [])
    axes.set_yticklabels([_plain(route.agent) for route in plan.routes] if rows <= MOST_ROWS else [])
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("time, min:s" if until < 3600 else "time, h:min:s")
    minutes(axes.xaxis, until)


def _legend(figure: Any) -> None:
    """In grey: what the shades mean."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    edges: dict[str, Any] = {"wait": {"hatch": HATCH, "edgecolor": SOFT, "linewidth": 0.5}}
    patches: list[Any] = [
        Patch(facecolor=(SOFT, shade), label=LABELS[kind], **edges.get(kind, {})) for kind, shade in SHADES.items()
    ]
    patches.append(Line2D([], [], linestyle="none", marker="d", color=SOFT, markersize=7, label="point passed"))
    figure.legend(handles=patches, loc="outside lower center", ncols=5, frameon=False, fontsize=8)


def _plain(name: str) -> str:
    """Text in which a dollar sign is only that."""
    return name.replace("$", r"\$")
