"""What `paddock plan` does: plan or compare, write, tell."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddock.cli.plan_options import PlanOptions
from paddock.cli.progress import COMPILING, bar, telling_late
from paddock.errors import PaddockError
from paddock.planning.from_scenario import setup_of
from paddock.planning.metrics import foreseen
from paddock.planning.problem import MissionSetup
from paddock.record.mission_report.comparison import Trial, compare, warm_up
from paddock.record.mission_report.document import outcome_of, outcome_sentence
from paddock.record.mission_report.files import Findings, write_files
from paddock.record.mission_report.text import clock, computing
from paddock.scenario import Scenario

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 160
"""Columns of a table that nobody's window limits."""


@dataclass
class Told:
    """What there is to tell beside the plan."""

    seconds: float  # that the planning took
    folder: Path | None = None
    files: list[str] | None = None
    film: str | None = None
    missing: str = ""  # why there are no pictures


def conduct(scenario: Scenario, options: PlanOptions) -> int:
    """Plan, write the files, tell; 1 where tasks stay undone and that matters."""
    with telling_late(COMPILING):
        setup = setup_of(scenario)
        _warn(scenario)
    found, told = _planned(scenario, setup, options)
    if found.setup.happenings:
        with bar("flying it, with its events"):
            found = replace(found, outcome=outcome_of(found.setup, found.plan))
    if not options.no_files:
        told.folder = Path(options.output or f"{_file_name(scenario.name)}_plan")
        with bar(f"writing {told.folder}") as tell:
            told.files, told.missing = write_files(found, told.folder, tell)
    if options.animate is not None:
        from paddock.record.mission_report.animation import animate

        with bar(f"drawing {options.animate}") as tell:
            run = None if found.outcome is None else found.outcome.run
            animate(found.plan, Path(options.animate), scenario.name, tell, run=run)
        told.film = options.animate
    _print_json(found, told) if options.json else _print_tables(found, told)
    undone = found.plan.undone if found.outcome is None else found.outcome.undone
    return 1 if options.strict and undone else 0


def _warn(scenario: Scenario) -> None:
    """Say if the plan cannot be flown here, though it can be planned."""
    from paddock.engine.check import build_problems

    if problems := build_problems(scenario):
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        print(f"paddock: warning: `paddock run` would refuse this scenario: {problems[0]}{more}", file=sys.stderr)


def _planned(scenario: Scenario, setup: MissionSetup, options: PlanOptions) -> tuple[Findings, Told]:
    own = {setup.method: setup.options}
    names = options.tried if options.compares else [setup.method]
    with telling_late(COMPILING):
        warm_up(setup.problem, names, own)
    what = f"comparing {len(names)} methods" if options.compares else f"planning with {setup.method}"
    with bar(what) as tell:
        trials = compare(setup.problem, names, own, tell)
    best = _best(trials, options.method)
    assert best.plan is not None
    setup = replace(setup, method=best.method, options=dict(best.options))
    metrics, shown = foreseen(best.plan, apart=True), trials if options.compares else ()
    return Findings(scenario, setup, best.plan, metrics, shown, parquet=options.parquet), Told(best.seconds)


def _best(trials: list[Trial], method: str | None) -> Trial:
    """That of the method that was asked for, or the first."""
    found = next((trial for trial in trials if trial.method == method), trials[0])
    if found.plan is None:
        raise PaddockError(found.problem)
    return found


def _file_name(name: str) -> str:
    """What a folder may be called."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name).strip(".") or "scenario"


def _print_json(found: Findings, told: Told) -> None:
    import json

    from paddock.record.mission_report.document import comparison, numbers, outcome_numbers

    values: dict[str, Any] = {"scenario": found.scenario.name, **numbers(found.plan, found.metrics)}
    values["compute_s"] = round(told.seconds, 6)
    if found.trials:
        values["comparison"] = comparison(found.trials, timed=True)
    if found.outcome is not None:
        values["outcome"] = outcome_numbers(found.outcome)
    values |= {"folder": None if told.folder is None else str(told.folder), "files": told.files or []}
    values |= {"animation": told.film} | ({"missing": told.missing} if told.missing else {})
    print(json.dumps(values, indent=2, allow_nan=False))


def _print_tables(found: Findings, told: Told) -> None:
    from rich.console import Console
    from rich.markup import escape

    from paddock.record.mission_report.comparison import comparison_table
    from paddock.record.mission_report.text import summary, vehicle_table

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    console.print(
        f"[bold]{escape(found.scenario.name)}[/]: {escape(summary(found.metrics, found.plan.problem.vehicles))}",
        soft_wrap=True,
    )
    console.print()
    if found.metrics.vehicles:
        console.print(vehicle_table(found.metrics))
        console.print()
    if found.trials:
        console.print(comparison_table(found.trials))
        console.print()
        for trial in found.trials:
            if note := trial.problem if trial.plan is None else trial.note:
                console.print(f"[dim]{escape(note)}[/]", soft_wrap=True)
    _print_rest(console, found, told)


def _print_rest(console: Console, found: Findings, told: Told) -> None:
    """Undone tasks with their reasons, how it was planned, where the files are."""
    from rich.markup import escape

    from paddock.record.mission_report.text import closeness

    plan = found.plan
    if plan.undone:
        console.print(f"[bold yellow]not done ({len(plan.undone)})[/]")
        for one in plan.undone:
            console.print(f"  [yellow]{escape(one.task)}[/]: {escape(one.reason)}", soft_wrap=True)
        console.print()
    if found.outcome is not None:
        console.print(outcome_sentence(found.outcome), soft_wrap=True)
        for time, what in found.outcome.story:
            console.print(f"  [dim]{clock(time)}[/]  {escape(what)}", soft_wrap=True)
        for task, reason in found.outcome.undone:
            console.print(f"  [yellow]{escape(task)}[/] not done: {escape(reason)}", soft_wrap=True)
        console.print()
    if near := closeness(found.metrics, found.setup):
        console.print(f"[dim]{escape(near)}[/]", soft_wrap=True)
    small = {"total": "least distance in all", "makespan": "earliest return of all"}[plan.problem.objective]
    how = f"method {plan.method}, {small}, seed {plan.problem.seed}; computed in {computing(told.seconds)}"
    console.print(f"[dim]{escape(how)}[/]", soft_wrap=True)
    if told.missing:
        console.print(f"[yellow]no pictures:[/] {escape(told.missing)}", soft_wrap=True)
    if told.folder is not None and told.files:
        console.print(f"{escape(str(told.folder / told.files[0]))} and {len(told.files) - 1} more files beside it")
    if told.film is not None:
        console.print(escape(told.film))
