"""Write the report of a race that was recorded: report.md, results.json and figures.

The figures are speed over distance, the g-g diagram, and racing lines coloured by speed.
"""

import json
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddock.engine.events import Event
from paddock.errors import MissingFeatureError
from paddock.record.mission_report.map_figure import SOFT, colour, dress, png, styled
from paddock.record.plots import PAPER_EDGE as EDGE
from paddock.record.plots import plot_track
from paddock.record.race import CarTrace, LapTrace, car_traces, race_entries, race_of
from paddock.record.radio_report import link_tables, traffic_lines, write_files
from paddock.record.reader import RecordedRun
from paddock.record.run_metrics import metrics
from paddock.scenario.track import RaceRules
from paddock.track.race_log import RaceEntry, shown_text
from paddock.track.standings import Standing, Standings, gap_text
from paddock.track.track import Track

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
        numbers |= {"messages": measured["messages"]} if "messages" in measured else {}
        links = [*traffic_lines(measured), *link_tables(measured)]
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
    rules: RaceRules,
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
    best = [(k, sector) for k, sector in enumerate(standings.fastest_sectors, 1) if sector is not None]
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


def _rule_text(rules: RaceRules) -> str:
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
    penalties = [entry for entry in entries if entry.kind in kinds]
    if not penalties:
        return ["## Penalties", "", "None.", ""]
    lines = ["## Penalties", "", "| time, s | car | lap | what |", "|---:|---|---:|---|"]
    for entry in penalties:
        detail = entry.cone or entry.reason
        what = f"{kinds[entry.kind]}{': ' if detail else ''}{detail}"
        lines.append(f"| {entry.time:.3f} | {_cell(entry.car)} | {entry.lap or ''} | {_cell(what)} |")
    return [*lines, ""]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _cell(text: Any) -> str:
    """Return a text that cannot end a cell of a table, nor begin a link or markup."""
    return "".join(f"\\{c}" if c in "\\|`*_[]<>#" else c for c in str(text))


KMH = 3.6  # km/h per m/s
LINES = 4  # most panels of racing lines
MOST_LAPS = 30  # drawn of one car


def draw_speed(figure_class: Any, cars: Sequence[CarTrace], title: str) -> Any:
    """Return speed over distance, and the time behind the fastest lap below it.

    Of a single car all laps are drawn, of several the best lap of each.
    """
    figure = figure_class(figsize=(10.0, 6.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.4))
    lines = _compared(cars)
    done = [lap for _, _, lap in lines if lap.seconds is not None]
    best = min(done, key=lambda lap: lap.seconds or 0.0) if done else None
    for label, tone, lap in lines:
        bold = lap is best
        look = {"color": tone, "linewidth": 2.0 if bold else 1.1, "zorder": 4 if bold else 3}
        above.plot(lap.distance, KMH * lap.speed, label=label, **look)
        if best is not None:
            behind = lap.time - np.interp(lap.distance, best.distance, best.time, np.nan, np.nan)
            below.plot(lap.distance, behind, **look)
    dress(above, f"{title} · speed", "all laps" if len(cars) == 1 else "best lap of each car")
    above.set_ylabel("speed, km/h")
    above.set_ylim(bottom=0.0)
    dress(below, "")
    below.set_ylabel("behind the\nfastest lap, s")
    below.set_xlabel("distance along the track, m")
    below.margins(x=0.01)
    if 0 < len(lines) <= 16:
        figure.legend(loc="outside lower center", ncols=min(len(lines), 5), frameon=False, fontsize=8)
    return figure


def _compared(cars: Sequence[CarTrace]) -> list[tuple[str, Any, LapTrace]]:
    """Return label, colour and lap of the lines that are drawn."""
    if len(cars) == 1:
        from matplotlib import colormaps

        laps = cars[0].laps[-MOST_LAPS:]
        tones = colormaps["viridis"](np.linspace(0.0, 0.85, len(laps)))
        return [(_lap_label(lap), tone, lap) for lap, tone in zip(laps, tones, strict=True)]
    best = [(car.name, colour(k), car.best) for k, car in enumerate(cars)]
    return [(f"{name}, {_lap_label(lap)}", tone, lap) for name, tone, lap in best if lap is not None]


def _lap_label(lap: LapTrace) -> str:
    return f"lap {lap.number}" + ("" if lap.seconds is None else f": {lap.seconds:.3f} s")


def draw_gg(figure_class: Any, cars: Sequence[CarTrace], title: str) -> Any:
    """Return the accelerations of all laps, forward over sideways, with circles of equal grip."""
    figure = figure_class(figsize=(7.4, 7.0), layout="constrained")
    axes = figure.add_subplot()
    largest = 0.5
    for k, car in enumerate(cars):
        if not car.laps:
            continue
        left, ahead = (np.concatenate([getattr(lap, name) for lap in car.laps]) for name in ("left", "ahead"))
        size = np.sqrt(left * left + ahead * ahead)
        largest = max(largest, float(np.quantile(size, 0.995)))  # without the spikes of touches
        axes.plot(left, ahead, ".", color=colour(k), markersize=3.0, alpha=0.45, label=car.name, zorder=3)
    step = 0.5 if largest < 3.0 else 1.0
    limit = step * np.ceil(1.05 * largest / step)
    angle = np.linspace(0.0, 2.0 * np.pi, 181)
    for radius in np.arange(step, limit + 0.01, step):
        axes.plot(radius * np.cos(angle), radius * np.sin(angle), color=EDGE, linewidth=0.7, zorder=2)
        axes.annotate(f"{radius:g} g", (0.0, radius), color=SOFT, fontsize=7.5, ha="center", va="bottom")
    dress(axes, f"{title} · g-g diagram", "from recorded velocities")
    axes.axhline(0.0, color=EDGE, linewidth=0.7)
    axes.axvline(0.0, color=EDGE, linewidth=0.7)
    axes.set(xlim=(limit, -limit), ylim=(-limit, limit), aspect="equal")  # left is left
    axes.set_xlabel("to the left, g")
    axes.set_ylabel("braking  <   g   >  accelerating")
    if len(cars) > 1:
        axes.legend(loc="upper right", frameon=False, fontsize=8, markerscale=3.0)
    return figure


def draw_lines(figure_class: Any, cars: Sequence[CarTrace], track: Track, title: str) -> Any:
    """Return the best lap of the first cars on the track, coloured by speed."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    shown = [car for car in cars if car.best is not None][:LINES] or list(cars[:1])
    columns = min(len(shown), 2) or 1
    rows = -(-len(shown) // columns) or 1
    edges = np.concatenate([track.left, track.right])
    size = np.ptp(edges, axis=0) + 10.0
    width = 9.0 / columns
    height = min(max(width * float(size[1] / size[0]), 1.6), 8.5)
    figure = figure_class(figsize=(9.6, rows * height + 1.5), layout="constrained")
    panels = np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()
    speeds = [KMH * car.best.speed for car in shown if car.best is not None]
    low, high = (min(map(np.min, speeds)), max(map(np.max, speeds))) if speeds else (0.0, 1.0)
    norm, drawn = Normalize(low, max(high, low + 1.0)), None
    for axes, car in zip(panels, shown, strict=False):
        plot_track(track, axes)
        lap = car.best
        if lap is not None:
            points = np.column_stack([lap.x, lap.y])
            pieces = np.stack([points[:-1], points[1:]], axis=1)
            drawn = LineCollection(pieces, cmap="turbo", norm=norm, linewidth=2.2, zorder=5, capstyle="round")  # type: ignore[arg-type]
            drawn.set_array(0.5 * KMH * (lap.speed[1:] + lap.speed[:-1]))
            axes.add_collection(drawn)
        note = "" if lap is None else _lap_label(lap)
        dress(axes, f"{title} · {car.name}" if len(shown) == 1 else car.name, note)
        axes.grid(False)
    for axes in panels[len(shown) :]:
        axes.set_visible(False)
    if drawn is not None:
        figure.colorbar(drawn, ax=list(panels), label="speed, km/h", shrink=0.75, aspect=28)
    return figure
