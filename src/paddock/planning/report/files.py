"""Everything that is told about a plan, as files in one folder. The same plan gives the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from paddock.errors import MissingFeatureError, PaddockError
from paddock.planning.exports import to_csv, to_parquet
from paddock.planning.metrics import Metrics
from paddock.planning.plans import Plan
from paddock.planning.report.compare import Trial, draw_comparison
from paddock.planning.report.cost_matrix import draw_costs
from paddock.planning.report.document import comparison, document
from paddock.planning.report.gantt import draw_gantt
from paddock.planning.report.html import MissionReport, report_html
from paddock.planning.report.outcome import Outcome, outcome_numbers
from paddock.planning.report.routes import draw_routes
from paddock.planning.report.settings import origin_of, settings
from paddock.planning.report.stations import geojson_text, ground_station_texts
from paddock.planning.report.style import png, styled, svg
from paddock.planning.report.summary import closeness
from paddock.planning.report.timeline import draw_timeline
from paddock.planning.setup import MissionSetup
from paddock.scenario import Scenario

Tell = Callable[[float], None]
TABLES = {"agents": "metrics", "tasks": "tasks", "series": "series"}
"""Tables of metrics, and the names of their files."""
DRAWINGS = {"routes": draw_routes, "gantt": draw_gantt, "costs": draw_costs, "timeline": draw_timeline}


@dataclass(frozen=True)
class Findings:
    """What `paddock plan` found out."""

    scenario: Scenario
    setup: MissionSetup
    plan: Plan
    metrics: Metrics  # that are foreseen
    trials: Sequence[Trial] = ()
    outcome: Outcome | None = None  # of a mission with events
    parquet: bool = False  # tables as Parquet, too


@dataclass(frozen=True)
class Pictures:
    """What was drawn, by name; or why nothing was."""

    png: dict[str, bytes]
    svg: dict[str, str]
    missing: str = ""


def write_files(found: Findings, folder: Path, tell: Tell = lambda share: None) -> tuple[list[str], str]:
    """Write them all; returns their names, and why there are no pictures if there are none."""
    drawn = _drawn(found, tell)
    contents = dict(_contents(found, drawn))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise PaddockError(f"cannot write to {folder}: {error.strerror or error}") from None
    tell(1.0)
    return list(contents), drawn.missing


def _contents(found: Findings, drawn: Pictures) -> Iterator[tuple[str, bytes]]:
    """File by file."""
    scenario, plan = found.scenario, found.plan
    report = MissionReport(
        plan,
        scenario.name,
        scenario.description,
        origin_of(scenario),
        settings(scenario, found.setup),
        found.trials,
        drawn.svg,
        drawn.missing,
        found.outcome,
        found.metrics,
        closeness(found.metrics, found.setup),
    )
    yield "report.html", report_html(report).encode()
    told = document(plan, scenario.name, found.metrics)
    if found.trials:
        told["comparison"] = comparison(found.trials, timed=False)
    if found.outcome is not None:
        told["outcome"] = outcome_numbers(found.outcome)
    yield "plan.json", (json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    yield from _tables(found)
    yield from ((f"{name}.png", content) for name, content in drawn.png.items())
    yield "routes.geojson", geojson_text(scenario, found.setup, plan).encode()
    yield from ((name, text.encode()) for name, text in ground_station_texts(scenario, plan).items())
    yield "scenario.yaml", scenario.to_yaml().encode()


def _tables(found: Findings) -> Iterator[tuple[str, bytes]]:
    """The metrics of vehicles, of tasks and over time; as planned, and as flown where there are events."""
    flown = {} if found.outcome is None else {"flown_": found.outcome.metrics}
    for prefix, metrics in ({"": found.metrics} | flown).items():
        for table, name in TABLES.items():
            yield f"{prefix}{name}.csv", to_csv(metrics, table).encode()
            if found.parquet:
                yield f"{prefix}{name}.parquet", to_parquet(metrics, table)


def _drawn(found: Findings, tell: Tell) -> Pictures:
    """All pictures, each once for the folder and once for the report."""
    drawn = Pictures({}, {})
    count = len(DRAWINGS) + bool(found.trials)
    try:
        with styled() as figure_class:
            for name, draw in DRAWINGS.items():
                figure = draw(figure_class, found.plan, found.scenario.name)
                drawn.png[name], drawn.svg[name] = png(figure), svg(figure)
                tell(len(drawn.png) / (count + 1))
            if found.trials:
                figure = draw_comparison(figure_class, found.trials, found.scenario.name)
                drawn.png["compare"], drawn.svg["compare"] = png(figure), svg(figure)
    except MissingFeatureError as error:
        return Pictures({}, {}, str(error))
    return drawn
