"""The map of a plan: tasks, zones, base and routes; the common style of all figures."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from math import ceil, degrees
from typing import Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from paddock.errors import MissingFeatureError
from paddock.planning.geometry.polygon import FieldShape, PolygonShape, swept_area
from paddock.planning.geometry.zones import Zone
from paddock.planning.solver.problem import Task
from paddock.planning.solver.routes import Leg, Plan, Route
from paddock.record.mission_report.text import clock, distance, wind_note
from paddock.world.columns import Floats

INK, SOFT, GRID, PAPER, ALARM = "#1f2a36", "#5f6b78", "#dfe4e9", "#ffffff", "#c4262e"
DARK, LIGHT = "#202b37", "#fdfdfd"
"""Text on a coloured background; unlike other colours it is the same in dark mode."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5195", "#8c6d5a")
"""Colours distinguishable by colour-blind readers, on light and dark backgrounds (after Okabe and Ito)."""
STROKES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))  # for more vehicles than colours
SETTINGS: Any = {
    "font.size": 9.0,
    "font.family": "DejaVu Sans",  # included in matplotlib: the same everywhere
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "svg.hashsalt": "paddock",
    "path.simplify_threshold": 0.1,
}


@contextmanager
def styled() -> Iterator[Any]:
    """Apply the common style while the block runs; yield the figure class. Needs no window system."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingFeatureError("pictures need matplotlib: pip install 'paddock[plan]'") from None
    with rc_context(SETTINGS):
        yield Figure


def colour(index: int) -> str:
    """Return the colour of a vehicle by its index in the problem."""
    return COLOURS[index % len(COLOURS)]


def stroke(index: int) -> Any:
    """Return the dashes of a vehicle's line."""
    return STROKES[index // len(COLOURS) % len(STROKES)]


def dress(axes: Any, title: str, note: str = "") -> None:
    """Add title, note and grid; remove the upper and right frame."""
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=10)
    if note:
        axes.set_title(note, loc="right", fontsize=8.5, color=SOFT, pad=10)
    axes.grid(True)
    axes.tick_params(length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def time_axis(axes: Any, until: float) -> None:
    """Make x the time from 0 to `until` (s), with ticks at round minutes and seconds."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    steps = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
    step = next((step for step in steps if until / step <= 9.0), max(until / 8.0, steps[-1]))
    axes.xaxis.set_major_locator(MultipleLocator(step))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: clock(max(value, 0.0))))
    axes.set_xlabel("time, min:s" if until < 3600 else "time, h:min:s")
    axes.set_xlim(0.0, until * 1.01)


def png(figure: Any) -> bytes:
    """Return the figure as PNG without date and software name."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=144, facecolor=PAPER, metadata={"Software": None})
    return buffer.getvalue()


def svg(figure: Any) -> str:
    """Return the figure as SVG for a page, without title, with text as text."""
    for axes in figure.axes:
        axes.set_title("", loc="left")
    if figure.get_suptitle():
        figure.suptitle("")
    buffer = BytesIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return buffer.getvalue().decode()


TURN = 0.15  # rad between points of a curve
NAMED = 60  # tasks up to which each has its name on the map
ARROWS = 120  # legs up to which each shows its direction


def draw_map(axes: Any, plan: Plan, small: bool = False, quiet: bool = False) -> None:
    """Draw everything to scale; `small`: without names, `quiet`: with faint routes."""
    undone = {entry.task for entry in plan.undone}
    for zone in plan.problem.zones:
        draw_zone(axes, zone, small)
    many = len(plan.problem.tasks) > NAMED
    for task in plan.problem.tasks:
        draw_task(axes, task, task.name in undone, small or many, named=False)
    scale = 0.6 if small or quiet or many else 1.0
    arrows = scale == 1.0 and sum(len(route.legs) for route in plan.routes) <= ARROWS
    tasks = {task.name: task for task in plan.problem.tasks}
    for k, route in enumerate(plan.routes):
        for leg in route.legs if not quiet else ():
            if leg.kind == "coverage" and isinstance(shape := tasks[str(leg.task)].shape, FieldShape):
                _fill(axes, swept_area(shape, leg.path), facecolor=colour(k), alpha=0.15, gid=f"swept {leg.task}")
        _route(axes, route, k, scale, 0.3 if quiet else 1.0)
        if arrows:
            _arrows(axes, route, colour(k))
    _bases(axes, plan, small)
    axes.set_aspect("equal", adjustable="box")
    _set_limits(axes, square=small)
    if small:
        return
    axes.set_xlabel("east, m")
    axes.set_ylabel("north, m")
    taken: list[Floats] = []
    for task in plan.problem.tasks if not many else ():
        _draw_name(axes, task, task.name in undone, taken)


def _set_limits(axes: Any, square: bool) -> None:
    """Set the limits to everything drawn, with a margin and a limited aspect ratio."""
    box = axes.dataLim
    if np.isfinite(box.get_points()).all():
        middle = 0.5 * (box.p0 + box.p1)
        half = np.maximum(0.53 * (box.p1 - box.p0), 1.0)
        half = np.maximum(half, half.max() * (1.0 if square else 0.45))
        axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
        axes.set_ylim(middle[1] - half[1], middle[1] + half[1])


def leg_points(leg: Leg) -> Floats:
    """Return points (n, 2) along a leg: the ends of straight lines, and curves in short pieces."""
    path = leg.path
    turns = [abs(segment.curvature) * segment.length for segment in path.segments]
    ends = [0.0, *path.ends.tolist()]
    pieces = [np.linspace(ends[k], ends[k + 1], ceil(turn / TURN) + 2) for k, turn in enumerate(turns)]
    return path.at(np.unique(np.concatenate(pieces)) if pieces else [0.0])[:, :2]


def halo() -> list[Any]:
    """Return the outline effect that keeps text readable."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.2, foreground=PAPER)]


def draw_zone(axes: Any, zone: Zone, small: bool = False) -> None:
    """Draw a zone, with its name unless it is small."""
    outline = zone.outline()
    axes.fill(*outline.T, facecolor=ALARM, alpha=0.08, linewidth=0.0, zorder=1)
    axes.fill(*outline.T, facecolor="none", edgecolor=ALARM, hatch="////", linewidth=1.0, zorder=1)
    if not small:
        x, y = 0.5 * (outline.min(axis=0) + outline.max(axis=0))
        style = {"ha": "center", "va": "center", "fontsize": 7.5, "color": ALARM, "path_effects": halo()}
        axes.text(x, y, zone.title, zorder=6, parse_math=False, **style)


def draw_opened(axes: Any, zone: Zone) -> None:
    """Draw over a zone that is open again."""
    look = {"facecolor": PAPER, "edgecolor": SOFT, "linewidth": 1.0, "linestyle": (0, (4, 3)), "alpha": 0.85}
    axes.fill(*zone.outline().T, **look, zorder=6.5)


def draw_task(axes: Any, task: Task, undone: bool = False, small: bool = False, named: bool = True) -> None:
    """Draw the outline of a task, its holes and its entry."""
    tone, size = (ALARM, 6.0) if undone else (INK, 4.5)
    holes = (np.array([*hole, hole[0]]) for hole in getattr(task.shape, "holes", ()))
    for ring in (np.asarray(task.shape.outline()), *holes):
        if len(ring) > 1:
            axes.plot(*ring.T, color=tone, linewidth=0.7, alpha=0.55, zorder=2)
    if isinstance(task.shape, PolygonShape) and task.shape.margin:
        look = {"facecolor": "none", "edgecolor": tone, "linewidth": 0.5, "linestyle": (0, (4, 3)), "alpha": 0.6}
        _fill(axes, task.shape.region, **look, gid=f"margin {task.name}")
    x, y, _ = task.shape.entry
    if undone:
        axes.plot(x, y, "x", color=ALARM, markersize=size, markeredgewidth=1.8, zorder=5)
    else:
        scale = 0.5 if small else 1.0
        look = {"markersize": size * scale, "markeredgewidth": scale, "markeredgecolor": INK, "zorder": 5}
        axes.plot(x, y, marker="o" if task.shape.kind == "point" else "s", color=PAPER, **look)
    if named:
        _draw_name(axes, task, undone)


def _fill(axes: Any, area: BaseGeometry, **look: Any) -> None:
    """Draw an area with its holes."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    rings = [shapely.get_coordinates(ring) for ring in shapely.get_rings(shapely.get_parts(area))]
    if rings:
        outline = Path.make_compound_path(*(Path(ring, closed=True) for ring in rings))
        axes.add_patch(PathPatch(outline, zorder=1.5, **{"linewidth": 0.0, **look}))


SIZE = 7.0  # points: names of tasks
PLACES = tuple((side, 4.0 - 9.0 * row) for row in (0, 1, -1, 2, -2, 3, -3, 4, -4) for side in (1.0, -1.0))
"""Places of a name beside its task: to the right or the left, and points up."""


def _draw_name(axes: Any, task: Task, undone: bool, taken: list[Floats] | None = None) -> None:
    """Write the name of a task beside its entry, where no other name is `taken` (boxes in points, to which it adds)."""
    x, y, _ = task.shape.entry
    (low, high), (south, north) = axes.get_xlim(), axes.get_ylim()
    wide, tall = 72.0 * np.array(axes.figure.get_size_inches()) * (0.68, 0.85)  # of the map, about
    points = min(wide / (high - low), tall / (north - south))  # for a metre
    width, boxes = 0.65 * SIZE * len(task.name), []
    for side, up in PLACES:
        left = (x - low) * points + 5.0 * side - (width if side < 0.0 else 0.0)
        bottom = (y - south) * points + up
        boxes.append(np.array([left, bottom, left + width, bottom + 1.3 * SIZE]))
    inside = [k for k, box in enumerate(boxes) if box[0] >= 0.0 and box[2] <= (high - low) * points] or [0]
    others = taken if taken is not None else []
    free = [k for k in inside if not any((boxes[k][:2] < o[2:]).all() and (o[:2] < boxes[k][2:]).all() for o in others)]
    best = (free or inside)[0]
    others.append(boxes[best])
    side, up = PLACES[best]
    alignment = {"xytext": (5.0 * side, up), "ha": "right" if side < 0.0 else "left"}
    style = {"fontsize": SIZE, "color": ALARM if undone else INK, "path_effects": halo(), "zorder": 7}
    axes.annotate(task.name, (x, y), textcoords="offset points", **alignment, **style, parse_math=False)


def _route(axes: Any, route: Route, index: int, scale: float, opacity: float) -> None:
    """Draw a route: thin in transit, thick on a task, pale on the way home."""
    widths = {"transit": 1.3, "wait": 1.0, "coverage": 2.6, "return": 1.1}
    for leg in route.legs:
        points = leg_points(leg)
        if len(points) > 1:
            alpha = opacity * (0.55 if leg.kind == "return" else 0.95)
            look = {"color": colour(index), "linestyle": stroke(index), "alpha": alpha, "zorder": 3}
            axes.plot(*points.T, linewidth=widths[leg.kind] * scale, **look)


def _arrows(axes: Any, route: Route, tone: str) -> None:
    """Draw an arrow head half way along each leg between tasks."""
    for leg in route.legs:
        if leg.kind in ("transit", "return") and leg.flown > 0.0:
            before, here = leg.path.at([0.5 * leg.path.flown - 0.5, 0.5 * leg.path.flown])
            turn = degrees(np.arctan2(here[1] - before[1], here[0] - before[0])) - 90.0
            axes.plot(*here[:2], marker=(3, 0, turn), color=tone, markersize=6.5, markeredgecolor=PAPER,
                      markeredgewidth=0.6, zorder=4)  # fmt: skip


def _bases(axes: Any, plan: Plan, small: bool) -> None:
    """Draw the starts of vehicles, in their colours, and their bases."""
    for k, vehicle in enumerate(plan.problem.vehicles):
        look = {"markersize": 3.0 if small else 6.0, "markeredgecolor": PAPER, "markeredgewidth": 0.6, "zorder": 6}
        axes.plot(*vehicle.pose[:2], "D", color=colour(k), **look)
    homes = dict.fromkeys((round(vehicle.home[0], 3), round(vehicle.home[1], 3)) for vehicle in plan.problem.vehicles)
    for x, y in homes:
        axes.plot(x, y, "s", color=INK, markersize=4.0 if small else 7.0, markeredgecolor=PAPER, zorder=6)
    if len(homes) == 1 and not small:
        below = {"xytext": (0, -7), "textcoords": "offset points", "ha": "center", "va": "top"}
        axes.annotate("base", next(iter(homes)), fontsize=7.5, color=SOFT, path_effects=halo(), zorder=7, **below)


LISTED = 24  # maximum number of vehicles in a legend


def draw_routes(figure_class: Any, plan: Plan, title: str) -> Any:
    """Return the figure: the map in metres east and north of the origin."""
    figure = figure_class(figsize=(10.0, 7.6), layout="constrained")
    axes = figure.add_subplot()
    draw_map(axes, plan)
    dress(axes, f"{title} · routes", wind_note(plan.problem.wind))
    for k, route in enumerate(plan.routes[:LISTED]):
        count = len(route.tasks)
        label = f"{route.vehicle}: {count} task{'' if count == 1 else 's'}, {distance(route.flown)}"
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
    nothing = np.full(2, np.nan)
    if kinds & {"area", "polygon"}:
        axes.fill(nothing, nothing, facecolor=COLOURS[0], alpha=0.15, label="swept, in the colour of the vehicle")
    if any(getattr(task.shape, "margin", 0.0) for task in plan.problem.tasks):
        axes.plot([], [], color=INK, linewidth=0.5, linestyle=(0, (4, 3)), label="margin, not swept")
    if plan.undone:
        axes.plot([], [], "x", color=ALARM, markersize=6, markeredgewidth=1.8, label="task not done")
    axes.plot([], [], "D", color=INK, markeredgecolor=PAPER, markersize=6, label="start of a vehicle")
    axes.plot([], [], "s", color=INK, markeredgecolor=PAPER, markersize=7, label="base")
    if plan.problem.zones:
        axes.fill(nothing, nothing, facecolor="none", edgecolor=ALARM, hatch="////", label="no-fly zone")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5, labelspacing=0.7)
    return figure
