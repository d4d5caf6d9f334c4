"""The HTML report of a plan, a single file."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from paddock.engine.radio.planned import PlannedLinks
from paddock.planning.metrics import MissionMetrics, VehicleMetrics, foreseen
from paddock.planning.solver.routes import Plan
from paddock.record.html_report import picture, render
from paddock.record.mission_report import text as texts
from paddock.record.mission_report.document import Outcome, Trial, outcome_sentence
from paddock.record.mission_report.map_figure import colour
from paddock.record.mission_report.radio_contact import HEADS, NOTE, contact_rows
from paddock.world.geodesy import Origin

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


def report_html(
    plan: Plan,
    name: str,
    description: str = "",
    *,
    origin: Origin | None = None,  # None: positions have no latitude and longitude
    settings: Sequence[tuple[str, str]] = (),  # additional assumptions: name and value
    trials: Sequence[Trial] = (),  # a comparison
    pictures: Mapping[str, str] = MappingProxyType({}),  # SVG: routes, gantt, timeline, costs, compare
    missing: str = "",  # the reason if there are no pictures
    outcome: Outcome | None = None,  # of a mission with events
    metrics: MissionMetrics | None = None,  # expected from the plan
    closest: str = "",  # the closest approach
    links: PlannedLinks | None = None,  # with stations along the routes
) -> str:
    """Return the page. It is self-contained, and the same plan gives the same bytes."""
    metrics = metrics or foreseen(plan)
    covered = texts.fields_covered(metrics)
    names = [DOT.format(colour(k), part.name) for k, part in enumerate(metrics.vehicles)]
    rows = [(vehicle, *texts.cells(part)) for vehicle, part in zip(names, metrics.vehicles, strict=True)]
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
        drawings=dict.fromkeys(CAPTIONS) | {key: picture(svg, key, CAPTIONS[key]) for key, svg in pictures.items()},
        vehicle_heads=("vehicle", *texts.HEADS),
        vehicles=[*rows, ("all", *texts.sums(metrics))] if rows else [],
        vehicle_classes=[""] * len(rows) + ["sum"],
        closest=closest,
        contact_heads=("vehicle", *HEADS),
        contact=[] if links is None else contact_rows(links),
        contact_note=NOTE,
        trial_heads=TRIAL_HEADS,
        trials=_trial_rows(plan, trials),
        trial_notes=list(filter(None, (trial.problem if trial.plan is None else trial.note for trial in trials))),
        order="distance" if plan.problem.objective == "total" else "time until all vehicles are back",
        method=plan.method,
        leg_heads=heads,
        leg_numbers=[k for k, head in enumerate(heads) if head != "leg"],
        routes=_routes(plan, metrics.vehicles, origin),
        missing=missing,
        assumptions=[*texts.assumptions(plan), *settings],
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
