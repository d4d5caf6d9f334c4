"""Write the report of the radio of a recorded run: report.md, results.json and a figure of SINR over time."""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paddock.errors import MissingFeatureError, PaddockError
from paddock.radio.links.table import NO_SINR
from paddock.record.mission_report.map_figure import colour, dress, png, styled
from paddock.record.radio import SERVICE_COUNTS, in_contact, message_summary
from paddock.record.reader import RecordedRun, open_run
from paddock.record.run_metrics import metrics
from paddock.world.columns import Floats

LINES = 8  # most vehicles with a line in the figure
ROWS = 200  # most vehicles in the table: those with the longest outages
MOST_POINTS = 2000  # samples in the figure
NUMBERED = re.compile(r"(\D*)(\d*)", re.ASCII)
COLUMNS = ("link_availability", "mean_sinr_db", "longest_outage_s", "outages", "jammed_s")


def write_report(source: str | os.PathLike[str], folder: str | os.PathLike[str]) -> list[str]:
    """Write the report of a recorded race, which includes its links; or of the radio where there is no race."""
    with open_run(source) as run:
        if run.scenario.rules is None and run.scenario.radio is not None:
            return write_radio_report(run, folder)
        from paddock.record.race_report import write_race_report  # here: it uses this module

        return write_race_report(run, folder)


def write_radio_report(source: str | os.PathLike[str] | RecordedRun, folder: str | os.PathLike[str]) -> list[str]:
    """Write the report of a recording to a folder; return the names of its files."""
    return write_files(source, folder, _contents)


def write_files(
    source: str | os.PathLike[str] | RecordedRun,
    folder: str | os.PathLike[str],
    contents_of: Callable[[RecordedRun], dict[str, bytes]],
) -> list[str]:
    """Write the files that a report makes of a recording to a folder; return their names."""
    run = source if isinstance(source, RecordedRun) else open_run(source)
    try:
        contents = contents_of(run)
    finally:
        if run is not source:
            run.close()
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (Path(folder) / name).write_bytes(content)
    except OSError as error:
        raise PaddockError(f"cannot write to {os.fspath(folder)}: {error.strerror or error}") from None
    return list(contents)


def _contents(run: RecordedRun) -> dict[str, bytes]:
    if run.scenario.radio is None:
        raise PaddockError(f"{run.path} has no radio to report: its scenario has no section `radio`")
    numbers = metrics(run)
    figures, missing = {}, ""
    try:
        with styled() as figure_class:
            figures["links.png"] = png(_draw(figure_class, run))
    except MissingFeatureError as error:
        missing = str(error)
    document = json.dumps(numbers, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    text = "\n".join(_markdown(run, numbers, list(figures), missing))
    return {"report.md": text.encode(), "results.json": document.encode(), **figures}


def _markdown(run: RecordedRun, numbers: Mapping[str, Any], figures: list[str], missing: str) -> list[str]:
    lines = [f"# {numbers['scenario']}: radio links", "", f"{numbers['duration_s']:.1f} s simulated.", ""]
    if not run.complete:
        lines += ["The recording is incomplete: the run was interrupted.", ""]
    lines += traffic_lines(numbers)
    lines += link_tables(numbers)
    for figure in figures:
        lines += ["## SINR and contact over time", "", f"![SINR and contact over time]({figure})", ""]
    if missing:
        lines += [f"There are no figures: {missing}", ""]
    return lines


def traffic_lines(numbers: Mapping[str, Any]) -> list[str]:
    """Return the messages and the packets of services of a run in Markdown; nothing where none was sent."""
    messages, services = numbers.get("messages", {}), numbers.get("services", {})
    lines = ["## Messages", "", f"{message_summary(messages)}.", ""] if messages.get("sent") else []
    if services:
        lines += ["## Packets of services", "", "| | sent | delivered | lost | dropped | under way |"]
        lines += ["|---|---:|---:|---:|---:|---:|"]
        for name, counts in services.items():
            lines.append(f"| {_safe(name)} | {' | '.join(f'{counts[key]:,}' for key in SERVICE_COUNTS)} |")
        lines += [
            "",
            "Dropped packets have not left their sender: its queue was full, or a newer command has replaced them. "
            "States of telemetry that a newer one has replaced count as lost.",
            "",
        ]
    return lines


def link_tables(numbers: Mapping[str, Any]) -> list[str]:
    """Return the metrics of links as tables in Markdown: fleets, then vehicles with the longest outages first."""
    head = "| | availability | mean SINR, dB | longest outage, s | outages | jammed, s |"
    fleets = {name: fleet for name, fleet in numbers["fleets"].items() if "radio" in fleet}
    lines = ["## Fleets", "", head, "|---|---:|---:|---:|---:|---:|"]
    lines += [_line(name, [fleet["radio"][key] for key in COLUMNS]) for name, fleet in fleets.items()]
    rows = []
    for fleet in fleets.values():
        own = fleet["per_vehicle"]
        rows += list(zip(own["name"], *(own[key] for key in COLUMNS), strict=True))
    rows.sort(key=lambda row: (-row[3], natural_order(row[0])))
    lines += ["", "## Vehicles", "", head, "|---|---:|---:|---:|---:|---:|"]
    lines += [_line(name, values) for name, *values in rows[:ROWS]]
    if len(rows) > ROWS:
        lines += ["", f"{len(rows) - ROWS} more are in results.json."]
    lines += [
        "",
        "A vehicle is available while a route leads to a station and back, over any number of hops; without stations, "
        "while it hears another radio over a usable link. The SINR is that of its best direct link (to a "
        "station, if there are any); - : it had none.",
        "",
    ]
    return lines


def _line(name: str, values: list[Any]) -> str:
    share, sinr, longest, outages, jammed = values
    level = "-" if sinr is None else f"{sinr:.1f}"
    return f"| {_safe(name)} | {100.0 * share:.1f} % | {level} | {longest:.1f} | {outages} | {jammed:.1f} |"


def natural_order(name: str) -> list[tuple[str, int]]:
    """Return a key that sorts names with numbers as people do: `scouts[2]` before `scouts[10]`."""
    return [(text, int(number or -1)) for text, number in NUMBERED.findall(name)]


def _safe(name: str) -> str:
    """Return a name as Markdown shows it."""
    return "".join(f"\\{c}" if c in "\\|`*_[]<>#" else c for c in name)


def _draw(figure_class: Any, run: RecordedRun) -> Any:
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
