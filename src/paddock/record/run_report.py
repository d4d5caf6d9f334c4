"""Write the report of a recorded run: report.md, results.json and figures.

That of a race has standings, laps and penalties, speed over distance, the g-g diagram, and racing lines coloured by
speed; that of radio links has their metrics, and SINR over time.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from paddock.engine.events import Event
from paddock.radio.links.table import NO_SINR
from paddock.record.plots import PAPER_EDGE as EDGE
from paddock.record.plots import plot_track
from paddock.record.race import CarTrace, LapTrace, car_traces, race_entries, race_of
from paddock.record.radio import SERVICE_COUNTS, in_contact, message_summary
from paddock.record.reader import RecordedRun, open_run
from paddock.record.reports import SOFT, colour, drawn, dress, plain_text, png, table, write_files
from paddock.record.run_metrics import metrics
from paddock.scenario.track import RaceRules
from paddock.track.race_log import RaceEntry, shown_text
from paddock.track.standings import Standing, Standings, gap_text
from paddock.track.track import Track
from paddock.world.columns import Floats

CARS = 8  # most cars in figures
REMARKS = ("lap_refused", "barrier_timeout", "refused", "failsafe", "not_finite", "removed", "contact")
"""Kinds of events that explain a result, beside laps and penalties."""
HINTS = {"waiting": "did not start", "running": "still on track at the end of the run"}
PENALTIES = {"cone_hit": "cone", "off_course": "off course", "unsafe_stop": "unsafe stop", "dnf": "DNF"}
TITLES = {
    "speed.png": "Speed over distance",
    "gg.png": "g-g diagram",
    "line.png": "Racing line",
    "links.png": "SINR and contact over time",
}
STANDING_HEADS = (
    *("", "car", "status", "laps", "best lap, s", "time, s"),
    *("cones", "off course", "penalty, s", "result, s", "gap, s"),
)
LINES = 8  # most vehicles with a line in the figure
ROWS = 200  # most vehicles in the table: those with the longest outages
MOST_POINTS = 2000  # samples in the figure
NUMBERED = re.compile(r"(\D*)(\d*)", re.ASCII)
LINK_METRICS = ("link_availability", "mean_sinr_db", "longest_outage_s", "outages", "jammed_s")
LINK_HEADS = ("", "availability", "mean SINR, dB", "longest outage, s", "outages", "jammed, s")

Source = str | os.PathLike[str] | RecordedRun


def write_report(source: Source, folder: str | os.PathLike[str]) -> list[str]:
    """Write the report of a recorded race, which includes its links; or of the radio where there is no race."""
    return _write(source, folder, _contents)


def write_race_report(source: Source, folder: str | os.PathLike[str]) -> list[str]:
    """Write the report of a recording to a folder; return the names of its files.

    Without matplotlib there are no figures, and the report says why.
    """
    return _write(source, folder, _race_contents)


def _write(
    source: Source, folder: str | os.PathLike[str], contents: Callable[[RecordedRun], dict[str, bytes]]
) -> list[str]:
    with nullcontext(source) if isinstance(source, RecordedRun) else open_run(source) as run:
        return write_files(folder, contents(run))


def _contents(run: RecordedRun) -> dict[str, bytes]:
    radio = run.scenario.rules is None and run.scenario.radio is not None
    return _radio_contents(run) if radio else _race_contents(run)


def _race_contents(run: RecordedRun) -> dict[str, bytes]:
    standings, track = race_of(run)
    section, scenario = run.sections[-1], run.scenario
    assert scenario.rules is not None  # a race has rules

    def draw(figure_class: Any) -> dict[str, bytes]:
        cars, title = car_traces(run, standings, track, CARS), f"{scenario.name} · {standings.discipline}"
        return {
            "speed.png": png(draw_speed(figure_class, cars, title)),
            "gg.png": png(draw_gg(figure_class, cars, title)),
            "line.png": png(draw_lines(figure_class, cars, track, title)),
        }

    figures, missing = drawn(draw)
    rules, events = scenario.rules.resolved, run.events(section.number)
    entries, remarks = race_entries(events), _remarks(events)
    numbers: dict[str, Any] = {
        "scenario": scenario.name,
        "seed": section.begin.seed,
        "complete": run.complete,
        "rules": rules._asdict(),
        **standings.to_dict(),
        "log": [entry._asdict() for entry in entries],
        "remarks": [{"kind": kind, "subject": who, "count": n, "first": text} for kind, who, n, text in remarks],
    }
    laps = f"{standings.laps} lap{'' if standings.laps == 1 else 's'}"
    lines = [f"# {scenario.name}: {standings.discipline}", ""]
    lines += [f"Track {standings.track}, {laps}; {standings.time:.3f} s simulated.", "", *_incomplete(run)]
    lines += [*_results(standings, rules), *_laps(standings), *_penalties(entries)]
    if remarks:
        lines += ["## Remarks", ""]
        for kind, subject, count, text in remarks:
            times = f" ({count} times)" if count > 1 else ""
            lines.append(f"- {plain_text(subject)}: {kind}{times}: {plain_text(shown_text(text))}")
        lines.append("")
    lines += _figure_lines(figures or {}, missing)
    if scenario.radio is not None:
        measured = metrics(run)
        numbers["radio"] = {name: fleet["radio"] for name, fleet in measured["fleets"].items() if "radio" in fleet}
        numbers |= {"messages": measured["messages"]} if "messages" in measured else {}
        lines += [*traffic_lines(measured), *link_tables(measured)]
    return _files(lines, numbers, figures or {})


def _radio_contents(run: RecordedRun) -> dict[str, bytes]:
    numbers = metrics(run)
    figures, missing = drawn(lambda figure_class: {"links.png": png(draw_links(figure_class, run))})
    lines = [f"# {numbers['scenario']}: radio links", "", f"{numbers['duration_s']:.1f} s simulated.", ""]
    lines += [*_incomplete(run), *traffic_lines(numbers), *link_tables(numbers), *_figure_lines(figures or {}, missing)]
    return _files(lines, numbers, figures or {})


def _files(lines: Sequence[str], numbers: Mapping[str, Any], figures: Mapping[str, bytes]) -> dict[str, bytes]:
    document = json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return {"report.md": "\n".join(lines).encode(), "results.json": document.encode(), **figures}


def _incomplete(run: RecordedRun) -> list[str]:
    return [] if run.complete else ["The recording is incomplete: the run was interrupted.", ""]


def _figure_lines(figures: Iterable[str], missing: str) -> list[str]:
    lines = [f"## {TITLES[figure]}\n\n![{TITLES[figure]}]({figure})\n" for figure in figures]
    return [*lines, f"There are no figures: {missing}\n"] if missing else lines


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


def _results(standings: Standings, rules: RaceRules) -> list[str]:
    """Return the standings, the penalties of the rules, and the fastest lap and sectors."""
    rows = [
        (
            *(row.position, row.name, _status(row), row.laps, _seconds(row.best_lap), _seconds(row.time)),
            *(row.cones, row.off_course, f"{row.penalty:.1f}", _seconds(row.result), gap_text(row, standings)),
        )
        for row in standings.rows
    ]
    lines = ["## Results", "", *table(STANDING_HEADS, rows, "n..nnnnnnnn"), "", f"Penalties: {_rule_text(rules)}.", ""]
    if standings.fastest_lap is not None:
        car, lap, seconds = standings.fastest_lap
        lines += [f"Fastest lap: {plain_text(car)}, lap {lap}, {seconds:.3f} s.", ""]
    best = [(k, sector) for k, sector in enumerate(standings.fastest_sectors, 1) if sector is not None]
    fastest = [f"{k}: {plain_text(car)} {seconds:.3f} s (lap {lap})" for k, (car, lap, seconds) in best]
    return lines + ([f"Fastest sectors: {', '.join(fastest)}.", ""] if fastest else [])


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


def _laps(standings: Standings) -> list[str]:
    """Return a table of laps and sectors for each of the first cars."""
    lines: list[str] = []
    sectors = len(standings.fastest_sectors)
    heads = ["lap", *(f"sector {k + 1}, s" for k in range(sectors)), "time, s"]
    for standing in standings.rows[:CARS]:
        rows = []
        for lap in range(max(len(standing.lap_times), len(standing.sector_times))):
            parts = standing.sector_times[lap] if lap < len(standing.sector_times) else (None,) * sectors
            whole = standing.lap_times[lap] if lap < len(standing.lap_times) else None
            best = whole is not None and whole == standing.best_lap and len(standing.lap_times) > 1
            rows.append([lap + 1, *map(_seconds, parts), _seconds(whole) + (" (best)" if best else "")])
        if rows:
            lines += [f"## Laps of {plain_text(standing.name)}", "", *table(heads, rows, "n" * len(heads)), ""]
    return lines


def _penalties(entries: Sequence[RaceEntry]) -> list[str]:
    rows = []
    for entry in entries:
        if entry.kind in PENALTIES:
            detail = entry.cone or entry.reason
            what = f"{PENALTIES[entry.kind]}{': ' if detail else ''}{detail}"
            rows.append((f"{entry.time:.3f}", entry.car, entry.lap or "", what))
    return ["## Penalties", "", *(table(("time, s", "car", "lap", "what"), rows, "n.n") if rows else ["None."]), ""]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def traffic_lines(numbers: Mapping[str, Any]) -> list[str]:
    """Return the messages and the packets of services of a run in Markdown; nothing where none was sent."""
    messages, services = numbers.get("messages", {}), numbers.get("services", {})
    lines = ["## Messages", "", f"{message_summary(messages)}.", ""] if messages.get("sent") else []
    if services:
        rows = [(name, *(f"{counts[key]:,}" for key in SERVICE_COUNTS)) for name, counts in services.items()]
        heads = ("", "sent", "delivered", "lost", "dropped", "under way")
        lines += ["## Packets of services", "", *table(heads, rows, ".nnnnn"), ""]
        lines += [
            "Dropped packets have not left their sender: its queue was full, or a newer command has replaced them. "
            "States of telemetry that a newer one has replaced count as lost.",
            "",
        ]
    return lines


def link_tables(numbers: Mapping[str, Any]) -> list[str]:
    """Return the metrics of links as tables in Markdown: fleets, then vehicles with the longest outages first."""
    fleets = {name: fleet for name, fleet in numbers["fleets"].items() if "radio" in fleet}
    totals = [_link_row(name, *(fleet["radio"][key] for key in LINK_METRICS)) for name, fleet in fleets.items()]
    rows: list[tuple[Any, ...]] = []
    for fleet in fleets.values():
        own = fleet["per_vehicle"]
        rows += zip(own["name"], *(own[key] for key in LINK_METRICS), strict=True)
    rows.sort(key=lambda row: (-row[3], natural_order(row[0])))
    vehicles = [_link_row(*row) for row in rows[:ROWS]]
    lines = ["## Fleets", "", *table(LINK_HEADS, totals, ".nnnnn"), ""]
    lines += ["## Vehicles", "", *table(LINK_HEADS, vehicles, ".nnnnn"), ""]
    if len(rows) > ROWS:
        lines += [f"{len(rows) - ROWS} more are in results.json.", ""]
    return [
        *lines,
        "A vehicle is available while a route leads to a station and back, over any number of hops; without stations, "
        "while it hears another radio over a usable link. The SINR is that of its best direct link (to a "
        "station, if there are any); - : it had none.",
        "",
    ]


def _link_row(
    name: str, share: float, sinr: float | None, longest: float, outages: int, jammed: float
) -> tuple[Any, ...]:
    level = "-" if sinr is None else f"{sinr:.1f}"
    return name, f"{100.0 * share:.1f} %", level, f"{longest:.1f}", outages, f"{jammed:.1f}"


def natural_order(name: str) -> list[tuple[str, int]]:
    """Return a key that sorts names with numbers as people do: `scouts[2]` before `scouts[10]`."""
    return [(text, int(number or -1)) for text, number in NUMBERED.findall(name)]


KMH = 3.6  # km/h per m/s
PANELS = 4  # most panels of racing lines
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

    shown = [car for car in cars if car.best is not None][:PANELS] or list(cars[:1])
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


def draw_links(figure_class: Any, run: RecordedRun) -> Any:
    """Return the SINR of the first vehicles, and the share of all vehicles in contact below it."""
    times, sinr, share = _series(run)
    figure = figure_class(figsize=(10.0, 6.0), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for k, (name, values) in enumerate(sinr.items()):
        above.plot(times, values, color=colour(k), linewidth=1.2, label=name)
    best = "best link to a station" if run.scenario.radio and run.scenario.radio.stations else "best link"
    dress(above, f"{run.scenario.name} · SINR", f"{best}; gaps: none" if sinr else "")
    above.set_ylabel("SINR, dB")
    below.fill_between(times, 100.0 * share, step="post", color=colour(0), alpha=0.35)
    dress(below, "")
    below.set_ylabel("in contact, %")
    below.set_ylim(0.0, 103.0)
    below.set_xlabel("time, s")
    below.margins(x=0.01)
    if sinr:
        figure.legend(loc="outside lower center", ncols=min(len(sinr), 4), frameon=False, fontsize=8)
    return figure


def _series(run: RecordedRun) -> tuple[Floats, dict[str, Floats], Floats]:
    """Return times (s), the SINR (dB, NaN without a link) of some vehicles, and the share of all in contact."""
    radio, section = run.scenario.radio, run.sections[-1]
    assert radio is not None
    samples = section.samples[:: 1 + len(section.samples) // MOST_POINTS]
    times, share = np.zeros(len(samples)), np.zeros(len(samples))
    sinr: dict[str, Floats] = {}
    for k, number in enumerate(samples):
        snapshot = run.sample(number)
        contact = in_contact(snapshot)
        joined = np.concatenate([np.zeros(0), *contact.values()])
        times[k], share[k] = snapshot.time, joined.mean() if len(joined) else 0.0
        for fleet in map(snapshot.fleet, contact):
            values = fleet["radio.sinr"]
            for name, value in zip(fleet.names[:LINES], values[:LINES].tolist(), strict=True):
                if name in sinr or len(sinr) < LINES:
                    sinr.setdefault(name, np.full(len(samples), np.nan))[k] = value if value > NO_SINR else np.nan
    return times, sinr, share
