"""The HTML report of a plan, a single file."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path as File
from types import MappingProxyType

from paddock.engine.radio.planned import PlannedLinks
from paddock.planning.metrics import MissionMetrics, VehicleMetrics, foreseen
from paddock.planning.solver.routes import Plan
from paddock.record.mission_report import text as texts
from paddock.record.mission_report.document import Outcome, Trial, outcome_sentence
from paddock.record.mission_report.map_figure import ALARM, GRID, INK, PAPER, SOFT, colour
from paddock.record.mission_report.radio_contact import HEADS, NOTE, contact_rows
from paddock.world.geodesy import Origin

CSS = File(__file__).with_name("page.css")
CAPTIONS = {
    "routes": "Routes from above. Thin: transit; thick: doing a task; pale: returning.",
    "gantt": "Activities of each vehicle over time.",
    "timeline": "Tasks done and total distance over time.",
    "costs": "Cost of each task for each vehicle as its only task, in km: transit, task and return.",
    "contact": "Routes coloured by the SINR of the best station.",
    "compare": "Routes of every method for the same tasks, best first.",
}
TITLES = {"routes": "Map", "gantt": "Timetable", "timeline": "Progress", "costs": "Costs"}


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
    rows = [(text(what), text(value)) for what, value in [*texts.assumptions(plan), *settings]]
    drawn = {name: picture(svg, name, CAPTIONS[name]) for name, svg in pictures.items()}
    titled = {name: f"<h2>{TITLES.get(name)}</h2>\n{figure}" for name, figure in drawn.items()}
    lines = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f"<title>{text(name)}: plan</title>",
        f"<style>\n{CSS.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n<main>",
        f"<h1>{text(name)}</h1>",
        f'<p class="soft">{text(description)}</p>' if description else "",
        *_overview(plan, metrics),
        *_events(outcome),
        titled.get("routes", ""),
        *_vehicles(metrics, closest),
        *_contact(links, drawn.get("contact", "")),
        titled.get("gantt", ""),
        *_comparison(plan, trials, drawn.get("compare", "")),
        *_legs(plan, metrics.vehicles, origin),
        titled.get("timeline", ""),
        titled.get("costs", ""),
        f'<p class="soft">{text(missing)}</p>' if missing else "",
        "<h2>Assumptions</h2>",
        f'<div class="sheet">{table(("what", "value"), rows)}</div>',
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(filter(None, lines))


def _overview(plan: Plan, metrics: MissionMetrics) -> Iterator[str]:
    """Yield the result in one sentence and in cards, then the undone tasks."""
    yield f'<p class="lead">{text(texts.summary(metrics, plan.problem.vehicles))}</p>'
    most = max((part.range_used for part in metrics.vehicles if part.range_used is not None), default=None)
    pairs = [
        (f"{metrics.done} of {len(metrics.tasks)}", "tasks done"),
        (texts.duration(metrics.makespan), "until all vehicles are back"),
        (texts.distance(metrics.total), "total distance"),
        (f"{sum(part.tasks > 0 for part in metrics.vehicles)} of {len(metrics.vehicles)}", "vehicles with tasks"),
    ]
    yield cards([*pairs, *([] if most is None else [(texts.percent(most), "largest share of a range")])])
    if shares := texts.fields_covered(metrics):
        yield f"<p>{text(shares[0].upper() + shares[1:])}.</p>"
    if plan.undone:
        count = len(plan.undone)
        yield f'<div class="sheet undone" style="margin-top:1.5rem"><h2>{count} task{"s" * (count > 1)} not done</h2>'
        yield table(("task", "reason"), [(text(one.task), text(one.reason)) for one in plan.undone])
        yield "</div>"


def _events(outcome: Outcome | None) -> Iterator[str]:
    """Yield the outcome of a mission with events."""
    if outcome is None:
        return
    yield "<h2>Events</h2>"
    said = f"{text(outcome_sentence(outcome))} The rest of this report describes the initial plan."
    yield f'<div class="sheet"><p>{said}</p>'
    yield table(("time", "event"), [(texts.clock(time), text(what)) for time, what in outcome.timeline], (0,))
    if outcome.undone:
        yield table(("not done", "reason"), [(text(task), text(reason)) for task, reason in outcome.undone])
    yield "</div>"


def _vehicles(metrics: MissionMetrics, closest: str) -> Iterator[str]:
    if not metrics.vehicles:
        return
    rows = [(dot(colour(k)) + text(part.name), *texts.cells(part)) for k, part in enumerate(metrics.vehicles)]
    rows.append(("all", *texts.sums(metrics)))
    classes = [""] * len(metrics.vehicles) + ["sum"]
    yield "<h2>Vehicles</h2>"
    yield f'<div class="sheet">{table(("vehicle", *texts.HEADS), rows, range(1, 10), classes)}'
    note = "minutes and seconds, with hours where there are any; range is the used share of the vehicle's range."
    yield f'<p class="soft">Times are {note}</p>'
    yield f"<p>{text(closest)}</p></div>" if closest else "</div>"


def _contact(links: PlannedLinks | None, drawing: str) -> Iterator[str]:
    """Yield the contact of every vehicle with the stations."""
    if links is None:
        return
    rows = [(text(name), *map(text, cells)) for name, *cells in contact_rows(links)]
    yield "<h2>Radio contact</h2>"
    yield f'<div class="sheet">{table(("vehicle", *HEADS), rows, range(1, len(HEADS) + 1))}'
    yield f'<p class="soft">{text(NOTE)}</p></div>'
    yield drawing


def _comparison(shown: Plan, trials: Sequence[Trial], maps: str) -> Iterator[str]:
    if not trials:
        return
    rows, best = [], trials[0].plan
    for trial in trials:
        if trial.plan is None:
            rows.append((text(trial.method), *"------"))
            continue
        plan = trial.plan
        first = best or plan
        far, late = _more(plan.total, first.total), _more(plan.makespan, first.makespan)
        amounts = (texts.distance(plan.total), far, texts.clock(plan.makespan), late)
        rows.append((text(trial.method), *amounts, str(plan.done), str(len(plan.undone))))
    heads = ("method", "distance", "against the first", "all back at", "against the first", "done", "undone")
    order = "distance" if shown.problem.objective == "total" else "time until all vehicles are back"
    yield "<h2>Methods compared</h2>"
    yield f'<div class="sheet">{table(heads, rows, range(1, 7))}'
    yield f'<p class="soft">Sorted by tasks done, then by {order}. The report shows {text(shown.method)}.</p>'
    notes = (trial.problem if trial.plan is None else trial.note for trial in trials)
    yield from (f'<p class="soft">{text(line)}</p>' for line in notes if line)
    yield "</div>"
    yield maps


def _more(own: float, least: float) -> str:
    """Return the difference as `+12 %`."""
    return f"{100.0 * (own / least - 1.0) if least > 0.0 else 0.0:+.0f} %"


def _legs(plan: Plan, parts: Sequence[VehicleMetrics], origin: Origin | None) -> Iterator[str]:
    """Yield the legs of every vehicle."""
    yield "<h2>Leg by leg</h2>"
    heads = texts.LEG_HEADS[:-2] if origin is None else texts.LEG_HEADS
    right = [k for k, head in enumerate(heads) if head != "leg"]
    for k, (route, part) in enumerate(zip(plan.routes, parts, strict=True)):
        yield f'<div class="sheet"><h3>{dot(colour(k))}{text(route.vehicle)}</h3>'
        if not route.legs:
            yield '<p class="soft">Stays where it is.</p>'
        else:
            share = "" if part.range_used is None else f", {texts.percent(part.range_used)} of its range"
            tasks = f"{part.tasks} task{'' if part.tasks == 1 else 's'}"
            said = f"{tasks} in {texts.duration(route.ends)}; {texts.distance(part.distance)}{share}."
            yield f'<p class="soft">{text(said)}</p>'
            legs = texts.leg_rows(route, plan, origin)
            rows = [[text(cell) for cell in row] for _, row in legs]
            yield table(heads, rows, right, ["do" if done else "" for done, _ in legs])
        yield "</div>"
    yield '<p class="soft">Distance is flown through the air; heading is the course over the ground where a leg '
    yield "ends, from north, clockwise; so are places, in metres east and north of the origin.</p>"


NUMBER = "n"  # the class of columns of numbers
_TAG = re.compile(r"<[^>]*>")
_PROLOGUE = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_ID = re.compile(r'(\bid="|url\(#|href="#)')


def text(value: object) -> str:
    """Return a value as escaped HTML text."""
    return escape(str(value), quote=True)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = (), classes: Sequence[str] = ()
) -> str:
    """Return a table of HTML cells. `numbers`: right-aligned columns; `classes`: CSS classes of the rows."""
    right = set(numbers)

    def cells(tag: str, values: Sequence[str]) -> str:
        marks = [f' class="{NUMBER}"' if k in right else "" for k in range(len(values))]
        return "".join(f"<{tag}{mark}>{value}</{tag}>" for mark, value in zip(marks, values, strict=True))

    lines = [f"<table>\n<thead><tr>{cells('th', heads)}</tr></thead>\n<tbody>"]
    for k, row in enumerate(rows):
        kind = f' class="{classes[k]}"' if k < len(classes) and classes[k] else ""
        lines.append(f"<tr{kind}>{cells('td', row)}</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def picture(svg: str, name: str, caption: str) -> str:
    """Return a drawing in the page's colours, light or dark."""

    def adapted(match: re.Match[str]) -> str:
        """Make ids unique among drawings, and replace colours by those of the page."""
        tag = _ID.sub(rf"\g<1>{name}-", match[0])
        for tone, variable in ((INK, "ink"), (SOFT, "soft"), (GRID, "grid"), (PAPER, "paper"), (ALARM, "alarm")):
            tag = tag.replace(tone, f"var(--{variable})")
        return tag

    drawing = _TAG.sub(adapted, _PROLOGUE.sub("", svg))
    drawing = drawing.replace("<svg ", f'<svg role="img" aria-label="{text(caption)}" ', 1)
    return f"<figure>\n{drawing.strip()}\n<figcaption>{text(caption)}</figcaption>\n</figure>"


def cards(pairs: Iterable[tuple[str, str]]) -> str:
    """Return cards with a value and its label each."""
    boxes = (f'<div class="card"><b>{text(value)}</b><span>{text(what)}</span></div>' for value, what in pairs)
    return f'<div class="cards">{"".join(boxes)}</div>'


def dot(colour: str) -> str:
    """Return a dot in a vehicle's colour."""
    return f'<span class="dot" style="background:{colour}"></span>'
