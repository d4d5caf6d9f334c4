"""The texts of a report: numbers with units, summaries, tables."""

from collections.abc import Iterable, Sequence
from math import atan2, ceil, degrees, floor, hypot, isfinite, pi
from typing import TYPE_CHECKING, Any

from paddock.planning.exchange import to_places
from paddock.planning.metrics import MissionMetrics, VehicleMetrics
from paddock.planning.solver.problem import MissionSetup, Vehicle
from paddock.planning.solver.routes import Plan, Route
from paddock.scenario import Scenario
from paddock.world.geodesy import Origin

if TYPE_CHECKING:
    from rich.table import Table


def distance(metres: float) -> str:
    """`850 m`, `41.3 km`."""
    return f"{metres:,.0f} m" if metres < 999.5 else f"{metres / 1000.0:,.1f} km"


def duration(seconds: float) -> str:
    """`45 s`, `14 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if whole < 60:
        return f"{whole} s"
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def computing(seconds: float) -> str:
    """`27 ms`, `3.6 s`."""
    return f"{1000.0 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.1f} s"


def clock(seconds: float) -> str:
    """`14:20`, `2:05:09`: minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def course(heading: float) -> str:
    """`047°`: degrees clockwise from north (0 to 359) of a heading in rad counter-clockwise from east."""
    return f"{round(90.0 - degrees(heading)) % 360:03d}°"


def latitude(degrees_north: float) -> str:
    """`35.68120° N`."""
    return f"{abs(degrees_north):.5f}° {'S' if degrees_north < 0.0 else 'N'}"


def longitude(degrees_east: float) -> str:
    """`139.76710° E`."""
    return f"{abs(degrees_east):.5f}° {'W' if degrees_east < 0.0 else 'E'}"


def wind_note(wind: tuple[float, float]) -> str:
    """`wind 5 m/s from 270°`; nothing in still air."""
    speed = hypot(*wind)
    return f"wind {speed:.3g} m/s from {course(atan2(wind[1], wind[0]) + pi)}" if speed > 0.0 else ""


def percent(share: float) -> str:
    """`62 %`."""
    return f"{100.0 * share:.0f} %"


NAMES = {
    "aircraft": ("aircraft", "aircraft"),
    "hover": ("drone", "drones"),
    "ground": ("ground vehicle", "ground vehicles"),
}
"""One and many, by the way they move."""


def summary(metrics: MissionMetrics, vehicles: tuple[Vehicle, ...]) -> str:
    """Return `4 aircraft complete 20 of 20 tasks in 14 min 20 s; 41.3 km in total; uav[2] uses 62 % of its range.`"""
    parts, tasks = metrics.vehicles, len(metrics.tasks)
    out = [part for part in parts if part.tasks > 0]
    many = f"{len(out)} of {len(parts)}" if 0 < len(out) < len(parts) else f"{len(parts)}"
    kinds = {vehicle.moves for vehicle in vehicles}
    nouns = NAMES[kinds.pop()] if len(kinds) == 1 else ("vehicle", "vehicles")
    subject = f"{many} {nouns[len(parts) != 1]}"
    verb = "completes" if len(out or parts) == 1 else "complete"
    text = f"{subject} {verb} {metrics.done} of {tasks} task{'' if tasks == 1 else 's'}"
    if not out:
        return f"{text}; no vehicle can do any of them." if tasks else f"{text}; there are no tasks."
    text += f" in {duration(metrics.makespan)}; {distance(metrics.total)} in total"
    most = max((part for part in out if part.range_used is not None), key=lambda p: p.range_used or 0.0, default=None)
    return f"{text}; {most.name} uses {percent(most.range_used or 0.0)} of its range." if most else f"{text}."


def closeness(metrics: MissionMetrics, setup: MissionSetup) -> str:
    """Return `uav[0] and uav[2] come closest: 12 m at 8:15 (...).`; empty if separation is kept."""
    near, minimum = metrics.separation, setup.separation
    if near is None or (minimum is not None and near.distance >= minimum[0]):
        return ""
    text = f"{near.first} and {near.second} come closest: {near.distance:.0f} m at {clock(near.time)}"
    if minimum is None:
        return f"{text}."
    planned = setup.problem.separation is not None
    why = "the plan cannot keep" if planned else "in the plan, which does not separate heights; in flight they keep"
    return f"{text} ({why} {minimum[1]:g} m vertical or {minimum[0]:g} m horizontal separation)."


def fields_covered(metrics: MissionMetrics) -> str:
    """`fields covered: orchard 89.2 %, meadow 99.7 % (turns up to 65 m outside)`, lowest first; or nothing.

    Where turns inside and outside were compared: `orchard 89.2 % in 4.1 km; turns outside: 99.9 % in 5.2 km`.
    """
    fields = sorted(
        (task.covered, task.name, task.outside or 0.0, task.alternative)
        for task in metrics.tasks
        if task.covered is not None
    )
    shares = [
        f"{name} {floor(1000.0 * share + 1e-6) / 10.0:.1f} %"
        + (f" (turns up to {way:.0f} m outside)" if way >= 1.0 else "")
        + (f" in {alternative}" if alternative else "")
        for share, name, way, alternative in fields
    ]
    return f"fields covered: {', '.join(shares)}" if fields else ""


OBJECTIVES = {"total": "total distance", "makespan": "time until all vehicles are back"}
MOVES = {
    "aircraft": "aircraft: cannot stop, wait in circles",
    "hover": "multirotors: can wait in place",
    "ground": "ground vehicles: can wait in place",
}


def assumptions(plan: Plan) -> list[tuple[str, str]]:
    """Return names and values of the assumptions."""
    problem = plan.problem
    vehicles = problem.vehicles
    rows = [
        ("vehicles", "; ".join(sorted({MOVES[vehicle.moves] for vehicle in vehicles})) or "none"),
        ("airspeed", _span((vehicle.speed for vehicle in vehicles), "m/s")),
        ("turn radius", _span((vehicle.radius for vehicle in vehicles), "m")),
        ("usable range", _span((vehicle.range for vehicle in vehicles), "m")),
        ("steepest climb", _span((100.0 * vehicle.slope for vehicle in vehicles), "%")),
        ("wind", wind_note(problem.wind).removeprefix("wind ") or "none"),
        ("no-fly zones", ", ".join(zone.title for zone in problem.zones) or "none"),
        ("method", plan.method),
        ("objective", OBJECTIVES[problem.objective]),
        ("seed", str(problem.seed)),
    ]
    return rows + [(f"{plan.method}: {key}", _value(value)) for key, value in plan.notes.items()]


def _span(values: Iterable[float], unit: str) -> str:
    """Return `17.5 m/s`, or the range of values."""

    def shown(value: float) -> str:
        return f"{value:,.4g} {unit}" if value < 1e4 else f"{value:,.0f} {unit}" if isfinite(value) else "no limit"

    ordered = sorted(set(values))
    ends = [shown(value) for value in (ordered[0], ordered[-1])] if ordered else ["-"]
    return " to ".join(dict.fromkeys(ends))


def _value(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def origin_of(scenario: Scenario) -> Origin | None:
    """Return the origin of the world on Earth, if the scenario has one."""
    return Origin(*scenario.world.origin) if "origin" in scenario.world.model_fields_set else None


def settings(scenario: Scenario, setup: MissionSetup) -> list[tuple[str, str]]:
    """Return names and values of the settings."""
    assert scenario.mission is not None
    apart, origin = setup.separation, origin_of(scenario)
    minimum = "none" if apart is None else f"{apart[0]:g} m horizontal or {apart[1]:g} m vertical, in flight"
    rows = [("range kept in reserve", f"{scenario.mission.reserve:,.0f} m"), ("separation", minimum)]
    if origin is not None:
        where = f"{latitude(origin.latitude_deg)}, {longitude(origin.longitude_deg)}, {origin.height_m:g} m"
        rows.append(("origin", where))
    rows += [(f"option of {setup.method}: {key}", f"{value}") for key, value in setup.options.items()]
    return rows


LEG_HEADS = ("", "leg", "begins", "ends", "distance", "heading", "height", "east", "north", "latitude", "longitude")


def leg_rows(route: Route, plan: Plan, origin: Origin | None) -> list[tuple[bool, list[str]]]:
    """Return whether a task is done on each leg, and its cells under LEG_HEADS; positions are those of its end.

    Without an origin there are no latitude and longitude. Points take no time: the leg to them is listed.
    """
    kinds = {task.name: task.shape.kind for task in plan.problem.tasks}
    legs = [leg for leg in route.legs if leg.kind != "coverage" or leg.ends > leg.begins or leg.flown > 0.0]
    places = [] if origin is None else to_places([leg.end[:2] for leg in legs], origin).tolist()
    rows = []
    for k, leg in enumerate(legs):
        x, y, z, heading = leg.end
        kind = kinds.get(str(leg.task), "")
        point = leg.kind == "transit" and kind == "point"
        what = {
            "return": "return to base",
            "wait": f"wait for {leg.task} to open",
            "transit": f"to {leg.task} (point)" if point else f"to {leg.task}",
            "coverage": f"{leg.task} ({kind})",
        }[leg.kind]
        cells = [f"{k + 1}", what, clock(leg.begins), clock(leg.ends), f"{leg.flown:,.0f} m", course(heading)]
        cells += [f"{z:,.0f} m", *(f"{ceil(metres - 0.5) + 0.0:,.0f} m" for metres in (x, y))]  # + 0.0: no -0
        cells += [latitude(places[k][0]), longitude(places[k][1])] if places else []
        rows.append((point or leg.kind == "coverage", cells))
    return rows


SHOWN = 40  # maximum number of vehicles with their own line
HEADS = ("tasks", "distance", "range", "transit", "busy", "waiting", "return", "idle", "home at")


def vehicle_table(metrics: MissionMetrics) -> "Table":
    """Return a line for each vehicle, and one for all; times in minutes and seconds."""
    rows = [(part.name, cells(part), "" if part.tasks else "dim") for part in metrics.vehicles]
    return printed_table("vehicle", HEADS, rows, sums(metrics) if len(rows) > 1 else ())


def printed_table(
    first: str, heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str], str]], total: Sequence[str] = ()
) -> "Table":
    """Return the table of rows (name, cells, style), and of a last one with the totals; cells are aligned right."""
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
    table.add_column(first, no_wrap=True)
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for name, texts, style in rows[:SHOWN]:
        table.add_row(escape(name), *texts, style=style)
    if len(rows) > SHOWN:
        table.add_row(f"and {len(rows) - SHOWN} more", style="dim")
    if total:
        table.add_section()
        table.add_row("all", *total, style="bold")
    return table


def cells(part: VehicleMetrics) -> tuple[str, ...]:
    """Return the cells of a vehicle under HEADS."""
    share = "-" if part.range_used is None else percent(part.range_used)
    back = "-" if part.rested is None else clock(part.rested)
    return f"{part.tasks}", distance(part.distance), share, *map(clock, spent(part)), back


def sums(metrics: MissionMetrics) -> tuple[str, ...]:
    """Return the cells of the total under HEADS."""
    times = [clock(sum(column)) for column in zip(*map(spent, metrics.vehicles), strict=True)] or ["0:00"] * 5
    return f"{metrics.done}", distance(metrics.total), "", *times, clock(metrics.makespan)


def spent(part: VehicleMetrics) -> tuple[float, ...]:
    """Return seconds in transit, busy, waiting, returning, and at rest while other vehicles are under way."""
    waited, times = part.waited or 0.0, part.seconds
    at_rest = times["idle"] + times["home"] + times["diverted"]
    return times["transit"] - waited, times["busy"], waited, times["returning"], at_rest
