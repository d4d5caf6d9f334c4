"""All files about a plan in one folder; equal plans give equal bytes."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import numpy as np

from paddock.engine.radio.planned import PlannedLinks
from paddock.errors import MissingFeatureError, PaddockError
from paddock.planning.exchange import to_geojson
from paddock.planning.from_scenario import generated_tasks
from paddock.planning.methods import Progress
from paddock.planning.metrics import MissionMetrics, to_csv, to_parquet
from paddock.planning.problem import MissionSetup
from paddock.planning.qgc_missions import LoiterCircles, to_plans
from paddock.planning.routes import Leg, Plan
from paddock.record.mission_report.charts import draw_costs, draw_gantt, draw_timeline
from paddock.record.mission_report.comparison import Trial, draw_comparison
from paddock.record.mission_report.contact import contact_numbers, draw_contact
from paddock.record.mission_report.document import Outcome, comparison, document, outcome_numbers
from paddock.record.mission_report.html import report_html
from paddock.record.mission_report.map_figure import draw_routes, png, styled, svg
from paddock.record.mission_report.text import closeness, origin_of, settings
from paddock.scenario import Scenario
from paddock.wire.json_document import document_text
from paddock.world.geodesy import Origin

TABLES = {"agents": "metrics", "tasks": "tasks", "series": "series"}  # tables of metrics, and the names of their files
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


def write_files(found: Findings, folder: Path, progress: Progress = lambda share: None) -> tuple[list[str], str]:
    """Write all files; return their names, and the reason if there are no figures."""
    png_files, drawings, missing = _drawn(found, progress)
    contents = dict(_contents(found, png_files, drawings, missing))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise PaddockError(f"cannot write to {folder}: {error.strerror or error}") from None
    progress(1.0)
    return list(contents), missing


def _contents(
    found: Findings, png_files: dict[str, bytes], drawings: dict[str, str], missing: str
) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of all files."""
    scenario, plan = found.scenario, found.plan
    page = report_html(
        plan,
        scenario.name,
        scenario.description,
        origin=origin_of(scenario),
        settings=settings(scenario, found.setup),
        trials=found.trials,
        pictures=drawings,
        missing=missing,
        outcome=found.outcome,
        metrics=found.metrics,
        closest=closeness(found.metrics, found.setup),
        links=found.links,
    )
    yield "report.html", page.encode()
    values = document(plan, scenario.name, found.metrics)
    if found.trials:
        values["comparison"] = comparison(found.trials, timed=False)
    if found.outcome is not None:
        values["outcome"] = outcome_numbers(found.outcome)
    if found.links is not None:
        values["radio"] = contact_numbers(found.links)
    yield "plan.json", (json.dumps(values, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    flown = {} if found.outcome is None else {"flown_": found.outcome.metrics}
    for prefix, metrics in ({"": found.metrics} | flown).items():
        for table, name in TABLES.items():
            yield f"{prefix}{name}.csv", to_csv(metrics, table).encode()
            if found.parquet:
                yield f"{prefix}{name}.parquet", to_parquet(metrics, table)
    yield from ((f"{name}.png", content) for name, content in png_files.items())
    origin = Origin(*scenario.world.origin)
    routes = [(route.vehicle, route.path.points(SPACING)) for route in plan.routes if route.legs]
    assert scenario.mission is not None
    tasks = (*scenario.mission.tasks, *generated_tasks(scenario, found.setup.problem.vehicles))
    mission = scenario.mission.model_copy(update={"tasks": tasks, "generate": None})
    yield "routes.geojson", document_text(to_geojson(mission, origin, routes)).encode()
    yield from ((name, text.encode()) for name, text in ground_station_texts(scenario, plan, origin).items())
    yield "scenario.yaml", scenario.to_yaml().encode()


def _drawn(found: Findings, progress: Progress) -> tuple[dict[str, bytes], dict[str, str], str]:
    """Return all figures by name, as PNG for the folder and as SVG for the report; or the reason if there are none."""
    pngs, svgs = dict[str, bytes](), dict[str, str]()
    draws: dict[str, tuple[Callable[..., Any], Any]] = {name: (draw, found.plan) for name, draw in DRAWINGS.items()}
    if found.trials:
        draws["compare"] = draw_comparison, found.trials
    if found.links is not None:
        draws["contact"] = draw_contact, (found.plan, found.links)
    try:
        with styled() as figure_class:
            for name, (draw, shown) in draws.items():
                figure = draw(figure_class, shown, found.scenario.name)
                pngs[name], svgs[name] = png(figure), svg(figure)
                progress(len(pngs) / (len(draws) + 1))
    except MissingFeatureError as error:
        return {}, {}, str(error)
    return pngs, svgs, ""


SPACING = 10.0  # m between points of a route
VEHICLES = {"aircraft": "fixed_wing", "hover": "quad", "ground": "rover"}


def ground_station_texts(scenario: Scenario, plan: Plan, origin: Origin) -> dict[str, str]:
    """Return the `.plan` files of all vehicles that leave the base, by their names."""
    assert scenario.mission is not None
    texts: dict[str, str] = {}
    for route, vehicle in zip(plan.routes, plan.problem.vehicles, strict=True):
        if route.legs:
            kind = {"vehicle": VEHICLES[vehicle.moves], "speed": vehicle.speed}
            parts = [leg.path.points(SPACING) if (turn := _circle(leg)) is None else turn for leg in route.legs]
            found = to_plans([(route.vehicle, parts)], scenario.mission, origin, **kind)  # type: ignore[arg-type]
            texts[_file(route.vehicle, texts)] = document_text(found[route.vehicle])
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


def _file(vehicle: str, taken: dict[str, str]) -> str:
    """Return a valid file name for every file system: uav[0] -> uav_0.plan."""
    base = re.sub(r"[^A-Za-z0-9.-]+", "_", vehicle).strip("_") or "vehicle"
    name, number = f"{base}.plan", 2
    while name in taken:
        name, number = f"{base}_{number}.plan", number + 1
    return name
