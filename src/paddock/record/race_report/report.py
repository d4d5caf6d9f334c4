"""Write the report of a race that was recorded: report.md, results.json and figures."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from paddock.engine.events import Event
from paddock.errors import MissingFeatureError
from paddock.record.mission_report.map_figure import png, styled
from paddock.record.race import race_entries
from paddock.record.race_report.figures import draw_gg, draw_lines, draw_speed
from paddock.record.race_report.traces import car_traces, race_of
from paddock.record.radio_report import link_tables, write_files
from paddock.record.reader import RecordedRun
from paddock.record.run_metrics import metrics
from paddock.scenario.rules import Rules
from paddock.track.race_log import RaceEntry, shown_text
from paddock.track.standings import Standing, Standings, gap_text

CARS = 8  # most cars in figures
REMARKS = ("lap_refused", "barrier_timeout", "refused", "failsafe", "not_finite", "removed", "contact")
"""Kinds of events that explain a result, beside laps and penalties."""
HINTS = {"waiting": "did not start", "running": "still on track at the end of the run"}


def write_race_report(source: str | os.PathLike[str] | RecordedRun, folder: str | os.PathLike[str]) -> list[str]:
    """Write the report of a recording to a folder; return the names of its files.

    Without matplotlib there are no figures, and the report says why.
    """
    return write_files(source, folder, _contents)


def _contents(run: RecordedRun) -> dict[str, bytes]:
    standings, track = race_of(run)
    section, scenario = run.sections[-1], run.scenario
    events = run.events(section.number)
    assert scenario.rules is not None  # a race has rules
    figures: dict[str, bytes] = {}
    missing = ""
    try:
        with styled() as figure_class:
            cars = car_traces(run, standings, track, CARS)
            title = f"{scenario.name} · {standings.discipline}"
            figures["speed.png"] = png(draw_speed(figure_class, cars, title))
            figures["gg.png"] = png(draw_gg(figure_class, cars, title))
            figures["line.png"] = png(draw_lines(figure_class, cars, track, title))
    except MissingFeatureError as error:
        missing = str(error)
    rules, entries = scenario.rules.resolved, race_entries(events)
    remarks = _remarks(events)
    numbers: dict[str, Any] = {
        "scenario": scenario.name,
        "seed": section.begin.seed,
        "complete": run.complete,
        "rules": rules._asdict(),
        **standings.to_dict(),
        "log": [entry._asdict() for entry in entries],
        "remarks": [{"kind": kind, "subject": who, "count": n, "first": text} for kind, who, n, text in remarks],
    }
    links: list[str] = []
    if scenario.radio is not None:
        measured = metrics(run)
        numbers["radio"] = {name: fleet["radio"] for name, fleet in measured["fleets"].items() if "radio" in fleet}
        links = link_tables(measured)
    text = _markdown(scenario.name, standings, rules, entries, remarks, list(figures), missing, run.complete)
    text += "\n".join(links)
    document = json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return {"report.md": text.encode(), "results.json": document.encode(), **figures}


def _remarks(events: Sequence[Event]) -> list[tuple[str, str, int, str]]:
    """Return kind, subject, count and first text of the events that explain a result."""
    first: dict[tuple[str, str], str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for event in events:
        if event.kind in REMARKS:
            key = event.kind, event.subject
            first.setdefault(key, event.detail)
            counts[key] += 1
    return [(*key, counts[key], text) for key, text in first.items()]


def _markdown(
    name: str,
    standings: Standings,
    rules: Rules,
    entries: Sequence[RaceEntry],
    remarks: Sequence[tuple[str, str, int, str]],
    figures: Sequence[str],
    missing: str,
    complete: bool,
) -> str:
    laps = f"{standings.laps} lap{'' if standings.laps == 1 else 's'}"
    lines = [f"# {name}: {standings.discipline}", ""]
    lines += [f"Track {standings.track}, {laps}; {standings.time:.3f} s simulated.", ""]
    if not complete:
        lines += ["The recording is incomplete: the run was interrupted.", ""]
    lines += ["## Results", "", *standings_table(standings), ""]
    lines += [f"Penalties: {_rule_text(rules)}.", ""]
    if standings.fastest_lap is not None:
        car, lap, seconds = standings.fastest_lap
        lines += [f"Fastest lap: {_cell(car)}, lap {lap}, {seconds:.3f} s.", ""]
    best = [(k, one) for k, one in enumerate(standings.fastest_sectors, 1) if one is not None]
    fastest = [f"{k}: {_cell(car)} {seconds:.3f} s (lap {lap})" for k, (car, lap, seconds) in best]
    lines += [f"Fastest sectors: {', '.join(fastest)}.", ""] if fastest else []
    lines += _lap_tables(standings)
    lines += _penalty_list(entries)
    if remarks:
        lines += ["## Remarks", ""]
        lines += [f"- {_cell(who)}: {kind}{f' ({count} times)' if count > 1 else ''}: {_cell(shown_text(text))}"
                  for kind, who, count, text in remarks]  # fmt: skip
        lines += [""]
    titles = {"speed.png": "Speed over distance", "gg.png": "g-g diagram", "line.png": "Racing line"}
    for figure in figures:
        lines += [f"## {titles[figure]}", "", f"![{titles[figure]}]({figure})", ""]
    if missing:
        lines += [f"There are no figures: {missing}", ""]
    return "\n".join(lines)


def standings_table(standings: Standings) -> list[str]:
    """Return the standings as a table in Markdown."""
    lines = [
        "| | car | status | laps | best lap, s | time, s | cones | off course | penalty, s | result, s | gap, s |",
        "|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in standings.rows:
        cells = (
            *(row.position, _cell(row.name), _status(row), row.laps, _seconds(row.best_lap), _seconds(row.time)),
            *(row.cones, row.off_course, f"{row.penalty:.1f}", _seconds(row.result), gap_text(row, standings)),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _status(row: Standing) -> str:
    if row.status == "dnf":
        return f"DNF: {row.reason}"
    return HINTS.get(row.status, row.status.replace("_", " "))


def _rule_text(rules: Rules) -> str:
    def cost(penalty: float | str) -> str:
        return "DNF" if isinstance(penalty, str) else f"{penalty:g} s"

    stop = ""
    if rules.stop_distance:
        stop = f"; no stop within {rules.stop_distance:g} m after the finish {cost(rules.unsafe_stop_penalty)}"
    return f"cone {cost(rules.cone_penalty)}, off course {cost(rules.off_course_penalty)}{stop}"


def _lap_tables(standings: Standings) -> list[str]:
    lines: list[str] = []
    sectors = len(standings.fastest_sectors)
    for row in standings.rows[:CARS]:
        if row.lap_times or row.sector_times:
            heads = [f"sector {k + 1}, s" for k in range(sectors)]
            lines += [f"## Laps of {_cell(row.name)}", "", f"| {' | '.join(['lap', *heads, 'time, s'])} |"]
            lines += ["|" + "---:|" * (sectors + 2)]
            for lap in range(max(len(row.lap_times), len(row.sector_times))):
                parts = row.sector_times[lap] if lap < len(row.sector_times) else (None,) * sectors
                whole = row.lap_times[lap] if lap < len(row.lap_times) else None
                mark = " (best)" if whole is not None and whole == row.best_lap and len(row.lap_times) > 1 else ""
                lines.append(f"| {' | '.join([str(lap + 1), *map(_seconds, parts), _seconds(whole) + mark])} |")
            lines.append("")
    return lines


def _penalty_list(entries: Sequence[RaceEntry]) -> list[str]:
    kinds = {"cone_hit": "cone", "off_course": "off course", "unsafe_stop": "unsafe stop", "dnf": "DNF"}
    found = [entry for entry in entries if entry.kind in kinds]
    if not found:
        return ["## Penalties", "", "None.", ""]
    lines = ["## Penalties", "", "| time, s | car | lap | what |", "|---:|---|---:|---|"]
    for entry in found:
        detail = entry.cone or entry.reason
        what = f"{kinds[entry.kind]}{': ' if detail else ''}{detail}"
        lines.append(f"| {entry.time:.3f} | {_cell(entry.car)} | {entry.lap or ''} | {_cell(what)} |")
    return [*lines, ""]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _cell(text: Any) -> str:
    """Return a text that cannot end a cell of a table, nor begin a link or markup."""
    return "".join(f"\\{c}" if c in "\\|`*_[]<>#" else c for c in str(text))
