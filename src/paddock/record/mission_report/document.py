"""A plan, its flown outcome and several methods on one problem, as plain values for `plan.json` and `--json`.

The comparison of methods also has their table, and their maps side by side.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, inf, isfinite
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from paddock.errors import MissingFeatureError
from paddock.planning.metrics import MissionMetrics, measure
from paddock.planning.mission.kinematic import KinematicRun, trace
from paddock.planning.mission.mission import Mission
from paddock.planning.solver.layers import time_step
from paddock.planning.solver.methods import Progress, find_method
from paddock.planning.solver.planner import solve
from paddock.planning.solver.problem import MissionSetup, Objective, Problem
from paddock.planning.solver.routes import Plan, Route
from paddock.record.mission_report.map_figure import draw_map
from paddock.record.mission_report.text import clock, computing, distance, duration, printed_table
from paddock.record.reports import GRID, INK, SOFT
from paddock.wire.mission_results import LogEntry

if TYPE_CHECKING:
    from rich.table import Table

T = TypeVar("T")
ABREAST = 3  # maps per row
BRIEF: Mapping[str, Mapping[str, float]] = {"routing": {"iterations": 1000.0, "polish": 50_000.0}}
"""Options in a comparison, for methods that take longer than all others together; iterations, not seconds, so that
the same comparison gives the same plans."""
BRIEFEST: Mapping[str, Mapping[str, float]] = {"routing": {"iterations": 1.0, "polish": 2.0}}
"""Options for a minimal run that only compiles."""


@dataclass(frozen=True)
class Trial:
    """The result of a method on a problem."""

    method: str
    plan: Plan | None  # None: the method is unavailable
    seconds: float = 0.0  # computing time without compilation
    problem: str = ""  # why there is no plan
    options: Mapping[str, Any] = field(default_factory=dict)  # that it was given
    note: str = ""  # difference to a run of the method alone


def warm_up(problem: Problem, methods: Sequence[str], options: Mapping[str, Mapping[str, Any]]) -> None:
    """Compile what is not compiled yet by planning a task of each kind with each method."""
    kinds = {task.shape.kind: task for task in reversed(problem.tasks)}
    few = {task.name: task for task in (*problem.tasks[:2], *kinds.values())}
    small = replace(problem, tasks=tuple(few.values()))
    for method in methods:
        with suppress(MissingFeatureError):  # reported by the trial
            plan = solve(small, method, {**options.get(method, {}), **BRIEFEST.get(method, {})})
            for route in plan.routes:
                route.path.points(100.0)


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of some work and how long it took, in s, without compilation."""
    from numba.core.event import install_timer

    compiled, started = [0.0], perf_counter()
    with install_timer("numba:compile", compiled.append):
        result = work()
    return result, perf_counter() - started - sum(compiled)


def compare(
    problem: Problem, methods: Sequence[str], options: Mapping[str, Mapping[str, Any]], progress: Progress
) -> list[Trial]:
    """Return the trials of all methods, best first; `options` overrides those of single methods."""
    trials, several = [], len(methods) > 1
    for k, method in enumerate(methods):

        def report(share: float, k: int = k) -> None:
            progress((k + share) / len(methods))

        chosen = options.get(method, {}) or (BRIEF.get(method, {}) if several else {})
        try:
            plan, seconds = timed(partial(solve, problem, method, chosen, report))
        except MissingFeatureError as error:
            trials.append(Trial(method, None, problem=str(error)))
        else:
            note = "" if options.get(method) else _note(method, chosen)
            trials.append(Trial(method, plan, seconds, options=chosen, note=note))
        report(1.0)
    return ranked(trials, problem.objective)


def ranked(trials: Iterable[Trial], objective: Objective) -> list[Trial]:
    """Return trials sorted by undone tasks, then by the objective."""

    def badness(trial: Trial) -> tuple[float, float, float, str]:
        plan = trial.plan
        if plan is None:
            return inf, inf, inf, trial.method
        costs = (plan.total, plan.makespan) if objective == "total" else (plan.makespan, plan.total)
        return len(plan.undone), *costs, trial.method

    return sorted(trials, key=badness)


def _note(method: str, options: Mapping[str, Any]) -> str:
    """Return `routing, reduced for the comparison: iterations 1,000 instead of 4,000`."""
    usual = find_method(method).read({})._asdict() if options else {}
    changes = (f"{key} {value:,.0f} instead of {usual[key]:,.0f}" for key, value in options.items())
    return f"{method}, reduced for the comparison: {', '.join(changes)}" if options else ""


def comparison_table(trials: Sequence[Trial]) -> "Table":
    """Return a line for each method, the best first."""
    rows: list[tuple[str, Sequence[str], str]] = []
    for trial in trials:
        if (plan := trial.plan) is None:
            rows.append((trial.method, "-----", "dim"))
            continue
        undone = f"[yellow]{len(plan.undone)}[/]" if plan.undone else "0"
        costs = distance(plan.total), clock(plan.makespan), str(plan.done), undone, computing(trial.seconds)
        rows.append((trial.method, costs, ""))
    return printed_table("method", ("distance", "makespan", "done", "undone", "computed in"), rows)


def draw_comparison(figure_class: Any, trials: Sequence[Trial], title: str) -> Any:
    """Return the figure: a small map for each method, the best first."""
    shown = [(trial.method, trial.plan) for trial in trials if trial.plan is not None]
    columns = min(ABREAST, max(len(shown), 1))
    rows = max(ceil(len(shown) / columns), 1)
    figure = figure_class(figsize=(3.4 * columns, 3.7 * rows + 0.4), layout="constrained")
    figure.suptitle(f"{title} · methods compared", x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK)
    maps = [figure.add_subplot(rows, columns, k + 1) for k in range(len(shown))]
    for axes, (method, plan) in zip(maps, shown, strict=True):
        draw_map(axes, plan, small=True)
        undone = f", {len(plan.undone)} undone" if plan.undone else ""
        axes.set_title(method, fontsize=9.5, fontweight="bold", color=INK)
        axes.set_xlabel(f"{distance(plan.total)}, {duration(plan.makespan)}{undone}", fontsize=8.5, color=SOFT)
        axes.set_xticks([])
        axes.set_yticks([])
        for side in axes.spines.values():
            side.set_color(GRID)
    for limits in ("xlim", "ylim"):  # the same limits for all, for comparison
        ends = [end for axes in maps for end in getattr(axes, f"get_{limits}")()]
        for axes in maps:
            getattr(axes, f"set_{limits}")(min(ends), max(ends))
    return figure


def numbers(plan: Plan, metrics: MissionMetrics) -> dict[str, Any]:
    """Return the numbers of a plan; m and s."""
    return {
        "method": plan.method,
        "objective": plan.problem.objective,
        "seed": plan.problem.seed,
        "tasks": len(plan.problem.tasks),
        "done": plan.done,
        "undone": [{"task": entry.task, "reason": entry.reason} for entry in plan.undone],
        "total_m": plan.total,
        "makespan_s": plan.makespan,
        "notes": dict(plan.notes),
        "metrics": metrics.to_dict(),
    }


def document(plan: Plan, name: str, metrics: MissionMetrics) -> dict[str, Any]:
    """Return everything: the numbers, and every leg of every route. The same plan gives the same values."""
    problem = plan.problem
    return {
        "format": "paddock-plan",
        "version": 1,
        "scenario": name,
        **numbers(plan, metrics),
        "wind_m_s": list(problem.wind),
        "agents": [
            {
                "name": vehicle.name,
                "moves": vehicle.moves,
                "pose": list(vehicle.pose),
                "home": list(vehicle.home),
                "speed_m_s": vehicle.speed,
                "turn_radius_m": vehicle.radius,
                "range_m": _finite(vehicle.range),
                "slope": _finite(vehicle.slope),
            }
            for vehicle in problem.vehicles
        ],
        "task_list": [
            {
                "name": task.name,
                "kind": task.shape.kind,
                "entry": list(task.shape.entry),
                "height_m": task.z,
                "outline": task.shape.outline().tolist(),
                "window_s": [task.opens, _finite(task.closes)],
            }
            for task in problem.tasks
        ],
        "zones": [
            {
                "name": zone.name,
                "outline": zone.outline().tolist(),
                "floor_m": zone.limits[0],
                "ceiling_m": zone.limits[1],
            }
            for zone in problem.zones
        ],
        "routes": [_route_tree(route) for route in plan.routes],
    }


def _route_tree(route: Route) -> dict[str, Any]:
    """Return a route with its legs."""
    legs = [
        {
            "kind": leg.kind,
            "task": leg.task,
            "begins_s": leg.begins,
            "ends_s": leg.ends,
            "flown_m": leg.flown,
            "start": list(leg.start),
            "end": list(leg.end),
        }
        for leg in route.legs
    ]
    return {"vehicle": route.vehicle, "tasks": list(route.tasks), "legs": legs}


def comparison(trials: Sequence[Trial], timed: bool) -> list[dict[str, Any]]:
    """Return a line for each method; with computing times, which vary between runs, if requested."""
    rows: list[dict[str, Any]] = []
    for trial in trials:
        row: dict[str, Any] = {"method": trial.method}
        if trial.plan is None:
            row["problem"] = trial.problem
        else:
            plan = trial.plan
            row |= {"total_m": plan.total, "makespan_s": plan.makespan, "done": plan.done, "undone": len(plan.undone)}
        rows.append(row | ({"compute_s": round(trial.seconds, 6)} if timed and trial.plan is not None else {}))
    return rows


def _finite(value: float) -> float | None:
    """Return None for values that JSON cannot represent."""
    return value if isfinite(value) else None


UNPLANNED = "it was added after planning, and replanning is off"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a flown mission."""

    run: KinematicRun
    metrics: MissionMetrics
    timeline: tuple[tuple[float, str], ...]  # time in s, and the event

    @property
    def undone(self) -> tuple[tuple[str, str], ...]:
        """The undone tasks, with reasons."""
        left = (task for task in self.metrics.tasks if task.state != "completed")
        return tuple((task.name, task.reason or UNPLANNED) for task in left)


def outcome_of(setup: MissionSetup, plan: Plan) -> Outcome:
    """Fly a plan."""
    run = KinematicRun(Mission(setup, plan=plan))
    run.finish()
    lines = ((entry.time, entry_text(entry)) for entry in run.mission.log)
    step = time_step(run.time, len(run.mission.vehicles))
    metrics = measure(run.mission, None if step is None else trace(run, step))
    return Outcome(run, metrics, tuple((time, text) for time, text in lines if text))


def entry_text(entry: LogEntry) -> str:
    """Return the text of a log entry; empty for routine entries."""
    vehicle, task = entry.vehicle, entry.task
    busy = f" while it does {task}" if task else ""
    texts = {
        "task": f"new task {task}",
        "damage": f"{vehicle} is damaged{busy}",
        "vehicle": f"{vehicle} joins",
        "zone": f"new no-fly zone {entry.detail}",
        "replanned": f"replanned: {entry.detail}",
        "range": f"{vehicle} gives tasks back: {entry.detail}",
        "battery": f"{vehicle} returns: {entry.detail}",
        "stranded": f"{vehicle}: {entry.detail}",
    }
    return texts.get(entry.kind, "").removesuffix(": ")


def outcome_sentence(outcome: Outcome) -> str:
    """Return `With its events: 15 of 15 tasks in 12 min 10 s; 43.1 km in total.`"""
    metrics = outcome.metrics
    tasks = f"{len(metrics.tasks)} task{'' if len(metrics.tasks) == 1 else 's'}"
    done = f"{metrics.done} of {tasks} in {duration(metrics.makespan)}"
    return f"With its events: {done}; {distance(metrics.total)} in total."


def outcome_numbers(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome as plain values; m and s."""
    return {
        "tasks": len(outcome.metrics.tasks),
        "done": outcome.metrics.done,
        "undone": [{"task": task, "reason": reason} for task, reason in outcome.undone],
        "total_m": outcome.metrics.total,
        "makespan_s": outcome.metrics.makespan,
        "story": [{"at_s": time, "what": what} for time, what in outcome.timeline],
        "metrics": outcome.metrics.to_dict(),
    }
