"""Charts of a plan: timetable, progress over time, cost matrix."""

from typing import Any

import numpy as np

from paddock.planning.costs import Costs
from paddock.planning.metrics import done_times, flown_over_time
from paddock.planning.routes import Leg, Plan, Route
from paddock.record.mission_report.map_figure import DARK, INK, LIGHT, PAPER, SOFT, colour, dress, time_axis

SHADES = {"transit": 0.35, "wait": 0.0, "coverage": 1.0, "return": 0.2}
LABELS = {"transit": "transit", "wait": "waiting", "coverage": "doing a task", "return": "returning"}
HATCH = "////"
LETTER = 5.0  # upper bound of the width of a letter, in points (1/72 inch)
WIDTH = 10.0
MOST_ROWS = 40  # maximum number of named vehicles


def draw_gantt(figure_class: Any, plan: Plan, title: str) -> Any:
    """Return the figure."""
    rows = len(plan.routes)
    figure = figure_class(figsize=(WIDTH, min(1.7 + 0.42 * rows, 16.0)), layout="constrained")
    axes = figure.add_subplot()
    until = max(plan.makespan, 1.0)
    room = 72.0 * (WIDTH - 1.2) / until  # points for each second
    for k, route in enumerate(plan.routes):
        tone = colour(k)
        for leg in route.legs:
            lasts = leg.ends - leg.begins
            if lasts > 0.0:
                edge = {"hatch": HATCH, "edgecolor": tone} if leg.kind == "wait" else {"edgecolor": PAPER}
                look = {"height": 0.62, "linewidth": 0.5, "zorder": 3, **edge}
                axes.barh(k, lasts, left=leg.begins, facecolor=(tone, SHADES[leg.kind]), **look)
        if rows <= MOST_ROWS:
            _names(axes, route, k, room)
        done = [leg.ends for leg in route.legs if leg.kind == "coverage" and leg.ends - leg.begins < 1e-6]
        axes.plot(done, [k] * len(done), "d", color=tone, markeredgecolor=PAPER, markersize=7, zorder=4)
    dress(axes, f"{title} · timetable")
    time_axis(axes, until)
    axes.set_ylim(max(rows, 1) - 0.4, -0.6)
    axes.set_yticks(range(rows) if rows <= MOST_ROWS else [])
    names = [route.vehicle.replace("$", r"\$") for route in plan.routes]
    axes.set_yticklabels(names if rows <= MOST_ROWS else [])
    axes.grid(False, axis="y")
    axes.spines["left"].set_visible(False)
    _add_legend(figure)
    return figure


def _names(axes: Any, route: Route, row: int, room: float) -> None:
    """Draw the names of tasks where they fit: in the task's bar, else at the end of the transit."""
    style = {"va": "center", "fontsize": 7, "zorder": 5, "parse_math": False}
    begun = dict[str | None, Leg]()

    def fits(leg: Leg) -> bool:
        return (leg.ends - leg.begins) * room >= LETTER * len(leg.task or "") + 10.0

    for leg in route.legs:
        if leg.task is None or leg.kind == "wait":
            continue
        if leg.kind == "transit":
            begun[leg.task] = leg
        elif fits(leg):
            axes.text(0.5 * (leg.begins + leg.ends), row, leg.task, color=LIGHT, ha="center", **style)
        elif leg.task in begun and fits(begun[leg.task]):
            ends = {"xytext": (-6, 0), "textcoords": "offset points", "ha": "right"}
            axes.annotate(leg.task, (begun[leg.task].ends, row), color=INK, **ends, **style)


def _add_legend(figure: Any) -> None:
    """Draw the legend of the shades, in grey."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    edges: dict[str, Any] = {"wait": {"hatch": HATCH, "edgecolor": SOFT, "linewidth": 0.5}}
    patches: list[Any] = [
        Patch(facecolor=(SOFT, shade), label=LABELS[kind], **edges.get(kind, {})) for kind, shade in SHADES.items()
    ]
    patches.append(Line2D([], [], linestyle="none", marker="d", color=SOFT, markersize=7, label="point passed"))
    figure.legend(handles=patches, loc="outside lower center", ncols=5, frameon=False, fontsize=8)


LISTED = 16  # maximum number of vehicles in the legend


def draw_timeline(figure_class: Any, plan: Plan, title: str) -> Any:
    """Return the figure: two panels with a common time axis."""
    figure = figure_class(figsize=(10.0, 6.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    until = max(plan.makespan, 1.0)
    times, tasks = done_times(plan), len(plan.problem.tasks)
    moments = np.concatenate([[0.0], times, [until]])
    counts = np.concatenate([np.arange(len(times) + 1), [len(times)]])
    above.step(moments, counts, where="post", color=INK, linewidth=1.8)
    above.fill_between(moments, counts, step="post", color=INK, alpha=0.07, linewidth=0)
    above.axhline(tasks, color=SOFT, linewidth=0.8, linestyle=(0, (4, 3)))
    above.set_ylim(0.0, max(tasks, 1) * 1.08)
    above.yaxis.get_major_locator().set_params(integer=True)
    above.set_ylabel(f"tasks done, of {tasks}")
    _flown(below, plan)
    dress(above, f"{title} · progress")
    dress(below, "")
    time_axis(below, until)
    return figure


def _flown(axes: Any, plan: Plan) -> None:
    """Draw stacked distances: the upper edge is the sum."""
    tables = [flown_over_time(route) for route in plan.routes]
    moments = np.unique(np.concatenate([[0.0, plan.makespan], *(times for times, _ in tables)]))
    flown = [np.interp(moments, *table) / 1000.0 if len(table[0]) else np.zeros(len(moments)) for table in tables]
    if flown:
        names = [route.vehicle if k < LISTED else f"_{k}" for k, route in enumerate(plan.routes)]
        tones = [colour(k) for k in range(len(flown))]
        axes.stackplot(moments, *flown, labels=names, colors=tones, alpha=0.75, edgecolor=PAPER, linewidth=0.6)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8.5, reverse=True)
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("total distance, km")


WRITTEN = (16, 32)  # rows and columns up to which cells have numbers and edges have names


def draw_costs(figure_class: Any, plan: Plan, title: str) -> Any:
    """Return the figure: km for each vehicle and task (transit, task, home); a ring marks the assignment."""
    costs = Costs(plan.problem).alone / 1000.0
    rows, columns = costs.shape
    figure = figure_class(figsize=(10.0, float(np.clip(2.2 + 0.42 * rows, 3.0, 12.0))), layout="constrained")
    axes = figure.add_subplot()
    if costs.size == 0:
        axes.text(0.5, 0.5, "no vehicles" if rows == 0 else "no tasks", ha="center", color=SOFT)
    else:
        _cells(figure, axes, costs)
        place, few = {task.name: k for k, task in enumerate(plan.problem.tasks)}, max(rows, columns) <= WRITTEN[1]
        pairs = [(place[task], row) for row, route in enumerate(plan.routes) for task in route.tasks]
        look = {"facecolors": "none", "edgecolors": "#d55e00", "linewidths": 1.6 if few else 0.5}
        axes.scatter([x for x, _ in pairs], [y for _, y in pairs], s=330 if few else 6, zorder=3, **look)
    dress(axes, f"{title} · costs", "a single task: transit, task and return; a ring marks the assignment")
    axes.grid(False)
    axes.set_xlabel("task")
    vehicles = [vehicle.name.replace("$", r"\$") for vehicle in plan.problem.vehicles]
    tasks = [task.name.replace("$", r"\$") for task in plan.problem.tasks]
    written = len(vehicles) <= WRITTEN[0] and len(tasks) <= WRITTEN[1]
    axes.set_yticks(range(len(vehicles)) if written else [])
    axes.set_xticks(range(len(tasks)) if written else [])
    if written:
        axes.set_yticklabels(vehicles)
        axes.set_xticklabels(tasks, rotation=45, ha="right", rotation_mode="anchor")
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
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
