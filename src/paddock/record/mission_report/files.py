"""All files about a plan in one folder, with its charts: timetable, progress over time, cost matrix.

Equal plans give equal bytes.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from paddock.engine.radio.planned import PlannedLinks
from paddock.planning.exchange import to_geojson
from paddock.planning.from_scenario import generated_tasks
from paddock.planning.metrics import (
    MissionMetrics,
    VehicleMetrics,
    done_times,
    flown_over_time,
    foreseen,
    to_csv,
    to_parquet,
)
from paddock.planning.qgc_missions import LoiterCircles, to_plan
from paddock.planning.solver.costs import Costs
from paddock.planning.solver.methods import Progress
from paddock.planning.solver.problem import MissionSetup
from paddock.planning.solver.routes import Leg, Plan, Route
from paddock.record.mission_report import text as texts
from paddock.record.mission_report.document import (
    Outcome,
    Trial,
    comparison,
    document,
    draw_comparison,
    outcome_numbers,
    outcome_sentence,
)
from paddock.record.mission_report.map_figure import (
    HEADS,
    NOTE,
    contact_numbers,
    contact_rows,
    draw_contact,
    draw_routes,
    time_axis,
)
from paddock.record.mission_report.text import closeness, origin_of, settings
from paddock.record.reports import (
    DARK,
    INK,
    LIGHT,
    PAPER,
    SOFT,
    colour,
    drawn,
    dress,
    picture,
    png,
    render,
    svg,
    write_files,
)
from paddock.scenario import Scenario
from paddock.track.loading import world_with_track
from paddock.wire.json_document import document_text
from paddock.world.geodesy import Origin
from paddock.world.scenery import ground_heights

CAPTIONS = {
    "routes": "Routes from above. Thin: transit; thick: doing a task; pale: returning.",
    "gantt": "Activities of each vehicle over time.",
    "timeline": "Tasks done and total distance over time.",
    "costs": "Cost of each task for each vehicle as its only task, in km: transit, task and return.",
    "contact": "Routes coloured by the SINR of the best station.",
    "compare": "Routes of every method for the same tasks, best first.",
}
TRIAL_HEADS = ("method", "distance", "against the first", "all back at", "against the first", "done", "undone")
DOT = Markup('<span class="dot" style="background:{}"></span>{}')


class ReportParts(NamedTuple):
    """What a report shows besides the plan."""

    origin: Origin | None = None  # None: positions have no latitude and longitude
    settings: Sequence[tuple[str, str]] = ()  # additional assumptions: name and value
    trials: Sequence[Trial] = ()  # a comparison
    pictures: Mapping[str, str] = MappingProxyType({})  # SVG: routes, gantt, timeline, costs, compare
    missing: str = ""  # the reason if there are no pictures
    outcome: Outcome | None = None  # of a mission with events
    metrics: MissionMetrics | None = None  # expected from the plan
    closest: str = ""  # the closest approach
    links: PlannedLinks | None = None  # with stations along the routes


def report_html(plan: Plan, name: str, description: str = "", parts: ReportParts | None = None) -> str:
    """Return the page. It is self-contained, and the same plan gives the same bytes."""
    parts = parts or ReportParts()
    origin, outcome, links = parts.origin, parts.outcome, parts.links
    metrics = parts.metrics or foreseen(plan)
    covered = texts.fields_covered(metrics)
    names = [DOT.format(colour(k), part.name) for k, part in enumerate(metrics.vehicles)]
    rows = [(vehicle, *texts.cells(part)) for vehicle, part in zip(names, metrics.vehicles, strict=True)]
    drawings = {key: picture(svg, key, CAPTIONS[key]) for key, svg in parts.pictures.items()}
    heads = texts.LEG_HEADS[:-2] if origin is None else texts.LEG_HEADS
    return render(
        "plan.html",
        name=name,
        description=description,
        summary=texts.summary(metrics, plan.problem.vehicles),
        results=_results(metrics),
        covered=covered[:1].upper() + covered[1:],
        undone=[(undone.task, undone.reason) for undone in plan.undone],
        outcome=outcome,
        outcome_sentence=outcome and outcome_sentence(outcome),
        timeline=[(texts.clock(time), event) for time, event in outcome.timeline] if outcome else [],
        drawings=dict.fromkeys(CAPTIONS) | drawings,
        vehicle_heads=("vehicle", *texts.HEADS),
        vehicles=[*rows, ("all", *texts.sums(metrics))] if rows else [],
        vehicle_classes=[""] * len(rows) + ["sum"],
        closest=parts.closest,
        contact_heads=("vehicle", *HEADS),
        contact=[] if links is None else contact_rows(links),
        contact_note=NOTE,
        trial_heads=TRIAL_HEADS,
        trials=_trial_rows(plan, parts.trials),
        trial_notes=list(filter(None, (trial.problem if trial.plan is None else trial.note for trial in parts.trials))),
        order="distance" if plan.problem.objective == "total" else "time until all vehicles are back",
        method=plan.method,
        leg_heads=heads,
        leg_numbers=[k for k, head in enumerate(heads) if head != "leg"],
        routes=_routes(plan, metrics.vehicles, origin),
        missing=parts.missing,
        assumptions=[*texts.assumptions(plan), *parts.settings],
    )


def _results(metrics: MissionMetrics) -> list[tuple[str, str]]:
    """Return the main results: value and label."""
    most = max((part.range_used for part in metrics.vehicles if part.range_used is not None), default=None)
    return [
        (f"{metrics.done} of {len(metrics.tasks)}", "tasks done"),
        (texts.duration(metrics.makespan), "until all vehicles are back"),
        (texts.distance(metrics.total), "total distance"),
        (f"{sum(part.tasks > 0 for part in metrics.vehicles)} of {len(metrics.vehicles)}", "vehicles with tasks"),
        *([] if most is None else [(texts.percent(most), "largest share of a range")]),
    ]


def _trial_rows(shown: Plan, trials: Sequence[Trial]) -> list[tuple[str, ...]]:
    """Return the cells of every method under TRIAL_HEADS, the best first."""
    first = (trials and trials[0].plan) or shown

    def more(own: float, least: float) -> str:
        """Return the difference as `+12 %`."""
        return f"{100.0 * (own / least - 1.0) if least > 0.0 else 0.0:+.0f} %"

    rows: list[tuple[str, ...]] = []
    for trial in trials:
        if (plan := trial.plan) is None:
            rows.append((trial.method, *"------"))
            continue
        lengths = texts.distance(plan.total), more(plan.total, first.total)
        times = texts.clock(plan.makespan), more(plan.makespan, first.makespan)
        rows.append((trial.method, *lengths, *times, str(plan.done), str(len(plan.undone))))
    return rows


def _routes(plan: Plan, parts: Sequence[VehicleMetrics], origin: Origin | None) -> list[dict[str, Any]]:
    """Return for every vehicle its colour, a summary, and the rows of its legs; those of tasks have the class `do`."""
    routes = []
    for k, (route, part) in enumerate(zip(plan.routes, parts, strict=True)):
        share = "" if part.range_used is None else f", {texts.percent(part.range_used)} of its range"
        tasks = f"{part.tasks} task{'' if part.tasks == 1 else 's'}"
        summary = f"{tasks} in {texts.duration(route.ends)}; {texts.distance(part.distance)}{share}."
        legs = texts.leg_rows(route, plan, origin) if route.legs else []
        about = {"vehicle": route.vehicle, "colour": colour(k), "summary": summary}
        routes.append(about | {"rows": [row for _, row in legs], "classes": ["do" if done else "" for done, _ in legs]})
    return routes


TABLES = {"agents": "metrics", "tasks": "tasks", "series": "series"}  # tables of metrics, and the names of their files
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
        index, few = {task.name: k for k, task in enumerate(plan.problem.tasks)}, max(rows, columns) <= WRITTEN[1]
        pairs = [(index[task], row) for row, route in enumerate(plan.routes) for task in route.tasks]
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
    finite = np.where(np.isfinite(costs), costs, np.nan)
    axes.set_facecolor("#eceff2")
    picture = axes.imshow(finite, cmap="YlGnBu", aspect="auto", vmin=0.0, interpolation="nearest")
    bar = figure.colorbar(picture, ax=axes, pad=0.015, aspect=14)
    bar.set_label("km", color=SOFT)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    rows, columns = costs.shape
    if rows > WRITTEN[0] or columns > WRITTEN[1]:
        return
    dark = 0.55 * (np.nanmax(finite) if np.isfinite(finite).any() else 1.0)
    for (row, column), cost in np.ndenumerate(costs):
        text, tone = (f"{cost:.1f}", LIGHT if cost > dark else DARK) if np.isfinite(cost) else ("–", DARK)  # noqa: RUF001
        axes.text(column, row, text, ha="center", va="center", fontsize=7, color=tone)


DRAWINGS = {"routes": draw_routes, "gantt": draw_gantt, "costs": draw_costs, "timeline": draw_timeline}


@dataclass(frozen=True)
class Findings:
    """The results of `paddock plan`."""

    scenario: Scenario
    setup: MissionSetup
    plan: Plan
    metrics: MissionMetrics  # expected from the plan
    trials: Sequence[Trial] = ()
    outcome: Outcome | None = None  # of a mission with events
    parquet: bool = False  # tables as Parquet, too
    links: PlannedLinks | None = None  # of a scenario with radio and stations

    def numbers(self, timed: bool) -> dict[str, Any]:
        """Return comparison, outcome and contact, where there are some; `timed`: with computing times, which vary."""
        values: dict[str, Any] = {"comparison": comparison(self.trials, timed)} if self.trials else {}
        if self.outcome is not None:
            values["outcome"] = outcome_numbers(self.outcome)
        if self.links is not None:
            values["radio"] = contact_numbers(self.links)
        return values


def write_plan(findings: Findings, folder: Path, progress: Progress = lambda share: None) -> tuple[list[str], str]:
    """Write all files; return their names, and the reason if there are no figures."""
    figures, missing = drawn(lambda figure_class: _drawings(figure_class, findings, progress))
    names = write_files(folder, dict(_contents(findings, *(figures or ({}, {})), missing)))
    progress(1.0)
    return names, missing


def _contents(
    findings: Findings, png_files: dict[str, bytes], drawings: dict[str, str], missing: str
) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of all files."""
    scenario, plan = findings.scenario, findings.plan
    parts = ReportParts(
        origin=origin_of(scenario),
        settings=settings(scenario, findings.setup),
        trials=findings.trials,
        pictures=drawings,
        missing=missing,
        outcome=findings.outcome,
        metrics=findings.metrics,
        closest=closeness(findings.metrics, findings.setup),
        links=findings.links,
    )
    yield "report.html", report_html(plan, scenario.name, scenario.description, parts).encode()
    values = {**document(plan, scenario.name, findings.metrics), **findings.numbers(timed=False)}
    yield "plan.json", (json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    flown = {} if findings.outcome is None else {"flown_": findings.outcome.metrics}
    for prefix, metrics in ({"": findings.metrics} | flown).items():
        for table, name in TABLES.items():
            yield f"{prefix}{name}.csv", to_csv(metrics, table).encode()
            if findings.parquet:
                yield f"{prefix}{name}.parquet", to_parquet(metrics, table)
    yield from ((f"{name}.png", content) for name, content in png_files.items())
    origin = Origin(*scenario.world.origin)
    routes = [(route.vehicle, route.path.points(SPACING)) for route in plan.routes if route.legs]
    assert scenario.mission is not None
    tasks = (*scenario.mission.tasks, *generated_tasks(scenario, findings.setup.problem.vehicles))
    mission = scenario.mission.model_copy(update={"tasks": tasks, "generate": None})
    yield "routes.geojson", document_text(to_geojson(mission, origin, routes)).encode()
    yield from ((name, text.encode()) for name, text in ground_station_texts(scenario, plan, origin).items())
    yield "scenario.yaml", scenario.to_yaml().encode()


def _drawings(figure_class: Any, findings: Findings, progress: Progress) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return all figures by name, as PNG for the folder and as SVG for the report."""
    pngs, svgs = dict[str, bytes](), dict[str, str]()
    draws: dict[str, tuple[Callable[..., Any], Any]] = {name: (draw, findings.plan) for name, draw in DRAWINGS.items()}
    if findings.trials:
        draws["compare"] = draw_comparison, findings.trials
    if findings.links is not None:
        draws["contact"] = draw_contact, (findings.plan, findings.links)
    for name, (draw, shown) in draws.items():
        figure = draw(figure_class, shown, findings.scenario.name)
        pngs[name], svgs[name] = png(figure), svg(figure)
        progress(len(pngs) / (len(draws) + 1))
    return pngs, svgs


SPACING = 10.0  # m between points of a route
VEHICLES = {"aircraft": "fixed_wing", "hover": "quad", "ground": "rover"}


def ground_station_texts(scenario: Scenario, plan: Plan, origin: Origin) -> dict[str, str]:
    """Return the `.plan` files of vehicles that leave the base, by name; heights are above the ground at the start."""
    assert scenario.mission is not None
    texts: dict[str, str] = {}
    heights = ground_heights(world_with_track(scenario))
    for route, vehicle in zip(plan.routes, plan.problem.vehicles, strict=True):
        if route.legs:
            parts = [leg.path.points(SPACING) if (turn := _circle(leg)) is None else turn for leg in route.legs]
            x, y, _, _ = route.legs[0].start
            home = (*scenario.mission.base[:2], float(heights(np.array([x]), np.array([y]))[0]))
            kind = VEHICLES[vehicle.moves]
            plan_file = to_plan(parts, scenario.mission, origin, home, vehicle=kind, speed=vehicle.speed)
            texts[_file(route.vehicle, texts)] = document_text(plan_file)
    return texts


def _circle(leg: Leg) -> LoiterCircles | None:
    """Return a leg of full circles around one centre; None for others."""
    segments = leg.path.segments
    curvatures = {round(segment.curvature * segment.gear, 9) for segment in segments}
    drifting = any(segment.drift_x or segment.drift_y for segment in segments)
    if leg.kind not in ("wait", "coverage") or len(curvatures) != 1 or curvatures == {0.0} or drifting:
        return None
    x, y, z, heading = leg.path.start
    curvature = segments[0].curvature
    turns = float(np.sum([segment.length for segment in segments])) * abs(curvature) / (2.0 * pi)
    centre = (x - sin(heading) / curvature, y + cos(heading) / curvature)
    return LoiterCircles(*centre, z, 1.0 / abs(curvature), curvature > 0.0, round(turns, 6))


def _file(vehicle: str, used: dict[str, str]) -> str:
    """Return a valid file name for every file system: uav[0] -> uav_0.plan."""
    base = re.sub(r"[^A-Za-z0-9.-]+", "_", vehicle).strip("_") or "vehicle"
    name, number = f"{base}.plan", 2
    while name in used:
        name, number = f"{base}_{number}.plan", number + 1
    return name
