"""The map of a plan: tasks, zones, base and routes; also with the radio contact along the routes."""

from collections.abc import Iterator, Sequence
from math import ceil, degrees
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from paddock.engine.radio.planned import PlannedLinks, RouteContact
from paddock.planning.geometry.polygon import FieldShape, PolygonShape, swept_area
from paddock.planning.geometry.zones import Zone
from paddock.planning.solver.problem import Task
from paddock.planning.solver.routes import Leg, Plan, Route
from paddock.radio.links.table import FULL_SIGNAL
from paddock.record.mission_report.text import clock, distance, printed_table, wind_note
from paddock.record.reports import ALARM, COLOURS, INK, PAPER, SOFT, colour, dress, stroke
from paddock.world.columns import Floats


def time_axis(axes: Any, until: float) -> None:
    """Make x the time from 0 to `until` (s), with ticks at round minutes and seconds."""
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    steps = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
    step = next((step for step in steps if until / step <= 9.0), max(until / 8.0, steps[-1]))
    axes.xaxis.set_major_locator(MultipleLocator(step))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: clock(max(value, 0.0))))
    axes.set_xlabel("time, min:s" if until < 3600 else "time, h:min:s")
    axes.set_xlim(0.0, until * 1.01)


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
    labels: list[Floats] = []
    for task in plan.problem.tasks if not many else ():
        _draw_name(axes, task, task.name in undone, labels)


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


def _draw_name(axes: Any, task: Task, undone: bool, labels: list[Floats] | None = None) -> None:
    """Write the name of a task beside its entry, where it covers no label; add its box, in points, to `labels`."""
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
    others = labels if labels is not None else []
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
NOTHING = np.full((2, 2), np.nan)  # drawn for an entry in the legend
HOLLOW = {"color": PAPER, "markeredgecolor": INK, "linestyle": "none", "markersize": 5}


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
    kinds = {task.shape.kind for task in plan.problem.tasks}
    if "point" in kinds:
        axes.plot([], [], "o", label="point", **HOLLOW)
    if kinds - {"point"}:
        axes.plot([], [], "s", label="start of another task", **HOLLOW)
    if kinds & {"area", "polygon"}:
        axes.fill(*NOTHING, facecolor=COLOURS[0], alpha=0.15, label="swept, in the colour of the vehicle")
    if any(getattr(task.shape, "margin", 0.0) for task in plan.problem.tasks):
        axes.plot([], [], color=INK, linewidth=0.5, linestyle=(0, (4, 3)), label="margin, not swept")
    if plan.undone:
        axes.plot([], [], "x", color=ALARM, markersize=6, markeredgewidth=1.8, label="task not done")
    _add_map_legend(axes, plan)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8.5, labelspacing=0.7)
    return figure


def _add_map_legend(axes: Any, plan: Plan) -> None:
    """Add starts, bases and zones to the legend."""
    axes.plot([], [], "D", color=INK, markeredgecolor=PAPER, markersize=6, label="start of a vehicle")
    axes.plot([], [], "s", color=INK, markeredgecolor=PAPER, markersize=7, label="base")
    if plan.problem.zones:
        axes.fill(*NOTHING, facecolor="none", edgecolor=ALARM, hatch="////", label="no-fly zone")


if TYPE_CHECKING:
    from rich.table import Table

WIDE, THIN, FEW = 3.0, 1.2, 12  # points: widest and thinnest routes; vehicles up to which they are wide
SIZE = 10.0  # points: stations and jammers
STATION = COLOURS[0]
SINR_COLOURS = ("#b3001b", "#e8590c", "#e8a200", "#7cb518", "#1a8a3c")  # from weak to strong, all dark enough for paper
HEADS = ("direct", "contact", "lowest SINR", "at", "east", "north", "longest gap")
NOTE = (
    "Contact is predicted at the planned places, without small-scale fading: shares of the time of the route with a "
    "usable link to a station (direct), and with a usable path over other radios (contact)."
)


def contact_cells(contact: RouteContact) -> tuple[str, ...]:
    """Return the cells of a vehicle under HEADS."""
    shares = (f"{100.0 * share:.1f} %" for share in (contact.direct, contact.contact))
    lowest = "none" if contact.lowest_sinr is None else f"{contact.lowest_sinr:.1f} dB"
    x, y, _ = contact.lowest_place
    return *shares, lowest, clock(contact.lowest_at), f"{x:,.0f} m", f"{y:,.0f} m", f"{contact.longest_gap:.0f} s"


def contact_table(contacts: Sequence[RouteContact]) -> "Table":
    """Return a line for each vehicle."""
    rows = [(entry.vehicle, contact_cells(entry), "" if entry.contact == 1.0 else "yellow") for entry in contacts]
    return printed_table("vehicle", HEADS, rows)


def contact_numbers(links: PlannedLinks) -> dict[str, Any]:
    """Return the figures of all vehicles as plain values; the SINR is null where no station uses its channel."""
    rows = [
        {
            "vehicle": entry.vehicle,
            "direct_share": entry.direct,
            "contact_share": entry.contact,
            "lowest_sinr_db": entry.lowest_sinr,
            "lowest_at_s": entry.lowest_at,
            "lowest_position_m": list(entry.lowest_place),
            "longest_gap_s": entry.longest_gap,
        }
        for entry in links.contacts()
    ]
    names = {"stations": [name for name, *_ in links.stations], "jammers": [entry.name for entry in links.jammers]}
    return {"step_s": links.step, **names, "routes": rows}


def draw_contact(figure_class: Any, planned: tuple[Plan, PlannedLinks], title: str) -> Any:
    """Return the figure: routes coloured by the SINR of the best station, thin and dark where there is no contact."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    plan, links = planned
    figure = figure_class(layout="constrained")
    axes = figure.add_subplot()
    draw_map(axes, plan, quiet=True)
    (west, east), (south, north) = axes.get_xlim(), axes.get_ylim()
    ratio = (east - west) / (north - south)  # the map fills the figure
    figure.set_size_inches(float(np.clip(1.8 + 6.5 * ratio, 7.6, 10.0)), float(np.clip(1.7 + 8.1 / ratio, 5.4, 8.6)))
    pieces, margin, lost = _pieces(links)
    wide = float(np.clip(WIDE * np.sqrt(FEW / max(len(links.names), 1)), THIN, WIDE))
    axes.add_collection(LineCollection(list(pieces[lost]), colors=INK, linewidths=0.5 * wide, alpha=0.75, zorder=4))
    tones = LinearSegmentedColormap.from_list("sinr", SINR_COLOURS)
    coloured = LineCollection(list(pieces[~lost]), array=margin[~lost], cmap=tones, linewidths=wide, zorder=4.5)
    coloured.set_clim(0.0, FULL_SIGNAL)  # as links in the world view
    axes.add_collection(coloured)
    axes.plot([], [], color=SINR_COLOURS[-1], linewidth=wide, label="route in contact, coloured by its SINR")
    axes.plot([], [], color=INK, linewidth=0.5 * wide, label="route without contact, not even over other radios")
    _draw_radios(axes, links)
    if plan.problem.tasks:
        axes.plot([], [], "o", label="task", **HOLLOW | {"markersize": 4})
    _add_map_legend(axes, plan)
    dress(axes, f"{title} · contact")
    bar = figure.colorbar(coloured, ax=axes, pad=0.015, aspect=30, shrink=0.7, extend="both")
    bar.set_label("SINR of the best station above what is needed, dB", color=SOFT)
    bar.outline.set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8.5)
    return figure


def _draw_radios(axes: Any, links: PlannedLinks) -> None:
    """Draw stations and jammers with their names; those beyond the map at its edge, with their distance from it."""
    off = {"markerfacecolor": PAPER, "markeredgecolor": ALARM}
    for name, x, y in links.stations:
        _draw_radio(axes, name, x, y, "^", color=STATION, markeredgecolor=PAPER)
    axes.plot([], [], "^", color=STATION, markersize=SIZE, linestyle="none", label="station")
    for jammer in links.jammers:
        name = f"{jammer.name} on {jammer.vehicle}" if jammer.vehicle else jammer.name
        look = {"color": ALARM, "markeredgecolor": PAPER} if jammer.enabled else {"color": ALARM, **off}
        _draw_radio(axes, name if jammer.enabled else f"{name}, off", jammer.x, jammer.y, "X", **look)
    if links.jammers:
        moving = any(jammer.vehicle for jammer in links.jammers)
        label = "jammer, on a vehicle at its start" if moving else "jammer"
        axes.plot([], [], "X", color=ALARM, markersize=SIZE, linestyle="none", label=label)


def _draw_radio(axes: Any, name: str, x: float, y: float, marker: str, **look: Any) -> None:
    """Draw a station or jammer with its name towards the middle of the map."""
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    margin = 0.02 * (limits[:, 1] - limits[:, 0])
    point = np.clip([x, y], limits[:, 0] + margin, limits[:, 1] - margin)
    beyond = float(np.hypot(x - point[0], y - point[1]))
    right = point[0] > limits[0].mean() + 0.25 * (limits[0, 1] - limits[0, 0])
    label = f"{name}, {distance(beyond)} beyond" if beyond > margin.max() else name
    axes.plot(*point, marker, markersize=SIZE, zorder=7, **look)
    side = {"xytext": (-8 if right else 8, 5), "ha": "right" if right else "left"}
    style = {"fontsize": 8.5, "fontweight": "bold", "color": look["color"], "path_effects": halo(), "zorder": 7.5}
    axes.annotate(label, point, textcoords="offset points", parse_math=False, **side, **style)


def _pieces(links: PlannedLinks) -> tuple[Floats, Floats, Any]:
    """Return the parts (k, 2, 2) of routes between two times, the least dB above need, and whether contact is lost."""
    both = links.under_way[:, 1:] & links.under_way[:, :-1]
    ends = np.stack([links.places[:, :-1, :2], links.places[:, 1:, :2]], axis=2)[both]
    margin = (np.minimum(links.sinr[:, 1:], links.sinr[:, :-1]) - links.needed[:, None])[both]
    return ends, margin, ~(links.reached[:, 1:] & links.reached[:, :-1])[both]


def contact_rows(links: PlannedLinks) -> Iterator[tuple[str, ...]]:
    """Yield name and cells of each vehicle."""
    return ((contact.vehicle, *contact_cells(contact)) for contact in links.contacts())
